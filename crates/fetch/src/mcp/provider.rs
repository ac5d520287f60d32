//! The provider that makes the skills of an MCP server a source.

use std::sync::{Mutex, PoisonError};

use super::address::McpAddress;
use super::connection::Connection;
use super::manifest::{Files, Manifest};
use crate::limits::{Deadline, FetchLimits};
use crate::provider::{FileCallback, SourceProvider, SourceTree, TreeEntry, no_skill};
use repertoire::{Error, ErrorCode};

/// An MCP server.
pub(crate) struct Mcp {
    address: McpAddress,
    /// The skills to take, by name, path or address; all listed skills if empty.
    skills: Vec<String>,
    limits: FetchLimits,
    deadline: Deadline,
    /// The connection that `newest` opened, kept for `open` so that the server is not started twice.
    asked: Mutex<Option<(Connection, Manifest)>>,
}

impl Mcp {
    pub(crate) fn new(
        address: &McpAddress,
        skills: &[String],
        limits: FetchLimits,
        deadline: Deadline,
    ) -> Mcp {
        let (address, skills, asked) = (address.clone(), skills.to_vec(), Mutex::new(None));
        Mcp { address, skills, limits, deadline, asked }
    }

    fn ask(&self) -> Result<(Connection, Manifest), Error> {
        let source = self.address.to_string();
        let connection = Connection::open(&self.address, self.limits, self.deadline.clone())?;
        let mut skills = connection.skills()?;
        // A server need not list all of its skills.
        for id in self.skills.iter().filter(|id| id.contains("://")) {
            if !skills.iter().any(|skill| skill.uri == *id) {
                let skill = connection.skill(id)?;
                if skill.uri != *id {
                    return Err(no_skill(&source, id, &[skill.uri]));
                }
                skills.push(skill);
            }
        }
        let mut manifest = Manifest::new(skills, &source)?;
        // Patterns and exclusions are applied to all skills, by the caller.
        if self.skills.iter().any(|id| id.starts_with('!') || id.contains('*')) {
            return Ok((connection, manifest));
        }
        if let Some(missing) = self.skills.iter().find(|id| !manifest.has(id)) {
            return Err(no_skill(&source, missing, &manifest.paths()));
        }
        if !self.skills.is_empty() {
            manifest.keep_only(&self.skills);
        }
        Ok((connection, manifest))
    }
}

impl SourceProvider for Mcp {
    fn newest(&self) -> Result<Option<String>, Error> {
        let asked = self.ask()?;
        let revision = asked.1.revision();
        *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(asked);
        Ok(Some(revision))
    }

    fn open(&self, revision: Option<&str>) -> Result<Box<dyn SourceTree>, Error> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (connection, manifest) = asked.map_or_else(|| self.ask(), Ok)?;
        let source = self.address.to_string();
        let newest = manifest.revision();
        if revision.is_some_and(|wanted| wanted != newest) {
            let message = format!("{source} does not serve the skills that are pinned any more");
            let help = "update the source without holding it to what is pinned";
            return Err(Error::new(ErrorCode::NotFound, message, help));
        }
        let files = manifest.files(&source, self.limits.entries)?;
        Ok(Box::new(McpTree { connection, source, revision: newest, files }))
    }
}

/// The skills of a server that is connected.
struct McpTree {
    connection: Connection,
    source: String,
    revision: String,
    files: Files,
}

impl SourceTree for McpTree {
    fn revision(&self) -> Option<&str> {
        Some(&self.revision)
    }

    fn entries(&self) -> &[TreeEntry] {
        &self.files.0
    }

    fn read(&mut self, files: &[&str], take: &mut FileCallback<'_>) -> Result<(), Error> {
        for path in files {
            let Some(served) = self.files.1.get(*path) else { continue };
            let bytes = self.connection.read(&served.resource.uri)?;
            served.check(&bytes, &self.source)?;
            take(path, &mut bytes.as_slice())?;
        }
        Ok(())
    }
}
