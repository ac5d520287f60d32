//! The names of a source as a tree, in which links are followed without a file system.

use std::collections::BTreeMap;

use super::limits::refused;
use super::provider::{TreeEntry, TreeKind};
use repertoire::Error;

/// The maximum number of links that are followed to find one file.
const MAX_LINKS: usize = 40;

/// The maximum depth of directories.
const MAX_DEPTH: usize = 64;

/// A node of the tree.
pub(super) enum Node<'a> {
    Dir(BTreeMap<&'a str, Node<'a>>),
    /// The entry of a file, a link, or anything else that is not a directory.
    Leaf(&'a TreeEntry),
}

/// The tree of all names of a source.
pub(super) struct PathIndex<'a> {
    root: BTreeMap<&'a str, Node<'a>>,
    /// The source, for errors.
    pub(super) source: &'a str,
}

/// The result of looking up a path.
pub(super) enum Found<'t, 'a> {
    Dir(&'t BTreeMap<&'a str, Node<'a>>),
    /// A file, or an entry of another kind that is not a directory or a link.
    Leaf(&'a TreeEntry),
    Nothing,
    /// A link on the way leaves the source.
    Outside,
}

impl<'a> PathIndex<'a> {
    /// Sorts entries into a tree. Fails with `PERMISSION_DENIED` if a path is absolute, holds `..`,
    /// is deeper than 64 directories, or is both a file and a directory.
    pub(super) fn new(entries: &'a [TreeEntry], source: &'a str) -> Result<PathIndex<'a>, Error> {
        let mut root = BTreeMap::new();
        for entry in entries {
            let path = entry.path.as_str();
            let refuse = |why| Err(refused(source, path, why));
            if path.is_empty() || path.starts_with('/') || path.contains('\0') {
                return refuse("is not a path below it");
            }
            let parts: Vec<&str> = path.split('/').filter(|p| !matches!(*p, "" | ".")).collect();
            if parts.contains(&"..") {
                return refuse("leaves it");
            }
            if parts.len() > MAX_DEPTH {
                return refuse("is too deep");
            }
            let Some((last, above)) = parts.split_last() else { continue };
            let mut dir = &mut root;
            for part in above {
                match dir.entry(*part).or_insert_with(|| Node::Dir(BTreeMap::new())) {
                    Node::Dir(below) => dir = below,
                    Node::Leaf(_) => return refuse("is below a file"),
                }
            }
            if dir.insert(*last, Node::Leaf(entry)).is_some() {
                return refuse("stands in it twice");
            }
        }
        Ok(PathIndex { root, source })
    }

    /// Looks up a path from the root, following links.
    pub(super) fn find(&self, path: &str) -> Found<'_, 'a> {
        let mut left: Vec<String> = path.split('/').rev().map(str::to_owned).collect();
        // The directories that lead to the current one, without the root.
        let mut above: Vec<&BTreeMap<&str, Node<'_>>> = Vec::new();
        let mut n_links = 0;
        while let Some(part) = left.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." => match above.pop() {
                    Some(_) => continue,
                    None => return Found::Outside,
                },
                _ => {}
            }
            let dir = above.last().copied().unwrap_or(&self.root);
            match dir.get(part.as_str()) {
                None => return Found::Nothing,
                Some(Node::Dir(below)) => above.push(below),
                Some(Node::Leaf(entry)) => match &entry.kind {
                    TreeKind::Link { target } => {
                        n_links += 1;
                        if n_links > MAX_LINKS {
                            return Found::Nothing;
                        }
                        if target.starts_with('/') || target.contains('\\') {
                            return Found::Outside;
                        }
                        left.extend(target.split('/').rev().map(str::to_owned));
                    }
                    _ if left.iter().all(|part| matches!(part.as_str(), "" | ".")) => {
                        return Found::Leaf(entry);
                    }
                    _ => return Found::Nothing,
                },
            }
        }
        Found::Dir(above.last().copied().unwrap_or(&self.root))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, target: Option<&str>) -> TreeEntry {
        let kind = match target {
            Some(target) => TreeKind::Link { target: target.to_owned() },
            None => TreeKind::File { bytes: 1, executable: false },
        };
        TreeEntry { path: path.to_owned(), kind }
    }

    #[test]
    fn links_are_followed_inside_the_source_only() {
        let entries = [
            entry("skills/a/SKILL.md", None),
            entry(".claude/skills", Some("../skills")),
            entry("b", Some("skills/a/SKILL.md")),
            entry("out", Some("../elsewhere")),
            entry("abs", Some("/etc")),
            entry("loop", Some("loop")),
            entry("gone", Some("nothing")),
        ];
        let names = PathIndex::new(&entries, "it").unwrap();
        for (path, wanted) in [
            ("", "dir"),
            ("skills/a", "dir"),
            (".claude/skills/a", "dir"),
            (".claude/skills/a/SKILL.md", "skills/a/SKILL.md"),
            ("b", "skills/a/SKILL.md"),
            ("b/", "skills/a/SKILL.md"),
            ("b/c", "nothing"),
            ("out", "outside"),
            ("abs/passwd", "outside"),
            ("loop", "nothing"),
            ("gone", "nothing"),
            ("skills/../..", "outside"),
        ] {
            let found = match names.find(path) {
                Found::Dir(_) => "dir",
                Found::Leaf(entry) => &entry.path,
                Found::Nothing => "nothing",
                Found::Outside => "outside",
            };
            assert_eq!(found, wanted, "{path}");
        }
    }

    #[test]
    fn hostile_names_are_refused() {
        for paths in [&["/etc/x"][..], &["a/../../x"], &[""], &["a", "a/b"], &["a", "./a"]] {
            let entries: Vec<TreeEntry> = paths.iter().map(|path| entry(path, None)).collect();
            let error = PathIndex::new(&entries, "it").err().unwrap();
            assert_eq!(error.code().as_str(), "PERMISSION_DENIED", "{paths:?}");
        }
        let deep = [entry(&"a/".repeat(100), None)];
        assert!(PathIndex::new(&deep, "it").is_err());
    }
}
