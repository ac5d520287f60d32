//! Prompts as people send them: with a text pasted before or after the request.

use super::case::Case;

/// Repeats each prompt twice: with `text` before it, and with `text` after it. A blank line separates the
/// two. What a case expects stays the same.
pub fn with_paste(cases: &[Case], text: &str) -> Vec<Case> {
    let text = text.trim_end();
    let pasted = cases.iter().flat_map(|case| {
        let request = case.query.trim_end();
        let queries = [format!("{text}\n\n{request}"), format!("{request}\n\n{text}")];
        queries.map(|query| Case { query, ..case.clone() })
    });
    pasted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_stands_before_and_after_each_prompt() {
        let case = |query: &str| Case {
            query: query.to_owned(),
            expected: vec!["x".to_owned()],
            line: 7,
            ..Case::default()
        };
        let pasted = with_paste(&[case("fix this:\n")], "+ a\n- b\n");
        assert_eq!(pasted, [case("+ a\n- b\n\nfix this:"), case("fix this:\n\n+ a\n- b")]);
    }
}
