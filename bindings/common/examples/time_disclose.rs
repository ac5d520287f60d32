//! Times `Engine::disclose` in Rust, for the benchmarks of the bindings. Prints the microseconds of a
//! call, measured over the skills and messages of a JSON file.
#![expect(clippy::print_stdout, reason = "the figure goes to the benchmark that asked for it")]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

use repertoire_bindings::repertoire::{DisclosureOptions, Engine, Skill};
use serde_json::Value;

const ROUNDS: u32 = 600;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("give the file of skills and messages")?;
    let data: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    let texts = |key: &str| -> Vec<String> {
        let list = data[key].as_array().into_iter().flatten();
        list.filter_map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let mut options = DisclosureOptions::default();
    (options.max_lines, options.relevance) = (0, None);
    let mut builder = Engine::builder().disclosure(options);
    for text in texts("skills") {
        builder = builder.skill(text.parse::<Skill>()?);
    }
    let (engine, messages) = (builder.build()?, texts("messages"));
    // Report the best round: each round is short enough to run undisturbed.
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for message in &messages {
            black_box(engine.disclose(black_box(message)));
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{:.3}", best * 1e6 / f64::from(u32::try_from(messages.len())?));
    Ok(())
}
