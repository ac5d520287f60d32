//! The compiled index of a catalog.

use std::cell::RefCell;
use std::fmt;

use repertoire_text::meta::{MetaQuestion, Questions};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thread_local::ThreadLocal;

use super::Match;
use super::automaton::Automaton;
use super::paths::Paths;
use super::pattern::cache::Patterns;
use super::pattern::gates::Gates;
use super::search::Scratch;
use super::tables::Tables;
use crate::skill::{SkillId, Triggers};

/// The default limit of a query in bytes; the middle of a longer query is left out. Matching costs up to
/// about 40 ns per byte, so the limit keeps it near 10 ms, while text above or below a pasted log is
/// still searched.
pub const MAX_QUERY_BYTES: usize = 256 * 1024;

/// Options for building an [`Index`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize))]
#[non_exhaustive]
pub struct IndexOptions {
    /// True if verbs also match in their regular English inflections.
    pub inflect: bool,
    /// More questions about the skills themselves, in the notation of
    /// [`EngineBuilder::meta_phrase`](crate::EngineBuilder::meta_phrase).
    pub meta_phrases: Vec<(String, MetaQuestion)>,
    /// The maximum number of bytes that are searched. Of a longer query, the head and the tail are
    /// searched, half of this each. `None` searches everything.
    pub max_query_bytes: Option<usize>,
}

/// A skill as the index sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexedSkill<'a> {
    /// The id of the skill, distinct among the skills of one index.
    pub id: &'a SkillId,
    /// The name of the skill.
    pub name: &'a str,
    /// The triggers of the skill.
    pub triggers: &'a Triggers,
}

/// The compiled triggers of a catalog. Answers depend only on the index, the query and the recently used
/// skills.
///
/// An index is flat data. It can be serialised in any format of `serde`, and read by another process
/// with the same version of this crate. Parts that only take time to rebuild, such as compiled patterns,
/// are not stored; the reader compiles them when first needed. Deserialising fails if the parts do not
/// fit together.
///
/// ```
/// use repertoire::matcher::{Index, IndexOptions, IndexedSkill, Query};
/// use repertoire::{Skill, SkillId};
///
/// let skill: Skill = "---\nname: git\ndescription: d\ntriggers: [pull request]\n---\n".parse()?;
/// let id = SkillId::new("git");
/// let skills = [IndexedSkill { id: &id, name: skill.name(), triggers: skill.triggers() }];
/// let index = Index::new(&skills, &IndexOptions::default())?;
///
/// let answer = index.search(&Query::new("open a Pull  Request"), &[], usize::MAX);
/// assert_eq!(answer.matches[0].hits[0].span, 7..20);
/// # Ok::<(), repertoire::Error>(())
/// ```
pub struct Index {
    pub(super) automaton: Automaton,
    pub(super) patterns: Patterns,
    pub(super) gates: Gates,
    pub(super) paths: Paths,
    pub(super) questions: Questions,
    pub(super) tables: Tables,
    pub(super) max_query_bytes: usize,
    /// The working memory of each thread.
    pub(super) scratch: ThreadLocal<RefCell<Scratch>>,
}

/// The serialised form of an [`Index`]. A separate type, as `remote = "Self"` would make a second,
/// public `Index::deserialize`, which checks nothing.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Index")]
struct Written {
    automaton: Automaton,
    patterns: Patterns,
    gates: Gates,
    paths: Paths,
    questions: Questions,
    tables: Tables,
    max_query_bytes: usize,
    #[serde(skip)]
    scratch: ThreadLocal<RefCell<Scratch>>,
}

/// Prints a summary, as the tables would fill megabytes.
impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (skills, literals) = (self.tables.ids.len(), self.automaton.literals().len());
        let mut index = f.debug_struct("Index");
        index.field("skills", &skills).field("literals", &literals).finish_non_exhaustive()
    }
}

/// The answer of an [`Index`] to a query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Answer {
    /// The best matches, best first, as many as were asked for.
    pub matches: Vec<Match>,
    /// Further skills that match, best first, without their hits.
    pub beyond: Vec<SkillId>,
    /// The number of all skills that match, whether they are listed here or not.
    pub n_matches: usize,
    /// Skills that would match but for one of their `exclude` entries, each with that entry.
    pub vetoed: Vec<(SkillId, String)>,
    /// Skills with an `exclude` entry in the query, each with that entry, in the order of ids. They need
    /// not match. Skills that the query asks for by name are not among them.
    pub excluded: Vec<(SkillId, String)>,
    /// Skills in `matches` or `beyond` whose triggers are in attachments only, each with one of these
    /// triggers, in the order of ids.
    pub attached: Vec<(SkillId, String)>,
    /// Skills in `matches` or `beyond` that match by single words only, neither named nor by a longer phrase,
    /// a pattern or a path, best first.
    pub words: Vec<SkillId>,
    /// Skills with a pattern that was not tried, each with that pattern, in the order of ids. If too
    /// many patterns that require no literal may match, the costlier ones are skipped to answer in time.
    pub untried: Vec<(SkillId, String)>,
    /// Skills that match by a weak mention alone, in the order of ids: the message contains the name of
    /// the skill but does not ask for it, and no declared keyword, verb, pattern or path of the skill
    /// was found. Each is also in `matches` or `beyond`.
    pub weak: Vec<SkillId>,
    /// Skills that the message names only to deny them or to say that they are done, in the order of
    /// ids: "not x", "just finished /x". Such a skill still matches if the message has one of its
    /// triggers elsewhere.
    pub denied: Vec<SkillId>,
    /// Skills that the message names only to talk about them, in the order of ids: "the x skill is
    /// broken", "is the x skill installed?". Each counts as a weak mention that relevance does not lift.
    pub about: Vec<SkillId>,
    /// The question about the skills themselves, if the query asks one.
    pub meta: Option<MetaQuestion>,
    /// The subject of the question, folded, if it asks for skills for something: `pdf reports` of "which
    /// skill should I use for PDF reports?".
    pub topic: Option<String>,
}

impl Index {
    /// The number of skills.
    pub fn len(&self) -> usize {
        self.tables.ids.len()
    }

    /// Tells whether there are no skills.
    pub fn is_empty(&self) -> bool {
        self.tables.ids.is_empty()
    }

    /// Tells whether the deserialised parts fit together, so that no look-up is out of bounds.
    fn is_sound(&self) -> bool {
        let n_literals = self.automaton.literals().len();
        self.automaton.is_sound()
            && self.paths.is_sound()
            && self.patterns.is_sound()
            && self.gates.is_sound(self.patterns.len(), n_literals)
            && self.tables.is_sound(n_literals, self.patterns.len(), self.paths.len())
    }

    pub(super) fn id(&self, skill: u32) -> &SkillId {
        &self.tables.ids[skill as usize]
    }
}

impl Serialize for Index {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Index {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Index, D::Error> {
        let index = Written::deserialize(deserializer)?;
        if !index.is_sound() {
            return Err(de::Error::custom("the parts of the index do not fit together"));
        }
        Ok(index)
    }
}
