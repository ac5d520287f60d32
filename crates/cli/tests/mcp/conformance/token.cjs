// Adds the token of the server to every request of the suite, which has no option for it.
const { channel } = require("node:diagnostics_channel");

channel("undici:request:create").subscribe(({ request }) => {
    request.addHeader("authorization", `Bearer ${process.env.TOKEN}`);
});
