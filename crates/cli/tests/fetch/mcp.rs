//! Skills from MCP servers: from `repertoire mcp`, and from servers with the official SDK, some of
//! which lie.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use repertoire::ErrorCode;
use repertoire_config::FetchSettings;
use repertoire_fetch::{FetchLimits, Fetcher, Locked};
use serde_json::json;
use tempfile::TempDir;

use crate::binary::{Place, Run};
use crate::mcp_server::{DEPLOY, address};
use crate::repository::skill;

const BINARY: &str = env!("CARGO_BIN_EXE_repertoire");

/// A token that cannot be guessed.
pub(crate) const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// The skills that a server provides.
pub(crate) struct Served(TempDir);

impl Served {
    pub(crate) fn new() -> Served {
        let served = Served(TempDir::new().unwrap());
        served.write("deploy/SKILL.md", &skill("deploy", "", "Deploy it with care.\n"));
        served.write("deploy/scripts/go.sh", "echo gone\n");
        served.write("deploy/rollback/SKILL.md", &skill("rollback", "", "Roll it back.\n"));
        fs::write(served.0.path().join("deploy/logo.png"), [0x89, b'P', 0, 0xff, 1]).unwrap();
        served
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn dir(&self) -> &str {
        self.0.path().to_str().unwrap()
    }

    /// Adds the server as the source `acme`, over standard streams.
    fn add(&self, place: &Place, args: &[&str]) -> Run {
        let start = ["add", "mcp:", "--name", "acme", "--json"];
        let server = ["--", BINARY, "mcp", "--source", self.dir()];
        place.run(start.iter().chain(args).chain(&server))
    }
}

fn disclosed(place: &Place, message: &str) -> serde_json::Value {
    place.run(["disclose", message, "--json"]).exits(0).json()["full"].clone()
}

#[test]
fn skills_of_a_server_are_added_under_the_name_of_their_source() {
    let (place, served) = (Place::new(), Served::new());
    place.write("home/.repertoire/skills/deploy/SKILL.md", skill("deploy", "", "Mine.\n"));
    let added = served.add(&place, &[]).exits(0).json();
    assert_eq!(added["skills"], json!(["acme/deploy", "acme/deploy/rollback"]));
    assert_eq!(added["code"], json!(["deploy/scripts/go.sh"]));
    let config = fs::read_to_string(place.path().join("home/.repertoire/config.toml")).unwrap();
    let source = format!("mcp:{BINARY} mcp --source {}", served.dir());
    assert_eq!(config, format!("[fetch.acme]\nsource = \"{source}\"\n"));
    let root = Path::new(added["path"].as_str().unwrap()).to_owned();
    assert_eq!(fs::read(root.join("deploy/logo.png")).unwrap(), [0x89, b'P', 0, 0xff, 1]);

    // The user's own skill with the same name is still there, and neither hides the other.
    assert!(place.run(["use", "deploy"]).exits(0).stdout.contains("Mine."));
    assert!(place.run(["use", "acme/deploy"]).exits(0).stdout.contains("with care"));
    assert_eq!(disclosed(&place, "deploy it"), json!(["acme/deploy", "deploy"]));
    assert_eq!(disclosed(&place, "please rollback"), json!(["acme/deploy/rollback"]));
    let listed = place.run(["list", "--json"]).exits(0).json();
    assert_eq!(listed["diagnostics"], json!([]), "nothing is shadowed");
    let refused = place.run(["run", "acme/deploy", "go.sh"]).exits(1);
    assert!(refused.stderr.contains("not trusted"), "{refused:?}");
}

#[test]
fn a_server_is_updated_pinned_and_may_be_gone() {
    let (place, served) = (Place::new(), Served::new());
    served.add(&place, &[]).exits(0);
    place.run(["outdated"]).exits(0);
    served.write("deploy/SKILL.md", &skill("deploy", "", "Deploy it with great care.\n"));
    place.run(["outdated"]).exits(1);
    let updated = place.run(["update", "--json"]).exits(0).json()["sources"][0].clone();
    assert_eq!(
        (&updated["status"], &updated["changes"][0]["id"]),
        (&json!("updated"), &json!("acme/deploy"),)
    );
    let again = place.run(["update", "--json"]).exits(0).json();
    assert_eq!(again["sources"][0]["status"], "unchanged");

    // A pinned skill is used from the cache, and rejected from a server whose content differs.
    let installed = place.path().join("home/.local/share/repertoire/skills");
    fs::remove_dir_all(&installed).unwrap();
    place.run(["update", "--frozen"]).exits(0);
    assert!(place.run(["use", "acme/deploy"]).exits(0).stdout.contains("great care"));
    served.write("deploy/SKILL.md", &skill("deploy", "", "Other.\n"));
    fs::remove_dir_all(&installed).unwrap();
    fs::remove_dir_all(place.path().join("home/.cache/repertoire/fetch")).unwrap();
    let frozen = place.run(["update", "--frozen"]).exits(1);
    assert!(frozen.stderr.contains("does not serve the skills that are pinned"), "{frozen:?}");
    place.run(["update"]).exits(0);

    fs::remove_dir_all(served.0.path()).unwrap();
    let gone = place.run(["update"]).exits(1);
    assert!(gone.stderr.contains("the source `acme`"), "{gone:?}");
    assert!(place.run(["use", "acme/deploy"]).exits(0).stdout.contains("Other."));
    let doctor = place.run(["doctor", "--json"]).exits(1).json();
    assert!(doctor["fetched"][0]["problem"]["message"].is_string(), "{doctor}");
}

#[test]
fn single_skills_are_chosen_by_name_path_or_address() {
    let served = Served::new();
    served.write("review/SKILL.md", &skill("review", "", "Review.\n"));
    for id in ["review", "skill://review/SKILL.md"] {
        let place = Place::new();
        let added = served.add(&place, &["--skill", id]).exits(0).json();
        assert_eq!(added["skills"], json!(["acme/review"]), "{id}");
        // Changes of other skills on the server have no effect.
        served.write("deploy/SKILL.md", &skill("deploy", "", &format!("Not {id}.\n")));
        place.run(["outdated"]).exits(0);
    }
    let place = Place::new();
    for (args, why) in [
        (&["--skill", "revew"][..], "did you mean `review`?"),
        (&["--skill", "skill://nothing/SKILL.md"], "skills/get"),
        (&["--rev", "v1"], "has no revisions"),
        (&["--path", "x"], "has no directories"),
        (&["--project"], "is a program of this machine"),
    ] {
        let run = served.add(&place, args).exits(1);
        assert!(run.stderr.contains(why) || run.stdout.contains(why), "{args:?}: {run:?}");
    }
    let run = place.run(["add", "./x", "--", "npx"]).exits(1);
    assert!(run.stderr.contains("mcp: -- COMMAND"), "{run:?}");
}

#[test]
fn a_project_starts_no_program_by_its_settings() {
    let place = Place::new();
    let trace = place.path().join("was-run");
    let source = format!("mcp:touch {}", trace.display());
    let settings = format!("[fetch.evil]\nsource = \"{source}\"\n");
    place.write(".repertoire/config.toml", settings);
    for command in ["update", "outdated"] {
        let run = place.run([command]).exits(1);
        assert!(run.stderr.contains("is a program of this machine"), "{run:?}");
    }
    place.run(["list"]).exits(0);
    assert!(!trace.exists());
    // The user may start the program; that it is not a server is then another error.
    place.run(["add", &source]).exits(1);
    assert!(trace.exists());
}

/// A running `repertoire mcp --http`, which ends on drop.
pub(crate) struct HttpServer(Child, String);

impl HttpServer {
    pub(crate) fn start(place: &Place, served: &Served) -> HttpServer {
        let args = ["mcp", "--http", "127.0.0.1:0", "--source", served.dir()];
        let mut command = place.command(args);
        command.env("REPERTOIRE_MCP_TOKEN", TOKEN);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let note = BufReader::new(child.stderr.take().unwrap()).lines().next().unwrap().unwrap();
        let (_, address) = note.split_once("http://").unwrap();
        let address = address.trim().to_owned();
        HttpServer(child, address)
    }

    /// Returns the host and the port of the server.
    #[cfg(feature = "mcp-source-tls")]
    pub(crate) fn authority(&self) -> &str {
        self.1.trim_end_matches("/mcp")
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_over_http_is_added_with_a_token_of_the_environment() {
    let (place, served) = (Place::new(), Served::new());
    let http = HttpServer::start(&Place::new(), &served);
    let source = format!("mcp+http://$ACME_TOKEN@{}", http.1);
    let run = |args: &[&str], token: Option<&str>| {
        let mut command = place.command(args);
        command.envs(token.map(|token| ("ACME_TOKEN", token)));
        crate::binary::finish(command, b"")
    };
    let add = ["add", &source, "--name", "acme", "--json"];
    let missing = run(&add, None).exits(1);
    assert!(missing.stdout.contains("`ACME_TOKEN` holds no token"), "{missing:?}");
    let wrong = run(&add, Some("another token")).exits(1);
    assert!(wrong.stdout.contains("401"), "{wrong:?}");
    let added = run(&add, Some(TOKEN)).exits(0).json();
    assert_eq!(added["skills"], json!(["acme/deploy", "acme/deploy/rollback"]));
    let config = fs::read_to_string(place.path().join("home/.repertoire/config.toml")).unwrap();
    assert!(config.contains("$ACME_TOKEN@") && !config.contains(TOKEN), "{config}");
    assert_eq!(disclosed(&place, "deploy it"), json!(["acme/deploy"]));
    served.write("deploy/SKILL.md", &skill("deploy", "", "Deploy it anew.\n"));
    run(&["update"], Some(TOKEN)).exits(0);
    assert!(place.run(["use", "acme/deploy"]).exits(0).stdout.contains("anew"));

    let plain = place.run(["add", "mcp+http://example.org/mcp", "--json"]).exits(1);
    assert!(plain.stdout.contains("not encrypted"), "{plain:?}");
    drop(http);
    let gone = run(&["update"], Some(TOKEN)).exits(1);
    assert!(gone.stderr.contains("mcp+http://$ACME_TOKEN@127.0.0.1"), "{gone:?}");
}

/// Fetches from a server with small limits.
fn fetch(source: &str, skills: &[&str]) -> Result<Locked, (ErrorCode, String)> {
    let cache = TempDir::new().unwrap();
    let mut limits = FetchLimits::default();
    limits.files = 20;
    limits.file_bytes = 64 << 10;
    limits.time = Duration::from_secs(20);
    if ["silent", "pages", "mcp:sleep"].iter().any(|mode| source.contains(mode)) {
        limits.time = Duration::from_secs(4);
    }
    let fetcher = Fetcher::new(cache.path()).limits(limits);
    let skills = skills.iter().map(|id| (*id).to_owned()).collect();
    let source = source.to_owned();
    let settings = FetchSettings { source, skills, ..FetchSettings::default() };
    let start = Instant::now();
    let locked = fetcher.fetch(&settings, Path::new("/nowhere"));
    assert!(start.elapsed() < Duration::from_secs(40), "{:?}", start.elapsed());
    locked.map_err(|error| {
        assert!(!error.help().is_empty(), "{error}");
        (error.code(), error.message().to_owned())
    })
}

#[test]
fn an_honest_server_of_the_sdk_is_fetched() {
    for (mode, skills) in [
        ("honest", &[][..]),
        ("honest", &["deploy"]),
        ("honest", &["ops/deploy"]),
        ("honest", &[DEPLOY]),
        // A skill that the server does not list.
        ("unlisted", &[DEPLOY]),
    ] {
        let locked = fetch(&address(mode), skills).unwrap();
        let files: Vec<&String> = locked.files.keys().collect();
        assert_eq!(files, ["ops/deploy/SKILL.md", "ops/deploy/notes.md"], "{mode} {skills:?}");
    }
}

#[test]
fn servers_that_lie_send_too_much_or_hang_are_refused() {
    use ErrorCode::{ExecutionError, InvalidParam, NotFound, PermissionDenied, Timeout};
    for (mode, code, why) in [
        ("digest", PermissionDenied, "skill://ops/deploy/notes.md has digest"),
        ("size", PermissionDenied, "is 12 bytes, the manifest says 7"),
        ("front-matter", PermissionDenied, "has another `description` than its entry"),
        ("climbs", PermissionDenied, "is not a plain path in its skill"),
        ("many", InvalidParam, "more than 20 files"),
        ("large", InvalidParam, "more than 65536 bytes"),
        ("endless", InvalidParam, "bytes in a message"),
        ("silent", Timeout, "took longer than 4 s"),
        ("prints", ExecutionError, "it prints `Segmentation fault \\u{1b}[2J`"),
        ("asks", ExecutionError, "it prints `{"),
        ("pages", Timeout, "took longer than 4 s"),
        ("ends", ExecutionError, "it says: the disk is full"),
        ("other", ExecutionError, "does not answer with `skill://ops/deploy/notes.md`"),
        ("dynamic", NotFound, "anew for each read"),
        ("no-skills", NotFound, "io.modelcontextprotocol/skills"),
        ("unlisted", NotFound, "has no skill"),
    ] {
        let (found, message) = fetch(&address(mode), &[]).unwrap_err();
        assert_eq!(found, code, "{mode}: {message}");
        assert!(message.contains(why), "{mode}: {message}");
    }
    for (command, code, why) in [
        ("mcp:no-such-program-anywhere", NotFound, "there is no program"),
        ("mcp:sh -c 'echo no key >&2; exit 3'", ExecutionError, "it says: no key"),
        ("mcp:cat /dev/zero", InvalidParam, "bytes in a message"),
        ("mcp:sh -c 'echo up; sleep 60'", ExecutionError, "it prints `up`"),
        ("mcp:sleep 60", Timeout, "took longer than 4 s"),
    ] {
        let (found, message) = fetch(command, &[]).unwrap_err();
        assert_eq!(found, code, "{command}: {message}");
        assert!(message.contains(why), "{command}: {message}");
    }
}

/// Answers each connection with `head`, and then repeats `body` for as long as the client reads.
fn http_answers(head: &'static str, body: &'static [u8]) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().filter_map(Result::ok) {
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(head.as_bytes());
                while !body.is_empty() && stream.write_all(body).is_ok() {}
                // Wait until the client gives up.
                let _ = stream.read(&mut [0; 4096]);
            });
        }
    });
    format!("mcp+http://{address}/silent")
}

#[test]
fn http_servers_that_hang_flood_or_lead_elsewhere_are_given_up() {
    use ErrorCode::{ExecutionError, InvalidParam, Timeout};
    let json = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
    let events = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    let elsewhere = "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\n\r\n";
    for (head, body, code, why) in [
        ("", &b""[..], Timeout, "took longer than 4 s"),
        (json, &[b' '; 4096], InvalidParam, "bytes in a message"),
        (events, &[b'x'; 4096], InvalidParam, "bytes in a message"),
        (events, b"data: Segmentation fault\n\n", ExecutionError, "it prints `Segmentation fault`"),
        (events, b"data: {\"id\": 1}\n\n", ExecutionError, "it prints `{"),
        (elsewhere, b"", ExecutionError, "HTTP 307"),
    ] {
        let (found, message) = fetch(&http_answers(head, body), &[]).unwrap_err();
        assert_eq!(found, code, "{head}: {message}");
        assert!(message.contains(why), "{head}: {message}");
    }
    let (code, message) = fetch("mcp+http://127.0.0.1:1/mcp", &[]).unwrap_err();
    assert_eq!(code, ExecutionError, "{message}");
}

#[test]
fn a_server_and_its_children_end_with_the_fetch() {
    let dir = TempDir::new().unwrap();
    let pids = dir.path().join("pids");
    let script = format!("sleep 77 & echo $$ $! > {}; wait # sleep", pids.display());
    let source = format!("mcp:sh -c '{script}'");
    let (code, message) = fetch(&source, &[]).unwrap_err();
    assert_eq!(code, ErrorCode::Timeout, "{message}");
    let pids = fs::read_to_string(pids).unwrap();
    assert_eq!(pids.split_whitespace().count(), 2, "{pids}");
    let is_running = |pid: &str| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        !status.is_empty() && !status.contains("State:\tZ")
    };
    let end = Instant::now() + Duration::from_secs(10);
    while pids.split_whitespace().any(is_running) {
        assert!(Instant::now() < end, "one of {pids} is running");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Checks that a fetch does not panic if a host makes this blocking call inside of an async runtime.
#[test]
fn a_fetch_within_a_runtime_does_not_panic() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { fetch(&address("honest"), &[]) }).unwrap();
}
