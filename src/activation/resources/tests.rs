use std::fs;

use serde_json::json;

use super::*;

fn skill(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (file, content) in files {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    dir
}

fn read(dir: &tempfile::TempDir, path: &str) -> Result<Resource, Error> {
    read_resource("review", dir.path(), path, &ReadOptions::default())
}

fn range(offset: usize, limit: usize) -> ReadOptions {
    ReadOptions { offset: Some(offset), limit: Some(limit), ..ReadOptions::default() }
}

fn text(resource: Resource) -> (String, usize, usize, usize) {
    match resource.content {
        Content::Text { text, first_line, lines, total_lines } => {
            (text, first_line, lines, total_lines)
        }
        Content::Base64(content) => panic!("base64 {content}"),
    }
}

#[test]
fn texts_and_other_files_are_answered_as_what_they_are() {
    let dir = skill(&[("a/b.md", b"one\ntwo\n"), ("logo.png", b"\x89PNG\xff"), ("empty", b"")]);
    assert_eq!(
        serde_json::to_value(read(&dir, "./a//b.md").unwrap()).unwrap(),
        json!({
            "path": "a/b.md", "media_type": "text/markdown", "size": 8, "encoding": "utf-8",
            "content": "one\ntwo\n", "first_line": 1, "lines": 2, "total_lines": 2,
        })
    );
    assert_eq!(
        serde_json::to_value(read(&dir, "logo.png").unwrap()).unwrap(),
        json!({
            "path": "logo.png", "media_type": "image/png", "size": 5, "encoding": "base64",
            "content": "iVBOR/8=",
        })
    );
    assert_eq!(text(read(&dir, "empty").unwrap()), (String::new(), 1, 0, 0));
}

#[test]
fn the_content_has_the_last_word_on_the_media_type() {
    for (path, of_text, of_bytes) in [
        ("a.md", "text/markdown", "application/octet-stream"),
        ("a.png", "text/plain", "image/png"),
        ("a.svg", "image/svg+xml", "image/svg+xml"),
        ("a.json", "application/json", "application/json"),
        ("a.ts", "text/plain", "video/vnd.dlna.mpeg-tts"),
        ("a.pdf", "application/pdf", "application/pdf"),
        ("A.MD", "text/markdown", "application/octet-stream"),
        ("Makefile", "text/plain", "application/octet-stream"),
        ("a.unheard-of", "text/plain", "application/octet-stream"),
    ] {
        assert_eq!(media_type(path, true), of_text, "{path}");
        assert_eq!(media_type(path, false), of_bytes, "{path}");
    }
}

#[test]
fn long_texts_are_read_in_parts() {
    let lines: Vec<String> =
        (1..=50_000).map(|n| format!("{n} is the number of a line\n")).collect();
    let long = lines.concat();
    let one_line = "x".repeat(2 * 1024 * 1024);
    let dir = skill(&[
        ("long.txt", long.as_bytes()),
        ("one.txt", one_line.as_bytes()),
        ("nul.bin", b"a\nb\0c"),
        ("crlf.txt", b"a\r\nb\r\nc"),
    ]);
    let error = read(&dir, "long.txt").unwrap_err();
    assert_eq!(error.code(), ErrorCode::ExecutionError);
    assert!(error.message().contains(&long.len().to_string()), "{error}");
    assert!(error.help().contains("`offset`"), "{error:#}");

    let of = |path: &str, options: ReadOptions| read_resource("review", dir.path(), path, &options);
    let part = text(of("long.txt", range(49_999, 10)).unwrap());
    let expected = "49999 is the number of a line\n50000 is the number of a line\n";
    assert_eq!(part, (expected.to_owned(), 49_999, 2, 50_000));
    assert_eq!(of("long.txt", range(1, 1)).unwrap().size, long.len() as u64);
    assert_eq!(text(of("crlf.txt", range(2, 1)).unwrap()), ("b\r\n".to_owned(), 2, 1, 3));
    assert_eq!(text(of("crlf.txt", range(0, 0)).unwrap()), (String::new(), 1, 0, 3));

    // Parts are as long as an answer may be, and together they are the whole file.
    let (mut whole, mut next, mut n_parts) = (String::new(), 1, 0);
    while next <= 50_000 {
        let options = ReadOptions { offset: Some(next), ..ReadOptions::default() };
        let (text, first, lines, _) = text(of("long.txt", options).unwrap());
        assert!(text.len() <= options.max_bytes && first == next && lines > 0);
        (whole, next, n_parts) = (whole + &text, next + lines, n_parts + 1);
    }
    assert!(whole == long && n_parts == 2);

    for (path, options, code) in [
        ("long.txt", range(50_001, 1), ErrorCode::InvalidParam),
        ("nul.bin", range(1, 1), ErrorCode::InvalidParam),
        ("one.txt", range(1, 1), ErrorCode::ExecutionError),
    ] {
        assert_eq!(of(path, options).unwrap_err().code(), code, "{path}");
    }
    let small = ReadOptions { max_bytes: 4, ..ReadOptions::default() };
    assert_eq!(of("nul.bin", small).unwrap_err().code(), ErrorCode::ExecutionError);
}

#[test]
fn refusals_name_skill_and_file_and_what_to_do() {
    let dir = skill(&[
        ("SKILL.md", b"x"),
        ("references/forms.md", b"x"),
        ("sub/skill.md", b"x"),
        ("sub/deep/file.md", b"x"),
        (".git/config", b"x"),
        ("\u{1}", b"x"),
    ]);
    for (path, code, message, help) in [
        ("../x", ErrorCode::InvalidParam, "has a `..`", "`references/forms.md`"),
        ("references", ErrorCode::InvalidParam, "a directory", "in the skill's directory"),
        ("reference/forms.md", ErrorCode::NotFound, "no such", "`references/forms.md`"),
        ("nothing-like-it", ErrorCode::NotFound, "no such", "list of its files"),
        ("references/forms.md/x", ErrorCode::NotFound, "no such", ""),
        ("sub/deep/file.md", ErrorCode::NotFound, "`sub` is a skill", "id of that skill"),
        ("sub/SKILL.md", ErrorCode::NotFound, "`sub` is a skill", "id of that skill"),
        ("Skill.md", ErrorCode::InvalidParam, "activated", "`use_skill` with `review`"),
        (".git/config", ErrorCode::PermissionDenied, "`.git`", "files of the skill"),
        (".GIT/config", ErrorCode::PermissionDenied, "`.git`", "files of the skill"),
    ] {
        let error = read(&dir, path).unwrap_err();
        assert_eq!(error.code(), code, "{path}: {error}");
        let start = format!("file `{path}` of skill `review`: ");
        assert!(error.message().starts_with(&start), "{error}");
        assert!(error.message().contains(message), "{error}");
        assert!(error.help().contains(help), "{error:#}");
    }
    let escaped = read(&dir, "\u{1}").unwrap_err();
    assert!(escaped.message().contains("`\\u{1}`"), "{escaped}");
    let long = read(&dir, &"a/".repeat(100_000)).unwrap_err();
    assert!(long.message().len() < 300, "{long}");
    let gone = read_resource("review", &dir.path().join("gone"), "a", &ReadOptions::default());
    assert_eq!(gone.unwrap_err().code(), ErrorCode::NotFound);
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_is_not_listed() {
    let dir = skill(&[("a.md", b"a"), ("linked.md", b"b"), (".env", b"c"), ("z.md", b"d")]);
    fs::hard_link(dir.path().join("linked.md"), dir.path().join(".other")).unwrap();
    let large = File::create(dir.path().join("large.bin")).unwrap();
    large.set_len(MAX_TEXT_BYTES as u64 + 1).unwrap();
    let listed = crate::activation::bundled_files(dir.path(), 20).unwrap();
    assert_eq!((&listed.files[..], listed.more), (&["a.md".to_owned(), "z.md".into()][..], 2));
    fs::create_dir(dir.path().join("node_modules")).unwrap();
    fs::write(dir.path().join("node_modules/index.js"), "").unwrap();
    for path in [".env", "node_modules/index.js", "linked.md"] {
        assert_eq!(read(&dir, path).unwrap_err().code(), ErrorCode::PermissionDenied, "{path}");
    }
    assert_eq!(read(&dir, "large.bin").unwrap_err().code(), ErrorCode::ExecutionError);
    assert_eq!(read(&dir, ".missing").unwrap_err().code(), ErrorCode::NotFound);
    let listed = crate::activation::bundled_files(dir.path(), 1).unwrap();
    assert_eq!((listed.files, listed.more), (vec!["a.md".to_owned()], 3));
}
