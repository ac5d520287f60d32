//! Strangers' files and programs on a user's machine: a path that never leaves its directory, a program that can
//! be ended with all that it started, and a sandbox in which a process has only the rights that were granted.
//!
//! | module | what it is for |
//! |---|---|
//! | [`confined`] | opens files below a directory, whatever links and races are there |
//! | [`open_options`] | opens paths at which somebody else may have put a pipe or a device |
//! | [`lossy_path`] | writes paths as text |
//! | [`network`] | the part of the network that code asks for |
//! | [`project`] | the project of a directory, unless another user planted it |
//! | `process`, `sandbox`, `private_dir` (feature `code`) | processes in groups of their own, their rights and limits, directories for them |
//!
//! It is a part of Repertoire, whose engine is the crate `repertoire`, and grows with it.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod confined;
pub mod lossy_path;
pub mod network;
pub mod open_options;
#[cfg(feature = "code")]
pub mod private_dir;
#[cfg(feature = "code")]
pub mod process;
pub mod project;
#[cfg(feature = "code")]
pub mod sandbox;
