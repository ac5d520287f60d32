//! `repertoire disclose`: prints the text to add to the prompt for a message.

use repertoire::{
    Consent, Disclosure, DisclosureOptions, Engine, Error, ErrorCode, Query, Reason, Remedy, Task,
    TaskSpawner,
};

use crate::args::{Common, DiscloseArgs};
use crate::exit_code::ExitCode;
use crate::output::{DIM, Output, styled};
use crate::{query, sanitize, sessions, setup};

pub(crate) fn run(args: &DiscloseArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let config = setup::config(common)?.with_window(args.window.window);
    let mut options = args.showing.apply(config.disclosure(DisclosureOptions::default()));
    options.format = args.format;
    options.max_skills = args.max_skills.unwrap_or(options.max_skills);
    options.how_to_load = setup::how_to_load();
    options.budget = query::budget(args.budget.as_deref(), config.window())?.or(options.budget);
    let query = query::read(&args.query, common)?;
    let engine = setup::engine(common, |builder| {
        let builder = args.query.matching.apply(builder).disclosure(options);
        let builder = builder.consent(Consent::new(args.consent.into()));
        if args.tasks { builder.task_spawner(Caller) } else { builder }
    })?;
    query::note_length(&query, &engine, out);
    let disclosure = disclose(args, common, &engine, &query)?;
    if out.json {
        Output::json(&disclosure)?;
    } else {
        Output::exact(&disclosure.text)?;
        if out.is_talkative() {
            for omitted in &disclosure.omitted {
                let id = sanitize::line(omitted.id.as_str());
                let reason = omitted.to_string();
                let reason = sanitize::line(&reason);
                out.note(&styled(DIM, format_args!("left out: {id} ({reason})")));
            }
            let is_below = |reason: &Reason| matches!(reason, Reason::BelowLimit { .. });
            let named = disclosure.omitted.iter().filter(|of| of.reasons().any(is_below)).count();
            let n_more = disclosure.below_limit.saturating_sub(named);
            if n_more > 0 {
                out.note(&styled(DIM, format_args!("left out: {n_more} more below the limit")));
            }
        }
    }
    Ok(setup::finish(common, &engine, out))
}

/// Stands for the caller of this program, who declared that it runs skills as tasks. This process
/// spawns none.
#[derive(Debug)]
struct Caller;

impl TaskSpawner for Caller {
    fn spawn(&self, task: &Task) -> Result<String, Error> {
        let message = format!("skill `{}` runs as a task of your agent", task.skill);
        let help = "get its instructions with `repertoire use --inline`, for a task of their own";
        Err(Error::new(ErrorCode::ExecutionError, message, help).with_remedy(Remedy::Inline))
    }
}

/// Tells whether a command failed only because this process neither runs tasks nor asks the user. Such
/// a skill is a line in the disclosure.
fn is_held_back(error: &Error) -> bool {
    let code = error.code();
    code == ErrorCode::ConsentRequired || error.remedy() == Some(&Remedy::Inline)
}

/// Returns the disclosure for `query`, within a session if the command line names one.
fn disclose(
    args: &DiscloseArgs,
    common: &Common,
    engine: &Engine,
    query: &Query<'_>,
) -> anyhow::Result<Disclosure> {
    let Some(session) = &args.session else { return Ok(engine.disclose(query)) };
    let session = sessions::named(common, Some(session))?;
    if args.event.is_some() {
        session.compacted()?;
    }
    let mut turn = engine.turn(query, &session).refuse(is_held_back).run()?;
    turn.disclosure.text = turn.text;
    Ok(turn.disclosure)
}
