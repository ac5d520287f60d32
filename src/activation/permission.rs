//! Permissions: the tools that the host may let a skill use.

/// Strings that end a command in a shell, or start another one inside of it.
const SHELL: [&str; 9] = [";", "&", "|", "`", "$(", "<", ">", "\n", "\r"];

/// Tells whether `allowed`, the `allowed-tools` of a skill, lets it use `tool`: a name such as
/// `read_file`, or a call such as `Bash(git status)`.
///
/// An entry is a name, in which `*` matches any characters. It may be followed by a form for the
/// argument in parentheses: `Bash(git:*)` allows any command that begins with the word `git`,
/// `Read(docs/*)` any argument that matches `docs/*`. A form does not allow an argument that a shell
/// would run as several commands, or a path with `..` in it, unless the form is `*`, `:*` or exactly
/// this argument. A name without parentheses allows any argument.
pub fn permits(allowed: &[String], tool: &str) -> bool {
    let (name, argument) = parts(tool);
    allowed.iter().any(|entry| {
        let (allowed_name, form) = parts(entry);
        let fits = match (form, argument) {
            (None, _) => true,
            (Some(form), Some(argument)) => fits(form, argument),
            (Some(_), None) => false,
        };
        fits && is_like(allowed_name, name)
    })
}

/// Splits `Bash(git status)` into `Bash` and `git status`.
fn parts(tool: &str) -> (&str, Option<&str>) {
    let tool = tool.trim();
    let inside = tool.strip_suffix(')').and_then(|tool| tool.split_once('('));
    inside.map_or((tool, None), |(name, inside)| (name.trim_end(), Some(inside.trim())))
}

/// Tells whether an argument matches the form in the parentheses of an entry.
fn fits(form: &str, argument: &str) -> bool {
    if form == argument || form == "*" || form == ":*" {
        return true;
    }
    let climbs = argument.split(['/', '\\']).any(|part| part == "..");
    if climbs || SHELL.iter().any(|part| argument.contains(part)) {
        return false;
    }
    match form.strip_suffix(":*") {
        Some(prefix) => argument
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace)),
        None => is_like(form, argument),
    }
}

/// Tells whether `text` matches `pattern`, in which `*` matches any characters. Takes linear time in
/// practice, because only the last star is ever retried.
fn is_like(pattern: &str, text: &str) -> bool {
    let (mut p, mut t) = (0, 0);
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let mut star = None;
    while t < text.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            star = Some((p + 1, t));
            p += 1;
        } else if p < pattern.len() && pattern[p] == text[t] {
            (p, t) = (p + 1, t + 1);
        } else if let Some((after, from)) = star {
            (p, t) = (after, from + 1);
            star = Some((after, from + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::permits;

    #[test]
    fn tools_are_permitted_as_the_entries_say() {
        let table: [(&[&str], &[&str], &[&str]); 6] = [
            (&[], &[], &["read_file", "Bash(rm -rf /)", ""]),
            (
                &["read_file", "Grep"],
                &["read_file", "Grep(x)"],
                &["read", "read_file2", "grep", ""],
            ),
            (
                &["Bash(git:*)"],
                &["Bash(git)", "Bash(git status)", "Bash( git log )"],
                &[
                    "Bash", "Bash()", "Bash(gitk)", "Bash(rm x)", "Bash(git status; rm x)",
                    "Bash(git log && rm x)", "Bash(git log $(rm x))", "Bash(git log\nrm x)",
                    "Bash(git log > x)", "Sh(git status)",
                ],
            ),
            (
                &["mcp__git__*", "Read(docs/*.md)"],
                &["mcp__git__log", "mcp__git__", "Read(docs/a/b.md)"],
                &[
                    "Read(docs/../x.md)", "Read(docs/..\\x.md)", "mcp__gitlab", "Read(src/a.md)",
                    "Read(docs/a.md.exe)", "Read",
                ],
            ),
            (&["Bash(a | b)", "X(*)"], &["Bash(a | b)", "X(a; b)"], &["Bash(a | c)", "X"]),
            (&["*"], &["anything", "Bash(a; b)"], &[]),
        ];
        for (allowed, permitted, refused) in table {
            let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
            for tool in permitted {
                assert!(permits(&allowed, tool), "{allowed:?} permit {tool}");
            }
            for tool in refused {
                assert!(!permits(&allowed, tool), "{allowed:?} refuse {tool}");
            }
        }
    }

    #[test]
    fn many_stars_are_no_burden() {
        let pattern = format!("x({}b)", "a*".repeat(1000));
        assert!(!permits(&[pattern], &format!("x({})", "a".repeat(20_000))));
    }
}
