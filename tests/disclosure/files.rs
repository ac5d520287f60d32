//! The files of a skill, named after its instructions.

use std::fs;

use super::disclose;
use repertoire::{Engine, Format, Session, Source};

#[test]
fn instructions_in_full_are_followed_by_the_files_that_an_activation_names() {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let skill =
        |name: &str| format!("---\nname: {name}\ndescription: d\ntriggers: [{name}]\n---\nGo.\n");
    write("notes/SKILL.md", &skill("notes"));
    write("notes/references/<style>.md", "Be brief.");
    write("plain/SKILL.md", &skill("plain"));
    let source = Source::project(dir.path());
    let engine = Engine::builder().source(source).meaning(None).build().unwrap();
    for (format, wanted) in [
        (Format::Markdown, "Go.\n\nFiles in the base directory:\n- references/<style>.md"),
        (Format::Xml, "<files>\n<file>references/&lt;style&gt;.md</file>\n</files>\n</skill>"),
        (Format::Json, r#""files":["references/<style>.md"]"#),
    ] {
        let shown = disclose(&engine, "notes", format, None).text;
        let shown = shown.replace("\\\"", "\"");
        assert!(shown.contains(wanted), "{format:?}: {shown}");
        let plain = disclose(&engine, "plain", format, None).text;
        assert!(!plain.to_lowercase().contains("files"), "{format:?}: {plain}");
    }
    let activation = engine.activate("notes", "", &Session::in_memory("s")).unwrap();
    let list = "Files in the base directory:\n- references/<style>.md";
    assert!(activation.to_text().contains(list), "{}", activation.to_text());
}

#[test]
fn a_long_list_of_files_is_cut_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("many")).unwrap();
    let text = "---\nname: many\ndescription: d\ntriggers: [many]\n---\nGo.\n";
    fs::write(dir.path().join("many/SKILL.md"), text).unwrap();
    for n in 10..35 {
        fs::write(dir.path().join(format!("many/{n}.md")), "").unwrap();
    }
    let source = Source::project(dir.path());
    let engine = Engine::builder().source(source).meaning(None).build().unwrap();
    let shown = disclose(&engine, "many", Format::Markdown, None).text;
    assert!(shown.ends_with("- 29.md\n[5 more]"), "{shown}");
}
