//! Amounts in a body: numbers after `$` that are not placeholders for arguments.

use std::ops::Range;

/// The words by which a number is an amount after a blank.
const SCALES: [&str; 38] = [
    "million", "millionen", "millone", "milliard", "billion", "trillion", "thousand", "tausend",
    "bn", "mio", "mrd", "dollar", "cent", "buck", "USD", "EUR", "AUD", "CAD", "NZD", "HKD", "SGD",
    "TWD", "MXN", "BRL", "ARS", "CLP", "COP", "GBP", "CHF", "JPY", "CNY", "INR", "KRW", "SEK",
    "NOK", "DKK", "PLN", "ZAR",
];
/// Signs that directly after a number make it an amount or a power.
const JOINED: [&str; 14] =
    ["¢", "%", "^", "美元", "美金", "美分", "ドル", "달러", "元", "円", "万", "萬", "億", "亿"];
/// Words for the thing that an amount buys.
const UNITS: [&str; 66] = [
    "month", "mo", "year", "yr", "week", "wk", "day", "night", "hour", "hr", "h", "minute", "min",
    "second", "user", "seat", "person", "head", "member", "developer", "request", "call", "query",
    "token", "message", "image", "page", "item", "unit", "credit", "GB", "GiB", "TB", "MB", "KB",
    "kWh", "thousand", "lookup", "run", "video", "scan", "session", "transaction", "operation",
    "execution", "invocation", "document", "email", "license", "click", "mile", "km", "K", "M",
    "B", "monat", "jahr", "woche", "tag", "stunde", "nutzer", "mois", "jour", "mes", "mese", "día",
];
/// Those that follow without a blank.
const UNSPACED_UNITS: [char; 6] = ['月', '年', '天', '日', '人', '次'];
/// The words between an amount and its unit.
const RATES: [&str; 11] = ["/", "per", "a", "an", "pro", "par", "al", "por", "im", "je", "每"];

/// Words before an amount, where no arguments are declared; and those between them and the amount.
const PRICED: [&str; 18] = [
    "cost", "costs", "costing", "priced", "pay", "pays", "paying", "paid", "spend", "spends",
    "spending", "spent", "worth", "charges", "charged", "earns", "usd", "us",
];
const ABOUT: [&str; 11] = [
    "about", "around", "roughly", "approximately", "only", "just", "over", "under", "is", "at",
    "from",
];
/// Words after an amount, where no arguments are declared.
const SHARES: [&str; 7] = ["each", "apiece", "a piece", "fee", "bill", "coin", "worth"];

/// Tells whether the `$N` at `range` is an amount, a size or an end of a range. `$0-$1` is a range unless
/// arguments are declared: then it may join two of them.
pub fn is_amount(body: &str, range: Range<usize>, is_declared: bool) -> bool {
    let (before, after) = (&body[..range.start], &body[range.end..]);
    // Letters of writing systems without spaces have no cases.
    let is_joined = |c: char| c.is_lowercase() || c.is_uppercase() || c.is_ascii_digit();
    let begins_number = |text: &str| {
        let text = text.trim_start_matches('$');
        text.starts_with(|c: char| c.is_ascii_digit())
    };
    if before.ends_with(is_joined) || after.starts_with(is_joined) {
        return true;
    }
    let is_open_end = after.strip_prefix('+').is_some_and(|rest| !rest.starts_with(['$', '"']));
    let is_about = before.ends_with(['~', '≈', '≤', '≥', '±', '$'])
        || before.ends_with('<') && !after.starts_with('>');
    if is_open_end || is_about || JOINED.iter().any(|joined| after.starts_with(joined)) {
        return true;
    }
    if after
        .strip_prefix(['.', ',', '\'', '_', '’'])
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        || has_thousands(after)
        || ends_formula(after)
    {
        return true;
    }
    let dashes: &[char] =
        if is_declared { &['–', '—', '~'] } else { &['-', '–', '—', '~'] };
    let is_range_start = |dash: char| {
        let rest = if dash == '-' { after } else { after.trim_start_matches(' ') };
        rest.strip_prefix(dash).is_some_and(|rest| begins_number(rest.trim_start_matches(' ')))
    };
    let is_range_end = |dash: char| {
        let rest = if dash == '-' { before } else { before.trim_end_matches(' ') };
        let first = rest.strip_suffix(dash).map(|rest| rest.trim_end_matches(' '));
        first.is_some_and(is_end_of_amount)
    };
    dashes.iter().any(|dash| is_range_start(*dash) || is_range_end(*dash))
        || has_unit(after)
        || !is_declared && (is_priced(before) || has_share(after))
}

/// Tells whether the words of the line that ends with `before` speak of an amount, as in `costs about $5`.
fn is_priced(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let Some(line) = line.strip_suffix(' ') else { return false };
    let is_about = |word: &&str| ABOUT.iter().any(|about| word.eq_ignore_ascii_case(about));
    let word = line.rsplit(' ').find(|word| !is_about(word));
    word.is_some_and(|word| PRICED.iter().any(|priced| word.eq_ignore_ascii_case(priced)))
}

/// Tells whether `after`, the text after a number, begins with a word for what the amount is.
fn has_share(after: &str) -> bool {
    after.strip_prefix(is_blank).is_some_and(|after| begins_with(after, &SHARES, true))
}

/// Tells whether `text` begins with one of `words`, in any letter case, and as a plural if that is taken.
fn begins_with(text: &str, words: &[&str], takes_plural: bool) -> bool {
    words.iter().any(|word| {
        let head = text.get(..word.len());
        let rest = text.get(word.len()..).unwrap_or_default();
        let rest = if takes_plural { rest.trim_start_matches('s') } else { rest };
        head.is_some_and(|head| head.eq_ignore_ascii_case(word))
            && !rest.starts_with(char::is_alphanumeric)
    })
}

/// Tells whether `unit`, after a `/`, goes on as a path does: `$0/images/` and `$0/page.html` are no rates.
fn is_path(unit: &str) -> bool {
    let word = unit.trim_start_matches(|c: char| c.is_alphanumeric());
    let more = word.strip_prefix('.').unwrap_or_default();
    word.starts_with(['/', '\\', '-', '_', '*']) || more.starts_with(char::is_alphanumeric)
}

/// Tells whether `text` ends with an amount: `$` and a number, perhaps with a scale such as `M`.
fn is_end_of_amount(text: &str) -> bool {
    let number = text.trim_end_matches(['k', 'K', 'm', 'M', 'b', 'B']);
    let start = number.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ',');
    start.len() < number.len() && start.ends_with('$')
}

/// Tells whether `after`, the text after a number, begins with a blank and the other digits of a number from 1,000.
fn has_thousands(after: &str) -> bool {
    let digits = after.strip_prefix(is_blank).unwrap_or_default();
    let n_digits = digits.bytes().take_while(u8::is_ascii_digit).count();
    n_digits == 3 && !digits[n_digits..].starts_with(char::is_alphabetic)
}

/// Tells whether the text `after` a number ends a formula that began before it, as in `$1 + x = 2$`.
fn ends_formula(after: &str) -> bool {
    let end = after.find(['$', '\n']).filter(|end| after[*end..].starts_with('$'));
    let Some(end) = end else { return false };
    let (formula, rest) = (&after[..end], &after[end + 1..]);
    formula.contains(|c: char| "+=^_\\".contains(c))
        && !formula.ends_with([' ', '"', '\'', '(', '/', '=', '+'])
        && !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '{')
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}' | '\u{202f}')
}

/// Tells whether `after`, the text after a number, begins with a scale or a unit of amounts.
fn has_unit(after: &str) -> bool {
    let spaced = after.strip_prefix(is_blank).unwrap_or_default();
    let is_rate = |word: &str| {
        let is_sign = !word.is_ascii() || word == "/";
        let text = if is_sign { after.trim_start_matches(is_blank) } else { spaced };
        let Some(rest) = text.strip_prefix(word) else { return false };
        let unit = rest.trim_start_matches(is_blank);
        // A number comes before the unit in `per 1K tokens`.
        let counted =
            unit.trim_start_matches(|c: char| c.is_ascii_digit() || c == ',' || is_blank(c));
        let is_counted = counted.len() < unit.len();
        let is_word = word != "/" || !is_path(unit);
        let takes_plural = word != "/" || is_counted;
        (is_sign || unit.len() < rest.len())
            && (is_word && begins_with(counted, &UNITS, takes_plural)
                || counted.starts_with(UNSPACED_UNITS))
    };
    begins_with(spaced, &SCALES, true) || RATES.iter().any(|word| is_rate(word))
}

/// Tells whether `line` is program text, although Markdown does not mark it as such: a replacement by a
/// regular expression, a statement of SQL, or a command after the prompt of a shell.
pub fn is_program(line: &str) -> bool {
    let has = |marks: &[&str]| marks.iter().any(|mark| line.contains(mark));
    let is_regex = line.contains('(')
        && has(&[".*", ".+", r"\w", r"\d", r"\s", r"\(", r"\b", "[^", "(?:", "(?<"]);
    let is_statement =
        has(&["VALUES (", "VALUES(", "values(", "values (", "INSERT INTO", "LIMIT $"])
            || has(&["SELECT ", "'select ", "\"select "])
                && has(&[" FROM ", " from ", "SELECT $", "select $"])
            || has(&["WHERE ", "where "])
                && has(&[" = $", " =$", " > $", " < $", "IN ($", "LIKE $"]);
    let is_command = line.trim_start().starts_with("$ ")
        || ["; do", "; then", "; done", "; fi"].iter().any(|end| line.trim_end().ends_with(end))
        || has(&["awk '", "awk \"", "awk -", "\"$@\""]);
    is_regex || is_statement || is_command || is_substitution(line)
}

/// Tells whether `line` has a substitution of sed or Perl, as in `s/a/b/`.
fn is_substitution(line: &str) -> bool {
    line.match_indices("s/").any(|(at, _)| {
        let is_start = !line[..at].ends_with(|c: char| c.is_alphanumeric() || "/.-_~".contains(c));
        is_start && line[at + 2..].matches('/').count() >= 2
    })
}
