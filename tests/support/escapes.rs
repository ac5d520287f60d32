//! Paths that lead out of a skill, or that some programs would read as such.

use repertoire::ErrorCode;

/// Returns paths that name anything but a file of the skill, at least for some programs, each with the
/// code of its error. `absolute` is the path of a file outside of the skill.
pub(crate) fn paths(absolute: &str) -> Vec<(String, ErrorCode)> {
    use ErrorCode::{InvalidParam, NotFound, PermissionDenied};
    let mut paths: Vec<(String, ErrorCode)> = [
        // Upwards, in every position.
        ("..", InvalidParam),
        ("../", InvalidParam),
        ("../canary.txt", InvalidParam),
        ("../../canary.txt", InvalidParam),
        ("../review-two/canary.txt", InvalidParam),
        ("../review/references/one.md", InvalidParam),
        ("./../canary.txt", InvalidParam),
        (".//..//canary.txt", InvalidParam),
        ("references/../../canary.txt", InvalidParam),
        ("references/..", InvalidParam),
        ("references/../references/one.md", InvalidParam),
        ("references/one.md/../../../canary.txt", InvalidParam),
        ("missing/../../canary.txt", InvalidParam),
        ("SKILL.md/../../canary.txt", InvalidParam),
        // Encoded, for readers that decode names.
        ("%2e%2e/canary.txt", NotFound),
        ("%2e%2e%2fcanary.txt", NotFound),
        ("%2E%2E%2Fcanary.txt", NotFound),
        ("..%2fcanary.txt", NotFound),
        ("references/%2e%2e/%2e%2e/canary.txt", NotFound),
        ("references/..%2f..%2fcanary.txt", NotFound),
        ("%252e%252e%252fcanary.txt", NotFound),
        ("..%c0%afcanary.txt", NotFound),
        ("..%00/canary.txt", NotFound),
        ("&#46;&#46;/canary.txt", NotFound),
        // Look-alike characters, which normalisation would turn into `..` and `/`.
        ("\u{2025}/canary.txt", NotFound),
        ("\u{2024}\u{2024}/canary.txt", NotFound),
        ("\u{ff0e}\u{ff0e}/canary.txt", NotFound),
        ("..\u{2215}canary.txt", NotFound),
        ("..\u{2044}canary.txt", NotFound),
        ("..\u{ff0f}canary.txt", NotFound),
        ("..\u{ff3c}canary.txt", NotFound),
        (".\u{200b}./canary.txt", NotFound),
        ("\u{feff}../canary.txt", NotFound),
        // Absolute on some system.
        ("/etc/passwd", InvalidParam),
        ("//etc/passwd", InvalidParam),
        ("/proc/self/environ", InvalidParam),
        ("/dev/stdin", InvalidParam),
        ("~/canary.txt", NotFound),
        ("~root/canary.txt", NotFound),
        ("$HOME/canary.txt", NotFound),
        ("${PWD}/../canary.txt", InvalidParam),
        ("file:///etc/passwd", InvalidParam),
        ("file:/etc/passwd", NotFound),
        ("http://127.0.0.1/canary.txt", InvalidParam),
        ("C:/canary.txt", InvalidParam),
        ("c:canary.txt", InvalidParam),
        ("C:\\canary.txt", InvalidParam),
        ("..\\canary.txt", InvalidParam),
        ("references\\..\\..\\canary.txt", InvalidParam),
        ("\\\\host\\share\\canary.txt", InvalidParam),
        ("\\\\?\\C:\\canary.txt", InvalidParam),
        ("//?/C:/canary.txt", InvalidParam),
        // Truncated or misinterpreted by careless readers.
        ("references/one.md\0/../../../canary.txt", InvalidParam),
        ("../canary.txt\0.md", InvalidParam),
        ("references/one.md\0", InvalidParam),
        ("references/one.md\n", InvalidParam),
        ("\n../canary.txt", InvalidParam),
        ("references/one.md\r\n../canary.txt", InvalidParam),
        ("references/one.md/", InvalidParam),
        ("references/one.md/.", InvalidParam),
        ("references/one.md/x", NotFound),
        ("references/one.md ", NotFound),
        (" references/one.md", NotFound),
        ("references/one.md.", NotFound),
        ("references/one.md::$DATA", NotFound),
        ("references/*.md", NotFound),
        ("`cat canary.txt`", NotFound),
        ("$(cat canary.txt)", NotFound),
        // Not the name of a file.
        ("", InvalidParam),
        (".", InvalidParam),
        ("./", InvalidParam),
        ("references", InvalidParam),
        ("references/.", InvalidParam),
        ("a/b", InvalidParam),
        // In the skill's directory, but not one of the skill's files.
        ("SKILL.md", InvalidParam),
        ("skill.md", InvalidParam),
        ("./SKILL.MD", InvalidParam),
        ("sub/SKILL.md", NotFound),
        ("sub/canary.txt", NotFound),
        ("./sub//canary.txt", NotFound),
        ("sub/missing.md", NotFound),
        ("group/sub/deep/canary.txt", NotFound),
        (".git/config", PermissionDenied),
        // Hidden files, which no list shows.
        (".env.example", PermissionDenied),
        ("..almost/...", PermissionDenied),
        (".env", NotFound),
        (".GIT/config", PermissionDenied),
        ("./.git/./config", PermissionDenied),
    ]
    .map(|(path, code)| (path.to_owned(), code))
    .into();
    paths.extend([
        (absolute.to_owned(), InvalidParam),
        (format!("/{absolute}"), InvalidParam),
        (format!("references/{}etc/passwd", "../".repeat(40)), InvalidParam),
        (format!("{}etc/passwd", "../".repeat(10_000)), InvalidParam),
        (format!("{}one.md", "./".repeat(5_000)), InvalidParam),
        ("x".repeat(256), InvalidParam),
        ("x/".repeat(2_047) + "x", NotFound),
        ("使".repeat(100_000), InvalidParam),
    ]);
    paths
}
