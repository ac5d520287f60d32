//! Files that are not as this crate wrote them.

use repertoire_meaning::{ErrorKind, Scratch, Table};

/// The bundled table, to be damaged.
fn intact() -> Vec<u8> {
    Table::bundled().as_bytes().to_vec()
}

fn kind(bytes: &[u8]) -> Option<ErrorKind> {
    Table::open(bytes.to_vec()).err().map(|error| error.kind())
}

#[test]
fn truncated_files_and_those_with_something_added_are_refused() {
    let bytes = intact();
    for len in [0, 1, 8, 24, 127] {
        assert_eq!(kind(&bytes[..len]), Some(ErrorKind::NotATable), "{len}");
    }
    for len in [128, 129, 4096, bytes.len() / 2, bytes.len() - 1] {
        assert_eq!(kind(&bytes[..len]), Some(ErrorKind::Damaged), "{len}");
    }
    let mut longer = bytes;
    longer.push(0);
    assert_eq!(kind(&longer), Some(ErrorKind::Damaged));
}

#[test]
fn a_header_whose_numbers_do_not_fit_is_refused() {
    let wrong = |at: usize, number: u32, expected: ErrorKind| {
        let mut bytes = intact();
        bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        assert_eq!(kind(&bytes), Some(expected), "{number} at {at}");
    };
    for (at, number) in [(24, 0), (24, 17), (24, 272), (28, 5), (32, 3)] {
        wrong(at, number, ErrorKind::Unsupported);
    }
    for (at, number) in
        [(40, u32::MAX), (44, 0), (44, 3), (44, 1 << 31), (48, 256), (60, 6), (60, 1 << 31)]
    {
        wrong(at, number, ErrorKind::Damaged);
    }
    for place in [64, 72, 80, 88] {
        wrong(place, u32::MAX, ErrorKind::Damaged);
        wrong(place + 4, u32::MAX, ErrorKind::Damaged);
        wrong(place, 0, ErrorKind::Damaged);
    }
    let mut bytes = intact();
    bytes[3] = b'x';
    assert_eq!(kind(&bytes), Some(ErrorKind::NotATable));
}

#[test]
fn a_damaged_body_is_found_by_verify_and_makes_no_text_panic() {
    let mut scratch = Scratch::default();
    for seed in 0..20_u64 {
        let mut bytes = intact();
        let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        for _ in 0..20_000 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let at = 128 + random as usize % (bytes.len() - 128);
            bytes[at] = (random >> 56) as u8;
        }
        let table = Table::open(bytes).unwrap();
        assert_eq!(table.verify().unwrap_err().kind(), ErrorKind::Damaged);
        for text in
            ["deploy the release, please", "数据库查询太慢", "Straßenbahnhaltestelle ärgerlich 42"]
        {
            let vector = table.vector(text, &mut scratch);
            assert!(vector.values().iter().all(|value| value.is_finite()), "{text}");
            table.contributions(text, &vector, &mut scratch);
        }
    }
}

#[test]
fn errors_name_the_file_and_say_what_to_do() {
    let directory = std::env::temp_dir().join(format!("repertoire-meaning-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("table");
    let error = Table::open_file(&path).unwrap_err();
    assert_eq!((error.kind(), error.path()), (ErrorKind::Io, Some(path.as_path())));
    std::fs::write(&path, "no table").unwrap();
    let error = Table::open_file(&path).unwrap_err();
    assert_eq!(error.to_string(), format!("{}: not a table of word pieces", path.display()));
    assert!(!error.help().is_empty());
    std::fs::write(&path, intact()).unwrap();
    assert_eq!(Table::open_file(&path).unwrap().fingerprint(), Table::bundled().fingerprint());
    std::fs::remove_dir_all(&directory).unwrap();
}
