//! The options that say what ranks skills besides words.

use std::sync::Arc;

use super::EngineBuilder;
use crate::matcher::{MeaningModel, Retriever};

impl EngineBuilder {
    /// Ranks skills by their meaning, too, as a model tells it: a table of word pieces, or a sentence transformer;
    /// `None` for words alone. By default, with the feature `meaning`, the table of the crate `repertoire-meaning` is
    /// used.
    #[must_use]
    pub fn meaning(mut self, model: impl Into<Option<Arc<MeaningModel>>>) -> EngineBuilder {
        self.meaning = model.into().map_or(Meaning::Off, Meaning::Model);
        self
    }

    /// Adds the host's own ranking to the lexical relevance, in place of the model of meanings; by default there
    /// is none. [`EngineBuilder::build`] prepares it, and fails if it cannot.
    #[must_use]
    pub fn retriever(mut self, retriever: impl Retriever + 'static) -> EngineBuilder {
        self.retriever = Some(Arc::new(retriever));
        self.prepares_retriever = true;
        self
    }

    /// Adds a retriever as [`EngineBuilder::retriever`] does, but prepares it only when a message is ranked
    /// first. If it cannot be prepared, messages are answered by words alone, and
    /// [`Disclosure::failure`](crate::Disclosure::failure) says why. It suits a retriever that is slow to
    /// start, in a process that may never rank anything.
    #[must_use]
    pub fn retriever_on_use(mut self, retriever: impl Retriever + 'static) -> EngineBuilder {
        self.retriever = Some(Arc::new(retriever));
        self.prepares_retriever = false;
        self
    }
}

/// The model of meanings that ranks skills, if one does.
#[derive(Debug, Default)]
pub(super) enum Meaning {
    /// By the table in the program, if there is one.
    #[default]
    Bundled,
    Model(Arc<MeaningModel>),
    Off,
}

impl Meaning {
    pub(super) fn model(self) -> Option<Arc<MeaningModel>> {
        match self {
            // The bytes are not copied.
            #[cfg(feature = "meaning")]
            Meaning::Bundled => Some(Arc::new(MeaningModel::bundled())),
            #[cfg(not(feature = "meaning"))]
            Meaning::Bundled => None,
            Meaning::Model(model) => Some(model),
            Meaning::Off => None,
        }
    }
}
