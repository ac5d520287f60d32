//! `repertoire add`: from an address to the first disclosed skill.

use std::fs;
use std::net::TcpListener;

use serde_json::{Value, json};

use crate::binary::{Place, finish};
use crate::repository::{Daemon, Repository, copy, skill};
use crate::support::{say, shared};

/// Returns the ids of the skills that are disclosed in full for a message.
fn disclosed(place: &Place, message: &str) -> Vec<String> {
    let answer = place.run(["disclose", message, "--json"]).exits(0).json();
    serde_json::from_value(answer["full"].clone()).unwrap()
}

#[test]
fn a_repository_is_added_and_its_skill_disclosed_matched_and_used() {
    let (place, repository) = (Place::new(), Repository::with_deploy());
    let added = place.run(["add", &repository.url(), "--name", "team", "--json"]).exits(0).json();
    assert_eq!(added["name"], "team");
    assert_eq!(added["skills"], json!(["deploy"]));
    assert_eq!(added["revision"], repository.git(&["rev-parse", "HEAD"]).trim());
    assert_eq!(added["code"], json!(["deploy/scripts/go.sh"]));

    assert_eq!(disclosed(&place, "please deploy it"), ["deploy"]);
    let listed = place.run(["list", "--json"]).exits(0).json();
    let skills = listed["skills"].as_array().unwrap();
    let deploy = skills.iter().find(|skill| skill["id"] == "deploy").unwrap();
    assert_eq!((&deploy["source"], &deploy["from"]), (&json!("fetched"), &json!("team")));
    let used = place.run(["use", "deploy"]).exits(0);
    assert!(used.stdout.contains("with care"), "{used:?}");

    let config = fs::read_to_string(place.path().join("home/.repertoire/config.toml")).unwrap();
    assert_eq!(config, format!("[fetch.team]\nsource = \"{}\"\n", repository.url()));
    let lock = fs::read_to_string(place.path().join("home/.repertoire/skills.lock")).unwrap();
    let lock: Value = serde_json::from_str(&lock).unwrap();
    let file = &lock["sources"]["team"]["files"]["deploy/scripts/go.sh"]["sha256"];
    // The output of `printf 'echo gone\n' | sha256sum`.
    assert_eq!(file, "79071e0638b664db2b9ee8deda408e324161eff409c5427f66d275d3c2cbf1fa");
}

#[test]
fn skills_that_do_not_load_or_hide_others_are_told_of() {
    let place = Place::new();
    place
        .write(".repertoire/skills/deploy/SKILL.md", "---\nname: deploy\ndescription: d\n---\nB\n");
    let repository = Repository::with_deploy();
    repository.write("skills/broken/SKILL.md", "---\nname: broken\n]\n---\n");
    repository.commit();
    let add = ["add", &repository.url(), "--name", "team"];
    let added = place.run(add.iter().chain(&["--json"])).exits(0).json();
    assert_eq!(added["skills"], json!(["deploy"]));
    let findings = added["findings"].as_array().unwrap();
    let codes: Vec<&Value> = findings.iter().map(|finding| &finding["code"]).collect();
    assert_eq!(codes, ["salvaged-yaml"], "{added}");
    assert_eq!(added["shadowed"][0]["id"], "deploy", "{added}");
    let told = place.run(add).exits(0).stdout;
    assert!(!told.contains("broken/SKILL.md") && !told.contains("hidden"), "told again: {told}");
    place.run(["remove", "team"]).exits(0);
    let told = place.run(add).exits(0).stdout;
    assert!(told.contains("broken/SKILL.md") && told.contains("hidden: `deploy` of "), "{told}");

    repository.write("skills/deploy/SKILL.md", "");
    repository.commit();
    let updated = place.run(["update"]).exits(0).stdout;
    assert!(updated.contains("deploy/SKILL.md") && updated.contains("error["), "{updated}");
}

#[test]
fn its_code_runs_only_once_it_is_trusted() {
    let (place, repository) = (Place::new(), Repository::with_deploy());
    place.run(["add", &repository.url()]).exits(0);
    let refused = place.run(["run", "deploy", "go.sh"]).exits(1);
    assert!(refused.stderr.contains("not trusted"), "{refused:?}");
    assert!(refused.stderr.contains("fetched skill `deploy`"), "{refused:?}");
    place.run(["trust", "add", "deploy", "--yes"]).exits(0);
    assert_eq!(place.run(["run", "deploy", "go.sh"]).exits(0).stdout, "gone\n");
}

#[test]
fn hooks_and_the_project_see_added_skills() {
    let (place, repository) = (Place::new(), Repository::with_deploy());
    let daemon = Daemon::start(repository.path().parent().unwrap());
    let url = daemon.remote_url(&place, "repo");
    let added = place.run(["add", &url, "--json", "--project"]).exits(0).json();
    assert_eq!(added["config"], "./.repertoire/config.toml", "{added}");
    let call = json!({
        "hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "deploy it",
        "cwd": place.path(),
    });
    let hook = ["hook", "claude-code", "--deadline", "60"];
    let answer = place.run_with(hook, call.to_string().as_bytes()).exits(0);
    assert!(answer.stdout.contains("Deploy it with care."), "{answer:?}");
}

#[test]
fn skills_a_revision_and_a_directory_are_chosen() {
    let (place, repository) = (Place::new(), Repository::new());
    for (dir, name) in [("skills/a", "alpha"), ("skills/b", "beta"), ("docs/c", "gamma")] {
        repository.skill(dir, name, "Do it.\n");
    }
    repository.commit();
    repository.git(&["tag", "-a", "v1", "-m", "one"]);
    repository.skill("skills/a", "alpha", "Do it anew.\n");
    let newest = repository.commit();
    let url = repository.url();
    let add = |args: &[&str]| {
        let args = ["add", &url, "--json"].into_iter().chain(args.iter().copied());
        place.run(args).exits(0).json()
    };
    let one = add(&["--name", "one", "--rev", "v1", "--skill", "alpha", "--skill", "b"]);
    assert_eq!(one["skills"], json!(["alpha", "beta"]));
    assert_ne!(one["revision"], newest);
    assert_eq!(add(&["--name", "two", "--path", "docs"])["skills"], json!(["gamma"]));
    // A commit given by the beginning of its hash, for which servers cannot be asked.
    let three = add(&["--name", "three", "--rev", &newest[..10]]);
    assert_eq!((&three["revision"], &three["skills"]), (&json!(newest), &json!(["alpha", "beta"])));
    for (args, message) in [
        (&["--name", "x", "--skill", "alpah"][..], "did you mean `alpha`?"),
        (&["--name", "x", "--rev", "v9"], "no branch, tag or commit `v9`"),
        (&["--name", "x", "--path", "nowhere"], "no skill in `nowhere`"),
        (&["--name", "x", "--skill", "alpha/sub"], "name `alpha`: the skills in its directory"),
        (&["--name", "one", "--rev", "main"], "is this source already, with other settings"),
        (&["--name", "one", "--rev", "main"], "change `[fetch.one]` in "),
        (&["--name", "../x"], "cannot be the name"),
        (&["--name", "x", "--rev=--upload-pack=touch x"], "is not a revision"),
    ] {
        let run = place.run(["add", &url].into_iter().chain(args.iter().copied()));
        assert!(run.code != 0 && run.stderr.contains(message), "{args:?}: {run:?}");
    }
    let other = Repository::with_deploy();
    let run = place.run(["add", &other.url(), "--name", "one"]).exits(1);
    assert!(run.stderr.contains("name of another source"), "{run:?}");
}

#[test]
fn a_project_asks_no_server_of_this_machine() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let lock = r#"{"version":1,"sources":{}}"#;
    for source in [
        format!("git://127.0.0.1:{port}/r"),
        format!("https://localhost:{port}/r"),
        format!("ssh://git@127.1:{port}/r"),
        format!("[git@localhost:{port}]:r"),
        format!("https://127.0.0.1:{port}/x.zip"),
        format!("http://127.0.0.1:{port}/x.zip"),
        format!("oci://127.0.0.1:{port}/kit:v1"),
        format!("mcp+https://127.0.0.1:{port}/mcp"),
    ] {
        let place = Place::new();
        let settings = format!("[fetch.team]\nsource = \"{source}\"\nrefresh = \"1m\"\n");
        place.write(".repertoire/config.toml", &settings);
        place.write(".repertoire/skills.lock", lock);
        for args in [&["add", &source][..], &["update", "team"], &["outdated", "team"]] {
            let run = place.run(args.iter().chain(&["--project"])).exits(1);
            let why = format!("a project cannot name {source}, which is of this machine");
            assert!(run.stderr.contains("PERMISSION_DENIED"), "{args:?}: {run:?}");
            assert!(run.stderr.contains(&why), "{args:?}: {run:?}");
        }
        assert!(listener.accept().is_err(), "{source} is asked");
    }
}

#[test]
fn directories_are_copied_and_projects_name_only_their_own() {
    let place = Place::new();
    place.write("kit/skills/deploy/SKILL.md", skill("deploy", "", "Deploy.\n"));
    let added = place.run(["add", "./kit", "--json"]).exits(0).json();
    assert_eq!((&added["name"], &added["skills"]), (&json!("kit"), &json!(["deploy"])));
    fs::remove_dir_all(place.path().join("kit")).unwrap();
    assert_eq!(disclosed(&place, "deploy"), ["deploy"], "the copy stays");

    let (outside, project) = (tempfile::tempdir().unwrap(), Place::new());
    fs::create_dir(outside.path().join("a")).unwrap();
    fs::write(outside.path().join("a/SKILL.md"), skill("a", "", "A.\n")).unwrap();
    let repository = Repository::with_deploy();
    for source in [outside.path().to_str().unwrap(), &repository.url()] {
        let run = project.run(["add", source, "--project"]).exits(1);
        assert!(run.stderr.contains("PERMISSION_DENIED"), "{run:?}");
    }
    project.write("mine/a/SKILL.md", skill("a", "", "A.\n"));
    project.run(["add", "./mine", "--project"]).exits(0);
    let config = fs::read_to_string(project.path().join(".repertoire/config.toml")).unwrap();
    assert_eq!(config, "[fetch.mine]\nsource = \"./mine\"\n");
}

#[test]
fn a_directory_with_the_name_of_a_repository_is_refused_with_both_spellings() {
    let place = Place::new();
    place.write("team/skills/deploy/SKILL.md", skill("deploy", "", "Deploy.\n"));
    for args in [&["add", "team/skills"][..], &["push", "team/skills", "x.tar.gz"]] {
        let run = place.run(args.iter().chain(&["--json"])).exits(1);
        let parts =
            ["INVALID_PARAM", "`./team/skills`", "`https://github.com/team/skills`", "directory"];
        assert!(parts.iter().all(|part| run.stdout.contains(part)), "{run:?}");
    }
    place.run(["add", "./team/skills"]).exits(0);
    place.run(["push", "./team/skills", "x.tar.gz"]).exits(0);
}

#[test]
fn real_layouts_become_disclosed_skills_with_one_command_each() {
    for (name, skill) in [
        ("anthropics+skills", "canvas-design"),
        ("obra+superpowers", "test-driven-development"),
        ("nextest-rs+nextest", "prepare-changelog"),
        ("beeltec+skills", "elementor-content"),
        ("LeonardSEO+decision-council", "decision-council"),
        ("wshobson+agents", "postgresql-table-design"),
    ] {
        let Some(corpus) = shared(&format!("corpus/skills/{name}")) else { continue };
        let (place, repository) = (Place::new(), Repository::new());
        copy(&corpus, &repository.path());
        if name == "wshobson+agents" {
            let plugins = r#"{"plugins": [{"name": "d", "source": "./plugins/database-design"}]}"#;
            repository.write(".claude-plugin/marketplace.json", plugins);
        }
        repository.commit();
        let added = place.run(["add", &repository.url(), "--json"]).exits(0).json();
        let n_skills = added["skills"].as_array().unwrap().len();
        let full = disclosed(&place, &format!("use {skill}"));
        assert_eq!(full, [skill], "{name}: {added}");
        say(&format!("{name}: {n_skills} skills, `{skill}` disclosed"));
    }
}

#[test]
fn two_processes_that_add_at_once_both_succeed() {
    let place = Place::new();
    let repositories: Vec<Repository> = (0..4)
        .map(|nth| {
            let repository = Repository::new();
            repository.skill(&format!("skills/s{nth}"), &format!("s{nth}"), "Do.\n");
            repository.commit();
            repository
        })
        .collect();
    let children: Vec<_> = repositories
        .iter()
        .enumerate()
        .map(|(nth, repository)| {
            let (url, name) = (repository.url(), format!("n{nth}"));
            place.command(["add", &url, "--name", &name]).spawn().unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let outdated = place.run(["outdated", "--json"]).exits(0).json();
    assert_eq!(outdated["sources"].as_array().unwrap().len(), 4, "{outdated}");
    let listed = place.run(["list", "--json"]).exits(0).json();
    let listed: Vec<_> =
        listed["skills"].as_array().unwrap().iter().map(|s| s["id"].clone()).collect();
    for nth in 0..4 {
        assert!(listed.contains(&json!(format!("s{nth}"))), "{listed:?}");
    }
}

#[cfg(not(feature = "archive-https"))]
#[test]
fn a_build_without_archives_elsewhere_says_how_to_get_one_with_them() {
    let place = Place::new();
    let address = "https://h.org/kit.tar.gz";
    let run = place.run(["add", address]).exits(1);
    assert!(run.stderr.contains(&format!("{address} is of a kind")), "{run:?}");
    let help = "`cargo install --path crates/cli --features archive-https`";
    assert!(run.stderr.contains(help), "{run:?}");
}

#[test]
fn a_source_without_a_name_has_that_of_its_directory() {
    let place = Place::new();
    place.write("My Kit/inner/deploy/SKILL.md", skill("deploy", "", "Do it.\n"));
    for (here, source) in [("My Kit", "."), ("My Kit/inner", ".."), (".", "./My Kit/")] {
        let mut command = place.command(["add", source, "--json"]);
        command.current_dir(place.path().join(here));
        let added = finish(command, b"").exits(0).json();
        assert_eq!(added["name"], "my-kit", "{source}: {added}");
    }
}
