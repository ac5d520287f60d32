//! Processes that have no time to compute the vectors of skills by a transformer.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use repertoire::matcher::MeaningModel;
use repertoire::{Engine, EngineBuilder, SnapshotCache, Source};
use tempfile::TempDir;

use crate::{SETTLED, transformer};

#[test]
fn a_process_in_a_hurry_leaves_vectors_of_a_transformer_to_others() {
    let dir = TempDir::new().unwrap();
    let (near, far) = (["flood", "floods", "water", "cellar"], ["invoice", "invoices", "handles"]);
    for (name, content) in transformer::files(&near, &far) {
        fs::create_dir_all(dir.path().join("tiny")).unwrap();
        fs::write(dir.path().join("tiny").join(name), content).unwrap();
    }
    let model = Arc::new(MeaningModel::from_directory(&dir.path().join("tiny")).unwrap());
    let cache = SnapshotCache::new(dir.path().join("cache"));
    let skills = dir.path().join("skills");
    let write = |n: usize, what: &str| {
        let text = format!("---\nname: s{n:02}\ndescription: Handles {what}.\n---\nB\n");
        fs::create_dir_all(skills.join(format!("s{n:02}"))).unwrap();
        fs::write(skills.join(format!("s{n:02}/SKILL.md")), text).unwrap();
    };
    (0..30).for_each(|n| write(n, if n == 7 { "floods" } else { "invoices" }));
    std::thread::sleep(SETTLED);
    let build = |limit: Option<Duration>| {
        let builder = Engine::builder().source(Source::user(&skills)).cache(cache.clone());
        let builder = limit.into_iter().fold(builder, EngineBuilder::max_compile_time);
        let engine = builder.meaning(Arc::clone(&model)).build().unwrap();
        let found = engine.find_ids("there is water in our cellar", 5);
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        let used = engine.cache_use();
        (found, used.used, used.stale, used.written)
    };
    let hurried = Some(Duration::from_secs(60));
    let (nothing, seven) = (Vec::<String>::new(), vec!["s07".to_owned()]);
    assert_eq!(build(hurried), (nothing, false, true, false), "by words alone, none is found");
    assert_eq!(build(None), (seven.clone(), false, false, true));
    assert_eq!(build(hurried), (seven.clone(), true, false, false));
    write(3, "floods");
    assert_eq!(build(hurried), (seven, true, true, false), "as it was before");
    std::thread::sleep(SETTLED);
    let both = vec!["s03".to_owned(), "s07".to_owned()];
    assert_eq!(build(None), (both.clone(), false, false, true));
    assert_eq!(build(hurried), (both, true, false, false));
}
