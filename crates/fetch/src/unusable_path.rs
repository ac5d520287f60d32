//! Paths that people paste and that lead nowhere on this machine: paths of Windows, and those that a shell
//! would have expanded.

/// The message and the help for a path, as it was typed.
pub(super) fn of_text(text: &str) -> Option<(String, String)> {
    of_windows(text).or_else(|| of_variable(text))
}

/// The message and the help for what follows `file://`.
pub(super) fn of_url(rest: &str) -> Option<(String, String)> {
    of_windows(rest.trim_start_matches('/')).filter(|_| has_drive(rest.trim_start_matches('/')))
}

/// Paths of Windows, elsewhere: `C:\dir`, `\\server\share`, `.\dir` and `dir\sub`.
fn of_windows(text: &str) -> Option<(String, String)> {
    // A backslash before a blank or a mark is that of a shell.
    let is_separator = |(at, _): (usize, &str)| {
        text[at + 1..].starts_with(|c: char| c.is_alphanumeric() || "._-\\".contains(c))
    };
    let is_windows = has_drive(text) || text.match_indices('\\').any(is_separator);
    if cfg!(windows) || !is_windows || text.contains("://") || text.starts_with('%') {
        return None;
    }
    let path = text.replace('\\', "/");
    let help = if has_drive(text) {
        let (drive, rest) = (path[..1].to_lowercase(), &path[3..]);
        format!("write the path that it has here, such as `/mnt/{drive}/{rest}`")
    } else if let Some(share) = path.strip_prefix("//") {
        format!("write the path at which the share is mounted here, such as `/mnt/{share}`")
    } else {
        format!("write `{path}`")
    };
    Some((format!("`{}` is a path of Windows", shown(text)), help))
}

fn has_drive(text: &str) -> bool {
    text.get(..1).is_some_and(|drive| drive.chars().all(|c| c.is_ascii_alphabetic()))
        && text.get(1..3).is_some_and(|it| matches!(it, ":\\" | ":/"))
}

/// Paths with a variable or with the home directory of another user, which only a shell expands.
fn of_variable(text: &str) -> Option<(String, String)> {
    let homes = ["$HOME/", "${HOME}/", "$env:USERPROFILE\\", "%USERPROFILE%\\"];
    if let Some(rest) = homes.iter().find_map(|home| text.strip_prefix(home)) {
        let help = format!("write `~/{}`", rest.replace('\\', "/"));
        let message =
            format!("`{}` begins with a variable, which only a shell replaces", shown(text));
        return Some((message, help));
    }
    let what = match text.as_bytes() {
        [b'$', next, ..] if next.is_ascii_alphabetic() || *next == b'{' => "a variable",
        [b'%', rest @ ..] if rest.contains(&b'%') => "a variable",
        [b'~', next, ..] if next.is_ascii_alphanumeric() => "the home directory of a user",
        _ => return None,
    };
    let text = shown(text);
    let message = format!("`{text}` begins with {what}, which only a shell replaces");
    Some((message, format!("write the path that `echo {text}` prints")))
}

/// A text without control characters, whose backslashes stay as they are.
fn shown(text: &str) -> String {
    text.escape_debug().to_string().replace("\\\\", "\\")
}
