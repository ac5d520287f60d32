//! Why a skill is shown for a message, or is not, and what can be done about it.

use repertoire::activation::Activation;
use repertoire::catalog::{Entry, Status};
use repertoire::integration::hook::{is_agent_command, user_command};
use repertoire::session::Session;
use repertoire::{
    Diagnostic, Disclosure, DisclosureOptions, Engine, ErrorCode, Match, MetaQuestion, Query,
    QueryLimits, Rejection, Severity, Skill,
};
use serde::Serialize;

use super::near::{Near, near};
use crate::failure::help;

/// So many words of a relevant skill are told.
const MAX_TERMS: usize = 4;

/// The verdict, as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Verdict {
    pub(super) id: String,
    pub(super) path: Option<String>,
    /// Whether the instructions are added for this message.
    pub(crate) fires: bool,
    /// Why, in a phrase.
    pub(super) reason: String,
    /// What to do about it; empty if nothing is wrong.
    pub(super) help: String,
    /// Its place among the matches, from 1.
    pub(super) rank: Option<usize>,
    #[serde(rename = "match")]
    pub(super) matched: Option<Match>,
    /// Where the exclude stands that vetoes it: bytes of the message.
    pub(super) veto: Option<Veto>,
    /// Triggers some of whose words are in the message.
    pub(super) near: Vec<Near>,
    /// What the loader refused of its file.
    pub(super) refused: Vec<Diagnostic>,
    /// Files of the same id that do not count, as this one wins.
    pub(super) shadows: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct Veto {
    pub(super) exclude: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Why `entry` is shown for `query` with `options`, or is not.
pub(crate) fn verdict(
    engine: &Engine,
    entry: &Entry,
    query: &Query<'_>,
    options: &DisclosureOptions,
) -> Verdict {
    let found = engine.matches(query);
    let place = found.iter().position(|found| found.id == entry.id);
    let catalog = engine.catalog();
    let same_id = catalog.entries().filter(|e| e.id == entry.id && e.is_shadowed());
    let shadows = same_id.filter_map(|e| e.skill.path()).map(|path| path.display().to_string());
    let mut verdict = Verdict {
        id: entry.id.to_string(),
        path: entry.skill.path().map(|path| path.display().to_string()),
        fires: false,
        reason: String::new(),
        help: String::new(),
        rank: place.map(|place| place + 1),
        matched: place.map(|place| found[place].clone()),
        veto: None,
        near: Vec::new(),
        refused: Vec::new(),
        shadows: shadows.collect(),
    };
    if let Some(told) = of_command(engine, entry, query) {
        (verdict.fires, verdict.reason, verdict.help) = told;
        return verdict;
    }
    let is_filtered = catalog.filtered().any(|e| e.id == entry.id);
    let disclosure = engine.disclose_with(query, options);
    let held_back = disclosure.omitted.iter().find(|omitted| omitted.id == entry.id);
    // What is shown is decided there alone: also a skill without a match can be.
    verdict.fires = disclosure.full.contains(&entry.id);
    let (reason, help) = if verdict.fires {
        (shown(engine, entry, query, &disclosure, place.is_some()), String::new())
    } else if is_filtered {
        ("it is not in the allowlist".to_owned(), "name it with `--allow`".to_owned())
    } else if let Some(reason) = entry.reason() {
        let status = entry.status.as_str();
        let is_told = entry.status.reason().is_some();
        (if is_told { format!("{status}: {reason}") } else { reason }, help_for(entry))
    } else if query.is_blank() {
        ("the message is blank".to_owned(), "write one".to_owned())
    } else if let Some(Rejection { reason, .. }) = held_back {
        verdict.veto = veto(entry, query);
        (reason.clone(), help_against(reason))
    } else {
        let (mut reason, help) = not_matched(engine, entry, query, &mut verdict);
        if disclosure.registry.contains(&entry.id) {
            reason += "; it is listed as relevant, which is not sure enough for more";
        }
        (reason, help)
    };
    verdict.reason = reason;
    verdict.help = help;
    verdict
}

/// What becomes of a message that is a slash command, as a hook has it: whether `entry` is added,
/// why, and what to do about it. `None` for an ordinary message.
fn of_command(engine: &Engine, entry: &Entry, query: &Query<'_>) -> Option<(bool, String, String)> {
    let none = String::new();
    Some(match user_command(engine, &query.text, &Session::in_memory("why")) {
        Ok(Some(activation)) if activation.id == entry.id => {
            (true, "the message is its command: its instructions are added".to_owned(), none)
        }
        Ok(Some(Activation { id, .. })) => {
            (false, format!("the message is the command of the skill `{id}`, which is added"), none)
        }
        // The command of another skill, which is not: the hook says so, and takes the message as it is.
        Err(error) if error.code() == ErrorCode::NotFound && entry.is_available() => return None,
        Err(error) => {
            (false, format!("the message is a command: {}", error.message()), help(&error))
        }
        Ok(None) if is_agent_command(&query.text) => {
            let help = "write what it is about without the slash";
            (false, "such a command is left to the agent".to_owned(), help.to_owned())
        }
        Ok(None) => return None,
    })
}

fn help_for(entry: &Entry) -> String {
    if entry.status == Status::Disabled {
        return format!("turn it on with `--enable {}`", entry.id);
    }
    entry.remedy().unwrap_or_else(|| {
        format!("type `/{}`, or take the field out of its front matter", entry.id)
    })
}

/// Why a skill is shown in full.
fn shown(
    engine: &Engine,
    entry: &Entry,
    query: &Query<'_>,
    disclosure: &Disclosure,
    is_match: bool,
) -> String {
    if disclosure.relevant.as_ref().is_some_and(|found| found.id == entry.id) {
        let shared = engine.shared_terms(&query.text, &entry.id);
        let telling = shared.iter().filter(|shared| !shared.is_common).take(MAX_TERMS);
        let words: Vec<String> = telling.map(|shared| format!("`{}`", shared.term)).collect();
        return format!("it is the most relevant skill, by the words {}", words.join(", "));
    }
    if is_match {
        return "its instructions are added".to_owned();
    }
    match engine.explain(query, 0).meta {
        Some(MetaQuestion::ShowAll) => "the message asks to see all skills".to_owned(),
        _ => "its instructions are added again, as the context lost them".to_owned(),
    }
}

/// What can be done against each kind of reason, by words of it.
const REMEDIES: [(&str, &str); 9] = [
    ("vetoed by its exclude", "write `skill` beside its name, or take that exclude out"),
    ("in quoted text only", "say it outside of quotes and code, or leave `--mask-quoted` out"),
    ("may be its name", "write `skill` beside its name, or `/` before it"),
    ("below the limit", "write `skill` beside its name, or raise `REPERTOIRE_MAX_SKILLS`"),
    ("was not tried", "let the pattern demand a word, or declare a keyword"),
    ("cannot be read", "see to it that its file can be read"),
    ("over budget", "make its body shorter: move details to files beside it"),
    ("over the budget", "make its body shorter: move details to files beside it"),
    (
        "in the context already",
        "nothing is wrong: they are added again when the context was made shorter",
    ),
];

fn help_against(reason: &str) -> String {
    let help = REMEDIES.iter().find(|(kind, _)| reason.contains(kind));
    help.map_or_else(String::new, |(_, help)| (*help).to_owned())
}

fn not_matched(
    engine: &Engine,
    entry: &Entry,
    query: &Query<'_>,
    verdict: &mut Verdict,
) -> (String, String) {
    let skill = &entry.skill;
    let triggers = skill.triggers();
    let refused = skill.diagnostics().iter().filter(|found| found.severity == Severity::Error);
    verdict.refused = refused.cloned().collect();
    if !triggers.declared {
        let reason = match verdict.refused.first() {
            Some(_) => "its file could not be read as a whole, triggers included",
            None => "it declares no triggers",
        };
        let help = match verdict.refused.first() {
            Some(found) => found.help.clone(),
            None => "add `metadata.triggers.keywords`".to_owned(),
        };
        return (reason.to_owned(), help);
    }
    let QueryLimits { literals, patterns, .. } = engine.query_limits();
    verdict.near = near(entry, &engine.looked_at(&query.text));
    let n_bytes = query.text.len();
    if n_bytes > literals {
        let kib = literals / 2 / 1024;
        let reason = format!(
            "none of its triggers is in what is looked at of a message this long: its first and \
             last {kib} KiB"
        );
        return (reason, "say at its beginning or end what it is about".to_owned());
    }
    let reason = match &verdict.refused[..] {
        _ if n_bytes > patterns && !triggers.patterns.is_empty() => format!(
            "none of its triggers is in the message, of which patterns see the first and last {} \
             KiB",
            patterns / 2 / 1024
        ),
        [] => "none of its triggers is in the message".to_owned(),
        _ => "none of its triggers that were not refused is in the message".to_owned(),
    };
    let path = skill.path().map_or_else(String::new, |path| format!(" in {}", path.display()));
    let similar = |near: &&Near| near.similar.is_some();
    let help = match (verdict.refused.first(), verdict.near.iter().find(similar)) {
        (Some(found), _) => found.help.clone(),
        (None, Some(Near { kind: "verb", similar: Some(word), .. })) => {
            format!("add a keyword with `{word}`{path}, or let verbs match with `--inflect`")
        }
        (None, Some(Near { similar: Some(word), .. })) => {
            format!("add a keyword with `{word}`{path}")
        }
        _ => format!("add a keyword that such a message has{path}"),
    };
    (reason, help)
}

/// Where an exclude of the skill stands in the message: where it would as a keyword.
fn veto(entry: &Entry, query: &Query<'_>) -> Option<Veto> {
    let excludes = entry.skill.triggers().exclude.iter().map(|exclude| &exclude.value);
    let mut vetoes = excludes.filter_map(|exclude| {
        let quoted = serde_json::to_string(exclude).ok()?;
        let text = format!("---\nname: probe\ndescription: d\ntriggers: [{quoted}]\n---\n");
        let probe = Skill::parse(&text, "repertoire").ok()?;
        let found = Engine::builder().skill(probe).build().ok()?.matches(query);
        let hit = found.first()?.hits.first()?;
        Some(Veto { exclude: exclude.clone(), start: hit.span.start, end: hit.span.end })
    });
    vetoes.next()
}
