//! The statements that read and write sessions and tallies.
//!
//! Statements that do not need each other's answers are sent at once: reading takes one round trip,
//! writing takes one if the row is unchanged since it was last read, otherwise two. Statements are not
//! prepared, because poolers such as `PgBouncer` hand each transaction to another connection.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use super::last_read::Version;
use super::problem::at_commit;
use crate::server::{Deadline, Problem, decode, encode, key};
use repertoire::session::{Counts, Day, Tallies};
use repertoire::session::{Event, SessionState, SkillState};
use repertoire::skill::SkillId;

/// The class of our advisory locks: `Rprt`. The second number is 0 for migrations, otherwise the hash of
/// a session's key.
pub(super) const LOCK: i32 = 0x5270_7274;

/// Reads a session, its version, and whether it has not expired: `$1` is its key, `$2` the seconds for
/// which it is kept. The version is the transaction that wrote the row.
const READ: &str = "SELECT skills, xmin::text, touched >= now() - $2 * interval '1 second'
    FROM repertoire_session WHERE id = $1";

/// Adds the columns `$4` to `$8` to the tallies. Rows are locked in the order of skills, so that no two
/// transactions wait for each other.
const TALLY: &str =
    "INSERT INTO repertoire_tally AS known (day, skill, shard, fired, loaded, used, listed)
    SELECT day, skill, shard, fired, loaded, used, listed
    FROM unnest($4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
        AS new (skill, fired, loaded, used, listed), today
    WHERE EXISTS (SELECT FROM written)
    ORDER BY skill
    ON CONFLICT (day, skill, shard) DO UPDATE SET
        fired = known.fired + excluded.fired,
        loaded = known.loaded + excluded.loaded,
        used = known.used + excluded.used,
        listed = known.listed + excluded.listed";

/// The day and the shard of tallies.
const TODAY: &str = "SELECT (now() AT TIME ZONE 'UTC')::date - date '1970-01-01' AS day,
    pg_backend_pid() % 16 AS shard";

/// Writes a session (`$1`, `$2`) and counts what happened: `$3` is true for a session that begins.
static WRITE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH today AS ({TODAY}), written AS (
            INSERT INTO repertoire_session AS known (id, touched, skills) VALUES ($1, now(), $2)
            ON CONFLICT (id) DO UPDATE SET touched = excluded.touched, skills = excluded.skills
            RETURNING id
        ), begun AS (
            INSERT INTO repertoire_begun AS known (day, shard, sessions)
            SELECT day, shard, 1 FROM today WHERE $3
            ON CONFLICT (day, shard) DO UPDATE SET sessions = known.sessions + 1
        )
        {TALLY}"
    )
});

/// Writes a session if its row still has the version `$3` and was last written at most `$9` seconds ago;
/// returns the number of rows written. The statement waits for a transaction that holds the row, and
/// compares the version after that.
static REPLACE: LazyLock<String> = LazyLock::new(|| {
    format!(
        "WITH today AS ({TODAY}), written AS (
            UPDATE repertoire_session SET touched = now(), skills = $2
            WHERE id = $1 AND xmin::text = $3 AND touched >= now() - $9 * interval '1 second'
            RETURNING id
        ), tallied AS ({TALLY})
        SELECT count(*) FROM written"
    )
});

/// A value of a statement, with its type.
type Value<'v> = (&'v (dyn ToSql + Sync), Type);

/// A change of a session: the state after some events, and what they add to the tallies.
struct Change<'e> {
    /// The earlier state of the skill of the last event.
    before: Option<SkillState>,
    skills: String,
    columns: Columns<'e>,
}

impl<'e> Change<'e> {
    fn new(mut state: SessionState, events: &[Event<'e>]) -> Result<Change<'e>, Problem> {
        let (mut before, mut columns) = (None, Columns::default());
        for event in events {
            before = state.apply(event);
        }
        columns.fill(events);
        let skills = encode(&state).map_err(|error| damaged(error.to_string()))?;
        Ok(Change { before, skills, columns })
    }
}

/// Records events of `session` if its row still has `version`. Returns the earlier state of the skill of
/// the last event, or `None` if the row has changed or expired.
pub(super) async fn replace(
    client: &Client,
    deadline: Deadline,
    keeps: i32,
    session: &str,
    version: Version,
    events: &[Event<'_>],
) -> Result<Option<Option<SkillState>>, Problem> {
    let id = &*key(session);
    let Change { before, skills, columns } = Change::new(version.state, events)?;
    let mut values: Vec<Value<'_>> =
        vec![(&id, Type::TEXT), (&skills, Type::TEXT), (&version.written_by, Type::TEXT)];
    values.extend(columns.values());
    values.push((&keeps, Type::INT4));
    let sql = within(deadline);
    let (begun, written, committed) = tokio::join!(
        biased;
        client.batch_execute(&sql),
        client.query_typed_one(&REPLACE, &values),
        client.batch_execute("COMMIT"),
    );
    begun.map_err(at_commit)?;
    let n_written: i64 = written.map_err(at_commit)?.try_get(0)?;
    committed.map_err(at_commit)?;
    Ok((n_written == 1).then_some(before))
}

/// Records events of `session`, and returns the earlier state of the skill of the last event.
pub(super) async fn record(
    client: &Client,
    deadline: Deadline,
    keeps: i32,
    session: &str,
    events: &[Event<'_>],
) -> Result<Option<SkillState>, Problem> {
    let id = &*key(session);
    let known = version(id, begin(client, deadline, keeps, id).await?)?;
    let is_new = known.is_none();
    let state = known.map(|known| known.state).unwrap_or_default();
    let Change { before, skills, columns } = Change::new(state, events)?;
    let mut values: Vec<Value<'_>> =
        vec![(&id, Type::TEXT), (&skills, Type::TEXT), (&is_new, Type::BOOL)];
    values.extend(columns.values());
    let (written, committed) =
        tokio::join!(biased; client.execute_typed(&WRITE, &values), client.batch_execute("COMMIT"));
    // A transaction that failed is rolled back by `COMMIT`, which then does not fail.
    written.map_err(at_commit)?;
    committed.map_err(at_commit)?;
    Ok(before)
}

/// Returns the statements that begin a transaction. They make the server keep the deadline, too: a
/// process that was stopped or cut off within the transaction must not hold the session for ever, and a
/// call that failed must not be written later. The server gives up before the caller does, so that it is
/// the server's answer that tells the caller, and not a guess.
fn within(deadline: Deadline) -> String {
    let millis = (deadline.left() * 3 / 4).as_millis().max(1);
    format!(
        "BEGIN; SET LOCAL statement_timeout = {millis};
        SET LOCAL idle_in_transaction_session_timeout = {millis}"
    )
}

/// Begins a transaction that locks `session`, and returns its row.
async fn begin(
    client: &Client,
    deadline: Deadline,
    keeps: i32,
    session: &str,
) -> Result<Option<Row>, Problem> {
    let sql = within(deadline);
    let lock = [(&LOCK as _, Type::INT4), (&session as _, Type::TEXT)];
    let row = [(&session as _, Type::TEXT), (&keeps as _, Type::INT4)];
    // The advisory lock also covers a session without a row; `FOR UPDATE` locks the row against
    // `REPLACE`.
    let read = format!("{READ} FOR UPDATE");
    let (begun, locked, row) = tokio::join!(
        biased;
        client.batch_execute(&sql),
        client.query_typed("SELECT pg_advisory_xact_lock($1, hashtext($2))", &lock),
        client.query_typed_opt(&read, &row),
    );
    begun?;
    locked?;
    Ok(row?)
}

/// Returns `session` as it is now, if it is known.
pub(super) async fn state(
    client: &Client,
    keeps: i32,
    session: &str,
) -> Result<Option<Version>, Problem> {
    let id = &*key(session);
    let row = [(&id as _, Type::TEXT), (&keeps as _, Type::INT4)];
    version(id, client.query_typed_opt(READ, &row).await?)
}

/// Returns the session in a row of [`READ`], unless it has expired.
fn version(session: &str, row: Option<Row>) -> Result<Option<Version>, Problem> {
    let Some(row) = row else { return Ok(None) };
    if !row.try_get::<_, bool>(2)? {
        return Ok(None);
    }
    let state = decode(row.try_get(0)?).map_err(|error| {
        damaged(format!("the row of the session `{session}` cannot be read: {error}"))
    })?;
    Ok(Some(Version { written_by: row.try_get(1)?, state }))
}

fn damaged(why: String) -> Problem {
    let help = "end the session; if that does not help, drop the tables `repertoire_*`";
    Problem::Damaged { why, help }
}

/// Deletes a session and its trail.
const END: &str = "WITH trail AS (DELETE FROM repertoire_trail WHERE session = $1)
    DELETE FROM repertoire_session WHERE id = $1";

/// Forgets `session`.
pub(super) async fn end(client: &Client, deadline: Deadline, session: &str) -> Result<(), Problem> {
    let id = &*key(session);
    begin(client, deadline, 1, id).await?;
    let row = [(&id as _, Type::TEXT)];
    let (deleted, committed) = tokio::join!(
        biased;
        client.execute_typed(END, &row),
        client.batch_execute("COMMIT"),
    );
    deleted.map_err(at_commit)?;
    committed.map_err(at_commit)
}

/// Returns the tallies of `since` and the days after it.
pub(super) async fn tallies(client: &Client, since: Day) -> Result<Tallies, Problem> {
    const BEGUN: &str = "SELECT coalesce(sum(sessions), 0)::bigint FROM repertoire_begun
        WHERE day >= $1";
    const TALLY: &str = "SELECT day, skill, sum(fired)::bigint, sum(loaded)::bigint,
            sum(used)::bigint, sum(listed)::bigint
        FROM repertoire_tally WHERE day >= $1 GROUP BY day, skill ORDER BY day";
    let since = i32::try_from(since.number()).unwrap_or(i32::MAX);
    let since = [(&since as _, Type::INT4)];
    let (begun, rows) = tokio::join!(biased; client.query_typed_one(BEGUN, &since), client.query_typed(TALLY, &since));
    let count = |row: &Row, column: usize| -> Result<u64, Problem> {
        Ok(row.try_get::<_, i64>(column)?.try_into().unwrap_or_default())
    };
    let mut tallies = Tallies::default();
    tallies.sessions = count(&begun?, 0)?;
    for row in rows? {
        let mut counts = Counts::default();
        counts.fired = count(&row, 2)?;
        counts.loaded = count(&row, 3)?;
        counts.used = count(&row, 4)?;
        counts.listed = count(&row, 5)?;
        let skill = SkillId::new(row.try_get(1)?);
        tallies.add(Day::of_number(row.try_get::<_, i32>(0)?.into()), &skill, counts);
    }
    Ok(tallies)
}

/// Encounters with skills, by column.
#[derive(Default)]
struct Columns<'e> {
    skills: Vec<std::borrow::Cow<'e, str>>,
    fired: Vec<i64>,
    loaded: Vec<i64>,
    used: Vec<i64>,
    listed: Vec<i64>,
}

impl<'e> Columns<'e> {
    /// Returns the columns in the order of [`TALLY`].
    fn values(&self) -> [Value<'_>; 5] {
        [
            (&self.skills, Type::TEXT_ARRAY),
            (&self.fired, Type::INT8_ARRAY),
            (&self.loaded, Type::INT8_ARRAY),
            (&self.used, Type::INT8_ARRAY),
            (&self.listed, Type::INT8_ARRAY),
        ]
    }

    /// Adds the sums of `events`, one row for each skill.
    fn fill(&mut self, events: &[Event<'e>]) {
        let mut sums: BTreeMap<&SkillId, Counts> = BTreeMap::new();
        for event in events {
            let counts = Counts::of(event);
            if let Some(skill) = event.skill().filter(|_| counts != Counts::default()) {
                sums.entry(skill).or_default().add(counts);
            }
        }
        for (skill, counts) in sums {
            self.skills.push(key(skill.as_str()));
            self.fired.push(counts.fired.cast_signed());
            self.loaded.push(counts.loaded.cast_signed());
            self.used.push(counts.used.cast_signed());
            self.listed.push(counts.listed.cast_signed());
        }
    }
}
