//! Matches by a word that people say about anything, which alone says little about what is wanted.
//!
//! A skill whose keyword is `test` or `review` is right when somebody wants tests, and wrong in
//! "the review is over, push it". Two words together, a pattern, or a name that is meant are surer.

use super::query::{Hit, HitKind, Match};

/// The word by which alone a skill matches, if `is_generic` says of every one that it says little:
/// the skill is not named, and no phrase, pattern or path of it is found.
pub(crate) fn only_generic_word(found: &Match, is_generic: impl Fn(&str) -> bool) -> Option<&str> {
    let is_weak = |hit: &Hit| {
        !matches!(hit.kind, HitKind::Pattern | HitKind::Path) && is_generic(&hit.trigger)
    };
    let is_sure = found.explicit || found.phrase_words > 1 || !found.hits.iter().all(is_weak);
    if is_sure { None } else { found.hits.first().map(|hit| hit.trigger.as_str()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::SkillId;

    #[test]
    fn a_match_is_weak_if_all_it_has_is_a_generic_word() {
        let hit =
            |kind, trigger: &str| Hit { kind, trigger: trigger.into(), span: 0..1, path: None };
        let found = |explicit, phrase_words, hits| Match {
            id: SkillId::new("x"),
            explicit,
            phrase_words,
            hits,
        };
        let weak = hit(HitKind::Keyword, "test");
        let name = hit(HitKind::Name, "review");
        for (found, expected) in [
            (found(false, 1, vec![weak.clone()]), Some("test")),
            (found(false, 1, vec![name.clone(), weak.clone()]), Some("review")),
            (found(true, 1, vec![name]), None),
            (found(false, 2, vec![weak.clone(), hit(HitKind::Keyword, "test it")]), None),
            (found(false, 1, vec![weak.clone(), hit(HitKind::Verb, "lint")]), None),
            (found(false, 1, vec![weak.clone(), hit(HitKind::Pattern, "test")]), None),
            (found(false, 0, vec![hit(HitKind::Path, "test")]), None),
        ] {
            assert_eq!(
                only_generic_word(&found, |word| ["test", "review"].contains(&word)),
                expected,
                "{found:?}"
            );
        }
    }
}
