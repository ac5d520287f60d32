//! Damaged snapshots, and directories in which no snapshot can be written.

use super::*;

/// Returns repeatable pseudo-random bytes.
fn noise(n_bytes: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    std::iter::repeat_with(next).take(n_bytes).collect()
}

#[test]
fn a_damaged_snapshot_costs_time_and_no_answer() {
    let scene = Scene::new();
    std::thread::sleep(SETTLED);
    let cache = scene.cache();
    let fresh = answers(&scene.build().build().unwrap());
    cached(&|| scene.build(), &cache);
    let path = cache.files().unwrap().remove(0).path;
    let sound = fs::read(&path).unwrap();
    let len = sound.len();
    let mut damages: Vec<(String, Vec<u8>)> = vec![
        ("noise".to_owned(), noise(len)),
        ("noise behind it".to_owned(), [&sound[..], &noise(100)].concat()),
        ("zeros".to_owned(), vec![0; len]),
        ("noise after the first bytes".to_owned(), [&sound[..8], &noise(len)].concat()),
    ];
    for n in [0, 1, 7, 8, 11, 12, 15, 16, 30, len / 4, len / 2, len - 4096.min(len - 1), len - 1] {
        damages.push((format!("{n} of {len} bytes"), sound[..n].to_vec()));
    }
    for place in [8, 13, 17, len / 3, len / 2, len - 1] {
        let mut flipped = sound.clone();
        flipped[place] ^= 0x10;
        damages.push((format!("a bit of byte {place}"), flipped));
    }
    for (what, bytes) in damages {
        fs::write(&path, bytes).unwrap();
        let engine = scene.build().cache(cache.clone()).build().unwrap();
        let cache_use = engine.cache_use();
        assert!(!cache_use.used, "{what}");
        assert!(cache_use.problems[0].contains(path.to_str().unwrap()), "{what}: {cache_use:?}");
        assert_answers(&what, &fresh, &engine);
        assert!(cached(&|| scene.build(), &cache).1, "{what}: a new one took its place");
    }

    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let engine = scene.build().cache(cache.clone()).build().unwrap();
    assert_eq!(engine.cache_use().problems.len(), 2, "neither read nor written");
    assert_answers("a directory in its place", &fresh, &engine);
}

#[test]
fn a_cache_that_cannot_be_written_costs_time_and_no_answer() {
    let scene = Scene::new();
    std::thread::sleep(SETTLED);
    scene.write("file", "in the way");
    let fresh = scene.build().build().unwrap();
    let cache = SnapshotCache::new(scene.path("file/cache"));
    let engine = scene.build().cache(cache).build().unwrap();
    let problems = &engine.cache_use().problems;
    assert!(problems.iter().any(|problem| problem.contains("cannot write")), "{problems:?}");
    assert_same("no directory", &fresh, &engine);
}
