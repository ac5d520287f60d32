//! Sources that attack, lie, are too large, or never answer. Each is refused with an error code, and
//! writes nothing outside of the cache.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use repertoire::ErrorCode;
use repertoire_config::FetchSettings;
use repertoire_fetch::{FetchLimits, Fetcher};
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;

use crate::binary::Place;
use crate::repository::{Repository, skill};

/// An entry of an archive: its path, its type, and the target of a link or the content of a file.
type Entry<'a> = (&'a str, EntryType, &'a str);

/// Writes an archive with exactly these entries, after a valid skill.
fn archive(path: &Path, entries: &[Entry<'_>]) {
    let mut tar =
        Builder::new(GzEncoder::new(fs::File::create(path).unwrap(), Compression::fast()));
    let good = skill("good", "", "Good.\n");
    let all = [("skills/good/SKILL.md", EntryType::Regular, good.as_str())];
    for (path, kind, text) in all.iter().chain(entries) {
        let mut header = Header::new_gnu();
        // Written as bytes, because the library refuses to write hostile names.
        header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        let content = if *kind == EntryType::Regular { text.as_bytes() } else { b"" };
        header.set_size(content.len() as u64);
        if matches!(kind, EntryType::Symlink | EntryType::Link) {
            header.set_link_name_literal(text).unwrap();
        }
        header.set_cksum();
        tar.append(&header, content).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap();
}

/// Fetches a source with small limits, and returns the code and message of the error.
fn refused(source: &str, limits: FetchLimits) -> (ErrorCode, String) {
    let cache = TempDir::new().unwrap();
    let fetcher = Fetcher::new(cache.path().join("cache")).limits(limits);
    let settings = FetchSettings { source: source.to_owned(), ..FetchSettings::default() };
    let error = fetcher.fetch(&settings, Path::new("/nowhere")).unwrap_err();
    assert!(!error.help().is_empty(), "{error}");
    let beside = fs::read_dir(cache.path()).unwrap().count();
    assert_eq!(beside, usize::from(cache.path().join("cache").exists()), "something was written");
    (error.code(), error.message().to_owned())
}

/// Returns limits that are small enough for tests to reach.
pub(crate) fn small() -> FetchLimits {
    let mut limits = FetchLimits::default();
    limits.files = 20;
    limits.file_bytes = 64 << 10;
    limits.total_bytes = 128 << 10;
    limits.transfer_bytes = 1 << 20;
    limits.entries = 100;
    limits.time = Duration::from_secs(20);
    limits
}

#[test]
fn hostile_archives_are_refused() {
    use EntryType::{Block, Char, Fifo, Link, Regular, Symlink};
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x.tar.gz");
    let source = path.to_str().unwrap();
    for (entry, why) in [
        (("/etc/cron.d/x", Regular, "x"), "not a path below it"),
        (("skills/good/../../../x", Regular, "x"), "leaves it"),
        (("../x", Regular, "x"), "leaves it"),
        (("skills/good/link", Symlink, "/etc/passwd"), "leaves it"),
        (("skills/good/link", Symlink, "../../../etc/passwd"), "leaves it"),
        (("skills/good/hard", Link, "/etc/passwd"), "hard link"),
        (("skills/good/dev", Char, ""), "device"),
        (("skills/good/dev", Block, ""), "device"),
        (("skills/good/pipe", Fifo, ""), "device, a pipe"),
        (("skills/good/skill.MD", Regular, "x"), "case does not matter"),
        (("skills/GOOD/x/y", Regular, "x"), ""),
        (("skills/good/SKILL.md", Regular, "again"), "twice"),
        (("skills/good/SKILL.md/x", Regular, "x"), "below a file"),
        (("skills/good/a\\..\\b", Regular, "x"), "everywhere"),
        (("skills/good/.git/config", Regular, "x"), ""),
    ] {
        archive(&path, &[entry]);
        if why.is_empty() {
            // The file is not part of a skill, so it is not fetched.
            let cache = TempDir::new().unwrap();
            let settings = FetchSettings { source: source.to_owned(), ..FetchSettings::default() };
            let locked = Fetcher::new(cache.path()).fetch(&settings, Path::new(".")).unwrap();
            assert_eq!(locked.files.keys().collect::<Vec<_>>(), ["good/SKILL.md"]);
            continue;
        }
        let (code, message) = refused(source, small());
        assert_eq!(code, ErrorCode::PermissionDenied, "{entry:?}: {message}");
        assert!(message.contains(why), "{entry:?}: {message}");
    }
}

#[test]
fn archives_that_are_too_large_or_broken_are_refused() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x.tar.gz");
    let source = path.to_str().unwrap().to_owned();
    let (large, huge) = ("x".repeat(65 << 10), "\0".repeat(8 << 20));
    let names: Vec<String> = (0..120).map(|nth| format!("skills/good/{nth}")).collect();
    let of = |names: &[String]| -> Vec<(String, String)> {
        names.iter().map(|name| (name.clone(), "x".repeat(6 << 10))).collect()
    };
    for (files, why) in [
        (vec![("skills/good/large".to_owned(), large)], "more than 65536 bytes"),
        // A decompression bomb: 8 MiB packed into 8 KiB, outside of any skill.
        (vec![("docs/huge".to_owned(), huge)], "more than 1048576 bytes unpacked"),
        (of(&names), "more than 100 entries"),
        (of(&names[..30]), "more than 20 files"),
        (
            of(&names[..19]).into_iter().map(|(name, _)| (name, "x".repeat(16 << 10))).collect(),
            "131072",
        ),
    ] {
        let entries: Vec<Entry<'_>> = files
            .iter()
            .map(|(name, text)| (name.as_str(), EntryType::Regular, text.as_str()))
            .collect();
        archive(&path, &entries);
        let (code, message) = refused(&source, small());
        assert_eq!(code, ErrorCode::InvalidParam, "{message}");
        assert!(message.contains(why), "{why}: {message}");
    }
    archive(&path, &[]);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(refused(&source, small()).1.contains("not a whole archive"));
}

#[test]
fn an_archive_is_pinned_by_its_hash() {
    let place = Place::new();
    let path = place.path().join("kit.tar.gz");
    archive(&path, &[]);
    let added = place.run(["add", "kit.tar.gz", "--json"]).exits(0).json();
    let sha256 = added["revision"].as_str().unwrap().to_owned();
    assert_eq!(added["name"], "kit");
    place.run(["use", "good"]).exits(0);
    place.run(["add", "kit.tar.gz", "--rev", &sha256, "--name", "pinned"]).exits(0);
    archive(&path, &[("skills/good/more.md", EntryType::Regular, "more")]);
    let outdated = place.run(["outdated", "kit", "--json"]).exits(1).json();
    assert_eq!(outdated["sources"][0]["outdated"], true, "{outdated}");
    let run = place.run(["update", "--json"]).exits(1).json();
    assert_eq!(run["sources"][0]["changes"][0]["files"][0]["path"], "more.md", "{run}");
    assert_eq!(run["sources"][1]["error"]["code"], "PERMISSION_DENIED", "{run}");
}

/// Creates a repository whose tree is written by hand, with entries that git itself would not write.
fn with_raw_tree(entries: &[(&str, &str, &str)]) -> Repository {
    let repository = Repository::with_deploy();
    let hash = |text: &str| {
        repository.write("blob", text);
        repository.git(&["hash-object", "-w", "blob"]).trim().to_owned()
    };
    let mut tree = Vec::new();
    let text = skill("good", "", "Good.\n");
    for (mode, name, text) in [("100644", "SKILL.md", text.as_str())].iter().chain(entries) {
        let object = if *mode == "160000" { "1".repeat(40) } else { hash(text) };
        write!(tree, "{mode} {name}\0").unwrap();
        for at in (0..object.len()).step_by(2) {
            tree.push(u8::from_str_radix(&object[at..at + 2], 16).unwrap());
        }
    }
    fs::write(repository.path().join("blob"), tree).unwrap();
    let tree = repository.git(&["hash-object", "-t", "tree", "-w", "--literally", "blob"]);
    let commit = repository.git(&["commit-tree", tree.trim(), "-m", "hostile"]);
    repository.git(&["update-ref", "refs/heads/main", commit.trim()]);
    repository
}

#[test]
fn hostile_repositories_are_refused() {
    for (entry, why) in [
        (("100644", "..", "x"), "leaves it"),
        (("120000", "link", "/etc/passwd"), "leaves it"),
        (("120000", "link", "../../x"), "leaves it"),
        (("160000", "module", ""), "submodule"),
        (("100644", "skill.MD", "x"), "case does not matter"),
    ] {
        let repository = with_raw_tree(&[entry]);
        let (code, message) = refused(&repository.url(), small());
        assert_eq!(code, ErrorCode::PermissionDenied, "{entry:?}: {message}");
        assert!(message.contains(why), "{entry:?}: {message}");
    }
}

#[test]
fn nothing_of_a_repository_is_run() {
    let (place, repository) = (Place::new(), Repository::with_deploy());
    let mark = place.path().join("mark");
    let hook = format!("#!/bin/sh\ntouch {}\n", mark.display());
    for name in ["post-checkout", "post-merge", "reference-transaction", "pre-upload"] {
        let path = repository.path().join(".git/hooks").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &hook).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    // Filters and hooks in the user's own git settings must not be applied to files of others.
    let git = format!(
        "[core]\n\thooksPath = {}\n[filter \"f\"]\n\tsmudge = touch {}\n\trequired = true\n",
        repository.path().join(".git/hooks").display(),
        mark.display()
    );
    place.write("home/.gitconfig", git);
    repository.write(".gitattributes", "* filter=f\n");
    repository.commit();
    fs::remove_file(&mark).ok();
    place.run(["add", &repository.url()]).exits(0);
    assert!(!mark.exists());
    let run = place.run(["add", &format!("ext::sh -c touch% {}", mark.display())]).exits(1);
    assert!(run.stderr.contains("program of git") && !mark.exists(), "{run:?}");
}

#[test]
fn a_repository_that_is_too_large_or_never_answers_is_given_up() {
    let repository = Repository::with_deploy();
    // Random enough that it cannot be compressed.
    let mut state = 1u64;
    let text: String = (0..4 << 20)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b' ' + ((state >> 33) % 90) as u8)
        })
        .collect();
    repository.write("docs/large", &text);
    repository.commit();
    let (code, message) = refused(&repository.url(), small());
    assert_eq!(code, ErrorCode::InvalidParam, "{message}");
    assert!(message.contains("more than 1048576 bytes"), "{message}");

    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("git://127.0.0.1:{}/repo", silent.local_addr().unwrap().port());
    let mut limits = small();
    limits.time = Duration::from_millis(500);
    let start = Instant::now();
    let (code, message) = refused(&url, limits);
    assert_eq!(code, ErrorCode::Timeout, "{message}");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

#[test]
fn a_directory_is_read_without_leaving_it() {
    let place = Place::new();
    place.write("kit/a/SKILL.md", skill("a", "", "A.\n"));
    std::os::unix::fs::symlink("/etc/passwd", place.path().join("kit/a/link")).unwrap();
    let source: PathBuf = place.path().join("kit");
    let (code, message) = refused(source.to_str().unwrap(), small());
    assert_eq!(code, ErrorCode::PermissionDenied, "{message}");
    fs::remove_file(source.join("a/link")).unwrap();
    std::os::unix::fs::symlink("../b.md", source.join("a/link.md")).unwrap();
    place.write("kit/b.md", "shared");
    // Unlike one in an archive, a hard link names no path.
    fs::hard_link(source.join("b.md"), source.join("a/hard.md")).unwrap();
    place.run(["add", "./kit"]).exits(0);
    let used = place.run(["show", "a", "--json"]).exits(0).stdout;
    assert!(used.contains("link.md"), "{used}");
}

/// Returns an archive with one skill, compressed and plain.
fn good_archive() -> (Vec<u8>, Vec<u8>) {
    let dir = TempDir::new().unwrap();
    let packed = dir.path().join("x.tar.gz");
    archive(&packed, &[("skills/good/more.md", EntryType::Regular, "more")]);
    let whole = fs::read(&packed).unwrap();
    let mut plain = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&whole[..]), &mut plain).unwrap();
    (whole, plain)
}

/// Returns the code with which an archive of this name and content is refused; `None` if it is taken.
fn refused_at(name: &str, bytes: &[u8]) -> Option<ErrorCode> {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join(name);
    fs::write(&path, bytes).unwrap();
    let source = path.to_str().unwrap().to_owned();
    let settings = FetchSettings { source, ..FetchSettings::default() };
    let fetcher = Fetcher::new(dir.path().join("cache"));
    fetcher.fetch(&settings, Path::new(".")).err().map(|error| error.code())
}

/// An archive that was cut anywhere, in its checksum too, is refused.
#[test]
fn archives_that_were_cut_are_refused() {
    let (whole, plain) = good_archive();
    assert_eq!(refused_at("whole.tar.gz", &whole), None);
    assert_eq!(refused_at("whole.tar", &plain), None);
    let refusal = Some(ErrorCode::InvalidParam);
    for n_cut in [1, 4, 5, 8, 9, 12, whole.len() / 2] {
        assert_eq!(refused_at("x.tar.gz", &whole[..whole.len() - n_cut]), refusal, "{n_cut}");
    }
    let mut wrong = whole.clone();
    let crc = wrong.len() - 8;
    wrong[crc] ^= 1;
    assert_eq!(refused_at("x.tar.gz", &wrong), refusal, "another checksum");
    let content = plain.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    // Between the entries and their end, and in the last entry.
    for n_kept in [content.next_multiple_of(512), content.next_multiple_of(512) + 512, content - 1]
    {
        assert_eq!(refused_at("x.tar", &plain[..n_kept]), refusal, "{n_kept} of {}", plain.len());
        let packed = pack(&plain[..n_kept]);
        assert_eq!(refused_at("x.tar.gz", &packed), refusal, "{n_kept}, cut before it was packed");
    }
}

/// Entries behind the end of an archive are shown to nobody who looks at it, and found by some programs.
#[test]
fn archives_with_something_behind_their_end_are_refused() {
    let (_, plain) = good_archive();
    let end = (plain.iter().rposition(|byte| *byte != 0).unwrap() + 1).next_multiple_of(512);
    let taken = |name: &str, bytes: &[u8]| refused_at(name, bytes).is_none();
    for (n_zeros, behind, is_whole) in [
        (1024, &[][..], true),
        (1024, &[0; 9000], true),
        (512, &plain, false),
        (1024, &plain, false),
        (10240, &plain, false),
        (1024, b"x", false),
        (1024, &[1; 512], false),
    ] {
        let mut all = plain[..end].to_vec();
        all.resize(end + n_zeros, 0);
        all.extend_from_slice(behind);
        all.resize(all.len() + if is_whole { 0 } else { 1024 }, 0);
        assert_eq!(taken("x.tar", &all), is_whole, "{n_zeros} and {}", behind.len());
        assert_eq!(taken("x.tar.gz", &pack(&all)), is_whole, "{n_zeros} and {}", behind.len());
        // As a member of its own, which some programs do not read.
        let members = [pack(&all[..end + n_zeros]), pack(&all[end + n_zeros..])].concat();
        assert_eq!(taken("x.tar.gz", &members), is_whole, "{n_zeros} and {}", behind.len());
    }
}

fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    std::io::Write::write_all(&mut packed, bytes).unwrap();
    packed.finish().unwrap()
}
