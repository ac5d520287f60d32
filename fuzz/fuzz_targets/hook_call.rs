//! Fuzzes the input that agents send to their hooks. A call must be rejected, or answered in the
//! agent's own JSON and recorded in the session.
#![no_main]
#![expect(clippy::unwrap_used, reason = "the fuzzer looks for panics")]

use std::sync::LazyLock;

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use repertoire::{Engine, Skill};
use repertoire_agents::{HookAgent, HookCall};
use serde_json::{Map, Value};

#[derive(Debug, Arbitrary)]
struct Input {
    agent: u8,
    /// The whole input of the hook; if `None`, the input is an object of the fields below.
    text: Option<String>,
    event: u8,
    prompt: String,
    /// Fields of the agent: the index of the field's name in `FIELDS`, and its value.
    fields: Vec<(u8, Field)>,
}

#[derive(Debug, Arbitrary)]
enum Field {
    Text(String),
    Number(i64),
    Flag(bool),
    List(Vec<String>),
    Object(Vec<(String, String)>),
    Nothing,
}

impl From<&Field> for Value {
    fn from(field: &Field) -> Value {
        match field {
            Field::Text(text) => text.as_str().into(),
            Field::Number(number) => (*number).into(),
            Field::Flag(flag) => (*flag).into(),
            Field::List(list) => list.clone().into(),
            Field::Object(fields) => fields
                .iter()
                .map(|(key, value)| (key.clone(), Value::from(value.as_str())))
                .collect(),
            Field::Nothing => Value::Null,
        }
    }
}

/// The events of all agents.
const EVENTS: [&str; 12] = [
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "SessionEnd",
    "BeforeAgent", "AfterTool", "beforeSubmitPrompt", "postToolUse", "sessionStart",
    "userPromptSubmitted",
];

/// The fields of all agents.
const FIELDS: [&str; 15] = [
    "prompt", "source", "tool_name", "tool_input", "tool_response", "toolArgs", "cwd",
    "workspace_roots", "agent_id", "trigger", "reason", "session_id", "hook_event_name", "model",
    "transcript_path",
];

static ENGINE: LazyLock<Engine> = LazyLock::new(|| {
    let skill = |text: &str| text.parse::<Skill>().unwrap();
    Engine::builder()
        .skill(skill(
            "---\nname: deploy\ndescription: Deploys.\ntriggers: [deploy]\n---\nRun $ARGUMENTS.",
        ))
        .skill(skill(
            "---\nname: styles\ndescription: Styles.\npaths: ['**/*.css']\n---\nNo `!important`.",
        ))
        .build()
        .unwrap()
});

fuzz_target!(|input: Input| {
    let agent = HookAgent::ALL[usize::from(input.agent) % HookAgent::ALL.len()];
    let mut fields = Map::new();
    fields.insert("session_id".to_owned(), "fuzz".into());
    fields.insert(
        "hook_event_name".to_owned(),
        EVENTS[usize::from(input.event) % EVENTS.len()].into(),
    );
    fields.insert("prompt".to_owned(), input.prompt.clone().into());
    for (place, value) in &input.fields {
        fields.insert(FIELDS[usize::from(*place) % FIELDS.len()].to_owned(), value.into());
    }
    let text = input.text.unwrap_or_else(|| Value::from(fields).to_string());
    let Ok(call) = HookCall::read(agent, &text) else { return };
    assert!(call.session.as_ref().is_none_or(|session| session.starts_with(agent.as_str())));
    if let Ok(Some(answer)) = call.answer(&ENGINE) {
        assert!(answer.is_object(), "{answer}");
    }
    if let Some(session) = &call.session {
        ENGINE.session(session).end().unwrap();
    }
});
