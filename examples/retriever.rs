//! A host's own ranking in addition to the lexical one. A toy embedder stands in for an embedding
//! model: it counts groups of three letters, and so also finds misspelt words:
//!
//! ```console
//! $ cargo run -p repertoire --example retriever
//! ```
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::collections::HashMap;
use std::sync::RwLock;

use repertoire::matcher::{Candidate, Retriever};
use repertoire::{Engine, Error, Skill, SkillId};

/// A vector of length 1: the frequency of each group of three letters.
type Embedding = HashMap<[char; 3], f32>;

/// Embeds each description once, and each message when it arrives.
#[derive(Debug, Default)]
struct Embedder {
    skills: RwLock<Vec<Embedding>>,
}

impl Retriever for Embedder {
    fn prepare(&self, candidates: &[Candidate]) -> Result<(), Error> {
        if let Ok(mut skills) = self.skills.write() {
            *skills = candidates.iter().map(|skill| embed(&skill.description)).collect();
        }
        Ok(())
    }

    fn rank(&self, message: &str, _: &[Candidate]) -> Result<Vec<f32>, Error> {
        let message = embed(message);
        let skills = self.skills.read().ok();
        Ok(skills
            .iter()
            .flat_map(|skills| skills.iter())
            .map(|skill| cosine(&message, skill))
            .collect())
    }
}

fn embed(text: &str) -> Embedding {
    let mut counts = Embedding::new();
    let letters: Vec<char> = text.to_lowercase().chars().filter(|c| c.is_alphabetic()).collect();
    for group in letters.windows(3) {
        *counts.entry([group[0], group[1], group[2]]).or_default() += 1.0;
    }
    let length = counts.values().map(|count| count * count).sum::<f32>().sqrt();
    for count in counts.values_mut() {
        *count /= length;
    }
    counts
}

fn cosine(one: &Embedding, other: &Embedding) -> f32 {
    one.iter().filter_map(|(group, count)| Some(count * other.get(group)?)).sum()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = Engine::builder().retriever(Embedder::default());
    for (name, description) in [
        ("kubernetes-debugging", "Finds out why Kubernetes pods crash, restart or stay pending."),
        ("invoice-extraction", "Extracts totals from scanned invoices and receipts."),
        ("brand-voice", "Rewrites marketing copy in the voice of the company."),
        ("release-notes", "Writes release notes from merged pull requests."),
        ("terraform-modules", "Structures Terraform code into reusable modules."),
        ("query-tuning", "Makes slow SQL queries faster by reading execution plans."),
    ] {
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n");
        builder = builder.skill(text.parse::<Skill>()?);
    }
    let engine = builder.build()?;
    let message = "my kubernets podz keep chrashing and restrating";
    let disclosure = engine.disclose(message);
    println!("{}", disclosure.text);
    assert_eq!(disclosure.full.first().map(SkillId::as_str), Some("kubernetes-debugging"));
    Ok(())
}
