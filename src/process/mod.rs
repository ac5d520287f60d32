//! Starting programs and ending them: finds the interpreter of a script or of an MCP server, starts a
//! process in a session of its own, measures and ends its group, and reads the lines of an MCP server.
//! `Running` is for programs that need no limits but an end.

#[cfg(unix)]
mod group;
#[cfg(any(feature = "scripts", feature = "mcp-toolsets"))]
mod installation;
#[cfg(any(feature = "scripts", feature = "mcp-toolsets"))]
mod interpreter;
#[cfg(feature = "mcp-toolsets")]
pub mod mcp_lines;
mod running;
#[cfg(unix)]
pub(crate) mod session;
#[cfg(unix)]
mod totals;

pub use running::Running;

#[cfg(unix)]
pub(crate) use group::Group;
#[cfg(unix)]
#[cfg(feature = "toolsets")]
pub(crate) use group::Member;
#[cfg(feature = "scripts")]
pub(crate) use installation::holds_home;
#[cfg(any(feature = "scripts", feature = "mcp-toolsets"))]
pub(crate) use installation::{installation, not_a_script};
#[cfg(feature = "scripts")]
pub(crate) use interpreter::is_marked;
#[cfg(any(feature = "scripts", feature = "mcp-toolsets"))]
pub(crate) use interpreter::{NoRunner, Runner, Search, search_path};
#[cfg(all(unix, feature = "scripts"))]
pub(crate) use totals::Exceeded;
#[cfg(unix)]
pub(crate) use totals::{Measuring, Totals, tasks};
