//! The channels through which a message can reach the engine: the library, the command line, a hook.

use repertoire::session::Session;
use repertoire::{DisclosureOptions, Engine, EngineBuilder, Skill};
use serde_json::{Value, json};

use crate::binary::{Place, finish};
use crate::skill_file;

/// The skills that were shown for a message.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// The tier; `None` if the channel does not report it.
    pub(crate) tier: Option<u64>,
    pub(crate) full: Vec<String>,
    pub(crate) registry: Vec<String>,
    pub(crate) text: String,
}

/// A channel for the messages of one conversation.
pub(crate) trait Channel {
    fn name(&self) -> &'static str;

    /// Starts another conversation.
    fn restart(&mut self);

    fn say(&mut self, message: &str) -> Shown;

    /// Activates a skill by name.
    fn activate(&mut self, id: &str, arguments: &str);

    /// Tells the engine that the host compacted the context.
    fn compacted(&mut self);
}

fn place(skills: &[Value]) -> Place {
    let place = Place::new();
    for skill in skills {
        let name = skill["name"].as_str().unwrap();
        place.write(&format!("skills/{name}/SKILL.md"), skill_file(skill));
    }
    place
}

/// The channel `Engine::turn`.
pub(crate) struct Library {
    engine: Engine,
    n_conversations: usize,
}

impl Library {
    pub(crate) fn new(skills: &[Value], max_skills: usize) -> Library {
        let skills = skills.iter().map(|skill| skill_file(skill).parse::<Skill>().unwrap());
        let mut options = DisclosureOptions::default();
        options.max_skills = max_skills;
        let builder = skills.fold(Engine::builder(), EngineBuilder::skill).disclosure(options);
        Library { engine: builder.build().unwrap(), n_conversations: 0 }
    }

    fn session(&self) -> Session {
        self.engine.session(&self.n_conversations.to_string())
    }
}

impl Channel for Library {
    fn name(&self) -> &'static str {
        "library"
    }

    fn restart(&mut self) {
        self.n_conversations += 1;
    }

    fn activate(&mut self, id: &str, arguments: &str) {
        self.engine.activate(id, arguments, &self.session()).unwrap();
    }

    fn compacted(&mut self) {
        self.session().compacted().unwrap();
    }

    fn say(&mut self, message: &str) -> Shown {
        let session = self.session();
        let disclosure = self.engine.turn(message, &session).run().unwrap().disclosure;
        Shown {
            tier: Some(disclosure.tier as u64),
            full: disclosure.full.iter().map(ToString::to_string).collect(),
            registry: disclosure.registry.iter().map(ToString::to_string).collect(),
            text: disclosure.text,
        }
    }
}

/// The channel `repertoire disclose`.
pub(crate) struct CommandLine {
    place: Place,
    max_skills: String,
    n_conversations: usize,
    is_compacted: bool,
}

impl CommandLine {
    pub(crate) fn new(skills: &[Value], max_skills: usize) -> CommandLine {
        let max_skills = max_skills.to_string();
        CommandLine { place: place(skills), max_skills, n_conversations: 0, is_compacted: false }
    }
}

impl Channel for CommandLine {
    fn name(&self) -> &'static str {
        "command line"
    }

    fn restart(&mut self) {
        self.n_conversations += 1;
    }

    fn activate(&mut self, id: &str, arguments: &str) {
        let session = self.n_conversations.to_string();
        let args = ["use", "--source", "skills", "--session", &session, id, arguments];
        self.place.run(args).exits(0);
    }

    fn compacted(&mut self) {
        self.is_compacted = true;
    }

    fn say(&mut self, message: &str) -> Shown {
        let session = self.n_conversations.to_string();
        let mut args = vec!["disclose", "--json", "--source", "skills", "--session", &session];
        args.extend(["--max-skills", &self.max_skills]);
        if std::mem::take(&mut self.is_compacted) {
            args.extend(["--event", "compacted"]);
        }
        args.extend(["--", message]);
        let found = self.place.run(args).exits(0).json();
        let ids = |field: &str| -> Vec<String> {
            let ids = found[field].as_array().unwrap().iter();
            ids.map(|id| id.as_str().unwrap().to_owned()).collect()
        };
        Shown {
            tier: found["tier"].as_u64(),
            full: ids("full"),
            registry: ids("registry"),
            text: found["text"].as_str().unwrap().to_owned(),
        }
    }
}

/// The channel `repertoire hook claude-code`, which returns only a text.
pub(crate) struct Hook {
    place: Place,
    max_skills: String,
    n_conversations: usize,
}

impl Hook {
    pub(crate) fn new(skills: &[Value], max_skills: usize) -> Hook {
        Hook { place: place(skills), max_skills: max_skills.to_string(), n_conversations: 0 }
    }

    /// Returns the hook's answer to an event of this name.
    fn answer(&self, event: &str, mut input: Value) -> String {
        input["hook_event_name"] = event.into();
        input["session_id"] = self.n_conversations.to_string().into();
        input["cwd"] = self.place.path().to_str().into();
        let args = ["hook", "claude-code", "--deadline", "60", "--source", "skills"];
        let mut command = self.place.command(args);
        command.env("REPERTOIRE_MAX_SKILLS", &self.max_skills);
        let run = finish(command, input.to_string().as_bytes()).exits(0);
        assert_eq!(run.stderr, "", "a hook that has something to say went wrong");
        run.stdout
    }
}

impl Channel for Hook {
    fn name(&self) -> &'static str {
        "hook"
    }

    fn restart(&mut self) {
        self.n_conversations += 1;
    }

    fn activate(&mut self, id: &str, arguments: &str) {
        let message = format!("/{id} {arguments}");
        self.answer("UserPromptSubmit", json!({"prompt": message}));
    }

    fn compacted(&mut self) {
        self.answer("PreCompact", json!({"trigger": "auto"}));
    }

    fn say(&mut self, message: &str) -> Shown {
        let answer = self.answer("UserPromptSubmit", json!({"prompt": message}));
        if answer.trim().is_empty() {
            return Shown::default();
        }
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
        let after = |start: &str| -> Vec<String> {
            let lines = text.lines().filter_map(|line| line.strip_prefix(start));
            lines.map(|line| line.split([':', ' ']).next().unwrap().to_owned()).collect()
        };
        let mut full = after("## Skill: ");
        if full.is_empty() {
            // The answer to a slash command consists of the instructions only.
            let dirs = text.lines().filter_map(|line| line.strip_prefix("Base directory: "));
            full.extend(dirs.filter_map(|dir| Some(dir.rsplit_once('/')?.1.to_owned())));
        }
        Shown { tier: None, full, registry: after("- "), text }
    }
}
