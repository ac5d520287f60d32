//! The file of a store: creating it, opening it, and setting it aside when it is damaged.
//!
//! All of this happens under the lock of a neighbouring file, `NAME.lock`. A database must not be
//! renamed while another process is opening it (`SQLite` opens the parts of a database one by one,
//! by name), and a freshly created file must not be mistaken for the damaged one.
//!
//! A file is renamed only if its [`Signature`] is that of a session store; any other file is
//! refused.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::problem::{Problem, patiently};
use super::set_aside::SetAside;
use super::signature::Signature;
use super::{now, rows};
use repertoire::{Error, ErrorCode};
use repertoire_system::open_options::without_waiting_or_links;

/// The journal is checkpointed at this many pages of 4 KiB: more than the longest journal found on
/// opening plus one event, so that a process that records one event never waits for the disk twice.
const JOURNAL_PAGES: i64 = 256;

/// The longest journal, in bytes, that a process leaves as it is when it opens the file; a longer one is
/// checkpointed. The limit is some 128 pages, of which an event takes three and its tallies one or two.
/// Each process that is the first to open the file has to read the journal; a checkpoint makes one
/// process wait for the disk two or three times.
const LONGEST_JOURNAL: u64 = 512 << 10;

/// The part of the time to wait for other processes that `SQLite` itself waits at once.
const PART_OF_WAIT: u32 = 6;

/// The suffixes of the files that `SQLite` keeps beside a database.
const PARTS: [&str; 2] = ["-wal", "-shm"];

/// Serialises opening within the process: a [`Signature`] must not be read while another thread has
/// the file open.
static TURN: Mutex<()> = Mutex::new(());

/// An open database.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) connection: Connection,
    /// The identity of the file when it was opened.
    identity: Option<Identity>,
}

/// The depth of the check before a file counts as sound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// Checks only what opening needs.
    Quick,
    /// Checks every page, because something was wrong.
    Thorough,
    /// Treats this file as damaged without a check: it passed one, but its content is not what was
    /// written.
    KnownDamaged(Identity),
}

impl Opened {
    /// Returns the check for a file that was damaged after it passed a thorough one.
    pub(super) fn condemned(&self) -> Check {
        self.identity.map_or(Check::Thorough, Check::KnownDamaged)
    }

    /// Tells whether this file is no longer at `path`: it was set aside, or somebody removed it.
    pub(super) fn is_replaced(&self, path: &Path) -> bool {
        self.identity != Identity::of(path)
    }

    /// Closes a damaged database without changing it.
    pub(super) fn close_unchanged(self) {
        // Where the option cannot be set, closing runs a checkpoint as usual.
        let _ = set_no_checkpoint_on_close(&self.connection, true);
    }
}

/// The identity of a file. Systems that do not report one also do not allow an open database to be
/// replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity(#[cfg(unix)] (u64, u64));

impl Identity {
    #[cfg(unix)]
    fn of(path: &Path) -> Option<Identity> {
        use std::os::unix::fs::MetadataExt as _;
        fs::metadata(path).ok().map(|metadata| Identity((metadata.dev(), metadata.ino())))
    }

    #[cfg(not(unix))]
    fn of(_: &Path) -> Option<Identity> {
        Some(Identity())
    }
}

/// Returns the absolute form of `path`, which is never mistaken for a URI or for a database in memory.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, Error> {
    std::path::absolute(path).map_err(|error| io_error("find", path, error))
}

/// Creates the directory of `path` if there is none, and resolves links.
pub(super) fn place(path: &Path) -> Result<PathBuf, Error> {
    let failed = |error| io_error("find", path, error);
    let absolute = absolute(path)?;
    if let Some(dir) = absolute.parent() {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let what = format!("make the directory {} of", dir.display());
        builder.create(dir).map_err(|error| io_error(&what, path, error))?;
    }
    if !absolute.is_symlink() {
        return Ok(absolute);
    }
    // `SQLite` keeps its side files beside the real file, not beside a link to it.
    let real = fs::canonicalize(&absolute).map_err(failed)?;
    let dir = absolute.parent().map(fs::canonicalize).transpose().map_err(failed)?;
    if real.parent() == dir.as_deref() {
        return Ok(real);
    }
    let message = format!(
        "the session store {} is a link to {}, which is in another directory",
        path.display(),
        real.display()
    );
    Err(Error::new(ErrorCode::ExecutionError, message, "name the file itself"))
}

/// Opens the database at `path`, and creates it if there is none. Waits for other processes for at most
/// `wait` at each step. A damaged database is replaced; the second value reports that.
pub(super) fn open(
    path: &Path,
    check: Check,
    wait: Duration,
) -> Result<(Opened, Option<SetAside>), Error> {
    let fail = |problem: Problem| problem.into_error("open", path);
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    // Without a lock file, no Repertoire has opened this database. It is checked first, since nothing
    // must be put beside a file of another program.
    if !lock_path(path).exists() && path.is_file() {
        refuse_foreign(path)?;
    }
    let _lock = lock(path, wait)?;
    let mut set_aside = None;
    let mut connected = patiently(wait, || connect(path, check, wait));
    // `SQLite` takes a disk that cannot be read for damage. It may be readable now.
    if matches!(connected, Err(Problem::Damaged(_))) && !matches!(check, Check::KnownDamaged(_)) {
        refuse_foreign(path)?;
        connected = patiently(wait, || connect(path, Check::Thorough, wait));
    }
    let connection = match connected {
        Err(Problem::Damaged(why)) => {
            refuse_foreign(path)?;
            let kept_as = move_aside(path).map_err(|error| io_error("set aside", path, error))?;
            let told = SetAside { store: path.to_owned(), kept_as, why };
            tracing::warn!("{told}");
            set_aside = Some(told);
            patiently(wait, || connect(path, Check::Quick, wait)).map_err(fail)?
        }
        done => done.map_err(fail)?,
    };
    Ok((Opened { connection, identity: Identity::of(path) }, set_aside))
}

/// Opens the database at `path` for reading alone, where neither it nor its directory can be written.
pub(super) fn open_read_only(path: &Path) -> Result<Opened, Error> {
    let fail = |problem: Problem| problem.into_error("open", path);
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    refuse_foreign(path)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = |name: &Path, flags| {
        let mut connection = Connection::open_with_flags(name, flags)?;
        rows::prepare(&mut connection, &path.display().to_string())?;
        Ok(connection)
    };
    let connection = open(path, flags).or_else(|problem: Problem| {
        // Without its side files, which the last writer removed, a database is read as it lies there.
        let name = path.to_str().filter(|name| !name.contains(['?', '#', '%'])).ok_or(problem)?;
        let name = format!("file:{name}?immutable=1");
        open(name.as_ref(), flags | OpenFlags::SQLITE_OPEN_URI)
    });
    Ok(Opened { connection: connection.map_err(fail)?, identity: Identity::of(path) })
}

/// Refuses a file whose signature is not that of a session store.
fn refuse_foreign(path: &Path) -> Result<(), Error> {
    let signature = Signature::of(path).map_err(|error| io_error("read", path, error))?;
    let what = match signature {
        Signature::Vacant | Signature::Ours => return Ok(()),
        Signature::OtherDatabase => "a database of another program",
        Signature::OtherFile => "a file of another kind",
    };
    let message = format!("{} is {what}, not a session store; it stays unchanged", path.display());
    let help = "name another file for the session store, or move this one away";
    Err(Error::new(ErrorCode::ExecutionError, message, help))
}

fn lock_path(path: &Path) -> PathBuf {
    with_suffix(path, ".lock")
}

/// Locks the store until the returned file is dropped. The lock file stays, as another process may
/// be about to lock it.
fn lock(path: &Path, wait: Duration) -> Result<File, Error> {
    let path = lock_path(path);
    let failed = |error| io_error("lock", &path, error);
    let mut options = private();
    options.create(true).truncate(false);
    let file = without_waiting_or_links(&mut options).open(&path).map_err(failed)?;
    patiently(wait, || match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            Err(Problem::Busy("another process is opening it".to_owned()))
        }
        Err(TryLockError::Error(error)) => Err(Problem::Refused(failed(error))),
    })
    .map_err(|problem| problem.into_error("lock", &path))?;
    Ok(file)
}

fn connect(path: &Path, check: Check, wait: Duration) -> Result<Connection, Problem> {
    let io = |what, error| Problem::Refused(io_error(what, path, error));
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => {
            let message = format!("the session store {} is not a file", path.display());
            let help = "name a file, or move this away";
            return Err(Problem::Refused(Error::new(ErrorCode::ExecutionError, message, help)));
        }
        // The file is created here, since `SQLite` would let other users read it; the side files inherit
        // its permissions. Closing it drops all locks of this process on it, but no lock can be held
        // yet.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            private().create_new(true).open(path).map_err(|error| io("make", error))?;
        }
        Err(error) => return Err(io("open", error)),
    }
    if let Check::KnownDamaged(identity) = check
        && Identity::of(path) == Some(identity)
    {
        return Err(Problem::Damaged("its content is not what was written".to_owned()));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    // `SQLite` opens a file without write permission as read-only, and fails at the first event.
    if connection.is_readonly("main")? {
        let message = format!("cannot open the session store {}: it is readonly", path.display());
        let help = "make the file and its directory writable, or name another file";
        return Err(Problem::Refused(Error::new(ErrorCode::ExecutionError, message, help)));
    }
    // Closing must not change the file before it is known to be sound and ours.
    set_no_checkpoint_on_close(&connection, true)?;
    // The busy handler of SQLite covers most cases; `patiently` covers the others.
    connection.busy_timeout(wait / PART_OF_WAIT)?;
    rows::prepare(&mut connection, &path.display().to_string())?;
    // On a file system without shared memory, the rollback journal stays in use, which is as safe.
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    // A commit survives the death of the process at once, and a loss of power from the next
    // checkpoint on.
    connection.pragma_update(None, "synchronous", "normal")?;
    connection.pragma_update(None, "wal_autocheckpoint", JOURNAL_PAGES)?;
    // Kept messages are overwritten when they are deleted.
    connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    empty_long_journal(&connection, path, wait)?;
    if check == Check::Thorough {
        let found: String =
            connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if found != "ok" {
            return Err(Problem::Damaged(found));
        }
    }
    set_no_checkpoint_on_close(&connection, false)?;
    Ok(connection)
}

/// Checkpoints a long journal. It would grow for ever if all writers were killed or exited without
/// closing the file, as hooks do: the checkpointed part is known only while a process has the file open,
/// so the next process appends to the end.
fn empty_long_journal(
    connection: &Connection,
    path: &Path,
    wait: Duration,
) -> rusqlite::Result<()> {
    let journal = fs::metadata(with_suffix(path, "-wal"));
    if journal.is_ok_and(|journal| journal.len() > LONGEST_JOURNAL) {
        // We do not wait for other processes that use the file.
        connection.busy_timeout(Duration::ZERO)?;
        empty_journal(connection);
        connection.busy_timeout(wait / PART_OF_WAIT)?;
    }
    Ok(())
}

/// Checkpoints and empties the journal, which may hold deleted texts. If another process uses the file, or
/// on a full disk, the journal stays until the next checkpoint.
pub(super) fn empty_journal(connection: &Connection) {
    let emptied = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    if let Err(error) = emptied {
        tracing::debug!(%error, "the journal of the session store was not checkpointed");
    }
}

/// Turns off the checkpoint on the last close if `leave` is true, otherwise turns it on. Returns the
/// setting.
fn set_no_checkpoint_on_close(connection: &Connection, leave: bool) -> rusqlite::Result<bool> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leave)
}

/// Renames the database at `path`, and returns its new path.
fn move_aside(path: &Path) -> io::Result<PathBuf> {
    let first = with_suffix(path, &format!(".damaged-{}", now()));
    let others = (2..).map(|n| with_suffix(&first, &format!("-{n}")));
    let is_free =
        |to: &PathBuf| ["", "-wal", "-shm"].iter().all(|part| !with_suffix(to, part).exists());
    let aside = std::iter::once(first.clone()).chain(others).find(is_free).unwrap_or(first);
    // The database goes last: side files of the old one must never be taken for parts of the new
    // one.
    for part in PARTS {
        match fs::rename(with_suffix(path, part), with_suffix(&aside, part)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::rename(path, &aside)?;
    Ok(aside)
}

/// Returns options that create files for the current user only.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    name.into()
}

fn io_error(what: &str, path: &Path, error: io::Error) -> Error {
    let message = format!("cannot {what} the session store {}: {error}", path.display());
    let help = "make its directory writable, or name another file";
    Error::new(ErrorCode::ExecutionError, message, help).with_source(error)
}
