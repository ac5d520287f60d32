//! The placeholders of a body: for arguments, and for the skill's directory (`docs/activation.md`).

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};
use repertoire_text::amount::{is_amount, is_program};

use super::code_ranges::code_ranges;
pub(crate) use super::directories::Directories;
use super::directories::PLUGIN_ROOT;

/// The placeholder for all arguments.
pub(crate) const ARGUMENTS: &str = "$ARGUMENTS";

/// The variables that stand for a directory, as `$NAME` and `${NAME}`.
const DIRECTORIES: [(&str, Placeholder); 4] = [
    ("SKILL_DIR", Placeholder::Directory),
    ("CLAUDE_SKILL_DIR", Placeholder::Directory),
    ("HERMES_SKILL_DIR", Placeholder::Directory),
    (PLUGIN_ROOT, Placeholder::PluginRoot),
];

/// The other form of the placeholder for the skill's directory.
const BASE_DIR: &str = "{baseDir}";

/// A placeholder of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placeholder {
    /// `$ARGUMENTS`: all arguments.
    All,
    /// `$ARGUMENTS[N]`, `$N`, or `$name` of a declared argument: one argument, from 0.
    One(usize),
    /// `${SKILL_DIR}` and its other names, and `{baseDir}`: the directory of the skill.
    Directory,
    /// `${CLAUDE_PLUGIN_ROOT}`: the root of the skill's plugin, or the skill's directory if it is in none.
    PluginRoot,
}

impl Placeholder {
    /// Tells whether this stands for a directory.
    pub(crate) fn is_directory(self) -> bool {
        matches!(self, Placeholder::Directory | Placeholder::PluginRoot)
    }

    /// The directory that this stands for; `None` if it does not stand for one.
    pub(crate) fn directory(self, directories: &Directories) -> Option<&str> {
        match self {
            Placeholder::Directory => Some(&directories.skill),
            Placeholder::PluginRoot => Some(&directories.plugin),
            Placeholder::All | Placeholder::One(_) => None,
        }
    }
}

/// A part of a body that is a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) placeholder: Placeholder,
    pub(crate) range: Range<usize>,
    /// True if a `\` before it, which is not in the range, makes it ordinary text.
    pub(crate) is_escaped: bool,
}

/// The arguments that a manifest declares.
#[derive(Debug, Clone, Default)]
pub(crate) struct Declared {
    /// The names of the arguments, in their order.
    pub(crate) names: Vec<String>,
    /// True if the manifest declares arguments in whatever form, so that `$N` counts in code, too.
    pub(crate) any: bool,
}

/// Finds the placeholders of `body`, in order. `$N` is one only outside of code, unless arguments are
/// declared, and never in an amount.
pub(crate) fn find(body: &str, declared: &Declared) -> Vec<Found> {
    let is_digit_next = |at: usize| body.as_bytes().get(at + 1).is_some_and(u8::is_ascii_digit);
    let mut code = None;
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = body[from..].find(['$', '{']).map(|next| from + next) {
        from = at + 1;
        let rest = &body[at..];
        let hit = directory(&body[..at], rest)
            .or_else(|| all_or_indexed(rest))
            .or_else(|| named(rest, &declared.names))
            .or_else(|| {
                let (index, len) = number(rest).filter(|_| is_digit_next(at))?;
                // Few bodies have numbers, so that most are never parsed.
                let mut is_code =
                    || is_code(body, code.get_or_insert_with(|| code_ranges(body)), at);
                let is_open = declared.any || !is_code();
                let is_argument = is_open && !is_amount(body, at..at + len, declared.any);
                is_argument.then_some((Placeholder::One(index), len))
            });
        if let Some((placeholder, len)) = hit {
            from = at + len;
            let is_escaped = body[..at].ends_with('\\');
            found.push(Found { placeholder, range: at..from, is_escaped });
        }
    }
    found
}

/// Returns `body` with `directories` in place of the placeholders for them.
pub(crate) fn with_directories<'b>(
    body: &'b str,
    directories: Option<&Directories>,
) -> Cow<'b, str> {
    let Some(directories) = directories else { return Cow::Borrowed(body) };
    let mut out = String::new();
    let mut copied = 0;
    let found = find(body, &Declared { any: true, ..Declared::default() });
    for Found { placeholder, range, is_escaped } in found {
        let Some(dir) = placeholder.directory(directories) else { continue };
        let end = if is_escaped { range.start - 1 } else { range.start };
        out.push_str(&body[copied..end]);
        out.push_str(if is_escaped { &body[range.clone()] } else { dir });
        copied = range.end;
    }
    if copied == 0 {
        return Cow::Borrowed(body);
    }
    out.push_str(&body[copied..]);
    Cow::Owned(out)
}

/// Tells whether `body` has commands of the form `` !`command` ``, or a code block of the language `!`,
/// whose output another agent would insert.
pub(crate) fn has_commands(body: &str) -> bool {
    command(body).is_some()
}

/// Returns the place of the first command of `body`, with its `!`.
pub(crate) fn command(body: &str) -> Option<Range<usize>> {
    // Few bodies have an exclamation mark at all.
    let may_have = body.as_bytes().contains(&b'!');
    if !may_have || !body.contains("!`") && !body.contains("```!") {
        return None;
    }
    let is_start = |before: &str| {
        before.chars().next_back().is_none_or(|c| c.is_whitespace() || "(:*-".contains(c))
    };
    Parser::new_ext(body, Options::empty()).into_offset_iter().find_map(|(event, range)| {
        use pulldown_cmark::CodeBlockKind::Fenced;
        match event {
            Event::Code(_) => {
                let before = body[..range.start].strip_suffix('!').filter(|text| is_start(text))?;
                Some(before.len()..range.end)
            }
            Event::Start(Tag::CodeBlock(Fenced(language))) => (&*language == "!").then_some(range),
            _ => None,
        }
    })
}

/// Returns the placeholder for a directory at the start of `rest`, with its length in bytes.
fn directory(before: &str, rest: &str) -> Option<(Placeholder, usize)> {
    if rest.starts_with(BASE_DIR) {
        // `${baseDir}` and `{{baseDir}}` belong to other languages.
        let is_plain = !before.ends_with(['$', '{']);
        return is_plain.then_some((Placeholder::Directory, BASE_DIR.len()));
    }
    let name = rest.strip_prefix('$')?;
    let mut known = DIRECTORIES.iter();
    if let Some(inside) = name.strip_prefix('{') {
        return known.find_map(|(name, placeholder)| {
            let end = end_of_variable(inside.strip_prefix(name)?)?;
            Some((*placeholder, "${".len() + name.len() + end))
        });
    }
    let (known, placeholder) = known.find(|(known, _)| is_whole_name(name, known))?;
    Some((*placeholder, "$".len() + known.len()))
}

/// Returns the length of the rest of `${NAME}` after its name, in bytes: `}`, or what a shell takes while the variable
/// is not set, as in `${NAME:-other}`.
fn end_of_variable(rest: &str) -> Option<usize> {
    let is_default = ["}", "-", "?", ":-", ":?", ":="].iter().any(|start| rest.starts_with(start));
    let mut n_open = 1;
    for (at, c) in rest.char_indices().take_while(|(_, c)| is_default && *c != '\n') {
        match c {
            '{' => n_open += 1,
            '}' => n_open -= 1,
            _ => {}
        }
        if n_open == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Returns `$ARGUMENTS`, `${ARGUMENTS}` or `$ARGUMENTS[N]` at the start of `rest`, with its length in bytes.
fn all_or_indexed(rest: &str) -> Option<(Placeholder, usize)> {
    if rest.starts_with("${ARGUMENTS}") {
        return Some((Placeholder::All, "${}".len() + ARGUMENTS.len() - "$".len()));
    }
    let after = rest.strip_prefix(ARGUMENTS)?;
    if let Some(inside) = after.strip_prefix('[') {
        let len = number_len(inside);
        if let (Ok(index), true) = (inside[..len].parse(), inside[len..].starts_with(']')) {
            return Some((Placeholder::One(index), ARGUMENTS.len() + 1 + len + 1));
        }
    }
    // Other letters may follow directly, because some writing systems do without spaces.
    is_whole_name(rest, ARGUMENTS).then_some((Placeholder::All, ARGUMENTS.len()))
}

/// Returns `$name` of one of `names` at the start of `rest`, with its length in bytes.
fn named(rest: &str, names: &[String]) -> Option<(Placeholder, usize)> {
    let text = rest.strip_prefix('$')?;
    let whole = names.iter().enumerate().filter(|(_, name)| is_whole_name(text, name));
    let (index, name) = whole.max_by_key(|(_, name)| name.len())?;
    Some((Placeholder::One(index), 1 + name.len()))
}

/// Tells whether `text` starts with `name`, and a longer ASCII name does not begin there.
fn is_whole_name(text: &str, name: &str) -> bool {
    let rest = text.strip_prefix(name).filter(|_| !name.is_empty());
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
}

/// Returns the number in `$N` at the start of `rest`, with the length of all in bytes.
fn number(rest: &str) -> Option<(usize, usize)> {
    let digits = rest.strip_prefix('$')?;
    let len = number_len(digits);
    Some((digits[..len].parse().ok()?, 1 + len))
}

fn number_len(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Tells whether byte `at` of `body` is in code: of Markdown or HTML, between braces in its line as in
/// JSON and awk, in `$(…)`, the value of a shell variable, or in a line of program text.
fn is_code(body: &str, code: &[Range<usize>], at: usize) -> bool {
    let nth = code.partition_point(|range| range.end <= at);
    if code.get(nth).is_some_and(|range| range.start <= at) {
        return true;
    }
    let start = body[..at].rfind('\n').map_or(0, |end| end + 1);
    let end = body[at..].find('\n').map_or(body.len(), |end| at + end);
    if is_program(&body[start..end]) {
        return true;
    }
    let line = &body[start..at];
    let is_assigned = line.trim_end_matches(['"', '\'']).ends_with('=');
    is_assigned || line.rfind('{') > line.rfind('}') || line.rfind("$(") > line.rfind(')')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts<'b>(body: &'b str, names: &[&str]) -> Vec<&'b str> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let declared = Declared { any: !names.is_empty(), names };
        find(body, &declared).into_iter().map(|found| &body[found.range]).collect()
    }

    #[test]
    fn amounts_ranges_and_code_are_no_placeholders() {
        for body in [
            "costs $0.25 each, $1M a year, $2,000 at least, $1'000, $1k, $3bn",
            "US$1, A$2, R$3 and $5%",
            "between $1-$5, $1–$5, $1 – 5, $10-20, $1M-$2M",
            "$1 million, $2 Billion in $3 USD, $4 dollars",
            "$1/month, $2 per user, $3 a month, $4/request",
            "`$1` and ``a ` $2``",
            "```sh\necho $1\n```\n\n    echo $2\n",
            "run awk '{print $1, $2}' on it",
            "{\"price\": \"$1\", \"of\": $2}",
            "set x=$1 and y=\"$2\"",
            "<code>echo $1</code> and <kbd>$2</kbd>",
            "<pre>\necho $1\n\n$2\n</pre>\n",
            "<pre><code>\n$1</code></pre>",
            "$$1 in make, $1+ a day, $1+, $1 000 or $2 000 000",
            "$1/GB, $2 per GB, $1/1M tokens, $1 / 1M tokens, $2/M tokens, $3 per 1K tokens",
            "~$1, ≈$2, <$3, $4¢, $5 AUD, $6 Mio, $7 cents",
            "$1美元, $2 pro Monat, $3 par mois, $4 al mes, $5/月, $6 per person, $7/kWh",
            "$1^2$ and $$1+1$$",
            "so $1 + 1 = 2$",
            "s/(a)/$1/",
            "perl -pe 's/(a)(b)/$2$1/'",
            "rewrite ^/a/(.*)$ /b/$1;",
            "replace `x` by (\\w+), that is $1",
            "INSERT INTO t VALUES ($1, $2)",
            "values($1,$2)",
            "SELECT * FROM t WHERE id = $1",
            "WHERE id = $1",
            "  $ git show $1",
            "for f in $1; do",
            "for f in a b; do cp $1 $2; done",
            "Then awk '$1 > 5' prints it, or awk -F: '$2'",
            "run.sh \"$0\" \"$@\"",
            "It prints $(basename $1)",
            "A call costs $1, pay about $2, worth only $3, USD $4",
            "$1 each, $2 apiece, a $5 bill, a $2 fee",
            "$1 per lookup, $2/video, $3 per 1,000 requests, $4 per thousand",
        ] {
            assert_eq!(texts(body, &[]), [""; 0], "{body}");
        }
    }

    #[test]
    fn arguments_are_found_beside_them() {
        for (body, names, wanted) in [
            ("$0 or $1, then ($2).", &[][..], &["$0", "$1", "$2"][..]),
            ("Move $0/src to \"$1\": $2!", &[], &["$0", "$1", "$2"]),
            ("Compare $0 to $1", &[], &["$0", "$1"]),
            ("把$0移到$1处", &[], &["$0", "$1"]),
            ("$0, 5 times; $1. Then", &[], &["$0", "$1"]),
            ("<b>$0</b> {x} $1", &[], &["$0", "$1"]),
            ("<code>a</code> $0", &[], &["$0"]),
            ("Review PR $1 against $2", &[], &["$1", "$2"]),
            ("Add $1 + $2, or $0+$1; $1 a little", &[], &["$1", "$2", "$0", "$1", "$1"]),
            ("Where $0 is, select $1 from the list (all of it)", &[], &["$0", "$1"]),
            ("Open docs/$0/ and tests/$1/a/b", &[], &["$0", "$1"]),
            ("Resize $1 1200 px, $2 100px; write <$0>", &[], &["$1", "$2", "$0"]),
            (
                "Write to $0/images, $1/page.html, $0/run/a and $1/sessions",
                &[],
                &["$0", "$1", "$0", "$1"],
            ),
            ("Fetch the price of $0 and the cost of $1", &[], &["$0", "$1"]),
            ("Migrate from $0 to $1, (see $0)", &[], &["$0", "$1", "$0"]),
            ("$0 each and pay $1", &["a"], &["$0", "$1"]),
            ("$0: the title.\n$1 = the author", &[], &["$0", "$1"]),
            ("`x` $0-$1", &["a"], &["$0", "$1"]),
            ("`$0` costs $0.25", &["a"], &["$0"]),
            (
                "$file in $files, $file-name and ${file}",
                &["file", "file-name"],
                &["$file", "$file-name"],
            ),
            ("$ARGUMENTS[1], $ARGUMENTS and $ARGUMENTSX", &[], &["$ARGUMENTS[1]", "$ARGUMENTS"]),
            ("`run ${ARGUMENTS}` ${ARGUMENTS:-x}", &[], &["${ARGUMENTS}"]),
        ] {
            assert_eq!(texts(body, names), wanted, "{body}");
        }
    }

    #[test]
    fn the_directory_has_several_names() {
        for (body, wanted) in [
            ("`${CLAUDE_SKILL_DIR}/x` ${SKILL_DIR}", "`/s/x` /s"),
            ("$CLAUDE_PLUGIN_ROOT/x ${CLAUDE_PLUGIN_ROOT}", "/p/x /p"),
            ("{baseDir}/a ${baseDir} {{baseDir}}", "/s/a ${baseDir} {{baseDir}}"),
            ("\\${SKILL_DIR} \\{baseDir}", "${SKILL_DIR} {baseDir}"),
            (
                "${SKILL_DIR:-x}/a ${CLAUDE_SKILL_DIR:-${HOME}/s}/b ${CLAUDE_PLUGIN_ROOT:?unset} ${SKILL_DIR-.}",
                "/s/a /s/b /p /s",
            ),
            ("${HERMES_SKILL_DIR}/a $HERMES_SKILL_DIR", "/s/a /s"),
            (
                "$SKILL_DIRS ${SKILL_DIR%/} ${SKILL_DIR:-x\n} $0 \\$ARGUMENTS",
                "$SKILL_DIRS ${SKILL_DIR%/} ${SKILL_DIR:-x\n} $0 \\$ARGUMENTS",
            ),
        ] {
            let directories = Directories { skill: "/s".to_owned(), plugin: "/p".to_owned() };
            assert_eq!(with_directories(body, Some(&directories)), wanted);
            assert_eq!(with_directories(body, None), body);
        }
    }

    #[test]
    fn commands_are_told_from_code() {
        for body in ["!`git status`", "State: !`git diff`", "- !`x`", "a\n\n```!\ngit\n```\n"] {
            assert!(has_commands(body), "{body}");
        }
        for body in ["Wow!`x`", "`!`", "```sh\n!`x`\n```", "![`a`](b)", "! `x`", ""] {
            assert!(!has_commands(body), "{body}");
        }
    }
}
