//! Paths that a manifest or a setting names. The agents refuse one that leads out of its directory, and a stranger
//! who wrote it must not choose what is read.

use std::path::{Component, Path, PathBuf};

use serde_json::Value;

/// Returns the path that `path` names in `dir`: `dir` itself for `.` and an empty one. `None` for an absolute path
/// and one with `..`.
pub(super) fn below(dir: &Path, path: &str) -> Option<PathBuf> {
    let mut place = dir.to_owned();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(name) => place.push(name),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(place)
}

/// Returns the paths in `dir` that a value names, one or several.
pub(super) fn each_below(dir: &Path, value: &Value) -> Vec<PathBuf> {
    let named = value.as_array().into_iter().flatten().chain(Some(value));
    named.filter_map(Value::as_str).filter_map(|path| below(dir, path)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_path_leads_out_of_its_directory() {
        let dir = Path::new("plugins/kit");
        for (path, expected) in [
            ("", Some("plugins/kit")),
            ("./", Some("plugins/kit")),
            ("skills", Some("plugins/kit/skills")),
            ("./a/./b/", Some("plugins/kit/a/b")),
            ("..", None),
            ("../kit", None),
            ("./a/../../../b", None),
            ("a/../b", None),
            ("/etc", None),
        ] {
            assert_eq!(below(dir, path).as_deref(), expected.map(Path::new), "{path}");
        }
    }

    #[test]
    fn a_value_names_one_or_several() {
        let dir = Path::new("kit");
        let a = vec![dir.join("a")];
        assert_eq!(each_below(dir, &json!("a")), a);
        assert_eq!(each_below(dir, &json!(["./a", "../b", 3])), a);
        assert_eq!(each_below(dir, &json!({"a": "b"})), Vec::<PathBuf>::new());
    }
}
