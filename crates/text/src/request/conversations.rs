//! Conversations in a message: chats, subtitles, and the bodies of mails.

use super::kind::{Kind, Line};
use super::quotes;

/// Takes for quoted what others said in conversations that are pasted.
pub(super) fn join(message: &str, lines: &mut [Line]) {
    join_chat(message, lines);
    join_cues(message, lines);
    join_roles(message, lines);
    join_dialogue(message, lines);
    join_mails(message, lines);
}

fn is_own(line: &Line) -> bool {
    line.kind == Kind::Text
}

/// Takes for quoted the messages of a chat, if there are two or more, each below a line with a name and a
/// time. A message goes on up to a blank line if another one follows.
fn join_chat(message: &str, lines: &mut [Line]) {
    let text = |line: &Line| &message[line.range()];
    let is_head = |at: usize| {
        let line = &lines[at];
        let may_be = matches!(line.kind, Kind::Text | Kind::Output);
        let is_below_name = || {
            at > 0
                && is_own(&lines[at - 1])
                && quotes::is_chat_name(text(&lines[at - 1]))
                && quotes::is_chat_time(text(line))
        };
        may_be && (quotes::is_chat_head(text(line)) || is_below_name())
    };
    let heads: Vec<usize> = (0..lines.len()).filter(|at| is_head(*at)).collect();
    // "call Ana at 10:30" and "meet Ben at 11:00", one below the other, are a person's.
    let has_said = |head: &usize| {
        let said = lines.get(head + 1).filter(|line| is_own(line));
        said.is_some() && !heads.contains(&(head + 1))
    };
    if heads.iter().filter(|head| has_said(head)).nth(1).is_none() {
        return;
    }
    for (nth, &head) in heads.iter().enumerate() {
        if quotes::is_chat_time(text(&lines[head])) {
            lines[head - 1].kind = Kind::Quoted;
        }
        lines[head].kind = Kind::Quoted;
        let next = heads.get(nth + 1).copied();
        let end = next.unwrap_or(head + 2).min(lines.len());
        let said = lines[head + 1..end].iter_mut().take_while(|line| is_own(line));
        said.for_each(|line| line.kind = Kind::Quoted);
    }
}

/// Takes for quoted the words of subtitles, with the line of times above them and its number.
fn join_cues(message: &str, lines: &mut [Line]) {
    for at in 0..lines.len() {
        if !quotes::is_cue(&message[lines[at].range()]) {
            continue;
        }
        let is_number = |line: &Line| {
            let text = message[line.range()].trim();
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
        };
        let start = if at > 0 && is_number(&lines[at - 1]) { at - 1 } else { at };
        let end = (at + 2).min(lines.len());
        let cue = lines[start..end].iter_mut().filter(|line| line.kind != Kind::Blank);
        cue.for_each(|line| line.kind = Kind::Quoted);
    }
}

/// Takes for quoted the lines of two speakers who are called "User", "Assistant" or the like.
fn join_roles(message: &str, lines: &mut [Line]) {
    let text = |line: &Line| &message[line.range()];
    let mut roles =
        lines.iter().filter(|line| is_own(line)).filter_map(|line| quotes::role(text(line)));
    let first = roles.next();
    if roles.any(|role| Some(role) != first) {
        let said =
            lines.iter_mut().filter(|line| is_own(line) && quotes::role(text(line)).is_some());
        said.for_each(|line| line.kind = Kind::Quoted);
    }
}

/// Takes for quoted the lines of a dialogue, one below the other or parted by blank lines: two or more who speak,
/// and one of them again after another. `Bug: login` and `Goal: a page` are a person's list.
fn join_dialogue(message: &str, lines: &mut [Line]) {
    let speaker = |line: &Line| quotes::speaker(&message[line.range()]).filter(|_| is_own(line));
    let said: Vec<Option<&str>> = lines.iter().map(speaker).collect();
    let is_turn = |at: usize| said[at].is_some() || lines[at].kind == Kind::Blank;
    let places: Vec<usize> = (0..lines.len()).collect();
    let runs = places.chunk_by(|above, below| is_turn(*above) && is_turn(*below));
    let is_dialogue = |run: &&[usize]| {
        let mut speakers: Vec<&str> = run.iter().filter_map(|at| said[*at]).collect();
        speakers.dedup();
        let n_turns = speakers.len();
        speakers.sort_unstable();
        speakers.dedup();
        n_turns > speakers.len()
    };
    let turns: Vec<usize> = runs.filter(is_dialogue).flatten().copied().collect();
    for at in turns.into_iter().filter(|at| said[*at].is_some()) {
        lines[at].kind = Kind::Quoted;
    }
}

/// Takes for quoted the bodies of mails that were sent: all below the head if the request is above it, and all
/// but the last paragraph if it is not.
fn join_mails(message: &str, lines: &mut [Line]) {
    let mut heads: Vec<(usize, usize)> = Vec::new();
    for at in 0..lines.len() {
        let is_field = lines[at].kind == Kind::Quoted
            && quotes::mail_field(&message[lines[at].range()]).is_some();
        match heads.last_mut() {
            Some((_, end)) if is_field && *end == at => *end = at + 1,
            _ if is_field => heads.push((at, at + 1)),
            _ => {}
        }
    }
    let is_sent = |&(start, end): &(usize, usize)| {
        end - start > 1
            && quotes::is_head_of_sent(lines[start..end].iter().map(|line| &message[line.range()]))
    };
    heads.retain(is_sent);
    for (nth, &(start, end)) in heads.iter().enumerate() {
        let is_below_request = lines[..start].iter().any(is_own);
        let next = heads.get(nth + 1).map_or(lines.len(), |(start, _)| *start);
        let last = lines[end..next].iter().rposition(is_own).map_or(end, |last| end + last);
        let is_gap = |line: &Line| line.kind == Kind::Blank;
        let gap = lines[end..last].iter().rposition(is_gap).map_or(end, |gap| end + gap);
        let until = if is_below_request && nth + 1 == heads.len() { next } else { gap };
        let body = lines[end..until].iter_mut().filter(|line| is_own(line));
        body.for_each(|line| line.kind = Kind::Quoted);
    }
}
