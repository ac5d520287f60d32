//! The time in which this library and other search engines rank a message, printed as a table. Run it
//! with `cargo run --release --manifest-path benches/rivals/Cargo.toml`.
//!
//! `REPERTOIRE_BENCH=all` also measures 100,000 skills, without `bm25`.

#[path = "../../relevance/published.rs"]
mod published;
mod rankers;
#[path = "../../../crates/text/src/words/stem.rs"]
mod stem;
#[path = "../../../crates/text/src/words/stop_words.rs"]
#[cfg_attr(not(test), expect(dead_code, reason = "the list is used, its table is not"))]
mod stop_words;
mod terms;

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use rankers::{Bm25, Collect, LIMIT, Published, Ranker, Repertoire, Tantivy};

/// The number of messages that are ranked, one after the other.
const N_MESSAGES: usize = 300;

/// The largest number of skills that `bm25` ranks: with 10,000 skills a message already takes some 50
/// ms.
const MOST_OF_BM25: usize = 10_000;

/// A ranker, and its shortest time for ranking all messages.
struct Contestant {
    ranker: Box<dyn Ranker>,
    shortest: Duration,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(corpus) = published::corpus() else {
        println!("SKIPPED: no corpus in ../shared nor in $REPERTOIRE_SHARED");
        return Ok(());
    };
    let messages = published::messages(&corpus, N_MESSAGES);
    let n_bytes: usize = messages.iter().map(String::len).sum();
    println!(
        "{} messages of {} bytes on average\n",
        messages.len(),
        n_bytes / messages.len().max(1)
    );
    println!(
        "| skills | Repertoire | `tantivy` | `tantivy`, every posting | `bm25` \
         | times `tantivy` | times every posting | times `bm25` |\n\
         |---:|---:|---:|---:|---:|---:|---:|---:|"
    );
    let is_all = std::env::var("REPERTOIRE_BENCH").is_ok_and(|which| which == "all");
    let sizes: &[usize] =
        if is_all { &[100, 1_000, 10_000, 100_000] } else { &[100, 1_000, 10_000] };
    let mut shares = Vec::new();
    for &n_skills in sizes {
        let mut contestants = contestants(&published::skills(&corpus, n_skills))?;
        // Among 100,000 skills, each original has about thirty copies, any of which may be in the first
        // five.
        let least = if n_skills > MOST_OF_BM25 { 40 } else { 60 };
        shares.push(agreement(&mut contestants, &messages, least)?);
        measure(&mut contestants, &messages)?;
        print_row(n_skills, messages.len(), &contestants);
    }
    println!("\nPer cent of messages with a skill of Repertoire's first {LIMIT}: {shares:?}");
    Ok(())
}

/// Returns all contestants, the library first.
fn contestants(skills: &[Published]) -> Result<Vec<Contestant>, Box<dyn Error>> {
    let mut rankers: Vec<Box<dyn Ranker>> = vec![
        Box::new(Repertoire::new(skills)),
        Box::new(Tantivy::new(skills, Collect::SkippingBlocks)?),
        Box::new(Tantivy::new(skills, Collect::EveryPosting)?),
    ];
    if skills.len() <= MOST_OF_BM25 {
        rankers.push(Box::new(Bm25::new(skills)));
    }
    let contestant = |ranker| Contestant { ranker, shortest: Duration::MAX };
    Ok(rankers.into_iter().map(contestant).collect())
}

/// Returns, for each other engine, the percentage of messages for which it finds one of the skills that
/// the library finds. Fails at `least` or below, so that no empty search is measured.
fn agreement(
    contestants: &mut [Contestant],
    messages: &[String],
    least: usize,
) -> Result<Vec<usize>, Box<dyn Error>> {
    let mut all_found: Vec<Vec<Vec<u32>>> = Vec::new();
    for contestant in contestants {
        let mut of_messages = Vec::new();
        for message in messages {
            let mut found = Vec::new();
            contestant.ranker.rank(message, &mut found)?;
            of_messages.push(found);
        }
        let n_found: usize = of_messages.iter().map(Vec::len).sum();
        assert!(n_found > messages.len() * (LIMIT - 1), "{n_found} found in all");
        all_found.push(of_messages);
    }
    let (ours, others) = all_found.split_first().ok_or("nobody takes part")?;
    let share = |theirs: &Vec<Vec<u32>>| {
        let pairs = ours.iter().zip(theirs);
        let n_shared = pairs.filter(|(a, b)| a.iter().any(|skill| b.contains(skill))).count();
        n_shared * 100 / messages.len().max(1)
    };
    let shares: Vec<usize> = others.iter().map(share).collect();
    assert!(shares.iter().all(|share| *share > least), "the answers differ: {shares:?}");
    Ok(shares)
}

/// Measures in rounds in which all contestants take turns. Slow engines take part in only a few rounds.
fn measure(contestants: &mut [Contestant], messages: &[String]) -> Result<(), Box<dyn Error>> {
    const ROUNDS: usize = 25;
    const ROUNDS_AT_LEAST: usize = 3;
    const LONG: Duration = Duration::from_secs(1);
    let mut found = Vec::new();
    for round in 0..ROUNDS {
        for Contestant { ranker, shortest } in &mut *contestants {
            if round >= ROUNDS_AT_LEAST && *shortest > LONG {
                continue;
            }
            let start = Instant::now();
            for message in messages {
                ranker.rank(black_box(message), &mut found)?;
                black_box(&found);
            }
            *shortest = start.elapsed().min(*shortest);
        }
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "messages are few")]
fn print_row(n_skills: usize, n_messages: usize, contestants: &[Contestant]) {
    let micros = |contestant: &Contestant| {
        contestant.shortest.as_secs_f64() * 1e6 / n_messages.max(1) as f64
    };
    let times: Vec<f64> = contestants.iter().map(micros).collect();
    let time = |at: usize| times.get(at).map(|time| format!("{time:.1} µs"));
    let ratio = |at: usize| times.get(at).map(|time| format!("{:.1}", time / times[0]));
    let cells = (0..4).map(time).chain((1..4).map(ratio));
    let cells: Vec<String> = cells.map(|cell| cell.unwrap_or_else(|| "–".to_owned())).collect();
    println!("| {n_skills} | {} |", cells.join(" | "));
}
