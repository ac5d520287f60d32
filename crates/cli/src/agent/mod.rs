//! Settings of agents: their location, and atomic changes of them.

mod changed;
mod command;
mod edit;
pub(crate) mod json;
mod place;
mod skill_places;

pub(crate) use changed::Changed;
pub(crate) use command::{
    common_options, is_own_program, program, shell, split, warn_of_missing_sources,
};
pub(crate) use edit::{BACKUPS, Entry, Problem, Target};
pub(crate) use place::{LOCAL_SETTINGS, Place, Settings, unknown, user_dir};
pub(crate) use skill_places::skill_places;
