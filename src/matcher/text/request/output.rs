//! Lines that programs write: logs, stack frames, diffs, reports of compilers; and what marks quote line by
//! line: mails and tables.

/// Tells whether a trimmed line is quoted as in a mail, or introduces such a quote.
pub(super) fn is_quote(text: &str) -> bool {
    text.starts_with('>') || is_attribution(text) || is_mail_header(text)
}

/// The last words of the line above a quoted mail.
#[rustfmt::skip]
const WROTE: [&str; 12] = [
    "wrote:", "schrieb:", "écrit :", "écrit:", "escribió:", "escreveu:", "scritto:", "schreef:",
    "написал:", "yazdı:", "写道：", "のメール:",
];

/// The names of the fields above a mail, in the larger languages.
#[rustfmt::skip]
const MAIL_FIELDS: [&str; 40] = [
    "From", "Sent", "To", "Cc", "Bcc", "Subject", "Date", "Reply-To", "Message-ID", "Von", "Gesendet",
    "An", "Betreff", "Datum", "De", "Envoyé", "À", "Objet", "Enviado", "Enviado el", "Para", "Asunto",
    "Assunto", "Da", "Inviato", "A", "Oggetto", "Van", "Verzonden", "Aan", "Onderwerp", "Od", "Do",
    "Temat", "Kimden", "Kime", "Konu", "发件人", "收件人", "主题",
];

fn is_attribution(text: &str) -> bool {
    let is_rule = text.len() > 12 && text.starts_with("----") && text.ends_with("----");
    is_rule || WROTE.iter().any(|wrote| text.ends_with(wrote))
}

fn is_mail_header(text: &str) -> bool {
    let Some((name, value)) = text.split_once([':', '：']) else { return false };
    MAIL_FIELDS.contains(&name.trim_end()) && value.starts_with(' ')
}

/// Tells whether a line is a row of a table between bars, or a rule of one.
pub(super) fn is_row(line: &str) -> bool {
    let text = line.trim();
    let is_rule = text.len() > 2 && text.bytes().all(|byte| b"+-=|: ".contains(&byte));
    text.starts_with('|') && count(text, b'|') >= 2 || is_rule && count(text, b'-') > 2
}

/// Tells whether two adjacent lines are rows of a table whose cells are parted by tabs or commas.
pub(super) fn are_rows(above: &str, below: &str) -> bool {
    let [above, below] = [above.trim(), below.trim()];
    let share = |byte, least| {
        let n = count(below, byte);
        n >= least && n == count(above, byte)
    };
    let is_list = |line: &str| line.contains(", ") || line.contains('，');
    share(b'\t', 2) || share(b',', 3) && !is_list(above) && !is_list(below)
}

fn count(text: &str, byte: u8) -> usize {
    text.bytes().filter(|&other| other == byte).count()
}

/// Tells whether a line begins a file or a hunk of a diff.
pub(super) fn is_diff_header(line: &str) -> bool {
    const HEADERS: [&str; 8] = [
        "diff --git ",
        "diff -",
        "Index: ",
        "--- a/",
        "+++ b/",
        "--- /dev/null",
        "+++ /dev/null",
        "*** ",
    ];
    let is_hunk = line.strip_prefix("@@ -").is_some_and(|rest| rest.contains(" @@"));
    is_hunk || HEADERS.iter().any(|header| line.starts_with(header))
}

/// Tells whether a line may belong to the diff above it.
pub(super) fn goes_on_in_diff(line: &str) -> bool {
    const EXTENDED: [&str; 11] = [
        "index ",
        "new file mode ",
        "deleted file mode ",
        "old mode ",
        "new mode ",
        "similarity index ",
        "rename from ",
        "rename to ",
        "copy from ",
        "copy to ",
        "Binary files ",
    ];
    line.starts_with(['+', '-', ' ', '\\', '@', '!'])
        || EXTENDED.iter().any(|header| line.starts_with(header))
}

/// Tells whether a program wrote a line.
pub(super) fn is_output(line: &str) -> bool {
    let text = line.trim();
    is_log(text) || is_frame(line, text) || is_report(line, text)
}

/// Tells whether a line is an entry of a log: it begins with a time, or with the level of the entry.
fn is_log(text: &str) -> bool {
    const LEVELS: [&str; 10] = [
        "INFO", "WARN", "WARNING", "ERROR", "DEBUG", "TRACE", "FATAL", "CRITICAL", "NOTICE",
        "SEVERE",
    ];
    let start = text.trim_start_matches(['[', '(', '<']);
    let level = start.split([']', ':', ' ', '|', ')']).next().unwrap_or_default();
    let has_level =
        LEVELS.contains(&level) && start[level.len()..].starts_with([']', ':', ' ', '|', ')']);
    has_level && (start.len() < text.len() || !text.ends_with('?'))
        || is_time(start)
        || is_syslog(start)
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
    has_form(b"0000-00-00") || has_form(b"00:00:00") || has_form(b"00-00-0000 00:00")
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
    const AROUND: [&str; 9] = [
        "Traceback (",
        "Caused by:",
        "goroutine ",
        "stack backtrace:",
        "Exception in thread ",
        "thread '",
        "During handling of the above",
        "The above exception was",
        "note: run with `RUST_BACKTRACE",
    ];
    let is_indented = line.starts_with([' ', '\t']);
    let has_place = |text: &str| text.contains(['(', ':', '.']);
    let is_numbered = text.strip_prefix('#').is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains([':', '('])
    });
    let is_error = text.split_once(':').is_some_and(|(name, _)| {
        let is_name = |name: &str| name.ends_with("Error") || name.ends_with("Exception");
        is_name(name) && name.len() > 5 && !name.contains(' ')
    });
    AROUND.iter().any(|start| text.starts_with(start))
        || is_error
        || is_numbered && is_indented
        || is_indented && text.starts_with("at ") && has_place(text)
        || text.starts_with("at ") && text.ends_with(')') && text.contains('(')
        || text.starts_with("File \"") && text.contains("line ")
        || is_indented && text.starts_with("from ") && text.contains(".rb:")
        || text.starts_with("... ") && text.ends_with(" more")
}

/// Tells whether a line belongs to the report of a compiler, a build or a test run.
fn is_report(line: &str, text: &str) -> bool {
    const STARTS: [&str; 12] = [
        "error[",
        "warning: ",
        "error: ",
        "note: ",
        "help: ",
        "npm ERR!",
        "npm WARN",
        "not ok ",
        "FAIL ",
        "PASS ",
        "make: *** ",
        "--> ",
    ];
    let is_start = STARTS.iter().any(|start| text.starts_with(start));
    let is_test = text.starts_with("test ") && text.contains(" ... ");
    let is_pointer = text.starts_with(['|', '^', '=']) || is_numbered_source(text);
    // `src/main.rs:12:5: expected …`
    let mut parts = text.split(':');
    let path = parts.next().unwrap_or_default();
    let is_place = path.contains(['.', '/'])
        && !path.contains(' ')
        && parts
            .next()
            .is_some_and(|row| !row.is_empty() && row.bytes().all(|b| b.is_ascii_digit()));
    // `   Compiling serde v1.0.2`: verbs of cargo are aligned at their right.
    let is_step = line.starts_with("  ")
        && text.split_ascii_whitespace().next_back().is_some_and(is_version)
        && text.starts_with(|c: char| c.is_ascii_uppercase());
    is_start && !text.ends_with('?') || is_test || is_pointer || is_place || is_step
}

/// Tells whether a text is a line of source in the report of a compiler: `12 | let x = 1;`.
fn is_numbered_source(text: &str) -> bool {
    let after = text.trim_start_matches(|c: char| c.is_ascii_digit());
    after.len() < text.len() && after.trim_start().starts_with('|')
}

fn is_version(word: &str) -> bool {
    let number = word.strip_prefix('v').unwrap_or(word);
    number.contains('.') && number.starts_with(|c: char| c.is_ascii_digit())
}
