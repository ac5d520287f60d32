//! The miner: counts phrases over a catalog, and selects those that are a skill's own.

use std::collections::HashMap;

use super::grams::{fold_lines, grams};
use super::{Proposal, Suggestion, deny};
use crate::catalog::Entry;
use crate::matcher::text::boundary::is_word;
use crate::skill::SkillId;
use crate::word_lists::{holds, is_common, prompts};

/// The weight of a use, by its place. Headings of a body count twice, as they are read once more.
const IN_NAME: u32 = 5;
const IN_DESCRIPTION: u32 = 3;
const IN_BODY: u32 = 1;

/// A phrase is a skill's own if at least this fraction of its uses are the skill's.
const OWN_SHARE: (u32, u32) = (9, 10);

/// The minimum weight of all uses for a single word, and for a phrase, to be a subject of the skill. For
/// a phrase, one use in a description is enough, as a skill may have no body.
const MIN_WORTH: [u32; 2] = [6, 3];

/// A word that more than one in this many skills use says little in this catalog, ...
const FREQUENT_SHARE: usize = 10;

/// ... unless at most this many skills use it.
const NEVER_FREQUENT: usize = 3;

/// The maximum number of keywords proposed for a skill.
const MAX_KEYWORDS: usize = 12;

/// The maximum length of a proposed keyword, in bytes: users type nothing longer.
const MAX_KEYWORD_BYTES: usize = 48;

/// Words with which a phrase must not begin or end: question words, pronouns, articles and the like.
const EDGES: &str = "a about across after against all along among an and another any are around as at \
    be been before being between both but by can could did do does each every for from had has \
    have he here how i if in into is it its just may me might more most must my no nor not of on \
    only or other our over own per shall she should so some such than that the their them then \
    there these they this those through to too under until up us user users using very via vs was \
    we were what when where whether which while who whom whose why will with within without would \
    yet you your";

/// Conjunctions and auxiliary verbs, which occur in sentences rather than in names.
const JOINTS: &str = "and are be been being but can could did do does had has have if is may might \
    must nor or shall should so than was were while will would";

/// Words about skills, which are common in the texts of skills but not in messages.
const OF_SKILLS: [&str; 8] =
    ["skill", "skills", "skill.md", "claude", "agent", "agents", "trigger", "triggers"];

/// The counts of a phrase over the catalog.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    worth: u32,
    n_skills: u32,
    /// The number of skills with the phrase in their name, or in their description outside of denials.
    n_described: u32,
}

/// The uses of a phrase in one skill.
#[derive(Debug, Clone, Copy, Default)]
struct Uses {
    n: u32,
    worth: u32,
}

/// The folded texts of a skill.
struct Text {
    name: String,
    description: String,
    body: String,
}

/// Proposes keywords for the skills for which `wanted` returns true. Uses are counted over all skills.
pub(super) fn mine(entries: &[&Entry], wanted: &dyn Fn(&Entry) -> bool) -> Vec<Suggestion> {
    let texts: Vec<Text> = entries.iter().map(|entry| Text::of(entry)).collect();
    let mut counts: HashMap<&str, Count> = HashMap::new();
    for (text, entry) in texts.iter().zip(entries) {
        if wanted(entry) {
            text.each_candidate(|gram, _| {
                counts.entry(gram).or_default();
                for word in gram.split(' ') {
                    counts.entry(word).or_default();
                }
            });
        }
    }
    let of_skills: Vec<HashMap<&str, Uses>> =
        texts.iter().map(|text| text.count(&mut counts)).collect();
    let catalog = Counted { counts, n_skills: entries.len() };
    let skills = entries.iter().zip(texts.iter().zip(&of_skills));
    skills
        .filter(|(entry, _)| wanted(entry))
        .map(|(entry, (text, own))| catalog.suggestion(&entry.id, text, own))
        .collect()
}

impl Text {
    fn of(entry: &Entry) -> Text {
        let skill = &entry.skill;
        let words = skill.name().replace(['-', '_', '/'], " ");
        // If the body can no longer be read, phrases are proposed without it.
        let body = fold_lines(skill.body().unwrap_or_default());
        Text { name: fold_lines(&words), description: fold_lines(skill.description()), body }
    }

    /// Calls `take` with each run of words in the name, and in the description outside of denials.
    fn each_candidate<'t>(&'t self, mut take: impl FnMut(&'t str, usize)) {
        grams(&self.name, &mut take);
        for sentence in deny::affirmed(&self.description) {
            grams(sentence, &mut take);
        }
    }

    /// Returns the uses in this skill of the phrases in `counts`, and adds them to `counts`.
    fn count<'t>(&'t self, counts: &mut HashMap<&'t str, Count>) -> HashMap<&'t str, Uses> {
        let mut uses: HashMap<&str, Uses> = HashMap::new();
        let take = |uses: &mut HashMap<&'t str, Uses>, gram: &'t str, n: u32, worth: u32| {
            if counts.contains_key(gram) {
                let uses = uses.entry(gram).or_default();
                uses.n += n;
                uses.worth += worth;
            }
        };
        grams(&self.name, |gram, _| take(&mut uses, gram, 1, IN_NAME));
        for sentence in deny::affirmed(&self.description) {
            grams(sentence, |gram, _| take(&mut uses, gram, 1, IN_DESCRIPTION));
        }
        let described: Vec<&str> = uses.keys().copied().collect();
        grams(&self.body, |gram, _| take(&mut uses, gram, 1, IN_BODY));
        for line in self.body.lines().filter(|line| line.starts_with('#')) {
            grams(line, |gram, _| take(&mut uses, gram, 0, IN_BODY));
        }
        for gram in described {
            if let Some(count) = counts.get_mut(gram) {
                count.n_described += 1;
            }
        }
        for (gram, Uses { worth, .. }) in &uses {
            if let Some(count) = counts.get_mut(gram) {
                count.worth += worth;
                count.n_skills += 1;
            }
        }
        uses
    }
}

/// The counted phrases of a catalog.
struct Counted<'t> {
    counts: HashMap<&'t str, Count>,
    n_skills: usize,
}

impl Counted<'_> {
    fn suggestion(&self, id: &SkillId, text: &Text, own: &HashMap<&str, Uses>) -> Suggestion {
        let mut chosen: Vec<(f64, Proposal)> = Vec::new();
        text.each_candidate(|gram, n_words| {
            let is_known = chosen.iter().any(|(_, proposal)| proposal.keyword == gram);
            if is_known || gram == text.name.trim_end() || !self.is_telling(gram, n_words, text) {
                return;
            }
            let uses = own.get(gram).copied().unwrap_or_default();
            let count = self.counts.get(gram).copied().unwrap_or_default();
            let is_own =
                uses.worth * OWN_SHARE.1 >= count.worth * OWN_SHARE.0 && count.n_described <= 1;
            if is_own && !is_aside(gram, uses) && uses.worth >= MIN_WORTH[usize::from(n_words > 1)]
            {
                let longer_is_surer = if n_words > 1 { 1.3 } else { 1.0 };
                let score = f64::from(uses.worth + 1).ln() * longer_is_surer;
                let others = count.n_skills.saturating_sub(1);
                chosen.push((score, Proposal { keyword: gram.to_owned(), uses: uses.n, others }));
            }
        });
        chosen.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.keyword.cmp(&b.1.keyword)));
        let mut keywords: Vec<Proposal> = Vec::new();
        for (_, proposal) in chosen {
            // A phrase is redundant if it holds a keyword, which matches wherever the phrase does.
            let is_implied = keywords.iter().any(|known| holds(&proposal.keyword, &known.keyword));
            if keywords.len() < MAX_KEYWORDS && !is_implied {
                keywords.retain(|known| !holds(&known.keyword, &proposal.keyword));
                keywords.push(proposal);
            }
        }
        Suggestion { id: id.clone(), keywords }
    }

    /// Tells whether a phrase is specific enough to tell messages for this skill from others, provided
    /// that it is the skill's own.
    fn is_telling(&self, gram: &str, n_words: usize, text: &Text) -> bool {
        let words = || gram.split(' ');
        let is_edge = |word: Option<&str>| {
            word.is_none_or(|word| EDGES.split_whitespace().any(|edge| edge == word))
        };
        let is_empty =
            |word: &str| is_common(word) || self.is_frequent(word) || is_edge(Some(word));
        if gram.len() > MAX_KEYWORD_BYTES
            || is_edge(words().next())
            || is_edge(words().next_back())
            || words().any(|word| OF_SKILLS.contains(&word))
            || words().all(is_empty)
            || !words().all(is_typed)
        {
            return false;
        }
        let is_short = n_words == 1 && gram.chars().count() < 4 && gram.is_ascii();
        let in_name = || text.name.split_whitespace().any(|word| word == gram);
        (!is_short || in_name()) && !prompts().iter().any(|prompt| holds(&prompt.folded, gram))
    }

    fn is_frequent(&self, word: &str) -> bool {
        let n_skills = self.counts.get(word).map_or(0, |count| count.n_skills as usize);
        n_skills > NEVER_FREQUENT.max(self.n_skills / FREQUENT_SHARE)
    }
}

/// Tells whether a phrase is just part of a sentence in the description rather than a name for
/// something: it occurs only once, and holds one of [`JOINTS`].
fn is_aside(gram: &str, uses: Uses) -> bool {
    let is_joint = |word: &str| JOINTS.split_whitespace().any(|joint| joint == word);
    uses.n == 1 && uses.worth == IN_DESCRIPTION && gram.split(' ').any(is_joint)
}

/// Tells whether users would type a word: it has a letter, and no punctuation except that of names.
fn is_typed(word: &str) -> bool {
    word.chars().any(char::is_alphabetic) && word.chars().all(|c| is_word(c) || ".+#-'".contains(c))
}
