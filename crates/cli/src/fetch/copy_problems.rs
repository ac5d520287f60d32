//! Problems of a fetched copy in the catalog in force: files that do not load, skills that
//! others hide, and skills that hide others.

use std::path::{Path, PathBuf};

use repertoire::catalog::{Catalog, CatalogOptions, Status};
use repertoire::{Diagnostic, Error, Severity, Source};
use serde::Serialize;

use crate::args::Common;
use crate::output::{Page, WARNING, styled};
use crate::{report, sanitize, setup};

/// The problems of a copy, for the user who has just fetched it.
#[derive(Default, Serialize)]
pub(super) struct CopyProblems {
    /// Errors in the files of the copy.
    pub(super) findings: Vec<Diagnostic>,
    /// Skills of the copy that others hide, and skills of others that the copy hides.
    pub(super) shadowed: Vec<Shadowed>,
}

/// A skill that is hidden by another one of the same id.
#[derive(PartialEq, Serialize)]
pub(super) struct Shadowed {
    id: String,
    path: String,
    by: String,
}

impl CopyProblems {
    /// Finds the problems of each copy at `roots`. The sources in force are loaded once for all
    /// copies.
    pub(super) fn load(roots: &[PathBuf], common: &Common) -> Result<Vec<CopyProblems>, Error> {
        if roots.is_empty() {
            return Ok(Vec::new());
        }
        let mut options = CatalogOptions::new(setup::sources(common)?);
        options.brand.clone_from(&common.brand);
        let catalog = Catalog::load(&options);
        Ok(roots.iter().map(|root| CopyProblems::of(root, &catalog)).collect())
    }

    /// Finds the problems of all sources in force.
    pub(super) fn of_all(common: &Common) -> Result<CopyProblems, Error> {
        let mut options = CatalogOptions::new(setup::sources(common)?);
        options.brand.clone_from(&common.brand);
        let catalog = Catalog::load(&options);
        let findings = errors(&catalog);
        Ok(CopyProblems { findings, shadowed: shadowed(&catalog, |_| true) })
    }

    /// Leaves out the problems that were there before: the user was told of them.
    pub(super) fn without(mut self, known: &CopyProblems) -> CopyProblems {
        self.findings.retain(|finding| !known.findings.contains(finding));
        self.shadowed.retain(|shadowed| !known.shadowed.contains(shadowed));
        self
    }

    /// Finds the problems of the copy at `root`. `catalog` contains this copy among other sources.
    fn of(root: &Path, catalog: &Catalog) -> CopyProblems {
        let alone = Catalog::load(&CatalogOptions::new(vec![Source::fetched("", root)]));
        let is_of_copy = |path: &Path| path.starts_with(root);
        CopyProblems { findings: errors(&alone), shadowed: shadowed(catalog, is_of_copy) }
    }

    /// Adds a paragraph for each problem.
    pub(super) fn show(&self, page: &mut Page) {
        for finding in &self.findings {
            page.line(format_args!("{}", report::short(finding)));
        }
        for Shadowed { id, path, by } in &self.shadowed {
            let title = styled(WARNING, "hidden");
            let (id, path, by) = (sanitize::line(id), sanitize::line(path), sanitize::line(by));
            page.line(format_args!("{title}: `{id}` of {path}, by {by}"));
        }
    }
}

fn errors(catalog: &Catalog) -> Vec<Diagnostic> {
    let is_error = |diagnostic: &&Diagnostic| diagnostic.severity == Severity::Error;
    catalog.diagnostics().iter().filter(is_error).cloned().collect()
}

/// Returns the hidden skills where `is_meant` is true for the path of the skill, or of the one that hides
/// it.
fn shadowed(catalog: &Catalog, is_meant: impl Fn(&Path) -> bool) -> Vec<Shadowed> {
    let shadowed = catalog.entries().filter_map(|entry| {
        let (Status::Shadowed { by }, Some(path)) = (&entry.status, entry.skill.path()) else {
            return None;
        };
        let (id, is_meant) = (entry.id.to_string(), is_meant(path) || is_meant(by));
        let [path, by] = [path, &**by].map(|path| path.to_string_lossy().into_owned());
        is_meant.then_some(Shadowed { id, path, by })
    });
    shadowed.collect()
}
