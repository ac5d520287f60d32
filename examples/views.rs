//! The cost of ten roles: one engine, ten views of it, and ten engines, over the skills of a directory, each in a process
//! of its own. Run it with `cargo run --release -p repertoire --features meaning --example views -- DIR`.
#![expect(clippy::print_stdout, reason = "an example talks to its reader")]
#![expect(clippy::cast_precision_loss, reason = "ratios are shown in three digits")]

use std::error::Error;
use std::process::Command;
use std::time::Instant;

use repertoire::{Allowlist, Engine, Source};

/// The ways to serve the roles.
const WAYS: [&str; 3] = ["one engine", "ten views", "ten engines"];

/// The skills of each role, by the first letters of their names.
const ROLES: [&[&str]; 10] = [
    &["a*"],
    &["b*", "z*"],
    &["c*"],
    &["d*", "y*"],
    &["e*", "f*", "x*"],
    &["g*", "h*", "i*"],
    &["j*", "k*", "l*", "m*"],
    &["n*", "o*", "p*"],
    &["q*", "r*", "s*"],
    &["t*", "u*", "v*", "w*"],
];

const MESSAGES: [&str; 2] = ["review this pull request", "write the release notes"];

/// The number of processes for each way. The shortest time counts, and the median of the memory.
const N_RUNS: usize = 15;

/// Builds what serves the roles in this way, and answers the first messages of each.
fn serve(dir: &str, way: &str) -> Result<Vec<Engine>, repertoire::Error> {
    let build = |allowlist| Engine::builder().source(Source::user(dir)).allow(allowlist).build();
    let list = |skills: &&[&str]| Allowlist::from_entries(Some(skills));
    let roles: Vec<Engine> = if way == "ten engines" {
        ROLES.iter().map(|role| build(list(role))).collect::<Result<_, _>>()?
    } else {
        let whole = build(Allowlist::default())?;
        let view = |role| if way == "ten views" { whole.view(list(role)) } else { whole.clone() };
        ROLES.iter().map(view).collect()
    };
    for (nth, role) in roles.iter().enumerate() {
        let session = role.session(&format!("chat-{nth}"));
        role.session_prompt(&session);
        for message in MESSAGES {
            role.turn(message, &session).run()?;
        }
    }
    Ok(roles)
}

/// The memory of this process, in kB.
fn memory() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let figure = line.and_then(|line| line.split_whitespace().next()).ok_or("no figure")?;
    Ok(figure.parse()?)
}

/// Serves the roles, and prints the time in µs, the memory in kB, and the number of skills of all roles.
fn measure(dir: &str, way: &str) -> Result<(), Box<dyn Error>> {
    let (before, began) = (memory()?, Instant::now());
    let roles = serve(dir, way)?;
    let (took, memory) = (began.elapsed(), memory()?.saturating_sub(before));
    let n_skills: usize = roles.iter().map(|role| role.catalog().entries().count()).sum();
    println!("{} {memory} {n_skills}", took.as_micros());
    Ok(())
}

/// Measures a way in a process of its own.
fn figures(dir: &str, way: &str) -> Result<[u64; 3], Box<dyn Error>> {
    let output = Command::new(std::env::current_exe()?).args([dir, way]).output()?;
    let figures = String::from_utf8(output.stdout)?;
    let figures = figures.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>()?;
    figures.try_into().map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned().into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().ok_or("name a directory of skills")?;
    if let Some(way) = arguments.next() {
        return measure(&dir, &way);
    }
    // The ways take turns, so that a busy machine disturbs all of them alike.
    let mut runs: [Vec<[u64; 3]>; 3] = Default::default();
    for _ in 0..N_RUNS {
        for (way, runs) in WAYS.iter().zip(&mut runs) {
            runs.push(figures(&dir, way)?);
        }
    }
    let summary = |runs: &[[u64; 3]]| {
        let sorted = |of: usize| {
            let mut figures: Vec<u64> = runs.iter().map(|run| run[of].max(1)).collect();
            figures.sort_unstable();
            figures
        };
        [sorted(0)[0], sorted(1)[N_RUNS / 2]]
    };
    let one = summary(&runs[0]);
    println!("| | time | memory | skills of all roles |\n|---|---|---|---|");
    for (way, runs) in WAYS.iter().zip(&runs) {
        let [time, memory] = summary(runs);
        let [of_time, of_memory] = [time as f64 / one[0] as f64, memory as f64 / one[1] as f64];
        let (ms, n_skills) = (time / 1000, runs[0][2]);
        println!("| {way} | {ms} ms ({of_time:.2}) | {memory} kB ({of_memory:.2}) | {n_skills} |");
    }
    Ok(())
}
