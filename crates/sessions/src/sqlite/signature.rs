//! The signature of a file: whether its bytes mark it as a session store, even a damaged one.
//!
//! Only a file with our signature is ever renamed.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use super::rows::APPLICATION;

/// The start of every `SQLite` database.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// The position of the application id in the header, a big-endian number of four bytes.
const APPLICATION_AT: std::ops::Range<usize> = 68..72;
/// The position of the schema's B-tree: its kind, and three bytes later the number of its cells.
const SCHEMA_AT: usize = 100;
/// The kind of a table leaf: without cells, the database has no tables.
const LEAF: u8 = 0x0d;
/// The size of the largest possible page, in bytes. The statements that created our tables are in the
/// first page.
const LONGEST_PAGE: u64 = 64 << 10;
/// Parts of the statements that created our tables, which every version has.
const TABLES: [&[u8]; 3] =
    [b"CREATE TABLE session (", b"CREATE TABLE skill (", b"activated_by TEXT"];

/// The kind of a file, by its first page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signature {
    /// An empty file, or a database without tables.
    Vacant,
    /// A session store, sound or damaged.
    Ours,
    /// A database of another program.
    OtherDatabase,
    /// A file that is not a database.
    OtherFile,
}

/// Returns our application id as the header stores it.
fn ours() -> [u8; 4] {
    u32::try_from(APPLICATION).unwrap_or_default().to_be_bytes()
}

impl Signature {
    /// Reads the signature of the file at `path`. Closing the file drops all locks of this process on
    /// it, as POSIX requires, so no other code in this process may have it open.
    pub(super) fn of(path: &Path) -> io::Result<Signature> {
        let mut page = Vec::new();
        File::open(path)?.take(LONGEST_PAGE).read_to_end(&mut page)?;
        Ok(Signature::of_page(&page))
    }

    fn of_page(page: &[u8]) -> Signature {
        let application = page.get(APPLICATION_AT).unwrap_or_default();
        let holds = |part: &&[u8]| page.windows(part.len()).any(|window| window == *part);
        let has_no_table = || {
            page.get(SCHEMA_AT..SCHEMA_AT + 5)
                .is_some_and(|head| matches!(head, [LEAF, _, _, 0, 0]))
        };
        if page.is_empty() {
            Signature::Vacant
        } else if application == ours() {
            Signature::Ours
        } else if !page.starts_with(MAGIC) {
            Signature::OtherFile
        } else if TABLES.iter().all(holds) {
            Signature::Ours
        } else if application == [0; 4] && has_no_table() {
            Signature::Vacant
        } else {
            Signature::OtherDatabase
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_ours_by_its_application_or_its_tables() {
        let page = |magic: &[u8], application: [u8; 4], cells: u8, rest: &[u8]| {
            let mut page = vec![0; 4096];
            page[..magic.len()].copy_from_slice(magic);
            page[APPLICATION_AT].copy_from_slice(&application);
            page[SCHEMA_AT] = LEAF;
            page[SCHEMA_AT + 4] = cells;
            page[2000..2000 + rest.len()].copy_from_slice(rest);
            page
        };
        let tables = TABLES.concat();
        let cases: &[(&str, Vec<u8>, Signature)] = &[
            ("nothing", Vec::new(), Signature::Vacant),
            ("short text", b"no".to_vec(), Signature::OtherFile),
            ("text", page(b"# Notes", [0; 4], 0, b""), Signature::OtherFile),
            ("text of our tables", page(b"-- SQL", [0; 4], 0, &tables), Signature::OtherFile),
            ("no table", page(MAGIC, [0; 4], 0, b""), Signature::Vacant),
            ("a database", page(MAGIC, [0; 4], 2, TABLES[0]), Signature::OtherDatabase),
            ("another program", page(MAGIC, [7; 4], 0, b""), Signature::OtherDatabase),
            ("a header alone", MAGIC.to_vec(), Signature::OtherDatabase),
            ("ours", page(MAGIC, ours(), 7, &tables), Signature::Ours),
            ("a bad magic", page(b"SQLitf", ours(), 7, b""), Signature::Ours),
            ("a bad application", page(MAGIC, [0x52; 4], 7, &tables), Signature::Ours),
        ];
        for (name, page, wanted) in cases {
            assert_eq!(Signature::of_page(page), *wanted, "{name}");
        }
    }
}
