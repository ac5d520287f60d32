//! Evaluation: measures how often the right skill is disclosed, with prompts whose right skills are
//! known.
//!
//! [`read`] reads prompts from files, in the formats with which skills are published. [`evaluate`] sends
//! each prompt to an [`Engine`](repertoire::Engine), as the first message of a conversation. [`Report`]
//! computes the figures, and [`compare`] reports the changes since an earlier report.
//!
//! # What is counted
//!
//! A skill *fires* for a prompt if the disclosure shows it in full: an agent pays for the full text, and
//! follows it. A line in a registry is a hint, not a fire.
//!
//! A prompt names the skills that are *expected*. It expects none if no skill should fire, or if it
//! names only skills that must not fire (`forbidden`). A fire is
//!
//! - *right* if the skill is expected;
//! - *wrong* if the skill is forbidden, if the prompt expects other skills, or if the prompt neither
//!   expects nor forbids any skill;
//! - not counted if the skill is `acceptable`, or if the prompt only forbids other skills.
//!
//! A skill that only the user may invoke cannot fire for the model, so prompts that expect it do not
//! count for it: see [`Evaluation::user_only`].
//!
//! | figure | of | is the share |
//! |---|---|---|
//! | precision | fires that are right or wrong | that are right |
//! | recall | expected skills, over all prompts | that fire |
//! | in view | prompts that expect a skill | where one of those skills fires or is shown in a line |
//! | F1 | | harmonic mean of precision and recall |
//! | top 1 | prompts that expect a skill | where the first skill found is expected |
//! | top 3 | prompts that expect a skill | where one of the first three skills found is expected |
//! | false fires | prompts that expect no skill | where a skill fires wrongly |
//!
//! The skills *found* are the answer of [`Engine::find_skills`](repertoire::Engine::find_skills): skills
//! whose triggers are hit, in the order of their ranking, then others by relevance. All figures are from
//! 0 to 1; a share of nothing is `None`. [`Report::lines_for_none`] is the mean number of lines that
//! prompts get that expect no skill. [`with_paste`] repeats prompts with a text around them.

mod case;
mod compare;
mod fields;
mod located;
mod owner;
mod paste;
mod read;
mod run;
mod score;
mod spellings;

pub use case::{Case, Problem};
pub use compare::{Baseline, Change, Comparison, compare};
pub use owner::Owners;
pub use paste::with_paste;
pub use read::read;
pub(crate) use run::Judge;
pub use run::{Evaluation, Fired, Nearest, Outcome, TooLong, UserOnly, evaluate};
pub use score::{Cause, Confusion, OverBudget, Report, Scores, SkillScore, Tokens};
