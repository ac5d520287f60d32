//! Checks the links of a body: broken links to files that the skill does not have, and links that leave
//! the skill.
//!
//! A link is looked up only if its destination is surely meant as a file of the skill: not a URL, an
//! anchor, an absolute path, a placeholder (`<name>.md`, `${DIR}/x`), or a word without a file
//! extension. A link that leaves the skill's directory is not looked up either, since the files there
//! depend on where the skill is installed.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;
use std::path::{Component, Path};

use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag};

use crate::diagnostic::Code;
use crate::skill::fields::excerpt;
use crate::skill::finding::Finding;

/// The most links reported in one file. A broken destination is reported at its first occurrence only.
const MAX_REPORTED: usize = 50;

/// Characters that occur in placeholders and in fragments of code, but not in links to files.
const NOT_OF_A_PATH: [char; 14] =
    ['<', '>', '{', '}', '[', ']', '$', '*', '|', '^', '\\', '(', ')', '"'];

/// Endings of host names that are written without a scheme, as in `docs.example.com/start`.
const HOST_ENDINGS: [&str; 8] = [".com", ".org", ".net", ".io", ".dev", ".ai", ".app", ".co"];

/// Finds the links of `text`, from byte `body` on, whose destination does not exist below `directory`.
pub(super) fn broken(text: &str, body: usize, directory: &Path) -> Vec<Finding> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for Link { destination, span, .. } in links(&text[body..]) {
        if found.len() == MAX_REPORTED {
            break;
        }
        let Some(path) = path_in_skill(&destination) else { continue };
        if !seen.insert(destination.clone()) || exists(directory, &destination, &path) {
            continue;
        }
        found.push(Finding::new(
            Code::BrokenLink,
            body + span.start..body + span.end,
            format!("the link leads to `{}`, which is not in the skill", excerpt(&path)),
            "write the path from the skill's directory, add the file, or remove the link",
        ));
    }
    found
}

/// Finds the links of `text`, from byte `body` on, that lead out of the skill: links to files outside of
/// it, links that contain text or code themselves (such as `data:`), and images that are loaded from a
/// server when they are shown.
pub(super) fn leaving(text: &str, body: usize) -> Vec<Finding> {
    let found =
        links(&text[body..]).into_iter().filter_map(|Link { destination, span, is_image }| {
            let lower = destination.to_ascii_lowercase();
            let scheme = |schemes: &[&str]| schemes.iter().any(|scheme| lower.starts_with(scheme));
            let path = destination.split(['#', '?']).next().unwrap_or_default();
            let why = if scheme(&["javascript:", "vbscript:", "data:"]) {
                "holds its content in itself"
            } else if scheme(&["file:"])
                || path.starts_with(['/', '~', '\\']) && !path.starts_with("//")
            {
                "leads to a file of the machine"
            } else if is_image && (scheme(&["http:", "https:"]) || path.starts_with("//")) {
                "is an image that is loaded from elsewhere when it is shown"
            } else if !lower.contains(':') && leaves(Path::new(&*percent_decoded(path))) {
                "leads out of the skill"
            } else {
                return None;
            };
            Some(Finding::new(
                Code::LeavingLink,
                body + span.start..body + span.end,
                format!("the link `{}` {why}", excerpt(&destination)),
                "put the file into the skill, or write the address as text",
            ))
        });
    found.take(MAX_REPORTED).collect()
}

/// A link or an image, with the bytes of the body where its destination is written.
struct Link {
    destination: String,
    span: Range<usize>,
    is_image: bool,
}

/// Returns the links and images outside of code, in the order of the body. The span of a reference is in
/// its definition.
fn links(body: &str) -> Vec<Link> {
    let mut parser = Parser::new_ext(body, Options::ENABLE_TABLES).into_offset_iter();
    let mut found = Vec::new();
    for (event, span) in parser.by_ref() {
        let is_image = matches!(event, Event::Start(Tag::Image { .. }));
        if let Event::Start(
            Tag::Link { link_type, dest_url, id, .. } | Tag::Image { link_type, dest_url, id, .. },
        ) = event
            && !matches!(link_type, LinkType::Autolink | LinkType::Email)
        {
            let label = (link_type != LinkType::Inline).then_some(id);
            found.push((label, Link { destination: dest_url.into_string(), span, is_image }));
        }
    }
    let definitions = parser.reference_definitions();
    let link = |(label, link): (Option<CowStr<'_>>, Link)| {
        let definition = label.as_deref().and_then(|label| definitions.get(label));
        let whole = definition.map_or(link.span, |definition| definition.span.clone());
        Link { span: place(body, whole, &link.destination), ..link }
    };
    found.into_iter().map(link).collect()
}

/// Returns the range of `destination` in the link at `whole`, or `whole` if the destination is not found
/// there.
fn place(body: &str, whole: Range<usize>, destination: &str) -> Range<usize> {
    let written = body.get(whole.clone()).unwrap_or_default();
    let after_text = written.rfind("](").or_else(|| written.rfind("]:")).map_or(0, |at| at + 2);
    match written[after_text..].find(destination) {
        Some(at) if !destination.is_empty() => {
            let start = whole.start + after_text + at;
            start..start + destination.len()
        }
        // With an escape or an entity, the destination is written differently.
        _ => whole,
    }
}

/// Returns the path in the skill that `destination` names, if it is surely meant as one.
fn path_in_skill(destination: &str) -> Option<String> {
    let path = destination.split(['#', '?']).next().unwrap_or_default();
    let scheme = path.split_once(':').map(|(scheme, _)| scheme);
    let has_scheme = scheme.is_some_and(|scheme| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
    });
    if path.is_empty()
        || has_scheme
        || path.starts_with(['/', '~', '@'])
        || path.contains(NOT_OF_A_PATH)
        || path.contains("...")
        || path.contains('…')
    {
        return None;
    }
    let path = percent_decoded(path).into_owned();
    let host = path.split('/').next().unwrap_or_default();
    let is_host = host.starts_with("www.")
        || (host.len() < path.len() && HOST_ENDINGS.iter().any(|end| host.ends_with(end)));
    let is_example = path.starts_with("path/to/") || path.starts_with("./path/to/");
    // A path such as `.wiki/index.md` belongs to the project that the skill works on.
    let is_hidden = host.starts_with('.') && !matches!(host, "." | "..");
    if is_host || is_example || is_hidden || path.contains(char::is_control) {
        return None;
    }
    // A word without a file extension, as in `[text](link)`, may be a placeholder.
    let is_named_so = path.ends_with('/') || path.starts_with("./");
    let name = path.rsplit('/').next().unwrap_or_default();
    if !is_named_so && !has_ending(name) {
        return None;
    }
    (!leaves(Path::new(&path))).then_some(path)
}

/// Tells whether a file's name has an extension of 1 to 10 letters and digits.
fn has_ending(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty()
            && (1..=10).contains(&ending.len())
            && ending.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

/// Tells whether a relative path leads out of the directory it starts from.
pub(super) fn leaves(path: &Path) -> bool {
    let mut depth = 0_usize;
    for part in path.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            _ => return true,
        }
    }
    false
}

/// Tells whether the file or directory exists, by its path as written or percent-decoded. A path that
/// cannot be examined counts as existing.
fn exists(directory: &Path, destination: &str, path: &str) -> bool {
    let written = destination.split(['#', '?']).next().unwrap_or_default();
    // `#` and `?` may also be part of a file's name.
    [path, written, destination]
        .iter()
        .any(|path| directory.join(path).try_exists().unwrap_or(true))
}

/// Decodes `%20` and the like in `path`. Returns `path` unchanged if the result is not UTF-8.
fn percent_decoded(path: &str) -> Cow<'_, str> {
    let mut parts = path.split('%');
    let mut decoded = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let digits = part.get(..2).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => decoded.extend([&[byte], &part.as_bytes()[2..]].concat()),
            None => decoded.extend([b"%", part.as_bytes()].concat()),
        }
    }
    String::from_utf8(decoded).map_or(Cow::Borrowed(path), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what the findings for a body quote, in a directory with `guide.md`, `my notes.md` and
    /// `docs/`.
    fn quoted(body: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        for file in ["guide.md", "my notes.md", "docs/a.md", "100%.md"] {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let text = format!("---\nname: a\n---\n{body}");
        let found = broken(&text, text.len() - body.len(), dir.path());
        found.iter().map(|finding| text[finding.span.clone().unwrap()].to_owned()).collect()
    }

    #[test]
    fn links_to_files_that_are_not_there_are_found_where_they_are_written() {
        for (body, expected) in [
            ("See [it](gone.md).", &["gone.md"][..]),
            ("See [it](./gone/) and [it](docs/gone.md#top).", &["./gone/", "docs/gone.md#top"]),
            ("![drawn](img/flow.png \"title\")", &["img/flow.png"]),
            ("[a](<my gone.md>) [b](my%20gone.md)", &["my gone.md", "my%20gone.md"]),
            ("[a][g] and [g]\n\n[g]: gone.md 'title'\n", &["gone.md"]),
            ("[a](gone.md)\n\n- [b](gone.md)\n", &["gone.md"]),
            ("| a |\n|---|\n| [x](gone.md) |\n", &["gone.md"]),
            ("[gone.md](docs/../gone.md)", &["docs/../gone.md"]),
            ("[a](gone\\_x.md)", &["[a](gone\\_x.md)"]),
            ("é [ü](größe.md)", &["größe.md"]),
        ] {
            assert_eq!(quoted(body), expected, "{body}");
        }
    }

    #[test]
    fn what_is_there_or_not_a_file_of_the_skill_is_left_alone() {
        for body in [
            "[a](guide.md) [b](./guide.md#part) [c](guide.md?plain=1) [d](docs/) [e](docs)",
            "[a](my%20notes.md) [b](<my notes.md>) [c](100%.md) [d](docs/../guide.md)",
            "[a](https://example.org/x.md) [b](mailto:a@example.org) <a@example.org> [c](//x.y/z.md)",
            "[a](#part) [b](/etc/gone.md) [c](~/gone.md) [d](../gone.md) [e](docs/../../gone.md)",
            "`[a](gone.md)`\n\n```\n[a](gone.md)\n```\n\n    [a](gone.md)\n",
            "[a](<{name}.md>) [b](${DIR}/gone.md) [c]($FILE.md) [d](&lt;name&gt;.md) [e](docs/*.md) [f](<[slug].md>)",
            "[a](url) [b](link) [c](path/to/file.md) [d](...) [e](docs/next)",
            "[a](www.example.org/x.md) [b](docs.example.com/x.md) [c](mdc:rules/x.mdc) [d](.wiki/gone.md)",
            "[a]() [b] [c][d] \\[a](gone.md)",
            "<!-- [a](gone.md) -->",
        ] {
            assert_eq!(quoted(body), [""; 0], "{body}");
        }
    }

    #[test]
    fn a_body_of_links_alone_is_answered_in_no_time() {
        let links: Vec<String> = (0..50_000).map(|n| format!("[a](gone{n}.md)\n")).collect();
        assert_eq!(quoted(&links.concat()).len(), MAX_REPORTED);
        let same = "[a](guide.md)".repeat(50_000);
        assert_eq!(quoted(&same), [""; 0]);
    }
}
