//! The resolution of sources into a catalog: ids, precedence, requirements, allowlist.

#[cfg(feature = "snapshot")]
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::environment::Environment;
use super::exposure::{Exposure, ExposureChoice, exposure};
use super::inputs::Inputs;
use super::links::{is_fetched, scope_of};
use super::naming::Named;
use super::narrow::{allowed, is_allowed, names_rejected, unknown_names};
use super::place_set::PlaceSet;
use super::reader::{ReadSkill, Reader};
use super::rejected::rejected;
use super::required_skills::missing_skills;
use super::rule::{SkillChoice, SkillRule, decision, turned_off};
use super::scan::{Scanned, scan_all};
use super::source::{Origin, Scope, Source};
use super::visibility::Allowlist;
use super::{Catalog, Entry, Status};
use crate::diagnostic::{Code, Diagnostic};
use crate::progress::{Phase, Reporter, Steps};
use crate::skill::{Skill, SkillId, is_identifier};

/// The options of loading a [`Catalog`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CatalogOptions {
    /// The sources of skills, lowest precedence first.
    pub sources: Vec<Source>,
    /// The host's brand: the name of its block in manifests. If it is empty, the brand of the [standard
    /// sources](Source::standard) counts, or `repertoire` if there is none.
    pub brand: String,
    /// The skills that exist for this agent.
    pub allowlist: Allowlist,
    /// Settings that turn skills on, bundled ones included, or off. The last one that names a skill
    /// decides.
    pub choices: Vec<SkillChoice>,
    /// Settings that decide how much of a skill a model sees. The last one that names a skill decides.
    pub exposures: Vec<ExposureChoice>,
    /// Rules by which the host's agent turns skills off, even those that are enabled.
    pub rules: Vec<SkillRule>,
    /// The reason, in a phrase, for turning off all bundled skills that are not enabled; `None` to leave
    /// them on.
    pub bundled_off: Option<String>,
    /// The problems in the configuration from which these options were made.
    pub findings: Vec<Diagnostic>,
    /// The environment against which `requires_bins` and `requires_env` are checked.
    pub environment: Environment,
}

impl CatalogOptions {
    /// Options for all skills of these sources, lowest precedence first, for a host without a brand of
    /// its own.
    pub fn new(sources: Vec<Source>) -> CatalogOptions {
        CatalogOptions { sources, ..CatalogOptions::default() }
    }

    /// The name of the host's block in manifests.
    pub(super) fn brand(&self) -> &str {
        let of_sources = || self.sources.iter().find_map(|source| source.brand.as_deref());
        let given = Some(self.brand.as_str()).filter(|brand| !brand.is_empty());
        given.or_else(of_sources).unwrap_or("repertoire")
    }
}

#[cfg(feature = "snapshot")]
impl CatalogOptions {
    /// The options that decide a catalog, serialised. `None` if skills exist only in memory.
    /// The environment is not included, as the inputs of a load check requirements separately.
    pub(crate) fn written(&self) -> Option<impl serde::Serialize + '_> {
        let brand = self.brand();
        let CatalogOptions {
            sources,
            brand: _,
            allowlist,
            choices,
            exposures,
            rules,
            bundled_off,
            findings,
            environment: _,
        } = self;
        let sources = sources.iter().map(Source::written).collect::<Option<Vec<_>>>()?;
        let written =
            |choice: &SkillChoice| (choice.skills.clone(), choice.off.clone(), choice.of_project);
        let written: Vec<_> = choices.iter().map(written).collect();
        let unknown = choices.iter().map(|choice| &choice.unknown);
        let unknown = unknown.chain(exposures.iter().map(|choice| &choice.unknown));
        let unknown: Vec<_> = unknown.cloned().collect();
        let exposure =
            |choice: &ExposureChoice| (choice.skills.clone(), choice.exposure, choice.of_project);
        let exposures: Vec<_> = exposures.iter().map(exposure).collect();
        let (unknown, findings) = (Findings(Cow::Owned(unknown)), Findings(findings.into()));
        let lists = allowlist.lists();
        Some((sources, brand, lists, written, exposures, unknown, rules, bundled_off, findings))
    }
}

/// Findings, serialised with all their fields.
#[cfg(feature = "snapshot")]
#[derive(serde::Serialize)]
struct Findings<'a>(#[serde(with = "crate::diagnostic::as_values")] Cow<'a, [Diagnostic]>);

/// A skill with its precedence over others with the same id.
struct Candidate {
    entry: Entry,
    /// The place of its source, then the bytes of its path; the greatest wins.
    precedence: (usize, Vec<u8>),
    /// True if the file of the project turns it off: then it takes nothing away from others.
    is_off_by_project: bool,
    /// True if the user keeps it: no skill of a project takes its place.
    is_kept: bool,
}

impl Candidate {
    fn new(entry: Entry, precedence: (usize, Vec<u8>)) -> Candidate {
        // The user's fetched skills are pinned by the lock file.
        let is_pinned = entry.scope == Scope::Fetched;
        let is_kept = !entry.of_project && (is_pinned || entry.skill.manifest().is_always());
        Candidate { entry, precedence, is_off_by_project: false, is_kept }
    }
}

/// The findings about settings of a project's file that have no say about a skill: one for each setting.
#[derive(Default)]
struct Refused<'o>(BTreeMap<(&'o Path, &'o str), Diagnostic>);

impl<'o> Refused<'o> {
    /// Notes a setting about `skills`, in the place of the finding `unknown`.
    fn note(
        &mut self,
        unknown: &'o Diagnostic,
        skills: &'o str,
        finding: impl FnOnce() -> Diagnostic,
    ) {
        self.0.entry((&unknown.path, skills)).or_insert_with(finding);
    }
}

pub(super) fn resolve(
    options: &CatalogOptions,
    reader: &mut Reader<'_>,
    reporter: &Reporter,
) -> Catalog {
    let CatalogOptions { sources, allowlist, findings, .. } = options;
    let mut diagnostics = findings.clone();
    let mut candidates = candidates(sources, reader, reporter, &mut diagnostics);
    let named = Named::new(candidates.iter().map(|candidate| &candidate.entry));
    let (chosen_states, unknown_choices) = chosen(&options.choices, |it| &it.skills, &named);
    let (exposures, unknown_exposures) = chosen(&options.exposures, |it| &it.skills, &named);
    let (allowed, unallowed) = allowed(allowlist, &named);
    let mut refused = Refused::default();
    for candidate in &mut candidates {
        let Candidate { entry, is_off_by_project, is_kept, .. } = candidate;
        let is_of_project = entry.of_project;
        let choices = chosen_states.get(&entry.id).map(Vec::as_slice).unwrap_or_default();
        let choice = decision(choices, is_of_project, |choice| {
            refused.note(&choice.unknown, &choice.skills, || choice.refusal(&entry.id));
        });
        *is_off_by_project = choice.is_some_and(|choice| choice.of_project && choice.off.is_some());
        *is_kept |= !is_of_project
            && choices.iter().any(|choice| choice.off.is_none() && !choice.of_project);
        entry.status = status(entry, choice, options, &mut reader.inputs);
        let exposures = exposures.get(&entry.id).map(Vec::as_slice).unwrap_or_default();
        entry.exposure = exposure(exposures, is_of_project, |choice| {
            refused.note(&choice.unknown, &choice.skills, || choice.refusal(&entry.id));
        });
        *is_kept |= !is_of_project && entry.exposure == Exposure::Pinned;
    }
    diagnostics.extend(refused.0.into_values());
    let entries = shadow(candidates, &mut diagnostics);
    diagnostics.extend(missing_skills(&entries));
    let host_finding = |entry| options.environment.host_finding(entry, &mut reader.inputs);
    diagnostics
        .extend(entries.iter().filter(|entry| entry.is_available()).filter_map(host_finding));
    // A skill and those it shadows have the same id, so they are kept or dropped together.
    let allowed = PlaceSet::of(entries.len(), |place| is_allowed(&entries[place], &allowed));
    diagnostics.sort_by(|a, b| {
        (&a.path, a.line, a.column, a.code).cmp(&(&b.path, b.line, b.column, b.code))
    });
    let roots = sources.iter().filter_map(Source::location);
    let rejected = rejected(roots, &entries, &diagnostics, allowlist);
    // These findings have no file, so they come first.
    let unallowed = unknown_names(unallowed, &rejected);
    let choices = unknown_choices.into_iter().map(|choice| (&choice.skills, &choice.unknown));
    let choices = choices
        .chain(unknown_exposures.into_iter().map(|choice| (&choice.skills, &choice.unknown)));
    let choices = choices.filter(|(skills, _)| !names_rejected(skills, &rejected));
    let unknown: Vec<_> = unallowed.chain(choices.map(|(_, unknown)| unknown.clone())).collect();
    diagnostics.splice(0..0, unknown);
    Catalog { entries: Arc::new(entries), allowed, diagnostics: diagnostics.into(), rejected }
}

/// Reads the skills of all sources, lowest precedence first.
fn candidates(
    sources: &[Source],
    reader: &mut Reader<'_>,
    reporter: &Reporter,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for root in sources.iter().filter_map(Source::root) {
        reader.inputs.root(root);
    }
    // Scan all sources before reading the first file, so that the number of files is known.
    let scanned = scan_all(sources, &mut reader.inputs);
    let n_files = scanned.iter().flat_map(|(_, scanned)| scanned).map(|s| s.files.len()).sum();
    let steps = reporter.begin(Phase::Reading, n_files);
    for (place, (source, scanned)) in scanned.into_iter().enumerate() {
        let new_entry = |id, skill: Arc<Skill>, relative_path, is_fetched: &dyn Fn() -> bool| {
            let scope = scope_of(source.scope, skill.dir().is_some(), is_fetched);
            let status = Status::Available;
            let exposure = Exposure::default();
            let of_project = source.is_of_project();
            Entry { id, skill, scope, relative_path, status, exposure, source: place, of_project }
        };
        match &source.origin {
            Origin::Memory(skills) => {
                for (nth, skill) in skills.iter().enumerate() {
                    diagnostics.extend_from_slice(skill.diagnostics());
                    let name = skill.name();
                    let id = source.namespace().map(|namespace| format!("{namespace}/{name}"));
                    let id = SkillId::new(id.as_deref().unwrap_or(name));
                    let entry = new_entry(id, Arc::clone(skill), String::new(), &|| false);
                    let precedence = (place, nth.to_be_bytes().into());
                    candidates.push(Candidate::new(entry, precedence));
                }
            }
            Origin::Directory(_) | Origin::Provided(_) => {
                let Some(Scanned { files, linked, copies, findings }) = scanned else {
                    diagnostics.extend(source.root().and_then(|root| missing(source, root)));
                    continue;
                };
                diagnostics.extend(findings);
                let entries = load_files(source, &files, reader, &steps, diagnostics);
                candidates.extend(entries.into_iter().map(|(path, id, skill, relative)| {
                    let is_copy = || {
                        copies.iter().any(|copy| path.starts_with(copy))
                            || linked.get(&path).is_some_and(|real| is_fetched(real))
                    };
                    let entry = new_entry(id, skill, relative, &is_copy);
                    let precedence = (place, path.as_os_str().as_encoded_bytes().to_vec());
                    Candidate::new(entry, precedence)
                }));
            }
        }
    }
    steps.end();
    candidates
}

fn missing(source: &Source, root: &Path) -> Option<Diagnostic> {
    if source.optional && !root.exists() {
        return None;
    }
    let what = if root.exists() { "is not a directory" } else { "does not exist" };
    let help = "create the directory, or name the one that holds the skills";
    Some(Diagnostic::new(Code::MissingSource, root, format!("source {what}"), help))
}

/// Loads the skills of a source with a directory or a provider. Returns for each skill the file, the id, the
/// skill, and the path of its directory relative to the root.
fn load_files(
    source: &Source,
    files: &[PathBuf],
    reader: &mut Reader<'_>,
    steps: &Steps<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(PathBuf, SkillId, Arc<Skill>, String)> {
    let root = source.location().unwrap_or(Path::new(""));
    let namespace = source.namespace();
    let skill_dirs: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
    let mut loaded = Vec::with_capacity(files.len());
    for file in files {
        let ReadSkill { skill, findings } = reader.read(source, file);
        steps.add();
        diagnostics.extend(findings);
        let Some(skill) = skill else { continue };
        let dir = file.parent().unwrap_or(root);
        let relative = relative_path(root, dir, file, diagnostics);
        // A skill at the root itself is a sibling of the others, not their parent.
        let is_sub_skill = dir
            .ancestors()
            .skip(1)
            .take_while(|above| *above != root)
            .any(|above| skill_dirs.contains(above));
        let by_name = is_identifier(skill.name()) && !is_sub_skill;
        let is_named = relative.is_empty() || (by_name && !source.namespaced);
        let id = if is_named { skill.name() } else { &relative };
        let id = namespace.map_or_else(|| id.to_owned(), |namespace| format!("{namespace}/{id}"));
        loaded.push((file.clone(), SkillId::new(&id), skill, relative));
    }
    loaded
}

/// The path of `dir` from `root`, `/`-separated on every system.
fn relative_path(root: &Path, dir: &Path, file: &Path, findings: &mut Vec<Diagnostic>) -> String {
    let parts = dir.strip_prefix(root).unwrap_or(dir).components();
    let names = parts.filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy()),
        _ => None,
    });
    let relative = names.collect::<Vec<_>>().join("/");
    if relative.contains(char::REPLACEMENT_CHARACTER) {
        findings.push(Diagnostic::new(
            Code::PathNotUnicode,
            file,
            format!("path is not Unicode; the skill is known as `{relative}`"),
            "rename the directory",
        ));
    }
    relative
}

/// Returns the choices that name each skill, by id, in their order, and those that name no skill.
fn chosen<'o, C>(
    choices: &'o [C],
    skills: impl Fn(&C) -> &str,
    named: &Named<'_>,
) -> (BTreeMap<SkillId, Vec<&'o C>>, Vec<&'o C>) {
    let (mut chosen, mut unknown) = (BTreeMap::<_, Vec<_>>::new(), Vec::new());
    for choice in choices {
        let ids = named.ids(skills(choice));
        if ids.is_empty() {
            unknown.push(choice);
        }
        for id in ids {
            chosen.entry(id).or_default().push(choice);
        }
    }
    (chosen, unknown)
}

/// Returns the status of a skill about which `choice`, if any, decides.
fn status(
    entry: &Entry,
    choice: Option<&SkillChoice>,
    options: &CatalogOptions,
    inputs: &mut Inputs,
) -> Status {
    let CatalogOptions { rules, bundled_off, environment, .. } = options;
    let manifest = entry.skill.manifest();
    let is_bundled = entry.scope == Scope::Bundled;
    let by_default = || {
        let reason = || Some("`default_enabled` is false".to_owned());
        let is_off = is_bundled && !manifest.is_enabled_by_default();
        bundled_off.clone().filter(|_| is_bundled).or_else(|| is_off.then(reason)?)
    };
    let by_choice = || choice.map_or_else(by_default, |choice| choice.off.clone());
    if let Some(reason) = turned_off(rules, entry).or_else(by_choice) {
        return Status::Disabled { reason };
    }
    let unmet = environment.unmet(manifest, inputs);
    unmet.map_or(Status::Available, |reason| Status::Unavailable { reason })
}

/// Orders candidates by id and precedence. Marks those that lose as shadowed, and reports them. A skill of a
/// project comes last if the user keeps another one, if the project itself turns it off, or if nobody can use it
/// and the user has one that can be used: it would take that away and give nothing.
fn shadow(candidates: Vec<Candidate>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Entry> {
    let mut by_id: BTreeMap<SkillId, Vec<Candidate>> = BTreeMap::new();
    for candidate in candidates {
        by_id.entry(candidate.entry.id.clone()).or_default().push(candidate);
    }
    let mut entries = Vec::new();
    for mut rivals in by_id.into_values() {
        let is_kept = rivals.iter().any(|rival| rival.is_kept);
        let is_usable =
            |it: &Candidate| it.entry.is_available() && !it.entry.skill.manifest().is_unreachable();
        let has_user = rivals.iter().any(|rival| !rival.entry.of_project && is_usable(rival));
        let is_last = |it: &Candidate| {
            it.entry.of_project && (is_kept || it.is_off_by_project || has_user && !is_usable(it))
        };
        rivals.sort_by(|a, b| {
            is_last(a).cmp(&is_last(b)).then_with(|| b.precedence.cmp(&a.precedence))
        });
        let winner = rivals[0].entry.skill.location().map(Path::to_owned).unwrap_or_default();
        for (place, Candidate { mut entry, .. }) in rivals.into_iter().enumerate() {
            if place > 0 {
                entry.status = Status::Shadowed { by: winner.clone() };
                let path = entry.skill.location().unwrap_or(Path::new(""));
                let message =
                    format!("skill `{}` {}", entry.id, entry.status.reason().unwrap_or_default());
                let help = if is_kept && entry.of_project {
                    "the user keeps that one, and a project does not replace it; rename this one"
                } else {
                    "rename one of the two if both are wanted"
                };
                diagnostics.push(Diagnostic::new(Code::Shadowed, path, message, help));
            }
            entries.push(entry);
        }
    }
    entries
}
