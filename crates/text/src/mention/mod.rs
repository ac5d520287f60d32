//! Mentions: the places where a message names a skill.
//!
//! 1. A name is found by its literals; the words around it tell whether the skill is asked for (`name.rs`).
//! 2. The words before it tell whether the mention is denied or done with (`denial.rs`).
//! 3. All mentions of a message together tell which of them count: a longer name wins over one inside it,
//!    and a strong mention silences the weak ones of other skills.

mod about;
mod clause;
pub mod denial;
mod lexicon;
mod name;
mod parts;
mod words;

use std::cmp::Reverse;
use std::ops::Range;

pub use clause::Lines;
use denial::Joint;
use lexicon::roles;
pub use name::Name;
use words::{After, Before};

use super::fold_trigger;

/// The strength of a mention: how surely it means the skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Strength {
    /// The words of the name occur, as they also do in messages about something else.
    Weak,
    /// The skill is asked for by its name.
    Strong,
}

/// The reading of a name in its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// `None` if the name is a part of a path: it is not a mention, nor are shorter names inside
    /// it.
    pub strength: Option<Strength>,
    /// True if the name is all of a token that begins with a sigil: `/id`, `/plugin:id`.
    pub is_token: bool,
    /// True if the message asks not to use it.
    pub is_denied: bool,
    /// True if the message talks about the skill instead of asking for it.
    pub is_about: bool,
}

impl Reading {
    /// Tells whether the skill is asked for.
    pub fn is_strong(self) -> bool {
        self.strength == Some(Strength::Strong) && !self.is_denied
    }
}

/// A skill's name at one place of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mention {
    /// Its start in bytes of the folded text.
    pub start: u32,
    /// Its end in bytes of the folded text.
    pub end: u32,
    /// The number of its skill, as whoever looks for names counts them.
    pub skill: u32,
    /// The item that stands for the name.
    pub item: u32,
    /// The meaning of the name there.
    pub reading: Reading,
}

/// Sorts `mentions`, and keeps those that count or are denied. Names of other skills inside a longer name
/// are dropped: with the skills `deploy` and `deploy-api`, "use deploy-api" mentions only `deploy-api`.
pub fn resolve(mentions: &mut Vec<Mention>, folded: &str) {
    mentions.sort_unstable_by_key(|m| (m.start, Reverse(m.end), m.skill, m.item));
    mentions.dedup();
    drop_inner(mentions);
    mentions.retain(|mention| mention.reading.strength.is_some());
    deny_joined(mentions, folded);
    ask_for_listed(mentions, folded);
}

/// Makes the mentions of a list strong that a word for several skills stands next to: "use the x and y
/// skills", "the skills x, y and z".
fn ask_for_listed(mentions: &mut [Mention], folded: &str) {
    let text = |from: u32, to: u32| folded.get(from as usize..to as usize);
    let goes_on = |a: &Mention, b: &Mention| text(a.end, b.start).and_then(denial::joint).is_some();
    for list in mentions.chunk_by_mut(|a, b| goes_on(a, b)) {
        let [first, .., last] = &*list else { continue };
        let before = folded[..first.start as usize].trim_end_matches([' ', ':']).len();
        let lines = Lines::joined(folded);
        let around =
            [Before::new(lines, before).next(), After::new(lines, last.end as usize).next()];
        let is_plural = |word: &str| roles(word).is_some_and(|word| word.plural != 0);
        if around.into_iter().flatten().any(is_plural) {
            let asked = list.iter_mut().filter(|mention| !mention.reading.is_about);
            asked.for_each(|mention| mention.reading.strength = Some(Strength::Strong));
        }
    }
}

/// Puts into `denied` the places of the denied ones among sorted `mentions`, in their order and without
/// overlap.
pub fn find_denied(mentions: &[Mention], denied: &mut Vec<Range<usize>>) {
    denied.clear();
    for mention in mentions.iter().filter(|mention| mention.reading.is_denied) {
        let (start, end) = (mention.start as usize, mention.end as usize);
        match denied.last_mut().filter(|last| start <= last.end) {
            Some(last) => last.end = last.end.max(end),
            None => denied.push(start..end),
        }
    }
}

/// Denies all names that are joined to a denied one: "not `deploy` or `release`". A comma may as well
/// begin another clause, so it joins only in a list whose last name follows a conjunction: "not /x, /y
/// or /z", but not "not /x, /y".
fn deny_joined(mentions: &mut [Mention], folded: &str) {
    // The end of the list so far, the first name after the last denied one, and whether a comma joins it.
    let (mut end, mut first, mut is_open) = (None, 0, false);
    for at in 0..mentions.len() {
        let mention = mentions[at];
        let between = end.and_then(|end: u32| folded.get(end as usize..mention.start as usize));
        let joint = between.and_then(denial::joint);
        if joint == Some(Joint::Conjunction) || is_open && joint == Some(Joint::Both) {
            mentions[first..=at].iter_mut().for_each(|listed| listed.reading.is_denied = true);
        }
        if mentions[at].reading.is_denied {
            (first, is_open) = (at + 1, false);
        } else if joint == Some(Joint::Comma) {
            is_open = true;
        } else {
            continue;
        }
        end = end.max(Some(mention.end));
    }
}

/// Removes the strength of each mention inside a longer one of another skill, except for tokens with a
/// sigil, which stand for themselves.
fn drop_inner(mentions: &mut [Mention]) {
    let mut reach = Reach::default();
    for alike in mentions.chunk_by_mut(|a, b| (a.start, a.end) == (b.start, b.end)) {
        for mention in alike.iter_mut() {
            if !mention.reading.is_token && reach.is_past(mention.end, mention.skill) {
                mention.reading.strength = None;
            }
        }
        for mention in alike.iter() {
            reach.extend(mention.end, mention.skill);
        }
    }
}

/// The reach of the mentions seen so far: `first` is the one that ends last, and `second` the one of
/// another skill that ends last. Two are enough to know for any skill how far the mentions of others
/// reach.
#[derive(Debug, Default)]
struct Reach {
    first: Option<(u32, u32)>,
    second: Option<(u32, u32)>,
}

impl Reach {
    /// Tells whether a mention of a skill other than `owner` ends at `end` or after it.
    fn is_past(&self, end: u32, owner: u32) -> bool {
        let mut both = [self.first, self.second].into_iter().flatten();
        both.any(|(reached, by)| by != owner && reached >= end)
    }

    fn extend(&mut self, end: u32, owner: u32) {
        match self.first {
            Some((reached, by)) if by == owner => self.first = Some((end.max(reached), by)),
            Some((reached, _)) if reached >= end => {
                if self.second.is_none_or(|(reached, _)| reached < end) {
                    self.second = Some((end, owner));
                }
            }
            first => {
                self.second = first;
                self.first = Some((end, owner));
            }
        }
    }
}

/// Tells whether a folded text asks for a skill by one of its names.
pub fn asks_for(id: &str, name: &str, folded: &str) -> bool {
    [(id, true), (name, false)].into_iter().any(|(own, is_id)| {
        let own = fold_trigger(own);
        let (name, literals) = Name::new(&own, is_id);
        let found = literals.iter().flat_map(|literal| folded.match_indices(literal.as_str()));
        let located = found.filter_map(|(at, found)| name.locate(folded, at..at + found.len()));
        let mut readings = located.map(|range| name.read(Lines::joined(folded), &range));
        !own.is_empty() && readings.any(Reading::is_strong)
    })
}

/// Tells whether `c` is a quotation mark, a back-tick or a mark of emphasis.
fn is_quote(c: char) -> bool {
    matches!(c, '\'' | '"' | '`' | '*' | '“' | '”' | '‘' | '«' | '»' | '「' | '」')
}

/// Characters that make the id after them a mention.
const SIGILS: [char; 3] = ['/', '$', '@'];

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: u32, end: u32, skill: u32) -> Mention {
        let reading = Reading {
            strength: Some(Strength::Weak),
            is_token: false,
            is_denied: false,
            is_about: false,
        };
        Mention { start, end, skill, item: skill, reading }
    }

    /// Start, end and skill.
    type Place = (u32, u32, u32);

    fn left(mut mentions: Vec<Mention>) -> Vec<Place> {
        resolve(&mut mentions, "");
        mentions.iter().map(|m| (m.start, m.end, m.skill)).collect()
    }

    #[test]
    fn a_longer_name_wins_over_those_of_other_skills_inside_it() {
        let cases: [(Vec<Mention>, &[Place]); 7] = [
            (vec![at(0, 6, 1), at(0, 10, 2), at(7, 10, 3)], &[(0, 10, 2)]),
            (vec![at(0, 10, 2), at(20, 26, 1)], &[(0, 10, 2), (20, 26, 1)]),
            (vec![at(0, 10, 1), at(0, 6, 1)], &[(0, 10, 1), (0, 6, 1)]),
            (vec![at(0, 10, 1), at(0, 10, 2), at(4, 6, 1)], &[(0, 10, 1), (0, 10, 2)]),
            (vec![at(0, 6, 1), at(4, 10, 2)], &[(0, 6, 1), (4, 10, 2)]),
            (vec![at(0, 20, 1), at(1, 9, 2), at(3, 5, 1)], &[(0, 20, 1)]),
            (vec![at(0, 6, 1), at(0, 6, 1)], &[(0, 6, 1)]),
        ];
        for (mentions, expected) in cases {
            assert_eq!(left(mentions.clone()), expected, "{mentions:?}");
        }
    }

    #[test]
    fn what_is_no_mention_still_covers_and_a_token_is_never_covered() {
        let mut path = at(0, 10, 1);
        path.reading.strength = None;
        assert_eq!(left(vec![path, at(0, 6, 2)]), []);
        let mut token = at(0, 6, 2);
        token.reading.is_token = true;
        assert_eq!(left(vec![path, token]), [(0, 6, 2)]);
    }

    #[test]
    fn a_denied_mention_is_not_a_strong_one() {
        let is_any_strong = |mention: Mention| {
            let mut mentions = vec![mention];
            resolve(&mut mentions, "");
            mentions.iter().any(|mention| mention.reading.is_strong())
        };
        let mut mention = at(0, 6, 1);
        assert!(!is_any_strong(mention));
        mention.reading.strength = Some(Strength::Strong);
        assert!(is_any_strong(mention));
        mention.reading.is_denied = true;
        assert!(!is_any_strong(mention));
    }
}
