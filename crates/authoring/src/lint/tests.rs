//! Tests of each rule, with examples where it fires and others where it does not.

use super::*;
use repertoire::catalog::{CatalogOptions, Source};
use repertoire::skill::Skill;

/// A skill with this name and this front matter; a specific description is added if that has none.
fn skill(name: &str, more: &str) -> Skill {
    let description = if more.contains("description:") {
        String::new()
    } else {
        format!("description: Grows tomatoes of {name}town and basil of {name}ville\n")
    };
    format!("---\nname: {name}\n{description}{more}\n---\n").parse().expect(more)
}

/// The findings about skills with these names and front matters.
fn found(skills: &[(&str, &str)]) -> Vec<Diagnostic> {
    let skills = skills.iter().map(|(name, more)| skill(name, more)).collect();
    let options = CatalogOptions::new(vec![Source::memory(skills)]);
    lint(&Catalog::load(&options))
}

fn codes(skills: &[(&str, &str)]) -> Vec<Code> {
    found(skills).into_iter().map(|diagnostic| diagnostic.code).collect()
}

/// One skill with triggers in flow style.
fn codes_of(triggers: &str) -> Vec<Code> {
    codes(&[("alpha", &format!("triggers: {{{triggers}}}"))])
}

#[test]
fn generic_triggers_are_found_by_what_messages_hold() {
    for fires in ["keywords: [code]", "keywords: [Files]", "verbs: [fix]", "keywords: [the]"] {
        assert_eq!(codes_of(fires), [Code::GenericTrigger], "{fires}");
    }
    for quiet in ["keywords: [terraform]", "keywords: [unit test coverage]", "verbs: [deploy]"] {
        assert_eq!(codes_of(quiet), [], "{quiet}");
    }
    // Every description of these says `tomatoes`, and no ordinary message does.
    let names: Vec<String> = (0..20).map(|n| format!("s{n}x{n}")).collect();
    let mut skills: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    skills.push(("zeta", "triggers: {keywords: [tomatoes]}"));
    assert_eq!(codes(&skills), []);
    skills.push(("eta", "triggers: {keywords: [table]}"));
    assert_eq!(codes(&skills), [Code::GenericTrigger]);
}

#[test]
fn shared_triggers_name_who_shares_them() {
    let claims = "triggers: {keywords: [Pull  Request]}";
    let others = "triggers: {verbs: [pull request]}";
    let found_by_two = found(&[("alpha", claims), ("beta", others), ("gamma", "")]);
    let told: Vec<(Code, bool)> =
        found_by_two.iter().map(|d| (d.code, d.message.contains("claimed by `"))).collect();
    assert_eq!(told, [(Code::SharedTrigger, true); 2], "{found_by_two:?}");
    assert_eq!(codes(&[("alpha", claims), ("beta", "triggers: {keywords: [pull requests]}")]), []);
    // The name of one word is a keyword.
    let named = codes(&[("deploy", ""), ("zeta", "triggers: {keywords: [deploy]}")]);
    assert_eq!(named, [Code::SharedTrigger]);
    assert_eq!(codes(&[("deploy", "triggers: {keywords: [deploy]}")]), []);
    let review = |more| codes(&[("code-review", ""), ("zeta", more)]);
    assert_eq!(review("triggers: {keywords: [code review]}"), [Code::SharedTrigger]);
    assert_eq!(review("triggers: {keywords: [quick code review, code reviewers]}"), []);
}

#[test]
fn outranked_triggers_are_those_that_cannot_come_first() {
    let claims = "triggers: {keywords: [pull request]}";
    let names = ["alpha", "beta", "gamma", "zeta", "eta"];
    let skills: Vec<(&str, &str)> = names.iter().map(|name| (*name, claims)).collect();
    let mut five = codes(&skills);
    five.sort_unstable();
    let (shared, outranked) = (Code::SharedTrigger, Code::OutrankedTrigger);
    assert_eq!(five, [shared, shared, shared, outranked, outranked]);
    let own = "triggers: {keywords: [code review]}";
    assert_eq!(codes(&[("code-review", own)]), []);
}

#[test]
fn vetoed_triggers_hold_an_exclude_of_their_own_skill() {
    for fires in [
        "keywords: [release branch], exclude: [branch]",
        "verbs: [Deploy], exclude: [deploy]",
        "keywords: [deploy to web], exclude: [to web]",
    ] {
        assert_eq!(codes_of(fires), [Code::VetoedTrigger], "{fires}");
    }
    for quiet in
        ["keywords: [branches], exclude: [branch]", "keywords: [branch], exclude: [release branch]"]
    {
        assert_eq!(codes_of(quiet), [], "{quiet}");
    }
    // A message that asks for the skill by name overrides an exclude.
    let of = |name, keyword| {
        codes(&[(name, &format!("triggers: {{keywords: [{keyword}], exclude: [branch]}}"))])
    };
    for (name, keyword, expected) in [
        ("release-branch", "use my Release Branch", &[][..]),
        ("branch", "branch skill", &[]),
        ("release-branch", "release branch", &[Code::VetoedTrigger]),
        ("release-branch", "release branches of branch", &[Code::VetoedTrigger]),
        ("release", "release branch", &[Code::VetoedTrigger]),
    ] {
        assert_eq!(of(name, keyword), expected, "{name}: {keyword}");
    }
}

#[test]
fn redundant_triggers_find_nothing_of_their_own() {
    for fires in [
        "keywords: [Terraform, terraform]",
        "keywords: [terraform], verbs: [terraform]",
        "keywords: [terraform], exclude: [Pulumi, pulumi]",
        r"keywords: [terraform], patterns: ['\bterraform\b']",
        r"keywords: [terraform, opentofu], patterns: ['\b(terraform|opentofu) apply\b']",
        "keywords: [state], patterns: ['terraform state list']",
    ] {
        let expected = if fires.contains("state") {
            vec![Code::GenericTrigger, Code::RedundantTrigger]
        } else {
            vec![Code::RedundantTrigger]
        };
        let mut codes = codes_of(fires);
        codes.sort_unstable();
        assert_eq!(codes, expected, "{fires}");
    }
    for quiet in [
        "keywords: [terraform, terraform plan]",
        "keywords: [terraform], patterns: [terraform]",
        r"keywords: [terraform], patterns: ['\bterraforms?\b']",
        r"keywords: [terraform], patterns: ['\b(terraform|pulumi)\b']",
        r"keywords: [terraform], patterns: ['\bterraform']",
    ] {
        assert_eq!(codes_of(quiet), [], "{quiet}");
    }
}

#[test]
fn untyped_triggers_have_the_form_of_something_else() {
    for fires in [
        r"keywords: ['deploy.*staging']",
        r"keywords: ['\bterraform\b']",
        "keywords: ['deploy|release']",
        "keywords: ['deploy <name>']",
        "keywords: ['deploy {name}']",
        "keywords: ['*.tfstate']",
        "keywords: ['how to deploy ...']",
        "keywords: [terraform], exclude: ['pulumi.*']",
        "keywords: ['<service> rollback']",
        "keywords: ['terraform…']",
        r"keywords: ['v\d+']",
    ] {
        assert_eq!(codes_of(fires), [Code::UntypedTrigger], "{fires}");
    }
    assert_eq!(codes_of("patterns: [\"terraform\\tplan\"]"), []);
    for typed in [
        "c++", ".net", "node.js", "a/b testing", "what is terraform?", "部署", "std::vector<int>",
        "Option<T>", "<div>", "||", "terraform | grep", r"\begin{document}", r"C:\build",
        r"D:\docs\web", "rest params ...args", "...",
    ] {
        assert_eq!(codes_of(&format!("keywords: ['{typed}']")), [], "{typed}");
    }
    // The finding shows the text as written, not in its folded form.
    for written in ["`…`", "`．*`", "`[A-Z`"] {
        let mark = written.trim_matches('`');
        let found = found(&[("alpha", &format!("triggers: ['terraform{mark}']"))]);
        assert!(found[0].message.contains(&format!("holds {written}")), "{found:?}");
    }
}

#[test]
fn patterns_are_told_that_are_broad_costly_or_demand_nothing() {
    let only = |pattern: &str| codes_of(&format!("patterns: ['{pattern}']"));
    assert_eq!(only(r"[a-z]+ing\d?|\d{4}"), [Code::PatternWithoutLiteral]);
    assert_eq!(only("[a-z]+ [a-z]+"), [Code::PatternWithoutLiteral, Code::BroadPattern]);
    assert_eq!(only("the"), [Code::BroadPattern]);
    assert_eq!(only(r"terraform\w{1,5}"), [Code::CostlyPattern]);
    for quiet in ["terraform", "(create|add).*endpoint", r"terraform \d+"] {
        assert_eq!(only(quiet), [], "{quiet}");
    }
}

#[test]
fn the_cost_of_a_pattern_grows_with_its_program() {
    let cost = |pattern: &str| pattern_cost(pattern).expect(pattern);
    assert!(cost("a{100}").steps > cost("a{10}").steps);
    assert!(cost(r"\w+x").bytes > cost("[a-z]+x").bytes);
    assert!(cost(r"\d+").always && !cost(r"v\d+").always);
    assert_eq!(pattern_cost("(a"), None);
    assert_eq!(pattern_cost(r"(\w{1000}){1000}"), None);
}

#[test]
fn similar_descriptions_are_told_of_each_other() {
    let same = "description: Converts recorded talks into polished show notes with chapters\n";
    let near = "description: converts recorded talks into polished Show Notes with chapters!\n";
    let other = "description: Converts recorded talks into a podcast feed with cover art\n";
    let similar = found(&[("alpha", same), ("beta", near), ("gamma", other)]);
    let codes: Vec<Code> = similar.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, [Code::SimilarDescription; 2]);
    assert!(similar.iter().any(|d| d.message.ends_with("`beta`")), "{similar:?}");
}

#[test]
fn vague_descriptions_hold_no_words_of_their_own() {
    for fires in [
        "Helps you with your code",
        "A skill that does things",
        "Use when needed",
        "A valid skill for testing purposes",
        "Use when working with context management",
        "Helps write better code",
        "Does one thing well. Use when the user asks for release",
        "THE BEST SKILL",
        "Use the API",
    ] {
        let description = format!("description: {fires}\n");
        assert_eq!(codes(&[("alpha", &description)]), [Code::VagueDescription], "{fires}");
    }
    for quiet in [
        "Azure CLI",
        "Plans terraform modules for AWS",
        "部署应用到服务器",
        "Schreibt Rechnungen",
        "SQL query expert",
        "API key management patterns",
        "UI component test patterns for your app",
        "Review of code for security and performance",
        "Server-sent updates",
        "'Use when the user says \"what will break\" or \"is it safe\"'",
    ] {
        let description = format!("description: {quiet}\n");
        assert_eq!(codes(&[("alpha", &description)]), [], "{quiet}");
    }
}

#[test]
fn a_word_that_all_descriptions_share_names_a_subject_with_another() {
    let described = |text: &str| format!("description: {text}\n");
    let (both, one) = (described("Zucchini and basil"), described("Use zucchini"));
    let names: Vec<String> = (0..8).map(|n| format!("s{n}")).collect();
    let mut skills: Vec<(&str, &str)> =
        names.iter().map(|name| (name.as_str(), both.as_str())).collect();
    assert_eq!(codes(&skills), []);
    skills.push(("zeta", &one));
    assert_eq!(codes(&skills), [Code::VagueDescription]);
}

#[test]
fn findings_stand_where_the_trigger_does_and_name_the_other_file() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["alpha", "beta"] {
        let text = format!(
            "\u{feff}---\r\nname: {name}\r\ndescription: Grows zucchini and {name} basil\r\n\
             triggers:\r\n  keywords:\r\n    - \"Pull Request\"\r\n---\r\n"
        );
        std::fs::create_dir(dir.path().join(name)).unwrap();
        std::fs::write(dir.path().join(name).join("SKILL.md"), text).unwrap();
    }
    let sources = vec![Source::project(dir.path())];
    let catalog = Catalog::load(&CatalogOptions::new(sources));
    let found = lint(&catalog);
    assert_eq!(found.len(), 2);
    let first = &found[0];
    assert_eq!((first.code, first.line, first.column), (Code::SharedTrigger, 6, 8));
    let other = dir.path().join("beta").join("SKILL.md").display().to_string();
    assert!(first.message.contains(&other), "{first}");
    assert!(found.iter().all(|diagnostic| !diagnostic.help.is_empty()));
}

#[test]
fn skills_that_are_never_matched_are_left_alone() {
    let claims = "triggers: {keywords: [pull request, code]}";
    let hidden = format!("disable-model-invocation: true\n{claims}");
    assert_eq!(codes(&[("alpha", &hidden), ("beta", &hidden)]), []);
}

#[test]
fn the_examples_of_the_documentation_fire() {
    let page = include_str!("../../../../docs/check.md");
    let rows: Vec<Vec<&str>> = page
        .lines()
        // The first section is about triggers; the profile `untrusted` has a table of its own.
        .take_while(|line| !line.starts_with("## "))
        .filter(|line| line.starts_with("| `"))
        // Findings about one file come from the library.
        .filter(|line| !line.starts_with("| `invisible-text`"))
        .filter(|line| !line.starts_with("| `lost-character`"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    assert_eq!(rows.len(), 11);
    for row in rows {
        let [_, code, severity, examples, ..] = row[..] else { panic!("{row:?}") };
        let code = code.trim_matches('`');
        let examples: Vec<&str> = examples.split('`').skip(1).step_by(2).collect();
        let alone = |example: &&str| match example.strip_prefix("description:") {
            Some(_) => vec![("alpha", (*example).to_owned())],
            None => vec![("alpha", format!("triggers: {{{example}}}"))],
        };
        let keyword = |phrase: &str| format!("triggers: [{phrase}]");
        let catalogs: Vec<Vec<(&str, String)>> = match code {
            "shared-trigger" => {
                vec![vec![("alpha", keyword(examples[0])), ("beta", keyword(examples[0]))]]
            }
            "outranked-trigger" => {
                let claim = keyword(examples[0]);
                vec![["alpha", "beta", "gamma", "zeta"].map(|name| (name, claim.clone())).to_vec()]
            }
            "vetoed-trigger" => {
                vec![vec![("alpha", format!("triggers: {{{}}}", examples.join(", ")))]]
            }
            // The page gives this example in words only.
            "similar-description" => {
                let same = "description: Converts recorded talks into polished show notes";
                vec![vec![("alpha", same.to_owned()), ("beta", same.to_owned())]]
            }
            _ => examples.iter().map(alone).collect(),
        };
        assert!(!catalogs.is_empty(), "{code} has no example");
        for catalog in catalogs {
            let catalog: Vec<(&str, &str)> =
                catalog.iter().map(|(name, more)| (*name, more.as_str())).collect();
            let found = found(&catalog);
            let fires = |finding: &Diagnostic| {
                finding.code.as_str() == code && finding.severity.to_string() == severity
            };
            assert!(found.iter().any(fires), "{code}: {catalog:?}: {found:?}");
        }
    }
}

#[test]
fn a_skill_that_no_budget_has_room_for_is_told_with_its_length() {
    let long = |n_bytes: usize| {
        let body = "x".repeat(n_bytes);
        skill("alpha", &format!("version: 1.0.0\n---\n{body}\n\n# Rest"))
    };
    let of = |skill: Skill| {
        lint(&Catalog::load(&CatalogOptions::new(vec![Source::memory(vec![skill])])))
    };
    assert_eq!(of(long(39_000)), []);
    let found = of(long(40_000));
    let [finding] = &found[..] else { panic!("{found:?}") };
    assert_eq!(finding.code, Code::OverBudget);
    let told = "over budget: full text of 400";
    assert!(finding.message.starts_with(told), "{finding:?}");
    assert!(finding.message.contains("characters, shown as a line"), "{finding:?}");
}
