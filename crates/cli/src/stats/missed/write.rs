//! Adds messages to the examples in the files of skills.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use repertoire::catalog::Scope;
use repertoire::engine::{Misrouting, MissedMessage};
use repertoire::skill::with_examples;
use repertoire::{Engine, Error, ErrorCode, SkillId, Source};
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use crate::replace::{check_writable, io_error, replace};

/// The messages to write, and those that cannot be written.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) changes: Vec<Change>,
    pub(super) refusals: Vec<Refusal>,
}

/// A file to which messages are added.
#[derive(Serialize)]
pub(super) struct Change {
    pub(super) skill: SkillId,
    #[serde(serialize_with = "repertoire_system::lossy_path::serialize")]
    pub(super) path: PathBuf,
    should: Vec<String>,
    should_not: Vec<String>,
    #[serde(skip)]
    before: String,
    #[serde(skip)]
    after: String,
}

/// A skill, or one message of it, that cannot be written.
#[derive(Serialize)]
pub(super) struct Refusal {
    pub(super) skill: SkillId,
    /// The message; `None` if it is all of them.
    message: Option<String>,
    pub(super) reason: String,
    pub(super) help: String,
}

impl Plan {
    pub(super) fn of(offered: &[&MissedMessage], engine: &Engine) -> Plan {
        let mut by_skill: BTreeMap<&SkillId, Vec<&MissedMessage>> = BTreeMap::new();
        for message in offered {
            by_skill.entry(&message.skill).or_default().push(message);
        }
        let mut plan = Plan::default();
        for (skill, messages) in by_skill {
            match Change::begin(skill, engine) {
                Err(error) => plan.refuse(skill, None, &error),
                Ok(mut change) => {
                    for message in messages {
                        if let Err(error) = change.add(message) {
                            plan.refuse(skill, Some(message.message.clone()), &error);
                        }
                    }
                    plan.changes.extend((change.after != change.before).then_some(change));
                }
            }
        }
        plan
    }

    fn refuse(&mut self, skill: &SkillId, message: Option<String>, error: &Error) {
        let (reason, help) = (error.message().to_owned(), error.help().to_owned());
        self.refusals.push(Refusal { skill: skill.clone(), message, reason, help });
    }
}

impl Change {
    /// Reads the file of a skill, if it is one that its user may change.
    fn begin(skill: &SkillId, engine: &Engine) -> Result<Change, Error> {
        let refuse = |why: String, help: &str| {
            Err(Error::new(ErrorCode::PermissionDenied, why, help.to_owned()))
        };
        let catalog = engine.catalog();
        let entry = catalog.get(skill.as_str());
        let Some((entry, path)) = entry.and_then(|entry| Some((entry, entry.skill.path()?))) else {
            return refuse("it has no file".to_owned(), "add the examples where it is made");
        };
        match entry.scope {
            Scope::User | Scope::Project => {}
            Scope::Fetched => {
                let name = engine.source_of(entry).and_then(Source::name).unwrap_or_default();
                return refuse(
                    format!("it was fetched from `{name}`, and an update would undo the change"),
                    "propose the examples to its author, or copy the skill to your own",
                );
            }
            _ => {
                return refuse(
                    "it comes with the program, and an update would undo the change".to_owned(),
                    "copy the skill to your own",
                );
            }
        }
        // A link stays one.
        let path = path.canonicalize().map_err(|error| io_error("read", path, &error))?;
        check_writable(&path, "leave out `--write`")?;
        let before = fs::read_to_string(&path).map_err(|error| io_error("read", &path, &error))?;
        let (should, should_not, after) = (Vec::new(), Vec::new(), before.clone());
        Ok(Change { skill: skill.clone(), path, should, should_not, before, after })
    }

    fn add(&mut self, MissedMessage { kind, message, .. }: &MissedMessage) -> Result<(), Error> {
        let text = std::slice::from_ref(message);
        let (list, should, should_not): (_, _, &[String]) = match kind {
            Misrouting::NotInView => (&mut self.should, text, &[]),
            Misrouting::NotUsed => (&mut self.should_not, &[][..], text),
        };
        self.after = with_examples(&self.after, should, should_not)?;
        list.push(message.clone());
        Ok(())
    }

    /// The lines that are removed (`-`) and added (`+`), in the order of the file.
    pub(super) fn lines(&self) -> Vec<(char, String)> {
        let diff = TextDiff::from_lines(&*self.before, &*self.after);
        let lines = diff.iter_all_changes().filter_map(|change| {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => return None,
            };
            Some((sign, change.value().trim_end().to_owned()))
        });
        lines.collect()
    }

    /// Writes the file atomically. Fails if it was changed since it was read.
    pub(super) fn write(&self) -> Result<(), Error> {
        let path = &self.path;
        let now = fs::read_to_string(path).map_err(|error| io_error("read", path, &error))?;
        if now != self.before {
            let message = format!("{} was changed in the meantime", path.display());
            let help = "run the command again";
            return Err(Error::new(ErrorCode::ExecutionError, message, help));
        }
        replace(path, &self.after, path)
    }
}
