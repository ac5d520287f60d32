use super::*;

#[test]
fn lists_are_sorted_plain_and_distinct() {
    for list in [STOP_WORDS, ENGLISH, OTHER_LANGUAGES, UNSPACED] {
        assert!(list.is_sorted_by(|a, b| a < b));
    }
    for word in ENGLISH.iter().chain(OTHER_LANGUAGES) {
        assert_eq!(Plain::of(word).unwrap().as_str(), *word);
        assert!(STOP_WORDS.binary_search(word).is_err(), "{word}");
    }
    assert!(OTHER_LANGUAGES.iter().all(|word| ENGLISH.binary_search(word).is_err()));
    assert!(UNSPACED.iter().all(|word| word.chars().all(is_paired)));
}

#[test]
fn words_that_name_a_subject_are_not_listed() {
    for word in [
        "test", "tests", "deploy", "review", "commit", "plan", "translate", "summarize", "write",
        "create", "build", "design", "debug", "refactor", "code", "docs", "merge", "push", "ship",
        "release", "format", "lint", "search", "research", "email", "login", "bug", "brainstorm",
        "comment", "main", "class", "car", "meme", "sale", "data", "report", "api", "database",
    ] {
        assert!(!is_chatter(word), "{word}");
    }
}

#[test]
fn the_longest_chatter_is_taken() {
    for entry in UNSPACED {
        for run in [entry.to_string(), format!("{entry}龘"), format!("{entry}一")] {
            let longest = UNSPACED.iter().filter(|entry| run.starts_with(**entry));
            let longest = longest.max_by_key(|entry| entry.len()).copied();
            assert_eq!(longest_chatter(&run), longest, "{run}");
        }
    }
    assert_eq!(longest_chatter("龘"), None);
}

#[test]
fn chatter_is_idle() {
    let telling = include_str!("idle.txt").lines().filter(|text| !is_idle(text));
    assert_eq!(telling.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn a_message_that_names_a_subject_is_not_idle() {
    let idle = include_str!("telling.txt").lines().filter(|text| is_idle(text));
    assert_eq!(idle.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn signs_alone_are_idle_and_odd_texts_are_no_trouble() {
    for text in [
        "", " \n\t", "...", "?!", "👍", "🙏🏽🎉\u{fe0f}", "+1", "1", "2.", "<3", "½", "--", "٣", "１",
    ] {
        assert!(is_idle(text), "{text:?}");
    }
    for text in ["'", "\u{301}", "\u{0}", "ok ", "继续", "の"] {
        assert!(is_idle(&text.repeat(50_000)), "{text:?}");
    }
    assert!(!is_idle(&"x".repeat(100_000)));
}
