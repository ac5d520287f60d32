//! Suggested triggers: writing them to a file changes nothing else, and they match the intended
//! messages.

use std::collections::BTreeMap;
use std::path::Path;

use repertoire::catalog::CatalogOptions;
use repertoire::eval::{Report, evaluate, read};
use repertoire::suggest::{Proposal, Suggestion, suggest, suggest_all, triggers};
use repertoire::{Catalog, DisclosureOptions, Engine, Remedy, Skill, SkillId, Source};
use serde_json::Value;

use crate::support::{say, shared};

fn catalog(skills: &[&str]) -> Catalog {
    let skills = skills.iter().map(|text| text.parse::<Skill>().unwrap()).collect();
    Catalog::load(&CatalogOptions::new(vec![Source::memory(skills)]))
}

fn of_keywords(keywords: &[&str]) -> Suggestion {
    let proposal = |keyword: &&str| Proposal { keyword: (*keyword).to_owned(), uses: 9, others: 0 };
    Suggestion { id: SkillId::new("x"), keywords: keywords.iter().map(proposal).collect() }
}

#[test]
fn what_is_a_skills_own_is_proposed_and_what_is_not_is_not() {
    let letters = "---\nname: letters\ndescription: Sends dunning letters for invoices. Do not use \
                   for payroll runs.\n---\n# Dunning letters\nEach dunning letter names the \
                   invoices. Dunning letters are files. Dunning is code.\n";
    let payroll = "---\nname: payroll\ndescription: Prepares payroll runs from time sheets and \
                   invoices\n---\nPayroll runs. Payroll needs time sheets. A payroll file.\n";
    let catalog = catalog(&[letters, payroll]);
    let keywords = |id: &str| -> Vec<String> {
        let suggestion = suggest(&catalog, id).unwrap();
        suggestion.keywords.into_iter().map(|proposal| proposal.keyword).collect()
    };
    let of_letters = keywords("letters");
    assert!(of_letters.iter().any(|keyword| keyword.starts_with("dunning")), "{of_letters:?}");
    for wrong in ["payroll", "invoices", "file", "files", "code", "payroll runs"] {
        assert!(!of_letters.iter().any(|keyword| keyword == wrong), "{of_letters:?}");
    }
    let of_payroll = keywords("payroll");
    assert!(of_payroll.iter().any(|keyword| keyword == "time sheets"), "{of_payroll:?}");
    assert!(!of_payroll.iter().any(|keyword| keyword == "payroll"), "a name counts by itself");
    assert_eq!(suggest(&catalog, "paid").unwrap_err().code().as_str(), "NOT_FOUND");
}

#[test]
fn uses_are_counted_as_they_stand_and_turns_of_phrase_are_no_triggers() {
    let port = "---\nname: porter\ndescription: Moves plugins to another engine after a change was \
                made, to split or port dunning letters. Handles shader bytecode.\n---\n# Dunning \
                letters\nDunning letters.\n";
    let catalog = catalog(&[port, "---\nname: other\ndescription: Answers mail.\n---\nMail\n"]);
    let suggestion = suggest(&catalog, "porter").unwrap();
    let uses = |keyword: &str| {
        let found = suggestion.keywords.iter().find(|proposal| proposal.keyword == keyword);
        found.map(|proposal| proposal.uses)
    };
    // It occurs in the description, in a heading and in a line.
    assert_eq!(uses("dunning"), Some(3), "{suggestion:?}");
    assert_eq!(uses("shader bytecode"), Some(1), "{suggestion:?}");
    for turn in ["another engine", "change was made", "split or port"] {
        assert_eq!(uses(turn), None, "{suggestion:?}");
    }
}

#[test]
fn a_block_is_inserted_and_every_other_byte_kept() {
    let block = "triggers:\n  keywords:\n    - foo bar\n    - 'c++'\n";
    for (before, after) in [
        ("---\nname: x\ndescription: d\n---\nB\n", ("---\nname: x\ndescription: d\n", "---\nB\n")),
        (
            "\u{feff}---\nname: x\ndescription: d # c\n# end\n---",
            ("\u{feff}---\nname: x\ndescription: d # c\n# end\n", "---"),
        ),
        (
            "--- \nname: x\ndescription: |+\n  d\n\n---\n---\nB",
            ("--- \nname: x\ndescription: |+\n  d\n\n", "---\n---\nB"),
        ),
        (
            "---\nname: x\ndescription: d\nmetadata:\n  a: b\n---\n",
            ("---\nname: x\ndescription: d\nmetadata:\n  a: b\n", "---\n"),
        ),
    ] {
        let written = of_keywords(&["foo bar", "c++"]).insert_into(before, false).unwrap();
        assert_eq!(written, format!("{}{block}{}", after.0, after.1));
    }
    let crlf = "---\r\nname: x\r\ndescription: d\r\n---\r\nB";
    let written = of_keywords(&["a"]).insert_into(crlf, false).unwrap();
    assert!(
        written.contains("d\r\ntriggers:\r\n  keywords:\r\n    - a\r\n---\r\nB"),
        "{written:?}"
    );
    let indented = "---\n  name: x\n  description: d\n---\nB";
    let written = of_keywords(&["a"]).insert_into(indented, false).unwrap();
    assert!(written.contains("\n  triggers:\n    keywords:\n      - a\n---"), "{written:?}");
}

#[test]
fn declared_triggers_are_replaced_only_on_request() {
    let suggestion = of_keywords(&["new"]);
    for old in [
        "triggers: [old, older]\n",
        "triggers: old, older # both\n",
        "triggers:\n- old\n",
        "triggers:\n  keywords: [old]\n  exclude:\n    - older\n",
    ] {
        let text = format!("---\nname: x\n{old}description: d\n---\nB\n");
        let error = suggestion.insert_into(&text, false).unwrap_err();
        assert!(error.message().contains("declares triggers already"), "{error}");
        let written = suggestion.insert_into(&text, true).unwrap();
        assert_eq!(
            written, "---\nname: x\ntriggers:\n  keywords:\n    - new\ndescription: d\n---\nB\n",
            "{old}"
        );
    }
}

#[test]
fn help_never_names_a_way_that_is_refused() {
    let suggestion = of_keywords(&["new"]);
    for (old, replaces) in [
        ("triggers: [old]\n", true),
        ("triggers: {}\n", true),
        ("triggers:\n  exclude: [old]\n", true),
        ("metadata:\n  triggers: [old]\n", false),
        ("activation:\n  keywords: [old]\n", false),
        ("paths: ['*.rs']\n", false),
        ("triggers: {}\nmetadata:\n  triggers: [old]\n", false),
        ("triggers: [older]\npaths: ['*.rs']\n", false),
    ] {
        let text = format!("---\nname: x\ndescription: d\n{old}---\nB\n");
        let error = suggestion.insert_into(&text, false).unwrap_err();
        let is_told = error.remedy() == Some(&Remedy::ReplaceTriggers);
        assert_eq!(is_told, replaces, "{old}: {error}");
        assert_eq!(suggestion.insert_into(&text, true).is_ok(), replaces, "{old}");
    }
}

#[test]
fn what_cannot_be_written_exactly_is_refused_with_the_reason() {
    for (text, why) in [
        ("# No front matter\n", "no front matter"),
        ("---\nname: x\ndescription: Use when: asked\n---\n", "not valid YAML"),
        ("\n---\nname: x\ndescription: d\n---\n", "first line"),
        ("---\nname: x\ndescription: d\n", "never closed"),
        ("---\n{name: x, description: d}\n---\n", "not a block"),
        ("---\nname: x\ndescription: d\nmetadata:\n  triggers: [a]\n---\n", "another key"),
        ("---\nname: x\ndescription: d\nactivation:\n  keywords: [a]\n---\n", "another key"),
        ("", "empty"),
    ] {
        let error = of_keywords(&["a"]).insert_into(text, true).unwrap_err();
        assert!(error.message().contains(why), "{text:?}: {error}");
        assert!(!error.help().is_empty());
    }
    assert!(of_keywords(&[]).insert_into("---\nname: x\ndescription: d\n---\n", false).is_err());
}

#[test]
fn real_files_change_by_the_inserted_lines_only() {
    let Some(corpus) = shared("corpus/skills") else { return };
    let (files, _) = repertoire::catalog::skill_files(&corpus, false);
    let suggestion = of_keywords(&["dunning letter", "c++", "it's", "no"]);
    let (mut n_written, mut refused) = (0, BTreeMap::<String, usize>::new());
    for file in &files {
        let Ok(text) = std::fs::read_to_string(file) else { continue };
        let Ok(before) = Skill::load(file, "repertoire") else { continue };
        let replaces = before.triggers().declared;
        let written = match suggestion.insert_into(&text, replaces) {
            Ok(written) => written,
            Err(error) => {
                *refused.entry(error.message().chars().take(60).collect()).or_default() += 1;
                continue;
            }
        };
        n_written += 1;
        let end = if text.starts_with("---\r\n") { "\r\n" } else { "\n" };
        let at = written.find("triggers:").unwrap();
        let start = written[..at].rfind('\n').unwrap() + 1;
        let n_lines = 6;
        let block: usize = written[start..].split_inclusive('\n').take(n_lines).map(str::len).sum();
        if !replaces {
            let without = format!("{}{}", &written[..start], &written[start + block..]);
            assert_eq!(without, text, "{}", file.display());
        }
        assert!(written[start..start + block].ends_with(end));
        let dir = tempfile::tempdir().unwrap();
        let copy = dir.path().join("SKILL.md");
        std::fs::write(&copy, &written).unwrap();
        let after = Skill::load(&copy, "repertoire").unwrap();
        let keywords: Vec<&str> =
            after.triggers().keywords.iter().map(|keyword| keyword.value.as_str()).collect();
        assert_eq!(keywords, ["dunning letter", "c++", "it's", "no"], "{}", file.display());
        assert_eq!(after.body().unwrap(), before.body().unwrap());
        assert_eq!(after.description(), before.description());
        let codes = |skill: &Skill| -> Vec<&str> {
            skill.diagnostics().iter().map(|diagnostic| diagnostic.code.as_str()).collect()
        };
        let (old, new) = (codes(&before), codes(&after));
        assert!(new.iter().all(|code| old.contains(code)), "{}: {new:?}", file.display());
    }
    say(&format!("{n_written} of {} files written; refused: {refused:#?}", files.len()));
    assert!(n_written * 10 > files.len() * 9, "{n_written} of {}", files.len());
}

/// Returns the skills of a routing catalog, and its prompts.
fn routing(dir: &Path, corpus: &Path) -> Option<(Vec<Skill>, String)> {
    let name = dir.file_name()?.to_string_lossy().into_owned();
    let rows = std::fs::read_to_string(dir.join("catalog.jsonl")).ok()?;
    let mut skills: Vec<Skill> = Vec::new();
    for row in rows.lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let file = row["path"].as_str().map(|path| corpus.join("skills").join(&name).join(path));
        let body = file.and_then(|file| Skill::load(&file, "repertoire").ok());
        let body = body.as_ref().and_then(|skill| skill.body().ok()).unwrap_or_default().to_owned();
        let fields = ["name", "description", "when_to_use", "triggers", "metadata", "activation"];
        let written = fields.iter().filter(|field| !row[**field].is_null());
        let front: Vec<String> = written.map(|field| format!("{field}: {}", row[*field])).collect();
        let skill: Skill = format!("---\n{}\n---\n{body}", front.join("\n")).parse().unwrap();
        if skills.iter().all(|known| known.name() != skill.name()) {
            skills.push(skill);
        }
    }
    Some((skills, std::fs::read_to_string(dir.join("cases.jsonl")).ok()?))
}

#[test]
fn proposals_raise_recall_over_real_catalogs_with_real_prompts() {
    let Some(catalogs) = shared("corpus/routing/catalogs") else { return };
    let corpus = catalogs.parent().unwrap().parent().unwrap();
    let mut dirs: Vec<_> = catalogs.read_dir().unwrap().map(|dir| dir.unwrap().path()).collect();
    dirs.sort();
    let figures_of = |dir: &Path| -> Option<[[f64; 3]; 2]> {
        let (skills, prompts) = routing(dir, corpus)?;
        let (cases, _) = read("cases.jsonl", &prompts, None);
        // Take up to a hundred cases of each catalog, evenly spread: all 1,238 of the largest take a
        // minute.
        let stride = cases.len() / 100 + 1;
        let cases: Vec<_> = cases.into_iter().step_by(stride).collect();
        if skills.len() < 2 || cases.is_empty() {
            return None;
        }
        let engine = |proposals| {
            // Without relevance, so that only the effect of triggers is measured.
            let mut options = DisclosureOptions::default();
            options.relevance = None;
            let builder = Engine::builder().source(Source::memory(skills.clone()));
            builder.triggers(proposals).disclosure(options).build()
        };
        let plain = engine(BTreeMap::new()).unwrap();
        let suggestions = suggest_all(&plain.catalog());
        let n_keywords: usize = suggestions.iter().map(|s| s.keywords.len()).sum();
        let with = engine(triggers(&suggestions)).unwrap();
        let figures = |engine: &Engine| {
            let scores = Report::new(evaluate(engine, &cases, || ())).scores;
            [scores.precision, scores.recall, scores.false_fire]
        };
        let (before, after) = (figures(&plain), figures(&with));
        let name = dir.file_name()?.to_string_lossy();
        say(&format!(
            "{name}: {n_keywords} keywords for {} skills, precision, recall, false fires \
             {before:.2?} then {after:.2?}",
            skills.len()
        ));
        let or_none = |figures: [Option<f64>; 3]| {
            [(0, 1.0), (1, 0.0), (2, 0.0)].map(|(i, none)| figures[i].unwrap_or(none))
        };
        Some([or_none(before), or_none(after)])
    };
    // This is the longest test of all, so divide the catalogs among threads.
    let n_threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let share = &|first| -> Vec<_> {
        dirs.iter().skip(first).step_by(n_threads).filter_map(|dir| figures_of(dir)).collect()
    };
    let figures: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..n_threads).map(|first| scope.spawn(move || share(first))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let n_catalogs = f64::from(u32::try_from(figures.len()).unwrap());
    let mean = |when: usize| {
        [0, 1, 2].map(|i| figures.iter().map(|f| f[when][i]).sum::<f64>() / n_catalogs)
    };
    let (before, after) = (mean(0), mean(1));
    say(&format!("means of {n_catalogs} catalogs: {before:.3?} then {after:.3?}"));
    assert!(after[1] > before[1] + 0.1, "recall {before:?} then {after:?}");
    assert!(after[0] >= 0.8, "precision {after:?}");
}
