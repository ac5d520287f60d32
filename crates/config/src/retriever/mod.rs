//! The program that `routing.retriever` names, which ranks skills by lines of JSON.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use repertoire::matcher::{Candidate, Levels, Retriever};
use repertoire::{Error, ErrorCode};
use serde_json::{Value as Json, json};

use super::Config;
use super::schema::{RETRIEVER_TIMEOUT, Value};
use crate::line_process::{LineFault, LineProcess, shown};

/// Ranks skills by a program, in place of the model of meanings. The program reads a request from each line of
/// its standard input and answers with a line on its standard output:
///
/// | request | answer |
/// |---|---|
/// | `{"prepare": [{"id": …, "name": …, "description": …, "when_to_use": …, "headings": […], "body": …}, …]}` | `{"ok": true}`, and if it knows them `"levels": {"floor": …, "enough": …}` |
/// | `{"rank": "message"}` | `{"scores": […]}`, one for each skill |
///
/// It is started for the first request, and keeps running until this retriever is dropped. If it has ended, or
/// was ended because it broke these rules, the next request starts it again.
#[derive(Debug)]
pub struct ProgramRetriever {
    command: Vec<String>,
    dir: PathBuf,
    limit: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    process: Option<LineProcess>,
    /// The address of the candidates for which the process was prepared; 0 for none.
    prepared: usize,
    levels: Option<Levels>,
    /// The time that is left for all requests; `None` if there is no limit.
    left: Option<Duration>,
}

impl Config {
    /// The program that `routing.retriever` names, if a user's file does.
    pub fn retriever(&self) -> Option<ProgramRetriever> {
        let found = self.found.iter().rfind(|found| found.name == "routing.retriever")?;
        let Value::Text(text) = &found.value else { return None };
        let command = words(text, self.place.home.as_deref())?;
        // Arguments are relative to the user's file: the working directory is a project's, whose files must not
        // run because a user wrote `python3 rank.py`.
        let dir = found.path.parent().map(Path::to_owned).unwrap_or_default();
        let limit = self.seconds("routing.retriever_timeout").unwrap_or(RETRIEVER_TIMEOUT);
        let retriever = ProgramRetriever::new(command, dir, limit);
        Some(match self.retriever_time {
            Some(time) => retriever.within(time),
            None => retriever,
        })
    }

    /// Limits the time for all answers of the retriever together, for a process that must end soon. By default,
    /// only each answer is limited.
    #[must_use]
    pub fn with_retriever_time(mut self, time: Duration) -> Config {
        self.retriever_time = Some(time);
        self
    }
}

/// Splits a command into words as a shell does, with `~/` at the start of a word replaced by the home directory.
/// `None` if a quote is not closed.
pub(crate) fn words(text: &str, home: Option<&Path>) -> Option<Vec<String>> {
    let expanded = |word: String| match (word.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest).to_string_lossy().into_owned(),
        _ => word,
    };
    Some(shlex::split(text)?.into_iter().map(expanded).collect())
}

impl ProgramRetriever {
    /// Ranks by `command`, a program with its arguments, which runs in the directory `dir` and has `limit` for
    /// each answer.
    pub fn new(command: Vec<String>, dir: PathBuf, limit: Duration) -> ProgramRetriever {
        ProgramRetriever { command, dir, limit, state: Mutex::default() }
    }

    /// Limits the time for all answers together, for a process that must end soon.
    #[must_use]
    pub fn within(self, time: Duration) -> ProgramRetriever {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).left = Some(time);
        self
    }

    /// Lets `ask` talk to the process, prepared for `candidates`. If a process that was running has ended since,
    /// starts it again, once.
    fn with_process<T>(
        &self,
        candidates: &[Candidate],
        ask: impl Fn(&mut Session<'_>) -> Result<T, Failure>,
    ) -> Result<T, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let was_running = state.process.is_some();
        let mut answer = self.attempt(&mut state, candidates, &ask);
        if was_running && matches!(answer, Err(Failure::Process(LineFault::Ended(_)))) {
            answer = self.attempt(&mut state, candidates, &ask);
        }
        answer.map_err(|failure| self.error(failure))
    }

    fn attempt<T>(
        &self,
        state: &mut State,
        candidates: &[Candidate],
        ask: impl Fn(&mut Session<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let answer = self.session(state).and_then(|mut session| {
            // A retriever of several catalogs, one of them outdated, is prepared again in turn.
            let place = candidates.as_ptr().addr();
            if session.prepared != place {
                session.levels = session.prepare(candidates)?;
                session.prepared = place;
            }
            let answer = ask(&mut session)?;
            let Session { prepared, levels, .. } = session;
            Ok((answer, prepared, levels))
        });
        match answer {
            Ok((answer, prepared, levels)) => {
                (state.prepared, state.levels) = (prepared, levels);
                Ok(answer)
            }
            Err(failure) => {
                // Its next line could answer an earlier request.
                (state.process, state.prepared) = (None, 0);
                Err(failure)
            }
        }
    }

    fn session<'s>(&self, state: &'s mut State) -> Result<Session<'s>, Failure> {
        let State { process, prepared, levels, left } = state;
        if process.is_none() {
            let started = LineProcess::start(&self.command, &self.dir);
            *process = Some(started.map_err(|error| Failure::Start(error.to_string()))?);
            *prepared = 0;
        }
        let process = process.as_mut().ok_or_else(|| Failure::Start(String::new()))?;
        Ok(Session { process, prepared: *prepared, levels: *levels, limit: self.limit, left })
    }

    fn error(&self, failure: Failure) -> Error {
        let what = match failure {
            Failure::Start(error) => format!("cannot be started: {error}"),
            Failure::Process(fault @ (LineFault::Ended(_) | LineFault::Unasked(_))) => {
                fault.to_string()
            }
            Failure::Process(LineFault::Late(time)) => {
                let command = self.command.join(" ");
                let message = if time.is_zero() {
                    format!("there was no time left for the retriever `{command}`")
                } else {
                    let seconds = time.as_secs_f64();
                    format!("the retriever `{command}` did not answer within {seconds:.1} s")
                };
                let help = "let it answer faster, let it give its levels, or raise \
                            `routing.retriever_timeout`";
                return Error::new(ErrorCode::Timeout, message, help);
            }
            Failure::Wrong(line) => {
                format!("wrote a line that is not an answer: {}", shown(&line))
            }
            Failure::Number(n_scores, n_skills) => {
                format!("gave {n_scores} scores for {n_skills} skills")
            }
        };
        let message = format!("the retriever `{}` {what}", self.command.join(" "));
        let help = "see `routing.retriever` in the user's `config.toml`, and run it in a terminal";
        Error::new(ErrorCode::ExecutionError, message, help)
    }
}

/// A conversation with a running process.
struct Session<'s> {
    process: &'s mut LineProcess,
    prepared: usize,
    levels: Option<Levels>,
    limit: Duration,
    left: &'s mut Option<Duration>,
}

/// The reason why there is no answer.
#[derive(Debug)]
enum Failure {
    Start(String),
    Process(LineFault),
    /// A line that is not an answer.
    Wrong(String),
    /// An answer with this number of scores, for another number of skills.
    Number(usize, usize),
}

impl Session<'_> {
    fn prepare(&mut self, candidates: &[Candidate]) -> Result<Option<Levels>, Failure> {
        let line = self.exchange(&json!({"prepare": candidates}))?;
        let wrong = || Failure::Wrong(line.clone());
        let answer: Json = serde_json::from_str(&line).map_err(|_| wrong())?;
        if answer["ok"] != true {
            return Err(wrong());
        }
        match answer.get("levels").filter(|levels| !levels.is_null()) {
            None => Ok(None),
            Some(levels) => {
                let level = |name| number(&levels[name]).ok_or_else(wrong);
                Ok(Some(Levels { floor: level("floor")?, enough: level("enough")? }))
            }
        }
    }

    fn rank(&mut self, message: &str, n_skills: usize) -> Result<Vec<f32>, Failure> {
        let line = self.exchange(&json!({"rank": message}))?;
        let answer: Option<Json> = serde_json::from_str(&line).ok();
        let scores = answer.as_ref().and_then(|answer| answer["scores"].as_array());
        let scores: Option<Vec<f32>> = scores.and_then(|list| list.iter().map(number).collect());
        let scores = scores.ok_or(Failure::Wrong(line))?;
        if scores.len() == n_skills {
            Ok(scores)
        } else {
            Err(Failure::Number(scores.len(), n_skills))
        }
    }

    /// Sends a request, and returns the answer's line.
    fn exchange(&mut self, request: &Json) -> Result<String, Failure> {
        let limit = self.left.map_or(self.limit, |left| left.min(self.limit));
        let start = Instant::now();
        let answer = self.process.exchange(request.to_string(), limit);
        if let Some(left) = self.left {
            *left = left.saturating_sub(start.elapsed());
        }
        answer.map_err(Failure::Process)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "scores are estimates")]
fn number(value: &Json) -> Option<f32> {
    value.as_f64().map(|number| number as f32)
}

impl Retriever for ProgramRetriever {
    fn prepare(&self, candidates: &[Candidate]) -> Result<(), Error> {
        self.with_process(candidates, |_| Ok(()))
    }

    fn rank(&self, message: &str, candidates: &[Candidate]) -> Result<Vec<f32>, Error> {
        self.with_process(candidates, |session| session.rank(message, candidates.len()))
    }

    fn levels(&self) -> Option<Levels> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).levels
    }
}
