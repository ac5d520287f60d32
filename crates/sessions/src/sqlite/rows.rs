//! The tables of the session store: their schema, its migrations, and their rows.

use std::collections::BTreeMap;
use std::ops::Range;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, TransactionBehavior, params};

use super::problem::Problem;
use super::{checksum, tallies, trails};
use repertoire::session::{Event, SkillState};
use repertoire::skill::SkillId;
use repertoire::{Error, ErrorCode};

/// The application id that marks a database as ours: `Rprt`.
pub(super) const APPLICATION: i64 = 0x5270_7274;
/// The version of the schema.
const VERSION: i64 = 6;

/// `place` orders the skills of a session: the last used skill has the highest. It is a counter and not
/// a time, because clocks jump.
const TABLES: &str = "
    CREATE TABLE session (
        id TEXT PRIMARY KEY,
        touched INTEGER NOT NULL -- seconds since 1970
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX session_touched ON session (touched);
    CREATE TABLE skill (
        session TEXT NOT NULL,
        id TEXT NOT NULL,
        place INTEGER NOT NULL,
        uses INTEGER NOT NULL,
        activations INTEGER NOT NULL,
        activated_by TEXT,
        in_context INTEGER NOT NULL,
        body INTEGER,
        lost INTEGER NOT NULL,
        consented INTEGER NOT NULL,
        listed INTEGER NOT NULL DEFAULT 0,
        joined INTEGER, -- order in which instructions first came into the context
        checksum INTEGER, -- none in rows that an earlier version wrote
        PRIMARY KEY (session, id)
    ) STRICT, WITHOUT ROWID;
";

const COLUMNS: &str = "id, uses, activations, activated_by, in_context, body, lost, consented, listed, \
     joined, checksum";

/// The index of the checksum in [`COLUMNS`].
const CHECKSUM: usize = 10;

/// Begins a write transaction: no other process writes until it ends.
pub(super) fn write(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// The migrations; the first one starts from version 1. A database gets those that follow its own
/// version.
const MIGRATIONS: [&[&str]; 5] = [
    &["ALTER TABLE skill ADD COLUMN body INTEGER"],
    &["ALTER TABLE skill ADD COLUMN listed INTEGER NOT NULL DEFAULT 0"],
    &["ALTER TABLE skill ADD COLUMN joined INTEGER", tallies::TABLES],
    &["ALTER TABLE skill ADD COLUMN checksum INTEGER"],
    &[trails::TABLE],
];

/// Creates the tables in an empty database, and migrates those of an earlier version. Refuses a
/// database of another program or of a newer version, and leaves it unchanged.
pub(super) fn prepare(connection: &mut Connection, name: &str) -> Result<(), Problem> {
    if missing(connection, name)?.is_none() {
        return Ok(());
    }
    let transaction = write(connection)?;
    // Another process may have migrated the database in the meantime.
    if let Some(missing) = missing(&transaction, name)? {
        for batch in missing.iter().copied().flatten() {
            transaction.execute_batch(batch)?;
        }
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    Ok(transaction.commit()?)
}

/// Returns the statements that bring the tables to this version; `None` if they are up to date.
fn missing(
    connection: &Connection,
    name: &str,
) -> Result<Option<&'static [&'static [&'static str]]>, Problem> {
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    let refuse = |message: String, help: &str| {
        Err(Problem::Refused(Error::new(ErrorCode::ExecutionError, message, help)))
    };
    match (application, version) {
        (APPLICATION, VERSION) => Ok(None),
        (APPLICATION, older @ 1..VERSION) => {
            let done = usize::try_from(older - 1).unwrap_or_default();
            Ok(MIGRATIONS.get(done..))
        }
        (APPLICATION, newer) if newer > VERSION => refuse(
            format!(
                "the session store {name} was made by a newer Repertoire (its version {newer}, ours {VERSION})"
            ),
            "update Repertoire, or name another file",
        ),
        (0, 0) if is_empty(connection)? => Ok(Some(&[&[TABLES, tallies::TABLES, trails::TABLE]])),
        // The signature of the file decides whether it is ours after all.
        _ => Err(Problem::Damaged("it lacks the mark of a session store".to_owned())),
    }
}

fn is_empty(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
}

/// Records that `session` is active at the time `now`; returns true if that is its beginning.
///
/// The clock may be behind (a clock that was never set starts in 1970), which must not make a session
/// look idle: the recorded time is at least that of the newest session.
pub(super) fn touch(connection: &Connection, session: &str, now: i64) -> rusqlite::Result<bool> {
    let time = "max(?2, (SELECT ifnull(max(touched), ?2) FROM session))";
    let sql = format!("UPDATE session SET touched = {time} WHERE id = ?1");
    let is_new = connection.execute(&sql, params![session, now])? == 0;
    if is_new {
        let sql = format!("INSERT INTO session (id, touched) VALUES (?1, {time})");
        connection.execute(&sql, params![session, now])?;
    }
    Ok(is_new)
}

/// Applies `event` to the skills of `session` and adds the changed ones to `written`. Returns the
/// earlier state of the skill that the event is about.
pub(super) fn apply(
    connection: &Connection,
    session: &str,
    event: &Event<'_>,
    written: &mut Written,
) -> Result<Option<SkillState>, Problem> {
    let before = event.skill().map(|id| find(connection, session, id)).transpose()?.flatten();
    let states = match event.skill() {
        None => all(connection, session)?,
        Some(id) => vec![before.clone().unwrap_or_else(|| SkillState::new(id.clone()))],
    };
    for mut state in states {
        state.apply(event);
        if state.joins() {
            state.joined = Some(next_to_join(connection, session)?);
        }
        put(connection, session, &state, event.is_use())?;
        written.insert(state.skill.clone(), state);
    }
    Ok(before)
}

/// The skills of one session that a transaction wrote, as it left them.
pub(super) type Written = BTreeMap<SkillId, SkillState>;

/// Checks that the next reader finds what was written: a damaged tree can accept a row and not
/// return it.
pub(super) fn check(
    connection: &Connection,
    session: &str,
    written: &Written,
) -> Result<(), Problem> {
    let stored = all(connection, session)?;
    if written.values().all(|state| stored.contains(state)) {
        return Ok(());
    }
    Err(Problem::Damaged("the row just written is missing".to_owned()))
}

/// Returns the next place in the order in which the skills of `session` came into its context.
fn next_to_join(connection: &Connection, session: &str) -> rusqlite::Result<u64> {
    let sql = "SELECT ifnull(max(joined), 0) + 1 FROM skill WHERE session = ?1";
    connection.query_row(sql, [session], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned)
}

/// Returns the skills of `session`, the last used first.
pub(super) fn all(connection: &Connection, session: &str) -> rusqlite::Result<Vec<SkillState>> {
    let sql = format!("SELECT {COLUMNS} FROM skill WHERE session = ?1 ORDER BY place DESC");
    connection.prepare(&sql)?.query_map([session], |row| read(row, session))?.collect()
}

fn find(
    connection: &Connection,
    session: &str,
    id: &SkillId,
) -> rusqlite::Result<Option<SkillState>> {
    let sql = format!("SELECT {COLUMNS} FROM skill WHERE session = ?1 AND id = ?2");
    connection.query_row(&sql, [session, id.as_str()], |row| read(row, session)).optional()
}

fn read(row: &Row<'_>, session: &str) -> rusqlite::Result<SkillState> {
    let id = |text: String| SkillId::new(&text);
    let count = |number: i64| u64::try_from(number).unwrap_or_default();
    let state = SkillState {
        skill: id(row.get(0)?),
        uses: count(row.get(1)?),
        activations: count(row.get(2)?),
        activated_by: row.get::<_, Option<String>>(3)?.map(id),
        in_context: row.get(4)?,
        body: row.get::<_, Option<i64>>(5)?.map(i64::cast_unsigned),
        lost: row.get(6)?,
        consented: row.get(7)?,
        listed: row.get(8)?,
        joined: row.get::<_, Option<i64>>(9)?.map(i64::cast_unsigned),
    };
    let is_other = |wanted| wanted != checksum::of(session, &state);
    if row.get::<_, Option<i64>>(CHECKSUM)?.is_some_and(is_other) {
        let error = "a row does not match its checksum".into();
        return Err(rusqlite::Error::FromSqlConversionFailure(CHECKSUM, Type::Integer, error));
    }
    Ok(state)
}

/// Writes `state`, and moves the skill in front of the others if it is new or `is_used`.
fn put(
    connection: &Connection,
    session: &str,
    state: &SkillState,
    is_used: bool,
) -> rusqlite::Result<()> {
    let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let sql = format!(
        "INSERT INTO skill (session, place, {COLUMNS})
        VALUES (?1, (SELECT ifnull(max(place), 0) + 1 FROM skill WHERE session = ?1),
            ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
        ON CONFLICT (session, id) DO UPDATE SET
            place = iif(?2, excluded.place, place),
            uses = excluded.uses,
            activations = excluded.activations,
            activated_by = excluded.activated_by,
            in_context = excluded.in_context,
            body = excluded.body,
            lost = excluded.lost,
            consented = excluded.consented,
            listed = excluded.listed,
            joined = excluded.joined,
            checksum = excluded.checksum"
    );
    let values = params![
        session,
        is_used,
        state.skill.as_str(),
        count(state.uses),
        count(state.activations),
        state.activated_by.as_ref().map(SkillId::as_str),
        state.in_context,
        state.body.map(u64::cast_signed),
        state.lost,
        state.consented,
        state.listed,
        state.joined.map(u64::cast_signed),
        checksum::of(session, state),
    ];
    connection.execute(&sql, values)?;
    Ok(())
}

/// Forgets `session`.
pub(super) fn end(connection: &Connection, session: &str) -> rusqlite::Result<()> {
    for sql in ["DELETE FROM skill WHERE session = ?1", "DELETE FROM session WHERE id = ?1"] {
        connection.execute(sql, [session])?;
    }
    Ok(())
}

/// Tells whether the recorded time of any session is before `oldest` or after `newest`.
pub(super) fn has_outside(
    connection: &Connection,
    oldest: i64,
    newest: i64,
) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM session WHERE touched < ?1)
        OR EXISTS (SELECT 1 FROM session WHERE touched > ?2)";
    connection.query_row(sql, [oldest, newest], |row| row.get(0))
}

/// Sets times of sessions that are not `plausible` to `now`. They were recorded by a clock that was
/// never set, or that was ahead: such a session would be forgotten at once, or never.
pub(super) fn correct_times(
    connection: &Connection,
    plausible: Range<i64>,
    now: i64,
) -> rusqlite::Result<()> {
    let sql = "UPDATE session SET touched = ?3 WHERE touched < ?1 OR touched > ?2";
    connection.execute(sql, [plausible.start, plausible.end, now])?;
    Ok(())
}

/// Forgets the sessions last active before `time`, and returns their number.
pub(super) fn forget_older(connection: &Connection, time: i64) -> rusqlite::Result<usize> {
    let skills = "DELETE FROM skill WHERE session IN (SELECT id FROM session WHERE touched < ?1)";
    connection.execute(skills, [time])?;
    connection.execute("DELETE FROM session WHERE touched < ?1", [time])
}
