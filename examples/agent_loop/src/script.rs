//! The scripted user and model: the user's message in each turn, and the tools that the model calls.

use serde_json::{Value, json};

/// An event before the message of a turn.
pub(crate) enum Step {
    Nothing,
    /// The host compacts the context.
    Compact,
    /// Another program writes a skill: the skill's name, and its file.
    AddSkill(&'static str, &'static str),
    /// The agent ends and is started again.
    Restart,
}

/// One turn: the user's message, and the calls with which the model answers it.
pub(crate) struct Scripted {
    pub(crate) before: Step,
    pub(crate) message: &'static str,
    calls: &'static [(&'static str, &'static str)],
}

const fn turn(
    before: Step,
    message: &'static str,
    calls: &'static [(&'static str, &'static str)],
) -> Scripted {
    Scripted { before, message, calls }
}

const HAIKU: &str = "---\nname: haiku\ndescription: Writes haiku.\n\
                     triggers: [a haiku]\n---\nThree lines: five, seven and five syllables.\n";

/// The conversation.
pub(crate) const TURNS: [Scripted; 12] = [
    turn(
        Step::Nothing,
        "say hello to Ana",
        &[("use_skill", r#"{"skill": "greeter"}"#), ("greeter_greet", r#"{"name": "Ana"}"#)],
    ),
    turn(Step::Nothing, "and say hello to Bob", &[("greeter_greet", r#"{"name": "Bob"}"#)]),
    turn(Step::Nothing, "thanks", &[]),
    turn(
        Step::Nothing,
        "how many words are in `less is more`?",
        &[
            ("use_skill", r#"{"skill": "word-count"}"#),
            (
                "run_skill_script",
                r#"{"skill": "word-count", "script": "count.sh", "stdin": "less is more"}"#,
            ),
        ],
    ),
    turn(
        Step::Nothing,
        "research where tea comes from",
        &[("use_skill", r#"{"skill": "research", "args": "where tea comes from"}"#)],
    ),
    turn(Step::Nothing, "/release-notes v2", &[]),
    turn(Step::Nothing, "what can you do?", &[]),
    turn(Step::Compact, "what did we do so far?", &[]),
    turn(
        Step::AddSkill("haiku", HAIKU),
        "write a haiku about rust",
        &[("use_skill", r#"{"skill": "haiku"}"#)],
    ),
    turn(Step::Nothing, "welcome Carla", &[("greeter_greet", r#"{"name": "Carla"}"#)]),
    turn(Step::Nothing, "how do you greet people?", &[("use_skill", r#"{"skill": "greeter"}"#)]),
    turn(Step::Restart, "say hello to Dora", &[("greeter_greet", r#"{"name": "Dora"}"#)]),
];

/// The scripted model. It makes the calls of one turn, and checks that it was offered the tools for
/// them.
pub(crate) struct Model<'t> {
    calls: std::slice::Iter<'t, (&'static str, &'static str)>,
}

impl<'t> Model<'t> {
    pub(crate) fn new(turn: &'t Scripted) -> Model<'t> {
        Model { calls: turn.calls.iter() }
    }

    /// Receives a text, and returns the next tool call.
    pub(crate) fn next(&mut self, told: &str, definitions: &Value) -> Option<(&'t str, Value)> {
        let offered: Vec<&str> = definitions.as_array()?.iter().filter_map(name).collect();
        println!("   → {}", shortened(told));
        let (tool, arguments) = self.calls.next()?;
        println!("   {} tools; {tool} {arguments}", offered.len());
        if !offered.contains(tool) {
            println!("   NOT OFFERED: {tool}; there are {}", offered.join(", "));
            return None;
        }
        Some((tool, arguments.parse().unwrap_or(json!({}))))
    }
}

fn name(definition: &Value) -> Option<&str> {
    definition["name"].as_str()
}

/// Returns a text as one line of at most 250 characters.
pub(crate) fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(250).collect()
}
