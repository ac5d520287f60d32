//! Many published skills in an agent's own directory: what the model gets beside the list that the agent makes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::binary::Place;
use crate::live::model::Model;
use crate::programs::{self, Agent};
use crate::recording::{self, Recording};
use crate::{DEADLINE, Trial};

/// The catalog, of which at least 200 skills are in the corpus, with their authors' messages.
const CATALOG: &str = "NVIDIA+skills";
/// The length of the beginning of a description by which it is told that the model has it, in characters.
const BEGINNING: usize = 60;
/// The least length of the part of a description that tells as much, in a line that is shortened.
const PART: usize = 30;
/// Messages that no skill of the catalog is for.
const IDLE: [&str; 15] = [
    "thanks, that was helpful",
    "yes, go on",
    "what is the capital of France?",
    "write a haiku about autumn",
    "can you say that again in fewer words?",
    "what day was the first of March this year?",
    "no, the other one",
    "please translate 'good morning' to Italian",
    "how do you spell 'accommodate'?",
    "undo that",
    "who wrote Moby-Dick?",
    "ok",
    "what did we say about lunch?",
    "let us stop here for today",
    "is a tomato a fruit?",
];

/// A skill of the catalog, and a message that its authors wrote for it.
struct Case {
    name: String,
    description: String,
    message: String,
}

/// Returns the directory of the corpus, if it stands beside the repository.
fn corpus() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let found = dir.ancestors().map(|dir| dir.join("shared/corpus")).find(|dir| dir.is_dir());
    if found.is_none() {
        eprintln!("SKIPPED: there is no corpus of published skills beside the repository");
    }
    found
}

fn rows(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Copies the first `n_skills` skills of the catalog into the agent's own directory. Returns `n_cases` messages, each
/// for another of them.
fn copy_skills(corpus: &Path, trial: &Trial<'_>, [n_skills, n_cases]: [usize; 2]) -> Vec<Case> {
    let catalog = corpus.join("routing/catalogs").join(CATALOG);
    let skills = rows(&catalog.join("catalog.jsonl"));
    let file_of =
        |skill: &Value| corpus.join("skills").join(CATALOG).join(skill["path"].as_str().unwrap());
    let skills: Vec<&Value> = skills.iter().filter(|skill| file_of(skill).exists()).collect();
    let skills = &skills[..n_skills];
    for skill in skills {
        let name = skill["name"].as_str().unwrap();
        let text = fs::read_to_string(file_of(skill)).unwrap();
        trial.place.write(&format!("{}/{name}/SKILL.md", trial.agent.own_skills), text);
    }
    let messages = rows(&catalog.join("cases.jsonl"));
    let case = |skill: &&Value| {
        let name = skill["name"].as_str().unwrap();
        // A message with the skill's name would be answered without a description, and OpenCode quotes others anew.
        let message = messages.iter().find(|case| {
            let expected = case["expected"].as_array();
            let is_only = expected.is_some_and(|of| of.len() == 1 && of[0] == name);
            let query = case["query"].as_str().unwrap();
            is_only && !query.contains(name) && !query.contains(['"', '\n'])
        })?;
        Some(Case {
            name: name.to_owned(),
            description: skill["description"].as_str().unwrap().to_owned(),
            message: message["query"].as_str().unwrap().to_owned(),
        })
    };
    let cases: Vec<Case> = skills.iter().filter_map(case).collect();
    assert!(cases.len() >= n_cases, "{} messages", cases.len());
    let step = cases.len() / n_cases;
    cases.into_iter().step_by(step).take(n_cases).collect()
}

/// Returns the trial of `agent` with hooks whose answers are recorded.
fn trial(agent: &Agent) -> Trial<'_> {
    let place = Place::new();
    place.write("README.md", "# A project\n");
    programs::git_init(place.path());
    let trial = Trial { agent, place, model: Model::start().unwrap() };
    agent.configure(&trial.place, &trial.model);
    let hook = ["hook", "install", agent.program.agent, "--deadline", DEADLINE];
    trial.place.run(hook).exits(0);
    recording::begin(agent, &trial.place);
    trial
}

/// Tells whether `request` has the description of a skill, or its instructions.
fn is_described(request: &Value, case: &Case) -> bool {
    let request = request.to_string();
    let description = folded(&case.description);
    let is_part = |line: &str| {
        let text = line.split_once("; ").map_or(line, |(_, text)| text);
        let part = folded(text.trim_end_matches('…'));
        part.chars().count() >= PART && description.contains(&part)
    };
    let beginning: String = description.chars().take(BEGINNING).collect();
    folded(&request).contains(&beginning)
        || request.contains(&format!("## Skill: {}\\n", case.name))
        || request
            .split("\\n")
            .any(|line| line.strip_prefix(&format!("- {}: ", case.name)).is_some_and(is_part))
}

/// Returns the text with runs of white space as one space, without characters that JSON escapes.
fn folded(text: &str) -> String {
    let text = text.replace("\\n", " ").replace(['\\', '"'], "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Counts the messages with which the model gets the description of the right one of 200 skills, or its instructions.
/// Returns what is wrong.
pub(crate) fn of_two_hundred(agent: &Agent) -> Option<String> {
    const ENOUGH: usize = 25;
    let corpus = corpus()?;
    let trial = trial(agent);
    let cases = copy_skills(&corpus, &trial, [200, 28]);
    let is_told = |case: &&Case| is_described(&trial.say(&case.message, false), case);
    let (described, rest): (Vec<&Case>, Vec<&Case>) = cases.iter().partition(is_told);
    let rest: Vec<&str> = rest.iter().map(|case| case.name.as_str()).collect();
    let title = agent.program.title;
    eprintln!("{title}: {} of {} described, not {rest:?}", described.len(), cases.len());
    (described.len() < ENOUGH).then(|| format!("{title}: not described: {rest:?}"))
}

/// Finds out what the hook adds in a conversation of 30 messages over 60 skills, half of them for none: nothing twice,
/// nothing for an idle message, 1,400 characters in all. Returns what is wrong.
pub(crate) fn of_sixty(agent: &Agent) -> Option<String> {
    const MOST: usize = 1400;
    let corpus = corpus()?;
    let trial = trial(agent);
    let cases = copy_skills(&corpus, &trial, [60, IDLE.len()]);
    for (n, (case, idle)) in cases.iter().zip(IDLE).enumerate() {
        trial.say(&case.message, n > 0);
        trial.say(idle, true);
    }
    let added = Recording::read(agent, &trial.place).added();
    let of_idle: Vec<&(String, String)> = added
        .iter()
        .filter(|(message, added)| IDLE.contains(&message.as_str()) && !added.is_empty())
        .collect();
    let has_twice = |(_, added): &&(String, String)| {
        let lines: Vec<&str> = added.lines().filter(|line| line.starts_with("- ")).collect();
        lines.iter().collect::<BTreeSet<_>>().len() < lines.len()
    };
    let twice: Vec<_> = added.iter().filter(has_twice).collect();
    let n_chars: usize = added.iter().map(|(_, added)| added.chars().count()).sum();
    let title = agent.program.title;
    eprintln!("{title}: {n_chars} characters in {} messages: {added:#?}", added.len());
    let is_right = of_idle.is_empty() && twice.is_empty() && n_chars <= MOST;
    (!is_right).then(|| format!("{title}: {n_chars} characters, idle {of_idle:?}, twice {twice:?}"))
}
