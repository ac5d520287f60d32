//! Pages of hosts with repositories, taken apart by the forms of their addresses.

use percent_encoding::percent_decode_str;

use super::viewers::{Viewed, of_viewer};
use super::{Address, BITBUCKET, GITHUB, GITLAB, is_known, may_be_name};

/// Hosts with repositories of the form `owner/repo`, whose other paths are pages about them.
const FORGES: [&str; 5] = [GITHUB, "codeberg.org", BITBUCKET, "gitea.com", "gitee.com"];

/// Pages about a repository that show no part of it.
const PAGES: [&str; 29] = [
    "actions", "activity", "branches", "commits", "compare", "contributors", "deployments",
    "discussions", "forks", "graphs", "issues", "labels", "milestones", "network", "packages",
    "pkgs", "projects", "pull", "pull-requests", "pulls", "pulse", "releases", "search",
    "security", "settings", "stargazers", "tags", "watchers", "wiki",
];

/// Pages that show a file or a directory at a revision.
const VIEWS: [&str; 6] = ["tree", "blob", "raw", "edit", "blame", "resolve"];

/// A page, by the parts of its address.
pub(super) struct Page<'a> {
    pub(super) host: &'a str,
    pub(super) authority: &'a str,
    pub(super) parts: Vec<&'a str>,
    pub(super) query: &'a str,
    pub(super) fragment: Option<&'a str>,
}

impl Page<'_> {
    /// The repository, and what of it the page shows; `None` for pages of hosts that are not known, unless
    /// their form says it.
    pub(super) fn read(&self) -> Option<Address> {
        if is_known(self.host) && !self.parts.iter().take(2).all(|part| may_be_name(part)) {
            return None;
        }
        match (self.host, &self.parts[..]) {
            ("huggingface.co", ["datasets" | "spaces", _, _, rest @ ..]) => {
                Some(self.of_model(3, rest))
            }
            ("huggingface.co", [_, _, rest @ ..]) => Some(self.of_model(2, rest)),
            ("git.sr.ht", [_, _, rest @ ..]) => Some(self.of_sourcehut(rest)),
            _ => self
                .of_viewer()
                .or_else(|| self.of_azure())
                .or_else(|| self.of_bitbucket_server())
                .or_else(|| self.of_forge()),
        }
    }

    /// The address of the first `n` parts.
    fn here(&self, n: usize) -> String {
        let authority = if is_known(self.host) { self.host } else { self.authority };
        format!("https://{authority}/{}", self.parts[..n].join("/"))
    }

    /// Reads a page of a site that shows what is kept elsewhere.
    fn of_viewer(&self) -> Option<Address> {
        let rev = self.parameter("ref");
        let Page { query, fragment, .. } = *self;
        Some(match of_viewer(self.host, &self.parts, rev.as_deref())? {
            Viewed::GitHub(parts) => {
                let parts = parts.to_vec();
                return Page { host: GITHUB, authority: GITHUB, parts, query, fragment }.read();
            }
            Viewed::Directory { source, rev, path } => of_repository(source, None, path, rev),
            Viewed::View { source, shown } => of_view(source, shown),
            Viewed::Artifact(name) => {
                Address { source: format!("oci://{name}"), ..Address::default() }
            }
        })
    }

    /// Reads a page of Hugging Face, whose repository has `n` parts.
    fn of_model(&self, n: usize, rest: &[&str]) -> Address {
        match rest {
            [view, shown @ ..] if VIEWS.contains(view) => of_view(self.here(n), shown),
            ["commit", rev, ..] => of_view(self.here(n), &[rev]),
            _ => of_repository(self.here(n), self.fragment, &[], None),
        }
    }

    /// Reads a page of sourcehut.
    fn of_sourcehut(&self, rest: &[&str]) -> Address {
        match rest {
            ["tree", rev, "item", path @ ..] | ["blob", rev, path @ ..] => {
                of_repository(self.here(2), None, path, Some(rev))
            }
            ["tree" | "commit" | "refs", rev, ..] => of_view(self.here(2), &[rev]),
            _ => of_repository(self.here(2), self.fragment, &[], None),
        }
    }

    /// Reads a page of Azure DevOps: `…/_git/REPO?path=/DIR&version=GBmain`.
    fn of_azure(&self) -> Option<Address> {
        let may_be = self.host == "dev.azure.com" || !is_known(self.host);
        let at = self.parts.iter().position(|part| may_be && *part == "_git")?;
        let rest = self.parts.get(at + 2..)?;
        let path = self.parameter("path").unwrap_or_default();
        let path: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let version = self.parameter("version");
        let version = version.as_deref().and_then(|version| version.get(2..));
        let rev = match rest {
            ["commit", rev, ..] => Some(*rev),
            _ => version.or(self.fragment),
        };
        Some(of_repository(self.here(at + 2), None, &path, rev))
    }

    /// Reads a page of Bitbucket Server: `…/projects/KEY/repos/REPO/browse/DIR?at=main`.
    fn of_bitbucket_server(&self) -> Option<Address> {
        let (owner, repo, rest) = match &self.parts[..] {
            ["projects", key, "repos", repo, rest @ ..] => ((*key).to_owned(), repo, rest),
            ["users", name, "repos", repo, rest @ ..] => (format!("~{name}"), repo, rest),
            _ => return None,
        };
        let path = match rest {
            ["browse" | "raw", path @ ..] => path,
            _ => &[],
        };
        let at = self.parameter("at");
        let rev = at.as_deref().map(|rev| {
            ["refs/heads/", "refs/tags/"]
                .iter()
                .find_map(|start| rev.strip_prefix(start))
                .unwrap_or(rev)
        });
        let source = format!("https://{}/scm/{owner}/{repo}.git", self.authority);
        Some(of_repository(source, None, path, rev))
    }

    /// Reads a page of a host with repositories of the form `owner/repo`, or of GitLab.
    fn of_forge(&self) -> Option<Address> {
        let Page { host, parts, query, .. } = self;
        let of_group = parts.iter().position(|part| *part == "-").filter(|at| *at >= 2);
        if let Some(at) = of_group.filter(|_| !FORGES.contains(host)) {
            let shown = parts.get(at + 2..).unwrap_or_default();
            let is_view =
                parts.get(at + 1).is_some_and(|page| VIEWS.contains(page) || *page == "commit");
            return Some(of_view(self.here(at), if is_view { shown } else { &[] }));
        }
        match &parts[..] {
            [_, _, "src" | "raw" | "media", "branch" | "tag" | "commit", shown @ ..] => {
                return Some(of_view(self.here(2), shown));
            }
            [_, _, "src", shown @ ..] if *host == BITBUCKET => {
                return Some(of_view(self.here(2), shown));
            }
            [_, _, "commit", rev, ..] | [_, _, "releases", "tag", rev] => {
                return Some(of_view(self.here(2), &[rev]));
            }
            [_, _, view, shown @ ..] if VIEWS.contains(view) && !shown.is_empty() => {
                return Some(of_view(self.here(2), shown));
            }
            [_, _, "issues" | "pull" | "pulls", n, ..] if n.parse::<u32>().is_ok() => {
                return Some(of_repository(self.here(2), None, &[], None));
            }
            _ => {}
        }
        // The headings of the page that `tab` names are no revisions.
        let fragment = self
            .fragment
            .filter(|fragment| !fragment.starts_with("readme") && self.parameter("tab").is_none());
        let rev = fragment.is_none().then(|| self.parameter("ref")).flatten();
        match &parts[..] {
            [_, _, page, ..] if FORGES.contains(host) && PAGES.contains(page) => {
                Some(of_repository(self.here(2), None, &[], None))
            }
            [_, _, skill @ ..] if FORGES.contains(host) => {
                Some(of_repository(self.here(2), fragment, skill, rev.as_deref()))
            }
            [_, _, ..] if *host == GITLAB => {
                Some(of_repository(self.here(parts.len()), fragment, &[], None))
            }
            // Another parameter of a host that is not known may be a part of the address, or a secret.
            [_, ..] if is_of_view(query) && (fragment.is_some() || !query.is_empty()) => {
                Some(of_repository(self.here(parts.len()), fragment, &[], rev.as_deref()))
            }
            _ => None,
        }
    }

    /// A parameter of the query, decoded.
    fn parameter(&self, name: &str) -> Option<String> {
        let mut parameters = self.query.split('&').filter_map(|part| part.split_once('='));
        let value = parameters.find(|(key, _)| *key == name).map(|(_, value)| decoded(value));
        value.filter(|value| !value.is_empty())
    }
}

/// Tells whether a query only says how a page is shown, or from where somebody came.
fn is_of_view(query: &str) -> bool {
    let keys = query.split('&').map(|part| part.split('=').next().unwrap_or_default());
    keys.into_iter().all(|key| {
        matches!(key, "" | "plain" | "readme" | "ref" | "ref_type" | "tab")
            || key.starts_with("utm_")
    })
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
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
    let (of_fragment, skill_of_fragment) = fragment.map_or((None, None), rev_and_skill);
    // In the name of the repository, not in that of a user before the host.
    let name = source.match_indices('/').nth(3).map_or(source.len(), |(at, _)| at);
    let (source, after_at) = match source[name..].split_once('@') {
        Some((before, after)) if !after.contains('/') => {
            (format!("{}{before}", &source[..name]), Some(after.to_owned()))
        }
        _ => (source, None),
    };
    // `@v1.2` is a revision, as for Go and for actions of GitHub; no skill has such a name.
    let (of_at, after_at) = match after_at {
        Some(after) if is_version(&after) && after.contains('.') => (Some(after), None),
        after => (None, after),
    };
    let path = directory(path);
    let skills = if path.is_empty() {
        names(&after_at.or(skill_of_fragment).unwrap_or_default())
    } else {
        vec![decoded(&path.join("/"))]
    };
    let source = source.trim_end_matches('/').to_owned();
    let rev = rev.map(decoded).or(of_fragment).or(of_at);
    Address { source, rev, skills, ..Address::default() }
}

/// The skills in a list of their names: `pdf,docx`.
pub(super) fn names(list: &str) -> Vec<String> {
    list.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The directory that a path names: of a file, the one that holds it.
fn directory<'a, 'p>(path: &'p [&'a str]) -> &'p [&'a str] {
    match path.split_last() {
        Some((last, above)) if last.contains('.') && !last.starts_with('.') => above,
        _ => path,
    }
}

/// Reads what follows `#`: `v1`, `v1@skill` or `v1:DIR`. Tags may contain `@` and a version, but no `:`.
pub(super) fn rev_and_skill(fragment: &str) -> (Option<String>, Option<String>) {
    let some = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    if let Some((rev, dir)) = fragment.split_once(':') {
        return (some(rev), some(dir.trim_matches('/')));
    }
    match fragment.rsplit_once('@') {
        Some((rev, skill)) if !rev.is_empty() && !is_version(skill) => (some(rev), some(skill)),
        _ => (some(fragment), None),
    }
}

fn is_version(text: &str) -> bool {
    text.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit())
}
