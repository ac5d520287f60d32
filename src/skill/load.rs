//! The loader: parses the text of a file into the parts of a skill.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use super::brief::{brief, first_paragraph};
use super::document::{self, Document, Fences};
use super::fields::Reader;
use super::finding::Finding;
use super::front_matter::FrontMatter;
use super::manifest::Manifest;
use super::pointer;
use super::quirk::Quirks;
use super::quirks_of::quirks_of;
use super::{MAX_BODY_BYTES, MAX_FRONT_MATTER_BYTES};
use crate::diagnostic::{Code, Diagnostic, position};
use crate::provider::Provided;

/// The largest file that is read: the largest legal body and front matter, with room for fences and
/// comments.
const MAX_FILE_BYTES: usize = MAX_BODY_BYTES + MAX_FRONT_MATTER_BYTES + 64 * 1024;

/// The result of loading the text of a skill.
pub(crate) struct Loaded {
    pub(crate) findings: Vec<Finding>,
    /// The fields of the front matter that could be parsed.
    pub(crate) manifest: Manifest,
    pub(super) quirks: Quirks,
    /// `None` if the text is not a skill; the findings say why.
    pub(crate) parts: Option<Parts>,
}

/// The parts of a skill besides its manifest.
pub(crate) struct Parts {
    pub(crate) description: String,
    pub(super) brief: String,
    /// The byte of the text at which the body starts.
    pub(crate) body: usize,
}

/// Reads the text of a `SKILL.md`; the diagnostic says why that failed.
pub(super) fn read(path: &Path) -> Result<String, Diagnostic> {
    let unreadable = |error: &std::io::Error| {
        let help = "check that the file exists and that you may read it";
        Diagnostic::new(Code::Unreadable, path, format!("cannot read the file: {error}"), help)
    };
    let metadata = path.metadata().map_err(|error| unreadable(&error))?;
    if !metadata.is_file() {
        let kind = if metadata.is_dir() { "a directory" } else { "a special file" };
        return Err(Diagnostic::new(
            Code::NotAFile,
            path,
            format!("this is {kind}, not a file"),
            "put the text of the skill into a file of this name",
        ));
    }
    let size = usize::try_from(metadata.len()).unwrap_or(MAX_FILE_BYTES).min(MAX_FILE_BYTES);
    // One byte more, so that `read_to_end` reaches the end without another allocation.
    let mut bytes = Vec::with_capacity(size + 1);
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    // Stop one byte above the limit, even if the file grows while it is read.
    file.take(MAX_FILE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(&error))?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(too_large(path, metadata.len()));
    }
    text_of(bytes, path)
}

/// Returns the bytes of the file that a provider has at `location`.
pub(super) fn bytes_of_provider(
    provided: &Provided,
    location: &Path,
) -> Result<Vec<u8>, Diagnostic> {
    provided.read(&provided.path_of(location)).map_err(|error| {
        let message = format!("cannot read the file: {error}");
        Diagnostic::new(Code::Unreadable, location, message, error.help())
    })
}

/// Returns the text of a `SKILL.md` at `location`, of which a provider has these bytes; the diagnostic says why
/// they cannot be those of a skill.
pub(super) fn of_provider(bytes: Vec<u8>, location: &Path) -> Result<String, Diagnostic> {
    if bytes.len() > MAX_FILE_BYTES {
        return Err(too_large(location, bytes.len() as u64));
    }
    text_of(bytes, location)
}

fn too_large(path: &Path, n_bytes: u64) -> Diagnostic {
    Diagnostic::new(
        Code::BodyTooLarge,
        path,
        format!("file of {n_bytes} bytes is larger than any skill may be"),
        "move parts of the body into files next to `SKILL.md`, and name them in it",
    )
}

fn text_of(bytes: Vec<u8>, path: &Path) -> Result<String, Diagnostic> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let bad = error.as_bytes().get(at).copied().unwrap_or_default();
        let valid = String::from_utf8_lossy(&error.as_bytes()[..at]);
        let mut diagnostic = Diagnostic::new(
            Code::NotUtf8,
            path,
            format!("byte 0x{bad:02x} is not UTF-8"),
            "save the file as UTF-8",
        );
        (diagnostic.line, diagnostic.column) = position(&valid, at);
        diagnostic
    })
}

/// Loads a skill from `text` for a host named `brand`. Never fails as a whole: every problem becomes a
/// finding.
pub(crate) fn load(text: &str, brand: &str) -> Loaded {
    let mut reader = Reader { file: text, findings: Vec::new() };
    let (mut manifest, mut quirks) = (Manifest::default(), Quirks::default());
    let document = document::split(text).and_then(|document| {
        let is_text = document.fences == Fences::None;
        is_text.then(|| pointer::elsewhere(text)).flatten().map_or(Ok(document), Err)
    });
    let parts = match document {
        Err(finding) => {
            reader.findings.push(finding);
            None
        }
        Ok(document) => {
            reader.findings.extend(document.tolerated_fault.clone());
            let front_matter = FrontMatter::read(text, &document);
            quirks = quirks_of(text, &document, &front_matter);
            reader.findings.extend(front_matter.findings);
            front_matter.entries.and_then(|entries| {
                let beside = [&front_matter.replaced[..], &front_matter.closing[..]];
                manifest = Manifest::read(&entries, beside, brand, &mut reader);
                reader.findings.extend(for_nobody(&manifest));
                parts(&document, &manifest, &mut reader)
            })
        }
    };
    Loaded { findings: reader.findings, manifest, quirks, parts }
}

fn for_nobody(manifest: &Manifest) -> Option<Finding> {
    let span = manifest.user_invocable.as_ref().filter(|_| manifest.is_unreachable())?.span.clone();
    let message = "neither the user nor the model may use the skill";
    let help = "remove `user-invocable`, or the field that disables its invocation by the model";
    Some(Finding::new(Code::Unreachable, span, message, help))
}

fn parts(document: &Document, manifest: &Manifest, reader: &mut Reader<'_>) -> Option<Parts> {
    let mut body = &reader.file[document.body..];
    if document.fences == Fences::Opening {
        // The keys above the first blank line are not a paragraph.
        let blank = body.find("\n\n").or_else(|| body.find("\n\r\n"));
        body = &body[blank.unwrap_or(body.len())..];
    }
    let help = "write `description: ` with what the skill does and when to use it";
    let mut description = if let Some(description) = &manifest.description {
        description.value.clone()
    } else if let Some(paragraph) = first_paragraph(body) {
        // A missing fence was already reported.
        if document.fences == Fences::Both {
            let message = "no `description`; the first paragraph of the body stands in for it";
            reader.findings.push(Finding::whole(Code::DescriptionFromBody, message, help));
        }
        paragraph
    } else {
        // If the front matter is beyond repair, that is the fault, and it was reported.
        let is_told =
            |finding: &Finding| matches!(finding.code, Code::SalvagedYaml | Code::InvalidYaml);
        if !reader.findings.iter().any(is_told) {
            let message = "no `description`, and no paragraph in the body to stand in for it";
            reader.findings.push(Finding::whole(Code::NoDescription, message, help));
        }
        return None;
    };
    let brief = match &manifest.brief_description {
        Some(brief) => brief.value.clone(),
        None => brief(&description),
    };
    if let Some(when_to_use) = &manifest.when_to_use {
        description.push(' ');
        description.push_str(&when_to_use.value);
    }
    Some(Parts { description, brief, body: document.body })
}
