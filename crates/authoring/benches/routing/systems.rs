//! The whole engine in several configurations, the default first: the skills shown in full or as a
//! line, and the cost.

use repertoire::disclosure::RelevanceMargin;
use repertoire::{DisclosureOptions, Engine, EngineBuilder, Skill};

use crate::data::Catalog;
use crate::figures::Figures;

/// A configuration of the engine.
struct System {
    name: &'static str,
    builder: fn(EngineBuilder) -> EngineBuilder,
    relevance: Option<RelevanceMargin>,
    /// True if the triggers that the skills declare are removed.
    drops_triggers: bool,
}

impl Default for System {
    fn default() -> Self {
        let relevance = Some(RelevanceMargin::default());
        System { name: "**default**", builder: |same| same, relevance, drops_triggers: false }
    }
}

/// Returns the configurations, one for each row.
fn systems() -> [System; 4] {
    [
        System::default(),
        System { name: "in full by triggers and names only", relevance: None, ..System::default() },
        System { name: "without triggers", drops_triggers: true, ..System::default() },
        System { name: "inflections", builder: |same| same.inflect(true), ..System::default() },
    ]
}

const HEAD: &str = "| | precision | recall | false fires | in view | tokens, none in full |\n\
                    |---|---:|---:|---:|---:|---:|";

/// Prints the figures of each configuration, as means over `catalogs`.
pub(crate) fn report(title: &str, catalogs: &[Catalog]) {
    println!("\n### The engine: {title}\n\n{HEAD}");
    for system in systems() {
        println!("| {} | {} |", system.name, Figures::mean(&system.try_on(catalogs)).cells());
    }
}

/// Prints the figures of the default by catalog, on the half it was fitted on, and on the other half.
pub(crate) fn default_by_catalog(catalogs: &[Catalog]) {
    println!("\n### The default, by catalog\n\n{HEAD}");
    let all = System::default().try_on(catalogs);
    for (catalog, figures) in catalogs.iter().zip(&all) {
        println!("| {} | {} |", catalog.name, figures.cells());
    }
    for (name, half) in [("fitted on", fitted(&all)), ("**the others**", others(&all))] {
        println!("| {name} | {} |", Figures::mean(&half).cells());
    }
}

/// Prints margins around the default one, on both halves.
pub(crate) fn margins(catalogs: &[Catalog]) {
    println!("\n### Margins\n");
    println!(
        "| worth | lead | words | fitted on: precision | recall | false fires | the others: precision | recall | false fires |"
    );
    println!("|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    let engines: Vec<Engine> =
        catalogs.iter().map(|catalog| System::default().engine(catalog)).collect();
    for margin in around_default() {
        let mut options = DisclosureOptions::default();
        options.relevance = Some(margin);
        let tried = catalogs.iter().zip(&engines);
        let all: Vec<Figures> =
            tried.map(|(catalog, engine)| Figures::new(catalog, engine, &options)).collect();
        let cells = [fitted(&all), others(&all)].map(|half| {
            let Figures { precision, recall, false_fires, .. } = Figures::mean(&half);
            [precision, recall, false_fires].map(|of| format!("{:.1}", 100.0 * of)).join(" | ")
        });
        let RelevanceMargin { worth, lead, words } = margin;
        println!("| {worth} | {lead} | {words} | {} |", cells.join(" | "));
    }
}

fn around_default() -> Vec<RelevanceMargin> {
    let mut margins = Vec::new();
    for worth in [1.5, 2.0, 2.5] {
        for lead in [0.5, 0.75, 1.0, 1.25] {
            margins.extend([2, 3].map(|words| RelevanceMargin { worth, lead, words }));
        }
    }
    margins
}

/// Returns the half of the catalogs on which limits are fitted: every second one, ordered by the
/// owner's name.
fn fitted(all: &[Figures]) -> Vec<Figures> {
    all.iter().step_by(2).copied().collect()
}

fn others(all: &[Figures]) -> Vec<Figures> {
    all.iter().skip(1).step_by(2).copied().collect()
}

impl System {
    fn try_on(&self, catalogs: &[Catalog]) -> Vec<Figures> {
        let mut options = DisclosureOptions::default();
        options.relevance = self.relevance;
        let figures = |catalog: &Catalog| Figures::new(catalog, &self.engine(catalog), &options);
        catalogs.iter().map(figures).collect()
    }

    fn engine(&self, catalog: &Catalog) -> Engine {
        let builder = (self.builder)(Engine::builder());
        let skills = catalog.skills.iter().map(|(_, skill)| {
            if self.drops_triggers { without_triggers(skill) } else { skill.clone() }
        });
        skills.fold(builder, EngineBuilder::skill).build().unwrap()
    }
}

fn without_triggers(skill: &Skill) -> Skill {
    let fields = [("name", skill.name()), ("description", skill.description())];
    let fields = fields.map(|(key, text)| format!("{key}: {}", serde_json::json!(text)));
    let body = skill.body().unwrap();
    format!("---\n{}\n---\n{body}", fields.join("\n")).parse().unwrap()
}
