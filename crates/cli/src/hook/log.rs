//! The log of hooks. Nobody sees the output of a hook, so problems are written to a file.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use repertoire::session::Day;
use repertoire::{Error, ErrorCode};

use crate::args::Common;
use crate::output::Output;
use crate::{sanitize, setup};

/// The length in bytes at which the log is renamed to `hook.log.1`, which replaces the earlier one.
const LONGEST: u64 = 1 << 20;
/// The maximum length of a logged message, in characters; the rest is cut off.
const LONGEST_LINE: usize = 2000;

/// Writes to the log; if that fails, reports it on standard error.
pub(crate) fn note(what: &str, common: &Common) {
    let logged = setup::hook_log(common).and_then(|path| {
        write(&path, what).map_err(|error| {
            let message = format!("cannot write {}: {error}", path.display());
            let help = match error.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "make room on its disk"
                }
                _ => "make it a file that can be written",
            };
            let help = format!("{help}, or set `XDG_STATE_HOME` to another directory");
            Error::new(ErrorCode::ExecutionError, message, help)
        })
    });
    if let Err(error) = logged {
        Output::of(common).note(&sanitize::line(&said(&error)));
    }
}

/// Formats an error and its remedy as one line.
pub(super) fn said(error: &Error) -> String {
    format!("{error}; {}", error.help())
}

/// Appends a line to the log at `path`, which is private to the user. Several processes may write at
/// once.
fn write(path: &Path, what: &str) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|log| log.len() >= LONGEST) {
        // Another process may have renamed it first.
        match fs::rename(path, path.with_extension("log.1")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    let line = format!("{} {}\n", utc(SystemTime::now()), line_of(what));
    // One write, so that lines of several processes do not mix.
    append_to(path)?.write_all(line.as_bytes())
}

/// Opens the file at `path` to append. Creates it, private to the user, and its directory if they do
/// not exist.
pub(super) fn append_to(path: &Path) -> io::Result<File> {
    if let Some(dir) = path.parent() {
        fs::create_dir_all(dir)?;
    }
    let mut options = File::options();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // If the file is a pipe, opening it must not wait for a reader, which may never come.
        let no_waiting = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        options.mode(0o600).custom_flags(no_waiting);
    }
    options.open(path)
}

/// Tells whether a line of the log at `path` contains `what`.
pub(super) fn has(path: &Path, what: &str) -> bool {
    let what = line_of(what);
    read(path).is_ok_and(|text| String::from_utf8_lossy(&text).contains(&what))
}

/// Returns the content of the log. Fails unless it is a regular file: reading anything else may never
/// end.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    if fs::metadata(path)?.is_file() { fs::read(path) } else { Err(io::Error::other("not a file")) }
}

/// Converts a message to one line.
fn line_of(what: &str) -> String {
    what.chars().take(LONGEST_LINE).collect::<String>().replace(['\n', '\r'], " ")
}

/// Returns the last `n` lines of the log at `path`; none if there is no log.
pub(crate) fn tail(path: &Path, n: usize) -> io::Result<Vec<String>> {
    let text = match read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        read => read?,
    };
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    Ok(lines[lines.len().saturating_sub(n)..].iter().map(|&line| line.to_owned()).collect())
}

/// Formats `time` as in RFC 3339, to the second.
fn utc(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() % 86_400;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{}T{hour:02}:{minute:02}:{second:02}Z", Day::of(time))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_are_written_as_in_rfc_3339() {
        for (seconds, wanted) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_767_225_599, "2025-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc(UNIX_EPOCH + Duration::from_secs(seconds)), wanted);
        }
    }

    #[test]
    fn the_log_is_bounded_and_its_last_lines_are_read() {
        let dir = std::env::temp_dir().join(format!("repertoire-log-{}", std::process::id()));
        let path = dir.join("new/hook.log");
        assert_eq!(tail(&path, 3).unwrap(), [""; 0]);
        for n in 0..600 {
            write(&path, &format!("{n}\n{}", "x".repeat(10_000))).unwrap();
        }
        assert!(fs::metadata(&path).unwrap().len() < LONGEST);
        let old = fs::metadata(path.with_extension("log.1")).unwrap().len();
        assert!((LONGEST..LONGEST + 10_000).contains(&old), "{old}");
        let last = tail(&path, 2).unwrap();
        assert!(last[0].contains("Z 598 xxx") && last[1].contains("Z 599 xxx"), "{last:?}");
        fs::remove_dir_all(dir).unwrap();
    }
}
