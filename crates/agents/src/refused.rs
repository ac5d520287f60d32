//! The quirks of a file for which each agent does not list its skill.
//!
//! Observed with the versions that `docs/agents.md` names: each agent was started in a project with 430 files,
//! one for each form, and a fake model recorded which skills it was told of. If an agent's answer depends on
//! more than a quirk says, the quirk is in the table: a skill is rather told of twice than never.

use repertoire::skill::Quirk;

/// Claude Code 2.1.332.
pub(crate) const CLAUDE_CODE: &[Quirk] = &[Quirk::OverMillionBytes];

/// Codex 0.171.0. It quotes values with `: ` and those that begin with a bracket, `@` or a backtick, then also
/// those that were valid.
pub(crate) const CODEX: &[Quirk] = &[
    Quirk::ByteOrderMark,
    Quirk::CarriageReturns,
    Quirk::NoFrontMatter,
    Quirk::LateFrontMatter,
    Quirk::UnclosedFrontMatter,
    Quirk::InvalidYaml,
    Quirk::InvalidBesideBraces,
    Quirk::Tabs,
    Quirk::UnreadableYaml,
    Quirk::DuplicateName,
    Quirk::NameNotScalar,
    Quirk::LongName,
    Quirk::NoDescription,
    Quirk::NullDescription,
    Quirk::BlankDescription,
    Quirk::DescriptionNotScalar,
    Quirk::MetadataNotMap,
    Quirk::ShortNotScalar,
];

/// Gemini CLI 0.61.0. If the front matter is not valid YAML, it reads `name` and `description` line by line.
pub(crate) const GEMINI: &[Quirk] = &[
    Quirk::ByteOrderMark,
    Quirk::CarriageReturns,
    Quirk::OpeningBlanks,
    Quirk::NoFrontMatter,
    Quirk::LateFrontMatter,
    Quirk::UnclosedFrontMatter,
    Quirk::NoName,
    Quirk::EmptyName,
    Quirk::NoDescription,
];

/// Copilot CLI 1.0.102. It repairs nothing, and takes the name of the directory for a missing `name`.
pub(crate) const COPILOT: &[Quirk] = &[
    Quirk::CarriageReturns,
    Quirk::NoFrontMatter,
    Quirk::LateFrontMatter,
    Quirk::UnclosedFrontMatter,
    Quirk::OverMebibyte,
    Quirk::UnquotedColon,
    Quirk::UnquotedBracket,
    Quirk::InvalidYaml,
    Quirk::InvalidNested,
    Quirk::Tabs,
    Quirk::UnreadableYaml,
    Quirk::DuplicateKey,
    Quirk::DuplicateName,
    Quirk::EmptyName,
    Quirk::NameNotText,
    Quirk::NameNotScalar,
    Quirk::LongName,
    Quirk::NameNotAscii,
    Quirk::NameLines,
    Quirk::NameSigns,
    Quirk::NameEdge,
    Quirk::NullDescription,
    Quirk::DescriptionNotText,
    Quirk::DescriptionNotScalar,
    Quirk::LongDescription,
    Quirk::ToolsNotTexts,
    Quirk::HintNotText,
    Quirk::SwitchNotBoolean,
];

/// `OpenCode` 1.18.33. It quotes values with `: `, but not those in lists and maps.
pub(crate) const OPEN_CODE: &[Quirk] = &[
    Quirk::CarriageReturns,
    Quirk::NoFrontMatter,
    Quirk::LateFrontMatter,
    Quirk::UnclosedFrontMatter,
    Quirk::UnquotedBracket,
    Quirk::InvalidYaml,
    Quirk::InvalidNested,
    Quirk::UnreadableYaml,
    Quirk::OwnTag,
    Quirk::DuplicateKey,
    Quirk::DuplicateName,
    Quirk::NoName,
    Quirk::EmptyName,
    Quirk::NameNotText,
    Quirk::NameNotScalar,
    Quirk::NameLines,
    Quirk::NoDescription,
    Quirk::NullDescription,
    Quirk::DescriptionNotText,
    Quirk::DescriptionNotScalar,
];

/// Qwen Code 0.24.4.
pub(crate) const QWEN: &[Quirk] = &[
    Quirk::OpeningBlanks,
    Quirk::ClosingBlanks,
    Quirk::NoFrontMatter,
    Quirk::LateFrontMatter,
    Quirk::UnclosedFrontMatter,
    Quirk::NoName,
    Quirk::EmptyName,
    Quirk::NameSpaced,
    Quirk::NameLines,
    Quirk::NameSigns,
    Quirk::NoDescription,
    Quirk::NullDescription,
    Quirk::BlankDescription,
    Quirk::DescriptionNotScalar,
    Quirk::ModelNotText,
];

/// Droid 0.215.0. It reads front matter that is not valid YAML line by line, and takes a map for empty text.
pub(crate) const DROID: &[Quirk] = &[
    Quirk::ByteOrderMark,
    Quirk::CarriageReturns,
    Quirk::OpeningBlanks,
    Quirk::NoFrontMatter,
    Quirk::LateFrontMatter,
    Quirk::UnclosedFrontMatter,
    Quirk::NoBody,
    Quirk::InvalidNested,
    Quirk::InvalidBesideMetadata,
    Quirk::Tabs,
    Quirk::UnreadableYaml,
    Quirk::NoName,
    Quirk::EmptyName,
    Quirk::NameNotText,
    Quirk::NameNotScalar,
    Quirk::NameNotAscii,
    Quirk::NameUpperCase,
    Quirk::NameDotted,
    Quirk::NameSpaced,
    Quirk::NameLines,
    Quirk::NameSigns,
    Quirk::NoDescription,
    Quirk::NullDescription,
    Quirk::DescriptionNotText,
    Quirk::DescriptionNotScalar,
    Quirk::MetadataNotMap,
    Quirk::NullMetadata,
    Quirk::ToolsNotTexts,
    Quirk::OtherToolsNotTexts,
    Quirk::SwitchNotBoolean,
    Quirk::EnabledNotBoolean,
    Quirk::LicenseNotText,
];
