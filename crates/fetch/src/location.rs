//! Addresses of sources: git repositories, directories, local and remote archives, MCP servers, object
//! stores and OCI registries.

use std::fmt;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;

use super::address::{Address, bare, is_installer, is_well_known, site_of};
use super::archive::{end_of, is_archive};
use super::archive_address::{ArchiveAddress, is_archive_url};
use super::artifact_address::{self, ArtifactAddress};
use super::host::host_of;
use super::mcp::McpAddress;
use super::missing_path::{self, near};
use super::object_address::{self, ObjectAddress};
use super::refusal::refusal;
use repertoire::catalog::is_skill_file;
use repertoire::{Error, ErrorCode};

/// The accepted schemes of git. Others run programs (`ext::`), or are neither encrypted nor in common
/// use for git.
pub(super) const SCHEMES: [&str; 4] = ["https", "ssh", "git", "file"];

/// The address of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// A git repository, by its URL or in the form `user@host:path`.
    Git(String),
    /// A directory on this machine.
    Directory(PathBuf),
    /// A `.tar`, `.tar.gz` or `.zip` file on this machine.
    Archive(PathBuf),
    /// The URL of an archive on another machine: `https://…`. On this machine, `http://…` is accepted,
    /// too.
    RemoteArchive(String),
    /// A prefix or an archive in an object store: `s3://bucket/prefix`, `gs://…` or `az://…`.
    ObjectStore(String),
    /// An artifact in an OCI registry: `oci://registry/name:tag`, or `…@sha256:…`.
    Oci(String),
    /// The list of skills of a site: `https://host/.well-known/agent-skills/index.json`.
    WellKnown(String),
    /// An MCP server that serves skills.
    Mcp(McpAddress),
}

impl Location {
    /// Parses an address; relative paths are below `base`.
    ///
    /// - `owner/repo` is a repository on GitHub, and refused if there is also a directory of this name;
    ///   `./owner/repo` is a path;
    /// - addresses that browsers show are those of their repository: `https://host/o/r/tree/main/dir`. The
    ///   revision and the skill in them are for [`Fetcher::fetch`](super::Fetcher::fetch) and
    ///   [`SourceList::add`](super::SourceList::add);
    /// - `https://host` without a path is a site that lists its skills;
    /// - `https://…` is an archive if its path ends in `.tar`, `.tar.gz`, `.tgz`, `.zip` or `.skill`;
    /// - any other `https://…`, `ssh://…`, `git://…`, `file://…` and `user@host:path` are git repositories;
    /// - `s3://bucket/prefix`, `gs://…` and `az://…` are in an object store;
    /// - `oci://registry/name:tag` is an artifact in a registry;
    /// - `mcp:COMMAND` is an MCP server to start, `mcp+https://…` is one over HTTP;
    /// - any other text is a path, of a directory, an archive or a `SKILL.md`; `~/` is the home directory.
    ///
    /// Text around the address is left out: quotes, a Markdown link, the end of a sentence, or a command such as
    /// `npx skills add owner/repo`.
    ///
    /// Fails with `INVALID_PARAM` if the text is none of these, contains a password, or names both a
    /// directory and a repository; with `NOT_FOUND` if nothing exists at a path.
    ///
    /// ```
    /// use std::path::Path;
    /// use repertoire_fetch::Location;
    ///
    /// let location = Location::parse("anthropics/skills", Path::new("."))?;
    /// assert_eq!(location.to_string(), "https://github.com/anthropics/skills");
    /// assert_eq!(location.default_name(), "anthropics-skills");
    /// # Ok::<(), repertoire::Error>(())
    /// ```
    pub fn parse(text: &str, base: &Path) -> Result<Location, Error> {
        let (text, inner) = (text.trim(), bare(text));
        // The end of a command is a part of it.
        let is_command = text.starts_with("mcp:");
        if let Some(address) = McpAddress::parse(if is_command { text } else { inner }, base) {
            return address.map(Location::Mcp);
        }
        let read = Address::read(text);
        let address = read.as_ref().map_or(inner, |read| read.source.as_str());
        if address.is_empty() || address.starts_with('-') || address.contains(char::is_control) {
            return Err(invalid(text, "is not an address"));
        }
        // The path in a command.
        let inner = if address.starts_with(['.', '~', '/']) { address } else { inner };
        let path = path_of(text, inner, base);
        if is_archive(inner) && !inner.contains("://") && path.is_file() {
            return Ok(Location::Archive(path));
        }
        let may_be_path = read.as_ref().is_none_or(|read| read.may_be_path) && path.exists();
        match &read {
            Some(read) if may_be_path && path.is_dir() && is_repository(read, inner) => {
                Err(ambiguous(text, &read.source))
            }
            _ if may_be_path => of_path(text, path),
            // A name with blanks is a typing error, not a sentence.
            None if text.contains(' ') && near(&path).is_some() => of_path(text, path),
            _ => of_address(text, address, read.as_ref()).unwrap_or_else(|| of_path(address, path)),
        }
    }

    /// Tells whether `words` are a command that people copy, such as `npx skills add owner/repo`: they belong to
    /// one address.
    pub fn is_command(words: &[&str]) -> bool {
        is_installer(words)
    }

    /// The default name of a source: the last parts of its address, in lower-case letters, digits,
    /// hyphens and underscores.
    pub fn default_name(&self) -> String {
        let text = match self {
            // The tag is not part of the name.
            Location::Oci(url) => ArtifactAddress::parse(url).map(|it| it.name),
            Location::Directory(path) => Ok(name_of(path)),
            Location::WellKnown(url) => Ok(site_of(url).to_owned()),
            _ => Ok(self.to_string()),
        };
        let text = text.unwrap_or_default();
        let text = text.trim_end_matches('/');
        let end = end_of(text).or(Some(".git").filter(|end| text.ends_with(end)));
        let text = text.get(..text.len() - end.map_or(0, str::len)).unwrap_or(text);
        let is_end = |c: char| c == '/' || c == ':' || c == '\\';
        let parts: Vec<&str> =
            text.split(is_end).filter(|part| !matches!(*part, "" | "_git")).collect();
        let (last, rest) = parts.split_last().unwrap_or((&"skills", &[]));
        // Many repositories are named `skills`, so the owner is added. A host is not an owner.
        let owner = rest.last().filter(|_| {
            matches!(self, Location::Git(url) if !url.starts_with("file:")) && rest.len() > 2
                || matches!(self, Location::Git(url) if !url.contains("://"))
        });
        let owner = owner.filter(|owner| !owner.contains('@'));
        let joined = match self {
            Location::Mcp(address) => address.name(),
            _ => owner.map_or((*last).to_owned(), |owner| format!("{owner}-{last}")),
        };
        plain(&joined)
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Git(url)
            | Location::RemoteArchive(url)
            | Location::ObjectStore(url)
            | Location::WellKnown(url)
            | Location::Oci(url) => f.write_str(url),
            Location::Mcp(address) => address.fmt(f),
            Location::Directory(path) | Location::Archive(path) => path.display().fmt(f),
        }
    }
}

/// A text in lower-case letters, digits, hyphens and underscores, as a name.
pub(super) fn plain(text: &str) -> String {
    let is_kept = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let text = text.to_lowercase().replace(|c| !is_kept(c), "-");
    let text: String = text.trim_matches('-').chars().take(MAX_NAME).collect();
    if text.is_empty() { "skills".to_owned() } else { text }
}

/// The longest name of a source, in characters.
const MAX_NAME: usize = 64;

/// Checks the name of a source, which is used as a key in `config.toml` and as the name of a directory.
/// Fails with `INVALID_PARAM`.
pub(super) fn check_name(name: &str) -> Result<(), Error> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty()
        && name.len() <= MAX_NAME
        && name.chars().all(is_plain)
        && !name.starts_with('-')
    {
        return Ok(());
    }
    let message = format!("`{}` cannot be the name of a source", name.escape_debug());
    let help = "take letters, digits, `-` and `_`, at most 64";
    Err(Error::new(ErrorCode::InvalidParam, message, help))
}

/// Checks a revision: it must not be read as an option, as a range, or as a rule for a fetch. Fails with
/// `INVALID_PARAM`.
pub(super) fn check_revision(rev: &str) -> Result<(), Error> {
    let is_refused = |c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c);
    if !matches!(rev, "" | "@")
        && !rev.starts_with(['-', '/', '.', '+'])
        && !rev.contains("..")
        && !rev.contains("@{")
        && !rev.contains(is_refused)
    {
        return Ok(());
    }
    let message = format!("`{}` is not a revision", rev.escape_debug());
    Err(Error::new(ErrorCode::InvalidParam, message, "name a branch, a tag or a commit"))
}

/// Tells whether a text has the form `user@host:path`.
fn is_scp(text: &str) -> bool {
    let Some((head, path)) = text.split_once(':') else { return false };
    let is_named = head
        .split_once('@')
        .is_some_and(|(user, host)| head.starts_with('[') || !user.is_empty() && !host.is_empty());
    is_named && !head.contains('/') && !path.is_empty()
}

/// Tells whether a text, which could also be a path, names a repository and nothing in it.
fn is_repository(read: &Address, text: &str) -> bool {
    let is_plain = read.source.contains("://") && read.rev.is_none() && read.skills.is_empty();
    is_plain && (text.matches('/').count() == 1 || host_of(text).as_deref() == Some("github.com"))
}

/// The path that a text may be: as it is written, or without what stands round it. Terminals show blanks with
/// a backslash.
fn path_of(text: &str, inner: &str, base: &Path) -> PathBuf {
    let path = |text: &str| at_home(text).unwrap_or_else(|| base.join(text));
    let unescaped = inner.replace("\\ ", " ");
    let written = [text, inner, &unescaped].map(path);
    written.iter().find(|path| path.exists()).unwrap_or(&written[1]).clone()
}

/// The location of an address that is not a path; `None` if it has no form of one.
fn of_address(
    text: &str,
    address: &str,
    read: Option<&Address>,
) -> Option<Result<Location, Error>> {
    if let Some(error) = refusal(bare(text), read) {
        return Some(Err(error));
    }
    if let Some((scheme, rest)) = address.split_once("://") {
        let scheme = scheme.to_ascii_lowercase();
        return Some(of_url(&format!("{scheme}://{rest}"), &scheme, rest));
    }
    let url = without_end(address);
    is_scp(url).then(|| Ok(Location::Git(url.to_owned())))
}

fn of_path(text: &str, path: PathBuf) -> Result<Location, Error> {
    if text.contains("::") {
        return Err(invalid(text, "names a program of git, which is not run"));
    }
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(Location::Directory(path)),
        Ok(_) if path.file_name().is_some_and(is_skill_file) => {
            Ok(Location::Directory(path.parent().map_or_else(|| ".".into(), Path::to_owned)))
        }
        Ok(_) => Err(invalid(
            text,
            "is neither a directory, a `SKILL.md`, nor a `.tar`, `.tar.gz`, `.zip` or `.skill` archive",
        )),
        Err(error) => {
            let message = format!("there is nothing at {}: {error}", path.display());
            Err(Error::new(ErrorCode::NotFound, message, missing_path::help(text, &path, HELP)))
        }
    }
}

fn of_url(text: &str, scheme: &str, rest: &str) -> Result<Location, Error> {
    if scheme == "file" {
        let path = path_of_url(rest);
        if !path.is_absolute() {
            let message = format!("`{}` names a host where the path belongs", text.escape_debug());
            let help = format!("write `file:///{}`", rest.trim_start_matches('/'));
            return Err(Error::new(ErrorCode::InvalidParam, message, help));
        }
        if is_archive(rest) {
            return Ok(Location::Archive(path));
        }
        // File managers and browsers show directories in this form; git's own take it, too.
        let is_repository = [".git", "objects"].iter().any(|name| path.join(name).exists());
        if path.exists() && !is_repository {
            return of_path(text, path);
        }
    }
    if is_well_known(text) {
        // The same rules as for an archive: encrypted, and without a secret.
        return Ok(Location::WellKnown(ArchiveAddress::parse(text)?.url().to_owned()));
    }
    if is_archive_url(text) {
        return Ok(Location::RemoteArchive(ArchiveAddress::parse(text)?.url().to_owned()));
    }
    if scheme == artifact_address::SCHEME {
        return Ok(Location::Oci(ArtifactAddress::parse(text)?.to_string()));
    }
    if object_address::SCHEMES.contains(&scheme) {
        return Ok(Location::ObjectStore(ObjectAddress::parse(text)?.to_string()));
    }
    if !SCHEMES.contains(&scheme) {
        return Err(invalid(text, "has an unsupported scheme: write `https://`"));
    }
    if is_archive(rest) {
        return Err(invalid(text, "is an archive elsewhere: write `https://`"));
    }
    let authority = rest.split('/').next().unwrap_or_default();
    if authority.split_once('@').is_some_and(|(user, _)| user.contains(':')) {
        let text = text.replace(authority, "…");
        return Err(invalid(&text, "holds a password, which would stand in `config.toml`"));
    }
    // Programs disagree on the host of an address that contains one of these characters.
    let is_of_host = |c: char| c.is_alphanumeric() || "-._~:@[]%+$".contains(c);
    let is_ambiguous = scheme != "file" && !authority.chars().all(is_of_host);
    let has_host = authority.rsplit('@').next().is_some_and(|host| !host.starts_with(':'));
    let is_empty = rest.is_empty() || scheme != "file" && (authority.is_empty() || !has_host);
    if is_empty || is_ambiguous || authority.starts_with('-') {
        return Err(invalid(text, "names no host"));
    }
    let url = without_end(text);
    if url.matches('/').count() < 3 {
        return Err(invalid(text, "names no repository"));
    }
    Ok(Location::Git(url.to_owned()))
}

/// The address without slashes at its end, and without what is left to be taken for the end of a sentence.
fn without_end(address: &str) -> &str {
    let shorter = bare(address.trim_end_matches('/'));
    if shorter == address { address } else { without_end(shorter) }
}

/// The path in a `file://` URL, after its scheme.
fn path_of_url(rest: &str) -> PathBuf {
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let path = percent_decode_str(path).decode_utf8_lossy().into_owned();
    // On Windows, `/C:/dir` is `C:/dir`.
    let drive = path.strip_prefix('/').filter(|path| path.get(1..2) == Some(":"));
    drive.filter(|_| cfg!(windows)).unwrap_or(&path).into()
}

/// The name of a directory, whose path may end in `.` or `..`.
fn name_of(dir: &Path) -> String {
    let real = dir.canonicalize().unwrap_or_default();
    let name = dir.file_name().or(real.file_name()).unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn at_home(text: &str) -> Option<PathBuf> {
    if text == "~" {
        return std::env::home_dir();
    }
    let below = text.strip_prefix("~/").or(text.strip_prefix("~\\").filter(|_| cfg!(windows)))?;
    Some(std::env::home_dir()?.join(below))
}

/// The error for a text that names both a directory and a repository.
fn ambiguous(text: &str, repository: &str) -> Error {
    let message = format!("`{text}` is a directory, and the name of a repository");
    let help = format!("write `./{text}` for the directory, or `{repository}` for the repository");
    Error::new(ErrorCode::InvalidParam, message, help)
}

fn invalid(text: &str, why: &str) -> Error {
    let message = format!("`{}` {why}", text.escape_debug());
    Error::new(ErrorCode::InvalidParam, message, HELP)
}

const HELP: &str = "name `owner/repo`, the address of a repository or of a page in it, a directory, an \
                    archive or a `SKILL.md`";

#[cfg(test)]
mod tests;
