//! Hooks and commands whose sessions are stored on a server.

use serde_json::json;

use super::{hook, log, place, prompt, run_doctor, state};

/// A password that must not appear anywhere.
const SECRET: &str = "s3cret";

fn configure(place: &crate::binary::Place, url: &str) {
    let config = format!("[sessions]\nstore = \"{url}\"\ntimeout = 20\n");
    place.write("home/.repertoire/config.toml", config);
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn hooks_of_several_machines_share_the_sessions_of_a_server() {
    use crate::servers::{Kind, Server};
    let Some(server) = Server::shared(Kind::Postgres) else { return };
    let url = server.fresh();
    // Each place has a home directory of its own.
    let places = [place(), place()];
    for place in &places {
        configure(place, &url);
    }
    let say = |n: usize| {
        let run = hook(&places[n], "claude-code", &prompt("s", "deploy it")).exits(0);
        assert_eq!((run.stderr.as_str(), log(&places[n])), ("", String::new()));
        run.stdout
    };
    assert!(say(0).contains("Run the pipeline"));
    assert!(!say(1).contains("Run the pipeline"), "the other machine has shown it");
    let stats =
        places[1].run(["stats", "--json", "--source", ".repertoire/skills"]).exits(0).json();
    assert_eq!(stats["skills"][0]["fired"], 1, "{stats}");
    let doctor = run_doctor(&places[0], 0);
    assert_eq!(doctor["state"]["sessions"]["server"], true, "{doctor}");
    assert!(!state(&places[0], "sessions.sqlite").exists());
    let doctor = places[0].run(["doctor"]).stdout;
    assert!(doctor.contains("on a server, postgres://ann@127.0.0.1:"), "{doctor}");
    assert!(!doctor.contains(SECRET), "{doctor}");
}

#[test]
fn a_hook_answers_without_its_server_and_says_so_without_the_password() {
    for (url, wanted) in [
        (format!("postgres://ann:{SECRET}@127.0.0.1:1/agents"), "Connection refused"),
        (format!("postgres://ann:{SECRET}@127.0.0.1:x/agents"), "not an address"),
    ] {
        let wanted = if cfg!(feature = "postgres") { wanted } else { "this build cannot use" };
        let place = place();
        configure(&place, &url);
        let run = hook(&place, "claude-code", &prompt("s", "deploy it")).exits(0);
        assert!(run.stdout.contains("Run the pipeline"), "{run:?}");
        assert!(run.stderr.contains(wanted) && log(&place).contains(wanted), "{run:?}");
        let doctor = run_doctor(&place, 1);
        assert!(doctor["broken"][0].as_str().unwrap().contains(wanted), "{doctor}");
        let config = place.run(["config"]).exits(0);
        assert!(config.stdout.contains("sessions.store"), "{config:?}");
        let said = format!("{run:?} {} {doctor} {config:?}", log(&place));
        assert!(!said.contains(SECRET), "{said}");
    }
}

#[test]
fn the_environment_names_the_server_and_a_project_cannot() {
    let place = place();
    let store = format!("[sessions]\nstore = \"postgres://ann:{SECRET}@127.0.0.1:1/a\"\n");
    place.write(".repertoire/config.toml", store);
    let run = hook(&place, "claude-code", &prompt("s", "deploy it")).exits(0);
    assert!(run.stdout.contains("Run the pipeline"), "{run:?}");
    assert!(log(&place).contains("cannot set `sessions.store`"), "{}", log(&place));
    assert!(state(&place, "sessions.sqlite").exists());

    let mut command = place.command(["config", "--json"]);
    command.env("REPERTOIRE_SESSIONS", format!("postgres://ann:{SECRET}@db/b?password={SECRET}"));
    let config = crate::binary::finish(command, b"").json();
    let settings = config["settings"].as_array().unwrap();
    let store = settings.iter().find(|setting| setting["key"] == "sessions.store").unwrap();
    assert_eq!(store["value"], json!("postgres://ann@db/b"));
    assert_eq!(store["from"], "environment");
    assert!(!config.to_string().contains(SECRET), "{config}");
}
