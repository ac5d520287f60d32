//! How long a call and a start take: `cargo test --release … speed -- --ignored --nocapture`.

use super::*;

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn timed(turns: usize, mut run: impl FnMut()) -> Duration {
    let turn = |_| {
        let began = Instant::now();
        run();
        began.elapsed()
    };
    median((0..turns).map(turn).collect())
}

#[test]
#[ignore = "a measurement"]
fn measure() {
    let fixture = Fixture::hello();
    fixture.greet("Ada").unwrap();
    for _ in 0..5 {
        let greet = timed(20_000, || drop(fixture.greet("Ada").unwrap()));
        println!("greet in the child, median: {greet:?}");
    }
    let failing = Fixture::failing();
    println!("64 KiB: {:?}", timed(1000, || drop(failing.fail("big").unwrap())));
    // A library as it is shipped; that of the tests has tens of megabytes of debug information.
    let stripped = failing.skill.path().join("stripped.so");
    let mut strip = Command::new("strip");
    strip.arg("-o").arg(&stripped).arg(plugin("hello-toolset"));
    assert!(strip.status().unwrap().success());
    let hello = || Fixture::new(this_program("child_main"), stripped.clone(), short());
    let empty = timed(30, || {
        let program = this_program("nothing");
        Command::new(program.program).args(program.args).output().unwrap();
    });
    println!("the same program doing nothing: {empty:?}");
    let start = timed(30, || {
        let fixture = hello();
        fixture.greet("Ada").unwrap();
        drop(fixture);
    });
    println!("start, load, create, first call, end: {start:?}");
    let fixture = hello();
    let start = timed(30, || {
        fixture.worker.reset();
        fixture.greet("Ada").unwrap();
    });
    println!("start, load, create, first call: {start:?}");
}
