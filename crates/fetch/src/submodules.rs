//! Submodules of a git repository: which of them may hold skills that are wanted, and from where they are
//! fetched.

use std::path::Path;

use super::host::host_of;
use super::layout::marketplace_dirs;
use super::location::Location;
use super::paths::{dir_of_skill, is_below};
use super::provider::{TreeEntry, TreeKind};
use super::selection::excluded_and_wanted;
use repertoire::catalog::may_name;
use repertoire_config::FetchSettings;

/// The most submodules of a repository that are fetched, and how deep they may be nested.
pub(super) const MAX_SUBMODULES: usize = 16;
pub(super) const MAX_DEPTH: usize = 2;

/// Tells whether the submodule at `path` may hold files of skills that the settings choose: it is in a skill,
/// in a directory where skills are looked for, or there are no skills beside it.
pub(super) fn is_wanted(
    path: &str,
    entries: &[TreeEntry],
    marketplace: &str,
    settings: &FetchSettings,
) -> bool {
    let files = || entries.iter().filter(|entry| matches!(entry.kind, TreeKind::File { .. }));
    let skills = || files().filter_map(|entry| dir_of_skill(&entry.path));
    let (excluded, wanted) = excluded_and_wanted(&settings.skills);
    let is_named = |id: &str, dir: &str| may_name(id, &[dir, last(dir)]) || is_below(dir, id);
    let is_related = |dir: &str| dir == path || is_below(path, dir) || is_below(dir, path);
    if excluded.iter().any(|id| is_named(id, path)) {
        return false;
    }
    if let Some(base) = settings.path.as_deref().map(|base| base.trim_matches('/')) {
        return is_related(base);
    }
    let is_elsewhere = |id: &&str| !is_related(id) && skills().any(|dir| is_named(id, dir));
    if !wanted.is_empty() && wanted.iter().all(is_elsewhere) {
        return skills()
            .any(|dir| is_below(path, dir) && wanted.iter().any(|id| is_named(id, dir)));
    }
    wanted.iter().any(|id| is_related(id))
        || path.split('/').any(|part| part == "skills")
        || skills().any(|dir| is_below(path, dir))
        || skills().next().is_none()
        || marketplace_dirs(marketplace).iter().any(|dir| is_related(dir))
}

/// The address of a submodule as `.gitmodules` writes it, if it may be fetched: a submodule is written by
/// others, and leads to no other host and to no place on this machine, unless it is named relative to the
/// repository.
pub(super) fn address(repository: &str, written: &str) -> Option<String> {
    let is_relative = ["./", "../"].iter().any(|start| written.starts_with(start));
    let url = if is_relative { relative(repository, written)? } else { written.to_owned() };
    let is_address = url.contains("://") || url.contains('@');
    // By the rules of every address.
    let Ok(Location::Git(url)) =
        Location::parse(Some(&url).filter(|_| is_address)?, Path::new("/"))
    else {
        return None;
    };
    (is_relative || host_of(&url).is_some() && host_of(&url) == host_of(repository)).then_some(url)
}

/// The address that `written` names relative to that of a repository.
fn relative(repository: &str, written: &str) -> Option<String> {
    let mut base = repository.trim_end_matches('/');
    let mut rest = written;
    // The parts above the path: the scheme and the host.
    let start = match base.split_once("://") {
        Some((scheme, rest)) => scheme.len() + 3 + rest.find('/')?,
        None => base.find(':')?,
    };
    loop {
        if let Some(below) = rest.strip_prefix("../") {
            let end = base.get(start + 1..)?.rfind('/').map(|at| start + 1 + at);
            let end = end.or((base.len() > start + 1).then_some(start))?;
            (base, rest) = (&base[..end], below);
        } else if let Some(below) = rest.strip_prefix("./") {
            rest = below;
        } else {
            let separator = &repository[start..=start];
            let separator = if base.len() == start { separator } else { "/" };
            let is_plain = !rest.is_empty() && rest.split('/').all(|part| part != "..");
            return is_plain.then(|| format!("{base}{separator}{rest}"));
        }
    }
}

fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn submodules_are_fetched_from_the_host_of_their_repository() {
        for (repository, written, wanted) in [
            ("https://h.org/o/r.git", "../s.git", Some("https://h.org/o/s.git")),
            ("https://h.org/o/r/", "../../p/s", Some("https://h.org/p/s")),
            ("https://h.org/o/r", "./s", Some("https://h.org/o/r/s")),
            ("git@h.org:o/r.git", "../s.git", Some("git@h.org:o/s.git")),
            ("git@h.org:o/r", "../../s", Some("git@h.org:s")),
            ("file:///srv/r", "../s", Some("file:///srv/s")),
            ("https://h.org/o/r", "https://H.org/p/s", Some("https://H.org/p/s")),
            ("https://h.org/o/r", "git@h.org:p/s", Some("git@h.org:p/s")),
            ("https://h.org/o/r", "../../../s", None),
            ("git@h.org:o/r", "../../../s", None),
            ("https://h.org/o/r", "../a/../../../../s", None),
            ("https://h.org/o/r", "https://evil.org/p/s", None),
            ("https://h.org/o/r", "https://a:b@h.org/p/s", None),
            ("https://h.org/o/r", "http://h.org/p/s", None),
            ("https://h.org/o/r", "file:///srv/s", None),
            ("file:///srv/r", "file:///srv/s", None),
            ("https://h.org/o/r", "/srv/s", None),
            ("https://h.org/o/r", "ext::sh -c id", None),
            ("https://h.org/o/r", "--upload-pack=x", None),
            ("https://h.org/o/r", "s", None),
        ] {
            assert_eq!(address(repository, written).as_deref(), wanted, "{repository} {written}");
        }
    }

    #[test]
    fn only_submodules_that_may_hold_chosen_skills_are_wanted() {
        let file = |path: &str| TreeEntry {
            path: path.to_owned(),
            kind: TreeKind::File { bytes: 1, executable: false },
        };
        let some = [file("skills/pdf/SKILL.md"), file("README.md")];
        let market = r#"{"plugins": [{"source": "./plugins/kit"}]}"#;
        for (path, entries, marketplace, base, skills, wanted) in [
            ("skills/team", &some[..], "", None, &[][..], true),
            ("skills/pdf/vendor", &some, "", None, &[], true),
            ("vendor/lib", &some, "", None, &[], false),
            ("vendor/lib", &some[1..], "", None, &[], true),
            ("plugins/kit", &some, market, None, &[], true),
            ("vendor/lib", &some, "", Some("vendor"), &[], true),
            ("vendor/lib", &some, "", Some("vendor/lib/kit"), &[], true),
            ("skills/team", &some, "", Some("docs"), &[], false),
            ("skills/team", &some, "", None, &["pdf"], false),
            ("skills/pdf/vendor", &some, "", None, &["pdf"], true),
            ("skills/team", &some, "", None, &["pdf", "docx"], true),
            ("skills/team", &some, "", None, &["skills/team/docx"], true),
            ("vendor/lib", &some, "", None, &["vendor/lib/docx"], true),
            ("skills/team", &some, "", None, &["!team"], false),
            ("skills/team", &some, "", None, &["!skills/team"], false),
            ("skills/team", &some, "", None, &["!pdf"], true),
        ] {
            let settings = FetchSettings {
                path: base.map(str::to_owned),
                skills: skills.iter().map(|id: &&str| (*id).to_owned()).collect(),
                ..FetchSettings::default()
            };
            let is_wanted = is_wanted(path, entries, marketplace, &settings);
            assert_eq!(is_wanted, wanted, "{path} {base:?} {skills:?}");
        }
    }
}
