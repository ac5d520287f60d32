//! The statements that read and write sessions and tallies.
//!
//! Statements that do not need each other's answers are sent at once, so that writing takes two
//! round trips and reading one. They are not prepared: poolers such as `PgBouncer` hand each
//! transaction to another connection.

use std::collections::BTreeMap;

use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::problem::at_commit;
use crate::session::server::{Deadline, Problem, decode, encode, key};
use crate::session::state::{Event, SessionState, SkillState};
use crate::session::tally::{Counts, Day, Tallies};
use crate::skill::SkillId;

/// The class of our advisory locks: `Rprt`. The second number is 0 for migrations, else the hash of a
/// session.
pub(super) const LOCK: i32 = 0x5270_7274;

/// Reads a session that has not expired: `$1` is its key, `$2` the seconds for which it is kept.
const READ: &str = "SELECT skills FROM repertoire_session
    WHERE id = $1 AND touched >= now() - $2 * interval '1 second'";

/// Writes a session (`$1`, `$2`) and counts what happened: `$3` is true for a session that begins,
/// the others are columns of tallies. Rows are locked in their order, so that no two transactions
/// wait for each other.
const WRITE: &str = "WITH today AS (
        SELECT (now() AT TIME ZONE 'UTC')::date - date '1970-01-01' AS day,
            pg_backend_pid() % 16 AS shard
    ), written AS (
        INSERT INTO repertoire_session AS known (id, touched, skills) VALUES ($1, now(), $2)
        ON CONFLICT (id) DO UPDATE SET touched = excluded.touched, skills = excluded.skills
    ), begun AS (
        INSERT INTO repertoire_begun AS known (day, shard, sessions)
        SELECT day, shard, 1 FROM today WHERE $3
        ON CONFLICT (day, shard) DO UPDATE SET sessions = known.sessions + 1
    )
    INSERT INTO repertoire_tally AS known (day, skill, shard, fired, loaded, used, listed)
    SELECT day, skill, shard, fired, loaded, used, listed
    FROM unnest($4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[])
        AS new (skill, fired, loaded, used, listed), today
    ORDER BY skill
    ON CONFLICT (day, skill, shard) DO UPDATE SET
        fired = known.fired + excluded.fired,
        loaded = known.loaded + excluded.loaded,
        used = known.used + excluded.used,
        listed = known.listed + excluded.listed";

/// Records events of `session`, and returns the earlier state of the skill of the last one.
pub(super) async fn record(
    client: &Client,
    deadline: Deadline,
    keeps: i32,
    session: &str,
    events: &[Event<'_>],
) -> Result<Option<SkillState>, Problem> {
    let id = &*key(session);
    let known = begin(client, deadline, keeps, id).await?;
    let mut state =
        known.as_deref().map(|skills| read(id, skills)).transpose()?.unwrap_or_default();
    let (mut before, mut columns) = (None, Columns::default());
    for event in events {
        before = state.apply(event);
    }
    columns.fill(events);
    let skills = encode(&state).map_err(|error| damaged(error.to_string()))?;
    let is_new = known.is_none();
    let values = [
        (&id as _, Type::TEXT),
        (&skills as _, Type::TEXT),
        (&is_new as _, Type::BOOL),
        (&columns.skills as _, Type::TEXT_ARRAY),
        (&columns.fired as _, Type::INT8_ARRAY),
        (&columns.loaded as _, Type::INT8_ARRAY),
        (&columns.used as _, Type::INT8_ARRAY),
        (&columns.listed as _, Type::INT8_ARRAY),
    ];
    let (written, committed) =
        tokio::join!(biased; client.execute_typed(WRITE, &values), client.batch_execute("COMMIT"));
    // A transaction that failed is rolled back by `COMMIT`, which then does not fail.
    written.map_err(at_commit)?;
    committed.map_err(at_commit)?;
    Ok(before)
}

/// Begins a transaction that has `session` for itself, and returns its record.
async fn begin(
    client: &Client,
    deadline: Deadline,
    keeps: i32,
    session: &str,
) -> Result<Option<String>, Problem> {
    // The server, too, keeps the deadline: a process that was stopped or cut off within the
    // transaction must not hold the session for ever.
    let millis = deadline.left().as_millis().max(1);
    let sql = format!(
        "BEGIN; SET LOCAL statement_timeout = {millis};
        SET LOCAL idle_in_transaction_session_timeout = {millis}"
    );
    let lock = [(&LOCK as _, Type::INT4), (&session as _, Type::TEXT)];
    let row = [(&session as _, Type::TEXT), (&keeps as _, Type::INT4)];
    let (begun, locked, row) = tokio::join!(
        biased;
        client.batch_execute(&sql),
        client.query_typed("SELECT pg_advisory_xact_lock($1, hashtext($2))", &lock),
        client.query_typed_opt(READ, &row),
    );
    begun?;
    locked?;
    Ok(row?.map(|row| row.try_get(0)).transpose()?)
}

/// Returns the state of `session`; empty if it is not known.
pub(super) async fn state(
    client: &Client,
    keeps: i32,
    session: &str,
) -> Result<SessionState, Problem> {
    let id = &*key(session);
    let row = [(&id as _, Type::TEXT), (&keeps as _, Type::INT4)];
    let row = client.query_typed_opt(READ, &row).await?;
    row.map_or_else(|| Ok(SessionState::default()), |row| read(id, row.try_get(0)?))
}

fn read(session: &str, skills: &str) -> Result<SessionState, Problem> {
    decode(skills).map_err(|error| {
        damaged(format!("the row of the session `{session}` cannot be read: {error}"))
    })
}

fn damaged(why: String) -> Problem {
    let help = "end the session; if that does not help, drop the tables `repertoire_*`";
    Problem::Damaged { why, help }
}

/// Forgets `session`.
pub(super) async fn end(client: &Client, deadline: Deadline, session: &str) -> Result<(), Problem> {
    let id = &*key(session);
    begin(client, deadline, 1, id).await?;
    let row = [(&id as _, Type::TEXT)];
    let (deleted, committed) = tokio::join!(
        biased;
        client.execute_typed("DELETE FROM repertoire_session WHERE id = $1", &row),
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
    let mut tallies = Tallies { sessions: count(&begun?, 0)?, ..Tallies::default() };
    for row in rows? {
        let counts = Counts {
            fired: count(&row, 2)?,
            loaded: count(&row, 3)?,
            used: count(&row, 4)?,
            listed: count(&row, 5)?,
        };
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
    /// Adds the sum of `events`, one row a skill.
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
