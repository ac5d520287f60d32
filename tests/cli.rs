//! The command line: what it prints, where, and with which exit code.
#![cfg(feature = "cli")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "support/binary.rs"]
mod binary;

use std::collections::BTreeSet;
use std::path::Path;

use binary::{Place, Run, finish};
use serde_json::{Value, json};

/// A place with two sound skills in `skills`.
fn place() -> Place {
    let place = Place::new();
    write_skill(&place, "skills/alpha");
    write_skill(&place, "skills/beta");
    place
}

/// Writes a sound skill whose keyword is its name.
fn write_skill(place: &Place, dir: &str) {
    let name = dir.rsplit('/').next().unwrap();
    let front_matter = format!("name: {name}\ndescription: Does {name}.\ntriggers: [{name}]");
    place.write(&format!("{dir}/SKILL.md"), format!("---\n{front_matter}\n---\nBody\n"));
}

fn ids(skills: &Value) -> Vec<&str> {
    skills.as_array().unwrap().iter().map(|skill| skill["id"].as_str().unwrap()).collect()
}

fn keys(object: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// Whether `text` holds every one of `parts`.
fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

/// That the sound skills of [`place`] are there whatever happened beside them.
fn assert_neighbours_work(place: &Place) {
    let listed = place.run(["list", "--json", "--source", "skills"]).json();
    assert!(ids(&listed["skills"]).starts_with(&["alpha", "beta"]), "{listed}");
    let found = place.run(["match", "--json", "--source", "skills", "alpha and beta"]).json();
    assert_eq!(ids(&found["matches"]), ["alpha", "beta"]);
}

#[test]
fn no_progress_is_shown_where_standard_error_is_no_terminal() {
    let place = Place::new();
    // So many take longer than what shows nothing at all.
    for i in 0..4_000 {
        write_skill(&place, &format!("skills/skill-{i}"));
    }
    let listed = place.run(["list", "--no-cache", "--source", "skills"]);
    assert_eq!(listed.stderr, "");
    assert!(listed.stdout.contains("skill-3999"));
}

// Bad input.

#[test]
fn a_bad_skill_file_is_reported_with_its_path_and_harms_no_neighbour() {
    /// Name, how to make it bad, the code, the file it is reported for.
    type Case = (&'static str, fn(&Place), &'static str, &'static str);
    let cases: &[Case] = &[
        (
            "a directory named SKILL.md",
            |place| {
                std::fs::create_dir_all(place.path().join("skills/zeta/SKILL.md")).unwrap();
            },
            "not-a-file",
            "skills/zeta/SKILL.md",
        ),
        (
            "invalid UTF-8",
            |place| {
                place.write("skills/zeta/SKILL.md", b"---\nname: zeta\ndescription: \xff\n---\n");
            },
            "not-utf8",
            "skills/zeta/SKILL.md:3:14",
        ),
        (
            "10 MB",
            |place| {
                let body = "x".repeat(10_000_000);
                place.write("skills/zeta/SKILL.md", format!("---\ndescription: d\n---\n{body}"));
            },
            "body-too-large",
            "skills/zeta/SKILL.md",
        ),
        (
            "an empty file",
            |place| place.write("skills/zeta/SKILL.md", ""),
            "empty-file",
            "skills/zeta/SKILL.md",
        ),
        (
            "a broken pattern",
            |place| {
                let text = "---\nname: zeta\ndescription: d\ntriggers:\n  patterns: ['a(b']\n---\n";
                place.write("skills/zeta/SKILL.md", text);
            },
            "invalid-pattern",
            "skills/zeta/SKILL.md:5:16",
        ),
    ];
    for (name, make, code, reported) in cases {
        let place = place();
        make(&place);
        let title = format!("{reported}: error[{code}]: ");
        let listed = place.run(["list", "--source", "skills"]).exits(0);
        assert_contains(&listed.stderr, &[&title, "\n  help: "]);
        assert!(!listed.stdout.contains(code), "{name}: findings are not data");
        let checked = place.run(["check", "skills"]).exits(1);
        let path = reported.split(':').next().unwrap();
        assert_contains(&checked.stdout, &[&format!("error[{code}]: "), path, "help: "]);
        assert_eq!(checked.stderr, "");
        assert_neighbours_work(&place);
    }
}

#[cfg(unix)]
#[test]
fn an_unreadable_file_is_reported_and_harms_no_neighbour() {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    let place = place();
    write_skill(&place, "skills/zeta");
    let path = place.path().join("skills/zeta/SKILL.md");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o0)).unwrap();
    if std::fs::read(&path).is_ok() {
        // Not by a macro, whose output is captured.
        let _ = writeln!(std::io::stderr(), "SKIPPED: this user may read every file");
        return;
    }
    let listed = place.run(["list", "--source", "skills"]).exits(0);
    assert_contains(&listed.stderr, &["skills/zeta/SKILL.md: error[unreadable]: ", "help: "]);
    place.run(["check", "skills"]).exits(1);
    assert_neighbours_work(&place);
}

#[cfg(unix)]
#[test]
fn links_that_loop_break_or_leave_are_reported_and_harm_no_neighbour() {
    for (target, code) in
        [("../../skills", "link-loop"), ("nowhere", "link-broken"), ("/", "link-outside")]
    {
        let place = place();
        std::fs::create_dir_all(place.path().join("skills/zeta")).unwrap();
        std::os::unix::fs::symlink(target, place.path().join("skills/zeta/link")).unwrap();
        let listed = place.run(["list", "--source", "skills"]).exits(0);
        let title = format!("skills/zeta/link: warning[{code}]: ");
        assert_contains(&listed.stderr, &[&title, "help: "]);
        place.run(["check", "skills"]).exits(0);
        assert_neighbours_work(&place);
    }
}

#[test]
fn a_missing_source_is_a_failure_and_the_other_sources_still_work() {
    let place = place();
    place.write("file", "no directory");
    let both = |missing, command: &[&str]| {
        let sources = ["--source", missing, "--source", "skills"];
        place.run(command.iter().copied().chain(sources)).exits(1)
    };
    for missing in ["nowhere", "file"] {
        let title = format!("{missing}: error[missing-source]: ");
        for (command, shown) in [
            (&["list"][..], "beta"),
            (&["match", "beta"], "1. beta"),
            (&["disclose", "beta"], "## Skill: beta"),
            (&["prompt"], "- beta: Does beta."),
            (&["show", "beta"], "description: Does beta."),
        ] {
            let run = both(missing, command);
            assert_contains(&run.stderr, &[&title, "help: "]);
            assert_contains(&run.stdout, &[shown]);
        }
        assert_contains(&both(missing, &["check"]).stdout, &["error[missing-source]: ", missing]);
        let listed = both(missing, &["list", "--json"]);
        assert_eq!(listed.stderr, "", "the diagnostics are in the JSON");
        assert_eq!(listed.json()["diagnostics"][0]["code"], "missing-source");
    }
    let run = place.run(["check", "nowhere"]).exits(1);
    assert_contains(&run.stdout, &["error[missing-source]: ", "nowhere", "checked 0 skills"]);
    let run = place.run(["list", "--project", "nowhere"]).exits(1);
    assert_contains(&run.stderr, &["error[NOT_FOUND]: ", "nowhere", "help: "]);
}

#[test]
fn a_command_line_without_a_meaning_exits_with_2() {
    for (args, parts) in [
        (&["list", "--sorce", "x"][..], &["--sorce", "--source"][..]),
        (&["lst"], &["lst", "list"]),
        (&["match"], &["QUERY"]),
        (&["match", "x", "--limit", "many"], &["many", "--limit"]),
        (&["disclose", "x", "--format", "toml"], &["toml", "markdown"]),
        (&["disclose", "x", "--budget", "x"], &["`x` is no budget", "4000"]),
        (&["disclose", "x", "--budget", "2%"], &["`2%`", "--window"]),
        (&["prompt", "--budget", "2%"], &["`2%`", "--window"]),
        (&["new", "My Skill"], &["`My Skill`", "`my-skill`"]),
        (&["new", "../x"], &["`../x`", "`x`"]),
    ] {
        let place = place();
        let run = place.run(args).exits(2);
        assert_eq!(run.stdout, "", "{args:?}");
        assert_contains(&run.stderr, parts);
        let run = place.run(args.iter().copied().chain(["--json"])).exits(2);
        let error = run.json();
        assert_eq!(keys(&error), ["error", "status"], "{args:?}");
        assert_eq!(
            (&error["status"], &error["error"]["code"]),
            (&json!("error"), &json!("INVALID_PARAM"))
        );
        assert_contains(error["error"]["message"].as_str().unwrap(), &parts[..1]);
        assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    }
    place().run(["disclose", "x", "--budget", "2%", "--window", "9000"]).exits(0);
}

#[test]
fn an_unknown_skill_is_not_found_and_the_nearest_is_named() {
    let place = place();
    let run = place.run(["show", "alhpa", "--source", "skills"]).exits(1);
    assert_eq!(run.stdout, "");
    assert_eq!(run.stderr, "error[NOT_FOUND]: no skill `alhpa`\nhelp: did you mean `alpha`?\n");
    let run = place.run(["show", "alhpa", "--source", "skills", "--json"]).exits(1);
    let error = json!({
        "code": "NOT_FOUND",
        "message": "no skill `alhpa`",
        "help": "did you mean `alpha`?",
    });
    assert_eq!(run.json(), json!({"status": "error", "error": error}));
    assert_eq!(run.stderr, "error[NOT_FOUND]: no skill `alhpa`\n");
}

// Queries.

#[test]
fn a_query_of_a_hyphen_is_read_from_standard_input() {
    let place = place();
    let find = |input: &[u8]| {
        let run = place.run_with(["match", "-", "--json", "--source", "skills"], input).exits(0);
        run.json()["matches"][0]["hits"][0].clone()
    };
    let hit = json!({"kind": "name", "trigger": "beta", "start": 4, "end": 8});
    for input in ["use beta", "use beta\n", "use beta\r\n", "use beta\0", "use beta\n\n\n"] {
        assert_eq!(find(input.as_bytes()), hit, "{input:?}");
    }
    assert_eq!(find(b""), Value::Null);
    let long = format!("{} beta", "x ".repeat(2_000_000));
    assert_eq!(find(long.as_bytes())["start"], 4_000_001);
    for command in ["match", "disclose"] {
        let args = [command, "-", "--source", "skills"];
        let run = place.run_with(args, b"use \xff beta").exits(1);
        assert_contains(&run.stderr, &["not UTF-8 from byte 4", "help: "]);
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn paths_are_taken_from_the_project() {
    let place = Place::new();
    let text = "---\nname: rusty\ndescription: d\npaths: ['src/*.rs']\n---\n";
    place.write("app/.repertoire/skills/rusty/SKILL.md", text);
    let absolute = place.path().join("app/src/a.rs");
    let absolute = absolute.to_str().unwrap();
    for (path, wanted) in [
        ("src/a.rs", "src/a.rs"),
        ("app/src/a.rs", "src/a.rs"),
        ("./app/x/../src/a.rs", "src/a.rs"),
        (absolute, "src/a.rs"),
    ] {
        let args = ["match", "fix it", "--json", "--project", "app", "--path", path];
        let found = place.run(args).exits(0).json();
        assert_eq!(found["matches"][0]["hits"][0]["path"], wanted, "{path}");
    }
    let args = ["match", "fix it", "--json", "--project", "app", "--path", "lib/a.rs"];
    assert_eq!(place.run(args).json()["matches"], json!([]));
}

#[test]
fn a_message_may_begin_with_a_hyphen_and_no_match_may_be_shown() {
    let place = Place::new();
    place.write("skills/a/SKILL.md", "---\nname: a\ndescription: d\ntriggers: [alpha]\n---\n");
    let sources = ["--source", "skills"];
    for message in ["- alpha", "-- alpha", "-alpha beta", "->alpha"] {
        let args = [&["match", message, "--json"][..], &sources].concat();
        let found = place.run(args).exits(0).json();
        assert_eq!(found["matches"][0]["id"], "a", "{message}: {found}");
    }
    let none = place.run(["match", "alpha", "--limit", "0"].iter().chain(&sources)).exits(0);
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", ""));
    for mistyped in ["--exlpain", "-x"] {
        let run = place.run([&["match", mistyped][..], &sources].concat()).exits(2);
        assert!(run.stderr.contains("there is no such option"), "{run:?}");
    }
}

#[test]
fn limits_and_vetoes_are_explained() {
    let place = place();
    let text = "---\nname: gamma\ndescription: d\ntriggers:\n  keywords: [beta]\n  exclude: [not gamma]\n---\n";
    place.write("skills/gamma/SKILL.md", text);
    let args = ["match", "alpha and beta, not gamma", "--source", "skills", "--limit", "1"];
    let found = place.run(args.iter().copied().chain(["--json"])).exits(0).json();
    assert_eq!(ids(&found["matches"]), ["alpha"]);
    assert_eq!(ids(&found["rejected"]), ["beta", "gamma"]);
    let plain = place.run(args).exits(0).stdout;
    assert!(!plain.contains("rejected"), "{plain}");
    let explained = place.run(args.iter().copied().chain(["--explain"])).exits(0).stdout;
    assert_contains(
        &explained,
        &[
            "1. alpha  phrase of 1 word\n",
            "| alpha and beta, not gamma\n",
            "| ^^^^^\n | |\n | name `alpha`\n | keyword `alpha`\n",
            "rejected: beta  below the limit\n",
            "rejected: gamma  vetoed by its exclude `not gamma`\n",
        ],
    );
    let none = place.run(["match", "alpha", "--source", "skills", "--limit", "0", "--json"]);
    assert_eq!(none.exits(0).json()["matches"], json!([]));
    let meta = place.run(["match", "list skills", "--explain", "--source", "skills"]).exits(0);
    assert_contains(&meta.stdout, &["asks which skills there are"]);
    assert_contains(&meta.stderr, &["no skill matches"]);
}

// What each command answers.

#[test]
fn machine_output_has_the_documented_fields() {
    let place = place();
    write_skill(&place, "skills/alpha/sub");
    place.write("skills/alpha/notes.md", "notes");
    place.write("skills/odd/SKILL.md", "---\nname: odd\ndescription: a: b\n---\n");
    let run = |args: &[&str]| {
        let run = place.run(args.iter().copied().chain(["--json", "--source", "skills"])).exits(0);
        assert_eq!((run.stderr.as_str(), run.stdout.lines().count()), ("", 1));
        run.json()
    };
    let skill =
        ["brief", "description", "id", "name", "path", "reason", "source", "status", "triggers"];
    let diagnostic = ["code", "column", "help", "line", "message", "path", "severity", "span"];
    let triggers = ["exclude", "keywords", "paths", "patterns", "verbs"];

    let list = run(&["list"]);
    assert_eq!(keys(&list), ["diagnostics", "skills"]);
    assert_eq!(ids(&list["skills"]), ["alpha", "alpha/sub", "beta", "odd"]);
    assert_eq!(keys(&list["skills"][0]), skill);
    assert_eq!(keys(&list["skills"][0]["triggers"]), triggers);
    assert_eq!(list["skills"][0]["path"], "skills/alpha/SKILL.md");
    assert_eq!(
        (&list["skills"][0]["source"], &list["skills"][0]["status"]),
        (&json!("project"), &json!("available"))
    );
    assert_eq!(keys(&list["diagnostics"][0]), diagnostic);

    let found = run(&["match", "alpha"]);
    assert_eq!(keys(&found), ["matches", "meta", "rejected"]);
    assert_eq!(keys(&found["matches"][0]), ["explicit", "hits", "id", "phrase_words"]);
    assert_eq!(keys(&found["matches"][0]["hits"][0]), ["end", "kind", "start", "trigger"]);

    let disclosed = run(&["disclose", "alpha"]);
    assert_eq!(keys(&disclosed), ["full", "hidden", "omitted", "registry", "text", "tier"]);
    let limited = run(&["disclose", "alpha beta", "--max-skills", "1"]);
    assert_eq!(keys(&limited["omitted"][0]), ["id", "reason"]);

    assert_eq!(keys(&run(&["prompt"])), ["included", "omitted", "shortened", "text"]);

    let shown = run(&["show", "alpha"]);
    let details = ["body_bytes", "diagnostics", "files", "manifest", "more_files", "problems"];
    let details = details.into_iter().chain(["scripts", "sub_skills"]);
    let wanted: BTreeSet<&str> = skill.into_iter().chain(details).collect();
    assert_eq!(keys(&shown), Vec::from_iter(wanted));
    assert_eq!((&shown["files"], &shown["body_bytes"]), (&json!(["notes.md"]), &json!(5)));
    assert_eq!(shown["sub_skills"], json!([{"id": "alpha/sub", "brief": "Does sub."}]));
    assert_eq!(keys(&run(&["show", "odd"])["diagnostics"][0]), diagnostic);

    let checked = run(&["check"]);
    assert_eq!(keys(&checked), ["diagnostics", "skills"]);
    assert_eq!(checked["skills"], 4);

    assert_eq!(keys(&run(&["new", "fresh", "--dir", "other"])), ["id", "next", "path"]);
}

#[test]
fn a_disclosure_is_printed_exactly() {
    let place = place();
    let text = "---\nname: gamma\ndescription: d\ntriggers: [gamma]\n---\n\x1b[1mbold\x1b[0m\n";
    place.write("skills/gamma/SKILL.md", text);
    let args = ["disclose", "gamma", "--source", "skills"];
    let text = place.run(args.iter().copied().chain(["--json"])).json()["text"].clone();
    let run = place.run(args).exits(0);
    assert_eq!(run.stdout, format!("{}\n", text.as_str().unwrap()));
    assert_contains(&run.stdout, &["\x1b[1mbold\x1b[0m"]);
    assert_eq!(place.run(["disclose", "", "--source", "skills"]).exits(0).stdout, "");
    let left_out = ["disclose", "alpha beta", "--max-skills", "1", "--source", "skills"];
    assert_eq!(place.run(left_out).stderr, "");
    let told = place.run(left_out.iter().copied().chain(["-v"])).stderr;
    assert_contains(&told, &["left out: beta (below the limit of 1 skill)"]);
}

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

    // What is set to nothing is not set, and who reads of a wrong value reads where it is from.
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
    for option in ["--by-relevance", "--hint-generic-words"] {
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
fn a_new_skill_passes_the_check_of_both_profiles() {
    let place = Place::new();
    let run = place.run(["new", "release-notes"]).exits(0);
    let path = ".repertoire/skills/release-notes/SKILL.md";
    assert_contains(
        &run.stdout,
        &[
            &format!("{path}\n"),
            &format!("repertoire check {path}\n"),
            "repertoire match 'release notes' --explain\n",
        ],
    );
    for profile in ["repertoire", "agent-skills"] {
        // Its description is still to be written, which is all that there is to say of it.
        let run = place.run(["check", path, "--profile", profile, "--json"]).exits(0);
        let findings = run.json()["diagnostics"].as_array().unwrap().clone();
        let codes: Vec<&Value> = findings.iter().map(|finding| &finding["code"]).collect();
        assert_eq!(codes, ["vague-description"], "{findings:?}");
    }
    let found = place.run(["match", "release notes", "--json"]).json();
    assert_eq!(found["matches"][0]["id"], "release-notes");

    place.write(path, "mine");
    let run = place.run(["new", "release-notes"]).exits(1);
    assert_contains(&run.stderr, &["error[EXECUTION_ERROR]: ", path, "help: "]);
    assert_eq!(std::fs::read_to_string(place.path().join(path)).unwrap(), "mine");

    for name in ["a", "true", "null", "7", "1e3", &"x".repeat(64)] {
        place.run(["new", name, "--dir", "odd names"]).exits(0);
    }
    for profile in ["repertoire", "agent-skills"] {
        let checked = place.run(["check", "odd names", "--profile", profile, "--json"]).exits(0);
        let checked = checked.json();
        // They are alike until somebody writes them, and their names are everyday words.
        let known = ["generic-trigger", "similar-description", "vague-description"];
        let findings = checked["diagnostics"].as_array().unwrap();
        let is_known = |finding: &Value| known.iter().any(|code| finding["code"] == *code);
        assert!(checked["skills"] == 6 && findings.iter().all(is_known), "{findings:?}");
    }
}

#[test]
fn check_draws_the_place_of_a_finding_and_counts_all() {
    let place = place();
    place.write("skills/twin/SKILL.md", "---\nname: beta\ndescription: d\ncolour: red\n---\n");
    let text = "---\nname: zeta\ndescription: d\ntriggers:\n  patterns: ['é (b']\n---\n";
    place.write("skills/zeta/SKILL.md", text);
    let run = place.run(["check", "skills"]).exits(1);
    assert_contains(
        &run.stdout,
        &[
            "error[invalid-pattern]: ",
            "--> skills/zeta/SKILL.md:5:17\n",
            "5 |   patterns: ['é (b']\n  |                 ^",
            "note[shadowed]: skill `beta` shadowed by skills/twin/SKILL.md\n--> skills/beta/SKILL.md\n",
            "note[unknown-key]: ",
        ],
    );
    assert!(run.stdout.ends_with("\nchecked 4 skills: 1 error, 0 warnings, 2 notes\n"));
    // The same file twice is one file.
    let run = place.run(["check", "skills/zeta", "skills/zeta/SKILL.md", "--json"]).exits(1);
    assert_eq!(run.json()["skills"], 1);
}

#[test]
fn bundled_skills_pass_the_check_of_both_profiles() {
    let skills = Path::new(env!("CARGO_MANIFEST_DIR")).join("skills");
    let place = Place::new();
    let check = |profile| {
        let args = ["check", skills.to_str().unwrap(), "--profile", profile, "--json"];
        place.run(args).json()
    };
    assert_eq!(check("repertoire")["diagnostics"], json!([]));
    assert_eq!(check("agent-skills")["diagnostics"], json!([]));
}

#[test]
fn completions_are_made_for_every_shell() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = place.run(["completions", shell]).exits(0);
        assert_contains(&run.stdout, &["repertoire", "disclose", "max-skills"]);
    }
}

// Terminals.

#[test]
fn text_for_people_is_plain_unless_colour_is_asked_for() {
    let place = place();
    place.write("skills/zeta/SKILL.md", "---\nname: zeta\n");
    let commands: [&[&str]; 7] = [
        &["list"],
        &["match", "alpha", "--explain"],
        &["disclose", "alpha", "-v"],
        &["prompt"],
        &["show", "alpha"],
        &["show", "nobody"],
        &["check"],
    ];
    for args in commands {
        let args = || args.iter().copied().chain(["--source", "skills"]);
        let mut command = place.command(args());
        command.env("NO_COLOR", "1");
        for run in
            [place.run(args()), finish(command, b""), place.run(args().chain(["--color", "never"]))]
        {
            let Run { stdout, stderr, .. } = &run;
            assert!(!stdout.contains('\x1b') && !stderr.contains('\x1b'), "{run:?}");
        }
    }
    let run = place.run(["list", "--color", "always", "--source", "skills"]);
    assert_contains(&run.stdout, &["\x1b["]);
    assert_contains(&run.stderr, &["\x1b["]);
}

#[test]
fn controls_in_the_text_of_others_never_reach_a_terminal() {
    let place = Place::new();
    let evil = r"x\e[31m \u202E \u009B \a \x7f";
    place.write(
        "skills/evil/SKILL.md",
        format!(
            "---\nname: \"evil {evil}\"\ndescription: \"Does {evil}.\"\n\"key {evil}\": 1\n\
             triggers: {{keywords: [\"word {evil}\"], patterns: [\"(\\e\\u202E\"]}}\n---\n"
        ),
    );
    let raw = "---\nname: raw\ndescription: d\nversion: \u{9b}31m \u{202e}\n---\n";
    place.write("skills/raw/SKILL.md", raw);
    #[cfg(unix)]
    place.write("skills/\x1b[31m\u{202e}/SKILL.md", raw.replace("name: raw\n", ""));
    let query = "word x\x1b[31m \u{202e} \u{9b} \x07 \x7f";
    let commands: [&[&str]; 7] = [
        &["list"],
        &["match", query, "--explain"],
        &["show", "evil"],
        &["show", "\x1b[31m"],
        &["check"],
        &["check", "\x1b[31m"],
        &["list", "--project", "\x1b[31m\u{202e}"],
    ];
    for args in commands {
        let run = place.run(args.iter().copied().chain(["--source", "skills"]));
        for c in run.stdout.chars().chain(run.stderr.chars()) {
            let is_safe = (!c.is_control() || c == '\n') && !"\u{202e}\u{feff}".contains(c);
            assert!(is_safe, "{c:?} in {run:?}");
        }
    }
    let listed = place.run(["list", "--json", "--source", "skills"]).exits(0).json();
    let texts: Vec<&str> = listed["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| skill["description"].as_str().unwrap())
        .collect();
    assert_contains(&texts.concat(), &["\x1b", "\u{202e}"]);
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let place = Place::new();
    for n in 0..500 {
        write_skill(&place, &format!("skills/skill-{n}"));
    }
    let mut command = place.command(["list", "--json", "--source", "skills"]);
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = child.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

#[test]
fn the_log_goes_to_standard_error() {
    let place = place();
    let run = place.run(["match", "alpha", "-vv", "--json", "--source", "skills"]).exits(0);
    assert_eq!(ids(&run.json()["matches"]), ["alpha"]);
}
