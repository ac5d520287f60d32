//! Turns: the result for one message of a conversation, in one call.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod missed;

use std::fs;
use std::path::Path;

use repertoire::session::Session;
use repertoire::{
    Budget, Consent, ConsentPolicy, DisclosureOptions, Engine, EngineBuilder, Error, ErrorCode,
    Format, HowToLoad, MetaQuestion, Reason, Skill, Source, Task, TaskSpawner, Turn,
};
use serde_json::json;

/// A host that spawns tasks.
#[derive(Debug)]
struct Spawner;

impl TaskSpawner for Spawner {
    fn spawn(&self, task: &Task) -> Result<String, Error> {
        Ok(format!("task-of-{}", task.skill))
    }
}

fn skill(name: &str, more: &str, body: &str) -> Skill {
    let head = format!("name: {name}\ndescription: Does {name}.\ntriggers: [{name} it]\n{more}");
    format!("---\n{head}---\n{body}\n").parse().unwrap()
}

/// Returns a builder with one skill that requests a task, and one that does not.
fn builder() -> EngineBuilder {
    Engine::builder()
        .skill(skill("dig", "context: fork\n", "Dig for $ARGUMENTS, SECRETLY."))
        .skill(skill("paint", "", "Paint OPENLY."))
}

fn run(engine: &Engine, message: &str, session: &Session) -> Turn {
    engine.turn(message, session).run().unwrap()
}

fn reasons(turn: &Turn) -> Vec<(&str, &str)> {
    turn.disclosure.omitted.iter().map(|of| (of.id.as_str(), of.reason.code())).collect()
}

#[test]
fn a_skill_that_runs_as_a_task_is_a_line_wherever_the_host_spawns_one() {
    for format in [Format::Markdown, Format::Xml, Format::Json] {
        let mut options = DisclosureOptions::default();
        options.format = format;
        let engine = builder().disclosure(options.clone()).task_spawner(Spawner).build().unwrap();
        for message in ["dig it", "use the dig skill", "show all skills", "what can you do?"] {
            let turn = run(&engine, message, &engine.session(message));
            assert!(!turn.text.contains("SECRETLY"), "{message}: {}", turn.text);
            assert!(turn.text.contains("runs as a task; Does dig."), "{message}: {}", turn.text);
            assert!(!turn.disclosure.full.contains(&"dig".into()), "{message}");
        }
        let session = engine.session("twice");
        for _ in 0..2 {
            let turn = run(&engine, "dig it", &session);
            assert_eq!(turn.disclosure.registry, ["dig"], "as often as it is asked for");
            assert_eq!(reasons(&turn), [("dig", "runs-as-task")]);
        }
        assert!(engine.prompt().text.contains("runs as a task; Does dig."));

        let inline = builder().disclosure(options).build().unwrap();
        let turn = run(&inline, "dig it", &inline.session("a"));
        assert!(turn.text.contains("SECRETLY"), "no host, no task: {}", turn.text);
        assert!(!inline.prompt().text.contains("task"));
    }
}

#[test]
fn a_command_of_a_skill_that_runs_as_a_task_spawns_it_or_joins_the_conversation() {
    let engine = builder().task_spawner(Spawner).build().unwrap();
    let turn = run(&engine, "/dig gold", &engine.session("a"));
    let task = turn.activation.unwrap().task.unwrap();
    assert_eq!(task.task_id, "task-of-dig");
    assert!(turn.text.contains("task-of-dig") && !turn.text.contains("SECRETLY"), "{}", turn.text);
    assert!(turn.disclosure.full.is_empty());

    let engine = builder().build().unwrap();
    let session = engine.session("a");
    let turn = run(&engine, "/dig gold", &session);
    assert!(turn.text.contains("Dig for gold, SECRETLY."), "{}", turn.text);
    assert_eq!(turn.disclosure.full, ["dig"]);
    assert_eq!(reasons(&run(&engine, "dig it", &session)), [("dig", "in-context")]);
}

#[test]
fn instructions_that_need_consent_are_shown_once_it_was_given() {
    let build = |policy| builder().consent(Consent::new(policy)).build().unwrap();
    let engine = build(ConsentPolicy::FirstUse);
    let session = engine.session("a");
    for message in ["paint it", "use the paint skill", "show all skills"] {
        let turn = run(&engine, message, &session);
        assert!(!turn.text.contains("OPENLY"), "{message}: {}", turn.text);
        let line = "- paint: needs the user's consent; Does paint.";
        assert!(turn.text.contains(line), "{message}: {}", turn.text);
        assert!(reasons(&turn).contains(&("paint", "needs-consent")), "{message}");
        assert!(!engine.disclose(message).text.contains("OPENLY"), "{message}");
    }
    let refused = engine.turn("/paint", &session).run().unwrap_err();
    assert_eq!(refused.code(), ErrorCode::ConsentRequired);
    let is_refusal = |error: &Error| error.code() == ErrorCode::ConsentRequired;
    let told = engine.turn("/paint", &session).refuse(is_refusal).run().unwrap();
    assert_eq!(reasons(&told), [("paint", "needs-consent")]);
    assert_eq!(told.refused.unwrap().code(), ErrorCode::ConsentRequired);
    session.consent(&"paint".into()).unwrap();
    assert!(run(&engine, "paint it", &session).text.contains("OPENLY"));

    let engine = build(ConsentPolicy::Always);
    let session = engine.session("a");
    session.consent(&"paint".into()).unwrap();
    assert!(!run(&engine, "paint it", &session).text.contains("OPENLY"), "not for an activation");
    assert!(run(&engine, "/paint", &session).text.contains("OPENLY"));
    assert_eq!(reasons(&run(&engine, "paint it", &session)), [("paint", "in-context")]);
}

#[test]
fn a_list_says_how_to_load_what_it_names() {
    let dir = tempfile::tempdir().unwrap();
    for (root, name) in [("one", "a"), ("one", "b"), ("two", "d")] {
        write(dir.path(), root, name);
    }
    let build = |roots: &[&str]| {
        let sources = roots.iter().map(|root| Source::user(dir.path().join(root)));
        Engine::builder().sources(sources).build().unwrap()
    };
    let told = |engine: &Engine, format, how_to_load: HowToLoad| {
        let mut options = DisclosureOptions::default();
        options.format = format;
        options.how_to_load = how_to_load;
        let session = Session::in_memory("s");
        engine.turn("what can you do?", &session).options(&options).preview().text
    };
    let (one, both) = (build(&["one"]), build(&["one", "two"]));
    let tool = "Load one with `use_skill`.";
    let at = |root: &str| dir.path().join(root).join("ID/SKILL.md").display().to_string();
    let file = format!("To use one, read its file first: {}", at("one"));
    let files = format!("{file}; of d: {}", at("two"));
    let own = || HowToLoad::Sentence("Ask for\none.".to_owned());
    for (engine, format, how, expected) in [
        (&one, Format::Markdown, HowToLoad::Unsaid, format!("skills\n\n{tool}\n\n- a: ")),
        (
            &one,
            Format::Xml,
            HowToLoad::Unsaid,
            format!("<available_skills how_to_load=\"{tool}\">"),
        ),
        (&one, Format::Json, HowToLoad::Unsaid, format!("{{\"how_to_load\":\"{tool}\",")),
        (&one, Format::Markdown, own(), "skills\n\nAsk for one.\n\n- a: ".to_owned()),
        (&one, Format::Markdown, HowToLoad::File, format!("skills\n\n{file}\n\n- a: ")),
        (&both, Format::Markdown, HowToLoad::File, files),
    ] {
        let text = told(engine, format, how.clone());
        assert!(text.contains(&expected), "{how:?} {format:?}: {text}");
    }
    // Outside of a conversation, the model may not have the tool.
    assert!(!one.disclose("what can you do?").text.contains("use_skill"));
    // If there is nothing left to load, the text does not mention loading.
    let session = one.session("a");
    for id in ["a", "b"] {
        one.activate(id, "", &session).unwrap();
    }
    let turn = run(&one, "a it, and b it", &session);
    assert_eq!(turn.disclosure.registry, ["b", "a"]);
    assert!(!turn.text.contains("use_skill"), "{}", turn.text);
}

fn write(dir: &Path, root: &str, id: &str) {
    let dir = dir.join(root).join(id);
    let name = id.rsplit('/').next().unwrap();
    fs::create_dir_all(&dir).unwrap();
    let text = format!("---\nname: {name}\ndescription: d\ntriggers: [{name} it]\n---\nx\n");
    fs::write(dir.join("SKILL.md"), text).unwrap();
}

#[test]
fn a_skill_whose_instructions_are_there_is_not_loaded_again() {
    let engine = builder().build().unwrap();
    let session = engine.session("a");
    let tools = run(&engine, "paint it", &session).tools;
    let again = serde_json::to_value(tools.call("use_skill", &json!({"skill": "paint"}))).unwrap();
    assert_eq!(again["data"], json!({"id": "paint", "in_context": true}));
    assert!(again["text"].as_str().unwrap().contains("follow them"), "{again}");
    let uses = |id: &str| session.state().unwrap().of(&id.into()).unwrap().uses;
    assert_eq!(uses("paint"), 2);

    let call = json!({"skill": "paint", "args": "the door"});
    let more = serde_json::to_value(tools.call("use_skill", &call)).unwrap();
    assert!(more["text"].as_str().unwrap().contains("ARGUMENTS: the door"), "{more}");
    session.compacted().unwrap();
    let lost = serde_json::to_value(tools.call("use_skill", &json!({"skill": "paint"}))).unwrap();
    assert!(lost["text"].as_str().unwrap().contains("OPENLY"), "{lost}");
}

#[test]
fn a_turn_is_asked_with_options_paths_and_a_budget_and_previewed_without_a_trace() {
    let engine = builder()
        .skill(skill("rust", "paths: ['*.rs']\n", "Mind the borrow checker."))
        .build()
        .unwrap();
    let session = engine.session("a");
    let preview = engine.turn("paint it", &session).preview();
    assert_eq!((preview.full, session.state().unwrap().skills.len()), (vec!["paint".into()], 0));

    let tight = engine.turn("paint it", &session).budget(Budget::Characters(0)).run().unwrap();
    assert!(matches!(tight.disclosure.omitted[0].reason, Reason::OverBudget { .. }));
    let mut none = DisclosureOptions::default();
    none.max_skills = 0;
    let lines = engine.turn("paint it", &session).options(&none).run().unwrap();
    assert_eq!(reasons(&lines), [("paint", "below-limit")]);
    let touched = engine.turn("", &session).paths(["src/main.rs"]).run().unwrap();
    assert_eq!(touched.disclosure.full, ["rust"]);
    let meta = run(&engine, "what can you do?", &session).disclosure.meta;
    assert_eq!(meta, Some(MetaQuestion::Registry));
    assert_eq!(engine.turn("paint it", &session).explain(9).matches[0].id, "paint");
    assert_eq!(engine.turn("paint it", &session).find_skills(9)[0].id, "paint");
}

#[test]
fn a_command_that_cannot_be_followed_is_told_beside_what_the_message_calls_for() {
    let engine = builder()
        .skill(skill("gone", "requires_bins: [no-such-program-anywhere]\n", "x"))
        .build()
        .unwrap();
    let turn = run(&engine, "/gone paint it", &engine.session("a"));
    assert_eq!(turn.refused.unwrap().code(), ErrorCode::NotFound);
    assert!(turn.text.starts_with("The user asked for a skill by name: "), "{}", turn.text);
    assert!(turn.text.contains("OPENLY") && turn.activation.is_none(), "{}", turn.text);
}

#[test]
fn the_debug_text_of_an_engine_and_of_a_turn_is_a_summary() {
    let engine = builder().build().unwrap();
    let text = format!("{engine:?}");
    assert_eq!(text, "Engine { skills: 2, .. }");
    let turn = format!("{:?}", run(&engine, "paint it", &engine.session("a")));
    assert!(turn.contains("OPENLY") && turn.len() < 5_000, "{} characters", turn.len());
}

#[test]
fn a_command_with_arguments_gets_them_outside_of_a_conversation_too() {
    let engine = builder().skill(skill("review", "", "Review $ARGUMENTS.")).build().unwrap();
    let disclosure = engine.disclose("/review PR #42");
    assert!(disclosure.text.contains("Review PR #42."), "{}", disclosure.text);
    assert!(!disclosure.text.contains("$ARGUMENTS"));
    assert_eq!(disclosure.full, ["review"]);
    assert!(engine.disclose("/dig gold").text.contains("Dig for gold"));
    // Without arguments, the placeholder stands for the request in the conversation.
    assert!(engine.disclose("/review").text.contains("$ARGUMENTS"));
    let spawns = builder().task_spawner(Spawner).build().unwrap();
    let disclosure = spawns.disclose("/dig gold");
    assert!(disclosure.text.contains("runs as a task") && disclosure.full.is_empty());
    let session = engine.session("s");
    assert_eq!(
        run(&engine, "/review PR #42", &session).text,
        engine.disclose("/review PR #42").text
    );
}
