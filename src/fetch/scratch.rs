//! Directories for files that are gone after a fetch.

use std::path::Path;

use super::objects::io_error;
use crate::error::Error;
use crate::private_dir::PrivateDir;

/// Makes a directory below `scratch` for received files, which is removed with it.
pub(super) fn scratch_dir(scratch: &Path) -> Result<PrivateDir, Error> {
    PrivateDir::below(scratch).map_err(|error| io_error("create a directory in", scratch, &error))
}
