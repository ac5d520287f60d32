//! Answers the questions that the page of `repertoire play` asks about a message.

use std::ops::Range;
use std::time::Instant;

use repertoire::disclosure::{BytesPerToken, TokenCounter as _};
use repertoire::matcher::attachments;
use repertoire::{
    Diagnostic, Disclosure, DisclosureOptions, Engine, Error, ErrorCode, Explanation, Format,
    Match, MetaQuestion, Query, Rejection, Session, SkillId, Weighed,
};
use serde::{Deserialize, Serialize};

use crate::match_query::why;
use crate::why::{self, Verdict};
use crate::{query, sanitize};

/// The maximum number of matches that are shown with their hits.
const MAX_MATCHES: usize = 50;

/// The maximum number of messages of a conversation: each is answered anew with every question.
const MAX_SAID: usize = 50;

/// A question of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Question {
    /// The message.
    query: String,
    /// Files that the message touches.
    paths: Vec<String>,
    /// `markdown`, `xml` or `json`.
    format: Option<String>,
    /// The maximum number of skills shown in full.
    max_skills: Option<usize>,
    /// The budget, in the form of `--budget`.
    budget: Option<String>,
    /// A skill for which to explain why it fires or does not.
    skill: Option<String>,
    /// The messages of the conversation so far; `null` where its context was made shorter.
    said: Vec<Option<String>>,
}

/// The answer to a question.
#[derive(Debug, Serialize)]
pub(super) struct Answer {
    /// The ids of the skills that the user can choose.
    skills: Vec<String>,
    /// The message in parts, each with the hits that cover it.
    parts: Vec<Part>,
    matches: Vec<Found>,
    /// The number of further matches.
    n_more: usize,
    rejected: Vec<Rejection>,
    meta: Option<MetaQuestion>,
    disclosure: Disclosure,
    characters: usize,
    tokens: usize,
    /// The time that the decision took, in microseconds.
    micros: u64,
    relevant: Vec<Relevant>,
    verdict: Option<Result<Verdict, String>>,
    /// The messages of the conversation so far, with the skills that each brought into the context.
    heard: Vec<Heard>,
    /// Findings about skill files, a line each.
    findings: Vec<String>,
}

/// An earlier message, and the skills that it brought into the context; without a message, the context was
/// made shorter.
#[derive(Debug, Serialize)]
struct Heard {
    message: Option<String>,
    full: Vec<SkillId>,
    lines: Vec<SkillId>,
}

#[derive(Debug, Serialize)]
struct Found {
    #[serde(flatten)]
    matched: Match,
    /// The reason for the rank of the match, as a phrase.
    why: String,
}

#[derive(Debug, PartialEq, Serialize)]
struct Part {
    text: String,
    hits: Vec<PartHit>,
    /// The relevant skills that have it as a word, as indices of `relevant`.
    words_of: Vec<usize>,
    /// True if it does not belong to the request.
    is_attached: bool,
}

/// A hit, as the index of its match and its own index in that match.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct PartHit {
    #[serde(rename = "match")]
    found: usize,
    hit: usize,
}

/// A relevant skill, with the margin that it must reach.
#[derive(Debug, Serialize)]
struct Relevant {
    #[serde(flatten)]
    weighed: Weighed,
    brief: String,
}

/// Answers `question`.
///
/// Fails with `INVALID_PARAM` for an unknown format or an invalid budget.
pub(super) fn answer(engine: &Engine, question: &Question) -> Result<Answer, Error> {
    let options = options(engine, question)?;
    let query = question
        .paths
        .iter()
        .fold(Query::new(question.query.as_str()), |query, path| query.path(path.as_str()));
    let session = Session::in_memory("play");
    let heard = hear(engine, &question.said, &session, &options)?;
    let start = Instant::now();
    let disclosure = engine.turn(&query, &session).options(&options).preview();
    let micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    let explanation = engine.turn(&query, &session).options(&options).explain(usize::MAX);
    let Explanation { mut matches, rejected, relevant, meta, .. } = explanation;
    let n_more = matches.len().saturating_sub(MAX_MATCHES);
    matches.truncate(MAX_MATCHES);
    let catalog = engine.catalog();
    let verdict = question.skill.as_deref().filter(|id| !id.is_empty()).map(|id| {
        let entry = catalog.find_any(id).map_err(|error| error.to_string())?;
        Ok(why::verdict(engine, entry, &query, &session, &options))
    });
    Ok(Answer {
        skills: catalog.entries().filter(|e| !e.is_shadowed()).map(|e| e.id.to_string()).collect(),
        parts: parts(&question.query, &matches, &relevant),
        n_more,
        rejected,
        meta,
        characters: disclosure.text.chars().count(),
        tokens: BytesPerToken::default().count(&disclosure.text),
        disclosure,
        micros,
        relevant: relevant.into_iter().map(|found| weigh(engine, found)).collect(),
        verdict,
        heard,
        findings: engine.diagnostics().iter().map(finding).collect(),
        matches: matches.into_iter().map(|matched| Found { why: why(&matched), matched }).collect(),
    })
}

/// Formats a finding as one line, without terminal styles.
fn finding(found: &Diagnostic) -> String {
    sanitize::line(&format!("{found}; {}", found.help)).into_owned()
}

fn options(engine: &Engine, question: &Question) -> Result<DisclosureOptions, Error> {
    let mut options = engine.disclosure_options().clone();
    if let Some(format) = &question.format {
        options.format = format.parse::<Format>()?;
    }
    if let Some(max_skills) = question.max_skills {
        options.max_skills = max_skills;
    }
    if let Some(budget) = question.budget.as_deref().filter(|budget| !budget.trim().is_empty()) {
        options.budget = query::budget(Some(budget), None).map_err(|error| error.0)?;
    }
    Ok(options)
}

/// Answers the messages of a conversation so far in its `session`, so that it knows what they showed.
///
/// Fails with `INVALID_PARAM` if there are too many.
fn hear(
    engine: &Engine,
    said: &[Option<String>],
    session: &Session,
    options: &DisclosureOptions,
) -> Result<Vec<Heard>, Error> {
    if said.len() > MAX_SAID {
        let message = format!("the conversation has more than {MAX_SAID} messages");
        return Err(Error::new(ErrorCode::InvalidParam, message, "begin a new one"));
    }
    let hear = |message: &Option<String>| {
        let Some(text) = message else {
            session.compacted()?;
            return Ok(Heard { message: None, full: Vec::new(), lines: Vec::new() });
        };
        let turn = engine.turn(text.as_str(), session).options(options).run()?;
        let Disclosure { full, registry: lines, .. } = turn.disclosure;
        Ok(Heard { message: message.clone(), full, lines })
    };
    said.iter().map(hear).collect()
}

fn weigh(engine: &Engine, weighed: Weighed) -> Relevant {
    let catalog = engine.catalog();
    let entry = catalog.get(weighed.found.id.as_str());
    let brief = entry.map_or_else(String::new, |entry| entry.skill.brief().to_owned());
    Relevant { weighed, brief }
}

/// Splits `text` wherever a hit, a word of a relevant skill, or an attachment begins or ends.
fn parts(text: &str, matches: &[Match], relevant: &[Weighed]) -> Vec<Part> {
    let mut hits: Vec<(Range<usize>, PartHit)> = Vec::new();
    for (found, matched) in matches.iter().enumerate() {
        let spans = matched.hits.iter().enumerate().filter(|(_, hit)| !hit.span.is_empty());
        hits.extend(spans.map(|(hit, at)| (at.span.clone(), PartHit { found, hit })));
    }
    let places = |skill: &Weighed| -> Vec<Range<usize>> {
        skill.terms.iter().flat_map(|term| term.places.clone()).collect()
    };
    let words: Vec<Vec<Range<usize>>> = relevant.iter().map(places).collect();
    let attached = attachments(text);
    // A trigger is marked as a whole, whichever of its words count for relevance, too.
    let is_in_hit = |place: &&Range<usize>| {
        hits.iter().any(|(span, _)| span.start <= place.start && place.end <= span.end)
    };
    let words_alone = words.iter().flatten().filter(|place| !is_in_hit(place));
    let spans = hits.iter().map(|(span, _)| span).chain(&attached).chain(words_alone);
    let mut cuts: Vec<usize> = spans.flat_map(|span| [span.start, span.end]).collect();
    cuts.extend([0, text.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    let part = |cut: &[usize]| {
        let (start, end) = (cut[0], cut[1]);
        let covers = |span: &Range<usize>| span.start <= start && end <= span.end;
        let touches = |place: &Range<usize>| place.start < end && start < place.end;
        let has_word = |(_, places): &(usize, &Vec<Range<usize>>)| places.iter().any(touches);
        Some(Part {
            text: text.get(start..end)?.to_owned(),
            hits: hits.iter().filter(|(span, _)| covers(span)).map(|(_, hit)| *hit).collect(),
            words_of: words.iter().enumerate().filter(has_word).map(|(skill, _)| skill).collect(),
            is_attached: attached.iter().any(covers),
        })
    };
    cuts.windows(2).filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use repertoire::Skill;

    use super::*;

    fn engine() -> Engine {
        let skill = |name: &str, triggers: &str| -> Skill {
            let text = format!(
                "---\nname: {name}\ndescription: Does {name}.\ntriggers: {triggers}\n---\n"
            );
            text.parse().unwrap()
        };
        let builder = Engine::builder().skill(skill("git", "[pull request, request]"));
        builder.skill(skill("deploy", "{keywords: [ship], paths: ['*.tf']}")).build().unwrap()
    }

    fn ask(question: &str) -> Result<Answer, Error> {
        answer(&engine(), &serde_json::from_str(question).unwrap())
    }

    #[test]
    fn the_message_is_cut_where_hits_begin_and_end() {
        let answer = ask(r#"{"query": "ünsere pull request"}"#).unwrap();
        let told: Vec<(&str, usize)> =
            answer.parts.iter().map(|part| (part.text.as_str(), part.hits.len())).collect();
        assert_eq!(told, [("ünsere ", 0), ("pull ", 1), ("request", 2)]);
        assert_eq!(answer.matches[0].matched.id, "git");
        assert!(parts("", &[], &[]).is_empty());
    }

    #[test]
    fn attachments_and_what_relevance_decides_are_told() {
        let answer = ask(r#"{"query": "does git do it?\n\n```\nship it\n```"}"#).unwrap();
        let attached: Vec<&str> = answer
            .parts
            .iter()
            .filter(|part| part.is_attached)
            .map(|part| part.text.as_str())
            .collect();
        assert_eq!(attached.concat(), "```\nship it\n```");
        let first = &answer.relevant[0];
        assert_eq!(first.weighed.found.id.as_str(), "git");
        assert!(first.weighed.needed.is_some());
        let [term] = &first.weighed.terms[..] else { panic!("{first:?}") };
        assert_eq!((term.term.as_str(), term.places[0].start, term.places.len()), ("git", 5, 1));
        let word = answer.parts.iter().find(|part| part.text == "git").unwrap();
        assert!(word.words_of.contains(&0), "{word:?}");
    }

    #[test]
    fn options_of_the_page_are_those_of_the_command_line() {
        let full = ask(r#"{"query": "ship", "format": "xml"}"#).unwrap();
        assert!(full.disclosure.text.starts_with('<'), "{}", full.disclosure.text);
        let none = ask(r#"{"query": "ship", "max_skills": 0}"#).unwrap();
        assert!(none.disclosure.full.is_empty());
        let path = ask(r#"{"query": "", "paths": ["a.tf"]}"#).unwrap();
        assert_eq!(path.matches[0].matched.id, "deploy");
        assert!(ask(r#"{"query": "ship", "budget": "much"}"#).is_err());
        assert!(ask(r#"{"query": "ship", "format": "pdf"}"#).is_err());
    }

    #[test]
    fn a_conversation_is_told_nothing_twice_until_its_context_is_made_shorter() {
        let full = |said: &str| {
            let answer = ask(&format!(r#"{{"query": "ship it", "said": {said}}}"#)).unwrap();
            let heard = answer.heard.iter().map(|heard| heard.full.len()).collect::<Vec<_>>();
            (answer.disclosure.full.len(), heard)
        };
        assert_eq!(full("[]"), (1, vec![]));
        assert_eq!(full(r#"["ship"]"#), (0, vec![1]));
        assert_eq!(full(r#"["ship", null]"#), (1, vec![1, 0]));
        let many = serde_json::to_string(&vec!["ship"; MAX_SAID + 1]).unwrap();
        assert!(ask(&format!(r#"{{"query": "ship", "said": {many}}}"#)).is_err());
    }

    #[test]
    fn one_skill_can_be_asked_for() {
        let verdict = |question| ask(question).unwrap().verdict.unwrap();
        assert!(verdict(r#"{"query": "ship", "skill": "deploy"}"#).unwrap().fires);
        assert!(!verdict(r#"{"query": "ship", "skill": "git"}"#).unwrap().fires);
        assert!(verdict(r#"{"query": "ship", "skill": "gti"}"#).unwrap_err().contains("gti"));
    }
}
