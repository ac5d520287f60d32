//! A chosen skill becomes instructions: the files it brings, what may be read of them, and copies
//! of them for tasks.

mod files;
mod mount;
mod resources;
mod tree;

pub use files::{BundledFiles, MAX_BUNDLED_FILES, bundled_files};
pub use mount::{LeftOut, LeftOutReason, MountLimits, Mounted, mount};
pub use resources::{Content, ReadOptions, Resource, read_resource};
pub use tree::{TreeLimits, folder_tree};
