//! Cursors of paginated lists.

use rmcp::model::{ErrorData, PaginatedRequestParams};

use super::blocking::protocol_error;
use repertoire::{Error, ErrorCode};

/// The prefix of a cursor, before the name of an item. If the item is gone by then, the page begins
/// with the next one.
const MARK: &str = "from:";

/// Returns the cursor of a page that begins with the item of this name.
pub(super) fn cursor_at(name: &str) -> String {
    format!("{MARK}{name}")
}

/// Returns the name of the item with which a page starts; empty for the first page. Fails with
/// `INVALID_PARAM` if the cursor is not valid.
pub(super) fn after_mark(cursor: Option<&str>) -> Result<&str, Error> {
    let Some(cursor) = cursor else { return Ok("") };
    cursor.strip_prefix(MARK).ok_or_else(|| not_a_cursor(cursor))
}

/// Refuses a cursor for a list that has only one page, since the server never issued one.
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
