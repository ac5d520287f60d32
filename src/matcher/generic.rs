//! Words that people say about anything, so that one of them alone says little about what is
//! wanted.
//!
//! A skill whose keyword is `test` or `review` is right when somebody wants tests, and wrong in
//! "the review is over, push it". Two words together, a pattern, or a name that is meant are surer.

use super::query::{Hit, HitKind, Match};

/// Words of one's work with an agent, in their plain forms: what is done to anything, what is
/// worked on everywhere, and what says how, when or how much. Sorted.
#[rustfmt::skip] // one word a line would be a page of nothing
const EVERYDAY: &[&str] = &[
    "access", "action", "actions", "active", "add", "agent", "agents", "analysis", "analyze",
    "answer", "app", "apply", "apps", "area", "article", "ask", "asset", "audit", "back", "base",
    "basic", "best", "better", "big", "block", "board", "book", "box", "brief", "bug", "bugs",
    "build", "business", "button", "call", "care", "case", "cases", "chain", "change", "changes",
    "channel", "chat", "check", "class", "clean", "clear", "client", "close", "code", "command",
    "comment", "comments", "commit", "common", "compare", "complete", "config", "connect",
    "content", "context", "convert", "copy", "create", "current", "customer", "data", "date",
    "day", "debug", "default", "define", "delete", "deploy", "design", "detail", "details", "dev",
    "diff", "different", "direct", "doc", "docs", "document", "documents", "done", "draft",
    "draw", "easy", "edit", "email", "end", "entry", "error", "errors", "event", "events",
    "example", "examples", "expert", "explain", "export", "extra", "fail", "fast", "feature",
    "features", "feedback", "field", "file", "files", "fill", "filter", "final", "find", "fine",
    "first", "fix", "flow", "folder", "follow", "form", "format", "forms", "free", "full",
    "function", "game", "generate", "goal", "goals", "good", "group", "guide", "handle", "help",
    "home", "host", "idea", "ideas", "image", "images", "implement", "import", "improve", "info",
    "input", "install", "issue", "issues", "item", "job", "key", "keys", "label", "language",
    "large", "layer", "layout", "learn", "length", "level", "line", "lines", "link", "links",
    "list", "load", "local", "log", "logs", "look", "main", "manage", "map", "mark", "meeting",
    "memory", "merge", "message", "method", "mobile", "mode", "model", "module", "money", "month",
    "move", "name", "network", "new", "news", "next", "node", "note", "notes", "number", "object",
    "office", "old", "open", "optimize", "option", "options", "order", "output", "package",
    "page", "pages", "parse", "part", "party", "path", "people", "performance", "person", "phone",
    "picture", "place", "plan", "plans", "play", "point", "policy", "port", "post", "power",
    "prepare", "print", "problem", "process", "product", "production", "profile", "program",
    "project", "projects", "prompt", "public", "pull", "push", "put", "query", "question",
    "questions", "quick", "rate", "read", "ready", "real", "record", "refactor", "release",
    "remote", "remove", "rename", "repo", "report", "reports", "request", "research", "reset",
    "resource", "response", "rest", "result", "results", "review", "rule", "rules", "run", "safe",
    "sample", "save", "schedule", "scope", "screen", "script", "scripts", "search", "section",
    "secure", "security", "select", "send", "server", "service", "set", "setup", "share", "shell",
    "ship", "short", "show", "simple", "site", "size", "slow", "small", "software", "solve",
    "source", "space", "spec", "speed", "standard", "start", "state", "status", "step", "steps",
    "stop", "store", "story", "string", "structure", "style", "summarize", "summary", "support",
    "switch", "system", "table", "tables", "tag", "task", "tasks", "team", "template", "test",
    "testing", "tests", "text", "theme", "thing", "things", "time", "title", "tool", "tools",
    "topic", "trace", "track", "train", "travel", "type", "types", "understand", "update",
    "upgrade", "upload", "url", "validate", "value", "verify", "version", "video", "view", "wait",
    "watch", "way", "web", "website", "week", "word", "words", "work", "workflow", "write",
    "writing", "year",
];

/// Whether `trigger` is a word that people say about anything.
pub(crate) fn is_everyday(trigger: &str) -> bool {
    EVERYDAY.binary_search(&trigger.to_lowercase().as_str()).is_ok()
}

/// The word by which alone a skill matches, if `is_generic` says of every one that it says little:
/// the skill is not named, and no phrase, pattern or path of it is found.
pub(crate) fn only_generic_word(found: &Match, is_generic: impl Fn(&str) -> bool) -> Option<&str> {
    let is_weak = |hit: &Hit| {
        !matches!(hit.kind, HitKind::Pattern | HitKind::Path) && is_generic(&hit.trigger)
    };
    let is_sure = found.explicit || found.phrase_words > 1 || !found.hits.iter().all(is_weak);
    if is_sure { None } else { found.hits.first().map(|hit| hit.trigger.as_str()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skill::SkillId;

    #[test]
    fn everyday_words_can_be_looked_up() {
        assert!(EVERYDAY.is_sorted_by(|a, b| a < b));
        assert!(is_everyday("Review") && !is_everyday("kubernetes") && !is_everyday(""));
    }

    #[test]
    fn a_match_is_weak_if_all_it_has_is_a_generic_word() {
        let hit =
            |kind, trigger: &str| Hit { kind, trigger: trigger.into(), span: 0..1, path: None };
        let found = |explicit, phrase_words, hits| Match {
            id: SkillId::new("x"),
            explicit,
            phrase_words,
            hits,
        };
        let weak = hit(HitKind::Keyword, "test");
        let name = hit(HitKind::Name, "review");
        for (found, expected) in [
            (found(false, 1, vec![weak.clone()]), Some("test")),
            (found(false, 1, vec![name.clone(), weak.clone()]), Some("review")),
            (found(true, 1, vec![name]), None),
            (found(false, 2, vec![weak.clone(), hit(HitKind::Keyword, "test it")]), None),
            (found(false, 1, vec![weak.clone(), hit(HitKind::Verb, "lint")]), None),
            (found(false, 1, vec![weak.clone(), hit(HitKind::Pattern, "test")]), None),
            (found(false, 0, vec![hit(HitKind::Path, "test")]), None),
        ] {
            assert_eq!(only_generic_word(&found, is_everyday), expected, "{found:?}");
        }
    }
}
