//! The explanation of a message: made from the decisions of its disclosure.

use repertoire::disclosure::Lack;
use repertoire::{DisclosureOptions, Engine, Session, Tier};

use super::{engine, engine_with};

const TEXTS: [&str; 3] = [
    "---\nname: invoice-reader\ndescription: Extracts totals from scanned invoices of suppliers.\n---\nRead.\n",
    "---\nname: chart-maker\ndescription: Draws bar charts of monthly sales figures.\n---\nDraw.\n",
    "---\nname: deploy\ndescription: Ships a service to staging.\ntriggers: [ship it now]\n---\nShip.\n",
];

fn codes(engine: &Engine, message: &str, session: &Session) -> Vec<(String, Tier, bool, String)> {
    let explained = engine.turn(message, session).explain(9).relevant.into_iter();
    let weighed = explained.map(|of| {
        let codes: Vec<&str> = of.lacking.iter().map(Lack::code).collect();
        (of.found.id.to_string(), of.tier, of.is_decisive, codes.join(" "))
    });
    weighed.collect()
}

#[test]
fn what_is_lacking_is_what_decided_in_that_session() {
    let engine = engine(&TEXTS);
    let session = Session::in_memory("a");
    let message = "extract the totals of these scanned invoices";
    let first = |session: &Session| codes(&engine, message, session).swap_remove(0);
    let id = || "invoice-reader".to_owned();
    assert_eq!(first(&session), (id(), Tier::Full, true, String::new()));
    engine.turn(message, &session).run().unwrap();
    assert_eq!(first(&session), (id(), Tier::Breadcrumb, false, "in-context".to_owned()));
    session.compacted().unwrap();
    assert_eq!(first(&session).1, Tier::Full);

    for (message, lacking) in [
        ("scanned", "worth words"),
        ("not invoice-reader: extract the totals of scanned invoices", "denied"),
        ("ship it now, with the totals of scanned invoices", "undecided"),
    ] {
        let fresh = Session::in_memory("b");
        let found = codes(&engine, message, &fresh);
        let (_, tier, is_decisive, codes) =
            found.iter().find(|(id, ..)| id == "invoice-reader").unwrap();
        assert!(*tier < Tier::Full && !is_decisive, "{message}: {found:?}");
        assert!(lacking.split(' ').all(|code| codes.contains(code)), "{message}: {found:?}");
    }
    let mut options = DisclosureOptions::default();
    options.relevance = None;
    let off = engine_with(&TEXTS, options);
    assert_eq!(codes(&off, message, &Session::in_memory("c"))[0].3, "off");
}

#[test]
fn both_requests_of_a_message_are_explained() {
    let engine = engine(&TEXTS);
    let message = "Extract the totals of these scanned invoices. Then draw bar charts of monthly sales figures.";
    let shown = engine.disclose(message);
    let explained = engine.explain(message, 9).relevant;
    for id in ["invoice-reader", "chart-maker"] {
        assert!(shown.full.iter().any(|full| full.as_str() == id), "{shown:?}");
        let of = explained.iter().find(|of| of.found.id.as_str() == id).unwrap();
        assert!(of.is_decisive && of.lacking.is_empty(), "{of:?}");
    }
}

#[test]
fn words_have_their_places_in_the_request() {
    let engine = engine(&TEXTS);
    let message = "Größe: TOTALS of ｓｃａｎｎｅｄ invoices; totals\n\n```\nscanned totals\n```\n";
    let explained = engine.explain(message, 9).relevant;
    let terms = &explained[0].terms;
    let places = |term: &str| -> Vec<&str> {
        let of = terms.iter().filter(|of| of.term.eq_ignore_ascii_case(term));
        of.flat_map(|of| &of.places).map(|place| &message[place.clone()]).collect()
    };
    assert_eq!(places("totals"), ["TOTALS", "totals"], "{terms:?}");
    assert_eq!(places("scanned"), ["ｓｃａｎｎｅｄ"], "{terms:?}");
    let worths: f32 = terms.iter().map(|of| of.worth).sum();
    let (worth, needed) = (explained[0].found.relevance.worth, explained[0].needed.unwrap());
    assert!(worths > 0.0 && worths <= worth * 1.01, "{worths} of {worth}");
    assert!(needed.worth > 0.0 && needed.lead > 0.0 && needed.words == 2);
    let attached = &engine.explain("```\nlet totals = scanned(invoices);\n```", 9).relevant[0];
    assert!(attached.lacking.contains(&Lack::Attached), "{attached:?}");
    assert!(!attached.terms[0].places.is_empty(), "{attached:?}");
}
