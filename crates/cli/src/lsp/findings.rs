//! The findings of `check` about a text that need not be saved, and the fixes of `check --fix`.

use std::ops::Range;
use std::path::Path;

use repertoire::catalog::{Catalog, CatalogOptions};
use repertoire::skill::{LineRepair, Profile, check_text, line_repairs};
use repertoire::{Diagnostic, Severity, Source};
use repertoire_authoring::lint::lint;
use serde_json::{Value as Json, json};

use super::position::range;

/// Returns the findings about `text` as the file at `path`, as diagnostics of the protocol.
pub(super) fn of(path: &Path, text: &str, brand: &str) -> Json {
    let mut all = check_text(path, text, Profile::Repertoire, brand);
    let is_known =
        |found: &Diagnostic, all: &[Diagnostic]| all.iter().any(|of| of.code == found.code);
    // If the temporary file cannot be written, the findings about triggers are missing.
    let triggers = of_triggers(path, text, brand).unwrap_or_default();
    for found in triggers {
        if found.span.is_some() && !is_known(&found, &all) {
            all.push(found);
        }
    }
    all.iter().map(|found| diagnostic(found, text)).collect()
}

/// Returns the findings that take the skill as one of a catalog. The catalog has this skill alone: those
/// about files beside it are not among them.
fn of_triggers(path: &Path, text: &str, brand: &str) -> std::io::Result<Vec<Diagnostic>> {
    let dir = tempfile::tempdir()?;
    let name = path.parent().and_then(Path::file_name).unwrap_or_default();
    let skill = dir.path().join("skills").join(name);
    std::fs::create_dir_all(&skill)?;
    std::fs::write(skill.join("SKILL.md"), text)?;
    let mut options = CatalogOptions::new(vec![Source::project(dir.path().join("skills"))]);
    brand.clone_into(&mut options.brand);
    let beside = ["library", "script", "class", "toolset"];
    let mut found = lint(&Catalog::load(&options));
    found.retain(|of| !beside.iter().any(|what| of.code.as_str().contains(what)));
    Ok(found)
}

fn diagnostic(found: &Diagnostic, text: &str) -> Json {
    let severity = match found.severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Note => 3,
    };
    let first_line = 0..text.find('\n').unwrap_or(text.len());
    let span: &Range<usize> = found.span.as_ref().unwrap_or(&first_line);
    let help =
        if found.help.is_empty() { String::new() } else { format!("\nhelp: {}", found.help) };
    json!({
        "range": range(text, span),
        "severity": severity,
        "code": found.code.as_str(),
        "source": "repertoire",
        "message": format!("{}{help}", found.message),
    })
}

/// Returns the repairs of single lines, as actions of the protocol.
pub(super) fn fixes(uri: &Json, text: &str) -> Json {
    let fix = |LineRepair { span, text: after }: LineRepair| {
        let edit = json!({"range": range(text, &span), "newText": after});
        let uri = uri.as_str().unwrap_or_default();
        json!({
            "title": format!("Write `{}`", after.trim()),
            "kind": "quickfix",
            "edit": {"changes": {uri: [edit]}},
        })
    };
    line_repairs(text).into_iter().map(fix).collect()
}
