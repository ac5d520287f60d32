//! The ways in which a message is sent to a model.

use std::fmt;
use std::str::FromStr;

use repertoire::engine::SessionTools;
use repertoire::skill::SkillId;
use repertoire::{Engine, Error, ErrorCode, Session, ToolFormat};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::model::{Message, Request, Role, Tool};

/// The texts and tools that a model gets with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Way {
    /// The message alone.
    Nothing,
    /// The list of all skills, as agents show it at the start of a conversation, and `use_skill`.
    List,
    /// The disclosure for the message, `use_skill` and `find_skills`.
    Disclosed,
}

/// The beginning of a conversation.
pub(super) struct Opening {
    pub(super) request: Request,
    /// The skills whose text the model has from the beginning.
    pub(super) loaded: Vec<SkillId>,
    /// Whatever answers its calls.
    pub(super) tools: SessionTools,
}

impl Way {
    /// All ways, in the order in which they are shown.
    pub const ALL: [Way; 3] = [Way::Nothing, Way::List, Way::Disclosed];

    /// The name, as on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Way::Nothing => "nothing",
            Way::List => "list",
            Way::Disclosed => "disclosed",
        }
    }

    /// The tools that a model may call.
    fn tools(self) -> &'static [&'static str] {
        match self {
            Way::Nothing => &[],
            Way::List => &["use_skill"],
            Way::Disclosed => &["use_skill", "find_skills"],
        }
    }

    /// Begins a conversation with `message`, in a session of its own.
    pub(super) fn open(
        self,
        engine: &Engine,
        session: &Session,
        message: &str,
    ) -> Result<Opening, Error> {
        let tools = engine.tools(session);
        let (context, loaded) = match self {
            Way::Nothing => (String::new(), Vec::new()),
            Way::List => (engine.session_prompt(session).text, Vec::new()),
            Way::Disclosed => {
                let turn = engine.turn(message, session).run()?;
                (turn.text, turn.disclosure.full)
            }
        };
        let context = (!context.is_empty()).then(|| Message::new(Role::System, context));
        let user = Message::new(Role::User, message);
        let messages = context.into_iter().chain([user]).collect();
        let request = Request { messages, tools: self.offered(&tools) };
        Ok(Opening { request, loaded, tools })
    }

    /// The definitions of the tools that a model may call.
    fn offered(self, tools: &SessionTools) -> Vec<Tool> {
        let Value::Array(definitions) = tools.definitions(ToolFormat::Anthropic) else {
            return Vec::new();
        };
        let text =
            |definition: &Value, key: &str| definition[key].as_str().unwrap_or_default().to_owned();
        let tool = |definition: Value| Tool {
            name: text(&definition, "name"),
            description: text(&definition, "description"),
            parameters: definition["input_schema"].clone(),
        };
        definitions.into_iter().map(tool).filter(|tool| self.may_call(&tool.name)).collect()
    }

    /// Tells whether a model may call the tool named `name`.
    pub(super) fn may_call(self, name: &str) -> bool {
        self.tools().contains(&name)
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Way {
    type Err = Error;

    fn from_str(name: &str) -> Result<Way, Error> {
        Way::ALL.into_iter().find(|way| way.as_str() == name).ok_or_else(|| {
            let message = format!(
                "`{name}` is not a way to send messages: write `nothing`, `list` or `disclosed`"
            );
            Error::new(ErrorCode::InvalidParam, message, "see `repertoire eval --help`")
        })
    }
}
