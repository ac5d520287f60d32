//! The loader: parses the text of a file into the parts of a skill.

use std::fs::File;
use std::io::Read as _;
use std::ops::Range;
use std::path::Path;

use super::brief::{brief, first_paragraph};
use super::document::{self, Document};
use super::fields::{Reader, duplicate_key};
use super::finding::Finding;
use super::manifest::Manifest;
use super::pointer;
use super::repair;
use super::yaml::{self, Node, Tree, Value, YamlError, YamlErrorKind};
use super::{MAX_BODY_BYTES, MAX_FRONT_MATTER_BYTES};
use crate::diagnostic::{Code, Diagnostic, position};

/// The largest file that can hold both parts of a legal skill, with fences and comments.
const MAX_FILE_BYTES: usize = MAX_BODY_BYTES + MAX_FRONT_MATTER_BYTES + 64 * 1024;

/// The longest line that is reported as a remedy: half of one does not load.
const MAX_REMEDY_CHARS: usize = 160;

/// The remedy for tabs that indent.
const TABS: &str = "indent with blanks, not with tabs";

/// The result of loading a text.
pub(super) struct Loaded {
    pub(super) findings: Vec<Finding>,
    /// The fields of the front matter that could be read.
    pub(super) manifest: Manifest,
    /// `None` if the text is not a skill; the findings say why.
    pub(super) parts: Option<Parts>,
}

/// The parts of a skill besides its manifest.
pub(super) struct Parts {
    pub(super) name: Option<String>,
    pub(super) description: String,
    pub(super) brief: String,
    /// First byte of the body.
    pub(super) body: usize,
}

/// Reads a `SKILL.md`, or says why not.
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
    // One byte more: the end is seen without another allocation.
    let mut bytes = Vec::with_capacity(size + 1);
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    // Not more than is of use, even if the file grows while it is read.
    file.take(MAX_FILE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(&error))?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(Diagnostic::new(
            Code::BodyTooLarge,
            path,
            format!("file of {} bytes is larger than any skill may be", metadata.len()),
            "move parts of the body into files next to `SKILL.md`, and name them in it",
        ));
    }
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

/// Reads `text` for a host named `brand`. Never fails as a whole: a problem is a finding.
pub(super) fn load(text: &str, brand: &str) -> Loaded {
    let mut reader = Reader { file: text, findings: Vec::new() };
    let mut manifest = Manifest::default();
    let parts = match document::split(text) {
        Err(finding) => {
            reader.findings.push(finding);
            None
        }
        Ok(document) => {
            let rescue = document.rescue.clone();
            let has_front_matter =
                rescue.as_ref().is_none_or(|finding| finding.code != Code::NoFrontMatter);
            if !has_front_matter && let Some(finding) = pointer::elsewhere(text) {
                reader.findings.push(finding);
                return Loaded { findings: reader.findings, manifest, parts: None };
            }
            reader.findings.extend(rescue);
            front_matter(&document, &mut reader).and_then(|entries| {
                manifest = Manifest::read(&entries, brand, &mut reader);
                reader.findings.extend(for_nobody(&manifest));
                parts(&document, &manifest, has_front_matter, &mut reader)
            })
        }
    };
    Loaded { findings: reader.findings, manifest, parts }
}

fn for_nobody(manifest: &Manifest) -> Option<Finding> {
    let span = manifest.user_invocable.as_ref().filter(|_| manifest.is_for_nobody())?.span.clone();
    let message = "neither the user nor the model may use the skill";
    let help = "take `user-invocable` out, or what disables its invocation by the model";
    Some(Finding::new(Code::ForNobody, span, message, help))
}

/// The top-level entries of the front matter; `None` if it cannot be read.
pub(super) fn front_matter(
    document: &Document,
    reader: &mut Reader<'_>,
) -> Option<Vec<(Node, Node)>> {
    let offset = document.front_matter.start;
    let source = &reader.file[document.front_matter.clone()];
    let tree = match yaml::parse(source, &|at| offset + at) {
        Ok(tree) => tree,
        Err(error) if error.kind == YamlErrorKind::Invalid => {
            return lenient_front_matter(source, offset, &error, reader);
        }
        Err(error) => {
            reader.report(
                Code::YamlTooComplex,
                place(&error, source, offset),
                format!("the front matter is too complex: {}", error.message),
                "write the values out flat, without anchors and aliases",
            );
            return None;
        }
    };
    Some(mapping(tree, offset, reader))
}

fn mapping(tree: Tree, offset: usize, reader: &mut Reader<'_>) -> Vec<(Node, Node)> {
    let duplicates = tree.duplicates.into_iter().map(|(key, span)| duplicate_key(&key, span));
    reader.findings.extend(duplicates);
    match tree.root {
        None => Vec::new(),
        Some(Node { value: Value::Mapping(entries), .. }) => entries,
        Some(node) if node.is_null() => Vec::new(),
        Some(node) => {
            reader.report(
                Code::NotAMapping,
                offset.max(node.span.start)..node.span.end,
                format!("the front matter is {}, not keys with values", node.kind()),
                "write lines such as `name: code-review` and `description: …`",
            );
            Vec::new()
        }
    }
}

/// Repairs front matter that is not valid, else salvages parts of it.
fn lenient_front_matter(
    source: &str,
    offset: usize,
    error: &YamlError,
    reader: &mut Reader<'_>,
) -> Option<Vec<(Node, Node)>> {
    let Fault { span, message, help } = Fault::of(error, source, offset, reader.file);
    if let Some(repaired) = repair::repair(source)
        && let Ok(tree) = yaml::parse(&repaired.text, &|at| offset + repaired.original(at))
        && matches!(&tree.root, Some(Node { value: Value::Mapping(_), .. }))
    {
        let help = help.unwrap_or_else(|| match &repaired.remedy {
            None => TABS.to_owned(),
            Some(line) if line.is_empty() || line.chars().count() > MAX_REMEDY_CHARS => {
                "indent alike what belongs together, or put all of the value in quotes".to_owned()
            }
            Some(line) => format!("write `{line}`"),
        });
        let message = format!("not valid YAML, repaired: {message}");
        reader.report(Code::RepairedYaml, span, message, help);
        return Some(mapping(tree, offset, reader));
    }
    let entries = repair::salvage(source, offset);
    let help = help.unwrap_or_else(|| {
        let help = if repair::tab_indent(source, error.at).is_some() {
            TABS
        } else if ["escape", "hexadecimal"].iter().any(|part| message.contains(part)) {
            "write it in single quotes: in double quotes a `\\` begins an escape"
        } else {
            "put quotes around values that hold `: `, ` #` or start with a special character"
        };
        help.to_owned()
    });
    if entries.iter().any(|(key, _)| key.text() == Some("description")) {
        let message =
            format!("not valid YAML, only `name` and `description` were saved: {message}");
        reader.report(Code::SalvagedYaml, span, message, help);
        return Some(entries);
    }
    reader.report(Code::InvalidYaml, span, format!("not valid YAML: {message}"), help);
    None
}

/// A fault that keeps front matter from being valid.
struct Fault {
    /// The character the error is about, as bytes of the file.
    span: Range<usize>,
    message: String,
    /// The remedy, if the error alone tells it.
    help: Option<String>,
}

impl Fault {
    fn of(error: &YamlError, source: &str, offset: usize, file: &str) -> Fault {
        // The parser gives the start of the value, and the character in the message.
        let forbidden = repair::forbidden(source, error.at)
            .filter(|(_, c)| error.message.contains(&c.escape_unicode().to_string()));
        let Some((at, c)) = forbidden else {
            let span = place(error, source, offset);
            return Fault { span, message: error.message.clone(), help: None };
        };
        let (line, _) = position(file, offset + at);
        let name = format!("U+{:04X}", u32::from(c));
        Fault {
            span: offset + at..offset + at + c.len_utf8(),
            message: format!("the character {name} is not allowed"),
            help: Some(format!(
                "remove the character {name} from line {line}; editors may not show it"
            )),
        }
    }
}

/// The character the error is about, as bytes of the file.
fn place(error: &YamlError, source: &str, offset: usize) -> Range<usize> {
    // The parser sees a tab only where it cannot go on.
    let at = repair::tab_indent(source, error.at).unwrap_or(error.at).min(source.len());
    let len = source.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    offset + at..offset + at + len
}

fn parts(
    document: &Document,
    manifest: &Manifest,
    has_front_matter: bool,
    reader: &mut Reader<'_>,
) -> Option<Parts> {
    let body = &reader.file[document.body..];
    let help = "write `description: ` with what the skill does and when to use it";
    let mut description = if let Some(description) = &manifest.description {
        description.value.clone()
    } else if let Some(paragraph) = first_paragraph(body) {
        // Without front matter its absence was already reported.
        if has_front_matter {
            let message = "no `description`; the first paragraph of the body stands in for it";
            reader.findings.push(Finding::whole(Code::DescriptionFromBody, message, help));
        }
        paragraph
    } else {
        let message = "no `description`, and no paragraph in the body to stand in for it";
        reader.findings.push(Finding::whole(Code::NoDescription, message, help));
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
    let name = manifest.name.as_ref().map(|name| name.value.clone());
    Some(Parts { name, description, brief, body: document.body })
}
