//! Findings in SARIF 2.1.0, the format of code scanners (OASIS).

use std::path::{Component, Path};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use repertoire::{Code, Diagnostic, Severity};
use serde_json::{Value as Json, json};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The characters that are percent-encoded in the path of a URI: all but unreserved ones and the
/// separator.
const PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');

/// Returns a log with one run, which has all findings.
pub(super) fn log(diagnostics: &[Diagnostic]) -> Json {
    let mut codes: Vec<Code> = diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    codes.sort_unstable();
    codes.dedup();
    let rules: Vec<Json> = codes.iter().map(|code| rule(*code)).collect();
    let results: Vec<Json> = diagnostics.iter().map(|found| result(found, &codes)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "repertoire",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(code: Code) -> Json {
    json!({
        "id": code.as_str(),
        "shortDescription": {"text": code.description()},
        "defaultConfiguration": {"level": code.severity().as_str()},
    })
}

fn result(found: &Diagnostic, codes: &[Code]) -> Json {
    let mut place = json!({"artifactLocation": {"uri": address(&found.path)}});
    if let Some(span) = &found.span {
        place["region"] = json!({
            "startLine": found.line,
            "startColumn": found.column,
            "byteOffset": span.start,
            "byteLength": span.len(),
        });
    }
    let level = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    json!({
        "ruleId": found.code.as_str(),
        "ruleIndex": codes.binary_search(&found.code).unwrap_or_default(),
        "level": level,
        "message": {"text": format!("{}. {}", found.message, found.help)},
        "locations": [{"physicalLocation": place}],
    })
}

/// Returns the URI of a file. It is relative to the working directory if the file is below that,
/// since scanners look there.
fn address(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    let below = path.strip_prefix(&here).unwrap_or(path);
    let parts = below.components().filter(|part| *part != Component::CurDir);
    let text = parts.collect::<std::path::PathBuf>().to_string_lossy().replace('\\', "/");
    let encoded = utf8_percent_encode(&text, PATH).to_string();
    if text.starts_with('/') { format!("file://{encoded}") } else { encoded }
}
