//! How messages are matched, and what is shown in full.

use clap::Args;
use repertoire::{DisclosureOptions, EngineBuilder, RelevanceMargin};

/// How messages are matched, and what is shown in full.
#[derive(Debug, Clone, Args)]
pub(crate) struct RoutingArgs {
    #[command(flatten)]
    pub(crate) matching: MatchingArgs,
    #[command(flatten)]
    pub(crate) showing: ShowingArgs,
}

impl RoutingArgs {
    /// The same, with what `hook` asks for, too.
    pub(crate) fn and(&self, hook: &RoutingArgs) -> RoutingArgs {
        let RoutingArgs { matching, showing } = self;
        RoutingArgs {
            matching: MatchingArgs {
                inflect: matching.inflect || hook.matching.inflect,
                mask_quoted: matching.mask_quoted || hook.matching.mask_quoted,
            },
            showing: ShowingArgs {
                hint_generic_words: showing.hint_generic_words || hook.showing.hint_generic_words,
                by_relevance: showing.by_relevance.or(hook.showing.by_relevance),
            },
        }
    }

    /// The words that ask for the same on a command line.
    pub(crate) fn words(&self) -> Vec<String> {
        let RoutingArgs { matching, showing } = self;
        let flags = [
            ("--inflect", matching.inflect),
            ("--mask-quoted", matching.mask_quoted),
            ("--hint-generic-words", showing.hint_generic_words),
        ];
        let asked = flags.into_iter().filter(|(_, is_asked)| *is_asked);
        let mut words: Vec<String> = asked.map(|(flag, _)| flag.to_owned()).collect();
        words.extend(showing.by_relevance.map(|margin| {
            if margin == RelevanceMargin::default() {
                return "--by-relevance".to_owned();
            }
            let RelevanceMargin { worth, lead, words } = margin;
            format!("--by-relevance={worth},{lead},{words}")
        }));
        words
    }
}

/// How messages are matched.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Matching")]
pub(crate) struct MatchingArgs {
    /// Match verbs in their regular English inflections, too
    #[arg(long)]
    pub(crate) inflect: bool,
    /// Look for keywords, verbs and names in what is not quoted only: not in code, quotes, logs
    /// and addresses
    #[arg(long)]
    pub(crate) mask_quoted: bool,
}

impl MatchingArgs {
    /// The same, asked of an engine.
    pub(crate) fn apply(&self, builder: EngineBuilder) -> EngineBuilder {
        builder.inflect(self.inflect).mask_quoted(self.mask_quoted)
    }
}

/// What is shown in full.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Matching")]
pub(crate) struct ShowingArgs {
    /// Show a skill in a line where only a generic word of it is found
    #[arg(long)]
    pub(crate) hint_generic_words: bool,
    /// Show the most relevant skill in full where no trigger is hit and it is this sure; without a
    /// value the measured margin, else `WORTH,LEAD,WORDS`
    #[arg(long, value_name = "MARGIN", num_args = 0..=1, require_equals = true, value_parser = margin)]
    #[arg(default_missing_value = "default")]
    pub(crate) by_relevance: Option<RelevanceMargin>,
}

impl ShowingArgs {
    /// The same, asked of disclosures.
    pub(crate) fn apply(&self, mut options: DisclosureOptions) -> DisclosureOptions {
        options.relevance = self.by_relevance;
        options.hint_generic_words = self.hint_generic_words;
        options
    }
}

/// `WORTH,LEAD,WORDS`, or `default`.
fn margin(text: &str) -> Result<RelevanceMargin, String> {
    if text == "default" {
        return Ok(RelevanceMargin::default());
    }
    let parse = || {
        let [worth, lead, words] = text.split(',').collect::<Vec<_>>().try_into().ok()?;
        let number = |text: &str| text.parse::<f32>().ok().filter(|n| *n >= 0.0);
        let words = words.parse().ok()?;
        Some(RelevanceMargin { worth: number(worth)?, lead: number(lead)?, words })
    };
    parse().ok_or_else(|| "write three numbers, such as `2,1,3`".to_owned())
}
