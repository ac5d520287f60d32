//! Catalogs of realistic skills, and queries about them; both are the same in every run.

use std::borrow::Cow;

use repertoire::matcher::{Index, IndexOptions, IndexedSkill};
use repertoire::{Skill, SkillId};
use serde_json::json;

use super::words::{FILLERS, NOUNS, SYLLABLES, VERBS};

/// A small random number generator (splitmix64). Unlike that of a crate, its sequence never changes.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }

    pub(crate) fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    /// Returns one of `of`: the first far more often than the last, like words in natural text.
    pub(crate) fn common<'a>(&mut self, of: &[&'a str]) -> &'a str {
        let below = self.below(of.len()) + 1;
        of[self.below(below)]
    }

    /// Returns a number from 0 up to, but not including, 1.
    fn share(&mut self) -> f64 {
        f64::from(self.below(1 << 32) as u32) / 2.0_f64.powi(32)
    }

    /// Returns a noun for a name. Few words occur in many names, and most in one or two. The
    /// distribution (Zipf-Mandelbrot) is fitted to the names of 2,683 published skills, which use 2,374
    /// different words: the 10 most common make up 8 % of all, 100 of them 33 %, 1,000 of them 80 %.
    #[expect(clippy::cast_sign_loss, reason = "no rank is below 0")]
    fn noun(&mut self) -> Cow<'static, str> {
        let rarest = 200_000.0;
        noun((100.0 * ((1.0 - self.share()).powf(-1.5) - 1.0)).min(rarest) as usize)
    }

    /// Returns a word as people write it to agents. The distribution is fitted to 2,751 published
    /// messages, which use 6,584 different words: the 10 most common make up 19 % of all, 100 of them
    /// 46 %, 1,000 of them 78 %.
    #[expect(clippy::cast_sign_loss, reason = "no rank is below 0")]
    fn written(&mut self) -> Cow<'static, str> {
        let rank = 3.0 * ((1.0_f64 + 5_000.0 / 3.0).powf(self.share()) - 1.0);
        let rank = rank as usize;
        FILLERS.get(rank).map_or_else(|| noun(rank - FILLERS.len()), |word| (*word).into())
    }

    /// Returns an invented word. The number of different ones grows with the number of skills.
    pub(crate) fn coined(&mut self, n_skills: usize) -> String {
        let mut which = self.below(n_skills * 2 + 8);
        let mut word = SYLLABLES[which % SYLLABLES.len()].to_owned();
        which /= SYLLABLES.len();
        for _ in 0..2 {
            word.push_str(SYLLABLES[(which * 5 + word.len()) % SYLLABLES.len()]);
            which /= SYLLABLES.len();
        }
        word.push_str(SYLLABLES[which % SYLLABLES.len()]);
        word
    }
}

/// Returns the noun of a rank, where rank 0 is the most common. It comes from a list, or is composed:
/// the rarer the noun, the longer.
fn noun(rank: usize) -> Cow<'static, str> {
    if let Some(word) = NOUNS.get(rank) {
        return (*word).into();
    }
    let mut word = String::new();
    let mut left = rank;
    while left > 0 {
        word.push_str(SYLLABLES[left % SYLLABLES.len()]);
        left /= SYLLABLES.len();
    }
    word.into()
}

/// Returns `n_skills` skills with eight triggers on average, of which a fifth are patterns.
pub(crate) fn skills(n_skills: usize) -> Vec<Skill> {
    let mut random = Random::new(7);
    (0..n_skills).map(|place| skill(place, n_skills, &mut random)).collect()
}

fn skill(place: usize, n_skills: usize, random: &mut Random) -> Skill {
    let coined = random.coined(n_skills);
    let mut keywords = vec![coined.clone(), random.noun().into_owned()];
    keywords.push(format!("{coined} {}", random.noun()));
    keywords.push(format!("{} {}", random.common(VERBS), random.coined(n_skills)));
    keywords.push(format!("{} {} {}", random.noun(), random.noun(), random.common(VERBS)));
    if random.below(20) == 0 {
        let odd = ["c++", ".net", "ci/cd", "部署", "天気予報", "배포", "déploiement", "@scope/pkg"];
        keywords.push(random.one(&odd).to_owned());
    }
    let verbs = [random.common(VERBS), random.common(VERBS)];
    let n_patterns = 1 + usize::from(random.below(10) < 6);
    let patterns: Vec<String> = (0..n_patterns).map(|_| pattern(n_skills, random)).collect();
    let triggers = json!({"keywords": keywords, "verbs": verbs, "patterns": patterns});
    let name = format!("{coined}-{}-{place}", random.noun());
    format!("---\nname: {name}\ndescription: d\ntriggers: [{triggers}]\n---\nBody.\n")
        .parse()
        .unwrap()
}

/// Returns a pattern. Its form occurs in published skills, about as often as here.
fn pattern(n_skills: usize, random: &mut Random) -> String {
    let verb = random.common(VERBS);
    let (noun, other) = (random.noun(), random.noun());
    let coined = random.coined(n_skills);
    match random.below(100) {
        0..30 => format!("({verb}|{}).*?({noun}|{coined})", random.common(VERBS)),
        30..55 => format!("({verb}|{}).*?{coined}", random.common(VERBS)),
        55..70 => format!(r"\b{verb}\s+(a\s+|the\s+|my\s+)?{coined}"),
        70..80 => format!(r"\b{coined}(s|ing|ed)?\b"),
        80..88 => format!(r"{noun}[\s_-]*{other}"),
        88..93 => format!(r"{coined}\.(csv|pdf)\b"),
        93..98 => format!(r"{coined}\s*v?\d+(\.\d+)*"),
        _ => format!(r"\b[A-Z]{{2}}-\d{{{}}}\b", 3 + random.below(5)),
    }
}

/// The language of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    French,
    Cjk,
    Code,
}

/// Returns `n_queries` different queries of about `n_bytes`. In English queries, words are as common as
/// in published messages; a catalog of 100,000 skills declares most of those that are not fillers.
pub(crate) fn queries(
    language: Language,
    n_bytes: usize,
    n_skills: usize,
    n_queries: usize,
) -> Vec<String> {
    let mut random = Random::new(11 + n_bytes as u64);
    let words: &[&str] = match language {
        Language::English => &[],
        Language::French => {
            &["déjà", "près", "voilà", "l’été", "où", "ça", "créer", "et", "une", "à"]
        }
        Language::Cjk => {
            &["请", "我们", "天気", "予報", "使用", "배포", "를", "部署", "文件", "、", "。"]
        }
        Language::Code => {
            &["fn", "let", "self.x", "=", "{", "}", "&mut", "=>", "0x1F", "u32,", "\n    "]
        }
    };
    let query = |random: &mut Random| {
        let mut text = String::new();
        while text.len() < n_bytes {
            match random.below(16) {
                0 => text.push_str(random.common(VERBS)),
                1 => text.push_str(&random.noun()),
                2 if random.below(3) == 0 => text.push_str(&random.coined(n_skills)),
                _ if language == Language::English => text.push_str(&random.written()),
                _ => text.push_str(random.one(words)),
            }
            text.push_str(if language == Language::Cjk { "" } else { " " });
        }
        text.trim_end().to_owned()
    };
    (0..n_queries).map(|_| query(&mut random)).collect()
}

/// Returns the ids of `skills`, which are the skills' names.
pub(crate) fn ids(skills: &[Skill]) -> Vec<SkillId> {
    skills.iter().map(|skill| SkillId::new(skill.name())).collect()
}

pub(crate) fn index(skills: &[Skill], ids: &[SkillId]) -> Index {
    let each = skills.iter().zip(ids);
    let indexed: Vec<_> = each
        .map(|(skill, id)| IndexedSkill { id, name: skill.name(), triggers: skill.triggers() })
        .collect();
    Index::new(&indexed, &IndexOptions::default()).unwrap()
}
