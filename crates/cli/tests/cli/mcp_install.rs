//! Installation of the MCP server in the settings of agents, and its removal.

use std::fs;

use serde_json::Value;

use crate::binary::{Place, Run};

/// The agents, each with its settings file in a project, and the field for servers if the file is JSON.
const AGENTS: [(&str, &str, &str); 9] = [
    ("droid", ".factory/mcp.json", "mcpServers"),
    ("claude-code", ".mcp.json", "mcpServers"),
    ("codex", ".codex/config.toml", ""),
    ("gemini", ".gemini/settings.json", "mcpServers"),
    ("cursor", ".cursor/mcp.json", "mcpServers"),
    ("copilot", ".mcp.json", "mcpServers"),
    ("opencode", "opencode.json", "mcp"),
    ("qwen", ".qwen/settings.json", "mcpServers"),
    ("vscode", ".vscode/mcp.json", "servers"),
];

fn mcp(place: &Place, action: &str, agent: &str) -> Run {
    place.run(["mcp", action, agent, "--project"])
}

fn read(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path().join(name)).unwrap()
}

#[test]
fn every_agent_is_set_up_once_and_left_without_a_trace() {
    for (agent, file, field) in AGENTS {
        let place = Place::new();
        let rehearsal = place.run(["mcp", "install", agent, "--project", "--dry-run"]).exits(0);
        assert!(rehearsal.stdout.contains("would be changed"), "{rehearsal:?}");
        assert!(!place.path().join(file).exists());
        let done = place.run(["mcp", "install", agent, "--project", "--json"]).exits(0).json();
        assert_eq!((&done["agent"], &done["place"]), (&agent.into(), &"project".into()));
        assert_eq!(done["changed"], true, "{done}");
        let text = read(&place, file);
        assert!(text.contains(env!("CARGO_BIN_EXE_repertoire")), "{text}");
        if !field.is_empty() {
            let settings: Value = serde_json::from_str(&text).unwrap();
            assert!(settings[field]["repertoire"].is_object(), "{settings}");
        }
        let again = mcp(&place, "install", agent).exits(0);
        assert!(again.stdout.contains("needs no change"), "{again:?}");
        assert_eq!(read(&place, file), text);
        mcp(&place, "uninstall", agent).exits(0);
        let left: Vec<_> = fs::read_dir(place.path()).unwrap().collect();
        assert!(left.is_empty(), "{agent}: {left:?}");
        assert!(mcp(&place, "uninstall", agent).exits(0).stdout.contains("needs no change"));
    }
}

#[test]
fn the_server_is_told_its_agent_in_files_of_one_agent() {
    for (agent, file, _) in AGENTS {
        let place = Place::new();
        // An earlier version wrote no `--agent`: its entry is ours as well, and is brought up to date.
        mcp(&place, "install", agent).exits(0);
        let text = read(&place, file);
        let is_told = text.contains("\"--agent\"") && text.contains(&format!("\"{agent}\""));
        let is_shared = [".mcp.json", ".vscode/mcp.json"].contains(&file);
        assert_eq!(is_told, !is_shared, "{agent}: {text}");
        let words = text.split('"').filter(|part| ["--agent", agent].contains(part));
        let n_words = words.count();
        let earlier = without_agent(&text, agent);
        assert!(!earlier.contains("--agent"), "{earlier}");
        place.write(file, &earlier);
        mcp(&place, "install", agent).exits(0);
        let again = read(&place, file);
        let told = again.split('"').filter(|part| ["--agent", agent].contains(part)).count();
        assert_eq!(told, n_words, "{again}");
        place.write(file, &earlier);
        mcp(&place, "uninstall", agent).exits(0);
        assert!(!place.path().join(file).exists(), "{agent}: {}", read(&place, file));
    }
}

/// Takes the option `--agent` out of the command line of a server.
fn without_agent(text: &str, agent: &str) -> String {
    let option = ["\"--agent\"", &format!("\"{agent}\"")];
    let lines = text.lines().filter(|line| !option.contains(&line.trim().trim_end_matches(',')));
    let text = lines.collect::<Vec<_>>().join("\n") + "\n";
    let inline = format!(", {}, {}", option[0], option[1]);
    let text = text.replace(&inline, "");
    // The last element of a list has no comma behind it.
    text.replace("\"mcp\",\n      ]", "\"mcp\"\n      ]")
}

#[test]
fn the_settings_of_the_user_are_where_each_agent_has_them() {
    let place = Place::new();
    for (agent, file) in [
        ("claude-code", ".claude.json"),
        ("codex", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
        ("cursor", ".cursor/mcp.json"),
        ("copilot", ".copilot/mcp-config.json"),
        ("opencode", ".config/opencode/opencode.json"),
        ("qwen", ".qwen/settings.json"),
        ("droid", ".factory/mcp.json"),
        ("vscode", ".config/Code/User/mcp.json"),
    ] {
        if agent == "vscode" && !cfg!(target_os = "linux") {
            continue;
        }
        place.run(["mcp", "install", agent]).exits(0);
        assert!(read(&place, &format!("home/{file}")).contains("\"mcp\""), "{agent}");
    }
    let both = place.run(["mcp", "install", "codex", "--user", "--project"]);
    assert!(both.exits(2).stderr.contains("exclude each other"));
    place.run(["mcp", "install", "emacs"]).exits(2);
}

#[test]
fn settings_of_others_stay_byte_for_byte() {
    let json = "// mine\n{\n  \"mcpServers\": {\n    /* a */ \"other\": {\"command\": \"x\"}, // b\n  },\n  \
                \"theme\": \"dark\"\n}\n";
    let toml = "# mine\nmodel = \"x\" # b\n\n[mcp_servers.other] # c\ncommand = \"x\"\n\n[tui]\n  theme = \
                'dark'\n# end\n";
    for (agent, file, before) in [
        ("gemini", ".gemini/settings.json", json.to_owned()),
        ("gemini", ".gemini/settings.json", json.replace('\n', "\r\n")),
        ("gemini", ".gemini/settings.json", "{}".to_owned()),
        ("gemini", ".gemini/settings.json", format!("\u{feff}{json}")),
        ("opencode", "opencode.jsonc", "{\n  // mine\n  \"mcp\": {}\n}\n".to_owned()),
        ("codex", ".codex/config.toml", toml.to_owned()),
        ("codex", ".codex/config.toml", toml.replace('\n', "\r\n")),
        ("codex", ".codex/config.toml", format!("\u{feff}{toml}")),
        ("codex", ".codex/config.toml", "model = \"x\"".to_owned()),
        (
            "codex",
            ".codex/config.toml",
            "mcp_servers = { other = { command = \"x\" } }\n".to_owned(),
        ),
    ] {
        let place = Place::new();
        place.write(file, &before);
        mcp(&place, "install", agent).exits(0);
        let with = read(&place, file);
        let is_ours = |line: &&str| line.contains("repertoire") || line.contains("mcp");
        for line in before.lines().filter(|line| !is_ours(line) && line.len() > 4) {
            assert!(with.contains(line.trim_end_matches(['}', ','])), "{line:?} in {with}");
        }
        assert!(!before.contains("\r\n") || !with.replace("\r\n", "").contains('\n'), "{with:?}");
        mcp(&place, "uninstall", agent).exits(0);
        assert_eq!(read(&place, file), before);
        // An edit that another program made in between is kept, too.
        mcp(&place, "install", agent).exits(0);
        let mark = if agent == "codex" { "# later\n" } else { "// later\n" };
        place.write(file, format!("{}\n{mark}", read(&place, file)));
        mcp(&place, "uninstall", agent).exits(0);
        let after = read(&place, file);
        assert!(after.ends_with(mark) && !after.contains("repertoire"), "{after:?}");
        assert_eq!(after.contains("other"), before.contains("other"), "{after}");
    }
}

#[test]
fn what_was_there_before_options_comes_back() {
    for (agent, file, _) in AGENTS {
        let place = Place::new();
        let before = if agent == "codex" { "model = \"x\"\n" } else { "{ \"a\": 1 }\n" };
        place.write(file, before);
        place.run(["mcp", "install", agent, "--project", "--no-list"]).exits(0);
        mcp(&place, "uninstall", agent).exits(0);
        assert_eq!(read(&place, file), before, "{agent}");
        assert!(!place.path().join(format!("{file}.repertoire-mcp-backup")).exists(), "{agent}");
    }
}

#[test]
fn an_entry_that_was_written_by_hand_is_kept_in_a_backup() {
    let by_hand = "{\"mcpServers\":{\"skills\":{\"command\":\"repertoire\",\"args\":[\"mcp\",\"--source\",\
                   \"/team/skills\"],\"env\":{\"A\":\"t\"}}}}";
    for actions in [&["install", "uninstall"][..], &["install", "install"], &["uninstall"]] {
        let place = Place::new();
        place.write(".mcp.json", by_hand);
        let runs = actions.iter().map(|action| mcp(&place, action, "claude-code").exits(0));
        let told = runs.map(|run| run.stdout).collect::<String>();
        assert_eq!(read(&place, ".mcp.json.repertoire-mcp-backup"), by_hand, "{actions:?}");
        assert!(told.contains("the earlier content is in "), "{told}");
        let is_left = place.path().join(".mcp.json").exists();
        assert_eq!(is_left, !actions.contains(&"uninstall"), "{actions:?}");
    }
}

#[test]
fn only_the_command_line_of_an_entry_is_replaced() {
    let place = Place::new();
    let old = "{\"mcpServers\": {\"skills\": {\"command\": \"/old/repertoire\", \"args\": [\"mcp\"], \"env\": \
               {\"A\": \"1\"}}, \"again\": {\"command\": \"repertoire\", \"args\": [\"mcp\"]}}}";
    place.write(".mcp.json", old);
    let options = ["--consent", "first-use", "--offline", "--write", "out", "--brand", "acme"];
    let args = ["mcp", "install", "claude-code", "--project"];
    place.run(args.iter().chain(&options)).exits(0);
    let new: Value = serde_json::from_str(&read(&place, ".mcp.json")).unwrap();
    let servers = new["mcpServers"].as_object().unwrap();
    assert_eq!(servers.keys().collect::<Vec<_>>(), ["skills"], "{new}");
    let server = &servers["skills"];
    assert_eq!(server["env"]["A"], "1");
    let out = std::path::absolute(place.path()).unwrap().join("out");
    let wanted = [
        "mcp",
        "--brand",
        "acme",
        "--consent=first-use",
        "--write",
        out.to_str().unwrap(),
        "--offline",
    ];
    assert_eq!(server["args"], serde_json::json!(wanted), "{server}");
    // The arguments must be a valid command line of this program.
    let words = server["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
    place.run(words.chain(["--help"])).exits(0);
    let toml = "[mcp_servers.skills]\ncommand = \"/old/repertoire\" # mine\nargs = [\"mcp\"]\nenabled = false\n";
    place.write(".codex/config.toml", toml);
    mcp(&place, "install", "codex").exits(0);
    let new = read(&place, ".codex/config.toml");
    assert!(new.contains("enabled = false") && !new.contains("/old/"), "{new}");
    assert_eq!(new.matches("[mcp_servers").count(), 1, "{new}");
}

#[test]
fn settings_that_cannot_be_understood_are_not_touched() {
    for (agent, file, before, wanted) in [
        ("gemini", ".gemini/settings.json", "{\n \"a\" 1}", "settings.json:2:6 is not JSON"),
        ("gemini", ".gemini/settings.json", "[]", "is not a JSON object"),
        (
            "gemini",
            ".gemini/settings.json",
            "{\"mcpServers\": []}",
            "`mcpServers` that does not hold",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "{\"mcpServers\": {}, \"mcpServers\": {}}",
            "the key `mcpServers` twice",
        ),
        ("codex", ".codex/config.toml", "a = 1\nb = = 2\n", "config.toml:2:5 is not TOML"),
        ("codex", ".codex/config.toml", "mcp_servers = 1\n", "`mcp_servers` that does not hold"),
    ] {
        let place = Place::new();
        place.write(file, before);
        for action in ["install", "uninstall"] {
            let run = mcp(&place, action, agent).exits(1);
            assert!(run.stderr.contains(wanted), "{action} {before}: {run:?}");
            assert!(run.stderr.contains("error[EXECUTION_ERROR]"), "{run:?}");
        }
        assert_eq!(read(&place, file), before);
    }
    for (agent, file, before) in [
        ("vscode", ".vscode/mcp.json", "{\"servers\": {\"repertoire\": {\"command\": \"other\"}}}"),
        ("codex", ".codex/config.toml", "[mcp_servers.repertoire]\nurl = \"http://x\"\n"),
    ] {
        let place = Place::new();
        place.write(file, before);
        let run = mcp(&place, "install", agent).exits(1);
        assert!(run.stderr.contains("`repertoire` that is not this program"), "{run:?}");
        assert_eq!(read(&place, file), before);
    }
}

#[test]
fn hooks_and_server_share_a_file_and_leave_it_in_any_order() {
    for first in ["hook", "mcp"] {
        for leaves in ["hook", "mcp"] {
            let place = Place::new();
            let second = if first == "hook" { "mcp" } else { "hook" };
            for command in [first, second] {
                place.run([command, "install", "gemini", "--project"]).exits(0);
            }
            let other = if leaves == "hook" { "mcp" } else { "hook" };
            place.run([leaves, "uninstall", "gemini", "--project"]).exits(0);
            let text = read(&place, ".gemini/settings.json");
            assert_eq!(text.contains("hooks"), leaves == "mcp", "{text}");
            assert_eq!(text.contains("mcpServers"), leaves == "hook", "{text}");
            place.run([other, "uninstall", "gemini", "--project"]).exits(0);
            let path = place.path().join(".gemini/settings.json");
            assert!(!path.exists(), "{first} {leaves}: {}", read(&place, ".gemini/settings.json"));
        }
    }
}
