//! Asking a model: whether it loads the right skill, with nothing, with the plain list, and with the disclosure.
//!
//! [`Asking`] sends each prompt to a [`Model`] in several [`Way`]s, and follows the conversation until the model
//! calls no more tools. A [`Record`] keeps what happened, [`Replies`] keeps records in a file, from which a run that
//! was stopped goes on, and [`AskReport`] computes the figures. A [`judge`](judged) can be put over the replies.
//!
//! # What is counted
//!
//! A skill is *loaded* if the model called `use_skill` for it and got its text, or if the disclosure had it in full:
//! either way the model has read it. Which skills are expected, forbidden and acceptable is told by the prompt, as
//! for [`eval`](crate::eval).
//!
//! | figure | of | is the share, or the mean |
//! |---|---|---|
//! | right | prompts that expect a skill | where one of those skills is loaded |
//! | wrong | all prompts that expect a skill | where another one is loaded, which is not acceptable |
//! | never | prompts that expect a skill | where no skill is loaded |
//! | needless | prompts that expect no skill | where a skill is loaded that may not |
//! | good | prompts with a verdict | whose answer the judge finds good |
//! | input, output | all prompts | tokens of all requests, and of all replies |
//! | turns, seconds | all prompts | requests, and the time that the model took |
//!
//! Each figure has the interval that holds 95 % of 1,000 resamples of its prompts (the percentile bootstrap:
//! Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13).

mod bootstrap;
mod conversation;
mod figures;
mod judge;
mod model;
mod record;
mod run;
mod text;
mod way;

pub use bootstrap::Interval;
pub use figures::{AskReport, Figure, WayFigures};
pub use judge::judged;
pub use model::{Call, Message, Model, Reply, Request, Role, Tool, Usage};
pub use record::{Record, Replies, Verdict};
pub use run::{Asked, Asking, Unanswered, Unjudged, sample};
pub use text::{calls_in, request_text, without_thoughts};
pub use way::Way;
