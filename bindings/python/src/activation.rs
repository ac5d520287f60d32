//! Activations, and the questions that the host answers before them, as records.

use repertoire_bindings::approval_verdict;
use repertoire_bindings::repertoire as engine;

use crate::record::record;

record! {
    /// A document that a skill names for further reading.
    KnowledgeDocument {
        /// The path, from the skill's directory or absolute.
        path: String,
        /// The first heading of the document; `None` if it has none, or was not found.
        title: Option<String>,
    }
}

record! {
    /// A skill nested below another one.
    SubSkill {
        /// The skill's id.
        id: String,
        /// The skill's description in one line.
        brief: String,
    }
}

record! {
    /// A skill that another one builds on.
    RequiredSkill {
        /// The skill's id; of a missing one, its name as it is written.
        id: String,
        /// The skill's description in one line.
        brief: String,
        /// True if there is no such skill that a model may load.
        is_missing: bool,
    }
}

record! {
    /// A skill loaded by name: instructions with arguments, and the files that come with them.
    Activation {
        /// The skill's id.
        id: String,
        /// The skill's name.
        name: String,
        /// `inline`, or `fork` if the instructions are meant for a separate task.
        mode: String,
        /// The body with arguments filled in; empty if the instructions went to a task.
        content: String,
        /// The text for the model: base directory, instructions, and hints about files.
        text: String,
        /// The skill's directory; `None` for a skill in memory.
        base_dir: Option<String>,
        /// The skill's other files, below its directory.
        files: Vec<String>,
        /// The number of further files, which `files` does not list.
        more_files: usize,
        /// The skills directly below this one.
        sub_skills: Vec<SubSkill>,
        /// Documents worth reading along with the instructions.
        knowledge: Vec<KnowledgeDocument>,
        /// The tools that the skill's author wants to allow; `None` allows all.
        allowed_tools: Option<Vec<String>>,
        /// The model that the skill's author wants.
        model: Option<String>,
        /// The kind of agent that the skill's author wants.
        agent: Option<String>,
        /// `risky` for the first activation of the skill in the session, otherwise `safe`.
        risk: String,
        /// The host's name for the spawned task, if the instructions went to one.
        task_id: Option<String>,
        /// The scope of the skill's source: who wrote it.
        scope: String,
        /// The skills that this one builds on, those that are missing included.
        required_skills: Vec<RequiredSkill>,
    }
    {
        /// Tells whether the skill's `allowed-tools` permit a tool: a name such as `read_file`, or a
        /// call such as `Bash(git status)`.
        fn permits(&self, tool: &str) -> bool {
            let allowed = self.allowed_tools.as_deref();
            allowed.is_none_or(|allowed| engine::activation::permits(allowed, tool))
        }

        /// Tells whether the skill asks that a tool runs without a question to the user. Grant that only to
        /// skills whose author you trust: strangers wrote those of the scopes `project` and `fetched`.
        fn preapproved(&self, tool: &str) -> bool {
            self.allowed_tools.is_some() && self.permits(tool)
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
            knowledge: activation
                .knowledge
                .into_iter()
                .map(|document| KnowledgeDocument { path: document.path, title: document.title })
                .collect(),
            allowed_tools: activation.allowed_tools,
            model: activation.model,
            agent: activation.agent,
            risk: risk_name(activation.risk).to_owned(),
            task_id: activation.task.map(|task| task.task_id),
            scope: activation.scope.to_string(),
            required_skills: activation
                .required_skills
                .into_iter()
                .map(|of| RequiredSkill { id: of.id, brief: of.brief, is_missing: of.is_missing })
                .collect(),
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
        /// The id of the session in which the skill is to be activated.
        session: String,
        /// The skill's description.
        description: String,
        /// `model`, or `user` for a command that the user typed.
        audience: String,
        /// The scope of the skill's source.
        scope: String,
        /// The skill's directory, if it has one.
        dir: Option<String>,
        /// The file tree of the skill's directory, as lines of text.
        tree: String,
        /// The `path:Class` entries of the skill's toolsets.
        toolsets: Vec<String>,
        /// The tools that the skill's author wants to allow; `None` leaves it to the host.
        allowed_tools: Option<Vec<String>>,
        /// The skill's scripts.
        scripts: Vec<String>,
        /// `risky` for the first activation of the skill in the session, otherwise `safe`.
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
            session: request.session.clone(),
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
    /// A question to the host: may this code run?
    TrustRequest {
        /// The skill that wants to run the code.
        skill: String,
        /// The library or the script.
        path: String,
        /// The SHA-256 of the file's content.
        sha256: String,
        /// The classes that a library exports; empty for a script.
        classes: Vec<String>,
        /// All that the code may do once it is trusted, in a line such as "reads its skill alone · no network ·
        /// writes nothing".
        may: String,
        /// `untrusted`, or `changed` if different content was approved before.
        verdict: String,
        /// The files of the skill that changed since its code was approved, such as "`lib/f.sh`
        /// (changed)". Approving the code approves all of them.
        changes: Vec<String>,
    }
}

impl From<&engine::toolset::TrustRequest> for TrustRequest {
    fn from(request: &engine::toolset::TrustRequest) -> TrustRequest {
        TrustRequest {
            skill: request.skill.to_string(),
            path: request.path.display().to_string(),
            sha256: request.sha256.to_string(),
            classes: request.classes.clone(),
            may: request.abilities.to_string(),
            verdict: approval_verdict(&request.verdict).to_owned(),
            changes: request.changes.iter().map(ToString::to_string).collect(),
        }
    }
}

record! {
    /// A task for the host to spawn: a separate agent with these instructions.
    Task {
        /// The skill's id.
        skill: String,
        /// The session that requests the task.
        session: String,
        /// The instructions, with arguments filled in.
        prompt: String,
        /// The directory of the skill, if it has one.
        base_dir: Option<String>,
        /// The kind of agent that the skill's author wants.
        agent: Option<String>,
        /// The model that the skill's author wants.
        model: Option<String>,
        /// The tools that the skill's author wants to allow; `None` allows all.
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
