//! Resources: the files of skills, at `skill://ID/PATH`.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::model::{
    ErrorData, ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};
use serde_json::json;

use super::{Connection, no_cursor, protocol_error};
use crate::activation::{Content, ReadOptions, bundled_files};
use crate::catalog::{Audience, Catalog, Entry};
use crate::error::{Error, ErrorCode};

/// As many files of one skill as are listed; the others can be read all the same.
const MAX_FILES: usize = 100;

/// A page of the list ends after the skill that brings it to so many files.
const PAGE: usize = 200;

/// What the cursors of pages begin with. A skill that is gone by then is no reason to refuse one.
const MARK: &str = "from:";

const SCHEME: &str = "skill://";

/// What is written with `%`: all but what RFC 3986 calls unreserved, and the slashes between parts.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// How to make the address of any file.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new("skill://{+id}/{+path}", "file of a skill")
        .with_description("A file that comes with a skill, by its path in the skill's directory.")
}

impl Connection {
    /// A page of the files that come with the skills of the model. A cursor is the id of the
    /// skill that a page begins with, with a mark before it.
    pub(super) fn resources(&self, cursor: Option<&str>) -> Result<ListResourcesResult, Error> {
        let catalog = self.engine.catalog();
        if cursor.is_none() {
            self.listed.note_skills(&catalog);
        }
        let from = cursor.map(|cursor| cursor.strip_prefix(MARK).ok_or_else(|| no_cursor(cursor)));
        let from = from.transpose()?.unwrap_or_default();
        let mut page = ListResourcesResult::default();
        for entry in catalog.listed(Audience::Model).filter(|entry| entry.id.as_str() >= from) {
            if page.resources.len() >= PAGE {
                page.next_cursor = Some(format!("{MARK}{}", entry.id));
                break;
            }
            page.resources.extend(files(entry));
        }
        Ok(page)
    }

    /// Reads the file at `uri`.
    pub(super) fn read(&self, uri: &str) -> Result<ReadResourceResult, ErrorData> {
        let read = || {
            let (skill, path) = parse(uri, &self.engine.catalog())?;
            self.engine.read_resource(&skill, &path, &self.session, &ReadOptions::default())
        };
        let resource = read().map_err(|error| match error.code() {
            ErrorCode::NotFound => {
                let data = json!({"uri": uri});
                ErrorData::resource_not_found(protocol_error(&error).message, Some(data))
            }
            _ => protocol_error(&error),
        })?;
        let contents = match resource.content {
            Content::Text { text, .. } => ResourceContents::text(text, uri),
            Content::Base64(blob) => ResourceContents::blob(blob, uri),
        };
        Ok(ReadResourceResult::new(vec![contents.with_mime_type(resource.media_type)]))
    }
}

/// The files that come with a skill.
fn files(entry: &Entry) -> impl Iterator<Item = Resource> {
    let files = entry.skill.dir().and_then(|dir| bundled_files(dir, MAX_FILES).ok());
    files.into_iter().flat_map(|bundled| bundled.files).map(|path| {
        let guess = mime_guess::from_path(&path).first();
        let resource = Resource::new(uri(entry.id.as_str(), &path), format!("{}/{path}", entry.id));
        match guess {
            Some(media_type) => resource.with_mime_type(media_type.essence_str()),
            None => resource,
        }
    })
}

fn uri(skill: &str, path: &str) -> String {
    let encoded = |text| utf8_percent_encode(text, ENCODED);
    format!("{SCHEME}{}/{}", encoded(skill), encoded(path))
}

/// The skill and the path that `uri` means. Both may have slashes: the longest beginning that is
/// the id of a skill is one, since the files of a skill are never those of another below it.
fn parse(uri: &str, catalog: &Catalog) -> Result<(String, String), Error> {
    let malformed = |why| {
        let message = format!("`{uri}` {why}");
        Error::new(ErrorCode::InvalidParam, message, "write `skill://ID/PATH`")
    };
    // A scheme has no case.
    let rest = uri.get(..SCHEME.len()).filter(|scheme| scheme.eq_ignore_ascii_case(SCHEME));
    let rest =
        rest.map(|_| &uri[SCHEME.len()..]).ok_or_else(|| malformed("is no skill address"))?;
    if rest.contains(['?', '#']) {
        return Err(malformed("has a query or a fragment"));
    }
    let decoded =
        |text| percent_decode_str(text).decode_utf8().map_err(|_| malformed("is not UTF-8"));
    let mut shortest = None;
    for (slash, _) in rest.rmatch_indices('/') {
        let (id, path) = (decoded(&rest[..slash])?, decoded(&rest[slash + 1..])?);
        if catalog.get(&id).is_some() {
            return Ok((id.into_owned(), path.into_owned()));
        }
        shortest = Some((id.into_owned(), path.into_owned()));
    }
    // No id fits; the error of whoever looks for this one says which ids are near.
    shortest.ok_or_else(|| malformed("has no path"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::skill::Skill;

    #[test]
    fn addresses_are_read_as_they_are_written() {
        let skill = |name: &str| -> Skill {
            format!("---\nname: {name}\ndescription: d\n---\n").parse().unwrap()
        };
        let engine = Engine::builder().skill(skill("plan")).skill(skill("o-k")).build().unwrap();
        for (id, path, written) in [
            ("plan", "a.md", "skill://plan/a.md"),
            ("plan", "ref/a b.md", "skill://plan/ref/a%20b.md"),
            ("plan", "100%?#.md", "skill://plan/100%25%3F%23.md"),
            ("o-k", "ü/~x.md", "skill://o-k/%C3%BC/~x.md"),
        ] {
            assert_eq!(uri(id, path), written);
            let read = parse(written, &engine.catalog()).unwrap();
            assert_eq!((&*read.0, &*read.1), (id, path));
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let engine = Engine::builder().build().unwrap();
        for (address, why) in [
            ("", "is no skill address"),
            ("file:///etc/passwd", "is no skill address"),
            ("skill:/", "is no skill address"),
            ("skill://plan", "has no path"),
            ("skill://plan/%ff", "is not UTF-8"),
            ("skill://plan/a?b", "has a query or a fragment"),
        ] {
            let error = parse(address, &engine.catalog()).unwrap_err();
            assert_eq!(error.message(), format!("`{address}` {why}"));
        }
        let unknown = parse("Skill://a%2Fb/c/d", &engine.catalog()).unwrap();
        assert_eq!(unknown, ("a/b".to_owned(), "c/d".to_owned()));
    }
}
