//! The plain rules of mentions: every name at every position of the text, and every pair of positions
//! compared.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::reference::{fold, is_edge};

/// The result for a skill from the mentions of its names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    /// The skill is not named, or its mention is overridden.
    No,
    Weak,
    Strong,
    /// The skill is only named in denied mentions.
    Denied,
}

#[derive(Clone, PartialEq)]
enum Kind {
    Path,
    Weak,
    Strong,
}

/// An occurrence of a skill's name.
#[derive(Clone)]
struct Place {
    skill: usize,
    start: usize,
    end: usize,
    is_token: bool,
    kind: Kind,
    is_denied: bool,
    is_about: bool,
}

/// Tells whether a question begins the clause that ends with `before`: "isn't the", "why isn't".
fn is_asked_about(before: &str, line: usize) -> bool {
    let mut words = clause(before);
    let on_line = clause(&format!(" {}", &before[line.min(before.len())..])).len();
    words.drain(..words.len().saturating_sub(on_line));
    let is_open = |word: &String| is_one_of("the my our your a to for need really skill", word);
    let n_open = words.iter().rev().take_while(|word| is_open(word)).count();
    words.truncate(words.len() - n_open);
    let is_question = |word: &String| is_one_of("isn't doesn't", word);
    n_open < 5
        && match &words[..] {
            [aux] => is_question(aux),
            [.., why, aux] => is_question(aux) && is_one_of("why", why),
            [] => false,
        }
}

/// Returns the result for each skill in the message, and the places of denied names in the folded message.
/// `names` holds the id and the name of each skill.
pub(super) fn named(names: &[[&str; 2]], query: &str) -> (Vec<Named>, Vec<Range<usize>>) {
    let message = fold(query);
    let query = with_ends_of_clauses(query);
    let text = fold(&query);
    let lines = query.match_indices('\n').map(|(at, _)| fold(&query[..=at]).len() - 1).collect();
    let text = Text { text, lines };
    let mut places: Vec<Place> = Vec::new();
    for (skill, [id, name]) in names.iter().enumerate() {
        places.extend(places_of(skill, id, true, &text));
        if id != name {
            places.extend(places_of(skill, name, false, &text));
        }
    }
    let is_inner = |of: &Place| {
        !of.is_token
            && places.iter().any(|by| {
                let is_longer = by.end - by.start > of.end - of.start;
                by.skill != of.skill && by.start <= of.start && of.end <= by.end && is_longer
            })
    };
    let is_counted = |of: &&Place| of.kind != Kind::Path && !is_inner(of);
    let mut counting: Vec<Place> = places.iter().filter(is_counted).cloned().collect();
    counting.sort_by_key(|of| (of.start, Reverse(of.end), of.skill));
    deny_listed(&mut counting, &text.text);
    ask_for_listed(&mut counting, &text.text);
    let is_strong = |of: &Place| of.kind == Kind::Strong && !of.is_denied;
    let is_any_strong = counting.iter().any(is_strong);
    let of_skill = |skill: usize| {
        let own = || counting.iter().filter(move |of| of.skill == skill);
        if own().any(is_strong) {
            Named::Strong
        } else if own().any(|of| !of.is_denied) && !is_any_strong {
            Named::Weak
        } else if own().any(|of| of.is_denied) {
            Named::Denied
        } else {
            Named::No
        }
    };
    // Ends of clauses were put into the text.
    let at = |place: usize| {
        let mut chars = message.chars().peekable();
        let kept = text.text[..place].chars().filter(|c| chars.next_if_eq(c).is_some());
        kept.map(char::len_utf8).sum()
    };
    let denied = counting.iter().filter(|of| of.is_denied).map(|of| at(of.start)..at(of.end));
    ((0..names.len()).map(of_skill).collect(), denied.collect())
}

/// A folded text, and the blanks in it that stand for line breaks.
struct Text {
    text: String,
    lines: Vec<usize>,
}

/// Makes the names of a list strong that stands before or after "skills".
fn ask_for_listed(places: &mut [Place], text: &str) {
    let is_joined = |a: &Place, b: &Place| {
        let between = text.get(a.end..b.start);
        between
            .is_some_and(|between| is_list(between) && matches(r"\b(?:and|or|nor)\b|[&,]", between))
    };
    for list in places.chunk_by_mut(is_joined).filter(|list| list.len() > 1) {
        let (start, end) = (list[0].start, list[list.len() - 1].end);
        let is_asked = matches(
            r#"^['"`*“”‘«»「」_]*-? ?['"`*“”‘«»「」_]*skills(?:[^\p{L}\p{M}\p{Nd}_]|$)"#,
            &text[end..],
        ) || matches(
            r#"(?:^|[^\p{L}\p{M}\p{Nd}_])skills['"`*“”‘«»「」_]* ?['"`*“”‘«»「」_/$@(\[{<]*[ :]*$"#,
            &text[..start],
        );
        let asked = list.iter_mut().filter(|place| is_asked && !place.is_about);
        asked.for_each(|place| place.kind = Kind::Strong);
    }
}

fn is_list(between: &str) -> bool {
    let joint = r#"^(?:[ '"`*“”‘«»「」/$@,&]|\b(?:and|or|nor|skills?|the|my|our|your)\b)+$"#;
    between.len() <= 64 && matches(joint, between)
}

/// Puts a full stop before a line that begins with a verb of use, unless the line above goes on in it.
fn with_ends_of_clauses(query: &str) -> String {
    let quotes = |c| "'\"`*“”‘«»「」_([{<".contains(c);
    let word = |token: Option<&str>| token.unwrap_or("").trim_matches(quotes).to_owned();
    let mut text = String::new();
    for line in query.split_inclusive('\n') {
        let (above, verb) =
            (word(text.split_whitespace().next_back()), word(line.split_whitespace().next()));
        let is_request = is_one_of(VERBS, &verb) && !verb.ends_with("ing");
        let is_wrapped =
            above == "to" || is_one_of("not never cannot", &above) || is_contraction(&above);
        if text.ends_with('\n') && is_request && !is_wrapped {
            text.insert(text.len() - 1, '.');
        }
        text.push_str(line);
    }
    text
}

/// Denies the names that "and", "or", "nor" or "&" joins to a denied one, and those between the two that
/// only commas separate.
fn deny_listed(places: &mut [Place], text: &str) {
    let is_joined = |between: &str| matches(r"\b(?:and|or|nor)\b|&", between);
    // The end of the list, the first place after its last denied name, and whether commas go on from there.
    let (mut end, mut first, mut is_long) = (None, 0, false);
    for at in 0..places.len() {
        let between = end.and_then(|end| text.get(end..places[at].start));
        let between = between.filter(|between| is_list(between));
        let (has_comma, has_word) =
            between.map_or((false, false), |between| (between.contains(','), is_joined(between)));
        if has_word && (is_long || !has_comma) {
            (first..=at).for_each(|place| places[place].is_denied = true);
        }
        if places[at].is_denied {
            (first, is_long) = (at + 1, false);
        } else if has_comma && !has_word {
            is_long = true;
        } else {
            continue;
        }
        end = end.max(Some(places[at].end));
    }
}

fn places_of(skill: usize, name: &str, is_id: bool, of: &Text) -> Vec<Place> {
    let text = &*of.text;
    let words: Vec<String> = name.split([' ', '-']).map(regex::escape).collect();
    let is_path = is_id && name.contains('/');
    let literal = if is_path { regex::escape(name) } else { words.join("[ -]") };
    let literal = Regex::new(&format!("^{literal}")).unwrap();
    let n_words = if is_path { 1 } else { words.len() };
    let starts = (0..text.len()).filter(|&start| text.is_char_boundary(start));
    let found = starts.filter_map(|start| {
        let end = start + literal.find(&text[start..])?.end();
        let (before, own, after) = (&text[..start], &text[start..end], &text[end..]);
        let stands_alone = is_edge(before.chars().next_back(), own.chars().next(), false)
            && is_edge(after.chars().next(), own.chars().next_back(), true);
        stands_alone.then(|| read(skill, is_id, n_words, [before, own, after], &of.lines))
    });
    found.collect()
}

fn matches(pattern: &'static str, text: &str) -> bool {
    Regex::new(pattern).unwrap().is_match(text)
}

fn read(
    skill: usize,
    is_id: bool,
    n_words: usize,
    [before, own, after]: [&str; 3],
    lines: &[usize],
) -> Place {
    let ends_token = !matches(r"^[/\\]|^[-.:@][\p{L}\p{M}\p{Nd}_]", after);
    let token = Regex::new(r"(?:^| )([/$@](?:[\p{L}\p{M}\p{Nd}_.-]+:)?)$").unwrap();
    let token = token.captures(before).filter(|_| is_id && ends_token && !own.contains(' '));
    let bare = before.trim_end_matches(|c| "'\"`*“”‘«»「」/$@".contains(c));
    let follows_skill = Regex::new(r"(skill)(?: |:|=|: |:=|::)$").unwrap();
    let follows_skill = follows_skill.captures(bare).filter(|found| {
        let before = &bare[..found.get(1).unwrap().start()];
        ends_token && is_edge(before.chars().next_back(), Some('s'), false)
    });
    let precedes_skill = Regex::new(r#"^['"`*“”‘«»「」]*[ -]skill"#).unwrap();
    let precedes_skill = precedes_skill.find(after).is_some_and(|found| {
        is_edge(after[found.end()..].chars().next(), Some('l'), true)
            && !matches(r"[\p{L}\p{M}\p{Nd}_]-$", before)
    });
    let is_object = n_words > 1 && ends_token && {
        let words = clause(before);
        let words = match &words[..] {
            [rest @ .., last] if is_one_of("the my our your", last) => rest,
            words => words,
        };
        words.last().is_some_and(|verb| {
            verb == "use" || (is_one_of("using run invoke call", verb) && !own.contains(' '))
        })
    };
    let is_token = token.is_some();
    let is_strong = is_token || follows_skill.is_some() || precedes_skill || is_object;
    let from = match (&token, &follows_skill) {
        (Some(token), _) => token.get(1).unwrap().start(),
        (None, Some(skill)) if !precedes_skill => skill.get(1).unwrap().start(),
        _ => before.len(),
    };
    let is_path = !is_token
        && (matches(r"^[/\\][\p{L}\p{M}\p{Nd}_]", after)
            || (before.ends_with(['/', '\\']) && !opens_token(before, after)));
    let (start, end) = (before.len(), before.len() + own.len());
    let is_denied = denied(&clause(&before[..from]));
    let line = lines.iter().filter(|line| **line < from).max().map_or(0, |line| line + 1);
    let is_command = is_token && line == from;
    let is_about = !is_denied && !is_command && is_asked_about(&before[..from], line);
    let is_strong = is_strong && !is_about;
    let kind = match (is_path, is_strong) {
        (true, _) => Kind::Path,
        (_, true) => Kind::Strong,
        _ => Kind::Weak,
    };
    Place { skill, start, end, is_token, kind, is_denied, is_about }
}

/// Tells whether the slash at the end of `before` begins a token that ends in `after`.
fn opens_token(before: &str, after: &str) -> bool {
    let before = &before[..before.len() - 1];
    let is_emphasis = matches(r"(?:^|[^*])\*\*$", before) && matches(r"^\*\*(?:$|[^*])", after);
    let before = if is_emphasis { &before[..before.len() - 2] } else { before };
    matches(r#"(?:^| )['"`“‘«「『（(\[{<]*$"#, before)
        && !matches(r#"^[*'"`”’»」』）)\]}>]*[/\\]"#, after)
}

fn is_one_of(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|of| of == word)
}

/// Returns the words of the clause that ends with `before`.
fn clause(before: &str) -> Vec<String> {
    static OPENING: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"['"`*“”‘«»「」/$@(\[{<]*$"#).unwrap());
    let before = &before[..OPENING.find(before).unwrap().start()];
    let Some(before) = before.strip_suffix(' ') else { return Vec::new() };
    let quotes = |c| "'\"`*“”‘«»「」_".contains(c);
    let mut words = Vec::new();
    for token in before.rsplit(' ') {
        let token = token.trim_end_matches(quotes);
        let word = token.trim_start_matches(|c| quotes(c) || "([{<".contains(c));
        if matches(r"[-,;:.!?)\]}>–—。、]$", token) || word.is_empty() {
            break;
        }
        words.insert(0, word.to_owned());
        if token.starts_with(['(', '[', '{', '<']) {
            break;
        }
    }
    words
}

const VERBS: &str = "activate activating apply applying call calling execute executing fire invoke \
                     invoking load loading run running start starting trigger use using";

const BETWEEN: &str = "a about actually again an any ask asked asking automatically be bother by concerned do \
                       either even ever for from going have help longer looking more need needing of really related \
                       relating relevant requiring skill skills both talking that this to try trying used want wish \
                       with yet the my our your \0";

fn is_contraction(word: &str) -> bool {
    let unmarked = "arent cant couldnt didnt doesnt dont hasnt havent isnt shouldnt wasnt wont";
    is_one_of(unmarked, word) || matches("(?:n['`‘′]|^\u{301})t$", word)
}

/// Tells whether one of the last five words negates, without "why" or "if" before it.
fn is_negated(words: &[&str]) -> bool {
    let at = words.iter().rposition(|word| {
        is_one_of("not never cannot no none nothing", word) || is_contraction(word)
    });
    at.is_some_and(|at| {
        at + 5 >= words.len() && !at.checked_sub(1).is_some_and(|at| is_one_of("why if", words[at]))
    })
}

/// Tells whether a clause denies the words after it.
fn denied(words: &[String]) -> bool {
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    if let [.., token, "and" | "or" | "nor" | "&"] = words[..]
        && token.starts_with(['/', '$', '@'])
    {
        words.truncate(words.len() - 2);
        words.push("\0");
    }
    for n_between in 0..=5.min(words.len().saturating_sub(1)) {
        if words.is_empty() {
            return false;
        }
        let (head, between) = words.split_at(words.len() - n_between);
        let is_between = |at: usize| {
            let word = between[at];
            is_one_of(BETWEEN, word)
                || is_one_of(VERBS, word)
                || word == "you" && between.get(at + 1) == Some(&"to")
        };
        if !(0..between.len()).all(is_between) {
            return false;
        }
        let is_no = |word: &str| is_one_of("not never cannot", word) || is_contraction(word);
        let past = "activated applied called did done executed invoked loaded ran triggered used";
        let refusal = "avoid avoiding disable exit ignore ignoring quit refrain skip skipping stop \
                       stopped stopping";
        match head {
            [.., "why" | "if", last] if is_no(last) => return false,
            [last] if is_contraction(last) && !last.starts_with("don") => {
                return between.first().is_some_and(|word| !is_one_of("the my our your", word));
            }
            [.., "no"] => return !between.first().is_some_and(|word| is_one_of(VERBS, word)),
            [.., "instead", "of"] | [.., "rather", "than"] | [.., "already", "run"] => {
                return true;
            }
            [rest @ .., "other", "than"] => return !is_negated(&[rest, &["other"]].concat()),
            [rest @ .., "without" | "except" | "excluding"] => return !is_negated(rest),
            [.., "done"] if between.first() == Some(&"with") => return true,
            [.., "just" | "already", last] if is_one_of(past, last) => return true,
            [rest @ .., last] if is_one_of(refusal, last) => {
                let is_denied = rest.last().is_some_and(|word| is_no(word));
                return between.first() != Some(&"to") && !is_denied;
            }
            [.., last] if is_no(last) => return true,
            [.., last] if is_one_of("completed finished neither nor nothing unrelated", last) => {
                return true;
            }
            _ => {}
        }
    }
    false
}
