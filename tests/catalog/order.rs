//! The order of files on a disk changes nothing.

use super::*;

#[test]
fn the_catalog_and_its_texts_are_the_same_on_every_run() {
    let files: Vec<(String, String)> = (0..60)
        .map(|i| {
            let name = format!("s{:02}", (i * 37) % 60);
            let text = manifest(&format!("name: {name}\ntriggers: [word]"));
            (format!("d{}/{name}/SKILL.md", i % 7), text)
        })
        .collect();
    let texts = |files: &[(String, String)]| {
        let files: Vec<_> = files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
        let dir = tree(&files);
        let engine = Engine::builder().source(Source::project(dir.path())).build().unwrap();
        let (shown, listed) = (engine.disclose("word").text, engine.disclose("list skills").text);
        let all =
            [ids(&engine.catalog()).join(" "), shown, listed, engine.prompt().text].join("\n");
        all.replace(dir.path().to_str().unwrap(), "")
    };
    let first = texts(&files);
    let reversed: Vec<_> = files.iter().rev().cloned().collect();
    let mut sorted = files.clone();
    sorted.sort();
    assert_eq!(texts(&reversed), first);
    assert_eq!(texts(&sorted), first);
}
