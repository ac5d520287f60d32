//! Arguments that control the matching and the skills shown in full.

use clap::Args;
use repertoire::disclosure::RelevanceMargin;
use repertoire::{DisclosureOptions, EngineBuilder};

/// Options of the matching, and of the skills shown in full.
#[derive(Debug, Clone, Args)]
pub(crate) struct RoutingArgs {
    #[command(flatten)]
    pub(crate) matching: MatchingArgs,
    #[command(flatten)]
    pub(crate) showing: ShowingArgs,
}

impl RoutingArgs {
    /// Returns these options, with those of `hook` added.
    pub(crate) fn and(&self, hook: &RoutingArgs) -> RoutingArgs {
        let RoutingArgs { matching, showing } = self;
        RoutingArgs {
            matching: MatchingArgs { inflect: matching.inflect || hook.matching.inflect },
            showing: ShowingArgs {
                by_relevance: showing.by_relevance.or(hook.showing.by_relevance),
            },
        }
    }

    /// Returns the words of a command line with the same options.
    pub(crate) fn words(&self) -> Vec<String> {
        let RoutingArgs { matching, showing } = self;
        let mut words: Vec<String> = Vec::new();
        words.extend(matching.inflect.then(|| "--inflect".to_owned()));
        words.extend(showing.by_relevance.map(|margin| match margin.0 {
            None => "--by-relevance=off".to_owned(),
            Some(RelevanceMargin { worth, lead, words }) => {
                format!("--by-relevance={worth},{lead},{words}")
            }
        }));
        words
    }
}

/// Options of the matching.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Matching")]
pub(crate) struct MatchingArgs {
    /// Also match verbs in their regular English inflections
    #[arg(long)]
    pub(crate) inflect: bool,
}

impl MatchingArgs {
    /// Applies the arguments to an engine. An option that is not given stays as the configuration has it.
    pub(crate) fn apply(&self, builder: EngineBuilder) -> EngineBuilder {
        if self.inflect { builder.inflect(true) } else { builder }
    }
}

/// Options of the skills shown in full.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Matching")]
pub(crate) struct ShowingArgs {
    /// Show the most relevant skill in full if no trigger matches, from `SCORE,AHEAD,WORDS` on: its score, how
    /// far it is ahead of the next skill, and how many words of the message are in its name and description;
    /// `off` for never, `default` for the measured figures
    #[arg(long, value_name = "FIGURES", num_args = 0..=1, require_equals = true, value_parser = margin)]
    #[arg(default_missing_value = "default")]
    pub(crate) by_relevance: Option<Margin>,
}

/// The margin of `--by-relevance`; `None` stands for never.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Margin(Option<RelevanceMargin>);

impl ShowingArgs {
    /// Applies the arguments to the options of disclosures.
    pub(crate) fn apply(&self, mut options: DisclosureOptions) -> DisclosureOptions {
        if let Some(Margin(margin)) = self.by_relevance {
            options.relevance = margin;
        }
        options
    }
}

/// Parses `SCORE,AHEAD,WORDS`, `off` or `default`.
fn margin(text: &str) -> Result<Margin, String> {
    match text {
        "off" => return Ok(Margin(None)),
        "default" => return Ok(Margin(Some(RelevanceMargin::default()))),
        _ => {}
    }
    let parse = || {
        let [worth, lead, words] = text.split(',').collect::<Vec<_>>().try_into().ok()?;
        let number = |text: &str| text.parse::<f32>().ok().filter(|n| *n >= 0.0);
        let words = words.parse().ok()?;
        Some(RelevanceMargin { worth: number(worth)?, lead: number(lead)?, words })
    };
    let margin = parse().ok_or_else(|| {
        "write `off` or three numbers, such as `2,1,3`: score, how far ahead, words".to_owned()
    });
    margin.map(|margin| Margin(Some(margin)))
}
