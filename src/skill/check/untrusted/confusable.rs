//! Names that look like other names.

use std::path::Path;

use unicode_normalization::UnicodeNormalization as _;

use crate::diagnostic::Code;
use crate::skill::finding::Finding;
use crate::skill::load::Loaded;

/// ASCII letters, each with the lower-case letters of Cyrillic, Greek and Armenian, and some others, that
/// look like it. They are from Unicode's list of confusables (UTS #39), without those that NFKC folds.
const LOOK_ALIKE: &str = "aаαɑ bвь cсꞓ dԁ eеε gցɡ hнһհ iіιıɩ jј kкκ lӏ mм nηո oоοօ pрρ qԛ sѕ tтτ uυս \
                          vν wԝ xхχ yуүγʏ";

/// Returns the Latin letter that `c` looks like.
fn latin(c: char) -> Option<char> {
    let alike =
        LOOK_ALIKE.split(' ').find(|alike| alike.chars().skip(1).any(|other| other == c))?;
    alike.chars().next()
}

/// Reduces a name to a form that it shares with names that look like it: look-alike letters and digits
/// become the same letter, `rn` becomes `m`, `vv` becomes `w`, and separators are dropped.
pub fn skeleton(name: &str) -> String {
    let folded = name.nfkc().flat_map(char::to_lowercase);
    let letters = folded.filter_map(|c| match latin(c).unwrap_or(c) {
        '0' => Some('o'),
        '1' | '|' => Some('l'),
        '-' | '_' | ' ' | '\u{2010}'..='\u{2015}' => None,
        c => Some(c),
    });
    letters.collect::<String>().replace("rn", "m").replace("vv", "w")
}

/// Reports the name and the directory of a skill if they mix Latin letters with look-alikes from other
/// scripts, consist of such look-alikes only, or contain compatibility forms of Latin letters.
pub(super) fn names(loaded: &Loaded, directory: &Path) -> Vec<Finding> {
    let mut found = Vec::new();
    if let Some(name) = &loaded.manifest.name
        && let Some(why) = looks_latin(&name.value)
    {
        found.push(Finding::new(Code::ConfusableId, name.span.clone(), why, HELP));
    }
    let directory = directory.file_name().and_then(|name| name.to_str());
    if let Some(why) = directory.and_then(looks_latin) {
        found.push(Finding::whole(Code::ConfusableId, format!("of the directory: {why}"), HELP));
    }
    found
}

const HELP: &str =
    "write the name with letters of one script, which nobody takes for another skill's";

/// Returns the reason why a name can be mistaken for another one, or `None`.
pub(super) fn looks_latin(name: &str) -> Option<String> {
    let letters = || name.chars().filter(|c| c.is_alphabetic());
    let disguised: Vec<char> =
        letters().filter(|c| c.to_lowercase().any(|c| latin(c).is_some())).collect();
    let compatible = letters().find(|c| {
        let mut folded = c.nfkc();
        !c.is_ascii() && folded.next().is_some_and(|c| c.is_ascii_alphabetic())
    });
    if let Some(c) = compatible {
        return Some(format!(
            "`{}` in the name is a form of an ordinary letter",
            c.escape_unicode()
        ));
    }
    let has_latin = letters().any(|c| c.is_ascii_alphabetic());
    let is_all_disguised = !disguised.is_empty() && letters().count() == disguised.len();
    let first = disguised.first().filter(|_| has_latin || is_all_disguised)?;
    let meant: String = name.chars().map(|c| latin(c).unwrap_or(c)).collect();
    Some(format!(
        "the name looks like `{meant}` and is not: `{}` is of another script",
        first.escape_unicode()
    ))
}
