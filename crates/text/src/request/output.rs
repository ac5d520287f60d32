//! Lines that programs write: logs, stack frames, diffs. `reports.rs` has those of compilers and tests,
//! `terminal.rs` those of sessions in a terminal.

use super::entries::{LEVELS, begins_with, is_hash};
use super::reports::is_report;
use super::terminal;

/// Tells whether a line begins a file or a hunk of a diff.
pub(super) fn is_diff_header(line: &str) -> bool {
    const HEADERS: [&str; 5] = ["diff -", "--- a/", "+++ b/", "--- /dev/null", "+++ /dev/null"];
    let is_hunk = line.strip_prefix("@@ -").is_some_and(|rest| rest.contains(" @@"));
    // `*** urgent ***` is a person's, as is a sentence behind `Index: `.
    let is_context = line.starts_with("*** ") && !line.trim_end().ends_with(" ***");
    let is_index = line.strip_prefix("Index: ").is_some_and(|path| !path.trim().contains(' '));
    is_hunk
        || is_context
        || is_index
        || is_plain_hunk(line.trim_end())
        || begins_with(line, &HEADERS)
}

/// Tells whether a line begins a hunk of a diff without context: `3c3`, `10a11,12`.
fn is_plain_hunk(line: &str) -> bool {
    let is_place = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_digit())
            && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
    };
    line.starts_with(|c: char| c.is_ascii_digit())
        && line.split_once(['a', 'c', 'd']).is_some_and(|(old, new)| is_place(old) && is_place(new))
}

/// Tells whether a line begins a commit as `git log` shows it.
pub(super) fn is_commit(line: &str) -> bool {
    let Some(rest) = line.trim_end().strip_prefix("commit ") else { return false };
    let (hash, names) = rest.split_once(' ').unwrap_or((rest, ""));
    is_hash(hash) && (names.is_empty() || names.starts_with('('))
}

/// Tells whether a line may belong to the commit above it: its fields, and its message, which is indented.
pub(super) fn goes_on_in_commit(line: &str) -> bool {
    const FIELDS: [&str; 6] =
        ["Author: ", "Date: ", "Merge: ", "AuthorDate: ", "Commit: ", "CommitDate: "];
    line.trim().is_empty() || line.starts_with("    ") || begins_with(line, &FIELDS)
}

/// Tells whether a text is a commit as `git log --oneline` lists it: a hash, and the names of branches or a
/// subject. A text that goes on in lower case, or ends as a sentence, is a person's: `83db48f broke the login`.
fn is_listed_commit(text: &str) -> bool {
    let Some((hash, rest)) = text.split_once(' ') else { return false };
    let first = rest.split(' ').next().unwrap_or_default();
    let is_subject =
        rest.starts_with(|c: char| c == '(' || c.is_uppercase()) || first.ends_with(':');
    is_hash(hash) && is_subject && !text.ends_with(['.', '?', '!'])
}

/// Tells whether a line may belong to the diff above it.
pub(super) fn goes_on_in_diff(line: &str) -> bool {
    const EXTENDED: [&str; 11] = [
        "index ", "new file mode ", "deleted file mode ", "old mode ", "new mode ",
        "similarity index ", "rename from ", "rename to ", "copy from ", "copy to ",
        "Binary files ",
    ];
    line.starts_with(['+', '-', ' ', '\\', '@', '!', '<', '>']) || begins_with(line, &EXTENDED)
}

/// Tells whether a program wrote a line.
pub(super) fn is_output(line: &str) -> bool {
    let text = line.trim();
    text.starts_with("< ")
        || is_log(text)
        || is_frame(line, text)
        || is_report(line, text)
        || terminal::is_typed(text)
        || terminal::is_said_by_tool(line, text)
}

/// Tells whether a line is an entry of a log: it begins with a time, or with the level of the entry.
fn is_log(text: &str) -> bool {
    let start = text.trim_start_matches(['[', '(', '<']);
    let level = start.split([']', ':', ' ', '|', ')']).next().unwrap_or_default();
    let is_marked = start[level.len()..].starts_with([']', ':', '|', ')'])
        || start.len() < text.len() && start[level.len()..].starts_with(' ');
    // `[error] not found`
    let is_bracketed = text.starts_with('[') && start[level.len()..].starts_with("] ");
    let is_lower = || LEVELS.iter().any(|known| known.eq_ignore_ascii_case(level));
    is_bracketed && (level == "warn" || is_lower())
        || LEVELS.contains(&level)
            && is_marked
            && (start.len() < text.len() || !text.ends_with('?'))
        || is_time(start)
        || is_syslog(start)
        || is_stamped(text)
        || is_of_service(text)
        || is_said_at(text)
        || is_listed_commit(text.trim_start_matches(['*', '|', '/', '\\', ' ']))
}

/// Tells whether a text begins with a date such as `2026-03-12` or a time such as `12:30:07`.
fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let has_form = |form: &[u8]| {
        bytes.len() > form.len()
            && form.iter().zip(bytes).all(|(wanted, byte)| match wanted {
                b'0' => byte.is_ascii_digit(),
                b'-' => matches!(byte, b'-' | b'/' | b'.'),
                _ => byte == wanted,
            })
    };
    // A date alone may begin a sentence.
    let day = text.get(10..).unwrap_or_default().trim_start_matches(['T', ' ', ',']);
    let is_entry = || {
        let has_clock = day.get(..3).is_some_and(|hour| hour.ends_with(':'))
            && day.starts_with(|c: char| c.is_ascii_digit());
        has_clock || LEVELS.iter().any(|level| day.trim_start_matches('[').starts_with(level))
    };
    has_form(b"0000-00-00") && is_entry() || has_form(b"00:00:00") || has_form(b"00-00-0000 00:00")
}

/// Tells whether a text begins with a date in any form and a time: `12.03.2026 12:30:07`, `3/3/26, 10:02 AM - `;
/// with the level and time of glog, `E0312 12:30:07`; with seconds since the start, `[   12.345]`; or with the
/// address of a client, `127.0.0.1 - - `.
fn is_stamped(text: &str) -> bool {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    if let Some(seconds) = text.strip_prefix('[').and_then(|inside| inside.split_once("] ")) {
        let seconds = seconds.0.trim_start();
        if seconds.contains('.') && seconds.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return true;
        }
    }
    let is_of = |word: &str, signs: &[u8]| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.bytes().all(|byte| byte.is_ascii_digit() || signs.contains(&byte))
            && word.bytes().filter(|byte| !byte.is_ascii_digit()).count() > 0
    };
    let date = first.trim_matches(['[', '(', ',']);
    let glog = first.strip_prefix(['I', 'W', 'E', 'F']);
    let is_glog = glog.is_some_and(|day| day.len() == 4 && day.bytes().all(|b| b.is_ascii_digit()));
    let time = rest.split(['.', ',', ' ', ']']).next().unwrap_or_default();
    let has_seconds = is_of(time, b":") && time.matches(':').count() == 2;
    let is_said = is_of(time, b":") && rest.contains(" - ") && rest.contains(": ");
    (is_of(date, b"./-") || is_glog) && (has_seconds || is_said)
        || is_of(first, b".") && first.matches('.').count() == 3 && rest.starts_with("- ")
}

/// Tells whether a text begins with the name of one of several services, or with a level and a tag:
/// `web_1  | started`, `E/AndroidRuntime: FATAL`.
fn is_of_service(text: &str) -> bool {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    let is_numbered = first.contains(['_', '-']) && first.ends_with(|c: char| c.is_ascii_digit());
    let tag = first.strip_prefix(['V', 'D', 'I', 'W', 'E', 'F']);
    is_numbered && rest.trim_start().starts_with('|')
        || tag.is_some_and(|tag| tag.starts_with('/') && tag.ends_with(':'))
}

/// Tells whether a text begins with what somebody said, and when: `[00:12] Ana: hello`, `[Ana] [10:02] hello`.
fn is_said_at(text: &str) -> bool {
    let Some((first, rest)) = text.strip_prefix('[').and_then(|inside| inside.split_once("] "))
    else {
        return false;
    };
    let is_clock = |text: &str| {
        let (hours, minutes) = text.rsplit_once(':').unwrap_or_default();
        hours.ends_with(|c: char| c.is_ascii_digit())
            && minutes.len() == 2
            && minutes.bytes().all(|byte| byte.is_ascii_digit())
    };
    let second = rest.strip_prefix('[').and_then(|inside| inside.split_once("] "));
    let name = rest.split_once(": ").map_or("", |(name, _)| name);
    is_clock(first) && !name.is_empty() && name.split(' ').count() <= 3
        || second.is_some_and(|(time, _)| is_clock(time))
}

/// Tells whether a text begins as syslog does: `Mar 12 12:30:07 host`.
fn is_syslog(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    let month = words.next().is_some_and(|word| word.len() == 3 && word.is_ascii());
    let day = words.next().is_some_and(|word| word.parse::<u8>().is_ok_and(|day| day <= 31));
    month && day && words.next().is_some_and(|word| is_time(&format!("{word} ")))
}

/// Tells whether a line is a frame of a stack trace, or stands around such frames.
fn is_frame(line: &str, text: &str) -> bool {
    const AROUND: [&str; 14] = [
        "Traceback (",
        "Stack trace:",
        "stack traceback:",
        "CallStack (",
        "Unhandled exception",
        "Caused by:",
        "goroutine ",
        "stack backtrace:",
        "Exception in thread ",
        "thread '",
        "During handling of the above",
        "The above exception was",
        "note: run with `RUST_BACKTRACE",
        "thrown in /",
    ];
    let is_indented = line.starts_with([' ', '\t']);
    let has_place = |text: &str| text.contains(['(', ':', '.']);
    let numbered =
        text.strip_prefix('#').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let is_numbered = numbered.is_some_and(|rest| rest.contains([':', '(']));
    // `#0 /srv/x.php(3): f()`, `#1 main () at x.c`, `#12 [build 3/5] RUN`
    let after_number = numbered.map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    let is_frame_or_step = after_number.is_some_and(|rest| {
        let rest = rest.strip_prefix(' ').unwrap_or_default();
        let stage = rest.strip_prefix('[').and_then(|inside| inside.split_once(']'));
        let is_seconds = |word: &str| word.contains('.') && word.parse::<f32>().is_ok();
        rest.starts_with(' ')
            || rest.starts_with('/') && rest.contains('(')
            || rest.starts_with("{main}")
            || stage.is_some_and(|(name, _)| name == "internal" || name.contains('/'))
            || begins_with(rest, &["ERROR: ", "DONE ", "CACHED", "sha256:"])
            || is_seconds(rest.split(' ').next().unwrap_or_default())
    });
    let is_error = text.split_once(':').is_some_and(|(name, _)| {
        let is_name = |name: &str| name.ends_with("Error") || name.ends_with("Exception");
        is_name(name) && name.len() > 5 && !name.contains(' ')
    });
    begins_with(text, &AROUND)
        || is_error
        || is_numbered && is_indented
        || is_frame_or_step
        || is_at_line(text)
        || is_indented && text.starts_with("at ") && has_place(text)
        || text.starts_with("at ") && text.ends_with(')') && text.contains('(')
        || text.starts_with("File \"") && text.contains("line ")
        || is_indented && text.starts_with("from ") && text.contains(".rb:")
        || text.starts_with("... ") && text.ends_with(" more")
}

/// Tells whether a text ends with a place as Perl writes it, `at x.pl line 12`, or has one, `x.sh: line 12:`.
/// People write `look at src/x.py line 12`.
fn is_at_line(text: &str) -> bool {
    const OF_PERL: [&str; 5] = [".pl", ".pm", ".t", ".cgi", ".psgi"];
    const LINE: &[u8] = b" line ";
    // Preparing the search below takes longer than looking at a line.
    if !text.as_bytes().windows(LINE.len()).any(|word| word == LINE) {
        return false;
    }
    let Some((before, after)) = text.rsplit_once(" line ") else { return false };
    let n_digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let (start, place) = before.rsplit_once(' ').unwrap_or(("", before));
    let is_of_perl = OF_PERL.iter().any(|suffix| place.ends_with(suffix))
        && (start == "at" || start.ends_with(" at"));
    let is_of_shell = place.contains(['.', '/']) && place.ends_with(':');
    n_digits > 0
        && match &after[n_digits..] {
            "" | "." => is_of_perl,
            rest => is_of_shell && rest.starts_with(':'),
        }
}
