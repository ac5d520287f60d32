//! Evaluation: how often the right skill is disclosed for prompts whose right skills are known.
//!
//! [`read`] reads prompts from files in the forms that skills are published with, [`evaluate`] asks
//! an [`Engine`](crate::Engine) each of them, as the first message of a conversation, and
//! [`Report`] counts. [`compare`] tells the changes since an earlier report.
//!
//! # What is counted
//!
//! A skill *fires* for a prompt if the disclosure shows it in full: this is what an agent pays
//! for, and follows. A line in a registry is a hint, not a fire.
//!
//! A prompt says which skills are *expected*. It has none if no skill should fire, or if it only
//! names those that must not (`forbidden`). A fire is
//!
//! - *right* if the skill is expected;
//! - *wrong* if it is forbidden, if the prompt expects other skills, or if it expects none and
//!   forbids none in particular;
//! - not counted if the prompt calls it `acceptable`, or if the prompt only says of other skills
//!   that they must not fire.
//!
//! A skill that only the user may invoke cannot fire for the model, so a prompt that expects it
//! does not measure it: see [`Evaluation::user_only`].
//!
//! | figure | of | is the share |
//! |---|---|---|
//! | precision | fires that are right or wrong | that are right |
//! | recall | expected skills, over all prompts | that fire |
//! | F1 | | harmonic mean of the two |
//! | top 1 | prompts that expect a skill | where the first that is found is expected |
//! | top 3 | the same | where one of the first three is |
//! | false fires | prompts that expect none | where a skill fires that is wrong |
//!
//! What is *found* is the answer of [`Engine::find_skills`](crate::Engine::find_skills): skills
//! whose triggers are hit in the order of their ranking, then others by relevance. All figures are
//! from 0 to 1; a share of nothing is `None`.

mod case;
mod compare;
mod csv;
mod fields;
mod located;
mod owner;
mod read;
mod run;
mod score;

pub use case::{Case, Problem};
pub use compare::{Baseline, Change, Comparison, compare};
pub use owner::Owners;
pub use read::read;
pub use run::{Evaluation, Fired, Nearest, Outcome, UserOnly, evaluate};
pub use score::{Cause, Confusion, Report, Scores, SkillScore, Tokens};
