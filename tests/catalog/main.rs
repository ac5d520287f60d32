//! The catalog: sources, ids, precedence, visibility, faulty directories, and progress.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod corpus;
#[cfg(unix)]
mod links;
mod names;
mod order;
mod progress;
#[cfg(unix)]
mod providers;
#[path = "../support/mod.rs"]
mod support;
mod views;
mod visibility;

use std::collections::BTreeMap;
use std::fs;

use repertoire::catalog::{CatalogOptions, Environment, Scope, SkillChoice};
use repertoire::{Allowlist, Audience, Catalog, Code, Engine, ErrorCode, Skill, Source};
use tempfile::TempDir;

/// Creates a directory with these files. Skill files get a description.
fn tree(files: &[(&str, &str)]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

fn manifest(fields: &str) -> String {
    format!("---\ndescription: d\n{fields}\n---\nbody\n")
}

fn load(sources: Vec<Source>) -> Catalog {
    Catalog::load(&CatalogOptions::new(sources))
}

fn ids(catalog: &Catalog) -> Vec<&str> {
    catalog.entries().map(|entry| entry.id.as_str()).collect()
}

fn codes(catalog: &Catalog) -> Vec<&str> {
    catalog.diagnostics().iter().map(|finding| finding.code.as_str()).collect()
}

#[test]
fn ids_follow_name_path_and_nesting() {
    let dir = tree(&[
        ("group/tool/SKILL.md", &manifest("name: tool-name")),
        ("label/SKILL.md", &manifest("name: A Free Label")),
        ("deep/Er/nameless/SKILL.md", &manifest("")),
        ("sven/SKILL.md", &manifest("name: sven")),
        ("sven/plan/SKILL.md", &manifest("name: planner")),
        ("sven/implement/research/skill.md", &manifest("")),
        (".hidden/x/SKILL.md", &manifest("name: hidden")),
        ("node_modules/x/SKILL.md", &manifest("name: module")),
    ]);
    let catalog = load(vec![Source::project(dir.path())]);
    assert_eq!(
        ids(&catalog),
        ["label", "nameless", "sven", "sven/implement/research", "sven/plan", "tool-name"]
    );
    assert_eq!(codes(&catalog), [""; 0]);
    let sven = catalog.get("sven").unwrap();
    let direct: Vec<_> = catalog.sub_skills(sven, Audience::Model).map(|e| e.id.as_str()).collect();
    assert_eq!(direct, ["sven/implement/research", "sven/plan"]);
}

#[test]
fn a_skill_at_the_root_of_a_source_has_no_sub_skills() {
    let dir = tree(&[
        ("SKILL.md", &manifest("name: house-rules")),
        ("plan/SKILL.md", &manifest("name: planner")),
        ("group/tool/SKILL.md", &manifest("")),
        ("sven/SKILL.md", &manifest("name: sven")),
        ("sven/plan/SKILL.md", &manifest("name: other")),
    ]);
    let catalog = load(vec![Source::project(dir.path())]);
    assert_eq!(ids(&catalog), ["house-rules", "planner", "sven", "sven/plan", "tool"]);
    for (id, below) in [("house-rules", vec![]), ("sven", vec!["sven/plan"]), ("planner", vec![])] {
        let parent = catalog.get(id).unwrap();
        let direct = catalog.sub_skills(parent, Audience::Model).map(|e| e.id.as_str());
        assert_eq!(direct.collect::<Vec<_>>(), below, "{id}");
    }
    for (id, above) in [("planner", None), ("tool", None), ("sven/plan", Some("sven"))] {
        let parent = catalog.parent(catalog.get(id).unwrap());
        assert_eq!(parent.map(|entry| entry.id.as_str()), above, "{id}");
    }
}

#[test]
fn skills_are_found_by_id_path_and_unique_name() {
    let dir = tree(&[
        ("a/SKILL.md", &manifest("name: Same")),
        ("b/SKILL.md", &manifest("name: Same")),
        ("sven/SKILL.md", &manifest("name: sven")),
        ("sven/plan/SKILL.md", &manifest("name: planner")),
        ("x/tool/SKILL.md", &manifest("name: hammer")),
        ("great/SKILL.md", &manifest("name: Great Label Here")),
    ]);
    let catalog = load(vec![Source::project(dir.path())]);
    let file = dir.path().join("x/tool/SKILL.md");
    for (name, id) in [
        ("hammer", "hammer"),
        ("x/tool", "hammer"),
        (file.to_str().unwrap(), "hammer"),
        (file.parent().unwrap().to_str().unwrap(), "hammer"),
        ("planner", "sven/plan"),
        ("sven/plan", "sven/plan"),
    ] {
        assert_eq!(catalog.find(name, Audience::Model).unwrap().id, id, "{name}");
    }
    for (name, help) in [
        ("Same", "did you mean `a`, `b`?"),
        ("hamer", "did you mean `hammer`?"),
        ("plannr", "did you mean `sven/plan`?"),
        ("work/plan", "did you mean `sven/plan`?"),
        ("Great Lable Here", "did you mean `great`?"),
        ("zzz", "use `find_skills`"),
    ] {
        let error = catalog.find(name, Audience::Model).unwrap_err();
        assert_eq!(error.code(), ErrorCode::NotFound);
        assert!(error.help().contains(help), "{name}: {error:#}");
    }
}

#[test]
fn the_higher_source_wins_and_the_loser_is_reported_with_both_paths() {
    let low =
        tree(&[("x/SKILL.md", &manifest("name: same")), ("only-low/SKILL.md", &manifest(""))]);
    let high = tree(&[
        ("a/SKILL.md", &manifest("name: same\nversion: 1.0.0")),
        ("b/SKILL.md", &manifest("name: same\nversion: 2.0.0")),
    ]);
    let catalog = load(vec![Source::user(low.path()), Source::project(high.path())]);
    assert_eq!(ids(&catalog), ["only-low", "same", "same", "same"]);
    let winner = catalog.get("same").unwrap();
    assert_eq!(winner.skill.path().unwrap(), high.path().join("b/SKILL.md"));
    assert_eq!(winner.scope, Scope::Project);
    assert_eq!(codes(&catalog), ["shadowed", "shadowed"]);
    for finding in catalog.diagnostics() {
        assert!(finding.message.contains(winner.skill.path().unwrap().to_str().unwrap()));
        assert_ne!(finding.path, winner.skill.path().unwrap());
    }
}

#[test]
fn skills_in_memory_win_over_directories() {
    let dir = tree(&[("x/SKILL.md", &manifest("name: same"))]);
    let skill: Skill = "---\nname: same\ndescription: from memory\n---\n".parse().unwrap();
    let engine =
        Engine::builder().skill(skill).source(Source::project(dir.path())).build().unwrap();
    assert_eq!(engine.catalog().get("same").unwrap().skill.description(), "from memory");
    assert_eq!(codes(&engine.catalog()), ["shadowed"]);
}

#[test]
fn requirements_and_defaults_decide_availability() {
    let dir = tree(&[
        ("bin/SKILL.md", &manifest("requires_bins: [no-such-program-xyz]")),
        ("env/SKILL.md", &manifest("requires_env: [NO_SUCH_VAR]")),
        ("met/SKILL.md", &manifest("requires_env: [SET]\nacme: {requires_bins: [tool]}")),
        ("off/SKILL.md", &manifest("default_enabled: false")),
        ("wanted/SKILL.md", &manifest("default_enabled: false")),
        ("bin-dir/tool", "#!/bin/sh\n"),
    ]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(dir.path().join("bin-dir/tool"), fs::Permissions::from_mode(0o755))
            .unwrap();
    }
    let vars = [("SET", "1".into()), ("PATH", dir.path().join("bin-dir").into_os_string())];
    let environment =
        Environment::Fixed(vars.into_iter().map(|(name, value)| (name.into(), value)).collect());
    let mut options = CatalogOptions::new(vec![Source::bundled(dir.path())]);
    options.brand = "acme".to_owned();
    options.choices = vec![SkillChoice::on("wanted")];
    options.environment = environment;
    let catalog = Catalog::load(&options);
    let status: BTreeMap<_, _> =
        catalog.entries().map(|e| (e.id.as_str(), e.status.as_str())).collect();
    let expected = [
        ("bin", "unavailable"),
        ("env", "unavailable"),
        ("met", if cfg!(unix) { "available" } else { status["met"] }),
        ("off", "disabled"),
        ("wanted", "available"),
    ];
    assert_eq!(status, BTreeMap::from(expected));
    let reason = catalog.get("bin").unwrap().status.reason().unwrap();
    assert!(reason.contains("no-such-program-xyz"), "{reason}");
    let error = catalog.find("env", Audience::User).unwrap_err();
    assert!(error.message().contains("NO_SUCH_VAR"), "{error}");
}

#[test]
fn the_brand_of_the_standard_sources_is_that_of_the_host() {
    let dir = tree(&[
        (".acme/skills/own/SKILL.md", &manifest("acme: {always: true}")),
        (".agents/skills/other/SKILL.md", &manifest("repertoire: {always: true}")),
    ]);
    for (brand, always) in
        [("", [true, false]), ("acme", [true, false]), ("repertoire", [false, true])]
    {
        let mut builder = Engine::builder().sources(Source::standard(None, dir.path(), "acme"));
        if !brand.is_empty() {
            builder = builder.brand(brand);
        }
        let catalog = builder.build().unwrap().catalog();
        let is_always = |id| {
            let always = &catalog.get(id).unwrap().skill.manifest().always;
            always.as_ref().is_some_and(|always| always.value)
        };
        assert_eq!(["own", "other"].map(is_always), always, "{brand:?}");
    }
}

#[test]
fn one_bad_entry_never_affects_its_neighbours() {
    let dir = tree(&[
        ("good/SKILL.md", &manifest("")),
        ("directory/SKILL.md/file", "x"),
        ("empty/SKILL.md", ""),
        ("huge/SKILL.md", &manifest(&"x".repeat(10 << 20))),
        ("two/SKILL.md", &manifest("name: exact")),
        ("two/skill.md", &manifest("name: other")),
    ]);
    fs::create_dir_all(dir.path().join("latin")).unwrap();
    fs::write(dir.path().join("latin/SKILL.md"), b"---\nname: latin\ndescription: caf\xe9\n---\n")
        .unwrap();
    let missing = dir.path().join("missing");
    let catalog = load(vec![Source::project(&missing), Source::project(dir.path())]);
    assert_eq!(ids(&catalog), ["exact", "good"]);
    let findings: BTreeMap<String, Code> = catalog
        .diagnostics()
        .iter()
        .map(|f| (f.path.strip_prefix(dir.path()).unwrap().display().to_string(), f.code))
        .collect();
    let expected = [
        ("directory/SKILL.md", Code::NotAFile),
        ("empty/SKILL.md", Code::EmptyFile),
        ("huge/SKILL.md", Code::BodyTooLarge),
        ("latin/SKILL.md", Code::NotUtf8),
        ("missing", Code::MissingSource),
        ("two/skill.md", Code::TwoSpellings),
    ];
    assert_eq!(findings, expected.map(|(path, code)| (path.to_owned(), code)).into());
    assert!(catalog.diagnostics().iter().all(|f| !f.message.is_empty() && !f.help.is_empty()));
}

#[test]
fn a_skill_whose_file_was_rejected_is_not_unknown() {
    let dir = tree(&[
        ("directory/SKILL.md/file", "x"),
        ("empty/SKILL.md", ""),
        ("group/deep/SKILL.md", "---\nname: deep\n---\n"),
        ("filtered/SKILL.md", ""),
        (
            "other/SKILL.md",
            &manifest("name: hidden\ndisable-model-invocation: true\ntoolsets: [x]"),
        ),
        ("good/SKILL.md", &manifest("")),
    ]);
    let missing = dir.path().join("missing");
    let deep = dir.path().join("group/deep");
    let allowed = ["directory", "empty", "deep", "good", "missing", "hidden"];
    let sources = vec![Source::project(&missing), Source::project(dir.path())];
    let mut options = CatalogOptions::new(sources);
    options.allowlist = Allowlist::from_entries(Some(&allowed));
    let catalog = Catalog::load(&options);
    let unknown = catalog.diagnostics().iter().filter(|of| of.code == Code::UnknownSkill);
    let unknown: Vec<_> = unknown.map(|of| of.message.as_str()).collect();
    assert_eq!(unknown.len(), 1, "neither those that are there nor those that do not load");
    assert!(unknown[0].contains("`missing`"), "{unknown:?}");
    for (name, why) in [
        ("directory", Some("directory/SKILL.md:1:1: error[not-a-file]")),
        ("empty", Some("empty/SKILL.md:1:1: error[empty-file]")),
        ("deep", Some("group/deep/SKILL.md:1:1: error[no-description]")),
        ("group/deep", Some("error[no-description]")),
        (deep.to_str().unwrap(), Some("error[no-description]")),
        ("filtered", None),
        ("missing", None),
        ("other", None),
        ("", None),
    ] {
        let by_model = catalog.find(name, Audience::Model).unwrap_err();
        let mut errors = vec![by_model];
        if name != "other" {
            errors.push(catalog.find(name, Audience::User).unwrap_err());
            errors.push(catalog.find_any(name).unwrap_err());
        }
        for error in errors {
            let code = match why {
                Some(why) if why.contains("not-a-file") => ErrorCode::ExecutionError,
                Some(_) => ErrorCode::InternalError,
                None => ErrorCode::NotFound,
            };
            assert_eq!(error.code(), code, "{name}");
            match why {
                Some(why) => assert!(error.message().contains(why), "{name}: {error:#}"),
                None => assert!(error.message().starts_with("no skill `"), "{name}: {error:#}"),
            }
            assert!(!error.help().is_empty(), "{name}");
        }
    }
}

#[test]
fn one_glob_never_disables_another() {
    let nested = format!("'{}a{}'", "{b,".repeat(120), "}".repeat(120));
    let costly = format!("'x{}'", "?".repeat(250));
    let dir = tree(&[
        ("good/SKILL.md", &manifest("paths: ['*.rs', './docs/', '/src/**']")),
        ("nested/SKILL.md", &manifest(&format!("paths: [{nested}]"))),
        ("costly/SKILL.md", &manifest(&format!("paths: [{}]", [costly.as_str(); 200].join(", ")))),
    ]);
    let engine = Engine::builder().source(Source::project(dir.path())).build().unwrap();
    assert_eq!(codes(&engine.catalog()), ["redundant-trigger", "invalid-glob"]);
    for path in ["a/b.rs", "docs/a/b.md", "src/x/y"] {
        let found = engine.matches(repertoire::Query::new("").path(path));
        assert_eq!(found.len(), 1, "{path}");
    }
}

#[test]
fn a_path_means_the_skill_of_the_higher_source() {
    let low = tree(&[("a/SKILL.md", &manifest("name: aaa"))]);
    let high = tree(&[("a/SKILL.md", &manifest("name: zzz"))]);
    for (first, second, id) in [(&low, &high, "zzz"), (&high, &low, "aaa")] {
        let catalog = load(vec![Source::project(first.path()), Source::project(second.path())]);
        for path in ["a", "./a", "a/", "a/SKILL.md"] {
            assert_eq!(catalog.find(path, Audience::Model).unwrap().id, id, "{path}");
        }
    }
}

#[test]
fn what_is_nearly_a_skill_is_named_with_what_to_rename() {
    let dir = tree(&[
        ("skills/flat.md", "---\nname: flat\n---\nBody\n"),
        ("skills/README.md", "# Skills of this project"),
        ("skills/misnamed/SKILLS.md", "---\nname: x\n---\n"),
        ("skills/right/SKILL.md", &manifest("name: right")),
        ("skills/right/SKILLS.md", "an overview"),
        ("one/skills/SKILL.md", &manifest("name: one")),
        ("one/skills/notes.md", "---\ntitle: notes of one skill\n---\n"),
        ("docs/page.md", "---\ntitle: no skill\n---\n"),
        ("agent/Skills/a/SKILL.md", &manifest("name: a")),
        ("ends/skills/a/SKILL.md.txt", "---\nname: a\n---\n"),
        ("ends/skills/b/Skill .md", "---\nname: b\n---\n"),
        ("ends/skills/c/SKIL.md", "---\nname: c\n---\n"),
        ("ends/skills/d/SKILL (1).md", "---\nname: d\n---\n"),
        ("one-less/skill/a/SKILL.md", &manifest("name: a")),
        ("other/skill/notes.md", "---\nname: a\n---\n"),
        ("both/skills/a/SKILL.md", &manifest("name: a")),
        ("both/SKILLS/b/SKILL.md", &manifest("name: b")),
    ]);
    let found = |root: &str| {
        let findings = repertoire::catalog::near_misses(&dir.path().join(root)).into_iter();
        let told = findings.map(|finding| {
            assert_eq!(finding.code, Code::NearMiss);
            let path = finding.path.strip_prefix(dir.path()).unwrap().display().to_string();
            (path, finding.help)
        });
        told.collect::<Vec<_>>()
    };
    let wanted = |path: &str, help: &str| (path.to_owned(), help.to_owned());
    let real = |path: &std::path::Path| path.canonicalize().unwrap();
    assert_eq!(
        found("skills"),
        [
            wanted("skills/flat.md", "move it to `flat/SKILL.md`"),
            wanted("skills/misnamed/SKILLS.md", "rename it to `SKILL.md`"),
        ]
    );
    assert_eq!(
        found("ends/skills"),
        [
            wanted("ends/skills/a/SKILL.md.txt", "rename it to `SKILL.md`"),
            wanted("ends/skills/b/Skill .md", "rename it to `SKILL.md`"),
            wanted("ends/skills/c/SKIL.md", "rename it to `SKILL.md`"),
            wanted("ends/skills/d/SKILL (1).md", "rename it to `SKILL.md`"),
        ]
    );
    let same = real(&dir.path().join("both/skills")) == real(&dir.path().join("both/SKILLS"));
    let roots = [("agent/skills", "agent/Skills"), ("one-less/skills", "one-less/skill")];
    let both = (!same).then_some(("both/skills", "both/SKILLS"));
    for (root, told) in roots.into_iter().chain(both) {
        assert_eq!(found(root), [wanted(told, "rename it to `skills`")], "{root}");
    }
    for fine in ["one/skills", "docs", "other/skills", "nowhere/skills", "skills/right"] {
        assert_eq!(found(fine), [], "{fine}");
    }
}
