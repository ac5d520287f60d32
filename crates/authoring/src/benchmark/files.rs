//! Files of benchmarks: JSON lines, also compressed and in parts, JSON, and CSV.

use std::fmt;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use repertoire::{Error, ErrorCode};
use serde::de::DeserializeOwned;

/// A byte order mark, which some programs write at the start of a file.
const MARK: char = '\u{feff}';

/// The place of a row: its file, and its line unless the file is one JSON value.
#[derive(Debug, Clone)]
pub(super) struct At {
    file: Arc<Path>,
    line: Option<usize>,
}

/// A row of a file.
pub(super) struct Row<T> {
    pub(super) value: T,
    pub(super) at: At,
}

/// The directory of a benchmark, and the sentence that says how it is laid out.
pub(super) struct Files<'a> {
    pub(super) dir: &'a Path,
    pub(super) layout: &'static str,
}

impl Files<'_> {
    /// The first of some paths below the directory that exists.
    pub(super) fn first(&self, paths: &[&str]) -> Result<PathBuf, Error> {
        let found = paths.iter().map(|path| self.dir.join(path)).find(|path| path.exists());
        found.ok_or_else(|| {
            let message =
                format!("there is no `{}` in {}", paths.join("` or `"), self.dir.display());
            Error::new(ErrorCode::NotFound, message, self.layout)
        })
    }

    /// Reads JSON lines: those of a file, or of all such files below a directory, in the order of their paths. Files
    /// that end with `.gz` are decompressed.
    pub(super) fn lines<T: DeserializeOwned>(&self, path: &Path) -> Result<Vec<Row<T>>, Error> {
        let mut rows = Vec::new();
        for file in self.parts(path)? {
            let open = File::open(&file).map_err(|error| self.unreadable(&file, &error))?;
            let is_compressed = file.extension().is_some_and(|end| end == "gz");
            let reader: Box<dyn Read> =
                if is_compressed { Box::new(MultiGzDecoder::new(open)) } else { Box::new(open) };
            let file: Arc<Path> = file.into();
            for (number, line) in BufReader::new(reader).lines().enumerate() {
                let line = line.map_err(|error| self.unreadable(&file, &error))?;
                let line = if number == 0 { without_mark(&line) } else { &line };
                if !line.trim().is_empty() {
                    let at = At { file: Arc::clone(&file), line: Some(number + 1) };
                    let value = serde_json::from_str(line);
                    rows.push(Row { value: value.map_err(|error| self.wrong(&at, &error))?, at });
                }
            }
        }
        Ok(rows)
    }

    /// The file itself, or the files of JSON lines below a directory.
    fn parts(&self, path: &Path) -> Result<Vec<PathBuf>, Error> {
        if !path.is_dir() {
            return Ok(vec![path.to_owned()]);
        }
        let mut parts = Vec::new();
        add_parts(path, &mut parts).map_err(|error| self.unreadable(path, &error))?;
        if parts.is_empty() {
            let message = format!("there is no `*.jsonl` or `*.jsonl.gz` below {}", path.display());
            return Err(Error::new(ErrorCode::NotFound, message, self.layout));
        }
        parts.sort();
        Ok(parts)
    }

    /// Reads a file of one JSON value.
    pub(super) fn json<T: DeserializeOwned>(&self, path: &Path) -> Result<T, Error> {
        let text = fs::read_to_string(path).map_err(|error| self.unreadable(path, &error))?;
        let value = serde_json::from_str(without_mark(&text));
        value.map_err(|error| self.wrong(&At::line(path, error.line()), &error))
    }

    /// Reads a CSV file with a heading.
    pub(super) fn csv<T: DeserializeOwned>(&self, path: &Path) -> Result<Vec<Row<T>>, Error> {
        let mut reader =
            csv::Reader::from_path(path).map_err(|error| self.unreadable(path, &error))?;
        let row = |(number, row): (usize, Result<T, csv::Error>)| {
            let at = At::line(path, number + 2);
            Ok(Row { value: row.map_err(|error| self.wrong(&at, &error))?, at })
        };
        reader.deserialize().enumerate().map(row).collect()
    }

    /// The error for a value of a wrong form.
    pub(super) fn wrong(&self, at: &At, error: &dyn fmt::Display) -> Error {
        let message = format!("{at} is not in the form of the benchmark: {error}");
        Error::new(ErrorCode::InvalidParam, message, self.layout)
    }

    fn unreadable(&self, path: &Path, error: &dyn fmt::Display) -> Error {
        let message = format!("cannot read {}: {error}", path.display());
        Error::new(ErrorCode::ExecutionError, message, self.layout)
    }
}

impl At {
    /// A line of a file.
    fn line(file: &Path, line: usize) -> At {
        At { file: file.into(), line: Some(line) }
    }

    /// A file as a whole.
    pub(super) fn file(file: &Path) -> At {
        At { file: file.into(), line: None }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// Adds the files of JSON lines below `dir`. Of a file and its compressed copy, it adds the file. Links to directories
/// are not followed.
fn add_parts(dir: &Path, parts: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = entry.path();
        let is_compressed = path.extension().is_some_and(|end| end == "gz");
        let plain = if is_compressed { path.with_extension("") } else { path.clone() };
        if entry.file_type()?.is_dir() {
            add_parts(&path, parts)?;
        } else if plain.extension().is_some_and(|end| end == "jsonl")
            && !(is_compressed && plain.exists())
        {
            parts.push(path);
        }
    }
    Ok(())
}
