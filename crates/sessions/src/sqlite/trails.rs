//! The table of trails: the messages that are kept, one row for each session.

use rusqlite::{Connection, OptionalExtension as _, params};

use repertoire::session::{KeptMessage, extend_trail};

pub(super) const TABLE: &str = "
    CREATE TABLE trail (
        session TEXT PRIMARY KEY,
        place INTEGER NOT NULL, -- the last extended trail has the highest
        touched INTEGER NOT NULL, -- seconds since 1970
        lines TEXT NOT NULL -- one below the other
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX trail_touched ON trail (touched);
";

/// Appends `lines` to the trail of `session` at the time `now`, and drops the trails beyond the limit.
pub(super) fn extend(
    connection: &Connection,
    session: &str,
    now: i64,
    lines: &[String],
) -> rusqlite::Result<()> {
    let sql = "SELECT lines FROM trail WHERE session = ?1";
    let known: Option<String> =
        connection.query_row(sql, [session], |row| row.get(0)).optional()?;
    let mut trail = known.as_deref().map(split).unwrap_or_default();
    extend_trail(&mut trail, lines);
    let sql = "INSERT INTO trail (session, place, touched, lines)
        VALUES (?1, (SELECT ifnull(max(place), 0) + 1 FROM trail), ?2, ?3)
        ON CONFLICT (session) DO UPDATE SET
            place = excluded.place, touched = excluded.touched, lines = excluded.lines";
    connection.execute(sql, params![session, now, trail.join("\n")])?;
    let sql = "DELETE FROM trail WHERE session IN (
            SELECT session FROM trail ORDER BY place DESC LIMIT -1 OFFSET ?1
        )";
    connection.execute(sql, [KeptMessage::MAX_SESSIONS.cast_signed()])?;
    Ok(())
}

/// Returns all trails.
pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<Vec<String>>> {
    let mut statement = connection.prepare("SELECT lines FROM trail ORDER BY place")?;
    statement.query_map([], |row| row.get::<_, String>(0).map(|lines| split(&lines)))?.collect()
}

fn split(lines: &str) -> Vec<String> {
    lines.lines().map(str::to_owned).collect()
}

/// Forgets the trail of `session`, and returns true if there was one.
pub(super) fn end(connection: &Connection, session: &str) -> rusqlite::Result<bool> {
    Ok(connection.execute("DELETE FROM trail WHERE session = ?1", [session])? > 0)
}

/// Tells whether a trail was last extended before `oldest` or after `newest`.
pub(super) fn has_outside(
    connection: &Connection,
    oldest: i64,
    newest: i64,
) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM trail WHERE touched < ?1)
        OR EXISTS (SELECT 1 FROM trail WHERE touched > ?2)";
    connection.query_row(sql, [oldest, newest], |row| row.get(0))
}

/// Forgets the trails last extended before `oldest`, and those of a clock that was ahead, after `newest`:
/// they would never be forgotten. Returns true if there were any.
pub(super) fn forget_outside(
    connection: &Connection,
    oldest: i64,
    newest: i64,
) -> rusqlite::Result<bool> {
    let sql = "DELETE FROM trail WHERE touched < ?1 OR touched > ?2";
    Ok(connection.execute(sql, [oldest, newest])? > 0)
}
