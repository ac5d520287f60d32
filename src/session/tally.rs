//! Daily tallies: how often conversations met each skill. They contain no text and no conversations, and
//! outlive the conversations that they count.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};

use super::state::Event;
use crate::skill::SkillId;

const SECONDS_OF_A_DAY: u64 = 24 * 60 * 60;

/// A day of the calendar, in UTC. It is written as in ISO 8601, `2026-11-23`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Day(u32);

impl Day {
    /// The current day, by the system clock.
    pub fn today() -> Day {
        Day::of(SystemTime::now())
    }

    /// The day of `time`; the first day of 1970 for an earlier one.
    pub fn of(time: SystemTime) -> Day {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Day::from_number(since.as_secs() / SECONDS_OF_A_DAY)
    }

    /// The day that is `days` days earlier, or 1970-01-01 if that is later.
    #[must_use]
    pub fn before(self, days: u32) -> Day {
        Day(self.0.saturating_sub(days))
    }

    /// The day that is `number` days after 1970-01-01.
    fn from_number(number: u64) -> Day {
        Day(u32::try_from(number).unwrap_or(u32::MAX))
    }

    /// The number that stores write: days since 1970-01-01.
    pub fn number(self) -> i64 {
        self.0.into()
    }

    /// The day with this [number](Day::number).
    pub fn of_number(number: i64) -> Day {
        Day::from_number(number.try_into().unwrap_or_default())
    }
}

impl fmt::Display for Day {
    /// Formats the date with Howard Hinnant's `civil_from_days`, whose years begin in March.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = u64::from(self.0) + 719_468;
        let (era, day) = (days / 146_097, days % 146_097);
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let (day, month) = (day - (153 * month + 2) / 5 + 1, (month + 2) % 12 + 1);
        let year = era * 400 + year + u64::from(month <= 2);
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The numbers of encounters with one skill. One message may count in several of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// The number of times that the skill's instructions were put into a context for a message:
    /// [`Event::Shown`].
    pub fired: u64,
    /// The number of times that the model or the user activated the skill: [`Event::Activated`].
    pub loaded: u64,
    /// The number of times that one of the skill's scripts ran, or one of its tools was called:
    /// [`Event::Used`].
    pub used: u64,
    /// The number of times that a line for the skill was put into a context: [`Event::Listed`].
    pub listed: u64,
}

impl Counts {
    /// Returns the encounter that `event` counts as; all numbers are zero if it does not count as one.
    pub fn of(event: &Event<'_>) -> Counts {
        let none = Counts::default();
        match event {
            Event::Shown { .. } => Counts { fired: 1, ..none },
            Event::Activated { .. } => Counts { loaded: 1, ..none },
            Event::Used(_) => Counts { used: 1, ..none },
            Event::Listed(_) => Counts { listed: 1, ..none },
            _ => none,
        }
    }

    /// The number of encounters in which the skill had an effect: all except lines.
    pub fn active(&self) -> u64 {
        self.fired.saturating_add(self.loaded).saturating_add(self.used)
    }

    /// Adds the encounters that `other` counts.
    pub fn add(&mut self, other: Counts) {
        self.fired = self.fired.saturating_add(other.fired);
        self.loaded = self.loaded.saturating_add(other.loaded);
        self.used = self.used.saturating_add(other.used);
        self.listed = self.listed.saturating_add(other.listed);
    }
}

/// The encounters of conversations with one skill in a period.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillTally {
    /// The skill, which may no longer exist.
    pub skill: SkillId,
    /// The numbers of encounters.
    pub counts: Counts,
    /// The last day of the period on which the skill fired, was loaded or was used.
    pub last: Option<Day>,
}

/// The encounters of conversations with skills in a period.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Tallies {
    /// The number of conversations that began in the period. A conversation begins with its first
    /// event, so messages that lead to no skill do not count.
    pub sessions: u64,
    /// The skills that conversations met, sorted by id.
    pub skills: Vec<SkillTally>,
}

impl Tallies {
    /// The minimum number of days for which stores keep tallies.
    pub const KEPT_DAYS: u32 = 365;

    /// Returns the tally of `skill`, if a conversation met it.
    pub fn of(&self, skill: &SkillId) -> Option<&SkillTally> {
        self.skills.iter().find(|tally| tally.skill == *skill)
    }

    /// Tells whether nothing was recorded in the period.
    pub fn is_empty(&self) -> bool {
        self.sessions == 0 && self.skills.is_empty()
    }

    /// Adds the encounters of `day`; days must come in order.
    pub fn add(&mut self, day: Day, skill: &SkillId, counts: Counts) {
        let place = self.skills.binary_search_by(|tally| tally.skill.cmp(skill));
        let place = place.unwrap_or_else(|place| {
            let (skill, counts) = (skill.clone(), Counts::default());
            self.skills.insert(place, SkillTally { skill, counts, last: None });
            place
        });
        let tally = &mut self.skills[place];
        tally.counts.add(counts);
        if counts.active() > 0 {
            tally.last = Some(day);
        }
    }
}

/// Returns the most recent day whose tallies are no longer kept on the day `today`.
pub fn last_forgotten(today: Day) -> Day {
    today.before(Tallies::KEPT_DAYS)
}

/// Tallies in memory.
#[derive(Debug, Default)]
pub(super) struct Ledger(BTreeMap<Day, Page>);

#[derive(Debug, Default)]
struct Page {
    sessions: u64,
    skills: HashMap<SkillId, Counts>,
}

impl Ledger {
    /// Records that a conversation began on `day`.
    pub(super) fn begin_session(&mut self, day: Day) {
        self.page(day).sessions += 1;
    }

    /// Counts `event` if it is an encounter with a skill.
    pub(super) fn count(&mut self, day: Day, event: &Event<'_>) {
        let counts = Counts::of(event);
        if let Some(skill) = event.skill().filter(|_| counts != Counts::default()) {
            self.page(day).skills.entry(skill.clone()).or_default().add(counts);
        }
    }

    /// Returns the tallies of `since` and the days after it.
    pub(super) fn since(&self, since: Day) -> Tallies {
        let mut tallies = Tallies::default();
        for (day, page) in self.0.range(since..) {
            tallies.sessions += page.sessions;
            for (skill, counts) in &page.skills {
                tallies.add(*day, skill, *counts);
            }
        }
        tallies
    }

    fn page(&mut self, day: Day) -> &mut Page {
        if !self.0.contains_key(&day) {
            let forgotten = last_forgotten(day);
            self.0.retain(|known, _| *known > forgotten);
        }
        self.0.entry(day).or_default()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn noon_of(day: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(day * SECONDS_OF_A_DAY + SECONDS_OF_A_DAY / 2)
    }

    #[test]
    fn days_are_written_as_dates() {
        for (number, wanted) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (365, "1971-01-01"),
            (11_016, "2000-02-29"),
            (20_780, "2026-11-23"),
            (47_540, "2100-02-28"),
            (47_541, "2100-03-01"),
        ] {
            assert_eq!(Day::of(noon_of(number)).to_string(), wanted);
        }
        assert_eq!(Day::of(UNIX_EPOCH - Duration::from_secs(1)), Day::default());
        assert_eq!(Day::of(noon_of(7)).before(8), Day::default());
    }

    #[test]
    fn each_event_counts_as_what_it_is() {
        let id = SkillId::new("git");
        let counts = |fired, loaded, used, listed| Counts { fired, loaded, used, listed };
        for (event, wanted) in [
            (Event::Shown { skill: &id, body: 1 }, counts(1, 0, 0, 0)),
            (Event::Activated { skill: &id, by: None, shown: Some(1) }, counts(0, 1, 0, 0)),
            (Event::Used(&id), counts(0, 0, 1, 0)),
            (Event::Listed(&id), counts(0, 0, 0, 1)),
            (Event::Consented(&id), Counts::default()),
            (Event::ConsentSpent(&id), Counts::default()),
            (Event::Postponed(&id), Counts::default()),
            (Event::Stopped(&id), Counts::default()),
            (Event::Compacted, Counts::default()),
            (Event::Restored, Counts::default()),
        ] {
            let mut ledger = Ledger::default();
            ledger.count(Day(3), &event);
            let tallies = ledger.since(Day(0));
            let found = tallies.of(&id).map(|tally| tally.counts).unwrap_or_default();
            assert_eq!(found, wanted, "{event:?}");
            assert_eq!(tallies.skills.len(), usize::from(wanted != Counts::default()), "{event:?}");
        }
    }

    #[test]
    fn a_period_sums_its_days_and_a_year_is_kept() {
        let [git, sql] = ["git", "sql"].map(SkillId::new);
        let mut ledger = Ledger::default();
        ledger.begin_session(Day(1000));
        ledger.count(Day(1000), &Event::Used(&sql));
        ledger.count(Day(1001), &Event::Used(&git));
        ledger.begin_session(Day(1002));
        ledger.count(Day(1002), &Event::Used(&git));
        ledger.count(Day(1003), &Event::Listed(&git));
        for (since, sessions, used) in
            [(0, 2, 2), (1000, 2, 2), (1001, 1, 2), (1002, 1, 1), (1003, 0, 0)]
        {
            let tallies = ledger.since(Day(since));
            let of_git = tallies.of(&git).unwrap();
            assert_eq!((tallies.sessions, of_git.counts.used), (sessions, used), "{since}");
            assert_eq!(tallies.of(&sql).is_some(), since <= 1000, "{since}");
            assert_eq!(of_git.last, (used > 0).then_some(Day(1002)), "{since}");
        }
        assert!(ledger.since(Day(1004)).is_empty());
        ledger.begin_session(Day(1001 + Tallies::KEPT_DAYS));
        let kept = ledger.since(Day(0));
        assert_eq!((kept.sessions, kept.of(&git).unwrap().counts.used), (2, 1));
        assert!(kept.of(&sql).is_none());
    }
}
