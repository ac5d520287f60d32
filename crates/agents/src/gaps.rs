//! The gaps in an agent's own list: skills of which it only names, as there is no room for their descriptions. The
//! list at the start of a conversation describes the first of them, and a message the others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;

use super::call::HookCall;
use super::listing::{ListingBudget, undescribed, undescribed_of};
use repertoire::catalog::{Audience, Entry};
use repertoire::disclosure::{Budget, HowToLoad, NativeSkills};
use repertoire::engine::Engine;
use repertoire::session::{Day, SessionState};
use repertoire::skill::SkillId;
use repertoire_system::open_options::regular_file;

/// The longest text with these descriptions at the start of a conversation, in characters.
const DESCRIPTIONS: usize = 6_000;
/// The length that one of these descriptions takes at least: a shorter one would tell nothing.
const DESCRIPTION: usize = 80;
/// The sentence above these descriptions.
const DESCRIBED: &str =
    "Your own list names these skills without a description; load one as that list says.";
/// The number of days in which a use of a skill counts for the order of these descriptions.
const USE_DAYS: u32 = 90;
/// The files that say what a project is about.
const README: [&str; 3] = ["README.md", "README", "readme.md"];
/// As much of such a file as is read, in bytes.
const README_BYTES: u64 = 2_000;

impl HookCall {
    /// Describes the skills in the gaps, in at most `room` characters.
    pub(super) fn descriptions(&self, engine: &Engine, room: usize) -> String {
        let Some(listing) = &self.listing else { return String::new() };
        let cut = undescribed(engine, &self.native, listing);
        let mut only = in_order(cut, self.cwd.as_deref(), engine);
        only.truncate(room.min(DESCRIPTIONS) / DESCRIPTION);
        if only.is_empty() {
            return String::new();
        }
        let mut options = engine.prompt_options().clone();
        options.only = Some(only);
        options.budget = Some(Budget::Characters(room.min(DESCRIPTIONS)));
        options.how_to_load = HowToLoad::Sentence(DESCRIBED.to_owned());
        engine.prompt_with(&options).text
    }
}

/// Returns the `native` skills of an agent with this budget for its list as they are when a message comes to the
/// conversation in `dir`, with this `state`. Those have no description for which there was no room at its start either.
pub fn with_gaps(
    mut native: NativeSkills,
    listing: Option<&ListingBudget>,
    dir: Option<&Path>,
    engine: &Engine,
    state: &SessionState,
) -> NativeSkills {
    let catalog = engine.catalog();
    let all = catalog.listed(Audience::Model);
    let (own, others): (Vec<&Entry>, Vec<&Entry>) = all.partition(|entry| native.has(entry));
    let told = state.skills.iter().filter(|skill| skill.listed).map(|skill| &skill.skill);
    let told: BTreeSet<&SkillId> = told.collect();
    native.names_all = others.iter().all(|entry| told.contains(&entry.id));
    let cut = listing.map(|listing| undescribed_of(&own, &native, listing)).unwrap_or_default();
    let in_order = in_order(cut, dir, engine).into_iter();
    native.undescribed = in_order.skip(DESCRIPTIONS / DESCRIPTION).collect();
    native
}

/// Sorts skills whose description the agent cuts: the most used first, then those nearest to the words of the project
/// in `dir`.
fn in_order(mut cut: Vec<SkillId>, dir: Option<&Path>, engine: &Engine) -> Vec<SkillId> {
    if cut.len() <= 1 {
        return cut;
    }
    // Without the numbers of uses, the rest of the order is left.
    let tallies = engine.tallies(Day::today().before(USE_DAYS)).ok();
    let uses = |id: &SkillId| {
        let counts = tallies.as_ref().and_then(|tallies| tallies.of(id)).map(|of| of.counts);
        counts.map_or(0, |counts| counts.fired + counts.loaded + counts.used)
    };
    let near = engine.find_ids(dir.map(words).unwrap_or_default(), cut.len());
    let places: BTreeMap<&SkillId, usize> = near.iter().zip(0..).collect();
    let place = |id: &SkillId| places.get(id).copied().unwrap_or(near.len());
    cut.sort_by_cached_key(|id| (Reverse(uses(id)), place(id)));
    cut
}

/// Returns the words of the project in `dir`: its name, and how its README begins.
fn words(dir: &Path) -> String {
    let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = README.iter().find_map(|name| regular_file(&dir.join(name)).ok());
    let mut bytes = Vec::new();
    if let Some(file) = file {
        // A part that was read before an error is as good as another.
        let _ = file.take(README_BYTES).read_to_end(&mut bytes);
    }
    format!("{name}\n{}", String::from_utf8_lossy(&bytes))
}
