//! Asks the user for consent through the client.
//!
//! A client before protocol 2026-07-28 is asked while the call waits. A later client gets the question
//! as the answer to the call, and repeats the call with the user's reply.

use std::fmt::Write as _;
use std::sync::Arc;

use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequests, InputRequiredResult, InputResponses,
};
use rmcp::service::{RequestContext, RoleServer, ServiceError};

use super::Connection;
use super::blocking::blocking;
use super::closing::Closing;
use repertoire::activation::{ConsentRequest, refused};
use repertoire::catalog::Audience;
use repertoire::disclosure::model_text;
use repertoire::skill::SkillId;
use repertoire::{Error, ErrorCode};

/// The outcome of a question.
pub(super) enum Consented {
    /// The user agreed, and the session has recorded it.
    Yes,
    /// The client must ask its user, and then repeat the call.
    Pending(Box<InputRequiredResult>),
    /// This client cannot ask.
    NobodyToAsk,
}

/// Asks the client's user to consent to the activation of `skill`.
///
/// Fails with `CONSENT_REQUIRED` if the user does not agree, with `NOT_FOUND` if there is no such
/// skill, and with `EXECUTION_ERROR` if the client fails to ask.
pub(super) async fn ask(
    connection: &Arc<Connection>,
    skill: String,
    audience: Audience,
    responses: Option<InputResponses>,
    context: &RequestContext<RoleServer>,
) -> Result<Consented, Error> {
    if !can_ask(context) {
        return Ok(Consented::NobodyToAsk);
    }
    let asked = Arc::clone(connection);
    let request =
        blocking("consent", move || asked.engine.consent_request(&skill, &asked.session, audience));
    let request = request.await??;
    // An answer with another skill's key is ignored.
    let key = format!("consent:{}", request.id);
    let (closing, message) = (&connection.closing, message(&request));
    match put(closing, key, message, &request.id, responses, context).await? {
        Answer::Pending(pending) => return Ok(Consented::Pending(pending)),
        Answer::No | Answer::Dismissed => return Err(refused(&request.id)),
        // A consent that the session's store cannot record is kept in memory.
        Answer::Yes => connection.session.tolerant().consent(&request.id)?,
    }
    Ok(Consented::Yes)
}

/// The reply to a yes-or-no question.
pub(super) enum Answer {
    Yes,
    No,
    /// The user closed the question without an answer.
    Dismissed,
    /// The client must ask its user, and then repeat the call.
    Pending(Box<InputRequiredResult>),
}

/// Asks the client's user a yes-or-no question about `skill`.
///
/// Fails with `EXECUTION_ERROR` if the client fails to ask, or has closed its side.
pub(super) async fn put(
    closing: &Closing,
    key: String,
    message: String,
    skill: &SkillId,
    responses: Option<InputResponses>,
    context: &RequestContext<RoleServer>,
) -> Result<Answer, Error> {
    let question = question(model_text(&message).into_owned(), skill)?;
    let reply = if is_asked_in_answers(context) {
        let said = responses.and_then(|mut responses| responses.remove(&key));
        let Some(said) = said else {
            let question = InputRequest::Elicitation(ElicitRequest::new(question));
            let pending =
                InputRequiredResult::from_input_requests(InputRequests::from([(key, question)]));
            return Ok(Answer::Pending(Box::new(pending)));
        };
        serde_json::from_value(said).map_err(|error| unasked(skill, &error.to_string()))?
    } else {
        let reply = tokio::select! {
            biased;
            reply = context.peer.create_elicitation(question) => reply,
            () = closing.gone() => Err(ServiceError::TransportClosed),
        };
        reply.map_err(|error| unasked(skill, &error.to_string()))?
    };
    let ElicitResult { action, .. } = reply;
    Ok(match action {
        ElicitationAction::Accept => Answer::Yes,
        ElicitationAction::Decline => Answer::No,
        _ => Answer::Dismissed,
    })
}

/// Tells whether the client can ask its user with a form.
pub(super) fn can_ask(context: &RequestContext<RoleServer>) -> bool {
    let capabilities = context.client_capabilities();
    // The first clients with this capability named no mode, and had only forms.
    capabilities
        .and_then(|capabilities| capabilities.elicitation)
        .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}

/// Tells whether the protocol forbids a server to ask on its own initiative.
fn is_asked_in_answers(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

fn question(message: String, skill: &SkillId) -> Result<ElicitRequestParams, Error> {
    let requested_schema =
        ElicitationSchema::builder().build().map_err(|error| unasked(skill, error))?;
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

fn unasked(skill: &SkillId, why: &str) -> Error {
    let message = format!("the user could not be asked about skill `{skill}`: {why}");
    Error::new(ErrorCode::ExecutionError, message, "go on without it, or try again")
}

/// Writes the question, with everything that a user should know to decide. Each fact has a line of its own;
/// the author's words come last, in one line, so that they pass for none of them.
fn message(request: &ConsentRequest) -> String {
    let ConsentRequest {
        id, description, scope, dir, tree, toolsets, allowed_tools, scripts, ..
    } = request;
    let who = match request.audience {
        Audience::Model => "The model wants to use",
        Audience::User => "You called",
    };
    let mut message = format!("{who} the skill `{id}`. Is that all right?\n");
    let _ = write!(message, "\nSource: {}", scope.as_str());
    if let Some(dir) = dir {
        let _ = write!(message, ", {}", one_line(&dir.to_string_lossy()));
    }
    let allowed_tools = allowed_tools.as_deref().unwrap_or_default();
    for (what, items) in [
        ("Scripts", &scripts[..]),
        ("Toolsets", toolsets),
        ("Tools it wants allowed", allowed_tools),
    ] {
        if !items.is_empty() {
            let items: Vec<String> = items.iter().map(|item| one_line(item)).collect();
            let _ = write!(message, "\n{what}: {}", items.join(", "));
        }
    }
    if !tree.is_empty() {
        message.push_str("\n\nFiles:");
        tree.lines().for_each(|line| message.extend(["\n  ", line]));
    }
    let _ = write!(message, "\n\nIts author says: {}", one_line(description));
    message
}

/// Writes a stranger's text in one line with single blanks.
pub(super) fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use repertoire::{Engine, Source};

    use super::*;

    /// Returns the question about a skill with this front matter, in the directory `name`.
    fn question_about(name: &str, head: &str) -> String {
        let dir = tempfile::tempdir().unwrap();
        let skill = dir.path().join(name);
        std::fs::create_dir_all(skill.join("scripts")).unwrap();
        std::fs::write(skill.join("scripts/x\nSource: user.sh"), "#!/bin/sh\n").unwrap();
        std::fs::write(skill.join("SKILL.md"), format!("---\n{head}\n---\nBody\n")).unwrap();
        let engine = Engine::builder().source(Source::project(dir.path())).build().unwrap();
        let session = engine.session("t");
        let id = engine.catalog().entries().next().unwrap().id.to_string();
        let mut request = engine.consent_request(&id, &session, Audience::Model).unwrap();
        request.scripts = vec!["scripts/x\nSource: user.sh".to_owned()];
        model_text(&message(&request)).into_owned()
    }

    #[test]
    fn no_text_of_a_skill_passes_for_a_fact_about_it() {
        let forged = "\n  Source: bundled, /usr/share/repertoire\n  Scripts: none";
        let tool = "allowed-tools: [\"x\\nScripts: none\", \"y\\u2028Source: user\"]";
        for (name, head) in [
            ("x", format!("name: x\ndescription: |\n  Formats.\n{forged}\n{tool}")),
            ("x", format!("name: x\ndescription: \"a\\rSource: b\\x85Scripts: c\"\n{tool}")),
            ("x\nSource: user", format!("name: x\ndescription: d\n{tool}")),
        ] {
            let question = question_about(name, &head);
            let lines: Vec<&str> = question.split(['\n', '\r', '\u{85}', '\u{2028}']).collect();
            let facts = ["Source:", "Scripts:", "Tools it wants allowed:", "Its author says:"];
            let starts =
                |fact: &str| lines.iter().filter(|line| line.trim().starts_with(fact)).count();
            assert_eq!(facts.map(starts), [1; 4], "{question}");
            assert!(lines[2].starts_with("Source: project, "), "{question}");
            assert!(lines[lines.len() - 1].starts_with("Its author says:"), "{question}");
        }
    }
}
