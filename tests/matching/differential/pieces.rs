//! The building blocks for generated texts and triggers.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

/// Pieces of texts and triggers: few enough that they meet often, and unusual enough to reveal faults.
const PIECES: &[&str] = &[
    "git", "Git", "hub", "a", "aa", "b", "_", "-", ".", "c++", " ", " ", " ", "  ", "\n", "\u{b} ",
    "é", "e\u{301}", "É", "ß", "SS", "ss", "ﬁ", "fi", "使", "用", "天气", "배포", "를", "ー", "ﾊﾞ",
    "バ", "’", "'", "İ", "i", "\u{307}", "\u{200b}", "\u{ad}", "\u{fe0f}", "\u{2011}", "\u{2010}",
    "K", "k", "ſ", "s", "０", "0", "\u{301}", "ก", "ข", "Σ", "ς", "pull request", "PULL  REQUEST",
    "🚀", "\u{a0}", "ǅ", "ŉ",
];

/// Triggers that begin and end with one another: words, phrases, and texts that are not words.
pub(super) const NESTED: &[&str] = &[
    "a", "b", "a b", "b a", "a-b", "b-a", "ab", "ba", "a b a", "a-b a", "-b", "a b-a", "-aba",
    "-abab", "-aba b", "-aba-", "b-aba", "-ab", "aba-",
];

/// Patterns whose literals begin and end with one another, with other text between them.
pub(super) const NESTED_PATTERNS: &[&str] = &[
    "abab", "abab.*a", "aba.*abab", "-aba.*?(b|ab)", "(aba|abab-).*ba", "bab", "abab?-", "ababa",
    "abab.*b_a", "ab", "a",
];

/// Pieces of texts for nested triggers.
pub(super) const NESTED_PIECES: &[&str] =
    &["a", "b", " ", " ", "-", "_", "a b", "a-b", "b a", "-a", "aba", "bab", "ababa_"];

/// Pieces of patterns.
const PATTERN_PIECES: &[&str] = &[
    "git", "hub", "a", "(a|b)", "(git|pull request)", ".*", ".*?", r"\s+", r"\s*", r"\b", "é", "ß",
    "ss", "k", "[a-c]", "[^a]", r"\d", r"\w+", "(?:hub)?", "a{2,3}", "^", "$", "使用", "(?-i:Git)",
    "(?i)", "ﬁ", "s", "’", "'", "-", r"[\s_-]", "İ", "\u{200b}", "\u{2011}", "(天气|배포)", r"\W",
    "(foo|bar|baz)", r"(?:a\s)+", "b+", "\\.", "Σ",
];

pub(super) fn text(n_pieces: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(select(PIECES), n_pieces).prop_map(|pieces| pieces.concat())
}

fn triggers(n_triggers: std::ops::Range<usize>) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(text(1..4), n_triggers)
}

pub(super) fn pattern() -> impl Strategy<Value = String> {
    prop::collection::vec(select(PATTERN_PIECES), 1..5).prop_map(|pieces| pieces.concat())
}

prop_compose! {
    pub(super) fn skill()(
        keywords in triggers(0..4),
        verbs in triggers(0..3),
        exclude in triggers(0..2),
        patterns in prop::collection::vec(pattern(), 0..3),
    ) -> serde_json::Value {
        json!({"keywords": keywords, "verbs": verbs, "exclude": exclude, "patterns": patterns})
    }
}

/// Words that many skills declare: alone, in phrases and in patterns.
pub(super) const SHARED: &[&str] =
    &["git", "hub", "commit", "push", "c++", "git push", "hub commit", "x", "\n"];

const SHARED_PATTERNS: &[&str] = &[
    "git.*push",
    "(git|hub).*?(commit|push)",
    "commit.*git",
    "gi",
    "hub|push",
    r"\bgit\s+push",
    r"hub[\s_-]*commit",
    r"\w+\s\w+",
    "push.*(hub|ub)",
    "(?-i)git.*x",
    "Git.+X",
];

prop_compose! {
    pub(super) fn competing()(
        keywords in prop::collection::vec(select(SHARED), 0..3),
        exclude in prop::collection::vec(select(&["x", "hub commit", "zz"][..]), 0..2),
        patterns in prop::collection::vec(select(SHARED_PATTERNS), 0..3),
    ) -> serde_json::Value {
        json!({"keywords": keywords, "exclude": exclude, "patterns": patterns})
    }
}

/// Ids and names that contain one another.
const IDS: &[&str] = &[
    "deploy", "deploy-api", "api", "web-deploy-api", "run", "code-review", "review", "ops/deploy",
    "a-b-c-d-e", "部署",
];

const NAMES: &[&str] = &[
    "deploy", "deploy api", "code review", "review bot", "release notes", "a-b-c-d", "部署", "api",
];

/// Texts that deny the name after them, and texts that only look as if they did.
const BEFORE: &[&str] = &[
    "not", "don't", "don’t", "don´t", "don`t", "cant", "do _not_", "do not", "why not",
    "why is it not", "if not", "no", "no,", "without", "instead of", "rather than", "just",
    "already", "just ran", "already run", "finished", "never", "just finished /x and",
    "either $x or", "skip", "never skip", "stop", "forget", "not only", "except", "cannot", "done",
    "other than", "not use any except", "if not without", "use nothing other than", "isn't",
    "why isn't", "can't", "it doesn't", "not (", "not.", "x",
];

/// Texts between a denial and the name.
const BETWEEN: &[&str] = &[
    "the", "the", "my", "use", "use", "run", "using", "a", "to", "want", "with", "for", "skill",
    "longer", "and", "or", "&", "skills", "both", "x", "need", "really", "that", "used", "skill:",
];

/// Texts directly before and after a name.
const OPENING: &[&str] = &[
    "", "", "", "", "/", "/", "$", "@", "/tools:", "@a-b.c:", "`", "\"", "“/", "(", "**/", "/tmp/",
    "./", "web-", "é", "skill=", "用skill ", "éskill ",
];

const CLOSING: &[&str] = &[
    " ", " ", " ", " skill ", " skill, ", " skill来 ", " skill을 ", " skillé ", "-skill",
    "` skill ", ". ", ": ", "\n", ", ", " and ", " or ", ", ", ", or ", " & ", "\" ", "-web ",
    ".md ", "/x ", "/ ", "** ", " skills ", " zz ", " ship it ", " é", "",
];

/// Generates skills with an id, a name and triggers; each id occurs once.
pub(super) fn catalog_of_names()
-> impl Strategy<Value = Vec<(&'static str, &'static str, serde_json::Value)>> {
    let triggers = (
        prop::collection::vec(select(&["deploy", "review", "ship it", "use"][..]), 0..2),
        prop::collection::vec(select(&["zz", "x"][..]), 0..2),
    );
    let triggers =
        triggers.prop_map(|(keywords, exclude)| json!({"keywords": keywords, "exclude": exclude}));
    let skill = (prop::option::weighted(0.4, select(NAMES)), triggers);
    prop::collection::btree_map(select(IDS), skill, 1..6).prop_map(|skills| {
        let named = skills.into_iter();
        named.map(|(id, (name, triggers))| (id, name.unwrap_or(id), triggers)).collect()
    })
}

/// Generates a message that names skills, once or a few times.
pub(super) fn message_of_names() -> impl Strategy<Value = String> {
    let before = prop_oneof![1 => Just(""), 2 => select(BEFORE)];
    let between = prop::collection::vec(select(BETWEEN), 0..3);
    let name = prop_oneof![select(IDS), select(NAMES)];
    let mention = (before, between, select(OPENING), name, select(CLOSING));
    let mention = mention.prop_map(|(before, between, opening, name, closing)| {
        let words = [before].into_iter().chain(between).filter(|word| !word.is_empty());
        let words: String = words.flat_map(|word| [word, " "]).collect();
        format!("{words}{opening}{name}{closing}")
    });
    prop::collection::vec(mention, 1..4).prop_map(|mentions| mentions.concat())
}
