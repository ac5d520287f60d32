//! Hook context that an agent repeats as a part of the prompt.

/// The tags that Gemini CLI puts around context from hooks.
const OPEN: &str = "<hook_context>";
const CLOSE: &str = "</hook_context>";

/// Returns the prompt as the user typed it, without the text that the agent put before it: text in hook
/// context tags, and `list`, the list of skills given at the start of the conversation. Tags inside the
/// text of the user stay.
pub(super) fn without_repeated_context(prompt: &str, list: impl FnOnce() -> String) -> &str {
    let mut typed = prompt;
    while let Some(rest) = without_marked(typed) {
        typed = rest;
    }
    if !typed.trim_start().starts_with('#') {
        return typed;
    }
    let list = list();
    let rest = typed.trim_start().strip_prefix(list.trim());
    match rest {
        Some(rest) if !list.trim().is_empty() && (rest.is_empty() || rest.starts_with('\n')) => {
            rest.trim_start()
        }
        _ => typed,
    }
}

/// Returns the text after the marked part at the start of `text`.
fn without_marked(text: &str) -> Option<&str> {
    let inner = text.trim_start().strip_prefix(OPEN)?;
    let (_, rest) = inner.split_once(CLOSE)?;
    Some(rest.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_given_is_taken_out() {
        let list = || "## Available skills\n\n- a: b".to_owned();
        for (prompt, wanted) in [
            ("deploy it", "deploy it"),
            ("<hook_context>git bisect</hook_context>\n\ndeploy it", "deploy it"),
            ("<hook_context>a</hook_context>\n<hook_context>b</hook_context> c\nd", "c\nd"),
            ("## Available skills\n\n- a: b\n\ndeploy it", "deploy it"),
            ("<hook_context>x</hook_context>## Available skills\n\n- a: b\n\nc", "c"),
            ("<hook_context>x</hook_context>", ""),
            ("## Available skills\n\n- a: bc", "## Available skills\n\n- a: bc"),
            ("## Available skills\n\n- z: y\n\nx", "## Available skills\n\n- z: y\n\nx"),
            ("why <hook_context>a</hook_context>?", "why <hook_context>a</hook_context>?"),
            ("<hook_context> never ends", "<hook_context> never ends"),
            ("", ""),
        ] {
            assert_eq!(without_repeated_context(prompt, list), wanted, "{prompt}");
        }
        assert_eq!(without_repeated_context("# a", String::new), "# a");
    }
}
