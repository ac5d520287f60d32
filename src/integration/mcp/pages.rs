//! Cursors of lists that come in pages.

use rmcp::model::{ErrorData, PaginatedRequestParams};

use super::protocol_error;
use crate::error::{Error, ErrorCode};

/// The beginning of a cursor, before the name of an item. That may be gone by then: the next item
/// follows.
const MARK: &str = "from:";

/// The cursor of a page that begins with the item of this name.
pub(super) fn cursor_at(name: &str) -> String {
    format!("{MARK}{name}")
}

/// The name of the item that a page begins with; of the first page, an empty one.
pub(super) fn after_mark(cursor: Option<&str>) -> Result<&str, Error> {
    let Some(cursor) = cursor else { return Ok("") };
    cursor.strip_prefix(MARK).ok_or_else(|| not_a_cursor(cursor))
}

/// Fails for a page of a list that is told as a whole: nobody was given a cursor.
pub(super) fn is_whole(page: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match page.and_then(|page| page.cursor) {
        Some(cursor) => Err(protocol_error(&not_a_cursor(&cursor))),
        None => Ok(()),
    }
}

fn not_a_cursor(cursor: &str) -> Error {
    let message = format!("`{cursor}` is not a cursor of this list");
    Error::new(ErrorCode::InvalidParam, message, "pass on `nextCursor` as it was")
}
