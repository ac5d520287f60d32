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
const MAIL_FIELDS: [&str; 40] = [
    "From", "Sent", "To", "Cc", "Bcc", "Subject", "Date", "Reply-To", "Message-ID", "Von", "Gesendet",
    "An", "Betreff", "Datum", "De", "Envoyé", "À", "Objet", "Enviado", "Enviado el", "Para", "Asunto",
    "Assunto", "Da", "Inviato", "A", "Oggetto", "Van", "Verzonden", "Aan", "Onderwerp", "Od", "Do",
    "Temat", "Kimden", "Kime", "Konu", "发件人", "收件人", "主题",
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

/// Returns the name of the field of a mail that a line gives a value.
fn mail_field(line: &str) -> Option<&str> {
    let text = line.trim().trim_start_matches('*');
    let (name, value) =
        if text.is_ascii() { text.split_once(':')? } else { text.split_once([':', '：'])? };
    let name = name.trim_end();
    let is_field = MAIL_FIELDS.contains(&name) && value.trim_start_matches('*').starts_with(' ');
    is_field.then_some(name)
}

/// Tells whether a line stands above one message of a chat, with a name and a time, or above a subtitle.
pub(super) fn is_chat_head(line: &str) -> bool {
    const MAX_WORDS: usize = 4;
    let text = line.trim();
    if text.contains(" --> ") {
        return text.starts_with(|c: char| c.is_ascii_digit());
    }
    let mut words = text.trim_end_matches([']', ')']).split_ascii_whitespace().rev();
    let last = words.next().unwrap_or_default();
    let is_half = ["AM", "PM"].iter().any(|half| half.eq_ignore_ascii_case(last));
    let time = if is_half { words.next().unwrap_or_default() } else { last };
    let is_name = |word: &str| word.chars().all(|c| c.is_alphanumeric() || "_-'@".contains(c));
    is_clock(time.trim_start_matches(['[', '(']))
        && (1..=MAX_WORDS).contains(&words.clone().count())
        && words.all(is_name)
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
