//! Lines of sessions in a terminal: what is typed behind a prompt, and what the tools say that people call there.

use super::entries::begins_with;

/// Tells whether a text is what somebody typed into a shell or an interpreter, with the prompt before it.
pub(super) fn is_typed(text: &str) -> bool {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    let is_of_shell = first == "$"
        && rest.starts_with(|c: char| c.is_ascii_lowercase() || matches!(c, '.' | '/'));
    let is_of_host = first.contains('@')
        && (first.ends_with(['$', '#', '%'])
            || rest.ends_with(" %")
            || rest.contains(" % ")
            || rest.contains("]$ ")
            || is_of_fish(rest));
    // `C:\src> dir`, `PS C:\src> dir`, `mysql> select`, `app=# select`
    let path = text.strip_prefix("PS ").unwrap_or(text);
    let is_drive = path.get(1..3) == Some(":\\") && path.contains('>');
    let name = first.strip_suffix('>').or_else(|| first.strip_suffix("=#"));
    let is_interpreter = name.is_some_and(|name| {
        name.len() > 2
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || b"_[]()0".contains(&byte))
    });
    // A prompt of a theme, and one without a command.
    let is_themed = text.starts_with(['➜', '❯']);
    (is_themed
        || text == "$"
        || is_of_shell
        || is_of_host
        || is_drive
        || is_interpreter
        || text.starts_with("In ["))
        && !text.ends_with('?')
}

/// Tells whether the text behind a host is a directory and the end of a prompt of fish: `~/src> ls`, `/srv [1]>`.
fn is_of_fish(text: &str) -> bool {
    let end = text.find("> ").or_else(|| text.ends_with('>').then_some(text.len()));
    text.starts_with(['~', '/']) && end.is_some_and(|end| end > 0)
}

/// Tells whether a text is said by a tool that people call in a terminal.
pub(super) fn is_said_by_tool(line: &str, text: &str) -> bool {
    is_git_status(text)
        || is_stat(text)
        || is_of_shell(text)
        || is_listed_file(text)
        || is_count_of_rows(text)
        || is_plan_of_query(text)
        || is_frame_of_data(text)
        || is_of_systemd(line, text)
        || is_traced_call(text)
}

/// Tells whether a text is a call and its result, as `strace` writes them: `write(2, "x", 1) = 1`.
fn is_traced_call(text: &str) -> bool {
    let name = text.split(['(', ' ']).next().unwrap_or_default();
    text[name.len()..].starts_with('(')
        && text.split_once(") = ").is_some_and(|(_, result)| {
            result.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit())
        })
}

/// Tells whether a text is a line of what `git status` says.
fn is_git_status(text: &str) -> bool {
    const STARTS: [&str; 8] = [
        "Your branch is ",
        "Changes to be committed:",
        "Changes not staged for commit:",
        "Untracked files:",
        "(use \"git ",
        "no changes added to commit",
        "nothing to commit",
        "nothing added to commit",
    ];
    begins_with(text, &STARTS)
        || text.strip_prefix("On branch ").is_some_and(|name| !name.contains(' '))
}

/// Tells whether a text is the sum of a diff: `2 files changed, 8 insertions(+)`.
fn is_stat(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.contains(" changed, ")
        && text.ends_with(')')
}

/// Tells whether a shell says that it cannot run something: `zsh: command not found: npm`.
fn is_of_shell(text: &str) -> bool {
    const FAULTS: [&str; 3] =
        ["command not found", "No such file or directory", "Permission denied"];
    let is_named = text.split(' ').next().is_some_and(|first| first.ends_with(':'));
    is_named && !text.ends_with('?') && FAULTS.iter().any(|fault| text.contains(fault))
}

/// Tells whether a text is a file as `ls -l` lists it: `drwxr-xr-x 2 ana ana 4096 Mar 3 10:02 src`.
fn is_listed_file(text: &str) -> bool {
    let mode = text.as_bytes().first_chunk::<10>();
    mode.is_some_and(|mode| {
        matches!(mode[0], b'-' | b'd' | b'l')
            && mode[1..].iter().all(|byte| b"rwxsStT-".contains(byte))
            && mode[1..].iter().any(|byte| b"rwx".contains(byte))
    })
}

/// Tells whether a database says how many rows there are: `1 row in set (0.00 sec)`, `(2 rows)`.
fn is_count_of_rows(text: &str) -> bool {
    let inside = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    is_number(text) && text.contains(" in set (")
        || inside.is_some_and(|of| is_number(of) && (of.ends_with(" rows") || of == "1 row"))
        || begins_with(text, &["Query OK, ", "Empty set ("])
}

/// Tells whether a text is of a plan that a database explains.
fn is_plan_of_query(text: &str) -> bool {
    let inside = text.split_once('(').map_or("", |(_, inside)| inside);
    inside.starts_with("cost=")
        || inside.starts_with("actual time=")
        || begins_with(text, &["Planning Time: ", "Execution Time: "]) && text.ends_with(" ms")
}

/// Tells whether a text is of a table of data as pandas prints it.
fn is_frame_of_data(text: &str) -> bool {
    const STARTS: [&str; 3] = ["RangeIndex: ", "dtypes: ", "dtype: "];
    begins_with(text, &STARTS)
        || text.starts_with("Data columns (total ") && text.ends_with(':')
        || text.starts_with("Name: ") && text.contains(", dtype: ")
        || text.ends_with(" columns]")
}

/// Tells whether a text is of `systemctl status`, or a heading in the report of a test.
fn is_of_systemd(line: &str, text: &str) -> bool {
    text.starts_with('●') && (text.contains(".service - ") || line.starts_with(' '))
}
