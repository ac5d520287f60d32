use super::*;

#[test]
fn plain_paths_are_normalised_and_all_else_is_refused() {
    for (path, expected) in [
        ("a", "a"),
        ("./a", "a"),
        ("a/./b", "a/b"),
        ("a//b", "a/b"),
        (".hidden/..a/a..", ".hidden/..a/a.."),
        ("~/a", "~/a"),
        ("ä b/使.md", "ä b/使.md"),
        ("ab:c", "ab:c"),
    ] {
        assert_eq!(plain(path).as_deref(), Ok(expected), "{path}");
    }
    let (long, long_part) = ("a/".repeat(2048) + "a", "a".repeat(256));
    for path in [
        "", ".", "./", "a/", "a/.", "/", "/a", "//a/b", "..", "../a", "a/..", "a/../b", "./..",
        "a\0", "a\nb", "\x1b[m", "C:", "C:/a", "c:a", "a\\b", "..\\a", "\\\\?\\C:\\a",
        "\\\\host\\share", "file:///a", "http://a/b", &long, &long_part,
    ] {
        assert!(plain(path).is_err(), "{path:?}");
    }
}

#[cfg(unix)]
mod on_disk {
    use std::collections::BTreeMap;
    use std::fs;
    use std::io::Read as _;
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, Mode, OFlags};

    use super::*;

    /// One of the ways to look up a path.
    type LookUp = fn(&Path, &Path, Links) -> io::Result<File>;

    fn step_by_step(root: &Path, relative: &Path, links: Links) -> io::Result<File> {
        let root = File::open(root)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        regular(unix::walk(std::os::fd::AsFd::as_fd(&root), relative, links, flags)?.0.into())
    }

    fn by_name(root: &Path, relative: &Path, links: Links) -> io::Result<File> {
        fallback::Dir::open(root)?.file(relative, links)
    }

    /// Makes `root/` with every kind of entry, and `outside/secret` next to it.
    fn tree() -> tempfile::TempDir {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("root");
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir(temp.path().join("outside")).unwrap();
        fs::write(temp.path().join("outside/secret"), "secret").unwrap();
        fs::write(root.join("top"), "inside").unwrap();
        fs::write(root.join("a/b/file"), "inside").unwrap();
        symlink("top", root.join("link")).unwrap();
        symlink("../b/../../link", root.join("a/b/chain")).unwrap();
        symlink("b", root.join("a/dir_link")).unwrap();
        symlink("a/..", root.join("self")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        symlink("../outside/secret", root.join("out")).unwrap();
        symlink("../../../outside", root.join("a/b/out_dir")).unwrap();
        symlink(temp.path().join("outside/secret"), root.join("absolute")).unwrap();
        symlink("/proc/self/root", root.join("magic")).unwrap();
        rustix::fs::mknodat(CWD, root.join("pipe"), rustix::fs::FileType::Fifo, Mode::RWXU, 0)
            .unwrap();
        drop(std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap());
        temp
    }

    #[test]
    fn every_way_of_looking_up_stays_below_the_root() {
        use io::ErrorKind::{InvalidInput, IsADirectory, NotFound, PermissionDenied};
        let temp = tree();
        let root = temp.path().join("root");
        let ways: [(&str, LookUp); 3] =
            [("system", open), ("step by step", step_by_step), ("by name", by_name)];
        for (way, look_up) in ways {
            for path in ["top", "a/b/file", "./a/./b/file"] {
                for links in [Links::Never, Links::Inside] {
                    let mut text = String::new();
                    let mut file = look_up(&root, Path::new(path), links).unwrap();
                    file.read_to_string(&mut text).unwrap();
                    assert_eq!(text, "inside", "{path}, {way}");
                }
            }
            for path in ["link", "a/b/chain", "a/dir_link/file", "self/top", "self/self/link"] {
                let error = look_up(&root, Path::new(path), Links::Never).unwrap_err();
                assert_eq!(error.kind(), PermissionDenied, "{path}, {way}");
                let mut text = String::new();
                let mut file = look_up(&root, Path::new(path), Links::Inside).unwrap();
                file.read_to_string(&mut text).unwrap();
                assert_eq!(text, "inside", "{path}, {way}");
            }
            for links in [Links::Never, Links::Inside] {
                let refused = [
                    ("out", PermissionDenied),
                    ("a/b/out_dir/secret", PermissionDenied),
                    ("../outside/secret", PermissionDenied),
                    ("a/../../outside/secret", PermissionDenied),
                    ("magic", PermissionDenied),
                    ("magic/etc/passwd", PermissionDenied),
                    ("/etc/passwd", PermissionDenied),
                    ("a", IsADirectory),
                    ("pipe", InvalidInput),
                    ("socket", InvalidInput),
                    ("missing", NotFound),
                    ("a/missing/top", NotFound),
                ];
                for (path, expected) in refused {
                    let error = look_up(&root, Path::new(path), links).unwrap_err();
                    assert_eq!(error.kind(), expected, "{path}, {links:?}, {way}: {error}");
                }
                for path in ["absolute", "loop", "top/x", "", "."] {
                    look_up(&root, Path::new(path), links).expect_err(path);
                }
            }
        }
    }

    /// Tests both ways of lookup that no race can defeat, since the second is rarely taken.
    #[test]
    fn a_directory_swapped_for_a_link_is_never_left() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let temp = tree();
        let root = temp.path().join("root");
        fs::write(temp.path().join("outside/file"), "secret").unwrap();
        let (dir, spare) = (root.join("a/b"), temp.path().join("spare"));
        let swap = || {
            fs::rename(&dir, &spare).unwrap();
            symlink("../../outside", &dir).unwrap();
            fs::remove_file(&dir).unwrap();
            fs::rename(&spare, &dir).unwrap();
        };
        let is_over = AtomicBool::new(false);
        let outcomes = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    swap();
                }
            });
            let mut outcomes = BTreeMap::new();
            let are_both_there = |outcomes: &BTreeMap<Result<String, String>, i32>| {
                outcomes.keys().any(Result::is_ok) && outcomes.keys().any(Result::is_err)
            };
            // On a busy machine, the other thread may be paused in the middle of a swap.
            let mut n = 0;
            while n < 20_000 || (n < 20_000_000 && !are_both_there(&outcomes)) {
                let look_up = if n % 2 == 0 { open as LookUp } else { step_by_step };
                let links = if n % 4 < 2 { Links::Never } else { Links::Inside };
                let outcome = look_up(&root, Path::new("a/b/file"), links)
                    .and_then(io::read_to_string)
                    .map_err(|error| error.kind().to_string());
                *outcomes.entry(outcome).or_insert(0) += 1;
                n += 1;
            }
            is_over.store(true, Ordering::Relaxed);
            outcomes
        });
        let read: Vec<&String> = outcomes.keys().flatten().collect();
        assert_eq!(read, ["inside"], "{outcomes:?}");
        assert!(outcomes.len() > 1, "nothing was swapped: {outcomes:?}");
    }

    #[test]
    fn directories_are_listed_opened_and_resolved() {
        let temp = tree();
        let root = temp.path().join("root");
        let (dir, by_name) = (Dir::open(&root).unwrap(), fallback::Dir::open(&root).unwrap());
        let kinds = |entries: Vec<io::Result<Entry>>| -> BTreeMap<OsString, Kind> {
            entries.into_iter().map(|entry| entry.map(|e| (e.name, e.kind)).unwrap()).collect()
        };
        let listed = kinds(dir.entries().unwrap().collect());
        // Read twice: reading must not use up the directory.
        for entries in [dir.entries().unwrap().collect(), by_name.entries().unwrap().collect()] {
            assert_eq!(
                kinds(entries).keys().collect::<Vec<_>>(),
                listed.keys().collect::<Vec<_>>()
            );
        }
        for (name, kind) in [
            ("top", Kind::File),
            ("a", Kind::Dir),
            ("link", Kind::Link),
            ("pipe", Kind::Other),
            ("socket", Kind::Other),
        ] {
            assert_eq!(listed[OsString::from(name).as_os_str()], kind, "{name}");
        }
        for (path, resolved) in
            [("a/b/chain", "top"), ("self/a/dir_link/file", "a/b/file"), ("self", ""), ("a", "a")]
        {
            assert_eq!(dir.resolve(Path::new(path)).unwrap(), Path::new(resolved), "{path}");
            assert_eq!(by_name.resolve(Path::new(path)).unwrap(), Path::new(resolved), "{path}");
        }
        assert!(dir.dir(Path::new("a/dir_link"), Links::Never).is_err());
        let inner = dir.dir(Path::new("a/dir_link"), Links::Inside).unwrap();
        assert!(inner.file(Path::new("file"), Links::Never).is_ok());
        assert!(inner.file(Path::new("chain"), Links::Inside).is_err(), "it left `a/b`");
        assert!(by_name.dir(Path::new("a/dir_link"), Links::Inside).is_ok());
        assert!(dir.dir(Path::new("top"), Links::Inside).is_err());
    }

    #[test]
    fn what_is_made_is_new_and_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let temp = tree();
        let root = temp.path().join("root");
        let dir = Dir::open(&root).unwrap();
        let made = dir.create_dir("made".as_ref()).unwrap();
        drop(made.create_file("tool".as_ref(), true).unwrap());
        drop(made.create_file("text".as_ref(), false).unwrap());
        for (path, mode) in [("made", 0o700), ("made/tool", 0o700), ("made/text", 0o600)] {
            let found = root.join(path).metadata().unwrap().permissions().mode() & 0o7777;
            assert_eq!(found & !mode, 0, "{path} is {found:o}");
        }
        assert!(dir.create_dir("made".as_ref()).is_err());
        assert!(dir.create_dir("link".as_ref()).is_err());
        assert!(dir.create_file("out".as_ref(), false).is_err(), "through a link");
        let by_name = fallback::Dir::open(&root).unwrap().create_dir("named".as_ref()).unwrap();
        drop(by_name.create_file("text".as_ref(), false).unwrap());
        assert!(by_name.create_file("text".as_ref(), false).is_err());
        assert_eq!(fs::read(temp.path().join("outside/secret")).unwrap(), b"secret");
    }
}
