//! The manifest: the parsed fields of the front matter.

use std::collections::BTreeMap;

use semver::Version;
use serde_json::{Map, Value as Json};

use super::closing::Closing;
use super::code_paths::{check_script, check_toolset};
use super::context::Context;
use super::examples::{self, Examples};
use super::fields::{Field, Fields, Reader, at_commas, excerpt, nested};
use super::json::to_json;
use super::keys::{BLOCK_FIELDS, CLOSING_KEYS, normalized};
use super::placeholder::Declared;
use super::requires::{Requires, names};
use super::rights::{self, ToolsetRights};
use super::spanned::Spanned;
use super::texts::{on_one_line, valid_name, valid_version, words};
use super::trigger::{self, Triggers};
use super::yaml::{Node, Value};
use crate::diagnostic::Code;

/// The front matter of a `SKILL.md`. A field that could not be read is absent, and a diagnostic reports
/// it.
///
/// Each key may be spelt with `-`, `_` or blanks, in `camelCase`, and in any letter case.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Manifest {
    /// `name`: an identifier or a free label of one line, at most 256 bytes.
    pub name: Option<Spanned<String>>,
    /// `description`: what the skill does and when to use it.
    pub description: Option<Spanned<String>>,
    /// `brief_description`: a one-line description for registries.
    pub brief_description: Option<Spanned<String>>,
    /// `when_to_use`: appended to the description.
    pub when_to_use: Option<Spanned<String>>,
    /// `version`; `1` and `1.0` are read as `1.0.0`. A value that is not a version is kept in `extra`.
    pub version: Option<Spanned<Version>>,
    /// The triggers of `triggers`, `metadata.triggers`, `activation` and `paths`.
    pub triggers: Triggers,
    /// `trigger_phrases` and `metadata.trigger_phrases`: phrases that occur in messages for the skill.
    /// They count towards relevance, and are not triggers.
    pub trigger_phrases: Vec<Spanned<String>>,
    /// `examples` and `metadata.examples`: messages that should and should not lead to the skill. A
    /// value that is not a map of such messages is kept in `extra`.
    pub examples: Examples,
    /// `toolsets` and `metadata.toolsets`: entries of the form `path:Class`. Invalid entries are listed
    /// too, with a diagnostic; the toolset loader refuses them.
    pub toolsets: Vec<Spanned<String>>,
    /// The rights that entries of `toolsets` request, keyed by entry.
    pub toolset_rights: BTreeMap<String, ToolsetRights>,
    /// `scripts`: files that may be run. `None` means all files in `scripts/`. Invalid entries are
    /// listed too, with a diagnostic.
    pub scripts: Option<Vec<Spanned<String>>>,
    /// `rights` and `metadata.rights`: the files outside of the skill and the part of the network that the
    /// scripts request. Scripts of a project get them only if they request them and the user saw the
    /// request when trusting them.
    pub script_rights: Option<ToolsetRights>,
    /// `default_enabled`, for bundled skills: whether the skill is on by default. A missing value means
    /// true.
    pub default_enabled: Option<Spanned<bool>>,
    /// True if only the user can invoke the skill by `policy.allow_implicit_invocation: false` in
    /// `agents/openai.yaml` beside it, which is Codex's own setting.
    pub closed_by_policy: bool,
    /// `disable-model-invocation`, also written `user_invocable_only`: only the user can invoke
    /// the skill.
    pub disable_model_invocation: Option<Spanned<bool>>,
    /// `user-invocable`: false if the skill has no slash command. A missing value means true.
    pub user_invocable: Option<Spanned<bool>>,
    /// `allowed-tools`: tools that the host may let the skill use. `None` means all tools.
    pub allowed_tools: Option<Vec<Spanned<String>>>,
    /// `context`: the destination of the instructions.
    pub context: Context,
    /// `agent`: passed through to the host.
    pub agent: Option<Spanned<String>>,
    /// `model`: passed through to the host.
    pub model: Option<Spanned<String>>,
    /// `argument-hint`: passed through to the host.
    pub argument_hint: Option<Spanned<String>>,
    /// `arguments`: names of the arguments, separated by blanks.
    pub arguments: Option<Spanned<String>>,
    /// `always`: true if the skill is listed in every catalog prompt.
    pub always: Option<Spanned<bool>>,
    /// `requires_bins`: programs without which the skill is unavailable.
    pub requires_bins: Vec<Spanned<String>>,
    /// `requires_env`: environment variables without which the skill is unavailable.
    pub requires_env: Vec<Spanned<String>>,
    /// `metadata.HOST.requires.bins`: programs that another host, such as `OpenClaw`, asks for. The skill is available
    /// without them.
    pub host_bins: Vec<Spanned<String>>,
    /// `metadata.HOST.requires.env`: environment variables that another host asks for. The skill is available
    /// without them.
    pub host_env: Vec<Spanned<String>>,
    /// `requires_skills`, also written `requires.skills`, `depends` or `dependencies`: skills that this one
    /// builds on, in any form in which skills are named. The skill is available without them.
    pub requires_skills: Vec<Spanned<String>>,
    /// `restore`: false if the instructions are not put back after the context was made shorter. A missing value
    /// means true.
    pub restore: Option<Spanned<bool>>,
    /// `knowledge`: documents that a hint names when the skill is loaded.
    pub knowledge: Vec<Spanned<String>>,
    /// `license`, as in the Agent Skills specification.
    pub license: Option<Spanned<String>>,
    /// `compatibility`, as in the Agent Skills specification.
    pub compatibility: Option<Spanned<String>>,
    /// `metadata`, as in the Agent Skills specification.
    #[cfg_attr(feature = "snapshot", serde(with = "super::json::as_text"))]
    pub metadata: Map<String, Json>,
    /// Keys that no part of Repertoire reads, with their values as written.
    #[cfg_attr(feature = "snapshot", serde(with = "super::json::as_text"))]
    pub extra: Map<String, Json>,
    /// Every top-level key as written.
    pub(crate) keys: Vec<Spanned<String>>,
    /// The unknown keys. Their values are in `extra`, except for those of `rights`. A key of a nested
    /// block is prefixed with the block's name, as in `sven.x`.
    pub(crate) unknown_keys: Vec<Spanned<String>>,
}

impl Manifest {
    /// Reads the top-level map of the front matter for a host named `brand`, and what closes the skill beside it:
    /// the entries that were `replaced` by later ones, and the `lines` that are written like such fields.
    pub(super) fn read(
        entries: &[(Node, Node)],
        [replaced, lines]: [&[(Node, Node)]; 2],
        brand: &str,
        reader: &mut Reader<'_>,
    ) -> Manifest {
        let keys = entries
            .iter()
            .filter_map(|(key, _)| {
                Some(Spanned { value: key.text()?.to_owned(), span: key.span.clone() })
            })
            .collect();
        let closing = Closing::read(entries, replaced, lines, reader);
        let mut manifest = Manifest {
            keys,
            disable_model_invocation: closing.disable_model,
            user_invocable: closing.user,
            allowed_tools: closing.tools,
            ..Manifest::default()
        };
        let fields = &mut Fields::new(entries, reader);
        manifest.read_texts(fields, reader);
        manifest.read_invocation(fields, reader);
        manifest.read_lists(fields, reader);

        let activation = fields.take("activation");
        let metadata = fields.take("metadata");
        let mut places = |key| [metadata.and_then(|node| nested(node, key)), fields.take(key)];
        let (triggers, toolsets) = (places("triggers"), places("toolsets"));
        let rights = places("rights");
        manifest.triggers = trigger::read(triggers, activation, fields.take("paths"), reader);
        manifest.read_toolsets(toolsets, reader);
        manifest.read_rights(rights, reader);
        let of_metadata = |key| metadata.and_then(|node| nested(node, key));
        let phrases = [of_metadata("trigger_phrases"), fields.take("trigger_phrases")];
        for node in phrases.into_iter().flatten() {
            let entries = reader.list("trigger_phrases", node, at_commas);
            examples::append(&mut manifest.trigger_phrases, entries, "trigger_phrases", reader);
        }
        let has_examples = fields.peek("examples").is_some_and(examples::are_examples);
        let messages = has_examples.then(|| fields.take("examples")).flatten();
        let of_metadata = of_metadata("examples").filter(|node| examples::are_examples(node));
        manifest.examples = examples::read([of_metadata, messages], reader);
        if let Some(node) = metadata
            && reader.mapping("metadata", node, "metadata: {version: \"1.0\"}").is_some()
            && let Json::Object(map) = to_json(node)
        {
            manifest.metadata = map;
        }

        manifest.read_common(fields, reader);
        manifest.read_requires(fields, metadata, brand, reader);
        for brand in brands(brand, entries) {
            let name = normalized(brand);
            let Some(Value::Mapping(entries)) = fields.peek(&name).map(|node| &node.value) else {
                continue;
            };
            fields.take(&name);
            let mut block = Fields::new(entries, reader);
            manifest.read_common(&mut block, reader);
            let unread = manifest.keep_unknown(&format!("{brand}."), block.rest());
            if !unread.is_empty() {
                manifest.extra.insert(brand.to_owned(), unread.into());
            }
        }
        let unread = manifest.keep_unknown("", std::mem::take(fields).rest());
        manifest.extra.extend(unread);
        manifest
    }

    /// Tells whether only the user may invoke the skill.
    pub fn is_model_invocation_disabled(&self) -> bool {
        self.closed_by_policy
            || self.disable_model_invocation.as_ref().is_some_and(|flag| flag.value)
    }

    /// Tells whether the user can invoke the skill by a slash command.
    pub fn is_user_invocable(&self) -> bool {
        self.user_invocable.as_ref().is_none_or(|flag| flag.value)
    }

    /// Tells whether neither the model nor the user may invoke the skill.
    pub fn is_unreachable(&self) -> bool {
        self.is_model_invocation_disabled() && !self.is_user_invocable()
    }

    /// The arguments that placeholders of the body can name.
    pub(crate) fn declared_arguments(&self) -> Declared {
        let names = self.arguments.as_ref().map(|names| names.value.as_str()).unwrap_or_default();
        let is_mark = |c: char| matches!(c, '[' | ']' | '<' | '>' | ',' | '$');
        let name = |name: &str| name.trim_matches(is_mark).to_owned();
        Declared {
            names: names.split_whitespace().map(name).collect(),
            any: self.argument_hint.is_some() || self.arguments.is_some(),
        }
    }

    /// Tells whether a bundled skill is enabled by default.
    pub fn is_enabled_by_default(&self) -> bool {
        self.default_enabled.as_ref().is_none_or(|flag| flag.value)
    }

    /// Tells whether the instructions are put back after the context was made shorter.
    pub fn is_restored(&self) -> bool {
        self.restore.as_ref().is_none_or(|flag| flag.value)
    }

    /// Tells whether the skill is listed in every catalog prompt.
    pub fn is_always(&self) -> bool {
        self.always.as_ref().is_some_and(|flag| flag.value)
    }

    fn read_texts(&mut self, fields: &mut Fields<'_>, reader: &mut Reader<'_>) {
        let mut text = |field: &str| {
            let node = fields.take(field)?;
            reader.text(field, node)
        };
        self.description = text("description");
        self.brief_description = text("brief_description").map(on_one_line);
        self.when_to_use = text("when_to_use");
        self.agent = text("agent");
        self.model = text("model");
        self.license = text("license");
        self.compatibility = text("compatibility");
        let name = text("name");
        let version = text("version");
        self.name = name.and_then(|name| valid_name(name, reader));
        self.version = version.as_ref().and_then(|version| valid_version(version, reader));
        if let (Some(written), None) = (version, &self.version) {
            self.extra.insert("version".to_owned(), written.value.into());
        }
        self.argument_hint =
            fields.take("argument_hint").and_then(|node| words(node, "argument_hint", reader));
        self.arguments = fields.take("arguments").and_then(|node| words(node, "arguments", reader));
    }

    fn read_invocation(&mut self, fields: &mut Fields<'_>, reader: &mut Reader<'_>) {
        let enabled = fields.take("default_enabled");
        self.default_enabled = enabled.and_then(|node| reader.boolean("default_enabled", node));
        self.restore = fields.take("restore").and_then(|node| reader.boolean("restore", node));
        let context = fields.take("context").and_then(|node| reader.text("context", node));
        match context.as_ref().map(|context| context.value.to_ascii_lowercase()).as_deref() {
            None | Some("inline") => {}
            Some("fork") => self.context = Context::Fork,
            Some(other) => reader.report(
                Code::InvalidValue,
                context.map(|context| context.span).unwrap_or_default(),
                format!("`context` is `{}`, neither `inline` nor `fork`", excerpt(other)),
                "write `context: fork`, or leave it out for `inline`",
            ),
        }
    }

    /// Collects the toolsets of all `places`; an entry that occurs in two of them counts once.
    fn read_toolsets(&mut self, places: [Option<&Node>; 2], reader: &mut Reader<'_>) {
        for node in places.into_iter().flatten() {
            for entry in rights::read_toolsets(node, &mut self.toolset_rights, reader) {
                if !self.toolsets.iter().any(|known| known.value == entry.value) {
                    check_toolset(&entry, reader);
                    self.toolsets.push(entry);
                }
            }
        }
    }

    /// Reads the rights that the scripts request; the top level takes precedence over `metadata`.
    fn read_rights(&mut self, places: [Option<&Node>; 2], reader: &mut Reader<'_>) {
        for node in places.into_iter().flatten() {
            let Some(entries) = reader.mapping("rights", node, "rights: {network: true}") else {
                continue;
            };
            let mut fields = Fields::new(entries, reader);
            let read = fields.take("read").map(|node| rights::read_paths(node, reader));
            let network =
                fields.take("network").and_then(|node| rights::read_network(node, reader));
            if read.is_some() || network.is_some() {
                let asked = self.script_rights.get_or_insert_default();
                asked.read.extend(read.unwrap_or_default());
                asked.network = network.unwrap_or_else(|| std::mem::take(&mut asked.network));
            }
            self.keep_unknown("rights.", fields.rest());
        }
    }

    fn read_lists(&mut self, fields: &mut Fields<'_>, reader: &mut Reader<'_>) {
        if let Some(node) = fields.take("scripts").filter(|node| !node.is_null()) {
            let entries = reader.list("scripts", node, at_commas);
            // An empty list means "none", and a map is an error.
            self.scripts = (!matches!(node.value, Value::Mapping(_))).then_some(entries);
        }
        self.scripts.iter().flatten().for_each(|entry| check_script(entry, reader));
    }

    /// Reads the fields that may also occur in the host's own block. A flag that is already true stays
    /// true, and lists are extended.
    fn read_common(&mut self, fields: &mut Fields<'_>, reader: &mut Reader<'_>) {
        let always = fields.take("always").and_then(|node| reader.boolean("always", node));
        for key in CLOSING_KEYS {
            fields.take(key);
        }
        if !self.is_always() {
            self.always = always.or(self.always.take());
        }
        for (field, target) in
            [("requires_bins", &mut self.requires_bins), ("requires_env", &mut self.requires_env)]
        {
            if let Some(node) = fields.take(field) {
                target.extend(names(field, node, reader));
            }
        }
        if let Some(node) = fields.take("knowledge") {
            self.knowledge.extend(reader.list("knowledge", node, at_commas));
        }
    }

    fn read_requires<'n>(
        &mut self,
        fields: &mut Fields<'n>,
        metadata: Option<&'n Node>,
        brand: &str,
        reader: &mut Reader<'_>,
    ) {
        let Requires { skills, bins, env, host_bins, host_env, unread } =
            Requires::read(fields, metadata, brand, reader);
        (self.host_bins, self.host_env) = (host_bins, host_env);
        self.requires_skills = skills;
        self.requires_bins.extend(bins);
        self.requires_env.extend(env);
        let unread = self.keep_unknown("requires.", unread);
        if !unread.is_empty() {
            self.extra.insert("requires".to_owned(), unread.into());
        }
    }

    /// Records `fields` as unknown, and returns their values by key.
    fn keep_unknown(&mut self, prefix: &str, fields: Vec<Field<'_>>) -> Map<String, Json> {
        let mut values = Map::new();
        for Field { key, value, .. } in fields {
            let name = key.text().unwrap_or_default();
            let span = key.span.clone();
            self.unknown_keys.push(Spanned { value: format!("{prefix}{name}"), span });
            values.insert(name.to_owned(), to_json(value));
        }
        values
    }
}

/// The names of the blocks that are read for a host named `brand`. Without a brand, each block counts that has
/// nothing but fields of such blocks.
fn brands<'n>(brand: &'n str, entries: &'n [(Node, Node)]) -> Vec<&'n str> {
    if !brand.is_empty() {
        return vec![brand];
    }
    let is_branded = |(key, _): &(Node, Node)| {
        key.text().is_some_and(|key| BLOCK_FIELDS.contains(&normalized(key).as_str()))
    };
    let is_block = |node: &Node| match &node.value {
        Value::Mapping(fields) => !fields.is_empty() && fields.iter().all(is_branded),
        _ => false,
    };
    let blocks = entries.iter().filter(|(_, node)| is_block(node));
    blocks.filter_map(|(key, _)| key.text()).collect()
}
