//! Settings files of agents, read leniently: a file that cannot be read has no settings, as the agent
//! itself reports it.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::CstRootNode;
use repertoire_system::open_options::regular_file;
use serde::de::IgnoredAny;
use serde_json::Value;
use toml_edit::DocumentMut;

use super::Obstacle;
use crate::agent::HookAgent;

/// The largest settings file that is read, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// A settings file in JSON, with or without comments.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    pub(super) path: PathBuf,
    pub(super) value: Value,
    root: CstRootNode,
    /// True if the texts `true` and `false` are switches, too.
    has_text_switches: bool,
}

/// The syntax that an agent demands of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// JSON, also after a byte order mark.
    Json,
    /// JSON with comments.
    Comments,
    /// JSON with comments and a comma too many, also after a byte order mark; a blank file has no fault.
    Lenient,
    Toml,
}

impl Syntax {
    /// Returns the fault of a text, if it is not of this syntax.
    fn fault(self, text: &str) -> Option<String> {
        let without_mark = text.trim_start_matches('\u{feff}');
        let of_comments = |text: &str, options: ParseOptions| {
            CstRootNode::parse(text, &options).err().map(|error| error.to_string())
        };
        match self {
            Syntax::Json => {
                let json = serde_json::from_str::<IgnoredAny>(without_mark);
                json.err().map(|error| error.to_string())
            }
            Syntax::Comments if text.starts_with('\u{feff}') => {
                Some("a byte order mark".to_owned())
            }
            Syntax::Comments => {
                let options = ParseOptions::default();
                of_comments(text, ParseOptions { allow_trailing_commas: false, ..options })
            }
            Syntax::Lenient if text.trim().is_empty() => None,
            Syntax::Lenient => of_comments(without_mark, ParseOptions::default()),
            Syntax::Toml => {
                text.parse::<DocumentMut>().err().map(|error| error.message().to_owned())
            }
        }
    }

    /// Returns the fault of the file at `path`, if it has text that is not of this syntax.
    pub(super) fn fault_of(self, path: &Path) -> Option<Obstacle> {
        let fault = self.fault(&text(path)?)?;
        Some(Obstacle::new(fault, path))
    }
}

impl Settings {
    /// Reads the file at `path`.
    pub(super) fn read(path: impl Into<PathBuf>) -> Option<Settings> {
        let path = path.into();
        Settings::parse(&text(&path)?, path)
    }

    /// Reads the file at `path` for an agent that ignores all of one that is not valid. Returns the fault of such
    /// a file, and `None` if there is no text.
    pub(super) fn read_valid(
        path: impl Into<PathBuf>,
        syntax: Syntax,
    ) -> Option<Result<Settings, Obstacle>> {
        let path = path.into();
        let text = text(&path)?;
        match syntax.fault(&text) {
            Some(fault) => Some(Err(Obstacle::new(fault, &path))),
            None => Settings::parse(&text, path).map(Ok),
        }
    }

    /// Reads `text`, which is from `path`.
    pub(super) fn parse(text: &str, path: PathBuf) -> Option<Settings> {
        let root =
            CstRootNode::parse(text.trim_start_matches('\u{feff}'), &ParseOptions::default())
                .ok()?;
        let value = root.to_serde_value()?;
        Some(Settings { path, value, root, has_text_switches: false })
    }

    /// The texts in the list at the JSON pointer `at`.
    pub(super) fn texts(&self, at: &str) -> Vec<&str> {
        let list = self.value.pointer(at).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// The switch at the JSON pointer `at`.
    pub(super) fn switch(&self, at: &str) -> Option<bool> {
        let value = self.value.pointer(at)?;
        let of_text = || match value.as_str().filter(|_| self.has_text_switches)? {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        };
        value.as_bool().or_else(of_text)
    }

    /// Returns the file for an agent that takes the texts `true` and `false` as switches.
    pub(super) fn with_text_switches(self) -> Settings {
        Settings { has_text_switches: true, ..self }
    }

    /// The entries of the map at the path `keys` whose values are texts, in the order of the file.
    pub(super) fn entries(&self, keys: &[&str]) -> Vec<(String, String)> {
        let texts = self.properties(keys).into_iter();
        texts.filter_map(|(name, value)| Some((name, value.as_str()?.to_owned()))).collect()
    }

    /// The entries of the map at the path `keys`, in the order of the file.
    pub(super) fn properties(&self, keys: &[&str]) -> Vec<(String, Value)> {
        let mut object = self.root.object_value();
        for key in keys {
            // Of a key that stands twice, the last value counts.
            let last = object.and_then(|object| {
                let properties = object.properties().into_iter();
                properties.filter(|of| of.decoded_name().as_deref() == Some(*key)).last()
            });
            object = last.and_then(|property| property.object_value());
        }
        let properties = object.into_iter().flat_map(|object| object.properties());
        let entry = |property: jsonc_parser::cst::CstObjectProp| {
            Some((property.decoded_name()?, property.value()?.to_serde_value()?))
        };
        properties.filter_map(entry).collect()
    }
}

/// Returns the file that sets the switch at the JSON pointer `at` to `value`. The last file that has the
/// switch decides.
pub(super) fn decides<'f>(files: &[&'f Settings], at: &str, value: bool) -> Option<&'f Settings> {
    let decides = files.iter().rev().find(|file| file.switch(at).is_some())?;
    (decides.switch(at) == Some(value)).then_some(decides)
}

/// Returns the first of the administrator's settings files that names our hook for `agent`, or else the first.
pub(super) fn with_own_hooks(paths: &[PathBuf], agent: HookAgent) -> Option<PathBuf> {
    let command = format!("hook {agent}");
    let own = paths.iter().find(|path| text(path).is_some_and(|text| text.contains(&command)));
    own.or_else(|| paths.first()).cloned()
}

/// Reads the settings file in TOML at `path`.
pub(super) fn toml(path: &Path) -> Option<DocumentMut> {
    text(path)?.parse().ok()
}

/// Reads the text of the file at `path`; `None` for anything else, which may never end.
pub(super) fn text(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    regular_file(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    String::from_utf8(bytes).ok()
}

/// The directories in `dir`, in byte order of their names.
pub(super) fn directories(dir: &Path) -> Vec<PathBuf> {
    entries(dir).into_iter().filter(|path| path.is_dir()).collect()
}

/// All that is in `dir`, in byte order of the names.
pub(super) fn entries(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut entries: Vec<PathBuf> = entries.collect();
    entries.sort();
    entries
}
