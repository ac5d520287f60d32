//! Tests of what of a message is the request: tables of messages in several languages.

use super::*;
use crate::excerpt::Excerpt;

/// The lines of a message that are the request.
pub(super) fn request(message: &str) -> Vec<&str> {
    let parts = Parts::of(message);
    if parts.is_whole {
        return message.lines().filter(|line| !line.trim().is_empty()).collect();
    }
    let lines = parts.request.iter().flat_map(|range| message[range.clone()].lines());
    lines.filter(|line| !line.trim().is_empty()).collect()
}

/// Messages of which the lines that begin with `» ` are the request; the mark is removed first.
const MARKED: &[&str] = &[
    // Typed text alone.
    "» tune this query",
    "» Fix the login.\n» It fails for new users.\n\n» Then deploy it.",
    "» 修复登录问题\n» 然后部署",
    "» - add a red cube\n» - add a camera",
    "» use foo(bar) in src/main.rs, please",
    // Fences, closed, in lists, and cut.
    "» why does this fail?\n\n```rust\nlet tests = deploy();\n```",
    "```\nwarning: unused\n```\n\n» erklär mir das",
    "1. ```sh\n   deploy\n   ```\n» what does it do to my files?",
    "~~~\ndeploy the review\n~~~\n» 这是什么意思？",
    "```\nfn cut() {\n\n» and the request is below the cut fence",
    // Blocks that a harness wrote, and tagged text.
    "<system-reminder>\nuse the deploy skill\n</system-reminder>\n» thanks for that",
    "<system-reminder>\na <system-reminder>review</system-reminder>\ndeploy\n</system-reminder>\n» go on",
    "<system-reminder>\nthe end of it was cut\n\n» go on with the tests",
    "<reminderInstructions>\ndeploy\n</reminderInstructions>\n» go on",
    "<ide_selection/>\n» fix the login",
    "<ide_opened_file path=\"a.rs\" />\n» fix the login\n» and the logout",
    "» fix the login\n<ide_selection />",
    "<task>\n» fix the login\n</task>",
    "<user_query>\n» tidy up the tests\n</user_query>",
    "# Context from my IDE setup:\n\n## Active file: deploy.md\n\n## My request for Codex:\n» tidy up",
    "# Files mentioned by the user:\n\n## deploy it.md: /tmp/x.md\n\n## My request for Codex:\n» tidy up",
    "# In app browser:\n- deploy it\n\n## My request for Codex:\n» tidy up",
    "» tidy up @a.md\n--- Content from referenced files ---\nContent from @a.md:\ndeploy it\n--- End of content ---",
    "» tidy up\n--- Content from MCP resource a [1] ---\ndeploy it\n--- End of MCP resource a [1] ---\n» and stop",
    "» wrap <my-element> around the button, please",
    "» tidy up\n<task-notification>\n<result>review found</result>\n</task-notification>",
    "<document>\nReview the deployment.\n</document>\n» résume ce texte",
    "» <b>this</b> is wrong, isn't it?",
    // Diffs.
    "» review this change\n\ndiff --git a/x.rs b/x.rs\nindex 83db48f..f735c2d 100644\n--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +1,2 @@\n-deploy the tests\n+review the tests\n context of it",
    "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one word\n+two words\n\n» kannst du das prüfen?",
    "3c3\n< deploy the old review\n---\n> deploy the new review\n10a11\n> an added line\n\n» is that right?",
    "commit 83db48f735c2d0011223344556677889900aabbc\nAuthor: Ana <ana@example.com>\nDate:   Tue Mar 3\n\n    Deploy the review\n\n» write the changelog",
    "» write the changelog\n\n83db48f Deploy the review\nf735c2d Merge branch 'deploy'",
    "» write the changelog\n\n83db48f deploy the review\nf735c2d review the deploy",
    "commit 83db48f (HEAD -> main)\nAuthor: Ana <ana@example.com>\n\n```\nx\n```\n»     is indented",
    "» why?\n\nuse of an uninitialized value at deploy.pl line 12.",
    // Logs, traces, reports of compilers.
    "» what is slow?\n\nNAME       READY   STATUS\ndeploy-1   0/1     Pending",
    "12.03.2026 12:30:07 FEHLER Rechnung\n12.03.2026 12:30:08 INFO Versuch\n\n» was heißt das?",
    "E0312 12:30:07.123456       1 reflector.go:138] deploy failed\n\n» why?",
    "[   12.345678] deploy: review loaded\n» was heißt das?",
    "127.0.0.1 - - [12/Mar/2026:10:00:00 +0000] \"GET /deploy HTTP/1.1\" 500\n\n» why 500?",
    "#0  0x00007f in review () from libc.so\n#1  main () at main.c:3\n\n» 为什么崩溃？",
    "./deploy.sh: line 12: review: command not found\n\n» fix that please",
    "src/deploy.ts(12,5): error TS2345: the review is wrong\n\n» fix that please",
    "» why is it rejected?\n\nana@laptop:~/src$ git push\nPS C:\\src> npm run deploy\n$ deploy review",
    "» what happened here:\n2026-03-12T12:30:07Z ERROR [worker-3] request failed\n2026-03-12T12:30:08Z INFO retry",
    "Traceback (most recent call last):\n  File \"/srv/app/views.py\", line 3, in deploy\n    return self.client.get(payload)\nKeyError: customer\n» fix the customer lookup",
    "java.lang.IllegalStateException: no review\n\tat com.acme.Deploy.run(Deploy.java:12)\n\tat com.acme.Main.main(Main.java:3)\n\n» por qué falla?",
    "Mar 12 12:30:07 web1 nginx: deploy\nMar 12 12:30:08 web1 nginx: review\n\n» 这个日志说明了什么？",
    "error[E0308]: mismatched types\n  --> src/api.rs:3:17\n   |\n3  |     deploy()\n   |     ^^^^^^^^ expected `Result`\n\n» help me with this one",
    "   Compiling serde v1.0.2\n   Compiling review v0.1.0\n\n» is that slow because of LTO?",
    "[12:30:07] deploy started\n[12:30:08] deploy failed\n» почему это упало?",
    // Code and data without a fence.
    "» explain this\n\nfn main() {\n    let review = deploy();\n    println!(\"{review}\");\n}",
    "import os\nimport sys\n\ndef deploy(x):\n    \"\"\"Deploys the review.\"\"\"\n    return os.path.join(x, 'review')\n\n» write tests for this function",
    "{\n  \"status\": \"deploy blocked\",\n  \"items\": [\n    {\"note\": \"review later\"}\n  ]\n}\n\n» validate this against our schema",
    "<div class=\"review\">\n  <p>deploy</p>\n</div>\n\n» center that on the page",
    "SELECT name FROM reviews;\nDELETE FROM deploys;\n\n» are these safe?",
    "kind: Deployment\nmetadata:\n  name: review\n  labels:\n    app: deploy\n\n» add a probe",
    "[package]\nname = \"deploy\"\n\n» add a licence",
    "[{\"id\": 1, \"text\": \"deploy the review\"}]\n\n» sort that by id",
    "SELECT r.id, r.name\nFROM reviews r\nWHERE r.id = 1\n\n» is there an index for it?",
    "#!/bin/bash\nset -e\necho \"deploy the review\"\nexit 1\n\n» make it portable",
    // Typed, though words of programs begin the lines.
    "» RUN the tests\n» ADD a changelog",
    "» Goal: a page\n» Scope: web only\n» Deadline: Friday",
    "» Bug: login fails\n» Bug: logout fails\n» Feature: dark mode",
    "» PHP is slow\n» make it faster",
    "» On branch main the tests fail.\n» Can you fix them?",
    "» class names should be short:\n» rename them",
    "» #12 fix the login: it fails\n» #13 fix the logout",
    "» fix the login  and then deploy\n» please",
    // Mails, chats, quotes, tables.
    "Am Di., 3. März 2026 um 10:00 schrieb Ana Lopez:\n> bitte prüfen\n» antworte ihr freundlich",
    "вт, 3 мар. 2026 г. в 10:00, Ana <ana@example.com>:\n> Проверь счёт\n» ответь ей",
    "**From:** Ana\n**Subject:** deploy\n\n» draft a reply",
    "Ana Lopez  10:02 AM\nplease review it\nBen  10:03 AM\nthe deploy is broken\n\n» sum that up",
    "[03.03.26, 10:02:15] Ana: review it\n[03.03.26, 10:03:00] Ben: deploy it\n\n» fasse zusammen",
    "<ana> please review it\n<ben> the deploy is broken\n\n» sum that up",
    "User: deploy the review\nAssistant: I deployed it for you.\n\n» what went wrong here?",
    "From: Ana\nSent: Tuesday\nSubject: deploy\n\n> Could you review it?\n> Thanks\n\n» draft a reply",
    "Von: Ana\nBetreff: Bereitstellung\n\n> Bitte prüfen.\n\n» formuliere eine Antwort darauf",
    "Am 3. März schrieb:\n> bitte prüfen\n» antworte ihr freundlich",
    "» sort this by price\n\n| item | price |\n|---|---|\n| review | 3 |",
    "id\tname\tprice\n1\treview\t3\n\n» summarise it for me",
    "id,name,price,deploy\n1,review,3,yes\n\n» plot this please",
    " id |  name\n----+--------\n  1 | review\n\n» sort it by name",
    "┌────┬────────┐\n│ id │ review │\n└────┴────────┘\n» sort it by name",
    "name,price\nreview,3\ndeploy,4\n\n» plot this please",
    "Datum;Betrag;Kategorie\n01.01.2026;12,50;Rechnung\n\n» summiere das",
    // Two pastes with the request between them.
    "```\none review\n```\n» compare this with\n```\ntwo deploys\n```",
    // Nothing but an attachment.
    "2026-03-12 12:30:07 INFO deploy\n2026-03-12 12:30:08 INFO review",
];

/// Messages as people type them, which are the request as a whole.
const TYPED: &[&str] = &[
    // Items, headings, steps.
    "Tasks:\n- fix the login bug\n- deploy to staging",
    "Tasks:\n- login\n- logout\n- deploy",
    "Requirements:\n- Auth: OAuth login\n- Storage: PostgreSQL\n- UI: dark mode",
    "Requirements:\n  - Auth: OAuth login\n  - Storage: PostgreSQL",
    "Todo:\n\tfix the login\n\tdeploy it",
    "Note: it fails\n\tsee below",
    "待办:\n\t修复登录",
    ": x\n\tfix the login",
    "1.1 - add a login page\n1.2 - add a logout page",
    "10:30 - call Ana\n11:00 - review the deploy",
    "2. - fix the login\n3. - deploy it",
    // Places and commits in sentences.
    "Fix the crash in src/app.py line 12.\nIt comes with new users.",
    "Have a look at src/app.py line 12.\nWhy is it slow?",
    "commit a1b2c3d broke the build, revert it\nthen deploy",
    "83db48f broke the login, revert it\nthen deploy",
    "83db48f is wrong, isn't it?\nrevert it",
    "Commit the change.\nCommit often, please.",
    "I wrote 3 tests, please check them:\nthe login fails",
    "ich schrieb 3 Tests, prüfe sie bitte:\nder Login geht nicht",
    // Signs of languages without blanks.
    "修复登录问题,然后部署\n检查测试,再发布",
    "修复登录问题,然后部署,再通知我\n检查测试,再发布,最后总结",
    "ログインを直して,それからデプロイして\nテストを見て,結果を教えて",
    // Tags in sentences.
    "turn this into Vec<Task> please\nand Promise<Feedback> too",
    "while i <task left, repeat\nthen stop",
    // Lists, letters and notes in English, German, Chinese and others.
    "To-do for today:\n- login: fix the redirect\n- billing: send the invoices\n- docs: update the readme",
    "Steps:\n1. Check out main\n2. Run the tests\n3. If they pass: deploy\n4. Tell Ana",
    "Re: login page\nAna says it still fails. Can you fix it?",
    "Ben said:\n\"the deploy is broken since Monday\"\nPlease find out why.",
    "Please proofread what I wrote:\nThe service starts at nine.",
    "Hi,\n\nplease fix the login\n\nThanks,\nAna",
    "Hello,\nthanks,\nfix the login",
    "## Goal\nAdd a dark mode\n## Constraints\nNo new dependencies",
    "rename `foo_bar()` to `fooBar()`\nand update the callers in src/api.ts:12",
    "Change the timeout:\n- from 30s to 60s\n- in config/prod.yaml\n- and tell me what else uses it",
    "from the docs it seems that we need a token\nadd one please",
    "import the data from Excel\nthen plot it",
    "fix:\n1) login\n2) logout\n3) signup",
    "set x = 3 in the config\nreplicas = 3 is not enough, make it 5",
    "what does the <task> tag do?\nexplain it please",
    "Name: Ana\nEmail: ana@example.com\nWrite her an offer",
    "for each customer: send a mail\nif it fails: tell me",
    "Use React, not Vue;\nkeep the tests;\ndo not touch the API;",
    "Date: Friday\nTopic: the release\nWrite an invitation",
    "To: the whole team\nWrite a mail that the office is closed",
    "A: red\nB: blue\nWhich one is better?",
    "Q: why does it fail?\nA: no idea, find out",
    "You: be brief\nwrite a summary",
    "The error is at line 12:\nfix it",
    "(1) add a page\n(2) add a test",
    "* add a page\n  * with a form\n  * with a button\n* add a test",
    "- [ ] add a page\n- [x] add a test\nDo the open one",
    "Add these columns:\nid, name, price\nsort by price",
    "Compare:\nA | B\nwhich is better | cheaper?",
    "10:00 standup\n11:00 review\nPlan my day around these",
    "2026-03-12 is the deadline\nplan the work until then",
    "$5 is too much\nfind a cheaper one",
    "INFO level is too noisy\nset it to WARN",
    "ERROR handling is missing\nadd it",
    "FAIL fast please\nand log it",
    "help: the build is broken\nfix it",
    "error: is that a good name for the field?\nrename it",
    "#3 [login] is urgent\n#4 [logout] can wait",
    "#1 /login returns 500\n#2 /logout returns 404\nfix both",
    "@ana please review\n@ben please deploy",
    "select the best option\nfrom the list below:\n- red\n- blue",
    "SELECT is slow\nFROM clause needs an index",
    "return to the old layout\nend the session after 5 minutes",
    "class diagram please\ndef of done: tests pass",
    "at home (after work) fix it (please)",
    "Index: add one on users.email\nthen measure",
    "*** urgent ***\nfix the login",
    "commit everything\npush it to main",
    "fix the login -> it fails\nadd a test -> it passes",
    "fix login & logout & signup\nA/B, C/D, E/F",
    "test 1 ... fails\ntest 2 ... passes\nwhy?",
    "Aufgaben:\n- Login reparieren\n- Rechnung schreiben",
    "Aufgaben:\n  - Login\n  - Rechnung\n  - Mahnung",
    "Bitte:\n1. Tests laufen lassen\n2. Wenn grün: deployen\n3. Ana Bescheid geben",
    "AW: Rechnung 2026\nBitte prüfe die Beträge",
    "Hallo,\n\nbitte Rechnung prüfen\n\nDanke,\nAna",
    "Ana schrieb gestern:\n\"der Login geht nicht\"\nBitte reparieren.",
    "Betreff: Rechnung\nschreib mir dazu eine Mail",
    "An: alle\nschreib ihnen, dass das Büro zu ist",
    "Termin: 12.03.2026 um 10:00\nBitte Einladung schreiben",
    "Ziel: kürzere Ladezeit\nUmfang: nur Startseite\nFrist: Freitag",
    "Von: Berlin\nNach: München\nBuche einen Zug",
    "Datum: 12.03.2026\nBetrag: 12,50 €\nSchreibe eine Rechnung",
    "10.30 - Termin mit Ana\n11.00 - Release\nplane meinen Tag",
    "3. März - Abgabe\n4. März - Urlaub",
    "1.) Login reparieren\n2.) Tests schreiben",
    "a) Login reparieren\nb) Tests schreiben",
    "Fehler: Login geht nicht\nLösung: ?",
    "Frage: Warum ist das langsam?\nAntwort bitte kurz",
    "z. B. src/app.py Zeile 12 ist falsch.\nKorrigiere das",
    "Ich habe 3 Dateien, prüfe sie:\na.rs, b.rs, c.rs",
    "Rolle: Lektor;\nTon: freundlich;\nLänge: kurz;",
    "– Login reparieren\n– Tests schreiben",
    "Der Befehl `git push` geht nicht,\nwas tun?",
    "Ersetze foo() durch bar()\nund baz durch qux",
    "任务:\n- 修复登录\n- 部署到测试环境",
    "任务：\n- 登录\n- 部署",
    "需求:\n1. 登录页面\n2. 支付功能\n3. 用户中心",
    "待办：\n1、修复登录\n2、写测试\n3、部署",
    "小王说：\n“登录坏了”\n请修复",
    "回复: 登录问题\n请修复",
    "目标: 加快启动\n范围: 只改首页\n截止: 周五",
    "主题: 发布会\n写一封邀请函",
    "修改 src/app.py 第12行\n把 timeout 改成 60",
    "用 React,不用 Vue\n保留测试,不动接口",
    "第一步:检查代码;\n第二步:运行测试;\n第三步:部署;",
    "1）修复登录\n2）写测试",
    "问:为什么失败?\n答:请查一下",
    "标题  正文  结尾\n按这个顺序写  谢谢",
    "甲 | 乙\n哪个更好 | 更便宜",
    "把 foo() 改名为 bar()\n并更新 src/api.ts",
    "3月12日 - 发布\n3月13日 - 休假",
    "我写了3个测试，请检查：\n登录失败",
    "日期: 3月12日\n金额: 100元\n写一张发票",
    "課題:\n- ログインを直す\n- テストを書く",
    "Tâches :\n- corriger la connexion\n- déployer",
    "Tareas:\n- arreglar el inicio\n- desplegar",
    "Para: Ana\nEscribe una carta",
    "Задачи:\n- исправить вход\n- написать тест",
    "Do: jutra\nnapisz plan",
    "A: pierwsza\nB: druga\nktóra lepsza?",
];

#[test]
fn what_people_type_is_the_request_as_a_whole() {
    let is_whole = |message: &&&str| {
        let lines = message.lines().filter(|line| !line.trim().is_empty());
        request(message) == lines.collect::<Vec<&str>>()
    };
    let wrong: Vec<String> = TYPED
        .iter()
        .filter(|message| !is_whole(message))
        .map(|message| format!("{message:?}\n  is {:?}", request(message)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_request_is_told_from_attachments_by_structure() {
    let mut wrong = Vec::new();
    for marked in MARKED {
        let message = marked.replace("» ", "");
        let expected: Vec<String> =
            marked.lines().filter_map(|line| line.strip_prefix("» ")).map(str::to_owned).collect();
        let found = request(&message);
        if found != expected {
            wrong.push(format!("{message:?}\n  is {found:?}\n  not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_block_of_a_harness_counts_in_the_middle_of_a_line() {
    assert_eq!(request("thanks <system-reminder>deploy</system-reminder>"), ["thanks "]);
    let asked = "what does <system-reminder>deploy</system-reminder> do?";
    assert_eq!(request(asked), [asked]);
    assert_eq!(request("<user_message>tidy up</user_message>"), ["tidy up"]);
}

#[test]
fn of_a_long_text_the_end_that_reads_like_a_request_is_one() {
    let prose = "The service starts at nine. It reviews what was deployed, and deploys what was reviewed.\n\n".repeat(60);
    let document = format!("# Deployment\n\n{prose}");
    for asks in [
        "Summarise this for the board, please.",
        "Was steht hier zum Thema Kosten?",
        "把这段话翻译成英文：",
    ] {
        for text in [&prose, &document] {
            assert!(request(&format!("{asks}\n\n{text}")).contains(&asks), "{asks}");
            assert!(request(&format!("{text}\n\n{asks}")).contains(&asks), "{asks}");
        }
        assert_eq!(request(&format!("{document}\n- one\n- two\n- three\n\n{asks}")), [asks]);
    }
    let one_paragraph = "word ".repeat(2_000);
    let parts = Parts::of(&one_paragraph);
    assert!(parts.request.iter().map(Range::len).sum::<usize>() <= 2 * MAX_PARAGRAPH, "{parts:?}");
    assert_eq!(parts.request.len(), 2);
}

#[test]
fn every_byte_is_in_one_part_at_most_and_cuts_are_between_characters() {
    let pieces = [
        "é fix\n", "```\n", "> q\n", "<a-b>\n", "</a-b>\n", "\n", "@@ -1 +1 @@\n", "{ x = 1; }\n",
        "使用 git\n", "# h\n\n",
    ];
    let mut seed = 7_u64;
    for n in 0..400 {
        let mut message = String::new();
        for _ in 0..(n % 40) * (1 + n % 7) {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            message.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
        }
        let parts = Parts::of(&message);
        let mut all: Vec<Range<usize>> = [&parts.request, &parts.attached, &parts.harness]
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        all.sort_by_key(|range| range.start);
        assert!(all.windows(2).all(|pair| pair[0].end <= pair[1].start), "{message:?} {parts:?}");
        assert!(
            all.iter().all(|range| message.get(range.clone()).is_some()),
            "{message:?} {parts:?}"
        );
        if !parts.is_whole {
            let n_said: usize =
                all.iter().map(|range| message[range.clone()].split_whitespace().count()).sum();
            assert_eq!(n_said, message.split_whitespace().count(), "{message:?} {parts:?}");
        }
    }
}

#[test]
fn beginnings_without_ends_are_read_in_linear_time() {
    for (start, line, end) in [
        ("", "```x\n", ""),
        ("", "<a>\n", ""),
        ("", "~~~\n```\n", ""),
        ("", "<x-y\n", ""),
        ("", "<a>\n", "</a> is the end of all"),
        ("", "<a-b>\n</a-b>\n> x\n", ""),
        ("", "<task x\n", ""),
        ("", "<ide_ ", ""),
        ("", "<ide_ x> y ", ""),
        ("", "<ide_/> y ", ""),
        ("", "<task> ", ""),
        ("", "<task> x ", ""),
        ("", "x </task>", ""),
        (&"1".repeat(400_000), ")  ", "\nx"),
        ("", "<ide_>\n", ""),
        ("", "</task", ""),
    ] {
        let message = start.to_owned() + &line.repeat(200_000) + end;
        let parts = Parts::of(&message);
        assert!(!parts.is_whole, "{line:?}");
        let excerpt = Excerpt::new(&parts, usize::MAX);
        assert_eq!(excerpt.places(parts.attached_ranges()).len(), parts.attached.len(), "{line:?}");
    }
}
