//! Making a plan fit its budget: what does not fit steps down one tier.

use std::collections::BTreeMap;

use super::budget::Meter;
use super::plan::Plan;
use super::render::{Format, Remainder};
use super::tier::{Disclosure, Tier};
use crate::catalog::Entry;
use crate::matcher::{Rejection, Relevant};
use crate::skill::SkillId;

/// A skill with the text it is shown with.
struct Shown<'a> {
    entry: &'a Entry,
    text: String,
}

/// A disclosure in the making.
struct Draft<'a> {
    format: Format,
    meter: &'a Meter<'a>,
    n_visible: usize,
    counts_shown: bool,
    full: Vec<Shown<'a>>,
    registry: Vec<Shown<'a>>,
    beyond: Vec<SkillId>,
    limit: usize,
    omitted: Vec<Rejection>,
    relevant: Option<Relevant>,
    unlisted: Vec<SkillId>,
}

pub(super) fn fit<'a>(plan: Plan<'a>, format: Format, meter: &'a Meter<'a>) -> Disclosure {
    let mut draft = Draft {
        format,
        meter,
        n_visible: plan.n_visible,
        counts_shown: plan.counts_shown,
        full: Vec::new(),
        registry: Vec::new(),
        beyond: plan.beyond,
        limit: plan.limit,
        omitted: plan.omitted,
        relevant: plan.relevant,
        unlisted: plan.unlisted,
    };
    for entry in plan.full {
        draft.add_full(entry);
    }
    for entry in plan.above {
        draft.add_reminder(entry);
    }
    for entry in plan.registry {
        draft.add_line(entry);
    }
    if draft.overrun() {
        draft.step_down();
    }
    draft.finish()
}

impl<'a> Draft<'a> {
    fn add_full(&mut self, entry: &'a Entry) {
        match entry.skill.body() {
            Ok(body) => {
                let text = self.format.full(entry, body);
                self.full.push(Shown { entry, text });
            }
            Err(error) => {
                self.omit(entry, format!("its body cannot be read: {}", error.message()));
                if !self.is_unlisted(entry) {
                    self.add_line(entry);
                }
            }
        }
    }

    fn add_line(&mut self, entry: &'a Entry) {
        let text = self.line(entry);
        self.registry.push(Shown { entry, text });
    }

    fn add_reminder(&mut self, entry: &'a Entry) {
        self.omit(entry, "its instructions are in the context already".to_owned());
        let description = format!("its instructions, given above, apply; {}", entry.skill.brief());
        let text = self.format.line(entry, &description, None);
        self.registry.push(Shown { entry, text });
    }

    fn line(&self, entry: &Entry) -> String {
        self.format.line(entry, entry.skill.brief(), None)
    }

    fn is_unlisted(&self, entry: &Entry) -> bool {
        self.unlisted.contains(&entry.id)
    }

    /// What becomes of a skill for which there is no line.
    fn without_line(&self, entry: &Entry) -> &'static str {
        if self.is_unlisted(entry) {
            "left out, as only the user can use it"
        } else {
            "counted only"
        }
    }

    fn omit(&mut self, entry: &Entry, reason: String) {
        self.omitted.push(Rejection { id: entry.id.clone(), reason });
    }

    fn overrun(&self) -> bool {
        self.meter.cost(&self.text()) > self.meter.limit
    }

    /// Takes in piece by piece what there is room for, best first. The frame and the remainder
    /// are set aside first, so that there is always room to say what is left out.
    fn step_down(&mut self) {
        let n_all = self.n_visible;
        let longest = if self.counts_shown {
            Remainder::Shown { n_full: n_all, n_all }
        } else {
            Remainder::More(n_all)
        };
        let meter = self.meter;
        let empty = [String::new()];
        let frame_of = |registry: &[String]| {
            meter.cost(&self.format.document(&empty, registry, Some(longest)))
        };
        let registry_frame = frame_of(&empty).saturating_sub(frame_of(&[]));
        // The frame has the blank line after the first piece already.
        let blank_line = meter.cost("\n\n");
        let mut room = meter.limit.saturating_add(blank_line).saturating_sub(frame_of(&[]));
        let mut fits = |text: &str, frame: usize| {
            let cost = meter.cost(text) + blank_line + frame;
            let fits = cost <= room;
            if fits {
                room -= cost;
            }
            fits
        };

        let (full, too_long): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.full).into_iter().partition(|shown| fits(&shown.text, 0));
        self.full = full;
        // Each with the cost of its full text, if that is what it was to be shown in.
        let stepped_down =
            too_long.into_iter().map(|s| (s.entry, self.line(s.entry), Some(meter.cost(&s.text))));
        let mut lines: Vec<_> = stepped_down.collect();
        let planned = std::mem::take(&mut self.registry).into_iter();
        lines.extend(planned.map(|shown| (shown.entry, shown.text, None)));
        for (entry, text, full_cost) in lines {
            let frame = if self.registry.is_empty() { registry_frame } else { 0 };
            let is_shown = !self.is_unlisted(entry) && fits(&text, frame);
            let how = if is_shown { "shown as a line" } else { self.without_line(entry) };
            match full_cost {
                Some(cost) => {
                    let unit = meter.unit();
                    self.omit(entry, format!("over budget: full text of {cost} {unit}, {how}"));
                }
                None if !is_shown => self.omit(entry, format!("over budget, {how}")),
                None => {}
            }
            if is_shown {
                self.registry.push(Shown { entry, text });
            }
        }
        // Token counters need not be additive; what still is too much goes from the end.
        while self.overrun() {
            let Some(last) = self.registry.pop().or_else(|| self.full.pop()) else { break };
            self.omit(last.entry, format!("over budget, {}", self.without_line(last.entry)));
        }
    }

    /// How many skills are only counted.
    fn n_hidden(&self) -> usize {
        let listed = self.full.iter().filter(|shown| !self.is_unlisted(shown.entry));
        self.n_visible - listed.count() - self.registry.len()
    }

    fn remainder(&self) -> Option<Remainder> {
        let (n_full, n_lines) = (self.full.len(), self.registry.len());
        let n_hidden = self.n_hidden();
        match n_hidden {
            _ if self.counts_shown && n_full > 0 => {
                Some(Remainder::Shown { n_full, n_all: self.n_visible })
            }
            0 => None,
            _ if n_full + n_lines == 0 => Some(Remainder::OnlyThese(n_hidden)),
            _ => Some(Remainder::More(n_hidden)),
        }
    }

    fn text(&self) -> String {
        let texts =
            |shown: &[Shown<'_>]| -> Vec<String> { shown.iter().map(|s| s.text.clone()).collect() };
        self.format.document(&texts(&self.full), &texts(&self.registry), self.remainder())
    }

    fn finish(self) -> Disclosure {
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
        Disclosure {
            tier,
            full: ids(&self.full),
            relevant: self.relevant.clone().filter(|found| is_full(&found.id)),
            registry: ids(&self.registry),
            hidden,
            text: self.text(),
            omitted: all_omitted(self.beyond, self.limit, self.omitted),
        }
    }
}

/// All that is left out: those beyond the limit, which may be thousands, then the `others`. Each is there
/// once, with all of its reasons at its first place.
fn all_omitted(beyond: Vec<SkillId>, limit: usize, others: Vec<Rejection>) -> Vec<Rejection> {
    let s = if limit == 1 { "" } else { "s" };
    let reason = format!("below the limit of {limit} skill{s}");
    let mut omitted = Vec::with_capacity(beyond.len() + others.len());
    let mut places: BTreeMap<SkillId, Option<usize>> =
        others.iter().map(|other| (other.id.clone(), None)).collect();
    for id in beyond {
        if let Some(place) = places.get_mut(&id) {
            *place = Some(omitted.len());
        }
        omitted.push(Rejection { id, reason: reason.clone() });
    }
    for Rejection { id, reason } in others {
        let place = places.entry(id.clone()).or_default();
        if let Some(place) = *place {
            let first = &mut omitted[place].reason;
            *first = format!("{first}; {reason}");
        } else {
            *place = Some(omitted.len());
            omitted.push(Rejection { id, reason });
        }
    }
    omitted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_is_left_out_once_with_all_reasons_at_its_first_place() {
        let others = [("b", "vetoed"), ("d", "too long"), ("d", "counted"), ("b", "quoted")];
        let others = others
            .map(|(id, reason)| Rejection { id: SkillId::new(id), reason: reason.to_owned() });
        let beyond = ["c", "b", "a"].map(SkillId::new);
        let omitted = all_omitted(beyond.to_vec(), 1, others.to_vec());
        let omitted: Vec<_> = omitted.iter().map(|of| (of.id.as_str(), &*of.reason)).collect();
        let below = "below the limit of 1 skill";
        let both = format!("{below}; vetoed; quoted");
        let expected = [("c", below), ("b", &both), ("a", below), ("d", "too long; counted")];
        assert_eq!(omitted, expected);
    }
}
