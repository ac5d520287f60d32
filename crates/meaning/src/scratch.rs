//! Working memory of texts.

use crate::pieces::PieceScratch;
#[cfg(feature = "transformer")]
use crate::transformer::Run;

/// Working memory that [`Table::vector`](crate::Table::vector) needs. Once it has met a text of
/// [`MAX_TEXT`](crate::MAX_TEXT) bytes, no text allocates; shorter texts need less.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) pieces: PieceScratch,
    #[cfg(feature = "transformer")]
    pub(crate) transformer: Run,
}
