//! The help of the program, with its commands in groups.

use std::fmt::Write as _;

use clap::builder::Styles;
use clap::{Command, CommandFactory as _};

use super::Cli;

/// A group of commands.
struct Group {
    title: &'static str,
    commands: &'static [&'static str],
}

/// All commands that are not hidden, each once. Clap itself cannot group commands.
const GROUPS: [Group; 6] = [
    Group { title: "Begin here", commands: &["init"] },
    Group {
        title: "Try what there is",
        commands: &["list", "match", "why", "disclose", "prompt", "show", "use", "play"],
    },
    Group {
        title: "Take skills from elsewhere",
        commands: &["add", "update", "outdated", "remove", "export", "push", "sign"],
    },
    Group { title: "Write skills", commands: &["new", "check", "lsp", "eval", "stats"] },
    Group { title: "Ship code", commands: &["tool", "run", "trust"] },
    Group {
        title: "Connect agents",
        commands: &[
            "hook", "mcp", "package", "config", "model", "enable", "disable", "doctor",
            "completions", "man",
        ],
    },
];

/// Returns the command line parser, with the grouped help.
pub(crate) fn command() -> Command {
    let command = <Cli>::command();
    let template = template(&command);
    command.help_template(template)
}

fn template(command: &Command) -> String {
    let styles = Styles::default();
    let (header, name_style) = (styles.get_header(), styles.get_literal());
    let named = GROUPS.iter().flat_map(|group| group.commands);
    let width = named.map(|name| name.len()).max().unwrap_or_default();
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for Group { title, commands } in &GROUPS {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "\n{header}{title}:{header:#}");
        for name in *commands {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let pad = " ".repeat(width - name.len());
            let _ = writeln!(text, "  {name_style}{name}{name_style:#}{pad}  {about}");
        }
    }
    let _ = write!(text, "\n{header}Options of every command:{header:#}\n{{options}}");
    text + "\n\n`repertoire help COMMAND` describes a command.{after-help}"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_exactly_one_group() {
        let command = <Cli>::command();
        let mut known: Vec<&str> = command
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .collect();
        let mut grouped: Vec<&str> =
            GROUPS.iter().flat_map(|group| group.commands).copied().collect();
        known.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, known);
    }

    #[test]
    fn the_help_fits_a_terminal() {
        let help = command().render_help().to_string();
        for Group { title, commands } in GROUPS {
            let start = help.find(&format!("\n{title}:\n")).unwrap();
            let lines: Vec<&str> = help[start..].lines().skip(2).take(commands.len()).collect();
            for (name, line) in commands.iter().zip(lines) {
                let about = line.strip_prefix(&format!("  {name} ")).unwrap_or_default().trim();
                assert!(!about.is_empty(), "{line}");
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
    }
}
