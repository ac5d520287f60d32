//! Light English stemming.
//!
//! Forms of a word get the same stem if they mean the same to a user who looks for a skill: `deploys`,
//! `deploying` and `deployment`; `migrate` and `migrations`. Inflections are removed first, then one
//! ending that makes a noun or an adjective of a verb, in the spirit of Porter's *An algorithm for
//! suffix stripping* (1980) but with one pass and no exceptions. A stem need not be a word. Over the
//! catalogs of `docs/routing.md`, this finds more than removing inflections alone.

/// Words shorter than this, in bytes, are left alone. A word that has just this length without its
/// inflection can only lose a final `e` as well.
const MIN_BYTES: usize = 4;

/// Plurals of abbreviations that look like other words, in lower case. The plurals of most, such as `urls`,
/// end like that of any word; those of others, such as `css`, would be names.
const PLURALS: [&str; 16] = [
    "apis", "clis", "cpus", "dbs", "gpus", "guis", "ids", "kpis", "npus", "pcs", "prs", "skus",
    "tpus", "tvs", "uis", "vms",
];

/// Endings that derive one word from another, those with the given last letter, each with the minimum
/// number of letters before it. They are tried in this order, so an ending comes before its own endings.
fn derivations(last: u8) -> &'static [(&'static str, usize)] {
    match last {
        b'e' => &[
            ("able", 4),
            ("ible", 4),
            ("ance", 4),
            ("ence", 4),
            ("ive", 4),
            ("ate", 4),
            ("ize", 3),
            ("ise", 4),
        ],
        b'l' => &[("ational", 4), ("al", 4)],
        b'n' => &[("ization", 3), ("ation", 4), ("ition", 4), ("ion", 4)],
        b'r' => &[("izer", 3), ("ator", 4), ("er", 4), ("or", 4)],
        b's' => &[("ness", 4)],
        b't' => &[("ment", 4)],
        b'y' => &[("ly", 4), ("ity", 4)],
        _ => &[],
    }
}

/// Turns a folded word into its stem. A word that is not of ASCII letters is its own stem.
pub(super) fn stem(word: &mut String) {
    if word.ends_with('s') && word.len() <= MIN_BYTES && PLURALS.contains(&word.as_str()) {
        word.pop();
        return;
    }
    if word.len() >= MIN_BYTES && word.bytes().all(|b| b.is_ascii_lowercase()) {
        singular(word);
        without_inflection(word);
        without_derivation(word);
    }
}

fn singular(word: &mut String) {
    if word.len() > 4 && word.ends_with("ies") {
        word.truncate(word.len() - 3);
        word.push('y');
    } else if word.ends_with("sses") {
        word.truncate(word.len() - 2);
    } else if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        word.pop();
    }
}

fn without_inflection(word: &mut String) {
    let Some(ending) = ["ingly", "edly", "ing", "ed"].iter().find(|end| word.ends_with(**end))
    else {
        return;
    };
    let rest = &word[..word.len() - ending.len()];
    if rest.len() >= 3 && rest.contains(['a', 'e', 'i', 'o', 'u', 'y']) {
        word.truncate(rest.len());
        if ["at", "bl", "iz"].iter().any(|end| word.ends_with(end)) {
            word.push('e');
        } else {
            undouble(word, 3);
        }
    }
}

fn without_derivation(word: &mut String) {
    if let [.., last] = *word.as_bytes()
        && word.len() > MIN_BYTES
    {
        let ending = derivations(last)
            .iter()
            .find(|(end, least)| word.ends_with(end) && word.len() >= end.len() + least);
        if let Some((end, _)) = ending {
            word.truncate(word.len() - end.len());
        }
    }
    if word.len() >= MIN_BYTES && word.ends_with('e') {
        word.pop();
    }
    if word.len() > MIN_BYTES && word.ends_with('y') {
        word.pop();
        word.push('i');
    }
    undouble(word, MIN_BYTES);
}

/// Turns `stopp` back into `stop`; `call`, `pass` and `buzz` keep their double letters.
fn undouble(word: &mut String, longer_than: usize) {
    let bytes = word.as_bytes();
    if let [.., before, last] = bytes
        && bytes.len() > longer_than
        && before == last
        && !b"lsz".contains(last)
    {
        word.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::stem;

    fn stem_of(word: &str) -> String {
        let mut stemmed = word.to_owned();
        stem(&mut stemmed);
        stemmed
    }

    #[test]
    fn forms_of_a_word_meet() {
        for forms in [
            &["deploy", "deploys", "deployed", "deploying", "deployment", "deployments"][..],
            &["migrate", "migrates", "migrating", "migration", "migrations"],
            &["query", "queries", "querying"],
            &["stop", "stopped", "stopping", "stops"],
            &["pass", "passes", "passing", "passed"],
            &["optimize", "optimizer", "optimizing", "optimization"],
            &["release", "released", "releasing", "releases"],
            &["test", "tests", "tester", "testing", "testable"],
        ] {
            for form in forms {
                assert_eq!(stem_of(form), stem_of(forms[0]), "{form} and {}", forms[0]);
            }
        }
    }

    #[test]
    fn other_words_stay_apart_and_what_is_no_word_stays_as_it_is() {
        for (one, other) in [("status", "state"), ("analysis", "analog"), ("string", "strong")] {
            assert_ne!(stem_of(one), stem_of(other));
        }
        for word in ["", "a", "git", "c17", "使用", "café", "über", "red", "sing"] {
            assert_eq!(stem_of(word), word);
        }
    }
}
