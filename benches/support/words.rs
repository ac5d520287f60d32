//! The words of skills and queries, most common first.

pub(crate) const VERBS: &[&str] = &[
    "create", "add", "write", "fix", "update", "review", "deploy", "test", "build", "check", "run",
    "generate", "convert", "analyze", "debug", "refactor", "migrate", "install", "configure",
    "format", "merge", "rename", "validate", "optimize", "document", "translate", "summarize",
    "extract", "export", "import", "publish", "release", "schedule", "monitor", "profile", "audit",
    "encrypt", "compress", "resize", "render", "draft", "archive", "annotate", "benchmark",
    "bisect", "cache", "compile", "containerize", "crawl", "decode", "diff", "download", "emulate",
    "encode", "estimate", "filter", "fork", "grade", "hash", "index", "inspect", "label", "lint",
    "localize", "minify", "mock", "normalize", "obfuscate", "parse", "patch", "plot", "provision",
    "query", "rebase", "record", "redact", "replicate", "restore", "rotate", "sanitize",
    "scaffold", "scrape", "seed", "serialize", "shard", "sign", "simulate", "sort", "squash",
    "stream", "stub", "throttle", "tokenize", "trace", "transcribe", "transpile", "tune", "unpack",
    "upload", "vendor",
];

pub(crate) const NOUNS: &[&str] = &[
    "file", "code", "test", "api", "data", "page", "report", "endpoint", "database", "image",
    "table", "component", "function", "project", "query", "server", "message", "email", "document",
    "schema", "config", "pipeline", "branch", "commit", "release", "ticket", "module", "service",
    "container", "cluster", "dashboard", "invoice", "spreadsheet", "chart", "button", "form",
    "route", "model", "migration", "token", "secret", "certificate", "log", "metric", "alert",
    "webhook", "queue", "worker", "cache", "index", "backup", "snapshot", "bucket", "volume",
    "network", "domain", "firewall", "proxy", "gateway", "session", "cookie", "header", "payload",
    "fixture", "snippet", "template", "layout", "stylesheet", "animation", "icon", "font",
    "palette", "translation", "locale", "currency", "calendar", "meeting", "agenda", "minutes",
    "budget", "forecast", "contract", "proposal", "resume", "recipe", "itinerary", "podcast",
    "transcript", "subtitle", "playlist", "dataset", "notebook", "regression", "classifier",
    "embedding", "prompt", "benchmark", "changelog", "license", "dependency", "package",
    "registry", "compiler", "parser", "lexer", "grammar", "iterator", "closure", "lifetime",
    "mutex", "semaphore", "scheduler", "allocator", "kernel", "driver", "firmware", "sensor",
    "bootloader", "hypervisor", "partition",
];

/// The syllables of invented words, such as the names of products and projects.
pub(crate) const SYLLABLES: &[&str] = &[
    "ka", "lo", "mi", "ren", "tor", "vex", "zu", "pal", "dri", "fen", "gor", "hy", "jin", "kel",
    "lum", "nar", "oc", "pi", "qua", "ris", "sol", "tan", "ul", "ver", "wex", "yo", "bra", "cin",
];

/// Filler words, which make up most of a query and which no skill declares.
pub(crate) const FILLERS: &[&str] = &[
    "the", "a", "please", "could", "you", "for", "our", "client", "and", "tell", "me", "which",
    "of", "it", "changed", "since", "last", "week", "with", "this", "that", "I", "need", "help",
    "to", "make", "sure", "before", "we", "ship", "because", "someone", "asked", "about",
    "yesterday", "in", "on", "from", "into", "quickly", "again", "under", "new", "old", "should",
    "not", "be",
];
