//! Fits a plan into its budget: a skill that does not fit steps down one tier.

use std::collections::BTreeMap;
use std::path::absolute;

use super::budget::{Meter, TokenCounter};
use super::how_to_load::HowToLoad;
use super::options::DisclosureOptions;
use super::plan::{Plan, Summary};
use super::reason::{Cost, Fallback, Reason, Rejection};
use super::render::{Format, Remainder};
use super::shorten::{CALL, marked, path_line, without_call};
use super::tier::{Disclosure, Tier};
use crate::catalog::{Entry, Exposure};
use crate::skill::SkillId;

/// A skill with the text it is shown with.
struct Shown<'a> {
    entry: &'a Entry,
    text: String,
    /// True if a line for the skill needs the sentence about how to load skills: its instructions are
    /// not in the context, and its line does not say by itself how to load it.
    is_loadable: bool,
}

/// A disclosure in the making.
struct Draft<'a> {
    options: &'a DisclosureOptions,
    runs_as_task: &'a dyn Fn(&Entry) -> bool,
    meter: &'a Meter<'a>,
    full: Vec<Shown<'a>>,
    registry: Vec<Shown<'a>>,
    summary: Summary,
}

/// Makes the disclosure of `plan` within the limit of `meter`. `runs_as_task` returns true if the
/// skill's line must mention that the skill runs as a task.
pub(super) fn fit<'a>(
    plan: Plan<'a>,
    options: &'a DisclosureOptions,
    runs_as_task: &'a dyn Fn(&Entry) -> bool,
    meter: &'a Meter<'a>,
) -> Disclosure {
    let Plan { full, above, withheld, registry, summary } = plan;
    let n_lines = above.len() + withheld.len() + registry.len();
    let mut draft = Draft {
        options,
        runs_as_task,
        meter,
        full: Vec::with_capacity(full.len()),
        registry: Vec::with_capacity(n_lines),
        summary,
    };
    for entry in full {
        draft.add_full(entry);
    }
    for entry in above {
        draft.add_reminder(entry);
    }
    for (entry, reason) in withheld {
        draft.add_withheld(entry, reason);
    }
    for entry in registry {
        draft.add_line(entry);
    }
    // Nearly every text fits, and is written once.
    let mut text = draft.text();
    if meter.cost(&text) > meter.limit {
        draft.step_down();
        text = draft.text();
    }
    draft.finish(text)
}

/// Returns the reason why the instructions of `entry` are never shown in full with these options, although
/// a message calls for this skill alone: they are longer than the budget.
pub fn over_budget(
    entry: &Entry,
    options: &DisclosureOptions,
    tokens: &dyn TokenCounter,
) -> Option<Reason> {
    let summary = Summary { n_visible: 1, ..Summary::default() };
    let plan = Plan { full: vec![entry], summary, ..Plan::default() };
    let disclosure = fit(plan, options, &|_| false, &Meter::new(options.budget, tokens));
    disclosure.too_long().next().map(|(_, reason)| reason.clone())
}

impl<'a> Draft<'a> {
    fn add_full(&mut self, entry: &'a Entry) {
        match entry.skill.body() {
            Ok(body) => {
                let text = self.options.format.full(entry, body);
                self.full.push(Shown { entry, text, is_loadable: true });
            }
            Err(error) => {
                self.omit(entry, Reason::Unreadable { problem: error.message().to_owned() });
                if !self.is_unlisted(entry) {
                    self.add_line(entry);
                }
            }
        }
    }

    fn add_line(&mut self, entry: &'a Entry) {
        let native = self.options.native.as_ref().filter(|native| native.has(entry));
        let text = match native.map(|native| native.how_to_load(entry)) {
            // The model may do so; the line of a skill that is called for says that it should.
            Some(how) => self.marked_line(entry, Some(&format!("to use it, {how}"))),
            None => self.line(entry),
        };
        let is_loadable = native.is_none() && !self.options.tasks.is_model_for(entry);
        self.registry.push(Shown { entry, text, is_loadable });
    }

    fn add_withheld(&mut self, entry: &'a Entry, reason: Reason) {
        let text = match (&reason, &self.options.native) {
            (Reason::NeedsConsent, _) => self.marked_line(entry, Some("needs the user's consent")),
            (Reason::Native, Some(native)) => {
                let order = format!("{CALL}{}", native.how_to_load(entry));
                if native.describes(entry) && !self.is_asked() {
                    self.options.format.line(entry, &order, None)
                } else {
                    self.marked_line(entry, Some(&order))
                }
            }
            _ => self.line(entry),
        };
        // The line of a native skill says by itself how to load it.
        let is_loadable = reason != Reason::Native && !self.options.tasks.is_model_for(entry);
        self.omit(entry, reason);
        self.registry.push(Shown { entry, text, is_loadable });
    }

    /// Tells whether the message is a question about the skills themselves: its answer says everything.
    fn is_asked(&self) -> bool {
        self.summary.meta.is_some()
    }

    fn add_reminder(&mut self, entry: &'a Entry) {
        self.omit(entry, Reason::InContext);
        // An agent may have dropped them unseen, as when its user goes back in the conversation.
        let path = entry.skill.path().filter(|_| self.options.how_to_load == HowToLoad::File);
        let again = path.map(|path| {
            let path = absolute(path).unwrap_or_else(|_| path.to_owned());
            format!(" (if they are gone, read {})", path_line(&path.display().to_string()))
        });
        let mark = format!("its instructions, given above, apply{}", again.unwrap_or_default());
        let text = self.marked_line(entry, Some(&mark));
        self.registry.push(Shown { entry, text, is_loadable: false });
    }

    fn line(&self, entry: &Entry) -> String {
        let mark = (self.runs_as_task)(entry).then(|| self.options.tasks.phrase(entry));
        self.marked_line(entry, mark.as_deref())
    }

    /// The line of a skill, with a mark before its description, if it has one that a model sees.
    fn marked_line(&self, entry: &Entry, mark: Option<&str>) -> String {
        let is_named_only = entry.exposure == Exposure::Name;
        let brief = if is_named_only { "" } else { entry.skill.brief() };
        self.options.format.line(entry, &marked(mark, without_call(brief)), None)
    }

    /// The line of a skill that is called for, but too long for the budget: says so, and where its text is.
    fn too_long(&self, entry: &Entry, cost: Cost) -> String {
        let Cost { amount, unit } = cost;
        let file = entry
            .skill
            .path()
            .map(|path| format!(" in {}", path_line(&path.display().to_string())));
        let place = match self.options.how_to_load {
            HowToLoad::Unsaid => file.unwrap_or_default(),
            _ => String::new(),
        };
        let mark =
            format!("called for, but too long to be shown here ({amount} {unit}): load it{place}");
        self.marked_line(entry, Some(&mark))
    }

    /// The sentence that says how to load the skills of a list.
    fn how_to_load<'s>(&self, shown: impl Iterator<Item = &'s Shown<'a>>) -> Option<String>
    where
        'a: 's,
    {
        let loadable = shown.filter(|shown| shown.is_loadable).map(|shown| shown.entry);
        self.options.how_to_load.sentence(&loadable.collect::<Vec<_>>())
    }

    fn is_unlisted(&self, entry: &Entry) -> bool {
        self.summary.unlisted.contains(&entry.id)
    }

    /// Returns the fallback for a skill that gets no line.
    fn without_line(&self, entry: &Entry) -> Fallback {
        if self.is_unlisted(entry) { Fallback::Nothing } else { Fallback::Count }
    }

    fn omit(&mut self, entry: &Entry, reason: Reason) {
        self.summary.omitted.push(Rejection::new(&entry.id, reason));
    }

    /// Keeps the pieces that fit, best first. A full text that does not fit becomes a line; a line that
    /// does not fit is only counted. Room for the frame and the remainder is reserved first, so that the
    /// text can always say what is left out.
    fn step_down(&mut self) {
        let n_all = self.summary.n_visible;
        let longest = if self.summary.counts_shown {
            Remainder::Shown { n_full: n_all, n_all }
        } else {
            Remainder::More(n_all)
        };
        let meter = self.meter;
        let empty = [String::new()];
        let how_to_load = self.how_to_load(self.full.iter().chain(&self.registry));
        let frame_of = |registry: &[String]| {
            let load = how_to_load.as_deref();
            meter.cost(&self.options.format.document(&empty, registry, load, Some(longest)))
        };
        let registry_frame = frame_of(&empty).saturating_sub(frame_of(&[]));
        // The frame already includes the blank line after the first piece.
        let blank_line = meter.cost("\n\n");
        let mut room = meter.limit.saturating_add(blank_line).saturating_sub(frame_of(&[]));
        let mut fits = |text: &str, frame: usize| {
            let cost = meter.cost(text).saturating_add(blank_line).saturating_add(frame);
            let fits = cost <= room;
            if fits {
                room -= cost;
            }
            fits
        };

        let (full, too_long): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.full).into_iter().partition(|shown| fits(&shown.text, 0));
        self.full = full;
        // The skills to show in a line, each with the cost of its full text if it was planned in
        // full.
        let stepped_down = too_long.into_iter().map(|shown| {
            let cost = Cost { amount: meter.cost(&shown.text), unit: meter.unit() };
            (Shown { text: self.too_long(shown.entry, cost), ..shown }, Some(cost))
        });
        let mut lines: Vec<_> = stepped_down.collect();
        lines.extend(std::mem::take(&mut self.registry).into_iter().map(|shown| (shown, None)));
        for (line, cost) in lines {
            let frame = if self.registry.is_empty() { registry_frame } else { 0 };
            let is_shown = !self.is_unlisted(line.entry) && fits(&line.text, frame);
            let shown = if is_shown { Fallback::Line } else { self.without_line(line.entry) };
            if cost.is_some() || !is_shown {
                self.omit(line.entry, Reason::OverBudget { cost, shown });
            }
            if is_shown {
                self.registry.push(line);
            }
        }
        // Token counts are not always additive, so the total may still exceed the budget: drop
        // pieces from the end until it fits.
        while meter.cost(&self.text()) > meter.limit {
            let Some(last) = self.registry.pop().or_else(|| self.full.pop()) else { break };
            let shown = self.without_line(last.entry);
            self.omit(last.entry, Reason::OverBudget { cost: None, shown });
        }
    }

    /// The number of skills that are only counted.
    fn n_hidden(&self) -> usize {
        let listed = self.full.iter().filter(|shown| !self.is_unlisted(shown.entry));
        self.summary.n_visible - listed.count() - self.registry.len()
    }

    fn remainder(&self) -> Option<Remainder> {
        let (n_full, n_lines) = (self.full.len(), self.registry.len());
        let n_hidden = self.n_hidden();
        let names_all = self.options.native.as_ref().is_some_and(|native| native.names_all);
        match n_hidden {
            _ if self.summary.counts_shown && n_full > 0 => {
                Some(Remainder::Shown { n_full, n_all: self.summary.n_visible })
            }
            0 => None,
            _ if names_all && !self.is_asked() => None,
            _ if n_full + n_lines == 0 => Some(Remainder::OnlyThese(n_hidden)),
            _ => Some(Remainder::More(n_hidden)),
        }
    }

    /// Tells whether the text only says to use skills that the agent lists. It needs no heading then.
    fn only_calls(&self) -> bool {
        let is_call = |shown: &Shown<'_>| {
            let mut omitted = self.summary.omitted.iter();
            omitted.any(|of| of.id == shown.entry.id && of.reason == Reason::Native)
        };
        let has_rest = !self.full.is_empty() || self.remainder().is_some();
        let is_answer = has_rest || self.is_asked() || self.options.format != Format::Markdown;
        !is_answer && self.registry.iter().all(is_call)
    }

    fn text(&self) -> String {
        fn texts<'t>(shown: &'t [Shown<'_>]) -> Vec<&'t str> {
            shown.iter().map(|shown| shown.text.as_str()).collect()
        }
        let load = self.how_to_load(self.registry.iter());
        let (full, registry) = (texts(&self.full), texts(&self.registry));
        if self.only_calls() {
            return registry.join("\n");
        }
        self.options.format.document(&full, &registry, load.as_deref(), self.remainder())
    }

    fn finish(self, text: String) -> Disclosure {
        let ids = |shown: &[Shown<'_>]| shown.iter().map(|s| s.entry.id.clone()).collect();
        let is_full = |id: &SkillId| self.full.iter().any(|shown| shown.entry.id == *id);
        let hidden = self.n_hidden();
        let tier = if !self.full.is_empty() {
            Tier::Full
        } else if !self.registry.is_empty() {
            Tier::Registry
        } else {
            Tier::Breadcrumb
        };
        let summary = self.summary;
        Disclosure {
            failure: None,
            tier,
            meta: summary.meta,
            full: ids(&self.full),
            relevant: summary.relevant.filter(|found| is_full(&found.id)),
            registry: ids(&self.registry),
            hidden,
            below_limit: summary.n_below,
            text,
            omitted: all_omitted(&summary.beyond, summary.limit, summary.omitted),
        }
    }
}

/// Joins the skills that are left out: those of `beyond`, which are below the limit, then the `others`.
/// Each skill is there once, at its first position, with all of its reasons.
fn all_omitted(beyond: &[SkillId], limit: usize, others: Vec<Rejection>) -> Vec<Rejection> {
    let mut omitted: Vec<Rejection> = Vec::with_capacity(beyond.len() + others.len());
    let mut places = BTreeMap::new();
    let below = beyond.iter().map(|id| Rejection::new(id, Reason::BelowLimit { limit }));
    for rejection in below.chain(others) {
        let place: usize = *places.entry(rejection.id.clone()).or_insert(omitted.len());
        match omitted.get_mut(place) {
            Some(first) => {
                first.also.push(rejection.reason);
                first.also.extend(rejection.also);
            }
            None => omitted.push(rejection),
        }
    }
    omitted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_is_left_out_once_with_all_reasons_at_its_first_place() {
        let vetoed = Reason::Vetoed { exclude: "x".to_owned() };
        let counted = Reason::OverBudget { cost: None, shown: Fallback::Count };
        let others = [
            ("b", vetoed.clone()),
            ("d", Reason::WeakMention),
            ("d", counted.clone()),
            ("b", Reason::InContext),
        ];
        let others = others.map(|(id, reason)| Rejection::new(&SkillId::new(id), reason));
        let beyond = ["c", "b", "a"].map(SkillId::new);
        let omitted = all_omitted(&beyond, 1, others.to_vec());
        let omitted: Vec<_> =
            omitted.iter().map(|of| (of.id.as_str(), of.reasons().collect::<Vec<_>>())).collect();
        let below = &Reason::BelowLimit { limit: 1 };
        let expected = [
            ("c", vec![below]),
            ("b", vec![below, &vetoed, &Reason::InContext]),
            ("a", vec![below]),
            ("d", vec![&Reason::WeakMention, &counted]),
        ];
        assert_eq!(omitted, expected);
    }
}
