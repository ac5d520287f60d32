use std::collections::BTreeSet;

use aho_corasick::AhoCorasick;
use proptest::prelude::*;
use proptest::sample::select;
use repertoire_text::push_folded;

use super::*;

/// Pieces of literals and texts, short so that they nest and overlap.
const PIECES: [&str; 16] =
    ["a", "b", "ab", "aab", "ba", "_", "1", " ", "-", ".", "é", "使", "用", "가", "c++", "a b"];

/// Each literal with the place where it ends.
type Hits = BTreeSet<(u32, usize)>;

/// The hits of all literals, by their output links.
fn hits(automaton: &Automaton, text: &str) -> Hits {
    let mut hits = Hits::new();
    automaton.scan(text, |longest, end| {
        let mut next = longest;
        while next != NONE {
            assert!(hits.insert((next, end)), "each hit is reported once");
            next = automaton.literal(next).next;
        }
    });
    hits
}

/// The hits that `aho-corasick` finds, without those of literals in `starts` where no word starts.
fn expected(literals: &[String], starts: &BTreeSet<usize>, text: &str) -> Hits {
    let oracle = AhoCorasick::new(literals).unwrap();
    let found = oracle.find_overlapping_iter(text);
    let opens =
        |start: usize| !is_word(text.as_bytes()[start]) || boundary::opens(text, start, start + 1);
    let found = found.filter(|of| !starts.contains(&of.pattern().as_usize()) || opens(of.start()));
    found.map(|of| (of.pattern().as_u32(), of.end())).collect()
}

fn compile(literals: &[String], starts: &BTreeSet<usize>) -> Automaton {
    let texts: Vec<&str> = literals.iter().map(String::as_str).collect();
    let needs =
        |place: usize| Needs { start: starts.contains(&place), each: place.is_multiple_of(3) };
    Automaton::new(&texts, needs).unwrap()
}

fn joined(n: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(select(&PIECES[..]), n).prop_map(|pieces| pieces.concat())
}

fn distinct(literals: &[String]) -> Vec<String> {
    literals.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hits_are_those_of_aho_corasick(
        literals in prop::collection::vec(joined(1..5), 1..40),
        starts in prop::collection::btree_set(0..40_usize, 0..20),
        texts in prop::collection::vec(joined(0..60), 1..4),
    ) {
        let literals = distinct(&literals);
        let automaton = compile(&literals, &starts);
        prop_assert!(automaton.is_sound());
        for text in &texts {
            prop_assert_eq!(hits(&automaton, text), expected(&literals, &starts, text), "{}", text);
        }
    }

    #[test]
    fn links_lead_to_the_longest_literal_at_the_end_of_each(
        literals in prop::collection::vec(joined(1..5), 1..40),
    ) {
        let literals = distinct(&literals);
        let automaton = compile(&literals, &BTreeSet::new());
        for (place, literal) in literals.iter().enumerate() {
            let ends = |&of: &usize| literals[of] != *literal && literal.ends_with(&literals[of]);
            let longest = |is_wanted: fn(usize) -> bool| {
                let ends = (0..literals.len()).filter(ends).filter(|&of| is_wanted(of));
                ends.max_by_key(|&of| literals[of].len()).map_or(NONE, |of| of as u32)
            };
            let next_each = longest(|of| of.is_multiple_of(3));
            let expected = Literal { next: longest(|_| true), next_each, len: literal.len() as u32 };
            prop_assert_eq!(automaton.literal(place as u32), expected);
        }
    }
}

#[test]
fn many_literals_of_many_bytes_are_found() {
    let literals: Vec<String> = (0..3_000_u32)
        .map(|i| format!("{}{}é{i}", char::from_u32(0x61 + i % 26).unwrap(), i.pow(2) % 9_973))
        .collect();
    let literals = distinct(&literals);
    let none = BTreeSet::new();
    let automaton = compile(&literals, &none);
    assert!(automaton.is_sound());
    let text = literals.concat();
    assert_eq!(hits(&automaton, &text), expected(&literals, &none, &text));
}

#[test]
fn of_no_literals_nothing_is_found() {
    let automaton = compile(&[], &BTreeSet::new());
    assert!(automaton.is_sound());
    assert_eq!(hits(&automaton, "anything, 使"), Hits::new());
}

/// A change to sound tables after which they do not fit together.
type Change<'a> = &'a dyn Fn(&mut Automaton);

#[test]
fn tables_that_do_not_fit_together_are_refused() {
    let literals = distinct(&["ab".to_owned(), "b".to_owned(), "cab".to_owned()]);
    let sound = compile(&literals, &BTreeSet::new());
    let n_states = sound.states.len() as u32;
    let state = |base, fail| pack(base, fail, 1);
    let changes: [(&str, Change); 8] = [
        ("a base beyond the states", &|of| of.states[9] = state(n_states, 0)),
        ("a base whose last child is beyond them", &|of| {
            of.states.truncate((n_states - 8) as usize);
            of.outputs.truncate((n_states - 8) as usize);
            of.states[9] = state(n_states - N_SYMBOLS as u32, 0);
        }),
        ("a failure link beyond them", &|of| of.states[9] = state(0, n_states)),
        ("a state too many", &|of| of.states.push(0)),
        ("an output too few", &|of| {
            of.outputs.pop();
        }),
        ("an output beyond the literals", &|of| of.outputs[0] = 3),
        ("a link to a longer literal", &|of| of.literals[0].next = 2),
        ("a symbol too few", &|of| {
            of.symbols.pop();
        }),
    ];
    assert!(sound.is_sound());
    for (name, change) in changes {
        let mut damaged = sound.clone();
        change(&mut damaged);
        assert!(!damaged.is_sound(), "{name}");
    }
}

#[test]
fn a_scan_ends_also_where_failures_go_in_a_circle() {
    let mut automaton = compile(&["aaa".to_owned()], &BTreeSet::new());
    for state in &mut automaton.states {
        // All fail to slot 1, which has no child with this symbol.
        *state = pack(base(*state) & !0xff, 1, 7) | *state & OUT;
    }
    automaton.scan("aaaaaaaa", |_, _| {});
}

#[test]
fn each_byte_of_folded_text_has_a_symbol_of_its_own() {
    let mut all = String::new();
    ('\0'..=char::MAX).for_each(|c| push_folded(c, &mut all));
    let symbols = symbols_of(&[&all]);
    let mut given: Vec<u8> = (0..=u8::MAX)
        .flat_map(|byte| {
            let n_symbols = if is_word(byte) { 2 } else { 1 };
            [START, INSIDE][..n_symbols].iter().map(move |row| (row | usize::from(byte), byte))
        })
        .filter(|(_, byte)| all.as_bytes().contains(byte))
        .map(|(place, _)| symbols[place])
        .collect();
    let n_given = given.len();
    given.sort_unstable();
    given.dedup();
    assert_eq!((given.len(), given.contains(&0), given.contains(&ASK)), (n_given, false, false));
}

#[test]
fn names_with_numbers_take_few_slots() {
    // Most nodes of these have ten children, one for each digit.
    let literals: Vec<String> = distinct(
        &(0..500)
            .flat_map(|i| (0..12).map(move |k| format!("topic{i} word{k}")))
            .collect::<Vec<_>>(),
    );
    let automaton = compile(&literals, &BTreeSet::new());
    assert!(automaton.states.len() < 8 * literals.len(), "{} slots", automaton.states.len());
}
