//! Sites that list their skills at a well-known address.

use std::io::Write as _;

use serde_json::json;

use crate::binary::Place;
use crate::repository::skill;
use crate::web::{Web, answer};
use crate::zip_file::{Part, zip};

fn sha256(bytes: &[u8]) -> String {
    repertoire::trust::ContentHash::of(bytes).to_string()
}

/// Serves `files`, each with its path.
fn serve(files: Vec<(&'static str, Vec<u8>)>) -> Web {
    Web::start(move |request, stream| {
        let path = request.split(' ').nth(1).unwrap_or_default();
        match files.iter().find(|(known, _)| *known == path) {
            Some((_, body)) => answer(stream, "200 OK", "", body),
            None => stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
        }
    })
}

#[test]
fn skills_of_a_site_are_added_and_compared_with_their_digests() {
    let one = skill("one", "", "Do one.\n");
    let packed = zip(&[
        Part::stored("SKILL.md", skill("two", "", "Do two.\n")),
        Part::stored("notes/a.md", "a\n"),
    ]);
    let index = json!({"skills": [
        {"name": "one", "type": "skill-md", "description": "d",
         "url": "/.well-known/agent-skills/one/skill.md", "digest": format!("sha256:{}", sha256(one.as_bytes()))},
        {"name": "two", "type": "archive", "description": "d",
         "url": "two.zip", "digest": format!("sha256:{}", sha256(&packed))},
        {"name": "lie", "type": "skill-md", "description": "d",
         "url": "one/skill.md", "digest": format!("sha256:{}", "0".repeat(64))},
    ]});
    let web = serve(vec![
        ("/.well-known/agent-skills/index.json", index.to_string().into_bytes()),
        ("/.well-known/agent-skills/one/skill.md", one.into_bytes()),
        ("/.well-known/agent-skills/two.zip", packed),
    ]);
    let place = Place::new();
    let site = web.url(".well-known/agent-skills/index.json");
    let refused = place.run(["add", &site]).exits(1);
    assert!(refused.stderr.contains("is not what its digest"), "{refused:?}");
    let add = ["add", &site, "--name", "acme", "--skill", "one", "--skill", "two", "--json"];
    let added = place.run(add).exits(0).json();
    assert_eq!((&added["skills"], &added["files"]), (&json!(["one", "two"]), &json!(3)), "{added}");
    assert!(place.run(["use", "two"]).exits(0).stdout.contains("Do two."));
    let updated = place.run(["update", "--json"]).exits(0).json();
    assert_eq!(updated["sources"][0]["status"], "unchanged", "{updated}");
    place.run(["update", "--frozen"]).exits(0);
    let only =
        place.run(["add", &web.url(".well-known/agent-skills/one/SKILL.md"), "--list", "--json"]);
    assert_eq!(only.exits(0).json()["skills"][0]["id"], "one");
}

#[test]
fn the_first_form_lists_files() {
    let index = json!({"skills": [
        {"name": "one", "description": "d", "files": ["SKILL.md", "references/a.md"]},
    ]});
    let web = serve(vec![
        ("/.well-known/skills/index.json", index.to_string().into_bytes()),
        ("/.well-known/skills/one/skill.md", skill("one", "", "Do one.\n").into_bytes()),
        ("/.well-known/skills/one/references/a.md", b"a\n".to_vec()),
    ]);
    let place = Place::new();
    let added = place.run(["add", &web.url(".well-known/skills"), "--json"]).exits(0).json();
    assert_eq!((&added["skills"], &added["files"]), (&json!(["one"]), &json!(2)), "{added}");
}

#[test]
fn files_outside_of_a_skill_are_refused() {
    for path in ["../../SKILL.md", "/etc/passwd", "a\\b"] {
        let index = json!({"skills": [{"name": "one", "description": "d", "files": [path]}]});
        let web = serve(vec![("/.well-known/skills/index.json", index.to_string().into_bytes())]);
        let run = Place::new().run(["add", &web.url(".well-known/skills/index.json")]).exits(1);
        assert!(run.stderr.contains("PERMISSION_DENIED"), "{path}: {run:?}");
        assert_eq!(web.requests().len(), 1, "{path}");
    }
}
