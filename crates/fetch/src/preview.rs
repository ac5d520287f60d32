//! A fetched state that is looked at before it is taken.

use std::path::Path;

use serde::Serialize;

use super::copies::source_at;
use super::diff;
use super::fetcher::{Fetched, Fetcher};
use super::layout::LeftOut;
use super::lock_file::Locked;
use super::scratch::scratch_dir;
use super::unpack::write_files;
use repertoire::catalog::{Catalog, CatalogOptions, Entry};
use repertoire::diagnostic::Diagnostic;
use repertoire::disclosure::{BytesPerToken, TokenCounter as _};
use repertoire::skill::{Profile, check_file};
use repertoire::{Error, Severity};
use repertoire_config::FetchSettings;
use repertoire_system::private_dir::PrivateDir;

/// A fetched state that is not in use: what [`SourceList::add`](super::SourceList::add) would take.
#[derive(Debug)]
#[non_exhaustive]
pub struct Preview {
    /// The name that the source would have in `config.toml`, or has already.
    pub name: String,
    /// The settings that would be written.
    pub settings: FetchSettings,
    /// The state that was fetched.
    pub locked: Locked,
    /// The skills that would not be taken.
    pub left_out: Vec<LeftOut>,
    /// The key that signed the source, if a signature is required.
    pub signed_by: Option<String>,
    dir: PrivateDir,
}

/// A skill that is looked at before it is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct PreviewedSkill {
    /// Its id.
    pub id: String,
    /// Its description, in full.
    pub description: String,
    /// The estimated tokens of its name and description, which agents list all the time.
    pub always_tokens: usize,
    /// The estimated tokens of its instructions.
    pub loaded_tokens: usize,
    /// Its scripts and libraries, by their paths in its directory.
    pub code: Vec<String>,
    /// The rights that it asks for: tools, network, and who may invoke it.
    pub rights: Vec<String>,
    /// The warnings and errors of a check as a stranger's skill; paths are those in the copy.
    pub findings: Vec<Diagnostic>,
}

impl Preview {
    /// The skills, in the order of their ids. `brand` is the name under which skills may have fields of
    /// their own.
    pub fn skills(&self, brand: &str) -> Vec<PreviewedSkill> {
        let source = || source_at(&self.name, &self.settings.source, self.dir.path().to_owned());
        let catalog = Catalog::load(&CatalogOptions::new(vec![source()]));
        let parts = diff::skills(self.dir.path(), source());
        let entries = catalog.entries().filter(|entry| !entry.is_shadowed());
        let skill = |entry: &Entry| {
            let part = parts.get(entry.id.as_str());
            PreviewedSkill {
                id: entry.id.to_string(),
                description: entry.skill.description().to_owned(),
                always_tokens: tokens(entry.skill.name()) + tokens(entry.skill.description()),
                loaded_tokens: tokens(entry.skill.body().unwrap_or_default()),
                code: part.map_or_else(Vec::new, |part| part.code().cloned().collect()),
                rights: part.map_or_else(Vec::new, |part| part.rights.clone()),
                findings: self.findings(entry, brand),
            }
        };
        let mut skills: Vec<PreviewedSkill> = entries.map(skill).collect();
        skills.sort_by(|a, b| a.id.cmp(&b.id));
        skills
    }

    fn findings(&self, entry: &Entry, brand: &str) -> Vec<Diagnostic> {
        let Some(path) = entry.skill.path() else { return Vec::new() };
        let mut findings = check_file(path, Profile::Untrusted, brand);
        findings.retain(|finding| finding.severity >= Severity::Warning);
        for finding in &mut findings {
            finding.path = below(&finding.path, self.dir.path());
        }
        findings
    }
}

fn below(path: &Path, root: &Path) -> std::path::PathBuf {
    path.strip_prefix(root).unwrap_or(path).to_owned()
}

fn tokens(text: &str) -> usize {
    BytesPerToken::default().count(text)
}

impl Fetcher {
    /// Writes the files of a fetched state into a directory that lives as long as the preview.
    pub(super) fn preview(
        &self,
        fetched: Fetched,
        name: String,
        settings: FetchSettings,
    ) -> Result<Preview, Error> {
        let Fetched { locked, signed_by, left_out } = fetched;
        let dir = scratch_dir(&self.scratch()?)?;
        write_files(dir.path(), &locked.files, &self.objects)?;
        Ok(Preview { name, settings, locked, left_out, signed_by, dir })
    }
}
