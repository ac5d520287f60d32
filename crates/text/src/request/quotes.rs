//! Lines that somebody else wrote: quoted mails, and chats.

/// Tells whether a trimmed line is quoted as in a mail, or introduces such a quote.
pub(super) fn is_quote(text: &str) -> bool {
    text.starts_with('>') || is_attribution(text)
}

/// The last words of the line above a quoted mail.
#[rustfmt::skip]
const WROTE: [&str; 12] = [
    "wrote:", "schrieb:", "écrit :", "écrit:", "escribió:", "escreveu:", "scritto:", "schreef:",
    "написал:", "yazdı:", "写道：", "のメール:",
];

/// The verbs of that line where the name stands behind them: "Am 3. März um 10:00 schrieb Ana:".
const VERBS: [&str; 4] = [" wrote ", " schrieb ", " schreef ", " skrev "];

/// The names of the fields above a mail, in the larger languages.
#[rustfmt::skip]
const MAIL_FIELDS: [&str; 71] = [
    "From", "Sent", "To", "Cc", "Bcc", "Subject", "Date", "Reply-To", "Message-ID", "Von", "Gesendet",
    "An", "Betreff", "Datum", "De", "Envoyé", "À", "Objet", "Enviado", "Enviado el", "Para", "Asunto",
    "Assunto", "Da", "Inviato", "A", "Oggetto", "Van", "Verzonden", "Aan", "Onderwerp", "Od", "Do",
    "Temat", "Kimden", "Kime", "Konu", "发件人", "收件人", "主题", "发送时间", "抄送", "日期", "寄件者", "收件者", "主旨",
    "差出人", "送信者", "宛先", "件名", "日時", "送信日時", "보낸 사람", "받는 사람", "제목", "날짜", "От", "Кому", "Тема", "Дата",
    "Від", "Från", "Till", "Ämne", "Skickat", "Fra", "Til", "Emne", "Data", "Wysłano", "Do wiadomości",
];

fn is_attribution(text: &str) -> bool {
    let is_rule = text.len() > 12 && text.starts_with("----") && text.ends_with("----");
    let Some(said) = text.strip_suffix([':', '：']) else { return is_rule };
    // "вт, 3 мар. 2026 г. в 10:00, Ana <ana@example.com>:", in any language.
    let address =
        said.trim_end_matches([' ', ')']).strip_suffix('>').and_then(|s| s.rsplit_once('<'));
    let has_date = said.contains(|c: char| c.is_ascii_digit());
    // The date stands before the verb: "I wrote 3 tests:" has none.
    let is_dated = |(before, _): (&str, &str)| before.contains(|c: char| c.is_ascii_digit());
    let has_address = address.is_some_and(|(_, address)| address.contains('@'));
    has_date && (has_address || ends_with_verb(text))
        || VERBS.iter().any(|verb| said.split_once(verb).is_some_and(is_dated))
}

fn ends_with_verb(text: &str) -> bool {
    WROTE.iter().any(|wrote| text.ends_with(wrote))
}

/// Tells whether two adjacent lines are of a mail: two fields of its head, or who wrote what is quoted below. One
/// such line alone is a person's: `To: the whole team`, `check what I wrote:`.
pub(super) fn are_of_mail(above: &str, below: &str) -> bool {
    let fields = (mail_field(above), mail_field(below));
    matches!(fields, (Some(one), Some(other)) if one != other)
        || below.trim_start().starts_with('>') && ends_with_verb(above.trim())
}

/// The names of the field with the sender. Who writes a mail does not say that it is from them.
#[rustfmt::skip]
const SENDERS: [&str; 17] = [
    "From", "Von", "De", "Da", "Van", "Od", "Kimden", "发件人", "寄件者", "差出人", "送信者", "보낸 사람", "От", "Від",
    "Från", "Fra", "Expéditeur",
];

/// Tells whether lines are the head of a mail that was sent: it has a sender, and an address, the time, or a
/// third field.
pub(super) fn is_head_of_sent<'t>(lines: impl Iterator<Item = &'t str>) -> bool {
    let (mut n_fields, mut has_sender, mut is_stamped) = (0, false, false);
    for line in lines {
        n_fields += 1;
        has_sender |= mail_field(line).is_some_and(|name| SENDERS.contains(&name));
        is_stamped |= line.contains('@') || line.contains(|c: char| c.is_ascii_digit());
    }
    has_sender && (n_fields > 2 || is_stamped)
}

/// Returns the name of the field of a mail that a line gives a value.
pub(super) fn mail_field(line: &str) -> Option<&str> {
    let text = line.trim().trim_start_matches('*');
    let (name, value) =
        if text.is_ascii() { text.split_once(':')? } else { text.split_once([':', '：'])? };
    let name = name.trim_end();
    let is_field = MAIL_FIELDS.contains(&name) && value.trim_start_matches('*').starts_with(' ');
    is_field.then_some(name)
}

/// The maximum number of bytes of a line that stands above a message, and of who says a line.
const MAX_HEAD: usize = 200;

/// Tells whether a line stands above one message of a chat, with a name and a time: `Ana Lopez  10:02 AM`,
/// `[10:02] Ana`, `Ana — Today at 10:02`.
pub(super) fn is_chat_head(line: &str) -> bool {
    const MAX_WORDS: usize = 5;
    let text = line.trim();
    if text.len() > MAX_HEAD {
        return false;
    }
    let timed = text.strip_prefix('[').and_then(|inside| inside.split_once("] "));
    if let Some((_, name)) = timed.filter(|(time, _)| is_clock(time)) {
        return is_name(name);
    }
    let Some(name) = before_clock(text) else { return is_head_of_post(text) };
    // "Meeting, 10:00" and "lunch at 12:30" are a person's; "Ana — Today at 12:30" is a program's.
    let last = name.rsplit([' ', '[']).next().unwrap_or_default();
    let is_called =
        !last.starts_with(char::is_lowercase) || name.contains(['—', '–']) || !name.contains(' ');
    (1..=MAX_WORDS).contains(&name.split_ascii_whitespace().count())
        && is_called
        && is_signed(name)
        && is_name(name)
}

/// Tells whether a name before a time is not what happens then: `Meeting, 10:00`, but `Ana Lopez, 10:00`.
fn is_signed(name: &str) -> bool {
    let Some(name) = name.strip_suffix(',') else { return true };
    let mut words = name.split(' ');
    name.contains(' ') && words.all(|word| word.starts_with(|c: char| c.is_uppercase()))
}

/// Tells whether a line stands above a post, with a name and how long ago it was: `u/ana · 3h ago`, `ana 3 hours ago`.
fn is_head_of_post(text: &str) -> bool {
    const MAX_WORDS: usize = 5;
    let text = text.split(" | ").next().unwrap_or_default().trim_end();
    let Some(before) = text.strip_suffix(" ago") else { return false };
    let number = before.trim_end_matches(|c: char| c.is_alphabetic() || c == ' ');
    let name = number.trim_end_matches(|c: char| c.is_ascii_digit());
    // "It worked 3 days ago" is a person's.
    let name_alone = name.trim_end_matches([' ', '·', '•']);
    let has_mark = name_alone.len() < name.trim_end().len();
    let n_words = name_alone.split(' ').count();
    number.len() > name.len()
        && (1..=MAX_WORDS).contains(&n_words)
        && (has_mark || n_words == 1)
        && is_name(name_alone)
}

/// Tells whether a line is a time alone, perhaps with a date, as some chats write it below the name.
pub(super) fn is_chat_time(line: &str) -> bool {
    let is_of_date = |c: char| c.is_ascii_digit() || "—–-./, ".contains(c);
    before_clock(line.trim()).is_some_and(|before| before.chars().all(is_of_date))
}

/// Returns who says a line of a dialogue: `Ana: the alerts are too noisy`.
pub(super) fn speaker(line: &str) -> Option<&str> {
    const MAX_WORDS: usize = 3;
    let text = line.trim().trim_start_matches('*');
    let mut places = text.char_indices().take(MAX_HEAD);
    let (end, mark) = places.find(|&(_, c)| matches!(c, ':' | '：' | '.' | '?' | '!'))?;
    if !matches!(mark, ':' | '：') {
        return None;
    }
    let (name, said) = (&text[..end], &text[end + mark.len_utf8()..]);
    let name = name.trim_end_matches([' ', '*']);
    let is_word = |word: &str| word.starts_with(|c: char| c.is_alphanumeric() && !c.is_lowercase());
    let is_called = name.split(' ').all(is_word) && name.starts_with(char::is_alphabetic);
    let is_said = !said.trim_matches([' ', '*']).is_empty() && !said.starts_with('/');
    (is_called && is_said && name.split(' ').count() <= MAX_WORDS && is_name(name)).then_some(name)
}

/// Tells whether a line is nothing but the name of a person, of at most three words.
pub(super) fn is_chat_name(line: &str) -> bool {
    let text = line.trim();
    !text.is_empty() && text.split_ascii_whitespace().count() <= 3 && is_name(text)
}

/// Tells whether a line says when the words below it are spoken, as in the subtitles of a film.
pub(super) fn is_cue(line: &str) -> bool {
    line.trim_start().starts_with(|c: char| c.is_ascii_digit()) && line.contains(" --> ")
}

/// Returns what stands before a time of day, perhaps in brackets, with which a text ends.
fn before_clock(text: &str) -> Option<&str> {
    if !text.as_bytes().contains(&b':') {
        return None;
    }
    let text = text.trim_end_matches([']', ')']);
    let is_half = |end: &str| ["AM", "PM"].iter().any(|half| half.eq_ignore_ascii_case(end));
    let last = |text: &str| text.rfind(' ').map_or(0, |at| at + 1);
    let end = last(text);
    let text = if is_half(&text[end..]) { text[..end].trim_end() } else { text };
    let end = last(text);
    is_clock(text[end..].trim_start_matches(['[', '('])).then(|| text[..end].trim_end())
}

fn is_name(text: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || c == ' ' || "_-—–'@.,[/".contains(c);
    text.chars().all(is_of_name) && text.contains(char::is_alphabetic)
}

/// Tells whether a word is a time of day: `9:05`, `10:02`.
fn is_clock(word: &str) -> bool {
    let is_number = |text: &str| text.len() <= 2 && text.parse::<u8>().is_ok_and(|n| n < 60);
    word.split_once(':')
        .is_some_and(|(hour, minute)| is_number(hour) && minute.len() == 2 && is_number(minute))
}

/// Tells whether two adjacent lines are messages of a chat: both begin with a name in angle brackets.
pub(super) fn are_said(above: &str, below: &str) -> bool {
    let is_said = |line: &str| {
        let name = line.trim_start_matches(|c: char| c.is_ascii_digit() || ":[] ".contains(c));
        let name = name.strip_prefix('<').and_then(|rest| rest.split_once("> "));
        name.is_some_and(|(name, said)| {
            name.chars().all(|c| c.is_alphanumeric() || "_-@+".contains(c)) && !said.contains("</")
        })
    };
    is_said(above) && is_said(below)
}

/// Returns the place in [`ROLES`] of the one who says a line in a conversation with an assistant.
pub(super) fn role(line: &str) -> Option<usize> {
    const ROLES: [&str; 8] =
        ["User", "Human", "You", "Assistant", "AI", "ChatGPT", "Claude", "System"];
    let (name, _) = line.trim_start_matches(['*', '#', ' ']).split_once(": ")?;
    ROLES.iter().position(|role| *role == name.trim_end_matches('*'))
}
