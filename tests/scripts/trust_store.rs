//! The store of trusted files: what it believes, and what it refuses.

use std::fs;
use std::path::PathBuf;

use repertoire::ErrorCode;
use repertoire::catalog::Scope;
use repertoire::trust::{ContentHash, TrustStore, Verdict};

#[test]
fn trust_is_of_a_content_not_of_a_path() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("tool.so");
    fs::write(&file, "one").unwrap();
    let (one, two) = (ContentHash::of(b"one"), ContentHash::of(b"two"));
    let store = TrustStore::in_memory();
    assert_eq!(store.verdict(Scope::Project, &file, &one), Verdict::Untrusted);
    for scope in [Scope::Bundled, Scope::User, Scope::Memory] {
        assert_eq!(store.verdict(scope, &file, &one), Verdict::Trusted);
    }
    store.add(&file).unwrap();
    assert_eq!(store.verdict(Scope::Project, &file, &one), Verdict::Trusted);
    for scope in [Scope::Project, Scope::User] {
        let changed = Verdict::Changed { trusted: one.clone() };
        assert_eq!(store.verdict(scope, &file, &two), changed);
    }
    store.remove(&file).unwrap();
    assert_eq!(store.verdict(Scope::Project, &file, &one), Verdict::Untrusted);
    assert_eq!(store.remove(&file).unwrap_err().code(), ErrorCode::NotFound);
}

#[test]
fn a_store_that_others_can_write_or_that_never_ends_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("trust.json");
    let library = dir.path().join("libtool.so");
    fs::write(&library, "code").unwrap();
    TrustStore::open(&path).unwrap().add(&library).unwrap();
    for (mode, is_believed) in [(0o644, true), (0o666, false), (0o646, false)] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        match TrustStore::open(&path) {
            Ok(store) => assert!(is_believed && store.list().len() == 1, "{mode:o}"),
            Err(error) => {
                assert!(!is_believed, "{mode:o}: {error}");
                assert_eq!(error.code(), ErrorCode::PermissionDenied);
                assert!(error.message().contains("is refused"), "{error}");
            }
        }
    }
    let pipe = dir.path().join("pipe");
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    for error in
        [TrustStore::open(&pipe).unwrap_err(), TrustStore::in_memory().add(&pipe).unwrap_err()]
    {
        assert!(error.message().contains("pipe is not a file"), "{error}");
    }
    let sparse = dir.path().join("sparse.so");
    fs::File::create(&sparse).unwrap().set_len(64 << 30).unwrap();
    let error = TrustStore::in_memory().add(&sparse).unwrap_err();
    assert_eq!(error.code(), ErrorCode::InvalidParam, "{error}");
}

#[test]
fn trust_is_removed_from_files_that_became_links_and_from_all_files_or_none() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let [a, b, c] = ["a.sh", "b.sh", "c.sh"].map(|name| root.join(name));
    let store = TrustStore::in_memory();
    for file in [&a, &b] {
        fs::write(file, "content").unwrap();
        store.add(file).unwrap();
    }
    fs::remove_file(&a).unwrap();
    std::os::unix::fs::symlink(&b, &a).unwrap();
    let error = store.remove_all([&b, &c]).unwrap_err();
    assert_eq!(error.code(), ErrorCode::NotFound);
    assert!(error.message().contains("c.sh is not trusted"), "{error}");
    assert_eq!(store.list().len(), 2, "none was removed");
    assert_eq!(store.remove(&a).unwrap().path, a);
    // Now that the link itself is not trusted, its path means the target.
    assert_eq!(store.remove(&a).unwrap().path, b);
}

#[test]
fn a_file_with_the_name_of_the_lock_keeps_its_content() {
    let dir = tempfile::tempdir().unwrap();
    let (code, lock) = (dir.path().join("tool.sh"), dir.path().join("app.lock"));
    let others = dir.path().join("others.txt");
    for file in [&code, &lock, &others] {
        fs::write(file, "content").unwrap();
    }
    let add = || TrustStore::open(dir.path().join("app.json")).unwrap().add(&code);
    add().unwrap();
    assert_eq!(fs::read(&lock).unwrap(), b"content");
    // A link is not followed, and opening a pipe does not wait.
    fs::remove_file(&lock).unwrap();
    std::os::unix::fs::symlink(&others, &lock).unwrap();
    let error = add().unwrap_err();
    assert!(error.message().contains("app.lock"), "{error}");
    assert_eq!(fs::read(&others).unwrap(), b"content");
    fs::remove_file(&lock).unwrap();
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &lock, fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    let _ = add();
}

#[test]
fn stores_of_one_file_see_each_other_and_damage_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state/trust.json");
    let (a, b) = (TrustStore::open(&path).unwrap(), TrustStore::open(&path).unwrap());
    let files: Vec<PathBuf> = ["x", "y"].map(|name| dir.path().join(name)).into();
    for file in &files {
        fs::write(file, "content").unwrap();
    }
    a.add(&files[0]).unwrap();
    b.add(&files[1]).unwrap();
    assert_eq!(TrustStore::open(&path).unwrap().list().len(), 2);
    let content = ContentHash::of(b"content");
    let verdict = || a.verdict(Scope::Project, &files[1], &content);
    assert_eq!(verdict(), Verdict::Trusted, "what the other one added");
    b.remove(&files[1]).unwrap();
    assert_eq!(verdict(), Verdict::Untrusted, "what the other one removed");
    b.add(&files[1]).unwrap();
    assert_eq!(verdict(), Verdict::Trusted);
    fs::write(&path, "{").unwrap();
    let error = TrustStore::open(&path).unwrap_err();
    assert!(error.message().contains("damaged"), "{error}");
    assert!(a.add(&files[1]).is_err(), "a damaged store is not written over");
    assert_eq!(verdict(), Verdict::Trusted, "what was known before the damage");
}
