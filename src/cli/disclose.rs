//! `repertoire disclose`: what to put into the prompt for a message.

use repertoire::{Disclosure, DisclosureOptions, Engine, Query};

use crate::args::{Common, DiscloseArgs};
use crate::exit_code::ExitCode;
use crate::output::{DIM, Output, styled};
use crate::{query, sanitize, setup};

pub(crate) fn run(args: &DiscloseArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let config = setup::config(common)?;
    let defaults = config.disclosure(DisclosureOptions::default());
    let window = args.window.window.or(config.window());
    let options = DisclosureOptions {
        format: args.format,
        max_skills: args.max_skills.unwrap_or(defaults.max_skills),
        budget: query::budget(args.budget.as_deref(), window)?.or(defaults.budget),
        ..args.showing.apply(defaults)
    };
    let query = query::read(&args.query, common)?;
    let engine =
        setup::engine(common, |builder| args.query.matching.apply(builder).disclosure(options))?;
    query::note_length(&query, &engine, out);
    let disclosure = disclose(args, common, &engine, &query)?;
    if out.json {
        Output::json(&disclosure)?;
    } else {
        Output::exact(&disclosure.text)?;
        if out.is_talkative() {
            for omitted in &disclosure.omitted {
                let id = sanitize::line(omitted.id.as_str());
                let reason = sanitize::line(&omitted.reason);
                out.note(&styled(DIM, format_args!("left out: {id} ({reason})")));
            }
        }
    }
    Ok(setup::finish(common, &engine, out))
}

/// The disclosure, in a conversation if one is named.
fn disclose(
    args: &DiscloseArgs,
    common: &Common,
    engine: &Engine,
    query: &Query<'_>,
) -> anyhow::Result<Disclosure> {
    let Some(session) = &args.session else { return Ok(engine.disclose(query)) };
    let session = setup::session(common, Some(session))?;
    if args.event.is_some() {
        session.compacted()?;
    }
    Ok(engine.disclose_in(query, &session)?)
}
