//! The places where a description denies a use, in many languages.
//!
//! Denials are made of parts, which `exclusions.txt` lists: a negation (`not`), words that may follow it
//! (`between`) and a word that makes it a denial (`then`); complete phrases (`alone`), among them nouns
//! that may also be what a skill does (`noun`: "Excludes vendored files from coverage"); a word that
//! begins a clause whose denial comes later (`lead`: "Für Löhne nicht verwenden"); and phrases after what
//! they deny (`after`: "給与計算には使わない"). They begin a clause: after a mark, or after a word that links
//! clauses (`link`). A denial holds up to the end of its sentence or its parentheses.

use std::sync::LazyLock;

use super::unspaced::is_paired;

/// The maximum number of words between a negation and the word that makes it a denial.
const MAX_BETWEEN: usize = 4;

/// The phrases of one language or, as English has several, of one kind of its denials.
#[derive(Debug, Default)]
struct Parts {
    not: Vec<String>,
    between: Vec<String>,
    then: Vec<String>,
}

/// All phrases.
#[derive(Debug, Default)]
struct Exclusions {
    kinds: Vec<Parts>,
    alone: Vec<String>,
    noun: Vec<String>,
    link: Vec<String>,
    /// Each with the place of its kind.
    lead: Vec<(String, usize)>,
    after: Vec<String>,
}

static EXCLUSIONS: LazyLock<Exclusions> =
    LazyLock::new(|| Exclusions::read(include_str!("exclusions.txt")));

impl Exclusions {
    fn read(text: &str) -> Exclusions {
        let mut all = Exclusions::default();
        let mut last_role = "";
        for line in text.lines() {
            let (role, entries) = line.split_once(' ').unwrap_or((line, ""));
            let entries = entries.split(' ').map(|entry| entry.replace('+', " "));
            if role == "not" && last_role != "not" {
                all.kinds.push(Parts::default());
            }
            let n_kinds = all.kinds.len();
            match (role, all.kinds.last_mut()) {
                ("not", Some(kind)) => kind.not.extend(entries),
                ("between", Some(kind)) => kind.between.extend(entries),
                ("then", Some(kind)) => kind.then.extend(entries),
                ("alone", _) => all.alone.extend(entries),
                ("noun", _) => all.noun.extend(entries),
                ("link", _) => all.link.extend(entries),
                ("lead", _) => all.lead.extend(entries.map(|entry| (entry, n_kinds - 1))),
                ("after", _) => all.after.extend(entries),
                _ => {}
            }
            last_role = role;
        }
        all
    }
}

/// A denial in a sentence, in bytes of the sentence: `start..inside` are its first words, up to which it is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Exclusion {
    /// The start of its first words.
    pub start: usize,
    /// The end of its first words.
    pub inside: usize,
    /// The end, if the denial ends before its sentence.
    pub end: Option<usize>,
}

/// Returns the first denial in a sentence of one line. `is_first` tells whether the sentence is the first
/// of the description, which says what the skill does.
pub fn exclusion(sentence: &str, is_first: bool) -> Option<Exclusion> {
    let all = &*EXCLUSIONS;
    let from_start = sentence.char_indices().find_map(|(at, c)| {
        let rest = &sentence[at..];
        if !c.is_alphabetic() || !begins_clause(&sentence[..at], c) {
            return None;
        }
        let is_not = c.eq_ignore_ascii_case(&'n')
            && sentence[..at].ends_with('(')
            && phrase(rest, "not").is_some();
        let noun = || any_phrase(rest, &all.noun).filter(|_| !(is_first && at == 0));
        let len = first_words(rest).or_else(noun).or(is_not.then_some("not".len()))?;
        if NO_DENIAL_BEFORE.iter().any(|words| phrase(&rest[len..], words).is_some()) {
            return None;
        }
        // In Chinese, a comma ends the denial.
        let end = rest[len..].find(['，', ',', '；', ';']).filter(|_| is_paired(c));
        Some(Exclusion { start: at, inside: at + len, end: end.map(|end| at + len + end) })
    });
    from_start.or_else(|| exclusion_after(sentence))
}

/// Words after which a denial does not deny a use: "even if they don't use the word", "(not only X)".
const NO_DENIAL_BEFORE: [&str; 7] =
    [" the word", " the term", " the phrase", " only", " just", " necessarily", " even"];

/// Returns the length of the words at the start of `text` that begin a denial.
fn first_words(text: &str) -> Option<usize> {
    let all = &*EXCLUSIONS;
    let negated = all.kinds.iter().find_map(|kind| negated(text, kind));
    negated.or_else(|| any_phrase(text, &all.alone)).or_else(|| {
        let (lead, kind) = all.lead.iter().find(|(lead, _)| phrase(text, lead).is_some())?;
        let clause = &text[..text.find([';', ':', '(']).unwrap_or(text.len())];
        let mut places = clause[lead.len()..].char_indices().map(|(at, _)| lead.len() + at);
        places.find_map(|at| {
            let begins_word = clause[..at].ends_with(' ');
            let len = begins_word.then(|| negated_use(&clause[at..], &all.kinds[*kind]))??;
            Some(at + len)
        })
    })
}

/// Returns the length of a negation with the word that makes it a denial.
fn negated(text: &str, kind: &Parts) -> Option<usize> {
    kind.not.iter().filter_map(|not| phrase(text, not)).find_map(|len| {
        let mut at = len;
        for _ in 0..=MAX_BETWEEN {
            at += blank(&text[at..]);
            if let Some(then) = any_phrase(&text[at..], &kind.then) {
                return Some(at + then);
            }
            at += any_phrase(&text[at..], &kind.between)?;
        }
        None
    })
}

/// Returns the length of a negation with a verb at the end of a clause: "nicht verwenden".
fn negated_use(text: &str, kind: &Parts) -> Option<usize> {
    negated(text, kind).filter(|len| {
        let rest = text[*len..].trim_start();
        rest.is_empty() || rest.starts_with(|c: char| !c.is_alphanumeric())
    })
}

/// Returns the denial that ends with a phrase after what it denies. It begins with its clause, and
/// with the names before a mark for lists (`、`).
fn exclusion_after(sentence: &str) -> Option<Exclusion> {
    let all = &*EXCLUSIONS;
    let (at, inside) = sentence.char_indices().find_map(|(at, _)| {
        let len = any_phrase(&sentence[at..], &all.after)?;
        let begins = sentence[..at].ends_with(' ') || sentence[at..].starts_with(is_joined_after);
        begins.then_some((at, at + len))
    })?;
    let is_end = |c: char| matches!(c, '(' | ';' | ':' | ',' | '，' | '（' | '。');
    let mut start = sentence[..at]
        .rfind(is_end)
        .map_or(0, |mark| mark + sentence[mark..].chars().next().map_or(0, char::len_utf8));
    // A part that ends in Hiragana ends with a verb, so it is a clause of its own.
    let parts = sentence[start..at].rmatch_indices('、');
    let ends_clause = |mark: usize| sentence[..mark].ends_with(|c| matches!(c, 'ぁ'..='ゖ'));
    let clause = parts.map(|(mark, _)| start + mark).find(|mark| ends_clause(*mark));
    start = clause.map_or(start, |mark| mark + '、'.len_utf8());
    start += blank(&sentence[start..]);
    Some(Exclusion { start, inside, end: Some(inside) })
}

/// Tells whether a phrase that begins with `c` follows a word without a blank.
fn is_joined_after(c: char) -> bool {
    is_paired(c)
}

/// Tells whether a word with the initial `first` begins a clause after the text `before`.
fn begins_clause(before: &str, first: char) -> bool {
    let all = &*EXCLUSIONS;
    let links = || all.link.iter();
    if is_paired(first) {
        let is_open = !before.ends_with(char::is_alphanumeric);
        return is_open
            || links().any(|link| link.starts_with(is_paired) && before.ends_with(&**link));
    }
    if before.ends_with(char::is_alphanumeric) {
        return false;
    }
    let mut words = before.trim_end().rsplit(|c: char| !c.is_alphanumeric());
    let word = words.next().unwrap_or_default();
    if word.is_empty() || first.is_uppercase() {
        return true;
    }
    let is_of =
        |word: &str, list: &[&str]| list.iter().any(|known| word.eq_ignore_ascii_case(known));
    let mut is_about_before =
        || is_of(word, &["is", "are"]) && words.next().is_some_and(|word| is_of(word, &RELATIVES));
    links().any(|link| phrase(word, link).is_some_and(|len| len == word.len()))
        && !is_about_before()
}

/// Words whose clause says something about the word before them.
const RELATIVES: [&str; 3] = ["that", "which", "who"];

fn any_phrase(text: &str, phrases: &[String]) -> Option<usize> {
    phrases.iter().filter_map(|of| phrase(text, of)).max()
}

/// Returns the length of `words`, which are in lower case, at the start of `text`, in any case, if the last
/// of them ends there.
fn phrase(text: &str, words: &str) -> Option<usize> {
    let mut rest = text.chars();
    for word in words.chars() {
        let c = rest.next()?;
        let is_same = c == word
            || c == '’' && word == '\''
            || c.is_uppercase() && c.to_lowercase().eq(std::iter::once(word));
        if !is_same {
            return None;
        }
    }
    let ends = words.ends_with(is_paired) || !rest.as_str().starts_with(char::is_alphanumeric);
    ends.then(|| text.len() - rest.as_str().len())
}

/// Returns the length of the blank or apostrophe between two words at the start of `text`.
fn blank(text: &str) -> usize {
    let mark = text.chars().next().filter(|c| matches!(c, ' ' | '\'' | '’'));
    mark.map_or(0, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the sentence with `[` where its first denial begins and, if that is known, `]` where it ends.
    fn marked(sentence: &str) -> String {
        let Some(Exclusion { start, end, .. }) = exclusion(sentence, true) else {
            return sentence.to_owned();
        };
        let (before, rest) = sentence.split_at(start);
        match end {
            Some(end) => format!("{before}[{}]{}", &rest[..end - start], &sentence[end..]),
            None => format!("{before}[{rest}"),
        }
    }

    #[test]
    fn denials_are_found_in_many_languages() {
        for text in [
            "This skill [should not be invoked for plain commits",
            "It [must not be triggered for tests",
            "It [should never be activated for tests",
            "It [can't be applied to tests",
            "Reviews code, [excluding tests",
            "Reviews code; [excludes tests",
            "[Do not run for tests",
            "[Don’t use for tests",
            "[Out of scope: tests",
            "It [isn't intended for tests",
            "It [doesn't support tests",
            "[Not designed for tests",
            "[Not to be used for tests",
            "Prüft Code, [nicht für Tests",
            "[Nicht verwenden für Tests",
            "Der Skill ist [nicht geeignet für Tests",
            "Er soll [nicht für Tests verwendet werden",
            "[Für Tests nicht verwenden.",
            "[Ungeeignet für Tests",
            "[Ne pas utiliser pour les tests",
            "[N'utilisez pas pour les tests",
            "Relit le code, [pas pour les tests",
            "[Ne convient pas aux tests",
            "[Hors périmètre : les tests",
            "[No usar para pruebas",
            "[No se debe usar para pruebas",
            "Revisa código, [no para pruebas",
            "[No incluye pruebas",
            "[Fuera de alcance: pruebas",
            "[Não usar para testes",
            "[Não deve ser usado para testes",
            "Revisa código, [não para testes",
            "[Non usare per i test",
            "[Non deve essere usata per i test",
            "[Non è adatto ai test",
            "[Niet gebruiken voor tests",
            "Controleert code, [niet voor tests",
            "[Voor tests niet gebruiken.",
            "[Nie używać do testów",
            "[Nie służy do testów",
            "[Не использовать для тестов",
            "Навык [не предназначен для тестов",
            "[Не для тестов",
            "Kod inceler, [testler için kullanmayın]",
            "审查代码，[不适用于测试]，快",
            "[请勿用于测试。",
            "本技能[不应使用",
            "审查代码；[不要用于测试",
            "コードを確認し、[テストには使わないで]ください",
            "[テスト、監査には使用しない]。",
            "[テストは対象外です]",
            "코드를 검토, [테스트에는 사용하지 마세요].",
            "[테스트 제외]",
        ] {
            assert_eq!(marked(&text.replace(['[', ']'], "")), text);
        }
    }

    #[test]
    fn near_misses_deny_nothing() {
        for text in [
            "Excludes vendored files from coverage",
            "Do not use the word test",
            "Not only for tests",
            "Fixes code that must not be used",
            "Finds keys that should not be invoked for tests",
            "Makes sure you never run for tests",
            "Never run migrations twice",
            "It does not only handle tests",
            "Prüft Code nicht nur für Tests",
            "Nicht nur für Tests",
            "Findet Fehler, die nicht auffallen",
            "Pas seulement pour les tests",
            "N'oublie rien",
            "No solo para pruebas",
            "Sirve para no repetir código",
            "Não só para testes",
            "Non solo per i test",
            "Niet alleen voor tests",
            "Nie tylko do testów",
            "Не только для тестов",
            "不仅用于测试",
            "不只适用于测试",
            "确保不使用旧接口",
            "修复不支持中文的代码",
            "テストだけでなく監査にも使う",
            "테스트뿐만 아니라 감사에도 사용",
        ] {
            assert_eq!(marked(text), text);
        }
    }
}
