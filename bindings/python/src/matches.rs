//! Matches of a message, and the reasons for and against skills, as records.

use repertoire_bindings::repertoire as engine;

use crate::record::record;

/// The name of a question about the skills themselves.
pub(crate) fn meta_name(meta: engine::MetaQuestion) -> String {
    match meta {
        engine::MetaQuestion::Registry => "registry".to_owned(),
        engine::MetaQuestion::ShowAll => "show_all".to_owned(),
    }
}

record! {
    /// One trigger found in a message, at its first occurrence.
    Hit {
        /// `name`, `keyword`, `verb`, `pattern` or `path`.
        kind: String,
        /// The trigger as its author wrote it.
        trigger: String,
        /// The index of the first character that the trigger covers.
        start: usize,
        /// The index of the first character after the trigger.
        end: usize,
        /// The path that matched, if the trigger is a glob for paths.
        path: Option<String>,
    }
}

record! {
    /// A skill that matches a message, with its hits. Its rank is its position in the returned list.
    Match {
        /// The skill's id.
        id: String,
        /// True if the message asks for the skill by its name.
        explicit: bool,
        /// The number of words of the longest literal found; 0 if only patterns or paths matched.
        phrase_words: usize,
        /// Every trigger found, in the order of the message.
        hits: Vec<Hit>,
    }
}

/// Converts byte offsets in a message to character indices, as Python counts them. The offsets may come
/// in any order.
struct Characters<'m>(&'m str);

impl Characters<'_> {
    fn at(&self, byte: usize) -> usize {
        let Characters(text) = self;
        if text.is_ascii() {
            return byte;
        }
        text.get(..byte).map_or(byte, |before| before.chars().count())
    }
}

impl Match {
    pub(crate) fn of(found: engine::Match, message: &str) -> Match {
        let characters = Characters(message);
        let hits = found.hits.into_iter().map(|hit| Hit {
            kind: hit.kind.as_str().to_owned(),
            trigger: hit.trigger,
            start: characters.at(hit.span.start),
            end: characters.at(hit.span.end),
            path: hit.path,
        });
        Match {
            id: found.id.to_string(),
            explicit: found.explicit,
            phrase_words: found.phrase_words,
            hits: hits.collect(),
        }
    }
}

record! {
    /// A reason why a skill is shown in less detail than possible. `str()` returns its text.
    Reason {
        /// The code, stable and in kebab-case: `below-limit`, `vetoed`, `in-context` and so on.
        code: String,
        /// The reason in words.
        text: String,
        /// The remedy for the user, the skill's author or the host.
        help: String,
    }
    {
        fn __str__(&self) -> &str {
            &self.text
        }
    }
}

impl From<&engine::Reason> for Reason {
    fn from(reason: &engine::Reason) -> Reason {
        let (code, help) = (reason.code().to_owned(), reason.help().to_owned());
        Reason { code, text: reason.to_string(), help }
    }
}

record! {
    /// A skill that relates to a message but is shown in less detail than possible, or not at all.
    Rejection {
        /// The skill's id.
        id: String,
        /// The first reason.
        reason: Reason,
        /// Other reasons that also apply.
        also: Vec<Reason>,
    }
    {
        fn __str__(&self) -> String {
            let also = self.also.iter().map(|reason| reason.text.as_str());
            std::iter::once(self.reason.text.as_str()).chain(also).collect::<Vec<_>>().join("; ")
        }
    }
}

impl From<&engine::Rejection> for Rejection {
    fn from(rejection: &engine::Rejection) -> Rejection {
        Rejection {
            id: rejection.id.to_string(),
            reason: Reason::from(&rejection.reason),
            also: rejection.also.iter().map(Reason::from).collect(),
        }
    }
}

record! {
    /// The skill that is shown in full because it is relevant, although no trigger matches.
    Relevant {
        /// The skill's id.
        id: String,
        /// The total weight of the words that skill and message share.
        worth: f32,
        /// The lead of `worth` over the next skill.
        lead: f32,
        /// The number of distinct words that skill and message share.
        words: usize,
        /// The number of those words that are in the skill's front matter.
        head_words: usize,
    }
}

impl From<&engine::matcher::Relevant> for Relevant {
    fn from(found: &engine::matcher::Relevant) -> Relevant {
        let engine::matcher::Relevance { worth, lead, words, head_words, .. } = found.relevance;
        Relevant { id: found.id.to_string(), worth, lead, words, head_words }
    }
}

record! {
    /// A word, or two adjacent words, that a skill and a message share.
    WeighedTerm {
        /// The word, as the message has it.
        term: String,
        /// The fields of the skill that have it, such as `description`.
        fields: Vec<String>,
        /// The share of the skill's `worth` that it adds, about.
        worth: f32,
        /// The start and the end of each place in the message, in characters, as a list of two.
        places: Vec<Vec<usize>>,
    }
}

record! {
    /// The margin that a skill must reach to be shown in full because it is relevant.
    Needed {
        /// The minimum of `worth`.
        worth: f32,
        /// The minimum of `lead`.
        lead: f32,
        /// The minimum of `head_words`.
        words: usize,
        /// The minimum evidence of words and nearness; 0 if the nearness is not known.
        evidence: f32,
    }
}

record! {
    /// Something that keeps a skill from being shown in full. `str()` returns its text.
    Lack {
        /// The code, stable and in kebab-case: `worth`, `lead`, `words` and so on, or that of a reason.
        code: String,
        /// The lack in words.
        text: String,
        /// The figure, if the code is `worth`, `lead` or `words`.
        has: Option<f32>,
        /// The figure that is needed.
        needs: Option<f32>,
    }
    {
        fn __str__(&self) -> &str {
            &self.text
        }
    }
}

impl From<&engine::disclosure::Lack> for Lack {
    fn from(lack: &engine::disclosure::Lack) -> Lack {
        let (has, needs) = lack.figures().unzip();
        Lack { code: lack.code().to_owned(), text: lack.to_string(), has, needs }
    }
}

record! {
    /// A relevant skill, and what decided how much of it is shown.
    Weighed {
        /// The skill's id.
        id: String,
        /// The total weight of the words that skill and message share.
        worth: f32,
        /// The lead of `worth` over the next skill.
        lead: f32,
        /// The number of distinct words that skill and message share.
        words: usize,
        /// The number of those words that are in the skill's front matter.
        head_words: usize,
        /// The extent to which the message brings the skill into the prompt: 1 a count, 2 a line, 3 full
        /// instructions.
        tier: u8,
        /// The words that skill and message share, the heaviest first.
        terms: Vec<WeighedTerm>,
        /// The nearness of the skill to the message in meaning, in words; `None` if it is not near.
        near: Option<String>,
        /// The margin that the skill must reach; `None` if relevance shows no skill in full.
        needed: Option<Needed>,
        /// True if its relevance shows the skill in full.
        is_decisive: bool,
        /// Everything that keeps the skill from being shown in full; empty if it is.
        lacking: Vec<Lack>,
    }
}

impl Weighed {
    fn of(weighed: engine::Weighed, message: &str) -> Weighed {
        let characters = Characters(message);
        let engine::Weighed { found, tier, terms, near, needed, is_decisive, lacking, .. } =
            weighed;
        let Relevant { id, worth, lead, words, head_words } = Relevant::from(&found);
        let terms = terms.into_iter().map(|term| WeighedTerm {
            term: term.term,
            fields: term.fields.iter().map(|field| field.as_str().to_owned()).collect(),
            worth: term.worth,
            places: term
                .places
                .iter()
                .map(|place| vec![characters.at(place.start), characters.at(place.end)])
                .collect(),
        });
        Weighed {
            id,
            worth,
            lead,
            words,
            head_words,
            tier: tier as u8,
            terms: terms.collect(),
            near: near.map(|near| near.to_string()),
            needed: needed.map(|of| Needed {
                worth: of.worth,
                lead: of.lead,
                words: of.words,
                evidence: of.evidence,
            }),
            is_decisive,
            lacking: lacking.iter().map(Lack::from).collect(),
        }
    }
}

record! {
    /// The matches of a message, and the reasons why other skills are not among them.
    Explanation {
        /// The matches, best first.
        matches: Vec<Match>,
        /// Skills that relate to the message but are not among the matches, with the reasons.
        rejected: Vec<Rejection>,
        /// The most relevant skills with the decisions on them, best first.
        relevant: Vec<Weighed>,
        /// The number of further matches, which rank below the limit.
        n_beyond: usize,
        /// `registry` or `show_all` if the message asks about the skills themselves.
        meta: Option<String>,
    }
}

impl Explanation {
    pub(crate) fn of(found: engine::Explanation, message: &str) -> Explanation {
        Explanation {
            matches: found.matches.into_iter().map(|found| Match::of(found, message)).collect(),
            rejected: found.rejected.iter().map(Rejection::from).collect(),
            relevant: found.relevant.into_iter().map(|of| Weighed::of(of, message)).collect(),
            n_beyond: found.n_beyond,
            meta: found.meta.map(meta_name),
        }
    }
}

record! {
    /// A skill that was found for a query, with the reason.
    FoundSkill {
        /// The skill's id.
        id: String,
        /// The skill's description in one line.
        brief: String,
        /// The triggers that the query matches; if none, the words that skill and query share.
        why: String,
    }
}

impl From<engine::engine::FoundSkill> for FoundSkill {
    fn from(found: engine::engine::FoundSkill) -> FoundSkill {
        FoundSkill { id: found.id.to_string(), brief: found.brief, why: found.why }
    }
}
