//! Options, environment variables and their precedence: which skills exist, and how much of them is
//! shown.

use serde_json::{Value, json};

use super::{assert_contains, ids, place, write_skill};
use crate::binary::{Place, finish};

#[test]
fn the_environment_sets_only_what_the_options_leave_open() {
    let place = place();
    let full = |variable: Option<&str>, args: &[&str]| {
        let all = ["disclose", "alpha beta", "--json", "--source", "skills"];
        let mut command = place.command(all.iter().chain(args));
        if let Some(value) = variable {
            command.env("REPERTOIRE_MAX_SKILLS", value);
        }
        finish(command, b"").exits(0).json()["full"].as_array().unwrap().len()
    };
    assert_eq!(full(None, &[]), 2);
    assert_eq!(full(Some("1"), &[]), 1);
    assert_eq!(full(Some("1"), &["--max-skills", "2"]), 2);
    let mut command = place.command(["prompt", "--json", "--source", "skills"]);
    command.env("REPERTOIRE_PROMPT_BUDGET", "40");
    assert_ne!(finish(command, b"").exits(0).json()["omitted"], json!([]));

    // An empty variable counts as unset. The error for an invalid value names the variable.
    for (args, variable) in [
        (&["disclose", "alpha", "--source", "skills"][..], "REPERTOIRE_MAX_SKILLS"),
        (&["prompt", "--source", "skills"], "REPERTOIRE_PROMPT_BUDGET"),
        (&["mcp", "--source", "skills"], "REPERTOIRE_REFRESH"),
    ] {
        let with = |value: &str, more: &[&str]| {
            let mut command = place.command(args.iter().chain(more));
            command.env(variable, value);
            finish(command, b"")
        };
        // Without a client, `mcp` ends with a failure.
        assert_ne!(with("", &[]).code, 2, "{variable}");
        let wrong = with("many", &[]).exits(2);
        assert!(wrong.stderr.contains(variable), "{wrong:?}");
    }
    let mut command = place.command(["disclose", "alpha", "--max-skills", "few"]);
    command.env("REPERTOIRE_MAX_SKILLS", "1");
    assert_contains(&finish(command, b"").exits(2).stderr, &["'few' for '--max-skills <N>'"]);
}

#[test]
fn only_commands_that_show_skills_take_options_about_that() {
    let place = place();
    for option in ["--by-relevance", "--by-relevance=off", "--by-relevance=2,1,3"] {
        let source = ["alpha", option, "--source", "skills"];
        place.run([&["match"], &source[..]].concat()).exits(2);
        place.run([&["disclose"], &source[..]].concat()).exits(0);
        place.run([&["why", "alpha"], &source[..]].concat()).exits(0);
    }
}

#[test]
fn sources_filters_and_precedence_follow_the_options() {
    let place = Place::new();
    write_skill(&place, ".agents/skills/alpha");
    write_skill(&place, ".sven/skills/alpha");
    write_skill(&place, "home/.sven/skills/beta");
    let statuses = |args: &[&str]| -> Vec<String> {
        let listed = place.run(["list", "--json"].iter().chain(args)).exits(0).json();
        let skills = listed["skills"].as_array().unwrap().iter();
        let own = skills.filter(|skill| skill["source"] != "bundled");
        let text = |skill: &Value, key: &str| skill[key].as_str().unwrap().to_owned();
        own.map(|s| format!("{} {} {}", text(s, "id"), text(s, "source"), text(s, "status")))
            .collect()
    };
    assert_eq!(statuses(&[]), ["alpha project available"]);
    let branded = ["alpha project available", "alpha project shadowed", "beta user available"];
    assert_eq!(statuses(&["--brand", "sven"]), branded);
    assert_eq!(statuses(&["--brand", "sven", "--allow", "beta"]), ["beta user available"]);
    assert_eq!(statuses(&["--brand", "sven", "--allow", "*"]), branded);
    let at_home = place.run(["list", "--json", "--brand", "sven", "--project", "home"]).json();
    let n_beta = ids(&at_home["skills"]).iter().filter(|id| **id == "beta").count();
    assert_eq!(n_beta, 1, "the project may be the home directory: {at_home}");
}

#[test]
fn sources_of_a_monorepo_reach_from_the_project_to_the_working_directory() {
    let place = Place::new();
    std::fs::create_dir_all(place.path().join("mono/.git")).unwrap();
    write_skill(&place, "mono/.repertoire/skills/alpha");
    write_skill(&place, "mono/packages/.github/skills/alpha");
    write_skill(&place, "mono/packages/api/.agents/skills/alpha");
    write_skill(&place, "mono/packages/web/.agents/skills/beta");
    let listed = |cwd: &str, args: &[&str]| -> Vec<String> {
        let mut command = place.command(["list", "--json"].iter().chain(args));
        command.current_dir(place.path().join(cwd));
        let listed = finish(command, b"").exits(0).json();
        let skills = listed["skills"].as_array().unwrap().clone();
        let own = skills.into_iter().filter(|skill| skill["source"] != "bundled");
        let root = place.path().canonicalize().unwrap();
        let own = own.map(|skill| {
            let path = place.path().join(cwd).join(skill["path"].as_str().unwrap());
            let path = path.canonicalize().unwrap();
            let dir = path.strip_prefix(&root).unwrap().parent().unwrap().to_owned();
            format!("{} {}", dir.display(), skill["status"].as_str().unwrap())
        });
        own.collect()
    };
    let [root, packages, api] = [
        "mono/.repertoire/skills/alpha",
        "mono/packages/.github/skills/alpha",
        "mono/packages/api/.agents/skills/alpha",
    ];
    let [available, shadowed] = ["available", "shadowed"];
    let all = [format!("{api} {available}"), format!("{packages} {shadowed}")];
    let all = [&all[..], &[format!("{root} {shadowed}")]].concat();
    assert_eq!(listed("mono", &[]), [format!("{root} {available}")]);
    assert_eq!(listed("mono/packages/api", &[]), all);
    assert_eq!(listed("mono/packages/api", &["--project", "../.."]), all, "a named root counts");
    assert_eq!(listed("mono/packages/api", &["--project", "."]), all[..1].to_vec());
    assert_eq!(
        listed("mono/packages/api", &["--project", "../web"]),
        ["mono/packages/web/.agents/skills/beta available"],
        "the working directory is not inside it"
    );
    let doctor = place.command(["doctor", "--json"]);
    let doctor = { doctor }.current_dir(place.path().join("mono/packages/api")).output().unwrap();
    let doctor: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let found = doctor["sources"].as_array().unwrap().iter().filter(|s| s["exists"] == true);
    let found: Vec<_> = found.filter(|source| source["scope"] == "project").collect();
    assert_eq!(found.len(), 3, "{doctor}");
}

#[test]
fn options_before_and_after_the_command_add_up() {
    let place = place();
    write_skill(&place, "more/gamma");
    let listed = |args: &[&str]| {
        let listed = place.run(args.iter().chain(&["--json"])).exits(0).json();
        ids(&listed["skills"]).join(" ")
    };
    let all = "alpha beta gamma";
    assert_eq!(listed(&["--source", "skills", "list", "--source", "more"]), all);
    assert_eq!(listed(&["--source", "skills", "--source", "more", "list"]), all);
    let sources = ["--source", "skills", "--source", "more", "--allow", "alpha"];
    let allowed = listed(&[&sources[..], &["list", "--allow", "gamma"]].concat());
    assert_eq!(allowed, "alpha gamma");
    let config = ["--enable", "a", "config", "--enable", "b", "--json"];
    let config = place.run(config).exits(0).json();
    let enabled = config["settings"].as_array().unwrap().iter();
    let enabled = enabled.filter(|setting| setting["key"] == "skills.enabled");
    assert_eq!(enabled.map(|setting| &setting["value"]).collect::<Vec<_>>(), [&json!(["a", "b"])]);
    // A command within a command has them, too.
    let trusted = ["trust", "--source", "skills", "list", "--source", "more", "--json"];
    place.run(trusted).exits(0);
}
