//! The host's own retriever, whose scores tell how near skills are in place of the table.

use std::fmt::Debug;

use serde::Serialize;

use super::meaning::Levels;
use crate::error::{Error, ErrorCode};
use crate::skill::{Skill, SkillId};

/// One of this many foreign messages is put to a retriever to measure its levels: a model may take
/// milliseconds for each.
const MEASURED_OF: usize = 4;

/// A skill that a [`Retriever`] may rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Candidate {
    /// The id of the skill.
    pub id: SkillId,
    /// The name of the skill.
    pub name: String,
    /// The description of the skill.
    pub description: String,
    /// `when_to_use` of the skill, or an empty text.
    pub when_to_use: String,
    /// The headings of the body, in its order.
    pub headings: Vec<String>,
    /// The body of the skill; empty if it cannot be read.
    pub body: String,
}

impl Candidate {
    /// Reads what a retriever may know of a skill.
    pub(crate) fn new(id: &SkillId, skill: &Skill) -> Candidate {
        // A clone reads the body, so that the skill itself does not keep it in memory.
        let body = skill.clone().body().unwrap_or_default().to_owned();
        let when_to_use = skill.manifest().when_to_use.as_ref();
        Candidate {
            id: id.clone(),
            name: skill.name().to_owned(),
            description: skill.description().to_owned(),
            when_to_use: when_to_use.map(|when| when.value.clone()).unwrap_or_default(),
            headings: headings(&body).map(str::to_owned).collect(),
            body,
        }
    }
}

/// The headings of a Markdown text.
pub(super) fn headings(body: &str) -> impl Iterator<Item = &str> {
    let lines = body.lines().filter_map(|line| line.strip_prefix('#'));
    lines.map(|line| line.trim_start_matches('#').trim()).filter(|heading| !heading.is_empty())
}

/// The host's own ranking of skills for a message, for example by embeddings or a reranker. Its scores
/// are added to those of words wherever relevance is used: in disclosures and in
/// [`Engine::find_skills`](crate::Engine::find_skills). They take the place of the model of meanings.
///
/// The engine calls a retriever on the thread of its caller.
pub trait Retriever: Debug + Send + Sync {
    /// Prepares to rank these skills: all that the model may use, in the order of ids. Called when a catalog
    /// is loaded, and again when it changed. By default there is nothing to prepare.
    ///
    /// If it fails, skills are ranked by words alone.
    fn prepare(&self, candidates: &[Candidate]) -> Result<(), Error> {
        let _ = candidates;
        Ok(())
    }

    /// Returns the score of each candidate, in the order of `candidates`: greater is better, on any scale.
    /// Called for each message that is ranked, with the candidates of the last [`Retriever::prepare`].
    ///
    /// If it fails, gives another number of scores, or one that is not finite, the message is answered
    /// without it, and [`Disclosure::failure`](crate::Disclosure::failure) tells why.
    fn rank(&self, message: &str, candidates: &[Candidate]) -> Result<Vec<f32>, Error>;

    /// Returns what the scores mean. `None`, the default, has the engine measure it when a catalog is
    /// loaded, by the scores of about 100 messages for no skill.
    fn levels(&self) -> Option<Levels> {
        None
    }
}

/// The skills of a catalog as a retriever was prepared for them.
#[derive(Debug)]
pub(crate) struct Retrieval {
    candidates: Vec<Candidate>,
    levels: Levels,
}

impl Retrieval {
    /// Prepares a retriever for skills, in the order of ids, and measures what its scores mean.
    pub(crate) fn prepare(
        retriever: &dyn Retriever,
        candidates: Vec<Candidate>,
    ) -> Result<Retrieval, Error> {
        retriever.prepare(&candidates)?;
        let known = retriever.levels();
        let mut retrieval = Retrieval { candidates, levels: known.unwrap_or_default() };
        if known.is_none() && !retrieval.candidates.is_empty() {
            retrieval.levels = Levels::measured(MEASURED_OF, |message, scores| {
                *scores = retrieval.rank(retriever, message)?;
                Ok::<(), Error>(())
            })?;
        }
        Ok(retrieval)
    }

    /// Returns a finite score for each skill.
    pub(crate) fn rank(&self, retriever: &dyn Retriever, message: &str) -> Result<Vec<f32>, Error> {
        let scores = retriever.rank(message, &self.candidates)?;
        let (n_scores, n_skills) = (scores.len(), self.candidates.len());
        let refuse = |what: String| {
            let help = "return one finite score for each candidate, in their order";
            Err(Error::new(ErrorCode::ExecutionError, format!("the retriever gave {what}"), help))
        };
        if n_scores != n_skills {
            return refuse(format!("{n_scores} scores for {n_skills} skills"));
        }
        if let Some(place) = scores.iter().position(|score| !score.is_finite()) {
            return refuse(format!(
                "the score {} for `{}`",
                scores[place], self.candidates[place].id
            ));
        }
        Ok(scores)
    }

    pub(crate) fn levels(&self) -> Levels {
        self.levels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives these scores.
    #[derive(Debug)]
    struct Fixed(Vec<f32>);

    impl Retriever for Fixed {
        fn rank(&self, _: &str, _: &[Candidate]) -> Result<Vec<f32>, Error> {
            Ok(self.0.clone())
        }
    }

    fn candidates() -> Vec<Candidate> {
        let skill: Skill =
            "---\nname: a\ndescription: d\n---\n# One\n\n## Two\ntext\n".parse().unwrap();
        ["a", "b"].map(|id| Candidate::new(&SkillId::new(id), &skill)).to_vec()
    }

    #[test]
    fn scores_that_do_not_fit_are_an_error() {
        for (scores, error) in [
            (vec![0.5, -2.0], None),
            (vec![0.5], Some("the retriever gave 1 scores for 2 skills")),
            (vec![0.5, 1.0, 2.0], Some("the retriever gave 3 scores for 2 skills")),
            (vec![0.5, f32::NAN], Some("the retriever gave the score NaN for `b`")),
            (vec![f32::INFINITY, 1.0], Some("the retriever gave the score inf for `a`")),
        ] {
            let prepared = Retrieval::prepare(&Fixed(scores), candidates());
            let told = prepared.err().map(|error| error.message().to_owned());
            assert_eq!(told.as_deref(), error);
        }
    }

    #[test]
    fn what_scores_mean_is_measured_on_any_scale() {
        for scale in [0.001, 1.0, 400.0] {
            for offset in [-5.0, 0.0, 80.0] {
                let fixed = Fixed(vec![offset + scale, offset]);
                let Levels { floor, enough } =
                    Retrieval::prepare(&fixed, candidates()).unwrap().levels();
                assert!(floor < enough, "{floor} {enough}");
                assert!((enough - offset - scale).abs() < 1e-3, "{enough}");
            }
        }
        let candidate = &candidates()[0];
        assert_eq!(
            (&*candidate.headings, &*candidate.when_to_use),
            (&["One", "Two"].map(str::to_owned)[..], "")
        );
    }
}
