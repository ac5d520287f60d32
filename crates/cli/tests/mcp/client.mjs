// Uses a server with an official TypeScript client, and prints the results as one line of JSON.
//
// Called with the directory of the client's package, the protocol to speak, and either the program
// with its arguments, or the address of a server and its token.

import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modules, version, program, ...args] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(createRequire(join(modules, "x.js")).resolve(path)).href);

// The paths in the SDK up to version 1, and in the client package that replaced it.
const isFirst = process.env.CLIENT === "@modelcontextprotocol/sdk";
const at = isFirst
  ? ["client/index.js", "client/stdio.js", "client/streamableHttp.js"]
  : ["", "stdio", ""];
const [{ Client }, { StdioClientTransport }, { StreamableHTTPClientTransport }] =
  await Promise.all(at.map((path) => load([process.env.CLIENT, path].filter(Boolean).join("/"))));

const isHttp = program.startsWith("http://");
const headers = { Authorization: `Bearer ${args[0]}` };
const transport = isHttp
  ? new StreamableHTTPClientTransport(new URL(program), { requestInit: { headers } })
  : new StdioClientTransport({ command: program, args });

// In its handshake, the SDK requests the newest protocol it knows. Request `version` instead.
const send = transport.send.bind(transport);
transport.send = (message, options) => {
  if (message.method === "initialize") message.params.protocolVersion = version;
  return send(message, options);
};

const mode = version >= "2026" ? { pin: version } : "legacy";
const client = new Client(
  { name: "typescript", version: "1" },
  { capabilities: {}, versionNegotiation: { mode } },
);
await client.connect(transport);

const anything = { parse: (value) => value, safeParse: (data) => ({ success: true, data }) };
const ask = (method, params) => client.request({ method, params }, anything);
const progress = [];
const onprogress = ({ progress: done }) => progress.push(done);
const call = (name, given, options) =>
  client.callTool({ name, arguments: given }, ...(isFirst ? [undefined, options] : [options]));
const used = await call("use_skill", { skill: "review", args: "7" });
const wrong = await call("find_skills", { query: 7 });
await call("hello_count", { to: 2, pause: 50 }, { onprogress });
const prompt = await client.getPrompt({ name: "review", arguments: { args: "PR 42" } });
const file = await client.readResource({ uri: "skill://review/ref/how%20to.md" });
const skill = await client.readResource({ uri: "skill://review/SKILL.md" });
const listed = isFirst ? (await ask("skills/list", {})).skills : [];
console.log(
  JSON.stringify({
    server: client.getServerVersion().name,
    extension: client.getServerCapabilities().extensions?.["io.modelcontextprotocol/skills"],
    tools: (await client.listTools()).tools.length,
    prompts: (await client.listPrompts()).prompts.map((prompt) => prompt.name),
    used: used.content[0].text,
    wrong: wrong.isError,
    progress,
    prompt: prompt.messages[0].content.text,
    file: file.contents[0].text,
    skill: skill.contents[0].text,
    skills: listed.map((skill) => skill.uri),
  }),
);
await client.close();
