//! Globs: the paths for which a skill is meant.

/// The deepest nesting of braces in a glob.
const MAX_GLOB_NESTING: usize = 4;

/// Compiles a glob of `paths`. It is relative to the project's root, with or without a leading `./` or
/// `/`; `*` does not cross a `/`, `**` does. As in `.gitignore`, a glob without a `/` matches a file of
/// that name in any directory, and a glob that ends with a `/` matches everything in that directory.
pub(crate) fn glob(text: &str) -> Result<globset::Glob, globset::Error> {
    let anywhere = if text.contains('/') { "" } else { "**/" };
    let text = text.trim_start_matches("./").trim_start_matches('/');
    let inside = if text.ends_with('/') { "**" } else { "" };
    globset::GlobBuilder::new(&format!("{anywhere}{text}{inside}")).literal_separator(true).build()
}

/// Returns the reason why a glob is refused, or `None` if it is valid and has at most `max_bytes` bytes.
pub(super) fn refuse(text: &str, max_bytes: usize) -> Option<String> {
    if text.len() > max_bytes {
        return Some(format!("{} bytes are more than {max_bytes}", text.len()));
    }
    let deepest = text.chars().scan(0_usize, |depth, c| {
        *depth = match c {
            '{' => *depth + 1,
            '}' => depth.saturating_sub(1),
            _ => *depth,
        };
        Some(*depth)
    });
    if deepest.max() > Some(MAX_GLOB_NESTING) {
        return Some(format!("braces nest deeper than {MAX_GLOB_NESTING}"));
    }
    let set = glob(text).and_then(|glob| globset::GlobSetBuilder::new().add(glob).build());
    set.err().map(|error| error.kind().to_string())
}
