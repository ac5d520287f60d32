//! The requirements that a manifest declares besides `requires_bins` and `requires_env`.

use super::fields::{Field, Fields, Reader, at_commas, nested};
use super::spanned::Spanned;
use super::yaml::{Node, Value};

/// The blocks of `metadata` in which hosts have their own `requires`: those of `OpenClaw`, with its earlier
/// names, and Hermes.
const HOST_BLOCKS: [&str; 4] = ["openclaw", "clawdbot", "moltbot", "hermes"];

/// The keys for the name of a requirement that is written as a map.
const NAME_KEYS: [&str; 7] = ["name", "id", "bin", "command", "env", "variable", "skill"];

/// The keys of a map `requires`.
const KEYS: [&str; 3] = ["skills", "bins", "env"];

/// The keys of a map `prerequisites` of Hermes: programs and environment variables.
const COMMANDS: [&str; 2] = ["commands", "env_vars"];

/// The requirements of a skill.
#[derive(Default)]
pub(super) struct Requires<'n> {
    /// Skills that it builds on.
    pub(super) skills: Vec<Spanned<String>>,
    /// Programs without which it is unavailable.
    pub(super) bins: Vec<Spanned<String>>,
    /// Environment variables without which it is unavailable.
    pub(super) env: Vec<Spanned<String>>,
    /// Programs that another host asks for.
    pub(super) host_bins: Vec<Spanned<String>>,
    /// Environment variables that another host asks for.
    pub(super) host_env: Vec<Spanned<String>>,
    /// The entries of the map `requires` that are not read.
    pub(super) unread: Vec<Field<'n>>,
}

impl<'n> Requires<'n> {
    /// Reads `requires_skills`, `requires: {skills, bins, env}`, `depends` and `dependencies`, and the same map in
    /// `metadata` and in the blocks of hosts there. The map of another host than `brand` makes no skill
    /// unavailable: the skill also says how to install what it needs.
    pub(super) fn read(
        fields: &mut Fields<'n>,
        metadata: Option<&'n Node>,
        brand: &str,
        reader: &mut Reader<'_>,
    ) -> Requires<'n> {
        let mut requires = Requires::default();
        let of_metadata = |key| metadata.and_then(|node| nested(node, key));
        let own = [fields.take("requires_skills"), of_metadata("requires_skills")];
        for node in own.into_iter().flatten() {
            requires.skills.extend(names("requires_skills", node, reader));
        }
        for (field, target) in
            [("requires_bins", &mut requires.bins), ("requires_env", &mut requires.env)]
        {
            target
                .extend(of_metadata(field).into_iter().flat_map(|node| names(field, node, reader)));
        }
        for field in ["depends", "dependencies"] {
            if fields.peek(field).is_some_and(are_skills)
                && let Some(node) = fields.take(field)
            {
                requires.skills.extend(reader.list(field, node, at_commas));
            }
        }
        if fields.peek("requires").is_some_and(is_ours)
            && let Some(node) = fields.take("requires")
        {
            requires.unread = requires.read_map(node, reader);
        }
        if let Some(node) = of_metadata("requires") {
            requires.read_map(node, reader);
        }
        for host in HOST_BLOCKS {
            let Some(node) = of_metadata(host).and_then(|block| nested(block, "requires")) else {
                continue;
            };
            if host == brand {
                requires.read_map(node, reader);
            } else {
                requires.read_host_map(node, reader);
            }
        }
        requires.read_hermes(fields, metadata, reader);
        requires
    }

    /// Reads what Hermes has beside `requires`: `prerequisites: {commands, env_vars}` and
    /// `required_environment_variables`.
    fn read_hermes(
        &mut self,
        fields: &mut Fields<'n>,
        metadata: Option<&'n Node>,
        reader: &mut Reader<'_>,
    ) {
        const VARIABLES: &str = "required_environment_variables";
        let of_block = metadata.and_then(|node| nested(node, "hermes"));
        let is_map = |node: &Node| COMMANDS.iter().any(|key| nested(node, key).is_some());
        let own = fields.peek("prerequisites").is_some_and(is_map);
        let own = own.then(|| fields.take("prerequisites")).flatten();
        let in_block = of_block.and_then(|block| nested(block, "prerequisites"));
        for node in own.into_iter().chain(in_block) {
            let targets = [&mut self.host_bins, &mut self.host_env];
            for (key, target) in COMMANDS.into_iter().zip(targets) {
                let found = nested(node, key).into_iter();
                target.extend(found.flat_map(|node| names(key, node, reader)));
            }
        }
        let in_block = of_block.and_then(|block| nested(block, VARIABLES));
        for node in fields.take(VARIABLES).into_iter().chain(in_block) {
            self.host_env.extend(names(VARIABLES, node, reader));
        }
    }

    /// Reads the map `requires` of another host.
    fn read_host_map(&mut self, node: &'n Node, reader: &mut Reader<'_>) {
        let mut of_host = Requires::default();
        of_host.read_map(node, reader);
        self.skills.append(&mut of_host.skills);
        self.host_bins.append(&mut of_host.bins);
        self.host_env.append(&mut of_host.env);
    }

    /// Reads a map `requires`. Returns the entries that are not read.
    fn read_map(&mut self, node: &'n Node, reader: &mut Reader<'_>) -> Vec<Field<'n>> {
        let Value::Mapping(entries) = &node.value else { return Vec::new() };
        let mut fields = Fields::new(entries, reader);
        let targets = [&mut self.skills, &mut self.bins, &mut self.env];
        for (key, target) in KEYS.into_iter().zip(targets) {
            if let Some(node) = fields.take(key) {
                target.extend(names(&format!("requires.{key}"), node, reader));
            }
        }
        fields.rest()
    }
}

/// Reads the names of what a skill requires. They may be the keys of a map, or each in a map of its own, as in
/// `{gh: ">=2"}` and `[{name: gh}]`: a requirement that was left out would never be found unmet.
pub(super) fn names(field: &str, node: &Node, reader: &mut Reader<'_>) -> Vec<Spanned<String>> {
    let of_keys = |entries: &[(Node, Node)], reader: &mut Reader<'_>| {
        entries.iter().filter_map(|(key, _)| reader.text(field, key)).collect::<Vec<_>>()
    };
    match &node.value {
        Value::Mapping(entries) => of_keys(entries, reader),
        Value::Sequence(all)
            if all.iter().any(|entry| matches!(entry.value, Value::Mapping(_))) =>
        {
            all.iter()
                .flat_map(|entry| match &entry.value {
                    Value::Mapping(entries) => {
                        match NAME_KEYS.iter().find_map(|key| nested(entry, key)) {
                            Some(name) => reader.text(field, name).into_iter().collect(),
                            None => of_keys(entries, reader),
                        }
                    }
                    _ => reader.text(field, entry).into_iter().collect(),
                })
                .collect()
        }
        _ => reader.list(field, node, at_commas),
    }
}

/// Tells whether a value of `requires` is a map of ours: other programs use this key, too.
fn is_ours(node: &Node) -> bool {
    KEYS.iter().any(|key| nested(node, key).is_some())
}

/// Tells whether a value of `depends` or `dependencies` names skills. Many files list packages with versions
/// there, as in `python>=3.8`.
fn are_skills(node: &Node) -> bool {
    let is_sign = |c: char| !(c.is_alphanumeric() || "_-/:,$@".contains(c) || c.is_whitespace());
    let is_name = |node: &Node| node.text().is_some_and(|text| !text.contains(is_sign));
    match &node.value {
        Value::Sequence(entries) => entries.iter().all(is_name),
        _ => is_name(node),
    }
}

#[cfg(test)]
mod tests {
    use crate::skill::{Manifest, Skill, Spanned};

    fn manifest(fields: &str) -> Manifest {
        let text = format!("---\nname: a\ndescription: d\n{fields}\n---\n");
        text.parse::<Skill>().unwrap().manifest().clone()
    }

    fn texts(list: &[Spanned<String>]) -> Vec<&str> {
        list.iter().map(|entry| entry.value.as_str()).collect()
    }

    #[test]
    fn required_skills_have_several_spellings() {
        for fields in [
            "requires_skills: [tdd, acme:review]",
            "requires-skills: tdd, acme:review",
            "requires: {skills: [tdd, acme:review]}",
            "depends: [tdd, acme:review]",
            "dependencies: [tdd, acme:review]",
            "dependencies:\n  - tdd\n  - acme:review",
            "depends: tdd\nrequires_skills: acme:review",
            "metadata: {requires_skills: [tdd, acme:review]}",
            "metadata: {requires: {skills: [tdd, acme:review]}}",
        ] {
            let manifest = manifest(fields);
            let mut skills = texts(&manifest.requires_skills);
            skills.sort_unstable_by(|a, b| b.cmp(a));
            assert_eq!(skills, ["tdd", "acme:review"], "{fields}");
            assert!(manifest.extra.is_empty() && manifest.unknown_keys.is_empty(), "{fields}");
        }
        // Packages with their versions are not skills.
        for (fields, key) in [
            ("dependencies: [python>=3.8, pandas]", "dependencies"),
            ("dependencies: python>=3.8, pandas>=1.5.0", "dependencies"),
            ("dependencies: {react: ^18}", "dependencies"),
            ("depends: [lib (1.2)]", "depends"),
            ("requires: python", "requires"),
            ("requires: {python: '3.8'}", "requires"),
        ] {
            let manifest = manifest(fields);
            assert!(manifest.requires_skills.is_empty(), "{fields}");
            assert!(manifest.extra.contains_key(key), "{fields}");
        }
    }

    #[test]
    fn programs_and_variables_are_read_from_maps() {
        for fields in [
            "requires: {bins: [gh], env: [KEY]}",
            "metadata: {requires: {bins: gh, env: KEY}}",
            "metadata: {requires_bins: gh, requires_env: [KEY]}",
            "requires_bins: {gh: '>=2'}\nrequires_env: {KEY: a token}",
            "requires_bins: [{name: gh, install: brew}]\nrequires_env:\n  - name: KEY\n    required: true",
            "requires: {bins: [{bin: gh}], env: [KEY: a token]}",
            "repertoire: {requires_bins: [{command: gh}], requires_env: {KEY: x}}",
        ] {
            let manifest = manifest(fields);
            let found = (texts(&manifest.requires_bins), texts(&manifest.requires_env));
            assert_eq!(found, (vec!["gh"], vec!["KEY"]), "{fields}");
        }
    }

    #[test]
    fn the_metadata_of_another_host_makes_no_skill_unavailable() {
        for fields in [
            "metadata: {openclaw: {emoji: x, requires: {bins: [gh], env: [KEY]}}}",
            "metadata:\n  {\n    \"clawdbot\": { \"requires\": { \"bins\": [\"gh\"], \"env\": [\"KEY\"] } },\n  }",
            "metadata:\n  hermes:\n    tags: [x]\n    requires: {bins: [gh], env: [KEY]}",
            "metadata: {moltbot: {requires: {bins: gh}}, hermes: {requires: {env: [KEY]}}}",
            "prerequisites: {commands: [gh], env_vars: [KEY]}",
            "metadata: {hermes: {prerequisites: {commands: gh, env_vars: KEY}}}",
            "prerequisites: {commands: [gh]}\nrequired_environment_variables: [{name: KEY, prompt: a token}]",
            "metadata:\n  hermes:\n    requires: {bins: gh}\n    required_environment_variables: [KEY]",
        ] {
            let manifest = manifest(fields);
            let found = (texts(&manifest.host_bins), texts(&manifest.host_env));
            assert_eq!(found, (vec!["gh"], vec!["KEY"]), "{fields}");
            assert!(
                manifest.requires_bins.is_empty() && manifest.requires_env.is_empty(),
                "{fields}"
            );
        }
        let text =
            "---\nname: a\ndescription: d\nmetadata: {openclaw: {requires: {bins: [gh]}}}\n---\n";
        let of_host = crate::skill::load::load(text, "openclaw").manifest;
        assert_eq!(texts(&of_host.requires_bins), ["gh"]);
        let manifest = manifest("requires: {skills: [b], os: [linux]}");
        assert_eq!(manifest.extra["requires"]["os"][0], "linux");
        assert_eq!(texts(&manifest.unknown_keys), ["requires.os"]);
    }
}
