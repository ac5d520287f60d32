//! The catalog prompt: the list of skills for a system prompt, once per session.

use std::borrow::Cow;

use serde::Serialize;

use super::budget::{Budget, Meter, TokenCounter};
use super::how_to_load::HowToLoad;
use super::native::NativeSkills;
use super::render::Format;
use super::shorten::{cut, marked, one_line, without_call, without_leads};
use super::task::TaskRunner;
use crate::catalog::{Audience, Catalog, Entry, Exposure};
use crate::skill::SkillId;

/// The length limit of the catalog prompt if the size of the context window is unknown, in characters.
const DEFAULT_CHARACTERS: usize = 16_000;
/// The length limit of the catalog prompt as a share of the context window, in percent.
const DEFAULT_PERCENT: f64 = 2.0;

/// The options of a catalog prompt.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct PromptOptions {
    /// Format of the text.
    pub format: Format,
    /// The length limit of the text. `None` means 2 % of the context window if its size is known,
    /// otherwise 16,000 characters. Skills with `always` do not count towards the limit, and are never
    /// shortened or left out; of those that a project brings, this holds for the first 4,000 characters.
    pub budget: Option<Budget>,
    /// Size of the context window in tokens, if known.
    pub context_window: Option<usize>,
    /// True if the text states the path of each skill's file.
    pub locations: bool,
    /// The sentence in the list about how to load a skill.
    pub how_to_load: HowToLoad,
    /// The skills that the host's agent lists by itself, which are left out; by default there are
    /// none.
    pub native: Option<NativeSkills>,
    /// The skills to list, in this order, and no others; `None` lists all of them by id.
    pub only: Option<Vec<SkillId>>,
    /// The party that runs skills with `context: fork`; by default the host.
    pub tasks: TaskRunner,
}

/// The list of the skills, as text for a system prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct CatalogPrompt {
    /// Skills in the text, in its order: those with `always` first, then by id.
    pub included: Vec<SkillId>,
    /// Skills in the text whose description was shortened.
    pub shortened: Vec<SkillId>,
    /// Skills for which there was no room.
    pub omitted: Vec<SkillId>,
    /// The text for the system prompt; empty if there is nothing to list.
    pub text: String,
}

/// The length of the lines of a project's skills with `always` that do not count towards the limit, in
/// characters. More would be a way for a project to raise a budget of the user.
const PROJECT_ALWAYS: usize = 4_000;

/// A skill with its whole description.
struct Item<'a> {
    entry: &'a Entry,
    /// Its place in the list of all skills.
    place: usize,
    description: String,
    location: Option<String>,
}

impl PromptOptions {
    /// The budget, or the one that applies if none is set: 2 % of the context window, or 16,000 characters if
    /// its size is not known.
    pub fn budget_in_force(&self) -> Budget {
        self.budget.unwrap_or(match self.context_window {
            Some(window) => Budget::Share { percent: DEFAULT_PERCENT, window },
            None => Budget::Characters(DEFAULT_CHARACTERS),
        })
    }
}

impl Item<'_> {
    fn line(&self, format: Format, n_chars: usize) -> String {
        // A line that is too short for the description gives it from where it tells something.
        let description = if self.is_shortened(n_chars) {
            Cow::Owned(cut(without_leads(&self.description), n_chars))
        } else {
            Cow::Borrowed(self.description.as_str())
        };
        format.line(self.entry, &description, self.location.as_deref())
    }

    fn is_shortened(&self, n_chars: usize) -> bool {
        self.description.chars().nth(n_chars).is_some()
    }
}

/// Lists the skills that the model may use. To fit the budget, descriptions are shortened evenly before
/// any skill is left out; the last line says so. `runs_as_task` returns true if the skill's line must
/// mention that the skill runs as a task.
pub(crate) fn catalog_prompt(
    catalog: &Catalog,
    options: &PromptOptions,
    tokens: &dyn TokenCounter,
    runs_as_task: &dyn Fn(&Entry) -> bool,
) -> CatalogPrompt {
    let describe = |entry: &Entry| {
        let is_named_only = entry.exposure == Exposure::Name;
        let description = if is_named_only { "" } else { entry.skill.description() };
        let mark = runs_as_task(entry).then(|| options.tasks.phrase(entry));
        marked(mark.as_deref(), without_call(&one_line(description)))
    };
    let is_native = |entry: &&Entry| options.native.as_ref().is_some_and(|has| has.has(entry));
    let mut listed: Vec<&Entry> =
        catalog.listed(Audience::Model).filter(|entry| !is_native(entry)).collect();
    if let Some(only) = &options.only {
        let place = |entry: &&Entry| only.iter().position(|id| *id == entry.id);
        listed.retain(|entry| place(entry).is_some());
        listed.sort_by_key(place);
    }
    let items = listed.into_iter().enumerate().map(|(place, entry)| {
        let path = entry.skill.path().filter(|_| options.locations);
        let location = path.map(|path| path.display().to_string());
        Item { entry, place, description: describe(entry), location }
    });
    let mut room = PROJECT_ALWAYS;
    let is_exempt = |item: &Item<'_>| {
        if !item.entry.is_always() || !item.entry.is_of_project() || is_pinned(item.entry) {
            return item.entry.is_always();
        }
        let left = room.checked_sub(item.line(options.format, usize::MAX).chars().count());
        room = left.unwrap_or_default();
        left.is_some()
    };
    let (always, mut others): (Vec<_>, Vec<_>) = items.partition(is_exempt);
    // What does not fit is left out from the end: the skills of a project before those of the user.
    others.sort_by_key(|item| item.entry.is_of_project());
    if always.is_empty() && others.is_empty() {
        return CatalogPrompt::default();
    }
    let meter = Meter::new(Some(options.budget_in_force()), tokens);
    let PromptOptions { format, how_to_load, tasks, .. } = options;
    let (format, tasks, always, others) = (*format, *tasks, &*always, &*others);
    Layout { format, how_to_load, tasks, meter, always, others }.best()
}

fn is_pinned(entry: &Entry) -> bool {
    entry.exposure == Exposure::Pinned
}

/// The skills to lay out, and the room for them.
struct Layout<'a> {
    format: Format,
    how_to_load: &'a HowToLoad,
    tasks: TaskRunner,
    meter: Meter<'a>,
    always: &'a [Item<'a>],
    others: &'a [Item<'a>],
}

impl<'a> Layout<'a> {
    fn best(&self) -> CatalogPrompt {
        let n_others = self.others.len();
        let longest = self.others.iter().map(|i| i.description.chars().count()).max().unwrap_or(0);
        if self.fits(n_others, longest) {
            return self.lay_out(n_others, longest);
        }
        if self.fits(n_others, 0) {
            let n_chars = greatest(longest, |n_chars| self.fits(n_others, n_chars));
            return self.lay_out(n_others, n_chars);
        }
        self.lay_out(greatest(n_others, |n_items| self.fits(n_items, 0)), 0)
    }

    /// Tells whether the first `n_items` of the others fit with descriptions of `n_chars`
    /// characters.
    fn fits(&self, n_items: usize, n_chars: usize) -> bool {
        let lines = self.others[..n_items].iter().map(|item| item.line(self.format, n_chars));
        let lines: Vec<String> = lines.collect();
        let note = note(self.n_shortened(n_items, n_chars), self.others.len() - n_items);
        let text = self.text(&lines, n_items, note.as_deref());
        self.meter.cost(&text) <= self.meter.limit
    }

    fn n_shortened(&self, n_items: usize, n_chars: usize) -> usize {
        self.others[..n_items].iter().filter(|item| item.is_shortened(n_chars)).count()
    }

    fn lay_out(&self, n_items: usize, n_chars: usize) -> CatalogPrompt {
        let (shown, omitted) = self.others.split_at(n_items);
        let in_order = |items: &'a [Item<'a>]| {
            let mut items: Vec<&Item<'a>> = items.iter().collect();
            items.sort_by_key(|item| item.place);
            items
        };
        let (shown, omitted) = (in_order(shown), in_order(omitted));
        let always = self.always.iter().map(|item| item.line(self.format, usize::MAX));
        let others = shown.iter().map(|item| item.line(self.format, n_chars));
        let note = note(self.n_shortened(n_items, n_chars), omitted.len());
        let lines: Vec<String> = always.chain(others).collect();
        let id = |item: &Item<'_>| item.entry.id.clone();
        let shortened = shown.iter().filter(|item| item.is_shortened(n_chars));
        CatalogPrompt {
            shortened: shortened.map(|item| id(item)).collect(),
            omitted: omitted.into_iter().map(id).collect(),
            included: self.always.iter().chain(shown).map(id).collect(),
            text: self.text(&lines, n_items, note.as_deref()),
        }
    }

    /// Writes the text from `lines`, with the sentence about how to load the skills of `always` and the
    /// first `n_items` of `others`.
    fn text(&self, lines: &[String], n_items: usize, note: Option<&str>) -> String {
        let shown = self.always.iter().chain(&self.others[..n_items]).map(|item| item.entry);
        let loadable = shown.filter(|entry| !self.tasks.is_model_for(entry));
        let load = self.how_to_load.sentence(&loadable.collect::<Vec<_>>());
        self.format.catalog(lines, load.as_deref(), note)
    }
}

/// The numbers of skills shortened and omitted, in a phrase; `None` if both are 0.
fn note(n_shortened: usize, n_omitted: usize) -> Option<String> {
    let plural = |n: usize, what: &str| {
        let s = if n == 1 { "" } else { "s" };
        (n > 0).then(|| format!("{n} {what}{s}"))
    };
    let shortened = plural(n_shortened, "description").map(|text| text + " shortened");
    let omitted = plural(n_omitted, "skill").map(|text| text + " left out");
    let parts: Vec<String> = shortened.into_iter().chain(omitted).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns the greatest number up to `most` for which `holds` is true. `holds` must be true for 0, and
/// once it is false stay false.
fn greatest(most: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut least, mut most) = (0, most);
    while least < most {
        let middle = least + (most - least).div_ceil(2);
        if holds(middle) {
            least = middle;
        } else {
            most = middle - 1;
        }
    }
    least
}
