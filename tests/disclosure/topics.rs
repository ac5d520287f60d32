//! Questions about skills for something: what fits is listed, not everything.

use repertoire::Engine;

use super::{engine, ids};

fn catalog() -> Engine {
    let named = [
        ("mobile-builder", "Builds apps for phones with Flutter widgets."),
        ("pdf-report", "Writes PDF reports from tables."),
        ("docker-images", "Makes Docker images smaller."),
        ("skill-writer", "Writes skills for agents."),
    ];
    let named = named.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let others = (0..12).map(|n| (format!("other-{n}"), format!("Grows zorble{n} in gardens.")));
    let texts: Vec<String> = named
        .into_iter()
        .chain(others)
        .map(|(name, text)| format!("---\nname: {name}\ndescription: {text}\n---\nBody\n"))
        .collect();
    engine(&texts.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_question_with_a_topic_lists_what_fits_it() {
    let engine = catalog();
    for (message, expected) in [
        (
            "Which skill should I use for building a Flutter app with PDF reports?",
            &["mobile-builder", "pdf-report"][..],
        ),
        ("do you have any skills for docker?", &["docker-images"]),
        ("hi, is there a skill that shrinks docker? thanks", &["docker-images"]),
        ("Hast du einen Skill für Docker?", &["docker-images"]),
        ("有没有处理 docker 的技能？", &["docker-images"]),
    ] {
        let shown = engine.disclose(message);
        let mut listed = ids(&shown.registry);
        listed.sort_unstable();
        assert_eq!(listed, expected, "{message}");
        assert_eq!(shown.hidden, 16 - expected.len(), "{message}");
    }
}

#[test]
fn a_general_question_lists_all_skills() {
    let engine = catalog();
    for message in [
        "which skills do you have?",
        "what can you do?",
        "which skills do you have? is there a skill for docker?",
        // No skill shares a word with this.
        "do you have any skills for sourdough?",
    ] {
        assert_eq!(engine.disclose(message).registry.len(), 16, "{message}");
    }
}
