//! The table of spellings: the names that files of prompts give to the same things.
//!
//! A key is read in parts, so that one row stands for many keys: `forbidden`, `forbidden_skill` and
//! `forbiddenSkillIds` are one word with three nouns, `should_not_trigger` and `must-not-fire-queries`
//! are a modal, a negation, a verb and a noun.

/// The meaning of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The prompt.
    Prompt,
    /// The skill to which a prompt, or a file, belongs.
    Skill,
    /// The skills that should fire.
    Expected,
    /// Skills that may fire.
    Acceptable,
    /// Skills that must not fire.
    Forbidden,
    /// The answer to the question whether the skill should fire.
    Flag,
    /// A classification of the prompt, which sometimes says whether the skill should fire.
    Kind,
    /// `should_trigger` and the like: a flag, a list of prompts or a list of skills.
    Polarity(bool),
    /// A map with more fields of the entry.
    Nested,
}

/// A row of the table: a key is one of `words` followed by one of `nouns`.
struct Row {
    role: Role,
    words: &'static [&'static str],
    nouns: &'static [&'static str],
}

/// The nouns of keys that name skills.
const NAMES: &[&str] = &[
    "skill", "skills", "skillid", "skillids", "skillname", "skillnames", "owner", "owners",
    "route", "routes",
];

/// The table, in the form of [`normal`]. The first row that fits decides, and its place is the rank of
/// the key.
#[rustfmt::skip]
const TABLE: &[Row] = &[
    Row { role: Role::Prompt, words: &["", "user"], nouns: &["query", "prompt", "input", "message",
        "task", "request", "question", "utterance"] },
    Row { role: Role::Skill, words: &["", "target", "owner", "tested"],
        nouns: &["skill", "skillname", "skillid"] },
    Row { role: Role::Expected, nouns: &[""], words: &["expected", "expect", "relevant", "preferred",
        "expectedprimary", "primary"] },
    Row { role: Role::Expected, nouns: NAMES, words: &["expected", "expect", "relevant", "preferred",
        "expectedprimary", "primary", "correct", "desired", "lead"] },
    Row { role: Role::Acceptable, nouns: &[""], words: &["acceptable", "expectedsupporting",
        "supporting", "expectedsecondary", "alternatives", "alternates", "acceptablealternatives",
        "acceptablealternates"] },
    Row { role: Role::Acceptable, nouns: NAMES, words: &["acceptable", "accepted", "allowed",
        "expectedsupporting", "supporting", "expectedsecondary", "secondary", "allowedsecondary",
        "alternative", "alternate", "optional", "permitted", "overlay"] },
    Row { role: Role::Forbidden, nouns: &[""], words: &["forbidden", "avoid"] },
    Row { role: Role::Forbidden, nouns: NAMES, words: &["forbidden", "avoid", "disallowed",
        "prohibited", "excluded", "wrong", "incorrect", "unexpected", "notexpected", "unwanted",
        "nearmiss", "negative"] },
    Row { role: Role::Flag, words: &["label", "polarity"], nouns: &[""] },
    Row { role: Role::Kind, words: &["kind", "type", "category", "class", "outcome", "verdict",
        "expectation"], nouns: &[""] },
    Row { role: Role::Kind, words: &["case", "prompt", "query", "test", "expected"],
        nouns: &["kind", "type", "outcome"] },
    Row { role: Role::Nested, words: &["vars", "expectations", "routing"], nouns: &[""] },
];

/// The verbs by which files say that a skill fires.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "trigger", "triggers", "triggered", "triggering", "route", "routes", "routed", "routing",
    "fire", "fires", "fired", "activate", "activates", "activated", "activation", "load", "loads",
    "loaded", "use", "uses", "used", "invoke", "invokes", "invoked", "invocation", "select",
    "selects", "selected", "match", "matches", "matched",
];
/// Words before a negation or a verb.
const MODALS: &[&str] =
    &["", "should", "must", "expected", "expectedto", "expect", "expects", "do", "does", "will"];
const NEGATIONS: &[&str] = &["not", "nt", "no", "never", "non"];
/// Words that say by themselves whether the skill should fire.
const ADJECTIVES: &[(&str, bool)] = &[
    ("positive", true),
    ("positives", true),
    ("inscope", true),
    ("negative", false),
    ("negatives", false),
    ("nearmiss", false),
    ("nearmisses", false),
    ("outofscope", false),
];
/// Nouns of lists of prompts, after the words that say whether these should fire.
const PROMPTS: &[&str] =
    &["prompts", "queries", "cases", "examples", "messages", "requests", "tests", "inputs"];

/// Lists of prompts that should fire the skill although no modal says so. Trigger tests and cases are of
/// both kinds.
const TRIGGER_PROMPTS: &[&str] = &["triggerprompts", "triggerqueries", "triggermessages"];

/// Keys of lists of entries. Any other list is one of entries if its first element has a prompt.
pub(super) const LISTS: &[&str] =
    &["evals", "cases", "queries", "tests", "testcases", "scenarios", "prompts"];
/// The key of a list, or a map by name, of skills with their prompts.
pub(super) const SKILLS: &str = "skills";
/// Keys of the name of a skill in [`SKILLS`].
pub(super) const SKILL_NAMES: &[&str] = &["name", "id"];
/// The keys of [`Role::Expected`] that some files use for the expected answer, in prose.
pub(super) const MAYBE_PROSE: &[&str] = &["expected", "expect"];
/// Keys by which a map under a key of [`Role::Expected`] names skills.
pub(super) const NAMES_IN_MAP: &[&str] =
    &["skill", "skillname", "skills", "route", "primary", "primaryskill"];
/// Words in the names of files, directories and maps of prompts, beside the name of a skill.
#[rustfmt::skip]
const CONTAINERS: &[&str] = &[
    "eval", "evals", "evaluation", "evaluations", "trigger", "triggers", "triggering", "routing",
    "route", "routes", "test", "tests", "prompt", "prompts", "case", "cases", "query", "queries",
    "corpus", "fixtures", "scenarios", "skill", "skills",
];

/// Normalises a key: lower case, without `_`, `-`, apostrophes and blanks.
pub(super) fn normal(key: &str) -> String {
    let letters = key.trim().chars().filter(|c| !matches!(c, '_' | '-' | ' ' | '\'' | '’'));
    letters.flat_map(char::to_lowercase).collect()
}

/// Tells whether a name, such as `trigger-tests`, only says that there are prompts.
pub(super) fn is_container(name: &str) -> bool {
    words(name).iter().all(|word| is_container_word(word))
}

/// The names of skills that the name of a file or a directory may stand for, the longest first: the name
/// itself, and what is left without the words that say that there are prompts.
pub(super) fn skills_in(name: &str) -> Vec<String> {
    let words = words(name);
    let is_own = |word: &String| !is_container_word(word);
    let (Some(first), Some(last)) = (words.iter().position(is_own), words.iter().rposition(is_own))
    else {
        return Vec::new();
    };
    [0..words.len(), 0..last + 1, first..words.len(), first..last + 1]
        .map(|range| words[range].concat())
        .into()
}

/// Normalises the name of a skill to the form of [`skills_in`].
pub(super) fn joined(name: &str) -> String {
    words(name).concat()
}

fn words(name: &str) -> Vec<String> {
    let words = name.split(['-', '_', ' ', '.']).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

fn is_container_word(word: &str) -> bool {
    CONTAINERS.contains(&word)
}

/// The role of a key in the form of [`normal`], and its rank among the keys of that role.
pub(super) fn role(key: &str) -> Option<(Role, usize)> {
    let mut rank = 0;
    for Row { role, words, nouns } in TABLE {
        for word in *words {
            let noun = key.strip_prefix(word);
            if let Some(place) = nouns.iter().position(|known| Some(*known) == noun) {
                return Some((*role, rank + place));
            }
            rank += nouns.len();
        }
    }
    polarity(key).map(|fires| (Role::Polarity(fires), rank))
}

/// Tells whether the prompts in a list with this key should fire the skill; `None` if the key does not
/// say so.
pub(super) fn list_polarity(key: &str) -> Option<bool> {
    if TRIGGER_PROMPTS.contains(&key) {
        return Some(true);
    }
    let without_noun = PROMPTS.iter().find_map(|noun| key.strip_suffix(noun));
    polarity(without_noun.unwrap_or(key))
}

/// Reads a text, such as `do-not-route` or `positive`, as the answer to whether the skill should fire.
pub(super) fn verdict(text: &str) -> Option<bool> {
    let text = normal(text);
    VERBS.contains(&&*text).then_some(true).or_else(|| polarity(&text))
}

/// Tells whether a key is a word like `positive` or `near_miss`.
pub(super) fn is_adjective(key: &str) -> bool {
    ADJECTIVES.iter().any(|(adjective, _)| *adjective == key)
}

/// Reads words that say more than a verb alone whether the skill should fire. Verbs alone mean other
/// things, too: `triggers`, `use`.
pub(super) fn polarity(text: &str) -> Option<bool> {
    let of_adjective = |(adjective, fires): &(&str, bool)| {
        let rest = text.strip_suffix(adjective).or_else(|| text.strip_prefix(adjective))?;
        (rest.is_empty() || VERBS.contains(&rest)).then_some(*fires)
    };
    let of_verb = |verb: &&str| {
        let before = text.strip_suffix(verb).filter(|before| !before.is_empty())?;
        MODALS.iter().find_map(|modal| match before.strip_prefix(modal)? {
            "" => Some(true),
            rest => NEGATIONS.contains(&rest).then_some(false),
        })
    };
    ADJECTIVES.iter().find_map(of_adjective).or_else(|| VERBS.iter().find_map(of_verb))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_equal_in_every_case() {
        for key in [
            "shouldTrigger", "should_trigger", "should-trigger", "Should Trigger",
            " SHOULD_TRIGGER",
        ] {
            assert_eq!(normal(key), "shouldtrigger");
        }
    }

    #[test]
    fn one_row_stands_for_all_spellings_of_a_key() {
        for (role_of_all, keys) in [
            (Role::Prompt, &["query", "request", "user_request", "userMessage", "user-query"][..]),
            (Role::Skill, &["skill", "skill_name", "targetSkill", "owner-skill"]),
            (Role::Expected, &["expected_primary", "expectedPrimarySkill", "preferred-skill"]),
            (Role::Expected, &["preferred_skills", "expect", "expected_owner", "expected_route"]),
            (Role::Acceptable, &["expected_supporting", "expectedSupportingSkills"]),
            (Role::Acceptable, &["acceptable_skills", "acceptable-skill", "allowedSkills"]),
            (Role::Forbidden, &["forbidden_skills", "forbiddenSkill", "near-miss-skills"]),
            (Role::Polarity(true), &["should_trigger", "mustFire", "expected-to-trigger"]),
            (Role::Polarity(false), &["should_not_trigger", "must-not-fire", "shouldNotRoute"]),
        ] {
            for key in keys {
                let role = role(&normal(key)).map(|(role, _)| role);
                assert_eq!(role, Some(role_of_all), "{key}");
            }
        }
        for key in ["id", "expected_output", "expected_behavior", "triggers", "use_cases", "routed"]
        {
            assert_eq!(role(&normal(key)), None, "{key}");
        }
    }

    #[test]
    fn a_verdict_is_read_from_its_parts() {
        for (text, fires) in [
            ("route", Some(true)),
            ("do-not-route", Some(false)),
            ("Don't route", Some(false)),
            ("no-trigger", Some(false)),
            ("should_trigger", Some(true)),
            ("must not activate", Some(false)),
            ("never use", Some(false)),
            ("trigger_positive", Some(true)),
            ("near-miss", Some(false)),
            ("NEGATIVE", Some(false)),
            ("yes", None),
            ("router", None),
            ("notes", None),
            ("deploy", None),
        ] {
            assert_eq!(verdict(text), fires, "{text}");
        }
    }

    #[test]
    fn a_list_says_by_its_key_what_its_prompts_should_do() {
        for (key, fires) in [
            ("should_trigger", Some(true)),
            ("should_not_trigger_prompts", Some(false)),
            ("trigger_prompts", Some(true)),
            ("nonTriggerQueries", Some(false)),
            ("near_misses", Some(false)),
            ("positive-cases", Some(true)),
            ("triggers", None),
            ("use_cases", None),
            ("prompts", None),
        ] {
            assert_eq!(list_polarity(&normal(key)), fires, "{key}");
        }
    }
}
