//! What an entry of `toolsets` may be.

use std::path::{Component, Path};

/// The path of the library and the class that `entry` names, or why it is refused.
///
/// This reads text, not the disk: that is left to who loads libraries.
pub(crate) fn path_and_class(entry: &str) -> Result<(&str, &str), &'static str> {
    let (path, class) = entry.rsplit_once(':').ok_or("it has no `:`")?;
    if !is_class(class) {
        return Err("the class is no identifier");
    }
    if path.contains(':') {
        return Err("the path has a `:`");
    }
    let is_plain = !path.is_empty()
        && !path.contains(['\\', '\0'])
        && !path.ends_with('/')
        && !path.contains("//")
        && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
        && path.split('/').all(|part| part != ".");
    if !is_plain {
        return Err("the path must be relative, with `/`, and without `.` and `..`");
    }
    Ok((path, class))
}

fn is_class(class: &str) -> bool {
    class.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && class.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
