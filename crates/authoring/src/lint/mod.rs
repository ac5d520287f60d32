//! The linter: finds problems that show only in a whole catalog, or with ordinary messages. Examples are
//! triggers that fire too often, for other skills too, or never, and descriptions that do not tell
//! skills apart.
//!
//! Each rule checks all skills that messages are matched against, and has its own [`Code`]s;
//! `docs/check.md` says what each rule can prove. A rule that reads one skill at a time takes less than
//! a millisecond for each. No rule compares all pairs of skills.

mod claims;
mod confusable;
mod dead;
mod descriptions;
mod generic;
mod missing;
mod patterns;
mod scripts;
mod similar;
mod too_long;
mod toolsets;
mod unused;

use std::ops::Range;
use std::path::Path;

use repertoire::catalog::{Audience, Catalog, Entry};
use repertoire::diagnostic::{Code, Diagnostic};
use repertoire::skill::Spanned;
use repertoire_text::fold_trigger;

pub use confusable::confusable;
pub use generic::is_generic;
pub use missing::missing;
pub use patterns::{PatternCost, pattern_cost};
pub use unused::unused;

/// The maximum number of skills named in a finding; further ones are only counted.
const MAX_NAMED: usize = 3;

/// Checks the skills of a catalog, and returns the findings in the order of paths and lines.
///
/// Only skills that messages are matched against for the model are checked, whether or not they are
/// available on this machine. Findings are warnings and notes, never errors.
pub fn lint(catalog: &Catalog) -> Vec<Diagnostic> {
    let is_judged = |entry: &&Entry| !entry.is_shadowed() && entry.is_matched(Audience::Model);
    let skills: Vec<Linted<'_>> = catalog.entries().filter(is_judged).map(Linted::new).collect();
    let mut findings = Findings(Vec::new());
    generic::check(&skills, &mut findings);
    claims::check(&skills, &mut findings);
    dead::check(&skills, &mut findings);
    patterns::check(&skills, &mut findings);
    similar::check(&skills, &mut findings);
    descriptions::check(&skills, &mut findings);
    scripts::check(&skills, &mut findings);
    toolsets::check(&skills, &mut findings);
    too_long::check(&skills, &mut findings);
    findings.finish(&skills)
}

/// A skill, with its literal triggers folded as the matcher compares them.
struct Linted<'c> {
    entry: &'c Entry,
    /// Verbs before keywords.
    literals: Vec<Literal<'c>>,
    excludes: Vec<Literal<'c>>,
}

/// A keyword, verb or exclude.
struct Literal<'c> {
    kind: &'static str,
    trigger: &'c Spanned<String>,
    folded: String,
}

impl<'c> Linted<'c> {
    fn new(entry: &'c Entry) -> Linted<'c> {
        let triggers = entry.skill.triggers();
        let of = |kind: &'static str, list: &'c [Spanned<String>]| -> Vec<Literal<'c>> {
            let literals = list.iter().map(|trigger| Literal {
                kind,
                trigger,
                folded: fold_trigger(&trigger.value),
            });
            literals.collect()
        };
        let mut literals = of("verb", &triggers.verbs);
        literals.extend(of("keyword", &triggers.keywords));
        Linted { entry, literals, excludes: of("exclude", &triggers.exclude) }
    }
}

/// The findings, which get their lines at the end.
struct Findings(Vec<Finding>);

struct Finding {
    /// The skill's place among the checked skills.
    skill: usize,
    code: Code,
    /// The range of bytes in the skill's file; `None` for the whole file.
    span: Option<Range<usize>>,
    message: String,
    help: String,
}

impl Findings {
    fn add(
        &mut self,
        skill: usize,
        code: Code,
        span: Option<&Range<usize>>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let (message, help) = (message.into(), help.into());
        self.0.push(Finding { skill, code, span: span.cloned(), message, help });
    }

    fn finish(mut self, skills: &[Linted<'_>]) -> Vec<Diagnostic> {
        self.0.sort_by_key(|finding| finding.skill);
        let mut diagnostics = Vec::with_capacity(self.0.len());
        for of_skill in self.0.chunk_by(|a, b| a.skill == b.skill) {
            let skill = &skills[of_skill[0].skill].entry.skill;
            let text = skill.path().and_then(|path| std::fs::read_to_string(path).ok());
            for Finding { code, span, message, help, .. } in of_skill {
                let path = skill.path().unwrap_or(Path::new(""));
                let diagnostic = Diagnostic::new(*code, path, message.as_str(), help.as_str());
                // The file may have changed since it was loaded.
                let place = text.as_deref().zip(span.clone());
                let place = place.filter(|(text, span)| text.get(span.clone()).is_some());
                diagnostics.push(match place {
                    Some((text, span)) => diagnostic.at(text, span),
                    None => diagnostic,
                });
            }
        }
        diagnostics.sort_by(|a, b| {
            (&a.path, a.line, a.column, a.code).cmp(&(&b.path, b.line, b.column, b.code))
        });
        diagnostics
    }
}

/// Lists skills in a phrase: the first few with their paths, the others as a count.
fn named(skills: &[Linted<'_>], places: &[usize]) -> String {
    let name = |&place: &usize| {
        let entry = skills[place].entry;
        match entry.skill.path() {
            Some(path) => format!("`{}` ({})", entry.id, path.display()),
            None => format!("`{}`", entry.id),
        }
    };
    let mut names: Vec<String> = places.iter().take(MAX_NAMED).map(name).collect();
    if places.len() > MAX_NAMED {
        names.push(format!("{} more", places.len() - MAX_NAMED));
    }
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((only, _)) => only.clone(),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests;
