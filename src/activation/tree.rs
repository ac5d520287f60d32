//! Draws the tree of a skill's directory, for the user who is asked for consent.

use std::ffi::OsStr;
use std::path::Path;

use repertoire_system::confined::{Dir, Kind, Links};
use unicode_normalization::char::is_combining_mark;

use crate::catalog::files::{Listing, MAX_ENTRIES, holds_skill, list, no_directory};
use crate::catalog::passed_over::is_made_by_tools;
use crate::error::Error;

/// The limits of a drawn folder tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeLimits {
    /// The most levels of directories that are opened below the skill's own. Default 3.
    pub depth: usize,
    /// The most entries that are shown of one directory. Default 20.
    pub entries_per_dir: usize,
    /// The most lines in total, without the one that says that more was left out. Default 60.
    pub lines: usize,
}

impl Default for TreeLimits {
    fn default() -> TreeLimits {
        TreeLimits { depth: 3, entries_per_dir: 20, lines: 60 }
    }
}

/// Draws the tree of the skill's directory `dir` as indented text, for a consent dialog. Hidden files
/// are shown. Each directory lists its files first, then its directories, both in byte order.
///
/// Omissions are noted in place; characters that could mislead a reader or a terminal are escaped.
/// At most 10,000 entries are read. Fails with `NOT_FOUND` if the directory cannot be read.
pub fn folder_tree(dir: &Path, limits: &TreeLimits) -> Result<String, Error> {
    let root = Dir::open(dir).map_err(|error| no_directory(dir, &error))?;
    let mut n_left = MAX_ENTRIES;
    let listing = list(&root, &mut n_left).map_err(|error| no_directory(dir, &error))?;
    let mut tree = Tree { lines: Vec::new(), is_cut: false, n_left, limits };
    tree.line(0, &format!("{}/", visible(dir.file_name().unwrap_or(dir.as_os_str()))));
    tree.add(&root, listing, 1);
    if tree.is_cut {
        tree.lines.push("… the rest is not shown".to_owned());
    }
    Ok(tree.lines.join("\n"))
}

struct Tree<'a> {
    lines: Vec<String>,
    is_cut: bool,
    /// The number of entries that may still be read.
    n_left: usize,
    limits: &'a TreeLimits,
}

impl Tree<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        if self.lines.len() < self.limits.lines {
            self.lines.push(format!("{:1$}{text}", "", 2 * depth));
        } else {
            self.is_cut = true;
        }
    }

    fn add(&mut self, dir: &Dir, mut listing: Listing, depth: usize) {
        listing.entries.sort_by_key(|entry| entry.kind == Kind::Dir);
        let n_hidden = listing.entries.len().saturating_sub(self.limits.entries_per_dir);
        for entry in listing.entries.iter().take(self.limits.entries_per_dir) {
            if self.is_cut {
                return;
            }
            let name = visible(&entry.name);
            match entry.kind {
                Kind::File => self.line(depth, &name),
                Kind::Link => self.line(depth, &format!("{name} (link)")),
                Kind::Other => self.line(depth, &format!("{name} (not a file)")),
                Kind::Dir => self.add_dir(dir, &entry.name, depth),
            }
        }
        match (n_hidden, listing.complete) {
            (0, true) => {}
            (_, true) => self.line(depth, &format!("… {n_hidden} more")),
            (_, false) => self.line(depth, &format!("… more than {n_hidden} more")),
        }
    }

    fn add_dir(&mut self, parent: &Dir, name: &OsStr, depth: usize) {
        let shown = visible(name);
        if is_made_by_tools(name) || depth > self.limits.depth {
            return self.line(depth, &format!("{shown}/ (not shown)"));
        }
        let listed = parent.dir(Path::new(name), Links::Never).and_then(|dir| {
            let listing = list(&dir, &mut self.n_left)?;
            Ok((dir, listing))
        });
        match listed {
            Err(_) => self.line(depth, &format!("{shown}/ (cannot be read)")),
            Ok((_, listing)) if holds_skill(&listing.entries) => {
                self.line(depth, &format!("{shown}/ (a skill of its own)"));
            }
            Ok((dir, listing)) => {
                self.line(depth, &format!("{shown}/"));
                self.add(&dir, listing, depth + 1);
            }
        }
    }
}

/// Returns `name` with all characters escaped that do not show as themselves: controls, marks of
/// direction, unusual blanks.
fn visible(name: &OsStr) -> String {
    let mut shown = String::new();
    for c in name.to_string_lossy().chars() {
        if matches!(c, ' '..='~') || is_combining_mark(c) {
            shown.push(c);
        } else {
            shown.extend(c.escape_debug());
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::*;
    use crate::error::ErrorCode;

    fn skill(files: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let temp = tempfile::tempdir().unwrap();
        let dir = temp.path().join("review");
        for file in files {
            let path = dir.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        (temp, dir)
    }

    #[cfg(unix)]
    #[test]
    fn the_tree_shows_what_there_is_and_says_what_it_is_not() {
        let (_temp, dir) = skill(&[
            "SKILL.md",
            ".env",
            "scripts/run.sh",
            "scripts/__pycache__/x.pyc",
            ".git/config",
            "sub/SKILL.md",
            "sub/secret.md",
            "a/b/c/d/e.md",
            "zoë\x1b[2J\u{202e}'.md",
        ]);
        std::os::unix::fs::symlink("/etc", dir.join("etc")).unwrap();
        let shown = folder_tree(&dir, &TreeLimits::default()).unwrap();
        let expected = "\
review/
  .env
  SKILL.md
  etc (link)
  zoë\\u{1b}[2J\\u{202e}'.md
  .git/ (not shown)
  a/
    b/
      c/
        d/ (not shown)
  scripts/
    run.sh
    __pycache__/ (not shown)
  sub/ (a skill of its own)";
        assert_eq!(shown, expected);
        let error = folder_tree(&dir.join("missing"), &TreeLimits::default()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::NotFound);
    }

    #[test]
    fn wide_and_long_trees_are_cut_where_it_is_said() {
        let names: Vec<String> = (0..50).map(|n| format!("d{}/f{n:02}", n % 5)).collect();
        let (_temp, dir) = skill(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let limits = TreeLimits { depth: 3, entries_per_dir: 2, lines: 60 };
        let wide = folder_tree(&dir, &limits).unwrap();
        let expected = "\
review/
  d0/
    f00
    f05
    … 8 more
  d1/
    f01
    f06
    … 8 more
  … 3 more";
        assert_eq!(wide, expected);
        let long = folder_tree(&dir, &TreeLimits { lines: 5, ..limits }).unwrap();
        let first: Vec<&str> = expected.lines().take(5).collect();
        assert_eq!(long, format!("{}\n… the rest is not shown", first.join("\n")));
        let flat = folder_tree(&dir, &TreeLimits { depth: 0, entries_per_dir: 1, lines: 9 });
        assert_eq!(flat.unwrap(), "review/\n  d0/ (not shown)\n  … 4 more");
    }
}
