//! Texts that people paste and that lead to no skills: why, and what to write instead.

use super::address::{Address, host_in, is_known, may_be_name};
use repertoire::{Error, ErrorCode};

/// Sites of packages and extensions, which have no skills at their addresses.
const PACKAGES: [&str; 5] =
    ["crates.io", "marketplace.visualstudio.com", "npmjs.com", "pypi.org", "registry.npmjs.org"];

/// First parts of addresses of GitHub that are not owners.
const NO_OWNERS: [&str; 16] = [
    "about",
    "apps",
    "collections",
    "enterprise",
    "explore",
    "features",
    "login",
    "marketplace",
    "notifications",
    "orgs",
    "search",
    "settings",
    "sponsors",
    "stars",
    "topics",
    "trending",
];

/// User names in addresses are shorter than tokens, which are as long as this, or longer.
const TOKEN_LENGTH: usize = 24;

/// Returns the error for a text that is not an address although it looks like one. `read` is the address in
/// it, taken apart.
pub(super) fn refusal(text: &str, read: Option<&Address>) -> Option<Error> {
    let source = read.map_or(text, |read| &read.source);
    let (message, help) = match source.split_once("://") {
        Some((scheme, rest)) => of_url(&scheme.to_ascii_lowercase(), rest)?,
        None => of_text(source)?,
    };
    Some(Error::new(ErrorCode::InvalidParam, message, help))
}

/// The message and the help for the URL `scheme://rest`. Messages leave out what may be a secret.
fn of_url(scheme: &str, rest: &str) -> Option<(String, String)> {
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host_in(authority);
    let plain = path.split(['?', '#']).next().unwrap_or_default().trim_matches('/');
    let mut parts = plain.split('/').filter(|part| !part.is_empty());
    let (first, second) = (parts.next(), parts.next());
    let shown = format!("https://{host}/{plain}");
    if rest.contains(char::is_whitespace) && ["https", "http", "ssh", "git"].contains(&scheme) {
        let message = format!("what follows `{scheme}://{host}` has blanks");
        return Some((message, "give the address alone; a blank in it is `%20`".to_owned()));
    }
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    if user.len() >= TOKEN_LENGTH && !user.contains(':') && scheme != "mcp+https" {
        let message =
            format!("the address at `{host}` holds a token, which would stand in `config.toml`");
        let help = "leave out what stands before `@`: git's credential helper knows it";
        return Some((message, help.to_owned()));
    }
    if !matches!(scheme, "https" | "http") {
        return None;
    }
    if PACKAGES.contains(&host.as_str()) {
        let help = "name the repository that it is made from, such as `owner/repo`";
        return Some((format!("`{shown}` is the page of a package"), help.to_owned()));
    }
    let is_no_owner = host == "github.com" && first.is_some_and(|it| NO_OWNERS.contains(&it));
    let is_odd = |part: Option<&str>| part.is_some_and(|part| !may_be_name(part));
    if is_known(&host) && (second.is_none() || is_no_owner || is_odd(first) || is_odd(second)) {
        let help = match first.filter(|_| !is_no_owner) {
            Some(owner) => format!("name one of its repositories: `https://{host}/{owner}/REPO`"),
            None => format!("name a repository: `https://{host}/OWNER/REPO`"),
        };
        return Some((format!("`{shown}` is not a repository"), help));
    }
    if matches!(plain, "mcp" | "sse") {
        let help = format!("write `mcp+{shown}` for the server, or `{shown}.git` for a repository");
        return Some((format!("`{shown}` looks like an MCP server"), help));
    }
    if path.contains('?') && scheme == "https" {
        let message = format!(
            "the address at `{host}` holds a parameter, which would stand in `config.toml`"
        );
        return Some((message, "leave out what follows `?`".to_owned()));
    }
    None
}

/// The message and the help for a text that is neither a URL nor a path of this machine.
fn of_text(text: &str) -> Option<(String, String)> {
    let shown = text.escape_debug();
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    };
    let is_path = text.starts_with(['/', '.', '~']);
    let starts_drive = text.get(1..3).is_some_and(|it| matches!(it, ":\\" | ":/"));
    if !cfg!(windows) && (starts_drive || text.starts_with("\\\\")) {
        let rest = text.get(3..).unwrap_or_default().replace('\\', "/");
        let drive = text.get(..1).unwrap_or_default().to_lowercase();
        let help = format!("write the path that it has here, such as `/mnt/{drive}/{rest}`");
        return Some((format!("`{shown}` is a path of Windows"), help));
    }
    let mut words = text.split_whitespace().filter_map(|word| word.split_once('@'));
    let plugin = words.find(|(name, of)| is_word(name) && is_word(of));
    if let Some((plugin, marketplace)) =
        plugin.filter(|_| !text.contains(' ') || text.contains("plugin"))
    {
        let message = format!(
            "`{plugin}@{marketplace}` is a plugin of a marketplace, whose repository it does not name"
        );
        let help = format!("name the repository of `{marketplace}`: `owner/repo@{plugin}`");
        return Some((message, help));
    }
    if is_path || text.contains("::") {
        return None;
    }
    if text.contains(char::is_whitespace) {
        let help = "give one address, such as `owner/repo@skill`";
        return Some((format!("`{shown}` has no address, or several"), help.to_owned()));
    }
    if let Some(package) = text.strip_prefix('@').filter(|rest| rest.contains('/')) {
        let help = format!("for the repository on GitHub, write `{package}`");
        return Some((format!("`{shown}` is the name of a package"), help));
    }
    let (start, rest) = text.split_once(':')?;
    if ["npm", "pypi", "cargo", "jsr"].contains(&start) {
        let help = "name the repository that it is made from, such as `owner/repo`";
        return Some((format!("`{shown}` is the name of a package"), help.to_owned()));
    }
    (is_word(start) && start.len() > 1 && !rest.is_empty()).then(|| {
        let help =
            format!("write `ssh://{start}/{}` or `USER@{shown}`", rest.trim_start_matches('/'));
        (format!("`{shown}` names no user for `{start}`"), help)
    })
}
