//! Files whose attributes sandboxed code tries to change. The program itself is `system_calls.py` with `attributes.py` in this directory.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

/// The Python program that changes them.
pub(crate) const PROGRAM: &str =
    concat!(include_str!("system_calls.py"), include_str!("attributes.py"));

/// A file that sandboxed code may change, and one of the user's that it may not.
pub(crate) struct Files {
    pub(crate) writable: TempDir,
    foreign: TempDir,
    before: [Metadata; 2],
}

impl Files {
    pub(crate) fn new() -> Files {
        let [writable, foreign] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        for dir in [&writable, &foreign] {
            fs::write(dir.path().join("file"), "of the user").unwrap();
        }
        let before = Files::state(&foreign);
        Files { writable, foreign, before }
    }

    fn state(dir: &TempDir) -> [Metadata; 2] {
        [dir.path().to_owned(), dir.path().join("file")].map(|path| fs::metadata(path).unwrap())
    }

    /// Returns the argument of the program.
    pub(crate) fn aim(&self) -> Value {
        let file = |dir: &TempDir| dir.path().join("file");
        json!({"writable": file(&self.writable), "foreign": file(&self.foreign)})
    }

    /// Asserts that every call reached the files that may be changed, and none another one.
    pub(crate) fn assert_changed(&self, printed: &str, is_supervised: bool) {
        let mut tries = 0;
        for line in printed.lines() {
            let parts: Vec<&str> = line.splitn(3, ": ").collect();
            let [file, call, result] = parts[..].try_into().unwrap();
            tries += 1;
            // Some file systems have no such attributes, and those that have them none of links.
            let is_lacking = call.contains("xattr") && ["EOPNOTSUPP", "ENODATA"].contains(&result)
                || call.starts_with("fchmodat2") && result == "ENOSYS";
            let expected = match file {
                "foreign" => result != "done",
                _ if !is_supervised => result == "EPERM",
                _ => result == "done" || is_lacking,
            };
            assert!(expected, "{line}\nof {printed}");
        }
        let least = if cfg!(target_arch = "x86_64") { 3 * 115 } else { 3 * 75 };
        assert!(tries >= least, "{tries} of {printed}");
        for (before, after) in self.before.iter().zip(Files::state(&self.foreign)) {
            // Whatever changes moves this time, which nobody can set.
            let changed = |it: &Metadata| (it.ctime(), it.ctime_nsec(), it.mode(), it.uid());
            assert_eq!(changed(before), changed(&after), "{printed}");
        }
        assert!(is_supervised == self.is_changed(), "{printed}");
    }

    fn is_changed(&self) -> bool {
        let file = Path::new("file");
        fs::metadata(self.writable.path().join(file)).unwrap().mode() & 0o777 == 0o640
    }
}
