//! MCP prompts: the slash commands that users have.

use std::sync::Arc;

use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, JsonObject, Prompt,
    PromptArgument, PromptMessage, Role,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;

use super::Connection;
use super::blocking::{blocking, protocol_error};
use super::consent::{self, Consented};
use repertoire::activation::{Activation, Command, find_command, text_of_arguments};
use repertoire::catalog::Audience;
use repertoire::disclosure::{description_text, model_text};
use repertoire::engine::Activate;
use repertoire::skill::SkillId;
use repertoire::{Error, ErrorCode};

/// The only argument of a prompt: the text that a user would type after the command.
const ARGS: &str = "args";

impl Connection {
    pub(super) fn prompts(&self) -> Vec<Prompt> {
        let prompts: Vec<Prompt> = self.engine.commands().iter().map(prompt).collect();
        self.listed.note_prompts(&prompts);
        prompts
    }

    /// Returns the current prompts, without recording that the client saw them.
    pub(super) fn current_prompts(&self) -> Vec<Prompt> {
        self.engine.commands().iter().map(prompt).collect()
    }

    /// Returns the id and the brief of the skill with a command, found by the same rules as when a user
    /// types it, with or without its slash.
    fn command(&self, name: &str) -> Result<(SkillId, String), Error> {
        let catalog = self.engine.catalog();
        let word = name.strip_prefix('/').unwrap_or(name);
        let entry = find_command(&catalog, word).filter(|entry| entry.is_available());
        let found =
            entry.map(|entry| (entry.id.clone(), model_text(entry.skill.brief()).into_owned()));
        found.ok_or_else(|| {
            let message = format!("there is no prompt `{name}`");
            Error::new(ErrorCode::NotFound, message, "see `prompts/list`")
        })
    }

    fn activate(&self, skill: &str, args: &str) -> Result<Activation, Error> {
        // A prompt always goes into the conversation, even if the skill has `context: fork`.
        let how = Activate { audience: Audience::User, inline: true, ..Activate::default() };
        self.engine.activate_with(skill, args, &self.session, &how)
    }
}

/// Returns the name of a command's prompt. Clients put a slash before it themselves.
fn name(command: &Command) -> &str {
    command.command.trim_start_matches('/')
}

fn prompt(command: &Command) -> Prompt {
    let hint = command.argument_hint.as_deref().unwrap_or("what to do it with");
    let argument =
        PromptArgument::new(ARGS).with_description(description_text(hint)).with_required(false);
    Prompt::new(name(command), Some(&command.brief), Some(vec![argument]))
}

/// Answers `prompts/get`: the instructions of the skill, as a message of the user.
pub(super) async fn get(
    connection: &Arc<Connection>,
    request: GetPromptRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<GetPromptResponse, ErrorData> {
    let answer = answer(connection, request, context).await;
    answer.map_err(|error| protocol_error(&error))
}

async fn answer(
    connection: &Arc<Connection>,
    request: GetPromptRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<GetPromptResponse, Error> {
    let (id, brief) = connection.command(&request.name)?;
    let args = args(&request.name, request.arguments.unwrap_or_default())?;
    let activate = || {
        let (connection, skill) = (Arc::clone(connection), id.to_string());
        let args = args.clone();
        blocking("prompts/get", move || connection.activate(&skill, &args))
    };
    let mut activation = activate().await?;
    if let Err(error) = &activation
        && error.code() == ErrorCode::ConsentRequired
    {
        let skill = id.to_string();
        let responses = request.input_responses;
        match consent::ask(connection, skill, Audience::User, responses, context).await? {
            Consented::Yes => activation = activate().await?,
            Consented::NobodyToAsk => {}
            Consented::Pending(pending) => return Ok((*pending).into()),
        }
    }
    let message = PromptMessage::new_text(Role::User, activation?.to_text());
    Ok(GetPromptResult::new(vec![message]).with_description(brief).into())
}

/// Returns the value of the only argument. Fails with `INVALID_PARAM` if there are others.
fn args(prompt: &str, mut arguments: JsonObject) -> Result<String, Error> {
    let args = arguments.remove(ARGS).unwrap_or(Value::Null);
    match (text_of_arguments(&args), arguments.keys().next()) {
        (Some(args), None) => Ok(args),
        (_, unknown) => {
            let unknown = unknown.map_or(ARGS, String::as_str);
            let message = format!("the argument `{unknown}` of the prompt `{prompt}` does not fit");
            let help = "give one argument, `args`: a text";
            Err(Error::new(ErrorCode::InvalidParam, message, help))
        }
    }
}
