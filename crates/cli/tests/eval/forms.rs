//! The published formats of prompt files, each through the library and through the command.

use repertoire_authoring::eval::{Case, read};
use serde_json::json;

use crate::binary::Place;

/// Formats the skills that a case expects, forbids and accepts.
fn wants(case: &Case) -> String {
    let Case { query, expected, forbidden, acceptable, line, .. } = case;
    let list = |names: &[String]| names.join(",");
    format!("{line} {query} +{} -{} ~{}", list(expected), list(forbidden), list(acceptable))
}

/// Files for the skills `x`, `y` and `z`, each with the cases that it contains.
const FORMS: &[(&str, &str, &[&str])] = &[
    (
        "none.json",
        "[{\"query\": \"a\", \"expected_skill\": \"\"},\n{\"query\": \"b\", \"expected\": \"none\"},\n\
         {\"query\": \"c\", \"expected_skills\": []},\n{\"query\": \"d\", \"expect\": null},\n\
         {\"query\": \"e\", \"expected_skill\": \"\", \"should_trigger\": false, \"skill\": \"x\"}]",
        &["1 a + - ~", "2 b + - ~", "3 c + - ~", "4 d + - ~", "5 e + -x ~"],
    ),
    (
        "skill.jsonl",
        "{\"message\":\"a\",\"skill\":\"x\"}\n{\"message\":\"b\",\"skill\":null}\n\
         {\"message\":\"c\",\"skill\":[\"x\",\"y\"]}\n\
         {\"message\":\"d\",\"skill\":[\"x\"],\"should_trigger\":false}\n",
        &["1 a +x - ~", "2 b + - ~", "3 c +x,y - ~", "4 d + -x ~"],
    ),
    (
        "relevant.jsonl",
        "{\"query\":\"a\",\"relevant\":[\"x\",\"y\"]}\n{\"query\":\"b\",\"relevant\":\"z\"}\n\
         {\"query\":\"c\",\"relevant\":[]}\n{\"task\":\"d\",\"relevant_skills\":[\"x\"]}\n",
        &["1 a +x,y - ~", "2 b +z - ~", "3 c + - ~", "4 d +x - ~"],
    ),
    (
        "skills.json",
        "{\"version\": 1, \"skills\": [\n{\"name\": \"x\",\n\"positive\": [\"a\",\n\"b\"], \
         \"negative\": [\"c\"]},\n{\"skill\": \"y\", \"positives\": [{\"prompt\": \"d\"}],\n\
         \"nearMiss\": [\"e\"], \"ambiguous\": [{\"prompt\": \"f\", \"expected\": [\"z\"]}]}]}",
        &["3 a +x - ~", "4 b +x - ~", "4 c + -x ~", "5 d +y - ~", "6 e + -y ~", "6 f +z - ~"],
    ),
    (
        "skills.yaml",
        "skills:\n  x:\n    positive:\n      - a\n  y:\n    negative: [b]\n",
        &["4 a +x - ~", "6 b + -y ~"],
    ),
    (
        "camel.json",
        "{\"skillName\": \"x\",\n\"shouldTriggerPrompts\": [\"a\"],\n\"shouldNotTriggerPrompts\": [\n\
         \"b\", {\"prompt\": \"c\", \"expectedSkill\": \"y\"}]}",
        &["2 a +x - ~", "4 b + -x ~", "4 c +y -x ~"],
    ),
    (
        "kebab.yaml",
        "skill-name: x\nshould-trigger: [a]\nshould-not-trigger:\n- b\n",
        &["2 a +x - ~", "4 b + -x ~"],
    ),
    (
        "camel.jsonl",
        "{\"userPrompt\":\"a\",\"shouldTrigger\":true,\"skillId\":\"x\"}\n\
         {\"Query\":\"b\",\"expected-skills\":[\"y\"],\"forbiddenSkills\":[\"x\"],\"acceptableSkills\":[\"z\"]}\n",
        &["1 a +x - ~", "2 b +y -x ~z"],
    ),
    (
        "scenarios.json",
        "{\"name\": \"suite\", \"scenarios\": [\n{\"prompt\": \"a\", \"expected_skill\": \"x\"}]}",
        &["2 a +x - ~"],
    ),
    (
        "suites.json",
        "[{\"skill\": \"x\", \"should_trigger\": [\"a\"]},\n{\"skill\": \"y\", \"checks\": [{\"prompt\": \
         \"b\", \"should_trigger\": false}]}]",
        &["1 a +x - ~", "2 b + -y ~"],
    ),
    (
        "polarity.json",
        "[{\"skill_name\": \"x\", \"polarity\": \"positive\", \"prompt\": \"a\"},\n\
         {\"skill_name\": \"x\", \"polarity\": \"negative\", \"prompt\": \"b\"}]",
        &["1 a +x - ~", "2 b + -x ~"],
    ),
    (
        "prose.json",
        "{\"skill\": \"x\", \"evals\": [{\"prompt\": \"a\", \"should_trigger\": true, \"expected\": \"writes a \
         file\"}]}",
        &["1 a +x - ~"],
    ),
    (
        "comments.jsonl",
        "// by hand\n{\"prompt\":\"a\",\"expect\":\"x\"}\n\n# more\n\
         {\"prompt\":\"b\",\"expected_owner\":\"y\",\"forbidden_owners\":[\"x\"]}\n",
        &["2 a +x - ~", "5 b +y -x ~"],
    ),
    (
        "verdicts.json",
        "[{\"skill\": \"x\", \"prompt\": \"a\", \"expect\": \"route\"},\n\
         {\"skill\": \"x\", \"prompt\": \"b\", \"expect\": \"do-not-route\"},\n\
         {\"targetSkill\": \"y\", \"prompt\": \"c\", \"expected\": \"no-trigger\"},\n\
         {\"prompt\": \"d\", \"expected\": \"do not route\"},\n\
         {\"skill\": \"z\", \"prompt\": \"e\", \"label\": 1, \"type\": \"route\"}]",
        &["1 a +x - ~", "2 b + -x ~", "3 c + -y ~", "4 d + - ~", "5 e +z - ~"],
    ),
    (
        "primary.json",
        "{\"cases\": [{\"prompt\": \"a\", \"expected_primary\": \"x\", \"expected_supporting\": [\"y\", \
         \"z\"]},\n{\"user-request\": \"b\", \"expectedPrimarySkill\": \"y\", \
         \"expected-supporting-skills\": [], \"should_not_trigger\": [\"x\"]},\n\
         {\"question\": \"c\", \"expected\": {\"primary\": \"z\", \"supporting\": [\"y\"]}}]}",
        &["1 a +x - ~y,z", "2 b +y -x ~", "3 c +z - ~y"],
    ),
    (
        "preferred.jsonl",
        "{\"request\":\"a\",\"preferred_skill\":\"x\",\"acceptable_skills\":[\"y\"],\"forbidden_skills\":[\"z\"]}\n\
         {\"request\":\"b\",\"preferredSkills\":[\"y\"],\"acceptable-skill\":\"x\",\"forbiddenSkill\":\"z\"}\n\
         {\"request\":\"c\",\"acceptable_skills\":[\"z\",\"y\"]}\n\
         {\"request\":\"d\",\"forbidden_skills\":[\"z\"]}\n\
         {\"request\":\"e\",\"expected_skill\":\"x\",\"near_miss_skills\":[\"y\"],\"must_not_trigger\":[\"z\"]}\n\
         {\"prompt\":\"f\",\"lead_skill\":\"x\",\"overlay_skills\":[\"y\"]}\n",
        &[
            "1 a +x -z ~y", "2 b +y -z ~x", "3 c +z - ~y", "4 d + -z ~", "5 e +x -y,z ~",
            "6 f +x - ~y",
        ],
    ),
    (
        "names.json",
        "[{\"prompt\": \"a\", \"should_trigger\": [\"x\"], \"should_not_trigger\": [\"y\", \"z\"]},\n\
         {\"request\": \"b\", \"shouldTrigger\": [], \"shouldNotTrigger\": [\"x\"]},\n\
         {\"query\": \"c\", \"must-fire\": [\"x\", \"y\"]},\n\
         {\"query\": \"d\", \"should_trigger\": []}]",
        &["1 a +x -y,z ~", "2 b + -x ~", "3 c +x,y - ~", "4 d + - ~"],
    ),
    (
        "requests.json",
        "{\"skill\": \"x\", \"should_trigger\": [{\"request\": \"a\", \"reason\": \"r\"}],\n\
         \"should_not_trigger\": [{\"request\": \"b\", \"better_fit\": \"y\", \"near_miss\": \"not that\"}]}",
        &["1 a +x - ~", "2 b + -x ~"],
    ),
    (
        "unflagged.json",
        "{\"skill_name\": \"x\", \"evals\": [{\"id\": 1, \"prompt\": \"a\", \"expected_output\": \"a file\", \
         \"assertions\": [{\"text\": \"it is there\"}]},\n{\"prompt\": \"b\", \"expected\": \"writes a file\"},\n\
         {\"prompt\": \"c\", \"type\": \"negative\"}, \"d\"]}",
        &["1 a +x - ~", "2 b +x - ~", "3 c + -x ~", "3 d +x - ~"],
    ),
    (
        "nested.yaml",
        "skill: x\ntrigger_tests:\n  should_trigger: [a]\n  should_not_trigger:\n    - b\n\
         tests:\n  - vars: {prompt: c, expected_skill: y}\n  - prompt: d\n    expect: {should_trigger: false}\n",
        &["3 a +x - ~", "5 b + -x ~", "7 c +y - ~", "8 d + -x ~"],
    ),
    (
        "by-name.yaml",
        "x:\n  trigger_prompts: [a]\n  non_trigger_prompts: [b]\ny: {positives: [c]}\n",
        &["2 a +x - ~", "3 b + -x ~", "4 c +y - ~"],
    ),
    (
        "suite-flag.json",
        "[{\"skill\": \"x\", \"should_trigger\": false, \"prompts\": [\"a\",\n\"b\"]},\n\
         {\"skill\": \"y\", \"prompts\": [\"c\"]}]",
        &["1 a + -x ~", "2 b + -x ~", "3 c +y - ~"],
    ),
    ("route.jsonl", "{\"prompt\":\"a\",\"expected\":{\"route\":\"x\"}}\n", &["1 a +x - ~"]),
];

#[test]
fn every_published_form_is_read_with_its_lines() {
    for (file, text, expected) in FORMS {
        let (cases, problems) = read(file, text, None);
        assert_eq!(problems, [], "{file}");
        assert_eq!(cases.iter().map(wants).collect::<Vec<_>>(), *expected, "{file}");
    }
}

/// Creates a place with the skills `x`, `y` and `z`, and `secret`, which only the user may invoke.
fn place() -> Place {
    let place = Place::new();
    for (name, more) in
        [("x", ""), ("y", ""), ("z", ""), ("secret", "disable-model-invocation: true\n")]
    {
        let front =
            format!("name: {name}\ndescription: Does {name}.\ntriggers: [do {name}]\n{more}");
        place.write(&format!("skills/{name}/SKILL.md"), format!("---\n{front}---\nBody\n"));
    }
    place
}

#[test]
fn the_command_leaves_nothing_of_them_out() {
    let place = place();
    for (file, text, expected) in FORMS {
        place.write(file, text);
        let report = place.run(["eval", file, "--source", "skills", "--json"]).exits(0).json();
        let told = |outcome: &serde_json::Value| {
            let list = |key: &str| {
                let ids: Vec<&str> = outcome[key]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|id| id.as_str().unwrap())
                    .collect();
                ids.join(",")
            };
            let (line, query) = (&outcome["line"], outcome["query"].as_str().unwrap());
            format!(
                "{line} {query} +{} -{} ~{}",
                list("expected"),
                list("forbidden"),
                list("acceptable")
            )
        };
        let told: Vec<String> = report["results"].as_array().unwrap().iter().map(told).collect();
        assert_eq!(told, *expected, "{file}");
    }
}

#[test]
fn prompts_belong_to_the_skill_whose_directory_they_stand_in() {
    let place = place();
    place.write("skills/y/nested/x-y/SKILL.md", "---\nname: x-y\ndescription: d\n---\nBody\n");
    place.write("skills/y/nested/hidden/SKILL.md", "---\nname: hidden\n---\n");
    let own = "[{\"query\": \"a\", \"should_trigger\": true}, {\"query\": \"b\", \"should_trigger\": false},\
               {\"query\": \"c\", \"should_trigger\": true, \"skill\": \"z\"}]";
    for (file, owner) in [
        ("skills/x/evals/evals.json", "x"),
        ("skills/x/triggers.json", "x"),
        ("skills/y/tests/deep/down/t.json", "y"),
        ("skills/y/nested/x-y/evals/t.json", "y/nested/x-y"),
        ("skills/y/nested/hidden/t.json", "y"),
    ] {
        place.write(file, own);
        let run = |args: &[&str]| {
            let all = ["eval", file, "--source", "skills", "--json"].into_iter();
            place.run(all.chain(args.iter().copied())).exits(0).json()["results"].clone()
        };
        let results = run(&[]);
        assert_eq!(results[0]["expected"], json!([owner]), "{file}");
        assert_eq!(results[1]["forbidden"], json!([owner]), "{file}");
        assert_eq!(results[2]["expected"], json!(["z"]), "{file}");
        // An option on the command line takes precedence over the file's place.
        assert_eq!(run(&["--skill", "z"])[0]["expected"], json!(["z"]), "{file}");
    }
    let file = "skills/x/evals/p.yaml";
    place.write(file, "should_trigger_prompts: [a]\n");
    let report = place.run(["eval", file, "--source", "skills", "--json"]).exits(0).json();
    assert_eq!(report["results"][0]["expected"], json!(["x"]));

    // A file that is named after a skill, or kept in a directory that is, belongs to it.
    for (file, owner) in [
        ("evals/x.json", "x"),
        ("evals/trigger-x.json", "x"),
        ("tests/X.evals.json", "x"),
        ("evals/y/cases.json", "y"),
        ("evals/x-y.json", "y/nested/x-y"),
    ] {
        place.write(
            file,
            "[\"a\", {\"request\": \"b\"}, {\"query\": \"c\", \"should_trigger\": false}]",
        );
        let report = place.run(["eval", file, "--source", "skills", "--json"]).exits(0).json();
        let results = &report["results"];
        assert_eq!(results[0]["expected"], json!([owner]), "{file}");
        assert_eq!(results[1]["expected"], json!([owner]), "{file}");
        assert_eq!(results[2]["forbidden"], json!([owner]), "{file}");
    }

    // Prompts that lie next to the skills, or inside a skill of another source, belong to no skill.
    place.write("evals/t.json", own);
    place.write("x/t.json", own);
    for (file, source) in [
        ("evals/t.json", "skills"),
        ("x/t.json", "skills"),
        ("skills/x/evals/evals.json", "skills/y"),
    ] {
        let run = place.run(["eval", file, "--source", source]).exits(1);
        assert!(run.stderr.contains("keep the file below the directory of its skill"), "{run:?}");
    }
}

#[test]
fn what_only_the_user_may_invoke_is_not_counted_and_told() {
    let place = place();
    place.write(
        "p.jsonl",
        "{\"query\": \"do secret\", \"expected\": \"secret\"}\n\
         {\"query\": \"/secret\", \"expected\": \"secret\"}\n\
         {\"query\": \"do x and secret\", \"expected\": [\"x\", \"secret\"]}\n\
         {\"query\": \"nothing\", \"skill\": \"secret\", \"should_trigger\": false}\n",
    );
    let run = place.run(["eval", "p.jsonl", "--source", "skills", "--json"]).exits(0);
    let report = run.json();
    assert_eq!((&report["cases"], &report["recall"]), (&json!(2), &json!(1.0)));
    assert_eq!((&report["top1"], &report["false_fire"]), (&json!(1.0), &json!(0.0)));
    assert_eq!(report["user_only"], json!([{"id": "secret", "prompts": 3}]));
    assert_eq!(report["problems"], json!([]));
    let note = "not counted: 3 prompts expect `secret`, which only the user may invoke";
    assert!(run.stderr.contains(note), "{run:?}");
}

/// Lines with findings, each with a part of the finding's message.
type Named = &'static [(usize, &'static str)];

#[test]
fn what_is_bad_is_named_with_its_line_and_with_what_to_write() {
    let cases: &[(&str, &str, usize, Named)] = &[
        ("a.csv", "prompt,should_trigger\na,true\n", 0, &[(1, "tables are not read: write JSON")]),
        ("a.json", "[]", 0, &[(1, "no prompts")]),
        (
            "skills.json",
            "{\"skills\": [{\"name\": \"x\"},\n{\"positive\": [\"a\"]},\n{\"name\": \"y\", \"positive\": [7,\n\"b\"]},\n\
             \"z\"]}",
            1,
            &[
                (1, "add lists `positive` and `negative`"),
                (2, "add `skill: NAME`"),
                (3, "a number, not a prompt: write text"),
                (5, "text, not a map with the prompts of a skill: write `name`"),
            ],
        ),
        (
            "a.jsonl",
            "{\"query\":\"a\",\"expected\":{\"other\":\"x\"}}\n\"text\"\n\
             {\"evals\":[{\"query\":\"b\",\"expected\":\"x\"}],\"skill\":7}\n{\"query\":\"c\",\"relevant\":true}\n\
             {\"query\":\"d\",\"should_trigger\":\"maybe\"}\n{\"query\":\" \",\"expected\":\"x\"}\n\
             {\"query\":\"e\",\"should_trigger\":true}\n{\"query\":\"f\"}\n",
            1,
            &[
                (1, "write a name, or `[]` for none"),
                (2, "write `{\"query\""),
                (3, "`skill` is a number, not a name: write the name"),
                (4, "`relevant` is a truth value, not the name of a skill"),
                (5, "`should_trigger` is text, not true or false: write `true`"),
                (6, "blank: write"),
                (7, "add `expected_skill`"),
                (8, "add `should_trigger`"),
            ],
        ),
    ];
    for (file, text, n_cases, expected) in cases {
        let (cases, problems) = read(file, text, None);
        assert_eq!(cases.len(), *n_cases, "{file}: {problems:?}");
        assert_eq!(problems.len(), expected.len(), "{file}: {problems:?}");
        for (problem, (line, part)) in problems.iter().zip(*expected) {
            assert_eq!(problem.line, *line, "{file}: {problem:?}");
            assert!(problem.message.contains(part), "{file}: {problem:?}");
        }
        let place = place();
        place.write(file, text);
        let run = place.run(["eval", file, "--source", "skills"]).exits(1);
        for (line, part) in *expected {
            let is_told = |told: &str| {
                told.starts_with(&format!("{file}:{line}: left out: ")) && told.contains(part)
            };
            assert!(run.stderr.lines().any(is_told), "{file}:{line} {part}: {run:?}");
        }
    }
}
