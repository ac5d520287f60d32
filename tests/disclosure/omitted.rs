//! The reasons for what a message calls for and a disclosure does not show.

use repertoire::{Budget, Format};

use crate::{disclose, engine, ids, reasons};

const DENIED: &str = "the message names it only to deny it or to say that it is done";
const IN_PARIS: &str = "vetoed by its exclude `paris`";

#[test]
fn a_skill_whose_line_is_held_back_is_named_with_the_reason() {
    let engine = engine(&[
        "---\nname: weather\ndescription: Weather forecasts.\ntriggers: {exclude: [paris]}\n---\nW\n",
        "---\nname: rain-gauge\ndescription: Reads rain gauges of gardens.\ntriggers: {keywords: [gauge now], exclude: [indoors]}\n---\nR\n",
        "---\nname: calc\ndescription: Performs arithmetic.\ntriggers: [math]\n---\nC\n",
    ]);
    for (message, lines, expected) in [
        ("some random query", &["weather"][..], &[][..]),
        ("some random query in paris", &[], &[("weather", IN_PARIS)]),
        // A relevant skill, which the message does not match.
        ("the gardens", &["rain-gauge"], &[]),
        ("the gardens indoors", &[], &[("rain-gauge", "vetoed by its exclude `indoors`")]),
        ("gauge now indoors", &[], &[("rain-gauge", "vetoed by its exclude `indoors`")]),
        // An exclude of a skill that would be counted in any case is not a reason.
        ("math in paris", &[], &[]),
        ("no /calc please", &[], &[("calc", DENIED)]),
        ("do not use the weather skill", &[], &[("weather", DENIED)]),
        ("not /weather, in paris", &[], &[("weather", &*format!("{IN_PARIS}; {DENIED}"))]),
        ("math, but not /calc", &[], &[]),
    ] {
        let disclosure = engine.disclose(message);
        assert_eq!(ids(&disclosure.registry), lines, "{message}");
        assert_eq!(reasons(&disclosure), expected, "{message}");
        assert_eq!(engine.explain(message, 9).rejected, disclosure.omitted, "{message}");
    }
}

#[test]
fn a_reason_does_not_say_where_a_skill_is_that_perhaps_is_only_counted() {
    let names = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"];
    let skills = names.map(|name| {
        format!("---\nname: {name}\ndescription: Thing.\ntriggers: [kw-{name}]\n---\nB\n")
    });
    let engine = engine(&skills.each_ref().map(String::as_str));
    let message = names.join(", ");
    let weak = "only a word that may be its name is in the query";
    for (budget, n_lines, over) in [(10_000, 5, ""), (40, 0, "; over budget, counted only")] {
        let budget = Some(Budget::Characters(budget));
        let disclosure = disclose(&engine, &message, Format::Markdown, budget);
        assert_eq!(disclosure.registry.len(), n_lines);
        for (place, (id, reason)) in reasons(&disclosure).into_iter().enumerate() {
            let over = if place < 5 { over } else { "" };
            assert_eq!((id, reason), (names[place], &*format!("{weak}{over}")));
        }
        assert_eq!(disclosure.omitted.len(), names.len());
    }
}
