//! Quotes paths in shell commands that are shown to the user for pasting.

use std::path::Path;

/// Returns `path`, made absolute, as one word of a POSIX shell.
pub(crate) fn quoted(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_the_path() {
        let paths = ["/a/b-c_1.so", "/a skill/x.so", "/it's/x", "/$HOME/`x`", "/a\"b\\c", "/é/x"];
        for path in paths {
            assert_eq!(shlex::split(&quoted(Path::new(path))), Some(vec![path.to_owned()]));
        }
        assert_eq!(quoted(Path::new("/a/b-c_1.so")), "/a/b-c_1.so");
        assert!(quoted(Path::new("x.so")).starts_with('/'));
    }
}
