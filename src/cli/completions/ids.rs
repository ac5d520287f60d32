//! Completes the ids of skills on a command line, for completion scripts.

use clap::{Arg, Command};

use crate::args::{self, CompleteIdsArgs};
use crate::exit_code::ExitCode;
use crate::output::Output;
use crate::{parse, sanitize, setup};

/// The value name of the arguments that take the id of a skill.
const ID: &str = "ID";

/// Prints the ids that complete the last word, each with a tab and a line about the skill. Prints
/// nothing if no skill is expected there.
pub(crate) fn run(args: &CompleteIdsArgs) -> anyhow::Result<ExitCode> {
    let Some((word, before)) = args.words.split_last() else { return Ok(ExitCode::Done) };
    let mut command = args::command();
    command.build();
    let line = Line::read(&command, before.iter().skip(1));
    if !line.expects_id(word) {
        return Ok(ExitCode::Done);
    }
    let words = ["repertoire", "list"].into_iter().chain(line.globals.iter().map(String::as_str));
    let common = parse(words)?.common;
    let engine = setup::engine(&common, |builder| builder)?;
    let catalog = engine.catalog();
    let found = catalog
        .entries()
        .filter(|entry| !entry.is_shadowed() && entry.id.as_str().starts_with(word.as_str()));
    let lines = found.map(|entry| {
        let (id, brief) = (entry.id.as_str(), entry.skill.brief());
        format!("{}\t{}", sanitize::line(id), sanitize::line(brief))
    });
    Output::exact(&lines.collect::<Vec<_>>().join("\n"))?;
    Ok(ExitCode::Done)
}

/// Tells whether an argument takes the id of a skill.
pub(super) fn is_id(arg: &Arg) -> bool {
    arg.get_value_names().unwrap_or_default().iter().any(|name| name.as_str() == ID)
}

/// The state of the parser after the words of an unfinished command line.
struct Line<'c> {
    command: &'c Command,
    n_positionals: usize,
    /// The option whose value comes next.
    pending: Option<&'c Arg>,
    /// True once no more options can come.
    is_escaped: bool,
    /// The options of every command, with their values.
    globals: Vec<String>,
}

impl<'c> Line<'c> {
    fn read<'w>(command: &'c Command, words: impl Iterator<Item = &'w String>) -> Line<'c> {
        let mut line = Line {
            command,
            n_positionals: 0,
            pending: None,
            is_escaped: false,
            globals: Vec::new(),
        };
        words.for_each(|word| line.take(word));
        line
    }

    fn take(&mut self, word: &str) {
        if let Some(option) = self.pending {
            if word == "=" {
                // Bash passes the `=` of `--option=value` as a word of its own.
                return;
            }
            self.pending = None;
            let is_optional = option.get_num_args().is_some_and(|range| range.min_values() == 0);
            let has_value = !(is_optional && word.starts_with('-'));
            let name = format!("--{}", option.get_long().unwrap_or_default());
            self.note(option, [&*name].into_iter().chain(has_value.then_some(word)));
            if has_value {
                return;
            }
        }
        if self.is_escaped || !word.starts_with('-') || word == "-" {
            match self.command.find_subcommand(word) {
                Some(command) if self.n_positionals == 0 && !self.is_escaped => {
                    self.command = command;
                }
                _ => self.n_positionals += 1,
            }
        } else if word == "--" {
            self.is_escaped = true;
        } else {
            self.take_option(word);
        }
    }

    /// Parses an option. Short options are skipped: they have no values.
    fn take_option(&mut self, word: &str) {
        let Some(text) = word.strip_prefix("--") else { return };
        let (name, value) = text.split_once('=').map_or((text, None), |(n, v)| (n, Some(v)));
        let is_it = |arg: &&Arg| arg.get_long() == Some(name);
        let Some(option) = self.command.get_arguments().find(is_it) else { return };
        let has_value = option.get_action().takes_values() && !option.is_require_equals_set();
        if has_value && value.is_none() {
            self.pending = Some(option);
        } else {
            self.note(option, [word]);
        }
    }

    fn note<'w>(&mut self, option: &Arg, words: impl IntoIterator<Item = &'w str>) {
        if option.is_global_set() {
            self.globals.extend(words.into_iter().map(str::to_owned));
        }
    }

    /// Tells whether the next word, `word`, is expected to be the id of a skill.
    fn expects_id(&self, word: &str) -> bool {
        let arg = match self.pending {
            Some(option) => Some(option),
            None if word.starts_with('-') => None,
            None => self.positional(),
        };
        arg.is_some_and(is_id)
    }

    /// Returns the positional argument that comes next. After all of them, this is the last one, if
    /// it takes several values.
    fn positional(&self) -> Option<&'c Arg> {
        let next = self.command.get_positionals().nth(self.n_positionals);
        let is_open = |arg: &&Arg| arg.get_num_args().is_some_and(|range| range.max_values() > 1);
        next.or_else(|| self.command.get_positionals().last().filter(is_open))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skills_are_expected_where_ids_are_taken() {
        let mut command = args::command();
        command.build();
        for (words, wanted) in [
            ("show |", true),
            ("show al|", true),
            ("show alpha |", false),
            ("show --json al|", true),
            ("--source skills why |", true),
            ("why alpha |", false),
            ("why alpha say show |", false),
            ("use |", true),
            ("use alpha |", false),
            ("run |", true),
            ("tool list --skill |", true),
            ("tool list --skill al|", true),
            ("tool list --skill = al|", true),
            ("tool list |", false),
            ("eval f.json --skill |", true),
            ("list --allow |", true),
            ("list --source |", false),
            ("list --project -v --enable |", true),
            ("match |", false),
            ("disclose --by-relevance --allow |", true),
            ("show -|", false),
            ("show -- |", true),
            ("show -- -|", false),
            ("toolset new |", false),
            ("|", false),
            ("nonsense |", false),
        ] {
            let words: Vec<String> =
                words.trim_end_matches('|').split(' ').map(str::to_owned).collect();
            let (word, before) = words.split_last().unwrap();
            let line = Line::read(&command, before.iter());
            assert_eq!(line.expects_id(word), wanted, "{words:?}");
        }
    }

    #[test]
    fn options_of_every_command_are_kept() {
        let mut command = args::command();
        command.build();
        let words =
            ["--source", "a b", "why", "--brand=sven", "--project", "--agent", "codex", "x"];
        let words = words.map(str::to_owned);
        let line = Line::read(&command, words.iter());
        assert_eq!(line.globals, ["--source", "a b", "--brand=sven", "--project"]);
        // An option whose value is still missing is left out.
        let words = ["list", "--json", "--allow"].map(str::to_owned);
        assert_eq!(Line::read(&command, words.iter()).globals, ["--json"]);
    }
}
