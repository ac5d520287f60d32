//! MCP's Skills extension: skills as entries with their front matter and the digests of their files.

use std::borrow::Cow;

use rmcp::model::{
    CacheScope, GetSkillResult, ListSkillsResult, Skill, SkillFrontmatter, SkillResource,
    SkillResources,
};
use serde_json::Value;

use super::Connection;
use super::address::{self, SKILL_MD};
use super::pages::{after_mark, cursor_at};
use repertoire::activation::{bytes_of, files_of};
use repertoire::catalog::{Audience, Catalog, Entry};
use repertoire::disclosure::{clean_json, model_text};
use repertoire::skill::Portable;
use repertoire::{Error, ErrorCode};

/// The maximum number of files of a skill in the extension, including its `SKILL.md` and nested skills.
const MAX_FILES: usize = 512;

/// The maximum size of all files of a skill in the extension, in bytes.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The largest file that is served. The official clients close a connection on a line longer than
/// 10 MiB, and base64 adds a third.
pub(super) const MAX_FILE_BYTES: usize = 7 * 1024 * 1024;

/// The limits of a page of the list: it ends after the skill that reaches this many skills, files
/// or bytes.
const PAGE_SKILLS: usize = 50;
const PAGE_FILES: usize = 1000;
const PAGE_BYTES: u64 = 2 * MAX_BYTES as u64;

/// The time for which a client may cache an entry, in milliseconds. The server notifies clients of
/// changes.
const TTL_MS: u64 = 60_000;

impl Connection {
    /// Returns a page of the skills for the model. A skill too large for the extension is left out
    /// with a warning.
    pub(super) fn skills(&self, cursor: Option<&str>) -> Result<ListSkillsResult, Error> {
        let catalog = self.engine.catalog();
        if cursor.is_none() {
            self.listed.note_skills(&catalog);
        }
        let from = after_mark(cursor)?;
        let mut page = ListSkillsResult::default();
        let (mut n_files, mut n_bytes) = (0, 0);
        for entry in catalog.listed(Audience::Model).filter(|entry| entry.id.as_str() >= from) {
            let is_full = page.skills.len() >= PAGE_SKILLS;
            if is_full || n_files >= PAGE_FILES || n_bytes >= PAGE_BYTES {
                page.next_cursor = Some(cursor_at(entry.id.as_str()));
                break;
            }
            match described(&catalog, entry) {
                Ok(skill) => {
                    if let SkillResources::Files(files) = &skill.resources {
                        n_files += files.len();
                        n_bytes += files.iter().map(|file| file.size).sum::<u64>();
                    }
                    page.skills.push(skill);
                }
                Err(error) => tracing::warn!(id = %entry.id, %error, "a skill is not listed"),
            }
        }
        Ok(page.with_ttl_ms(TTL_MS).with_cache_scope(CacheScope::Private))
    }

    /// Returns the skill whose `SKILL.md` is at `uri`. Fails with `NOT_FOUND` if there is none.
    pub(super) fn skill(&self, uri: &str) -> Result<GetSkillResult, Error> {
        let catalog = self.engine.catalog();
        let (id, file) = address::parse(&catalog, uri)?;
        let missing = |help: String| {
            let message = format!("there is no skill at `{uri}`");
            Error::new(ErrorCode::NotFound, message, help)
        };
        let entry = catalog.listed(Audience::Model).find(|entry| entry.id == *id);
        let Some(entry) = entry.filter(|_| file == SKILL_MD) else {
            return Err(missing("see `skills/list`".to_owned()));
        };
        let skill = described(&catalog, entry)?;
        if skill.uri != uri {
            return Err(missing(format!("it is at `{}`", skill.uri)));
        }
        let mut result = GetSkillResult::new(skill);
        (result.ttl_ms, result.cache_scope) = (Some(TTL_MS), Some(CacheScope::Private));
        Ok(result)
    }
}

/// Describes a skill with its own files and those of the skills nested in it, each at its address.
///
/// Fails with `INVALID_PARAM` if the skill exceeds the limits of the extension, and with
/// `EXECUTION_ERROR` if its `SKILL.md` cannot be read.
fn described(catalog: &Catalog, entry: &Entry) -> Result<Skill, Error> {
    let root = address::path_of(catalog, entry);
    let mut files = Files { skill: entry, list: Vec::new(), n_bytes_left: MAX_BYTES };
    let portable = entry.skill.portable()?;
    files.add(&format!("{root}/{SKILL_MD}"), model_text(&portable.text).as_bytes())?;
    files.add_bundled(&root, entry)?;
    for (dir, below) in catalog.nested(entry, Audience::Model) {
        let dir = format!("{root}/{dir}");
        let below_text = below.skill.portable()?.text;
        files.add(&format!("{dir}/{SKILL_MD}"), model_text(&below_text).as_bytes())?;
        files.add_bundled(&dir, below)?;
    }
    let uri = address::uri(&format!("{root}/{SKILL_MD}"));
    Ok(Skill::new(uri, front_matter(portable), SkillResources::Files(files.list)))
}

/// The files of a skill found so far.
struct Files<'c> {
    skill: &'c Entry,
    list: Vec<SkillResource>,
    n_bytes_left: usize,
}

impl Files<'_> {
    fn add(&mut self, path: &str, bytes: &[u8]) -> Result<(), Error> {
        if self.list.len() == MAX_FILES {
            return Err(self.not_served(&format!("it has more than {MAX_FILES} files")));
        }
        self.n_bytes_left = self.n_bytes_left.checked_sub(bytes.len()).ok_or_else(|| {
            self.not_served(&format!("its files have more than {MAX_BYTES} bytes"))
        })?;
        self.list.push(SkillResource::from_bytes(address::uri(path), bytes));
        Ok(())
    }

    /// Adds the bundled files of `part` below `root`. Files that a read would refuse, such as those
    /// that are too large, are left out.
    fn add_bundled(&mut self, root: &str, part: &Entry) -> Result<(), Error> {
        for file in files_of(&part.skill, MAX_FILES)?.files {
            match bytes_of(part, &file, MAX_FILE_BYTES) {
                Ok(bytes) => self.add(&format!("{root}/{file}"), &as_served(&bytes))?,
                Err(error) => tracing::warn!(%error, "a file of a skill is not served"),
            }
        }
        Ok(())
    }

    fn not_served(&self, why: &str) -> Error {
        let message = format!("the skill `{}` is too large for clients: {why}", self.skill.id);
        let help = format!(
            "keep it and the skills below it within {MAX_FILES} files and {MAX_BYTES} bytes"
        );
        Error::new(ErrorCode::InvalidParam, message, help)
    }
}

/// Returns the bytes of a file as `resources/read` serves them: a text is cleaned, as its digest must fit.
fn as_served(bytes: &[u8]) -> Cow<'_, [u8]> {
    match std::str::from_utf8(bytes).map(model_text) {
        Ok(Cow::Owned(text)) if !bytes.contains(&0) => Cow::Owned(text.into_bytes()),
        _ => Cow::Borrowed(bytes),
    }
}

fn front_matter(portable: Portable) -> SkillFrontmatter {
    let mut fields = Value::Object(portable.front_matter);
    clean_json(&mut fields);
    let Value::Object(mut fields) = fields else { return SkillFrontmatter::new("", "") };
    let mut text = |key| match fields.remove(key) {
        Some(Value::String(text)) => text,
        // Both are texts in every file that passes the strict profile.
        _ => String::new(),
    };
    let mut front_matter = SkillFrontmatter::new(text("name"), text("description"));
    front_matter.extra = fields;
    front_matter
}
