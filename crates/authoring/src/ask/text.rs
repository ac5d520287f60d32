//! A request as one text, and calls of tools in a text, for programs that take a prompt and print a reply.

use std::fmt::Write as _;

use serde_json::Value;

use super::model::{Call, Request, Role, Tool};

/// The word that begins a line with a call.
const CALL: &str = "CALL";

/// Writes a request as one prompt. It says how a tool is called: by a line such as
/// `CALL use_skill {"skill": "pdf"}`.
pub fn request_text(request: &Request) -> String {
    let has_tools = !request.tools.is_empty();
    let [only] = request.messages.as_slice() else { return conversation(request) };
    if has_tools { conversation(request) } else { only.text.clone() }
}

fn conversation(Request { messages, tools }: &Request) -> String {
    let mut parts = Vec::new();
    let system = messages.iter().filter(|message| message.role == Role::System);
    parts.extend(system.map(|message| message.text.clone()));
    if !tools.is_empty() {
        parts.push(how_to_call(tools));
    }
    for message in messages {
        let author = match message.role {
            Role::System => continue,
            Role::User => "User",
            Role::Assistant => "You",
            Role::Tool => "Answer of the tool",
        };
        parts.push(format!("## {author}\n\n{}", written(&message.text, &message.calls)));
    }
    parts.join("\n\n")
}

/// Writes a text of a model with its calls below, but for those that are in the text already.
pub(super) fn written(text: &str, calls: &[Call]) -> String {
    let in_text = calls_in(text);
    let calls = calls.iter().filter(|call| !in_text.contains(call));
    let calls = calls.map(|call| format!("{CALL} {} {}", call.name, call.arguments));
    let lines = Some(text.to_owned()).filter(|text| !text.is_empty()).into_iter().chain(calls);
    lines.collect::<Vec<_>>().join("\n")
}

fn how_to_call(tools: &[Tool]) -> String {
    let mut text = format!(
        "## Tools\n\nTo call a tool, reply with a line such as `{CALL} NAME {{\"key\": \"value\"}}` and nothing else; \
         its answer follows. A reply without such a line is your answer to the user."
    );
    for Tool { name, description, parameters } in tools {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "\n\n- `{name}`: {description}\n  Arguments: {parameters}");
    }
    text
}

/// Finds the calls of tools in a reply: lines that begin with the word `CALL`, the name of a tool and a JSON object.
/// Marks of Markdown before the word are allowed, the object may go over several lines, and without an object the
/// arguments are empty.
pub fn calls_in(reply: &str) -> Vec<Call> {
    let mut calls = Vec::new();
    let mut start = 0;
    for line in reply.split_inclusive('\n') {
        let rest = line.trim_start_matches(|c: char| c.is_whitespace() || "`*->".contains(c));
        let position = start + line.len() - rest.len();
        start += line.len();
        let Some(after) = rest.strip_prefix(CALL).filter(|rest| rest.starts_with([' ', '\t']))
        else {
            continue;
        };
        let name = after.trim_start();
        let length =
            name.find(|c: char| !c.is_alphanumeric() && !"_-.".contains(c)).unwrap_or(name.len());
        if length == 0 {
            continue;
        }
        let behind = position + (rest.len() - name.len()) + length;
        calls
            .push(Call { name: name[..length].to_owned(), arguments: object_at(&reply[behind..]) });
    }
    calls
}

/// The marks of a model's thoughts, as models and the programs that run them print them.
const THOUGHTS: [(&str, &str); 3] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    // `ollama run`
    ("Thinking...\n", "...done thinking.\n"),
];

/// Returns a reply without the thoughts that it begins with: they are neither calls nor an answer.
pub fn without_thoughts(reply: &str) -> &str {
    let mut rest = reply.trim();
    // A model that is shown the first mark by its template prints the second one alone, on a line of its own.
    for (start, end) in &THOUGHTS[..2] {
        if let Some((thoughts, answer)) = rest.split_once(end)
            && thoughts.ends_with('\n')
            && !thoughts.contains(start)
        {
            rest = answer.trim_start();
        }
    }
    while let Some((start, end)) = THOUGHTS.iter().find(|(start, _)| rest.starts_with(start)) {
        let Some((_, answer)) = rest[start.len()..].split_once(end) else { return "" };
        rest = answer.trim_start();
    }
    rest
}

/// The JSON object that a text begins with, or an empty one.
fn object_at(text: &str) -> Value {
    let text = text.trim_start_matches([' ', '\t', '`', ':', '(']);
    let first = serde_json::Deserializer::from_str(text).into_iter().next();
    let object = first.and_then(Result::ok).filter(Value::is_object);
    object.unwrap_or_else(|| Value::Object(serde_json::Map::new()))
}

#[cfg(test)]
mod tests {
    use super::super::model::Message;
    use super::*;
    use serde_json::json;

    #[test]
    fn calls_are_found_as_models_write_them() {
        for (reply, expected) in [
            ("CALL use_skill {\"skill\": \"pdf\"}", vec![("use_skill", json!({"skill": "pdf"}))]),
            (
                "I load it.\n\n`CALL use_skill {\"skill\": \"pdf\"}`",
                vec![("use_skill", json!({"skill": "pdf"}))],
            ),
            (
                "- CALL find_skills {\n  \"query\": \"x\"\n}\n",
                vec![("find_skills", json!({"query": "x"}))],
            ),
            ("CALL a {}\nCALL b", vec![("a", json!({})), ("b", json!({}))]),
            ("CALL use_skill pdf", vec![("use_skill", json!({}))]),
            ("CALLING use_skill {}", vec![]),
            ("Please CALL use_skill {}", vec![]),
            ("CALL {}", vec![]),
            ("", vec![]),
        ] {
            let calls = calls_in(reply);
            let found: Vec<_> =
                calls.iter().map(|call| (call.name.as_str(), call.arguments.clone())).collect();
            assert_eq!(found, expected, "{reply}");
        }
    }

    #[test]
    fn thoughts_before_a_reply_are_no_part_of_it() {
        for (reply, expected) in [
            ("<think>\nI could\nCALL x {}\n</think>\n\nParis.", "Paris."),
            ("<thinking>a</thinking><think>b</think> Paris.", "Paris."),
            ("Thinking...\nI could\nCALL x {}\n...done thinking.\n\nParis.\n", "Paris."),
            ("It opens with the thought.\n</think>\nParis.", "Paris."),
            ("<think>without an end", ""),
            ("Use <think> and </think> for thoughts.", "Use <think> and </think> for thoughts."),
            ("Close it by </think>, please.", "Close it by </think>, please."),
            ("Thinking...", "Thinking..."),
            ("", ""),
        ] {
            assert_eq!(without_thoughts(reply), expected, "{reply}");
        }
    }

    #[test]
    fn a_message_alone_is_its_own_prompt() {
        let user = Message::new(Role::User, "merge two PDFs");
        let mut request = Request { messages: vec![user], tools: Vec::new() };
        assert_eq!(request_text(&request), "merge two PDFs");
        let parameters = json!({"type": "object"});
        request.tools.push(Tool { name: "t".into(), description: "Does it.".into(), parameters });
        request.messages.insert(0, Message::new(Role::System, "Be brief."));
        let call = Call { name: "t".into(), arguments: json!({"n": 1}) };
        request.messages.push(Message {
            role: Role::Assistant,
            text: String::new(),
            calls: vec![call],
        });
        request.messages.push(Message::new(Role::Tool, "Done."));
        // A call that stands in the text is not written twice.
        request.messages.push(Message {
            role: Role::Assistant,
            text: "So:\nCALL u {}".into(),
            calls: calls_in("CALL u {}"),
        });
        let text = request_text(&request);
        assert_eq!(text.matches("CALL u").count(), 1, "{text}");
        request.messages.pop();
        let text = request_text(&request);
        let order = [
            "Be brief.",
            "## Tools",
            "- `t`: Does it.",
            "## User\n\nmerge",
            "## You\n\nCALL t {\"n\":1}",
        ];
        let places: Vec<_> = order.iter().map(|part| text.find(part)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
        assert!(text.ends_with("## Answer of the tool\n\nDone."), "{text}");
        assert_eq!(calls_in(&text).len(), 1, "{text}");
    }
}
