//! The nearness of texts by the bundled table.

use repertoire_meaning::{Compact, Scratch, Table, Vector, Vectors};

fn vector(text: &str) -> Vector {
    Table::bundled().vector(text, &mut Scratch::default())
}

#[test]
fn the_bundled_table_is_as_it_was_written_and_fits_its_package() {
    let table = Table::bundled();
    table.verify().unwrap();
    assert!(table.as_bytes().len() <= 9_000_000, "{}", table.as_bytes().len());
    assert!(table.pieces() > 20_000 && table.dimensions() >= 64);
    let copy = Table::open(table.as_bytes().to_vec()).unwrap();
    assert_eq!(copy.fingerprint(), table.fingerprint());
    assert_eq!(copy.vector("a text", &mut Scratch::default()), vector("a text"));
}

#[test]
fn a_text_is_nearer_to_its_subject_than_to_others_in_other_words_and_languages() {
    let subjects = [
        "Rotate a password or an API key of a service",
        "Write a postmortem after an outage",
        "Reply to an angry customer about a refund",
        "Make a slow SQL query fast",
    ];
    for (message, nearest) in [
        ("our credentials leaked, replace the secret", 0),
        ("what went wrong last night when everything was down, lessons learnt", 1),
        ("she wants her money back and is furious", 2),
        ("the database takes ages to answer", 3),
        ("Die Datenbankabfrage ist viel zu langsam", 3),
        ("La base de datos tarda mucho en responder", 3),
        ("数据库查询太慢", 3),
        ("パスワードを変更する", 0),
    ] {
        let message_vector = vector(message);
        let cosines = subjects.map(|subject| message_vector.cosine(&vector(subject)));
        let best = cosines.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0;
        assert_eq!(best, nearest, "{message}: {cosines:?}");
    }
}

#[test]
fn compact_vectors_keep_the_cosine_one_by_one_and_packed() {
    let texts: Vec<String> =
        (0..200).map(|n| format!("skill {n}: {}", ["deploy", "invoice", "poem"][n % 3])).collect();
    let vectors: Vec<Vector> = texts.iter().map(|text| vector(text)).collect();
    let compact: Vec<Compact> = vectors.iter().map(Vector::compact).collect();
    let bytes = Vectors::pack(&compact);
    assert_eq!(bytes.len(), 200 * Table::bundled().dimensions());
    let packed = Vectors::new(&bytes, Table::bundled().dimensions()).unwrap();
    assert_eq!(packed.len(), 200);
    let message = vector("put the new version into production");
    let (query, mut estimates) = (message.query(), Vec::new());
    packed.estimates(&query, &mut estimates);
    for (index, exact) in vectors.iter().enumerate() {
        let cosine = packed.cosine(&query, index);
        assert!((cosine - message.cosine(exact)).abs() < 0.01, "{index}: {cosine}");
        assert!((cosine - query.cosine(compact[index].as_bytes())).abs() < 1e-6);
        assert!(
            (cosine - message.cosine(&Vector::from_compact(compact[index].as_bytes()))).abs()
                < 0.01
        );
        assert!((estimates[index] - cosine).abs() < 0.5, "{index}: {} {cosine}", estimates[index]);
    }
    assert_eq!(packed.cosine(&query, 200).to_bits(), 0.0_f32.to_bits());
    assert!(Vectors::new(&bytes[1..], Table::bundled().dimensions()).is_none());
}

#[test]
fn contributions_name_the_words_and_add_up_to_the_cosine() {
    let (table, mut scratch) = (Table::bundled(), Scratch::default());
    let skill = vector("Make a slow SQL query fast");
    for text in
        ["hey, the database is sluggish today", "数据库查询太慢", "Die Datenbankabfrage hängt", "…"]
    {
        let words = table.contributions(text, &skill, &mut scratch);
        let sum: f32 = words.iter().map(|word| word.share).sum();
        let cosine = table.vector(text, &mut scratch).cosine(&skill);
        assert!((sum - cosine).abs() < 1e-4, "{text}: {sum} {cosine}");
        assert!(words.windows(2).all(|two| two[0].share >= two[1].share));
        assert!(words.iter().all(|word| !text[word.range.clone()].is_empty()));
    }
    let best = |text: &str| {
        let words = table.contributions(text, &skill, &mut Scratch::default());
        text[words[0].range.clone()].to_owned()
    };
    assert_eq!(best("hey, the Database is down today"), "Database");
    assert_eq!(best("我的数据库坏了"), "数据库");
}

#[test]
fn a_text_without_known_words_is_near_nothing() {
    for text in ["", "   ", "…!?", "\u{0}"] {
        assert!(vector(text).is_zero(), "{text:?}");
        assert_eq!(vector(text).cosine(&vector("deploy")).to_bits(), 0.0_f32.to_bits());
    }
}
