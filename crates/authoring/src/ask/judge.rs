//! Verdicts on replies, by a model or any other program.

use repertoire::{Engine, Error};

use super::model::{Message, Model, Request, Role};
use super::record::{Record, Replies, Verdict, digest};
use super::run::{Asked, FAILURES_IN_A_ROW, Row, Unjudged};
use super::text::without_thoughts;

/// The maximum length of a skill's text that a judge gets, in bytes.
const MAX_BODY: usize = 20_000;

/// Puts a judge over the replies of a run; verdicts that `replies` has are used instead. Returns how many replies
/// have a verdict of this judge; [`Asked::unjudged`] tells of the others. Calls `each` after every reply.
///
/// A judge gets the message, the texts of the skills that were right for it, and the reply, without the way in which
/// it was made. Its own reply begins with `good` or `bad`.
///
/// # Errors
///
/// If a verdict cannot be kept.
pub fn judged(
    engine: &Engine,
    asked: &mut Asked,
    judge: &dyn Model,
    name: &str,
    replies: &mut Replies,
    mut each: impl FnMut(),
) -> Result<usize, Error> {
    let (mut n_judged, mut in_a_row) = (0, 0);
    let mut unjudged: Option<Unjudged> = None;
    for Row { judge: truth, records, verdicts } in &mut asked.rows {
        let skills = skill_texts(engine, &truth.expected);
        for (record, verdict) in records.iter().zip(verdicts) {
            let question = question(record, &skills);
            let asked = digest(&[&question]);
            let is_same = |kept: &&Verdict| kept.question.as_ref().is_none_or(|it| *it == asked);
            let found = match replies.verdict(&record.key, name).filter(is_same) {
                Some(kept) => Ok(kept.is_good),
                None if in_a_row == FAILURES_IN_A_ROW => Err("the judge failed before".to_owned()),
                None => {
                    let found = verdict_of(judge, &question);
                    in_a_row = if found.is_ok() { 0 } else { in_a_row + 1 };
                    if let Ok(is_good) = found {
                        let (key, judge) = (record.key.clone(), name.to_owned());
                        let question = Some(asked);
                        replies.add_verdict(Verdict { key, judge, question, is_good })?;
                    }
                    found
                }
            };
            n_judged += usize::from(found.is_ok());
            *verdict = found.map_err(|reason| Unjudged::add(&mut unjudged, reason)).ok();
            each();
        }
    }
    asked.unjudged = unjudged;
    Ok(n_judged)
}

impl Unjudged {
    /// Counts one more reply.
    fn add(all: &mut Option<Unjudged>, reason: String) {
        all.get_or_insert(Unjudged { replies: 0, reason }).replies += 1;
    }
}

fn skill_texts(engine: &Engine, expected: &[repertoire::SkillId]) -> String {
    let catalog = engine.catalog();
    let text = |id: &repertoire::SkillId| {
        let entry = catalog.get(id.as_str())?;
        let body = entry.skill.body().ok()?;
        let mut end = body.len().min(MAX_BODY);
        while !body.is_char_boundary(end) {
            end -= 1;
        }
        Some(format!("\n\n## The skill {id}\n\n{}", &body[..end]))
    };
    expected.iter().filter_map(text).collect()
}

fn question(record: &Record, skills: &str) -> String {
    let instruction = if skills.is_empty() {
        "No skill applies to it: the reply is good if it answers the request, and follows no other procedure."
    } else {
        "The reply is good if it does what the request asks, in the way that the skill below prescribes."
    };
    let Record { query, reply, .. } = record;
    format!(
        "Judge a reply of an assistant to a request. {instruction} Answer with one word, `good` or `bad`.{skills}\n\n\
         ## Request\n\n{query}\n\n## Reply\n\n{reply}"
    )
}

/// The verdict of a judge, or the reason why there is none.
fn verdict_of(judge: &dyn Model, question: &str) -> Result<bool, String> {
    let request = Request { messages: vec![Message::new(Role::User, question)], tools: Vec::new() };
    let reply = judge.answer(&request)?.text;
    let answer = without_thoughts(&reply).trim_start_matches(['`', '*', '"']);
    let word: String = answer.chars().take_while(|c| c.is_alphabetic()).collect();
    match word.to_lowercase().as_str() {
        "good" => Ok(true),
        "bad" => Ok(false),
        _ => {
            let shown: String = answer.chars().take(80).collect();
            Err(format!("it answers `{shown}`, which begins neither with `good` nor with `bad`"))
        }
    }
}
