//! The output of each command, for programs and for people.

use std::collections::BTreeSet;

use serde_json::json;

use super::{assert_contains, ids, keys, place, write_skill};
use crate::binary::Place;

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
    let skill = ["brief", "description", "from", "id", "name", "path", "reason"];
    let skill = [&skill[..], &["signed_by", "source", "status", "triggers"]].concat();
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
    assert_eq!(keys(&found), ["matches", "meta", "rejected", "relevant"]);
    assert_eq!(keys(&found["matches"][0]), ["explicit", "hits", "id", "phrase_words"]);
    assert_eq!(keys(&found["matches"][0]["hits"][0]), ["end", "kind", "start", "trigger"]);

    let disclosed = run(&["disclose", "alpha"]);
    assert_eq!(keys(&disclosed), ["full", "hidden", "omitted", "registry", "text", "tier"]);
    let limited = run(&["disclose", "alpha beta", "--max-skills", "1"]);
    assert_eq!(keys(&limited["omitted"][0]), ["code", "id", "reason"]);

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
    assert_contains(&run.stdout, &["\n[1mbold[0m\n"]);
    assert_eq!(place.run(["disclose", "", "--source", "skills"]).exits(0).stdout, "");
    let left_out = ["disclose", "alpha beta", "--max-skills", "1", "--source", "skills"];
    assert_eq!(place.run(left_out).stderr, "");
    let told = place.run(left_out.iter().copied().chain(["-v"])).stderr;
    assert_contains(&told, &["left out: beta (below the limit of 1 skill)"]);
}

#[test]
fn completions_are_made_for_every_shell() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = place.run(["completions", shell]).exits(0);
        assert_contains(&run.stdout, &["repertoire", "disclose", "max-skills"]);
        let json = place.run(["completions", shell, "--json"]).exits(0).json();
        assert_eq!((&json["shell"], keys(&json)), (&json!(shell), vec!["script", "shell"]));
        assert_eq!(json["script"].as_str().unwrap().trim_end(), run.stdout.trim_end());
    }
}

#[cfg(target_os = "linux")] // elsewhere, such names cannot be created
#[test]
fn a_path_that_is_not_unicode_is_in_json_as_text() {
    use std::os::unix::ffi::OsStrExt as _;

    let place = place();
    let dir = place.path().join("skills").join(std::ffi::OsStr::from_bytes(b"odd\xff"));
    std::fs::create_dir(&dir).unwrap();
    let text = "---\nname: odd\ndescription: Is odd.\n---\nB\n";
    std::fs::write(dir.join("SKILL.md"), text).unwrap();
    for command in [&["list"][..], &["show", "odd"], &["check", "skills"]] {
        let args = command.iter().chain(&["--source", "skills", "--json"]);
        let answer = place.run(args).json();
        assert_ne!(answer["status"], "error", "{command:?}: {answer}");
        let text = answer.to_string();
        assert!(text.contains("odd\u{fffd}"), "{command:?}: {text}");
    }
}

#[cfg(unix)]
#[test]
fn what_of_a_skill_cannot_be_listed_is_shown() {
    let place = place();
    let dir = place.path().join("skills/alpha");
    std::os::unix::fs::symlink(place.path(), dir.join("scripts")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", dir.join("passwd")).unwrap();
    let shown = place
        .run(["show", "--json", "alpha"].iter().chain(&["--source", "skills"]))
        .exits(0)
        .json();
    assert_eq!((&shown["files"], &shown["scripts"]), (&json!([]), &json!([])));
    let problem = shown["problems"][0].as_str().unwrap();
    assert!(problem.contains("the skill `alpha`") && problem.contains("link"), "{problem}");
    let text = place.run(["show", "alpha"].iter().chain(&["--source", "skills"])).exits(0).stdout;
    assert!(text.contains("symbolic link"), "{text}");
    place.run(["show", "alpha", "a.sh"].iter().chain(&["--source", "skills"])).exits(1);
}
