//! The `.env` files of Qwen Code, whose variables stand in its settings like those of the environment. Observed with
//! 0.24.4; Gemini CLI 0.61.0 reads such files only after its settings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Start;
use super::settings::text;

/// The variables that a `.env` file of a project does not set, unless the settings name others.
pub(super) const EXCLUDED: [&str; 2] = ["DEBUG", "DEBUG_MODE"];

/// Returns the environment of the agent: that of `start`, then the nearest file at or above the starting directory
/// if it `is_trusted`, then those of the user. An empty variable counts as not set.
pub(super) fn environment(
    start: &Start,
    user_dir: Option<&Path>,
    is_trusted: bool,
    excluded: &[String],
) -> BTreeMap<String, String> {
    let mut environment = start.environment.clone();
    let mut add = |path: &Path, excluded: &[String]| {
        for (name, value) in variables(&text(path).unwrap_or_default()) {
            let is_open = environment.get(&name).is_none_or(String::is_empty);
            if is_open && !excluded.contains(&name) {
                environment.insert(name, value);
            }
        }
    };
    if let Some(path) = nearest(start).filter(|_| is_trusted) {
        let is_own = path.ends_with(".qwen/.env");
        add(&path, if is_own { &[] } else { excluded });
    }
    for path in user_dir.map(|dir| dir.join(".env")).into_iter().chain(start.in_home(".env")) {
        add(&path, &[]);
    }
    environment
}

/// Returns the nearest file at or above the starting directory.
fn nearest(start: &Start) -> Option<PathBuf> {
    let dir = start.dir();
    let files = dir.ancestors().flat_map(|dir| [".qwen/.env", ".env"].map(|name| dir.join(name)));
    files.into_iter().find(|path| path.is_file())
}

/// Returns the variables of a file, each with its value.
fn variables(text: &str) -> Vec<(String, String)> {
    let variable = |line: &str| {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=')?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        let name = name.trim_end();
        let value = value.trim();
        let quote = value.chars().next().filter(|c| "'\"`".contains(*c));
        let quoted = quote.and_then(|quote| value[1..].split_once(quote));
        let value = match quoted {
            Some((inside, _)) => inside,
            None => value.split('#').next().unwrap_or_default().trim_end(),
        };
        let is_right = !name.is_empty() && name.chars().all(is_name);
        is_right.then(|| (name.to_owned(), value.to_owned()))
    };
    text.lines().filter_map(variable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_set_variables() {
        for (line, wanted) in [
            ("A=x", Some("x")),
            ("export A=x", Some("x")),
            ("A = x # why", Some("x")),
            ("A='x # y'", Some("x # y")),
            ("A=\"x\" # why", Some("x")),
            ("A=", Some("")),
            ("# A=x", None),
            ("A", None),
            ("A B=x", None),
        ] {
            let found = variables(line);
            assert_eq!(found.first().map(|(_, value)| &**value), wanted, "{line}");
        }
    }
}
