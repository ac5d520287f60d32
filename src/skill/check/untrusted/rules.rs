//! Lexical rules that find text that addresses the agent, credentials, and commands that fetch.

use std::ops::Range;
use std::sync::LazyLock;

use regex_automata::meta::Regex;

use crate::diagnostic::Code;
use crate::skill::fields::excerpt;
use crate::skill::finding::Finding;

/// A pattern, and the description of its matches.
struct Rule {
    pattern: Regex,
    what: &'static str,
}

fn rules(patterns: &[(&str, &'static str)]) -> Vec<Rule> {
    let rules = patterns.iter();
    rules.filter_map(|(pattern, what)| Some(Rule { pattern: compiled(pattern)?, what })).collect()
}

/// Compiles one of the patterns of this file. A test checks that all of them compile.
pub(super) fn compiled(pattern: &str) -> Option<Regex> {
    let compiled = Regex::new(pattern);
    compiled.inspect_err(|error| tracing::error!(pattern, %error, "it does not compile")).ok()
}

/// A pattern of words that name a secret.
const SECRETS: &str = r"(?:api[ _-]?keys?|access[ _-]?keys?|(?:access |auth |bearer |session )?tokens?\b|passwords?|passphrases?|secrets?\b|credentials?|private keys?|ssh keys?|id_(?:rsa|ed25519|ecdsa)|\.env\b|\.netrc|\.npmrc|\.pgpass|\.aws/|\.ssh/|\.kube/config|environment variables|keychain|cookies|wallets?\b|seed phrases?)";

const SECRETS_OUT: &str = "takes secrets out";
const TELLS: &str = "keeps something from the user";
const CONSENT: &str = "does without the user's consent, or without a safeguard";

/// Returns the rules for text that addresses an agent: a pattern, a description of its matches, and a
/// flag that is true if matches are left out where the words before them make them a warning. It is
/// false for patterns whose own first words are a negation, such as `do not`.
pub(super) fn addressing_rules() -> Vec<(String, &'static str, bool)> {
    let rules = [
        (
            r"(?i)\b(?:ignore|disregard|forget|override|bypass)\b[^.!?\n]{0,40}\b(?:previous|prior|earlier|above|other|all|any|your|system|safety|security)\b[^.!?\n]{0,30}\b(?:instructions?|rules?|prompts?|guidelines?|polic(?:y|ies)|guardrails?|restrictions?)\b",
            "tells the agent to ignore its instructions",
            true,
        ),
        (
            r"(?i)\b(?:do not|don['’]t|never|no need to)(?:\s+\w+)?\s+(?:tell|inform|notify|alert|warn|mention (?:it|this|that|any of (?:it|this)) to|reveal (?:it|this|that) to)\s+(?:the |your )?(?:user|human|operator|developer)s?\b",
            TELLS,
            false,
        ),
        (
            r"(?i)\bwithout (?:telling|informing|notifying|alerting|warning)\s+(?:the |your )?(?:user|human|operator|developer)s?\b|\b(?:hide|conceal) (?:it|this|that|[a-z ]{1,20}) from (?:the |your )?(?:user|human|operator)s?\b",
            TELLS,
            true,
        ),
        (
            r"(?i)\b(?:do not|don['’]t|never|no need to)(?:\s+\w+)?\s+(?:ask|prompt|wait)\s+(?:(?:the user|the human|anyone)\b|for (?:user |the user's )?(?:confirmation|consent|approval|permission))|\b(?:do not|don['’]t|never)(?:\s+\w+)?\s+(?:require|request|seek)\s+(?:user |the user's )?(?:confirmation|consent|approval|permission)",
            CONSENT,
            false,
        ),
        (
            r"(?i)\b(?:skip|bypass|disable|turn off|circumvent|suppress)\b[^.!?\n]{0,30}\b(?:confirmations?|consent|approvals?|permissions?(?: prompts?| checks?)?|sandbox(?:ing)?|safety checks?|security checks?|trust (?:prompts?|checks?|dialogs?))\b|\bwithout (?:asking|(?:any |user |the user's )?(?:confirmation|consent|approval|permission))\b",
            CONSENT,
            true,
        ),
        (
            r"(?i)\b(?:trust|approve|allow|whitelist|allowlist|accept|grant)\b[^.!?\n]{0,30}\b(?:this skill|these skills|all skills|this script|these scripts|all scripts|all tools|all commands|every (?:command|tool|script)|all permissions|everything)\b",
            "asks the agent for trust",
            true,
        ),
        (
            r"(?i)\brepertoire trust\b|--dangerously-[a-z-]+|--yolo\b|--full-auto\b|\bbypassPermissions\b|\bautoApprove\b",
            "names a way to switch a safeguard of an agent off",
            true,
        ),
        (
            r"(?i)\b(?:you are now|you must now act as|new system prompt|from now on,? you)\b|<\|(?:im_start|system)\|>|\[/?INST\]|</?system(?:-reminder|_prompt)?>",
            "poses as the instructions of the agent's host",
            true,
        ),
    ];
    let out = format!(
        r"(?i)\b(?:send|upload|post|e-?mail|exfiltrate|transmit|forward|leak|reveal|disclose|print|echo|output|dump|collect|gather|harvest|read|cat|copy|include|append|attach|paste|encode|share)\b[^.!?\n]{{0,80}}?{SECRETS}"
    );
    let rules = rules.map(|(pattern, what, guarded)| (pattern.to_owned(), what, guarded));
    rules.into_iter().chain([(out, SECRETS_OUT, true)]).collect()
}

/// The compiled [`addressing_rules`].
static ADDRESSING: LazyLock<Vec<(Rule, bool)>> = LazyLock::new(|| {
    let compiled = addressing_rules().into_iter().filter_map(|(pattern, what, guarded)| {
        Some((Rule { pattern: compiled(&pattern)?, what }, guarded))
    });
    compiled.collect()
});

/// The words that turn the words after them into a warning.
static WARNING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    compiled(
        r"(?i)\b(?:never|not|don['’]t|avoid|cannot|can['’]t|mustn['’]t|without|refuse to|prevents?|rather than|instead of|no)\b[^.!?\n]{0,40}$",
    )
});

/// Finds text that addresses the agent about trust, secrets or its instructions.
pub(super) fn addressing(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for (Rule { pattern, what }, guarded) in &*ADDRESSING {
        for place in pattern.find_iter(text).map(|found| found.range()) {
            let is_left_alone = *what == SECRETS_OUT && is_of_code(text, place.start)
                || is_warning(text, place.start);
            if *guarded && is_left_alone {
                continue;
            }
            let said = excerpt(text[place.clone()].trim());
            let message = format!("the text addresses the agent, and {what}: `{said}`");
            let help = "read what stands around it: a skill says how to do a task, and decides nothing \
                        about trust, secrets or the user";
            found.push(Finding::new(Code::AddressesAgent, place, message, help));
        }
    }
    found
}

/// Returns true if the words before `at`, in the same sentence, turn what follows into a warning.
fn is_warning(text: &str, at: usize) -> bool {
    let line = text[..at].rfind(['\n', '.', '!', '?']).map_or(0, |end| end + 1);
    WARNING.as_ref().is_some_and(|warning| warning.is_match(&text[line..at]))
}

/// Returns true if the verb at byte `at` is part of a name in code: `read_token(…)`, `client.post`,
/// `--print`.
fn is_of_code(text: &str, at: usize) -> bool {
    text[..at].ends_with(['.', '-', '_', '/', '$', ':'])
}

pub(super) const CREDENTIALS: [(&str, &str); 10] = [
    (r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----", "a private key"),
    (r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b", "an access key of AWS"),
    (r"\b(?:gh[opsur]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})\b", "a token of GitHub"),
    (r"\bglpat-[A-Za-z0-9_-]{20,}", "a token of GitLab"),
    (r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}", "a token of Slack"),
    (r"\bsk-(?:ant-|proj-|live-)?[A-Za-z0-9_-]{20,}", "a key of a model's provider"),
    (r"\b[sr]k_live_[A-Za-z0-9]{16,}", "a key of Stripe"),
    (r"\bAIza[0-9A-Za-z_-]{35}", "a key of Google"),
    (r"\bnpm_[A-Za-z0-9]{36}\b", "a token of npm"),
    (
        r#"(?i)\b(?:api[_-]?key|secret(?:[_-]?key)?|auth[_-]?token|access[_-]?token|passw(?:or)?d|client[_-]?secret)\b["']?\s*[:=]\s*["'][^"'\s]{12,}["']"#,
        "what looks like a credential",
    ),
];

static COMPILED_CREDENTIALS: LazyLock<Vec<Rule>> = LazyLock::new(|| rules(&CREDENTIALS));

/// Words that mark a value as a placeholder.
const PLACEHOLDERS: &str = "example your xxx placeholder changeme change-me dummy redacted < ${ {{ ... \
                            environ sample test";

/// Finds credentials that were left in a text. The findings do not quote them.
pub(super) fn secrets(text: &str) -> Vec<Finding> {
    let is_placeholder = |value: &str| {
        let lower = value.to_lowercase();
        PLACEHOLDERS.split(' ').any(|word| lower.contains(word)) || is_monotonous(&lower)
    };
    let help = "remove it and revoke it: whoever has the skill has it; read such values from the \
                environment";
    let found = matches(COMPILED_CREDENTIALS.iter(), text, is_placeholder).into_iter();
    let found = found.map(|(place, Rule { what, .. })| {
        Finding::new(Code::SecretInFile, place, format!("the text holds {what}"), help)
    });
    found.collect()
}

/// Tells whether a text holds what looks like a credential.
pub(crate) fn has_secret(text: &str) -> bool {
    !secrets(text).is_empty()
}

/// Returns the matches of `rules`, except for those for which `is_left_alone` is true, and those that
/// overlap another one.
fn matches<'r>(
    rules: impl Iterator<Item = &'r Rule>,
    text: &str,
    is_left_alone: impl Fn(&str) -> bool,
) -> Vec<(Range<usize>, &'r Rule)> {
    let mut found: Vec<(Range<usize>, &Rule)> = Vec::new();
    for rule in rules {
        for place in rule.pattern.find_iter(text).map(|found| found.range()) {
            let overlaps =
                |(known, _): &(Range<usize>, _)| known.start < place.end && place.start < known.end;
            if !found.iter().any(overlaps) && !is_left_alone(&text[place.clone()]) {
                found.push((place, rule));
            }
        }
    }
    found
}

/// Returns true if the second half of a value has hardly any different characters, like a filler.
fn is_monotonous(value: &str) -> bool {
    let tail: Vec<char> = value.chars().skip(value.chars().count() / 2).collect();
    let mut different = tail.clone();
    different.sort_unstable();
    different.dedup();
    tail.len() > 8 && different.len() <= 3
}

pub(super) const REMOTE_CODE: [(&str, &str); 4] = [
    (
        r"(?i)\b(?:curl|wget|fetch|iwr|invoke-webrequest)\b[^\n|;&]*\|\s*(?:sudo\s+)?(?:[a-z/]*/)?(?:ba|z|da|k|fi)?sh\b|\b(?:curl|wget)\b[^\n|;&]*\|\s*(?:sudo\s+)?(?:python[0-9.]*|node|perl|ruby|php)\b",
        "runs what it fetches",
    ),
    (
        r"(?i)\b(?:eval|source|\.|(?:ba|z)?sh\s+-c)\s+[\x22']?(?:\$\(|<\(|`)\s*(?:curl|wget)\b|\b(?:ba|z)?sh\s+<\(\s*(?:curl|wget)\b|\biex\s*\(|\|\s*iex\b",
        "runs what it fetches",
    ),
    (
        r"(?i)\bbase64\s+(?:-d|-D|--decode)\b[^\n|]*\|\s*(?:(?:ba|z|da)?sh|python[0-9.]*|node|perl)\b|\bexec\s*\(\s*(?:base64|codecs|zlib|bytes\.fromhex|__import__)|\beval\s*\(\s*(?:atob|Buffer\.from)\s*\(",
        "runs text that it has hidden by encoding",
    ),
    (
        r"/dev/(?:tcp|udp)/|\bnc(?:at)?\s+(?:-[a-z]*e|--exec)\b|\bbash\s+-i\s*>&",
        "opens a shell to others",
    ),
];

pub(super) const FETCHES: [(&str, &str); 5] = [
    (
        r"(?m)(?:^|[\s;&|($`])(?:curl|wget|aria2c|scp|rsync|sftp|ftp|telnet|ncat?|socat|lynx)\s+[^\s=]",
        "calls a program of the network",
    ),
    (
        r"(?i)\b(?:invoke-webrequest|invoke-restmethod|start-bitstransfer|net\.webclient|iwr)\b",
        "calls the network",
    ),
    (
        r"\b(?:urllib\.request|urllib3|http\.client|requests\.(?:get|post|put|patch|delete|request|Session)|httpx\.|aiohttp\.|socket\.(?:socket|create_connection)|paramiko\.|ftplib\.|smtplib\.)|\b(?:import|from)\s+(?:requests|urllib|httpx|aiohttp|socket|paramiko|ftplib|smtplib|boto3)\b",
        "calls the network",
    ),
    (
        r#"\bfetch\s*\(|\baxios\b|\bXMLHttpRequest\b|\bnew\s+WebSocket\b|\b(?:require|import)\s*\(?\s*['"](?:node:)?(?:https?|net|dgram|tls|undici|node-fetch|got)['"]|\bfrom\s+['"](?:node:)?(?:https?|net|dgram|tls|undici|node-fetch|got)['"]|\bNet::HTTP\b|\bopen-uri\b|\bLWP::"#,
        "calls the network",
    ),
    (
        r"(?m)(?:^|[\s;&|($`])(?:git\s+(?:clone|pull|fetch|push)|pip3?\s+install|python[0-9.]*\s+-m\s+pip\s+install|uv\s+(?:pip\s+install|add|run\s+--with)|uvx|pipx\s+(?:run|install)|npm\s+(?:i|install|exec)|npx|pnpm\s+(?:add|dlx)|yarn\s+(?:add|dlx)|bunx|deno\s+run\s+(?:-A\s+)?https?:|go\s+(?:install|get)|cargo\s+install|gem\s+install|brew\s+install|apt(?:-get)?\s+install|docker\s+(?:pull|run)|ssh)\s",
        "fetches code",
    ),
];

static COMPILED_REMOTE: LazyLock<Vec<Rule>> = LazyLock::new(|| rules(&REMOTE_CODE));
static COMPILED_FETCHES: LazyLock<Vec<Rule>> = LazyLock::new(|| rules(&FETCHES));

/// Finds commands that run what they fetch and, except in prose, commands that only fetch. A command in
/// prose is run by an agent, which asks its user.
pub(super) fn fetching(text: &str, is_prose: bool) -> Vec<Finding> {
    let fetches = COMPILED_FETCHES.iter().filter(|_| !is_prose);
    let found = matches(COMPILED_REMOTE.iter().chain(fetches), text, |_| false).into_iter();
    let found = found.map(|(place, rule)| {
        let (code, help) = if COMPILED_REMOTE.iter().any(|remote| std::ptr::eq(remote, rule)) {
            let help = "ship the code with the skill, where it can be read before it runs";
            (Code::RemoteCode, help)
        } else {
            let help = "see what it fetches, and from where; the network is closed to scripts of \
                        projects unless the skill asks for it with `rights: {network: true}`";
            (Code::FetchingScript, help)
        };
        let place = trimmed(text, place);
        let message = format!("`{}` {}", excerpt(&text[place.clone()]), rule.what);
        Finding::new(code, place, message, help)
    });
    found.collect()
}

/// Returns the range without separators and blanks before it, and without blanks after it.
fn trimmed(text: &str, place: Range<usize>) -> Range<usize> {
    let is_around = |c: char| c.is_whitespace() || matches!(c, ';' | '&' | '|' | '(' | '$' | '`');
    let inner = text[place.clone()].trim_start_matches(is_around);
    let start = place.end - inner.len();
    start..start + inner.trim_end().len()
}
