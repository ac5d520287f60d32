//! Updates the fetched skills of a running server at the intervals of `config.toml`.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use repertoire::{Engine, Error};
use repertoire_fetch::{PollOutcome, PolledSource, SourcePoller, SourceWatch};

use crate::args::{Common, McpArgs, Refresh};
use crate::output::Output;
use crate::report::count;
use crate::source_text::{failure_of, short};
use crate::{agent, sanitize, setup};

/// Returns the poller that asks the sources for something newer; `None` if nothing may be refreshed,
/// or the command line names the sources.
pub(super) fn poller(args: &McpArgs, common: &Common) -> Option<SourcePoller> {
    let is_wanted = !args.frozen && args.refresh.refresh != Refresh::Off;
    let fetcher = setup::fetcher_without_policy(common);
    let fetcher = fetcher.filter(|_| is_wanted && common.sources.is_empty())?;
    let fetcher = fetcher.placing_in(agent::skill_places(common));
    Some(SourcePoller::new(&fetcher, &setup::config_place(common)))
}

/// Keeps the sources of an engine up to date as long as the returned guard lives, and reports what
/// happens.
pub(super) fn watch(
    engine: &Engine,
    poller: &SourcePoller,
    out: Output,
) -> Result<SourceWatch, Error> {
    let told = Mutex::new(BTreeMap::<String, String>::new());
    SourceWatch::start(engine, poller, move |poll| {
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        for PolledSource { name, outcome, .. } in &poll.sources {
            let Some(line) = line(name, outcome) else {
                told.remove(name);
                continue;
            };
            // A source that is unreachable for a day is reported once, not at each interval.
            if told.get(name) != Some(&line) {
                out.note(&sanitize::line(&line));
                told.insert(name.clone(), line);
            }
        }
    })
}

fn line(name: &str, outcome: &PollOutcome) -> Option<String> {
    Some(match outcome {
        PollOutcome::Updated(update) => {
            let (to, changes) = (short(&update.to), count(update.changes.len(), "change"));
            format!("the source `{name}` was updated to {to}: {changes} of skills")
        }
        PollOutcome::Held(reason) => format!(
            "the source `{name}` has an update that waits: {reason}; `repertoire update {name}` \
             takes it"
        ),
        PollOutcome::Failed(error) => failure_of(name, error).message,
        _ => return None,
    })
}
