//! Watches the inputs of a catalog.
//!
//! Events of the system only trigger a check of the stamps, which tell what changed. So events need not
//! be interpreted, and a lost event does no harm. The watcher watches each scanned directory by itself
//! (never `.git` and the like below it). It also watches the directories that hold roots, links, and
//! targets of links, as a change there can move the scanned directories.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _, event};

use super::inputs::Inputs;

/// The options of watching a catalog.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchOptions {
    /// The time without events after which changes are taken up; 100 ms by default. If events keep
    /// coming, changes are taken up after ten times that.
    pub quiet: Duration,
    /// True to wait for events of the system, which is the default. File systems to which other machines
    /// write, such as those of a network or of a virtual machine's host, do not send events for these
    /// changes.
    pub events: bool,
    /// The interval of checks without events, whether they are off, the system refuses them, or skills come
    /// from a [`Provider`](super::Provider); 2 s by default.
    pub poll: Duration,
}

impl Default for WatchOptions {
    fn default() -> WatchOptions {
        let (quiet, poll) = (Duration::from_millis(100), Duration::from_secs(2));
        WatchOptions { quiet, events: true, poll }
    }
}

/// The interval of checks in addition to events. They notice what has no event: a newly installed
/// program, or a renamed parent of a root.
const SWEEP: Duration = Duration::from_secs(30);

/// The maximum number of checks in a row that newly watched paths cause, before waiting for events.
const MAX_ROUNDS: usize = 8;

/// The maximum number of links to follow on a path.
const MAX_LINKS: usize = 40;

/// A guard of the watching thread, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Watching {
    messages: Sender<Message>,
    thread: Option<JoinHandle<()>>,
}

enum Message {
    Happened(notify::Result<Event>),
    Stop,
}

/// The callback for a possible change. It takes up the change, passes the inputs to watch to its
/// argument, and returns true to go on watching.
pub(crate) trait OnChange: FnMut(&mut dyn FnMut(&Inputs)) -> bool + Send + 'static {}

impl<F: FnMut(&mut dyn FnMut(&Inputs)) -> bool + Send + 'static> OnChange for F {}

impl Watching {
    /// Starts the thread. Fails if no thread can be started.
    pub(crate) fn start(options: WatchOptions, look: impl OnChange) -> io::Result<Watching> {
        let (messages, inbox) = channel();
        let watcher = options.events.then(|| Events::new(messages.clone()));
        let run = move || {
            Watch { options, inbox, events: watcher.unwrap_or_default(), polls: false }.run(look);
        };
        let thread = thread::Builder::new().name("repertoire-watch".to_owned()).spawn(run)?;
        Ok(Watching { messages, thread: Some(thread) })
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.messages.send(Message::Stop);
        // If the callback drops this on the thread itself, the thread cannot wait for its own end.
        let thread =
            self.thread.take().filter(|thread| thread.thread().id() != thread::current().id());
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

struct Watch {
    options: WatchOptions,
    inbox: Receiver<Message>,
    events: Events,
    /// True if there are providers, which send no events.
    polls: bool,
}

impl Watch {
    fn run(mut self, mut look: impl OnChange) {
        loop {
            for _ in 0..MAX_ROUNDS {
                let mut targets = None;
                let wants_targets = self.events.watcher.is_some();
                let mut polls = false;
                let mut show = |inputs: &Inputs| {
                    polls = inputs.has_providers();
                    targets = wants_targets.then(|| targets_of(inputs));
                };
                let looked = catch_unwind(AssertUnwindSafe(|| look(&mut show)));
                self.polls = polls;
                match looked {
                    Ok(true) => {}
                    Ok(false) => return,
                    Err(_) => tracing::error!("looking for changed skills panicked"),
                }
                // A change after the check but before the new watch has no event: check again.
                if !targets.is_some_and(|targets| self.events.follow(targets)) {
                    break;
                }
            }
            if self.wait().is_none() {
                return;
            }
        }
    }

    /// Waits until it is time for a check; `None` if watching has ended.
    fn wait(&mut self) -> Option<()> {
        let gets_all_events = self.events.watcher.is_some() && !self.events.refused && !self.polls;
        let pause = if gets_all_events { SWEEP } else { self.options.poll };
        let mut end = Instant::now() + pause;
        let mut latest = None;
        loop {
            let now = Instant::now();
            if now >= end {
                return Some(());
            }
            match self.inbox.recv_timeout(end - now) {
                Ok(Message::Happened(happened)) => {
                    if self.events.note(happened) {
                        let now = Instant::now();
                        let latest = *latest.get_or_insert(now + 10 * self.options.quiet);
                        end = latest.min(now + self.options.quiet);
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Some(()),
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
}

/// The directories to watch, by their real paths, and the entries of interest in each.
type Targets = BTreeMap<PathBuf, Interest>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Interest {
    Everything,
    /// Only entries with these names, and the directory itself.
    Names(BTreeSet<OsString>),
}

/// The events of the system for the watched directories.
#[derive(Default)]
struct Events {
    /// `None` if events are off, or the system gives none.
    watcher: Option<RecommendedWatcher>,
    watched: Targets,
    /// True if the system refused to watch some directory.
    refused: bool,
}

impl Events {
    fn new(messages: Sender<Message>) -> Events {
        let handle = move |happened: notify::Result<Event>| {
            // Opening and reading files, as a load does, is not a change.
            let matters = happened.as_ref().map_or(true, |event| is_change(event.kind));
            if matters {
                let _ = messages.send(Message::Happened(happened));
            }
        };
        let watcher = notify::recommended_watcher(handle)
            .inspect_err(
                |error| tracing::warn!(%error, "no events of files, looking again and again"),
            )
            .ok();
        Events { watcher, ..Events::default() }
    }

    /// Watches exactly `targets`. Returns true if a directory is watched that was not before.
    fn follow(&mut self, targets: Targets) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        for dir in self.watched.keys().filter(|dir| !targets.contains_key(*dir)) {
            // This fails if the directory is gone, and its watch with it.
            let _ = watcher.unwatch(dir);
        }
        let mut refused = None;
        let mut followed = Targets::new();
        let mut is_new = false;
        for (dir, interest) in targets {
            if !self.watched.contains_key(&dir) {
                match watcher.watch(&dir, RecursiveMode::NonRecursive) {
                    Ok(()) => is_new = true,
                    // The directory was removed in the meantime; its parent gets an event for that.
                    Err(error) if is_missing(&error) => continue,
                    Err(error) => {
                        refused = Some(error);
                        continue;
                    }
                }
            }
            followed.insert(dir, interest);
        }
        self.watched = followed;
        if let Some(error) = refused.as_ref().filter(|_| !self.refused) {
            tracing::warn!(%error, "a directory gives no events, looking again and again");
        }
        self.refused = refused.is_some();
        is_new
    }

    /// Processes an event. Returns true if it may have changed the catalog.
    fn note(&mut self, happened: notify::Result<Event>) -> bool {
        let event = match happened {
            Ok(event) => event,
            Err(error) => {
                tracing::warn!(%error, "an error among the events of files");
                self.forget(Path::new(""));
                return true;
            }
        };
        if event.need_rescan() {
            self.forget(Path::new(""));
            return true;
        }
        let matters = event.paths.iter().any(|path| self.matters(path));
        let may_replace = !matches!(
            event.kind,
            EventKind::Modify(event::ModifyKind::Data(_) | event::ModifyKind::Metadata(_))
                | EventKind::Access(_)
        );
        if may_replace {
            // The path may lead to a different directory now.
            event.paths.iter().for_each(|path| self.forget(path));
        }
        matters
    }

    fn matters(&self, path: &Path) -> bool {
        let in_dir = path.parent().and_then(|dir| self.watched.get(dir));
        let is_of_interest = in_dir.is_some_and(|interest| match interest {
            Interest::Everything => true,
            Interest::Names(names) => path.file_name().is_some_and(|name| names.contains(name)),
        });
        is_of_interest || self.watched.contains_key(path)
    }

    /// Stops watching a directory and those below it, until [`Events::follow`] watches them again.
    fn forget(&mut self, path: &Path) {
        let below = self.watched.range(path.to_owned()..).map(|(dir, _)| dir.clone());
        for dir in below.take_while(|dir| dir.starts_with(path)).collect::<Vec<_>>() {
            self.watched.remove(&dir);
            if let Some(watcher) = &mut self.watcher {
                let _ = watcher.unwatch(&dir);
            }
        }
    }
}

fn is_change(kind: EventKind) -> bool {
    use event::{AccessKind, AccessMode};

    let is_written = matches!(kind, EventKind::Access(AccessKind::Close(AccessMode::Write)));
    is_written || !kind.is_access()
}

fn is_missing(error: &notify::Error) -> bool {
    match &error.kind {
        ErrorKind::PathNotFound => true,
        ErrorKind::Io(error) => {
            matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        }
        _ => false,
    }
}

/// The directories that hold the inputs of a catalog.
fn targets_of(inputs: &Inputs) -> Targets {
    let mut targets = Targets::new();
    // A parent comes before the paths below it, so that most real paths are known without a look-up.
    let mut real: BTreeMap<&Path, PathBuf> = BTreeMap::new();
    for (path, stamp) in inputs.stamps() {
        if stamp.is_dir() {
            let parent = path.parent().and_then(|dir| real.get(dir)).filter(|_| !stamp.is_link());
            let known = parent.and_then(|dir| Some(dir.join(path.file_name()?)));
            let Some(dir) = known.or_else(|| path.canonicalize().ok()) else { continue };
            targets.insert(dir.clone(), Interest::Everything);
            real.insert(path, dir);
        }
    }
    for (path, stamp) in inputs.stamps() {
        if stamp.is_link() {
            add_links(path, &mut targets);
        }
    }
    for root in inputs.roots() {
        add(root, &mut targets);
        if !root.exists() {
            // The first missing part of the path may be created: watch for it.
            let missing = root.ancestors().take_while(|part| part.symlink_metadata().is_err());
            missing.last().into_iter().for_each(|part| add(part, &mut targets));
        }
    }
    targets
}

/// Adds `path`, and follows it link by link, adding each target.
fn add_links(path: &Path, targets: &mut Targets) {
    let mut here = path.to_owned();
    for _ in 0..MAX_LINKS {
        add(&here, targets);
        let Ok(to) = here.read_link() else { return };
        here = here.parent().unwrap_or(Path::new("")).join(to);
    }
}

/// Adds the entry at `path` to the interest in its directory, if the directory exists.
fn add(path: &Path, targets: &mut Targets) {
    let Ok(path) = std::path::absolute(path) else { return };
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else { return };
    let Ok(dir) = dir.canonicalize() else { return };
    let nothing = || Interest::Names(BTreeSet::new());
    if let Interest::Names(names) = targets.entry(dir).or_insert_with(nothing) {
        names.insert(name.to_owned());
    }
}
