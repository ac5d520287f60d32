//! Whole conversations, with the events that the real programs send.

use std::fs;

use serde_json::{Value, json};

use super::{hook, log, place};
use crate::binary::Place;

/// The addition that Gemini CLI makes to a prompt: it passes the answer to `SessionStart` on to
/// `BeforeAgent`.
const GIVEN: &str = "<hook_context>## Available skills\n\n- deploy: Deploys the site.\n\n\
                     - long: Knows it all, the encyclopedia.</hook_context>\n\n";

/// Returns the context that the hook of `agent` adds.
fn added(place: &Place, agent: &str, event: &Value) -> String {
    let run = hook(place, agent, &event.to_string()).exits(0);
    if run.stdout.is_empty() {
        return String::new();
    }
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    let context = [
        &answer["hookSpecificOutput"]["additionalContext"],
        &answer["additionalContext"],
        &answer["additional_context"],
        &answer["context"],
    ];
    context.into_iter().find_map(Value::as_str).unwrap().to_owned()
}

/// Returns an event of `agent`, all in one conversation.
fn event(agent: &str, name: &str, fields: &Value) -> Value {
    let mut event = if agent == "copilot" {
        json!({"sessionId": "s"})
    } else {
        json!({"hook_event_name": name, "session_id": "s"})
    };
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    event
}

fn prompt_event(agent: &str) -> &'static str {
    match agent {
        "gemini" => "BeforeAgent",
        "cursor" => "beforeSubmitPrompt",
        _ => "UserPromptSubmit",
    }
}

fn say(place: &Place, agent: &str, prompt: &str) -> String {
    added(place, agent, &event(agent, prompt_event(agent), &json!({"prompt": prompt})))
}

fn start(place: &Place, agent: &str, source: &str) -> String {
    let name = if agent == "cursor" { "sessionStart" } else { "SessionStart" };
    added(place, agent, &event(agent, name, &json!({"source": source})))
}

fn end(place: &Place, agent: &str, reason: &str) -> String {
    let name = if agent == "cursor" { "sessionEnd" } else { "SessionEnd" };
    added(place, agent, &event(agent, name, &json!({"reason": reason})))
}

#[test]
fn what_gemini_puts_before_the_message_is_not_matched() {
    let place = place();
    for (session, prompt, fires) in [
        ("a", format!("{GIVEN}write a haiku"), None),
        ("b", format!("{GIVEN}deploy it"), Some("deploy")),
        ("c", format!("{GIVEN}read the encyclopedia"), Some("long")),
        ("d", "what does <hook_context>deploy</hook_context> do?".to_owned(), Some("deploy")),
        ("e", GIVEN.to_owned(), None),
    ] {
        let fields = json!({"prompt": prompt, "session_id": session});
        let text = added(&place, "gemini", &event("gemini", "BeforeAgent", &fields));
        let fired =
            ["## Skill: deploy", "- long: called for, but too long"].map(|of| text.contains(of));
        assert_eq!(fired, ["deploy", "long"].map(|of| Some(of) == fires), "{prompt}: {text}");
    }
}

#[test]
fn gemini_gets_the_list_with_the_first_message() {
    let place = place();
    let has_list = |text: &str| text.contains("- styles: Writes style sheets.");
    assert_eq!(start(&place, "gemini", "startup"), "", "it would stand before the message");
    let first = say(&place, "gemini", "deploy it");
    assert!(has_list(&first) && first.contains("## Skill: deploy"), "{first}");
    assert!(!has_list(&say(&place, "gemini", "and now?")));
    end(&place, "gemini", "exit");
    assert_eq!(start(&place, "gemini", "resume"), "");
    let resumed = say(&place, "gemini", "deploy it again");
    assert!(!has_list(&resumed) && !resumed.contains("## Skill"), "{resumed}");
    assert_eq!(log(&place), "");
}

#[test]
fn the_list_gets_the_room_that_the_skill_leaves() {
    let place = place();
    for n in 0..150 {
        let text = format!("---\nname: s{n}\ndescription: {}\n---\nx\n", "Knows it. ".repeat(9));
        place.write(&format!(".repertoire/skills/s{n}/SKILL.md"), text);
    }
    let text = format!("---\ndescription: Big.\ntriggers: [whale]\n---\n{}\n", "x".repeat(8_500));
    place.write(".repertoire/skills/big/SKILL.md", text);
    for prompt in ["the whale", "/big now", "write a haiku"] {
        let place = &place;
        let fields = json!({"prompt": prompt, "session_id": prompt});
        let text = added(place, "gemini", &event("gemini", "BeforeAgent", &fields));
        assert!(text.contains("## Available skills"), "{prompt}: {text}");
        assert_eq!(text.contains("xxxx"), prompt != "write a haiku", "{prompt}: {text}");
        assert!(text.chars().count() <= 10_000, "{prompt}: {}", text.chars().count());
    }
}

#[test]
fn instructions_that_were_left_out_do_not_count_as_shown() {
    for agent in ["claude-code", "codex"] {
        let place = place();
        let path = place.path().join(".repertoire/skills/long/SKILL.md");
        let note = format!("Read them before you go on: {}", path.display());
        let typed = say(&place, agent, "/long to staging");
        assert!(typed.ends_with(&note), "{typed}");
        let is_told = typed.starts_with("The user typed the command of the skill `long`");
        assert_eq!(is_told, agent == "claude-code", "{typed}");
        let again = say(&place, agent, "read the encyclopedia");
        let line = "- long: called for, but too long to be shown here";
        assert!(again.contains(line) && !again.contains("given above"), "{again}");
        assert_eq!(again.matches("too long").count(), 1, "{again}");
        // A command that fits counts as shown.
        assert!(say(&place, agent, "/deploy it").contains("Run the pipeline."));
        assert!(!say(&place, agent, "deploy it").contains("Run the pipeline."));
    }
}

#[test]
fn a_compression_counts_once_the_record_shows_it() {
    let place = place();
    let record = place.path().join("chat.jsonl");
    let dir = place.path().join(".repertoire/skills/deploy");
    let ours = format!("## Available skills\\n\\nBase directory: {}\\n\\nRun", dir.display());
    let env = "{\"$set\":{\"messages\":[{\"type\":\"user\",\"content\":\"env\"}]}}\n".to_owned();
    let body = format!("{{\"type\":\"user\",\"content\":[{{\"text\":\"{ours}\"}}]}}\n");
    let say = |prompt: &str| {
        let fields = json!({"prompt": prompt, "transcript_path": record});
        let text = added(&place, "gemini", &event("gemini", "BeforeAgent", &fields));
        (text.contains("## Skill: deploy"), text.contains("- styles: "))
    };
    let compress = |trigger: &str| {
        let text =
            added(&place, "gemini", &event("gemini", "PreCompress", &json!({"trigger": trigger})));
        assert_eq!(text, "");
    };
    assert_eq!(say("deploy it"), (true, true));
    fs::write(&record, format!("{env}{body}")).unwrap();
    for _ in 0..3 {
        compress("auto");
        assert_eq!(say("go on"), (false, false), "nothing was compressed");
    }
    compress("auto");
    fs::write(&record, format!("{env}{body}{env}")).unwrap();
    assert_eq!(say("go on"), (true, true), "all of it was");
    fs::write(&record, format!("{env}{body}{env}{body}")).unwrap();
    compress("auto");
    assert_eq!(say("go on"), (false, false));
    // A compression that the user requested does take place.
    compress("manual");
    fs::remove_file(&record).unwrap();
    assert_eq!(say("go on"), (true, true));
}

#[test]
fn a_conversation_that_can_be_resumed_is_not_forgotten() {
    for (agent, reason, is_kept) in [
        ("claude-code", "other", true),
        ("claude-code", "prompt_input_exit", true),
        ("claude-code", "clear", false),
        ("claude-code", "logout", false),
        ("codex", "other", true),
        ("gemini", "exit", true),
        ("copilot", "complete", true),
        ("cursor", "completed", true),
        ("opencode", "", false),
    ] {
        let place = place();
        let is_full = || say(&place, agent, "deploy it").contains("## Skill: deploy");
        assert!(is_full(), "{agent}");
        end(&place, agent, reason);
        assert_eq!(is_full(), !is_kept, "{agent} {reason}");
    }
}

#[test]
fn the_list_is_given_again_where_the_agent_loses_it() {
    for (agent, again) in [
        ("claude-code", false),
        ("codex", false),
        ("copilot", true),
        ("gemini", false),
        ("qwen", true),
        ("droid", false),
    ] {
        let place = place();
        let has_list = |text: &str| text.contains("- deploy: Deploys the site.");
        let first = [start(&place, agent, "startup"), say(&place, agent, "hello there")];
        assert!(has_list(&first.concat()), "{agent}: {first:?}");
        end(&place, agent, "other");
        let text = [start(&place, agent, "resume"), say(&place, agent, "hello there")].concat();
        assert_eq!(has_list(&text), again, "{agent}: {text}");
    }
}

#[test]
fn only_a_cleared_conversation_forgets_what_its_first_message_was_answered() {
    let has_body = |text: &str| text.contains("## Skill: deploy");
    for (source, again) in [("startup", false), ("resume", false), ("clear", true)] {
        let place = place();
        assert!(has_body(&say(&place, "copilot", "deploy it")));
        start(&place, "copilot", source);
        assert_eq!(has_body(&say(&place, "copilot", "deploy it")), again, "{source}");
    }
}

#[test]
fn a_line_of_the_list_is_not_repeated_with_messages() {
    let place = place();
    assert!(start(&place, "claude-code", "startup").contains("- styles: "));
    for message in ["write style sheets", "which style should sheets have?", "style sheets"] {
        let text = say(&place, "claude-code", message);
        assert!(!text.contains("- styles: "), "{message}: {text}");
    }
}

#[test]
fn what_the_agent_has_by_itself_is_a_line_in_its_own_words() {
    for (agent, root, how) in [
        ("claude-code", ".claude/skills", Some("call the `Skill` tool with `verse`")),
        ("codex", ".agents/skills", Some("read ")),
        ("codex", ".claude/skills", None),
        ("gemini", ".agents/skills", Some("call `activate_skill` with `verse`")),
        ("gemini", ".claude/skills", None),
        ("cursor", ".agents/skills", Some("read ")),
        ("copilot", ".claude/skills", Some("call the `skill` tool with `verse`")),
        ("opencode", ".agents/skills", Some("call the `skill` tool with `verse`")),
        ("qwen", ".qwen/skills", Some("call the `skill` tool with `verse`")),
        ("qwen", ".claude/skills", None),
        ("droid", ".factory/skills", Some("call the `Skill` tool with `verse`")),
        ("droid", ".claude/skills", None),
        ("claude-code", ".agents/skills", None),
    ] {
        let place = place();
        let text =
            "---\nname: verse\ndescription: Writes verse.\ntriggers: [limerick]\n---\nRhyme.\n";
        place.write(&format!("{root}/verse/SKILL.md"), text);
        let run = |event: &Value| {
            let args = ["hook", agent, "--deadline", "60"];
            place.run_with(args, event.to_string().as_bytes()).exits(0).stdout
        };
        let name = if agent == "opencode" { "Catalog" } else { "SessionStart" };
        let started = event(agent, name, &json!({"source": "startup"}));
        let said = event(agent, prompt_event(agent), &json!({"prompt": "a limerick, please"}));
        let (list, text) = (run(&started), run(&said));
        match how {
            Some(how) => {
                assert!(!list.contains("- verse"), "{agent} {root}: {list}");
                assert!(text.contains(&format!("- verse: use this skill: {how}")), "{text}");
                assert!(!text.contains("Rhyme."), "{agent} {root}: {text}");
            }
            None => assert!(text.contains("Rhyme."), "{agent} {root}: {text}"),
        }
    }
}

#[test]
fn sixty_messages_over_sixty_skills_add_under_six_kilobytes() {
    let place = Place::new();
    let things = [
        "invoice", "ledger", "recipe", "garden", "orchard", "bicycle", "telescope", "glacier",
        "volcano", "harbour", "lighthouse", "violin",
    ];
    let tasks = [
        ("survey", "Surveys the"),
        ("repair", "Repairs a broken"),
        ("label", "Labels each"),
        ("compare", "Compares one"),
        ("retire", "Retires an old"),
    ];
    for (task, begins) in tasks {
        for thing in things {
            let text =
                format!("---\nname: {task}-{thing}\ndescription: {begins} {thing}.\n---\nBegin.\n");
            place.write(&format!(".repertoire/skills/{task}-{thing}/SKILL.md"), text);
        }
    }
    let idle = ["thanks", "go on", "and now?", "what is the time?", "run the tests again"];
    let mut n_bytes = start(&place, "claude-code", "startup").len();
    let n_listed = n_bytes;
    for n in 0..60 {
        let (thing, (task, _)) = (things[n / 5], tasks[n % 5]);
        let message = match n % 10 {
            0 => format!("please {task} the {thing}"),
            1..6 => idle[n % 5].to_owned(),
            _ => format!("is the {thing} ready?"),
        };
        n_bytes += say(&place, "claude-code", &message).len();
    }
    assert!(n_listed > 1_000, "the list is part of it: {n_listed}");
    assert!(n_bytes < 6_000, "{n_bytes} bytes, {n_listed} of the list");
    // Once the list is no longer in the context, the number of skills is worth mentioning again.
    let event = event("claude-code", "PreCompact", &json!({}));
    assert_eq!(added(&place, "claude-code", &event), "");
    assert!(say(&place, "claude-code", "thanks").contains("skills available]"));
}

#[test]
fn skills_near_a_touched_file_are_offered_once() {
    let place = place();
    let skill = |path: &str, more: &str| {
        let name = path.rsplit('/').next().unwrap();
        let text =
            format!("---\nname: {name}\ndescription: Does {name}.\n{more}---\nBody {name}.\n");
        place.write(&format!("{path}/SKILL.md"), text);
    };
    skill("packages/web/.repertoire/skills/pages", "");
    skill("packages/web/.repertoire/skills/views", "paths: ['**/*.vue']\n");
    skill("packages/web/.claude/skills/own", "");
    skill("packages/api/.repertoire/skills/routes", "");
    let touch = |agent: &str, file: &str| {
        let (name, tool) = ("PostToolUse", json!({"file_path": file}));
        let call = json!({"hook_event_name": name, "session_id": "n", "cwd": place.path(),
                          "tool_name": "Edit", "tool_input": tool});
        let args = ["hook", agent, "--deadline", "60"];
        place.run_with(args, call.to_string().as_bytes()).exits(0).stdout
    };
    assert_eq!(touch("claude-code", "README.md"), "");
    let first = touch("claude-code", "packages/web/src/a.ts");
    assert!(first.contains("- pages: Does pages.") && first.contains("- views: "), "{first}");
    // Claude Code lists the skill in its own directory by itself.
    assert!(!first.contains("own") && !first.contains("routes"), "{first}");
    assert_eq!(touch("claude-code", "packages/web/src/b.ts"), "");
    let second = touch("claude-code", "packages/web/src/b.vue");
    assert!(second.contains("Body views.") && !second.contains("- pages"), "{second}");
    // The other agents find no skill there.
    for agent in ["codex", "qwen"] {
        let first = touch(agent, "packages/web/src/a.ts");
        assert!(first.contains("- pages: ") && first.contains("- own: Does own."), "{first}");
        assert_eq!(touch(agent, "packages/web/src/b.ts"), "", "{agent}");
    }

    place.run(["hook", "install", "claude-code"]).exits(0);
    let why = ["why", "pages", "--agent", "claude-code", "--json", "pages"];
    let far = place.run(why).exits(1).stdout;
    assert!(far.contains("NOT_FOUND") && far.contains("`pages`"), "{far}");
    let near = ["--path", "packages/web/src/a.ts"];
    let near = place.run(why.iter().chain(&near)).stdout;
    assert!(near.contains("packages/web/.repertoire/skills/pages"), "{near}");
}
