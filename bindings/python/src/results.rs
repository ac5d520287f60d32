//! Results and requests of the engine, as records.

use pyo3::prelude::*;
use repertoire_bindings::repertoire as engine;
use repertoire_bindings::{EventRecord, approval_verdict};

use crate::json::Json;
use crate::record::record;

/// Turns ids, or anything else with a text, into texts.
pub(crate) fn texts<T: ToString>(items: impl IntoIterator<Item = T>) -> Vec<String> {
    items.into_iter().map(|item| item.to_string()).collect()
}

/// The name of a question about the skills themselves.
pub(crate) fn meta_name(meta: engine::MetaQuestion) -> String {
    match meta {
        engine::MetaQuestion::Registry => "registry".to_owned(),
        engine::MetaQuestion::ShowAll => "show_all".to_owned(),
    }
}

record! {
    /// One trigger found in one message, where it stands first.
    Hit {
        /// `name`, `keyword`, `verb`, `pattern` or `path`.
        kind: String,
        /// The trigger as its author wrote it.
        trigger: String,
        /// The first character of the message that it covers.
        start: usize,
        /// The first character behind it.
        end: usize,
        /// The path a glob was found in.
        path: Option<String>,
    }
}

record! {
    /// A skill that matches a message, with its hits. Its rank is its place in the list it comes in.
    Match {
        /// The skill's id.
        id: String,
        /// True if the message asks for the skill by its name.
        explicit: bool,
        /// Words of the longest literal found; 0 if only patterns or paths were.
        phrase_words: usize,
        /// Every trigger found, in the order of the text.
        hits: Vec<Hit>,
    }
}

/// Turns places in bytes into places in characters, which is how Python counts, for spans that are
/// asked for in any order.
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
    /// A reason why a skill is shown less than it might be. `str()` gives its text.
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
    /// A skill that has to do with a message and is shown less than it might be, or not at all.
    Rejection {
        /// The skill's id.
        id: String,
        /// The first reason.
        reason: Reason,
        /// Further reasons that hold as well.
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
    /// The skill that is shown in full for its relevance, although no trigger is hit.
    Relevant {
        /// The skill's id.
        id: String,
        /// The weight of the words that skill and message share.
        worth: f32,
        /// The lead over the next skill.
        lead: f32,
        /// Number of distinct words they share.
        words: usize,
        /// The number of these in the skill's front matter.
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
    /// The matches of a message, and why other skills are not among them.
    Explanation {
        /// The matches, best first.
        matches: Vec<Match>,
        /// Skills that have to do with the message and are not among the matches, and why.
        rejected: Vec<Rejection>,
        /// Number of matches below the limit.
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
            n_beyond: found.n_beyond,
            meta: found.meta.map(meta_name),
        }
    }
}

record! {
    /// A skill that was found for a query, and why.
    FoundSkill {
        /// The skill's id.
        id: String,
        /// Its description in one line.
        brief: String,
        /// The triggers that the query hits, else the words they share.
        why: String,
    }
}

impl From<engine::engine::FoundSkill> for FoundSkill {
    fn from(found: engine::engine::FoundSkill) -> FoundSkill {
        FoundSkill { id: found.id.to_string(), brief: found.brief, why: found.why }
    }
}

record! {
    /// The list of skills for a system prompt.
    CatalogPrompt {
        /// Skills in the text, in its order.
        included: Vec<String>,
        /// Those of them whose description was shortened.
        shortened: Vec<String>,
        /// Skills for which there was no room.
        omitted: Vec<String>,
        /// The text for the system prompt; empty if there is nothing to list.
        text: String,
    }
    {
        fn __str__(&self) -> &str {
            &self.text
        }
    }
}

impl From<engine::disclosure::CatalogPrompt> for CatalogPrompt {
    fn from(prompt: engine::disclosure::CatalogPrompt) -> CatalogPrompt {
        CatalogPrompt {
            included: texts(prompt.included),
            shortened: texts(prompt.shortened),
            omitted: texts(prompt.omitted),
            text: prompt.text,
        }
    }
}

record! {
    /// A coded finding about a skill file or a source.
    Diagnostic {
        /// The code, in kebab-case.
        code: String,
        /// `error`, `warning` or `info`.
        severity: String,
        /// The file or directory it is about; empty for a skill that was never a file.
        path: String,
        /// Line of the finding, from 1.
        line: usize,
        /// Column of the finding in characters, from 1.
        column: usize,
        /// The problem.
        message: String,
        /// The advice on what to do.
        help: String,
    }
}

impl From<&engine::Diagnostic> for Diagnostic {
    fn from(found: &engine::Diagnostic) -> Diagnostic {
        Diagnostic {
            code: found.code.as_str().to_owned(),
            severity: found.severity.as_str().to_owned(),
            path: found.path.display().to_string(),
            line: found.line,
            column: found.column,
            message: found.message.clone(),
            help: found.help.clone(),
        }
    }
}

record! {
    /// A slash command of the user, for menus and completion.
    Command {
        /// The command as it is typed.
        command: String,
        /// The skill it activates.
        id: String,
        /// The skill's description in one line.
        brief: String,
        /// The arguments it takes, in its author's words.
        argument_hint: Option<String>,
    }
}

impl From<engine::activation::Command> for Command {
    fn from(command: engine::activation::Command) -> Command {
        let engine::activation::Command { command, id, brief, argument_hint } = command;
        Command { command, id: id.to_string(), brief, argument_hint }
    }
}

record! {
    /// The changes that a refresh took up, by the ids of skills.
    Refreshed {
        /// Skills that were not there before.
        added: Vec<String>,
        /// Skills with a change.
        changed: Vec<String>,
        /// Skills that are no longer there.
        removed: Vec<String>,
        /// Skills whose file no longer loads; they stay as they were.
        kept: Vec<String>,
    }
    {
        fn __bool__(&self) -> bool {
            let Refreshed { added, changed, removed, kept } = self;
            [added, changed, removed, kept].into_iter().any(|ids| !ids.is_empty())
        }
    }
}

impl From<&engine::catalog::Refreshed> for Refreshed {
    fn from(refreshed: &engine::catalog::Refreshed) -> Refreshed {
        Refreshed {
            added: texts(&refreshed.added),
            changed: texts(&refreshed.changed),
            removed: texts(&refreshed.removed),
            kept: texts(&refreshed.kept),
        }
    }
}

record! {
    /// A skill below another one.
    SubSkill {
        /// The skill's id.
        id: String,
        /// Its description in one line.
        brief: String,
    }
}

record! {
    /// A skill loaded by name: instructions with arguments, and the files that come with them.
    Activation {
        /// The skill's id.
        id: String,
        /// Its name.
        name: String,
        /// `inline`, or `fork` if the instructions are for a task of its own.
        mode: String,
        /// The body with arguments put in; empty if the instructions went to a task.
        content: String,
        /// The text for the model: base directory, instructions, and hints at files.
        text: String,
        /// Its directory; `None` for skills in memory.
        base_dir: Option<String>,
        /// Files that come with it, below its directory.
        files: Vec<String>,
        /// The number of files beyond these.
        more_files: usize,
        /// The skills directly below it.
        sub_skills: Vec<SubSkill>,
        /// Documents worth reading with it.
        knowledge: Vec<String>,
        /// Tools its author wants to be allowed; `None` stands for all.
        allowed_tools: Option<Vec<String>>,
        /// The model its author wants.
        model: Option<String>,
        /// The kind of agent its author wants.
        agent: Option<String>,
        /// `risky` for the first activation of the skill in the session, else `safe`.
        risk: String,
        /// The host's name for the task that does it, if the instructions went to one.
        task_id: Option<String>,
    }
    {
        /// Tells whether the skill may use a tool: a name such as `read_file`, or a call such as
        /// `Bash(git status)`, in the words of its `allowed-tools`.
        fn permits(&self, tool: &str) -> bool {
            let allowed = self.allowed_tools.as_deref();
            allowed.is_none_or(|allowed| engine::activation::permits(allowed, tool))
        }

        fn __str__(&self) -> &str {
            &self.text
        }
    }
}

impl From<engine::Activation> for Activation {
    fn from(activation: engine::Activation) -> Activation {
        let text = activation.to_text();
        let sub_skills = activation.sub_skills.into_iter();
        Activation {
            id: activation.id.to_string(),
            name: activation.name,
            mode: activation.mode.as_str().to_owned(),
            content: activation.content,
            text,
            base_dir: activation.base_dir.map(|dir| dir.display().to_string()),
            files: activation.files,
            more_files: activation.more_files,
            sub_skills: sub_skills
                .map(|sub| SubSkill { id: sub.id.to_string(), brief: sub.brief })
                .collect(),
            knowledge: activation.knowledge,
            allowed_tools: activation.allowed_tools,
            model: activation.model,
            agent: activation.agent,
            risk: risk_name(activation.risk).to_owned(),
            task_id: activation.task.map(|task| task.task_id),
        }
    }
}

fn risk_name(risk: engine::activation::Risk) -> &'static str {
    match risk {
        engine::activation::Risk::Risky => "risky",
        engine::activation::Risk::Safe => "safe",
    }
}

record! {
    /// The information that a user should see before agreeing to an activation.
    ConsentRequest {
        /// The skill's id.
        id: String,
        /// Its description.
        description: String,
        /// `model`, or `user` for a command that the user typed.
        audience: String,
        /// The scope of its source.
        scope: String,
        /// Its directory, if it has one.
        dir: Option<String>,
        /// The tree of its directory, as lines of text.
        tree: String,
        /// The `path:Class` entries of its toolsets.
        toolsets: Vec<String>,
        /// Tools its author wants to be allowed; `None` if that is left to the host.
        allowed_tools: Option<Vec<String>>,
        /// Its scripts.
        scripts: Vec<String>,
        /// `risky` for the first activation of the skill in the session, else `safe`.
        risk: String,
    }
}

impl From<&engine::ConsentRequest> for ConsentRequest {
    fn from(request: &engine::ConsentRequest) -> ConsentRequest {
        let audience = match request.audience {
            engine::Audience::Model => "model",
            engine::Audience::User => "user",
        };
        ConsentRequest {
            id: request.id.to_string(),
            description: request.description.clone(),
            audience: audience.to_owned(),
            scope: request.scope.as_str().to_owned(),
            dir: request.dir.as_ref().map(|dir| dir.display().to_string()),
            tree: request.tree.clone(),
            toolsets: request.toolsets.clone(),
            allowed_tools: request.allowed_tools.clone(),
            scripts: request.scripts.clone(),
            risk: risk_name(request.risk).to_owned(),
        }
    }
}

record! {
    /// A question to the host about code that wants to run.
    TrustRequest {
        /// The skill that wants it.
        skill: String,
        /// The library or the script.
        path: String,
        /// The SHA-256 of its content.
        sha256: String,
        /// The classes that a library exports; none for a script.
        classes: Vec<String>,
        /// `untrusted`, or `changed` if another content was approved.
        verdict: String,
    }
}

impl From<&engine::toolset::TrustRequest> for TrustRequest {
    fn from(request: &engine::toolset::TrustRequest) -> TrustRequest {
        TrustRequest {
            skill: request.skill.to_string(),
            path: request.path.display().to_string(),
            sha256: request.sha256.to_string(),
            classes: request.classes.clone(),
            verdict: approval_verdict(&request.verdict).to_owned(),
        }
    }
}

record! {
    /// A task for a host to spawn: an agent of its own with these instructions.
    Task {
        /// The skill's id.
        skill: String,
        /// The session that wants it.
        session: String,
        /// The instructions, with arguments.
        prompt: String,
        /// The directory of the skill, if it has one.
        base_dir: Option<String>,
        /// The kind of agent its author wants.
        agent: Option<String>,
        /// The model its author wants.
        model: Option<String>,
        /// Tools its author wants to be allowed; `None` stands for all.
        allowed_tools: Option<Vec<String>>,
    }
}

impl From<&engine::Task> for Task {
    fn from(task: &engine::Task) -> Task {
        Task {
            skill: task.skill.to_string(),
            session: task.session.clone(),
            prompt: task.prompt.clone(),
            base_dir: task.base_dir.as_ref().map(|dir| dir.display().to_string()),
            agent: task.agent.clone(),
            model: task.model.clone(),
            allowed_tools: task.allowed_tools.clone(),
        }
    }
}

record! {
    /// An event of a session, for stores that a host implements.
    Event {
        /// `used`, `shown`, `activated`, `consented`, `consent-spent`, `listed`, `compacted`,
        /// `restored` or `postponed`.
        kind: String,
        /// The skill it is about; `None` if it is about all of them.
        skill: Option<String>,
        /// A hash of the instructions that came into the context, if any did.
        body: Option<u64>,
        /// The skill whose instructions asked for an activation, if any.
        by: Option<String>,
    }
    {
        /// True if it is a use of the skill, which becomes the last used one.
        #[getter]
        fn is_use(&self) -> bool {
            matches!(self.kind.as_str(), "used" | "shown" | "activated")
        }
    }
}

impl From<EventRecord> for Event {
    fn from(event: EventRecord) -> Event {
        let EventRecord { kind, skill, body, by } = event;
        Event { kind, skill, body, by }
    }
}

record! {
    /// The history of one skill in a session.
    SkillState {
        /// The skill's id.
        skill: String,
        /// The number of its uses.
        uses: u64,
        /// The number of its activations.
        activations: u64,
        /// The skill whose instructions asked for its last activation, if any.
        activated_by: Option<String>,
        /// True if its instructions stand in the context.
        in_context: bool,
        /// A hash of the instructions that were last put there.
        body: Option<u64>,
        /// True if its instructions were lost when the context was made shorter.
        lost: bool,
        /// True if the user agreed to its activation.
        consented: bool,
        /// True if a line for it stands in the context.
        listed: bool,
        /// Its place, from 1, in the order in which instructions first came into the context.
        joined: Option<u64>,
    }
    {
        /// The state of a skill of which nothing is known.
        #[staticmethod]
        fn of_new(skill: &str) -> SkillState {
            SkillState::from(&engine::session::SkillState::new(skill.into()))
        }

        /// The state after an event, which is about this skill or about all of them. If `joins` is
        /// true of the result, a store gives it the next number in `joined`.
        fn apply(&self, py: Python<'_>, event: &Event) -> PyResult<SkillState> {
            let mut state = self.to_engine();
            let Event { kind, skill, body, by } = event.clone();
            let applied = EventRecord { kind, skill, body, by }
                .with_event(|event| state.apply(event));
            applied.map_err(|error| crate::error::exception(py, &error))?;
            Ok(SkillState::from(&state))
        }

        /// True if its instructions have just come into the context for the first time.
        #[getter]
        fn joins(&self) -> bool {
            self.to_engine().joins()
        }

        /// The same state with this number in `joined`.
        fn with_joined(&self, joined: u64) -> SkillState {
            SkillState { joined: Some(joined), ..self.clone() }
        }
    }
}

impl SkillState {
    pub(crate) fn to_engine(&self) -> engine::session::SkillState {
        engine::session::SkillState {
            skill: self.skill.as_str().into(),
            uses: self.uses,
            activations: self.activations,
            activated_by: self.activated_by.as_deref().map(Into::into),
            in_context: self.in_context,
            body: self.body,
            lost: self.lost,
            consented: self.consented,
            listed: self.listed,
            joined: self.joined,
        }
    }
}

impl From<&engine::session::SkillState> for SkillState {
    fn from(state: &engine::session::SkillState) -> SkillState {
        SkillState {
            skill: state.skill.to_string(),
            uses: state.uses,
            activations: state.activations,
            activated_by: state.activated_by.as_ref().map(ToString::to_string),
            in_context: state.in_context,
            body: state.body,
            lost: state.lost,
            consented: state.consented,
            listed: state.listed,
            joined: state.joined,
        }
    }
}

record! {
    /// The reason why a tool failed.
    Fault {
        /// The code, for programs.
        code: String,
        /// The problem and the advice on what to do.
        message: String,
    }
}

record! {
    /// The answer of a tool.
    Envelope {
        /// `success` or `error`.
        status: String,
        /// The answer for programs; for an error, the part of it that exists all the same.
        data: Json,
        /// The answer for a model; `None` for an error.
        text: Option<String>,
        /// The reason, if it failed.
        error: Option<Fault>,
    }
    {
        /// True if the tool did what it was asked for.
        #[getter]
        fn ok(&self) -> bool {
            self.error.is_none()
        }

        /// The answer as JSON, the form in which a model gets it.
        fn to_json(&self) -> String {
            let Envelope { status, data: Json(data), text, error } = self;
            let mut fields = serde_json::Map::new();
            fields.insert("status".to_owned(), status.as_str().into());
            if let Some(Fault { code, message }) = error {
                let fault = serde_json::json!({"code": code, "message": message});
                fields.insert("error".to_owned(), fault);
            }
            if error.is_none() || !data.is_null() {
                fields.insert("data".to_owned(), data.clone());
            }
            if let Some(text) = text {
                fields.insert("text".to_owned(), text.as_str().into());
            }
            serde_json::Value::from(fields).to_string()
        }
    }
}

impl From<engine::Envelope> for Envelope {
    fn from(envelope: engine::Envelope) -> Envelope {
        match envelope {
            engine::Envelope::Success { data, text } => Envelope {
                status: "success".to_owned(),
                data: Json(data),
                text: Some(text),
                error: None,
            },
            engine::Envelope::Error { error, data } => Envelope {
                status: "error".to_owned(),
                data: Json(data.unwrap_or_default()),
                text: None,
                error: Some(Fault { code: error.code.as_str().to_owned(), message: error.message }),
            },
        }
    }
}
