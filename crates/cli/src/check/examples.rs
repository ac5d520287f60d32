//! Routes the examples that skills declare against the skills that are checked.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use repertoire::catalog::{Audience, Catalog, Entry};
use repertoire::skill::Spanned;
use repertoire::{Code, Diagnostic, Disclosure, Engine, EngineBuilder, Error, Severity, SkillId};
use serde::Serialize;

use crate::report::count;

/// The length in characters to which messages are cut in a finding.
const MAX_SHOWN_CHARS: usize = 80;

/// The findings about examples, and how often relevance finds a skill by the rest of what it says.
#[derive(Default)]
pub(super) struct Routed {
    pub(super) findings: Vec<Diagnostic>,
    pub(super) measured: Measured,
}

/// The number of messages under `should`, each routed with that message left out of the index.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct Measured {
    /// All of them.
    should: usize,
    /// Those that disclose their skill in full.
    in_full: usize,
    /// Those that disclose it in full or in a line.
    in_view: usize,
}

impl Measured {
    /// Tells whether no message was routed.
    pub(super) fn is_empty(&self) -> bool {
        self.should == 0
    }

    /// Returns the figures as a sentence.
    pub(super) fn sentence(&self) -> String {
        let Measured { should, in_full, in_view } = *self;
        let each = if should == 1 { "" } else { "each " };
        format!(
            "{} of `should`, {each}left out of the index while it is routed: {in_full} in full, \
             {in_view} in view",
            count(should, "example")
        )
    }
}

/// Routes the examples of the skills of `catalog` whose file `is_checked`. The engine that `builder`
/// makes must have the same sources; it uses the default options of disclosures, and is built only if
/// there is an example.
///
/// Skills that no message can disclose to the model here are skipped: a skill without a program that
/// it requires is not routed wrongly. All cores take part, as each example needs an index of its own.
pub(super) fn route(
    catalog: &Catalog,
    is_checked: impl Fn(&Path) -> bool,
    builder: EngineBuilder,
) -> Result<Routed, Error> {
    let is_routed = |entry: &&Entry| {
        !entry.skill.manifest().examples.is_empty()
            && entry.is_available()
            && entry.is_matched(Audience::Model)
            && entry.skill.path().is_some_and(&is_checked)
    };
    let entries: Vec<&Entry> = catalog.entries().filter(is_routed).collect();
    if entries.is_empty() {
        return Ok(Routed::default());
    }
    let engine = builder.build()?;
    let n_cores = thread::available_parallelism().map_or(1, NonZero::get);
    let parts = entries.chunks(entries.len().div_ceil(n_cores));
    Ok(thread::scope(|scope| {
        let engine = &engine;
        let threads: Vec<_> =
            parts.map(|part| scope.spawn(move || Routed::of(part, engine))).collect();
        let routed = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        routed.fold(Routed::default(), Routed::and)
    }))
}

impl Routed {
    /// Routes the examples of `entries`.
    fn of(entries: &[&Entry], engine: &Engine) -> Routed {
        let mut routed = Routed::default();
        for entry in entries {
            routed.add(entry, engine);
        }
        routed
    }

    fn and(mut self, mut other: Routed) -> Routed {
        self.findings.append(&mut other.findings);
        self.measured.should += other.measured.should;
        self.measured.in_full += other.measured.in_full;
        self.measured.in_view += other.measured.in_view;
        self
    }

    /// Routes the examples of one skill.
    fn add(&mut self, entry: &Entry, engine: &Engine) {
        let Some(path) = entry.skill.path() else { return };
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let examples = &entry.skill.manifest().examples;
        let mut add = |example: &Spanned<String>, finding: Option<Finding>| {
            let Some(Finding { code, severity, message, help }) = finding else { return };
            let mut diagnostic = Diagnostic::new(code, path, message, help);
            diagnostic.severity = severity;
            // The file may have changed since it was loaded.
            self.findings.push(match text.get(example.span.clone()) {
                Some(_) => diagnostic.at(&text, example.span.clone()),
                None => diagnostic,
            });
        };
        for example in &examples.should {
            add(example, should(&example.value, &entry.id, engine, &mut self.measured));
        }
        for example in &examples.should_not {
            add(example, should_not(&example.value, &entry.id, engine));
        }
    }
}

/// A finding about one example.
struct Finding {
    code: Code,
    severity: Severity,
    message: String,
    help: String,
}

/// Routes a message under `should` with that message left out of the index: an example that relevance
/// knows finds its own skill. It is a warning if the skill depends on that, and an error if not even the
/// example helps.
fn should(
    message: &str,
    id: &SkillId,
    engine: &Engine,
    measured: &mut Measured,
) -> Option<Finding> {
    let left_out = engine.disclose_without_example(message, id);
    let is_in_full = left_out.full.contains(id);
    measured.should += 1;
    measured.in_full += usize::from(is_in_full);
    measured.in_view += usize::from(is_in_full || left_out.registry.contains(id));
    if leads_to(&left_out, id) {
        return None;
    }
    let known = engine.disclose(message);
    let is_learnt = leads_to(&known, id);
    let disclosure = if is_learnt { &left_out } else { &known };
    let won = match winner(disclosure, id) {
        Some((winner, how)) => format!("it discloses `{winner}` {how}"),
        None => "no skill is disclosed".to_owned(),
    };
    let shown = shown(message);
    let code = Code::ExampleNotRouted;
    Some(if is_learnt {
        Finding {
            code,
            severity: Severity::Warning,
            message: format!(
                "`{shown}` leads to `{id}` only because it is an example; without it, {won}"
            ),
            help: "name its words in the description, or add examples that say the same in other \
                   words: a message that is not an example is routed by those"
                .to_owned(),
        }
    } else {
        Finding {
            code,
            severity: Severity::Error,
            message: format!("`{shown}` does not lead to `{id}`: {won}"),
            help: format!(
                "declare a trigger that the message holds, or name its words in the description; \
                 `repertoire why {id} MESSAGE` says what decided"
            ),
        }
    })
}

/// Routes a message under `should_not`.
fn should_not(message: &str, id: &SkillId, engine: &Engine) -> Option<Finding> {
    let disclosure = engine.disclose(message);
    if !disclosure.full.contains(id) {
        return None;
    }
    let beside = match winner(&disclosure, id) {
        Some((winner, how)) => format!(", and `{winner}` {how}"),
        None => String::new(),
    };
    let code = Code::ExampleRouted;
    Some(Finding {
        code,
        severity: code.severity(),
        message: format!("`{}` discloses `{id}` in full{beside}", shown(message)),
        help: format!(
            "write longer triggers, or an `exclude` for what the message is about; \
             `repertoire why {id} MESSAGE` says what decided"
        ),
    })
}

/// Tells whether a disclosure leads to a skill: in full, or in a line while no other skill is in full.
fn leads_to(disclosure: &Disclosure, id: &SkillId) -> bool {
    let is_listed = disclosure.full.is_empty() && disclosure.registry.contains(id);
    disclosure.full.contains(id) || is_listed
}

/// Returns the first skill other than `id` that is disclosed, and in which form.
fn winner<'d>(disclosure: &'d Disclosure, id: &SkillId) -> Option<(&'d SkillId, &'static str)> {
    let in_full = disclosure.full.iter().map(|skill| (skill, "in full"));
    let in_a_line = disclosure.registry.iter().map(|skill| (skill, "in a line"));
    in_full.chain(in_a_line).find(|(skill, _)| *skill != id)
}

/// Returns the message, cut to `MAX_SHOWN_CHARS`.
fn shown(message: &str) -> String {
    let mut shown: String = message.chars().take(MAX_SHOWN_CHARS).collect();
    if shown.len() < message.len() {
        shown.push('…');
    }
    shown
}
