//! Selection of the best few among hundreds of skills that share words, phrases and patterns. The
//! result must be the first of all matches, and must agree with the answers of each skill alone.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::{Index as Place, select};
use repertoire::matcher::{Index, IndexOptions, IndexedSkill, Match};
use repertoire::{Hit, HitKind, Query, Skill, SkillId};
use serde_json::json;

use crate::assert_selected;

/// Words that hundreds of skills declare, the first of them most often.
const COMMON: &[&str] = &["git", "push", "hub", "api", "test", "data", "c++", "部署"];

/// Phrases made of these words: some are in many skills, some in few.
const PHRASES: &[&str] = &["git push", "test data", "api test data", "push hub", "hub api"];

/// A skill: its common words, its phrase, words that few others have, its patterns, and its exclude
/// entries.
#[derive(Debug, Clone)]
struct Source {
    words: Vec<&'static str>,
    phrase: Option<&'static str>,
    own: Vec<u16>,
    patterns: Vec<(u8, &'static str, &'static str, u16)>,
    exclude: Option<&'static str>,
}

prop_compose! {
    fn source()(
        words in prop_oneof![
            4 => prop::collection::vec(prop_oneof![4 => select(&COMMON[..4]), 1 => select(COMMON)], 0..3),
            1 => prop::collection::vec(select(COMMON), 5..9),
        ],
        phrase in prop::option::weighted(0.1, select(PHRASES)),
        own in prop_oneof![
            3 => prop::collection::vec(0..60_u16, 0..2),
            1 => prop::collection::vec(0..120_u16, 3..7),
        ],
        patterns in prop::collection::vec((0..5_u8, select(COMMON), select(COMMON), 0..300_u16), 0..3),
        exclude in prop::option::weighted(0.1, select(&["data", "c++", "hub api"][..])),
    ) -> Source {
        Source { words, phrase, own, patterns, exclude }
    }
}

fn load(id: &str, source: &Source) -> Skill {
    let mut keywords: Vec<String> = source.words.iter().map(ToString::to_string).collect();
    keywords.extend(source.phrase.map(str::to_owned));
    keywords.extend(source.own.iter().map(|own| format!("own{own}")));
    let pattern = |(kind, a, b, n): &(u8, &str, &str, u16)| match kind {
        _ if !a.is_ascii() || a.contains('+') || !b.is_ascii() || b.contains('+') => {
            format!("own{n}.*own")
        }
        // Nearly every skill gets a pattern of its own.
        0 | 1 => format!("({a}|own{n}).*?({b}|more{n})"),
        2 => format!(r"\b{a}\s+(the\s+)?{b}{}", "x?".repeat(usize::from(n % 40))),
        3 => format!(r"{a}[\s_-]*{b}"),
        _ => format!(r"\d{{{}}}", 1 + n % 4),
    };
    let patterns: Vec<String> = source.patterns.iter().map(pattern).collect();
    let exclude: Vec<&str> = source.exclude.into_iter().collect();
    let triggers = json!({"keywords": keywords, "patterns": patterns, "exclude": exclude});
    format!("---\nname: {id}\ndescription: d\ntriggers: [{triggers}]\n---\n").parse().unwrap()
}

type Catalog = BTreeMap<SkillId, Skill>;

fn catalog(sources: &[Source]) -> Catalog {
    let id = |place: usize| format!("zq{place:03}");
    let skills = sources.iter().enumerate();
    skills.map(|(place, of)| (SkillId::new(&id(place)), load(&id(place), of))).collect()
}

fn indexed(catalog: &Catalog) -> Vec<IndexedSkill<'_>> {
    let indexed = |(id, skill)| as_indexed(id, skill);
    catalog.iter().map(indexed).collect()
}

fn as_indexed<'a>(id: &'a SkillId, skill: &'a Skill) -> IndexedSkill<'a> {
    IndexedSkill { id, name: skill.name(), triggers: skill.triggers() }
}

fn query() -> impl Strategy<Value = String> {
    let more = ["and", "the", "own7", "own12", "zq011", "/zq003", "12", "2026", "more7", "\n"];
    let piece = prop_oneof![
        6 => select(COMMON).prop_map(str::to_owned),
        1 => select(PHRASES).prop_map(str::to_owned),
        4 => select(more.to_vec()).prop_map(str::to_owned),
        3 => (0..120_u16).prop_map(|own| format!("own{own}")),
    ];
    prop::collection::vec(piece, 1..14).prop_map(|pieces| pieces.join(" "))
}

/// Returns the sort key of a match. `n_declaring` is the number of skills that declare each trigger.
fn key(
    found: &Match,
    n_declaring: &BTreeMap<(bool, String), usize>,
    recent: &[SkillId],
) -> impl Ord + use<> {
    let subjects: BTreeSet<(bool, String)> =
        found.hits.iter().map(|hit| (hit.kind == HitKind::Pattern, hit.trigger.clone())).collect();
    let rarest = subjects.iter().map(|of| n_declaring.get(of).copied().unwrap_or(1)).min();
    let place = recent.iter().position(|id| *id == found.id).unwrap_or(usize::MAX);
    let n_triggers = Reverse(subjects.len());
    (
        Reverse(found.explicit),
        Reverse(found.phrase_words),
        place,
        rarest,
        n_triggers,
        found.id.clone(),
    )
}

/// Removes weak mentions if one mention is strong. A single skill's index cannot do this, as it does
/// not know the others.
fn silence_weak_mentions(matches: &mut Vec<Match>) {
    if !matches.iter().any(|found| found.explicit) {
        return;
    }
    for found in matches.iter_mut().filter(|found| !found.explicit) {
        found.hits.retain(|hit| hit.kind != HitKind::Name);
        let n_words = |hit: &Hit| match hit.kind {
            HitKind::Pattern => 0,
            _ => hit.trigger.split(' ').count(),
        };
        found.phrase_words = found.hits.iter().map(n_words).max().unwrap_or_default();
    }
    matches.retain(|found| !found.hits.is_empty());
}

/// A catalog, compiled as a whole and once more skill by skill.
struct Crowd {
    whole: Index,
    each: Vec<Index>,
    /// The number of skills that declare each keyword and pattern.
    n_declaring: BTreeMap<(bool, String), usize>,
}

impl Crowd {
    fn new(catalog: &Catalog) -> Crowd {
        let compiled = |of: &[IndexedSkill<'_>]| Index::new(of, &IndexOptions::default()).unwrap();
        let mut n_declaring: BTreeMap<(bool, String), usize> = BTreeMap::new();
        for skill in catalog.values() {
            let triggers = skill.triggers();
            let literals = triggers.keywords.iter().map(|of| (false, of.value.clone()));
            let patterns = triggers.patterns.iter().map(|of| (true, of.value.clone()));
            for subject in literals.chain(patterns).collect::<BTreeSet<_>>() {
                *n_declaring.entry(subject).or_default() += 1;
            }
        }
        Crowd {
            whole: compiled(&indexed(catalog)),
            each: indexed(catalog).into_iter().map(|skill| compiled(&[skill])).collect(),
            n_declaring,
        }
    }

    /// Checks that the whole catalog answers in the same way as its skills one by one.
    fn check(&self, text: &str, recent: &[SkillId]) -> Result<(), TestCaseError> {
        let query = Query::new(text);
        let alone = |index: &Index| index.search(&query, &[], 1).matches;
        let mut expected: Vec<Match> = self.each.iter().flat_map(alone).collect();
        silence_weak_mentions(&mut expected);
        expected.sort_by_cached_key(|found| key(found, &self.n_declaring, recent));
        let all = self.whole.search(&query, recent, usize::MAX).matches;
        prop_assert_eq!(&all, &expected, "all of {:?}", text);
        assert_selected(&self.whole, &query, recent, &[], &[0, 1, 2, 3, 10, 128, 1_000]);
        Ok(())
    }
}

/// Builds a skill from keywords and patterns.
fn skill(id: &str, keywords: &[&str], patterns: &[&str]) -> (SkillId, Skill) {
    let triggers = json!({"keywords": keywords, "patterns": patterns});
    let text = format!("---\nname: {id}\ndescription: d\ntriggers: [{triggers}]\n---\n");
    (SkillId::new(id), text.parse().unwrap())
}

#[test]
fn a_skill_without_a_word_of_the_message_is_ranked_by_all_its_patterns() {
    // Another skill causes the first pattern to be tried before the second one.
    for shared in ["(alpha|one).*?(beta|two)", r"alpha\d*\s+beta\d+"] {
        let catalog = Catalog::from([
            skill("zq-a", &["word"], &[shared]),
            skill("zq-b", &["word"], &[]),
            skill("zq-c", &[], &["(eta|five).*?(theta|six)"]),
            skill("zq-d", &[], &[shared, "(gamma|three).*?(delta|four)", "(iota|seven).*?kappa"]),
            skill("zq-e", &["word"], &[]),
        ]);
        let crowd = Crowd::new(&catalog);
        for text in ["word alpha beta gamma delta eta theta iota kappa", "alpha beta gamma delta"] {
            crowd.check(text, &[]).unwrap();
        }
    }
}

#[test]
fn each_pattern_of_a_skill_counts_however_many_words_the_skill_has() {
    let words: Vec<String> = (0..12).map(|nth| format!("word{nth}")).collect();
    let others = (0..30).map(|of| {
        let words: Vec<&str> = (of..of + 7).map(|nth| &*words[nth % 12]).collect();
        skill(&format!("zq-{of:02}"), &words[..=of % 7], &[&format!("(a{of}|b).*?(c{of}|d)")])
    });
    let many: Vec<&str> = words.iter().map(String::as_str).chain(["rare", "seldom"]).collect();
    let more = [
        skill("zz-few", &["rare"], &["(alpha|one|two|three|four).*?(beta|five|six|seven|eight)"]),
        skill("zz-many", &many, &["(alpha|one).*?gamma"]),
        skill("zz-shared", &["seldom"], &["(alpha|one).*?gamma"]),
    ];
    let catalog: Catalog = others.chain(more).collect();
    let crowd = Crowd::new(&catalog);
    for text in [
        "seldom one gamma",
        "rare alpha eight gamma",
        "word3 four seven a7 c7",
        "word1 word5 rare a3 c3 a4 c4 a5 d b c9 three beta",
        "a1 d word0 word1 word2 word3 word4 word5 word6",
    ] {
        crowd.check(text, &[]).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_best_of_a_crowd_are_the_first_of_what_each_skill_alone_answers(
        sources in prop::collection::vec(source(), 150..500),
        queries in prop::collection::vec(query(), 4),
        recent in prop::collection::vec(any::<Place>(), 0..6),
    ) {
        let catalog = catalog(&sources);
        let crowd = Crowd::new(&catalog);
        let ids: Vec<&SkillId> = catalog.keys().collect();
        let recent: Vec<SkillId> = recent.iter().map(|place| (*place.get(&ids)).clone()).collect();
        for text in &queries {
            crowd.check(text, &[])?;
            crowd.check(text, &recent)?;
        }
    }
}
