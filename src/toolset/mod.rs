//! Toolsets: tools of skills, written in a compiled language.

#[cfg_attr(not(test), expect(dead_code, reason = "the loader that uses it comes next"))]
mod worker;

pub use worker::{
    FilesystemLevel, HostProgram, Limits, NetworkLevel, SandboxLevel, main as worker_main,
};
