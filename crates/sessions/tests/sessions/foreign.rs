//! Stores opened on files of all kinds. Only our own files are moved, and every result says what
//! happened.

use std::fs;
use std::path::{Path, PathBuf};

use repertoire::ErrorCode;
use repertoire_sessions::SqliteStore;

use super::damage::{PAGE, damaged, filled, noise};
use super::{record_use, used};

/// Returns every file in a directory with its content, except for the locks of stores and the side
/// files that readers create.
fn contents(dir: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut all: Vec<(PathBuf, Option<Vec<u8>>)> = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.to_str().unwrap();
            let is_empty = || path.metadata().is_ok_and(|metadata| metadata.len() == 0);
            let is_beside = name.ends_with("-shm") || name.ends_with("-wal") && is_empty();
            path.extension().is_none_or(|extension| extension != "lock") && !is_beside
        })
        .map(|path| {
            let is_file = path.symlink_metadata().unwrap().is_file();
            let content = is_file.then(|| fs::read(&path).unwrap());
            (path, content)
        })
        .collect();
    all.sort();
    all
}

#[test]
fn only_a_damaged_store_is_ever_renamed() {
    /// A description, a function that creates something at a path, and a part of the error, which is
    /// empty if a new store is created.
    type Case<'a> = (&'a str, Box<dyn Fn(&Path) + 'a>, &'a str);
    let whole = filled(&tempfile::tempdir().unwrap().path().join("whole.db"));
    let sql = |path: &Path, sql: &str| {
        rusqlite::Connection::open(path).unwrap().execute_batch(sql).unwrap();
    };
    let store = |path: &Path| fs::write(path, &whole).unwrap();
    let foreign = "CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('dear diary')";
    let mut cases: Vec<Case<'_>> = vec![
        (
            "text",
            Box::new(|path: &Path| fs::write(path, "# Notes\n".repeat(900)).unwrap()),
            "a file of another kind",
        ),
        (
            "short text",
            Box::new(|path: &Path| fs::write(path, "no").unwrap()),
            "a file of another kind",
        ),
        (
            "noise",
            Box::new(|path: &Path| fs::write(path, noise(3 * PAGE)).unwrap()),
            "a file of another kind",
        ),
        ("directory", Box::new(|path: &Path| fs::create_dir(path).unwrap()), "is not a file"),
        (
            "foreign database",
            Box::new(|path: &Path| sql(path, foreign)),
            "a database of another program",
        ),
        (
            "with a journal",
            Box::new(|path: &Path| sql(path, &format!("PRAGMA journal_mode = wal; {foreign}"))),
            "a database of another program",
        ),
        (
            "versioned",
            Box::new(|path: &Path| sql(path, "PRAGMA user_version = 1; CREATE TABLE a (b)")),
            "a database of another program",
        ),
        (
            "damaged foreign database",
            Box::new(|path: &Path| {
                sql(path, foreign);
                let bytes = fs::read(path).unwrap();
                fs::write(path, &bytes[..bytes.len() - 2000]).unwrap();
            }),
            "a database of another program",
        ),
        (
            "newer version",
            Box::new(|path: &Path| {
                store(path);
                sql(path, "PRAGMA user_version = 7");
            }),
            "made by a newer Repertoire",
        ),
        (
            "truncated",
            Box::new(|path: &Path| fs::write(path, &whole[..whole.len() / 2]).unwrap()),
            "",
        ),
        (
            "bit-flipped",
            Box::new(|path: &Path| {
                let mut bytes = whole.clone();
                bytes[0] ^= 1;
                fs::write(path, bytes).unwrap();
            }),
            "",
        ),
    ];
    #[cfg(unix)]
    let (elsewhere, link, fifo, read_only) = {
        let elsewhere = tempfile::tempdir().unwrap();
        let target = elsewhere.path().join("notes.md");
        fs::write(&target, "# Notes\n").unwrap();
        let link = move |path: &Path| std::os::unix::fs::symlink(&target, path).unwrap();
        let fifo = |path: &Path| {
            use rustix::fs::{CWD, FileType, Mode, mknodat};
            mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
        };
        let read_only = |path: &Path| {
            use std::os::unix::fs::PermissionsExt as _;
            store(path);
            fs::set_permissions(path, fs::Permissions::from_mode(0o400)).unwrap();
        };
        (elsewhere, link, fifo, read_only)
    };
    #[cfg(unix)]
    {
        cases.push(("link", Box::new(link), "in another directory"));
        let beside = |path: &Path| {
            fs::write(path.with_file_name("notes.md"), "# Notes\n").unwrap();
            std::os::unix::fs::symlink("notes.md", path).unwrap();
        };
        cases.push(("link to a text beside it", Box::new(beside), "a file of another kind"));
        cases.push(("FIFO", Box::new(fifo), "is not a file"));
        // The superuser can write to it anyway.
        if !rustix::process::geteuid().is_root() {
            cases.push(("read-only", Box::new(read_only), "readonly"));
        }
    }
    for (name, make, wanted) in cases {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sessions.db");
        make(&path);
        let before = contents(dir.path());
        // The side files of the first attempt must not affect the second one.
        for attempt in 1..=2 {
            let told = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
            let teller = std::sync::Arc::clone(&told);
            let opened = SqliteStore::open_telling(&path, move |aside| {
                teller.lock().unwrap().push(aside.to_string());
            });
            let told = told.lock().unwrap().join("\n");
            match opened {
                Err(error) => {
                    assert!(
                        !wanted.is_empty() && error.message().contains(wanted),
                        "{name}: {error}"
                    );
                    let named = error.message().contains("sessions.db")
                        || name == "link to a text beside it"
                            && error.message().contains("notes.md");
                    assert!(named, "{name}: {error}");
                    assert_eq!(error.code(), ErrorCode::ExecutionError, "{name}");
                    assert!(!error.help().is_empty(), "{name}");
                    assert_eq!(told, "", "{name}");
                    assert!(
                        contents(dir.path()) == before,
                        "{name}: something was moved or changed"
                    );
                }
                Ok(store) => {
                    assert_eq!(wanted, "", "{name} was opened");
                    record_use(&store, "a", "git");
                    assert_eq!(used(&store, "a"), attempt, "{name}");
                    assert_eq!(told.is_empty(), attempt == 2, "{name}: {told}");
                    assert!(attempt == 2 || told.contains(".damaged-"), "{name}: {told}");
                    let aside = damaged(&path);
                    assert!(fs::read(&aside[0]).ok() == before[0].1, "{name}: it was changed");
                }
            }
        }
    }
    #[cfg(unix)]
    assert_eq!(fs::read(elsewhere.path().join("notes.md")).unwrap(), b"# Notes\n");
    #[cfg(target_os = "linux")]
    crate::probes::again_as_another(
        "foreign::only_a_damaged_store_is_ever_renamed",
        crate::support::say,
    );
}
