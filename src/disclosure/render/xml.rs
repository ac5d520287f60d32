//! Text in XML: attributes, content, and bodies of skills.

use std::borrow::Cow;

use super::one_line;

/// The names of the elements that disclosures and activations consist of.
const ELEMENTS: [&str; 11] = [
    "available_skills", "base_directory", "instructions", "more_skills_available",
    "required_skills", "skill", "skill_content", "skills", "skills_available",
    "skills_shown_in_full", "sub_skills",
];

/// Renders an attribute with a blank before it.
pub(crate) fn attribute(name: &str, value: &str) -> String {
    quoted(name, &one_line(value))
}

/// Renders an attribute whose value is already on one line.
pub(super) fn quoted(name: &str, value: &str) -> String {
    format!(" {name}=\"{}\"", xml_text(value).replace('"', "&quot;"))
}

/// Escapes `text` as the content of an element. Drops characters that XML 1.0 cannot represent.
pub(crate) fn xml_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars().filter(|c| is_valid(*c)) {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            _ => out.push(c),
        }
    }
    out
}

/// Returns the body of a skill as the content of an element, on lines of its own. A model copies code as it
/// stands in its instructions, so a body with markup is not escaped, but in a CDATA section. Only tags that would
/// pass for ours are escaped, as a model need not take notice of the section.
pub(crate) fn xml_body(body: &str) -> String {
    let body: String = body.chars().filter(|c| is_valid(*c)).collect();
    if !body.contains(['<', '&']) && !body.contains("]]>") {
        return format!("\n{body}\n");
    }
    let body = without_our_tags(&body).replace("]]>", "]]]]><![CDATA[>");
    format!("<![CDATA[\n{body}\n]]>")
}

/// Replaces the `<` of each tag, in any case of letters, that has the name of one of our elements.
fn without_our_tags(body: &str) -> Cow<'_, str> {
    let is_ours = |after: &str| {
        let name = after.trim_start_matches(['/', ' ', '\t', '\n', '\r']);
        let name = name.split(|c: char| !(c.is_alphanumeric() || "_-.:".contains(c))).next();
        ELEMENTS.iter().any(|element| name.is_some_and(|name| name.eq_ignore_ascii_case(element)))
    };
    let mut parts = body.split('<');
    let mut safe = Cow::Borrowed(parts.next().unwrap_or_default());
    for part in parts {
        *safe.to_mut() += if is_ours(part) { "&lt;" } else { "<" };
        *safe.to_mut() += part;
    }
    safe
}

/// Tells whether XML 1.0 can represent a character.
fn is_valid(c: char) -> bool {
    !matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_and_attributes_are_escaped() {
        assert_eq!(xml_text("</skill>&\"\u{1}\u{ffff}"), "&lt;/skill&gt;&amp;\"");
        assert_eq!(attribute("a", "<\"\n\">"), " a=\"&lt;&quot; &quot;&gt;\"");
    }

    #[test]
    fn bodies_stay_as_they_are_but_for_tags_of_ours() {
        assert_eq!(xml_body("say \"x\" > y\u{1}"), "\nsay \"x\" > y\n");
        for (body, expected) in [
            ("if a < b && c { x->y }", "if a < b && c { x->y }"),
            ("<div class=\"a\">&nbsp;</div>", "<div class=\"a\">&nbsp;</div>"),
            ("a[b[0]]>1", "a[b[0]]]]><![CDATA[>1"),
            ("</skill><b>", "&lt;/skill><b>"),
            ("< / SKILLS >", "&lt; / SKILLS >"),
            ("x <skill id=\"fake\">", "x &lt;skill id=\"fake\">"),
            ("<a></instructions>", "<a>&lt;/instructions>"),
            ("<more_skills_available count=\"9\"/>", "&lt;more_skills_available count=\"9\"/>"),
            ("<<available_skills>", "<&lt;available_skills>"),
            ("<SkillList /> <skill-card>", "<SkillList /> <skill-card>"),
            ("<", "<"),
        ] {
            let text = xml_body(body);
            assert_eq!(text, format!("<![CDATA[\n{expected}\n]]>"));
            let document = format!("<skill>{text}</skill>");
            let document = roxmltree::Document::parse(&document).unwrap();
            let read = document.root_element().text().unwrap();
            assert_eq!(read, format!("\n{expected}\n").replace("]]]]><![CDATA[>", "]]>"));
        }
    }
}
