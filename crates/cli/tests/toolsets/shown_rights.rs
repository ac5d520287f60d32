//! The rights that are stored are those that were shown, whatever happens between the question and the answer.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::binary::Place;
use crate::consent::{after_a_while, listed, run};

const SERVER: &str = include_str!("../../src/tool/server.py");

/// Replaces whatever is at `path` by a link.
fn lead(path: &Path, target: &Path) {
    if path.is_dir() && !path.is_symlink() {
        fs::remove_dir_all(path).unwrap();
    }
    let _ = fs::remove_file(path);
    symlink(target, path).unwrap();
}

/// Creates a skill whose scripts and server ask to read `path`.
fn place(path: &Path, place: &Place) {
    let rights = json!({"read": [path]});
    let server = json!({"class": "tools/s.py:mcp", "rights": rights});
    let head = json!({"name": "words", "description": "d", "toolsets": [server], "rights": rights});
    place.write("skills/words/SKILL.md", format!("---\n{head}\n---\nBody\n"));
    place.write("skills/words/tools/s.py", SERVER);
    place.write("skills/words/scripts/cat.sh", "#!/bin/sh\ncat \"$1\"\n");
}

/// Returns all rights to read that are stored.
fn stored(place: &Place) -> Vec<Value> {
    let listed = listed(place);
    let files = listed["trusted"].as_array().unwrap().iter();
    let rights =
        files.flat_map(|file| [file["read"].clone(), file["rights"]["mcp"]["read"].clone()]);
    rights.filter(|read| read.as_array().is_some_and(|read| !read.is_empty())).collect()
}

#[test]
fn a_link_that_leads_elsewhere_after_the_question_changes_no_right() {
    for (is_link, args) in [
        (true, &["trust", "add", "words"][..]),
        (true, &["trust", "add", "skills/words/scripts/cat.sh", "skills/words/tools/s.py"]),
        (false, &["trust", "add", "words"]),
        (true, &["tool", "build", "skills/words"]),
        (false, &["tool", "build", "skills/words"]),
    ] {
        let world = Place::new();
        let root = world.path().canonicalize().unwrap();
        let [asked, open, secret] = ["asked", "open", "secret"].map(|name| root.join(name));
        world.write("open/a", "open\n");
        world.write("secret/a", "secret\n");
        if is_link {
            lead(&asked, &open);
        } else {
            fs::create_dir(&asked).unwrap();
        }
        place(&asked, &world);
        let wanted = json!([if is_link { &open } else { &asked }]);
        let (code, shown) = after_a_while(&world, args, "y", || lead(&asked, &secret));
        assert!(code == 0 && shown.contains("(`y` or `n`)"), "{shown}");
        let stored = stored(&world);
        assert!(stored.iter().all(|read| *read == wanted), "{args:?} {is_link}: {stored:?}");
        assert_eq!(stored.len(), if args[0] == "tool" { 1 } else { 2 }, "{stored:?}");
        let file = secret.join("a");
        let ran = run(&world, &["run", "words", "cat.sh", "--", file.to_str().unwrap()]);
        assert!(!ran.stdout.contains("secret\n"), "{args:?} {is_link}: {ran:?}");
    }
}
