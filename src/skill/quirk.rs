//! Quirks: properties of a file that this engine accepts, and for which some agents leave the skill out of
//! their own lists.

use std::fmt;

/// Defines the quirks, each with a clause that says what the file is like.
macro_rules! quirks {
    ($($(#[$doc:meta])* $name:ident: $clause:literal,)*) => {
        /// A property of a file that this engine accepts, and for which some agents do not list the skill.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Quirk {
            $($(#[$doc])* #[doc = concat!("In words: ", $clause, ".")]
            $name,)*
        }

        impl Quirk {
            /// All quirks.
            pub const ALL: &'static [Quirk] = &[$(Quirk::$name,)*];

            /// Returns the clause that says what the file is like.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Quirk::$name => $clause,)*
                }
            }
        }
    };
}

quirks! {
    ByteOrderMark: "a byte order mark stands before its first line",
    CarriageReturns: "its lines end with carriage returns alone",
    OpeningBlanks: "blanks stand after the `---` above its front matter",
    ClosingBlanks: "blanks stand after the `---` below its front matter",
    NoFrontMatter: "it has no front matter",
    LateFrontMatter: "its front matter does not begin on the first line",
    UnclosedFrontMatter: "its front matter is never closed",
    NoBody: "it has no text below its front matter",
    OverMillionBytes: "it has more than 1,000,000 bytes",
    OverMebibyte: "it has more than 1,048,576 bytes",
    UnquotedColon: "a value with `: ` has no quotes",
    UnquotedBracket: "a value that begins with a bracket, `@` or a backtick has no quotes",
    InvalidYaml: "its front matter is not valid YAML",
    InvalidNested: "a value in a list or map of its front matter is not valid YAML",
    InvalidBesideMetadata: "its front matter is not valid YAML and has `metadata`",
    InvalidBesideBraces: "its front matter is not valid YAML and has `metadata` in braces",
    Tabs: "tabs indent its front matter",
    UnreadableYaml: "its front matter is not valid YAML and cannot be repaired",
    OwnTag: "a value of its front matter begins with `!`, the sign of a tag",
    DuplicateKey: "a key stands twice in its front matter",
    DuplicateName: "`name` or `description` stands twice in its front matter",
    NoName: "it has no `name`",
    EmptyName: "its `name` is empty",
    NameNotText: "its `name` is not text but a number, a date or a truth value",
    NameNotScalar: "its `name` is a list or a map",
    LongName: "its `name` has more than 64 characters",
    NameNotAscii: "its `name` has letters outside of ASCII",
    NameUpperCase: "its `name` has upper-case letters",
    NameDotted: "its `name` has `_`, `.` or `:`",
    NameSpaced: "its `name` has blanks",
    NameLines: "its `name` has a tab or several lines",
    NameSigns: "its `name` has signs other than `_`, `.`, `:` and `-`",
    NameEdge: "its `name` does not begin with a letter or a digit",
    NoDescription: "it has no `description`",
    NullDescription: "its `description` has no value",
    BlankDescription: "its `description` is blank",
    DescriptionNotText: "its `description` is not text but a number, a date or a truth value",
    DescriptionNotScalar: "its `description` is a list or a map",
    LongDescription: "its `description` has more than 1,024 characters",
    MetadataNotMap: "its `metadata` is not a map",
    NullMetadata: "its `metadata` has no value",
    ShortNotScalar: "its `metadata` has a list or a map as `short-description`",
    ToolsNotTexts: "its `allowed-tools` is neither text nor a list of texts",
    OtherToolsNotTexts: "its `tools` is neither text nor a list of texts",
    HintNotText: "its `argument-hint` is not text",
    SwitchNotBoolean:
        "its `disable-model-invocation` or `user-invocable` is neither `true` nor `false`",
    EnabledNotBoolean: "its `enabled` is neither `true` nor `false`",
    LicenseNotText: "its `license` or `compatibility` is not text",
    ModelNotText: "its `model` is not text",
}

/// A set of quirks.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "snapshot", derive(serde::Serialize, serde::Deserialize))]
pub struct Quirks(u64);

const _: () = assert!(Quirk::ALL.len() <= u64::BITS as usize, "a quirk has no bit in the set");

impl Quirks {
    /// The set of `quirks`.
    pub const fn of(quirks: &[Quirk]) -> Quirks {
        let (mut bits, mut at) = (0, 0);
        while at < quirks.len() {
            bits |= 1 << quirks[at] as u32;
            at += 1;
        }
        Quirks(bits)
    }

    /// Returns the quirks of both sets.
    #[must_use]
    pub fn intersection(self, other: Quirks) -> Quirks {
        Quirks(self.0 & other.0)
    }

    /// Returns the quirks of the set, in the order of [`Quirk::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Quirk> {
        Quirk::ALL.iter().copied().filter(move |quirk| self.0 & Quirks::of(&[*quirk]).0 != 0)
    }

    /// Tells whether the set has no quirk.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn extend(&mut self, quirks: impl IntoIterator<Item = Quirk>) {
        quirks.into_iter().for_each(|quirk| self.insert(quirk));
    }

    pub(super) fn insert(&mut self, quirk: Quirk) {
        self.0 |= Quirks::of(&[quirk]).0;
    }

    pub(super) fn insert_if(&mut self, is_so: bool, quirk: Quirk) {
        if is_so {
            self.insert(quirk);
        }
    }
}

impl fmt::Debug for Quirks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
