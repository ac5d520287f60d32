//! Addresses of skills and their files: `skill://PATH/FILE`, as in MCP's Skills extension.
//!
//! The path of a skill ends with its name. If the id ends with the name, the path is the id; otherwise
//! it is the id followed by the name. The path depends only on the catalog, so that a skill has the same
//! address in every process.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use repertoire::catalog::{Audience, Catalog, Entry};
use repertoire::{Error, ErrorCode};

/// The file of a skill that holds its instructions, whatever the letter case on disk.
pub(super) const SKILL_MD: &str = "SKILL.md";

const SCHEME: &str = "skill://";

/// The characters that are percent-encoded: all except the unreserved ones of RFC 3986 and the slashes
/// between segments.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Returns the path of a skill.
pub(super) fn path_of(catalog: &Catalog, entry: &Entry) -> String {
    let name = entry.skill.portable_name();
    let mut path = entry.id.to_string();
    if path.rsplit('/').next() == Some(&name) {
        return path;
    }
    // The loop repeats only if another skill has this path as its id.
    loop {
        path = format!("{path}/{name}");
        if catalog.get(&path).is_none() {
            return path;
        }
    }
}

/// Returns the address of the file or directory at `path`, which is not encoded yet.
pub(super) fn uri(path: &str) -> String {
    format!("{SCHEME}{}", utf8_percent_encode(path, ENCODED))
}

/// Returns the decoded path of an address. Fails with `INVALID_PARAM` if it is not the address of a
/// skill.
pub(super) fn path_in(uri: &str) -> Result<String, Error> {
    // Schemes are case-insensitive.
    let rest = uri.get(..SCHEME.len()).filter(|scheme| scheme.eq_ignore_ascii_case(SCHEME));
    let rest = rest.map(|_| &uri[SCHEME.len()..]);
    let rest = rest.ok_or_else(|| malformed(uri, "is not the address of a skill"))?;
    if rest.contains(['?', '#']) {
        return Err(malformed(uri, "has a query or a fragment"));
    }
    let decoded = percent_decode_str(rest).decode_utf8();
    Ok(decoded.map_err(|_| malformed(uri, "is not UTF-8"))?.into_owned())
}

fn malformed(uri: &str, why: &str) -> Error {
    let help = "write `skill://PATH/FILE`, with the path of the skill";
    Error::new(ErrorCode::InvalidParam, format!("`{uri}` {why}"), help)
}

/// Returns the skill id and the file path that `uri` stands for. Both may contain slashes. The longest
/// prefix that is the path or the id of a skill wins, because a skill never owns the files of a nested
/// skill.
pub(super) fn parse(catalog: &Catalog, uri: &str) -> Result<(String, String), Error> {
    let path = path_in(uri)?;
    for (slash, _) in path.rmatch_indices('/') {
        let (skill, file) = (&path[..slash], &path[slash + 1..]);
        if let Some(entry) = skill_at(catalog, skill) {
            let (entry, file) = nested(catalog, entry, file);
            return Ok((entry.id.to_string(), file.to_owned()));
        }
    }
    // No skill matches. The lookup of this id will fail with an error that names similar ids.
    let (skill, file) = path.split_once('/').ok_or_else(|| malformed(uri, "has no path"))?;
    Ok((skill.to_owned(), file.to_owned()))
}

/// Returns the listed skill whose directory is at or above `path`, and the path from its directory
/// to `path`.
pub(super) fn directory_at<'c>(catalog: &'c Catalog, path: &str) -> Option<(&'c Entry, String)> {
    let path = format!("{path}/");
    path.rmatch_indices('/').find_map(|(slash, _)| {
        let entry = skill_at(catalog, &path[..slash])?;
        let (entry, inner) = nested(catalog, entry, &path[slash + 1..]);
        let is_listed = catalog.listed(Audience::Model).any(|listed| listed.id == entry.id);
        is_listed.then(|| (entry, inner.trim_end_matches('/').to_owned()))
    })
}

/// Returns the skill whose path or id is `path`.
fn skill_at<'c>(catalog: &'c Catalog, path: &str) -> Option<&'c Entry> {
    if let Some(entry) = catalog.get(path) {
        return Some(entry);
    }
    let (mut above, name) = path.rsplit_once('/')?;
    loop {
        let entry = catalog.get(above).filter(|entry| path_of(catalog, entry) == path);
        if entry.is_some() {
            return entry;
        }
        above = above.strip_suffix(name)?.strip_suffix('/')?;
    }
}

/// Returns the skill that owns `file`, which is `entry` or a skill nested in it, and the path of the
/// file in that skill.
fn nested<'c, 'f>(catalog: &'c Catalog, entry: &'c Entry, file: &'f str) -> (&'c Entry, &'f str) {
    let below = catalog.nested(entry, Audience::Model).filter_map(|(dir, below)| {
        let file = file.strip_prefix(&dir)?.strip_prefix('/')?;
        Some((below, file))
    });
    below.min_by_key(|(_, file)| file.len()).unwrap_or((entry, file))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use repertoire::catalog::{CatalogOptions, Source};

    /// A catalog of skills in these directories, with this front matter.
    fn catalog(skills: &[(&str, &str)]) -> Catalog {
        let dir = tempfile::tempdir().unwrap();
        for (path, front_matter) in skills {
            let path = dir.path().join(path);
            fs::create_dir_all(&path).unwrap();
            let text = format!("---\ndescription: d\n{front_matter}\n---\n");
            fs::write(path.join("SKILL.md"), text).unwrap();
        }
        Catalog::load(&CatalogOptions::new(vec![Source::user(dir.path())]))
    }

    #[test]
    fn paths_end_with_the_name() {
        let catalog = catalog(&[
            ("plan", ""),
            ("dir", "name: other"),
            ("dir/sub", ""),
            ("dir/sub/deep", "name: deeper"),
            ("My Plan", ""),
            ("x", "name: Ein Plan"),
            ("a/b", "name: c"),
            ("a/b/c", "name: c"),
            ("a", ""),
        ]);
        for (id, path) in [
            ("plan", "plan"),
            ("other", "other"),
            ("dir/sub", "dir/sub"),
            ("dir/sub/deep", "dir/sub/deep/deeper"),
            ("My Plan", "My Plan/my-plan"),
            ("x", "x/ein-plan"),
            ("a/b", "a/b/c/c"),
            ("a/b/c", "a/b/c"),
        ] {
            let entry = catalog.get(id).unwrap_or_else(|| panic!("{id}"));
            assert_eq!(path_of(&catalog, entry), path, "{id}");
            assert_eq!(skill_at(&catalog, path).map(|entry| entry.id.as_str()), Some(id));
            let read = parse(&catalog, &uri(&format!("{path}/r e/f.md"))).unwrap();
            assert_eq!((&*read.0, &*read.1), (id, "r e/f.md"));
        }
        // Addressed from the skill above it, a nested skill is in its own directory.
        for (uri, id, file) in [
            ("skill://other/sub/a.md", "dir/sub", "a.md"),
            ("skill://other/sub/deep/SKILL.md", "dir/sub/deep", "SKILL.md"),
            ("skill://other/sub/SKILL.md", "dir/sub", "SKILL.md"),
            ("skill://other/subs/a.md", "other", "subs/a.md"),
        ] {
            let read = parse(&catalog, uri).unwrap();
            assert_eq!((&*read.0, &*read.1), (id, file), "{uri}");
        }
        for (path, expected) in [
            ("other", Some(("other", ""))),
            ("other/sub", Some(("dir/sub", ""))),
            ("other/sub/x/y", Some(("dir/sub", "x/y"))),
            ("nobody", None),
        ] {
            let found = directory_at(&catalog, path);
            let found = found.as_ref().map(|(entry, inner)| (entry.id.as_str(), inner.as_str()));
            assert_eq!(found, expected, "{path}");
        }
    }

    #[test]
    fn addresses_are_read_as_they_are_written() {
        let catalog = catalog(&[("plan", "")]);
        for (file, written) in [
            ("a.md", "skill://plan/a.md"),
            ("ref/a b.md", "skill://plan/ref/a%20b.md"),
            ("100%?#.md", "skill://plan/100%25%3F%23.md"),
            ("ü/~x.md", "skill://plan/%C3%BC/~x.md"),
        ] {
            assert_eq!(uri(&format!("plan/{file}")), written);
            let read = parse(&catalog, written).unwrap();
            assert_eq!((&*read.0, &*read.1), ("plan", file));
        }
    }

    #[test]
    fn what_is_not_an_address_is_refused() {
        let catalog = Catalog::default();
        for (address, why) in [
            ("", "is not the address of a skill"),
            ("file:///etc/passwd", "is not the address of a skill"),
            ("skill:/", "is not the address of a skill"),
            ("skill://plan", "has no path"),
            ("skill://plan/%ff", "is not UTF-8"),
            ("skill://plan/a?b", "has a query or a fragment"),
        ] {
            let error = parse(&catalog, address).unwrap_err();
            assert_eq!(error.message(), format!("`{address}` {why}"));
        }
        let unknown = parse(&catalog, "Skill://a/c/d").unwrap();
        assert_eq!(unknown, ("a".to_owned(), "c/d".to_owned()));
    }
}
