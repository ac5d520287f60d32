//! The quirks of a file for which each agent does not list its skill.
//!
//! Observed with the versions that `docs/agents.md` names: each agent was started in a project with 430 files,
//! one for each form, and a fake model recorded which skills it was told of. If an agent's answer depends on
//! more than a quirk says, the quirk is in the table: a skill is rather told of twice than never.

use repertoire::skill::Quirk::{self, *};

/// Claude Code 2.1.332.
pub(crate) const CLAUDE_CODE: &[Quirk] = &[OverMillionBytes];

/// Codex 0.171.0. It quotes values with `: ` and those that begin with a bracket, `@` or a backtick.
pub(crate) const CODEX: &[Quirk] = &[
    ByteOrderMark,
    CarriageReturns,
    NoFrontMatter,
    LateFrontMatter,
    UnclosedFrontMatter,
    InvalidYaml,
    Tabs,
    UnreadableYaml,
    DuplicateName,
    NameNotScalar,
    LongName,
    NoDescription,
    NullDescription,
    BlankDescription,
    DescriptionNotScalar,
    MetadataNotMap,
];

/// Gemini CLI 0.61.0. If the front matter is not valid YAML, it reads `name` and `description` line by line.
pub(crate) const GEMINI: &[Quirk] = &[
    ByteOrderMark,
    CarriageReturns,
    OpeningBlanks,
    NoFrontMatter,
    LateFrontMatter,
    UnclosedFrontMatter,
    NoName,
    EmptyName,
    NoDescription,
];

/// Copilot CLI 1.0.102. It repairs nothing, and takes the name of the directory for a missing `name`.
pub(crate) const COPILOT: &[Quirk] = &[
    CarriageReturns,
    NoFrontMatter,
    LateFrontMatter,
    UnclosedFrontMatter,
    OverMebibyte,
    UnquotedColon,
    UnquotedBracket,
    InvalidYaml,
    InvalidNested,
    Tabs,
    UnreadableYaml,
    DuplicateKey,
    DuplicateName,
    EmptyName,
    NameNotText,
    NameNotScalar,
    LongName,
    NameNotAscii,
    NameLines,
    NameSigns,
    NameEdge,
    NullDescription,
    DescriptionNotText,
    DescriptionNotScalar,
    LongDescription,
    ToolsNotTexts,
    HintNotText,
    SwitchNotBoolean,
];

/// `OpenCode` 1.18.33. It quotes values with `: `, but not those in lists and maps.
pub(crate) const OPEN_CODE: &[Quirk] = &[
    CarriageReturns,
    NoFrontMatter,
    LateFrontMatter,
    UnclosedFrontMatter,
    UnquotedBracket,
    InvalidYaml,
    InvalidNested,
    UnreadableYaml,
    OwnTag,
    DuplicateKey,
    DuplicateName,
    NoName,
    EmptyName,
    NameNotText,
    NameNotScalar,
    NameLines,
    NoDescription,
    NullDescription,
    DescriptionNotText,
    DescriptionNotScalar,
];

/// Qwen Code 0.24.4.
pub(crate) const QWEN: &[Quirk] = &[
    OpeningBlanks,
    ClosingBlanks,
    NoFrontMatter,
    LateFrontMatter,
    UnclosedFrontMatter,
    NoName,
    EmptyName,
    NameSpaced,
    NameLines,
    NameSigns,
    NoDescription,
    NullDescription,
    BlankDescription,
    DescriptionNotScalar,
    ModelNotText,
];

/// Droid 0.225.2.
pub(crate) const DROID: &[Quirk] = &[
    ByteOrderMark,
    CarriageReturns,
    OpeningBlanks,
    NoFrontMatter,
    LateFrontMatter,
    UnclosedFrontMatter,
    NoBody,
    InvalidNested,
    Tabs,
    UnreadableYaml,
    NoName,
    EmptyName,
    NameNotText,
    NameNotScalar,
    NameNotAscii,
    NameUpperCase,
    NameDotted,
    NameSpaced,
    NameLines,
    NameSigns,
    NoDescription,
    NullDescription,
    DescriptionNotText,
    DescriptionNotScalar,
    MetadataNotMap,
    NullMetadata,
    ToolsNotTexts,
    SwitchNotBoolean,
    LicenseNotText,
];
