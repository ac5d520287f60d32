//! Addresses of repositories as people copy them, taken apart by their text alone.
//!
//! | form | read as |
//! |---|---|
//! | `o/r`, `github:o/r`, `github.com/o/r` | the repository on GitHub; `gitlab:`, `codeberg:`, `bitbucket:` alike |
//! | `o/r/skill`, `o/r/skills/pdf` | a skill or a directory of it |
//! | `o/r@skill`, `o/r#v1`, `o/r@skill#v1`, `o/r#v1@skill` | a skill, a revision, or both |
//! | `…/o/r/tree/REV/DIR`, `blob`, `raw`, `edit`, `blame` | a directory at a revision, as GitHub's pages show it |
//! | `…/g/s/r/-/tree/REV/DIR` | the same of GitLab |
//! | `…/o/r/src/branch/REV/DIR`, `src/tag`, `src/commit` | the same of Forgejo and Gitea, such as Codeberg |
//! | `bitbucket.org/o/r/src/REV/DIR` | the same of Bitbucket |
//! | `…/o/r/commit/REV`, `…/releases/tag/REV` | the repository at a revision |
//! | `…/o/r/issues/12` and other pages of GitHub | the repository |
//! | `raw.githubusercontent.com/o/r/REV/DIR/SKILL.md`, `api.github.com/repos/o/r/…` | a directory at a revision |
//! | `gist.github.com/ID`, `gist.githubusercontent.com/o/ID/raw/…` | the repository of the gist |
//! | `dev.azure.com/o/p/_git/r?path=/DIR&version=GBmain` | the same of Azure DevOps |
//! | `huggingface.co/spaces/o/r/tree/REV/DIR` | the same of Hugging Face |
//! | `git.sr.ht/~o/r/tree/REV/item/DIR` | the same of sourcehut |
//! | `…/projects/O/repos/r/browse/DIR?at=REV` | the same of Bitbucket Server |
//! | `skills.sh/o/r/skill`, `claude-plugins.dev/skills/@o/r/skill`, `@o/r/skill` | a skill of the repository on GitHub |
//! | `cdn.jsdelivr.net/gh/o/r@REV/DIR`, `deepwiki.com/o/r`, `sourcegraph.com/github.com/o/r` | the repository on GitHub |
//! | `https://h.org`, `…/.well-known/agent-skills/index.json`, `…/NAME/SKILL.md` | a site that lists skills |
//! | `git+https://…@v1#subdirectory=DIR`, `git::https://…//DIR?ref=v1` | a directory at a revision, as pip and Terraform write it |
//! | `git@h.org:o/r/tree/REV/DIR`, `ssh://git@h.org/o/r@skill`, `git@h.org/o/r` | the same by SSH |
//! | `https://…/r?ref=v1`, `ssh://…#v1`, `git@h.org:o/r.git#v1` | the repository at a revision |
//! | `ghcr.io/o/r`, `h.org/o/r:v1`, `hub.docker.com/r/o/r` | an artifact of a registry |
//! | `o/r:DIR` | a directory of it, as Copilot CLI writes it |
//! | `gist:ID`, `gh gist clone ID` | the repository of the gist |
//! | `vscode://vscode.git/clone?url=https://…`, `gitpod.io/#https://…` | the address that a program or a site opens |
//! | `npx skills add o/r --skill pdf`, `git clone -b v1 …` | the address in the command, and what it chooses |
//! | `[x](https://…)`, `"o/r"`, `<…>`, `https://….` | the address without what stands round it |

mod package;
mod pages;
mod pasted;
mod shell_line;
mod ssh;
mod viewers;

use repertoire_config::{Config, FetchSection, FetchSettings};

use super::archive::is_archive;
use super::loopback::is_loopback;
use package::of_package;
use pages::{Page, names, rev_and_skill};
use pasted::Pasted;
pub(super) use pasted::bare;
pub(super) use shell_line::{commands, is_installer, is_of_system};
use ssh::{has_port, is_scp, of_ssh};
pub(super) use viewers::is_gist;

/// The prefixes that stand for a host, as package managers write them.
const PREFIXES: [(&str, &str); 7] = [
    ("github", GITHUB),
    ("gh", GITHUB),
    ("gist", GIST),
    ("gitlab", GITLAB),
    ("gl", GITLAB),
    ("codeberg", "codeberg.org"),
    ("bitbucket", BITBUCKET),
];

const GITHUB: &str = "github.com";
const GITLAB: &str = "gitlab.com";
const BITBUCKET: &str = "bitbucket.org";
const GIST: &str = "gist.github.com";

/// Hosts whose pages are understood, and which have no skills of their own.
const KNOWN: [&str; 26] = [
    GITHUB,
    GITLAB,
    BITBUCKET,
    GIST,
    "api.github.com",
    "cdn.jsdelivr.net",
    "claude-plugins.dev",
    "codeberg.org",
    "codeload.github.com",
    "deepwiki.com",
    "dev.azure.com",
    "gist.githubusercontent.com",
    "git.sr.ht",
    "gitea.com",
    "gitee.com",
    "github.dev",
    "github1s.com",
    "gitingest.com",
    "gitmcp.io",
    "hub.docker.com",
    "huggingface.co",
    "raw.githubusercontent.com",
    "skills.sh",
    "sourcegraph.com",
    "uithub.com",
    "vscode.dev",
];

/// Registries of artifacts, whose names may be written without `oci://`.
const REGISTRIES: [&str; 3] = ["docker.io", "ghcr.io", "quay.io"];

/// The directories in which a site lists its skills: by the current form, and by the first one.
pub(super) const WELL_KNOWN: [&str; 2] = ["/.well-known/agent-skills", "/.well-known/skills"];

/// An address, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Address {
    /// The address of the repository or site itself.
    pub(super) source: String,
    pub(super) rev: Option<String>,
    /// Skills, by their names or their directories in the repository.
    pub(super) skills: Vec<String>,
    /// True if the text could also be the path of a directory.
    pub(super) may_be_path: bool,
}

impl Address {
    /// Takes an address apart; `None` if it has none of the forms above. Does not look at files.
    pub(super) fn read(text: &str) -> Option<Address> {
        let bare = bare(text);
        if let Some(address) = of_one(bare) {
            return Some(address);
        }
        if text.starts_with("mcp:") {
            return None;
        }
        let plain = |source: &str| {
            let source = source.to_owned();
            Address { source, may_be_path: true, ..Address::default() }
        };
        if let Some(Pasted { address, rev, skills }) =
            pasted::in_command(text, &|word| of_one(word).is_some())
        {
            let read = of_one(&address).unwrap_or_else(|| plain(&address));
            let (rev, skills) = (read.rev.or(rev), [read.skills, skills].concat());
            return Some(Address { rev, skills, may_be_path: true, ..read });
        }
        (bare != text.trim() && !bare.is_empty()).then(|| plain(bare))
    }

    /// The revisions and directories that `rev` and `skill` may stand for: a page does not show where
    /// the name of a branch ends that contains slashes. The likeliest comes first.
    pub(super) fn splits(rev: &str, skill: &str) -> Vec<(String, Option<String>)> {
        let parts: Vec<&str> = skill.split('/').collect();
        let split = |n: usize| {
            let rest = parts[n..].join("/");
            let rev = [&[rev], &parts[..n]].concat().join("/");
            (rev, Some(rest).filter(|rest| !rest.is_empty()))
        };
        (1..=parts.len().min(MAX_SPLITS)).map(split).collect()
    }
}

/// Takes apart a text that is an address and nothing else.
fn of_one(text: &str) -> Option<Address> {
    if text.contains(char::is_whitespace) {
        return None;
    }
    if let Some(path) = text.strip_prefix("file:/").filter(|path| !path.starts_with('/')) {
        return Some(Address { source: format!("file:///{path}"), ..Address::default() });
    }
    // `git::` with anything but an address would name a program.
    let is_address = |rest: &&str| rest.contains("://") || is_scp(rest);
    let of_terraform = text.strip_prefix("git::").filter(is_address);
    let (text, is_package) = match text.strip_prefix("git+").or(of_terraform) {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    if let Some(inner) = viewers::opened(text) {
        return of_one(&inner);
    }
    if let Some((scheme, rest)) = text.split_once("://") {
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let host = host_in(authority);
        let address = match scheme.to_ascii_lowercase().as_str() {
            "ssh" if !has_port(authority) => of_ssh(text),
            scheme @ ("https" | "ssh") if is_package => Some(of_package(scheme, &host, rest)),
            "https" => of_page(&host, authority, path),
            "http" if is_known(&host) => of_page(&host, authority, path),
            "http" if is_loopback(authority) => well_known("http", authority, path),
            "ssh" | "git" => of_ssh(text).or_else(|| with_fragment(text)),
            scheme => of_prefix(scheme, rest),
        };
        let plain = || Address { source: text.to_owned(), ..Address::default() };
        return address.or_else(|| is_package.then(plain));
    }
    if text.starts_with(['/', '.', '~', '-']) || text.contains("::") {
        return None;
    }
    if let Some((start, path)) = text.split_once(':') {
        if let Some(address) = of_prefix(start, path) {
            return Some(address);
        }
        // A directory of a repository, as Copilot CLI writes it.
        let is_repository = start.split('/').filter(|part| is_name(part)).count() == 2;
        if is_repository && start.matches('/').count() == 1 && !path.contains(':') {
            let address = of_page(GITHUB, GITHUB, &format!("{start}/{path}"));
            return address.map(|address| Address { may_be_path: true, ..address });
        }
    }
    // Names of packages have no second slash.
    if let Some(rest) = text.strip_prefix('@').filter(|rest| rest.matches('/').count() > 1) {
        return of_one(rest);
    }
    let (first, rest) = text.split_once('/')?;
    if first.contains('@') {
        let plain = || Address { source: text.to_owned(), ..Address::default() };
        let read = of_ssh(text).or_else(|| with_fragment(text));
        return read.or_else(|| is_package.then(plain));
    }
    let read = if first.contains('.') {
        of_page(&host_in(first), first, rest).or_else(|| plain_page(first, rest))
    } else {
        let repo = rest.split(['/', '@', '#']).next().unwrap_or_default();
        let is_repository = is_name(first) && is_name(&repo.replace('.', "-"));
        is_repository.then(|| of_page(GITHUB, GITHUB, text)).flatten()
    };
    read.map(|address| Address { may_be_path: true, ..address })
}

/// Reads `github:o/r`, also with slashes after the colon, and `github.com:o/r`.
fn of_prefix(start: &str, path: &str) -> Option<Address> {
    let prefix = PREFIXES.into_iter().find(|(prefix, _)| *prefix == start);
    let host = prefix.map(|(_, host)| host).or(KNOWN.into_iter().find(|host| *host == start))?;
    of_page(host, host, path.trim_matches('/'))
}

/// The most slashes in the name of a branch that are looked for.
const MAX_SPLITS: usize = 4;

/// Returns the settings that the address in `settings` stands for: its revision and its skill become
/// settings of their own, if the settings do not name others. All other settings stay as they are.
pub(super) fn taken_apart(settings: &FetchSettings) -> FetchSettings {
    let mut settings = settings.clone();
    let Some(Address { source, rev, skills, .. }) = Address::read(&settings.source) else {
        return settings;
    };
    let is_alone = of_one(settings.source.trim()).is_some();
    if is_alone && rev.is_none() && skills.is_empty() {
        return settings;
    }
    settings.source = source;
    settings.rev = settings.rev.or(rev);
    let more: Vec<String> =
        skills.into_iter().filter(|skill| !settings.skills.contains(skill)).collect();
    settings.skills.extend(more);
    settings
}

/// The fetched sources of a configuration, with the settings that their addresses stand for.
pub(super) fn sections_of(config: &Config) -> Vec<FetchSection> {
    let sections = config.fetch_sections().into_iter();
    let apart = |section: FetchSection| FetchSection {
        settings: taken_apart(&section.settings),
        ..section
    };
    sections.map(apart).collect()
}

/// Tells whether an address is that of a site's list of skills.
pub(super) fn is_well_known(text: &str) -> bool {
    let index = text.strip_suffix("/index.json").unwrap_or_default();
    index
        .split_once("://")
        .is_some_and(|(_, rest)| rest.find('/').is_some_and(|at| WELL_KNOWN.contains(&&rest[at..])))
}

/// The host, with its port, of the address of a site's list of skills.
pub(super) fn site_of(url: &str) -> &str {
    url.split('/').nth(2).unwrap_or_default()
}

/// Tells whether two addresses lead to the same repository, by whatever protocol.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    one == other || repository(one).zip(repository(other)).is_some_and(|(one, other)| one == other)
}

/// The host and the path of a repository, as they are compared.
fn repository(source: &str) -> Option<String> {
    let read = Address::read(source).map_or_else(|| source.to_owned(), |address| address.source);
    let (host, path) = match read.split_once("://") {
        Some(("https" | "ssh" | "git", rest)) => rest.split_once('/')?,
        Some(_) => return None,
        None => read.split_once(':').filter(|(host, _)| host.contains('@'))?,
    };
    let path = path.trim_matches('/');
    let path = path.strip_suffix(".git").unwrap_or(path);
    Some(format!("{}/{path}", host_in(host)).to_lowercase())
}

/// The host of an authority, in lower case, without user, port and `www.`.
pub(super) fn host_in(authority: &str) -> String {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host).to_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host);
    let of_phone = host.strip_prefix("m.").or(host.strip_prefix("mobile."));
    match of_phone.filter(|host| is_known(host)).unwrap_or(host) {
        "hf.co" => "huggingface.co".to_owned(),
        "sr.ht" => "git.sr.ht".to_owned(),
        "raw.github.com" => "raw.githubusercontent.com".to_owned(),
        host => host.to_owned(),
    }
}

/// Tells whether the pages of a host are understood.
pub(super) fn is_known(host: &str) -> bool {
    KNOWN.contains(&host)
}

/// Tells whether a part of an address can be the name of an owner or of a repository, escapes and versions included.
pub(super) fn may_be_name(part: &str) -> bool {
    let (name, skills) = part.split_once('@').unwrap_or((part, ""));
    let is_plain = |c: char| c.is_alphanumeric() || "-._~%@+".contains(c);
    name.chars().all(is_plain) && skills.chars().all(|c| is_plain(c) || c == ',')
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

/// An address whose fragment is a revision; `None` without a fragment.
fn with_fragment(text: &str) -> Option<Address> {
    let (source, fragment) = text.split_once('#')?;
    // Programs disagree on the host of an address with a `#` in its authority.
    let path = source.split_once("://").map_or(source, |(_, rest)| rest);
    path.contains(['/', ':']).then_some(())?;
    let (rev, skill) = rev_and_skill(fragment);
    Some(Address {
        source: source.to_owned(),
        rev,
        skills: names(&skill.unwrap_or_default()),
        may_be_path: false,
    })
}

/// A repository of a host that is not known, or an artifact, written without a scheme.
fn plain_page(authority: &str, path: &str) -> Option<Address> {
    let (host, end) = authority.rsplit_once('.')?;
    let end = end.split_once(':').map_or(end, |(end, _)| end);
    let is_host = is_name(&host.replace('.', "-")) && end.chars().all(|c| c.is_ascii_alphabetic());
    let is_repository = is_host && end.len() > 1 && !is_archive(path) && !path.is_empty();
    let has_tag = path.rsplit('/').next().is_some_and(|last| last.contains(':'));
    let scheme = if has_tag || REGISTRIES.contains(&authority) { "oci" } else { "https" };
    is_repository.then(|| Address {
        source: format!("{scheme}://{authority}/{}", path.trim_end_matches('/')),
        ..Address::default()
    })
}

/// Reads the `path` of a page, or what follows `host:`.
fn of_page(host: &str, authority: &str, path: &str) -> Option<Address> {
    // Programs disagree on the host of such an address, so it is left to be refused.
    if authority.contains(['?', '#', '\\']) {
        return None;
    }
    let (path, fragment) = path.split_once('#').map_or((path, None), |(p, f)| (p, Some(f)));
    // A browser marks the text that was searched for.
    let fragment = fragment.filter(|fragment| !fragment.starts_with(":~:"));
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let path = path.trim_matches('/');
    if let Some(found) = well_known("https", authority, path) {
        return (query.is_empty() && fragment.is_none()).then_some(found);
    }
    if is_archive(path) && !path.contains("/-/") {
        return None;
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    Page { host, authority, parts, query, fragment }.read()
}

/// Reads the address of a site that lists its skills, or of one of its skills.
fn well_known(scheme: &str, authority: &str, path: &str) -> Option<Address> {
    let site = format!("{scheme}://{authority}");
    if path.is_empty() && !authority.is_empty() && !is_known(&host_in(authority)) {
        let source = format!("{site}{}/index.json", WELL_KNOWN[0]);
        return Some(Address { source, ..Address::default() });
    }
    let path = format!("/{path}");
    let dir = WELL_KNOWN.into_iter().find(|dir| {
        path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })?;
    let rest = path[dir.len()..].trim_matches('/');
    let skill = rest.split('/').next().filter(|name| !matches!(*name, "" | "index.json"));
    let source = format!("{site}{dir}/index.json");
    Some(Address {
        source,
        skills: skill.map(str::to_owned).into_iter().collect(),
        ..Address::default()
    })
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_ssh;
