//! The tables of the store: their schema, its migrations, and the deletion of old rows.

use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};

use super::problem::at_commit;
use super::statements::LOCK;
use crate::server::Problem;
use repertoire::session::Tallies;

/// The version of the schema.
const VERSION: i32 = 2;

/// The migrations; the first one creates the tables. A database gets those that it lacks.
///
/// A session is one row: `skills` is the JSON that [`encode`](crate::server::encode) writes.
/// Days are counted from 1970-01-01, in UTC. All sessions share the rows of tallies, so these come in
/// several shards: a transaction locks a row until it is committed, and other transactions would wait
/// for it.
const MIGRATIONS: [&str; VERSION as usize] = [
    "
    CREATE TABLE repertoire_store (
        is_one boolean PRIMARY KEY CHECK (is_one),
        version integer NOT NULL,
        swept timestamptz NOT NULL DEFAULT now()
    );
    CREATE TABLE repertoire_session (
        id text PRIMARY KEY,
        touched timestamptz NOT NULL,
        skills text NOT NULL
    );
    CREATE INDEX repertoire_session_touched ON repertoire_session (touched);
    CREATE TABLE repertoire_tally (
        day integer NOT NULL,
        skill text NOT NULL,
        shard integer NOT NULL,
        fired bigint NOT NULL,
        loaded bigint NOT NULL,
        used bigint NOT NULL,
        listed bigint NOT NULL,
        PRIMARY KEY (day, skill, shard)
    );
    CREATE TABLE repertoire_begun (
        day integer NOT NULL,
        shard integer NOT NULL,
        sessions bigint NOT NULL,
        PRIMARY KEY (day, shard)
    );
    INSERT INTO repertoire_store (is_one, version) VALUES (true, 0);
",
    "
    CREATE TABLE repertoire_trail (
        session text PRIMARY KEY,
        touched timestamptz NOT NULL,
        lines text[] NOT NULL
    );
    CREATE INDEX repertoire_trail_touched ON repertoire_trail (touched);
",
];

/// The tables; the first one marks the others as ours.
const TABLES: &str = "('repertoire_store'), ('repertoire_session'), ('repertoire_tally'), \
     ('repertoire_begun'), ('repertoire_trail')";

const FOREIGN: &str =
    "name another database, or another schema with `options=-c%20search_path=SCHEMA`";

/// The time between two deletions of old rows, by any process.
const SWEEP: &str = "interval '1 hour'";

/// The largest number of sessions that one process deletes at once: a hook must not wait long.
const SWEPT_AT_ONCE: i64 = 500;

/// Creates the tables, and migrates those of an earlier version. Returns true if old rows are due to
/// be deleted.
///
/// Refuses tables of another program or of a newer version, and leaves them unchanged.
pub(super) async fn prepare(client: &mut Client) -> Result<bool, Problem> {
    let sql = format!("SELECT version, swept < now() - {SWEEP} FROM repertoire_store");
    let stored = match client.query_typed_opt(&sql, &[]).await {
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => None,
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_COLUMN) => {
            return Err(foreign("repertoire_store"));
        }
        stored => stored?,
    };
    let version = stored.as_ref().map(|row| row.try_get::<_, i32>(0)).transpose()?;
    if version == Some(VERSION) {
        return Ok(stored.map(|row| row.try_get(1)).transpose()?.unwrap_or_default());
    }
    migrate(client).await.map(|()| false)
}

/// Brings the tables to this version, one process at a time.
async fn migrate(client: &mut Client) -> Result<(), Problem> {
    let transaction = client.transaction().await?;
    let lock = [(&LOCK as _, Type::INT4), (&0_i32 as _, Type::INT4)];
    transaction.query_typed("SELECT pg_advisory_xact_lock($1, $2)", &lock).await?;
    // Another process may have migrated the tables in the meantime.
    let sql = format!(
        "SELECT name FROM (VALUES {TABLES}) AS ours (name)
        JOIN pg_tables ON tablename = name AND schemaname = current_schema()"
    );
    let known = transaction.query_typed(&sql, &[]).await?;
    let name = |row: &Row| row.try_get::<_, String>(0);
    let known = known.iter().map(name).collect::<Result<Vec<_>, _>>()?;
    let version = if known.iter().any(|name| name == "repertoire_store") {
        transaction
            .query_typed_one("SELECT version FROM repertoire_store", &[])
            .await?
            .try_get(0)?
    } else if let Some(name) = known.first() {
        return Err(foreign(name));
    } else {
        0
    };
    if version > VERSION {
        let why =
            format!("it was made by a newer Repertoire (its version {version}, ours {VERSION})");
        let help = "update Repertoire, or name another database";
        return Err(Problem::Refused { why, help });
    }
    for migration in MIGRATIONS.iter().skip(usize::try_from(version).unwrap_or_default()) {
        transaction.batch_execute(migration).await?;
    }
    let sql = format!("UPDATE repertoire_store SET version = {VERSION}");
    transaction.batch_execute(&sql).await?;
    transaction.commit().await.map_err(at_commit)
}

fn foreign(table: &str) -> Problem {
    let why = format!("its table `{table}` is of another program, and stays unchanged");
    Problem::Refused { why, help: FOREIGN }
}

/// Deletes sessions without an event in the last `keeps` seconds, and tallies older than a year, if
/// no other process is doing so.
pub(super) async fn sweep(client: &Client, keeps: i32) -> Result<(), Problem> {
    let sql = format!(
        "WITH due AS (
            UPDATE repertoire_store SET swept = now() WHERE swept < now() - {SWEEP} RETURNING true
        ), old AS (
            SELECT id FROM repertoire_session
            WHERE touched < now() - $1 * interval '1 second' AND EXISTS (SELECT FROM due)
            ORDER BY touched LIMIT {SWEPT_AT_ONCE} FOR UPDATE SKIP LOCKED
        ), trails AS (
            DELETE FROM repertoire_trail
            WHERE touched < now() - $1 * interval '1 second' AND EXISTS (SELECT FROM due)
        ), today AS (
            SELECT (now() AT TIME ZONE 'UTC')::date - date '1970-01-01' AS day FROM due
        ), tallies AS (
            DELETE FROM repertoire_tally USING today WHERE repertoire_tally.day <= today.day - $2
        ), begun AS (
            DELETE FROM repertoire_begun USING today WHERE repertoire_begun.day <= today.day - $2
        )
        DELETE FROM repertoire_session USING old WHERE repertoire_session.id = old.id"
    );
    let days = Tallies::KEPT_DAYS.cast_signed();
    let parameters = [(&keeps as _, Type::INT4), (&days as _, Type::INT4)];
    client.execute_typed(&sql, &parameters).await?;
    Ok(())
}
