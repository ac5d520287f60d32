//! `repertoire use`: a skill's instructions, with arguments.

use repertoire::{Activate, Audience, Envelope};

use crate::args::{Common, UseArgs};
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::setup;

pub(crate) fn run(args: &UseArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let engine = setup::engine(common, |builder| builder)?;
    // Whoever types this may use what the model may, and what the user may.
    let catalog = engine.catalog();
    let audience = match catalog.find(&args.id, Audience::Model) {
        Ok(_) => Audience::Model,
        Err(_) => Audience::User,
    };
    let session = setup::session(common, args.session.as_deref())?;
    let how = Activate { audience, inline: args.inline, ..Activate::default() };
    let activation = engine.activate_with(&args.id, &args.args.join(" "), &session, &how);
    let code = setup::finish(common, &engine, out);
    let activation = activation?;
    let text = if args.xml { activation.to_xml() } else { activation.to_text() };
    if out.json {
        Output::json(&Envelope::success(&activation, text))?;
    } else {
        Output::exact(&text)?;
    }
    Ok(code)
}
