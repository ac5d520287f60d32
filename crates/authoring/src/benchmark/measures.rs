//! Measures of a ranking.

#![expect(clippy::cast_precision_loss, reason = "ranks and numbers of skills")]

use serde::Serialize;

use super::Judged;

/// The means over all requests, from 0 to 1, of the first 5 or 10 skills found.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
#[non_exhaustive]
pub struct Measures {
    /// The normalised discounted cumulative gain of the first 5, with the gain as it is and the logarithm to base 2
    /// as discount, as `trec_eval` computes it (Järvelin and Kekäläinen, 2002).
    pub ndcg_5: f64,
    /// The same of the first 10.
    pub ndcg_10: f64,
    /// The share of the right skills that are among the first 10.
    pub recall_10: f64,
    /// The share of the requests for which all right skills are among the first 10: *completeness*.
    pub completeness_10: f64,
    /// The share of the requests for which the first skill is right.
    pub hit_1: f64,
    /// The mean of 1 divided by the rank of the first right skill, or 0 if it is not among the first 10.
    pub mrr_10: f64,
}

/// The sums of the measures.
#[derive(Debug, Default)]
pub(super) struct Sums {
    all: Measures,
    n: usize,
}

impl Sums {
    /// Adds a request, for which the skills `found` were found, best first. A skill that occurs again counts once.
    pub(super) fn add(&mut self, request: &Judged, found: &[&str]) {
        let first_10 = &found[..found.len().min(10)];
        let n_found = request.right.iter().filter(|id| first_10.contains(&id.as_str())).count();
        let first = first_10.iter().position(|id| request.right.iter().any(|right| right == id));
        let all = &mut self.all;
        all.ndcg_5 += ndcg(request, found, 5);
        all.ndcg_10 += ndcg(request, found, 10);
        all.recall_10 += n_found as f64 / request.right.len().max(1) as f64;
        all.completeness_10 += f64::from(u8::from(n_found == request.right.len()));
        all.hit_1 += f64::from(u8::from(first == Some(0)));
        all.mrr_10 += first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64);
        self.n += 1;
    }

    /// The means.
    pub(super) fn means(&self) -> Measures {
        let mean = |sum: f64| sum / self.n.max(1) as f64;
        let Measures { ndcg_5, ndcg_10, recall_10, completeness_10, hit_1, mrr_10 } = self.all;
        Measures {
            ndcg_5: mean(ndcg_5),
            ndcg_10: mean(ndcg_10),
            recall_10: mean(recall_10),
            completeness_10: mean(completeness_10),
            hit_1: mean(hit_1),
            mrr_10: mean(mrr_10),
        }
    }
}

fn ndcg(request: &Judged, found: &[&str], k: usize) -> f64 {
    let discounted = |(rank, gain): (usize, f64)| gain / ((rank + 2) as f64).log2();
    let mut best: Vec<f64> = request.gains.values().copied().collect();
    best.sort_by(|a, b| b.total_cmp(a));
    let ideal: f64 = best.into_iter().take(k).enumerate().map(discounted).sum();
    // Each gain counts at the first rank of its skill.
    let rank_of = |id: &str| found.iter().take(k).position(|found| *found == id);
    let reached = request.gains.iter().filter_map(|(id, gain)| Some((rank_of(id)?, *gain)));
    let reached: f64 = reached.map(discounted).sum();
    if ideal > 0.0 { reached / ideal } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(gains: &[(&str, f64)], right: &[&str]) -> Judged {
        let gains = gains.iter().map(|(id, gain)| ((*id).to_owned(), *gain)).collect();
        Judged {
            text: String::new(),
            right: right.iter().map(|id| (*id).to_owned()).collect(),
            gains,
        }
    }

    #[test]
    fn measures_are_those_of_trec_eval() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-4;
        // Two right ones, at ranks 1 and 3: (1 + 1/2) / (1 + 1/log2(3)) = 0.9197.
        let mut sums = Sums::default();
        sums.add(&judged(&[("a", 1.0), ("b", 1.0)], &["a", "b"]), &["a", "x", "b"]);
        let means = sums.means();
        assert!(near(means.ndcg_5, 0.9197) && near(means.ndcg_10, 0.9197), "{means:?}");
        assert_eq!(
            (means.recall_10, means.completeness_10, means.hit_1, means.mrr_10),
            (1.0, 1.0, 1.0, 1.0)
        );
        // Graded: the right one (3) at rank 2, a lesser one (1) at rank 1: (1 + 3/log2(3)) / (3 + 1/log2(3)) = 0.7967.
        let mut sums = Sums::default();
        sums.add(&judged(&[("a", 3.0), ("d", 1.0)], &["a"]), &["d", "a"]);
        let means = sums.means();
        assert!(near(means.ndcg_10, 0.7967), "{means:?}");
        assert_eq!((means.hit_1, means.mrr_10, means.recall_10), (0.0, 0.5, 1.0));
        // Half of the right ones, past the fifth place, and a request for which nothing was found.
        let mut sums = Sums::default();
        sums.add(&judged(&[("a", 1.0), ("b", 1.0)], &["a", "b"]), &["1", "2", "3", "4", "5", "a"]);
        sums.add(&judged(&[("a", 1.0)], &["a"]), &[]);
        let means = sums.means();
        assert_eq!((means.ndcg_5, means.recall_10, means.completeness_10), (0.0, 0.25, 0.0));
        assert!(near(means.mrr_10, 1.0 / 12.0), "{means:?}");
    }
    #[test]
    fn grades_have_the_gain_that_was_computed_by_hand() {
        let graded = judged(&[("a", 3.0), ("b", 3.0), ("c", 1.0), ("d", 2.0)], &["a", "b"]);
        // The best order is a b d c: 3 + 3/log2(3) + 2/log2(4) + 1/log2(5) = 6.323465.
        for (found, expected) in [
            (&["a", "b", "d", "c"][..], 1.0),
            // 1 + 2/log2(3) + 3/log2(4) + 3/log2(5) = 5.053889.
            (&["c", "d", "a", "b"], 0.799_228),
            // 3/log2(3) + 1/log2(6) = 2.279642; `b` is at the sixth rank.
            (&["x", "a", "y", "z", "c", "b"], 0.360_505),
            (&["x", "y"], 0.0),
        ] {
            let ndcg = ndcg(&graded, found, 5);
            assert!((ndcg - expected).abs() < 1e-5, "{found:?}: {ndcg}");
        }
    }

    #[test]
    fn no_measure_exceeds_1_whatever_occurs_twice() {
        let twice = judged(&[("a", 1.0), ("b", 1.0)], &["a", "b", "b"]);
        let mut sums = Sums::default();
        sums.add(&twice, &["a", "a", "b", "b", "a"]);
        let Measures { ndcg_5, ndcg_10, recall_10, completeness_10, .. } = sums.means();
        assert!(ndcg_5 < 1.0 && ndcg_10 < 1.0, "{ndcg_5} {ndcg_10}");
        assert_eq!((recall_10, completeness_10), (1.0, 1.0));
    }
}
