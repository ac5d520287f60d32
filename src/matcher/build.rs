//! From the triggers of a catalog to a compiled index.

use std::collections::{BTreeMap, HashMap};

use super::automaton::Automaton;
use super::index::{
    Exclude, Index, IndexOptions, IndexedSkill, LiteralUse, NamedSkill, Subject, Trigger,
};
use super::mention::Name;
use super::paths::Paths;
use super::patterns::Patterns;
use super::text::fold_trigger;
use super::{HitKind, inflect, literals, meta};
use crate::error::{Error, ErrorCode};
use crate::skill::glob;
use crate::skill::pattern::{self, Case};

/// What is gathered while skills are taken in one by one.
#[derive(Default)]
struct Builder {
    literal_ids: HashMap<String, u32>,
    uses: Vec<(u32, LiteralUse)>,
    triggers: Vec<Trigger>,
    names: Vec<NamedSkill>,
    excludes: Vec<Exclude>,
    /// Pattern source → the triggers that declare it, in the order of the sources.
    patterns: BTreeMap<Box<str>, Vec<u32>>,
    globs: BTreeMap<Box<str>, Vec<u32>>,
}

/// Compiles an index; `skills` must be in the order of their ids, which are distinct.
pub(super) fn build(skills: &[IndexedSkill<'_>], options: &IndexOptions) -> Result<Index, Error> {
    let mut builder = Builder::default();
    for (skill, indexed) in skills.iter().enumerate() {
        builder.add_skill(skill as u32, indexed, options.inflect);
    }
    builder.add_meta_phrases(options);
    let (patterns, pattern_triggers) = builder.finish_patterns();
    let (paths, glob_triggers) = builder.finish_globs();
    let (automaton, offsets, uses) = builder.finish_literals()?;
    tracing::debug!(
        skills = skills.len(),
        literals = offsets.len() - 1,
        patterns = pattern_triggers.len(),
        globs = glob_triggers.len(),
        bytes = automaton.memory_usage(),
        "compiled the index"
    );
    Ok(Index {
        ids: skills.iter().map(|indexed| indexed.id.clone()).collect(),
        automaton,
        offsets,
        uses,
        triggers: builder.triggers,
        names: builder.names,
        excludes: builder.excludes,
        patterns,
        pattern_triggers,
        paths,
        glob_triggers,
        scratch: std::sync::Mutex::default(),
    })
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
            let trigger = self.add_trigger(skill, HitKind::Pattern, &pattern.value, 0);
            self.patterns.entry(pattern.value.as_str().into()).or_default().push(trigger);
        }
        for glob in &triggers.paths {
            let trigger = self.add_trigger(skill, HitKind::Path, &glob.value, 0);
            self.globs.entry(glob.value.as_str().into()).or_default().push(trigger);
        }
        for exclude in &triggers.exclude {
            let place = self.excludes.len() as u32;
            self.excludes.push(Exclude { skill, text: exclude.value.as_str().into() });
            self.add_use(&fold_trigger(&exclude.value), LiteralUse::Exclude(place));
        }
    }

    fn add_name(&mut self, skill: u32, text: &str, is_id: bool) {
        let folded = fold_trigger(text);
        if folded.is_empty() {
            return;
        }
        let (name, literals) = Name::new(&folded, is_id);
        let trigger = self.add_trigger(skill, HitKind::Name, text, name.n_words);
        if let [literal] = &literals[..] {
            self.triggers[trigger as usize].subject = Subject::Literal(self.literal_id(literal));
        }
        let place = self.names.len() as u32;
        self.names.push(NamedSkill { name, trigger });
        for literal in literals {
            self.add_use(&literal, LiteralUse::Name(place));
        }
    }

    fn add_literal_trigger(&mut self, skill: u32, kind: HitKind, text: &str, inflect: bool) {
        let folded = fold_trigger(text);
        // Skill files hold no blank trigger; a host may put one into `Triggers` by hand.
        if folded.is_empty() {
            return;
        }
        let n_words = folded.split(' ').count();
        let trigger = self.add_trigger(skill, kind, text, n_words);
        let subject = Subject::Literal(self.literal_id(&folded));
        self.triggers[trigger as usize].subject = subject;
        if inflect {
            for form in inflect::inflections(&folded) {
                self.add_use(&form, LiteralUse::Trigger(trigger));
            }
        }
        self.add_use(&folded, LiteralUse::Trigger(trigger));
    }

    fn add_meta_phrases(&mut self, options: &IndexOptions) {
        for (phrase, question) in meta::phrases() {
            self.add_use(phrase, LiteralUse::Meta(question));
        }
        for (phrase, question) in &options.meta_phrases {
            self.add_use(&fold_trigger(phrase), LiteralUse::Meta(*question));
        }
    }

    fn add_trigger(&mut self, skill: u32, kind: HitKind, text: &str, n_words: usize) -> u32 {
        let (n_words, place) = (n_words as u32, self.triggers.len() as u32);
        let subject = Subject::Own(place);
        self.triggers.push(Trigger { skill, kind, text: text.into(), n_words, rarity: 1, subject });
        place
    }

    fn add_use(&mut self, literal: &str, to: LiteralUse) {
        if !literal.is_empty() {
            let id = self.literal_id(literal);
            self.uses.push((id, to));
        }
    }

    fn literal_id(&mut self, literal: &str) -> u32 {
        if let Some(&id) = self.literal_ids.get(literal) {
            return id;
        }
        let id = self.literal_ids.len() as u32;
        self.literal_ids.insert(literal.to_owned(), id);
        id
    }

    /// The patterns, gated by their required literals, and the triggers that declare each.
    fn finish_patterns(&mut self) -> (Patterns, Vec<Vec<u32>>) {
        let mut unfiltered = Vec::new();
        let mut sources = Vec::new();
        let mut declared_by = Vec::new();
        for (place, (source, triggers)) in
            std::mem::take(&mut self.patterns).into_iter().enumerate()
        {
            let required = pattern::parse(&source, Case::Verbatim)
                .ok()
                .and_then(|hir| literals::required_literals(&hir));
            match required {
                Some(literals) => {
                    for literal in literals {
                        self.add_use(&literal, LiteralUse::Gate(place as u32));
                    }
                }
                None => unfiltered.push(place),
            }
            self.set_rarity(&triggers);
            sources.push(source);
            declared_by.push(triggers);
        }
        (Patterns::new(sources, &unfiltered), declared_by)
    }

    fn finish_globs(&mut self) -> (Paths, Vec<Vec<u32>>) {
        let mut globs = Vec::new();
        let mut declared_by = Vec::new();
        for (source, triggers) in std::mem::take(&mut self.globs) {
            // A host may put a glob into `Triggers` that no skill file could hold.
            match glob(&source) {
                Ok(glob) => {
                    globs.push(glob);
                    self.set_rarity(&triggers);
                    declared_by.push(triggers);
                }
                Err(error) => tracing::error!(%source, %error, "glob does not compile"),
            }
        }
        (Paths::new(&globs), declared_by)
    }

    /// Compiles the literals; the uses of literal `i` are `uses[offsets[i]..offsets[i + 1]]`.
    fn finish_literals(&mut self) -> Result<(Automaton, Vec<u32>, Vec<LiteralUse>), Error> {
        let mut uses = std::mem::take(&mut self.uses);
        uses.sort_unstable();
        uses.dedup();
        let mut literals = vec![String::new(); self.literal_ids.len()];
        for (literal, id) in self.literal_ids.drain() {
            literals[id as usize] = literal;
        }
        let mut offsets = Vec::with_capacity(literals.len() + 1);
        for id in 0..=literals.len() as u32 {
            offsets.push(uses.partition_point(|&(literal, _)| literal < id) as u32);
        }
        let uses: Vec<LiteralUse> = uses.into_iter().map(|(_, to)| to).collect();
        let uses_of = |id: usize| &uses[offsets[id] as usize..offsets[id + 1] as usize];
        for id in 0..literals.len() {
            self.set_rarity_of_literal(id as u32, uses_of(id));
        }
        let contextual = |id: usize| {
            uses_of(id).iter().any(|u| matches!(u, LiteralUse::Name(_) | LiteralUse::Meta(_)))
        };
        let automaton = Automaton::new(&literals, contextual).map_err(|error| {
            Error::new(
                ErrorCode::ExecutionError,
                format!("{} literals of triggers do not fit one automaton", literals.len()),
                "load fewer skills",
            )
            .with_source(*error)
        })?;
        Ok((automaton, offsets, uses))
    }

    /// Notes of each of `triggers`, which say the same, how many skills say it.
    fn set_rarity(&mut self, triggers: &[u32]) {
        let n_skills = self.n_skills(triggers);
        for &trigger in triggers {
            self.triggers[trigger as usize].rarity = n_skills;
        }
    }

    fn set_rarity_of_literal(&mut self, literal: u32, uses: &[LiteralUse]) {
        let declaring = uses.iter().filter_map(|to| match to {
            LiteralUse::Trigger(trigger) => Some(*trigger),
            LiteralUse::Name(name) => Some(self.names[*name as usize].trigger),
            _ => None,
        });
        let triggers: Vec<u32> = declaring.collect();
        let n_skills = self.n_skills(&triggers);
        // An inflected form is as rare as the verb it stands for, not as itself.
        for trigger in triggers {
            let trigger = &mut self.triggers[trigger as usize];
            if trigger.kind == HitKind::Name || trigger.subject == Subject::Literal(literal) {
                trigger.rarity = trigger.rarity.max(n_skills);
            }
        }
    }

    /// How many skills declare one of `triggers`.
    fn n_skills(&self, triggers: &[u32]) -> u32 {
        let mut skills: Vec<u32> =
            triggers.iter().map(|&t| self.triggers[t as usize].skill).collect();
        skills.sort_unstable();
        skills.dedup();
        skills.len() as u32
    }
}
