//! The files that a tool call of an agent touches.

use std::borrow::Cow;

use serde_json::Value;

use repertoire_text::surrogates;

/// Names of tools, of all agents, that read or change files; in lower case.
const TOOLS: [&str; 21] = [
    "apply_patch", "create", "edit", "edit_file", "multiedit", "notebook_edit", "notebookedit",
    "patch", "read", "read_file", "read_many_files", "replace", "search_replace", "str_replace",
    "str_replace_editor", "tabwrite", "update", "view", "write", "write_file", "writefile",
];

/// Names of arguments that hold one path.
const PATHS: [&str; 7] =
    ["file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file", "filename"];

/// Names of arguments that may hold a patch.
const PATCHES: [&str; 4] = ["command", "input", "patch", "patchText"];

/// The prefixes of lines with a path in the patches of `apply_patch`.
const PATCH_LINES: [&str; 4] =
    ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// Returns the files that a call of `tool` with `arguments` touches, each once, as the call writes their
/// paths.
pub(super) fn touched(tool: &str, arguments: &Value) -> Vec<String> {
    if !TOOLS.contains(&tool.to_ascii_lowercase().as_str()) {
        return Vec::new();
    }
    let arguments = &*parsed(arguments);
    let text = |name: &&str| arguments.get(name)?.as_str();
    let mut paths: Vec<String> = PATHS.iter().filter_map(text).map(str::to_owned).collect();
    for patch in PATCHES.iter().filter_map(text).chain(arguments.as_str()) {
        paths.extend(patched(patch).map(str::to_owned));
    }
    let mut seen = std::collections::BTreeSet::new();
    paths.retain(|path| !path.is_empty() && seen.insert(path.clone()));
    paths
}

/// Parses arguments: some agents pass on the model's raw text, which is JSON, or the patch itself.
pub(super) fn parsed(arguments: &Value) -> Cow<'_, Value> {
    let parsed = arguments.as_str().and_then(|text| surrogates::parse::<Value>(text).ok());
    parsed.map_or(Cow::Borrowed(arguments), Cow::Owned)
}

fn patched(patch: &str) -> impl Iterator<Item = &str> {
    patch.lines().filter_map(|line| {
        PATCH_LINES.iter().find_map(|start| line.strip_prefix(start)).map(str::trim)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_are_found_in_the_arguments_of_every_agent() {
        let patch = "*** Begin Patch\n*** Update File: src/a.rs\n*** Move to: src/b.rs\n@@\n-x\n\
                     +*** Add File: no\n*** Add File: c.md\n+text\n*** End Patch";
        let cases: &[(&str, Value, &[&str])] = &[
            ("Edit", json!({"file_path": "/p/a.rs", "old_string": "x"}), &["/p/a.rs"]),
            ("NotebookEdit", json!({"notebook_path": "n.ipynb"}), &["n.ipynb"]),
            ("write_file", json!({"file_path": "a", "path": "a"}), &["a"]),
            ("apply_patch", json!({"command": patch}), &["src/a.rs", "src/b.rs", "c.md"]),
            ("apply_patch", json!(patch), &["src/a.rs", "src/b.rs", "c.md"]),
            ("edit", json!(r#"{"path": "/p/x.ts"}"#), &["/p/x.ts"]),
            ("edit", json!({"filePath": "x.ts"}), &["x.ts"]),
            ("Bash", json!({"command": "cat a", "path": "a"}), &[]),
            ("Grep", json!({"path": "src"}), &[]),
            ("Edit", json!(null), &[]),
            ("Edit", json!({"file_path": 7}), &[]),
            ("Edit", json!({"file_path": ""}), &[]),
        ];
        for (tool, arguments, wanted) in cases {
            assert_eq!(touched(tool, arguments), *wanted, "{tool} {arguments}");
        }
    }
}
