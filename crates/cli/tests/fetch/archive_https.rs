//! Archives on web servers: pinned by hash, transferred once, and kept while the server is unreachable.

use std::fs;
use std::io::Write as _;
use std::sync::{Arc, Mutex};

use flate2::Compression;
use flate2::write::GzEncoder;
use repertoire::trust::ContentHash;
use repertoire_fetch::PollOutcome;

use crate::binary::Place;
use crate::poll::{World, held, outcome, settings};
use crate::repository::skill;
use crate::server::{SECRET, assert_no_secret};
use crate::signals::scratch;
use crate::web::{Web, answer};
use crate::zip_file::{Part, zip};

/// Creates a tar archive with the skill `deploy`.
fn tar(body: &str) -> Vec<u8> {
    let text = skill("deploy", "", body);
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    let mut tar = tar::Builder::new(Vec::new());
    tar.append_data(&mut header, "skills/deploy/SKILL.md", text.as_bytes()).unwrap();
    tar.into_inner().unwrap()
}

pub(crate) fn tar_gz(body: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&tar(body)).unwrap();
    encoder.finish().unwrap()
}

/// A server of a single file, which tests can replace.
struct Site {
    web: Web,
    file: Arc<Mutex<Vec<u8>>>,
}

impl Site {
    /// Starts a server that identifies versions of its file by `ETag`, or by modification time.
    fn new(file: Vec<u8>, has_tags: bool) -> Site {
        let file = Arc::new(Mutex::new(file));
        let served = Arc::clone(&file);
        let web = Web::start(move |request, stream| {
            let bytes = served.lock().unwrap().clone();
            let mark = if has_tags {
                format!("\"{}\"", &ContentHash::of(&bytes).as_str()[..8])
            } else {
                // The time ends with the length of the file.
                format!("Thu, 01 Jan 1970 00:00:00 GMT+{}", bytes.len()).to_lowercase()
            };
            let (header, question) = if has_tags {
                ("ETag", "if-none-match")
            } else {
                ("Last-Modified", "if-modified-since")
            };
            let is_known = request.lines().any(|line| line == format!("{question}: {mark}"));
            let (status, body) =
                if is_known { ("304 Not Modified", vec![]) } else { ("200 OK", bytes) };
            answer(stream, status, &format!("{header}: {mark}\r\n"), &body)
        });
        Site { web, file }
    }

    fn replace(&self, file: Vec<u8>) {
        *self.file.lock().unwrap() = file;
    }
}

#[test]
fn archives_of_all_kinds_are_added_by_their_url_and_pinned_by_their_hash() {
    let zip = zip(&[Part::packed("skills/deploy/SKILL.md", skill("deploy", "", "With care.\n"))]);
    for (name, file) in [
        ("kit.tar.gz", tar_gz("With care.\n")),
        ("kit.tgz", tar_gz("With care.\n")),
        ("kit.tar", tar("With care.\n")),
        ("kit.ZIP", zip),
    ] {
        let place = Place::new();
        let hash = ContentHash::of(&file).to_string();
        let site = Site::new(file, true);
        let url = site.web.url(&format!("v1/{name}"));
        let added = place.run(["add", &url, "--name", "kit"]).exits(0);
        assert!(added.stdout.contains(&hash), "{added:?}");
        assert!(place.run(["use", "deploy"]).exits(0).stdout.contains("With care"), "{name}");
        let lock = fs::read_to_string(place.path().join("home/.repertoire/skills.lock")).unwrap();
        assert!(lock.contains(&format!("\"revision\": \"{hash}\"")), "{lock}");
        assert!(lock.contains(&format!("\"source\": \"{url}\"")), "{lock}");
        assert!(scratch(&place).is_empty());

        let pinned = Place::new();
        pinned.run(["add", &url, "--rev", &hash.to_uppercase()]).exits(0);
        let wrong = "0".repeat(64);
        let refused = Place::new().run(["add", &url, "--rev", &wrong, "--json"]).exits(1).json();
        assert_eq!(refused["error"]["code"], "PERMISSION_DENIED", "{refused}");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(&hash) && message.contains(&wrong), "{refused}");
    }
}

#[test]
fn an_update_asks_for_news_only_and_refuses_other_content_under_a_given_hash() {
    for has_tags in [true, false] {
        let (place, pinned) = (Place::new(), Place::new());
        let site = Site::new(tar_gz("With care.\n"), has_tags);
        let url = site.web.url("kit.tar.gz");
        let hash = ContentHash::of(&site.file.lock().unwrap()).to_string();
        place.run(["add", &url]).exits(0);
        pinned.run(["add", &url, "--rev", &hash]).exits(0);
        site.web.requests();
        let asks = |request: &String| {
            request.contains("if-none-match") || request.contains("if-modified-since")
        };
        for (place, command) in
            [&place, &pinned].iter().flat_map(|it| [(it, "outdated"), (it, "update")])
        {
            let run = place.run([command, "--json"]).exits(0).json();
            assert_ne!(run["sources"][0]["status"], "updated", "{run}");
            let requests = site.web.requests();
            assert!(requests.len() == 1 && requests.iter().all(asks), "{requests:?}");
        }
        site.replace(tar_gz("At night, and never on Fridays.\n"));
        let outdated = place.run(["outdated", "--json"]).exits(1).json();
        assert_eq!(outdated["sources"][0]["outdated"], true, "{outdated}");
        let run = place.run(["update", "--json"]).exits(0).json();
        assert_eq!(run["sources"][0]["status"], "updated", "{run}");
        assert!(place.run(["use", "deploy"]).exits(0).stdout.contains("At night"));

        let run = pinned.run(["update", "--json"]).exits(1).json();
        assert_eq!(run["sources"][0]["error"]["code"], "PERMISSION_DENIED", "{run}");
        assert!(pinned.run(["use", "deploy"]).exits(0).stdout.contains("With care"));
        // The pinned content cannot be fetched any more.
        fs::remove_dir_all(pinned.path().join("home/.cache")).unwrap();
        let frozen = pinned.run(["update", "--frozen", "--json"]).exits(1).json();
        assert_eq!(frozen["sources"][0]["error"]["code"], "PERMISSION_DENIED", "{frozen}");
    }
}

#[test]
fn an_archive_is_sent_once_to_an_update_and_a_damaged_note_costs_time_alone() {
    let place = Place::new();
    let site = Site::new(tar_gz("With care.\n"), true);
    place.run(["add", &site.web.url("kit.tar.gz")]).exits(0);
    site.replace(tar_gz("At night.\n"));
    site.web.requests();
    place.run(["update"]).exits(0);
    assert_eq!(site.web.requests().len(), 1);
    let answers = fs::read_dir(place.path().join("home/.cache/repertoire/fetch/answers")).unwrap();
    let notes: Vec<_> = answers.map(|entry| entry.unwrap().path()).collect();
    let [note] = &notes[..] else { panic!("{notes:?}") };
    // A note in use is not collected, however old the archive is.
    fs::File::open(note).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    place.run(["update"]).exits(0);
    assert!(site.web.requests()[0].contains("if-none-match"));
    assert!(note.exists());
    fs::write(note, "{").unwrap();
    place.run(["outdated"]).exits(0);
    assert!(!site.web.requests()[0].contains("if-none-match"));
}

#[test]
fn an_archive_whose_update_was_held_is_sent_once_when_it_changes() {
    let of = |names: &[&str]| {
        let part = |name: &&str| {
            Part::packed(&format!("skills/{name}/SKILL.md"), skill(name, "", "Do it.\n"))
        };
        zip(&names.iter().map(part).collect::<Vec<_>>())
    };
    let site = Site::new(of(&["deploy"]), true);
    let world = World::new(&settings(&site.web.url("kit.zip")));
    site.replace(of(&["review"]));
    for nth in [1, 2] {
        site.web.requests();
        world.pass(67);
        assert_eq!(held(world.poller().poll()), "it would remove `deploy`");
        let requests = site.web.requests();
        assert_eq!(requests.len(), 1, "{nth}: {requests:?}");
    }
    site.replace(of(&["deploy", "review"]));
    world.pass(67);
    let outcome = outcome(world.poller().poll());
    assert!(matches!(outcome, PollOutcome::Updated(_)), "{outcome:?}");
    let requests = site.web.requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
}

#[test]
fn the_last_good_state_stays_when_the_server_is_away() {
    let place = Place::new();
    let is_away = Arc::new(Mutex::new(false));
    let away = Arc::clone(&is_away);
    let web = Web::start(move |_, stream| {
        if *away.lock().unwrap() {
            return answer(stream, "503 Service Unavailable", "", b"later");
        }
        answer(stream, "200 OK", "", &tar_gz("With care.\n"))
    });
    place.run(["add", &web.url("kit.tar.gz")]).exits(0);
    *is_away.lock().unwrap() = true;
    let failed = place.run(["update", "--json"]).exits(1).json();
    assert_eq!(failed["sources"][0]["error"]["code"], "EXECUTION_ERROR", "{failed}");
    let listed = place.run(["list", "--json"]).exits(0).json();
    assert_eq!(listed["diagnostics"][0]["code"], "source-stale", "{listed}");
    assert!(place.run(["use", "deploy"]).exits(0).stdout.contains("With care"));
    *is_away.lock().unwrap() = false;
    place.run(["update"]).exits(0);
    let listed = place.run(["list", "--json"]).exits(0).json();
    assert_eq!(listed["diagnostics"], serde_json::json!([]), "{listed}");
}

#[test]
fn answers_without_an_archive_have_a_code() {
    for (status, code) in [
        ("404 Not Found", "NOT_FOUND"),
        ("401 Unauthorized", "PERMISSION_DENIED"),
        ("403 Forbidden", "PERMISSION_DENIED"),
        ("500 Internal Server Error", "EXECUTION_ERROR"),
        ("206 Partial Content", "EXECUTION_ERROR"),
        ("304 Not Modified", "EXECUTION_ERROR"),
        ("200 OK", "INVALID_PARAM"),
    ] {
        let web = Web::start(move |_, stream| answer(stream, status, "", b"<html>Log in</html>"));
        let run = Place::new().run(["add", &web.url("kit.tar.gz"), "--json"]).exits(1).json();
        assert_eq!(run["error"]["code"], code, "{status}: {run}");
    }
}

#[test]
fn few_redirects_are_followed_and_none_to_an_unencrypted_address() {
    let web = Web::start(|request, stream| {
        let path = request.split(' ').nth(1).unwrap_or_default();
        let to = match path {
            "/moved.tar.gz" => "/4",
            "/4" => "/3",
            "/3" => "/2",
            "/2" => "/1",
            "/1" => "/files/kit?sig=s3cret-of-ann",
            "/six.tar.gz" => "/moved.tar.gz",
            "/loop.tar.gz" | "/loop.tar.gz?sig=s3cret-of-ann" => "/loop.tar.gz?sig=s3cret-of-ann",
            "/away.tar.gz" => "http://192.0.2.1/kit.tar.gz?sig=s3cret-of-ann",
            "/file.tar.gz" => "file:///etc/passwd",
            "/gone.tar.gz" => "/gone?sig=s3cret-of-ann",
            "/files/kit?sig=s3cret-of-ann" => {
                return answer(stream, "200 OK", "", &tar_gz("With care.\n"));
            }
            _ => return answer(stream, "404 Not Found", "", b""),
        };
        answer(stream, "302 Found", &format!("Location: {to}\r\n"), b"")
    });
    let place = Place::new();
    place.run(["add", &web.url("moved.tar.gz")]).exits(0);
    assert!(web.requests().iter().all(|request| !request.contains("referer")));
    assert!(place.run(["use", "deploy"]).exits(0).stdout.contains("With care"));
    for (name, code, why) in [
        ("six", "PERMISSION_DENIED", "more than 5 times"),
        ("loop", "PERMISSION_DENIED", "more than 5 times"),
        ("away", "PERMISSION_DENIED", "not encrypted"),
        ("file", "", ""),
        ("gone", "NOT_FOUND", "404"),
    ] {
        let url = web.url(&format!("{name}.tar.gz"));
        let run = place.run(["add", &url, "--json", "-vv"]).exits(1);
        assert!(!format!("{run:?}").contains(SECRET), "{name}: {run:?}");
        let error = &run.json()["error"];
        assert!(error["code"] == code || code.is_empty(), "{name}: {error}");
        assert!(error["message"].as_str().unwrap().contains(why), "{name}: {error}");
    }
    assert_no_secret(place.path());
}

#[test]
fn addresses_with_secrets_and_unencrypted_ones_of_other_machines_are_refused() {
    let place = Place::new();
    for url in [
        format!("https://ann:{SECRET}@h.org/kit.zip"),
        format!("https://{SECRET}@h.org/kit.zip"),
        format!("https://h.org/kit.zip?token={SECRET}"),
        "http://h.org/kit.zip".to_owned(),
    ] {
        let run = place.run(["add", &url, "--json", "-vv"]).exits(1);
        assert_eq!(run.json()["error"]["code"], "INVALID_PARAM", "{run:?}");
        assert!(!format!("{run:?}").contains(SECRET), "{run:?}");
    }
    // A project must not choose which addresses its users' machines request.
    for url in [
        "http://127.0.0.1:1/kit.zip",
        "https://127.1/kit.zip",
        "https://LOCALHOST/kit.zip",
        "https://0.0.0.0/kit.zip",
        "https://[::ffff:127.0.0.1]/kit.zip",
    ] {
        let run = place.run(["add", url, "--project", "--json"]).exits(1);
        assert_eq!(run.json()["error"]["code"], "PERMISSION_DENIED", "{run:?}");
        let message = run.json()["error"]["message"].to_string();
        assert!(message.contains("a project cannot name"), "{message}");
    }
    assert!(!place.path().join("home/.repertoire").exists());
}
