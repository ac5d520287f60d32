//! The rates at which the right skill ranks first, and at which it is shown, over catalogs of real
//! skills with real prompts. `cargo bench --bench routing` prints the tables of `docs/routing.md`.
//!
//! The data is outside of the repository (`../shared/corpus`, or `$REPERTOIRE_SHARED`); without it the
//! benchmark prints SKIPPED. The baseline is the common approach: plain BM25 over name, description and
//! body as one text, in lower-cased words.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a measurement that prints"
)]

mod bm25;
mod chat;
mod data;
mod figures;
mod systems;

use std::path::{Path, PathBuf};

use repertoire::matcher::RelevanceIndex;
use repertoire_authoring::eval::Case;

use bm25::Bm25;
use data::{Catalog, catalogs};

/// Percentages of the prompts.
#[derive(Debug, Clone, Copy, Default)]
struct Rate {
    top1: f64,
    top3: f64,
    top5: f64,
}

fn main() {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|dir| dir.join("../shared"));
    let named = std::env::var_os("REPERTOIRE_SHARED").map(PathBuf::from);
    let mut roots = named.into_iter().chain(beside).map(|root| root.join("corpus"));
    let Some(corpus) = roots.find(|path| path.exists()) else {
        println!("SKIPPED: no corpus in ../shared nor in $REPERTOIRE_SHARED");
        return;
    };
    let all = catalogs(&corpus, "catalogs");
    let (skills, single): (Vec<Catalog>, Vec<Catalog>) =
        all.into_iter().partition(|catalog| catalog.skills.len() > 1);
    let intents = catalogs(&corpus, "intents");
    systems::report("Skill catalogs", &skills);
    systems::report("Catalogs of one skill", &single);
    systems::default_by_catalog(&skills);
    chat::report(&skills, &intents);
    order("Skill catalogs", &skills);
    order("Intent sets", &intents);
    systems::margins(&skills);
}

/// Prints the table of top ranks.
fn order(title: &str, catalogs: &[Catalog]) {
    println!("\n### {title}\n");
    println!("| catalog | skills | prompts | BM25 top 1 | 3 | 5 | relevance top 1 | 3 | 5 |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    let mut all = Vec::new();
    for Catalog { name, skills, positives, .. } in catalogs {
        let plain = Bm25::new(skills);
        let index = RelevanceIndex::new(skills.iter().map(|(id, skill)| (id, skill)));
        let rates = [
            rate(positives, |prompt| {
                plain.rank(prompt).into_iter().map(|(_, name)| name.to_owned()).collect()
            }),
            rate(positives, |prompt| {
                index.rank(prompt, 5).into_iter().map(|found| found.id.to_string()).collect()
            }),
        ];
        println!("| {name} | {} | {} | {} |", skills.len(), positives.len(), cells(rates));
        all.push(rates);
    }
    let mean = [0, 1].map(|ranker| {
        let mean = |of: fn(&Rate) -> f64| {
            all.iter().map(|rates| of(&rates[ranker])).sum::<f64>() / all.len().max(1) as f64
        };
        Rate {
            top1: mean(|rate| rate.top1),
            top3: mean(|rate| rate.top3),
            top5: mean(|rate| rate.top5),
        }
    });
    println!("| **mean** | | | {} |", cells(mean));
}

fn cells(rates: [Rate; 2]) -> String {
    rates.map(|rate| format!("{:.1} | {:.1} | {:.1}", rate.top1, rate.top3, rate.top5)).join(" | ")
}

fn rate(cases: &[Case], rank: impl Fn(&str) -> Vec<String>) -> Rate {
    let mut counts = [0.0; 3];
    for case in cases {
        let ranked = rank(&case.query);
        let at = ranked.iter().position(|name| case.expected.contains(name));
        for (count, limit) in counts.iter_mut().zip([1, 3, 5]) {
            *count += f64::from(at.is_some_and(|at| at < limit));
        }
    }
    let [top1, top3, top5] = counts.map(|n| 100.0 * n / cases.len() as f64);
    Rate { top1, top3, top5 }
}
