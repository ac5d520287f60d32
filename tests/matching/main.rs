//! Matching from the view of an index's caller: triggers of each kind, folding, mentions, denials, questions about the
//! skills, the order of matches, relevance, hostile input, and a comparison with a plain matcher.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod attachments;
mod crowd;
mod denials;
mod denied_names;
mod differential;
mod folding;
#[path = "../support/index.rs"]
mod index;
mod limits;
#[cfg(feature = "meaning")]
mod meaning;
mod mentions;
mod questions;
mod ranking;
mod relevance;
mod stopped;
mod triggers;

use std::collections::BTreeSet;

use repertoire::matcher::{Answer, Index, IndexOptions, IndexedSkill, Selection};
use repertoire::{Hit, HitKind, Match, Query, Skill, SkillId};

/// Builds an index of skills, each given by its id, its name, and additional lines of front matter.
fn index_of(skills: &[(&str, &str, &str)], options: &IndexOptions) -> Index {
    let parse = |&(id, name, more): &(&str, &str, &str)| -> (SkillId, Skill) {
        let name = serde_json::to_string(name).unwrap();
        let text = format!("---\nname: {name}\ndescription: d\n{more}\n---\n");
        (SkillId::new(id), text.parse().unwrap())
    };
    let skills: Vec<(SkillId, Skill)> = skills.iter().map(parse).collect();
    let indexed = skills.iter().map(|(id, skill)| IndexedSkill {
        id,
        name: skill.name(),
        triggers: skill.triggers(),
    });
    Index::new(&indexed.collect::<Vec<_>>(), options).unwrap()
}

/// Returns the answer of an index of these skills to a message.
fn search(skills: &[(&str, &str, &str)], options: &IndexOptions, text: &str) -> Answer {
    index_of(skills, options).search(&Query::new(text), &[], usize::MAX)
}

/// Checks selections against all matches: each is the best of them up to its limit, the skills in
/// `named` that match and the weak mentions wherever they rank, and the number of all.
#[track_caller]
fn assert_selected(
    index: &Index,
    query: &Query<'_>,
    recent: &[SkillId],
    named: &[SkillId],
    limits: &[usize],
) {
    let all = index.search(query, recent, usize::MAX);
    let is_there = |id: &SkillId| named.contains(id) || all.weak.contains(id);
    let is_pattern = |hit: &Hit| matches!(hit.kind, HitKind::Pattern | HitKind::Path);
    let is_word = |found: &&Match| {
        !found.explicit && found.phrase_words == 1 && !found.hits.iter().any(is_pattern)
    };
    let words = all.matches.iter().filter(is_word).map(|found| found.id.clone());
    let words: BTreeSet<SkillId> = words.collect();
    assert_eq!(all.words.iter().cloned().collect::<BTreeSet<_>>(), words, "{query:?}");
    for &limit in limits {
        let mut n_others = 0;
        let expected = all.matches.iter().filter(|found| {
            n_others += usize::from(!is_there(&found.id));
            is_there(&found.id) || n_others <= limit
        });
        let matches: Vec<Match> = expected.cloned().collect();
        let mut expected = all.clone();
        expected.words.retain(|id| matches.iter().any(|found| found.id == *id));
        expected.attached.retain(|(id, _)| matches.iter().any(|found| found.id == *id));
        expected.matches = matches;
        let selection = Selection { recent, limit, named: named.iter().collect(), hits: true };
        assert_eq!(index.select(query, &selection), expected, "{query:?}: {limit} and {named:?}");
        let matches = std::mem::take(&mut expected.matches);
        expected.beyond = matches.into_iter().map(|found| found.id).collect();
        assert_eq!(index.select(query, &Selection { hits: false, ..selection }), expected);
    }
}
