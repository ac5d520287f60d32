//! The verdict on a skill for a message: why it is shown or not, and the remedy.

use std::ops::Range;

use repertoire::activation::Activation;
use repertoire::catalog::Entry;
use repertoire::engine::QueryLimits;
use repertoire::matcher::find_literal;
use repertoire::session::Session;
use repertoire::{
    Diagnostic, Disclosure, DisclosureOptions, Engine, ErrorCode, Explanation, Match, MetaQuestion,
    Query, Reason, Severity, SkillId, Weighed,
};
use repertoire_agents::is_agent_command;
use serde::Serialize;

use super::near_miss::{NearMiss, near_misses};
use super::unread::unread_triggers;
use crate::failure::help;
use crate::match_query::evidence;
use crate::query::searched_end;

/// The verdict, as JSON.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Verdict {
    pub(super) id: String,
    pub(super) path: Option<String>,
    /// True if the instructions are added for this message.
    pub(crate) fires: bool,
    /// The reason as a code: that of a [`Reason`], or one of this command's own.
    pub(super) code: &'static str,
    /// The reason in a phrase.
    pub(super) reason: String,
    /// The remedy; empty if nothing is wrong.
    pub(super) help: String,
    /// The skill's place among the matches, from 1.
    pub(super) rank: Option<usize>,
    #[serde(rename = "match")]
    pub(super) matched: Option<Match>,
    /// The skill's relevance and what decided on it, if it is among the most relevant skills.
    pub(super) relevant: Option<Weighed>,
    /// The exclude that vetoes the skill, and its position in bytes of the message.
    pub(super) veto: Option<Veto>,
    /// Triggers of which the message contains some words.
    pub(super) near: Vec<NearMiss>,
    /// The loader's findings about the rejected file.
    pub(super) refused: Vec<Diagnostic>,
    /// The files of skills with the same id, over which this one takes precedence.
    pub(super) shadows: Vec<String>,
    /// The reason why the agent runs no hook, if that is not the reason why the skill does not fire.
    pub(super) silence: Option<String>,
}

impl Verdict {
    /// Corrects a verdict about an agent that runs no hook, because of `why`: nothing fires there.
    pub(super) fn silenced(self, why: String) -> Verdict {
        if !self.fires {
            return Verdict { silence: Some(why), ..self };
        }
        Verdict {
            fires: false,
            code: "no-hook",
            reason: format!("the agent runs no hook here: {why}"),
            help: "mend that; the skill itself fits the message".to_owned(),
            ..self
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct Veto {
    pub(super) exclude: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// A finding: its code, its text, and the remedy.
struct Finding {
    code: &'static str,
    reason: String,
    help: String,
}

impl Finding {
    fn new(code: &'static str, reason: impl Into<String>, help: impl Into<String>) -> Finding {
        Finding { code, reason: reason.into(), help: help.into() }
    }

    /// Converts a reason of the engine to a finding.
    fn because(reason: &Reason, text: String, entry: &Entry) -> Finding {
        Finding { code: reason.code(), reason: text, help: remedy(reason, entry) }
    }
}

/// Finds out why `entry` is or is not shown for `query`, a message of `session`, with `options`.
pub(crate) fn verdict(
    engine: &Engine,
    entry: &Entry,
    query: &Query<'_>,
    session: &Session,
    options: &DisclosureOptions,
) -> Verdict {
    let turn = engine.turn(query, session).options(options);
    let Explanation { matches: found, relevant, .. } = turn.explain(usize::MAX);
    let place = found.iter().position(|found| found.id == entry.id);
    let catalog = engine.catalog();
    let same_id = catalog.entries().filter(|e| e.id == entry.id && e.is_shadowed());
    let shadows = same_id.filter_map(|e| e.skill.path()).map(|path| path.display().to_string());
    let mut verdict = Verdict {
        id: entry.id.to_string(),
        path: entry.skill.path().map(|path| path.display().to_string()),
        rank: place.map(|place| place + 1),
        matched: place.map(|place| found[place].clone()),
        relevant: relevant.into_iter().find(|skill| skill.found.id == entry.id),
        shadows: shadows.collect(),
        ..Verdict::default()
    };
    let told = if let Some((fires, told)) = of_command(engine, entry, query, options) {
        verdict.fires = fires;
        told
    } else {
        let disclosure = turn.preview();
        // The disclosure alone decides: it can also show a skill without a match.
        verdict.fires = disclosure.full.contains(&entry.id);
        if verdict.fires {
            Finding::new("fires", shown(&disclosure, &verdict), "")
        } else {
            not_shown(engine, entry, query, options, &disclosure, &mut verdict)
        }
    };
    Verdict { code: told.code, reason: told.reason, help: told.help, ..verdict }
}

/// Explains why a skill is not shown in full.
fn not_shown(
    engine: &Engine,
    entry: &Entry,
    query: &Query<'_>,
    options: &DisclosureOptions,
    disclosure: &Disclosure,
    verdict: &mut Verdict,
) -> Finding {
    let catalog = engine.catalog();
    let is_filtered = catalog.filtered().any(|filtered| filtered.id == entry.id);
    let hidden = if is_filtered { Some(Reason::Filtered) } else { Reason::of(entry) };
    if let Some(reason) = hidden {
        return Finding::because(&reason, reason.to_string(), entry);
    }
    if query.is_blank() {
        return Finding::new("blank", "the message is blank", "write one");
    }
    if let Some(held_back) = disclosure.omitted.iter().find(|omitted| omitted.id == entry.id) {
        verdict.veto = held_back.reasons().find_map(|reason| veto(reason, query));
        return Finding::because(&held_back.reason, held_back.to_string(), entry);
    }
    if verdict.matched.is_some() && disclosure.below_limit > 0 {
        // `omitted` names only the first few skills below the limit.
        let below = Reason::BelowLimit { limit: options.max_skills };
        return Finding::because(&below, below.to_string(), entry);
    }
    let mut told = not_matched(engine, entry, query, verdict);
    let is_listed = disclosure.registry.contains(&entry.id);
    if is_listed {
        told.code = "listed";
    }
    if let Some(weighed) = &verdict.relevant {
        let how = if is_listed { "it is listed as relevant" } else { "it is relevant" };
        told.reason = format!("{}; {how}, {}", told.reason, evidence(weighed));
    } else if is_listed {
        told.reason += "; it is listed, as few skills declare no triggers";
    }
    told
}

/// Explains a message that is a slash command, as a hook treats it: tells whether `entry` is added,
/// and why. `None` for an ordinary message.
fn of_command(
    engine: &Engine,
    entry: &Entry,
    query: &Query<'_>,
    options: &DisclosureOptions,
) -> Option<(bool, Finding)> {
    let is_native = |id: &SkillId| {
        let catalog = engine.catalog();
        let entry = catalog.get(id.as_str());
        options.native.as_ref().is_some_and(|native| entry.is_some_and(|entry| native.finds(entry)))
    };
    Some(match engine.user_message(&query.text, &Session::in_memory("why")) {
        Ok(Some(Activation { id, .. })) if is_native(&id) => {
            let reason = format!("the agent answers the command of the skill `{id}` by itself");
            (false, Finding::new("agent-command", reason, "nothing is wrong"))
        }
        Ok(Some(activation)) if activation.id == entry.id => {
            let reason = "the message is its command: its instructions are added";
            (true, Finding::new("fires", reason, ""))
        }
        Ok(Some(Activation { id, .. })) => {
            let reason = format!("the message is the command of the skill `{id}`, which is added");
            (false, Finding::new("command", reason, ""))
        }
        // The message is the command of another skill, which is unavailable: the hook says so, and
        // treats the message as an ordinary one.
        Err(error) if error.code() == ErrorCode::NotFound && entry.is_available() => return None,
        Err(error) => {
            let reason = format!("the message is a command: {}", error.message());
            (false, Finding::new("command", reason, help(&error)))
        }
        Ok(None) if is_agent_command(&query.text) => {
            let help = "write what it is about without the slash";
            (false, Finding::new("agent-command", "such a command is left to the agent", help))
        }
        Ok(None) => return None,
    })
}

/// Returns the remedy for `reason`, in this program's own words where it has some.
fn remedy(reason: &Reason, entry: &Entry) -> String {
    let own = match reason {
        Reason::BelowLimit { .. } => {
            "write `skill` next to its name, or raise `REPERTOIRE_MAX_SKILLS`".to_owned()
        }
        Reason::Filtered => "name it with `--allow`".to_owned(),
        Reason::NotForModel { .. } => {
            let by_policy = entry.skill.manifest().closed_by_policy;
            let place = if by_policy { "its `agents/openai.yaml`" } else { "its front matter" };
            format!("type `/{}`, or take the field out of {place}", entry.id)
        }
        Reason::Disabled { .. } => {
            let id = &entry.id;
            return format!(
                "turn it on with `repertoire enable {id}`, or for once with `--enable {id}`"
            );
        }
        _ => reason.help().to_owned(),
    };
    entry.remedy().unwrap_or(own)
}

/// Explains why a skill is shown in full.
fn shown(disclosure: &Disclosure, verdict: &Verdict) -> String {
    match (&verdict.relevant, disclosure.meta) {
        (Some(relevant), _) if relevant.is_decisive => {
            format!("it is the most relevant skill, {}", evidence(relevant))
        }
        _ if verdict.matched.is_some() => "its instructions are added".to_owned(),
        (_, Some(MetaQuestion::ShowAll)) => "the message asks to see all skills".to_owned(),
        _ => "its instructions are added again, as the context lost them".to_owned(),
    }
}

fn not_matched(
    engine: &Engine,
    entry: &Entry,
    query: &Query<'_>,
    verdict: &mut Verdict,
) -> Finding {
    let skill = &entry.skill;
    let triggers = skill.triggers();
    let refused = skill.diagnostics().iter().filter(|found| found.severity == Severity::Error);
    verdict.refused = refused.cloned().collect();
    if !triggers.declared {
        if let (None, Some((reason, help))) = (verdict.refused.first(), unread_triggers(entry)) {
            return Finding::new("no-triggers", reason, help);
        }
        let reason = match verdict.refused.first() {
            Some(_) => "its file could not be read as a whole, triggers included",
            None => "it declares no triggers",
        };
        let help = match verdict.refused.first() {
            Some(found) => found.help.clone(),
            None => "add `metadata.triggers.keywords`".to_owned(),
        };
        return Finding::new("no-triggers", reason, help);
    }
    let QueryLimits { literals, patterns, .. } = engine.query_limits();
    verdict.near = near_misses(entry, &engine.searched_part(&query.text));
    let n_bytes = query.text.len();
    if n_bytes > literals {
        let reason = format!(
            "none of its triggers is in the searched parts of this long message: its first and \
             last {}",
            searched_end(literals)
        );
        return Finding::new("not-matched", reason, "say at its beginning or end what it is about");
    }
    let reason = match &verdict.refused[..] {
        _ if n_bytes > patterns && !triggers.patterns.is_empty() => format!(
            "none of its triggers is in the message, of which patterns see the first and last {}",
            searched_end(patterns)
        ),
        [] => "none of its triggers is in the message".to_owned(),
        _ => "none of its triggers that were not refused is in the message".to_owned(),
    };
    let path = skill.path().map_or_else(String::new, |path| format!(" in {}", path.display()));
    let similar = |near: &&NearMiss| near.similar.is_some();
    let help = match (verdict.refused.first(), verdict.near.iter().find(similar)) {
        (Some(found), _) => found.help.clone(),
        (None, Some(NearMiss { kind: "verb", similar: Some(word), .. })) => {
            format!("add a keyword with `{word}`{path}, or let verbs match with `--inflect`")
        }
        (None, Some(NearMiss { similar: Some(word), .. })) => {
            format!("add a keyword with `{word}`{path}")
        }
        _ => format!("add a keyword that such a message has{path}"),
    };
    Finding::new("not-matched", reason, help)
}

/// Returns the position of the exclude that vetoes a skill.
fn veto(reason: &Reason, query: &Query<'_>) -> Option<Veto> {
    let Reason::Vetoed { exclude } = reason else { return None };
    let Range { start, end } = find_literal(&query.text, exclude)?;
    Some(Veto { exclude: exclude.clone(), start, end })
}
