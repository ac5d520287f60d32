//! The time to rank skills for a message by relevance, and to build the index, by the size of the
//! catalog, and what meaning adds to a disclosure. Run it with `cargo bench -p repertoire --features meaning --bench
//! relevance`. Other search engines are measured in `benches/rivals`.
//!
//! `REPERTOIRE_BENCH=all` also measures 100,000 skills.
#![expect(clippy::print_stdout, clippy::cast_precision_loss, reason = "a measurement that prints")]

mod published;

use std::hint::black_box;
use std::time::{Duration, Instant};

use repertoire::matcher::{Relevance, RelevanceIndex};
use repertoire::{Engine, EngineBuilder, Skill, SkillId};

/// The number of messages that are ranked, one after the other.
const N_MESSAGES: usize = 300;

fn main() {
    let Some(corpus) = published::corpus() else {
        println!("SKIPPED: no corpus in ../shared nor in $REPERTOIRE_SHARED");
        return;
    };
    let messages = published::messages(&corpus, N_MESSAGES);
    let n_bytes: usize = messages.iter().map(String::len).sum();
    println!("{} messages of {} bytes on average", messages.len(), n_bytes / messages.len().max(1));
    println!("\n### Relevance\n");
    println!(
        "| skills | top five, µs a message | `disclose`, by words | with meaning | build, ms | with meaning |"
    );
    println!("|---:|---:|---:|---:|---:|---:|");
    let is_all = std::env::var("REPERTOIRE_BENCH").is_ok_and(|which| which == "all");
    let sizes: &[usize] =
        if is_all { &[100, 1_000, 10_000, 100_000] } else { &[100, 1_000, 10_000] };
    for &n_skills in sizes {
        let skills = published::skills(&corpus, n_skills);
        measure(&skills, &messages);
    }
}

fn measure(skills: &[(SkillId, Skill)], messages: &[String]) {
    let start = Instant::now();
    let index = RelevanceIndex::new(skills.iter().map(|(id, skill)| (id, skill)));
    let built = start.elapsed();
    let mut ranked: Vec<(u32, Relevance)> = Vec::new();
    let top = best_of(messages, |message| index.rank_into(message, 5, &mut ranked));
    let n_found: usize = messages.iter().map(|message| index.rank(message, 5).len()).sum();
    assert!(n_found > messages.len() * 4, "{n_found} found");
    let micros =
        |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e6 / messages.len() as f64);
    let millis = |time: Duration| format!("{:.0}", time.as_secs_f64() * 1e3);
    let engines = (skills.len() <= 10_000).then(|| {
        let by_words = skills.iter().map(|(_, skill)| skill.clone());
        let by_words = by_words.fold(Engine::builder().meaning(None), EngineBuilder::skill);
        let meaning = skills.iter().map(|(_, skill)| skill.clone());
        let meaning = meaning.fold(Engine::builder(), EngineBuilder::skill);
        [by_words, meaning].map(|builder| {
            let start = Instant::now();
            let engine = builder.build().ok();
            let built = start.elapsed();
            let disclosed = engine.map(|engine| {
                best_of(messages, |message| {
                    black_box(engine.disclose(message));
                })
            });
            (disclosed.map_or_else(|| "–".to_owned(), micros), millis(built))
        })
    });
    let [(by_words, without), (meaning, with)] =
        engines.unwrap_or_else(|| [(); 2].map(|()| ("–".to_owned(), "–".to_owned())));
    let n_skills = skills.len();
    println!(
        "| {n_skills} | {} | {by_words} | {meaning} | {without} (index alone {}) | {with} |",
        micros(top),
        millis(built),
    );
}

/// Returns the shortest of several rounds over all messages.
fn best_of(messages: &[String], mut run: impl FnMut(&str)) -> Duration {
    const ROUNDS: usize = 9;
    let round = |_| {
        let start = Instant::now();
        for message in messages {
            run(black_box(message));
        }
        start.elapsed()
    };
    (0..ROUNDS).map(round).min().unwrap_or_default()
}
