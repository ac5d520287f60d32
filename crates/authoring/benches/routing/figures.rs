//! The figures of an engine for the prompts of a catalog: the share of disclosures that are right,
//! and their cost.

use repertoire::{Disclosure, DisclosureOptions, Engine, Session, SkillId};
use repertoire_authoring::eval::Case;

use crate::data::Catalog;

/// The figures of one catalog, or means over several catalogs. NaN means that there is nothing to take
/// a share of.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Figures {
    /// The share of the skills shown in full that are right.
    pub(crate) precision: f64,
    /// The share of the expected skills that are shown in full.
    pub(crate) recall: f64,
    /// Among the prompts that expect no skill, the share for which one is wrongly shown in full.
    pub(crate) false_fires: f64,
    /// Among the prompts that expect a skill, the share for which an expected one has at least a line.
    pub(crate) in_view: f64,
    /// The average number of tokens of a text that shows no skill in full.
    pub(crate) quiet_tokens: f64,
}

#[derive(Debug, Default)]
struct Counts {
    right: usize,
    wrong: usize,
    expected: usize,
    shown: usize,
    negatives: usize,
    false_fires: usize,
    positives: usize,
    in_view: usize,
    quiet: usize,
    quiet_tokens: usize,
}

impl Figures {
    pub(crate) fn new(catalog: &Catalog, engine: &Engine, options: &DisclosureOptions) -> Figures {
        let mut counts = Counts::default();
        for case in catalog.positives.iter().chain(&catalog.negatives) {
            let session = Session::in_memory("a case");
            let disclosure = engine.turn(&case.query, &session).options(options).preview();
            counts.add(case, &disclosure, engine);
        }
        counts.figures()
    }

    /// Returns the mean of each figure over the catalogs for which it is defined.
    pub(crate) fn mean(all: &[Figures]) -> Figures {
        let mean = |of: fn(&Figures) -> f64| {
            let there: Vec<f64> = all.iter().map(of).filter(|figure| !figure.is_nan()).collect();
            there.iter().sum::<f64>() / there.len() as f64
        };
        Figures {
            precision: mean(|of| of.precision),
            recall: mean(|of| of.recall),
            false_fires: mean(|of| of.false_fires),
            in_view: mean(|of| of.in_view),
            quiet_tokens: mean(|of| of.quiet_tokens),
        }
    }

    /// Returns the cells of a table row.
    pub(crate) fn cells(&self) -> String {
        let shares = [self.precision, self.recall, self.false_fires, self.in_view];
        let cells = shares.map(|share| match share {
            share if share.is_nan() => "–".to_owned(),
            share => format!("{:.1}", 100.0 * share),
        });
        format!("{} | {:.0}", cells.join(" | "), self.quiet_tokens)
    }
}

impl Counts {
    fn add(&mut self, case: &Case, disclosure: &Disclosure, engine: &Engine) {
        let is_in = |names: &[String], id: &SkillId| names.iter().any(|name| *id == *name.as_str());
        let is_open = case.expected.is_empty() && !case.forbidden.is_empty();
        let mut n_wrong = 0;
        for id in &disclosure.full {
            if is_in(&case.expected, id) {
                self.right += 1;
            } else if is_in(&case.forbidden, id) || !is_open && !is_in(&case.acceptable, id) {
                n_wrong += 1;
            }
        }
        self.wrong += n_wrong;
        self.expected += case.expected.len();
        self.shown += disclosure.full.iter().filter(|id| is_in(&case.expected, id)).count();
        if case.expected.is_empty() {
            self.negatives += 1;
            self.false_fires += usize::from(n_wrong > 0);
        } else {
            let mut shown = disclosure.full.iter().chain(&disclosure.registry);
            self.positives += 1;
            self.in_view += usize::from(shown.any(|id| is_in(&case.expected, id)));
        }
        if disclosure.full.is_empty() {
            self.quiet += 1;
            self.quiet_tokens += engine.count_tokens(&disclosure.text);
        }
    }

    fn figures(&self) -> Figures {
        let share = |n: usize, of: usize| n as f64 / of as f64;
        Figures {
            precision: share(self.right, self.right + self.wrong),
            recall: share(self.shown, self.expected),
            false_fires: share(self.false_fires, self.negatives),
            in_view: share(self.in_view, self.positives),
            quiet_tokens: share(self.quiet_tokens, self.quiet),
        }
    }
}
