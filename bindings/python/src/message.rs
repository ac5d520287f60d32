//! A message with its options, and turns that answer it.

use pyo3::prelude::*;
use repertoire_bindings::repertoire::{self as engine, Query, TurnBuilder};

use crate::engine::Engine;
use crate::error::run;
use crate::options::{Budget, DisclosureOptions};
use crate::session::Session;

/// Options of a message.
#[derive(Default)]
pub(crate) struct Message<'a> {
    pub(crate) text: &'a str,
    pub(crate) paths: Vec<String>,
    pub(crate) budget: Option<Budget>,
    pub(crate) options: Option<DisclosureOptions>,
}

impl Message<'_> {
    pub(crate) fn query(&self) -> Query<'_> {
        let query = Query::new(self.text);
        self.paths.iter().fold(query, |query, path| query.path(path.as_str()))
    }
}

impl Engine {
    /// Returns the options for a message; `None` if the message has no options of its own.
    fn options(
        &self,
        message: &Message<'_>,
    ) -> Result<Option<engine::DisclosureOptions>, engine::Error> {
        if message.options.is_none() && message.budget.is_none() {
            return Ok(None);
        }
        let mut settings =
            message.options.as_ref().map(|options| options.0.clone()).unwrap_or_default();
        if let Some(Budget(budget)) = &message.budget {
            settings.budget = Some(budget.clone());
        }
        let engine = &self.0;
        settings.context_window =
            settings.context_window.or(engine.prompt_options().context_window);
        settings.apply(engine.disclosure_options().clone()).map(Some)
    }

    /// Runs `call` with the turn for the message.
    pub(crate) fn with_turn<T: Send>(
        &self,
        py: Python<'_>,
        message: &Message<'_>,
        session: &Session,
        call: impl FnOnce(TurnBuilder<'_>) -> Result<T, engine::Error> + Send,
    ) -> PyResult<T> {
        run(py, || {
            let options = self.options(message)?;
            let mut turn = self.0.turn(message.query(), &session.0);
            if let Some(options) = &options {
                turn = turn.options(options);
            }
            call(turn)
        })
    }
}
