//! Two hundred real skills at once: each message shows the skill it is meant for, without a list of all
//! skills.

mod selection;

use std::collections::BTreeMap;
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use repertoire::catalog::Environment;
use repertoire::{Disclosure, Engine, Skill, Source};
use tempfile::TempDir;

use crate::support::{say, shared};

const N_SKILLS: usize = 200;

/// The minimum number of messages that must show their skill.
const MIN_VISIBLE: usize = 26;

/// The maximum number of lines for a message.
const MAX_LINES: usize = 5;

/// Messages, each with the skill it is meant for: every seventh skill of the selection, or the next one
/// if another skill would serve as well. All were written before any of them was tried.
const MESSAGES: [(&str, &str); 28] = [
    ("product-mockup", "put this screenshot on an iPhone so it looks nice in the app store"),
    ("gget", "pull the ensembl entry and the alphafold model of BRCA2 from the shell"),
    ("rot13-encryption", "encode this spoiler with rot13 before I post it"),
    ("blueprint", "この移行は大きいので、複数のPRに分けた段階的な計画を作ってください"),
    (
        "react-native-best-practices",
        "our FlatList stutters while scrolling on older android phones",
    ),
    (
        "migration-observability",
        "we backfill 40 million rows in prod on saturday. what should we graph, and when do we abort?",
    ),
    ("tui-design", "the panes of our ratatui file manager feel clumsy, make it more like lazygit"),
    ("obsidian-cli", "reload my obsidian plugin from the terminal and show me what it logs"),
    (
        "dispatching-coding-agents",
        "you're going in circles, ask codex what it thinks of this deadlock",
    ),
    (
        "context-compression",
        "the agent runs out of its window after two hours, how should we summarise older turns?",
    ),
    (
        "supabase-postgres-best-practices",
        "this postgres query does a seq scan over 2M rows, which index would help?",
    ),
    ("shadcn", "add a dialog and a combobox from shadcn to the settings page"),
    ("cirq", "simulate a two qubit circuit with realistic noise of google's sycamore chip"),
    ("data-analyst", "load orders.csv into pandas and tell me if the drop in march is significant"),
    ("build-mcp-app", "my mcp server should show a little form with a date picker inside the chat"),
    ("account-scoring", "rank the companies in our crm by how likely they are to buy"),
    ("setup", "mnemo writes to the wrong vault, point it to ~/notes"),
    ("valuation", "is nvidia overpriced at 45 times earnings?"),
    ("next-forge", "start a saas from next-forge and swap its auth package"),
    ("color-palette", "give me five shades of teal that stay readable in dark mode"),
    (
        "rag-perf",
        "how many users can query our rag pipeline before the first token takes too long?",
    ),
    ("linkedin-profile-optimizer", "recruiters never write to me, my linkedin headline is boring"),
    (
        "marketing-plan",
        "we have 20k for three months: how does our b2b startup get its first hundred customers?",
    ),
    ("json-canvas", "make a mind map of these notes as a .canvas file"),
    ("editing-letta-code-desktop-preferences", "switch letta desktop to the dark theme"),
    ("summarize", "what do they say in this youtube talk? I don't want to watch an hour"),
    ("networking", "guests on the wifi must not reach my NAS, put them on their own vlan"),
    ("minimax-pdf", "turn this resume into a pdf that looks like a designer made it"),
];

/// Copies the selection, and builds an engine with default options; `None` without the corpus.
fn catalog() -> Option<(TempDir, Engine)> {
    let corpus = shared("corpus/skills")?;
    let chosen = selection::choose(&corpus, N_SKILLS);
    assert_eq!(chosen.len(), N_SKILLS);
    let dir = tempfile::tempdir().unwrap();
    for skill in &chosen {
        let copy = dir.path().join(skill.name());
        std::fs::create_dir(&copy).unwrap();
        std::fs::copy(skill.path().unwrap(), copy.join("SKILL.md")).unwrap();
    }
    let builder = Engine::builder().source(Source::project(dir.path()));
    let engine = builder.environment(environment(&chosen, dir.path())).build().unwrap();
    assert_eq!(engine.catalog().entries().count(), N_SKILLS);
    Some((dir, engine))
}

/// Returns an environment that has the programs and variables which the skills require, with the programs below
/// `dir`.
fn environment(skills: &[Skill], dir: &Path) -> Environment {
    let programs = dir.join(".programs");
    std::fs::create_dir(&programs).unwrap();
    let mut variables = BTreeMap::from([("PATH".into(), programs.clone().into_os_string())]);
    for manifest in skills.iter().map(Skill::manifest) {
        for program in &manifest.requires_bins {
            let program = programs.join(&program.value);
            std::fs::write(&program, "").unwrap();
            #[cfg(unix)]
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let required = manifest.requires_env.iter();
        variables.extend(required.map(|name| (name.value.clone().into(), "set".into())));
    }
    Environment::Fixed(variables)
}

/// Tells whether the skill is shown, in full or as a line.
fn shows(shown: &Disclosure, id: &str) -> bool {
    shown.full.iter().chain(&shown.registry).any(|visible| visible.as_str() == id)
}

/// Asserts that enough messages show their skill.
fn assert_visible(engine: &Engine) {
    let catalog = engine.catalog();
    let mut hidden = Vec::new();
    let (mut n_lines, mut n_full) = (0, 0);
    for (name, message) in MESSAGES {
        let id = &catalog.find_any(name).unwrap().id;
        let shown = engine.disclose(message);
        n_lines += shown.registry.len();
        n_full += usize::from(shown.full.contains(id));
        if !shows(&shown, id.as_str()) {
            hidden.push(format!("{name}: {message}"));
        }
    }
    let (n_visible, n_messages) = (MESSAGES.len() - hidden.len(), MESSAGES.len());
    say(&format!("{n_visible} of {n_messages} visible, {n_full} in full, {n_lines} lines in all"));
    assert!(n_visible >= MIN_VISIBLE, "only {n_visible} are visible; not:\n{}", hidden.join("\n"));
}

fn assert_few_lines(engine: &Engine) {
    let too_many = MESSAGES.map(|(_, message)| (engine.disclose(message).registry.len(), message));
    let too_many: Vec<_> = too_many.iter().filter(|(n_lines, _)| *n_lines > MAX_LINES).collect();
    assert!(too_many.is_empty(), "{} messages: {too_many:#?}", too_many.len());
}

#[test]
fn the_right_skill_is_visible() {
    let Some((_dir, engine)) = catalog() else { return };
    assert_visible(&engine);
}

#[test]
fn a_message_costs_few_lines() {
    let Some((_dir, engine)) = catalog() else { return };
    assert_few_lines(&engine);
}
