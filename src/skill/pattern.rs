//! Patterns of triggers: Rust `regex` syntax, case-insensitive unless the pattern says otherwise,
//! and bounded, so that no author's pattern can slow other people's queries.

use std::ops::Range;

use regex_automata::meta;
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_syntax::hir::Hir;
use repertoire_text::as_searched;

use crate::diagnostic::Code;

/// The longest pattern, in bytes.
pub(crate) const MAX_PATTERN_BYTES: usize = 1024;

/// The largest compiled form of one pattern, in bytes of its NFA. Matching takes time proportional to
/// this size times the length of the text: a legal pattern at the default limit of `regex`, 10 MiB, took
/// 21 s on 100 KB; one of 128 KiB took 27 ms. All but 4 of 4,787 patterns found in public skills compile
/// to less than 64 KiB.
const MAX_COMPILED_BYTES: usize = 128 * 1024;

/// The largest compiled form of all patterns of one skill, in bytes of their NFAs. Loading a skill takes
/// time proportional to this size: without this limit, a project with a thousand patterns of nearly
/// 128 KiB each loaded for longer than a hook may take.
pub(crate) const MAX_COMPILED_OF_SKILL: usize = 4 << 20;

/// The deepest nesting of groups and repetitions.
const MAX_NESTING: u32 = 50;

/// The reason why a pattern was refused, and the bytes of the pattern that caused it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PatternError {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) span: Range<usize>,
}

/// Checks that `pattern` compiles within the limits and does not match the empty text. `room` is the part of
/// [`MAX_COMPILED_OF_SKILL`] that is left; once it is used up, no pattern is compiled any more.
pub(crate) fn validate(pattern: &str, room: &mut usize) -> Result<(), PatternError> {
    let whole = 0..pattern.len();
    let refuse = |code, message: String| Err(PatternError { code, message, span: whole.clone() });
    if pattern.len() > MAX_PATTERN_BYTES {
        let message =
            format!("pattern of {} bytes is longer than {MAX_PATTERN_BYTES}", pattern.len());
        return refuse(Code::PatternTooLarge, message);
    }
    if *room == 0 {
        let limit = MAX_COMPILED_OF_SKILL >> 20;
        let message = format!("the patterns before it compile to {limit} MiB, the most of a skill");
        return refuse(Code::PatternTooLarge, message);
    }
    let hir = match parse(pattern, Case::Insensitive) {
        Ok(hir) => hir,
        Err(error) => {
            let (message, span) = describe(&error, pattern);
            return Err(PatternError { code: Code::InvalidPattern, message, span });
        }
    };
    if hir.properties().minimum_len() == Some(0) {
        return refuse(
            Code::PatternMatchesEmpty,
            "pattern matches the empty string, so every query".to_owned(),
        );
    }
    let nfa = thompson::Compiler::new().configure(nfa_config()).build_from_hir(&hir);
    // A pattern that is refused was compiled up to its limit.
    let n_bytes = nfa.as_ref().map_or(MAX_COMPILED_BYTES, thompson::NFA::memory_usage);
    *room = room.saturating_sub(n_bytes);
    if nfa.is_err() {
        let message = format!("compiled pattern is larger than {} KiB", MAX_COMPILED_BYTES / 1024);
        return refuse(Code::PatternTooLarge, message);
    }
    Ok(())
}

/// The treatment of letter case in a pattern that sets no flag for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// Letter case is ignored, as when messages are matched.
    Insensitive,
    /// Letters stay as written. Literals extracted this way are folded afterwards, which is much cheaper
    /// than expanding the character class that case-insensitive parsing makes of every letter.
    Verbatim,
}

/// Parses `pattern`. This succeeds for every pattern that passed `validate`.
pub fn parse(pattern: &str, case: Case) -> Result<Hir, Box<regex_syntax::Error>> {
    regex_syntax::ParserBuilder::new()
        .case_insensitive(case == Case::Insensitive)
        .nest_limit(MAX_NESTING)
        .build()
        .parse(pattern)
        .map(|hir| adapted(pattern, hir))
        .map_err(Box::new)
}

/// Tells whether `pattern` may name characters outside of ASCII: an ASCII pattern needs an escape.
pub(super) fn has_other_text(pattern: &str) -> bool {
    !pattern.is_ascii() || [r"\x", r"\u", r"\U"].iter().any(|escape| pattern.contains(escape))
}

/// Adapts the literals of `pattern` to the form in which messages are searched.
fn adapted(pattern: &str, hir: Hir) -> Hir {
    if has_other_text(pattern) { as_searched(hir) } else { hir }
}

/// The texts that a compiled pattern can search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alphabet {
    /// Any text.
    Unicode,
    /// ASCII texts only, where `\d`, `\w` and `\b` stand for a few characters.
    Ascii,
}

/// Compiles a pattern.
///
/// Returns `None` if it does not compile. `validate` excludes this for [`Alphabet::Unicode`]. A
/// pattern that names characters outside of ASCII does not compile for [`Alphabet::Ascii`].
pub fn compile(pattern: &str, alphabet: Alphabet) -> Option<meta::Regex> {
    let unicode = alphabet == Alphabet::Unicode;
    // Without Unicode, `ſ` would not be an `s` of another case.
    if !unicode && !pattern.is_ascii() {
        return None;
    }
    let mut parser = regex_syntax::ParserBuilder::new();
    parser.case_insensitive(true).unicode(unicode).utf8(unicode).nest_limit(MAX_NESTING);
    let hir = adapted(pattern, parser.build().parse(pattern).ok()?);
    // There is no limit here: `validate` has limited the forward program. With Unicode classes the
    // reverse program is several times larger, and compiling it must not fail for a valid pattern.
    let config = meta::Config::new().nfa_size_limit(None).utf8_empty(unicode);
    // No caller needs capture groups, and the program is smaller without them.
    let config = config.which_captures(WhichCaptures::Implicit);
    // Before it skips ahead, the full automaton of `regex-automata` 0.4.18 reads one byte twice if a
    // search begins in the middle of a pattern, so `(no.*on)` matches `non` (`meta/stopat.rs`).
    let config = config.dfa(false);
    meta::Builder::new().configure(config).build_from_hir(&hir).ok()
}

/// The configuration that bounds the compiled form of a pattern.
pub fn nfa_config() -> thompson::Config {
    thompson::Config::new().nfa_size_limit(Some(MAX_COMPILED_BYTES))
}

fn describe(error: &regex_syntax::Error, pattern: &str) -> (String, Range<usize>) {
    let (message, span) = match error {
        regex_syntax::Error::Parse(error) => (error.kind().to_string(), *error.span()),
        regex_syntax::Error::Translate(error) => (error.kind().to_string(), *error.span()),
        other => return (other.to_string(), 0..pattern.len()),
    };
    (message, span.start.offset..span.end.offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str) -> Result<(), PatternError> {
        validate(pattern, &mut MAX_COMPILED_OF_SKILL.clone())
    }

    #[test]
    fn the_patterns_of_a_skill_are_bounded_together() {
        let mut room = MAX_COMPILED_OF_SKILL;
        let pattern = |i: usize| format!(r"(\p{{L}}{{1,5}}\s+){{1,3}}word{i}\w{{1,30}}");
        let n_taken = (0..10_000).take_while(|i| {
            let checked = validate(&pattern(*i), &mut room);
            room > 0 || checked.is_ok()
        });
        assert!((20..200).contains(&n_taken.count()));
        let error = validate("word", &mut room).unwrap_err();
        assert_eq!(error.code, Code::PatternTooLarge);
        assert!(error.message.contains("compile to 4 MiB"), "{}", error.message);
        // A thousand ordinary patterns are far below the limit.
        let mut room = MAX_COMPILED_OF_SKILL;
        for i in 0..1000 {
            assert_eq!(validate(&format!("deploy.*(stage|prod){i}"), &mut room), Ok(()), "{i}");
        }
    }

    #[test]
    fn patterns_are_refused_with_code_and_place() {
        let cases = [
            ("[invalid(regex", Code::InvalidPattern, 0..1),
            ("a(b", Code::InvalidPattern, 1..2),
            (r"(?<=x)y", Code::InvalidPattern, 0..4),
            ("a*", Code::PatternMatchesEmpty, 0..2),
            (r"\b", Code::PatternMatchesEmpty, 0..2),
            ("", Code::PatternMatchesEmpty, 0..0),
            ("a|b?", Code::PatternMatchesEmpty, 0..4),
            (r"\w{1000}", Code::PatternTooLarge, 0..8),
            ("(?:a{1,100}){1,100}b", Code::PatternTooLarge, 0..20),
        ];
        for (pattern, code, span) in cases {
            let error = check(pattern).expect_err(pattern);
            assert_eq!((error.code, error.span), (code, span), "{pattern}: {}", error.message);
        }
        assert_eq!(check(&"x".repeat(2000)).unwrap_err().code, Code::PatternTooLarge);
        assert_eq!(check(&"(".repeat(100)).unwrap_err().code, Code::InvalidPattern);
    }

    #[test]
    fn both_alphabets_find_the_same_in_ascii() {
        let texts = ["the db is down", "ui tests", "abc x", "go to", "aab", "baab abab", "#PODS"];
        let patterns =
            ["(db.*b)", "(ui.*i)", "(ab.*b)c", "go.*?o", "(a.*a)", "(ab.*b)", "(ba.*?a)b", "ſ"];
        for pattern in patterns {
            let unicode = compile(pattern, Alphabet::Unicode).unwrap();
            // Nothing but the reference implementation searches without a prefilter or an automaton.
            let vm = thompson::pikevm::Builder::new()
                .syntax(regex_automata::util::syntax::Config::new().case_insensitive(true))
                .build(pattern)
                .unwrap();
            for text in texts {
                let expected = vm.find(&mut vm.create_cache(), text).map(|found| found.range());
                let ascii = compile(pattern, Alphabet::Ascii);
                for regex in [Some(&unicode), ascii.as_ref()].into_iter().flatten() {
                    let found = regex.find(text).map(|found| found.range());
                    assert_eq!(found, expected, "{pattern} in {text}");
                }
            }
        }
        assert!(compile("ſ", Alphabet::Ascii).is_none());
    }

    #[test]
    fn ordinary_patterns_pass() {
        for pattern in [
            r"say .* in .*",
            r"\d+\s*[\+\-\*/]\s*\d+",
            r"(create|add).*?(endpoint|route)",
            "(a+)+$",
            ".*.*x",
            r"\bcafé\b",
            "(?-i)README",
            r"\W\w+\W",
        ] {
            assert_eq!(check(pattern), Ok(()), "{pattern}");
            assert!(compile(pattern, Alphabet::Unicode).is_some());
        }
    }

    #[test]
    fn patterns_find_the_searched_form_of_what_they_say() {
        for (pattern, text) in [
            ("code\u{2011}review", "a code-review"),
            (r"e\u{2010}?mail", "email"),
            ("(⚠\u{fe0f}?|x)!", "⚠!"),
            ("(?-i)İade", "iade"),
            ("SİPARİŞ+", "SIPARIŞ"),
            ("می\u{200c}خ{2}", "میخخ"),
        ] {
            let found = compile(pattern, Alphabet::Unicode).unwrap().find(text);
            assert!(found.is_some(), "{pattern} in {text}");
            assert!(parse(pattern, Case::Verbatim).unwrap().properties().is_utf8());
        }
        assert_eq!(parse("\u{200b}", Case::Verbatim).unwrap().properties().minimum_len(), Some(0));
    }
}
