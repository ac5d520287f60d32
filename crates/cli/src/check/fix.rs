//! Writes the repairs of single lines into the files: `check --fix`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use repertoire::Error;
use repertoire::skill::{LineRepair, line_repairs};
use serde::Serialize;

use crate::output::{GOOD, Page, styled};
use crate::replace::{check_writable, io_error, replace};
use crate::sanitize;

/// A line that was changed.
#[derive(Debug, Serialize)]
pub(super) struct Fixed {
    path: PathBuf,
    line: usize,
    before: String,
    after: String,
}

/// Writes the repairs of all `files`, each atomically, and returns the changed lines.
pub(super) fn fix(files: &BTreeSet<PathBuf>) -> Result<Vec<Fixed>, Error> {
    let mut fixed = Vec::new();
    for path in files {
        // The findings name a file that cannot be read.
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let repairs = line_repairs(&text);
        if repairs.is_empty() {
            continue;
        }
        let mut repaired = text.clone();
        for LineRepair { span, text } in repairs.iter().rev() {
            repaired.replace_range(span.clone(), text);
        }
        // A link stays one.
        let file = path.canonicalize().map_err(|error| io_error("read", path, &error))?;
        check_writable(&file, "leave out `--fix`")?;
        replace(&file, &repaired, &file)?;
        fixed.extend(repairs.into_iter().map(|repair| Fixed::new(path, &text, repair)));
    }
    Ok(fixed)
}

impl Fixed {
    fn new(path: &Path, text: &str, LineRepair { span, text: after }: LineRepair) -> Fixed {
        let line = text[..span.start].matches('\n').count() + 1;
        Fixed { path: path.to_owned(), line, before: text[span].to_owned(), after }
    }
}

/// Formats the changed lines.
pub(super) fn text(fixed: &[Fixed], page: &mut Page) {
    for Fixed { path, line, before, after } in fixed {
        let path = path.display().to_string();
        page.line(format_args!("{} {}:{line}", styled(GOOD, "fixed"), sanitize::line(&path)));
        page.line(format_args!("  - {}", sanitize::line(before)));
        page.line(format_args!("  + {}\n", sanitize::line(after)));
    }
}
