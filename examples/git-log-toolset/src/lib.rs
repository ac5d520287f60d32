//! Tools that read the history of a git repository.
//!
//! A skill configures the repository with `{"repository": "/path/to/it"}`; the default is the directory
//! in which the host runs. The tools never write, and use no shell.
#![forbid(unsafe_code)]

mod git;

use std::path::PathBuf;

use repertoire_plugin::prelude::*;

use git::Git;

const DEFAULT_LIMIT: u32 = 20;
const MAX_LIMIT: u32 = 200;
/// Commits begin with U+001E and their fields end with U+001F, because subjects do not contain these
/// characters.
const COMMIT_FORMAT: &str = "--format=%x1e%h%x1f%aI%x1f%an%x1f%s%x1f";

/// The configuration by a skill.
#[arguments]
struct Config {
    /// The directory of the repository.
    #[serde(default)]
    repository: Option<PathBuf>,
}

/// Reads the history of one repository.
pub struct GitLogToolset {
    git: Git,
}

/// The history of a git repository: commits, the story of a file, and who wrote it.
#[toolset]
impl GitLogToolset {
    fn create(config: Config) -> ToolResult<Self> {
        Ok(Self { git: Git::new(config.repository.unwrap_or_else(|| PathBuf::from("."))) })
    }

    /// Lists the newest commits, newest first: hash, date, author, subject.
    #[tool(read_only)]
    pub fn recent_commits(
        &self,
        /** Only commits that touch this file or directory, relative to the repository */
        path: Option<String>,
        /** How many, 20 by default */
        #[schemars(range(min = 1, max = 200))]
        limit: Option<u32>,
        /** Only commits whose author's name or address contains this */
        author: Option<String>,
        cx: &ToolContext,
    ) -> ToolResult {
        let mut arguments = vec!["log".to_owned(), COMMIT_FORMAT.to_owned(), max_count(limit)];
        if let Some(author) = author {
            arguments.extend(["--fixed-strings".to_owned(), format!("--author={author}")]);
        }
        let commits = commits(&self.git.run(&arguments, path.as_deref(), cx)?);
        Ok(answer(commits, path.as_deref()))
    }

    /// Tells the story of one file, across renames: each commit with the lines it added and removed.
    #[tool(read_only)]
    pub fn file_history(
        &self,
        /** The file, relative to the repository */
        path: String,
        /** How many commits, 20 by default */
        #[schemars(range(min = 1, max = 200))]
        limit: Option<u32>,
        cx: &ToolContext,
    ) -> ToolResult {
        let fixed = ["log", COMMIT_FORMAT, "--follow", "--shortstat"];
        let mut arguments = fixed.map(str::to_owned).to_vec();
        arguments.push(max_count(limit));
        let commits = commits(&self.git.run(&arguments, Some(&path), cx)?);
        if commits.is_empty() {
            return Err(format!("no commit touches `{path}`; is it in the repository?").into());
        }
        Ok(answer(commits, Some(&path)))
    }

    /// Lists who committed, most commits first.
    #[tool(read_only)]
    pub fn contributors(
        &self,
        /** Only commits that touch this file or directory, relative to the repository */
        path: Option<String>,
        /** How many people, 20 by default */
        #[schemars(range(min = 1, max = 200))]
        limit: Option<u32>,
        cx: &ToolContext,
    ) -> ToolResult {
        let fixed = ["shortlog", "--summary", "--numbered", "--email", "HEAD"];
        let text = self.git.run(&fixed.map(str::to_owned), path.as_deref(), cx)?;
        let all: Vec<_> = text.lines().filter_map(|line| line.trim().split_once('\t')).collect();
        let shown = &all[..all.len().min(bounded(limit) as usize)];
        let lines = shown.iter().map(|(count, name)| format!("{count} {name}"));
        Ok(ToolOutput::text(lines.collect::<Vec<_>>().join("\n"))
            .title(format!("{} of {} contributors", shown.len(), all.len()))
            .meta("contributors", all.len()))
    }
}

export_toolsets!(GitLogToolset);

fn bounded(limit: Option<u32>) -> u32 {
    limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT)
}

fn max_count(limit: Option<u32>) -> String {
    format!("--max-count={}", bounded(limit))
}

/// Parses the output of `git log`: each commit as one line of text, with its hash.
fn commits(text: &str) -> Vec<(String, String)> {
    let commit = |record: &str| {
        let fields: Vec<_> = record.split('\u{1f}').map(str::trim).collect();
        let [hash, date, author, subject, rest] = fields.as_slice() else { return None };
        let changes = if rest.is_empty() { String::new() } else { format!(" ({rest})") };
        Some((format!("{hash} {date} {author}: {subject}{changes}"), (*hash).to_owned()))
    };
    text.split('\u{1e}').filter_map(commit).collect()
}

fn answer(commits: Vec<(String, String)>, path: Option<&str>) -> ToolOutput {
    let place = path.map_or_else(String::new, |path| format!(" of {path}"));
    let noun = if commits.len() == 1 { "commit" } else { "commits" };
    let title = format!("{} {noun}{place}", commits.len());
    let (lines, hashes): (Vec<_>, Vec<_>) = commits.into_iter().unzip();
    let text = if lines.is_empty() { "no commits".to_owned() } else { lines.join("\n") };
    ToolOutput::text(text).title(title).meta("commits", hashes)
}

#[cfg(test)]
mod tests;
