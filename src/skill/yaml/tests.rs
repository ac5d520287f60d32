use super::*;

fn read(text: &str) -> Result<Tree, YamlError> {
    parse(text, &|at| at)
}

#[test]
fn values_know_their_bytes() {
    let text = "ñ: 'x y'\nl:\n  - é one  # c\n  - \"b\"\nm: {k: v} \nb: |\n  t\n  u\nz: 1\n";
    let root = read(text).unwrap().root.unwrap();
    let Value::Mapping(entries) = root.value else { panic!("a map") };
    let sources: Vec<_> = entries
        .iter()
        .flat_map(|(key, value)| [&text[key.span.clone()], text[value.span.clone()].trim_end()])
        .collect();
    let list = "- é one  # c\n  - \"b\"";
    let expected = ["ñ", "'x y'", "l", list, "m", "{k: v}", "b", "t\n  u", "z", "1"];
    assert_eq!(sources, expected);
    assert_eq!(&text[entries[0].1.place(text, 2..3)], "y");
    let Value::Sequence(list) = &entries[1].1.value else { panic!("a list") };
    assert_eq!(&text[list[0].place(text, 3..6)], "one");
    assert_eq!(&text[list[1].place(text, 0..1)], "b");
    let block = &entries[3].1;
    assert_eq!(block.place(text, 2..3), text.find("u\n").unwrap()..text.find("\nz").unwrap());
    assert_eq!(block.place(text, 0..3), block.span, "a part that goes over lines");
}

#[test]
fn the_last_of_two_equal_keys_counts_and_is_reported() {
    let tree = read("a: 1\nb: 2\n'a': 3").unwrap();
    let [Duplicate { span, replaced: (key, value) }] = &tree.duplicates[..] else { panic!() };
    assert_eq!((span.clone(), key.text(), value.text()), (10..13, Some("a"), Some("1")));
    let Some(Value::Mapping(entries)) = tree.root.map(|root| root.value) else { panic!() };
    let texts: Vec<_> = entries.iter().map(|(key, value)| (key.text(), value.text())).collect();
    assert_eq!(texts, [(Some("b"), Some("2")), (Some("a"), Some("3"))]);
}

#[test]
fn hostile_documents_are_refused_in_no_time() {
    let bomb: String = std::iter::once("a0: &a0 [x, x]\n".to_owned())
        .chain((1..40).map(|i| format!("a{i}: &a{i} [*a{0}, *a{0}]\n", i - 1)))
        .collect();
    let nested: Vec<_> = (0..10_000).map(|i| format!("{}k:\n", " ".repeat(i.min(200)))).collect();
    let anchors: Vec<_> = (0..100).map(|i| format!("- &a{i} x\n")).collect();
    let aliases = format!("- &a x\n{}", "- *a\n".repeat(100));
    let cases = [
        bomb,
        nested.concat(),
        anchors.concat(),
        aliases,
        "[".repeat(32 * 1024),
        "{a: ".repeat(8 * 1024),
        "- ".repeat(16 * 1024),
        "- x\n".repeat(20_000),
        "? ".repeat(16 * 1024),
    ];
    for text in cases {
        let start = std::time::Instant::now();
        let error = read(&text).unwrap_err();
        assert_eq!(error.kind, YamlErrorKind::TooComplex, "{:.40}: {}", text, error.message);
        assert!(start.elapsed().as_secs() < 5, "{:.40}: {:?}", text, start.elapsed());
    }
}

#[test]
fn what_is_not_yaml_is_refused_at_its_place() {
    let cases = [
        ("a: b: c", 4),
        ("a: [b", 3),
        ("a: @b", 3),
        ("a: &x [*x]", 7),
        ("a: *nowhere", 3),
        ("a: 1\n...\nb: 2\n", 9),
        ("a: \0", 3),
    ];
    for (text, at) in cases {
        let error = read(text).expect_err(text);
        assert_eq!((error.kind, error.at), (YamlErrorKind::Invalid, at), "{text:?}: {error:?}");
    }
}

#[test]
fn no_value_is_no_tree() {
    for text in ["", "\n", "# comment\n"] {
        assert_eq!(read(text).unwrap().root, None, "{text:?}");
    }
}
