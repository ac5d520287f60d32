//! What is right to show when only the words of a message speak for it, by how sure one is; and
//! the same for the baseline.

use repertoire::RelevanceMargin;
use repertoire::eval::Case;
use repertoire::matcher::{RelevanceIndex, Relevant};

use crate::bm25::Bm25;
use crate::data::Catalog;

/// The precision that is asked for.
const WANTED: f64 = 0.9;

/// What one rule does in one catalog.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    right: usize,
    wrong: usize,
    positives: usize,
    false_fires: usize,
    negatives: usize,
}

/// Means over catalogs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Means {
    pub(crate) precision: f64,
    pub(crate) recall: f64,
    pub(crate) false_fires: f64,
}

/// The best skill of a prompt, as far as a rule wants to know.
struct Best<T> {
    sureness: Option<T>,
    /// Whether it is right to show it; `None` where the prompt says nothing of it.
    is_right: Option<bool>,
    is_negative: bool,
}

impl Means {
    fn of(tallies: &[Tally]) -> Means {
        let mean = |share: &dyn Fn(&Tally) -> Option<f64>| {
            let shares: Vec<f64> = tallies.iter().filter_map(share).collect();
            shares.iter().sum::<f64>() / shares.len().max(1) as f64
        };
        let share = |n: usize, of: usize| (of > 0).then(|| n as f64 / of as f64);
        Means {
            precision: mean(&|t| share(t.right, t.right + t.wrong)),
            recall: mean(&|t| share(t.right, t.positives)),
            false_fires: mean(&|t| share(t.false_fires, t.negatives)),
        }
    }

    pub(crate) fn cells(self) -> String {
        let Means { precision, recall, false_fires } = self;
        format!("{:.1} | {:.1} | {:.1}", 100.0 * precision, 100.0 * recall, 100.0 * false_fires)
    }
}

fn tally<T>(bests: &[Best<T>], is_shown: impl Fn(&T) -> bool) -> Tally {
    let mut tally = Tally::default();
    for best in bests {
        tally.positives += usize::from(!best.is_negative);
        tally.negatives += usize::from(best.is_negative);
        if !best.sureness.as_ref().is_some_and(&is_shown) {
            continue;
        }
        tally.right += usize::from(best.is_right == Some(true));
        tally.wrong += usize::from(best.is_right == Some(false));
        tally.false_fires += usize::from(best.is_right == Some(false) && best.is_negative);
    }
    tally
}

fn bests<T>(catalog: &Catalog, rank: impl Fn(&str) -> Option<(String, T)>) -> Vec<Best<T>> {
    let best = |case: &Case| {
        let best = rank(&case.query);
        let is_right = best.as_ref().and_then(|(name, _)| verdict(case, name));
        let is_negative = case.expected.is_empty();
        Best { sureness: best.map(|(_, sureness)| sureness), is_right, is_negative }
    };
    catalog.positives.iter().chain(&catalog.negatives).map(best).collect()
}

/// As `repertoire eval` judges.
fn verdict(case: &Case, name: &str) -> Option<bool> {
    let has = |names: &[String]| names.iter().any(|known| known == name);
    if has(&case.expected) {
        return Some(true);
    }
    let is_open = case.expected.is_empty() && !case.forbidden.is_empty();
    let is_unjudged = !has(&case.forbidden) && (has(&case.acceptable) || is_open);
    (!is_unjudged).then_some(false)
}

/// The best that a limit on the score of the baseline, or on its lead over the next as a share of
/// it, reaches with the precision that is asked for: what it is a limit on, and its means.
pub(crate) fn baseline(catalogs: &[Catalog]) -> Option<(&'static str, Means)> {
    let all: Vec<Vec<Best<[f64; 2]>>> = catalogs
        .iter()
        .map(|catalog| {
            let plain = Bm25::new(&catalog.skills);
            bests(catalog, |prompt| {
                let ranked = plain.rank(prompt);
                let (score, name) = *ranked.first()?;
                let next = ranked.get(1).map_or(0.0, |(score, _)| *score);
                Some((name.to_owned(), [score, (score - next) / score]))
            })
        })
        .collect();
    let mut reached: Vec<(&'static str, Means)> = Vec::new();
    for (what, name) in [(0, "score"), (1, "margin")] {
        let mut limits: Vec<f64> =
            all.iter().flatten().filter_map(|best| Some(best.sureness?[what])).collect();
        limits.sort_by(f64::total_cmp);
        for limit in limits.iter().step_by((limits.len() / 400).max(1)) {
            let tallies = all.iter().map(|bests| tally(bests, |sure| sure[what] >= *limit));
            reached.push((name, Means::of(&tallies.collect::<Vec<_>>())));
        }
    }
    reached.retain(|(_, means)| means.precision >= WANTED);
    reached.into_iter().max_by(|a, b| a.1.recall.total_cmp(&b.1.recall))
}

/// The most relevant skills of a catalog's prompts.
fn relevant(catalog: &Catalog) -> Vec<Best<Relevant>> {
    let index = RelevanceIndex::new(catalog.skills.iter().map(|(id, skill)| (id, skill)));
    bests(catalog, |prompt| {
        let best = index.rank(prompt, 1).into_iter().next()?;
        Some((best.id.to_string(), best))
    })
}

/// Margins around the default one, and what choosing one on other catalogs gives.
pub(crate) fn report(catalogs: &[Catalog]) {
    let all: Vec<Vec<Best<Relevant>>> = catalogs.iter().map(relevant).collect();
    let rules = rules();
    let tallies: Vec<Vec<Tally>> = rules
        .iter()
        .map(|rule| all.iter().map(|bests| tally(bests, |found| rule.is_passed(found))).collect())
        .collect();
    println!("\n### Margins\n");
    println!("| least worth | lead | words | precision | recall | false fires |");
    println!("|---:|---:|---:|---:|---:|---:|");
    for (rule, tallies) in rules.iter().zip(&tallies) {
        let RelevanceMargin { worth, lead, words } = rule;
        println!("| {worth} | {lead} | {words} | {} |", Means::of(tallies).cells());
    }
    let left_out: Vec<Tally> = (0..catalogs.len())
        .filter_map(|out| {
            let others = |tallies: &[Tally]| {
                let others = tallies.iter().enumerate().filter(|(place, _)| *place != out);
                Means::of(&others.map(|(_, tally)| *tally).collect::<Vec<_>>())
            };
            let fit = tallies.iter().filter(|tallies| others(tallies).precision >= WANTED);
            let best = fit.max_by(|a, b| others(a).recall.total_cmp(&others(b).recall))?;
            Some(best[out])
        })
        .collect();
    let means = Means::of(&left_out).cells();
    println!("| chosen on the other catalogs | | | {means} |");
}

fn rules() -> Vec<RelevanceMargin> {
    let mut rules = Vec::new();
    for worth in [1.5, 2.0, 2.5] {
        for lead in [0.5, 0.75, 1.0, 1.5] {
            for words in [0, 3] {
                rules.push(RelevanceMargin { worth, lead, words });
            }
        }
    }
    rules
}
