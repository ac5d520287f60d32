//! The skills that are part of this crate. Their files are in the binary, wherever that is moved to.

/// A file of the bundled skills, with its path in their directory.
macro_rules! file {
    ($path:literal) => {
        ($path, include_str!(concat!("../../skills/", $path)))
    };
}

/// The files of the bundled skills, each with its path in their directory.
#[doc(hidden)]
pub const BUNDLED_SKILLS: [(&str, &str); 9] = [
    file!("code-review/SKILL.md"),
    file!("code-review/references/security.md"),
    file!("commit-message/SKILL.md"),
    file!("regex-helper/SKILL.md"),
    file!("regex-helper/references/dialects.md"),
    file!("regex-helper/scripts/try_regex.py"),
    file!("skill-authoring/SKILL.md"),
    file!("skill-authoring/references/fields.md"),
    file!("sql-query-tuning/SKILL.md"),
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn all_files_of_the_directory_are_in_the_binary() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("skills");
        let files = walkdir::WalkDir::new(&root).sort_by_file_name().into_iter();
        let files = files.map(Result::unwrap).filter(|file| file.file_type().is_file());
        let files = files.filter(|file| !file.path().iter().any(|part| part == "__pycache__"));
        let paths: Vec<String> = files
            .map(|file| file.path().strip_prefix(&root).unwrap().to_string_lossy().into_owned())
            .collect();
        assert_eq!(paths, BUNDLED_SKILLS.map(|(path, _)| path));
    }
}
