//! Runs the agent of `examples/agent_loop` as a program: twelve turns, in which tools that were offered
//! stay.

use std::path::Path;
use std::process::Command;

use crate::plugin;

/// Splits the printed conversation into turns.
fn turns(printed: &str) -> Vec<&str> {
    let starts = |n: usize| format!("\n{n}. ");
    let starts = (1..).map(|n| printed.find(&starts(n))).take_while(Option::is_some).flatten();
    let starts: Vec<usize> = starts.chain([printed.len()]).collect();
    starts.windows(2).map(|pair| &printed[pair[0]..pair[1]]).collect()
}

/// Returns the numbers of tools that the model was offered.
fn n_offered(turn: &str) -> Vec<usize> {
    turn.lines().filter_map(|line| line.split_once(" tools; ")?.0.trim().parse().ok()).collect()
}

#[test]
fn the_agent_of_the_example_holds_twelve_turns_with_tools_that_stay() {
    plugin::of_workspace("hello-toolset");
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let args = ["build", "--locked", "-p", "agent-loop"];
    let built = plugin::built(root, &args, "agent-loop");
    let example = built.iter().find_map(|message| message["executable"].as_str()).unwrap();
    let output = Command::new(example).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(!printed.contains("NOT OFFERED") && !printed.contains("→ INVALID_PARAM"), "{printed}");

    let turns = turns(&printed);
    assert_eq!(turns.len(), 12, "{printed}");
    let offered: Vec<usize> = turns.iter().flat_map(|turn| n_offered(turn)).collect();
    assert!(offered.is_sorted() && offered[0] < offered[1], "{offered:?}");
    for (number, told) in [
        (1, "[the user agrees to `greeter`]"),
        (1, "Hello, Ana!"),
        (2, "its instructions, given above, apply"),
        (2, "Hello, Bob!"),
        (3, "→ [4 skills available]"),
        (4, "   → 3\n"),
        (5, "runs as a task"),
        (5, "[task 1 of `research`: "),
        (6, "Write the release notes of version v2"),
        (7, "- research: runs as a task"),
        (8, "→ ## Skill: "),
        (9, "haiku: needs the user's consent"),
        (10, "Hello, Carla!"),
        (11, "are in this conversation already"),
        (12, "Hello, Dora!"),
    ] {
        assert!(turns[number - 1].contains(told), "{number}: {told}\n{printed}");
    }
    assert_eq!(printed.matches("[the user agrees to `greeter`]").count(), 1, "{printed}");
}
