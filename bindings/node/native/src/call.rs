//! The methods that the façade calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use repertoire_bindings::audience;
use repertoire_bindings::repertoire::engine::SessionToolsOptions;
use repertoire_bindings::repertoire::{
    self as engine, Activate, CallIo, Engine, Envelope, Error, ErrorCode, Query, Session,
    SessionTools, ToolFormat, TurnBuilder,
};
use repertoire_bindings::without_halves;
use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::{host, views};

/// The host's side of a call that runs on another thread.
pub(crate) struct Io {
    pub(crate) cancelled: Option<Arc<AtomicBool>>,
}

/// Runs a method. Arguments and result are JSON.
pub(crate) fn answer(
    engine: &Engine,
    method: &str,
    arguments: &str,
    io: Option<&Io>,
) -> Result<Value, Error> {
    let arguments: Arguments =
        serde_json::from_str(&without_halves(arguments)).map_err(|error| {
            let message = format!("the arguments of `{method}` do not fit: {error}");
            Error::new(ErrorCode::InvalidParam, message, "see the types of the package")
        })?;
    let call = Call { engine, arguments: &arguments };
    let group = method.split_once('.').map_or("engine", |(group, _)| group);
    match group {
        "session" => call.session(method),
        "tools" => call.tools(method, io),
        "skill" => call.skill(method),
        _ => call.engine(method),
    }
}

fn unknown(method: &str) -> Error {
    let message = format!("there is no method `{method}`");
    Error::new(ErrorCode::InternalError, message, "report this to the package's author")
}

struct Call<'c> {
    engine: &'c Engine,
    arguments: &'c Arguments,
}

impl Call<'_> {
    fn session_of(&self) -> Session {
        self.engine.session(self.arguments.session.as_deref().unwrap_or_default())
    }

    fn query(&self) -> Query<'_> {
        let Arguments { message, paths, .. } = self.arguments;
        paths.iter().fold(Query::new(message), |query, path| query.path(path.as_str()))
    }

    /// Runs `part` with the turn of the message.
    fn with_turn<T>(&self, part: impl FnOnce(TurnBuilder<'_>) -> T) -> Result<T, Error> {
        let Arguments { options, budget, .. } = self.arguments;
        let mut settings = options.clone().unwrap_or_default().settings();
        if let Some(budget) = budget {
            settings.budget = Some(budget.clone().value());
        }
        let window = self.engine.prompt_options().context_window;
        settings.context_window = settings.context_window.or(window);
        let options = settings.apply(self.engine.disclosure_options().clone())?;
        let session = self.session_of();
        Ok(part(self.engine.turn(self.query(), &session).options(&options)))
    }

    fn engine(&self, method: &str) -> Result<Value, Error> {
        let Arguments { message, limit, name, args, .. } = self.arguments;
        let engine = self.engine;
        let list = |found: Vec<engine::Match>| {
            found.iter().map(|found| views::found(found, message)).collect::<Vec<_>>()
        };
        Ok(match method {
            "turn" => {
                let run = |builder: TurnBuilder<'_>| builder.run().map(Box::new);
                turn(&*self.with_turn(run)??)
            }
            "preview" => views::disclosure(&self.with_turn(|turn| turn.preview())?),
            "matches" => json!(list(self.with_turn(|turn| turn.matches())?)),
            "explain" => {
                let limit = limit.unwrap_or(3);
                let found = self.with_turn(|turn| turn.explain(limit))?;
                let rejected: Vec<Value> = found.rejected.iter().map(views::rejection).collect();
                let relevant = found.relevant.iter().map(|of| views::weighed(of, message));
                json!({
                    "relevant": relevant.collect::<Vec<_>>(),
                    "matches": list(found.matches),
                    "rejected": rejected,
                    "n_beyond": found.n_beyond,
                    "meta": found.meta,
                })
            }
            "findSkills" => json!(engine.find_skills(self.query(), limit.unwrap_or(5))),
            "prompt" => {
                let options = self.arguments.prompt.clone().settings();
                json!(engine.prompt_with(&options.apply(engine.prompt_options().clone())?))
            }
            "sessionPrompt" => {
                let options = self.arguments.prompt.clone().settings();
                let options = options.apply(engine.prompt_options().clone())?;
                json!(engine.session_prompt_with(&self.session_of(), &options))
            }
            "activate" => {
                let by = self.arguments.by.as_deref().map(Into::into);
                let audience = audience(self.arguments.audience.as_deref().unwrap_or("model"))?;
                let how = Activate { audience, by, inline: self.arguments.inline };
                let session = self.session_of();
                views::activation(&engine.activate_with(name, args, &session, &how)?)
            }
            "userMessage" => {
                let activation = engine.user_message(message, &self.session_of())?;
                json!(activation.as_ref().map(views::activation))
            }
            "commands" => json!(engine.commands()),
            "diagnostics" => {
                json!(engine.diagnostics().iter().map(views::diagnostic).collect::<Vec<_>>())
            }
            "countTokens" => json!(engine.count_tokens(message)),
            "refresh" => views::refreshed(&engine.refresh()?),
            _ => return Err(unknown(method)),
        })
    }

    fn skill(&self, method: &str) -> Result<Value, Error> {
        let catalog = self.engine.catalog();
        let name = &self.arguments.name;
        Ok(match method {
            "skill.list" => match self.arguments.audience.as_deref() {
                None => catalog.entries().map(views::entry).collect(),
                Some(who) => catalog.listed(audience(who)?).map(views::entry).collect(),
            },
            "skill.get" => views::entry(catalog.find_any(name)?),
            "skill.body" => json!(catalog.find_any(name)?.skill.body()?),
            _ => return Err(unknown(method)),
        })
    }

    fn session(&self, method: &str) -> Result<Value, Error> {
        let (session, skill) = (self.session_of(), self.arguments.name.as_str().into());
        match method {
            "session.state" => {
                let state = session.state()?;
                return Ok(json!(state.skills.iter().map(views::state).collect::<Vec<_>>()));
            }
            "session.unsaved" => return Ok(json!(session.unsaved().as_ref().map(views::error))),
            "session.recordUse" => session.record_use(&skill)?,
            "session.consent" => session.consent(&skill)?,
            "session.compacted" => session.compacted()?,
            "session.end" => session.end()?,
            _ => return Err(unknown(method)),
        }
        Ok(Value::Null)
    }

    fn tools(&self, method: &str, io: Option<&Io>) -> Result<Value, Error> {
        let tools = self.engine.tools(&self.session_of()).with_options(self.tools_options());
        match method {
            "tools.definitions" => {
                let format: ToolFormat =
                    self.arguments.format.as_deref().unwrap_or("openai").parse()?;
                Ok(tools.definitions(format))
            }
            "tools.call" => self.call_tool(&tools, io),
            "tools.finish" => {
                let Arguments { name, args, failed, .. } = self.arguments;
                let ended = if *failed { Err(args.as_str()) } else { Ok(args.as_str()) };
                Ok(shown(&tools.finish(name, ended)?))
            }
            _ => Err(unknown(method)),
        }
    }

    fn tools_options(&self) -> SessionToolsOptions {
        let changes = &self.arguments.tools;
        let mut options = SessionToolsOptions::default();
        options.names_chars = changes.names_chars.unwrap_or(options.names_chars);
        options.read_bytes = changes.read_bytes.unwrap_or(options.read_bytes);
        options.output_bytes = changes.output_bytes.unwrap_or(options.output_bytes);
        options.all_toolsets = changes.all_toolsets.unwrap_or(options.all_toolsets);
        options
    }

    fn call_tool(&self, tools: &SessionTools, io: Option<&Io>) -> Result<Value, Error> {
        let Arguments { name, values, timeout, progress, .. } = self.arguments;
        let deadline = timeout.map(deadline).transpose()?;
        let cancelled = io.and_then(|io| io.cancelled.as_ref());
        let is_cancelled = || cancelled.is_some_and(|flag| flag.load(Ordering::Relaxed));
        let tell = progress.and_then(host::teller_of_call);
        let report = |fraction: f64, step: &str| {
            if let Some(tell) = &tell {
                tell(&json!({"fraction": fraction, "step": step}));
            }
        };
        let mut call = CallIo::default().cancelled_if(&is_cancelled).progress(&report);
        if let Some(deadline) = deadline {
            call = call.deadline(deadline);
        }
        // If a callback failed, the tool's result says so and tells the model what to do.
        let answer = host::reported(|| tools.call_with(name, values, call));
        Ok(shown(&answer))
    }
}

/// Writes the answer to a tool call, an error with its text, too.
fn shown(answer: &Envelope) -> Value {
    let mut shown = json!(answer);
    shown["text"] = answer.text().into();
    shown
}

fn deadline(milliseconds: f64) -> Result<Instant, Error> {
    let time = Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    time.and_then(|time| Instant::now().checked_add(time)).ok_or_else(|| {
        let message = format!("`timeout` of {milliseconds} ms is not a time");
        Error::new(ErrorCode::InvalidParam, message, "write a number of milliseconds from 0 on")
    })
}

fn turn(turn: &engine::Turn) -> Value {
    json!({
        "text": turn.text,
        "disclosure": views::disclosure(&turn.disclosure),
        "activation": turn.activation.as_ref().map(views::activation),
        "refused": turn.refused.as_ref().map(|error| views::error(error)["error"].clone()),
        "unsaved": turn.unsaved.as_ref().map(views::error),
    })
}
