//! `repertoire why`: why a skill is shown for a message, or is not.

use std::collections::BTreeSet;

use repertoire::catalog::Entry;
use repertoire::integration::hook::disclosure_options;
use repertoire::session::SqliteStore;
use repertoire::{
    Disclosure, DisclosureOptions, Engine, Match, MetaQuestion, Query, Rejection, Skill,
};
use serde::Serialize;

use crate::args::{Common, WhyArgs};
use crate::exit_code::ExitCode;
use crate::list::{reason, trigger_kinds};
use crate::match_query::{hits, why};
use crate::output::{DIM, GOOD, HELP, NAME, Output, Page, WARNING, styled};
use crate::report::renderer;
use crate::{query, sanitize, setup};

/// So many triggers that came close are named.
const MAX_NEAR: usize = 5;

/// So many words of a relevant skill are told.
const MAX_TERMS: usize = 4;

/// Words that are this similar are taken for forms or misspellings of each other.
const SIMILAR: f64 = 0.88;

/// The verdict, as JSON.
#[derive(Debug, Serialize)]
pub(crate) struct Verdict {
    id: String,
    path: Option<String>,
    /// Whether the instructions are added for this message.
    pub(crate) fires: bool,
    /// Why, in a phrase.
    reason: String,
    /// What to do about it; empty if nothing is wrong.
    help: String,
    /// Its place among the matches, from 1.
    rank: Option<usize>,
    #[serde(rename = "match")]
    matched: Option<Match>,
    /// Where the exclude stands that vetoes it: bytes of the message.
    veto: Option<Veto>,
    /// Triggers some of whose words are in the message.
    near: Vec<Near>,
    /// Files of the same id that do not count, as this one wins.
    shadows: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Veto {
    exclude: String,
    start: usize,
    end: usize,
}

#[derive(Debug, Serialize)]
struct Near {
    kind: &'static str,
    trigger: String,
    /// Words of the trigger that are not in the message.
    missing: Vec<String>,
    /// A word of the message that may be meant for one that is missing.
    similar: Option<String>,
}

pub(crate) fn run(args: &WhyArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let mut query = query::read(&args.query, common)?;
    let store = args.session.as_ref().map(|_| SqliteStore::open(setup::sessions_file(common)?));
    let store = store.transpose()?;
    let engine = setup::engine(common, |builder| {
        let matching = &args.query.matching;
        let builder = matching.apply(builder).disclosure(args.showing.apply(disclosure_options()));
        match store {
            Some(store) => builder.session_store(store),
            None => builder,
        }
    })?;
    if let Some(session) = &args.session {
        if engine.session(session).state().is_ok_and(|state| state.skills.is_empty()) {
            let session = sanitize::line(session);
            out.note(&format!("nothing is known of the conversation `{session}`"));
        }
        query = query.session(session.clone());
    }
    let catalog = engine.catalog();
    let filtered = catalog.filtered().find(|entry| entry.id == args.id.as_str());
    let entry = match catalog.find_any(&args.id).or_else(|error| filtered.ok_or(error)) {
        Ok(entry) => entry,
        Err(error) => {
            setup::finish(common, &engine, out);
            return Err(error.into());
        }
    };
    let verdict = verdict(&engine, entry, &query, engine.disclosure_options());
    if out.json {
        Output::json(&verdict)?;
    } else {
        out.human(page(&verdict, &query, out).as_str())?;
    }
    Ok(ExitCode::done_if(verdict.fires))
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
        shadows: shadows.collect(),
    };
    let is_filtered = catalog.filtered().any(|e| e.id == entry.id);
    let disclosure = engine.disclose_with(query, options);
    let held_back = disclosure.omitted.iter().find(|omitted| omitted.id == entry.id);
    // What is shown is decided there alone: also a skill without a match can be.
    verdict.fires = disclosure.full.contains(&entry.id);
    let (reason, help) = if verdict.fires {
        (shown(engine, entry, query, &disclosure, place.is_some()), String::new())
    } else if is_filtered {
        ("it is not in the allowlist".to_owned(), "name it with `--allow`".to_owned())
    } else if let Some(reason) = reason(entry) {
        let status = entry.status.as_str();
        let is_told = entry.status.reason().is_some();
        (if is_told { format!("{status}: {reason}") } else { reason }, help_for(entry))
    } else if query.is_blank() {
        ("the message is blank".to_owned(), "write one".to_owned())
    } else if let Some(Rejection { reason, .. }) = held_back {
        verdict.veto = veto(entry, query);
        (reason.clone(), help_against(reason))
    } else {
        not_matched(entry, query, options, &mut verdict)
    };
    verdict.reason = reason;
    verdict.help = help;
    verdict
}

fn help_for(entry: &Entry) -> String {
    match entry.status.as_str() {
        "unavailable" => "provide what it requires".to_owned(),
        "disabled" => format!("turn it on with `--enable {}`", entry.id),
        _ => format!("type `/{}`, or take the field out of its front matter", entry.id),
    }
}

/// Why a skill is shown in full.
fn shown(
    engine: &Engine,
    entry: &Entry,
    query: &Query<'_>,
    disclosure: &Disclosure,
    is_match: bool,
) -> String {
    if let Some(found) = disclosure.relevant.as_ref().filter(|found| found.id == entry.id) {
        let telling = found.terms.iter().filter(|shared| !shared.is_common).take(MAX_TERMS);
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
    ("vetoed by its exclude", "name the skill in the message, or take that exclude out"),
    ("in quoted text only", "say it outside of quotes and code, or leave `--mask-quoted` out"),
    ("only its generic word", "say a phrase of it or name it, or leave `--hint-generic-words` out"),
    ("below the limit", "name it in the message, or raise `REPERTOIRE_MAX_SKILLS`"),
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
    entry: &Entry,
    query: &Query<'_>,
    options: &DisclosureOptions,
    verdict: &mut Verdict,
) -> (String, String) {
    let triggers = entry.skill.triggers();
    if !triggers.declared {
        let reason = match options.relevance {
            None => "it declares no triggers: it is only listed",
            Some(_) => {
                "it declares no triggers, and relevance is not sure of it: it is only listed"
            }
        };
        return (reason.to_owned(), "add `metadata.triggers.keywords`".to_owned());
    }
    verdict.near = near(entry, &query.text);
    let path =
        entry.skill.path().map_or_else(String::new, |path| format!(" in {}", path.display()));
    let help = match verdict.near.iter().find(|near| near.similar.is_some()) {
        Some(Near { similar: Some(word), .. }) => {
            format!("add a keyword with `{word}`{path}, or let verbs match with `--inflect`")
        }
        _ => format!("add a keyword that such a message has{path}"),
    };
    ("none of its triggers is in the message".to_owned(), help)
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

/// The triggers that came close, the closest first.
fn near(entry: &Entry, message: &str) -> Vec<Near> {
    let message = words(message);
    let literal = trigger_kinds(entry.skill.triggers());
    let literal = literal.iter().filter(|(kind, _)| matches!(*kind, "keywords" | "verbs"));
    let mut near = Vec::new();
    for (kind, triggers) in literal {
        for trigger in *triggers {
            let wanted = words(&trigger.value);
            let missing: Vec<String> = wanted.difference(&message).cloned().collect();
            let similar = missing.iter().find_map(|wanted| {
                let is_similar = |word: &&String| strsim::jaro_winkler(word, wanted) >= SIMILAR;
                message.iter().find(is_similar).cloned()
            });
            if missing.len() < wanted.len() || similar.is_some() {
                let trigger = trigger.value.clone();
                near.push(Near { kind: kind.trim_end_matches('s'), trigger, missing, similar });
            }
        }
    }
    near.sort_by_key(|near| (near.missing.len(), near.similar.is_none()));
    near.truncate(MAX_NEAR);
    near
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn page(verdict: &Verdict, query: &Query<'_>, out: Output) -> Page {
    let mut page = Page::default();
    let (style, title) = if verdict.fires { (GOOD, "fires") } else { (WARNING, "does not fire") };
    let id = styled(NAME, sanitize::line(&verdict.id));
    let reason = sanitize::line(&verdict.reason);
    page.line(format_args!("{id} {}: {reason}", styled(style, title)));
    if let (Some(matched), Some(rank)) = (&verdict.matched, verdict.rank) {
        page.line(format_args!("match {rank}: {}", styled(DIM, why(matched))));
        page.push(hits(&matched.hits, query, &renderer(out)).as_str());
    }
    if let Some(Veto { exclude, start, end }) = &verdict.veto {
        let text = query.text.get(*start..*end).unwrap_or_default();
        let (exclude, text) = (sanitize::line(exclude), sanitize::line(text));
        page.line(format_args!("exclude `{exclude}` stands at byte {start} to {end}: `{text}`"));
    }
    for Near { kind, trigger, missing, similar } in &verdict.near {
        let missing = missing.iter().map(|word| format!("`{}`", sanitize::line(word)));
        let missing = missing.collect::<Vec<_>>().join(", ");
        let similar = similar.as_deref().map_or_else(String::new, |word| {
            format!("; the message has `{}`", sanitize::line(word))
        });
        let trigger = sanitize::line(trigger);
        let what = if missing.is_empty() {
            "all its words are there, not as this phrase".to_owned()
        } else {
            format!("{missing} is missing{similar}")
        };
        page.line(format_args!("close: {kind} `{trigger}`: {what}"));
    }
    for path in &verdict.shadows {
        page.line(format_args!("shadowed by it: {}", sanitize::line(path)));
    }
    if !verdict.help.is_empty() {
        page.line(format_args!("{}: {}", styled(HELP, "help"), sanitize::line(&verdict.help)));
    }
    if let Some(path) = &verdict.path {
        page.line(format_args!("{}", styled(DIM, sanitize::line(path))));
    }
    page
}
