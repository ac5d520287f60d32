//! Trust of libraries that the user has just built: what was built needs no further yes. The other files of the
//! skill, servers that nobody built, and wider rights do.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use repertoire::catalog::{Scope, is_skill_file};
use repertoire::skill::ToolsetRights;
use repertoire::trust::{ContentHash, TrustStore, TrustedFile, Verdict};
use repertoire::{Error, ErrorCode};

use super::accepted::{self, Accepted};
use super::kept::Kept;
use super::wider::{self, Wider};
use super::{Code, Offered, abilities, code_of, report};
use crate::args::Common;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::Output;
use crate::{confirm, setup};

/// The extensions of files that compilers read. Other files beside them, such as a script, may be code that no
/// build reads.
const SOURCES: [&str; 13] =
    ["rs", "toml", "lock", "c", "cpp", "cc", "cxx", "c++", "h", "hpp", "hh", "hxx", "h++"];
/// The maximum number of files that a message names.
const MAX_NAMED: usize = 5;

/// The files of a skill that `tool build` wrote, and the servers that it found.
#[derive(Default)]
pub(crate) struct Built {
    /// The libraries for this system, which become trusted.
    pub(crate) libraries: Vec<PathBuf>,
    /// The libraries for other systems.
    pub(crate) others: Vec<PathBuf>,
    /// The directories of the code that was built.
    pub(crate) code: Vec<PathBuf>,
    /// The files of MCP servers, which nobody builds.
    pub(crate) servers: Vec<PathBuf>,
}

impl Built {
    fn without_links(&self) -> Built {
        let real = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let all = |paths: &[PathBuf]| paths.iter().map(real).collect();
        let [libraries, others, code, servers] =
            [&self.libraries, &self.others, &self.code, &self.servers].map(|paths| all(paths));
        Built { libraries, others, code, servers }
    }

    /// Tells whether a file of the skill in `dir` was built, or is the code that was. So does the skill file of a new
    /// skill count: it says what to build.
    fn is_own(&self, dir: &Path, path: &str, is_new: bool) -> bool {
        let file = dir.join(path);
        let extension = file.extension().and_then(OsStr::to_str);
        let is_source = extension.is_some_and(|extension| SOURCES.contains(&extension))
            && self.code.iter().any(|code| file.starts_with(code));
        let is_document = is_new && is_skill_file(OsStr::new(path));
        is_document || is_source || self.libraries.contains(&file) || self.others.contains(&file)
    }
}

/// Trusts the libraries that the user has just built, with the rights that they had, and the sources they were built
/// from. Asks about everything else as `trust add` does: other files of the skill that changed, servers that are not
/// trusted, and wider rights. `is_given` is a yes to all of it. A no is remembered.
///
/// If nobody can be asked, reports `CONSENT_REQUIRED` and what is not trusted.
pub(crate) fn add_built(
    built: &Built,
    is_given: bool,
    common: &Common,
    out: Output,
) -> anyhow::Result<ExitCode> {
    let store = setup::trust_store(common)?;
    let built = &built.without_links();
    let paths = [&built.libraries[..], &built.servers].concat();
    let (mut code, before) = (code_of(&paths, common)?, store.list());
    for code in &mut code {
        let known = code.known_in(&before).cloned();
        code.keep_to(known.as_ref());
    }
    let offered = Offered::new(code, &store)?;
    let update = Update { before, store, offered, common, out };
    let rest = Rest::of(built, &update)?;
    if !rest.is_empty() && !out.json {
        abilities::show(&update.offered.code, common, out)?;
        accepted::show(rest.skills.values(), out)?;
    }
    match () {
        () if is_given => update.trust(Code::asked),
        () if rest.is_empty() => update.trust_with_rights(),
        () => update.ask(built, &rest),
    }
}

/// The trust in the code of a skill, as a build changes it.
struct Update<'a> {
    /// The files that were trusted before.
    before: Vec<TrustedFile>,
    store: TrustStore,
    offered: Offered,
    common: &'a Common,
    out: Output,
}

impl Update<'_> {
    fn trust(
        &self,
        granted: impl Fn(&Code) -> BTreeMap<String, ToolsetRights>,
    ) -> anyhow::Result<ExitCode> {
        self.offered.trust(&self.store, granted, self.common, self.out)
    }

    fn wider(&self) -> Vec<Wider> {
        self.offered.code.iter().flat_map(|code| Wider::of(code, &self.before)).collect()
    }

    /// Trusts all of the code, and asks for rights that it did not have.
    fn trust_with_rights(&self) -> anyhow::Result<ExitCode> {
        let (wider, refused, out) = (self.wider(), self.store.refusals(), self.out);
        let is_asked = wider.iter().any(|wider| !wider.is_refused_in(&refused));
        let can_ask = confirm::can_ask(out);
        if wider.is_empty() {
            return self.trust(Code::asked);
        }
        if is_asked && can_ask {
            abilities::show(&self.offered.code, self.common, out)?;
            if confirm::is_agreed("grant the rights that are asked for?", false, out)? {
                return self.trust(Code::asked);
            }
        }
        let code = self.trust(|code| wider::kept(code, &self.before))?;
        let is_answered = !is_asked || can_ask;
        for wider in &wider {
            if is_answered {
                wider.refuse(&self.store)?;
            }
            wider.tell(out);
        }
        Ok(if is_answered { code } else { ExitCode::Failure })
    }

    /// Asks about the rest of the skill, and trusts all of it or what was built alone.
    fn ask(&self, built: &Built, rest: &Rest) -> anyhow::Result<ExitCode> {
        let refused = self.store.refusals();
        let mut is_refused =
            self.offered.questions().all(|question| self.store.is_refused(&question));
        if !is_refused && confirm::can_ask(self.out) {
            if confirm::is_agreed("trust all of it?", false, self.out)? {
                return self.trust(Code::asked);
            }
            is_refused = true;
        }
        if !built.libraries.is_empty() {
            self.trust_built(built)?;
        }
        // Trust forgets a no to rights of the library, and to the rest of the skill.
        for wider in self.wider() {
            if wider.is_refused_in(&refused) {
                wider.refuse(&self.store)?;
            }
        }
        if is_refused {
            self.offered.refuse(&self.store)?;
            self.out.note(&format!("not trusted, as the answer was no: {rest}"));
            return Ok(ExitCode::Done);
        }
        let error = rest.error();
        if built.libraries.is_empty() {
            return Err(error.into());
        }
        self.out.partial_failure(&Failure::from(&error));
        Ok(ExitCode::Failure)
    }

    /// Trusts the libraries that were built, and of the other files of their skill only the sources. The libraries do
    /// not run before the rest is trusted as well; until then, nobody has seen their tools.
    fn trust_built(&self, built: &Built) -> anyhow::Result<()> {
        let kept = Kept::beside(&setup::trust_file(self.common)?);
        let known = self.store.skills();
        let mut added = Vec::new();
        for (code, hash, skill) in
            self.offered.iter().filter(|(code, ..)| built.libraries.contains(&code.file))
        {
            let files = skill.map(|Accepted { files, is_new, .. }| {
                let before = known.iter().find(|known| known.dir == *files.dir());
                let before = before.map(|known| known.files.clone()).unwrap_or_default();
                files.accepted_in(&before, |path| built.is_own(files.dir(), path, *is_new))
            });
            if code.is_of_scripts {
                let own = code.script_rights.clone();
                self.store.add_with_skill(files.as_ref(), &code.file, hash.clone(), own)?;
            } else {
                self.store.add_tools_with_skill(files.as_ref(), &code.file, hash.clone())?;
            }
            let mut tools =
                code.known_in(&self.before).map(|known| known.tools.clone()).unwrap_or_default();
            for class in code.classes.keys().cloned() {
                tools.entry(class).or_default();
            }
            self.store.record_tools(&code.file, tools)?;
            kept.keep(&code.file);
            added.push(self.store.grant(&code.file, wider::kept(code, &self.before))?);
        }
        report("trusted", &added, &[], &BTreeMap::new(), self.out)?;
        Ok(())
    }
}

/// The part of a skill that nobody built and that is not trusted.
struct Rest {
    /// The skills, with the changes to their files.
    skills: BTreeMap<PathBuf, Accepted>,
    /// The paths of these files, and of servers, each with what is new.
    files: BTreeMap<String, &'static str>,
}

impl Rest {
    fn of(built: &Built, update: &Update<'_>) -> anyhow::Result<Rest> {
        let rest = Rest::of_skills(built, update, &BTreeMap::new());
        if rest.is_empty() {
            return Ok(rest);
        }
        // Code of the user's own skills runs without trust.
        Ok(Rest::of_skills(built, update, &abilities::scopes(update.common)?))
    }

    fn of_skills(built: &Built, update: &Update<'_>, scopes: &BTreeMap<PathBuf, Scope>) -> Rest {
        let scope = |dir: &Path| scopes.get(dir).copied().unwrap_or(Scope::Project);
        let skills = update.offered.skills.iter().map(|(dir, skill)| {
            let is_trusted = skill.is_new && scope(dir).is_trusted();
            let is_own = |path: &str| is_trusted || built.is_own(dir, path, skill.is_new);
            (dir.clone(), skill.without(is_own))
        });
        let skills: BTreeMap<PathBuf, Accepted> = skills.collect();
        let is_unknown = |code: &Code, hash: &ContentHash| {
            let scope = code.skill_dir().map_or(Scope::Project, |dir| scope(&dir));
            update.store.verdict(scope, &code.file, hash) != Verdict::Trusted
        };
        let servers = update.offered.iter().filter(|(code, hash, _)| {
            !built.libraries.contains(&code.file) && is_unknown(code, hash)
        });
        let servers = servers.map(|(code, ..)| (code.name(), "not trusted"));
        let changes = skills.values().flat_map(|skill| &skill.changes);
        let changes = changes.map(|change| (change.path.clone(), change.kind.as_str()));
        let files = servers.chain(changes).collect();
        Rest { skills, files }
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    fn error(&self) -> Error {
        let message =
            format!("the build does not cover these files, and nobody can be asked: {self}");
        let help = "look at them, then trust them with `--yes` or `repertoire trust add`";
        Error::new(ErrorCode::ConsentRequired, message, help)
    }
}

/// Lists the first few files by name, as in "`lib/f.sh` (changed)", the others as a count.
impl fmt::Display for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = self.files.iter().take(MAX_NAMED);
        let named: Vec<String> = named.map(|(path, why)| format!("`{path}` ({why})")).collect();
        f.write_str(&named.join(", "))?;
        match self.files.len() {
            0..=MAX_NAMED => Ok(()),
            n => write!(f, " and {} more", n - MAX_NAMED),
        }
    }
}
