//! The store of conversations, as commands open it.

use repertoire::Error;
use repertoire::session::SqliteStore;

use crate::args::Common;
use crate::output::Output;
use crate::{hook, sanitize, setup};

/// Opens the store, which is made if there is none. A damaged one that is set aside is told of on
/// standard error and in the log of hooks.
pub(crate) fn open(common: &Common) -> Result<SqliteStore, Error> {
    let teller = common.clone();
    SqliteStore::open_telling(setup::sessions_file(common)?, move |set_aside| {
        let what = set_aside.to_string();
        Output::of(&teller).note(&sanitize::line(&what));
        hook::note(&what, &teller);
    })
}
