//! Trust in the libraries of a project: what is rejected, what is shown, and what is reported after a
//! change.

use super::*;

#[test]
fn code_of_a_project_runs_only_once_it_is_trusted() {
    let place = place();
    let path = library(&place);
    let shown = path.file_name().unwrap().to_str().unwrap();
    let ada = json!({"name": "Ada"});
    let greet = || call(&place, &["--in-process"], "hello.greet", &ada);
    let hash = |file: &Path| {
        let file = file.to_str().unwrap();
        let note = run(&place, &["tool", "inspect", file, "--json"]).exits(0).json();
        note["sha256"].as_str().unwrap().to_owned()
    };
    let first = hash(&path);
    let listed = run(&place, &["tool", "list", "--in-process"]).exits(1);
    let refused = [shown, "is not trusted", &first, "repertoire trust add "];
    assert_contains(&listed.stderr, &["error[PERMISSION_DENIED]", "help: "]);
    assert_contains(&listed.stderr, &refused);
    let n_told = listed.stderr.matches("is not trusted").count();
    assert_eq!(n_told, 1, "both classes are in one library: {listed:?}");
    assert_error(greet(), "PERMISSION_DENIED", &refused);

    let added = run(&place, &["trust", "add", "--yes", "skills/hello", "--json"]).exits(0).json();
    assert_eq!(added["trusted"][0]["sha256"], first.as_str());
    assert_eq!(greet().exits(0).json()["text"], "Hello, Ada!");
    let list = run(&place, &["trust", "list", "--json"]).exits(0).json();
    assert_eq!(list["trusted"][0]["state"], "unchanged");
    assert!(list["store"].as_str().unwrap().ends_with("/repertoire/trust.json"));

    // Bytes after the end of the library change its content, but not its behaviour.
    let mut bytes = fs::read(&path).unwrap();
    bytes.push(0);
    fs::write(&path, bytes).unwrap();
    let second = hash(&path);
    assert_error(greet(), "PERMISSION_DENIED", &[shown, &first, &second, "trust add"]);
    let list = run(&place, &["trust", "list"]).exits(0).stdout;
    assert_contains(&list, &["changed", shown]);
    run(&place, &["trust", "add", "--yes", "hello"]).exits(0);
    greet().exits(0);

    run(&place, &["trust", "remove", "hello"]).exits(0);
    assert_error(greet(), "PERMISSION_DENIED", &["is not trusted"]);
    let again = run(&place, &["trust", "remove", "hello", "--json"]);
    assert_error(again, "NOT_FOUND", &["hello", "trust list"]);
    assert_error(
        run(&place, &["trust", "add", "--yes", "nothing", "--json"]),
        "NOT_FOUND",
        &["nothing"],
    );
    run(&place, &["trust", "add", "--yes"]).exits(2);
}

#[test]
fn a_file_that_is_gone_can_be_trusted_no_more() {
    let place = trusted_place();
    fs::remove_file(library(&place)).unwrap();
    let list = run(&place, &["trust", "list"]).exits(0).stdout;
    assert_contains(&list, &["missing"]);
    run(&place, &["trust", "remove", "skills/hello/toolsets/libhello.so"]).exits(0);
    assert_eq!(run(&place, &["trust", "list", "--json"]).json()["trusted"], json!([]));
}

/// Checks that `trust add` shows the requested rights and the trusted tools, and later what has
/// changed.
#[test]
fn trust_shows_rights_and_tools_and_then_the_difference() {
    let place = place();
    let entries = json!([
        {"class": "toolsets/hello:HelloToolset", "rights": {"read": ["."], "network": true}},
        "toolsets/hello:MoodToolset",
    ]);
    let head = json!({"name": "hello", "description": "Greets.", "toolsets": entries});
    place.write("skills/hello/SKILL.md", format!("---\n{head}\n---\nBody\n"));
    let shown = run(&place, &["trust", "show", "skills/hello"]).exits(0).stdout;
    let here = place.path().canonicalize().unwrap();
    let asks = format!("`HelloToolset` asks to read `{}` and to use the network", here.display());
    assert_contains(&shown, &[&asks, "network: open, as its skill asks for it"]);

    let added = run(&place, &["trust", "add", "--yes", "skills/hello"]).exits(0).stdout;
    assert_contains(&added, &[&asks, "tool    greet Greets somebody by name.", "tool    mood"]);
    let listed = run(&place, &["trust", "list", "--json"]).exits(0).json();
    let rights = &listed["trusted"][0]["rights"]["HelloToolset"];
    assert_eq!((&rights["read"][0], &rights["network"]), (&json!(here), &json!(true)), "{listed}");

    // Another library with the same class.
    fs::copy(plugin::of_workspace("failing-toolset"), library(&place)).unwrap();
    write_skill(&place, "hello", &["toolsets/hello:HelloToolset"]);
    let again = run(&place, &["trust", "add", "--yes", "skills/hello", "--json"]).exits(0).json();
    let tools = again["trusted"][0]["tools"].as_array().unwrap().clone();
    let changes: Vec<(&str, &str)> = tools
        .iter()
        .map(|tool| (tool["name"].as_str().unwrap(), tool["change"].as_str().unwrap()))
        .collect();
    assert!(changes.contains(&("greet", "changed")), "{changes:?}");
    assert!(changes.contains(&("mood", "gone")) && changes.contains(&("divide", "gone")));
    let listed = run(&place, &["trust", "list", "--json"]).exits(0).json();
    assert_eq!(listed["trusted"][0].get("rights"), Some(&json!({})), "{listed}");
}

#[test]
fn rights_that_were_not_granted_are_named() {
    let place = trusted_place();
    let ask = |read: &[&str], network: bool| {
        let rights = json!({"read": read, "network": network});
        let entries = json!([
            {"class": "toolsets/hello:HelloToolset", "rights": rights},
            "toolsets/hello:MoodToolset",
        ]);
        let head = json!({"name": "hello", "description": "Greets.", "toolsets": entries});
        place.write("skills/hello/SKILL.md", format!("---\n{head}\n---\nBody\n"));
    };
    let home = place.path().join("home").canonicalize().unwrap();
    run(&place, &["trust", "diff"]).exits(0);
    ask(&["~/data"], true);
    let data = home.join("data");
    let missing = format!("asks to read `{}` and to use the network", data.display());
    for command in [&["trust", "diff"][..], &["doctor"]] {
        assert_contains(&run(&place, command).exits(1).stdout, &[&missing, "was not granted"]);
    }
    run(&place, &["trust", "add", "--yes", "skills/hello"]).exits(0);
    run(&place, &["trust", "diff"]).exits(0);
    // The right to a directory includes everything below it.
    ask(&["~/data/deep"], true);
    run(&place, &["trust", "diff"]).exits(0);
    ask(&["~"], true);
    let missing = format!("`HelloToolset` asks to read `{}`, which was not", home.display());
    assert_contains(&run(&place, &["trust", "diff"]).exits(1).stdout, &[&missing]);
}
