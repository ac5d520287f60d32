//! The evidence of the words that a skill shares with a message.

use repertoire_text::mention::denial::{Lines, is_denied, is_off_topic, may_be_off_topic};
use repertoire_text::words::identifiers::Part;
use repertoire_text::words::is_everyday;
use repertoire_text::words::terms::Term;

use crate::matcher::relevance::Relevance;
use crate::matcher::relevance::flat::Flat;
use crate::matcher::relevance::impact::Impact;
use crate::matcher::relevance::scratch::{Scratch, Word, WordKind};

/// The evidence of a word of letters and digits (`4DX`, `log4j`), relative to another word: it is a name, and
/// hardly ever shared by chance.
const NAME_EVIDENCE: f32 = 1.5;

impl Scratch {
    /// Returns the evidence of a shared word that has this impact in the skill.
    fn evidence(&self, word: &Word, impact: Impact) -> f32 {
        let text = self.folded.get(word.term.span()).unwrap_or_default();
        let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
        let is_number = has_digit && text.bytes().all(|byte| byte.is_ascii_digit());
        let says_little = is_number || word.term.is_everyday || is_everyday(text);
        let share = match (says_little, has_digit) {
            (true, _) => 0.5,
            (false, false) => 1.0,
            (false, true) => NAME_EVIDENCE,
        };
        if impact.in_head() { share } else { share / 2.0 }
    }

    /// Tells whether a term belongs to the word of which a term up to byte `counted_to` was counted.
    fn is_same_word(&self, counted_to: u32, term: Term) -> bool {
        let between = || self.folded.get(counted_to as usize..term.start as usize);
        let is_inside = |text: &str| text.chars().all(char::is_alphanumeric);
        term.start < counted_to
            || term.part != Part::Whole && counted_to > 0 && between().is_some_and(is_inside)
    }

    /// Counts the words that a skill shares with the message, and their evidence. One word is one piece of
    /// evidence, whether its pairs of characters overlap or it is an identifier of several parts. Words that
    /// the message denies ("this is not about Terraform") are left out of `head_words`. A skill is denied if a
    /// word of its name is, or all words that its front matter shares with the message.
    pub(super) fn count_words(&self, flat: &Flat, skill: u32, relevance: &mut Relevance) {
        let mut piece = Piece::default();
        let mut has_denied = false;
        let may_be_off = may_be_off_topic(&self.folded);
        for word in self.words.iter().filter(|word| word.kind.is_evidence()) {
            let Some(list) = flat.list_at(word.place) else { continue };
            let impact = list.impact(skill);
            if impact.value() == 0 {
                continue;
            }
            let is_word = word.kind != WordKind::Part;
            if !self.is_same_word(piece.end, word.term) {
                piece = Piece { end: word.term.end, ..Piece::default() };
                relevance.words += usize::from(is_word);
            }
            let evidence = self.evidence(word, impact);
            relevance.evidence += (evidence - piece.evidence).max(0.0);
            piece.evidence = piece.evidence.max(evidence);
            if !is_word || !impact.in_head() || piece.in_head || word.term.is_everyday {
                continue;
            }
            piece.in_head = true;
            if self.is_denied(flat, skill, word.term, may_be_off) {
                has_denied = true;
                relevance.is_denied |= flat.name(skill).any(|(term, _)| term == word.place);
            } else {
                relevance.head_words += 1;
            }
        }
        relevance.is_denied |= has_denied && relevance.head_words == 0;
    }

    /// Tells whether the message denies a word. A prefix in a skill's own front matter denies nothing: "non-functional
    /// requirements". Unless it `may_be_off` the topic, the message says of no word that it is.
    fn is_denied(&self, flat: &Flat, skill: u32, term: Term, may_be_off: bool) -> bool {
        let start = term.start as usize;
        let is_joined = self.folded.get(..start).is_some_and(|before| before.ends_with('-'));
        let is_prefix = |word: &&Word| is_joined && word.term.end + 1 == term.start;
        let has =
            |word: &Word| flat.list_at(word.place).is_some_and(|of| of.impact(skill).in_head());
        let lines = Lines::joined(&self.folded);
        (is_denied(lines, start) || may_be_off && is_off_topic(lines, start))
            && !self.words.iter().filter(is_prefix).any(has)
    }
}

/// The evidence counted for one word of a message.
#[derive(Debug, Clone, Copy, Default)]
struct Piece {
    /// The end of the term that was counted first.
    end: u32,
    evidence: f32,
    in_head: bool,
}
