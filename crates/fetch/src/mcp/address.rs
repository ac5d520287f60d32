//! Addresses of MCP servers: a command, or the URL of a server over HTTP.

use std::fmt;
use std::path::Path;

use percent_encoding::percent_decode_str;

use crate::loopback::is_loopback;
use repertoire::{Error, ErrorCode};

/// The prefix of the address of a program.
const PROGRAM: &str = "mcp:";

/// The beginning of the address of a server over HTTP, before its scheme.
const HTTP: &str = "mcp+";

/// Programs that run another program, whose name says more about the server.
const RUNNERS: [&str; 13] = [
    "npx", "bunx", "uvx", "pipx", "uv", "run", "node", "bun", "deno", "python", "python3",
    "docker", "podman",
];

/// The address of an MCP server that serves skills.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum McpAddress {
    /// A program that is spoken to over its standard streams: its name or path, and its arguments.
    Program(Vec<String>),
    /// A server over HTTP.
    Http {
        /// The URL: `https://…`, or `http://…` on this machine.
        url: String,
        /// The name of the environment variable with the bearer token, if the server needs one.
        token: Option<String>,
    },
}

impl McpAddress {
    /// Parses `mcp:COMMAND` or `mcp+https://…`. Returns `None` if the text is neither. Words of the
    /// command that start with `./` or `../` and name an existing file are relative to `base`.
    pub(crate) fn parse(text: &str, base: &Path) -> Option<Result<McpAddress, Error>> {
        if let Some(command) = text.strip_prefix(PROGRAM) {
            return Some(of_command(text, command, base));
        }
        text.strip_prefix(HTTP).map(|url| of_url(text, url))
    }

    /// A name for a source at this address. The caller replaces characters that are not allowed.
    pub(crate) fn name(&self) -> String {
        match self {
            McpAddress::Program(words) => name_of_program(words),
            McpAddress::Http { url, .. } => host_of(url).trim_start_matches("mcp.").to_owned(),
        }
    }
}

impl fmt::Display for McpAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            McpAddress::Program(words) => {
                let words = words.iter().map(String::as_str);
                let quoted = shlex::try_join(words.clone());
                let line = quoted.unwrap_or_else(|_| words.collect::<Vec<_>>().join(" "));
                write!(f, "{PROGRAM}{line}")
            }
            McpAddress::Http { url, token: None } => write!(f, "{HTTP}{url}"),
            McpAddress::Http { url, token: Some(token) } => {
                let (scheme, rest) = url.split_once("://").unwrap_or(("https", url));
                write!(f, "{HTTP}{scheme}://${token}@{rest}")
            }
        }
    }
}

/// The host of a URL, with its port if it has one.
fn host_of(url: &str) -> &str {
    url.split('/').nth(2).unwrap_or_default()
}

/// Tells whether an address is the address of an MCP server.
pub(crate) fn is_mcp(address: &str) -> bool {
    let address = address.trim();
    address.starts_with(PROGRAM) || address.starts_with(HTTP)
}

/// The path in the source of the skill at `uri`. For `skill://` it is the path of the URI; for any other
/// scheme, the name of the scheme comes first. `None` if the URI is not the address of a `SKILL.md`, or
/// if a part of its path is not a valid file name.
pub(crate) fn path_of_skill(uri: &str) -> Option<String> {
    let (scheme, rest) = uri.strip_suffix("/SKILL.md")?.split_once(':')?;
    let path = decoded(rest.trim_start_matches('/'))?;
    Some(if scheme.eq_ignore_ascii_case("skill") { path } else { format!("{scheme}/{path}") })
}

/// Decodes the path of a URI into plain file names. Returns `None` if a part is not a valid file name.
pub(crate) fn decoded(path: &str) -> Option<String> {
    if path.contains(['?', '#']) {
        return None;
    }
    let names = path.split('/').map(|part| {
        let name = percent_decode_str(part).decode_utf8().ok()?;
        let is_name = !name.contains(['/', '\\', '\0']) && !matches!(&*name, "" | "." | "..");
        is_name.then(|| name.into_owned())
    });
    Some(names.collect::<Option<Vec<_>>>()?.join("/"))
}

fn of_command(text: &str, command: &str, base: &Path) -> Result<McpAddress, Error> {
    let words = shlex::split(command).ok_or_else(|| invalid(text, "has an open quote"))?;
    if words.first().is_none_or(String::is_empty) {
        return Err(invalid(text, "names no program"));
    }
    let absolute = |word: String| {
        let is_relative = word.starts_with("./") || word.starts_with("../");
        let path = base.join(&word);
        let path = (is_relative && path.exists()).then(|| std::path::absolute(path).ok()).flatten();
        path.and_then(|path| path.to_str().map(str::to_owned)).unwrap_or(word)
    };
    Ok(McpAddress::Program(words.into_iter().map(absolute).collect()))
}

fn of_url(text: &str, url: &str) -> Result<McpAddress, Error> {
    let (scheme, rest) = url.split_once("://").ok_or_else(|| invalid(text, "is not a URL"))?;
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (token, host) = match authority.rsplit_once('@') {
        None => (None, authority),
        Some((user, host)) => {
            let name = user.strip_prefix('$').map(|name| name.trim_matches(['{', '}']));
            let Some(name) = name.filter(|name| is_variable(name)) else {
                let text = text.replace(authority, "…");
                return Err(invalid(&text, "holds a secret, which would stand in `config.toml`"));
            };
            (Some(name.to_owned()), host)
        }
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    if host.is_empty() || !host.chars().all(is_plain) {
        return Err(invalid(text, "names no host"));
    }
    if url.contains(|c: char| c.is_whitespace()) || path.contains('#') {
        return Err(invalid(text, "is not a URL of a server"));
    }
    let query = path.split_once('?').map_or("", |(_, query)| query);
    if query.split('&').any(|parameter| names_secret(parameter.split('=').next().unwrap_or(""))) {
        let text = text.replace(query, "…");
        return Err(invalid(&text, "holds a secret, which would stand in `config.toml`"));
    }
    match scheme {
        "https" => {}
        "http" if is_loopback(host) => {}
        "http" => return Err(invalid(text, "is not encrypted: write `mcp+https://`")),
        _ => return Err(invalid(text, "has an unsupported scheme: write `mcp+https://`")),
    }
    let path = if path.is_empty() { "/" } else { path };
    Ok(McpAddress::Http { url: format!("{scheme}://{host}{path}"), token })
}

fn is_variable(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(is_plain)
}

/// Tells whether a parameter of this name holds what nobody else may know.
fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["auth", "credential", "key", "passw", "secret", "signature", "token"]
        .iter()
        .any(|word| name.contains(word))
}

/// Returns the first word that identifies the server: `npx -y @acme/skills@1` becomes `acme-skills`.
fn name_of_program(words: &[String]) -> String {
    let named = words.iter().filter(|word| !word.starts_with('-')).filter_map(|word| {
        let path = Path::new(word);
        // The scope is part of the name of a package, but a directory is not part of the name of a
        // program.
        let name = if word.starts_with('@') { word } else { path.file_name()?.to_str()? };
        let name = name.trim_start_matches('@').split('@').next()?;
        Some(name.strip_suffix(".py").or(name.strip_suffix(".js")).unwrap_or(name).to_owned())
    });
    let mut named = named.peekable();
    let first = named.peek().cloned().unwrap_or_default();
    let is_runner = |name: &String| RUNNERS.contains(&name.trim_end_matches(".exe"));
    named.find(|name| !is_runner(name)).unwrap_or(first).replace('/', "-")
}

fn invalid(text: &str, why: &str) -> Error {
    let message = format!("`{}` {why}", text.escape_debug());
    let help = "write `mcp:` and a command, or `mcp+https://` and the address of a server, with \
                `$VARIABLE@` before the host if it needs a token";
    Error::new(ErrorCode::InvalidParam, message, help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<McpAddress, Error> {
        McpAddress::parse(text, Path::new("/nowhere")).unwrap()
    }

    #[test]
    fn addresses_are_read_written_and_named() {
        for (text, written, name) in [
            ("mcp:npx -y @acme/skills@1.2", "mcp:npx -y @acme/skills@1.2", "acme-skills"),
            ("mcp: repertoire mcp", "mcp:repertoire mcp", "repertoire"),
            ("mcp:node '/opt/a b/server.js' -x", "mcp:node '/opt/a b/server.js' -x", "server"),
            ("mcp:python3", "mcp:python3", "python3"),
            ("mcp+https://mcp.acme.com/mcp", "mcp+https://mcp.acme.com/mcp", "acme.com"),
            ("mcp+https://acme.com", "mcp+https://acme.com/", "acme.com"),
            ("mcp+http://127.0.0.1:80/x", "mcp+http://127.0.0.1:80/x", "127.0.0.1:80"),
            ("mcp+https://$T@h.org/m", "mcp+https://$T@h.org/m", "h.org"),
            ("mcp+https://h.org/m?tools=a,b", "mcp+https://h.org/m?tools=a,b", "h.org"),
            ("mcp+https://${MY_T}@h.org/m", "mcp+https://$MY_T@h.org/m", "h.org"),
        ] {
            let address = parse(text).unwrap();
            assert_eq!(address.to_string(), written);
            assert_eq!(address.name(), name);
            assert_eq!(parse(written).unwrap(), address, "{text}");
        }
        assert!(McpAddress::parse("https://h.org/r", Path::new(".")).is_none());
    }

    #[test]
    fn other_addresses_are_refused_without_their_secrets() {
        for text in [
            "mcp+https://h.org/mcp?apiKey=secret",
            "mcp+https://h.org/mcp?a=1&access_token=secret",
            "mcp:",
            "mcp:a 'b",
            "mcp+x",
            "mcp+http://acme.com/mcp",
            "mcp+http://127.0.0.1.evil.org/mcp",
            "mcp+ftp://acme.com",
            "mcp+https:///mcp",
            "mcp+https://secret@acme.com/mcp",
            "mcp+https://u:secret@acme.com/mcp",
            "mcp+https://$secret-x@acme.com/mcp",
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidParam, "{text}");
            assert!(!error.message().contains("secret@"), "{error}");
        }
    }

    #[test]
    fn skills_have_the_paths_of_their_addresses() {
        for (uri, path) in [
            ("skill://a/SKILL.md", Some("a")),
            ("skill://acme/b%20c/SKILL.md", Some("acme/b c")),
            ("github://o/r/skills/x/SKILL.md", Some("github/o/r/skills/x")),
            ("custom:x/SKILL.md", Some("custom/x")),
            ("skill://a/b.md", None),
            ("skill://SKILL.md", None),
            ("skill://a/../b/SKILL.md", None),
            ("skill://a%2F..%2Fb/SKILL.md", None),
            ("skill://%2e%2e/SKILL.md", None),
            ("skill://a//b/SKILL.md", None),
            ("skill://a?x/SKILL.md", None),
        ] {
            assert_eq!(path_of_skill(uri).as_deref(), path, "{uri}");
        }
    }
}
