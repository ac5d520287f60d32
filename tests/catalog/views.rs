//! Views: roles over one engine see what engines with their allowlists would show.

use std::sync::{Arc, Mutex};

use super::*;
use repertoire::catalog::Refreshed;
use repertoire::matcher::MeaningModel;
use repertoire::{Rejection, Session, ToolFormat};
use serde_json::json;

const ROLES: [&[&str]; 7] = [
    &["deploy", "release-notes"],
    &["deploy-api", "kit/*", "forgotten"],
    &["/Release_Notes", "closed"],
    &["broken", "nowhere"],
    &["*"],
    &[],
    &["a-0", "a-1", "deploy", "deploy-api, tables"],
];

const MESSAGES: [&str; 10] = [
    "use the deploy-api skill",
    "deploy the api now",
    "/deploy please",
    "write the release notes, not /deploy",
    "item 7 and then ship it",
    "a pull request for item 3, never in production",
    "open tables.csv",
    "what can you do?",
    "use the deploy and release-notes skills",
    "thanks",
];

/// Sources with names inside names, shared triggers, excludes, patterns, sub-skills, closed, shadowed and
/// broken skills.
fn place() -> TempDir {
    let mut files = vec![
        (
            "deploy/SKILL.md".to_owned(),
            manifest("triggers: {keywords: [ship it, the api], exclude: [production]}"),
        ),
        ("deploy-api/SKILL.md".to_owned(), manifest("triggers: [the api, pull request]")),
        ("release-notes/SKILL.md".to_owned(), manifest("triggers: [release notes]")),
        ("kit/SKILL.md".to_owned(), manifest("name: kit")),
        ("kit/notes/SKILL.md".to_owned(), manifest("triggers: [the release]")),
        ("tables/SKILL.md".to_owned(), manifest("triggers: {patterns: ['\\w+\\.csv']}")),
        (
            "closed/SKILL.md".to_owned(),
            manifest("disable-model-invocation: true\ntriggers: [ship it]"),
        ),
        (
            "forgotten/SKILL.md".to_owned(),
            manifest("requires_env: [NO_SUCH_VARIABLE]\ntriggers: [ship it]"),
        ),
        ("broken/SKILL.md".to_owned(), "---\nname: [\n---\n".to_owned()),
    ];
    files.extend((0..12).map(|n| {
        let fields =
            format!("triggers: {{keywords: [item {n}, pull request], exclude: [never item {n}]}}");
        (format!("a-{n}/SKILL.md"), manifest(&fields))
    }));
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
    tree(&files)
}

/// An engine that ranks by triggers only: relevance weighs words by all skills of an engine.
fn engine(dir: &TempDir, allowlist: Allowlist) -> Engine {
    let builder = Engine::builder().source(Source::project(dir.path())).allow(allowlist);
    let builder = builder.map_disclosure(|mut options| {
        (options.relevance, options.max_lines) = (None, 0);
        options
    });
    builder.meaning(None::<Arc<MeaningModel>>).build().unwrap()
}

fn role(skills: &[&str]) -> Allowlist {
    Allowlist::from_entries(Some(skills))
}

/// Everything that an engine shows without relevance.
fn shown(engine: &Engine) -> Vec<String> {
    let catalog = engine.catalog();
    let mut shown: Vec<String> = catalog
        .entries()
        .map(|entry| {
            format!("{} {:?} {:?}", entry.id, entry.status, catalog.parent(entry).map(|of| &of.id))
        })
        .collect();
    shown.extend(catalog.diagnostics().iter().map(ToString::to_string));
    for name in ["deploy", "/deploy-api", "broken", "closed", "kit:notes", "tables"] {
        for audience in [Audience::Model, Audience::User] {
            shown.push(format!("{:?}", catalog.find(name, audience).map(|entry| &entry.id)));
        }
    }
    shown.push(engine.prompt().text);
    shown.push(format!("{:?}", engine.commands()));
    for message in MESSAGES {
        shown.push(format!("{message}: {:?}", engine.matches(message)));
        let disclosure = engine.disclose(message);
        shown.push(format!("{:?} {}", disclosure.omitted, disclosure.text));
        let mut rejected: Vec<Rejection> = engine.explain(message, 2).rejected;
        rejected.sort_by(|a, b| a.id.cmp(&b.id));
        shown.push(format!("{rejected:?}"));
    }
    let session = Session::in_memory("tools");
    let tools = engine.tools(&session);
    shown.push(tools.definitions(ToolFormat::Mcp).to_string());
    let turn = engine.turn("/deploy now", &session).run().unwrap();
    shown.push(format!("{} {:?}", turn.text, turn.refused));
    for name in ["tables", "deploy", "closed"] {
        let answer = tools.call("use_skill", &json!({"skill": name}));
        shown.push(serde_json::to_string(&answer).unwrap());
    }
    shown
}

#[test]
fn a_view_shows_what_an_engine_with_its_allowlist_shows() {
    let dir = place();
    let whole = engine(&dir, Allowlist::default());
    for skills in ROLES {
        let of_view = shown(&whole.view(role(skills)));
        for (of_view, of_engine) in of_view.iter().zip(&shown(&engine(&dir, role(skills)))) {
            assert_eq!(of_view, of_engine, "{skills:?}");
        }
    }
    // A view of a view has the skills of both.
    let both = whole.view(role(&["deploy", "tables"])).view(role(&["tables", "kit"]));
    assert_eq!(ids(&both.catalog()), ["tables"]);
    assert_eq!(
        shown(&whole),
        shown(&engine(&dir, Allowlist::default())),
        "the engine is unchanged"
    );
}

#[test]
fn relevance_finds_only_the_skills_of_a_view_and_shares_one_index() {
    let texts = ["Waters the garden plants", "Waters tomatoes in the garden", "Feeds the cat"];
    let skill = |n: usize| -> Skill {
        format!("---\nname: s{n}\ndescription: {} daily.\n---\nBody\n", texts[n % 3])
            .parse()
            .unwrap()
    };
    let whole = (0..30).fold(Engine::builder(), |all, n| all.skill(skill(n))).build().unwrap();
    let view = whole.view(role(&["s4", "s8", "s29"]));
    let found = |engine: &Engine, message: &str| -> Vec<String> {
        engine.find_skills(message, 40).into_iter().map(|found| found.id.to_string()).collect()
    };
    // With meaning, skills that share no word may follow.
    assert!(found(&whole, "water the tomatoes").len() >= 20);
    let first = |message: &str, n: usize| found(&view, message)[..n].to_vec();
    assert_eq!(first("water the tomatoes", 1), ["s4"]);
    let mut fed = first("feed my cat", 2);
    fed.sort_unstable();
    assert_eq!(fed, ["s29", "s8"]);
    let of_view = |id: &String| ["s4", "s8", "s29"].contains(&id.as_str());
    assert!(found(&view, "water the tomatoes").iter().all(of_view));
    assert!(found(&whole.view(role(&["s0"])), "feed my cat").iter().all(|id| id == "s0"));
    assert!(Arc::ptr_eq(&whole.relevance(), &view.relevance()));
    let explained = view.explain("water the tomatoes", 5);
    let relevant: Vec<&str> = explained.relevant.iter().map(|of| of.found.id.as_str()).collect();
    assert_eq!(relevant[0], "s4");
    assert!(relevant.iter().all(|id| ["s4", "s8", "s29"].contains(id)), "{relevant:?}");
}

#[test]
fn views_follow_every_refresh_and_hear_only_of_their_own_skills() {
    let dir = place();
    let whole = engine(&dir, Allowlist::default());
    let view = whole.view(role(&["deploy", "new-*"]));
    let heard: Arc<Mutex<Vec<Refreshed>>> = Arc::default();
    let note = Arc::clone(&heard);
    let subscription =
        view.subscribe(move |refreshed| note.lock().unwrap().push(refreshed.clone()));
    let add = |name: &str| {
        fs::create_dir(dir.path().join(name)).unwrap();
        fs::write(dir.path().join(name).join("SKILL.md"), manifest("")).unwrap();
    };

    add("other");
    assert_eq!(whole.refresh().unwrap().added, ["other"]);
    assert!(heard.lock().unwrap().is_empty() && view.catalog().get("other").is_none());
    add("new-one");
    assert_eq!(view.refresh().unwrap().added, ["new-one"]);
    assert!(whole.catalog().get("new-one").is_some() && view.catalog().get("new-one").is_some());
    assert_eq!(heard.lock().unwrap()[0].added, ["new-one"]);
    fs::remove_dir_all(dir.path().join("deploy")).unwrap();
    let other = whole.view(role(&["tables"]));
    assert!(other.refresh().unwrap().is_empty(), "its skills did not change");
    assert_eq!(heard.lock().unwrap()[1].removed, ["deploy"]);
    assert_eq!(ids(&view.catalog()), ["new-one"]);
    drop((subscription, view));
    assert!(whole.refresh().unwrap().is_empty());
}

#[test]
fn a_view_counts_its_own_work_and_lasts_without_its_engine() {
    let dir = place();
    let whole = engine(&dir, Allowlist::default());
    let view = whole.view(role(&["deploy"]));
    view.turn("ship it", &view.session("a")).run().unwrap();
    assert_eq!((view.counts().full, whole.counts().queries), (1, 0));
    assert!(view.is_clone_of(&view.clone()) && !view.is_clone_of(&whole));
    let weak = view.downgrade();
    drop(whole);
    assert_eq!(ids(&weak.upgrade().unwrap().catalog()), ["deploy"]);
    drop(view);
    assert!(weak.upgrade().is_none());
}
