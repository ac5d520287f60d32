//! The options with which the agent that runs this program was started. On Linux, `/proc` has the command lines
//! of the processes above; on other systems, they are not known.

use std::path::Path;

use repertoire_agents::HookAgent;

/// The number of processes above in which the agent is looked for: between may be a shell, a limit of time, and
/// the like.
const MAX_ABOVE: usize = 5;

/// The interpreters that run an agent from a script.
const INTERPRETERS: [&str; 3] = ["node", "bun", "deno"];

/// Returns the words of the command line of `agent`, without the program; none if it is not known.
pub(crate) fn of(agent: HookAgent) -> Vec<String> {
    above().find_map(|words| after_program(&words, agent)).unwrap_or_default()
}

/// Returns the words behind the program, if the command line is that of `agent`.
fn after_program(words: &[String], agent: HookAgent) -> Option<Vec<String>> {
    let name = |word: &String| {
        let path = Path::new(word);
        path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    };
    let (program, rest) = words.split_first()?;
    let is_interpreted = INTERPRETERS.contains(&name(program).as_str());
    let n_options = rest.iter().take_while(|word| is_interpreted && word.starts_with('-')).count();
    let (program, rest) = match rest[n_options..].split_first() {
        Some((script, rest)) if is_interpreted => (script, rest),
        _ => (program, rest),
    };
    let (command, package) = program_of(agent);
    let is_packaged = !package.is_empty() && Path::new(program).iter().any(|part| part == package);
    (name(program) == command || is_packaged && is_interpreted).then(|| rest.to_vec())
}

/// Returns the name of an agent's command, and the directory of its package on npm.
fn program_of(agent: HookAgent) -> (&'static str, &'static str) {
    match agent {
        HookAgent::ClaudeCode => ("claude", "claude-code"),
        HookAgent::Codex => ("codex", ""),
        HookAgent::Gemini => ("gemini", "gemini-cli"),
        HookAgent::Copilot => ("copilot", ""),
        HookAgent::Qwen => ("qwen", "qwen-code"),
        HookAgent::Droid => ("droid", ""),
        HookAgent::OpenCode => ("opencode", "opencode-ai"),
        _ => ("cursor-agent", ""),
    }
}

/// Returns the command lines of the processes above, the nearest first.
#[cfg(target_os = "linux")]
fn above() -> impl Iterator<Item = Vec<String>> {
    let mut next = Some(std::os::unix::process::parent_id());
    let processes = std::iter::from_fn(move || {
        let id = next.filter(|id| *id > 1)?;
        next = parent_of(id);
        Some(id)
    });
    processes.take(MAX_ABOVE).filter_map(command_line)
}

#[cfg(not(target_os = "linux"))]
fn above() -> impl Iterator<Item = Vec<String>> {
    std::iter::empty().take(MAX_ABOVE)
}

/// Returns the parent of a process: the second word behind the name, which may hold brackets itself.
#[cfg(target_os = "linux")]
fn parent_of(id: u32) -> Option<u32> {
    let stat = read(id, "stat")?;
    let (_, rest) = str::from_utf8(&stat).ok()?.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(target_os = "linux")]
fn command_line(id: u32) -> Option<Vec<String>> {
    let bytes = read(id, "cmdline")?;
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(&bytes);
    Some(bytes.split(|b| *b == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect())
}

/// Reads a file that the system has about a process. Its size is not told before.
#[cfg(target_os = "linux")]
fn read(id: u32, name: &str) -> Option<Vec<u8>> {
    use std::io::Read as _;
    /// Options stand before a long prompt, or after one of a usual length.
    const MAX_BYTES: u64 = 256 * 1024;
    /// Most command lines, in one call of the system.
    const USUAL_BYTES: usize = 4 * 1024;
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    let file = std::fs::File::open(format!("/proc/{id}/{name}")).ok()?;
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_known_by_its_program_or_its_script() {
        let modules = "/usr/lib/node_modules";
        for (line, agent, options) in [
            ("claude -p hi --tools Bash", HookAgent::ClaudeCode, Some("-p hi --tools Bash")),
            ("/opt/claude-code/bin/claude.exe --bare", HookAgent::ClaudeCode, Some("--bare")),
            ("node M/@anthropic-ai/claude-code/cli.js -c", HookAgent::ClaudeCode, Some("-c")),
            ("/x/codex exec -C d hi", HookAgent::Codex, Some("exec -C d hi")),
            (
                "/x/node --expose-gc M/@qwen-code/qwen-code/cli.js -e a",
                HookAgent::Qwen,
                Some("-e a"),
            ),
            ("node /usr/bin/gemini -e none", HookAgent::Gemini, Some("-e none")),
            ("node", HookAgent::Gemini, None),
            ("sh -c claude --bare", HookAgent::ClaudeCode, None),
            ("timeout 9 claude --bare", HookAgent::ClaudeCode, None),
            ("vi /src/claude-code/claude", HookAgent::ClaudeCode, None),
            ("claude --bare", HookAgent::Codex, None),
            ("", HookAgent::Codex, None),
        ] {
            let line = line.replace('M', modules);
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            let wanted = options.map(|options| options.split(' ').map(str::to_owned).collect());
            assert_eq!(after_program(&words, agent), wanted, "{line}");
        }
    }
}
