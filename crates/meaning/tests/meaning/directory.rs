//! Directories of models, made by tests.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// A directory that is removed at the end.
pub(crate) struct Directory(PathBuf);

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Directory {
    /// A directory with a name of its own, and the files of a model in it.
    pub(crate) fn new(name: &str, tokenizer: &Value, model: &[u8]) -> Directory {
        let path = std::env::temp_dir().join(format!("repertoire-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        let directory = Directory(path);
        directory.write("tokenizer.json", tokenizer.to_string());
        directory.write("model.safetensors", model);
        directory
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

/// A tensor: name, type, shape, numbers.
pub(crate) type Tensor<'a> = (&'a str, &'a str, &'a [usize], Vec<u8>);

/// The bytes of one tensor after the other.
pub(crate) fn safetensors(tensors: &[Tensor<'_>]) -> Vec<u8> {
    let (mut index, mut data) = (serde_json::Map::new(), Vec::new());
    for (name, kind, shape, bytes) in tensors {
        let end = data.len() + bytes.len();
        index.insert(
            (*name).to_owned(),
            json!({"dtype": kind, "shape": shape, "data_offsets": [data.len(), end]}),
        );
        data.extend(bytes);
    }
    let index = serde_json::to_vec(&Value::Object(index)).unwrap();
    [&(index.len() as u64).to_le_bytes()[..], &index, &data].concat()
}
