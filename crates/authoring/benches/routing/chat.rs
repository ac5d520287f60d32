//! Messages to assistants of other kinds ("play some jazz"), which no skill of a catalog is made for.
//! Measures the share of them for which the engine still shows skills, in full or as lines.

use repertoire::{Engine, EngineBuilder, Session};

use crate::data::Catalog;

/// The intent sets whose messages do not concern a coding agent.
const SETS: [&str; 3] = ["clinc150", "snips2017", "hwu64-fold1"];

/// The step between the messages that are tried: every seventh.
const STEP: usize = 7;

/// Prints one row for each catalog.
pub(crate) fn report(catalogs: &[Catalog], intents: &[Catalog]) {
    let sets = intents.iter().filter(|set| SETS.contains(&&*set.name));
    let cases = sets.flat_map(|set| set.positives.iter().step_by(STEP));
    let messages: Vec<&str> = cases.map(|case| &*case.query).collect();
    println!("\n### {} messages for no skill\n", messages.len());
    println!(
        "| catalog | skills | in full | with lines | lines a message |\n|---|---:|---:|---:|---:|"
    );
    let mut all = Vec::new();
    for Catalog { name, skills, .. } in catalogs {
        let n_skills = skills.len();
        let skills = skills.iter().map(|(_, skill)| skill.clone());
        let engine = skills.fold(Engine::builder(), EngineBuilder::skill).build().unwrap();
        let mut sums = [0; 3];
        for message in &messages {
            let session = Session::in_memory("a message");
            let disclosure = engine.turn(message, &session).preview();
            sums[0] += usize::from(!disclosure.full.is_empty());
            sums[1] += usize::from(!disclosure.registry.is_empty());
            sums[2] += disclosure.registry.len();
        }
        let of_all = |sum: usize| sum as f64 / messages.len().max(1) as f64;
        let figures = sums.map(of_all);
        println!("| {name} | {n_skills} | {} |", cells(figures));
        all.push(figures);
    }
    let mean = [0, 1, 2].map(|i| all.iter().map(|of| of[i]).sum::<f64>() / all.len().max(1) as f64);
    println!("| **mean** | | {} |", cells(mean));
}

fn cells([full, lines, n_lines]: [f64; 3]) -> String {
    format!("{:.1} | {:.1} | {n_lines:.2}", 100.0 * full, 100.0 * lines)
}
