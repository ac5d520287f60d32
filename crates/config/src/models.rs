//! Models of meaning that a user adds: where their files are, and which one ranks.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use repertoire::matcher::MeaningModel;
use repertoire::{EngineBuilder, Error, ErrorCode};
use repertoire_meaning::ErrorKind;
use serde::Serialize;
use toml_edit::{Item, Value as TomlValue};

use super::Config;
use super::edit::{edited, last_section, put, wrong};
use super::schema::Value;
use super::value::is_model_name;
use repertoire::diagnostic::Code;

/// The setting that chooses a model.
const SETTING: &str = "routing.meaning";
/// The extension of the files of models.
const EXTENSION: &str = "model";

/// A directory with the models of meaning that a user added. Each is one flat file, which engines open without
/// decoding it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Models {
    dir: PathBuf,
}

/// A model in the directory of [`Models`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Model {
    /// Its name, for `routing.meaning`.
    pub name: String,
    /// Its kind; `None` if the file cannot be used.
    pub kind: Option<ModelKind>,
    /// Its file.
    #[serde(serialize_with = "repertoire_system::lossy_path::serialize")]
    pub path: PathBuf,
    /// The size of the file in bytes.
    pub bytes: u64,
    /// The number of word pieces; 0 if the file cannot be used.
    pub pieces: usize,
    /// The number of dimensions of its vectors; 0 if the file cannot be used.
    pub dimensions: usize,
    /// The reason why the file cannot be used, if it cannot.
    pub problem: Option<String>,
}

/// A kind of model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ModelKind {
    /// A static table of word pieces: microseconds a message.
    Table,
    /// A sentence transformer: milliseconds a message.
    Transformer,
}

impl ModelKind {
    fn of(model: &MeaningModel) -> ModelKind {
        match model {
            #[cfg(feature = "transformer")]
            MeaningModel::Transformer(_) => ModelKind::Transformer,
            _ => ModelKind::Table,
        }
    }

    /// The name of the kind, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            ModelKind::Table => "table",
            ModelKind::Transformer => "transformer",
        }
    }
}

impl Models {
    /// The models in `dir`, which need not exist.
    pub fn new(dir: impl Into<PathBuf>) -> Models {
        Models { dir: dir.into() }
    }

    /// The directory of the models.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Converts the model in `source`, as [`open_model`] reads it, to one flat file, and checks it. `name` is by
    /// default the name of `source`.
    ///
    /// Fails with `INVALID_PARAM` if the name is not valid or taken, or if `source` is not a model that can be
    /// used; with `NOT_FOUND` if it cannot be read; with `EXECUTION_ERROR` if the file cannot be written.
    pub fn add(&self, source: &Path, name: Option<&str>) -> Result<Model, Error> {
        let own = source.canonicalize().unwrap_or_else(|_| source.to_owned());
        let own = own.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = name.unwrap_or_else(|| own.strip_suffix(".model").unwrap_or(&own));
        check_name(name)?;
        let path = self.path(name);
        if path.symlink_metadata().is_ok() {
            let message = format!("there is a model `{name}` already: {}", path.display());
            let help = "remove it first with `repertoire model remove`, or choose another `--name`";
            return Err(Error::new(ErrorCode::InvalidParam, message, help));
        }
        let model = open_model(source)?;
        let bytes = model.to_bytes().map_err(|error| refused(&error))?;
        let written = fs::create_dir_all(&self.dir).and_then(|()| {
            let mut file = tempfile::NamedTempFile::new_in(&self.dir)?;
            file.write_all(&bytes)?;
            // Another process may have added the same name since.
            file.persist_noclobber(&path).map_err(|error| error.error).map(drop)
        });
        written.map_err(|error| failed("write", &path, &error))?;
        Ok(listed(name.to_owned(), path))
    }

    /// The models, by name.
    ///
    /// Fails with `EXECUTION_ERROR` if the directory exists and cannot be read.
    pub fn list(&self) -> Result<Vec<Model>, Error> {
        let entries = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(|error| failed("read", &self.dir, &error))?,
        };
        let mut models = Vec::new();
        for entry in entries {
            let path = entry.map_err(|error| failed("read", &self.dir, &error))?.path();
            let name = path.file_stem().and_then(|name| name.to_str()).map(str::to_owned);
            let is_model = path.extension().is_some_and(|extension| extension == EXTENSION);
            models.extend(name.filter(|_| is_model).map(|name| listed(name, path)));
        }
        models.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(models)
    }

    /// Removes a model, and returns the path of its file.
    ///
    /// Fails with `NOT_FOUND` if there is no such model, and with `EXECUTION_ERROR` if its file cannot be
    /// removed.
    pub fn remove(&self, name: &str) -> Result<PathBuf, Error> {
        check_name(name)?;
        let path = self.path(name);
        match fs::remove_file(&path) {
            Ok(()) => Ok(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(missing(name, &path)),
            Err(error) => Err(failed("remove", &path, &error)),
        }
    }

    /// Opens a model.
    ///
    /// Fails with `NOT_FOUND` if there is no such model, and with `INVALID_PARAM` if its file cannot be used.
    pub fn open(&self, name: &str) -> Result<MeaningModel, Error> {
        check_name(name)?;
        let path = self.path(name);
        let model = MeaningModel::open_file(&path);
        model.map_err(|error| if path.exists() { refused(&error) } else { missing(name, &path) })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.{EXTENSION}"))
    }
}

/// Reads a model of meaning: a flat file, as [`Models`] keeps them, or a directory with `model.safetensors` and
/// `tokenizer.json`, in the form of model2vec or with a sentence transformer of the BERT family. Checks all of it.
///
/// Fails with `NOT_FOUND` if a file cannot be read, and with `INVALID_PARAM` if it cannot be used.
pub fn open_model(source: &Path) -> Result<MeaningModel, Error> {
    let model = if source.is_dir() {
        MeaningModel::from_directory(source)
    } else {
        MeaningModel::open_file(source)
    };
    let model = model.map_err(|error| refused(&error))?;
    model.verify().map_err(|error| {
        let message = format!("{}: {error}", source.display());
        Error::new(ErrorCode::InvalidParam, message, error.help())
    })?;
    Ok(model)
}

/// Returns the text of a `config.toml` with `routing.meaning` naming a model, or without it if `name` is `None`;
/// comments and order stay.
///
/// Fails with `INVALID_PARAM` if `text` is not TOML, or if `routing` is not a section.
pub fn set_meaning(text: &str, name: Option<&str>) -> Result<String, Error> {
    edited(text, |document| {
        if !document.contains_key("routing") {
            if name.is_none() {
                return Ok(());
            }
            let section = last_section(document);
            document.insert("routing", Item::Table(section));
        }
        let routing = document.get_mut("routing").and_then(Item::as_table_like_mut);
        let routing = routing.ok_or_else(|| wrong("`routing` is not a section".to_owned()))?;
        put(routing, "meaning", name.map(TomlValue::from));
        Ok(())
    })
}

impl Config {
    /// Opens the model that `routing.meaning` names, in a directory of models. If it cannot be opened, the setting
    /// has no effect, and a finding says so. Without this call, no name has an effect.
    #[must_use]
    pub fn with_models(mut self, models: &Models) -> Config {
        let Some(found) = self.found.iter().rfind(|found| found.name == SETTING) else {
            return self;
        };
        let Value::Text(name) = &found.value else { return self };
        match models.open(name) {
            Ok(model) => self.model = Some(Arc::new(model)),
            Err(error) => {
                let help = format!("{}; until then the setting has no effect", error.help());
                let message = error.message().to_owned();
                self.diagnostics.push(found.finding(Code::InvalidValue, message, &help));
            }
        }
        self
    }

    /// The name of the model that `routing.meaning` asks for; `None` for the one in the program, or for words
    /// alone.
    pub fn meaning(&self) -> Option<&str> {
        match self.value(SETTING)? {
            Value::Text(name) => Some(name),
            _ => None,
        }
    }

    /// Tells whether the model that `routing.meaning` names could be opened.
    pub fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// Applies `routing.meaning`.
    pub(crate) fn apply_meaning(&self, builder: EngineBuilder) -> EngineBuilder {
        match (self.value(SETTING), &self.model) {
            (Some(Value::Switch(false)), _) => builder.meaning(None),
            (Some(Value::Text(_)), Some(model)) => builder.meaning(Arc::clone(model)),
            _ => builder,
        }
    }
}

fn check_name(name: &str) -> Result<(), Error> {
    if is_model_name(name) {
        return Ok(());
    }
    let message = format!("`{name}` cannot be the name of a model");
    let help = "name it with letters, digits, `-`, `_` and `.`, such as `--name potion`";
    Err(Error::new(ErrorCode::InvalidParam, message, help))
}

fn listed(name: String, path: PathBuf) -> Model {
    let bytes = fs::metadata(&path).map_or(0, |metadata| metadata.len());
    let (model, problem) = match open_model(&path) {
        Ok(model) => (Some(model), None),
        Err(error) => (None, Some(error.message().to_owned())),
    };
    let number = |of: fn(&MeaningModel) -> usize| model.as_ref().map_or(0, of);
    let (pieces, dimensions) = (number(MeaningModel::pieces), number(MeaningModel::dimensions));
    let kind = model.as_ref().map(ModelKind::of);
    Model { name, kind, path, bytes, pieces, dimensions, problem }
}

fn missing(name: &str, path: &Path) -> Error {
    let message = format!("there is no model `{name}`: {} does not exist", path.display());
    Error::new(ErrorCode::NotFound, message, "see `repertoire model list`, or add it again")
}

fn refused(error: &repertoire_meaning::Error) -> Error {
    let code = match error.kind() {
        ErrorKind::Io => ErrorCode::NotFound,
        _ => ErrorCode::InvalidParam,
    };
    Error::new(code, error.to_string(), error.help())
}

fn failed(what: &str, path: &Path, error: &io::Error) -> Error {
    let message = format!("cannot {what} {}: {error}", path.display());
    let help = "see that the directory exists and may be written";
    Error::new(ErrorCode::ExecutionError, message, help)
}
