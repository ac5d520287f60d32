//! Starting programs and ending them: finds the interpreter of a script or of an MCP server, starts a
//! process in a session of its own, measures and ends its group, and reads the lines of an MCP server.
//! `Running` is for programs that need no limits but an end.

#[cfg(unix)]
mod group;
mod installation;
mod interpreter;
#[cfg(unix)]
mod open_files;
mod running;
#[cfg(unix)]
pub mod session;
#[cfg(unix)]
mod totals;

pub use running::Running;

#[cfg(unix)]
pub use group::Group;
#[cfg(unix)]
pub use group::Member;
pub use installation::holds_home;
pub use installation::{installation, not_a_script};
pub use interpreter::is_marked;
pub use interpreter::{NoRunner, Runner, Search, search_path};
#[cfg(unix)]
pub use totals::Exceeded;
#[cfg(unix)]
pub use totals::{Measuring, Totals, tasks};
