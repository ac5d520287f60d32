//! The budget of an agent's own list of skills, and the skills whose description it cuts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use repertoire::catalog::{Audience, Entry};
use repertoire::disclosure::NativeSkills;
use repertoire::engine::Engine;
use repertoire::skill::SkillId;

/// The number of characters of a description that tell the skill from others, as in a one-line
/// description. If an agent keeps as many, the description does not count as cut.
const TELLING_CHARS: usize = 80;
/// The bytes that Codex counts as a token.
const BYTES_PER_TOKEN: usize = 4;

/// A skill as an agent lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ListedSkill {
    /// The name by which the agent calls it.
    pub(super) name: String,
    /// The path of its file.
    pub(super) path: PathBuf,
    pub(super) description: String,
}

/// The budget of an agent's own list of skills. The agent names all skills, or as many as fit, and cuts
/// descriptions.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ListingBudget {
    /// Whole descriptions, of the most used skills first, as long as there is room.
    WholeByUse {
        /// The length of the whole list, in characters.
        limit: usize,
        /// The length of one description, in characters.
        longest: usize,
        /// The length of the lines of the agent's own skills, in characters.
        bundled: usize,
        /// Skills that the user wants named only.
        name_only: BTreeSet<String>,
        /// The recent use of each skill, by name.
        uses: BTreeMap<String, f64>,
    },
    /// Whole descriptions by the order of directories and names, as long as there is room.
    WholeByPlace {
        /// The length of the whole list, in characters.
        limit: usize,
        /// The length of one description, in characters.
        longest: usize,
        /// The length of the lines of the agent's own skills, in characters.
        bundled: usize,
        /// The directories, in their order.
        places: Vec<ListedPlace>,
    },
    /// Whole entries by the order of directories and names, up to the first for which there is no room. The
    /// names after them count no more.
    Entries {
        /// The length of all entries, in characters.
        limit: usize,
        /// The directories, in their order.
        places: Vec<ListedPlace>,
    },
    /// The beginnings of all descriptions, of the same length; if the names alone do not fit, none.
    EvenTokens {
        /// The length of the whole list, in tokens.
        limit: usize,
        /// The directories of skills, which the list names once if it is too long otherwise.
        roots: Vec<PathBuf>,
    },
}

/// A directory of skills, as an agent's list has it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedPlace {
    /// The directory, and the targets of the links in it.
    pub dirs: Vec<PathBuf>,
    /// The kind of the directory: the skills of adjacent directories of one kind are sorted together.
    pub kind: usize,
    /// The word for the directory in an entry.
    pub word: &'static str,
}

impl ListingBudget {
    /// Returns the places of those `skills` whose description the agent cuts, in their order.
    pub(super) fn cut(&self, skills: &[ListedSkill]) -> Vec<usize> {
        match self {
            ListingBudget::WholeByUse { limit, longest, bundled, name_only, uses } => {
                let skills = skills.iter().enumerate();
                let (named, mut described): (Vec<_>, Vec<_>) =
                    skills.partition(|(_, skill)| name_only.contains(&skill.name));
                let named = named.iter().map(|(_, skill)| chars(&skill.name) + 3).sum::<usize>();
                let left = limit.saturating_sub(bundled + named);
                let uses = |skill: &ListedSkill| uses.get(&skill.name).copied().unwrap_or_default();
                described.sort_by(|(_, a), (_, b)| uses(b).total_cmp(&uses(a)));
                // `- ` stands before a name.
                cut_whole(&described, left, *longest, 2)
            }
            ListingBudget::WholeByPlace { limit, longest, bundled, places } => {
                let ordered = by_place(skills, places);
                let ordered: Vec<_> =
                    ordered.into_iter().map(|(at, skill, _)| (at, skill)).collect();
                cut_whole(&ordered, limit.saturating_sub(*bundled), *longest, 0)
            }
            ListingBudget::Entries { limit, places } => cut_entries(skills, *limit, places),
            ListingBudget::EvenTokens { limit, roots } => cut_evenly(skills, *limit, roots),
        }
    }
}

/// The length of a text as programs in JavaScript count it.
fn chars(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns the places of the skills that do not get a whole description within `limit` characters. A
/// description takes what is left after all names, and one that does not fit is passed over. `before` is the
/// length of what stands before a name.
fn cut_whole(
    skills: &[(usize, &ListedSkill)],
    limit: usize,
    longest: usize,
    before: usize,
) -> Vec<usize> {
    let names = skills.iter().map(|(_, skill)| before + chars(&skill.name) + 1).sum::<usize>();
    // No line break stands after the last line.
    let mut left = (limit + 1).saturating_sub(names);
    let mut cut = Vec::new();
    for (place, skill) in skills {
        // `: ` stands before a description.
        match left.checked_sub(chars(&skill.description).min(longest) + 2) {
            Some(rest) => left = rest,
            None => cut.push(*place),
        }
    }
    cut.sort_unstable();
    cut
}

/// Returns the places of the skills after the entries that fit within `limit` characters.
fn cut_entries(skills: &[ListedSkill], limit: usize, places: &[ListedPlace]) -> Vec<usize> {
    const MARKUP: &str = "<skill>\n  <name></name>\n  <description></description>\n  \
                          <location></location>\n</skill>\n";
    let escaped = |text: &str| {
        let more = text.chars().map(|c| match c {
            '&' => 4,
            '<' | '>' => 3,
            '"' | '\'' => 5,
            _ => 0,
        });
        chars(text) + more.sum::<usize>()
    };
    let mut left = limit;
    let ordered = by_place(skills, places);
    let fits = ordered.iter().take_while(|(_, skill, word)| {
        let length = MARKUP.len() + escaped(&skill.name) + escaped(&skill.description) + word.len();
        let rest = left.checked_sub(length);
        left = rest.unwrap_or_default();
        rest.is_some()
    });
    let mut cut: Vec<usize> = ordered[fits.count()..].iter().map(|(at, ..)| *at).collect();
    cut.sort_unstable();
    cut
}

/// Returns the skills in the order of their directories, and of their names within adjacent directories of one
/// kind; each with its place among `skills` and the word for its directory.
fn by_place<'s>(
    skills: &'s [ListedSkill],
    places: &[ListedPlace],
) -> Vec<(usize, &'s ListedSkill, &'static str)> {
    let is_in = |skill: &ListedSkill, place: &ListedPlace| {
        place.dirs.iter().any(|dir| skill.path.starts_with(dir))
    };
    let place_of =
        |skill| places.iter().position(|place| is_in(skill, place)).unwrap_or(places.len());
    let mut ordered: Vec<_> =
        skills.iter().enumerate().map(|(at, skill)| (place_of(skill), at, skill)).collect();
    ordered.sort_by_key(|(place, ..)| *place);
    let kind = |place: usize| places.get(place).map(|place| place.kind);
    for group in ordered.chunk_by_mut(|(a, ..), (b, ..)| kind(*a) == kind(*b)) {
        group.sort_by(|(.., a), (.., b)| a.name.cmp(&b.name));
    }
    let word = |place: usize| places.get(place).map(|place| place.word).unwrap_or_default();
    ordered.into_iter().map(|(place, at, skill)| (at, skill, word(place))).collect()
}

/// Returns the places of the skills of which no telling part of the description fits within `limit`
/// tokens.
fn cut_evenly(skills: &[ListedSkill], limit: usize, roots: &[PathBuf]) -> Vec<usize> {
    let tokens = |n_bytes: usize| n_bytes.div_ceil(BYTES_PER_TOKEN);
    // `- NAME: DESCRIPTION (file: PATH)`, and a line break.
    let bare = |skill: &ListedSkill, path: usize| skill.name.len() + path + "- : (file: )\n".len();
    let line = |n_bytes: usize, description: &str| match description.len() {
        0 => tokens(n_bytes),
        length => tokens(n_bytes + 1 + length),
    };
    let path = |skill: &ListedSkill| skill.path.as_os_str().len();
    let whole = skills.iter().map(|skill| line(bare(skill, path(skill)), &skill.description));
    if whole.sum::<usize>() <= limit {
        return Vec::new();
    }
    // The list is too long: paths begin with `r0` and the like, which a table explains.
    let table: usize = roots.iter().map(|root| tokens(root.as_os_str().len() + 13)).sum();
    let limit = limit.saturating_sub(table);
    let bare: Vec<usize> =
        skills.iter().map(|skill| bare(skill, below(&skill.path, roots))).collect();
    let names: usize = bare.iter().map(|n_bytes| tokens(*n_bytes)).sum();
    if names > limit {
        return (0..skills.len()).collect();
    }
    let cost = |width: usize| {
        let lines = skills.iter().zip(&bare);
        lines.map(|(skill, bare)| line(*bare, start(&skill.description, width))).sum::<usize>()
    };
    if cost(TELLING_CHARS) <= limit {
        return Vec::new();
    }
    let width = (0..TELLING_CHARS).rev().find(|width| cost(*width) <= limit).unwrap_or_default();
    let is_cut = |place: &usize| skills[*place].description.chars().count() > width;
    (0..skills.len()).filter(is_cut).collect()
}

/// The length of the path below the root that holds it, with an alias of the root before it.
fn below(path: &Path, roots: &[PathBuf]) -> usize {
    let rest = roots.iter().filter_map(|root| path.strip_prefix(root).ok());
    rest.map(|rest| rest.as_os_str().len() + 3).min().unwrap_or(path.as_os_str().len())
}

/// The first `n_chars` characters of `text`.
fn start(text: &str, n_chars: usize) -> &str {
    text.char_indices().nth(n_chars).map_or(text, |(end, _)| &text[..end])
}

/// Returns the `native` skills whose description the agent's own list cuts by its budget, in the order of
/// ids.
pub fn undescribed(
    engine: &Engine,
    native: &NativeSkills,
    listing: &ListingBudget,
) -> Vec<SkillId> {
    let catalog = engine.catalog();
    let listed = catalog.listed(Audience::Model).filter(|entry| native.has(entry));
    undescribed_of(&listed.collect::<Vec<_>>(), native, listing)
}

/// Returns those of the `listed` skills whose description the agent's own list cuts, in their order.
pub(super) fn undescribed_of(
    listed: &[&Entry],
    native: &NativeSkills,
    listing: &ListingBudget,
) -> Vec<SkillId> {
    let as_listed = listed.iter().map(|entry| ListedSkill {
        name: native.name_of(entry),
        path: entry.skill.path().map(Path::to_owned).unwrap_or_default(),
        description: entry.skill.description().to_owned(),
    });
    let cut = listing.cut(&as_listed.collect::<Vec<_>>());
    cut.into_iter().map(|place| listed[place].id.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skills(n: usize, description: &str) -> Vec<ListedSkill> {
        let skill = |n: usize| ListedSkill {
            name: format!("skill-{n:03}"),
            path: format!("/home/u/.agents/skills/skill-{n:03}/SKILL.md").into(),
            description: description.to_owned(),
        };
        (0..n).map(skill).collect()
    }

    #[test]
    fn the_most_used_skills_keep_their_descriptions() {
        let budget = |limit| ListingBudget::WholeByUse {
            limit,
            longest: 100,
            bundled: 50,
            name_only: ["skill-003".to_owned()].into(),
            uses: [("skill-002".to_owned(), 1.5)].into(),
        };
        let skills = skills(4, &"x".repeat(300));
        // Names take 12 characters each, descriptions 102.
        let all = 50 + 4 * 12 + 3 * 102;
        assert_eq!(budget(all).cut(&skills), [0; 0]);
        assert_eq!(budget(all - 2).cut(&skills), [1]);
        assert_eq!(budget(all - 102).cut(&skills), [1]);
        assert_eq!(budget(all - 2 * 102).cut(&skills), [0, 1]);
        assert_eq!(budget(0).cut(&skills), [0, 1, 2], "the user wants only the name of the last");
    }

    fn places(dirs: &[(&str, usize)]) -> Vec<ListedPlace> {
        let place = |(dir, kind): &(&str, usize)| ListedPlace {
            dirs: vec![dir.into()],
            kind: *kind,
            word: "project",
        };
        dirs.iter().map(place).collect()
    }

    #[test]
    fn entries_end_with_the_first_that_does_not_fit() {
        let places = places(&[("/home/u/.agents/skills", 0)]);
        let budget = |limit| ListingBudget::Entries { limit, places: places.clone() };
        let with = |text: &str| skills(4, text);
        // Measured with Copilot CLI 1.0.102: such an entry has 203 characters.
        let of_100 = with(&"x".repeat(100));
        assert_eq!(budget(812).cut(&of_100), [0; 0]);
        assert_eq!(budget(811).cut(&of_100), [3]);
        // `&` is written as `&amp;`, and an emoji has two of its characters.
        assert_eq!(budget(203 + 400).cut(&with(&"&".repeat(100))), [1, 2, 3]);
        assert_eq!(budget(303 * 2).cut(&with(&"😀".repeat(100))), [2, 3]);
        let mut one_long = of_100;
        one_long[1].description = "x".repeat(1000);
        assert_eq!(budget(1000).cut(&one_long), [1, 2, 3], "a later one that fits is cut, too");
    }

    #[test]
    fn lists_have_the_order_of_directories() {
        let skill = |path: &str| ListedSkill {
            name: path.rsplit('/').nth(1).unwrap().to_owned(),
            path: path.into(),
            description: "x".repeat(100),
        };
        let skills =
            ["/c/m/SKILL.md", "/b/z/SKILL.md", "/a/k/SKILL.md", "/d/a/SKILL.md"].map(skill);
        let order = |dirs: &[(&str, usize)]| {
            let places = places(dirs);
            let ordered = by_place(&skills, &places);
            ordered.into_iter().map(|(_, skill, _)| skill.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(order(&[("/a", 0), ("/b", 1), ("/c", 2), ("/d", 3)]), ["k", "z", "m", "a"]);
        assert_eq!(order(&[("/a", 0), ("/b", 1), ("/c", 1), ("/d", 1)]), ["k", "a", "m", "z"]);
        assert_eq!(order(&[("/b", 0), ("/x", 1), ("/c", 0)])[..2], ["m", "z"]);
        // Measured with Droid 0.215.0: one that does not fit is passed over.
        let budget = ListingBudget::WholeByPlace {
            limit: 10 + 4 * 2 - 1 + 204,
            longest: 1024,
            bundled: 10,
            places: places(&[("/a", 0), ("/b", 1), ("/c", 2), ("/d", 3)]),
        };
        assert_eq!(budget.cut(&skills), [0, 3]);
    }

    #[test]
    fn descriptions_are_cut_evenly_and_not_at_all_if_the_names_do_not_fit() {
        let budget = |limit| ListingBudget::EvenTokens {
            limit,
            roots: vec!["/home/u/.agents/skills".into()],
        };
        let skills = skills(100, &"x".repeat(200));
        let cut = |limit| budget(limit).cut(&skills).len();
        // Whole lines have 267 bytes, 67 tokens.
        assert_eq!((cut(6700), cut(6699)), (0, 0));
        // With a description of 80 characters, lines with short paths have 31 tokens, and the table 9.
        assert_eq!((cut(3109), cut(3108)), (0, 100));
        assert_eq!(cut(100), 100);
        let short =
            skills.iter().map(|skill| ListedSkill { description: "x".into(), ..skill.clone() });
        assert_eq!(budget(1500).cut(&short.collect::<Vec<_>>()), [0; 0]);
    }
}
