//! `repertoire use`: prints a skill's instructions, with arguments.

use std::path::Path;

use repertoire::{Activate, Audience, Envelope};

use crate::args::{Common, UseArgs};
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::{sessions, setup};

pub(crate) fn run(args: &UseArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let engine = setup::engine(common, |builder| builder)?;
    let session = sessions::named(common, args.session.as_deref())?;
    let arguments = args.args.join(" ");
    let catalog = engine.catalog();
    let word = args.id.strip_prefix('/');
    // `/id` may name a skill that has no command, if it is not the path of one.
    let is_path = Path::new(&args.id).exists();
    let without = word.filter(|word| !is_path && catalog.find_any(word).is_ok());
    // In a message, a blank would end the command.
    let has_blank = without.is_some_and(|id| id.contains(char::is_whitespace));
    let message = format!("{} {arguments}", args.id);
    let is_message = word.is_some() && !has_blank;
    let typed = if is_message { engine.user_message(&message, &session)? } else { None };
    let activation = typed.map_or_else(
        || {
            let name = without.unwrap_or_else(|| setup::skill_name(&catalog, &args.id));
            // A user of the command line may use the skills of both audiences, but not as commands.
            let for_model = without.is_none() && catalog.find(name, Audience::Model).is_ok();
            let audience = if for_model { Audience::Model } else { Audience::User };
            let how = Activate { audience, inline: args.inline, ..Activate::default() };
            engine.activate_with(name, &arguments, &session, &how)
        },
        Ok,
    );
    let code = setup::finish(common, &engine, out);
    let activation = activation?;
    let is_xml = args.xml || args.format == "xml";
    let text = if is_xml { activation.to_xml() } else { activation.to_text() };
    if out.json {
        Output::json(&Envelope::success(&activation, text))?;
    } else {
        Output::exact(&text)?;
    }
    Ok(code)
}
