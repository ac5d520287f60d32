//! The requirements of a skill on its machine: `requires_bins` and `requires_env`.

use std::path::Path;

use super::Entry;
use super::environment::Environment;
use super::inputs::Inputs;
use crate::diagnostic::{Code, Diagnostic};
use crate::skill::{Manifest, Spanned};

impl Environment {
    /// The unmet requirements of a manifest, in a phrase; `None` if all are met.
    pub(super) fn unmet(&self, manifest: &Manifest, inputs: &mut Inputs) -> Option<String> {
        self.lacking(&manifest.requires_bins, &manifest.requires_env, inputs)
    }

    /// The finding about what the metadata of `entry` for another host asks for and is not there.
    pub(super) fn host_finding(&self, entry: &Entry, inputs: &mut Inputs) -> Option<Diagnostic> {
        let manifest = entry.skill.manifest();
        let lacking = self.lacking(&manifest.host_bins, &manifest.host_env, inputs)?;
        let path = entry.skill.location().unwrap_or(Path::new(""));
        let message = format!("skill `{}` asks another host for more: {lacking}", entry.id);
        let help =
            "the skill is offered all the same; if it does not work without that, install it";
        Some(Diagnostic::new(Code::HostRequirement, path, message, help))
    }

    /// Tells, in a phrase, which of these programs and variables are not there; `None` if all are.
    fn lacking(
        &self,
        programs: &[Spanned<String>],
        variables: &[Spanned<String>],
        inputs: &mut Inputs,
    ) -> Option<String> {
        let programs = programs.iter().map(|bin| bin.value.as_str());
        let programs: Vec<&str> = programs.filter(|bin| !inputs.has_program(bin, self)).collect();
        let variables = variables.iter().map(|name| name.value.as_str());
        let variables: Vec<&str> =
            variables.filter(|name| !inputs.has_variable(name, self)).collect();
        let programs = not("program", &programs, "on the PATH");
        let variables = not("environment variable", &variables, "set");
        let unmet: Vec<String> = programs.into_iter().chain(variables).collect();
        (!unmet.is_empty()).then(|| unmet.join("; "))
    }
}

/// Returns the phrase "`thing` `names` is not `so`", such as "program `git` is not on the PATH"; `None`
/// without names.
fn not(thing: &str, names: &[&str], so: &str) -> Option<String> {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match &names[..] {
        [] => None,
        [only] => Some(format!("{thing} {only} is not {so}")),
        all => Some(format!("{thing}s {} are not {so}", all.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::Skill;

    #[test]
    fn every_requirement_that_is_not_met_is_told() {
        let unmet = |fields: &str| {
            let text = format!("---\nname: a\ndescription: d\n{fields}\n---\n");
            let skill: Skill = text.parse().unwrap();
            let set = [("SET".into(), "1".into()), ("EMPTY".into(), "".into())];
            Environment::Fixed(set.into()).unmet(skill.manifest(), &mut Inputs::begin())
        };
        for (fields, told) in [
            ("", None),
            ("requires_env: [SET]", None),
            ("requires_bins: [nob1]", Some("program `nob1` is not on the PATH")),
            ("requires_env: [SET, EMPTY]", Some("environment variable `EMPTY` is not set")),
            (
                "requires_bins: [nob1, nob2]\nrequires_env: [NOENV]",
                Some(
                    "programs `nob1`, `nob2` are not on the PATH; environment variable `NOENV` is \
                     not set",
                ),
            ),
            ("requires_env: [A, SET, B]", Some("environment variables `A`, `B` are not set")),
        ] {
            assert_eq!(unmet(fields).as_deref(), told, "{fields}");
        }
    }
}
