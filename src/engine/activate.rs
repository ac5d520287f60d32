//! Activation: skills loaded by name, by the model or the user.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::access::{directory, is_activated, no_files, reachable, script_names};
use super::caller::Caller;
use super::{Engine, EngineCounts};
use crate::activation::{
    self, Activation, Command, ConsentPolicy, ConsentRequest, MountLimits, Mounted, ReadOptions,
    Resource, Risk, SpawnedTask, Task, Typed,
};
use crate::catalog::{Audience, Catalog, Entry};
use crate::error::{Error, ErrorCode, Remedy};
use crate::session::{Event, Session, SessionState};
use crate::skill::Portable;
use crate::skill::{Context, SkillId};
use crate::spans;

/// The options of an activation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activate<'a> {
    /// The audience that asks for the activation; by default the model.
    pub audience: Audience,
    /// The skill whose instructions asked for the activation, if any. If the chain of such skills leads
    /// back to the skill itself, the activation fails.
    pub by: Option<Cow<'a, str>>,
    /// Takes the instructions of a skill with `context: fork` into the conversation, instead of
    /// spawning a task.
    pub inline: bool,
}

impl Default for Activate<'_> {
    fn default() -> Self {
        Activate { audience: Audience::Model, by: None, inline: false }
    }
}

impl Engine {
    /// Activates the skill that the model means by `name`: an id, a path, or a unique name.
    ///
    /// Fails with `NOT_FOUND` if the skill does not exist for the model, with `CONSENT_REQUIRED` if it
    /// needs the user's consent and has none, and with `EXECUTION_ERROR` if its file cannot be read, or its
    /// task cannot be spawned. A failed activation changes nothing. A session that cannot be read or written is
    /// kept in memory meanwhile ([`Session::unsaved`]).
    ///
    /// ```
    /// use repertoire::{Engine, Skill};
    ///
    /// let skill: Skill = "---\nname: review\ndescription: d\n---\nReview $ARGUMENTS.".parse()?;
    /// let engine = Engine::builder().skill(skill).build()?;
    /// let session = engine.session("chat-7");
    ///
    /// assert_eq!(engine.activate("review", "PR 42", &session)?.content, "Review PR 42.");
    /// let typed = engine.user_message("/review PR 43", &session)?;
    /// assert_eq!(typed.unwrap().content, "Review PR 43.");
    /// assert_eq!(engine.user_message("is /tmp full?", &session)?, None);
    /// # Ok::<(), repertoire::Error>(())
    /// ```
    pub fn activate(&self, name: &str, args: &str, session: &Session) -> Result<Activation, Error> {
        self.activate_with(name, args, session, &Activate::default())
    }

    /// Activates a skill with options: for the user instead of the model, on behalf of another skill, or
    /// inline.
    ///
    /// Fails as [`Engine::activate`] does, and with `INVALID_PARAM` if the skill leads back to itself;
    /// the message names the chain of skills.
    pub fn activate_with(
        &self,
        name: &str,
        args: &str,
        session: &Session,
        how: &Activate<'_>,
    ) -> Result<Activation, Error> {
        let catalog = self.catalog();
        let (entry, args) = catalog.find_with_args(name, args, how.audience)?;
        self.activate_entry(&catalog, entry, &args, &session.tolerant(), how, None)
    }

    /// Activates the skill of a message such as `/review PR 42`; `None` for any other message, including
    /// one that begins with an unknown `/word`. If the skill asks for a task and the host spawns none,
    /// its instructions join the conversation. [`Engine::turn`] does this for each message.
    ///
    /// Fails as [`Engine::activate`] does, and with `NOT_FOUND` if the command's skill is not available
    /// right now.
    pub fn user_message(
        &self,
        message: &str,
        session: &Session,
    ) -> Result<Option<Activation>, Error> {
        self.user_message_within(None, message, session)
    }

    /// Activates like [`Engine::user_message`], for a host that leaves out a text of more than
    /// `max_chars` characters: the instructions in it do not count as shown.
    pub(super) fn user_message_within(
        &self,
        max_chars: Option<usize>,
        message: &str,
        session: &Session,
    ) -> Result<Option<Activation>, Error> {
        let Some(Typed { word, args }) = Typed::parse(message) else { return Ok(None) };
        let catalog = self.catalog();
        let Some(entry) = activation::find_command(&catalog, word) else { return Ok(None) };
        // The look-up for the user fails with the reason if the skill is not available.
        let entry = catalog.find(entry.id.as_str(), Audience::User)?;
        let inline = !self.spawns_tasks();
        let how = Activate { audience: Audience::User, inline, ..Activate::default() };
        self.activate_entry(&catalog, entry, args, &session.tolerant(), &how, max_chars).map(Some)
    }

    /// Tells whether the host spawns tasks for skills with `context: fork`.
    pub fn spawns_tasks(&self) -> bool {
        self.0.tasks.is_some()
    }

    /// The user's slash commands, for menus and completion, in the order of ids.
    pub fn commands(&self) -> Vec<Command> {
        activation::commands(&self.snapshot().catalog)
    }

    /// The information to show to the user who decides whether a skill may be activated.
    ///
    /// Fails with `NOT_FOUND` if there is no such skill for `audience`.
    pub fn consent_request(
        &self,
        name: &str,
        session: &Session,
        audience: Audience,
    ) -> Result<ConsentRequest, Error> {
        let catalog = self.catalog();
        let (entry, _) = catalog.find_with_args(name, "", audience)?;
        let risk = risk(&session.tolerant().state()?, &entry.id);
        Ok(activation::consent_request(entry, script_names(entry), session, audience, risk))
    }

    /// Reads a file of a skill: any file below the skill's directory, on the disk or of its provider, and none
    /// outside of it.
    ///
    /// Fails with `NOT_FOUND`, `INVALID_PARAM` or `PERMISSION_DENIED`; see
    /// [`read_resource`](activation::read_resource).
    pub fn read_resource<'c>(
        &self,
        name: &str,
        path: &str,
        caller: impl Into<Caller<'c>>,
        options: &ReadOptions,
    ) -> Result<Resource, Error> {
        let catalog = self.catalog();
        let entry = self.admitted(&catalog, name, caller.into())?;
        activation::resource_of(entry, path, options).unwrap_or_else(|| Err(no_files(entry)))
    }

    /// The `SKILL.md` of a skill, in the strict form of the Agent Skills specification.
    ///
    /// Fails with `NOT_FOUND` if there is no such skill for `caller`, with `CONSENT_REQUIRED` as an
    /// activation would, and with `EXECUTION_ERROR` if the file cannot be read.
    pub fn portable<'c>(
        &self,
        name: &str,
        caller: impl Into<Caller<'c>>,
    ) -> Result<Portable, Error> {
        let catalog = self.catalog();
        self.admitted(&catalog, name, caller.into())?.skill.portable()
    }

    /// Copies the files of a skill below `target`, for a task; see [`mount`](activation::mount).
    pub fn mount<'c>(
        &self,
        name: &str,
        target: &Path,
        caller: impl Into<Caller<'c>>,
        limits: &MountLimits,
    ) -> Result<Mounted, Error> {
        let catalog = self.catalog();
        let entry = self.admitted(&catalog, name, caller.into())?;
        activation::mount(entry.id.as_str(), directory(entry)?, target, limits)
    }

    /// The skill that `caller` means by `name`, if the caller may use its files and scripts. If
    /// activations need consent, and the skill was not activated yet, the model needs consent for its
    /// files and scripts as well.
    pub(super) fn admitted<'c>(
        &self,
        catalog: &'c Catalog,
        name: &str,
        caller: Caller<'_>,
    ) -> Result<&'c Entry, Error> {
        let session = &caller.session.tolerant();
        let caller = Caller { session, ..caller };
        let entry = reachable(catalog, name, caller)?;
        if self.0.consent.policy == ConsentPolicy::Never || caller.audience == Audience::User {
            return Ok(entry);
        }
        let state = caller.session.state()?;
        if !is_activated(&state, &entry.id) {
            // The consent is for this call only, unless the policy asks just once for each skill.
            let risk = risk(&state, &entry.id);
            if self.obtain_consent(entry, &state, caller, risk)? == Consented::Now {
                caller.session.consent(&entry.id)?;
            }
        }
        Ok(entry)
    }

    /// Activates a skill of `catalog`. Its instructions do not count as shown if their text has more than
    /// `max_chars` characters.
    pub(super) fn activate_entry(
        &self,
        catalog: &Catalog,
        entry: &Entry,
        args: &str,
        session: &Session,
        how: &Activate<'_>,
        max_chars: Option<usize>,
    ) -> Result<Activation, Error> {
        let audience = match how.audience {
            Audience::Model => "model",
            Audience::User => "user",
        };
        let span = spans::activate(entry.id.as_str(), audience);
        let prepare = || self.activate_known(catalog, entry, args, session, how, max_chars);
        let activation = spans::within(&span, prepare)?;
        span.record("text.bytes", spans::int(activation.content.len()));
        Ok(activation)
    }

    fn activate_known(
        &self,
        catalog: &Catalog,
        entry: &Entry,
        args: &str,
        session: &Session,
        how: &Activate<'_>,
        max_chars: Option<usize>,
    ) -> Result<Activation, Error> {
        let state = session.state()?;
        let caller = Caller { audience: how.audience, session };
        let by = how.by.as_deref().map(|by| asking_skill(catalog, by, caller)).transpose()?;
        if let Some(by) = &by {
            refuse_cycle(&state, by, &entry.id)?;
        }
        let risk = risk(&state, &entry.id);
        let mut activation = activation::prepare(catalog, entry, args, risk)?;
        if how.inline {
            activation.mode = Context::Inline;
        }
        let consent = self.obtain_consent(entry, &state, caller, risk)?;
        if activation.mode == Context::Fork {
            let spawned = self.spawn(&activation, session);
            if spawned.is_err() && consent == Consented::Spent {
                session.consent(&entry.id)?;
            }
            activation.task = Some(spawned?);
            activation.content.clear();
        }
        let fits = |max| activation.to_text().chars().count() <= max;
        let is_shown = activation.task.is_none() && max_chars.is_none_or(fits);
        if how.audience == Audience::User {
            // The user's choice says nothing about how the message before it was routed.
            session.other_message();
        }
        let shown = is_shown.then(|| entry.skill.body_hash()).transpose()?;
        let mut noted =
            session.record(&Event::Activated { skill: &entry.id, by: by.as_ref(), shown });
        if noted.is_ok() && consent == Consented::Now {
            noted = session.record(&Event::Consented(&entry.id));
        }
        match noted {
            // The task is running. An error here would make the caller retry and spawn it again.
            Err(error) if activation.task.is_some() => {
                tracing::warn!(id = %entry.id, %error, "a task is not noted");
            }
            noted => drop(noted?),
        }
        let full = u64::from(shown.is_some());
        self.1.counters.add(EngineCounts { full, used: 1, ..EngineCounts::default() });
        Ok(activation)
    }

    fn obtain_consent(
        &self,
        entry: &Entry,
        state: &SessionState,
        caller: Caller<'_>,
        risk: Risk,
    ) -> Result<Consented, Error> {
        let consent = &self.0.consent;
        let consented = state.of(&entry.id).is_some_and(|skill| skill.consented);
        match consent.policy {
            ConsentPolicy::Never => return Ok(Consented::Before),
            ConsentPolicy::FirstUse if consented => return Ok(Consented::Before),
            // Without a callback to ask the user, a recorded consent is good for one activation.
            // Checking and spending it is one step, so that two activations cannot share it.
            ConsentPolicy::Always if consented && !consent.asks() => {
                let before = caller.session.record(&Event::ConsentSpent(&entry.id))?;
                if before.is_some_and(|before| before.consented) {
                    return Ok(Consented::Spent);
                }
            }
            ConsentPolicy::FirstUse | ConsentPolicy::Always => {}
        }
        let scripts = script_names(entry);
        let request =
            activation::consent_request(entry, scripts, caller.session, caller.audience, risk);
        guarded(&entry.id, "asking for consent", || consent.obtain(&request))?;
        Ok(if consent.policy == ConsentPolicy::FirstUse {
            Consented::Now
        } else {
            Consented::Before
        })
    }

    fn spawn(&self, activation: &Activation, session: &Session) -> Result<SpawnedTask, Error> {
        let id = &activation.id;
        let Some(tasks) = &self.0.tasks else {
            return Err(Error::new(
                ErrorCode::ExecutionError,
                format!("skill `{id}` runs as a task (`context: fork`), and this host spawns none"),
                "its author can write `context: inline`; a host can take the instructions into the \
                 conversation",
            )
            .with_remedy(Remedy::Inline));
        };
        let task = Task {
            skill: id.clone(),
            session: session.id().to_owned(),
            prompt: activation.to_text(),
            base_dir: activation.base_dir.clone(),
            agent: activation.agent.clone(),
            model: activation.model.clone(),
            allowed_tools: activation.allowed_tools.clone(),
        };
        let spawned =
            guarded(id, "spawning a task", || tasks.spawn(&task)).map(SpawnedTask::new)?;
        self.0.running.begin(&spawned.task_id, session, id);
        Ok(spawned)
    }
}

/// The skill that is said to have asked for an activation. The caller must be able to reach it.
fn asking_skill(catalog: &Catalog, by: &str, caller: Caller<'_>) -> Result<SkillId, Error> {
    let entry = reachable(catalog, by, caller).map_err(|error| {
        let message = format!("no skill can have asked for it: {}", error.message());
        Error::new(ErrorCode::InvalidParam, message, error.help())
    })?;
    Ok(entry.id.clone())
}

/// The consent to an activation, and what must be recorded about it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Consented {
    /// Nothing to record: consent was not needed, was given before, or is for this activation only.
    Before,
    /// The user has just given it: record that.
    Now,
    /// A recorded consent was spent. It is given back if the task cannot be spawned.
    Spent,
}

fn risk(state: &SessionState, skill: &SkillId) -> Risk {
    let is_known = state.of(skill).is_some_and(|known| known.consented || known.activations > 0);
    if is_known { Risk::Safe } else { Risk::Risky }
}

fn refuse_cycle(state: &SessionState, by: &SkillId, skill: &SkillId) -> Result<(), Error> {
    let mut chain = state.chain(by);
    let Some(start) = chain.iter().position(|known| *known == skill) else { return Ok(()) };
    chain.drain(..start);
    chain.push(skill);
    let chain: Vec<&str> = chain.into_iter().map(SkillId::as_str).collect();
    Err(Error::new(
        ErrorCode::InvalidParam,
        format!("skill `{skill}` leads back to itself: {}", chain.join(" → ")),
        "its instructions were given already; follow them",
    ))
}

/// Runs a callback of the host, and turns its panic into an error.
fn guarded<T>(
    skill: &SkillId,
    what: &str,
    run: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        let message = format!("{what} for skill `{skill}` panicked");
        Err(Error::new(ErrorCode::InternalError, message, "report this to the host's author"))
    })
}
