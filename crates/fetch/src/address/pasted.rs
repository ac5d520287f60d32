//! The address in a text that was copied with more than the address: with quotes, as a Markdown link, with
//! the end of a sentence, or with a whole command.

use super::pages::names;
use super::shell_line::{code_span, commands, is_installer, plugin_of_repository};
use super::viewers::is_gist;

/// Marks that stand on both sides of an address.
const PAIRS: [(&str, &str); 11] = [
    ("<", ">"),
    ("\"", "\""),
    ("'", "'"),
    ("`", "`"),
    ("“", "”"),
    ("„", "“"),
    ("‘", "’"),
    ("«", "»"),
    ("(", ")"),
    ("[", "]"),
    ("**", "**"),
];

/// Marks that end a clause, and are no end of an address.
const CLAUSE_ENDS: [char; 9] = [',', ';', '!', '?', ':', '。', '，', '、', '…'];

/// Programs after whose address a directory follows, not a skill.
const COPIERS: [&str; 8] = ["curl", "degit", "docker", "giget", "git", "oras", "podman", "wget"];

/// An address that stood in a longer text, with what the text chose of its source.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pasted {
    pub(super) address: String,
    pub(super) rev: Option<String>,
    pub(super) skills: Vec<String>,
}

/// Removes the marks round an address.
pub(crate) fn bare(text: &str) -> &str {
    let mut text = text;
    loop {
        let before = text;
        text =
            text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{200b}' | '\u{feff}'));
        text = link(text).unwrap_or(text);
        for (open, close) in PAIRS {
            let inside = text.strip_prefix(open).and_then(|text| text.strip_suffix(close));
            text = inside.unwrap_or(text);
        }
        text = without_end(text);
        if text == before {
            return text;
        }
    }
}

/// The target of a Markdown link.
fn link(text: &str) -> Option<&str> {
    let text = text.strip_prefix('!').unwrap_or(text);
    let (_, target) = text.strip_prefix('[')?.strip_suffix(')')?.split_once("](")?;
    target.split_whitespace().next()
}

/// The text without a mark that ends a sentence or closes what was not opened in it.
fn without_end(text: &str) -> &str {
    let Some(last) = text.chars().next_back() else { return text };
    let rest = &text[..text.len() - last.len_utf8()];
    // `.`, `..` and `dir/.` are paths.
    let is_sentence = last == '.' && !rest.is_empty() && !rest.ends_with(['.', '/', '\\']);
    let is_drive = last == ':' && rest.len() < 2;
    let is_unopened = PAIRS.iter().any(|(open, close)| {
        close.chars().eq([last]) && text.matches(open).count() < 1 + usize::from(open == close)
    });
    let ends = is_sentence || is_unopened || CLAUSE_ENDS.contains(&last) && !is_drive;
    if ends { rest } else { text }
}

/// The address in commands or a sentence, if there is exactly one. `is_address` tells of a word whether it
/// is an address that [`Address::read`](super::Address::read) takes apart.
pub(super) fn in_command(text: &str, is_address: &dyn Fn(&str) -> bool) -> Option<Pasted> {
    let code = code_span(text).unwrap_or_else(|| bare(text));
    let commands = commands(code);
    if let [words] = &commands[..] {
        return of_words(words, text, is_address);
    }
    let found = commands.iter().filter_map(|words| of_words(words, code, is_address));
    let mut found: Vec<Pasted> = found.collect();
    let first = found.pop()?;
    found.iter().all(|other| *other == first).then_some(first)
}

/// The address in the words of one command or sentence, which is all or a part of `text`.
fn of_words(words: &[&str], text: &str, is_address: &dyn Fn(&str) -> bool) -> Option<Pasted> {
    if let Some((plugin, address)) = plugin_of_repository(words) {
        return Some(Pasted { address, rev: None, skills: vec![plugin] });
    }
    if let ["gh", "gist", "clone" | "view", id, ..] = *words {
        let address = if is_gist(id) { format!("gist:{id}") } else { id.to_owned() };
        return Some(Pasted { address, rev: None, skills: Vec::new() });
    }
    if let [address] = *words {
        let is_item = text.trim() != address && is_address(address);
        let address = address.to_owned();
        return is_item.then_some(Pasted { address, rev: None, skills: Vec::new() });
    }
    let [first, second, ..] = *words else { return None };
    // What follows an address may belong to it: a prefix of an object store, or a path.
    if is_long(first, is_address) || first.starts_with("file:") {
        return None;
    }
    // What stands behind a short address is read as behind a command.
    let is_bare = second.starts_with("--") && is_address(first);
    let is_command = is_installer(words) || is_bare;
    let copies = |word: &&str| COPIERS.contains(word);
    let names_skills = is_command && !words.iter().any(copies) && second != "repo";
    let (mut addresses, mut short, mut paths) = (Vec::new(), Vec::new(), Vec::new());
    let (mut rev, mut skills) = (None, Vec::new());
    let mut option = "";
    for word in words.iter().skip(usize::from(is_command && !is_bare)) {
        let (option_of_word, value) = match word.split_once('=') {
            Some(both) if word.starts_with('-') => both,
            None if word.starts_with('-') => {
                option = word;
                continue;
            }
            _ => (option, *word),
        };
        let value = bare(value);
        let is_inline = word.starts_with('-');
        let is_after = !addresses.is_empty() || !short.is_empty();
        match option_of_word {
            _ if is_long(value, is_address) => addresses.push(value),
            _ if is_command
                && !is_inline
                && is_address(value)
                && !takes_address(option_of_word) =>
            {
                short.push(value);
            }
            "--skill" | "--skills" | "-s" => {
                // More names may follow.
                skills.extend(names(value));
                continue;
            }
            "--agent" | "-a" => continue,
            _ if is_other(option_of_word) => {}
            "--path" | "--subdir" => skills.push(value.to_owned()),
            "--rev" | "--ref" | "--branch" | "--tag" | "-b" => rev = Some(value.to_owned()),
            _ if is_command && paths.is_empty() && is_path(value) => paths.push(value),
            _ if names_skills && is_after => skills.push(value.to_owned()),
            _ => {}
        }
        option = "";
    }
    // The directory that follows the address of `git clone` may look like `owner/repo`.
    let found = [addresses, short, paths].into_iter().find(|found| !found.is_empty())?;
    let [address] = found[..] else { return None };
    // Without a host, an image is one of Docker Hub.
    let is_image = matches!(first, "docker" | "podman") && !is_long(address, is_address);
    let registry = if is_image { "docker.io/" } else { "" };
    Some(Pasted { address: format!("{registry}{address}"), rev, skills })
}

/// Tells whether a word can only be a path, such as that of a marketplace on this machine.
fn is_path(word: &str) -> bool {
    ["./", "../", "~/", "/"].iter().any(|start| word.starts_with(start))
}

/// Tells whether the value of an option may look like `owner/repo`.
fn takes_address(option: &str) -> bool {
    matches!(option, "--path" | "--subdir" | "--rev" | "--ref" | "--branch" | "--tag" | "-b")
}

/// Tells whether the value of an option is neither an address nor a skill.
fn is_other(option: &str) -> bool {
    let options =
        ["--scope", "--dir", "--output", "-o", "--target", "--client", "--registry", "--format"];
    options.contains(&option)
}

/// Tells whether a word can hardly be anything but an address.
fn is_long(word: &str, is_address: &dyn Fn(&str) -> bool) -> bool {
    let host = word.split('/').next().unwrap_or_default();
    word.contains("://")
        || host.split_once(':').is_some_and(|(user, path)| user.contains('@') && !path.is_empty())
        || host.contains('.') && is_address(word)
}
