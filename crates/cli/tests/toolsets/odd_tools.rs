//! Servers whose lists of tools are odd: too deep, too much, without end, with names that look alike, and with
//! texts that no model is told.

use serde_json::{Value, json};

use crate::told::{SKILL, call, place, run, say, tool, trust};

/// A schema with `n` levels of objects.
fn nested(n: usize) -> Value {
    (1..n).fold(json!({}), |inner, _| json!({"items": inner}))
}

fn with_schema(schema: Value) -> Value {
    let mut tool = tool("add", "Adds.");
    tool["inputSchema"] = schema;
    tool["inputSchema"]["type"] = "object".into();
    tool
}

/// The answer to `tools/list`, in which `ID` stands for the id of the request.
fn page(tools: &Value, cursor: Option<&str>) -> String {
    let result = json!({"tools": tools, "nextCursor": cursor});
    format!("{{\"jsonrpc\": \"2.0\", \"id\": ID, \"result\": {result}}}\n")
}

#[test]
fn lists_that_are_too_much_are_refused_with_the_reason() {
    let Some(place) = place(&json!([])) else { return };
    let numbers = json!({"enum": vec![1; 1_000_000]});
    let properties = (0..20_000).map(|n| (format!("{n:x}"), json!({})));
    let properties = Value::Object(properties.collect());
    let mut annotated = tool("add", "Adds.");
    annotated["annotations"] = json!({"title": "t".repeat(70_000)});
    for (what, tools, why) in [
        ("57 levels", json!([with_schema(nested(57))]), "a schema of more than 56 levels"),
        // The SDK does not read it.
        ("200 levels", json!([with_schema(nested(200))]), "it prints `{"),
        (
            "objects of nothing",
            json!([with_schema(json!({"enum": vec![json!({}); 70_000]}))]),
            "64 KiB",
        ),
        (
            "lists of nothing",
            json!([with_schema(json!({"enum": vec![json!([]); 70_000]}))]),
            "64 KiB",
        ),
        (
            "properties without texts",
            json!([with_schema(json!({"properties": properties}))]),
            "64 KiB",
        ),
        ("annotations", json!([annotated]), "64 KiB"),
        (
            "two of a name",
            json!([tool("add", "A."), tool("add", "B.")]),
            "have the same name once adapted",
        ),
        (
            "names that look alike",
            json!([tool("a\u{202e}b", "A."), tool("a\u{e0041}b", "B.")]),
            "have the same name once adapted",
        ),
        ("no name", json!([tool("", "A.")]), "one of its tools has an empty name"),
    ] {
        say(&place, "tools-list", &page(&tools, None));
        let told = trust(&place).stderr;
        assert!(told.contains(why), "{what}: {told:.600}");
        let listed = run(&place, &["tool", "list", "--json"]).exits(1);
        assert_eq!(listed.json()["tools"], json!([]), "{what}");
        assert!(listed.stderr.contains(why), "{what}: {listed:.600?}");
    }
    // 60 MB in one line, and pages without end, each almost as large as a line may be.
    let large = json!([with_schema(json!({"title": "x".repeat(60_000_000)}))]);
    for (what, lines, why) in [
        ("60 MB", page(&large, None), "a line of more than 4 MiB"),
        ("pages", page(&json!([with_schema(numbers)]), Some("more")), "64 KiB"),
        (
            "pages of one tool",
            page(&json!([tool("add", "Adds.")]), Some("more")),
            "have the same name",
        ),
    ] {
        say(&place, "tools-list", &lines);
        let told = trust(&place).stderr;
        assert!(told.contains(why), "{what}: {told:.600}");
    }
}

/// Some clients read no JSON of more than 64 levels: one tool must not take all others away.
#[test]
fn the_deepest_schema_leaves_the_whole_list_readable() {
    let Some(place) = place(&json!([with_schema(nested(56))])) else { return };
    trust(&place);
    let client = json!({"name": "t", "version": "1"});
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
    ];
    let lines = lines.map(|line| format!("{line}\n")).concat();
    let run = place.run_with(["mcp", "--source", "skills"], lines.as_bytes()).exits(0);
    let answer = run.stdout.lines().find(|line| line.contains("told_add")).unwrap();
    let (mut depth, mut deepest) = (0, 0);
    for byte in answer.bytes() {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    assert!((57..=64).contains(&deepest), "{deepest}");
}

#[test]
fn notifications_without_number_change_nothing() {
    let tools = json!([tool("add", "Adds.")]);
    let Some(place) = place(&tools) else { return };
    trust(&place);
    let changed = "{\"jsonrpc\": \"2.0\", \"method\": \"notifications/tools/list_changed\"}\n";
    let progress = (0..20_000).map(|n| {
        let params = json!({"progressToken": n + 1_000, "progress": 1, "message": "m"});
        format!(
            "{}\n",
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        )
    });
    let progress: String = progress.collect();
    let result = json!({"content": [{"type": "text", "text": "flooded"}]});
    let done = format!("{{\"jsonrpc\": \"2.0\", \"id\": ID, \"result\": {result}}}\n");
    say(&place, "tools-list", &(changed.repeat(20_000) + &page(&tools, None)));
    for flood in [&*changed.repeat(20_000), &progress] {
        say(&place, "tools-call", &(flood.to_owned() + &done));
        assert_eq!(call(&place, "told.add")["text"], "flooded");
    }
}

/// Texts that a model is told are pinned. Nothing else of a server reaches a model, or asks the user again.
#[test]
fn texts_of_a_server_are_told_and_pinned_or_neither() {
    let plain = tool("add", "Adds.");
    let Some(place) = place(&json!([plain])) else { return };
    trust(&place);
    let greeting = json!({"protocolVersion": "2025-06-18", "instructions": "EVIL",
        "serverInfo": {"name": "EVIL", "title": "EVIL", "version": "1", "websiteUrl": "https://EVIL"},
        "capabilities": {"tools": {"listChanged": true}, "resources": {}, "prompts": {}}});
    let greeting = format!("{{\"jsonrpc\": \"2.0\", \"id\": ID, \"result\": {greeting}}}\n");
    say(&place, "initialize", &greeting);
    for (field, value) in [
        ("title", json!("EVIL")),
        ("icons", json!([{"src": "https://EVIL/a.png"}])),
        ("_meta", json!({"EVIL": "EVIL"})),
        ("outputSchema", json!({"type": "object", "description": "EVIL"})),
        ("x-evil", json!("EVIL")),
    ] {
        let mut other = plain.clone();
        other[field] = value;
        say(&place, "tools.json", &json!([other]).to_string());
        assert_eq!(call(&place, "told.add")["text"], "done", "{field}");
        // Nothing of it is in the cache after this, so that the server is asked.
        std::fs::remove_dir_all(place.path().join("home/.cache")).ok();
        let listed = run(&place, &["tool", "list", "--json"]).exits(0);
        assert_eq!(listed.json()["tools"][0]["name"], "told.add", "{field}");
        assert!(!format!("{listed:?}").contains("EVIL"), "{field}: {listed:?}");
        run(&place, &["trust", "diff", SKILL]).exits(0);
    }
    // Without a description, the title takes its place.
    let mut titled = json!({"name": "add", "title": "Adds.", "inputSchema": {"type": "object"}});
    say(&place, "tools.json", &json!([titled]).to_string());
    trust(&place);
    titled["title"] = "EVIL".into();
    say(&place, "tools.json", &json!([titled]).to_string());
    let refused = call(&place, "told.add");
    assert_eq!(refused["error"]["code"], "PERMISSION_DENIED", "{refused}");
    let diff = run(&place, &["trust", "diff", SKILL]).exits(1).stdout;
    assert!(diff.contains("-Adds.") && diff.contains("+EVIL"), "{diff}");
}
