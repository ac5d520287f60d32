//! The cost of a message by a sentence transformer, beside the table: `cargo bench -p repertoire-meaning --features
//! transformer --bench transformer -- DIR`. With `vectors` after DIR, prints the vector of each line of standard input,
//! which `train/transformer.py` compares with those of a plain reading.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints, and fails by panicking"
)]

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use repertoire_meaning::{Model, Scratch};

/// A message of 123 bytes.
const MESSAGE: &str = "hi since the update last night our checkout page takes ages to load, can you find out what is slow and fix it pretty please";
const ROUNDS: usize = 300;

/// Prints the median and the least time of a vector in milliseconds.
fn time(name: &str, model: &Model, text: &str) {
    let mut scratch = Scratch::default();
    // Two in turn: the states of the last text are kept.
    let texts = [text, &text[1..]];
    let expected = texts.map(|text| model.query_vector(text, &mut scratch));
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|round| {
            let (text, expected) = (texts[round % 2], &expected[round % 2]);
            let start = Instant::now();
            let vector = black_box(model.query_vector(black_box(text), &mut scratch));
            let time = start.elapsed().as_secs_f64() * 1e3;
            assert_eq!(vector, *expected);
            time
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let (median, least) = (times[ROUNDS / 2], times[0]);
    println!("{name}, {} bytes: median {median:.3} ms, least {least:.3} ms", text.len());
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|of| of != "--bench").collect();
    let [directory, rest @ ..] = &arguments[..] else {
        println!("SKIPPED: name the directory of a model");
        return;
    };
    let start = Instant::now();
    let model = Model::from_directory(Path::new(directory)).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    if rest.first().is_some_and(|of| of == "vectors") {
        for line in std::io::stdin().lines() {
            let vector = model.query_vector(&line.unwrap(), &mut Scratch::default());
            println!(
                "{}",
                vector.values().iter().map(f32::to_string).collect::<Vec<_>>().join(" ")
            );
        }
        return;
    }
    let path = std::env::temp_dir().join(format!("{}.model", std::process::id()));
    let bytes = model.to_bytes().unwrap();
    std::fs::write(&path, &bytes).unwrap();
    println!("{}: {} bytes, converted in {seconds:.2} s", model.name(), bytes.len());
    for _ in 0..3 {
        let start = Instant::now();
        let opened = Model::open_file(&path).unwrap();
        let open = start.elapsed().as_secs_f64() * 1e3;
        black_box(opened.query_vector(MESSAGE, &mut Scratch::default()));
        let first = start.elapsed().as_secs_f64() * 1e3;
        println!("opened in {open:.3} ms, first vector after {first:.2} ms");
    }
    std::fs::remove_file(&path).unwrap();
    time("the bundled table", &Model::bundled(), MESSAGE);
    time("the transformer", &model, MESSAGE);
    time("the transformer", &model, &MESSAGE[..30]);
    time("the transformer", &model, &MESSAGE.repeat(8));
}
