//! Texts that people paste and that lead to no skills: why, and what to write instead.

use super::address::{
    Address, commands, host_in, is_gist, is_installer, is_known, is_of_system, may_be_name,
};
use super::loopback::is_loopback;
use super::unusable_path;
use repertoire::catalog::is_skill_file;
use repertoire::{Error, ErrorCode};

/// Sites of packages and extensions, which have no skills at their addresses.
const PACKAGES: [&str; 9] = [
    "crates.io",
    "esm.sh",
    "formulae.brew.sh",
    "marketplace.visualstudio.com",
    "npmjs.com",
    "open-vsx.org",
    "pypi.org",
    "registry.npmjs.org",
    "unpkg.com",
];

/// Sites that keep files, at whose addresses is a page.
const FILES: [&str; 7] = [
    "1drv.ms", "docs.google.com", "drive.google.com", "dropbox.com", "mega.nz",
    "onedrive.live.com", "wetransfer.com",
];

/// Ends of files that are neither skills nor repositories.
const OTHER_FILES: [&str; 12] = [
    ".bat", ".htm", ".html", ".json", ".md", ".mdx", ".pdf", ".ps1", ".sh", ".txt", ".yaml", ".yml",
];

/// Programs that install packages by their names.
const INSTALLERS: [&str; 9] = ["bun", "bunx", "npm", "npx", "pipx", "pnpm", "uv", "uvx", "yarn"];

/// Sites that list skills, whose addresses do not name the repository.
const LISTS: [&str; 9] = [
    "claude.ai", "cursor.directory", "glama.ai", "lobehub.com", "mcpmarket.com", "playbooks.com",
    "pulsemcp.com", "skillsmp.com", "smithery.ai",
];

/// Ends of archives that are not read.
const OTHER_ARCHIVES: [&str; 7] =
    [".7z", ".rar", ".tar.bz2", ".tar.xz", ".tar.zst", ".tbz2", ".txz"];

/// First parts of addresses of GitHub that are not owners.
const NO_OWNERS: [&str; 16] = [
    "about", "apps", "collections", "enterprise", "explore", "features", "login", "marketplace",
    "notifications", "orgs", "search", "settings", "sponsors", "stars", "topics", "trending",
];

/// User names in addresses are shorter than tokens, which are as long as this, or longer.
const TOKEN_LENGTH: usize = 24;
/// The beginnings of tokens of GitHub and GitLab.
const TOKEN_STARTS: [&str; 8] =
    ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "gldt-"];

/// The help for what names a package.
const OF_PACKAGE: &str = "name the repository that it is made from, such as `owner/repo`";

/// The help for several addresses in one text.
const SEVERAL: &str = "give each as a word of its own: `repertoire add ONE OTHER`";

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
    if scheme == "file" {
        return unusable_path::of_url(rest);
    }
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host_in(authority);
    if rest.contains("://") && rest.contains(char::is_whitespace) {
        let message = format!("`{scheme}://{host}…` is one of several addresses");
        return Some((message, SEVERAL.to_owned()));
    }
    if rest.contains(char::is_whitespace) && ["https", "http", "ssh", "git"].contains(&scheme) {
        let message = format!("what follows `{scheme}://{host}` has blanks");
        return Some((message, "give the address alone; a blank in it is `%20`".to_owned()));
    }
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    let is_token =
        user.len() >= TOKEN_LENGTH || TOKEN_STARTS.iter().any(|start| user.starts_with(start));
    if is_token && !user.contains(':') && scheme != "mcp+https" {
        let message =
            format!("the address at `{host}` holds a token, which would stand in `config.toml`");
        let help = "leave out what stands before `@`: git's credential helper knows it";
        return Some((message, help.to_owned()));
    }
    if scheme == "ssh" {
        return of_ssh(authority, path);
    }
    matches!(scheme, "https" | "http").then(|| of_page(scheme, authority, path)).flatten()
}

/// An address of ssh that has the path where its port belongs: `ssh://git@h.org:o/r`.
fn of_ssh(authority: &str, path: &str) -> Option<(String, String)> {
    let (host, port) = authority.rsplit_once(':')?;
    let is_path = host.rsplit_once(':').is_none_or(|(user, _)| user.ends_with('@'))
        && port.starts_with(|c: char| c.is_ascii_alphabetic() || c == '~');
    let help = format!("write `{host}:{port}/{path}` or `ssh://{host}/{port}/{path}`");
    is_path.then(|| (format!("`{port}` in `ssh://{host}:{port}` is not a port"), help))
}

fn of_page(scheme: &str, authority: &str, path: &str) -> Option<(String, String)> {
    let host = &*host_in(authority);
    let plain = path.split(['?', '#']).next().unwrap_or_default().trim_matches('/');
    let shown = format!("https://{host}/{plain}");
    if PACKAGES.contains(&host) {
        return Some((format!("`{shown}` is the page of a package"), OF_PACKAGE.to_owned()));
    }
    if FILES.contains(&host) {
        let help = "download the file, and name that: `./FILE.zip`";
        return Some((format!("`https://{host}/…` is a page, not a file"), help.to_owned()));
    }
    if LISTS.contains(&host) {
        // A site without a path was read as its list of skills.
        let shown = shown.split("/.well-known").next().unwrap_or_default().trim_end_matches('/');
        let help = "name the repository that it links to: `owner/repo@skill`";
        return Some((
            format!("`{shown}` does not say in which repository it is"),
            help.to_owned(),
        ));
    }
    if let Some(help) = of_known(host, plain) {
        return Some((format!("`{shown}` is not a repository"), help));
    }
    if let Some(owner) = host.strip_suffix(".github.io").filter(|_| is_page(plain)) {
        let repository = plain.split('/').next().unwrap_or_default();
        let help =
            format!("name the repository that it is made from, such as `{owner}/{repository}`");
        return Some((format!("`{shown}` is a page of GitHub Pages"), help));
    }
    if matches!(plain, "mcp" | "sse") {
        let site = authority.rsplit('@').next().unwrap_or_default();
        let shown = format!("{scheme}://{site}/{plain}");
        let help = format!("write `mcp+{shown}` for the server, or `{shown}.git` for a repository");
        return Some((format!("`{shown}` looks like an MCP server"), help));
    }
    if OTHER_ARCHIVES.iter().any(|end| plain.to_ascii_lowercase().ends_with(end)) {
        let help = "name a `.tar.gz`, `.tgz`, `.tar`, `.zip` or `.skill`";
        return Some((
            format!("`{shown}` is an archive of a kind that is not read"),
            help.to_owned(),
        ));
    }
    if plain.rsplit('/').next().is_some_and(|name| is_skill_file(name.as_ref())) {
        let help = "name its repository, or download the directory of the skill, and name that";
        return Some((format!("`{shown}` is one file of a site"), help.to_owned()));
    }
    let end = |end: &&&str| plain.to_ascii_lowercase().ends_with(**end);
    if let Some(end) = OTHER_FILES.iter().find(end).filter(|_| is_page(plain) && !is_known(host)) {
        let help = format!(
            "name the repository of the skills; one whose name ends in `{end}` is written `{shown}.git`"
        );
        return Some((format!("`{shown}` is one file of a site"), help));
    }
    (path.contains('?') && scheme == "https").then(|| {
        let message = format!(
            "the address at `{host}` holds a parameter, which would stand in `config.toml`"
        );
        (message, "leave out what follows `?`; a revision is written `#REV`".to_owned())
    })
}

/// Tells whether the path of an address names a page, not the list of a site's skills.
fn is_page(path: &str) -> bool {
    !path.is_empty() && !path.starts_with(".well-known")
}

/// The help for a page of a known host that shows no repository.
fn of_known(host: &str, path: &str) -> Option<String> {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let (first, second) = (parts.next(), parts.next());
    let is_no_owner = host == "github.com" && first.is_some_and(|it| NO_OWNERS.contains(&it));
    let is_odd = |part: Option<&str>| part.is_some_and(|part| !may_be_name(part));
    let is_gist = host == "gist.github.com" && first.is_some_and(is_gist);
    let is_refused = second.is_none() && !is_gist || is_no_owner || is_odd(first) || is_odd(second);
    if !is_known(host) || !is_refused {
        return None;
    }
    Some(match first.filter(|_| !is_no_owner) {
        Some(owner) => format!("name one of its repositories: `https://{host}/{owner}/REPO`"),
        None => format!("name a repository: `https://{host}/OWNER/REPO`"),
    })
}

/// The message and the help for a text that is neither a URL nor a path of this machine.
fn of_text(text: &str) -> Option<(String, String)> {
    if let Some(skill) = text.strip_prefix("$skill-installer").map(str::trim) {
        let message = "`$skill-installer` of Codex takes a name from the list of OpenAI".to_owned();
        let name = if is_word(skill) { skill } else { "NAME" };
        return Some((message, format!("write `openai/skills@{name}`")));
    }
    if let Some(refused) = unusable_path::of_text(text) {
        return Some(refused);
    }
    let shown = text.escape_debug();
    let is_path = text.starts_with(['/', '.', '~']);
    if let Some((plugin, marketplace)) = plugin(text) {
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
        return Some(of_sentence(text));
    }
    if text.contains(',') && text.split(',').all(is_short) {
        return Some((format!("`{shown}` has several addresses"), SEVERAL.to_owned()));
    }
    if let Some((skill, repository)) =
        text.split_once('@').filter(|(skill, rest)| is_word(skill) && is_short(rest))
    {
        let message = format!("`{shown}` names the skill before the repository");
        return Some((message, format!("write `{repository}@{skill}`")));
    }
    if let Some(help) = of_owner(text) {
        return Some((format!("`{shown}` is the name of a package"), help));
    }
    // The page of a site, in the short form that browsers show.
    let (site, path) = text.split_once('/').unwrap_or((text, ""));
    if [&PACKAGES[..], &FILES, &LISTS].concat().contains(&host_in(site).as_str()) {
        return of_page("https", site, path);
    }
    if is_known(text) {
        let help = format!("name a repository: `https://{text}/OWNER/REPO`");
        return Some((format!("`{text}` is not a repository"), help));
    }
    let (start, rest) = text.split_once(':')?;
    if ["npm", "pypi", "cargo", "jsr"].contains(&start) {
        return Some((format!("`{shown}` is the name of a package"), OF_PACKAGE.to_owned()));
    }
    if !start.contains('@')
        && rest.split('/').next().is_some_and(|port| port.parse::<u16>().is_ok())
    {
        let scheme = if is_loopback(start) { "http" } else { "https" };
        let help = format!(
            "write `{scheme}://{shown}` for a site, `mcp+{scheme}://{shown}` for an MCP server"
        );
        return Some((format!("`{shown}` has no scheme"), help));
    }
    (is_word(start) && start.len() > 1 && !rest.is_empty()).then(|| {
        let help =
            format!("write `ssh://{start}/{}` or `USER@{shown}`", rest.trim_start_matches('/'));
        (format!("`{shown}` names no user for `{start}`"), help)
    })
}

/// The message and the help for several words without an address among them.
fn of_sentence(text: &str) -> (String, String) {
    let shown = text.escape_debug();
    let commands = commands(text);
    if commands.len() > 1 && commands.iter().filter(|words| is_installer(words)).count() > 1 {
        return (format!("`{shown}` has several commands"), SEVERAL.to_owned());
    }
    let words = commands.into_iter().next().unwrap_or_default();
    if words.windows(2).any(|pair| pair == ["mcp", "add"]) {
        let help = "write `repertoire add mcp: --name NAME -- COMMAND`, if the server has skills";
        return (format!("`{shown}` adds an MCP server"), help.to_owned());
    }
    if words.first().is_some_and(|first| INSTALLERS.contains(first) || is_of_system(first)) {
        let help = words.iter().find(|word| word.starts_with('@')).and_then(|word| of_owner(word));
        let help = help.unwrap_or_else(|| OF_PACKAGE.to_owned());
        return (format!("`{shown}` names a package, and no repository"), help);
    }
    if words.iter().all(|word| is_short(word)) {
        return (format!("`{shown}` has several addresses"), SEVERAL.to_owned());
    }
    let help = "give one address, such as `owner/repo@skill`";
    (format!("`{shown}` has no address, or several"), help.to_owned())
}

/// The plugin and the marketplace in `pdf@acme`, or in a command with it.
fn plugin(text: &str) -> Option<(&str, &str)> {
    let mut words = text.split_whitespace().filter_map(|word| word.split_once('@'));
    let plugin = words.find(|(name, of)| is_word(name) && is_word(of));
    plugin.filter(|_| !text.contains(' ') || text.contains("plugin"))
}

/// The help for the name of a package that has an owner: `@acme/skills`.
fn of_owner(package: &str) -> Option<String> {
    let package = package.strip_prefix('@').filter(|rest| rest.contains('/'))?;
    Some(format!("for the repository on GitHub, write `{package}`"))
}

/// Tells whether a text has the form `owner/repo`.
fn is_short(text: &str) -> bool {
    text.split_once('/').is_some_and(|(owner, repo)| is_word(owner) && is_word(repo))
}

fn is_word(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}
