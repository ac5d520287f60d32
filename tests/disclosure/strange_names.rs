//! Skills whose names, directories and bodies hold characters that are not seen.

use std::fs;
use std::path::Path;

use repertoire::{Engine, Format, PromptOptions, Source};
use tempfile::TempDir;

use crate::disclose;

/// Builds an engine with the skill of this directory below `root`.
fn engine(root: &Path, dir: &str, text: &str) -> Engine {
    fs::create_dir_all(root.join(dir)).unwrap();
    fs::write(root.join(dir).join("SKILL.md"), text).unwrap();
    Engine::builder().source(Source::project(root)).build().unwrap()
}

/// Returns the disclosure of the skill, that of its line, and the prompt with its path.
fn texts(engine: &Engine, format: Format) -> [String; 3] {
    let mut options = PromptOptions::default();
    options.format = format;
    options.locations = true;
    let [full, line] =
        ["word", "list skills"].map(|query| disclose(engine, query, format, None).text);
    [full, line, engine.prompt_with(&options).text]
}

#[test]
fn what_is_not_seen_reaches_no_prompt_in_any_format() {
    let unseen = "\u{200b}\u{202e}\u{e0041}\u{3164}\u{115f}\u{180e}\u{2065}\u{e0fff}";
    let root = TempDir::new().unwrap();
    let text = format!(
        "---\nname: N{unseen}ame\ndescription: D{unseen}.\ntriggers: [word]\n---\nBo{unseen}dy\n"
    );
    let engine = engine(root.path(), &format!("d{unseen}ir"), &text);
    for format in Format::ALL {
        for text in texts(&engine, format) {
            assert!(text.contains("dir") && text.contains("Name") || text.contains("Body"));
            assert!(!text.contains(|c| unseen.contains(c)), "{text:?}");
        }
    }
}

#[test]
#[cfg(unix)] // JSON escapes the separators of Windows
fn a_path_is_shown_as_it_is() {
    let root = TempDir::new().unwrap();
    let text = "---\nname: a\ndescription: d\ntriggers: [word]\n---\nb\n";
    let engine = engine(root.path(), "[x] y  z/a", text);
    for (format, place) in [
        (Format::Markdown, "Base directory: PATH\n"),
        (Format::Xml, " base_dir=\"PATH\""),
        (Format::Json, "\"base_dir\":\"PATH\""),
    ] {
        let dir = std::path::absolute(root.path().join("[x] y  z/a")).unwrap();
        let [full, _, prompt] = texts(&engine, format);
        assert!(full.contains(&place.replace("PATH", dir.to_str().unwrap())), "{full}");
        assert!(prompt.contains(dir.join("SKILL.md").to_str().unwrap()), "{prompt}");
    }
}
