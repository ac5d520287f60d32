//! Rights of toolsets, requested through the client when a tool failed without rights that it asks for.

use std::path::Path;

use rmcp::model::InputResponses;
use rmcp::service::{RequestContext, RoleServer};

use super::Connection;
use super::consent::{self, Answer, one_line};
use repertoire::Error;
use repertoire::toolset::RightsRequest;
use repertoire::trust::ContentHash;

/// The size limit of a tool's own words in a question, in characters.
const MAX_WORDS: usize = 300;

/// Asks the client's user for the rights, and grants them if the user agrees. A no is remembered.
/// Returns `None` if this client cannot ask.
///
/// Fails with `EXECUTION_ERROR` if the client fails to ask, and with the errors of the trust store.
pub(super) async fn ask(
    connection: &Connection,
    request: &RightsRequest,
    responses: Option<InputResponses>,
    context: &RequestContext<RoleServer>,
) -> Result<Option<Answer>, Error> {
    if !consent::can_ask(context) {
        return Ok(None);
    }
    let (key, message) = (key(request), message(request));
    let answer =
        consent::put(&connection.closing, key, message, &request.skill, responses, context).await?;
    match answer {
        Answer::Yes => request.grant()?,
        Answer::No => request.refuse()?,
        Answer::Dismissed | Answer::Pending(_) => {}
    }
    Ok(Some(answer))
}

/// Returns the key of the question. An answer to a question about other rights is ignored.
fn key(request: &RightsRequest) -> String {
    let RightsRequest { skill, class, library, rights, .. } = request;
    let asked = format!("{class} {} {rights}", library.display());
    format!("rights:{skill}:{}", ContentHash::of(asked.as_bytes()))
}

/// Writes the question. The tool's own words come last, since they are not trusted.
fn message(request: &RightsRequest) -> String {
    let RightsRequest { skill, class, library, rights, refused, .. } = request;
    question(skill.as_str(), class, library, &rights.to_string(), refused)
}

fn question(skill: &str, class: &str, library: &Path, rights: &str, refused: &str) -> String {
    let [class, library, rights, words] =
        [class, &library.to_string_lossy(), rights, refused].map(one_line);
    let words: String = words.chars().take(MAX_WORDS).collect();
    format!(
        "A tool of the skill `{skill}` failed. Its toolset `{class}` lacks the rights that it asks for: \
         {rights}. May it have them, from now on?\n\nLibrary: {library}\nThe tool said: {words}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_a_toolset_passes_for_a_line_of_the_question() {
        let forged = "x\nLibrary: /usr/lib\u{2028}The tool said: ok";
        let question = question("s", forged, Path::new(forged), forged, forged);
        let lines: Vec<&str> = question.split(['\n', '\u{2028}']).collect();
        let starts = lines.iter().map(|line| line.split(' ').next().unwrap_or_default());
        assert_eq!(starts.collect::<Vec<_>>(), ["A", "", "Library:", "The"], "{question}");
    }
}
