//! The rule for toolsets whose library or class is missing, misnamed, unusable, or writable by other
//! users.

use super::{Findings, Linted};
use repertoire::diagnostic::Code;
use repertoire::toolset::{Fault, ToolsetEntry, examine};

pub(super) fn check(skills: &[Linted<'_>], findings: &mut Findings) {
    for (place, linted) in skills.iter().enumerate() {
        let skill = &linted.entry.skill;
        let Some(dir) = skill.dir() else { continue };
        for written in &skill.manifest().toolsets {
            // An invalid entry has a finding of its own already.
            let Ok(entry) = written.value.parse::<ToolsetEntry>() else { continue };
            let Err((fault, error)) = examine(&entry, dir) else { continue };
            let code = match fault {
                Fault::Missing => Code::MissingLibrary,
                Fault::Unsafe => Code::UnsafeLibrary,
                Fault::Unusable => Code::UnusableLibrary,
                Fault::NoClass => Code::MissingClass,
            };
            findings.add(place, code, Some(&written.span), error.message(), error.help());
        }
    }
}
