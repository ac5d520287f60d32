//! Events of sessions as records, for stores that a host implements.

use repertoire::session::Event;
use repertoire::{Error, ErrorCode, SkillId};

/// An event of a session, with one struct for all kinds. See [`Event`] for the meaning of the fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventRecord {
    /// The kind: `used`, `shown`, `activated`, `consented`, `consent-spent`, `listed`, `compacted`,
    /// `restored`, `postponed` or `stopped`.
    pub kind: String,
    /// The skill that the event is about; `None` if it is about all skills.
    pub skill: Option<String>,
    /// A hash of the instructions that entered the context, if any did.
    pub body: Option<u64>,
    /// The skill whose instructions asked for an activation, if any.
    pub by: Option<String>,
}

impl From<&Event<'_>> for EventRecord {
    fn from(event: &Event<'_>) -> EventRecord {
        let (kind, body, by) = match *event {
            Event::Used(_) => ("used", None, None),
            Event::Shown { body, .. } => ("shown", Some(body), None),
            Event::Activated { by, shown, .. } => ("activated", shown, by),
            Event::Consented(_) => ("consented", None, None),
            Event::ConsentSpent(_) => ("consent-spent", None, None),
            Event::Listed(_) => ("listed", None, None),
            Event::Compacted => ("compacted", None, None),
            Event::Restored => ("restored", None, None),
            Event::Postponed(_) => ("postponed", None, None),
            Event::Stopped(_) => ("stopped", None, None),
            // Not reached: bindings and engine have the same version, and a test covers all kinds.
            _ => ("unknown", None, None),
        };
        let skill = event.skill().map(ToString::to_string);
        EventRecord { kind: kind.to_owned(), skill, body, by: by.map(ToString::to_string) }
    }
}

impl EventRecord {
    /// Passes the event to `take`, and returns its result.
    ///
    /// Fails with `INVALID_PARAM` if the kind is unknown, or if it needs a skill or a body that is
    /// missing.
    pub fn with_event<T>(&self, take: impl FnOnce(&Event<'_>) -> T) -> Result<T, Error> {
        let id = self.skill.as_deref().map(SkillId::new);
        let by = self.by.as_deref().map(SkillId::new);
        let missing = |field: &str| {
            let message = format!("an event `{}` has no `{field}`", self.kind);
            Error::new(ErrorCode::InvalidParam, message, "give the event as it was recorded")
        };
        let skill = || id.as_ref().ok_or_else(|| missing("skill"));
        let event = match self.kind.as_str() {
            "used" => Event::Used(skill()?),
            "shown" => {
                let body = self.body.ok_or_else(|| missing("body"))?;
                Event::Shown { skill: skill()?, body }
            }
            "activated" => Event::Activated { skill: skill()?, by: by.as_ref(), shown: self.body },
            "consented" => Event::Consented(skill()?),
            "consent-spent" => Event::ConsentSpent(skill()?),
            "listed" => Event::Listed(skill()?),
            "compacted" => Event::Compacted,
            "restored" => Event::Restored,
            "postponed" => Event::Postponed(skill()?),
            "stopped" => Event::Stopped(skill()?),
            kind => {
                let message = format!("`{kind}` is not a kind of event");
                let help = "give the event as it was recorded";
                return Err(Error::new(ErrorCode::InvalidParam, message, help));
            }
        };
        Ok(take(&event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_the_same_after_it_was_a_record() {
        let [git, sql] = ["git", "sql"].map(SkillId::new);
        let events = [
            Event::Used(&git),
            Event::Shown { skill: &git, body: u64::MAX },
            Event::Activated { skill: &git, by: Some(&sql), shown: Some(7) },
            Event::Activated { skill: &git, by: None, shown: None },
            Event::Consented(&git),
            Event::ConsentSpent(&git),
            Event::Listed(&git),
            Event::Compacted,
            Event::Restored,
            Event::Postponed(&git),
            Event::Stopped(&git),
        ];
        for event in events {
            let record = EventRecord::from(&event);
            assert_ne!(record.kind, "unknown", "{event:?}");
            record.with_event(|again| assert_eq!(*again, event)).unwrap();
        }
    }

    #[test]
    fn records_that_are_not_events_are_refused() {
        for (kind, skill) in [("unknown", Some("git")), ("used", None), ("shown", Some("git"))] {
            let skill = skill.map(str::to_owned);
            let record = EventRecord { kind: kind.to_owned(), skill, ..EventRecord::default() };
            let error = record.with_event(|_| ()).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidParam, "{kind}");
        }
    }
}
