//! `repertoire stats --missed`: lists messages that were routed wrongly, and adds them to the examples of
//! the skills.

mod write;

use repertoire::Engine;
use repertoire::engine::{Misrouting, MissedMessage, MissedMessages};
use repertoire::session::Day;
use serde::Serialize;

use crate::args::{Common, StatsArgs};
use crate::exit_code::ExitCode;
use crate::output::{DIM, GOOD, NAME, Output, Page, WARNING, styled};
use crate::report::count;
use crate::{confirm, sanitize, setup};
use write::{Change, Plan, Refusal};

/// The messages, as JSON.
#[derive(Serialize)]
struct Missed<'m> {
    since: Day,
    #[serde(flatten)]
    found: &'m MissedMessages,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<&'m [Change]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<&'m [Refusal]>,
}

pub(super) fn run(
    args: &StatsArgs,
    since: Day,
    engine: &Engine,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let found = engine.missed(since)?;
    if !args.writing.write {
        if out.json {
            Output::json(&Missed { since, found: &found, written: None, refused: None })?;
        } else {
            list(&found, out)?;
        }
        tell(&found, since, common, out)?;
        return Ok(setup::finish(common, engine, out));
    }
    let is_offered = |of: &&MissedMessage| args.writing.all || is_clear(of);
    let offered: Vec<&MissedMessage> = found.messages.iter().filter(is_offered).collect();
    let Plan { changes, refusals } = Plan::of(&offered, engine);
    if !out.json {
        show(&changes, &refusals, out)?;
    }
    let question = format!("write {}?", count(changes.len(), "file"));
    if !changes.is_empty() && !confirm::is_agreed(&question, args.writing.yes, out)? {
        out.note("nothing is written");
        return Ok(ExitCode::Failure);
    }
    for change in &changes {
        change.write()?;
    }
    if out.json {
        let (written, refused) = (Some(&*changes), Some(&*refusals));
        Output::json(&Missed { since, found: &found, written, refused })?;
    }
    tell(&found, since, common, out)?;
    let left = found.messages.len() - offered.len();
    if left > 0 {
        out.note(&format!(
            "{} left as it is: nothing shows that the skill was wrong; `--all` adds it to `should_not`",
            count(left, "message")
        ));
    }
    if !changes.is_empty() {
        out.note("`repertoire check` says how the new examples are routed");
    }
    Ok(ExitCode::done_if(refusals.is_empty()))
}

/// Tells whether the model's conduct shows that a message was routed wrongly. Instructions alone leave no
/// trace of their use, so a skill in full was wrong only if another one was used in its place.
fn is_clear(message: &MissedMessage) -> bool {
    message.kind == Misrouting::NotInView || !message.instead.is_empty()
}

/// Prints the messages, by skill.
fn list(found: &MissedMessages, out: Output) -> std::io::Result<()> {
    let mut page = Page::default();
    let mut last = None;
    for message in &found.messages {
        if last.replace(&message.skill).is_none_or(|last| *last != message.skill) {
            page.line(format_args!("{}", styled(NAME, sanitize::line(message.skill.as_str()))));
        }
        let MissedMessage { kind, times, last, instead, .. } = message;
        let what = match kind {
            Misrouting::NotInView => styled(WARNING, "not in view"),
            Misrouting::NotUsed if is_clear(message) => styled(WARNING, "not used"),
            Misrouting::NotUsed => styled(DIM, "no sign of use"),
        };
        page.line(format_args!("  {what}: {}", sanitize::line(&message.message)));
        let times = count(*times, "time");
        let instead: Vec<String> = instead.iter().map(|id| format!("`{id}`")).collect();
        let instead = match &instead[..] {
            [] => String::new(),
            ids => format!("; also loaded or used: {}", ids.join(", ")),
        };
        let told = format!("{times}, last on {last}{instead}");
        page.line(format_args!("    {}", styled(DIM, sanitize::line(&told))));
    }
    if page.as_str().is_empty() { Ok(()) } else { out.human(page.as_str()) }
}

/// Prints the lines to write, and what cannot be written.
fn show(changes: &[Change], refusals: &[Refusal], out: Output) -> std::io::Result<()> {
    let mut page = Page::default();
    for change in changes {
        let path = change.path.to_string_lossy();
        page.line(format_args!("{}", styled(NAME, sanitize::line(&path))));
        for (sign, line) in change.lines() {
            let line = format!("  {sign} {}", sanitize::line(&line));
            let style = if sign == '+' { GOOD } else { WARNING };
            page.line(format_args!("{}", styled(style, line)));
        }
    }
    for Refusal { skill, reason, help, .. } in refusals {
        let told = format!("`{skill}` is left as it is: {reason}; {help}");
        out.note(&sanitize::line(&told));
    }
    if page.as_str().is_empty() { Ok(()) } else { out.human(page.as_str()) }
}

/// Reports how many messages were kept, or how to keep some.
fn tell(
    found: &MissedMessages,
    since: Day,
    common: &Common,
    out: Output,
) -> Result<(), repertoire::Error> {
    let MissedMessages { kept, messages, settled, .. } = found;
    if *kept == 0 && !setup::config(common)?.keeps_messages() {
        out.note(
            "no messages are kept; to keep their texts as they are typed, write `keep_messages = true` \
             below `[routing]` in your own `config.toml`",
        );
        return Ok(());
    }
    let wrong = count(messages.len(), "message");
    out.note(&format!("{wrong} routed wrongly, of {kept} kept since {since}"));
    if *settled > 0 {
        let settled = count(*settled, "further one");
        out.note(&format!("{settled} routed rightly by now, or among the examples"));
    }
    Ok(())
}
