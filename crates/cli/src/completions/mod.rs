//! `repertoire completions`: prints completion scripts for shells.
//!
//! The scripts that clap generates know commands and options. For Bash, Zsh and fish, a function is
//! added that asks this program for the ids of skills (`ids.rs`). The engine of `clap_complete` that
//! could do so for all shells is not stable.

pub(crate) mod ids;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use clap::Command;
use clap_complete::Shell;
use serde_json::json;

use crate::args::{self, CompletionsArgs};
use crate::exit_code::ExitCode;
use crate::output::Output;

/// A Bash function that asks this program for ids first, and calls the generated function if there
/// are none.
const BASH: &str = r#"
_repertoire_with_ids() {
    local id ids
    ids=$("${COMP_WORDS[0]}" complete-ids -- "${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
    if [[ -z $ids ]]; then
        _repertoire "$@"
        return
    fi
    COMPREPLY=()
    while IFS=$'\t' read -r id _; do
        printf -v id %q "$id"
        COMPREPLY+=("$id")
    done <<< "$ids"
}
complete -F _repertoire_with_ids -o bashdefault -o default repertoire
"#;

/// A Zsh function that asks this program for ids first, and calls the generated function if there are
/// none. It is inserted before the end of the generated script, which calls `_repertoire`.
const ZSH: &str = r#"
functions[_repertoire_without_ids]=$functions[_repertoire]
_repertoire() {
    local line
    local -a ids
    for line in "${(@f)$("${(Q)words[1]}" complete-ids -- "${(@Q)words[1,CURRENT]}" 2>/dev/null)}"; do
        [[ -n $line ]] && ids+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    if (( $#ids )); then
        _describe -t skills skill ids
    else
        _repertoire_without_ids "$@"
    fi
}
"#;

/// The text with which the end of the generated script for Zsh begins.
const ZSH_END: &str = "\nif [ \"$funcstack[1]\"";

/// Rules for fish that offer ids in addition to the generated candidates. Where ids are offered,
/// files are not.
const FISH: &str = r#"
function __repertoire_ids
    set -l words (commandline -opc) (commandline -ct)
    type -q $words[1]; or return
    $words[1] complete-ids -- $words 2>/dev/null
end
complete -c repertoire -n 'test -n "$(__repertoire_ids)"' -f -a '(__repertoire_ids)'
"#;

/// Collects the options of `command` and its subcommands that take ids. For the value of an option,
/// fish uses only the rules of that option.
fn fish_options(command: &Command, names: &mut BTreeSet<String>) {
    let options = command.get_arguments().filter(|arg| ids::is_id(arg));
    names.extend(options.filter_map(|arg| arg.get_long()).map(str::to_owned));
    command.get_subcommands().for_each(|command| fish_options(command, names));
}

pub(crate) fn run(args: &CompletionsArgs, out: Output) -> anyhow::Result<ExitCode> {
    let script = script(args.shell);
    if out.json {
        Output::json(&json!({"shell": args.shell.to_string(), "script": script}))?;
    } else {
        Output::exact(script.trim_end_matches('\n'))?;
    }
    Ok(ExitCode::Done)
}

/// Returns the command line without its hidden commands, which some shells would offer.
fn visible(command: &Command) -> Command {
    let commands = command.get_subcommands().filter(|command| !command.is_hide_set());
    Command::new("repertoire")
        .version(env!("CARGO_PKG_VERSION"))
        .args(command.get_arguments())
        .subcommands(commands)
}

fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut visible(&args::command()), "repertoire", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    match shell {
        Shell::Bash => script + BASH,
        Shell::Zsh => match script.rsplit_once(ZSH_END) {
            Some((functions, end)) => format!("{functions}{ZSH}{ZSH_END}{end}"),
            None => script,
        },
        Shell::Fish => {
            script += FISH;
            let mut names = BTreeSet::new();
            fish_options(&args::command(), &mut names);
            for name in names {
                // Writing to a `String` cannot fail.
                let _ =
                    writeln!(script, "complete -c repertoire -l {name} -x -a '(__repertoire_ids)'");
            }
            script
        }
        _ => script,
    }
}
