//! Ranks skills with the crate `adk-skill`, by lines of JSON: `{"load": DIRECTORY}` is answered by
//! `{"loaded": true}`, and `{"rank": MESSAGE}` by `{"ranked": [NAME, …]}`.

use std::error::Error;
use std::io::{Write, stdin, stdout};
use std::path::Path;

use adk_skill::{SelectionPolicy, SkillIndex, load_skill_index_with_extras, select_skills};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut index = SkillIndex::default();
    for line in stdin().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let answer = if let Some(skills) = request["load"].as_str() {
            index = load(Path::new(skills))?;
            json!({"loaded": true})
        } else {
            let message = request["rank"].as_str().ok_or("neither `load` nor `rank`")?;
            json!({"ranked": rank(&index, message)})
        };
        let mut out = stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn load(skills: &Path) -> Result<SkillIndex, Box<dyn Error>> {
    // The root is searched for `AGENTS.md` and the like: an empty directory has none.
    let root = skills.with_extension("empty");
    std::fs::create_dir_all(&root)?;
    Ok(load_skill_index_with_extras(&root, &[skills.to_owned()])?)
}

fn rank(index: &SkillIndex, message: &str) -> Vec<String> {
    // By default it returns one skill, and none below a score of 1: a ranking takes what shares a word.
    let policy =
        SelectionPolicy { top_k: 5, min_score: f32::MIN_POSITIVE, ..SelectionPolicy::default() };
    select_skills(index, message, &policy).into_iter().map(|found| found.skill.name).collect()
}
