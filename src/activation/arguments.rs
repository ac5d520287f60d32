//! Substitution of arguments for the placeholders of a body (`docs/activation.md`).

use serde_json::Value as Json;

use crate::skill::placeholder::{self, Declared, Directories, Found, Placeholder};

/// The longest body with arguments, in bytes.
pub(super) const MAX_BYTES: usize = 16 << 20;

/// The values of a body's placeholders.
pub(super) struct Values<'a> {
    /// All arguments, as they were written.
    pub(super) args: &'a str,
    /// The arguments that the manifest declares.
    pub(super) declared: Declared,
    /// The directories that the body may name; `None` for a skill in memory.
    pub(super) directories: Option<Directories>,
}

/// Returns `body` with `values` in place of its [placeholders](placeholder):
///
/// - `$ARGUMENTS` stands for all arguments as they were written, `$ARGUMENTS[N]` for one, from 0;
/// - `$N` means `$ARGUMENTS[N]`, but inside of code only if arguments are declared, and not in an amount;
/// - `$name` of a declared argument means the argument at its place;
/// - `${SKILL_DIR}` and its other names stand for the directory, `${CLAUDE_PLUGIN_ROOT}` for that of the plugin;
/// - a placeholder whose value is missing is kept as written, and so is one after a `\`, which is
///   removed.
///
/// Arguments are split as a shell does, without expanding anything. Inserted text is not searched for
/// placeholders again. If there are arguments and none was inserted, they are appended to the body as a
/// line.
///
/// Returns `None` if the result would be longer than [`MAX_BYTES`]: a body may contain the same
/// placeholder many times.
pub(super) fn apply(body: &str, values: &Values<'_>) -> Option<String> {
    let Values { args, declared, directories } = values;
    let positions = split(args);
    let mut out = String::with_capacity(body.len() + args.len());
    let mut is_used = false;
    let mut copied = 0;
    for Found { placeholder, range, is_escaped } in placeholder::find(body, declared) {
        if is_escaped {
            out.push_str(&body[copied..range.start - 1]);
            copied = range.start;
            continue;
        }
        let value = match placeholder {
            Placeholder::All => Some(*args),
            Placeholder::One(index) => positions.get(index).map(String::as_str),
            directory => directories.as_ref().and_then(|all| directory.directory(all)),
        };
        let Some(value) = value else { continue };
        out.push_str(&body[copied..range.start]);
        out.push_str(value);
        if out.len() > MAX_BYTES {
            return None;
        }
        copied = range.end;
        is_used |= !placeholder.is_directory();
    }
    out.push_str(&body[copied..]);
    if !is_used && !args.trim().is_empty() {
        // One blank line in between, and the body is kept as it is.
        let end = out.trim_end_matches(['\n', '\r']).len();
        let n_breaks = out[end..].matches('\n').count().min(2);
        out.push_str(&"\n\n"[n_breaks..]);
        out.push_str("ARGUMENTS: ");
        out.push_str(args);
    }
    (out.len() <= MAX_BYTES).then_some(out)
}

/// Splits the arguments as a shell does: at blanks outside of quotes. If a quote is never closed, splits
/// them at all blanks.
pub(crate) fn split(args: &str) -> Vec<String> {
    // A shell, and so `shlex`, takes `#42` for a comment; replace `#` while splitting.
    let mark = ('\u{e000}'..='\u{f8ff}').find(|c| !args.contains(*c)).unwrap_or('#');
    let split = shlex::split(&args.replace('#', mark.encode_utf8(&mut [0; 4])));
    let words = split.map(|words| words.iter().map(|word| word.replace(mark, "#")).collect());
    words.unwrap_or_else(|| args.split_whitespace().map(str::to_owned).collect())
}

/// Returns the arguments of a skill that a program wrote as JSON: a text, a number or a truth value; a list of
/// these, joined by blanks as on a command line; or `null` or `{}` for none. Returns `None` for anything else.
pub fn text_of_arguments(value: &Json) -> Option<String> {
    let one = |value: &Json| match value {
        Json::String(text) => Some(text.clone()),
        Json::Number(_) | Json::Bool(_) => Some(value.to_string()),
        _ => None,
    };
    match value {
        Json::Null => Some(String::new()),
        Json::Object(named) if named.is_empty() => Some(String::new()),
        Json::Array(values) => Some(values.iter().map(one).collect::<Option<Vec<_>>>()?.join(" ")),
        value => one(value),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn apply(body: &str, args: &str, any: bool) -> Option<String> {
        let declared = Declared { any, ..Declared::default() };
        let directories =
            Some(Directories::of("/s".as_ref(), body, |dir| dir.to_string_lossy().into_owned()));
        super::apply(body, &Values { args, declared, directories })
    }

    #[test]
    fn placeholders_are_told_from_other_dollars() {
        for (body, args, wanted) in [
            (
                "$ARGUMENTS_LIST and $ARGUMENTSX",
                "a",
                "$ARGUMENTS_LIST and $ARGUMENTSX\n\nARGUMENTS: a",
            ),
            ("$ARGUMENTS[x] $ARGUMENTS[", "a", "a[x] a["),
            ("$ARGUMENTS[1] $ARGUMENTS[01]", "a b", "b b"),
            ("$ARGUMENTS[99999999999999999999]!", "a", "a[99999999999999999999]!"),
            ("$10 $1", "a b", "$10 b"),
            ("$", "a", "$\n\nARGUMENTS: a"),
            ("$$0 of $0", "a", "$$0 of a"),
            (r"\$0 $0", "a", "$0 a"),
            (r"\$HOME \$9", "", r"\$HOME $9"),
            (r"\$ARGUMENTS", "", "$ARGUMENTS"),
            ("é$0é", "ß", "é$0é\n\nARGUMENTS: ß"),
            ("把$0移到$ARGUMENTS处", "x", "把x移到x处"),
            ("$0st", "a", "$0st\n\nARGUMENTS: a"),
            ("${SKILL_DIR}/x", "a", "/s/x\n\nARGUMENTS: a"),
            ("$ARGUMENTS {baseDir}", "{baseDir} $0", "{baseDir} $0 /s"),
            ("$0|$1|$2", r#"a\ b "c d" #42"#, "a b|c d|#42"),
            ("$0|$1", "it's fine", "it's|fine"),
            ("x", "  ", "x"),
            ("", "a", "\n\nARGUMENTS: a"),
            ("x\n", "a", "x\n\nARGUMENTS: a"),
            ("x\n\n", "a", "x\n\nARGUMENTS: a"),
            ("x\r\n\r\n", "a", "x\r\n\r\nARGUMENTS: a"),
            ("x\n\n\n", "a", "x\n\n\nARGUMENTS: a"),
        ] {
            assert_eq!(apply(body, args, false).unwrap(), wanted, "{body:?} with {args:?}");
        }
    }

    #[test]
    fn numbers_in_code_are_code_unless_arguments_are_declared() {
        let body =
            "`$0`\n\n```sh\n$0 \\$0 $ARGUMENTS[0]\n```\n\n    $0\n\n~~~\n$0\n~~~\n$0 ``a ` $0``";
        let outside = "`$0`\n\n```sh\n$0 \\$0 x\n```\n\n    $0\n\n~~~\n$0\n~~~\nx ``a ` $0``";
        let everywhere = "`x`\n\n```sh\nx $0 x\n```\n\n    x\n\n~~~\nx\n~~~\nx ``a ` x``";
        assert_eq!(apply(body, "x", false).unwrap(), outside);
        assert_eq!(apply(body, "x", true).unwrap(), everywhere);
    }

    #[test]
    fn what_would_be_too_long_is_not_made() {
        let args = "a".repeat(1000);
        assert!(apply(&"$ARGUMENTS\n".repeat(10_000), &args, false).is_some());
        assert!(apply(&"$0 $ARGUMENTS\n".repeat(140_000), &args, false).is_none());
    }

    proptest! {
        #[test]
        fn what_was_put_in_is_not_expanded_again(
            args in r"[$\\0-2 A-Z\[\]'a-c]{0,12}(\$ARGUMENTS|\$0|\\\$1)?",
            before in "[a-z `\n]{0,8}",
            after in "[a-z `\n]{0,8}",
        ) {
            let body = format!("{before}$ARGUMENTS {after}");
            prop_assert_eq!(apply(&body, &args, false).unwrap(), format!("{before}{args} {after}"));
        }

        #[test]
        fn a_body_without_placeholders_is_kept_byte_for_byte(
            body in r"([a-z`\\#\n ]|\$[a-zA-Z{(]|é|\$ARGUMENTS_){0,40}",
            args in "[a-z$0 ]{0,8}",
        ) {
            let applied = apply(&body, &args, true).unwrap();
            let breaks = match body.as_str() {
                body if body.ends_with("\n\n") => "",
                body if body.ends_with('\n') => "\n",
                _ => "\n\n",
            };
            let line = if args.trim().is_empty() { String::new() } else { format!("{breaks}ARGUMENTS: {args}") };
            prop_assert_eq!(applied, format!("{body}{line}"));
        }

        #[test]
        fn no_body_and_no_arguments_are_too_much(body in r"(\PC|[$\\`\n\[\]]|\$ARGUMENTS|\$1){0,60}", args in r"\PC{0,20}") {
            apply(&body, &args, false);
            apply(&body, &args, true);
        }
    }
}
