use super::*;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn content(cache: &SnapshotCache, key: &str) -> Result<Option<Vec<u8>>, String> {
    cache.read(key.as_bytes(), |content| Ok::<_, ()>(Some(content.to_vec())))
}

fn age(path: &Path, age: Duration) {
    let file = fs::File::options().append(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - age).unwrap();
}

#[test]
fn what_is_written_is_read_by_its_key_alone() {
    let dir = tempfile::tempdir().unwrap();
    let cache = SnapshotCache::new(dir.path().join("new/snapshots"));
    assert_eq!(content(&cache, "a"), Ok(None));
    assert_eq!(cache.files().unwrap(), []);
    for (key, text) in [("a", "one"), ("b", ""), ("a", "two")] {
        cache.write(key.as_bytes(), text.as_bytes()).unwrap();
    }
    assert_eq!(content(&cache, "a"), Ok(Some(b"two".to_vec())));
    assert_eq!(content(&cache, "b"), Ok(Some(Vec::new())));
    assert_eq!(content(&cache, "c"), Ok(None));
    // If two keys have the same hash, a look-up finds the file of the other key.
    fs::copy(cache.path(b"a"), cache.path(b"c")).unwrap();
    assert_eq!(content(&cache, "c"), Ok(None));
    let problem = cache.read(b"a", |_| Err::<Option<()>, ()>(())).unwrap_err();
    assert!(problem.ends_with("its content cannot be read"), "{problem}");
    assert_eq!(cache.read(b"a", |_| Ok::<Option<()>, ()>(None)), Ok(None), "of no use any more");
}

#[test]
fn any_damage_is_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let cache = SnapshotCache::new(dir.path());
    let path = cache.path(b"key");
    cache.write(b"key", b"what was read").unwrap();
    let sound = fs::read(&path).unwrap();
    for place in 0..sound.len() {
        for bit in 0..8 {
            let mut damaged = sound.clone();
            damaged[place] ^= 1 << bit;
            fs::write(&path, &damaged).unwrap();
            let problem = content(&cache, "key").unwrap_err();
            assert!(problem.contains(path.to_str().unwrap()), "{problem}");
            assert!(cache.files().unwrap()[0].problem.is_some(), "byte {place}, bit {bit}");
        }
        fs::write(&path, &sound[..place]).unwrap();
        assert!(content(&cache, "key").is_err(), "{place} bytes");
    }
    fs::write(&path, [&sound[..], b"!"].concat()).unwrap();
    assert!(content(&cache, "key").is_err());
    cache.write(b"key", b"what was read").unwrap();
    assert_eq!(content(&cache, "key"), Ok(Some(b"what was read".to_vec())));
    assert_eq!(cache.files().unwrap()[0].problem, None);
}

#[test]
fn another_version_is_passed_over_without_a_word() {
    let dir = tempfile::tempdir().unwrap();
    let cache = SnapshotCache::new(dir.path());
    cache.write(b"key", b"content").unwrap();
    let path = cache.path(b"key");
    let mut bytes = fs::read(&path).unwrap();
    let version = 8 + 4 + 4;
    bytes[version] ^= 1;
    let checksum = crc32fast::hash(&bytes[12..]);
    bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
    fs::write(&path, &bytes).unwrap();
    assert_eq!(content(&cache, "key"), Ok(None));
    let problem = cache.files().unwrap().remove(0).problem;
    assert_eq!(problem.as_deref(), Some("another version wrote it"));
}

#[test]
fn what_nobody_uses_is_removed_when_another_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let cache = SnapshotCache::new(dir.path());
    let abandoned = dir.path().join("00000000000000aa.1-0-7.unfinished");
    let writing = dir.path().join("00000000000000aa.2-0-7.unfinished");
    let other = dir.path().join("notes.txt");
    let fresh = dir.path().join("00000000000000aa.3-0-7.unfinished");
    for path in [&abandoned, &writing, &fresh, &other] {
        fs::write(path, "").unwrap();
    }
    age(&abandoned, 2 * FRESH);
    age(&writing, 2 * FRESH);
    let at_it = fs::File::open(&writing).unwrap();
    at_it.lock().unwrap();
    for key in ["old", "used", "new"] {
        cache.write(key.as_bytes(), b"").unwrap();
    }
    age(&cache.path(b"old"), 22 * DAY);
    age(&cache.path(b"used"), 22 * DAY);
    age(&other, 100 * DAY);
    assert!(content(&cache, "used").unwrap().is_some());
    cache.write(b"new", b"").unwrap();
    let left = |key: &[u8]| cache.path(key).exists();
    assert_eq!([left(b"old"), left(b"used"), left(b"new")], [false, true, true]);
    let exist = || [&abandoned, &writing, &fresh, &other].map(|path| path.exists());
    assert_eq!(exist(), [false, true, true, true]);
    drop(at_it);
    cache.write(b"new", b"").unwrap();
    assert_eq!(exist(), [false, false, true, true], "nobody is at it any more");
}

#[test]
fn files_of_others_in_the_directory_are_neither_listed_nor_removed() {
    let dir = tempfile::tempdir().unwrap();
    let names = ["disk.snapshot", "0000.snapshot", "upload.unfinished", "00000000000000aa.txt"];
    let others = names.map(|name| dir.path().join(name));
    for other in &others {
        fs::File::create(other).unwrap().set_len(MAX_BYTES + 1).unwrap();
        age(other, 100 * DAY);
    }
    let cache = SnapshotCache::new(dir.path());
    cache.write(b"key", b"content").unwrap();
    assert_eq!(cache.files().unwrap().len(), 1);
    assert!(others.iter().all(|other| other.exists()));
}

#[test]
fn an_unfinished_file_is_left_if_nobody_writes_it_and_old_if_nobody_knows() {
    for (is_being_written, age, expected) in [
        (Some(true), 2 * ABANDONED, false),
        (Some(false), 2 * FRESH, true),
        (Some(false), FRESH / 2, false),
        (None, 2 * FRESH, false),
        (None, 2 * ABANDONED, true),
    ] {
        assert_eq!(is_left(is_being_written, age), expected, "{is_being_written:?}, {age:?}");
    }
}

#[test]
fn a_file_that_is_being_written_is_known_to_be() {
    let dir = tempfile::tempdir().unwrap();
    let cache = SnapshotCache::new(dir.path());
    let content = vec![7; 16 << 20];
    let began = std::time::Instant::now();
    // Repeat until the file was seen while it was being written.
    loop {
        let is_seen = std::thread::scope(|scope| {
            let writer = scope.spawn(|| cache.write(b"key", &content).unwrap());
            let mut is_seen = false;
            while !writer.is_finished() {
                let unfinished = cache.entries(UNFINISHED).unwrap();
                let mut states = unfinished.iter().map(|(path, _)| file::is_being_written(path));
                is_seen |= states.any(|state| state == Some(true));
            }
            is_seen
        });
        if is_seen {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "it is never locked");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_among_unfinished_files_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("00000000000000aa.1-0-7.unfinished");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    SnapshotCache::new(dir.path()).write(b"key", b"").unwrap();
    assert!(pipe.exists());
}

#[cfg(unix)]
#[test]
fn a_snapshot_that_others_can_write_is_not_believed() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let cache = SnapshotCache::new(dir.path().join("snapshots"));
    cache.write(b"key", b"content").unwrap();
    let path = cache.path(b"key");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(cache.dir()), mode(&path)), (0o700, 0o600));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o622)).unwrap();
    assert!(content(&cache, "key").unwrap_err().ends_with("another user can write it"));
    cache.write(b"key", b"content").unwrap();
    assert!(content(&cache, "key").unwrap().is_some());
}
