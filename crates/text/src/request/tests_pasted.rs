//! Tests of pastes of many kinds: each is told from the request above it, below it, and between two of them.

use super::tests::request;

/// Pastes that are told apart without a blank line, too.
const PASTES: &[&str] = &[
    "name: web\nversion: 1.2.0\nreplicas: 3\nimage: nginx\nport: 8080",
    "services:\n  web:\n    image: nginx:latest\n    ports:\n      - \"80:80\"\n  db:\n    image: postgres",
    "+----+----------+---------------------+\n| id | name     | created_at          |\n+----+----------+---------------------+\n|  1 | refund   | 2026-01-01 00:00:00 |\n+----+----------+---------------------+\n1 row in set (0.00 sec)",
    " id |  name  | total\n----+--------+-------\n  1 | refund |    12\n  2 | alert  |    15\n(2 rows)",
    "1|refund|12\n2|alert|15\n3|contract|18",
    "Seq Scan on orders  (cost=0.00..35.50 rows=2550 width=4)\n  Filter: (status = 'open'::text)\n  Rows Removed by Filter: 100\nPlanning Time: 0.083 ms\nExecution Time: 12.112 ms",
    "Le mar. 3 mars 2026 à 10:02, Ana Lopez <ana@example.com> a écrit :\n\n> Bonjour,\n> merci de vérifier le contrat.\n",
    "2026年3月3日(火) 10:02 Ana Lopez <ana@example.com>:\n\n> お世話になっております。\n> 返金の件、ご確認ください。",
    "<div class=\"gmail_quote\"><div dir=\"ltr\" class=\"gmail_attr\">On Tue, Mar 3, 2026 at 10:02 AM Ana &lt;<a href=\"mailto:ana@example.com\">ana@example.com</a>&gt; wrote:<br></div>\n<blockquote class=\"gmail_quote\"><div>please issue the refund</div></blockquote></div>",
    "ana@host ~/src> cargo build\n   Compiling refund v0.1.0 (/home/ana/src)\nerror: could not compile `refund`\nana@host ~/src [101]>",
    "➜  shop git:(main) ✗ npm test\n\n> shop@1.0.0 test\n> jest\n\nTests:       1 failed, 2 passed, 3 total\n➜  shop git:(main) ✗",
    "ana@mbp shop % npm run build\nzsh: command not found: npm",
    "PS C:\\src\\shop> dotnet build\nMSBuild version 17.9.4\n  Determining projects to restore...\nBuild FAILED.\n    0 Warning(s)\n    1 Error(s)\nPS C:\\src\\shop>",
    "Get-Content : Cannot find path 'C:\\refund.txt' because it does not exist.\nAt line:1 char:1\n+ Get-Content refund.txt\n+ ~~~~~~~~~~~~~~~~~~~~~~\n    + CategoryInfo          : ObjectNotFound: (C:\\refund.txt:String) [Get-Content], ItemNotFoundException\n    + FullyQualifiedErrorId : PathNotFound,Microsoft.PowerShell.Commands.GetContentCommand",
    "root@web1:~# systemctl status nginx\n● nginx.service - A high performance web server\n     Loaded: loaded (/lib/systemd/system/nginx.service; enabled)\n     Active: failed (Result: exit-code) since Tue 2026-03-03 10:02:11 UTC; 3min ago\n   Main PID: 1234 (code=exited, status=1/FAILURE)",
    "* 83db48f (HEAD -> main) Issue a refund\n* 73db48e Tune the alerts\n|\\  \n| * 63db48d fix: rotate secrets",
    " src/refund.rs   | 12 ++++++------\n src/alerts.rs   |  4 ++--\n 2 files changed, 8 insertions(+), 8 deletions(-)",
    "83db48f Issue a refund\n73db48e Tune the alerts\n63db48d fix: rotate secrets",
    "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.refund(...)\n\t/home/ana/src/refund.go:12\nmain.main()\n\t/home/ana/src/main.go:7 +0x1d\nexit status 2",
    "Exception in thread \"main\" java.lang.IllegalStateException: refund failed\n\tat com.acme.RefundKt.refund(Refund.kt:12)\n\tat com.acme.RefundKt.main(Refund.kt:3)\nCaused by: java.net.ConnectException: Connection refused\n\t... 2 more",
    "** (FunctionClauseError) no function clause matching in Refund.issue/1\n    (shop 0.1.0) lib/refund.ex:12: Refund.issue(nil)\n    (elixir 1.16.0) lib/enum.ex:1700: Enum.\"-map/2-lists^map/1-1-\"/2\n    lib/shop.ex:3: (file)",
    "PHP Fatal error:  Uncaught TypeError: refund(): Argument #1 must be of type int, null given, called in /srv/app/index.php on line 12 and defined in /srv/app/refund.php:3\nStack trace:\n#0 /srv/app/index.php(12): refund(NULL)\n#1 {main}\n  thrown in /srv/app/refund.php on line 3",
    "Fatal error: Unexpectedly found nil while unwrapping an Optional value: file Shop/Refund.swift, line 12\n2026-03-03 10:02:11.123456+0100 Shop[1234:5678] Fatal error: Unexpectedly found nil\n* thread #1, queue = 'com.apple.main-thread', stop reason = Fatal error\n    frame #0: 0x00000001 Shop`Refund.issue() at Refund.swift:12",
    "date,customer,comment\n2026-03-01,\"Lopez, Ana\",\"please, issue a refund\"\n2026-03-02,\"Meyer, Ben\",\"tune it\"",
    "id;name;total\n1;refund;12,50\n2;alert;15,00",
    "aXNzdWUgYSByZWZ1bmQgdG8gdGhlIGN1c3RvbWVyIHBsZWFzZSBhbmQgdHVuZSB0aGUgYWxlcnRz\nIGFuZCByb3RhdGUgdGhlIHNlY3JldHMgb2YgdGhlIHNlcnZpY2UgdG9kYXkgcGxlYXNlIG5vdyE=",
    "!function(e,t){\"object\"==typeof exports?module.exports=t():e.refund=t()}(this,function(){return function(e){var t={};function n(r){if(t[r])return t[r].exports;var o=t[r]={i:r,l:!1,exports:{}};return e[r].call(o.exports,o,o.exports,n),o.l=!0,o.exports}return n}([])});",
    "In [12]: df.groupby(\"status\").refund.sum()\nOut[12]:\nstatus\nopen      12\nclosed    15\nName: refund, dtype: int64",
    "<class 'pandas.core.frame.DataFrame'>\nRangeIndex: 2 entries, 0 to 1\nData columns (total 2 columns):\n #   Column  Non-Null Count  Dtype\n---  ------  --------------  -----\n 0   id      2 non-null      int64\n 1   refund  2 non-null      object",
    "Ana Lopez\n  10:02 AM\ncan you issue the refund?\nBen Meyer\n  10:03 AM\nthe alerts are too noisy",
    "ana.lopez  [10:02 AM]\ncan you issue the refund?\nben.meyer  [10:03 AM]\nthe alerts are too noisy",
    "[10:02] Ana Lopez\ncan you issue the refund?\n[10:03] Ben Meyer\nthe alerts are too noisy",
    "[03/03/2026 10:02] Ana Lopez: can you issue the refund?\n[03/03/2026 10:03] Ben Meyer: the alerts are too noisy",
    "Ana — Today at 10:02 AM\ncan you issue the refund?\nBen — Today at 10:03 AM\nthe alerts are too noisy",
    "03.03.26, 10:02 - Ana: can you issue the refund?\n03.03.26, 10:03 - Ben: the alerts are too noisy",
    "Ana, [03.03.2026 10:02]\ncan you issue the refund?\n\nBen, [03.03.2026 10:03]\nthe alerts are too noisy",
    "10:02 <ana> can you issue the refund?\n10:03 <ben> the alerts are too noisy",
    "1\n00:00:01,000 --> 00:00:04,000\nplease issue the refund\n\n2\n00:00:05,000 --> 00:00:08,000\nand tune the alerts",
    "WEBVTT\n\n00:01.000 --> 00:04.000\nplease issue the refund",
    "https://example.com/refund\nhttps://example.com/alerts/tune\nhttps://example.com/contract?x=1",
    "- [Refund policy](https://example.com/refund)\n- [Alerts](https://example.com/alerts)",
    "src/refund/issue.rs\nsrc/alerts/tune.rs\nsrc/contract/review.rs",
    "total 12\ndrwxr-xr-x 2 ana ana 4096 Mar  3 10:02 refund\n-rw-r--r-- 1 ana ana  220 Mar  3 10:02 alerts.txt",
    ".\n├── refund\n│   └── issue.rs\n└── alerts.rs",
    "  PID TTY          TIME CMD\n 1234 pts/0    00:00:00 refund\n 1235 pts/0    00:00:01 alerts",
    "NAME                      READY   STATUS             RESTARTS   AGE\nrefund-6c9f9b6d7c-abcde   0/1     CrashLoopBackOff   5          3m\nalerts-6c9f9b6d7c-abcdf   1/1     Running            0          3m",
    "#5 [2/4] RUN npm ci\n#5 12.34 added 120 packages\n#5 ERROR: process \"/bin/sh -c npm ci\" did not complete successfully: exit code: 1",
    "============================= test session starts ==============================\ncollected 3 items\n\ntests/test_refund.py F..                                                 [100%]\n\n=================================== FAILURES ===================================\nFAILED tests/test_refund.py::test_issue - assert 1 == 2\n========================= 1 failed, 2 passed in 0.12s ==========================",
    " FAIL  src/refund.test.js\n  ● issues a refund\n\n    expect(received).toBe(expected) // Object.is equality\n\n    Expected: 12\n    Received: 15\n\nTest Suites: 1 failed, 1 total",
    "/srv/app/refund.js\n  12:9   error    'total' is not defined   no-undef\n  15:1   warning  Unexpected console statement  no-console\n\n✖ 2 problems (1 error, 1 warning)",
    "src/refund.ts(12,9): error TS2304: Cannot find name 'total'.\nsrc/alerts.ts(3,1): error TS1005: ';' expected.",
    "> Task :app:compileKotlin FAILED\ne: file:///srv/app/Refund.kt:12:9 Unresolved reference: total\n\nFAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':app:compileKotlin'.",
    "  # aws_instance.refund will be created\n  + resource \"aws_instance\" \"refund\" {\n      + ami           = \"ami-123\"\n      + instance_type = \"t3.micro\"\n    }\n\nPlan: 1 to add, 0 to change, 0 to destroy.",
    "HTTP/1.1 500 Internal Server Error\nContent-Type: application/json\nX-Request-Id: 123\n\n{\"error\":\"refund failed\"}",
    "curl -X POST https://api.example.com/refunds \\\n  -H 'Authorization: Bearer x' \\\n  -d '{\"order\": 12}'",
    "CREATE TABLE refunds (\n  id serial PRIMARY KEY,\n  total numeric NOT NULL\n);",
    "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Issue the refund\nDTSTART:20260303T100200Z\nEND:VEVENT\nEND:VCALENDAR",
    "TASK [refund : issue] *******\nfatal: [web1]: FAILED! => {\"changed\": false, \"msg\": \"failed\"}\nPLAY RECAP ****",
    "lua: refund.lua:12: attempt to index a nil value (global 'order')\nstack traceback:\n\trefund.lua:12: in main chunk\n\t[C]: in ?",
    "Unhandled exception:\nNull check operator used on a null value\n#0      issue (package:shop/refund.dart:12:9)\n#1      main (package:shop/main.dart:3:3)",
    "Execution error (NullPointerException) at shop.refund/issue (refund.clj:12).\nnull",
    "[error] /srv/app/Refund.scala:12:9: not found: value total\n[error]   total + 1\n[error]   ^\n[error] one error found",
    "Error in issue(order) : object 'total' not found\nCalls: main -> issue\nExecution halted",
    "refund.py|12 col 9| E302 expected 2 blank lines",
    "refund.py:12: error: Name \"total\" is not defined  [name-defined]\nFound 1 error in 1 file (checked 3 source files)",
    "time=2026-03-03T10:02:11Z level=error msg=\"issue refund failed\" order=12\ntime=2026-03-03T10:02:12Z level=info msg=\"alerts sent\"",
    "{\"level\":\"error\",\"time\":1772528531,\"msg\":\"issue refund failed\"}\n{\"level\":\"info\",\"time\":1772528532,\"msg\":\"alerts sent\"}",
    "refund.hs:12:9: error:\n    • Couldn't match expected type ‘Int’ with actual type ‘[Char]’\n    • In the expression: total",
    "Can't locate object method \"total\" via package \"Refund\" at refund.pl line 12.",
    "=== RUN   TestRefund\n    refund_test.go:12: got 1, want 2\n--- FAIL: TestRefund (0.00s)\nFAIL\nFAIL\tshop/refund\t0.003s",
    "running 2 tests\ntest refund::issues ... FAILED\ntest alerts::tunes ... ok\n\nfailures:\n\n---- refund::issues stdout ----\nthread 'refund::issues' panicked at src/refund.rs:12:9:\nassertion `left == right` failed\n  left: 1\n right: 2\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out",
    "web_1  | Refund service started\nweb_1  | Error: connect ECONNREFUSED\ndb_1   | ready to accept connections",
    "To github.com:ana/shop.git\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'github.com:ana/shop.git'\nhint: Updates were rejected because the remote contains work that you do not\nhint: have locally.",
    "data class Refund(val total: Int, val note: String?)\n\nfun issue(refund: Refund): Boolean {\n    return refund.total > 0\n}",
    "defmodule Shop.Refund do\n  def issue(order) do\n    order |> Map.get(:total) |> pay()\n  end\nend",
    "issue :: Order -> Either Error Refund\nissue order\n  | total order > 0 = Right (Refund (total order))\n  | otherwise = Left BadOrder",
    "for f in *.csv; do\n  echo \"$f\"\n  wc -l \"$f\"\ndone",
    "select c.name, sum(r.total)\nfrom refunds r\njoin customers c on c.id = r.customer_id\ngroup by c.name\nhaving sum(r.total) > 100",
    "ERROR:  column \"refund_total\" does not exist\nLINE 1: select refund_total from orders;\n               ^\nHINT:  Perhaps you meant to reference the column \"orders.total\".",
    "Feature: Refunds\n  Scenario: Issue a refund\n    Given an order of 12 euros\n    When the customer asks for a refund\n    Then the refund is issued",
    "2026-03-03T10:02:11.1234567Z ##[group]Run npm test\n2026-03-03T10:02:12.1234567Z npm test\n2026-03-03T10:02:13.1234567Z ##[error]Process completed with exit code 1.",
    " ❯ src/refund.test.ts (2 tests | 1 failed) 12ms\n   × issues a refund\n     → expected 1 to be 2\n\n Test Files  1 failed (1)\n      Tests  1 failed | 1 passed (2)",
    "  1) [chromium] › refund.spec.ts:12:5 › issues a refund\n\n    Error: expect(received).toBe(expected)\n\n  1 failed\n    [chromium] › refund.spec.ts:12:5 › issues a refund",
    "openapi: 3.0.0\ninfo:\n  title: Refunds\n  version: 1.0.0\npaths:\n  /refunds:\n    post:\n      summary: Issue a refund to a customer\n      responses:\n        \"200\":\n          description: The refund was issued",
    "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: refund\nspec:\n  replicas: 2\n  template:\n    spec:\n      containers:\n        - name: refund\n          image: refund:1.2",
    "rules:\n  - alert: RefundsSlow\n    expr: rate(refunds[5m]) > 1\n    annotations:\n      summary: Refunds are slow, tune the alert\n      description: The refund service takes more than a second",
    "Thread 0 Crashed::  Dispatch queue: com.apple.main-thread\n0   Shop                          \t0x0000000100003f20 Refund.issue() + 32\n1   Shop                          \t0x0000000100003f80 main + 12",
    "E/AndroidRuntime: FATAL EXCEPTION: main\nE/AndroidRuntime: java.lang.NullPointerException: refund",
    "Started POST \"/refunds\" for 127.0.0.1 at 2026-03-03 10:02:11 +0100\nProcessing by RefundsController#create as JSON\n  Parameters: {\"order\"=>\"12\"}\nCompleted 500 Internal Server Error in 12ms (ActiveRecord: 1.2ms)",
    "Internal Server Error: /refunds/\nTraceback (most recent call last):\n  File \"/srv/app/views.py\", line 12, in post\n    total = order[\"total\"]\nKeyError: 'total'\n[03/Mar/2026 10:02:11] \"POST /refunds/ HTTP/1.1\" 500 12",
    "2026-03-03T10:02:11.123+01:00 ERROR 1234 --- [nio-8080-exec-1] c.a.RefundController : Refund failed\norg.springframework.dao.DataIntegrityViolationException: could not execute statement",
    "ERROR in ./src/refund.js 12:9\nModule not found: Error: Can't resolve './alerts' in '/srv/app/src'\n @ ./src/index.js 3:0-24",
    "Reading package lists... Done\nBuilding dependency tree... Done\nE: Unable to locate package refund",
    "Collecting refund\n  Downloading refund-1.0.tar.gz (12 kB)\nSuccessfully installed refund-1.0",
    "Access to fetch at 'https://api.example.com/refunds' from origin 'http://localhost:3000' has been blocked by CORS policy: No 'Access-Control-Allow-Origin' header is present on the requested resource.",
    "top - 10:02:11 up 1 day,  2:03,  1 user,  load average: 0.50, 0.40, 0.30\nTasks: 123 total,   1 running, 122 sleeping\n  PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n 1234 ana       20   0  123456  12345   1234 R  99.0   1.0   0:12.34 refund",
    "openat(AT_FDCWD, \"/etc/refund.conf\", O_RDONLY) = -1 ENOENT (No such file or directory)\nwrite(2, \"refund: cannot open\", 19) = 19",
    "2026-03-03 10:02:11 错误 退款失败\n2026-03-03 10:02:12 信息 重试",
    "小王 10:02\n请处理退款\n小李 10:03\n告警太多了",
    "[김철수] [오전 10:02] 환불해 주세요\n[이영희] [오전 10:03] 알림이 너무 많아요",
    "[3/3/26, 10:02:11 AM] Ana: can you issue the refund?\n[3/3/26, 10:03:11 AM] Ben: the alerts are too noisy",
    "10:02:11 From Ana to Everyone : can you issue the refund?\n10:03:11 From Ben to Everyone : the alerts are noisy",
    "00:00:01 Ana: can you issue the refund?\n00:00:05 Ben: the alerts are too noisy",
    "[00:12] Ana: can you issue the refund?\n[00:15] Ben: the alerts are too noisy",
    "PROJ-12\tIssue a refund\tOpen\tAna\nPROJ-13\tTune the alerts\tClosed\tBen",
    "Filesystem      Size  Used Avail Use% Mounted on\n/dev/sda1        50G   48G  2.0G  96% /\ntmpfs           7.8G     0  7.8G   0% /dev/shm",
    "<<<<<<< HEAD\nlet total = refund(12);\n=======\nlet total = refund(15);\n>>>>>>> feature/alerts",
    "export function Refund({ order }) {\n  const [open, setOpen] = useState(false);\n  return (\n    <div className=\"refund\">\n      <button onClick={() => setOpen(true)}>Issue refund</button>\n    </div>\n  );\n}",
    "struct Refund: Codable {\n    let total: Int\n    var note: String?\n\n    func issue() -> Bool {\n        return total > 0\n    }\n}",
    "resource \"aws_sqs_queue\" \"refunds\" {\n  name                      = \"refunds\"\n  message_retention_seconds = 86400\n}",
    "server {\n    listen 80;\n    server_name example.com;\n    location /refunds {\n        proxy_pass http://app:8080;\n    }\n}",
    "build: deps\n\tgo build ./...\n\ntest:\n\tgo test ./...",
    "(defun refund (order)\n  \"Issue the refund of ORDER.\"\n  (let ((total (order-total order)))\n    (issue order total)))",
    "(ns shop.refund\n  (:require [clojure.string :as str]))\n\n(defn issue [order]\n  (-> order :total pos?))",
    "(setq inhibit-startup-message t)\n(use-package magit\n  :ensure t\n  :bind (\"C-x g\" . magit-status))",
    "node_modules/\ndist/\n*.log\n.env\n!keep.env",
    "0a3407de-014b-458b-b5c1-848e92a327a3\n1b3407de-014b-458b-b5c1-848e92a327a3",
    "10.0.0.1\n10.0.0.2\nfe80::1ff:fe23:4567:890a",
    "ana@example.com\nben@example.com",
    "Ana Lopez, 10:02\ncan you issue the refund?\nBen Meyer, 10:03\nthe alerts are too noisy",
    "Ana\n — 03/03/2026 10:02\ncan you issue the refund?\nBen\n — 03/03/2026 10:03\nthe alerts are too noisy",
    "u/ana_lopez · 3h ago\nI never got my refund, what can I do?\n\nu/ben_meyer · 2h ago\nTune the alerts and ask again",
    "ana 3 hours ago | next [–]\nI never got my refund.\n\nben 2 hours ago | parent | prev [–]\nTune the alerts.",
    "Ana: can you issue the refund?\nBen: the alerts are too noisy\nAna: ok, who tunes them?",
    "Interviewer: What do you think of the refund process?\n\nParticipant: It is slow.\n\nInterviewer: What would you change?",
    "**Ana Lopez:** kannst du die Erstattung machen?\n**Ben Meyer:** die Alarme nerven\n**Ana Lopez:** ok",
    "SPEAKER 1: can you issue the refund?\nSPEAKER 2: the alerts are too noisy\nSPEAKER 1: ok",
    "小王：请处理退款\n小李：告警太多了\n小王：好的，谁来处理？",
    "김철수 : 환불해 주세요\n이영희 : 알림이 너무 많아요\n김철수 : 네",
];

/// Mails, whose last paragraph nothing but a blank line tells from what is below.
const MAILS: &[&str] = &[
    "Von: Ana Lopez <ana@example.com>\nGesendet: Dienstag, 3. März 2026 10:02\nAn: Ben Meyer <ben@example.com>\nBetreff: AW: Vertrag\n\nHallo Ben,\n\nbitte prüf den Vertrag und gib die Rückerstattung frei.\n\nViele Grüße\nAna",
    "差出人: Ana Lopez <ana@example.com>\n日時: 2026年3月3日 10:02\n宛先: Ben <ben@example.com>\n件名: 返金の件\n\n返金の件、ご確認ください。",
    "From: Ana Lopez <ana@example.com>\nSent: Tuesday, March 3, 2026 10:02 AM\nTo: Ben\nSubject: RE: contract\n\nHi Ben,\n\ncan you issue the refund please?\n\nThanks,\nAna",
    "-----Original Message-----\nFrom: Ana\nSent: Tuesday\nTo: Ben\nSubject: refund\n\nplease issue it",
    "---------- Forwarded message ---------\nFrom: Ana <ana@example.com>\nDate: Tue, Mar 3, 2026 at 10:02 AM\nSubject: refund\nTo: <ben@example.com>\n\nplease issue it today",
];

const REQUESTS: [&str; 4] = [
    "can you audit the accessibility of this page?",
    "write a postmortem for it",
    "warum ist das so langsam?",
    "请总结一下这些内容",
];

#[test]
fn a_paste_of_any_kind_is_told_from_the_request_wherever_it_stands() {
    let mut wrong = Vec::new();
    for asks in REQUESTS {
        for paste in PASTES.iter().chain(MAILS) {
            let mut messages = vec![
                format!("{paste}\n\n{asks}"),
                format!("{asks}\n\n{paste}"),
                format!("{asks}\n{paste}"),
                format!("{paste}\n\n{asks}\n\n{paste}"),
            ];
            if PASTES.contains(paste) {
                messages.push(format!("{paste}\n{asks}"));
            }
            let is_wrong = |message: &String| request(message) != [asks];
            wrong.extend(messages.into_iter().filter(is_wrong));
        }
    }
    let told = wrong.iter().map(|message| format!("{message:?}\n  is {:?}", request(message)));
    assert!(wrong.is_empty(), "{}", told.collect::<Vec<String>>().join("\n"));
}

/// Messages that look like such pastes, and that people type.
const TYPED: &[&str] = &[
    "Call Ana at 10:30\nmeet Ben at 11:00\nplan my day around it",
    "lunch at 12:30\nwith Ana\nreview at 14:00\nwith Ben",
    "Meeting, 10:00\nprepare slides\nReview, 11:00\nprepare notes",
    "● fix login\n● fix logout",
    "✖ login\n✔ logout\nfix the open one",
    "total 12 files are missing\nfind them",
    "Plan: ship on Friday\nExpected: a demo\nReceived: nothing",
    "Expected: 12\nReceived: 15\nwhy?",
    "Error in the login: fix it\nthen deploy",
    "Found 3 errors in the login\nfix them",
    "Tests: 3 are failing\nfix them",
    "Data columns (total 3) should be renamed\ndo it",
    "name: Ana\nrole: admin\ncreate the account",
    "- login: ok\n- logout: broken\n- signup: broken\nfix the broken ones",
    "bug: login\nfeature: darkmode\nchore: deps\nsort these",
    "compare\nsrc/a.rs\nand\nsrc/b.rs",
    "look at\nhttps://example.com/a\nand summarise it",
    "At line 12: fix it\nand test",
    "please fix: command not found\nin my shell",
    "Ana: fix login\nBen: fix logout",
    "Draft a mail.\n\nWe ship on Friday, tell them.\n\nThanks",
    "修复登录\n10:30 开会\n准备材料\n11:00 评审",
    "Started the deploy\nCompleted the review\nwhat is left?",
    "running 2 tests fails\nfix it",
    "Processing by hand is slow\nautomate it",
    "[urgent] fix the login\n[later] deploy",
    "[10:30] call Ana\n[11:00] meet Ben",
    "select the best option (v2)\nfrom the list below",
    "test it and say what you will do\nthen deploy",
    "class A < B fails\nfix it",
    "value :: type is of Haskell\nexplain it",
    "top - down design\nplease",
    "group the tests by module\norder them by time",
    "test the login\ndescribe what you do",
    "class names are too long\ndata is missing",
    "When the login fails\nThen show a message",
    "Feature: dark mode\n  with a switch",
    "fun project (mine)\nname it",
    "Termin um 10:30\nmit Ana\nAbgabe um 12:00\nmit Ben",
    "/deploy\n/review\nboth, please",
    "(fix the login\n  and test it)\nplease",
    "Bug: the login fails\nBug: the logout fails\nFeature: dark mode\nFeature: a tour",
    "Ana: fix login\nBen: fix logout\nCem: write docs",
    "It worked 3 days ago\nit broke 2 days ago\nfind out why",
    "The refund: 12 euros\nthe fee: 3 euros\nthe refund: is it right?",
    "- add a test\n- run it\n- add a test\n- run it",
];

#[test]
fn lines_that_come_again_are_a_programs() {
    let again = |line: &str| {
        (1..6).map(|nth| line.replace('#', &nth.to_string()) + "\n\n").collect::<String>()
    };
    for line in [
        "Chain # (policy ACCEPT)",
        "Batch # was handed over to the queue",
        "步骤 # 完成",
        "Schritt # ist erledigt",
    ] {
        for asks in REQUESTS {
            assert_eq!(request(&format!("{}{asks}", again(line))), [asks], "{line}");
            assert_eq!(request(&format!("{asks}\n{}", again(line))), [asks], "{line}");
        }
    }
}

#[test]
fn a_question_between_two_pieces_of_code_is_the_request_if_nothing_else_is() {
    let code = "fn refund(order: &Order) -> Refund {\n    order.total.into()\n}\n".repeat(8);
    let asks = "which of the two is faster?";
    assert_eq!(request(&format!("{code}\n{asks}\n\n{code}")), [asks]);
    let both = format!("{code}\nhow it is done\n\n{code}\n{asks}");
    assert_eq!(request(&both), [asks]);
}

#[test]
fn what_looks_like_a_paste_and_is_typed_is_the_request() {
    for message in TYPED {
        let lines: Vec<&str> = message.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(request(message), lines);
    }
}
