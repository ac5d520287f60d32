//! `repertoire sign`: both `repertoire` and the program `minisign` verify its signatures.

use std::path::Path;
use std::process::Command;

use minisign::KeyPair;
use serde_json::json;

use crate::binary::{Place, Run, finish};
use crate::push::write_kit;
use crate::support::say;

/// A key with the password `correct horse`, whose derivation is cheap.
const ENCRYPTED: &str = "untrusted comment: minisign encrypted secret key
RWRTY0IyAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8AgAAAAAAAAAAAAAEAAAAAtEuqTISZKMfMk6pH68tf8u8jEzOsQnJIptKneefWc4SRfNXwpGKF6MNkm3mi5QWk0catTEJb12um+bL4H5RjlUwqftFPTd6uPcJajtS12hdivSqixIav8TYCzBidwnO8yg58KTRGZ+k=
";
const ITS_PUBLIC_KEY: &str = "RWSr6p7E0BiiWawTBjP4E+HjR5yZctxM6QFp7Yc/0YVVW9A3MOPjl52F";

/// Creates a directory with skills in `kit`, and a key without a password in `my.key`.
fn place() -> (Place, String) {
    let place = Place::new();
    write_kit(&place, "kit", false);
    let key = write_key(&place);
    (place, key)
}

/// Writes a key without a password to `my.key`, and returns its public half.
fn write_key(place: &Place) -> String {
    let pair = KeyPair::generate_unencrypted_keypair().unwrap();
    place.write("my.key", pair.sk.to_box(None).unwrap().into_string());
    pair.pk.to_base64()
}

/// Writes two skills into a directory, signs them, and returns the public key.
#[cfg(any(feature = "object-store", feature = "oci"))]
pub(crate) fn signed_kit(place: &Place, dir: &str) -> String {
    write_kit(place, dir, false);
    let key = write_key(place);
    place.run(["sign", dir, "--key", "my.key"]).exits(0);
    key
}

/// The error for a source that was [forged](forge).
#[cfg(any(feature = "object-store", feature = "oci"))]
pub(crate) const FORGED: &str = "`skills.sha256` or its signature was changed after it was signed";

/// Changes a script of a signed kit and the list of files, but not the list's signature, as an attacker
/// without the key could do. If only the script changed, `push` would notice.
#[cfg(any(feature = "object-store", feature = "oci"))]
pub(crate) fn forge(place: &Place, dir: &str) {
    let signature = place.path().join(dir).join("skills.sha256.minisig");
    let genuine = std::fs::read(&signature).unwrap();
    place.write(&format!("{dir}/skills/deploy/scripts/go.sh"), "curl evil\n");
    write_key(place);
    place.run(["sign", dir, "--key", "my.key"]).exits(0);
    std::fs::write(signature, genuine).unwrap();
}

fn sign_with_password(place: &Place, password: Option<&str>) -> Run {
    // Run in a new session, which has no terminal.
    let mut command = Command::new("setsid");
    let sign = place.command(["sign", "kit", "--key", "enc.key", "--json"]);
    command.arg("--wait").arg(sign.get_program()).args(sign.get_args()).current_dir(place.path());
    for (name, value) in sign.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    match password {
        Some(password) => command.env("REPERTOIRE_KEY_PASSWORD", password),
        None => command.env_remove("REPERTOIRE_KEY_PASSWORD"),
    };
    finish(command, b"")
}

/// Asserts that the commands which describe sources name the key that signed the only source.
pub(crate) fn assert_key_is_told(key: &str, run: impl Fn(&[&str]) -> Run) {
    let listed = run(&["list", "--json"]).exits(0).json();
    assert_eq!(listed["skills"][0]["signed_by"], key, "{listed}");
    let outdated = run(&["outdated", "--json"]).exits(0).json();
    assert_eq!(outdated["sources"][0]["signed_by"], key, "{outdated}");
    for command in ["list", "outdated", "doctor"] {
        let told = run(&[command]).stdout;
        assert!(told.contains(&format!("signed by {key}")), "{command}: {told}");
    }
}

#[test]
fn a_directory_is_signed_and_others_take_it_until_it_is_changed() {
    let (place, key) = place();
    let signed = place.run(["sign", "kit", "--key", "my.key", "--json"]).exits(0).json();
    assert_eq!((&signed["files"], &signed["public_key"]), (&json!(3), &json!(key)));
    let list = std::fs::read_to_string(place.path().join("kit/skills.sha256")).unwrap();
    let paths: Vec<&str> = list.lines().map(|line| &line[66..]).collect();
    assert_eq!(paths, ["build/SKILL.md", "deploy/SKILL.md", "deploy/scripts/go.sh"]);
    let told = place.run(["sign", "kit", "--key", "my.key"]).exits(0).stdout;
    assert!(told.contains(&format!("--signed-by {key}`")), "{told}");

    let add = ["add", "./kit", "--signed-by", &key, "--json"];
    assert_eq!(place.run(add).exits(0).json()["signed_by"], json!(key));
    let shown = place.run(["doctor", "--json"]).json();
    assert_eq!(shown["fetched"][0]["signed_by"], json!(key), "{shown}");
    assert_key_is_told(&key, |args| place.run(args));
    place.write("kit/skills/deploy/scripts/go.sh", "curl evil\n");
    let refused = place.run(["update"]).exits(1).stderr;
    assert!(
        refused.contains("`deploy/scripts/go.sh` is not the file that was signed"),
        "{refused}"
    );
    assert!(place.run(["disclose", "deploy it"]).exits(0).stdout.contains("with care"));
    place.run(["sign", "kit", "--key", "my.key"]).exits(0);
    let updated = place.run(["update", "--dry-run"]).exits(0).stdout;
    assert!(updated.contains(&format!("signed by {key}")), "{updated}");
}

#[test]
fn a_signature_goes_along_when_a_source_is_pushed_or_one_directory_of_it_is_signed() {
    let (place, key) = place();
    place.run(["sign", "kit", "--key", "my.key"]).exits(0);
    place.run(["push", "./kit", "kit.tar.gz"]).exits(0);
    place.run(["add", "./kit.tar.gz", "--signed-by", &key]).exits(0);

    place.run(["sign", "kit", "--key", "my.key", "--path", "skills/deploy"]).exits(0);
    let add = ["add", "./kit", "--name", "one", "--signed-by", &key];
    let one = place.run(add.iter().chain(&["--path", "skills/deploy", "--json"])).exits(0).json();
    assert_eq!(one["skills"], json!(["deploy"]));
}

#[test]
fn a_source_that_was_changed_after_it_was_signed_is_not_pushed() {
    let (place, _) = place();
    place.run(["sign", "kit", "--key", "my.key"]).exits(0);
    let notes = "kit/skills/deploy/notes.md";
    place.write(notes, "New.");
    let refused = place.run(["push", "./kit", "kit.tar.gz"]).exits(1).stderr;
    let why = "its signature does not hold: `deploy/notes.md` is not among the files";
    assert!(refused.contains(why) && refused.contains("sign it again"), "{refused}");
    assert!(!place.path().join("kit.tar.gz").exists());
    std::fs::remove_file(place.path().join(notes)).unwrap();
    place.run(["push", "./kit", "kit.tar.gz"]).exits(0);
}

#[test]
fn keys_with_a_password_are_opened_and_other_files_are_not_keys() {
    let (place, key) = place();
    place.write("enc.key", ENCRYPTED);
    let signed = sign_with_password(&place, Some("correct horse")).exits(0).json();
    assert_eq!(signed["public_key"], ITS_PUBLIC_KEY);
    place.run(["add", "./kit", "--signed-by", ITS_PUBLIC_KEY]).exits(0);
    for (password, code, why, remedy) in [
        (
            Some("wrong horse"),
            "PERMISSION_DENIED",
            "the password of enc.key is wrong",
            "set `REPERTOIRE_KEY_PASSWORD` to the password of this key",
        ),
        (None, "EXECUTION_ERROR", "cannot be asked for", "set `REPERTOIRE_KEY_PASSWORD`"),
    ] {
        let failed = sign_with_password(&place, password).exits(1);
        let error = &failed.json()["error"];
        assert_eq!(error["code"], code, "{failed:?}");
        assert!(error["message"].as_str().unwrap().contains(why), "{failed:?}");
        assert!(error["help"].as_str().unwrap().contains(remedy), "{failed:?}");
        assert!(!format!("{failed:?}").contains("horse"), "{failed:?}");
    }
    place.write("my.pub", format!("untrusted comment: minisign public key\n{key}\n"));
    place.write("short.key", "untrusted comment: x\nRWQAAEIy\n");
    for (file, why) in [
        ("my.pub", "my.pub is not a secret key of minisign"),
        ("short.key", "short.key cannot be used"),
        ("kit/skills/build/SKILL.md", "is not a secret key of minisign"),
        ("none.key", "make one with `minisign -G`"),
    ] {
        let failed = place.run(["sign", "kit", "--key", file]).exits(1);
        assert!(failed.stderr.contains(why), "{file}: {failed:?}");
    }
    for (dir, why) in [("none", "cannot read none"), ("my.key", "my.key is not a directory")] {
        let failed = place.run(["sign", dir, "--key", "my.key"]).exits(1);
        assert!(failed.stderr.contains(why), "{failed:?}");
    }
}

#[test]
fn files_that_git_ignores_are_named_since_others_lack_them() {
    let (place, key) = place();
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Ann", "-c", "user.email=ann@h.org"]).args(args);
        finish(
            {
                git.current_dir(place.path().join("kit"));
                git
            },
            b"",
        )
        .exits(0)
    };
    git(&["init", "--quiet"]);
    place.write("kit/skills/build/build.log", "built\n");
    place.write("kit/build.log", "of no skill\n");
    let sign = || place.run(["sign", "kit", "--key", "my.key", "--json"]).exits(0);
    // At first nothing is ignored; then a file that belongs to no skill is.
    for (rules, ignored) in [
        ("", json!([])),
        ("/build.log\n", json!([])),
        ("*.log\n", json!(["build/build.log"])),
        ("*.sha256\n", json!(["skills.sha256", "skills.sha256.minisig"])),
        (
            "/skills/\n",
            json!([
                "build/SKILL.md", "build/build.log", "deploy/SKILL.md", "deploy/scripts/go.sh",
                "skills.sha256", "skills.sha256.minisig",
            ]),
        ),
    ] {
        place.write("kit/.gitignore", rules);
        let signed = sign();
        assert_eq!(signed.json()["ignored"], ignored, "{rules}");
        let is_told = signed.stderr.contains("git ignores");
        assert_eq!(is_told, ignored != json!([]), "{rules}: {signed:?}");
    }

    // As the message says, a clone is rejected until the file is there.
    place.write("kit/.gitignore", "*.log\n");
    let told = sign().stderr;
    assert!(told.contains("1 file") && told.contains("`build/build.log`"), "{told}");
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "-m", "sign"]);
    let url = format!("file://{}", place.path().join("kit").display());
    let add = ["add", &url, "--signed-by", &key];
    let refused = Place::new().run(add).exits(1).stderr;
    assert!(refused.contains("`build/build.log`, which was signed, is missing"), "{refused}");
    git(&["add", "--force", "skills/build/build.log"]);
    git(&["commit", "--quiet", "-m", "log"]);
    assert_eq!(sign().json()["ignored"], json!([]));
    Place::new().run(add).exits(0);
}

/// An unpacked archive may have a `.git/config`, which can name programs for git to run.
#[test]
fn no_program_that_the_settings_of_a_directory_name_is_run() {
    let promisor = "[extensions]\npartialClone = evil\n[remote \"evil\"]\npromisor = true\n";
    for settings in [
        "[core]\nfsmonitor = touch MARK\n",
        "[core]\nfsmonitor = true\n[alias]\nfsmonitor--daemon = !touch MARK\n",
        &format!("{promisor}url = ROOT/other\nuploadpack = touch MARK; false\n"),
        &format!("{promisor}url = ext::touch MARK\n[protocol]\nallow = always\n"),
        &format!("{promisor}url = ssh://h.invalid/x\n[core]\nsshCommand = touch MARK; false\n"),
        &format!("{promisor}url = git://h.invalid/x\n[core]\ngitProxy = touch MARK; false\n"),
        &format!("{promisor}url = evil::x\nvcs = evil\n[protocol \"evil\"]\nallow = always\n"),
        "[include]\npath = ROOT/kit/more\n",
    ] {
        let (place, _) = place();
        let git = |args: &[&str]| {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=Ann", "-c", "user.email=ann@h.org"]).args(args);
            git.current_dir(place.path().join("kit"));
            finish(git, b"").exits(0).stdout
        };
        git(&["init", "--quiet"]);
        // Rules that git would have to fetch: they are neither in the directory nor in the repository.
        place.write("kit/skills/build/.gitignore", "*.log\n");
        git(&["add", "--all"]);
        git(&["commit", "--quiet", "-m", "x"]);
        let object = git(&["rev-parse", "HEAD:skills/build/.gitignore"]);
        git(&["update-index", "--skip-worktree", "skills/build/.gitignore"]);
        let (first, rest) = object.trim().split_at(2);
        let root = place.path().display().to_string();
        let kit = place.path().join("kit");
        std::fs::remove_file(kit.join("skills/build/.gitignore")).unwrap();
        std::fs::remove_file(kit.join(".git/objects").join(first).join(rest)).unwrap();
        place.write("kit/skills/build/new.txt", "not known to git\n");
        std::fs::create_dir(place.path().join("other")).unwrap();
        let written = settings.replace("MARK", &format!("{root}/mark")).replace("ROOT", &root);
        place.write("kit/more", format!("[core]\nfsmonitor = touch {root}/mark\n"));
        place.write("kit/.git/config", format!("[core]\nrepositoryformatversion = 1\n{written}"));
        place.run(["sign", "kit", "--key", "my.key"]).exits(0);
        assert!(!place.path().join("mark").exists(), "{settings}");
    }
}

#[test]
fn a_directory_without_skills_is_not_signed() {
    let (place, _) = place();
    place.write("empty/README.md", "Of no skill.\n");
    place.write("empty/node_modules/x/SKILL.md", "---\nname: x\n---\n");
    for (dir, more) in [("empty", &[][..]), ("kit", &["--path", "docs"])] {
        let sign = ["sign", dir, "--key", "my.key"];
        let failed = place.run(sign.iter().chain(more)).exits(1);
        assert!(failed.stderr.contains("has no skill"), "{failed:?}");
        assert!(failed.stderr.contains("a directory with a `SKILL.md`"), "{failed:?}");
        assert!(!place.path().join(dir).join("skills.sha256").exists());
    }
}

#[test]
fn an_mcp_server_is_not_started_where_a_signature_is_asked_for() {
    let place = Place::new();
    let key = ["--signed-by", ITS_PUBLIC_KEY, "--", "touch", "started"];
    let refused = place.run(["add", "mcp:"].iter().chain(&key)).exits(1);
    assert!(refused.stderr.contains("an MCP server cannot be signed"), "{refused:?}");
    assert!(!place.path().join("started").exists() && !place.path().join("home/started").exists());
}

#[test]
fn the_program_minisign_signs_and_verifies_alike() {
    if !Path::new("/usr/bin/minisign").exists() {
        return say("SKIPPED: there is no `/usr/bin/minisign`");
    }
    let (place, key) = place();
    let minisign = |args: &[&str]| {
        let mut command = Command::new("/usr/bin/minisign");
        command.args(args).current_dir(place.path().join("kit"));
        finish(command, b"").exits(0)
    };
    place.run(["sign", "kit", "--key", "my.key"]).exits(0);
    minisign(&["-V", "-m", "skills.sha256", "-P", &key]);
    let mut check = Command::new("sha256sum");
    check.args(["--check", "--strict", "../skills.sha256"]);
    check.current_dir(place.path().join("kit/skills"));
    finish(check, b"").exits(0);

    minisign(&["-G", "-W", "-p", "its.pub", "-s", "its.key"]);
    let public = std::fs::read_to_string(place.path().join("kit/its.pub")).unwrap();
    let public = public.lines().nth(1).unwrap();
    minisign(&["-S", "-m", "skills.sha256", "-s", "its.key"]);
    place.run(["add", "./kit", "--signed-by", public]).exits(0);
    let signed = place.run(["sign", "kit", "--key", "kit/its.key", "--json"]).exits(0).json();
    assert_eq!(signed["public_key"], public);
    minisign(&["-V", "-m", "skills.sha256", "-P", public]);
}
