//! The gaps in an agent's own list: skills that it only names, as their descriptions have no room there. The
//! list at the start of a conversation describes the first of them, and a message the others.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;

use super::call::HookCall;
use super::listing::{ListingBudget, undescribed, undescribed_of};
use repertoire::Error;
use repertoire::catalog::{Audience, Entry};
use repertoire::disclosure::{Budget, HowToLoad, NativeSkills};
use repertoire::engine::Engine;
use repertoire::session::{Day, Session, SessionState};
use repertoire::skill::SkillId;
use repertoire_system::open_options::regular_file;
use repertoire_system::project::project_of;

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
/// The number of bytes that are read of such a file.
const README_BYTES: u64 = 2_000;

impl HookCall {
    /// Describes the skills in the gaps, in at most `room` characters, and records them in the session.
    pub(super) fn descriptions(
        &self,
        engine: &Engine,
        session: &Session,
        room: usize,
    ) -> Result<String, Error> {
        let Some(listing) = &self.listing else { return Ok(String::new()) };
        let mut only = undescribed(engine, &self.native, listing);
        if only.len() > 1 {
            sort(&mut only, self.cwd.as_deref(), engine);
        }
        only.truncate(room.min(DESCRIPTIONS) / DESCRIPTION);
        if only.is_empty() {
            return Ok(String::new());
        }
        let mut options = engine.prompt_options().clone();
        options.only = Some(only);
        options.budget = Some(Budget::Characters(room.min(DESCRIPTIONS)));
        options.how_to_load = HowToLoad::Sentence(DESCRIBED.to_owned());
        let prompt = engine.prompt_with(&options);
        session.listed(&prompt.included)?;
        Ok(prompt.text)
    }
}

/// Returns the `native` skills of an agent with this budget for its list as they are in a conversation with this
/// `state`: those without a description that neither the agent's list nor the conversation describes.
pub fn with_gaps(
    mut native: NativeSkills,
    listing: Option<&ListingBudget>,
    engine: &Engine,
    state: &SessionState,
) -> NativeSkills {
    let catalog = engine.catalog();
    let all = catalog.listed(Audience::Model);
    let (own, others): (Vec<&Entry>, Vec<&Entry>) = all.partition(|entry| native.has(entry));
    let told = listed(state);
    native.names_all = !own.is_empty() && others.iter().all(|entry| told.contains(&entry.id));
    let cut = listing.map(|listing| undescribed_of(&own, &native, listing)).unwrap_or_default();
    native.undescribed = cut.into_iter().filter(|id| !told.contains(id)).collect();
    native
}

/// The skills of which a line is in the context, to look many of them up.
pub(super) fn listed(state: &SessionState) -> BTreeSet<&SkillId> {
    state.skills.iter().filter(|skill| skill.listed).map(|skill| &skill.skill).collect()
}

/// Sorts skills whose description the agent cuts: the most used first, then those nearest to the words of the project
/// in `dir`.
fn sort(cut: &mut [SkillId], dir: Option<&Path>, engine: &Engine) {
    // Without the numbers of uses, the rest of the order is left.
    let tallies = engine.tallies(Day::today().before(USE_DAYS)).ok();
    let uses = |id: &SkillId| {
        let counts = tallies.as_ref().and_then(|tallies| tallies.of(id)).map(|of| of.counts);
        counts.map_or(0, |counts| counts.fired + counts.loaded + counts.used)
    };
    let near = engine.find_ids(dir.map(words).unwrap_or_default(), usize::MAX);
    let places: BTreeMap<&SkillId, usize> = near.iter().zip(0..).collect();
    let place = |id: &SkillId| places.get(id).copied().unwrap_or(near.len());
    cut.sort_by_cached_key(|id| (Reverse(uses(id)), place(id)));
}

/// Returns the words of the project to which `dir` belongs: its name, and how the nearest README begins.
fn words(dir: &Path) -> String {
    let root = project_of(dir).root;
    let levels = dir.ancestors().take_while(|level| level.starts_with(root));
    let root = root.file_name().unwrap_or_default();
    let mut files = levels.flat_map(|level| README.iter().map(|name| level.join(name)));
    let file = files.find_map(|path| regular_file(&path).ok());
    let mut bytes = Vec::new();
    if let Some(file) = file {
        // A part that was read before an error is as good as another.
        let _ = file.take(README_BYTES).read_to_end(&mut bytes);
    }
    format!("{}\n{}", root.to_string_lossy(), String::from_utf8_lossy(&bytes))
}
