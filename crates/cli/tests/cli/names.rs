//! The forms in which skills and lists of skills are written, on the command line and in files.

use serde_json::{Value, json};

use crate::binary::Place;
use crate::{assert_contains, ids};

const FORMS: [&str; 10] = [
    "code-review",
    "/code-review",
    "$code-review",
    "@code-review",
    "toolkit:code-review",
    "/toolkit:code-review",
    "Code-Review",
    "/code_review",
    "skills/code-review",
    "./skills/code-review/SKILL.md",
];

const SOURCE: [&str; 3] = ["--source", "skills", "--bundled=off"];

fn place() -> Place {
    let place = Place::new();
    for id in ["acme-doc", "acme-mail", "code-review"] {
        let text = format!("---\nname: {id}\ndescription: Does {id}.\n---\nBODY OF {id}\n");
        place.write(&format!("skills/{id}/SKILL.md"), text);
    }
    place
}

fn list(place: &Place, args: &[&str]) -> Value {
    place.run([&["list", "--json"], &SOURCE[..], args].concat()).exits(0).json()
}

/// Returns the ids of the skills that a list shows as available.
fn available(list: &Value) -> Vec<&str> {
    let skills = list["skills"].as_array().unwrap().iter();
    let on = skills.filter(|skill| skill["status"] == "available");
    on.map(|skill| skill["id"].as_str().unwrap()).collect()
}

fn codes(list: &Value) -> Vec<&str> {
    let found = list["diagnostics"].as_array().unwrap().iter();
    found.map(|finding| finding["code"].as_str().unwrap()).collect()
}

#[test]
fn commands_and_options_take_every_form() {
    let place = place();
    for form in FORMS {
        let used = place.run([&["use", form], &SOURCE[..]].concat()).exits(0);
        assert_contains(&used.stdout, &["BODY OF code-review"]);
        let shown = place.run([&["show", "--json", form], &SOURCE[..]].concat()).exits(0).json();
        assert_eq!(shown["id"], "code-review", "{form}");
        let why = ["why", "--json", form, "/code-review"];
        let why = place.run([&why, &SOURCE[..]].concat()).exits(0).json();
        assert_eq!(why["id"], "code-review", "{form}");
        let why = ["why", "--json", form, "hello", "--allow", "acme-doc"];
        let why = place.run([&why, &SOURCE[..]].concat()).json();
        assert_eq!(why["id"], "code-review", "{form} is left out");
        let allowed = list(&place, &["--allow", form]);
        assert_eq!((available(&allowed), codes(&allowed)), (vec!["code-review"], vec![]), "{form}");
    }
    let allowed = list(&place, &["--allow", "/acme-*"]);
    assert_eq!(ids(&allowed["skills"]), ["acme-doc", "acme-mail"]);
    let allowed = list(&place, &["--allow", "acme-doc,$code-review"]);
    assert_eq!(ids(&allowed["skills"]), ["acme-doc", "code-review"]);
}

#[test]
fn settings_take_every_form() {
    let place = place();
    let disable = |list: &str| {
        place.write(".repertoire/config.toml", format!("[skills]\ndisabled = {list}\n"));
    };
    for form in FORMS {
        disable(&json!([form]).to_string());
        let shown = list(&place, &[]);
        assert_eq!((available(&shown), codes(&shown)), (vec!["acme-doc", "acme-mail"], vec![]));
        assert_eq!(available(&list(&place, &["--enable", form])).len(), 3, "{form}");
    }
    for (written, on, found) in [
        ("[\"acme-*\"]", &["code-review"][..], &[][..]),
        ("[\"Acme-Doc\", \"ACME-*l\"]", &["code-review"], &[]),
        ("\"acme-doc, /code-review\"", &["acme-mail"], &["wrong-type"]),
        ("[\"acme-doc\", 7]", &["acme-mail", "code-review"], &["unknown-skill", "wrong-type"]),
        ("[\"acme\"]", &["acme-doc", "acme-mail", "code-review"], &["unknown-skill"]),
        ("[\"other:*\"]", &["acme-doc", "acme-mail", "code-review"], &["unknown-skill"]),
    ] {
        disable(written);
        let shown = list(&place, &[]);
        let mut codes = codes(&shown);
        codes.sort_unstable();
        assert_eq!((available(&shown), codes), (on.to_vec(), found.to_vec()), "{written}");
    }
    let told = place.run(["check"]).stdout;
    assert_contains(&told, &["unknown-skill", "`other:*`", "config.toml"]);
    let told = place.run(["doctor"]).stdout;
    assert_contains(&told, &["unknown-skill", "`other:*`"]);
}

#[test]
fn what_is_nearly_a_skill_is_told() {
    let place = Place::new();
    let skill = "---\nname: a\ndescription: Does a.\n---\nBody\n";
    for path in [
        ".git/HEAD",
        ".github/skills/flat.md",
        ".github/skills/README.md",
        ".claude/Skills/b/SKILL.md",
        ".agents/skills/c/SKILLS.md",
        ".agents/skills/d/SKILL.md",
        ".agents/skills/d/skill.txt",
        ".agents/skills/d/skills/notes.md",
        ".agents/skills/SKILLS.md",
    ] {
        let text = if path.ends_with("README.md") { "# Our skills\n" } else { skill };
        place.write(path, text);
    }
    for args in [&["check", ".", "--json"][..], &["check", "--json"]] {
        let found = place.run(args).exits(0).json();
        let near = found["diagnostics"].as_array().unwrap().iter();
        let near = near.filter(|finding| finding["code"] == "near-miss");
        let name = |finding: &Value| {
            let path = finding["path"].as_str().unwrap();
            let start = path.rfind("/.").map_or(0, |at| at + 1);
            path[start..].to_owned()
        };
        let mut near: Vec<String> = near.map(name).collect();
        near.sort();
        let wanted = [".agents/skills/c/SKILLS.md", ".claude/Skills", ".github/skills/flat.md"];
        assert_eq!(near, wanted, "{args:?}");
    }
    let told = place.run(["doctor", "--bundled=off"]).stdout;
    assert_contains(&told, &["flat.md", ".claude/Skills", "c/SKILLS.md"]);
}
