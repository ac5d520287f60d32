//! Verdicts on replies, by a model or any other program.

use repertoire::{Engine, Error};

use super::model::{Message, Model, Request, Role};
use super::record::{Record, Replies, Verdict};
use super::run::{Asked, Row};

/// The maximum length of a skill's text that a judge gets, in bytes.
const MAX_BODY: usize = 20_000;

/// Puts a judge over the replies of a run; verdicts that `replies` has are used instead. Returns how many replies
/// have a verdict of this judge. Calls `each` after every reply.
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
    let mut n_judged = 0;
    for Row { judge: truth, records, verdicts } in &mut asked.rows {
        let skills = skill_texts(engine, &truth.expected);
        for (record, verdict) in records.iter().zip(verdicts) {
            *verdict = match replies.verdict(&record.key, name) {
                Some(kept) => Some(kept.is_good),
                None => verdict_of(judge, &question(record, &skills)),
            };
            if let Some(is_good) = *verdict {
                n_judged += 1;
                let (key, judge) = (record.key.clone(), name.to_owned());
                if replies.verdict(&key, name).is_none() {
                    replies.add_verdict(Verdict { key, judge, is_good })?;
                }
            }
            each();
        }
    }
    Ok(n_judged)
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

/// The verdict of a judge; `None` if it gave none.
fn verdict_of(judge: &dyn Model, question: &str) -> Option<bool> {
    let request = Request { messages: vec![Message::new(Role::User, question)], tools: Vec::new() };
    let reply =
        judge.answer(&request).inspect_err(|reason| tracing::warn!("no verdict: {reason}")).ok()?;
    let word: String = reply
        .text
        .trim_start()
        .trim_start_matches(['`', '*', '"'])
        .chars()
        .take_while(|c| c.is_alphabetic())
        .collect();
    match word.to_lowercase().as_str() {
        "good" => Some(true),
        "bad" => Some(false),
        _ => None,
    }
}
