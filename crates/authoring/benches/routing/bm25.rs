//! The baseline: BM25 over the texts of the skills.

use std::collections::HashMap;

use repertoire::{Skill, SkillId};

/// Plain BM25 (k1 = 1.2, b = 0.75), the baseline.
pub(crate) struct Bm25 {
    names: Vec<String>,
    counts: Vec<HashMap<String, f64>>,
    lengths: Vec<f64>,
    n_with: HashMap<String, f64>,
}

impl Bm25 {
    pub(crate) fn new(skills: &[(SkillId, Skill)]) -> Bm25 {
        let mut new = Bm25 {
            names: Vec::new(),
            counts: Vec::new(),
            lengths: Vec::new(),
            n_with: HashMap::new(),
        };
        for (id, skill) in skills {
            let text = format!("{} {} {}", id, skill.description(), skill.body().unwrap());
            let mut counts: HashMap<String, f64> = HashMap::new();
            for word in plain_words(&text) {
                *counts.entry(word).or_default() += 1.0;
            }
            for word in counts.keys() {
                *new.n_with.entry(word.clone()).or_default() += 1.0;
            }
            new.names.push(id.to_string());
            new.lengths.push(counts.values().sum());
            new.counts.push(counts);
        }
        new
    }

    /// Returns the best three skills with their scores.
    pub(crate) fn rank(&self, prompt: &str) -> Vec<(f64, &str)> {
        const K1: f64 = 1.2;
        const B: f64 = 0.75;
        let n_skills = self.names.len() as f64;
        let usual = self.lengths.iter().sum::<f64>() / n_skills;
        let words: Vec<String> = plain_words(prompt).collect();
        let score = |i: usize| -> f64 {
            let score_of = |word: &String| {
                let Some(count) = self.counts[i].get(word) else { return 0.0 };
                let n_with = self.n_with[word];
                let rarity = (1.0 + (n_skills - n_with + 0.5) / (n_with + 0.5)).ln();
                let length = 1.0 - B + B * self.lengths[i] / usual;
                rarity * count * (K1 + 1.0) / (count + K1 * length)
            };
            words.iter().map(score_of).sum()
        };
        let mut scored: Vec<(f64, &String)> =
            self.names.iter().enumerate().map(|(i, name)| (score(i), name)).collect();
        scored.retain(|(score, _)| *score > 0.0);
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        scored.into_iter().take(5).map(|(score, name)| (score, name.as_str())).collect()
    }
}

fn plain_words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| !word.is_empty()).map(str::to_lowercase)
}
