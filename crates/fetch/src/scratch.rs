//! Temporary directories for fetching.

use std::path::Path;

use super::objects::io_error;
use repertoire::Error;
use repertoire_system::private_dir::PrivateDir;

/// Creates a directory below `scratch` for downloaded files. Dropping it removes the directory.
pub(super) fn scratch_dir(scratch: &Path) -> Result<PrivateDir, Error> {
    PrivateDir::below(scratch).map_err(|error| io_error("create a directory in", scratch, &error))
}
