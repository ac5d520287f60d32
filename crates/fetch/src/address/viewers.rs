//! Pages of sites that show, deliver or list the repositories of other hosts.

use percent_encoding::percent_decode_str;

use super::{GIST, GITHUB, REGISTRIES};

/// Hosts that show the repositories of GitHub under the same paths.
const MIRRORS: [&str; 5] =
    ["github.dev", "github1s.com", "gitingest.com", "gitmcp.io", "uithub.com"];

/// Sites that open the address behind their own.
const OPENERS: [&str; 3] = ["gitpod.io", "r.jina.ai", "web.archive.org"];

/// Programs that links of a browser start, to open the address in them.
const PROGRAMS: [&str; 8] = [
    "cursor", "github-mac", "github-windows", "vscode", "vscode-insiders", "vscodium", "windsurf",
    "x-github-client",
];

/// Returns the address that a site or a program opens: `vscode://vscode.git/clone?url=https://…`.
pub(super) fn opened(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once("://")?;
    let (host, _) = rest.split_once('/')?;
    let is_opened = PROGRAMS.contains(&scheme) || scheme == "https" && OPENERS.contains(&host);
    let rest = percent_decode_str(rest).decode_utf8_lossy();
    let inner = rest.find("https://").filter(|_| is_opened)?;
    Some(rest[inner..].to_owned())
}

/// A part of another host that a page shows.
pub(super) enum Viewed<'p, 'a> {
    /// A page of GitHub, by the parts of its address.
    GitHub(&'p [&'a str]),
    /// A directory of a repository, at a revision.
    Directory { source: String, rev: Option<&'p str>, path: &'p [&'a str] },
    /// A repository, of which a page shows a revision and a path at it.
    View { source: String, shown: &'p [&'a str] },
    /// An artifact in a registry.
    Artifact(String),
}

/// Reads a page of a site that shows what is kept elsewhere; `None` for other pages. `rev` is the value of its
/// parameter `ref`.
pub(super) fn of_viewer<'p, 'a>(
    host: &str,
    parts: &'p [&'a str],
    rev: Option<&'p str>,
) -> Option<Viewed<'p, 'a>> {
    let github = |owner: &str, repo: &str| format!("https://{GITHUB}/{owner}/{repo}");
    let of_github = |owner: &str, repo: &str, rev: Option<&'p str>, path: &'p [&'a str]| {
        Viewed::Directory { source: github(owner, repo), rev, path }
    };
    Some(match (host, parts) {
        ("skills.sh", [owner, repo, path @ ..]) => of_github(owner, repo, None, path),
        ("claude-plugins.dev", ["skills", owner, repo, path @ ..]) => {
            of_github(owner.trim_start_matches('@'), repo, None, path)
        }
        ("deepwiki.com", [owner, repo, ..]) => of_github(owner, repo, None, &[]),
        ("raw.githubusercontent.com", [owner, repo, shown @ ..])
        | ("codeload.github.com", [owner, repo, "zip" | "tar.gz", shown @ ..])
        | ("api.github.com", ["repos", owner, repo, "zipball" | "tarball", shown @ ..]) => {
            Viewed::View { source: github(owner, repo), shown }
        }
        ("api.github.com", ["repos", owner, repo, rest @ ..]) => {
            let path = if let ["contents", path @ ..] = rest { path } else { &[] };
            of_github(owner, repo, rev, path)
        }
        ("cdn.jsdelivr.net", ["gh", owner, repo, path @ ..]) => {
            let (repo, rev) = split_rev(repo);
            of_github(owner, repo, rev, path)
        }
        ("sourcegraph.com", ["github.com", owner, repo, rest @ ..]) => {
            let (repo, rev) = split_rev(repo);
            let path = if let ["-", "tree" | "blob", path @ ..] = rest { path } else { &[] };
            of_github(owner, repo, rev, path)
        }
        ("vscode.dev", ["github", rest @ ..]) => Viewed::GitHub(rest),
        (host, rest) if MIRRORS.contains(&host) => Viewed::GitHub(rest),
        ("gist.githubusercontent.com", [owner, id, "raw", shown @ ..]) => {
            let rev = shown.first().copied().filter(|rev| is_gist(rev));
            Viewed::Directory { source: format!("https://{GIST}/{owner}/{id}"), rev, path: &[] }
        }
        (GIST, [id]) if is_gist(id.trim_end_matches(".git")) => {
            Viewed::Directory { source: format!("https://{GIST}/{id}"), rev: None, path: &[] }
        }
        (GIST, [owner, id, shown @ ..]) => {
            Viewed::View { source: format!("https://{GIST}/{owner}/{id}"), shown }
        }
        ("hub.docker.com", ["r", owner, name, ..]) => {
            Viewed::Artifact(format!("docker.io/{owner}/{name}"))
        }
        ("quay.io", ["repository", owner, name, ..]) => {
            Viewed::Artifact(format!("quay.io/{owner}/{name}"))
        }
        (host, parts) if REGISTRIES.contains(&host) && parts.len() > 1 => {
            Viewed::Artifact(format!("{host}/{}", parts.join("/")))
        }
        _ => return None,
    })
}

/// Tells whether a part of an address is the id of a gist, or of one of its revisions.
pub(crate) fn is_gist(id: &str) -> bool {
    id.len() >= 20 && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The name of a repository, and the revision after its `@`.
fn split_rev(repo: &str) -> (&str, Option<&str>) {
    repo.split_once('@').map_or((repo, None), |(repo, rev)| (repo, Some(rev)))
}
