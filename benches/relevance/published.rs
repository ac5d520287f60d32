//! Published skills, and the messages that people wrote for them, from the corpus outside of the
//! repository.

use std::path::{Path, PathBuf};

use repertoire::{Skill, SkillId};
use serde_json::Value;

/// A small random number generator (splitmix64). Unlike that of a crate, its sequence never changes.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }
}

/// Finds the corpus, in `../shared` or `$REPERTOIRE_SHARED`.
pub(crate) fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|dir| dir.join("../shared"));
    let named = std::env::var_os("REPERTOIRE_SHARED").map(PathBuf::from);
    let roots = named.into_iter().chain(beside);
    roots.map(|root| root.join("corpus")).find(|corpus| corpus.join("skills").is_dir())
}

/// Returns `n_skills` published skills. Beyond the size of the corpus, returns copies in which three
/// words of ten are replaced by words of other skills.
pub(crate) fn skills(corpus: &Path, n_skills: usize) -> Vec<(SkillId, Skill)> {
    let mut texts: Vec<String> = Vec::new();
    read_into(&corpus.join("skills"), &mut texts);
    let parsed = texts.iter().filter_map(|text| text.parse::<Skill>().ok());
    let originals: Vec<Skill> = parsed.filter(|skill| skill.body().is_ok()).collect();
    let words: Vec<Vec<&str>> = originals
        .iter()
        .map(|skill| skill.body().unwrap_or("x").split_whitespace().collect())
        .collect();
    let mut random = Random(7);
    let numbered = |number: usize| {
        let original = &originals[number % originals.len()];
        if number < originals.len() {
            return (SkillId::new(&format!("{number:06}")), original.clone());
        }
        let mut vary = |text: &str| -> String {
            let vary = |word| {
                let other = &words[random.below(words.len())];
                let is_kept = random.below(10) >= 3 || other.is_empty();
                if is_kept { word } else { other[random.below(other.len())] }
            };
            text.split_whitespace().map(vary).collect::<Vec<_>>().join(" ")
        };
        let description = serde_json::json!(vary(original.description()));
        let name = vary(&original.name().replace('-', " "));
        let body = vary(original.body().unwrap_or_default());
        let text = format!(
            "---\nname: {}\ndescription: {description}\n---\n{body}\n",
            serde_json::json!(name)
        );
        let skill = text.parse().unwrap_or_else(|_| original.clone());
        (SkillId::new(&format!("{number:06}")), skill)
    };
    (0..n_skills).map(numbered).collect()
}

/// Returns `n_messages` of the prompts that real catalogs are tested with. They have 90 to 160 bytes,
/// 123 on average.
pub(crate) fn messages(corpus: &Path, n_messages: usize) -> Vec<String> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(corpus.join("routing/catalogs"))
        .into_iter()
        .flatten()
        .filter_map(|dir| Some(dir.ok()?.path().join("cases.jsonl")))
        .collect();
    files.sort();
    let mut messages = Vec::new();
    for cases in files.iter().filter_map(|file| std::fs::read_to_string(file).ok()) {
        for case in cases.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            let query = case["query"].as_str().unwrap_or_default();
            if (90..=160).contains(&query.len()) {
                messages.push(query.to_owned());
            }
        }
    }
    let step = (messages.len() / n_messages.max(1)).max(1);
    messages.into_iter().step_by(step).take(n_messages).collect()
}

fn read_into(dir: &Path, texts: &mut Vec<String>) {
    let entries = std::fs::read_dir(dir).into_iter().flatten().filter_map(Result::ok);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            read_into(&path, texts);
        } else {
            texts.extend(std::fs::read_to_string(path));
        }
    }
}
