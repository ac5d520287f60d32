//! The forms in which skills are named, in every place of the library that takes one.

use repertoire::catalog::{CatalogOptions, SkillChoice};
use repertoire::{Allowlist, Audience, Catalog, Code, Engine, ErrorCode, Source};
use serde_json::json;
use tempfile::TempDir;

use super::{ids, manifest, tree};

fn files() -> TempDir {
    tree(&[
        ("code-review/SKILL.md", &manifest("name: code-review")),
        ("code-review/notes.md", "1\n2\n"),
        ("team/plan/notes.md", "1\n2\n"),
        ("team/plan/SKILL.md", &manifest("name: Plan of Work")),
        ("acme-doc/SKILL.md", &manifest("name: acme-doc")),
        ("acme-mail/SKILL.md", &manifest("name: acme-mail")),
        ("menü/SKILL.md", &manifest("name: menü")),
        ("menü/notes.md", "1\n2\n"),
    ])
}

/// The forms for one skill, with its id.
const FORMS: [(&str, &str); 38] = [
    ("code-review", "code-review"),
    ("/code-review", "code-review"),
    ("$code-review", "code-review"),
    ("@code-review", "code-review"),
    ("toolkit:code-review", "code-review"),
    ("/toolkit:code-review", "code-review"),
    ("Code-Review", "code-review"),
    ("/code_review", "code-review"),
    (" code-review ", "code-review"),
    ("team/plan", "team/plan"),
    ("/team/plan", "team/plan"),
    ("team:plan", "team/plan"),
    ("Plan of Work", "team/plan"),
    ("team/plan/SKILL.md", "team/plan"),
    ("code\u{2010}review", "code-review"),
    ("code\u{2011}review", "code-review"),
    ("code\u{2013}review", "code-review"),
    ("ｃｏｄｅ-review", "code-review"),
    ("co\u{ad}de-\u{200b}review", "code-review"),
    ("`code-review`", "code-review"),
    ("\"code-review\"", "code-review"),
    ("“/code-review”", "code-review"),
    ("code-review.", "code-review"),
    ("code-review:", "code-review"),
    ("code-review,", "code-review"),
    ("skills/code-review", "code-review"),
    (".claude/skills/code-review/SKILL.md", "code-review"),
    ("Skill(code-review)", "code-review"),
    ("the code-review skill", "code-review"),
    ("skill://code-review", "code-review"),
    ("acme/code-review", "code-review"),
    ("acme/Code_Review", "code-review"),
    ("`team/plan` skill", "team/plan"),
    ("skills\\code-review", "code-review"),
    (".claude\\skills\\code-review\\SKILL.md", "code-review"),
    ("team\\plan", "team/plan"),
    ("menü", "menü"),
    ("the menu\u{308} skill", "menü"),
];

/// Texts that name no skill.
const OTHERS: [&str; 13] = [
    "", "review", "toolkit:", "toolkit:*", "//", "plan/", "code-review-2", "`.`", "the skill",
    "/tmp/code-review", "acme/mail", "code\\review", "..\\..",
];

fn engine(dir: &TempDir, allow: Allowlist) -> Engine {
    Engine::builder().source(Source::project(dir.path())).allow(allow).build().unwrap()
}

/// Loads the skills that the entries of `allow` name, with settings that turn them on and off.
fn load(dir: &TempDir, allow: Option<&str>, choices: Vec<SkillChoice>) -> Catalog {
    let mut options = CatalogOptions::new(vec![Source::project(dir.path())]);
    options.allowlist = Allowlist::from_entries(allow.as_ref().map(std::slice::from_ref));
    options.choices = choices;
    Catalog::load(&options)
}

/// Returns the ids of the skills that the model can use.
fn available(catalog: &Catalog) -> Vec<&str> {
    catalog.listed(Audience::Model).map(|entry| entry.id.as_str()).collect()
}

fn unknown(catalog: &Catalog) -> usize {
    catalog.diagnostics().iter().filter(|found| found.code == Code::UnknownSkill).count()
}

#[test]
fn every_place_takes_every_form() {
    let dir = files();
    let plain = engine(&dir, Allowlist::default());
    let left_out = engine(&dir, Allowlist::from_entries(Some(&["acme-doc"])));
    let catalog = plain.catalog();
    let all = available(&catalog);
    for (form, id) in FORMS {
        for audience in [Audience::Model, Audience::User] {
            assert_eq!(catalog.find(form, audience).unwrap().id, id, "{form}");
        }
        assert_eq!(catalog.find_any(form).unwrap().id, id, "{form}");
        let tools = plain.tools(&plain.session(form));
        let used = tools.call("use_skill", &json!({"skill": form, "args": null, "by": null}));
        assert_eq!(used.code(), None, "{form}: {used:?}");
        let read = json!({"skill": form, "path": "notes.md", "offset": 1.0, "limit": null});
        assert_eq!(tools.call("read_skill_file", &read).code(), None, "{form}");
        assert_eq!(left_out.catalog().find_filtered(form).unwrap().id, id, "{form}");
        let tools = left_out.tools(&left_out.session(form));
        let refused = tools.call("use_skill", &json!({"skill": form}));
        assert_eq!(refused.code(), Some(ErrorCode::NotFound), "{form}");

        let allowed = load(&dir, Some(form), Vec::new());
        assert_eq!((available(&allowed), unknown(&allowed)), (vec![id], 0), "{form}");
        let others: Vec<&str> = all.iter().filter(|other| **other != id).copied().collect();
        let off = || SkillChoice::off(form, "not wanted");
        let disabled = load(&dir, None, vec![off()]);
        assert_eq!((available(&disabled), unknown(&disabled)), (others, 0), "{form}");
        let again = load(&dir, None, vec![off(), SkillChoice::on(form)]);
        assert_eq!((available(&again), unknown(&again)), (all.clone(), 0), "{form}");
    }
    for command in ["/code-review now", "/Code_Review now", "/toolkit:code-review now"] {
        let typed = plain.user_message(command, &plain.session(command)).unwrap();
        assert_eq!(typed.unwrap().id, "code-review", "{command}");
    }
    for message in [
        "//code-review",
        "/$code-review",
        "/toolkit: x",
        "/tmp/code-review is full",
        "/src/skills/code-review is full",
    ] {
        assert_eq!(plain.user_message(message, &plain.session("m")).unwrap(), None, "{message}");
    }
}

#[test]
fn a_command_in_place_of_a_name_brings_its_arguments() {
    let dir =
        tree(&[("review/SKILL.md", "---\nname: review\ndescription: d\n---\nDo $ARGUMENTS.")]);
    let engine = engine(&dir, Allowlist::default());
    for (skill, args, wanted) in [
        ("/review PR 42", "", "Do PR 42."),
        ("$review PR 42", "", "Do PR 42."),
        ("@review\nPR 42", " ", "Do PR 42."),
        ("/kit:review PR", "42", "Do PR 42."),
        ("review", "PR 42", "Do PR 42."),
    ] {
        let session = engine.session(skill);
        let activation = engine.activate(skill, args, &session).unwrap();
        assert_eq!(activation.content, wanted, "{skill}");
        let tools = engine.tools(&engine.session("model"));
        let answer = tools.call("use_skill", &json!({"skill": skill, "args": args}));
        assert!(answer.text().contains(wanted), "{skill}: {answer:?}");
    }
    for skill in ["review PR 42", "/revieww PR 42", "/ review", "//review PR", "/tmp/review PR"] {
        let refused = engine.activate(skill, "", &engine.session("s")).unwrap_err();
        assert_eq!(refused.code(), ErrorCode::NotFound, "{skill}");
        assert!(refused.message().contains(skill), "{refused:#}");
    }
}

#[test]
fn other_texts_name_nothing_and_are_findings() {
    let dir = files();
    let plain = load(&dir, None, Vec::new());
    for text in OTHERS {
        assert!(plain.find(text, Audience::Model).is_err(), "{text}");
        assert!(plain.find_any(text).is_err(), "{text}");
        let allowed = load(&dir, Some(text), Vec::new());
        assert_eq!((available(&allowed).len(), unknown(&allowed)), (0, 1), "{text}");
        let disabled = load(&dir, None, vec![SkillChoice::off(text, "x")]);
        assert_eq!((available(&disabled).len(), unknown(&disabled)), (5, 1), "{text}");
    }
}

#[test]
fn lists_take_patterns() {
    let dir = files();
    for (pattern, named) in [
        ("acme-*", &["acme-doc", "acme-mail"][..]),
        ("/Acme-*", &["acme-doc", "acme-mail"]),
        ("*mail", &["acme-mail"]),
        ("team/*", &["team/plan"]),
        ("team:*", &["team/plan"]),
        ("plan of*", &["team/plan"]),
        ("$acme-doc, plan of work", &["acme-doc", "team/plan"]),
        ("acme-doc，acme-mail、team\\plan", &["acme-doc", "acme-mail", "team/plan"]),
    ] {
        assert_eq!(available(&load(&dir, Some(pattern), Vec::new())), named, "{pattern}");
        let disabled = load(&dir, None, vec![SkillChoice::off(pattern, "x")]);
        let on = available(&disabled);
        assert_eq!(on.len(), 5 - named.len(), "{pattern}");
        assert!(!on.iter().any(|id| named.contains(id)), "{pattern}");
    }
    // The last choice that names a skill decides.
    let off = || SkillChoice::off("acme-*", "x");
    let one = load(&dir, None, vec![off(), SkillChoice::on("acme-doc")]);
    assert_eq!(available(&one), ["acme-doc", "code-review", "menü", "team/plan"]);
    let none = load(&dir, None, vec![SkillChoice::on("acme-doc"), off()]);
    assert_eq!(available(&none), ["code-review", "menü", "team/plan"]);
    assert_eq!(ids(&none).len(), 5);
}

#[test]
fn a_literal_name_comes_before_the_other_forms() {
    let dir = tree(&[
        ("a/SKILL.md", &manifest("name: Deploy")),
        ("b/SKILL.md", &manifest("name: deploy")),
        ("kit/c/SKILL.md", &manifest("name: c d")),
        ("c/SKILL.md", &manifest("name: c")),
    ]);
    let catalog = load(&dir, None, Vec::new());
    let found = |name| catalog.find(name, Audience::Model).map(|entry| entry.id.as_str()).ok();
    assert_eq!(found("deploy"), Some("deploy"));
    assert_eq!(found("Deploy"), Some("a"));
    assert_eq!(found("kit:c"), Some("kit/c"));
    assert_eq!(found("other:c"), Some("c"));
}

#[test]
fn an_alias_stands_before_the_ids_that_the_source_has_without_it() {
    let files = tree(&[
        ("rev/SKILL.md", &manifest("name: code-review")),
        ("team/plan/SKILL.md", &manifest("name: Plan of Work")),
        ("menu/SKILL.md", &manifest("name: menu")),
        ("menu/vegan/SKILL.md", &manifest("name: vegan")),
    ]);
    let of = |source: Source| {
        let catalog = Catalog::load(&CatalogOptions::new(vec![source]));
        ids(&catalog).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let plain = of(Source::user(files.path()));
    assert_eq!(plain, ["code-review", "menu", "menu/vegan", "team/plan"]);
    let with_alias: Vec<String> = plain.iter().map(|id| format!("r1/{id}")).collect();
    assert_eq!(of(Source::user(files.path()).alias("r1")), with_alias);
    assert_eq!(of(Source::user(files.path()).alias("")), plain);
}
