//! The requests in a message, one by one: "fix the tests, then deploy". Each is routed on its own.

/// The maximum number of requests that are told apart.
const MAX_REQUESTS: usize = 8;

/// Returns the requests of a text if it has several: sentences, items of a list, and what follows "then" or
/// "also". Parts of fewer than [`MIN_WORDS`] words belong to the part before them.
pub(crate) fn requests(text: &str) -> Vec<&str> {
    let mut starts = vec![0];
    starts.extend(breaks(text));
    starts.push(text.len());
    let parts = starts.windows(2).map(|pair| text[pair[0]..pair[1]].trim());
    let parts: Vec<&str> = parts.filter(|part| has_words(part)).take(MAX_REQUESTS + 1).collect();
    if (2..=MAX_REQUESTS).contains(&parts.len()) { parts } else { Vec::new() }
}

/// The minimum number of words of a request; characters of scripts without blanks count as half a word.
const MIN_WORDS: usize = 3;

fn has_words(part: &str) -> bool {
    super::code::Tally::of(part).words >= MIN_WORDS
}

/// Words that begin a further request, as they stand at the start of a clause.
#[rustfmt::skip]
const FURTHER: [&str; 38] = [
    "then", "also", "additionally", "afterwards", "after that", "next,", "and then", "and also", "plus,",
    "dann", "danach", "außerdem", "anschließend", "zusätzlich",
    "ensuite", "puis", "aussi", "également", "luego", "después", "también", "además",
    "depois", "também", "além disso", "poi", "inoltre", "anche", "daarna", "vervolgens", "ook",
    "potem", "następnie", "także", "затем", "потом", "также", "sonra",
];

/// The same in scripts without blanks.
const FURTHER_UNSPACED: [&str; 10] =
    ["然后", "另外", "還有", "还有", "接着", "並且", "そして", "その後", "それから", "また、"];

/// Returns the bytes at which a sentence, an item or a further request begins, but for the first.
fn breaks(text: &str) -> impl Iterator<Item = usize> {
    let mut last = None;
    text.char_indices().filter_map(move |(at, c)| {
        let before = last.replace(c);
        let rest = &text[at..];
        let is_start = match before {
            Some('\n') => !c.is_whitespace(),
            Some('.' | '?' | '!') if c.is_whitespace() => !ends_abbreviation(&text[..at]),
            Some('。' | '？' | '！' | '；') => true,
            Some(' ') => begins_further(&text[..at], rest),
            _ => FURTHER_UNSPACED.iter().any(|word| rest.starts_with(word)),
        };
        (is_start && at > 0).then_some(at)
    })
}

/// Tells whether a text ends with an abbreviation or a number rather than with a sentence: "e.g.", "z.B.",
/// "1.", "Dr.".
fn ends_abbreviation(text: &str) -> bool {
    let Some(text) = text.strip_suffix('.') else { return false };
    let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    word.contains('.') && word.len() <= 5
        || word.chars().all(|c| c.is_ascii_digit())
        || word.chars().count() <= 2 && word.starts_with(char::is_alphabetic)
}

/// Tells whether `rest` begins with a word for a further request that is written as the start of a clause:
/// behind punctuation or "and", or with a capital.
fn begins_further(before: &str, rest: &str) -> bool {
    let is_capital = rest.starts_with(char::is_uppercase);
    let before = before.trim_end();
    let follows = before.ends_with([',', ';', '.', '!', '?', ')', '"'])
        || ["and", "und", "et", "y", "e", "i", "и"]
            .iter()
            .any(|and| before.strip_suffix(and).is_some_and(|before| before.ends_with([' ', ','])));
    (is_capital || follows) && FURTHER.iter().any(|word| starts_with_word(rest, word))
}

/// Tells whether `text` starts with `word`, in any case of ASCII letters, and the word ends there.
fn starts_with_word(text: &str, word: &str) -> bool {
    let Some(start) = text.get(..word.len()) else { return false };
    let ends = text[word.len()..].chars().next().is_none_or(|c| !c.is_alphanumeric());
    ends && start.eq_ignore_ascii_case(word)
}
