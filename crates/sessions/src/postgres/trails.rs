//! The statements that read and write trails: the messages that are kept, one row for each session.

use std::sync::LazyLock;

use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::problem::at_commit;
use crate::server::{Problem, key};
use repertoire::session::KeptMessage;

/// Appends the lines `$2` to the trail of the session `$1`, and deletes the oldest lines and the oldest
/// trails beyond the limits. The deletion does not see the row that is written.
static EXTEND: LazyLock<String> = LazyLock::new(|| {
    let (lines, others) = (KeptMessage::MAX_LINES, KeptMessage::MAX_SESSIONS - 1);
    format!(
        "WITH written AS (
            INSERT INTO repertoire_trail AS known (session, touched, lines) VALUES ($1, now(), $2)
            ON CONFLICT (session) DO UPDATE SET
                touched = excluded.touched,
                lines = (known.lines || excluded.lines)[greatest(
                    cardinality(known.lines) + cardinality(excluded.lines) - {lines}, 0) + 1:]
        )
        DELETE FROM repertoire_trail WHERE session IN (
            SELECT session FROM repertoire_trail WHERE session <> $1
            ORDER BY touched DESC OFFSET {others}
        )"
    )
});

/// Appends `lines` to the trail of `session`.
pub(super) async fn extend(
    client: &Client,
    session: &str,
    lines: &[String],
) -> Result<(), Problem> {
    let id = &*key(session);
    let row = [(&id as _, Type::TEXT), (&lines as _, Type::TEXT_ARRAY)];
    client.execute_typed(&EXTEND, &row).await.map_err(at_commit)?;
    Ok(())
}

/// Returns the trails that were extended in the last `keeps` seconds.
pub(super) async fn all(client: &Client, keeps: i32) -> Result<Vec<Vec<String>>, Problem> {
    let sql = "SELECT lines FROM repertoire_trail WHERE touched >= now() - $1 * interval '1 second'
        ORDER BY touched";
    let rows = client.query_typed(sql, &[(&keeps as _, Type::INT4)]).await?;
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}
