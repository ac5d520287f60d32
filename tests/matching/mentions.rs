//! Mentions: a message that names a skill may request it, merely mention it, or deny it.

use repertoire::matcher::{Answer, IndexOptions};

use crate::search;

/// The strength of a mention.
#[derive(Debug, PartialEq)]
enum Strength {
    Weak,
    Strong,
}

/// Searches `text` with an index whose only skill has this id and name, and no triggers.
fn answer(id: &str, name: &str, text: &str) -> Answer {
    search(&[(id, name, "")], &IndexOptions::default(), text)
}

fn strength(id: &str, name: &str, text: &str) -> Option<Strength> {
    let answer = answer(id, name, text);
    let found = answer.matches.first()?;
    Some(if found.explicit { Strength::Strong } else { Strength::Weak })
}

#[test]
fn mentions_are_told_from_words() {
    use Strength::{Strong, Weak};
    let cases = [
        ("deploy", "/deploy to staging", Some(Strong)),
        ("deploy", "please $deploy.", Some(Strong)),
        ("deploy", "@deploy, now", Some(Strong)),
        ("deploy", "/web-tools:deploy to staging", Some(Strong)),
        ("deploy", "@tools:deploy, now", Some(Strong)),
        ("deploy", "see tools:deploy", Some(Weak)),
        ("deploy", "see x/tools:deploy", Some(Weak)),
        ("deploy", "see /:deploy and /a:b:deploy", Some(Weak)),
        ("deploy", "/tools:deploy-all", Some(Weak)),
        ("deploy", "/deploy:all", Some(Weak)),
        ("deploy", "deploy to staging", Some(Weak)),
        ("deploy", "ls /tmp/deploy", None),
        ("deploy", "and/or deploy/", Some(Weak)),
        ("deploy", "/deploy- now", Some(Strong)),
        ("deploy", "run /deploy.sh", Some(Weak)),
        ("deploy", "/deploy-all", Some(Weak)),
        ("deploy", "/deploy/all", None),
        ("deploy", "run `/deploy` now", Some(Weak)),
        ("deploy", "(\"/deploy\", please)", Some(Weak)),
        ("deploy", "it is “/deploy prod”", Some(Weak)),
        ("deploy", "**/deploy** it", Some(Weak)),
        ("deploy", "all of **/deploy", None),
        ("deploy", "add **/deploy* and `*/deploy*`", None),
        ("deploy", "in **/deploy**/x", None),
        ("deploy", "cp \"/deploy\"/out (/deploy)/x '/deploy'/*", None),
        ("deploy", "`/tmp/deploy`", None),
        ("deploy", "\"$HOME\"/deploy", None),
        ("deploy", "https://deploy", None),
        ("deploy", "see ./deploy", None),
        ("deploy", "mail me@deploy", Some(Weak)),
        ("deploy", "/deployment", None),
        ("deploy", "use deploy", Some(Weak)),
        ("deploy", "use the deploy skill", Some(Strong)),
        ("deploy", "use the \"deploy\" skill!", Some(Strong)),
        ("deploy", "use the web-deploy skill", Some(Weak)),
        ("deploy", "use skill deploy", Some(Strong)),
        ("deploy", "use skill deploy-web", Some(Weak)),
        ("deploy", "use skill: `deploy`", Some(Strong)),
        ("deploy", "deploy skills", Some(Weak)),
        ("deploy", "用deploy skill来发布", Some(Strong)),
        ("deploy", "deploy skill을 사용해서", Some(Strong)),
        ("deploy", "使用skill deploy", Some(Strong)),
        ("deploy", "the deploy skillé", Some(Weak)),
        ("deploy", "unskill deploy", Some(Weak)),
        ("deploy", "not the deploy skill, use ship", None),
        ("deploy", "do not use skill: deploy", None),
        ("deploy", "do not run /tools:deploy", None),
        ("deploy", "no /deploy! deploy by hand", Some(Weak)),
        ("sven/plan", "/sven/plan it", Some(Strong)),
        ("sven/plan", "see sven/plan", Some(Weak)),
        ("sven", "/sven/plan it", None),
        ("code-review", "do a code review", Some(Weak)),
        ("code review", "do a code-review", Some(Weak)),
        ("code-review", "use code review", Some(Strong)),
        ("code-review", "please use the \"Code Review\"", Some(Strong)),
        ("code-review", "please use the \"code review\"", Some(Strong)),
        ("code-review", "use my code-review on it", Some(Strong)),
        ("code-review", "use: code-review", Some(Weak)),
        ("code-review", "use code-review.md", Some(Weak)),
        ("code-review", "reuse code-review", Some(Weak)),
        ("code-review", "use a code-review", Some(Weak)),
        ("code-review", "run code-review on it", Some(Strong)),
        ("code-review", "we are using code review", Some(Weak)),
        ("code-review", "it is done using code-review.", Some(Strong)),
        ("code-review", "invoke `code-review`", Some(Strong)),
        ("code-review", "/code-review", Some(Strong)),
        ("code-review", "/code review", Some(Weak)),
        ("code-review", "cat code-review/x", None),
        ("code-review", "code reviews", None),
        ("ci/cd pipeline", "a ci/cd-pipeline", None),
        ("a-b-c-d-e-f", "use a b-c d e-f!", Some(Strong)),
        ("a-b-c-d-e-f", "a b c d e fg", None),
        ("a-b-c-d-e-f", "a b c d e", None),
    ];
    for (name, text, expected) in cases {
        assert_eq!(strength(name, name, text), expected, "{name} in {text:?}");
    }
    assert_eq!(strength("z", "ci/cd pipeline", "a ci/cd-pipeline"), Some(Weak));
    assert_eq!(strength("z", "deploy", "/deploy"), Some(Weak), "only ids take a sigil");
}

pub(crate) const DENIED: &[&str] = &[
    "not X",
    "it is not X",
    "why is it not X",
    "it isn't X",
    "use y, not the X skill",
    "don't use X",
    "do not run X",
    "dont load the X skill",
    "I can't use X",
    "can't use X",
    "don't the X",
    "not the X skill",
    "it doesn't X",
    "you shouldn't ever try to use the X",
    "please never again use my X",
    "we no longer need X",
    "no X please",
    "no need for X",
    "without X",
    "without running the \"X\" skill",
    "use y instead of X",
    "y rather than using X",
    "any skill other than X",
    "all except for X",
    "why not do it without X",
    "do not commit. Do it without X",
    "neither y nor X",
    "just finished X",
    "I have already run X",
    "already ran the X",
    "just used X",
    "finished with X",
    "we are done with X",
    "skip X",
    "stop using X",
    "exit X",
    "do not (X)",
    "just finished /y and X",
    "don't run `$y` or X",
    "either way: not `X`",
    "don't use either X",
    "I don't want you to use the X skill",
    "you don't have to use the X skill",
    "please don't automatically run X",
    "this has nothing to do with the X skill",
    "I didn't ask for the X skill",
    "without the help of the X skill",
    "please refrain from using X",
    "do not use\nthe X skill",
    "please do not\nuse the X skill",
    "I do not want to\nuse the X skill",
    "we are finished\nusing X",
    "don´t use the X skill",
    "don`t use X",
    "don‘t use X",
    "cant use X",
    "I wont run X",
    "I didnt ask for the X skill",
    "do _not_ use the X skill",
    "a non-X solution",
];

pub(crate) const MEANT: &[&str] = &[
    "X",
    "use X",
    "why not X",
    "why not use X",
    "if not X",
    "if not, run X",
    "do not forget to run X",
    "don't hesitate to use X",
    "not only X",
    "no, use X",
    "no use X",
    "no: X",
    "don't just talk, use X",
    "this is not done. X",
    "we do not (yet) use X",
    "why don't you use X",
    "Why doesn't the X skill work?",
    "why isn't /X running",
    "Can't the X skill do this?",
    "Hm, shouldn't the X skill catch this?",
    "Isn't X the right one?",
    "couldn't we run X",
    "the tests do not pass run X",
    "not sure X",
    "just run X",
    "just use X",
    "I ran X on a fresh host",
    "never skip X",
    "use nothing except the X skill",
    "do not use any skill except X",
    "do not use any skill other than X",
    "don't start without the X skill",
    "do not proceed without running X",
    "do nothing without X",
    "don't stop using X",
    "skip to the X",
    "other X than that",
    "he is done X",
    "don't worry and X",
    "not ever really trying to actually use X",
    "No\n/X",
    "npm test finished\nuse X",
    "The build finished\nuse the X skill now",
    "nothing\nuse X",
    "the tests never finished\nrun X",
    "I'm finished\n  /X",
    "it is completed\n\nX",
    "the feature is not done\r\n\r\nuse X",
];

#[test]
fn a_denial_holds_for_all_names_that_it_joins() {
    let skills = ["qx", "qy", "qz"].map(|id| (id, id, ""));
    for (text, expected) in [
        ("don't use the qx skill or the qy skill", &[][..]),
        ("do not use /qx or /qy and /qz", &[]),
        ("neither `qx` nor my qy", &[]),
        ("skip /qx, /qy", &["qy"]),
        ("just finished /qx\n/qy fix the build", &["qy"]),
        ("not qx but qy", &["qy"]),
        ("not /qx. /qy, qz", &["qy"]),
        ("use qy, not qx and qz", &["qy"]),
        ("do not use /qx, /qy or /qz", &[]),
        ("do not use /qx, /qy, or /qz", &[]),
        ("do not use /qx, and /qy", &["qy"]),
        ("do not use /qx, /qy", &["qy"]),
        ("do not use /qx, /qy. Use /qz", &["qy", "qz"]),
        ("do not use /qx, /qy but /qz", &["qy", "qz"]),
        ("do not use /qx, use /qy and /qz", &["qy", "qz"]),
        ("don't use /qx & /qy", &[]),
        ("do not use the skills qx, `qy` and `qz`", &[]),
        ("do not use both the qx skill and /qy", &[]),
    ] {
        let found = search(&skills, &IndexOptions::default(), text).matches;
        let found: Vec<&str> = found.iter().map(|found| found.id.as_str()).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn lists_of_names_are_asked_for_in_many_languages() {
    let skills = ["qx", "qy", "qz"].map(|id| (id, id, ""));
    for text in [
        "use the qx, qy and qz skills",
        "nutze die Skills qx, qy und qz",
        "utilise les compétences qx, qy et qz",
        "usa las habilidades qx, qy y qz",
        "use as habilidades qx, qy e qz",
        "usa le competenze qx, qy e qz",
        "gebruik de vaardigheden qx, qy en qz",
        "użyj umiejętności qx, qy i qz",
        "используй навыки qx, qy и qz",
        "qx, qy ve qz becerilerini kullan",
        "使用 qx、qy 和 qz 技能",
        "qx、qy、qzスキルを使って",
        "qx, qy 및 qz 스킬을 사용해",
    ] {
        let found = search(&skills, &IndexOptions::default(), text).matches;
        assert_eq!(found.iter().filter(|found| found.explicit).count(), 3, "{text}");
    }
}

#[test]
fn the_word_skill_names_a_skill_on_its_own_line_only() {
    use Strength::{Strong, Weak};
    for (text, expected) in [
        ("use the skill qx", Some(Strong)),
        ("we need a new skill\nQx it to prod", Some(Weak)),
        ("skill:\nqx", Some(Weak)),
        ("use the\nqx skill", Some(Strong)),
    ] {
        assert_eq!(strength("qx", "qx", text), expected, "{text}");
    }
}

#[test]
fn denials_reach_a_mention_over_few_words_of_one_clause() {
    for (texts, is_denied) in [(DENIED, true), (MEANT, false)] {
        for text in texts {
            let answer = answer("qx", "qx", &text.replace('X', "qx"));
            assert_eq!(
                (answer.denied.len(), answer.n_matches),
                if is_denied { (1, 0) } else { (0, 1) },
                "{text}"
            );
        }
    }
}
