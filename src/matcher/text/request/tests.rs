//! Tests of what of a message is the request: tables of messages in several languages.

use super::*;
use crate::matcher::text::excerpt::Excerpt;

/// The lines of a message that are the request.
fn request(message: &str) -> Vec<&str> {
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
    "<user_query>\n» tidy up the tests\n</user_query>",
    "# Context from my IDE setup:\n\n## Active file: deploy.md\n\n## My request for Codex:\n» tidy up",
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
        "é fix\n",
        "```\n",
        "> q\n",
        "<a-b>\n",
        "</a-b>\n",
        "\n",
        "@@ -1 +1 @@\n",
        "{ x = 1; }\n",
        "使用 git\n",
        "# h\n\n",
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
    for (line, end) in [
        ("```x\n", ""),
        ("<a>\n", ""),
        ("~~~\n```\n", ""),
        ("<x-y\n", ""),
        ("<a>\n", "</a> is the end of all"),
        ("<a-b>\n</a-b>\n> x\n", ""),
    ] {
        let message = line.repeat(200_000) + end;
        let parts = Parts::of(&message);
        assert!(!parts.is_whole, "{line:?}");
        let excerpt = Excerpt::new(&parts, usize::MAX);
        assert_eq!(excerpt.places(parts.attached_ranges()).len(), parts.attached.len(), "{line:?}");
    }
}
