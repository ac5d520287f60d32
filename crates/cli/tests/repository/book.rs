//! The documentation as a book: its summary lists every page, and links lead to files and headings that
//! exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Returns the Markdown pages in `dir`.
fn pages(dir: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == "md")).collect()
}

/// Returns the destinations of the links and images of a page.
fn links(page: &str) -> Vec<String> {
    let events = Parser::new_ext(page, Options::ENABLE_TABLES);
    let links = events.filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            Some(dest_url.into_string())
        }
        _ => None,
    });
    links.collect()
}

/// Returns the anchors of the headings of a page, as GitHub and mdbook generate them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut anchors = BTreeSet::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                let heading = heading.take().unwrap().to_lowercase().replace(' ', "-");
                let is_kept = |c: &char| c.is_alphanumeric() || "-_".contains(*c);
                anchors.insert(heading.chars().filter(is_kept).collect());
            }
            _ => {}
        }
    }
    anchors
}

/// Returns the fault of a link on the page at `path`, as a phrase.
fn fault(path: &Path, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() { path.to_owned() } else { path.parent().unwrap().join(file) };
    if !target.exists() {
        return Some(format!("{}: no file `{link}`", path.display()));
    }
    let is_page = target.extension().is_some_and(|end| end == "md");
    if anchor.is_empty() || !is_page {
        return None;
    }
    let page = fs::read_to_string(target).unwrap();
    (!anchors(&page).contains(anchor)).then(|| format!("{}: no heading `{link}`", path.display()))
}

#[test]
fn every_page_is_in_the_summary_of_the_book_once() {
    let docs = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("docs");
    let named = links(&fs::read_to_string(docs.join("SUMMARY.md")).unwrap());
    let is_page = |path: &PathBuf| !path.ends_with("SUMMARY.md");
    let pages: BTreeSet<String> = pages(&docs)
        .into_iter()
        .filter(is_page)
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert!(pages.len() > 15, "{pages:?}");
    assert_eq!(named.iter().cloned().collect::<BTreeSet<_>>(), pages);
    assert_eq!(named.len(), pages.len(), "a page is in the summary twice: {named:?}");
}

#[test]
fn links_lead_to_files_and_headings_that_exist() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut n_links = 0;
    let mut faults = Vec::new();
    for dir in ["", "docs", "benches", "plugin-api", "bindings/python", "bindings/node"] {
        for path in pages(&root.join(dir)) {
            let links = links(&fs::read_to_string(&path).unwrap());
            n_links += links.len();
            faults.extend(links.iter().filter_map(|link| fault(&path, link)));
        }
    }
    assert!(n_links > 100, "{n_links} links were followed");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn links_to_nowhere_are_found() {
    let page = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("docs/skills.md");
    for (link, is_fault) in [
        ("check.md", false),
        ("../README.md", false),
        ("https://example.com/#x", false),
        ("missing.md", true),
        ("check.md#no-such-heading", true),
        ("#no-such-heading", true),
    ] {
        assert_eq!(fault(&page, link).is_some(), is_fault, "{link}");
    }
    let text = "# A `b-c`: d, e!\n\n[x](y.md#z) ![p](q.png)\n\n```\n[no](link.md)\n```\n";
    assert_eq!(anchors(text).into_iter().collect::<Vec<_>>(), ["a-b-c-d-e"]);
    assert_eq!(links(text), ["y.md#z", "q.png"]);
}
