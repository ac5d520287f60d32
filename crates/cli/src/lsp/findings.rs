//! The findings of `check` about a text that need not be saved, and the fixes of `check --fix`.

use std::ops::Range;
use std::path::Path;

use repertoire::catalog::{Catalog, CatalogOptions};
use repertoire::skill::{LineRepair, Profile, check_text, line_repairs};
use repertoire::{Code, Diagnostic, Severity, Source};
use repertoire_authoring::lint::lint;
use serde_json::{Value as Json, json};

use super::position::range;

/// The findings about files beside a skill's own.
const OF_FILES_BESIDE: [Code; 5] = [
    Code::MissingLibrary,
    Code::UnusableLibrary,
    Code::UnsafeLibrary,
    Code::MissingClass,
    Code::MissingScript,
];

/// Returns the findings about `text` as the file at `path`, as diagnostics of the protocol.
pub(super) fn of(path: &Path, text: &str, brand: &str) -> Json {
    let of_text = check_text(path, text, Profile::Repertoire, brand);
    // If the temporary file cannot be written, the findings about triggers are missing.
    let mut triggers = of_triggers(path, text, brand).unwrap_or_default();
    let is_known = |found: &Diagnostic| {
        of_text.iter().any(|of| of.code == found.code && of.span == found.span)
    };
    triggers.retain(|found| found.span.is_some() && !is_known(found));
    of_text.iter().chain(&triggers).map(|found| diagnostic(found, text)).collect()
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
    let mut found = lint(&Catalog::load(&options));
    found.retain(|of| !OF_FILES_BESIDE.contains(&of.code));
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

/// Returns the repairs of single lines that touch `asked`, a range of bytes, as actions of the protocol.
pub(super) fn fixes(uri: &Json, text: &str, asked: &Range<usize>) -> Json {
    let fix = |LineRepair { span, text: after }: LineRepair| {
        let edit = json!({"range": range(text, &span), "newText": after});
        let uri = uri.as_str().unwrap_or_default();
        json!({
            "title": format!("Write `{}`", after.trim()),
            "kind": "quickfix",
            "edit": {"changes": {uri: [edit]}},
        })
    };
    let touches = |fix: &LineRepair| fix.span.start <= asked.end && asked.start <= fix.span.end;
    line_repairs(text).into_iter().filter(touches).map(fix).collect()
}
