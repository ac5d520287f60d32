//! The codes of diagnostics, each with its severity.

use std::fmt;

use serde::{Serialize, Serializer};

/// The severity of a [`Diagnostic`](super::Diagnostic).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing was changed or lost.
    Note,
    /// The skill works, but not quite as written.
    Warning,
    /// The skill, or a part of it, was refused.
    Error,
}

impl Severity {
    /// The severity in lower case, as in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Declares [`Code`] with the text and the severity of each code in one place.
macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal, $severity:ident;)+) => {
        /// The kind of a [`Diagnostic`](super::Diagnostic). The text of a code never changes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Code {
            /// All codes, in the order of the documentation.
            pub const ALL: &'static [Code] = &[$(Code::$name),+];

            /// The stable text of the code, as in JSON.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $text),+ }
            }

            /// The meaning of this code, in a sentence.
            pub fn description(self) -> &'static str {
                match self { $(Code::$name => concat!($($doc),+).trim_ascii()),+ }
            }

            /// The severity of findings of this code.
            pub fn severity(self) -> Severity {
                match self { $(Code::$name => Severity::$severity),+ }
            }
        }
    };
}

codes! {
    /// A source directory that was asked for does not exist or is not a directory.
    MissingSource = "missing-source", Error;
    /// A file or directory could not be read.
    Unreadable = "unreadable", Error;
    /// `SKILL.md` is a directory or a special file.
    NotAFile = "not-a-file", Error;
    /// The file is not UTF-8.
    NotUtf8 = "not-utf8", Error;
    /// The file is empty.
    EmptyFile = "empty-file", Error;
    /// A symbolic link that was checked out as text: the file is not a skill.
    LinkAsText = "link-as-text", Error;
    /// A file that only says where its skill went: it is not a skill.
    MovedSkill = "moved-skill", Error;
    /// The body is larger than 2 MiB.
    BodyTooLarge = "body-too-large", Error;
    /// Front matter larger than 256 KiB.
    FrontMatterTooLarge = "front-matter-too-large", Error;
    /// The path is not Unicode; its id was made from a readable form of it.
    PathNotUnicode = "path-not-unicode", Warning;
    /// A symbolic link leaves its source root and was not followed.
    LinkOutside = "link-outside", Warning;
    /// A symbolic link leads back to a directory that contains it.
    LinkLoop = "link-loop", Warning;
    /// A symbolic link leads nowhere.
    LinkBroken = "link-broken", Warning;
    /// A directory holds two spellings of `SKILL.md`; the exact one wins.
    TwoSpellings = "two-spellings", Warning;
    /// A file or directory that is nearly a skill: every scan passes over it.
    NearMiss = "near-miss", Warning;
    /// The skill's name is one of an agent's own commands, which wins there.
    TakenCommand = "taken-command", Note;
    /// Another skill with the same id wins over this one.
    Shadowed = "shadowed", Note;
    /// The allowlist, or a setting that turns skills on or off, names a skill that does not exist.
    UnknownSkill = "unknown-skill", Warning;
    /// A skill that this one requires does not exist, or cannot be used.
    MissingSkill = "missing-skill", Warning;
    /// The skill's metadata for another host asks for a program or an environment variable that is not there.
    HostRequirement = "host-requirement", Note;
    /// A file was changed so that it no longer loads; the skill stays as it was.
    KeptBefore = "kept-before", Warning;

    /// A source of `config.toml` that was not fetched on this machine; its skills are missing.
    SourceNotFetched = "source-not-fetched", Warning;
    /// A source that could not be fetched when it was last tried; its last good state is used.
    SourceStale = "source-stale", Warning;
    /// An update of a source that was held back because it would remove skills.
    SourceHeld = "source-held", Warning;
    /// A source whose copy is not signed as `config.toml` demands; its skills are left out.
    SourceUnsigned = "source-unsigned", Error;
    /// A source of `config.toml` that cannot be fetched from its address.
    InvalidSource = "invalid-source", Error;

    /// `config.toml` is not valid TOML, and is left out.
    InvalidToml = "invalid-toml", Error;
    /// A section or key of `config.toml` that does not exist.
    UnknownSetting = "unknown-setting", Warning;
    /// A setting that the `config.toml` of a project may not have: it was ignored.
    RefusedSetting = "refused-setting", Warning;

    /// The file has no front matter.
    NoFrontMatter = "no-front-matter", Warning;
    /// The file is not a skill but a pointer of Git LFS, a page of HTML, the error of a server, a script, a diff, or
    /// a file of another kind.
    NotASkill = "not-a-skill", Error;
    /// The front matter has no closing fence.
    UnclosedFrontMatter = "unclosed-front-matter", Warning;
    /// Blank lines or text come before the opening fence.
    LateFrontMatter = "late-front-matter", Warning;
    /// The front matter is not valid YAML and was repaired.
    RepairedYaml = "repaired-yaml", Warning;
    /// The front matter is not valid YAML; at most the name, the description, and the fields that restrict
    /// the skill were read.
    SalvagedYaml = "salvaged-yaml", Error;
    /// The front matter is not valid YAML and nothing of it could be read.
    InvalidYaml = "invalid-yaml", Error;
    /// The front matter is valid YAML but not a mapping of keys to values, so none of it counts.
    NotAMapping = "not-a-mapping", Error;
    /// The front matter is nested too deeply, or expands beyond all measure.
    YamlTooComplex = "yaml-too-complex", Error;
    /// Lines that look like entries of a list or like keys are joined to the text above them.
    JoinedLines = "joined-lines", Warning;
    /// A text without quotes that YAML ends at ` #`, because it reads the rest of the line as a comment.
    CutText = "cut-text", Warning;
    /// A key is set twice; the last value is used.
    DuplicateKey = "duplicate-key", Warning;

    /// No description and no text to take one from: the skill is not loaded.
    NoDescription = "no-description", Error;
    /// No description: the first paragraph of the body stands in.
    DescriptionFromBody = "description-from-body", Warning;
    /// A field holds a value of the wrong kind and was ignored.
    WrongType = "wrong-type", Warning;
    /// A field holds a value outside its set of values and was ignored.
    InvalidValue = "invalid-value", Warning;
    /// A kind of trigger that stands outside of `triggers`, where nothing reads it.
    MisplacedKey = "misplaced-key", Warning;
    /// Neither the model nor the user may use the skill.
    Unreachable = "for-nobody", Warning;
    /// A key that no part of Repertoire reads.
    UnknownKey = "unknown-key", Note;
    /// A `toolsets` entry that is not `path:Class` with a path in the skill's directory.
    InvalidToolset = "invalid-toolset", Error;
    /// A `scripts` entry that is not a path in the skill's directory.
    InvalidScript = "invalid-script", Error;
    /// A `toolsets` entry whose library is not there, or has another name.
    MissingLibrary = "missing-library", Warning;
    /// A library of a toolset that is not a plugin for this system.
    UnusableLibrary = "unusable-library", Warning;
    /// A library of a toolset that others can change or replace.
    UnsafeLibrary = "unsafe-library", Warning;
    /// A `toolsets` entry whose class is not in its library.
    MissingClass = "missing-class", Warning;
    /// A `scripts` entry without a file that can be run.
    MissingScript = "missing-script", Warning;
    /// A link of the body to a file of the skill that is not there.
    BrokenLink = "broken-link", Warning;
    /// A command in the body whose output other agents insert. It is never run.
    CommandNotRun = "command-not-run", Warning;
    /// Invisible characters that a model still reads.
    InvisibleText = "invisible-text", Warning;
    /// The character U+FFFD, in whose place another one was before the file was saved in another encoding.
    LostCharacter = "lost-character", Warning;
    /// A trigger without any text.
    EmptyTrigger = "empty-trigger", Error;
    /// A trigger too long to be typed by anyone.
    TriggerTooLong = "trigger-too-long", Error;
    /// More triggers than a skill may declare.
    TooManyTriggers = "too-many-triggers", Error;
    /// A pattern that does not compile.
    InvalidPattern = "invalid-pattern", Error;
    /// A pattern whose compiled form is larger than the limit.
    PatternTooLarge = "pattern-too-large", Error;
    /// A pattern that matches the empty string, so every query.
    PatternMatchesEmpty = "pattern-matches-empty", Error;
    /// A pattern that is not in the normal form messages are searched in.
    PatternNotNormalized = "pattern-not-normalized", Warning;
    /// A glob of `paths` that does not compile.
    InvalidGlob = "invalid-glob", Error;

    /// A keyword or verb that stands in messages of all kinds.
    GenericTrigger = "generic-trigger", Warning;
    /// Other skills claim the same keyword or verb.
    SharedTrigger = "shared-trigger", Note;
    /// Other skills come before this one wherever the trigger is found.
    OutrankedTrigger = "outranked-trigger", Warning;
    /// The skill's own `exclude` vetoes it wherever the trigger is found.
    VetoedTrigger = "vetoed-trigger", Warning;
    /// Another trigger of the skill finds all that this one finds.
    RedundantTrigger = "redundant-trigger", Note;
    /// A keyword, verb or exclude in a form that nobody types.
    UntypedTrigger = "untyped-trigger", Warning;
    /// A pattern that is tried on every message, as it demands no particular text.
    PatternWithoutLiteral = "pattern-without-literal", Note;
    /// A pattern that matches many ordinary messages.
    BroadPattern = "broad-pattern", Warning;
    /// A pattern whose search takes many steps a byte.
    CostlyPattern = "costly-pattern", Warning;
    /// Other skills have nearly the same description.
    SimilarDescription = "similar-description", Note;
    /// A message that should lead to the skill, by its own `examples`, and does not.
    ExampleNotRouted = "example-not-routed", Error;
    /// A message that should not lead to the skill, by its own `examples`, and does.
    ExampleRouted = "example-routed", Error;
    /// A description without words that tell the skill from others.
    VagueDescription = "vague-description", Note;
    /// A skill whose instructions are longer than the default budget of disclosures.
    OverBudget = "over-budget", Warning;
    /// No conversation of a period had any use for the skill.
    UnusedSkill = "unused-skill", Note;

    /// Agent Skills profile: the name is missing or not an identifier.
    SpecName = "spec-name", Error;
    /// Agent Skills profile: the name is not the directory's name.
    SpecNameDirectory = "spec-name-directory", Error;
    /// Untrusted profile: a name that looks like another one.
    ConfusableId = "confusable-id", Error;
    /// Untrusted profile: what an agent that reads the skill itself runs, or lets run without a question.
    AgentCode = "agent-code", Warning;
    /// Untrusted profile: text that addresses the agent about trust, secrets or its instructions.
    AddressesAgent = "addresses-agent", Warning;
    /// Untrusted profile: a credential in a file of the skill.
    SecretInFile = "secret-in-file", Error;
    /// Untrusted profile: a file that no listing shows.
    HiddenFile = "hidden-file", Warning;
    /// Untrusted profile: a link that leads out of the skill.
    LeavingLink = "leaving-link", Warning;
    /// Untrusted profile: a script that uses the network.
    FetchingScript = "fetching-script", Warning;
    /// Untrusted profile: code that is fetched or hidden, and run at once.
    RemoteCode = "remote-code", Error;

    /// Agent Skills profile: the description is missing or longer than 1,024 characters.
    SpecDescription = "spec-description", Error;
    /// Agent Skills profile: `compatibility` is longer than 500 characters.
    SpecCompatibility = "spec-compatibility", Error;
    /// Agent Skills profile: a key the specification does not allow.
    SpecKey = "spec-key", Error;
    /// Agent Skills profile: the front matter is not strictly valid.
    SpecFrontMatter = "spec-front-matter", Error;
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_distinct_kebab_case() {
        let mut texts: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert!(
            texts.iter().all(|t| t.bytes().all(|b| b.is_ascii_lowercase() || b"-8".contains(&b)))
        );
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), Code::ALL.len());
    }
}
