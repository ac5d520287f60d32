//! Zip archives: some that git writes, and some written by hand that lie in every possible way.

use std::fs;
use std::path::Path;
use std::process::Command;

use repertoire::{Error, ErrorCode};
use repertoire_config::FetchSettings;
use repertoire_fetch::{FetchLimits, Fetcher, Locked};
use tempfile::TempDir;

use crate::binary::Place;
use crate::hostile::small;
use crate::repository::{Repository, skill};
use crate::zip_file::{Part, zip, zip_of, zip_with};

/// Fetches an archive with these bytes.
fn fetch(bytes: &[u8], limits: FetchLimits) -> Result<Locked, Error> {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("x.zip");
    fs::write(&path, bytes).unwrap();
    let source = path.to_str().unwrap().to_owned();
    let settings = FetchSettings { source, ..FetchSettings::default() };
    let fetched =
        Fetcher::new(dir.path().join("cache")).limits(limits).fetch(&settings, Path::new("."));
    let n_entries = fs::read_dir(dir.path()).unwrap().count();
    assert!(n_entries <= 2, "something was written beside the cache");
    fetched
}

fn good() -> Part {
    Part::packed("skills/good/SKILL.md", skill("good", "", "Good.\n"))
}

#[test]
fn directories_and_empty_files_are_read_whatever_their_mode() {
    let directory = |mode| Part::stored("skills/good/docs/", "").mode(mode);
    for mode in [0, 0o040_755, 0o100_644] {
        let empty = Part::packed("skills/good/docs/empty", "").mode(mode & !0o040_000);
        let fetched = fetch(&zip(&[good(), directory(mode), empty]), small()).unwrap();
        assert!(fetched.files.keys().eq(["good/SKILL.md", "good/docs/empty"]), "{mode:o}");
    }
}

#[test]
fn a_zip_of_git_is_added_with_its_modes_and_links() {
    let (place, repository) = (Place::new(), Repository::with_deploy());
    let script = repository.path().join("skills/deploy/scripts/go.sh");
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("scripts/go.sh", repository.path().join("skills/deploy/again.sh"))
        .unwrap();
    repository.commit();
    let to = place.path().join("kit.zip");
    let mut git = Command::new("git");
    git.args(["archive", "--format=zip", "--prefix=kit-1.0/", "-o"]).arg(&to).arg("HEAD");
    assert!(git.current_dir(repository.path()).status().unwrap().success());

    let added = place.run(["add", "kit.zip", "--json"]).exits(0).json();
    assert_eq!((&added["name"], &added["skills"][0]), (&"kit".into(), &"deploy".into()), "{added}");
    let hash = repertoire::trust::ContentHash::of_file(&to).unwrap();
    assert_eq!(added["revision"], hash.as_str(), "what `sha256sum` prints");
    assert!(place.run(["use", "deploy"]).exits(0).stdout.contains("with care"));
    let lock = fs::read_to_string(place.path().join("home/.repertoire/skills.lock")).unwrap();
    let lock: serde_json::Value = serde_json::from_str(&lock).unwrap();
    let files = &lock["sources"]["kit"]["files"];
    for name in ["scripts/go.sh", "again.sh"] {
        let sha256 = "79071e0638b664db2b9ee8deda408e324161eff409c5427f66d275d3c2cbf1fa";
        let file = &files[&format!("kit-1.0/skills/deploy/{name}")];
        assert_eq!(file["sha256"], sha256, "{files}");
        assert_eq!(file["executable"], true, "{files}");
    }
    assert!(files["kit-1.0/skills/deploy/SKILL.md"]["executable"].is_null(), "{files}");
}

#[test]
fn hostile_zips_are_refused() {
    let x = |name: &str| Part::stored(name, "x");
    let at = "skills/good/x";
    let unicode = |name: &str| {
        let n_bytes = u8::try_from(5 + name.len()).unwrap();
        [&[0x75, 0x70, n_bytes, 0, 1, 0, 0, 0, 0], name.as_bytes()].concat()
    };
    let same = x(at).with(|part| (part.extra, part.local_extra) = (unicode(at), unicode(at)));
    assert_eq!(fetch(&zip(&[good(), same]), small()).unwrap().files.len(), 2);
    let (link, device, pipe, directory) = (0o120_777, 0o020_644, 0o010_644, 0o040_755);
    for (part, why) in [
        (x("/etc/cron.d/x"), "not a path below it"),
        (x("skills/good/../../../x"), "leaves it"),
        (x("../x"), "leaves it"),
        (x("skills\\good\\x"), "backslash"),
        (Part::stored(at, "/etc/passwd").mode(link), "leaves it"),
        (Part::packed(at, "../../../etc/passwd").mode(link), "leaves it"),
        (Part::packed(at, "x".repeat(5000)).mode(link), "link without a path"),
        (x(at).mode(device), "device"),
        (x(at).mode(pipe), "device, a pipe"),
        (x(at).mode(directory), "directory with a content"),
        (x("skills/good/x/"), "directory with a content"),
        (x("skills/good/skill.MD"), "case does not matter"),
        (x("skills/good/SKILL.md"), "twice"),
        (x("skills/good/SKILL.md/x"), "below a file"),
        (x(at).with(|part| part.name[0] = 0xff), "not UTF-8"),
        (x(at).with(|part| part.flags = 1), "encrypted"),
        (x(at).with(|part| part.flags = 1 << 6), "encrypted"),
        (x(at).with(|part| part.local_name = b"skills/good/y".to_vec()), "another name"),
        (x(at).with(|part| part.extra = unicode("skills/good/y")), "another name in an extra"),
        (x(at).with(|part| part.local_extra = unicode("../x")), "another name in an extra"),
        (x(at).with(|part| part.extra = vec![0x75, 0x70, 1, 0, 1]), "another name in an extra"),
        (x(at).with(|part| part.local_method = 8), "two ways"),
        (x(at).with(|part| part.local.0 ^= 1), "two ways"),
        (x(at).with(|part| part.local.1 = 9), "two ways"),
        (x(at).with(|part| part.local.2 = 9), "two ways"),
        (x(at).with(|part| (part.n_bytes, part.local.2) = (2, 2)), "two sizes"),
    ] {
        let name = String::from_utf8_lossy(&part.name).into_owned();
        let error = fetch(&zip(&[good(), part]), small()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::PermissionDenied, "{name}: {error}");
        assert!(error.message().contains(why), "{name}, {why}: {error}");
    }
}

#[test]
fn descriptors_are_taken_in_every_form_and_refused_if_they_lie() {
    let x = || Part::packed("skills/good/x", "x".repeat(100));
    let signed = |descriptor: Vec<u8>| [b"PK\x07\x08", &descriptor[..]].concat();
    for is_wide in [false, true] {
        let descriptor = || x().descriptor(is_wide);
        for descriptor in [descriptor(), signed(descriptor())] {
            for part in [
                x().streamed(&descriptor[..]),
                // The writer may know one of the sizes in advance.
                x().streamed(&descriptor[..]).with(|part| part.local.2 = 100),
            ] {
                let fetched = fetch(&zip(&[part, good()]), small()).unwrap();
                assert_eq!(fetched.files.len(), 2, "{descriptor:?}");
            }
            let (other, one) = (|part: &mut Part| part.local.1 = 9, &descriptor[1..]);
            let longer = [&descriptor[..], b"x"].concat();
            let mut lying: Vec<Vec<u8>> = vec![one.to_owned(), longer, Vec::new()];
            for nth in descriptor.len() - x().descriptor(is_wide).len()..descriptor.len() {
                let mut changed = descriptor.clone();
                changed[nth] ^= 1;
                lying.push(changed);
            }
            for bytes in lying {
                let part = x().streamed(bytes);
                let error = fetch(&zip(&[part, good()]), small()).unwrap_err();
                assert_eq!(error.code(), ErrorCode::PermissionDenied, "{error}");
                assert!(error.message().contains("has another descriptor"), "{error}");
            }
            let two_ways = fetch(&zip(&[x().streamed(descriptor).with(other)]), small());
            assert!(two_ways.unwrap_err().message().contains("two ways"));
        }
    }
}

#[test]
fn every_byte_of_a_zip_belongs_to_an_entry_of_its_directory() {
    let unlisted = || Part::stored("skills/good/x", "x").with(|part| part.is_listed = false);
    let y = || Part::stored("skills/good/y", "y");
    let (before, behind) = ("follows bytes of no entry", "is followed by bytes of no entry");
    for (parts, why) in [
        (vec![unlisted(), good()], before),
        (vec![good(), unlisted()], behind),
        (vec![good(), unlisted(), y()], behind),
        (vec![good().with(|part| part.behind = b"x".to_vec()), y()], behind),
        (vec![y().streamed(y().descriptor(false)), unlisted(), good()], "another descriptor"),
    ] {
        let error = fetch(&zip(&parts), small()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::PermissionDenied, "{error}");
        assert!(error.message().contains(why), "{why}: {error}");
    }
}

#[test]
fn entries_of_a_zip_share_no_bytes() {
    let name = "skills/good/x";
    // Two names for the data of one entry.
    let twice = [good(), good().with(|part| part.offset = Some(0))];
    // A second entry inside of the data of the first.
    let inner = Part::stored(name, "x");
    let whole = zip(std::slice::from_ref(&inner));
    let outer = Part::stored("skills/good/y", &whole[..whole.len() - 22 - 46 - name.len()]);
    let head = zip(&[good()]).len() - 22 - 46 - "skills/good/SKILL.md".len() + 30 + name.len();
    let nested =
        [good(), outer, inner.with(|part| part.offset = Some(u32::try_from(head).unwrap()))];
    for parts in [&twice[..], &nested] {
        let error = fetch(&zip(parts), small()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::PermissionDenied, "{error}");
        assert!(error.message().contains("shares bytes"), "{error}");
    }
}

#[test]
fn zips_that_are_too_large_or_broken_are_refused() {
    let at = "skills/good/x";
    let x = || Part::packed(at, "xyz".repeat(100));
    let zeros = vec![0; 8 << 20];
    let bomb = || Part::packed("docs/huge", &zeros);
    // 8 MiB that claim to be a few bytes.
    let lie = Part::packed(at, &zeros).with(|part| (part.n_bytes, part.local.2) = (9, 9));
    let crc = x().with(|part| (part.crc, part.local.0) = (1, 1));
    let longer = x().with(|part| (part.n_bytes, part.local.2) = (301, 301));
    let behind = x().with(|part| {
        part.data.push(0);
        (part.n_packed_bytes, part.local.1) = (part.n_packed_bytes + 1, part.local.1 + 1);
    });
    let cut = x().with(|part| {
        part.data.pop();
        (part.n_packed_bytes, part.local.1) = (part.n_packed_bytes - 1, part.local.1 - 1);
    });
    let many: Vec<Part> = (0..120).map(|nth| Part::stored(&format!("docs/{nth}"), "x")).collect();
    let some: Vec<Part> =
        (0..30).map(|nth| Part::stored(&format!("skills/good/{nth}"), "x")).collect();
    let zip64 = |bytes: u64| {
        // The zip64 sizes: unpacked and packed.
        let fields = [bytes.to_le_bytes(), 7u64.to_le_bytes()].concat();
        x().with(|part| {
            (part.n_bytes, part.n_packed_bytes) = (u32::MAX, u32::MAX);
            part.extra = [&[1, 0, 16, 0], &fields[..]].concat();
            (part.flags, part.local) = (1 << 3, (0, 0, 0));
        })
    };
    let missing = zip64(300).with(|part| part.extra.clear());
    let of = |parts: &[Part]| zip(&[&[good()], parts].concat());
    let whole = of(&[x()]);
    // A signature that hides another directory with its own end record.
    let hidden = [b"PK\x05\x05\xff\x00", &whole[..]].concat();
    for (bytes, why) in [
        (of(&[x().with(|part| (part.method, part.local_method) = (14, 14))]), "packed by Deflate"),
        (of(&[bomb()]), "more than 1048576 bytes unpacked"),
        (of(&[Part::packed(at, vec![0; 65 << 10])]), "more than 65536 bytes"),
        (of(&[lie]), "longer than it says"),
        (of(&[longer]), "shorter than it says"),
        (of(&[crc]), "checksum"),
        (of(&[behind]), "behind its end"),
        (of(&[cut]), "not a whole archive"),
        (of(&many), "more than 100 entries"),
        (of(&some), "more than 20 files"),
        (of(&[zip64(u64::MAX)]), "bytes unpacked"),
        (of(&[missing]), "bytes unpacked"),
        (of(&[x().with(|part| part.offset = Some(1 << 30))]), "not a whole archive"),
        (zip_with(&[good()], 1, b"PK\x05\x05\x00\x00"), "bytes behind its directory"),
        (zip_with(&[good()], 1, &hidden), "bytes behind its directory"),
        (zip_with(&[good()], 1, &hidden[..76]), "bytes behind its directory"),
        (zip_of(&[good(), x()], 1), "as many entries"),
        (zip_of(&[good(), x()], 3), "as many entries"),
        ([&whole[..], b"x"].concat(), "behind its end"),
        (whole[..whole.len() / 2].to_vec(), "not a whole archive"),
        (Vec::new(), "not a whole archive"),
    ] {
        let error = fetch(&bytes, small()).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidParam, "{why}: {error}");
        assert!(error.message().contains(why), "{why}: {error}");
    }
}

#[test]
fn a_zip_with_any_byte_changed_or_cut_off_is_refused_or_has_the_same_files() {
    let parts = [good(), Part::stored("skills/good/x", "x").mode(0o100_755)];
    let bytes = zip(&parts);
    let files = fetch(&bytes, small()).unwrap().files;
    assert_eq!(files.len(), 2);
    let (mut n_same, mut n_refused) = (0, 0);
    for nth in 0..bytes.len() {
        for change in [1, 0xff] {
            let mut bytes = bytes.clone();
            bytes[nth] ^= change;
            match fetch(&bytes, small()) {
                Ok(fetched) => {
                    let has_same = |(path, file): (&String, _)| {
                        files.get(path).is_some_and(|known: &repertoire_fetch::LockedFile| {
                            let file: &repertoire_fetch::LockedFile = file;
                            known.sha256 == file.sha256
                        })
                    };
                    assert!(fetched.files.iter().all(has_same), "byte {nth}: {:?}", fetched.files);
                    n_same += 1;
                }
                Err(_) => n_refused += 1,
            }
        }
        fetch(&bytes[..nth], small()).unwrap_err();
    }
    assert!(n_same > 0 && n_refused > n_same, "{n_same} of {n_refused}");
}
