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
//! | `raw.githubusercontent.com/o/r/REV/DIR/SKILL.md` | a directory at a revision |
//! | `skills.sh/o/r/skill` | a skill of the repository on GitHub |
//! | `https://h.org`, `…/.well-known/agent-skills/index.json`, `…/NAME/SKILL.md` | a site that lists skills |
//! | `git+https://…`, `ssh://…#v1`, `git@h.org:o/r.git#v1` | the repository at a revision |

use percent_encoding::percent_decode_str;
use repertoire_config::{Config, FetchSection, FetchSettings};

use super::archive::is_archive;
use super::loopback::is_loopback;

/// The prefixes that stand for a host, as package managers write them.
const PREFIXES: [(&str, &str); 5] = [
    ("github:", GITHUB),
    ("gh:", GITHUB),
    ("gitlab:", GITLAB),
    ("codeberg:", "codeberg.org"),
    ("bitbucket:", BITBUCKET),
];

const GITHUB: &str = "github.com";
const GITLAB: &str = "gitlab.com";
const BITBUCKET: &str = "bitbucket.org";

/// Hosts with repositories of the form `owner/repo`, whose other paths are pages about them.
const FORGES: [&str; 3] = [GITHUB, "codeberg.org", BITBUCKET];

/// Pages about a repository that show no part of it.
const PAGES: [&str; 16] = [
    "actions",
    "activity",
    "branches",
    "commits",
    "discussions",
    "forks",
    "issues",
    "network",
    "packages",
    "projects",
    "pull",
    "pulls",
    "releases",
    "security",
    "tags",
    "wiki",
];

/// Pages that show a file or a directory at a revision.
const VIEWS: [&str; 5] = ["tree", "blob", "raw", "edit", "blame"];

/// The directories in which a site lists its skills: by the current form, and by the first one.
pub(super) const WELL_KNOWN: [&str; 2] = ["/.well-known/agent-skills", "/.well-known/skills"];

/// An address, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Address {
    /// The address of the repository or site itself.
    pub(super) source: String,
    pub(super) rev: Option<String>,
    /// A skill, by its name or its directory in the repository.
    pub(super) skill: Option<String>,
    /// True if the text could also be the path of a directory.
    pub(super) may_be_path: bool,
}

impl Address {
    /// Takes an address apart; `None` if it has none of the forms above. Does not look at files.
    pub(super) fn read(text: &str) -> Option<Address> {
        let text = text.trim();
        let text = text.strip_prefix('<').and_then(|text| text.strip_suffix('>')).unwrap_or(text);
        let text = text.strip_prefix("git+").unwrap_or(text);
        for (prefix, host) in PREFIXES {
            if let Some(path) = text.strip_prefix(prefix) {
                return of_page(host, host, path.trim_matches('/'));
            }
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = host_in(authority);
            return match scheme {
                "https" => of_page(&host, authority, path),
                "http" if is_known(&host) => of_page(&host, authority, path),
                "http" if is_loopback(authority) => well_known(scheme, authority, path),
                "ssh" | "git" => with_fragment(text),
                _ => None,
            };
        }
        if text.starts_with(['/', '.', '~', '-']) || text.contains("::") {
            return None;
        }
        let (first, rest) = text.split_once('/')?;
        if first.contains('@') {
            return with_fragment(text);
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

/// The most slashes in the name of a branch that are looked for.
const MAX_SPLITS: usize = 4;

/// Returns the settings that the address in `settings` stands for: its revision and its skill become
/// settings of their own, if the settings do not name others. All other settings stay as they are.
pub(super) fn taken_apart(settings: &FetchSettings) -> FetchSettings {
    let mut settings = settings.clone();
    let Some(Address { source, rev, skill, .. }) = Address::read(&settings.source) else {
        return settings;
    };
    if rev.is_none() && skill.is_none() {
        return settings;
    }
    settings.source = source;
    settings.rev = settings.rev.or(rev);
    settings.skills.extend(skill.filter(|skill| !settings.skills.contains(skill)));
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
fn host_in(authority: &str) -> String {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.split_once(':').map_or(host, |(host, _)| host).to_lowercase();
    host.strip_prefix("www.").map_or(host.clone(), str::to_owned)
}

fn is_known(host: &str) -> bool {
    FORGES.contains(&host) || matches!(host, GITLAB | "skills.sh" | "raw.githubusercontent.com")
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
    Some(Address { source: source.to_owned(), rev, skill, may_be_path: false })
}

/// A repository of a host that is not known, written without `https://`.
fn plain_page(authority: &str, path: &str) -> Option<Address> {
    let (host, end) = authority.rsplit_once('.')?;
    let is_host = is_name(&host.replace('.', "-")) && end.chars().all(|c| c.is_ascii_alphabetic());
    let is_repository = is_host && end.len() > 1 && !is_archive(path) && !path.is_empty();
    is_repository.then(|| Address {
        source: format!("https://{authority}/{}", path.trim_end_matches('/')),
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
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let path = path.trim_matches('/');
    if let Some(found) = well_known("https", authority, path) {
        return (query.is_empty() && fragment.is_none()).then_some(found);
    }
    if is_archive(path) && !path.contains("/-/") {
        return None;
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let of_github = |repository: &[&str]| format!("https://{GITHUB}/{}", repository.join("/"));
    let here = |repository: &[&str]| {
        let authority = if is_known(host) { host } else { authority };
        format!("https://{authority}/{}", repository.join("/"))
    };
    match (host, &parts[..]) {
        ("skills.sh", [owner, repo, skill @ ..]) => {
            Some(of_repository(of_github(&[owner, repo]), None, skill, None))
        }
        ("raw.githubusercontent.com", [owner, repo, shown @ ..]) => {
            Some(of_view(of_github(&[owner, repo]), shown))
        }
        _ => of_forge(host, &parts, query, fragment, &here),
    }
}

/// Reads a page of a host with repositories.
fn of_forge(
    host: &str,
    parts: &[&str],
    query: &str,
    fragment: Option<&str>,
    here: &dyn Fn(&[&str]) -> String,
) -> Option<Address> {
    if let Some(at) = parts.iter().position(|part| *part == "-").filter(|at| *at >= 2) {
        let shown = parts.get(at + 2..).unwrap_or_default();
        let is_view =
            parts.get(at + 1).is_some_and(|page| VIEWS.contains(page) || *page == "commit");
        return Some(of_view(here(&parts[..at]), if is_view { shown } else { &[] }));
    }
    match parts {
        [_, _, "src" | "raw" | "media", "branch" | "tag" | "commit", shown @ ..] => {
            return Some(of_view(here(&parts[..2]), shown));
        }
        [_, _, "src", shown @ ..] if host == BITBUCKET => {
            return Some(of_view(here(&parts[..2]), shown));
        }
        [_, _, "commit", rev, ..] | [_, _, "releases", "tag", rev] => {
            return Some(of_view(here(&parts[..2]), &[rev]));
        }
        [_, _, view, shown @ ..] if VIEWS.contains(view) && !shown.is_empty() => {
            return Some(of_view(here(&parts[..2]), shown));
        }
        _ => {}
    }
    let fragment = fragment.filter(|fragment| !fragment.starts_with("readme"));
    match parts {
        [owner, repo, page, ..] if FORGES.contains(&host) && PAGES.contains(page) => {
            Some(of_repository(here(&[owner, repo]), None, &[], None))
        }
        [owner, repo, skill @ ..] if FORGES.contains(&host) => {
            Some(of_repository(here(&[owner, repo]), fragment, skill, None))
        }
        [_, _, ..] if host == GITLAB => Some(of_repository(here(parts), fragment, &[], None)),
        // A parameter of another host may be a part of the address, or a secret.
        [_, ..] if query.is_empty() && fragment.is_some() => {
            Some(of_repository(here(parts), fragment, &[], None))
        }
        _ => None,
    }
}

/// A repository, of which a page shows `shown`: a revision, and a path at it.
fn of_view(source: String, shown: &[&str]) -> Address {
    let (rev, path) = match shown {
        ["refs", "heads" | "tags", rev, path @ ..] | [rev, path @ ..] => (Some(*rev), path),
        [] => (None, &[][..]),
    };
    of_repository(source, None, path, rev)
}

/// A repository with what its address chooses.
fn of_repository(
    source: String,
    fragment: Option<&str>,
    path: &[&str],
    rev: Option<&str>,
) -> Address {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    let (of_fragment, skill_of_fragment) = fragment.map_or((None, None), rev_and_skill);
    let (source, after_at) = match source.rsplit_once('@') {
        Some((source, skill)) if source.matches('/').count() >= 4 && !skill.contains('/') => {
            (source.to_owned(), Some(skill.to_owned()))
        }
        _ => (source, None),
    };
    let path = directory(path);
    let skill = (!path.is_empty()).then(|| decoded(&path.join("/")));
    let skill = skill.or(after_at).or(skill_of_fragment).filter(|skill| !skill.is_empty());
    let source = source.trim_end_matches('/').to_owned();
    Address { source, rev: rev.map(decoded).or(of_fragment), skill, may_be_path: false }
}

/// The directory that a path names: of a file, the one that holds it.
fn directory<'a, 'p>(path: &'p [&'a str]) -> &'p [&'a str] {
    match path.split_last() {
        Some((last, above)) if last.contains('.') && !last.starts_with('.') => above,
        _ => path,
    }
}

/// Reads what follows `#`: `v1`, or `v1@skill`. Tags may contain `@` and a version.
fn rev_and_skill(fragment: &str) -> (Option<String>, Option<String>) {
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let is_version =
        |text: &str| text.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
    match fragment.rsplit_once('@') {
        Some((rev, skill)) if !rev.is_empty() && !is_version(skill) => (some(rev), some(skill)),
        _ => (some(fragment), None),
    }
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
    Some(Address { source, skill: skill.map(str::to_owned), ..Address::default() })
}

#[cfg(test)]
mod tests;
