//! Edits a settings file of an agent atomically.

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use repertoire::{Error, ErrorCode};
use similar::TextDiff;

use super::changed::Changed;
use super::place::Place;
use crate::replace::{check_writable, io_error, missing_dirs, replace};

/// The reason why settings cannot be changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The fault, phrased to follow the name of the file.
    pub(crate) what: String,
    /// Line and column, from 1.
    pub(crate) at: Option<(usize, usize)>,
    /// The remedy; `None` if the user must repair the file.
    pub(crate) help: Option<&'static str>,
}

impl Problem {
    pub(crate) fn new(what: impl Into<String>) -> Problem {
        Problem { what: what.into(), at: None, help: None }
    }
}

/// The suffixes of the backups of all entries.
pub(crate) const BACKUPS: [&str; 2] = [".repertoire-backup", ".repertoire-mcp-backup"];

/// The part of a settings file that belongs to this program.
pub(crate) trait Entry: Sized {
    /// The suffix of the backup of the original file.
    const BACKUP: &'static str;

    /// Returns the command line, as words, by which the settings in `text` run this program; `None`
    /// if they do not run it.
    fn words(&self, text: &str) -> Result<Option<Vec<String>>, Problem>;

    /// Returns the entry of the same agent that runs `words`.
    fn running(&self, words: &[String]) -> Result<Self, Error>;

    /// Returns `text` with this program's entry exactly once, and all else unchanged.
    fn add(&self, text: &str) -> Result<String, Problem>;

    /// Returns `text` without this program's entry; `None` if nothing is left that a user wrote. The
    /// content of the file was `before` when the entry was added.
    fn remove(&self, text: &str, before: Option<&str>) -> Result<Option<String>, Problem>;
}

/// A settings file, and this program's entry for it.
#[derive(Debug)]
pub(crate) struct Target<E> {
    agent: &'static str,
    place: Place,
    /// The path with links followed.
    pub(crate) path: PathBuf,
    /// The directory above all that is made for this agent. It stays when empty directories are removed.
    base: PathBuf,
    /// The content; `None` if there is no such file.
    text: Option<String>,
    pub(crate) entry: E,
}

impl<E: Entry> Target<E> {
    /// Reads the file at `path`, below `base`.
    pub(crate) fn read(
        agent: &'static str,
        place: Place,
        (mut path, base): (PathBuf, PathBuf),
        entry: E,
    ) -> Result<Target<E>, Error> {
        if path.is_symlink() {
            // Replace the file that a link points to, not the link.
            path = path.canonicalize().map_err(|error| io_error("follow", &path, &error))?;
        }
        // Reading something other than a file may never end.
        if fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            let message = format!("{} is not a file", path.display());
            return Err(Error::new(ErrorCode::ExecutionError, message, "move it away"));
        }
        let text = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(io_error("read", &path, &error)),
            Ok(bytes) => Some(String::from_utf8(bytes).map_err(|error| {
                let at = error.utf8_error().valid_up_to();
                let message = format!("{} is not UTF-8 from byte {at} on", path.display());
                Error::new(ErrorCode::ExecutionError, message, "repair it first")
            })?),
        };
        Ok(Target { agent, place, path, base, text, entry })
    }

    pub(crate) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    /// Returns the command line, as words, by which the file runs this program; `None` if it does not
    /// run it.
    pub(crate) fn words(&self) -> Result<Option<Vec<String>>, Error> {
        if self.text.is_none() {
            return Ok(None);
        }
        self.entry.words(self.text()).map_err(|problem| self.refuse(&problem))
    }

    /// Tells whether the file is as [`Target::install`] would leave it.
    pub(crate) fn is_installed(&self) -> Result<bool, Error> {
        Ok(self.added()? == self.text())
    }

    /// Adds this program's entry to the file. A dry run only shows the change.
    pub(crate) fn install(&self, dry_run: bool) -> Result<Changed, Error> {
        self.check_inside()?;
        let wanted = self.added()?;
        let present = self.present()?;
        // If the entry is new, uninstalling must restore the present content, so that is the backup. If
        // somebody wrote an entry by hand, it is kept, but never instead of an earlier backup.
        let is_kept = present
            .is_none_or(|present| !self.is_only_written_by(&present) && !self.backup().exists());
        let backup = self.text.as_deref().filter(|_| is_kept);
        Change { target: self, wanted: Some(&wanted), backup }.make(dry_run)
    }

    /// Removes this program's entry from the file. A dry run only shows the change.
    pub(crate) fn uninstall(&self, dry_run: bool) -> Result<Changed, Error> {
        self.check_inside()?;
        let before = fs::read_to_string(self.backup()).ok();
        let Some(present) = self.present()? else {
            let wanted = self.text.as_deref();
            return Change { target: self, wanted, backup: None }.make(dry_run);
        };
        let mut wanted = self.removed(&present, before.as_deref())?;
        // Hooks and server may be in one file. If they are removed in the order in which they were added,
        // only the other backup has the file as it was before both.
        let other = self.other_backup(wanted.as_deref().unwrap_or_default());
        if let Some((_, text)) = &other {
            wanted = Some(text.clone());
        }
        let is_restored = before.is_some() && (other.is_some() || wanted == before);
        let is_kept = !is_restored && !self.is_only_written_by(&present);
        // A backup from before the installation stays as it is.
        let backup = before.as_deref().or(self.text.as_deref()).filter(|_| is_kept);
        let changed = Change { target: self, wanted: wanted.as_deref(), backup }.make(dry_run)?;
        if is_restored && !dry_run {
            let backups = other.map(|(path, _)| path).into_iter().chain([self.backup()]);
            for backup in backups {
                fs::remove_file(&backup).map_err(|error| io_error("remove", &backup, &error))?;
            }
        }
        Ok(changed)
    }

    /// Fails if the file of a project is outside of it: the file, or a directory above it, may be a link.
    fn check_inside(&self) -> Result<(), Error> {
        let real = |path: &Path| path.ancestors().find_map(|path| path.canonicalize().ok());
        let Some((file, project)) = real(&self.path).zip(real(&self.base)) else { return Ok(()) };
        if self.place != Place::Project || file.starts_with(project) {
            return Ok(());
        }
        let (path, file) = (self.path.display(), file.display());
        let message = format!("{path} is behind a link that leaves the project, to {file}");
        let help =
            "put the file itself there, or leave out `--project` to change your own settings";
        Err(Error::new(ErrorCode::PermissionDenied, message, help))
    }

    /// Returns the backup by another entry of this program that differs from `text` only by blanks and
    /// commas: its path and its content. An empty object is the same as no text.
    fn other_backup(&self, text: &str) -> Option<(PathBuf, String)> {
        let plain = |text: &str| {
            let kept = text.chars().filter(|c| !c.is_whitespace() && *c != ',');
            Some(kept.collect::<String>()).filter(|kept| kept != "{}").unwrap_or_default()
        };
        let suffixes = BACKUPS.into_iter().filter(|suffix| *suffix != E::BACKUP);
        let backups = suffixes.filter_map(|suffix| {
            let path = self.backup_named(suffix);
            Some((path.clone(), fs::read_to_string(path).ok()?))
        });
        backups.into_iter().find(|(_, before)| plain(before) == plain(text))
    }

    fn added(&self) -> Result<String, Error> {
        self.entry.add(self.text()).map_err(|problem| self.refuse(&problem))
    }

    /// Returns the entry with which the file runs this program; `None` if it does not run it.
    fn present(&self) -> Result<Option<E>, Error> {
        self.words()?.map(|words| self.entry.running(&words)).transpose()
    }

    /// Tells whether the file is as an installation of the entry `present` would write a new one.
    fn is_only_written_by(&self, present: &E) -> bool {
        present.add("").is_ok_and(|ours| ours == self.text())
    }

    /// Returns the content without `present`, the entry of this program. `before` is the content of the
    /// backup.
    fn removed(&self, present: &E, before: Option<&str>) -> Result<Option<String>, Error> {
        let text = self.text();
        // A backup with an entry that somebody wrote by hand would leave this program installed.
        let before = before.filter(|before| matches!(self.entry.words(before), Ok(None)));
        // If the file was not changed since the entry was added, it is restored byte for byte.
        let is_as_written = |before: &&str| present.add(before).is_ok_and(|added| added == text);
        if let Some(before) = before.filter(is_as_written) {
            return Ok(Some(before.to_owned()));
        }
        self.entry.remove(text, before).map_err(|problem| self.refuse(&problem))
    }

    /// Removes the directories above the file that are empty now, up to `base`, which stays.
    fn remove_empty_dirs(&self) {
        for dir in self.path.ancestors().skip(1).take_while(|dir| **dir != *self.base) {
            // A directory that is not empty stays, and so do those above it.
            if !dir.starts_with(&self.base) || fs::remove_dir(dir).is_err() {
                return;
            }
        }
    }

    fn backup(&self) -> PathBuf {
        self.backup_named(E::BACKUP)
    }

    fn backup_named(&self, suffix: &str) -> PathBuf {
        let mut name = OsString::from(&self.path);
        name.push(suffix);
        name.into()
    }

    fn refuse(&self, problem: &Problem) -> Error {
        let at = problem.at.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
        let message = format!("{}{at} {}", self.path.display(), problem.what);
        let repair =
            || format!("repair it first; nothing was changed, and {} reads it, too", self.agent);
        let help = problem.help.map_or_else(repair, str::to_owned);
        Error::new(ErrorCode::ExecutionError, message, help)
    }
}

/// A change of a settings file.
struct Change<'a, E> {
    target: &'a Target<E>,
    /// `None` removes the file.
    wanted: Option<&'a str>,
    /// The content to keep in a backup beside the file.
    backup: Option<&'a str>,
}

impl<E: Entry> Change<'_, E> {
    /// Makes the change unless this is a dry run.
    fn make(&self, dry_run: bool) -> Result<Changed, Error> {
        let path = &self.target.path;
        let is_one = self.target.text.as_deref() != self.wanted;
        let backup = self.backup.filter(|_| is_one);
        let made_dirs = missing_dirs(path);
        if is_one && !dry_run {
            check_writable(&self.target.path, "make the change that `--dry-run` shows by hand")?;
            if let Some(text) = backup {
                replace(&self.target.backup(), text, path)?;
            }
            if let Some(text) = self.wanted {
                replace(path, text, path)?;
            } else {
                fs::remove_file(path).map_err(|error| io_error("remove", path, &error))?;
                self.target.remove_empty_dirs();
            }
        }
        Ok(Changed {
            agent: self.target.agent,
            place: self.target.place,
            path: path.clone(),
            before: self.target.text.clone(),
            after: self.wanted.map(str::to_owned),
            diff: self.diff(),
            backup: backup.map(|_| self.target.backup()),
            made_dirs,
            dry_run,
        })
    }

    fn diff(&self) -> String {
        let name = self.target.path.to_string_lossy();
        let old = self.target.text.as_deref();
        let names = (
            if old.is_some() { &*name } else { "/dev/null" },
            if self.wanted.is_some() { &*name } else { "/dev/null" },
        );
        let diff = TextDiff::from_lines(old.unwrap_or_default(), self.wanted.unwrap_or_default());
        diff.unified_diff().context_radius(2).header(names.0, names.1).to_string()
    }
}
