//! The inputs of a load in the form of a snapshot, which can be compared with the disk without decoding
//! it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Error as _, Serialize, Serializer};

use super::{Environment, EnvironmentInputs, Inputs, Stamp, in_parts, tell_changed};
use crate::catalog::stamp::PLAIN_LEN;

/// The length of a row in bytes: the offset in `paths` at which its path ends, and the path's stamp.
const ROW_LEN: usize = size_of::<u32>() + PLAIN_LEN;

/// [`Inputs`] in as few allocations as possible.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct StoredInputs<'a> {
    /// The paths with a plain stamp, in order, joined without separators.
    #[serde(borrow)]
    paths: Cow<'a, str>,
    /// One row for each path in `paths`.
    #[serde(borrow)]
    rows: Cow<'a, [u8]>,
    /// All other paths: links, paths that did not exist, and those whose stamp is not settled.
    others: Vec<(PathBuf, Stamp)>,
    around: Cow<'a, EnvironmentInputs>,
}

impl StoredInputs<'_> {
    /// Tells whether a new load would find the same inputs, as [`Inputs::is_current`] does.
    pub(crate) fn is_current(&self, environment: &Environment) -> bool {
        let is_changed = |place: &usize| !self.is_plain(*place);
        if let Some(place) = in_parts(self.n_plain(), |mut part| part.find(is_changed)) {
            tell_changed(self.plain(place).map_or(Path::new(""), |(path, _)| path));
            return false;
        }
        if let Some((path, _)) = self.others.iter().find(|(path, stamp)| !stamp.is_current(path)) {
            tell_changed(path);
            return false;
        }
        self.around.is_current(environment)
    }

    /// The number of rows. A truncated row counts as one, and matches no path.
    fn n_plain(&self) -> usize {
        self.rows.len().div_ceil(ROW_LEN)
    }

    /// The path and the stamp of a row; `None` if the row or its path is damaged.
    fn plain(&self, place: usize) -> Option<(&Path, &[u8; PLAIN_LEN])> {
        let row = |place: usize| {
            let row = self.rows.get(place * ROW_LEN..)?.get(..ROW_LEN)?;
            let (end, stamp) = row.split_first_chunk()?;
            Some((u32::from_le_bytes(*end) as usize, stamp.first_chunk()?))
        };
        let start = match place.checked_sub(1) {
            Some(before) => row(before)?.0,
            None => 0,
        };
        let (end, stamp) = row(place)?;
        Some((Path::new(self.paths.get(start..end)?), stamp))
    }

    /// Tells whether the path of a row still has the stamp in the row.
    fn is_plain(&self, place: usize) -> bool {
        let Some((path, stamp)) = self.plain(place) else { return false };
        Stamp::take(path, SystemTime::UNIX_EPOCH).plain().as_ref() == Some(stamp)
    }
}

impl<'a> TryFrom<&'a Inputs> for StoredInputs<'a> {
    type Error = &'static str;

    fn try_from(inputs: &'a Inputs) -> Result<Self, Self::Error> {
        let Inputs { start: _, stamps, listings: _, around } = inputs;
        let (mut paths, mut rows, mut others) = (String::new(), Vec::new(), Vec::new());
        for (path, stamp) in stamps {
            match stamp.plain().filter(|_| stamp.is_settled()) {
                Some(plain) => {
                    paths.push_str(path.to_str().ok_or("a path that is not Unicode")?);
                    let end = u32::try_from(paths.len()).map_err(|_| "paths of 4 GB")?;
                    rows.extend_from_slice(&end.to_le_bytes());
                    rows.extend_from_slice(&plain);
                }
                None => others.push((path.clone(), stamp.clone())),
            }
        }
        let around = Cow::Borrowed(around);
        Ok(StoredInputs { paths: paths.into(), rows: rows.into(), others, around })
    }
}

impl From<StoredInputs<'_>> for Inputs {
    fn from(kept: StoredInputs<'_>) -> Inputs {
        let plain = (0..kept.n_plain()).filter_map(|place| kept.plain(place));
        let plain = plain.map(|(path, stamp)| (path.to_owned(), Stamp::of_plain(stamp)));
        let stamps = plain.chain(kept.others.iter().cloned()).collect();
        // `start` does not matter: inputs read from a snapshot are only compared, never extended.
        let around = kept.around.into_owned();
        Inputs { start: SystemTime::now(), stamps, listings: BTreeMap::new(), around }
    }
}

impl Serialize for Inputs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        StoredInputs::try_from(self).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Inputs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Inputs, D::Error> {
        StoredInputs::deserialize(deserializer).map(Inputs::from)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use tempfile::TempDir;

    use super::*;

    const ENVIRONMENT: Environment = Environment::Process;

    /// A directory with files and, on systems that have them, a link; all stamps are settled.
    fn scene() -> (TempDir, Inputs) {
        let dir = TempDir::new().unwrap();
        let mut inputs = Inputs::begin();
        inputs.start += Duration::from_secs(10);
        inputs.root(dir.path());
        for name in ["a", "b", "c"] {
            fs::write(dir.path().join(name), name).unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink("a", dir.path().join("link")).unwrap();
        // The root was recorded before it had any files: record it again.
        inputs.stamps.clear();
        for name in ["", "a", "b", "c", "link", "missing"] {
            inputs.path(&dir.path().join(name));
        }
        inputs.has_variable("no such variable", &ENVIRONMENT);
        (dir, inputs)
    }

    fn written(inputs: &Inputs) -> Vec<u8> {
        postcard::to_stdvec(inputs).unwrap()
    }

    fn read(written: &[u8]) -> StoredInputs<'_> {
        postcard::from_bytes(written).unwrap()
    }

    #[test]
    fn what_was_seen_is_the_same_after_it_was_written() {
        let (_dir, inputs) = scene();
        let written = written(&inputs);
        let again = Inputs { start: inputs.start, ..postcard::from_bytes(&written).unwrap() };
        assert_eq!(again, inputs);
        assert!(inputs.is_current(&ENVIRONMENT) && read(&written).is_current(&ENVIRONMENT));
    }

    #[test]
    fn what_changes_is_no_longer_current_whether_it_was_written_or_not() {
        type Change = fn(&Path);
        let changes: [(&str, Change); 4] = [
            ("the first file", |dir| fs::write(dir.join("a"), "other").unwrap()),
            ("the last file", |dir| fs::write(dir.join("c"), "other").unwrap()),
            ("what was missing", |dir| fs::write(dir.join("missing"), "").unwrap()),
            ("a file that went", |dir| fs::remove_file(dir.join("b")).unwrap()),
        ];
        for (what, change) in changes {
            let (dir, inputs) = scene();
            let written = written(&inputs);
            change(dir.path());
            assert!(!read(&written).is_current(&ENVIRONMENT), "{what}");
            assert!(!inputs.is_current(&ENVIRONMENT), "{what}");
        }
    }

    #[test]
    fn what_does_not_fit_together_is_not_current() {
        let (_dir, inputs) = scene();
        let written = written(&inputs);
        let len = read(&written).rows.len();
        for rows_len in [1, ROW_LEN + 1, len - 1] {
            let mut kept = read(&written);
            kept.rows.to_mut().truncate(rows_len);
            assert!(!kept.is_current(&ENVIRONMENT), "{rows_len} of {len} bytes");
        }
        for byte in 0..len {
            let mut kept = read(&written);
            kept.rows.to_mut()[byte] ^= 0x80;
            assert!(!kept.is_current(&ENVIRONMENT), "byte {byte}");
            let _ = Inputs::from(kept);
        }
    }

    #[test]
    fn nothing_is_proved_by_what_is_not_known() {
        let inputs = Inputs::default();
        assert!(!inputs.is_current(&ENVIRONMENT));
        assert!(!read(&written(&inputs)).is_current(&ENVIRONMENT));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_path_that_is_not_unicode_is_not_written() {
        use std::os::unix::ffi::OsStrExt as _;
        let (dir, mut inputs) = scene();
        let path = dir.path().join(std::ffi::OsStr::from_bytes(b"odd\xff"));
        fs::write(&path, "").unwrap();
        inputs.path(&path);
        assert!(postcard::to_stdvec(&inputs).is_err());
    }
}
