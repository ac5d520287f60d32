//! The engine as a whole, with each of its options: what is found, what is shown in full, and what
//! that costs.

use std::collections::BTreeMap;

use repertoire::eval::{Report, evaluate};
use repertoire::{DisclosureOptions, Engine, EngineBuilder, RelevanceMargin, Skill, suggest};

use crate::data::Catalog;
use crate::margin;

/// So many prompts of each kind are tried in a catalog.
const MAX_CASES: usize = 250;

/// A way to set the engine up.
struct System {
    name: &'static str,
    /// What is done to the skills of a catalog first.
    skills: fn(&Skill) -> Skill,
    builder: fn(EngineBuilder) -> EngineBuilder,
    options: fn(&mut DisclosureOptions),
    /// Whether the skills get the triggers that are suggested for them.
    suggests: bool,
}

/// One row each.
const SYSTEMS: [System; 9] = [
    System {
        name: "without triggers, by relevance",
        skills: without_triggers,
        builder: same,
        options: by_relevance,
        suggests: false,
    },
    System {
        name: "declared triggers",
        skills: Skill::clone,
        builder: same,
        options: nothing,
        suggests: false,
    },
    System {
        name: "… and inflections",
        skills: Skill::clone,
        builder: |builder| builder.inflect(true),
        options: nothing,
        suggests: false,
    },
    System {
        name: "… quoted text masked",
        skills: Skill::clone,
        builder: |builder| builder.mask_quoted(true),
        options: nothing,
        suggests: false,
    },
    System {
        name: "… generic words hinted",
        skills: Skill::clone,
        builder: same,
        options: hinting,
        suggests: false,
    },
    System {
        name: "… by relevance, too",
        skills: Skill::clone,
        builder: same,
        options: by_relevance,
        suggests: false,
    },
    System {
        name: "all options",
        skills: Skill::clone,
        builder: |builder| builder.inflect(true).mask_quoted(true),
        options: |options| {
            hinting(options);
            by_relevance(options);
        },
        suggests: false,
    },
    System {
        name: "triggers of `suggest --all`",
        skills: Skill::clone,
        builder: same,
        options: nothing,
        suggests: true,
    },
    System {
        name: "… and by relevance",
        skills: Skill::clone,
        builder: same,
        options: by_relevance,
        suggests: true,
    },
];

fn same(builder: EngineBuilder) -> EngineBuilder {
    builder
}

fn nothing(_: &mut DisclosureOptions) {}

fn hinting(options: &mut DisclosureOptions) {
    options.hint_generic_words = true;
}

fn by_relevance(options: &mut DisclosureOptions) {
    options.relevance = Some(RelevanceMargin::default());
}

fn without_triggers(skill: &Skill) -> Skill {
    let fields = [("name", skill.name()), ("description", skill.description())];
    let fields = fields.map(|(key, text)| format!("{key}: {}", serde_json::json!(text)));
    let body = skill.body().unwrap();
    format!("---\n{}\n---\n{body}", fields.join("\n")).parse().unwrap()
}

pub(crate) fn report(title: &str, catalogs: &[Catalog]) {
    println!("\n### The engine: {title}\n");
    println!("| | top 1 | top 3 | precision | recall | false fires | tokens |");
    println!("|---|---:|---:|---:|---:|---:|---:|");
    match margin::baseline(catalogs) {
        Some((limit, means)) => {
            println!("| plain BM25 past the best limit of its {limit} | | | {} | |", means.cells());
        }
        None => println!("| plain BM25 past any limit | | | below 90 | | | |"),
    }
    for system in &SYSTEMS {
        let reports: Vec<Report> = catalogs.iter().map(|catalog| system.try_on(catalog)).collect();
        let mean = |of: &dyn Fn(&Report) -> Option<f64>| {
            let shares: Vec<f64> = reports.iter().filter_map(of).collect();
            if shares.is_empty() {
                return "–".to_owned();
            }
            format!("{:.1}", 100.0 * shares.iter().sum::<f64>() / shares.len() as f64)
        };
        let tokens = reports.iter().map(|report| report.tokens.mean).sum::<f64>();
        println!(
            "| {} | {} | {} | {} | {} | {} | {:.0} |",
            system.name,
            mean(&|report| report.scores.top1),
            mean(&|report| report.scores.top3),
            mean(&|report| report.scores.precision),
            mean(&|report| report.scores.recall),
            mean(&|report| report.scores.false_fire),
            tokens / reports.len().max(1) as f64,
        );
    }
}

impl System {
    fn try_on(&self, catalog: &Catalog) -> Report {
        let mut options = DisclosureOptions::default();
        (self.options)(&mut options);
        let engine = |triggers| {
            let builder = Engine::builder().disclosure(options.clone()).triggers(triggers);
            let skills = catalog.skills.iter().map(|(_, skill)| (self.skills)(skill));
            skills.fold((self.builder)(builder), EngineBuilder::skill).build().unwrap()
        };
        let mut tried = engine(BTreeMap::new());
        if self.suggests {
            let suggested = suggest::suggest_all(&tried.catalog());
            tried = engine(suggest::triggers(&suggested));
        }
        let some = |cases: &[repertoire::eval::Case]| {
            let step = cases.len().div_ceil(MAX_CASES).max(1);
            cases.iter().step_by(step).cloned().collect::<Vec<_>>()
        };
        let cases = [some(&catalog.positives), some(&catalog.negatives)].concat();
        let report = Report::new(evaluate(&tried, &cases, || {}));
        assert!(report.problems.is_empty(), "{}: {:?}", catalog.name, report.problems);
        report
    }
}
