//! Builds an index from the triggers of a catalog.

use std::collections::HashMap;

use repertoire_text::fold_trigger;
use repertoire_text::mention::Name;
use repertoire_text::meta::Questions;

use super::HitKind;
use super::arena::Lists;
use super::index::{Index, IndexOptions, IndexedSkill};
use super::paths::Paths;
use super::pattern::Sources;
use super::tables::{Item, LiteralUse, NamedSkill, Tables, Triggers};
use super::vocabulary::{self, inflections, literal_id};
use crate::error::{Error, ErrorCode};
use crate::progress::{Phase, Reporter, Steps};
use crate::skill::glob;

/// The maximum size of all trigger texts in bytes. Offsets of 32 bits then suffice after folding, too:
/// folded texts are at most three times as long, and a name is at most eight literals.
const MAX_TRIGGER_BYTES: usize = 1 << 29;

/// The tables under construction, while skills are added one by one.
#[derive(Default)]
struct Builder {
    /// The literals to look for as words of their own, with their numbers.
    literals: HashMap<String, u32>,
    uses: Vec<(u32, LiteralUse)>,
    items: Vec<ItemSource>,
    /// The items by their subjects.
    known: HashMap<Subject, u32>,
    postings: Vec<(u32, u32)>,
    triggers: Triggers,
    names: Vec<NamedSkill>,
    /// The literals that count as a form of each name, with the number of the name.
    forms: Vec<(String, u32)>,
    excludes: Vec<(u32, Box<str>)>,
}

/// The subject of a trigger; equal for all triggers that look for the same thing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Subject {
    Literal(u32),
    /// A verb that also matches in its inflections.
    Verb(u32),
    Pattern(Box<str>),
    Glob(Box<str>),
    Name(u32),
}

struct ItemSource {
    subject: Subject,
    n_words: u32,
    /// The only literal of the item, see [`Item::subject`].
    literal: Option<u32>,
}

impl ItemSource {
    /// The source of an item that is not a literal.
    fn new(subject: Subject) -> ItemSource {
        ItemSource { subject, n_words: 0, literal: None }
    }
}

impl Index {
    /// Compiles an index of `skills`, which may come in any order.
    ///
    /// Fails with `EXECUTION_ERROR` if the triggers are more than one index can hold (half a
    /// gigabyte).
    pub fn new(skills: &[IndexedSkill<'_>], options: &IndexOptions) -> Result<Index, Error> {
        Index::compile(skills, options, &Reporter::default())
    }

    /// Compiles an index as [`Index::new`] does, and reports progress.
    pub(crate) fn compile(
        skills: &[IndexedSkill<'_>],
        options: &IndexOptions,
        reporter: &Reporter,
    ) -> Result<Index, Error> {
        let mut sorted = skills.to_vec();
        sorted.sort_unstable_by(|a, b| a.id.cmp(b.id));
        sorted.dedup_by(|later, first| later.id == first.id);
        build(&sorted, options, reporter)
    }
}

/// Compiles an index; `skills` must be sorted by id, and the ids must be distinct.
fn build(
    skills: &[IndexedSkill<'_>],
    options: &IndexOptions,
    reporter: &Reporter,
) -> Result<Index, Error> {
    let n_bytes: usize = skills.iter().map(n_trigger_bytes).sum();
    if n_bytes > MAX_TRIGGER_BYTES {
        return Err(too_large());
    }
    let n_patterns: usize = skills.iter().map(|indexed| indexed.triggers.patterns.len()).sum();
    let steps = reporter.begin(Phase::Compiling, skills.len() + n_patterns);
    let mut builder = Builder::default();
    for (skill, indexed) in skills.iter().enumerate() {
        builder.add_skill(skill as u32, indexed, options.inflect);
        steps.add();
    }
    let index = builder.finish(skills, options, &steps)?;
    steps.end();
    Ok(index)
}

fn too_large() -> Error {
    Error::new(
        ErrorCode::ExecutionError,
        "the triggers of all skills together do not fit one index",
        "load fewer skills",
    )
}

/// The size of a skill's triggers in bytes, including its id and its name.
fn n_trigger_bytes(indexed: &IndexedSkill<'_>) -> usize {
    let of = indexed.triggers;
    let declared = [&of.keywords, &of.verbs, &of.patterns, &of.exclude, &of.paths];
    let n_bytes: usize = declared.into_iter().flatten().map(|trigger| trigger.value.len()).sum();
    n_bytes + indexed.id.as_str().len() + indexed.name.len()
}

impl Builder {
    fn add_skill(&mut self, skill: u32, indexed: &IndexedSkill<'_>, inflect: bool) {
        self.add_name(skill, indexed.id.as_str(), true);
        if indexed.name != indexed.id.as_str() {
            self.add_name(skill, indexed.name, false);
        }
        let triggers = indexed.triggers;
        for keyword in &triggers.keywords {
            self.add_literal_trigger(skill, HitKind::Keyword, &keyword.value, false);
        }
        for verb in &triggers.verbs {
            self.add_literal_trigger(skill, HitKind::Verb, &verb.value, inflect);
        }
        for pattern in &triggers.patterns {
            let subject = Subject::Pattern(pattern.value.as_str().into());
            self.add_trigger(skill, HitKind::Pattern, &pattern.value, ItemSource::new(subject));
        }
        for path in &triggers.paths {
            // A host may put a glob into `Triggers` that no skill file could hold.
            if let Err(error) = glob(&path.value) {
                tracing::error!(glob = %path.value, %error, "glob does not compile");
                continue;
            }
            let subject = Subject::Glob(path.value.as_str().into());
            self.add_trigger(skill, HitKind::Path, &path.value, ItemSource::new(subject));
        }
        for exclude in &triggers.exclude {
            let place = self.excludes.len() as u32;
            self.excludes.push((skill, exclude.value.as_str().into()));
            self.add_use(&fold_trigger(&exclude.value), LiteralUse::Exclude(place));
        }
        self.triggers.end_skill();
    }

    fn add_name(&mut self, skill: u32, text: &str, is_id: bool) {
        let folded = fold_trigger(text);
        if folded.is_empty() {
            return;
        }
        let (name, literals) = Name::new(&folded, is_id);
        let place = self.names.len() as u32;
        let literal = match &literals[..] {
            [literal] => Some(literal_id(&mut self.literals, literal)),
            _ => None,
        };
        let (subject, n_words) = (Subject::Name(place), name.n_words as u32);
        let source = ItemSource { subject, n_words, literal };
        let item = self.add_trigger(skill, HitKind::Name, text, source);
        self.names.push(NamedSkill { name, skill, item });
        for literal in literals {
            self.add_use(&literal, LiteralUse::Name(place));
        }
        let forms = Name::forms(&folded, is_id);
        self.forms.extend(forms.into_iter().map(|form| (form, place)));
    }

    fn add_literal_trigger(&mut self, skill: u32, kind: HitKind, text: &str, inflect: bool) {
        let folded = fold_trigger(text);
        // Skill files cannot hold a blank trigger; a host may put one into `Triggers` by hand.
        if folded.is_empty() {
            return;
        }
        let n_words = folded.split(' ').count() as u32;
        let literal = literal_id(&mut self.literals, &folded);
        let subject = if inflect { Subject::Verb(literal) } else { Subject::Literal(literal) };
        let is_new = !self.known.contains_key(&subject);
        let source = ItemSource { subject, n_words, literal: Some(literal) };
        let item = self.add_trigger(skill, kind, text, source);
        if is_new {
            self.uses.push((literal, LiteralUse::Item(item)));
            if inflect {
                for form in inflections(&folded) {
                    self.add_use(&form, LiteralUse::Item(item));
                }
            }
        }
    }

    fn add_trigger(&mut self, skill: u32, kind: HitKind, text: &str, source: ItemSource) -> u32 {
        let next = self.items.len() as u32;
        let item = *self.known.entry(source.subject.clone()).or_insert(next);
        if item == next {
            self.items.push(source);
        }
        self.triggers.push(kind, text, item);
        self.postings.push((item, skill));
        item
    }

    fn add_use(&mut self, literal: &str, to: LiteralUse) {
        if !literal.is_empty() {
            let id = literal_id(&mut self.literals, literal);
            self.uses.push((id, to));
        }
    }

    fn finish(
        mut self,
        skills: &[IndexedSkill<'_>],
        options: &IndexOptions,
        steps: &Steps<'_>,
    ) -> Result<Index, Error> {
        let mut items = vec![Item::default(); self.items.len()];
        let postings = Lists::new(std::mem::take(&mut self.postings), items.len());
        let mut subjects: HashMap<u32, u32> = HashMap::new();
        for ((item, source), place) in items.iter_mut().zip(&self.items).zip(0..) {
            let first = source.literal.map(|literal| *subjects.entry(literal).or_insert(place));
            *item = Item::of_words(source.n_words, first.unwrap_or(place));
            item.rarity = postings.of(place).len() as u32;
        }
        self.set_rarities(&mut items, |item| postings.of(item));

        let of_patterns = self.items.iter().zip(0..).filter_map(|(source, item)| {
            let Subject::Pattern(source) = &source.subject else { return None };
            Some((item, &**source))
        });
        let sources = Sources::new(of_patterns, steps);
        let uses = std::mem::take(&mut self.uses);
        let compiled = vocabulary::compile(&mut self.literals, uses, &sources);
        let (automaton, uses) = compiled.ok_or_else(too_large)?;
        let (patterns, gates) = sources.compile(&self.literals);
        let pattern_items = sources.items.clone();
        for (place, &item) in pattern_items.iter().enumerate() {
            items[item as usize].set_pattern(place as u32);
        }
        let (paths, glob_items) = self.globs();
        let tables = Tables {
            ids: skills.iter().map(|indexed| indexed.id.clone()).collect(),
            uses,
            items,
            postings,
            triggers: self.triggers,
            names: self.names,
            excludes: self.excludes,
            pattern_items,
            glob_items,
        };
        tracing::debug!(
            skills = skills.len(),
            literals = self.literals.len(),
            "compiled the index"
        );
        Ok(Index {
            automaton,
            patterns,
            gates,
            paths,
            questions: Questions::new(&options.meta_phrases),
            tables,
            max_query_bytes: options.max_query_bytes.unwrap_or(usize::MAX),
            scratch: thread_local::ThreadLocal::new(),
        })
    }

    /// Sets the rarity of each item: the number of skills that declare its literal, be it as a name, a
    /// keyword or a verb. An inflected form is as rare as its verb.
    fn set_rarities<'a>(&self, items: &mut [Item], postings: impl Fn(u32) -> &'a [u32]) {
        let mut declared = self.declared();
        declared.sort_unstable();
        declared.dedup();
        let mut skills = Vec::new();
        for uses in declared.chunk_by(|a, b| a.0 == b.0) {
            skills.clear();
            for &(_, item) in uses {
                skills.extend_from_slice(postings(item));
            }
            skills.sort_unstable();
            skills.dedup();
            let n_skills = skills.len() as u32;
            for &(literal, item) in uses {
                let is_own = match self.items[item as usize].subject {
                    Subject::Literal(own) | Subject::Verb(own) => own == literal,
                    _ => true,
                };
                if is_own {
                    let rarity = &mut items[item as usize].rarity;
                    *rarity = n_skills.max(*rarity);
                }
            }
        }
    }

    /// Returns the literals that count for rarity, each with its item: the literals of triggers, and all
    /// forms of names. A form that is not a literal gets a number after those of the literals.
    fn declared(&self) -> Vec<(u32, u32)> {
        let mut others: HashMap<&str, u32> = HashMap::new();
        let n_literals = self.literals.len() as u32;
        let of_names = self.forms.iter().map(|(form, name)| {
            let literal = self.literals.get(form).copied().unwrap_or_else(|| {
                let next = n_literals + others.len() as u32;
                *others.entry(form).or_insert(next)
            });
            (literal, self.names[*name as usize].item)
        });
        let of_triggers = self.uses.iter().filter_map(|&(literal, to)| match to {
            LiteralUse::Item(item) => Some((literal, item)),
            LiteralUse::Name(_) | LiteralUse::Exclude(_) => None,
        });
        of_triggers.chain(of_names).collect()
    }

    /// Returns the globs in sorted order, and the item of each.
    fn globs(&self) -> (Paths, Vec<u32>) {
        let globs = self.items.iter().enumerate().filter_map(|(item, source)| {
            let Subject::Glob(text) = &source.subject else { return None };
            Some((&**text, item as u32))
        });
        let mut globs: Vec<(&str, u32)> = globs.collect();
        globs.sort_unstable();
        let (globs, items): (Vec<&str>, Vec<u32>) = globs.into_iter().unzip();
        (Paths::new(globs), items)
    }
}
