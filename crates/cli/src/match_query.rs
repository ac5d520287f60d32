//! `repertoire match`: shows the skills that a message matches, and the reasons.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use dialoguer::console::measure_text_width;
use repertoire::{Explanation, Hit, HitKind, Match, MetaQuestion, Query, Rejection, Tier, Weighed};
use serde::Serialize;

use crate::args::{Common, MatchArgs};
use crate::exit_code::ExitCode;
use crate::output::{DIM, NAME, Output, Page, WARNING, styled};
use crate::report::{count, quoted, renderer};
use crate::{query, sanitize, sessions, setup};

/// The columns before a line that is drawn, and between carets and their label.
const MARGIN: usize = 4;

/// The maximum number of hits that are drawn for a match. This also bounds the part of a long query
/// that is shown.
const MAX_HITS: usize = 8;

/// The results, as JSON.
#[derive(Serialize)]
struct Answer<'a> {
    matches: &'a [Match],
    rejected: &'a [Rejection],
    /// The skills that share words with the message, best first, with what is shown of each.
    relevant: &'a [Weighed],
    /// The kind of question that the message asks about the skills themselves, if it does.
    meta: Option<MetaQuestion>,
}

pub(crate) fn run(args: &MatchArgs, common: &Common, out: Output) -> anyhow::Result<ExitCode> {
    let query = query::read(&args.query, common)?;
    let session = sessions::named(common, args.session.as_deref())?;
    let engine = setup::engine(common, |builder| args.query.matching.apply(builder))?;
    query::note_length(&query, &engine, out);
    let found = engine.turn(&query, &session).explain(args.limit.unwrap_or(usize::MAX));
    if out.json {
        let Explanation { matches, rejected, relevant, .. } = &found;
        Output::json(&Answer { matches, rejected, relevant, meta: found.meta })?;
    } else {
        let text = text(&found, &query, args.explain, out);
        if !text.as_str().is_empty() {
            out.human(text.as_str())?;
        }
        if let Some(told) = how_many(&found) {
            let hint = if args.explain || found.rejected.is_empty() {
                ""
            } else {
                "; `--explain` shows those that were rejected"
            };
            out.note(&format!("{told}{hint}"));
        }
    }
    Ok(setup::finish(common, &engine, out))
}

/// Says how many matching skills are not shown, or that none matches; `None` if all are shown.
fn how_many(found: &Explanation) -> Option<String> {
    let more = if found.matches.is_empty() { "skill" } else { "more skill" };
    match found.n_beyond {
        0 if found.matches.is_empty() => {
            let is_shown = found.relevant.iter().any(|skill| skill.tier >= Tier::Registry);
            Some(if is_shown { "no trigger matches" } else { "no skill matches" }.to_owned())
        }
        0 => None,
        1 => Some(format!("1 {more} matches")),
        n => Some(format!("{n} {more}s match")),
    }
}

fn text(found: &Explanation, query: &Query<'_>, explain: bool, out: Output) -> Page {
    let mut text = Page::default();
    let draw = renderer(out);
    for (place, matched) in found.matches.iter().enumerate() {
        let id = sanitize::line(matched.id.as_str());
        let why = why(matched);
        text.line(format_args!("{}. {}  {}", place + 1, styled(NAME, id), styled(DIM, why)));
        text.push(hits(&matched.hits, query, &draw).as_str());
    }
    match found.meta {
        Some(MetaQuestion::Registry) => text.push("The message asks which skills there are.\n"),
        Some(MetaQuestion::ShowAll) => text.push("The message asks to see all skills.\n"),
        None => {}
    }
    let is_match = |skill: &Weighed| found.matches.iter().any(|of| of.id == skill.found.id);
    for skill in &found.relevant {
        if skill.tier == Tier::Full && !is_match(skill)
            || explain
            || found.matches.is_empty() && skill.tier == Tier::Registry
        {
            text.line(format_args!("{}", weighed(skill)));
        }
    }
    if explain {
        text.push(explanation(&found.rejected).as_str());
    }
    text
}

/// Returns the reason for the rank of a match, as a phrase.
pub(crate) fn why(matched: &Match) -> String {
    let has = |kind| matched.hits.iter().any(|hit| hit.kind == kind);
    if matched.explicit {
        "named by the message".to_owned()
    } else if matched.phrase_words > 0 {
        format!("trigger of {}", count(matched.phrase_words, "word"))
    } else if has(HitKind::Pattern) {
        "pattern".to_owned()
    } else {
        "path".to_owned()
    }
}

/// Says in a line how much of a relevant skill is shown, by which words, and what it lacks for more.
fn weighed(skill: &Weighed) -> String {
    let shown = match skill.tier {
        Tier::Full => "in full",
        Tier::Registry => "a line",
        Tier::Nothing | Tier::Breadcrumb => "counted",
    };
    let title = styled(NAME, sanitize::line(skill.found.id.as_str()).into_owned());
    let told = format!("{shown}, {}", evidence(skill));
    format!("relevant: {title}  {}", styled(DIM, sanitize::line(&told)))
}

/// Says in a phrase by which words a skill is relevant, and what it lacks to be shown in full.
pub(crate) fn evidence(skill: &Weighed) -> String {
    let words: Vec<String> = skill.terms.iter().map(|word| format!("`{}`", word.term)).collect();
    let words = (!words.is_empty()).then(|| format!("by the words {}", words.join(", ")));
    let near = skill.near.as_ref().map(ToString::to_string);
    let by: Vec<String> = words.into_iter().chain(near).collect();
    let by = if by.is_empty() { "by the retriever".to_owned() } else { by.join(", ") };
    let (worth, lead) = (skill.found.relevance.worth, skill.found.relevance.lead);
    let mut told = format!("{by} (score {worth:.2}, {lead:.2} ahead of the next skill)");
    if !skill.lacking.is_empty() {
        let lacking: Vec<String> = skill.lacking.iter().map(ToString::to_string).collect();
        told.push_str("; lacks: ");
        told.push_str(&lacking.join(", "));
    }
    told
}

/// Draws the lines of the query that contain hits, with a caret below each hit; then the paths.
pub(crate) fn hits(hits: &[Hit], query: &Query<'_>, draw: &Renderer) -> Page {
    let (in_paths, in_text): (Vec<&Hit>, Vec<&Hit>) =
        hits.iter().partition(|hit| hit.kind == HitKind::Path);
    let shown = &in_text[..in_text.len().min(MAX_HITS)];
    let mut text = Page::default();
    if !shown.is_empty() {
        let spans: Vec<_> = shown.iter().map(|hit| hit.span.clone()).collect();
        let (source, spans) = quoted(&query.text, &spans);
        let annotations = shown.iter().zip(spans).map(|(hit, span)| {
            // The label stands behind the carets, which begin behind a margin.
            let line = source[..span.end].rsplit('\n').next().unwrap_or_default();
            let n_before = MARGIN + measure_text_width(line);
            let label = format!("{} `{}`", hit.kind.as_str(), sanitize::line(&hit.trigger));
            AnnotationKind::Primary.span(span).label(Output::fitted(&label, n_before).into_owned())
        });
        let snippet = Snippet::source(&source).line_numbering(false).annotations(annotations);
        let group = Group::with_level(Level::INFO).element(snippet);
        text.line(format_args!("{}", draw.render(&[group])));
    }
    if in_text.len() > shown.len() {
        text.line(format_args!("  and {}", count(in_text.len() - shown.len(), "more hit")));
    }
    for hit in in_paths {
        let path = sanitize::line(hit.path.as_deref().unwrap_or_default());
        text.line(format_args!("  {}: path `{}`", path, sanitize::line(&hit.trigger)));
    }
    text
}

fn explanation(rejected: &[Rejection]) -> Page {
    let mut text = Page::default();
    for rejection in rejected {
        let title = styled(WARNING, "rejected");
        let id = styled(NAME, sanitize::line(rejection.id.as_str()));
        let reason = rejection.to_string();
        text.line(format_args!("{title}: {id}  {}", sanitize::line(&reason)));
    }
    if rejected.is_empty() {
        text.push("No skill was rejected.\n");
    }
    text
}
