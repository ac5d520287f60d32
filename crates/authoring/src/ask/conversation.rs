//! One conversation: a message, and the calls of tools that follow until the model answers.

use std::time::Instant;

use repertoire::skill::SkillId;
use repertoire::{Engine, engine::SessionTools};

use super::model::{Call, Message, Model, Reply, Request, Role, Usage};
use super::record::digest;
use super::text::{request_text, written};
use super::way::{Opening, Way};

/// The maximum number of requests of one conversation. In the last one, no tools are offered.
const MAX_TURNS: usize = 6;

/// The course of a conversation.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// The skills whose text the model has, in the order in which it got them.
    pub(super) loaded: Vec<SkillId>,
    /// The calls of tools, in order.
    pub(super) calls: Vec<Call>,
    /// The answers to the calls.
    answers: Vec<String>,
    /// The last reply.
    pub(super) reply: String,
    pub(super) tokens: Usage,
    pub(super) turns: usize,
    /// The time that the model took.
    pub(super) seconds: f64,
}

/// Leads a conversation to its end. Fails with the reason why the model did not answer.
pub(super) fn converse(
    engine: &Engine,
    way: Way,
    opening: Opening,
    model: &dyn Model,
) -> Result<Conversation, String> {
    let Opening { mut request, loaded, tools } = opening;
    let mut conversation = Conversation { loaded, ..Conversation::default() };
    for turn in 1..=MAX_TURNS {
        if turn == MAX_TURNS {
            request.tools.clear();
        }
        let reply = conversation.ask(engine, &request, model)?;
        conversation.reply.clone_from(&reply.text);
        if reply.calls.is_empty() || turn == MAX_TURNS {
            break;
        }
        let answers: Vec<String> =
            reply.calls.iter().map(|call| conversation.call(engine, way, &tools, call)).collect();
        conversation.calls.extend_from_slice(&reply.calls);
        conversation.answers.extend_from_slice(&answers);
        request.messages.push(Message {
            role: Role::Assistant,
            text: reply.text,
            calls: reply.calls,
        });
        request.messages.extend(answers.into_iter().map(|text| Message::new(Role::Tool, text)));
    }
    Ok(conversation)
}

/// Stands for the answers that some calls get in a new session; `None` of none.
pub(super) fn answers_to(
    calls: &[Call],
    engine: &Engine,
    way: Way,
    opening: &Opening,
) -> Option<String> {
    let mut conversation = Conversation::default();
    let answers = calls.iter().map(|call| conversation.call(engine, way, &opening.tools, call));
    conversation.answers = answers.collect();
    conversation.digest_of_answers()
}

impl Conversation {
    /// Stands for the answers that the model got from tools; `None` of none.
    pub(super) fn digest_of_answers(&self) -> Option<String> {
        let answers: Vec<&str> = self.answers.iter().map(String::as_str).collect();
        (!answers.is_empty()).then(|| digest(&answers))
    }

    /// Sends a request, and counts what it costs.
    fn ask(
        &mut self,
        engine: &Engine,
        request: &Request,
        model: &dyn Model,
    ) -> Result<Reply, String> {
        let start = Instant::now();
        let reply = model.answer(request)?;
        self.seconds += start.elapsed().as_secs_f64();
        self.turns += 1;
        let Usage { input, output } = reply.tokens.unwrap_or_else(|| Usage {
            input: engine.count_tokens(&request_text(request)),
            output: engine.count_tokens(&written(&reply.text, &reply.calls)),
        });
        self.tokens.input += input;
        self.tokens.output += output;
        Ok(reply)
    }

    /// Answers a call of a tool, and notes the skill that it loaded.
    fn call(&mut self, engine: &Engine, way: Way, tools: &SessionTools, call: &Call) -> String {
        if !way.may_call(&call.name) {
            return format!("there is no tool `{}`", call.name);
        }
        let answer = tools.call(&call.name, &call.arguments);
        if call.name == SessionTools::USE_SKILL && answer.code().is_none() {
            let name = call.arguments["skill"].as_str().unwrap_or_default();
            let id = engine.catalog().find_any(name).map(|entry| entry.id.clone());
            self.loaded.extend(id.ok().filter(|id| !self.loaded.contains(id)));
        }
        answer.text().into_owned()
    }
}
