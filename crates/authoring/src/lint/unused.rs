//! The rule for skills that conversations did not use.

use std::path::Path;

use repertoire::catalog::{Audience, Catalog, Entry};
use repertoire::diagnostic::{Code, Diagnostic};
use repertoire::session::{Counts, Day, Tallies};

/// Reports the skills of a catalog that had no effect in the conversations that `tallies` count since
/// the beginning of the day `since`: they neither fired, nor were loaded, nor used. Reports nothing if
/// no conversation was recorded.
///
/// Skills that are not available, or that nobody may use, are left out.
pub fn unused(catalog: &Catalog, tallies: &Tallies, since: Day) -> Vec<Diagnostic> {
    if tallies.is_empty() {
        return Vec::new();
    }
    let is_judged = |entry: &&Entry| {
        let audiences = [Audience::Model, Audience::User];
        entry.is_available() && audiences.iter().any(|audience| entry.is_loadable(*audience))
    };
    let judged = catalog.entries().filter(is_judged);
    let finding = |entry: &Entry| {
        let counts = tallies.of(&entry.id).map(|tally| tally.counts).unwrap_or_default();
        (counts.active() == 0).then(|| {
            let n_sessions = tallies.sessions;
            let message = format!(
                "`{}` neither fired, nor was loaded or used, since {since}; sessions begun since \
                 then: {n_sessions}",
                entry.id
            );
            let path = entry.skill.path().unwrap_or(Path::new(""));
            Diagnostic::new(Code::UnusedSkill, path, message, remedy(entry, counts))
        })
    };
    judged.filter_map(finding).collect()
}

/// The remedy for a skill without effect.
fn remedy(entry: &Entry, counts: Counts) -> String {
    let cure = if !entry.is_matched(Audience::Model) {
        "only the user may use it: tell users of its command, or let the model use it".to_owned()
    } else if counts.listed > 0 {
        format!(
            "the model saw its line {} and did not choose it: say in the description when to use \
             it, or declare triggers for the messages it is for",
            if counts.listed == 1 { "once".to_owned() } else { format!("{} times", counts.listed) }
        )
    } else if !entry.skill.triggers().declared {
        "it declares no triggers: declare keywords that messages for it hold".to_owned()
    } else {
        "no message held its triggers: ask of a message that it is for what keeps it out, and \
         declare the words that users write"
            .to_owned()
    };
    format!("{cure}; if nobody needs it, remove it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use repertoire::catalog::{CatalogOptions, Source};
    use repertoire::session::{Event, MemoryStore, SessionStore as _};
    use repertoire::skill::{Skill, SkillId};

    #[test]
    fn a_skill_without_effect_is_named_with_what_to_do() {
        let skill = |name: &str, more: &str| {
            let text =
                format!("---\nname: {name}\ndescription: Does {name}.\n{more}\n---\nBody.\n");
            text.parse::<Skill>().unwrap()
        };
        let skills = vec![
            skill("fired", ""),
            skill("loaded", ""),
            skill("used", ""),
            skill("listed", "triggers: [listed]"),
            skill("plain", ""),
            skill("silent", "triggers: [silent]"),
            skill("mine", "disable-model-invocation: true"),
            skill("nobody", "disable-model-invocation: true\nuser-invocable: false"),
            skill("needs", "requires_bins: [no-such-program]"),
        ];
        let sources = vec![Source::memory(skills)];
        let catalog = Catalog::load(&CatalogOptions::new(sources));
        let store = MemoryStore::default();
        let found = |since: Day| unused(&catalog, &store.tallies(since).unwrap(), since);
        assert!(found(Day::default()).is_empty(), "nothing was recorded");
        let [fired, loaded, used, listed] = ["fired", "loaded", "used", "listed"].map(SkillId::new);
        let events = [
            Event::Shown { skill: &fired, body: 1 },
            Event::Activated { skill: &loaded, by: None, shown: None },
            Event::Used(&used),
            Event::Listed(&listed),
            Event::Listed(&listed),
        ];
        store.record_all("s", &events).unwrap();
        let found = found(Day::today().before(1));
        let told: Vec<(&str, &str)> = found
            .iter()
            .map(|finding| {
                assert_eq!(finding.code, Code::UnusedSkill);
                (finding.message.split('`').nth(1).unwrap(), finding.help.as_str())
            })
            .collect();
        let wanted = [
            ("listed", "saw its line 2 times"),
            ("mine", "only the user may use it"),
            ("plain", "declare keywords"),
            ("silent", "no message held its triggers"),
        ];
        assert_eq!(told.len(), wanted.len(), "{told:?}");
        for ((id, help), (wanted_id, part)) in told.into_iter().zip(wanted) {
            assert_eq!(id, wanted_id);
            assert!(help.contains(part), "{id}: {help}");
        }
    }
}
