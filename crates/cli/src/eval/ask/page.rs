//! The report of asking a model, for people.

use comfy_table::{Table, presets};
use repertoire_authoring::ask::{AskReport, Figure, Interval, WayFigures};

use super::super::align_numbers;
use crate::output::{DIM, NAME, Page, styled};
use crate::report::count;

/// The rows of the table: the name, the figure, whether it is a share, and what it means.
type Row = (&'static str, fn(&WayFigures) -> Option<Figure>, bool, &'static str);

const ROWS: [Row; 9] = [
    ("right", |way| way.right, true, "loaded a right skill, of the messages for one"),
    ("wrong", |way| way.wrong, true, "loaded a wrong skill, of the same"),
    ("never", |way| way.never, true, "loaded no skill, of the same"),
    (
        "needless",
        |way| way.needless,
        true,
        "loaded one that they must not, of the messages for none",
    ),
    ("good", |way| way.good, true, "had a good answer, says the judge"),
    ("tokens in", |way| way.input, false, "a message, over all its requests"),
    ("tokens out", |way| way.output, false, "a message, over all replies"),
    ("requests", |way| way.turns, false, "a message"),
    ("seconds", |way| way.seconds, false, "a message"),
];

/// Resamples of fewer messages are too much alike to tell much.
const FEW: usize = 20;

/// Formats a report. `judged` is the number of replies with a verdict, if there was a judge.
pub(super) fn text(report: &AskReport, judged: Option<usize>) -> Page {
    let mut page = Page::default();
    if report.messages == 0 {
        page.line(format_args!("no message was answered in every way"));
        return page;
    }
    let (messages, ways) = (count(report.messages, "message"), count(report.ways.len(), "way"));
    let kept = count(report.reused, "conversation");
    let kept = (report.reused > 0).then(|| format!("{kept} kept from earlier"));
    let judged = judged.map(|judged| format!("{judged} replies judged"));
    let parts = [Some(format!("{messages}, each in {ways}")), kept, judged];
    let head = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
    page.line(format_args!("{}", styled(NAME, head)));
    page.line(format_args!(
        "{}",
        table(&report.ways, |figure, is_share| value(figure, is_share, ""))
    ));
    if let Some(last) = report.ways.last().filter(|_| !report.differences.is_empty()) {
        let title = format!("The change to `{}` from", last.way);
        page.line(format_args!("\n{}", styled(NAME, title)));
        page.line(format_args!(
            "{}",
            table(&report.differences, |figure, is_share| value(figure, is_share, "+"))
        ));
    }
    let explained = "In brackets: the interval that holds 95 % of 1,000 resamples of the messages.";
    page.line(format_args!("\n{}", styled(DIM, explained)));
    if report.messages < FEW {
        let few = format!("Of fewer than {FEW} messages, it says little; of equal ones, nothing.");
        page.line(format_args!("{}", styled(DIM, few)));
    }
    page
}

fn table(ways: &[WayFigures], cell: impl Fn(Figure, bool) -> String) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let names = ways.iter().map(|way| way.way.to_string());
    table.set_header(std::iter::once(String::new()).chain(names).chain([String::new()]));
    for (name, figure, is_share, meaning) in ROWS {
        let figures: Vec<Option<Figure>> = ways.iter().map(figure).collect();
        if figures.iter().all(Option::is_none) {
            continue;
        }
        let cells = figures
            .into_iter()
            .map(|figure| figure.map_or_else(|| "–".to_owned(), |it| cell(it, is_share)));
        table.add_row(std::iter::once(name.to_owned()).chain(cells).chain([meaning.to_owned()]));
    }
    for column in 1..=ways.len() {
        align_numbers(&mut table, column);
    }
    table
}

/// A mean with its interval. `sign` is put before what is not negative.
fn value(
    Figure { mean, interval: Interval(low, high), .. }: Figure,
    is_share: bool,
    sign: &str,
) -> String {
    let (factor, digits, unit) =
        if is_share { (100.0, 0, " %") } else { (1.0, usize::from(mean.abs() < 100.0), "") };
    let number = |value: f64| {
        let sign = if value < 0.0 { "" } else { sign };
        format!("{sign}{:.digits$}", value * factor)
    };
    format!("{}{unit} [{}, {}]", number(mean), number(low), number(high))
}
