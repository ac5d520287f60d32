//! Mentions: the places where a message names a skill.
//!
//! 1. A name is found by its literals (`name.rs`).
//! 2. The words around it tell whether the skill is asked for (`strength.rs`), and whether the
//!    mention is denied or done with (`denial.rs`), which reads the words before it (`clause.rs`).
//! 3. All mentions of a message together tell which of them count (`resolve.rs`): a longer name
//!    wins over one inside it, and a strong mention silences the weak ones of other skills.

mod clause;
pub(in crate::matcher) mod denial;
mod name;
mod resolve;
mod strength;

pub(crate) use name::Name;
pub(crate) use resolve::{Mention, resolve};

use super::fold_trigger;

/// The strength of a mention: how surely it means the skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Strength {
    /// The words of the name occur, as they also do in messages about something else.
    Weak,
    /// The skill is asked for by its name.
    Strong,
}

/// The reading of a name in its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reading {
    /// `None` if the name is a part of a path: it is not a mention, nor are shorter names inside
    /// it.
    pub(crate) strength: Option<Strength>,
    /// True if the name is all of a token that begins with a sigil: `/id`, `/plugin:id`.
    pub(crate) is_token: bool,
    pub(crate) is_denied: bool,
}

/// Tells whether a folded text asks for a skill by one of its names.
pub(crate) fn asks_for(id: &str, name: &str, folded: &str) -> bool {
    [(id, true), (name, false)].into_iter().any(|(own, is_id)| {
        strength_of(&fold_trigger(own), is_id, folded) == Some(Strength::Strong)
    })
}

/// The strength of the strongest mention in a folded text by a folded name, denied ones aside.
fn strength_of(name: &str, is_id: bool, folded: &str) -> Option<Strength> {
    if name.is_empty() {
        return None;
    }
    let (name, literals) = Name::new(name, is_id);
    let found = literals.iter().flat_map(|literal| folded.match_indices(literal.as_str()));
    let located = found.filter_map(|(at, found)| name.locate(folded, at..at + found.len()));
    let readings = located.map(|range| name.read(folded, &range));
    readings.filter(|reading| !reading.is_denied).filter_map(|reading| reading.strength).max()
}

/// Tells whether `c` is a quotation mark, a back-tick or a mark of emphasis.
fn is_quote(c: char) -> bool {
    "'\"`*“”‘«»「」".contains(c)
}

/// Characters that make the id after them a mention.
const SIGILS: [char; 3] = ['/', '$', '@'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mentions_are_told_from_words() {
        use Strength::{Strong, Weak};
        let cases = [
            ("deploy", "/deploy to staging", Some(Strong)),
            ("deploy", "please $deploy.", Some(Strong)),
            ("deploy", "@deploy, now", Some(Strong)),
            ("deploy", "/web-tools:deploy to staging", Some(Strong)),
            ("deploy", "@tools:deploy, now", Some(Strong)),
            ("deploy", "see tools:deploy", Some(Weak)),
            ("deploy", "see x/tools:deploy", Some(Weak)),
            ("deploy", "see /:deploy and /a:b:deploy", Some(Weak)),
            ("deploy", "/tools:deploy-all", Some(Weak)),
            ("deploy", "/deploy:all", Some(Weak)),
            ("deploy", "deploy to staging", Some(Weak)),
            ("deploy", "ls /tmp/deploy", None),
            ("deploy", "and/or deploy/", Some(Weak)),
            ("deploy", "/deploy- now", Some(Strong)),
            ("deploy", "run /deploy.sh", Some(Weak)),
            ("deploy", "/deploy-all", Some(Weak)),
            ("deploy", "/deploy/all", None),
            ("deploy", "run `/deploy` now", Some(Weak)),
            ("deploy", "(\"/deploy\", please)", Some(Weak)),
            ("deploy", "it is “/deploy prod”", Some(Weak)),
            ("deploy", "**/deploy** it", Some(Weak)),
            ("deploy", "all of **/deploy", None),
            ("deploy", "add **/deploy* and `*/deploy*`", None),
            ("deploy", "in **/deploy**/x", None),
            ("deploy", "cp \"/deploy\"/out (/deploy)/x '/deploy'/*", None),
            ("deploy", "`/tmp/deploy`", None),
            ("deploy", "\"$HOME\"/deploy", None),
            ("deploy", "https://deploy", None),
            ("deploy", "see ./deploy", None),
            ("deploy", "mail me@deploy", Some(Weak)),
            ("deploy", "/deployment", None),
            ("deploy", "use deploy", Some(Weak)),
            ("deploy", "use the deploy skill", Some(Strong)),
            ("deploy", "use the \"deploy\" skill!", Some(Strong)),
            ("deploy", "use the web-deploy skill", Some(Weak)),
            ("deploy", "use skill deploy", Some(Strong)),
            ("deploy", "use skill deploy-web", Some(Weak)),
            ("deploy", "use skill: `deploy`", Some(Strong)),
            ("deploy", "deploy skills", Some(Weak)),
            ("deploy", "unskill deploy", Some(Weak)),
            ("deploy", "not the deploy skill, use ship", None),
            ("deploy", "do not use skill: deploy", None),
            ("deploy", "do not run /tools:deploy", None),
            ("deploy", "no /deploy! deploy by hand", Some(Weak)),
            ("sven/plan", "/sven/plan it", Some(Strong)),
            ("sven/plan", "see sven/plan", Some(Weak)),
            ("sven", "/sven/plan it", None),
            ("code-review", "do a code review", Some(Weak)),
            ("code review", "do a code-review", Some(Weak)),
            ("code-review", "use code review", Some(Strong)),
            ("code-review", "please use the \"Code Review\"", None),
            ("code-review", "please use the \"code review\"", Some(Strong)),
            ("code-review", "use my code-review on it", Some(Strong)),
            ("code-review", "use: code-review", Some(Weak)),
            ("code-review", "use code-review.md", Some(Weak)),
            ("code-review", "reuse code-review", Some(Weak)),
            ("code-review", "use a code-review", Some(Weak)),
            ("code-review", "run code-review on it", Some(Strong)),
            ("code-review", "we are using code review", Some(Weak)),
            ("code-review", "it is done using code-review.", Some(Strong)),
            ("code-review", "invoke `code-review`", Some(Strong)),
            ("code-review", "/code-review", Some(Strong)),
            ("code-review", "/code review", Some(Weak)),
            ("code-review", "cat code-review/x", None),
            ("code-review", "code reviews", None),
            ("ci/cd pipeline", "a ci/cd-pipeline", None),
            ("a-b-c-d-e-f", "use a b-c d e-f!", Some(Strong)),
            ("a-b-c-d-e-f", "a b c d e fg", None),
            ("a-b-c-d-e-f", "a b c d e", None),
        ];
        for (name, text, expected) in cases {
            assert_eq!(strength_of(name, true, text), expected, "{name} in {text:?}");
        }
        assert_eq!(strength_of("ci/cd pipeline", false, "a ci/cd-pipeline"), Some(Weak));
        assert_eq!(strength_of("deploy", false, "/deploy"), Some(Weak), "only ids take a sigil");
    }
}
