//! The host's own retriever, whose scores are fused with the lexical relevance.

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::Relevance;
use crate::skill::SkillId;

/// The worth that the host's best skill gains, in the unit of [`Relevance`]. Scores are added, as this
/// finds more than adding ranks does (`docs/routing.md`).
const BEST_WORTH: f32 = 2.0;

/// The evidence of a skill that the host's retriever finds: enough for a line.
const RETRIEVED: f32 = 2.0;

/// A skill that a [`Retriever`] may rank.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// The id of the skill.
    pub id: &'a SkillId,
    /// The description of the skill.
    pub description: &'a str,
}

/// The host's own ranking of skills for a message, for example by embeddings or a reranker. Its scores
/// are added to the lexical relevance wherever that is used: in disclosures and in
/// [`Engine::find_skills`](crate::Engine::find_skills).
pub trait Retriever: Debug + Send + Sync {
    /// Returns the score of each candidate, in the order of `candidates`: greater is better, 0 or less
    /// means unrelated. Only the ratios to the best score count. Candidates are all skills that the
    /// model may use, in the order of ids; [`Engine::subscribe`](crate::Engine::subscribe) reports when
    /// their texts change.
    ///
    /// The engine calls this for each message that it ranks, on the thread of its caller. If there are
    /// not as many scores as candidates, the engine ignores all of them, with a warning.
    fn rank(&self, message: &str, candidates: &[Candidate<'_>]) -> Vec<f32>;

    /// Tells whether the best skill is sure enough to be shown in full, given its score and that of the
    /// next one. By default it never is. Then the margin of the disclosure decides, on the sum of
    /// lexical relevance and these scores.
    fn is_sure(&self, best: f32, next: f32) -> bool {
        let _ = (best, next);
        false
    }
}

/// Adds the scores of `retriever` to the ranking, and returns the best `limit` skills, best first.
pub(crate) fn fuse(
    ranked: Vec<(u32, Relevance)>,
    retriever: &dyn Retriever,
    message: &str,
    candidates: &[Candidate<'_>],
    limit: usize,
) -> Vec<(u32, Relevance)> {
    let scores = retriever.rank(message, candidates);
    if scores.len() != candidates.len() {
        tracing::warn!(
            scores = scores.len(),
            candidates = candidates.len(),
            "a retriever gave another number of scores than there are candidates"
        );
        return ranked.into_iter().take(limit).collect();
    }
    let mut fused: BTreeMap<u32, Relevance> = ranked.into_iter().collect();
    // The two greatest scores; 0 for one that is missing.
    let (best, next) = scores.iter().fold((0.0_f32, 0.0_f32), |(best, next), &score| {
        if score > best { (score, best) } else { (best, next.max(score)) }
    });
    for (place, score) in scores.iter().enumerate().filter(|(_, score)| **score > 0.0) {
        let relevance = fused.entry(place as u32).or_default();
        relevance.worth += BEST_WORTH * score / best;
        relevance.evidence += RETRIEVED;
        relevance.is_telling = true;
        relevance.is_sure = *score >= best && retriever.is_sure(best, next);
    }
    let mut fused: Vec<(u32, Relevance)> = fused.into_iter().collect();
    fused.sort_by(|(a, one), (b, other)| other.worth.total_cmp(&one.worth).then_with(|| a.cmp(b)));
    for at in 0..fused.len() {
        let next = fused.get(at + 1).map_or(0.0, |(_, next)| next.worth);
        fused[at].1.lead = fused[at].1.worth - next;
    }
    fused.truncate(limit);
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives these scores.
    #[derive(Debug)]
    struct Fixed(Vec<f32>);

    impl Retriever for Fixed {
        fn rank(&self, _: &str, _: &[Candidate<'_>]) -> Vec<f32> {
            self.0.clone()
        }

        fn is_sure(&self, best: f32, next: f32) -> bool {
            best > 2.0 * next
        }
    }

    #[test]
    fn scores_are_added_and_leads_taken_anew() {
        let ids = ["a", "b", "c"].map(SkillId::new);
        let candidates = ids.each_ref().map(|id| Candidate { id, description: "" });
        let ranked = |worth| Relevance { worth, lead: worth, head_words: 1, ..Default::default() };
        for (scores, expected) in [
            (vec![], vec![(1, 3.0, 3.0, false), (0, 1.0, 1.0, false)]),
            (vec![0.0, -1.0, 0.0], vec![(1, 3.0, 2.0, false), (0, 1.0, 1.0, false)]),
            (
                vec![f32::NAN, 0.2, 0.8],
                vec![(1, 3.5, 1.5, false), (2, 2.0, 1.0, true), (0, 1.0, 1.0, false)],
            ),
            (
                vec![0.5, 0.0, 0.5],
                vec![(0, 3.0, 0.0, false), (1, 3.0, 1.0, false), (2, 2.0, 2.0, false)],
            ),
        ] {
            let lexical = vec![(1, ranked(3.0)), (0, ranked(1.0))];
            let fused = fuse(lexical, &Fixed(scores.clone()), "m", &candidates, 9);
            let told: Vec<_> =
                fused.iter().map(|(place, of)| (*place, of.worth, of.lead, of.is_sure)).collect();
            assert_eq!(told, expected, "{scores:?}");
        }
    }
}
