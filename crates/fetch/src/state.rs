//! The state of a copy, shared by processes: when its source was last asked, and why the copy may not be
//! the newest.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use repertoire::session::Day;
use repertoire_config::FetchSettings;

/// A point in time, in seconds since 1970. It is displayed to the minute, in UTC.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub(super) struct Moment(u64);

impl Moment {
    pub(super) fn now() -> Moment {
        Moment::of(SystemTime::now())
    }

    pub(super) fn of(time: SystemTime) -> Moment {
        Moment(time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()))
    }

    pub(super) fn time(self) -> SystemTime {
        UNIX_EPOCH.checked_add(Duration::from_secs(self.0)).unwrap_or(UNIX_EPOCH)
    }

    /// The time from this moment to `later`; `None` if the clock was set back between them.
    pub(super) fn until(self, later: Moment) -> Option<Duration> {
        later.0.checked_sub(self.0).map(Duration::from_secs)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (hour, minute) = (self.0 / 3600 % 24, self.0 / 60 % 60);
        write!(f, "{} {hour:02}:{minute:02} UTC", Day::of(self.time()))
    }
}

/// The state of a copy.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct State {
    /// The digest of its files; empty if nothing was fetched yet.
    pub(super) digest: String,
    /// The directory of the copy, below that of all copies; the name of the source if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dir: Option<String>,
    /// The SHA-256 of the copy's list of its files, as an author signs it; `None` if the copy has no
    /// list, or one that does not match its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) listed: Option<String>,
    /// The settings with which the source was fetched, as JSON. They are stored here because the author
    /// of a project cannot write to the cache.
    pub(super) settings: String,
    /// The last time the source was fetched, or answered with its newest revision.
    pub(super) checked: Moment,
    /// The failures since `checked`.
    pub(super) failure: Option<Failure>,
    /// An update that was held back for the user.
    pub(super) held: Option<Held>,
}

/// Consecutive failures to fetch a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failure {
    /// The reason of the last failure.
    pub(super) message: String,
    pub(super) since: Moment,
    pub(super) last: Moment,
    pub(super) times: u32,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (since {})", self.message, self.since)
    }
}

/// An update that waits for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Held {
    /// The revision that was not taken; empty if the source was not asked for one.
    pub(super) revision: String,
    /// The reason, as a clause.
    pub(super) reason: String,
    pub(super) since: Moment,
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (since {})", self.reason, self.since)
    }
}

/// The answer of a source to a request for its newest state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    /// The copy is up to date.
    Newest { settings: &'a FetchSettings },
    /// The source has a newer state, which was not taken.
    Held { revision: &'a str, reason: &'a str },
    /// The request or the fetch failed.
    Failed { message: &'a str },
}

/// The settings in the form in which a state stores them: those that decide what is fetched.
pub(super) fn written(settings: &FetchSettings) -> String {
    let settings = FetchSettings { agents: Vec::new(), alias: None, ..settings.clone() };
    serde_json::to_string(&settings).unwrap_or_default()
}

impl State {
    /// The last time when the source was asked, successfully or not.
    pub(super) fn asked(&self) -> Moment {
        self.failure.as_ref().map_or(self.checked, |failure| failure.last.max(self.checked))
    }

    /// The number of failures since the source last answered.
    pub(super) fn failures(&self) -> u32 {
        self.failure.as_ref().map_or(0, |failure| failure.times)
    }

    pub(super) fn note(&mut self, answer: &Answer<'_>, at: Moment) {
        match answer {
            Answer::Newest { settings } => {
                self.settings = written(settings);
                (self.checked, self.failure, self.held) = (at, None, None);
            }
            Answer::Held { revision, reason } => {
                let (revision, reason) = ((*revision).to_owned(), (*reason).to_owned());
                let known = self.held.take().filter(|held| held.revision == revision);
                let since = known.map_or(at, |held| held.since);
                self.held = Some(Held { revision, reason, since });
                (self.checked, self.failure) = (at, None);
            }
            Answer::Failed { message } => {
                let (since, times) =
                    self.failure.as_ref().map_or((at, 0), |known| (known.since, known.times));
                let (message, times) = ((*message).to_owned(), times.saturating_add(1));
                self.failure = Some(Failure { message, since, last: at, times });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_since_the_first_until_the_source_answers() {
        let mut state = State::default();
        state.note(&Answer::Newest { settings: &FetchSettings::default() }, Moment(60));
        state.note(&Answer::Failed { message: "gone" }, Moment(120));
        state.note(&Answer::Failed { message: "away" }, Moment(240));
        let failure = state.failure.clone().unwrap();
        assert_eq!(failure.to_string(), "away (since 1970-01-01 00:02 UTC)");
        assert_eq!((state.failures(), state.asked(), state.checked), (2, Moment(240), Moment(60)));
        state.note(&Answer::Newest { settings: &FetchSettings::default() }, Moment(300));
        assert_eq!((state.failures(), state.asked()), (0, Moment(300)));
    }

    #[test]
    fn an_update_that_is_held_keeps_the_time_of_its_first_sight() {
        let mut state = State::default();
        state.note(&Answer::Held { revision: "1", reason: "It." }, Moment(60));
        state.note(&Answer::Held { revision: "1", reason: "It." }, Moment(120));
        assert_eq!(state.held.clone().unwrap().since, Moment(60));
        state.note(&Answer::Held { revision: "2", reason: "It." }, Moment(180));
        assert_eq!(state.held.clone().unwrap().since, Moment(180));
        // A held update keeps waiting for the user while the source cannot be reached.
        state.note(&Answer::Failed { message: "gone" }, Moment(240));
        assert!(state.held.is_some());
        state.note(&Answer::Newest { settings: &FetchSettings::default() }, Moment(300));
        assert_eq!((&state.held, &state.failure), (&None, &None));
    }
}
