//! The tables of daily tallies: reading and writing them.

use rusqlite::{Connection, Row, TransactionBehavior, params};

use repertoire::session::Event;
use repertoire::session::{Counts, Day, Tallies};
use repertoire::skill::SkillId;

/// Days are counted from 1970-01-01.
pub(super) const TABLES: &str = "
    CREATE TABLE tally (
        day INTEGER NOT NULL,
        skill TEXT NOT NULL,
        fired INTEGER NOT NULL,
        loaded INTEGER NOT NULL,
        used INTEGER NOT NULL,
        listed INTEGER NOT NULL,
        PRIMARY KEY (day, skill)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE tally_sessions (
        day INTEGER PRIMARY KEY,
        begun INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
";

/// Counts a conversation that begins on `day`.
pub(super) fn begin_session(connection: &Connection, day: Day) -> rusqlite::Result<()> {
    let sql = "INSERT INTO tally_sessions (day, begun) VALUES (?1, 1)
        ON CONFLICT (day) DO UPDATE SET begun = begun + 1";
    connection.execute(sql, [day.number()])?;
    Ok(())
}

/// Counts `event` if it is an encounter with a skill.
pub(super) fn count(connection: &Connection, day: Day, event: &Event<'_>) -> rusqlite::Result<()> {
    let counts = Counts::of(event);
    let Some(skill) = event.skill().filter(|_| counts != Counts::default()) else { return Ok(()) };
    let sql = "INSERT INTO tally (day, skill, fired, loaded, used, listed)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT (day, skill) DO UPDATE SET
            fired = fired + excluded.fired,
            loaded = loaded + excluded.loaded,
            used = used + excluded.used,
            listed = listed + excluded.listed";
    let [fired, loaded, used, listed] =
        [counts.fired, counts.loaded, counts.used, counts.listed].map(u64::cast_signed);
    let values = params![day.number(), skill.as_str(), fired, loaded, used, listed];
    connection.execute(sql, values)?;
    Ok(())
}

/// Returns the tallies of `since` and the days after it.
pub(super) fn since(connection: &Connection, since: Day) -> rusqlite::Result<Tallies> {
    let mut tallies = Tallies::default();
    let sql = "SELECT ifnull(sum(begun), 0) FROM tally_sessions WHERE day >= ?1";
    let sessions: i64 = connection.query_row(sql, [since.number()], |row| row.get(0))?;
    tallies.sessions = sessions.try_into().unwrap_or_default();
    let sql =
        "SELECT day, skill, fired, loaded, used, listed FROM tally WHERE day >= ?1 ORDER BY day";
    let mut statement = connection.prepare(sql)?;
    for row in statement.query_map([since.number()], read)? {
        let (day, skill, counts) = row?;
        tallies.add(day, &skill, counts);
    }
    Ok(tallies)
}

fn read(row: &Row<'_>) -> rusqlite::Result<(Day, SkillId, Counts)> {
    let count = |column: usize| -> rusqlite::Result<u64> {
        Ok(row.get::<_, i64>(column)?.try_into().unwrap_or_default())
    };
    let (day, skill) = (Day::of_number(row.get(0)?), row.get::<_, String>(1)?);
    let mut counts = Counts::default();
    counts.fired = count(2)?;
    counts.loaded = count(3)?;
    counts.used = count(4)?;
    counts.listed = count(5)?;
    Ok((day, SkillId::new(&skill), counts))
}

/// Tells whether there is a tally of `day` or an earlier day.
pub(super) fn has_until(connection: &Connection, day: Day) -> rusqlite::Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM tally WHERE day <= ?1)
        OR EXISTS (SELECT 1 FROM tally_sessions WHERE day <= ?1)";
    connection.query_row(sql, [day.number()], |row| row.get(0))
}

/// Forgets the tallies of `day` and earlier days.
pub(super) fn forget_until(connection: &mut Connection, day: Day) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for table in ["tally", "tally_sessions"] {
        let sql = format!("DELETE FROM {table} WHERE day <= ?1");
        transaction.execute(&sql, [day.number()])?;
    }
    transaction.commit()
}
