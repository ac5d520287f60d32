//! Choices among several things at a terminal.

use std::io::{self, IsTerminal as _};

use dialoguer::console::truncate_str;
use dialoguer::theme::{ColorfulTheme, SimpleTheme, Theme};
use dialoguer::{Input, MultiSelect};

use crate::confirm::can_ask;
use crate::output::Output;
use crate::sanitize;

/// Tells whether a person can choose: they can be asked, and see what they choose from.
pub(crate) fn can_choose(out: Output) -> bool {
    can_ask(out) && io::stderr().is_terminal()
}

/// An item to choose, and whether it is chosen at first.
#[derive(Debug)]
pub(crate) struct Item {
    /// The text, which others may have written.
    pub(crate) text: String,
    pub(crate) is_chosen: bool,
}

/// Lets the user choose among `items`, and returns the indices of those chosen; `None` if the user gave up.
pub(crate) fn choose(
    question: &str,
    items: &[Item],
    out: Output,
) -> anyhow::Result<Option<Vec<usize>>> {
    let theme = theme(out);
    // A line that wraps would be drawn anew at the wrong place.
    let width = terminal_size::terminal_size_of(io::stderr()).map_or(80, |(width, _)| width.0);
    let room = usize::from(width).saturating_sub(MARK);
    let select = MultiSelect::with_theme(&*theme)
        .with_prompt(format!("{question} (space marks, enter takes, escape leaves)"))
        .items(
            items
                .iter()
                .map(|item| truncate_str(&sanitize::line(&item.text), room, "…").into_owned()),
        )
        .defaults(&items.iter().map(|item| item.is_chosen).collect::<Vec<_>>());
    Ok(select.interact_opt()?)
}

/// The columns that the mark before an item takes.
const MARK: usize = 8;

/// Asks for a line of text, which is `default` if the user only confirms.
pub(crate) fn ask(question: &str, default: &str, out: Output) -> anyhow::Result<String> {
    let theme = theme(out);
    let input = Input::with_theme(&*theme).with_prompt(question).default(default.to_owned());
    Ok(input.interact_text()?)
}

fn theme(out: Output) -> Box<dyn Theme> {
    if out.colors(&io::stderr()) {
        Box::new(ColorfulTheme::default())
    } else {
        Box::new(SimpleTheme)
    }
}
