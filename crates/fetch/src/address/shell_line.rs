//! The commands in a line of shell that people copy: without the prompt or the number in front, the code span
//! around it, and the name of its language.

/// Programs, and commands of agents, that people copy. `owner/repo` counts as an address only after one of
/// them.
const PROGRAMS: [&str; 36] = [
    "/extensions", "/marketplace", "/plugin", "/plugins", "/skill", "/skills", "bun", "bunx",
    "claude", "codex", "copilot", "cursor-agent", "curl", "degit", "deno", "docker", "gemini",
    "gh", "giget", "git", "npm", "npx", "opencode", "openskills", "oras", "pipx", "pnpm", "podman",
    "qwen", "repertoire", "skillkit", "skills", "uv", "uvx", "wget", "yarn",
];

/// Names of languages that stand behind the fence of a code block.
const LANGUAGES: [&str; 8] =
    ["sh", "bash", "zsh", "shell", "console", "terminal", "powershell", "text"];

/// The things that agents and their managers install, and the verbs for it: together, a command of any program.
const NOUNS: [&str; 8] =
    ["skill", "skills", "plugin", "plugins", "extension", "extensions", "marketplace", "rules"];
const VERBS: [&str; 5] = ["add", "install", "i", "link", "get"];

/// Programs of systems, which install programs.
const OF_SYSTEMS: [&str; 20] = [
    "apk", "apt", "apt-get", "brew", "cargo", "choco", "conda", "dnf", "gem", "go", "mamba", "nix",
    "pacman", "pip", "pip3", "port", "scoop", "snap", "winget", "yum",
];

/// Tells whether a program installs programs of the system by their names.
pub(crate) fn is_of_system(program: &str) -> bool {
    OF_SYSTEMS.contains(&program)
}

/// Returns the code in a text that has exactly one code span.
pub(super) fn code_span(text: &str) -> Option<&str> {
    let mut parts = text.split('`').filter(|part| !part.is_empty());
    let is_span = matches!(text.matches('`').count(), 2 | 4 | 6);
    // The span may begin the text.
    let code = if text.starts_with('`') { parts.next() } else { parts.nth(1) };
    code.filter(|_| is_span).map(str::trim).filter(|code| code.contains(char::is_whitespace))
}

/// Returns the commands in `text`, each as its words. Those of `a && b | c; d` are four.
pub(crate) fn commands(text: &str) -> Vec<Vec<&str>> {
    let mut commands = vec![Vec::new()];
    for word in text.split_whitespace() {
        let end = word.strip_suffix(';').filter(|_| !word.ends_with("\\;"));
        match (word, end) {
            ("&&" | "||" | "|" | "&" | "\\", _) | (_, Some("")) => commands.push(Vec::new()),
            (_, Some(word)) => {
                commands.last_mut().into_iter().for_each(|command| command.push(word));
                commands.push(Vec::new());
            }
            _ => commands.last_mut().into_iter().for_each(|command| command.push(word)),
        }
    }
    let commands = commands.iter().map(|words| without_prompt(words));
    commands.filter(|words| !words.is_empty()).collect()
}

/// Removes a prompt: `$`, `me@host:~$`, `PS C:\>`, `1.` and their kind, and the name of a language.
fn without_prompt<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let is_mark = |word: &&str| matches!(*word, "*" | "•" | "-" | "+" | "❯" | "➜" | "sudo");
    let is_prompt = |word: &&str| word.ends_with(['$', '%', '>', '#']) && !word.contains("://");
    let is_number = |word: &&str| {
        word.strip_suffix(['.', ')']).is_some_and(|digits| digits.parse::<u16>().is_ok())
    };
    let mut rest = words;
    loop {
        let before = rest.len();
        rest = match rest {
            [first, ..] if is_mark(first) || is_prompt(first) || is_number(first) => &rest[1..],
            // What a prompt shows in front: a directory, or the name of a shell.
            [_, second, third, ..] if is_prompt(second) && is_installer(&[*third]) => &rest[2..],
            ["~", second, ..] if is_installer(&[*second]) => &rest[1..],
            [first, second, ..] if LANGUAGES.contains(first) && is_installer(&[*second]) => {
                &rest[1..]
            }
            _ => rest,
        };
        if rest.len() == before {
            return rest.to_vec();
        }
    }
}

/// Tells whether words begin a command that takes an address: one of a program that is known, or of any other
/// that installs skills, plugins or extensions.
pub(crate) fn is_installer(words: &[&str]) -> bool {
    let [first, rest @ ..] = words else { return false };
    let adds = |pair: &[&str]| NOUNS.contains(&pair[0]) && VERBS.contains(&pair[1]);
    let name = first.strip_prefix('/').unwrap_or(first);
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let installs = rest.len() > 1 && matches!(rest[0], "add" | "install") && is_plain;
    PROGRAMS.contains(first) || !is_of_system(first) && (words.windows(2).any(adds) || installs)
}

/// The plugin and the repository in `plugin install pdf@owner/repo`, as some agents write it.
pub(super) fn plugin_of_repository(words: &[&str]) -> Option<(String, String)> {
    let is_plugin = words.iter().any(|word| word.trim_start_matches('/').starts_with("plugin"));
    let mut named = words.iter().filter_map(|word| word.split_once('@'));
    let (plugin, repository) = named.find(|(plugin, repository)| {
        !plugin.is_empty()
            && !plugin.contains(['/', ':', '.'])
            && repository.matches('/').count() == 1
    })?;
    let is_plain =
        |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
    (is_plugin && is_plain(plugin) && is_plain(repository))
        .then(|| (plugin.to_owned(), repository.to_owned()))
}
