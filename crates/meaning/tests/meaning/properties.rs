//! Any text: bounded, finite, without a panic.

use proptest::prelude::*;
use repertoire_meaning::{MAX_TEXT, Scratch, Table};

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-zA-Zäöüßéñłж数据のデ한국 .,_0-9\u{301}\u{3099}\u{200b}]{0,300}",
        "(\\PC{0,4}(data|数据|ing|é|が|\u{ff76}\u{ff9e}| ){0,3}){0,40}",
    ]
}

proptest! {
    #[test]
    fn a_vector_has_length_one_or_zero_and_shares_add_up(text in text(), other in text()) {
        let (table, mut scratch) = (Table::bundled(), Scratch::default());
        let vector = table.vector(&text, &mut scratch);
        let length: f32 = vector.values().iter().map(|value| value * value).sum();
        prop_assert!(vector.is_zero() || (length - 1.0).abs() < 1e-4, "{length}");
        prop_assert_eq!(vector, table.vector(&text, &mut Scratch::default()));
        let other = table.vector(&other, &mut scratch);
        let cosine = vector.cosine(&other);
        prop_assert!((-1.001..=1.001).contains(&cosine), "{cosine}");
        prop_assert!((vector.query().cosine(other.compact().as_bytes()) - cosine).abs() < 0.02);
        let words = table.contributions(&text, &other, &mut scratch);
        prop_assert!(words.iter().all(|word| text.get(word.range.clone()).is_some()));
        let sum: f32 = words.iter().map(|word| word.share).sum();
        prop_assert!((sum - cosine).abs() < 1e-3, "{sum} {cosine}");
    }

    #[test]
    fn only_the_start_of_a_text_counts(text in text(), n in 0_usize..200) {
        let (table, mut scratch) = (Table::bundled(), Scratch::default());
        let long = format!("{}{}", "word ".repeat(MAX_TEXT / 5 - n % 3), text);
        let end = (0..=MAX_TEXT.min(long.len())).rev().find(|at| long.is_char_boundary(*at)).unwrap();
        prop_assert_eq!(table.vector(&long, &mut scratch), table.vector(&long[..end], &mut scratch));
    }
}
