//! Results as JSON, with the names of the façade's types.

use repertoire_bindings::repertoire::catalog::{Entry, Refreshed};
use repertoire_bindings::repertoire::session::SkillState;
use repertoire_bindings::repertoire::toolset::TrustRequest;
use repertoire_bindings::repertoire::{
    Activation, Audience, Diagnostic, Disclosure, Error, ErrorCode, Match, Reason, Rejection,
    Remedy, Task, Weighed,
};
use repertoire_bindings::{EventRecord, approval_verdict, status_of, triggers_of};
use serde_json::{Map, Value, json};

/// Converts an error to `{"error": {code, message, help, remedy}}`.
pub(crate) fn error(error: &Error) -> Value {
    let remedy = error.remedy().map(|remedy| match remedy {
        Remedy::Trust(path) => json!({"kind": "trust", "of": path.display().to_string()}),
        Remedy::TrustSkill(dir) => {
            json!({"kind": "trust-skill", "of": dir.display().to_string()})
        }
        Remedy::ListTrusted => json!({"kind": "list-trusted"}),
        Remedy::Run(command) => json!({"kind": "run", "of": command}),
        Remedy::ListSkills => json!({"kind": "list-skills"}),
        Remedy::ListTools => json!({"kind": "list-tools"}),
        Remedy::Enable(skill) => json!({"kind": "enable", "of": skill}),
        Remedy::Inline => json!({"kind": "inline"}),
        _ => json!({"kind": "other"}),
    });
    let (code, message) = (error.code().as_str(), error.message());
    let mut told = json!({"error": {"code": code, "message": message, "help": error.help(), "remedy": remedy}});
    if let Some(number) = crate::host::thrown(error) {
        told["thrown"] = number.clone();
    }
    told
}

fn reason(reason: &Reason) -> Value {
    json!({"code": reason.code(), "text": reason.to_string(), "help": reason.help()})
}

pub(crate) fn rejection(rejection: &Rejection) -> Value {
    let also: Vec<Value> = rejection.also.iter().map(self::reason).collect();
    json!({"id": rejection.id, "reason": self::reason(&rejection.reason), "also": also})
}

pub(crate) fn disclosure(disclosure: &Disclosure) -> Value {
    let omitted: Vec<Value> = disclosure.omitted.iter().map(rejection).collect();
    json!({
        "tier": disclosure.tier,
        "meta": disclosure.meta,
        "full": disclosure.full,
        "relevant": disclosure.relevant,
        "registry": disclosure.registry,
        "hidden": disclosure.hidden,
        "below_limit": disclosure.below_limit,
        "omitted": omitted,
        "failure": disclosure.failure,
        "text": disclosure.text,
    })
}

/// Converts a byte offset in a message to UTF-16 code units, as JavaScript counts them.
fn unit(message: &str, byte: usize) -> usize {
    message.get(..byte).map_or(byte, |before| before.encode_utf16().count())
}

/// Converts a relevant skill with the decision on it.
pub(crate) fn weighed(weighed: &Weighed, message: &str) -> Value {
    let terms = weighed.terms.iter().map(|term| {
        let places = term.places.iter();
        let places = places.map(|at| [unit(message, at.start), unit(message, at.end)]);
        json!({
            "term": term.term,
            "fields": term.fields,
            "worth": term.worth,
            "places": places.collect::<Vec<_>>(),
        })
    });
    json!({
        "id": weighed.found.id,
        "worth": weighed.found.relevance.worth,
        "lead": weighed.found.relevance.lead,
        "words": weighed.found.relevance.words,
        "head_words": weighed.found.relevance.head_words,
        "tier": weighed.tier,
        "terms": terms.collect::<Vec<_>>(),
        "near": weighed.near.as_ref().map(ToString::to_string),
        "needed": weighed.needed,
        "is_decisive": weighed.is_decisive,
        "lacking": weighed.lacking,
    })
}

/// Converts a match, with positions in UTF-16 code units.
pub(crate) fn found(found: &Match, message: &str) -> Value {
    let unit = |byte: usize| unit(message, byte);
    let hits = found.hits.iter().map(|hit| {
        json!({
            "kind": hit.kind,
            "trigger": hit.trigger,
            "start": unit(hit.span.start),
            "end": unit(hit.span.end),
            "path": hit.path,
        })
    });
    json!({
        "id": found.id,
        "explicit": found.explicit,
        "phrase_words": found.phrase_words,
        "hits": hits.collect::<Vec<_>>(),
    })
}

pub(crate) fn activation(activation: &Activation) -> Value {
    let mut value = json!(activation);
    value["text"] = activation.to_text().into();
    value
}

/// Converts a skill of a catalog, without its body.
pub(crate) fn entry(entry: &Entry) -> Value {
    let (skill, facts) = (&entry.skill, status_of(entry));
    let triggers = triggers_of(skill.triggers()).map(|(kind, list)| (kind.to_owned(), list.into()));
    let toolsets = skill.manifest().toolsets.iter().map(|toolset| &toolset.value);
    json!({
        "id": entry.id,
        "name": skill.name(),
        "description": skill.description(),
        "brief": skill.brief(),
        "scope": facts.scope,
        "status": facts.status,
        "reason": facts.reason,
        "triggers": Map::from_iter(triggers),
        "toolsets": toolsets.collect::<Vec<_>>(),
        "path": skill.path().map(|path| path.display().to_string()),
        "dir": skill.dir().map(|dir| dir.display().to_string()),
    })
}

pub(crate) fn diagnostic(found: &Diagnostic) -> Value {
    json!({
        "code": found.code.as_str(),
        "severity": found.severity.as_str(),
        "path": found.path.display().to_string(),
        "line": found.line,
        "column": found.column,
        "message": found.message,
        "help": found.help,
    })
}

pub(crate) fn refreshed(refreshed: &Refreshed) -> Value {
    let Refreshed { added, changed, removed, kept, .. } = refreshed;
    json!({"added": added, "changed": changed, "removed": removed, "kept": kept})
}

pub(crate) fn audience(audience: Audience) -> &'static str {
    match audience {
        Audience::Model => "model",
        Audience::User => "user",
    }
}

pub(crate) fn trust_request(request: &TrustRequest) -> Value {
    json!({
        "skill": request.skill,
        "path": request.path.display().to_string(),
        "sha256": request.sha256.as_str(),
        "classes": request.classes,
        "may": request.abilities.to_string(),
        "verdict": approval_verdict(&request.verdict),
        "changes": request.changes.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

pub(crate) fn task(task: &Task) -> Value {
    json!({
        "skill": task.skill,
        "session": task.session,
        "prompt": task.prompt,
        "base_dir": task.base_dir.as_ref().map(|dir| dir.display().to_string()),
        "agent": task.agent,
        "model": task.model,
        "allowed_tools": task.allowed_tools,
    })
}

/// Converts an event. Its hash becomes text, because a JavaScript number cannot hold 64 bits.
pub(crate) fn event(event: &EventRecord) -> Value {
    json!({
        "kind": event.kind,
        "skill": event.skill,
        "body": event.body.map(|body| body.to_string()),
        "by": event.by,
    })
}

pub(crate) fn state(state: &SkillState) -> Value {
    json!({
        "skill": state.skill,
        "uses": state.uses,
        "activations": state.activations,
        "activated_by": state.activated_by,
        "in_context": state.in_context,
        "body": state.body.map(|body| body.to_string()),
        "lost": state.lost,
        "consented": state.consented,
        "listed": state.listed,
        "joined": state.joined,
    })
}

fn hash(value: &Value) -> Option<u64> {
    value.as_str().and_then(|text| text.parse().ok())
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// Parses a state that [`state`] wrote; `None` if a required field is missing or has the wrong type.
pub(crate) fn read_state(value: &Value) -> Option<SkillState> {
    let flag = |name: &str| value[name].as_bool();
    Some(SkillState {
        skill: value["skill"].as_str()?.into(),
        uses: value["uses"].as_u64()?,
        activations: value["activations"].as_u64()?,
        activated_by: value["activated_by"].as_str().map(Into::into),
        in_context: flag("in_context")?,
        body: hash(&value["body"]),
        lost: flag("lost")?,
        consented: flag("consented")?,
        listed: flag("listed")?,
        joined: value["joined"].as_u64(),
    })
}

/// Returns the state after an event. `before` is a state, or the name of a skill without a state.
pub(crate) fn apply_event(before: &str, applied: &str) -> Result<Value, Error> {
    let invalid = |what: &str| {
        let message = format!("this is not {what}");
        let help = "give states and events as the engine gave them";
        Error::new(ErrorCode::InvalidParam, message, help)
    };
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let (before, applied) = (read(before), read(applied));
    let mut now = match before.as_str() {
        Some(skill) => SkillState::new(skill.into()),
        None => read_state(&before).ok_or_else(|| invalid("a state of a skill"))?,
    };
    let record = EventRecord {
        kind: text(&applied["kind"]).ok_or_else(|| invalid("an event"))?,
        skill: text(&applied["skill"]),
        body: hash(&applied["body"]),
        by: text(&applied["by"]),
    };
    record.with_event(|event| now.apply(event))?;
    Ok(json!({"joins": now.joins(), "state": state(&now)}))
}
