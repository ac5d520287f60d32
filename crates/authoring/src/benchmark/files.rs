//! Files of benchmarks: JSON lines, also compressed and in parts, JSON, and CSV.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use repertoire::{Error, ErrorCode};
use serde::de::DeserializeOwned;

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

    /// Reads JSON lines: those of a file, or of all such files in a directory, in the order of their names. Files
    /// that end with `.gz` are decompressed.
    pub(super) fn lines<T: DeserializeOwned>(&self, path: &Path) -> Result<Vec<T>, Error> {
        let mut rows = Vec::new();
        for file in parts(path).map_err(|error| self.unreadable(path, &error))? {
            let open = File::open(&file).map_err(|error| self.unreadable(&file, &error))?;
            let is_compressed = file.extension().is_some_and(|end| end == "gz");
            let reader: Box<dyn Read> =
                if is_compressed { Box::new(MultiGzDecoder::new(open)) } else { Box::new(open) };
            for (number, line) in BufReader::new(reader).lines().enumerate() {
                let line = line.map_err(|error| self.unreadable(&file, &error))?;
                if !line.trim().is_empty() {
                    let row = serde_json::from_str(&line);
                    rows.push(row.map_err(|error| self.wrong(&file, number + 1, &error))?);
                }
            }
        }
        Ok(rows)
    }

    /// Reads a file of one JSON value.
    pub(super) fn json<T: DeserializeOwned>(&self, path: &Path) -> Result<T, Error> {
        let text = fs::read(path).map_err(|error| self.unreadable(path, &error))?;
        serde_json::from_slice(&text).map_err(|error| self.wrong(path, error.line(), &error))
    }

    /// Reads a CSV file with a heading.
    pub(super) fn csv<T: DeserializeOwned>(&self, path: &Path) -> Result<Vec<T>, Error> {
        let mut reader =
            csv::Reader::from_path(path).map_err(|error| self.unreadable(path, &error))?;
        let row = |(number, row): (usize, Result<T, csv::Error>)| {
            row.map_err(|error| self.wrong(path, number + 2, &error))
        };
        reader.deserialize().enumerate().map(row).collect()
    }

    /// The error for a value of a wrong form.
    pub(super) fn wrong(&self, path: &Path, line: usize, error: &dyn std::fmt::Display) -> Error {
        let message =
            format!("{}:{line} is not in the form of the benchmark: {error}", path.display());
        Error::new(ErrorCode::InvalidParam, message, self.layout)
    }

    fn unreadable(&self, path: &Path, error: &dyn std::fmt::Display) -> Error {
        let message = format!("cannot read {}: {error}", path.display());
        Error::new(ErrorCode::ExecutionError, message, self.layout)
    }
}

/// The file itself, or the files of JSON lines in a directory.
fn parts(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let files =
        fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    let is_part = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".jsonl") || name.ends_with(".jsonl.gz")
    };
    let mut parts: Vec<PathBuf> = files.into_iter().filter(is_part).collect();
    parts.sort();
    Ok(parts)
}
