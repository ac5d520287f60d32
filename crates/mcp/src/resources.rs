//! MCP resources: the files and directories of skills, at `skill://PATH/FILE`.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::model::{
    DIRECTORY_MIME_TYPE, ErrorData, ListResourcesResult, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::json;

use super::Connection;
use super::address::{self, SKILL_MD};
use super::blocking::{blocking, protocol_error};
use super::consent::{self, Consented};
use super::pages::{after_mark, cursor_at};
use super::skills::MAX_FILE_BYTES;
use repertoire::activation::{Content, ReadOptions, files_of, has_directory};
use repertoire::catalog::{Audience, Catalog, Entry};
use repertoire::disclosure::{description_text, model_text, path_line};
use repertoire::{Error, ErrorCode};

/// The maximum number of files of one skill in the list of all files. The others can still be read.
const MAX_FILES: usize = 100;

/// The maximum number of files of one skill in the lists of its directories.
const MAX_FILES_OF_DIRECTORY: usize = 10_000;

/// The number of files on a page. A page of the list of all files ends after the skill that reaches it.
const PAGE: usize = 200;

const MARKDOWN: &str = "text/markdown";

/// Returns the template for the address of any file.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new("skill://{+id}/{+path}", "file of a skill")
        .with_description("A file that comes with a skill, by its path in the skill's directory.")
}

impl Connection {
    /// Returns a page of the files of all skills for the model. A cursor names the first skill of a
    /// page.
    pub(super) fn resources(&self, cursor: Option<&str>) -> Result<ListResourcesResult, Error> {
        let catalog = self.engine.catalog();
        if cursor.is_none() {
            self.listed.note_skills(&catalog);
        }
        let from = after_mark(cursor)?;
        let mut page = ListResourcesResult::default();
        for entry in catalog.listed(Audience::Model).filter(|entry| entry.id.as_str() >= from) {
            if page.resources.len() >= PAGE {
                page.next_cursor = Some(cursor_at(entry.id.as_str()));
                break;
            }
            let root = address::path_of(&catalog, entry);
            page.resources.push(skill_md(&root, entry));
            page.resources.extend(files(entry, MAX_FILES).into_iter().map(|path| {
                let name = format!("{}/{path}", entry.id);
                file(&format!("{root}/{path}"), &name)
            }));
        }
        Ok(page)
    }

    /// Returns a page of the direct children of the directory at `uri`. A cursor names the first
    /// item of a page.
    ///
    /// Fails with `INVALID_PARAM` if there is no such directory.
    pub(super) fn directory(
        &self,
        uri: &str,
        cursor: Option<&str>,
    ) -> Result<ListResourcesResult, Error> {
        let path = address::path_in(uri)?;
        let from = after_mark(cursor)?;
        let children = children(&self.engine.catalog(), &path).ok_or_else(|| {
            let message = format!("`{uri}` is not a directory of a skill");
            let help = "name one without a slash at its end, such as `skill://PATH/references`";
            Error::new(ErrorCode::InvalidParam, message, help)
        })?;
        let mut children = children.into_iter().skip_while(|(name, _)| name.as_str() < from);
        let mut page = ListResourcesResult::default();
        page.resources.extend(children.by_ref().take(PAGE).map(|(_, child)| child));
        page.next_cursor = children.next().map(|(name, _)| cursor_at(&name));
        Ok(page)
    }

    fn read(&self, skill: &str, path: &str, uri: &str) -> Result<ReadResourceResult, Error> {
        let (contents, media_type) = if path == SKILL_MD {
            let portable = self.engine.portable(skill, &self.session)?;
            (ResourceContents::text(model_text(&portable.text), uri), MARKDOWN.to_owned())
        } else {
            let mut options = ReadOptions::default();
            options.max_bytes = MAX_FILE_BYTES;
            let resource = self.engine.read_resource(skill, path, &self.session, &options)?;
            let contents = match resource.content {
                Content::Text { text, .. } => ResourceContents::text(text, uri),
                Content::Base64(blob) => ResourceContents::blob(blob, uri),
            };
            (contents, resource.media_type)
        };
        Ok(ReadResourceResult::new(vec![contents.with_mime_type(media_type)]))
    }
}

/// Answers `resources/read`. Reading a file needs the same consent as activating its skill.
pub(super) async fn read(
    connection: &Arc<Connection>,
    request: ReadResourceRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<ReadResourceResponse, ErrorData> {
    let uri = request.uri.clone();
    let answer = answer(connection, request, context).await;
    answer.map_err(|error| match error.code() {
        ErrorCode::NotFound => {
            let data = json!({"uri": uri});
            ErrorData::resource_not_found(protocol_error(&error).message, Some(data))
        }
        _ => protocol_error(&error),
    })
}

async fn answer(
    connection: &Arc<Connection>,
    request: ReadResourceRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<ReadResourceResponse, Error> {
    let uri = request.uri;
    let (skill, path) = address::parse(&connection.engine.catalog(), &uri)?;
    let read = || {
        let (connection, skill) = (Arc::clone(connection), skill.clone());
        let (path, uri) = (path.clone(), uri.clone());
        blocking("resources/read", move || connection.read(&skill, &path, &uri))
    };
    let mut contents = read().await?;
    if contents.as_ref().is_err_and(|error| error.code() == ErrorCode::ConsentRequired) {
        let (skill, responses) = (skill.clone(), request.input_responses);
        match consent::ask(connection, skill, Audience::Model, responses, context).await? {
            Consented::Yes => contents = read().await?,
            Consented::NobodyToAsk => {}
            Consented::Pending(pending) => return Ok((*pending).into()),
        }
    }
    Ok(contents?.into())
}

/// Returns the children, by name, of the directory at `path` below `skill://`. Returns `None` if there
/// is no such directory. Ids may have several segments, so there are also directories above skills.
fn children(catalog: &Catalog, path: &str) -> Option<BTreeMap<String, Resource>> {
    if path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return None;
    }
    let mut children = BTreeMap::new();
    let add_directory = |children: &mut BTreeMap<_, _>, name: &str| {
        let uri = address::uri(&format!("{path}/{name}"));
        let directory = Resource::new(uri, model_text(name)).with_mime_type(DIRECTORY_MIME_TYPE);
        children.insert(name.to_owned(), directory);
    };
    for entry in catalog.listed(Audience::Model) {
        let below = address::path_of(catalog, entry);
        if let Some(below) = below.strip_prefix(path).and_then(|below| below.strip_prefix('/')) {
            add_directory(&mut children, below.split('/').next().unwrap_or(below));
        }
    }
    let here = address::directory_at(catalog, path);
    let Some((entry, inner)) = here else { return (!children.is_empty()).then_some(children) };
    let prefix = if inner.is_empty() { String::new() } else { format!("{inner}/") };
    let nested = catalog.nested(entry, Audience::Model).map(|(dir, _)| format!("{dir}/{SKILL_MD}"));
    for below in files(entry, MAX_FILES_OF_DIRECTORY).into_iter().chain(nested) {
        let Some(below) = below.strip_prefix(&prefix) else { continue };
        if let Some((name, _)) = below.split_once('/') {
            add_directory(&mut children, name);
        } else {
            children.insert(below.to_owned(), file(&format!("{path}/{below}"), below));
        }
    }
    if inner.is_empty() {
        children.insert(SKILL_MD.to_owned(), skill_md(path, entry));
        return Some(children);
    }
    let is_there = || has_directory(&entry.skill, &inner);
    (!children.is_empty() || is_there()).then_some(children)
}

/// Returns the paths of at most `limit` files that come with a skill.
fn files(entry: &Entry, limit: usize) -> Vec<String> {
    files_of(&entry.skill, limit).map(|found| found.files).unwrap_or_default()
}

fn skill_md(root: &str, entry: &Entry) -> Resource {
    let uri = address::uri(&format!("{root}/{SKILL_MD}"));
    Resource::new(uri, entry.skill.portable_name())
        .with_description(description_text(&entry.skill.portable_description()))
        .with_mime_type(MARKDOWN)
}

fn file(path: &str, name: &str) -> Resource {
    let resource = Resource::new(address::uri(path), path_line(name));
    match mime_guess::from_path(path).first() {
        Some(media_type) => resource.with_mime_type(media_type.essence_str()),
        None => resource,
    }
}
