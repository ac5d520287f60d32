//! The reasons for what a message calls for and a disclosure does not show.

use crate::{engine, ids, reasons};

#[test]
fn a_skill_whose_line_is_held_back_is_named_with_the_reason() {
    let engine = engine(&[
        "---\nname: weather\ndescription: Weather forecasts.\ntriggers: {exclude: [paris]}\n---\nW\n",
        "---\nname: rain-gauge\ndescription: Reads rain gauges of gardens.\ntriggers: {keywords: [gauge now], exclude: [indoors]}\n---\nR\n",
        "---\nname: calc\ndescription: Performs arithmetic.\ntriggers: [math]\n---\nC\n",
    ]);
    for (message, lines, expected) in [
        ("some random query", &["weather"][..], &[][..]),
        ("some random query in paris", &[], &[("weather", "vetoed by its exclude `paris`")]),
        // A relevant skill, which the message does not match.
        ("the gardens", &["rain-gauge"], &[]),
        ("the gardens indoors", &[], &[("rain-gauge", "vetoed by its exclude `indoors`")]),
        ("gauge now indoors", &[], &[("rain-gauge", "vetoed by its exclude `indoors`")]),
        // An exclude of a skill that would be counted in any case is not a reason.
        ("math in paris", &[], &[]),
    ] {
        let disclosure = engine.disclose(message);
        assert_eq!(ids(&disclosure.registry), lines, "{message}");
        assert_eq!(reasons(&disclosure), expected, "{message}");
        assert_eq!(engine.explain(message, 9).rejected, disclosure.omitted, "{message}");
    }
}
