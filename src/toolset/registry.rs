//! The toolsets of a catalog. Lists their tools, from cached descriptions or by opening the libraries.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use repertoire_plugin::{Host, LogLevel, ToolResult, ToolSpec};
use repertoire_worker::locked;
use repertoire_worker::sizes::{TOO_LARGE, check_size};
use serde_json::{Map, Value};

use super::descriptions::{Descriptions, Key};
use super::entry::{SERVER, ToolsetEntry};
use super::library::Library;
use super::loader::Loader;
use super::pins::pins;
use super::tool::{Listing, Tool, ToolFailure, Tools};
use super::{ToolPolicy, ToolsetOptions};
use crate::catalog::Scope;
use crate::disclosure::{clean_schema, description_text};
use crate::error::{Error, ErrorCode};
use crate::skill::{SkillId, ToolsetRights};
use crate::trust::{Owner, TrustStore};

/// The most libraries that are opened at the same time to get their descriptions.
const MAX_OPENING: usize = 8;

/// The toolsets of a catalog. Descriptions are cached: a library runs only when its tools are not known
/// yet, or when one of them is called.
#[derive(Debug)]
pub(crate) struct Toolsets {
    loader: Loader,
    descriptions: Arc<Descriptions>,
    /// The toolsets that were listed, by skill and entry.
    listed: Mutex<HashMap<(SkillId, String), Listed>>,
}

#[derive(Debug, Clone)]
struct Listed {
    library: Arc<Library>,
    listing: Arc<Listing>,
    tools: Vec<Tool>,
}

/// The result of looking up one toolset.
enum Found {
    Known(Vec<Tool>),
    Unknown(Box<Unknown>),
    Failed(Arc<Error>),
}

/// A toolset that must be opened to get its description.
struct Unknown {
    owner: Owner,
    entry: String,
    class: String,
    library: Arc<Library>,
    config: Arc<Value>,
    key: Key,
}

/// The condition that ends a search for tools.
#[derive(Clone, Copy)]
pub(crate) enum Until<'a> {
    /// All toolsets have answered.
    All,
    /// This much time has passed. Toolsets that have not answered by then continue to open.
    Patience(Duration),
    /// A tool of this name was found.
    Named(&'a str),
}

impl Until<'_> {
    fn is_met_by(self, tools: &[Tool]) -> bool {
        matches!(self, Until::Named(name) if tools.iter().any(|tool| tool.is_exactly(name)))
    }
}

impl Toolsets {
    pub(crate) fn new(options: ToolsetOptions, trust: Arc<TrustStore>) -> Toolsets {
        let descriptions = Arc::new(Descriptions::new(options.cache.clone()));
        Toolsets { loader: Loader::new(options, trust), descriptions, listed: Mutex::default() }
    }

    pub(crate) fn policy(&self) -> ToolPolicy {
        self.loader.options.policy
    }

    /// Lists the tools of the `entries` of each skill. Libraries whose tools are not known are opened
    /// in parallel, and awaited as long as `until` and `host` allow. A library that fails does not stop
    /// the others.
    pub(crate) fn tools<'a>(
        &self,
        skills: impl Iterator<Item = (Owner, Vec<&'a str>)>,
        until: Until<'_>,
        host: &dyn Host,
    ) -> Tools {
        let mut found: Vec<(SkillId, String, Found)> = Vec::new();
        for (owner, entries) in skills {
            for entry in entries {
                let one = self.look(&owner, entry);
                let one = one.unwrap_or_else(|error| Found::Failed(Arc::new(error)));
                found.push((owner.id.clone(), entry.to_owned(), one));
            }
        }
        let known = collect_tools(&found);
        if until.is_met_by(&known.tools) {
            return known;
        }
        let unknown: Vec<(usize, &Unknown)> = found
            .iter()
            .enumerate()
            .filter_map(|(idx, (.., one))| match one {
                Found::Unknown(unknown) => Some((idx, &**unknown)),
                _ => None,
            })
            .collect();
        if unknown.is_empty() {
            return known;
        }
        for (idx, answer) in self.open(&unknown, until, host) {
            found[idx].2 = match answer {
                Ok(tools) => Found::Known(tools),
                Err(error) => Found::Failed(Arc::new(error)),
            };
        }
        collect_tools(&found)
    }

    /// Keeps only the tools of these `skills` and entries. All other tools can no longer be called.
    pub(crate) fn retain<'a>(&self, skills: impl Iterator<Item = (Owner, Vec<&'a str>)>) {
        let live: HashMap<SkillId, (PathBuf, Vec<&str>)> =
            skills.map(|(owner, entries)| (owner.id, (owner.dir, entries))).collect();
        locked(&self.listed).retain(|(skill, entry), known| {
            let is_live = live.get(skill).is_some_and(|(dir, entries)| {
                *dir == known.library.skill_dir && entries.contains(&entry.as_str())
            });
            known.listing.is_retired.store(!is_live, Ordering::Relaxed);
            is_live
        });
        self.loader.retain(|dir| live.values().any(|(live, _)| live == dir));
    }

    /// Ends the processes of the libraries of the skill in `dir`, and forgets their failures: disabled
    /// libraries are tried again at once.
    pub(crate) fn restart(&self, dir: &Path) {
        self.loader.restart(|library| library.skill_dir == dir);
    }

    /// Looks up a toolset without running its library.
    fn look(&self, owner: &Owner, entry: &str) -> Result<Found, Error> {
        let parsed: ToolsetEntry = entry.parse()?;
        let nothing = ToolsetRights::default();
        let asked = owner.toolset_rights.get(entry).unwrap_or(&nothing);
        let library = self.loader.library(owner, &parsed, asked)?;
        let class = parsed.class();
        let place = (owner.id.clone(), entry.to_owned());
        let is_it = |known: &&Listed| {
            Arc::ptr_eq(&known.library, &library) && !known.listing.is_stale.load(Ordering::Relaxed)
        };
        let known = locked(&self.listed).get(&place).filter(is_it).cloned();
        if let Some(known) = known {
            library.check_pins(class, &known.listing.pins)?;
            return Ok(Found::Known(known.tools));
        }
        library.check_class(class)?;
        let config = Arc::new(self.config_of(owner, class));
        let key = Key::new(&library.sha256, class, &config);
        let (owner, entry, class) = (owner.clone(), entry.to_owned(), class.to_owned());
        let unknown = Unknown { owner, entry, class, library, config, key };
        let Some(description) = self.descriptions.get(&unknown.key) else {
            return Ok(Found::Unknown(Box::new(unknown)));
        };
        if unknown.library.check_pins(&unknown.class, &pins(&description)).is_err() {
            // The user may have seen newer tools than those of the cache: ask the toolset itself.
            self.descriptions.forget(&unknown.key);
            return Ok(Found::Unknown(Box::new(unknown)));
        }
        unknown.library.forget_content();
        Ok(Found::Known(self.list(&unknown)))
    }

    /// The configuration of a class. That of a server is its command line and its environment, by which it
    /// runs other code than what was trusted (`NODE_OPTIONS=--import …`), so only the user's counts.
    fn config_of(&self, owner: &Owner, class: &str) -> Value {
        let qualified = format!("{}:{class}", owner.id);
        let ToolsetOptions { config, project_config, .. } = &self.loader.options;
        let is_from_project = owner.scope == Scope::Project && class != SERVER;
        let of_project = is_from_project.then_some(project_config);
        let mut configs = of_project.into_iter().chain([config]);
        let config =
            configs.find_map(|configs| configs.get(&qualified).or_else(|| configs.get(class)));
        config.cloned().unwrap_or_else(|| Value::Object(Map::new()))
    }

    /// Opens toolsets in parallel, and returns the results with the indices of the toolsets. If `until`
    /// names a tool, toolsets that were not ready when the tool was found have no result.
    fn open(
        &self,
        unknown: &[(usize, &Unknown)],
        until: Until<'_>,
        host: &dyn Host,
    ) -> Vec<(usize, Result<Vec<Tool>, Error>)> {
        let patience = match until {
            Until::Patience(patience) => Instant::now().checked_add(patience),
            _ => None,
        };
        let waiting = Waiting { host, patience, is_over: AtomicBool::new(false) };
        let groups = by_library(unknown);
        let next = AtomicUsize::new(0);
        let answers = Mutex::new(Vec::new());
        let work = || {
            while let Some(group) = groups.get(next.fetch_add(1, Ordering::Relaxed)) {
                for (idx, one) in group {
                    let answer = self.describe(one, &waiting);
                    let is_over = waiting.is_over.load(Ordering::Relaxed);
                    if answer.is_err() && is_over {
                        return;
                    }
                    if answer.as_ref().is_ok_and(|tools| until.is_met_by(tools)) {
                        waiting.is_over.store(true, Ordering::Relaxed);
                    }
                    locked(&answers).push((*idx, answer));
                }
            }
        };
        let is_in_process = unknown.iter().any(|(_, one)| one.library.is_in_process());
        if groups.len() == 1 || is_in_process {
            // A library that runs in this process may depend on the thread that opens it.
            work();
        } else {
            thread::scope(|scope| {
                for _ in 1..groups.len().min(MAX_OPENING) {
                    // If a thread cannot be started, the other threads do its work.
                    let _ = thread::Builder::new().spawn_scoped(scope, work);
                }
                work();
            });
        }
        if !matches!(until, Until::Named(_)) {
            for (_, one) in unknown {
                one.library.rest();
            }
        }
        answers.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a toolset and caches its description.
    fn describe(&self, unknown: &Unknown, host: &dyn Host) -> Result<Vec<Tool>, Error> {
        let Unknown { class, library, config, key, .. } = unknown;
        // Another library with the same content may have been opened in the meantime.
        if self.descriptions.get(key).is_some() {
            return Ok(self.list(unknown));
        }
        let description = library.describe(class, config, host)?;
        check_size(&description).map_err(|why| {
            let message = format!("{}: {why}", library.path.display());
            Error::new(ErrorCode::ExecutionError, message, TOO_LARGE)
        })?;
        library.check_pins(class, &pins(&description))?;
        self.descriptions.put(key, description);
        Ok(self.list(unknown))
    }

    /// The tools of a toolset whose description is known.
    fn list(&self, unknown: &Unknown) -> Vec<Tool> {
        let Unknown { owner, entry, class, library, config, key } = unknown;
        let Some(description) = self.descriptions.get(key) else { return Vec::new() };
        let place = (owner.id.clone(), entry.clone());
        let mut listed = locked(&self.listed);
        let is_it = |known: &&Listed| {
            Arc::ptr_eq(&known.library, library)
                && Arc::ptr_eq(&known.listing.description, &description)
        };
        // Another thread may have listed it in the meantime.
        if let Some(known) = listed.get(&place).filter(is_it) {
            return known.tools.clone();
        }
        let listing = Arc::new(Listing {
            key: key.clone(),
            description: Arc::clone(&description),
            descriptions: Arc::clone(&self.descriptions),
            pins: pins(&description),
            is_retired: AtomicBool::new(false),
            is_compared: AtomicBool::new(false),
            is_stale: AtomicBool::new(false),
        });
        let tool = |spec: &ToolSpec| Tool {
            name: format!("{}.{}", owner.id, spec.name),
            short_name: spec.name.clone(),
            description: description_text(&spec.description).into_owned(),
            parameters: clean(spec.parameters.clone()),
            annotations: match clean(Value::Object(spec.annotations.clone())) {
                Value::Object(annotations) => annotations,
                _ => Map::new(),
            },
            toolset: class.clone(),
            skill: owner.id.clone(),
            library: Arc::clone(library),
            config: Arc::clone(config),
            listing: Arc::clone(&listing),
        };
        let tools: Vec<Tool> = description.tools.iter().map(tool).collect();
        let (library, kept) = (Arc::clone(library), tools.clone());
        listed.insert(place, Listed { library, listing, tools: kept });
        tools
    }
}

/// Returns a schema, or annotations, as a model may read them.
fn clean(mut schema: Value) -> Value {
    clean_schema(&mut schema);
    schema
}

/// Groups toolsets by library. The toolsets of one library are opened one after the other: if a class
/// ends the process while it is created, no other class is being created in it.
fn by_library<'u>(unknown: &[(usize, &'u Unknown)]) -> Vec<Vec<(usize, &'u Unknown)>> {
    let mut groups: Vec<Vec<(usize, &Unknown)>> = Vec::new();
    let mut places: HashMap<*const Library, usize> = HashMap::new();
    for one in unknown {
        let place = *places.entry(Arc::as_ptr(&one.1.library)).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(*one);
    }
    groups
}

/// Collects the tools of a list. A toolset is a failure if its skill already has a tool with the name
/// of one of its tools.
fn collect_tools(found: &[(SkillId, String, Found)]) -> Tools {
    let mut all = Tools::default();
    let mut names: BTreeMap<(&SkillId, &str), &str> = BTreeMap::new();
    for (skill, entry, one) in found {
        let failure = match one {
            Found::Unknown(_) => continue,
            Found::Failed(error) => Arc::clone(error),
            Found::Known(tools) => {
                let taken = tools.iter().find_map(|tool| {
                    let other = names.insert((skill, &tool.short_name), &tool.toolset)?;
                    Some((tool, other))
                });
                let Some((tool, other)) = taken else {
                    all.tools.extend(tools.iter().cloned());
                    continue;
                };
                let name = &tool.short_name;
                Arc::new(Error::new(
                    ErrorCode::InvalidParam,
                    format!("toolset `{entry}` has a tool `{name}`, and so has `{other}`"),
                    "rename one of them; the names of one skill's tools are distinct",
                ))
            }
        };
        let (skill, entry) = (skill.clone(), entry.clone());
        all.failures.push(ToolFailure { skill, entry, error: failure });
    }
    all
}

/// A host that stops waiting when its patience ends, or once the search is over.
struct Waiting<'a> {
    host: &'a dyn Host,
    patience: Option<Instant>,
    is_over: AtomicBool,
}

impl Host for Waiting<'_> {
    fn is_cancelled(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.host.is_cancelled()
    }

    fn deadline(&self) -> Option<Instant> {
        self.host.deadline().into_iter().chain(self.patience).min()
    }

    fn log(&self, level: LogLevel, message: &str) {
        self.host.log(level, message);
    }

    fn request(&self, method: &str, params: Value) -> ToolResult<Value> {
        self.host.request(method, params)
    }
}
