//! Validation of the entries of `toolsets` and `scripts`.

use repertoire_system::confined;

use super::fields::{Reader, excerpt};
use super::spanned::Spanned;
use crate::diagnostic::Code;

/// Splits `entry` into the path of a library and the name of a class, or returns the reason why it is
/// refused.
///
/// Checks the text only. The loader of libraries checks whether the library exists.
pub(crate) fn path_and_class(entry: &str) -> Result<(&str, &str), &'static str> {
    let (path, class) = entry.rsplit_once(':').ok_or("it has no `:`")?;
    let is_class = class.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && class.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if !is_class {
        return Err("the class is not an identifier");
    }
    if path.contains(':') {
        return Err("the path has a `:`");
    }
    if !confined::plain(path).is_ok_and(|plain| plain == path) {
        return Err("the path must be relative, with `/`, and without `.` and `..`");
    }
    Ok((path, class))
}

/// Reports an entry of `toolsets` that is refused when toolsets are loaded.
pub(super) fn check_toolset(entry: &Spanned<String>, reader: &mut Reader<'_>) {
    if let Err(why) = path_and_class(&entry.value) {
        reader.report(
            Code::InvalidToolset,
            entry.span.clone(),
            format!("`toolsets` entry `{}` is not a `path:Class`: {why}", excerpt(&entry.value)),
            "write the library's path in the skill's directory without its ending and the \
             toolset's name, as in `toolsets/hello:HelloToolset`",
        );
    }
}

/// Reports an entry of `scripts` that is refused when scripts are run.
pub(super) fn check_script(entry: &Spanned<String>, reader: &mut Reader<'_>) {
    if let Err(why) = confined::plain(&entry.value) {
        reader.report(
            Code::InvalidScript,
            entry.span.clone(),
            format!(
                "`scripts` entry `{}` is not a script of the skill: {why}",
                excerpt(&entry.value)
            ),
            "write the script's path in the skill's directory, as in `scripts/build.sh`",
        );
    }
}
