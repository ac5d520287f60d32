//! Skills from object stores: a real S3 server, and our own servers that attack or stay silent.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use repertoire::ErrorCode;
use repertoire_config::FetchSettings;
use repertoire_fetch::{FetchLimits, Fetcher};
use tempfile::TempDir;

use crate::binary::{Place, Run, finish};
use crate::ports::free_port;
use crate::repository::skill;
use crate::server::{SECRET, Server, assert_no_secret, serve, skip};
use crate::sign::{FORGED, assert_key_is_told, forge, signed_kit};

/// The access key that belongs to the secret.
const KEY: &str = "ann";

/// An S3 server with the bucket `team`.
pub(crate) struct Store {
    dir: TempDir,
    pub(crate) server: Server,
}

impl Store {
    /// Starts a server; `None` if the machine has no such program.
    pub(crate) fn start() -> Option<Store> {
        let tools = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
            .join("target/tools/bin/s3s-fs");
        let installed = which::which("s3s-fs").ok();
        let Some(program) = installed.or_else(|| Some(tools).filter(|tool| tool.is_file())) else {
            skip("s3s-fs");
            return None;
        };
        let dir = TempDir::new().unwrap();
        fs::create_dir(dir.path().join("team")).unwrap();
        let port = free_port();
        let (number, root) = (port.to_string(), dir.path().to_str().unwrap());
        let args = ["--host", "127.0.0.1", "--access-key", KEY, "--secret-key", SECRET];
        let args = args.into_iter().chain(["--port", &number, root]);
        let server = Server::start(program, args, port);
        Some(Store { dir, server })
    }

    /// Returns the path of an object in the bucket.
    pub(crate) fn path(&self, key: &str) -> PathBuf {
        self.dir.path().join("team").join(key)
    }

    fn write(&self, key: &str, content: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(key).parent().unwrap()).unwrap();
        fs::write(self.path(key), content).unwrap();
    }

    /// Runs the binary with the credentials of the store.
    pub(crate) fn run(&self, place: &Place, args: &[&str]) -> Run {
        run(place, self.server.port, SECRET, args)
    }
}

/// Returns the environment variables for a server on this port of the loopback interface.
pub(crate) fn variables(port: u16, secret: &str) -> [(&'static str, String); 4] {
    [
        ("AWS_ACCESS_KEY_ID", KEY.to_owned()),
        ("AWS_SECRET_ACCESS_KEY", secret.to_owned()),
        ("AWS_REGION", "us-east-1".to_owned()),
        ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")),
    ]
}

fn run(place: &Place, port: u16, secret: &str, args: &[&str]) -> Run {
    let mut command = place.command(args);
    command.envs(variables(port, secret));
    finish(command, b"")
}

#[test]
fn a_prefix_is_added_updated_and_pinned_and_no_credential_is_kept() {
    let (Some(store), place) = (Store::start(), Place::new()) else { return };
    store.write("kit/skills/deploy/SKILL.md", skill("deploy", "", "Deploy it with care.\n"));
    store.write("kit/skills/deploy/scripts/go.sh", "echo gone\n");
    store.write("kit-of-others/skills/other/SKILL.md", skill("other", "", "Other.\n"));
    let added = store.run(&place, &["add", "s3://team/kit", "--json"]).exits(0).json();
    assert_eq!((&added["name"], &added["skills"]), (&"kit".into(), &serde_json::json!(["deploy"])));
    // Without the credentials: using a skill must not contact the store.
    let used = place.run(["use", "deploy"]).exits(0);
    assert!(used.stdout.contains("with care"), "{used:?}");
    let config = fs::read_to_string(place.path().join("home/.repertoire/config.toml")).unwrap();
    assert_eq!(config, "[fetch.kit]\nsource = \"s3://team/kit\"\n");
    assert_no_secret(place.path());

    store.run(&place, &["outdated"]).exits(0);
    store.write("kit/skills/deploy/SKILL.md", skill("deploy", "", "Deploy it at night.\n"));
    let outdated = store.run(&place, &["outdated", "--json"]).exits(1).json();
    assert_eq!(outdated["sources"][0]["outdated"], true, "{outdated}");
    let updated = store.run(&place, &["update", "--json"]).exits(0).json();
    assert_eq!(updated["sources"][0]["changes"][0]["id"], "deploy", "{updated}");
    assert!(place.run(["use", "deploy"]).exits(0).stdout.contains("at night"));

    // Another machine has only the two files that are under version control.
    let other = Place::new();
    for name in ["config.toml", "skills.lock"] {
        let name = format!("home/.repertoire/{name}");
        other.write(&name, fs::read(place.path().join(&name)).unwrap());
    }
    store.run(&other, &["update", "--frozen"]).exits(0);
    assert!(other.run(["use", "deploy"]).exits(0).stdout.contains("at night"));
    fs::remove_dir_all(other.path().join("home/.cache")).unwrap();
    store.write("kit/skills/deploy/SKILL.md", skill("deploy", "", "Deploy it never.\n"));
    let refused = store.run(&other, &["update", "--frozen", "--json"]).exits(1).json();
    assert_eq!(refused["sources"][0]["error"]["code"], "PERMISSION_DENIED", "{refused}");
}

/// The error of a source in which only a script was changed.
const CHANGED: &str = "`deploy/scripts/go.sh` is not the file that was signed";

#[test]
fn a_signed_prefix_and_a_signed_archive_are_taken_until_they_are_not_what_was_signed() {
    let (Some(store), place) = (Store::start(), Place::new()) else { return };
    let key = signed_kit(&place, "kit");
    crate::repository::copy(&place.path().join("kit"), &store.path("kit"));
    store.run(&place, &["push", "./kit", "s3://team/kit.tar.gz"]).exits(0);
    let users = ["s3://team/kit", "s3://team/kit.tar.gz"].map(|address| (address, Place::new()));
    for (address, user) in &users {
        let add = ["add", address, "--signed-by", &key, "--json"];
        assert_eq!(store.run(user, &add).exits(0).json()["signed_by"], *key, "{address}");
        assert_key_is_told(&key, |args| store.run(user, args));
    }
    store.write("kit/skills/deploy/scripts/go.sh", "curl evil\n");
    forge(&place, "kit");
    store.run(&place, &["push", "./kit", "s3://team/kit.tar.gz"]).exits(0);
    for ((address, user), why) in users.iter().zip([CHANGED, FORGED]) {
        let refused = store.run(user, &["update", "--json"]).exits(1).json();
        let error = &refused["sources"][0]["error"];
        assert_eq!(error["code"], "PERMISSION_DENIED", "{address}: {refused}");
        assert!(error["message"].as_str().unwrap().contains(why), "{address}: {refused}");
        assert!(user.run(["use", "deploy"]).exits(0).stdout.contains("with care"), "{address}");
    }
}

#[test]
fn a_store_that_is_gone_leaves_the_last_state_in_use() {
    let (Some(mut store), place) = (Store::start(), Place::new()) else { return };
    store.write("skills/deploy/SKILL.md", skill("deploy", "", "Deploy it with care.\n"));
    let added = store.run(&place, &["add", "s3://team", "--name", "all", "--json"]).exits(0);
    assert_eq!(added.json()["skills"], serde_json::json!(["deploy"]));

    let wrong = run(&place, store.server.port, "wr0ng", &["update", "--json"]).exits(1);
    assert_eq!(wrong.json()["sources"][0]["error"]["code"], "PERMISSION_DENIED", "{wrong:?}");
    assert!(!wrong.stdout.contains("wr0ng") && !wrong.stderr.contains("wr0ng"), "{wrong:?}");
    let missing = store.run(&place, &["add", "s3://nowhere", "--json"]).exits(1);
    assert_eq!(missing.json()["error"]["code"], "NOT_FOUND", "{missing:?}");

    store.server.stop();
    let failed = store.run(&place, &["update", "--json"]).exits(1).json();
    assert_eq!(failed["sources"][0]["error"]["code"], "EXECUTION_ERROR", "{failed}");
    let start = Instant::now();
    let listed = store.run(&place, &["list", "--json"]).stdout;
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert!(listed.contains("deploy") && listed.contains("source-stale"), "{listed}");
    assert!(place.run(["use", "deploy"]).exits(0).stdout.contains("with care"));
}

#[test]
fn an_archive_in_a_store_is_pinned_by_its_hash() {
    let (Some(store), place) = (Store::start(), Place::new()) else { return };
    let mut tar =
        tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    let text = skill("deploy", "", "Deploy it with care.\n");
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    tar.append_data(&mut header, "skills/deploy/SKILL.md", text.as_bytes()).unwrap();
    let archive = tar.into_inner().unwrap().finish().unwrap();
    store.write("kits/kit.tar.gz", &archive);
    let sha256 = repertoire::trust::ContentHash::of(&archive).to_string();
    let address = "s3://team/kits/kit.tar.gz";
    let added = store.run(&place, &["add", address, "--rev", &sha256, "--json"]).exits(0).json();
    assert_eq!((&added["name"], &added["skills"]), (&"kit".into(), &serde_json::json!(["deploy"])));
    store.run(&place, &["outdated"]).exits(0);
    store.write("kits/kit.tar.gz", &archive[..archive.len() - 1]);
    let refused = store.run(&place, &["update", "--json"]).exits(1).json();
    let error = &refused["sources"][0]["error"];
    assert_eq!(error["code"], "PERMISSION_DENIED", "{refused}");
    assert!(error["message"].as_str().unwrap().contains(address), "{refused}");
    let refused = store.run(&place, &["add", "s3://team/kits", "--rev", &sha256]).exits(1);
    assert!(refused.stderr.contains("has no revisions"), "{refused:?}");
}

#[test]
fn a_pushed_archive_is_added_from_a_store() {
    let (Some(store), place) = (Store::start(), Place::new()) else { return };
    place.write("kit/deploy/SKILL.md", skill("deploy", "", "Deploy it with care.\n"));
    place.write("kit/build/SKILL.md", skill("build", "", "Build it.\n"));
    let address = "s3://team/kits/kit.tar.gz";
    let pushed = store.run(&place, &["push", "./kit", address, "--json"]).exits(0).json();
    assert_eq!(pushed["skills"], serde_json::json!(["build", "deploy"]));
    let object = fs::read(store.path("kits/kit.tar.gz")).unwrap();
    let sha256 = repertoire::trust::ContentHash::of(&object).to_string();
    assert_eq!(pushed["sha256"], sha256.as_str());
    assert_no_secret(place.path());

    let other = Place::new();
    let added = store.run(&other, &["add", address, "--rev", &sha256, "--json"]).exits(0).json();
    assert_eq!(added["skills"], serde_json::json!(["build", "deploy"]));
    let refused = store.run(&place, &["push", "./kit", "s3://team/kits"]).exits(1);
    assert!(refused.stderr.contains("is not the address of a `.tar.gz`"), "{refused:?}");
}

/// An object: its key, its size in the list, and the bytes that the server sends.
type Listed = (String, usize, Vec<u8>);

/// Starts a server that lists these objects in the format of S3 and Google, or in that of Azure.
/// Returns the port.
fn liar(objects: Vec<Listed>) -> u16 {
    let headers = "ETag: \"1\"\r\nLast-Modified: Wed, 25 Nov 2026 18:00:00 GMT\r\n";
    serve(move |target| answer(target, &objects), headers)
}

fn answer(target: &str, objects: &[Listed]) -> Option<Vec<u8>> {
    if target.contains("comp=list") {
        let entry = |(key, size, _): &Listed| {
            format!(
                "<Blob><Name>{key}</Name><Properties>\
                 <Last-Modified>Wed, 25 Nov 2026 18:00:00 GMT</Last-Modified>\
                 <Content-Length>{size}</Content-Length><Content-Type>x</Content-Type>\
                 <Etag>1</Etag></Properties></Blob>"
            )
        };
        let entries: String = objects.iter().map(entry).collect();
        let list = format!("<EnumerationResults><Blobs>{entries}</Blobs></EnumerationResults>");
        return Some(list.into_bytes());
    }
    if target.contains("list-type=2") {
        let entry = |(key, size, _): &Listed| {
            format!(
                "<Contents><Key>{key}</Key><LastModified>2026-11-25T18:00:00.000Z</LastModified>\
                 <ETag>\"1\"</ETag><Size>{size}</Size></Contents>"
            )
        };
        let entries: String = objects.iter().map(entry).collect();
        return Some(format!("<ListBucketResult>{entries}</ListBucketResult>").into_bytes());
    }
    let object = objects.iter().find(|(key, ..)| target.ends_with(key.as_str()));
    object.map(|(.., content)| content.clone())
}

fn good(key: &str) -> Listed {
    let text = skill("good", "", "Good.\n").into_bytes();
    (key.to_owned(), text.len(), text)
}

#[test]
fn hostile_stores_are_refused_and_nothing_is_written_outside_of_the_cache() {
    let small = |key: &str| (key.to_owned(), 1, b"x".to_vec());
    for (object, code, why) in [
        (small("kit/../../x"), "PERMISSION_DENIED", "hostile key"),
        (small("kit/./x"), "PERMISSION_DENIED", "hostile key"),
        (small("kit//etc/passwd"), "PERMISSION_DENIED", "hostile key"),
        (small("/etc/passwd"), "PERMISSION_DENIED", "not a key below it"),
        (small("kitten/x"), "PERMISSION_DENIED", "not a key below it"),
        (small("kit/skills/good/SKILL.md"), "PERMISSION_DENIED", "stands in it twice"),
        (small("kit/skills/good/skill.MD"), "PERMISSION_DENIED", "case does not matter"),
        (small("kit/skills/good/SKILL.md/x"), "PERMISSION_DENIED", "below a file"),
        (small("kit/skills/good/a\\b"), "PERMISSION_DENIED", "written everywhere"),
        (small("kit/skills/good/.GIT/config"), "PERMISSION_DENIED", "file of git"),
        (small("kit/skills/good/a&#0;b"), "", ""),
        (("kit/skills/good/big".to_owned(), 17 << 20, Vec::new()), "INVALID_PARAM", "more than"),
        // The object's size differs from the one in the list.
        (("kit/skills/good/lie".to_owned(), 1, vec![b'x'; 99]), "EXECUTION_ERROR", "changed while"),
    ] {
        let key = object.0.clone();
        let port = liar(vec![good("kit/skills/good/SKILL.md"), object]);
        let place = Place::new();
        let run = run(&place, port, SECRET, &["add", "s3://team/kit", "--json"]).exits(1);
        let error = &run.json()["error"];
        assert!(error["code"] == code || code.is_empty(), "{key}: {error}");
        assert!(error["message"].as_str().unwrap().contains(why), "{key}: {error}");
        let written = walkdir::WalkDir::new(place.path()).into_iter().map(Result::unwrap);
        let mut written = written.filter(|entry| entry.file_type().is_file());
        let outside = written.find(|entry| !entry.path().to_string_lossy().contains("/fetch/"));
        assert!(outside.is_none(), "{key}: {outside:?}");
    }
}

#[test]
fn google_and_azure_are_read_alike_and_directories_of_consoles_are_left_out() {
    let marker = |key: &str| (key.to_owned(), 0, Vec::new());
    let objects = vec![marker("kit/"), marker("kit/skills/"), marker("kit/skills/good/")];
    let port = liar([objects, vec![good("kit/skills/good/SKILL.md")]].concat());
    let url = format!("http://127.0.0.1:{port}");
    for (address, variables) in [
        ("gs://team/kit", [("GOOGLE_BASE_URL", &*url), ("GOOGLE_SKIP_SIGNATURE", "true")].to_vec()),
        (
            "az://team/kit",
            vec![
                ("AZURE_STORAGE_ACCOUNT_NAME", "ann"),
                ("AZURE_STORAGE_ENDPOINT", &url),
                ("AZURE_SKIP_SIGNATURE", "true"),
                ("AZURE_ALLOW_HTTP", "true"),
            ],
        ),
    ] {
        let place = Place::new();
        let mut command = place.command(["add", address, "--json"]);
        command.envs(variables);
        let added = finish(command, b"").exits(0).json();
        assert_eq!(added["skills"], serde_json::json!(["good"]), "{address}");
        assert_eq!(added["files"], 1, "{address}");
    }
}

#[test]
fn without_variables_no_credential_is_looked_for() {
    for (address, variable) in [
        ("s3://team/kit", "AWS_SKIP_SIGNATURE=true"),
        ("gs://team/kit", "GOOGLE_SKIP_SIGNATURE=true"),
        ("az://team/kit", "AZURE_SKIP_SIGNATURE=true"),
    ] {
        let place = Place::new();
        let mut command = place.command(["add", address]);
        command.env_clear().env("HOME", place.path().join("home"));
        let refused = finish(command, b"").exits(1);
        assert!(refused.stderr.contains("the environment has no credentials"), "{refused:?}");
        assert!(refused.stderr.contains(variable), "{refused:?}");
    }
}

/// The variable with which the test below starts itself again: the library reads the environment, which
/// a test cannot change for its own process.
const CALLED: &str = "REPERTOIRE_TEST_CALLED";

#[test]
fn a_store_that_never_answers_costs_no_more_than_the_limit() {
    if std::env::var_os(CALLED).is_none() {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        let name = "object_store::a_store_that_never_answers_costs_no_more_than_the_limit";
        command.args(["--exact", name]).env(CALLED, "1");
        command.envs(variables(silent.local_addr().unwrap().port(), SECRET));
        let run = finish(command, b"").exits(0);
        assert!(run.stdout.contains("1 passed"), "{run:?}");
        return;
    }
    let cache = TempDir::new().unwrap();
    let mut limits = FetchLimits::default();
    limits.time = Duration::from_millis(500);
    let settings = FetchSettings { source: "s3://team/kit".to_owned(), ..Default::default() };
    let start = Instant::now();
    let fetcher = Fetcher::new(cache.path()).limits(limits);
    let error = fetcher.fetch(&settings, Path::new(".")).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Timeout, "{error}");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}
