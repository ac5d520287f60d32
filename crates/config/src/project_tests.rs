//! The file of a project takes nothing away from the user, and raises nothing: every key of the schema is tried
//! with values that would.

use std::fs;

use repertoire::Engine;
use repertoire::catalog::Status;
use repertoire::disclosure::{DisclosureOptions, PromptOptions};

use super::schema::{KEYS, Kind, ProjectMay};
use super::*;
use crate::tests::World;

/// Values of a key that turn off, raise, flood or blind.
fn hostile(key: &schema::Key) -> Vec<&'static str> {
    match key.kind {
        Kind::Switch => vec!["true", "false"],
        Kind::Network => vec!["true", "false", "[\"localhost:80\"]", "[\"*\"]"],
        Kind::Hosts => vec!["true", "false", "[\"a\"]"],
        Kind::Count(_) => vec!["0", "1", "100_000_000"],
        Kind::Seconds | Kind::Interval => vec!["0.001", "30_000_000"],
        Kind::Budget => {
            vec!["0", "1", "3999", "100_000_000", "\"1t\"", "\"100%\"", "\"0%\"", "\"99999999t\""]
        }
        Kind::Margin => vec!["true", "false", "{ worth = 0, lead = 0, words = 0 }"],
        Kind::Meaning => vec!["true", "false", "\"other\""],
        Kind::Texts | Kind::Closed => {
            vec![
                "[\"the\"]", "[\"*\"]", "[\"mine\", \"kept\"]", "[\"mine\"]", "\"mine, kept\"",
                "[3, \"mine\"]",
            ]
        }
        Kind::Shown => vec![
            "{ \"*\" = \"off\" }",
            "{ mine = \"manual\", kept = \"name\" }",
            "{ own = \"pinned\", mine = 3 }",
            "{ acme = { \"*\" = \"line\" } }",
            "\"off\"",
        ],
        Kind::Sources => vec!["[\"..\"]", "[\"/\"]", "[\"inside\"]"],
        Kind::Paths => vec!["[\"/\"]"],
        Kind::Variables => vec!["[\"SECRET\"]"],
        Kind::Command | Kind::Text => vec!["\"touch x\""],
        Kind::Table => vec!["{ a = 1 }"],
        Kind::Address => vec!["\"redis://evil\""],
        Kind::Keys => vec!["\"RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3\""],
    }
}

const MINE: &str =
    "---\nname: mine\ndescription: Mows lawns.\ntriggers: [mow]\n---\nMow the lawn.\n";
const KEPT: &str = "---\nname: kept\ndescription: Keeps bees.\nalways: true\n---\nKeep the bees.\n";
const OWN: &str = "---\nname: own\ndescription: Owns it.\ntriggers: [owning]\n---\nOwn it.\n";

fn world(project: &str) -> World {
    let world = World::new("", project);
    for (path, text) in [
        ("home/.acme/skills/mine/SKILL.md", MINE),
        ("home/.acme/skills/kept/SKILL.md", KEPT),
        ("work/.acme/skills/own/SKILL.md", OWN),
    ] {
        fs::create_dir_all(world.path(path).parent().unwrap()).unwrap();
        fs::write(world.path(path), text).unwrap();
    }
    fs::create_dir_all(world.path("work/inside")).unwrap();
    world
}

/// The user's own skills that are shown: for each message those in full and as lines, and those of the prompt.
fn effects(config: &Config) -> Vec<String> {
    let engine = config.apply(Engine::builder()).build().unwrap();
    let long = format!("{} mow {}", "x ".repeat(2000), "x ".repeat(2000));
    let messages = ["mow", "the bees and the grass", "\"mow\"", &long];
    let own = |ids: &[repertoire::SkillId]| {
        ids.iter().filter(|id| id.as_str() != "own").map(ToString::to_string).collect::<Vec<_>>()
    };
    let shown = messages.iter().map(|message| {
        let disclosed = engine.disclose(message);
        format!("{message:.20}: {:?} {:?}", own(&disclosed.full), own(&disclosed.registry))
    });
    let prompt = format!("{:?}", own(&engine.prompt().included));
    shown.chain([prompt]).collect()
}

#[test]
fn no_key_of_a_project_takes_anything_away_or_raises_it() {
    let nothing = world("");
    let plain = nothing.config();
    let wanted = effects(&plain);
    assert!(
        wanted[0].contains("[\"mine\"]") && wanted.last().unwrap().contains("kept"),
        "{wanted:?}"
    );
    let options = plain.disclosure(DisclosureOptions::default());
    for key in KEYS {
        let name = key.name.replace("toolsets.*", "toolsets.Any").replace("fetch.*", "fetch.any");
        let (section, name) = name.rsplit_once('.').unwrap();
        for value in hostile(key) {
            let text = format!("[{section}]\n{name} = {value}\n");
            let world = world(&text);
            let config = world.config();
            let disclosure = config.disclosure(DisclosureOptions::default());
            assert!(disclosure.max_skills <= options.max_skills, "{text}");
            assert!(disclosure.max_all_skills <= options.max_all_skills, "{text}");
            assert!(disclosure.max_lines <= options.max_lines, "{text}");
            assert_eq!(disclosure.budget, options.budget, "{text}");
            let prompt = config.prompt(PromptOptions::default());
            assert_eq!(prompt.budget, None, "{text}");
            assert_eq!(effects(&config), wanted, "{text}");
        }
    }
}

#[test]
fn each_listed_attack_is_refused_with_a_finding() {
    for text in [
        "[skills]\ndisabled = [\"mine\"]",
        "[skills]\ndisabled = [\"kept\"]",
        "[skills]\ndisabled = [\"*\"]",
        "[skills]\ndisabled = \"mine\"",
        "[sources]\nstandard = false",
        "[limits]\nbudget = 100_000_000",
        "[limits]\nprompt_budget = 100_000_000",
        "[limits]\nprompt_budget = \"16001\"",
        "[limits]\nbudget = 1",
        "[limits]\nmax_skills = 0",
        "[limits]\nmax_skills = 100",
        "[limits]\nmax_query_bytes = 1",
        "[limits]\nwindow = 100_000_000",
        "[meta_phrases]\nshow_all = [\"the\"]",
        "[meta_phrases]\nregistry = [\"the\"]",
        "[toolsets.mcp.config]\nenv = { NODE_OPTIONS = \"--import=data:text/javascript,evil\" }",
        "[toolsets.\"own:mcp\".config]\nargs = [\"--eval\"]",
        "[toolsets.\"own:mcp\"]\nconfig = { env = {} }",
        "[routing]\nrelevance = false",
        "[routing]\ninflect = true",
        "[bundled]\ncommand_line = false",
    ] {
        let engine = world(text).config().apply(Engine::builder()).build().unwrap();
        let findings = engine.diagnostics();
        let refused = findings.iter().filter(|found| found.code == Code::RefusedSetting);
        let refused: Vec<_> = refused.collect();
        assert_eq!(refused.len(), 1, "{text}: {findings:?}");
        assert!(refused[0].line > 0 && !refused[0].help.is_empty(), "{refused:?}");
        for id in ["mine", "kept"] {
            let status = engine.catalog().get(id).map(|entry| entry.status.clone());
            assert_eq!(status, Some(Status::Available), "{text}: {id}");
        }
    }
}

#[test]
fn a_project_narrows_its_own() {
    let engine = |text: &str| world(text).config().apply(Engine::builder()).build().unwrap();
    let own_is_on = |engine: &Engine| {
        engine.catalog().get("own").is_some_and(|entry| entry.status == Status::Available)
    };
    for text in ["", "[limits]\nmax_skills = 1\nbudget = 4000\nprompt_budget = \"1000t\""] {
        let engine = engine(text);
        assert!(own_is_on(&engine) && engine.diagnostics().is_empty(), "{text}");
    }
    let off = engine("[skills]\ndisabled = [\"own\"]");
    assert!(!own_is_on(&off) && off.diagnostics().is_empty(), "{:?}", off.diagnostics());
    let off = engine("[sources]\nstandard = false");
    assert!(!own_is_on(&off) && off.catalog().get("mine").is_some());
}

#[test]
fn a_project_turns_nothing_on_that_the_user_turned_off() {
    let world = world("[skills]\nenabled = [\"mine\", \"own\"]");
    fs::write(world.path("home/.acme/config.toml"), "[skills]\ndisabled = [\"mine\"]\n").unwrap();
    let engine = world.config().apply(Engine::builder()).build().unwrap();
    let mine = engine.catalog().get("mine").unwrap().status.clone();
    assert!(matches!(mine, Status::Disabled { .. }), "{mine:?}");
    assert_eq!(engine.diagnostics().len(), 1, "{:?}", engine.diagnostics());
}

#[test]
fn the_same_id_wins_but_not_over_what_the_user_keeps() {
    let winner = |user: &str, project: &str, id: &str| -> Scope {
        let world = world(project);
        fs::write(world.path("home/.acme/config.toml"), user).unwrap();
        for name in ["mine", "kept"] {
            let path = world.path(&format!("work/.acme/skills/{name}/SKILL.md"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("---\nname: {name}\ndescription: Evil.\n---\nEvil.\n"))
                .unwrap();
        }
        let engine = world.config().apply(Engine::builder()).build().unwrap();
        let shadowed = engine.diagnostics();
        assert!(shadowed.iter().any(|found| found.code == Code::Shadowed), "{shadowed:?}");
        engine.catalog().get(id).unwrap().scope
    };
    assert_eq!(winner("", "", "mine"), Scope::Project);
    assert_eq!(winner("", "", "kept"), Scope::User);
    assert_eq!(winner("[skills]\nenabled = [\"mine\"]", "", "mine"), Scope::User);
    // A skill that the project turns off takes nothing away.
    assert_eq!(winner("", "[skills]\ndisabled = [\"mine\"]", "mine"), Scope::User);
}

/// A skill of a project that nobody can use takes no skill of the user's away.
#[test]
fn a_projects_skill_that_cannot_be_used_hides_nothing() {
    for (fields, wanted) in [
        ("", Scope::Project),
        ("requires_bins: [no-such-program]", Scope::User),
        ("requires_env: [NO_SUCH_VARIABLE]", Scope::User),
        ("disable-model-invocation: true\nuser-invocable: false", Scope::User),
    ] {
        let world = world("");
        let path = world.path("work/.acme/skills/mine/SKILL.md");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("---\nname: mine\ndescription: d\n{fields}\n---\nEvil.\n"))
            .unwrap();
        let engine = world.config().apply(Engine::builder()).build().unwrap();
        assert_eq!(engine.catalog().get("mine").unwrap().scope, wanted, "{fields}");
    }
}

/// The skills of a project neither raise the budget of the catalog prompt, nor take the place of the user's.
#[test]
fn the_skills_of_a_project_do_not_flood_the_catalog_prompt() {
    const BUDGET: usize = 16_000;
    for (fields, n_skills) in [("always: true", 300), ("", 2_000), ("acme: {always: true}", 300)] {
        let world = world("");
        for n in 0..n_skills {
            let path = world.path(&format!("work/.acme/skills/a{n:04}/SKILL.md"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let description = "Floods. ".repeat(100);
            let head = format!("name: a{n:04}\ndescription: {description}\n{fields}");
            fs::write(path, format!("---\n{head}\n---\nFlood.\n")).unwrap();
        }
        let prompt = world.config().apply(Engine::builder()).build().unwrap().prompt();
        let n_chars = prompt.text.chars().count();
        assert!(n_chars <= BUDGET + 4_000 + 200, "{n_skills} with {fields}: {n_chars}");
        for id in ["kept", "mine"] {
            assert!(prompt.included.iter().any(|it| it.as_str() == id), "{n_skills}: {id}");
        }
        assert!(prompt.text.contains("Keeps bees."), "what the user keeps is never shortened");
        assert_eq!(prompt.included.len() + prompt.omitted.len(), n_skills + 3);
    }
}

/// However many skills of a project match a message, and however well, the best of the user's is shown as before, and
/// as a line if it was one.
#[test]
fn the_skills_of_a_project_leave_the_users_a_place_for_each_message() {
    let long = "Mow the lawn please. ".repeat(2_000);
    let body = "Flood the lawn. ".repeat(1_200);
    let floods = [
        ("phrases", "triggers: [mow the lawn, please mow, lawn]", "Floods.", "Flood."),
        ("patterns", "triggers: [mow, lawn, please]\npatterns: [mow.*lawn]", "Mow it.", "Flood."),
        ("descriptions", "triggers: [mow]", &*long, "Flood."),
        ("bodies", "triggers: [mow the lawn]", "Floods.", &*body),
        ("always", "triggers: [mow the lawn]\nalways: true", "Floods.", &*body),
        ("relevance", "", "Mows lawns. Please mow the lawn.", "Mow the lawn."),
    ];
    for (name, fields, description, body) in floods {
        let world = world("");
        let untriggered = "---\nname: rake\ndescription: Rakes leaves in gardens.\n---\nRake.\n";
        let rake = world.path("home/.acme/skills/rake/SKILL.md");
        fs::create_dir_all(rake.parent().unwrap()).unwrap();
        fs::write(rake, untriggered).unwrap();
        let engine = || world.config().apply(Engine::builder()).build().unwrap();
        let message = "please mow the lawn";
        assert_eq!(engine().disclose(message).full, ["mine"], "{name}");
        for n in 0..12 {
            let path = world.path(&format!("work/.acme/skills/a{n:02}/SKILL.md"));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let head = format!("name: a{n:02}\ndescription: {description}\n{fields}");
            let rake = "raking leaves, rake leaves in gardens";
            fs::write(path, format!("---\n{head}\nwhen_to_use: {rake}\n---\n{body}\n")).unwrap();
        }
        let engine = engine();
        let shown = engine.disclose(message);
        let ids =
            |ids: &[repertoire::SkillId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(ids(&shown.full).contains(&"mine".to_owned()), "{name}: {:?}", shown.full);
        assert!(shown.full.len() <= 3 && shown.registry.len() <= 5, "{name}: {shown:?}");
        let shown = engine.disclose("rake the leaves in our gardens");
        let all = [ids(&shown.full), ids(&shown.registry)].concat();
        assert!(all.contains(&"rake".to_owned()), "{name}: {all:?}");
        for question in ["show all skills", "which skills do you have?"] {
            let shown = engine.disclose(question);
            let all = [ids(&shown.full), ids(&shown.registry)].concat();
            for own in ["kept", "mine", "rake"] {
                assert!(all.contains(&own.to_owned()), "{name}, {question}: {all:?}");
            }
        }
        let explained = engine.explain(message, 3);
        assert_eq!(explained.matches.len(), if fields.is_empty() { 1 } else { 3 }, "{name}");
    }
}

/// However much the file of a project has, it takes little time from the user, and no more is read.
#[test]
fn a_large_file_of_a_project_is_left_out() {
    let lines = "x = 1\n".repeat(6_000);
    for (text, is_read) in [("# \n".repeat(10_000), true), (lines, false)] {
        let text = format!("[skills]\ndisabled = [\"own\"]\n{text}");
        assert_eq!(text.len() <= 32 * 1024, is_read);
        let engine = world(&text).config().apply(Engine::builder()).build().unwrap();
        let own = engine.catalog().get("own").map(|entry| entry.status == Status::Available);
        assert_eq!(own, Some(!is_read), "{:?}", engine.diagnostics());
    }
}

#[test]
fn a_project_may_do_what_the_page_says() {
    let own = KEYS.iter().filter(|key| key.project == ProjectMay::Own).map(|key| key.name);
    let wanted = ["sources.", "skills.", "toolsets.*.config", "fetch."];
    for name in own {
        assert!(wanted.iter().any(|section| name.starts_with(section)), "{name}");
    }
}
