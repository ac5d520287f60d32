//! Finds characters that were lost when a file was saved in another encoding.

use super::invisible_text::texts;
use crate::diagnostic::Code;
use crate::skill::fields::excerpt;
use crate::skill::finding::Finding;
use crate::skill::manifest::Manifest;

/// Finds the replacement character `U+FFFD` in the texts of a manifest: nobody types it, and the letter that it stands
/// for is gone. A body may speak of it.
pub(super) fn find(manifest: &Manifest) -> Vec<Finding> {
    let lost = texts(manifest).into_iter().filter(|(_, entry)| entry.value.contains('\u{fffd}'));
    let finding = |(field, entry): (&str, &crate::skill::Spanned<String>)| {
        let message = format!("`{field}` holds U+FFFD, a lost letter: `{}`", excerpt(&entry.value));
        let help = "type the letter again, and save the file as UTF-8";
        Finding::new(Code::LostCharacter, entry.span.clone(), message, help)
    };
    lost.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::load;

    #[test]
    fn a_lost_letter_is_found_once_where_it_is_read() {
        for (fields, field) in [
            ("triggers: [r\u{fffd}vision, x]", "keywords"),
            ("triggers: {patterns: ['r\u{fffd}v']}", "patterns"),
            ("triggers: {exclude: \"a, \\uFFFD\"}", "exclude"),
            ("when_to_use: For a r\u{fffd}sum\u{fffd}.", "when_to_use"),
            ("examples: {should: ['my r\u{fffd}sum\u{fffd}']}", "examples"),
        ] {
            let text =
                format!("---\nname: a\ndescription: d\n{fields}\n---\nU+FFFD is \u{fffd}.\n");
            let found = find(&load::load(&text, "").manifest);
            let messages: Vec<&str> = found.iter().map(|of| &*of.message).collect();
            let begins = format!("`{field}` holds U+FFFD");
            assert!(matches!(messages[..], [one] if one.starts_with(&begins)), "{messages:?}");
        }
        let text = "---\nname: a\ndescription: résumé ? □\n---\nB\n";
        assert_eq!(find(&load::load(text, "").manifest), []);
    }
}
