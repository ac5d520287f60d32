//! Serialisation of tables as plain bytes: in binary formats a number takes as many bytes as in
//! memory, little-endian, so that reading a table costs little more than copying it.
//!
//! In human-readable formats, a table is a list of rows.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

/// A row of a table: numbers, in a fixed number of bytes. Any bytes of this length are a row; the reader
/// of a table checks whether its rows fit together.
pub(in crate::matcher) trait Row: Sized {
    /// The number of bytes.
    const LEN: usize;

    fn write(&self, bytes: &mut Vec<u8>);

    /// The row in `bytes`, whose length is [`Row::LEN`].
    fn read(bytes: &[u8]) -> Self;

    /// The rows in `bytes`, whose length is a multiple of [`Row::LEN`].
    fn read_all(bytes: &[u8]) -> Vec<Self> {
        bytes.chunks_exact(Self::LEN).map(Self::read).collect()
    }
}

macro_rules! number {
    ($number:ty) => {
        impl Row for $number {
            const LEN: usize = size_of::<$number>();

            fn write(&self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }

            fn read(bytes: &[u8]) -> Self {
                bytes.first_chunk().map_or(0, |bytes| Self::from_le_bytes(*bytes))
            }

            // Copies all numbers at once, instead of checking the length of each.
            fn read_all(bytes: &[u8]) -> Vec<Self> {
                let (rows, _) = bytes.as_chunks();
                rows.iter().map(|&row| Self::from_le_bytes(row)).collect()
            }
        }
    };
}

number!(u8);
number!(u16);
number!(u32);
number!(u64);

impl Row for bool {
    const LEN: usize = 1;

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(*self));
    }

    fn read(bytes: &[u8]) -> Self {
        bytes != [0]
    }
}

/// Makes a struct of rows a [`Row`]: its fields, one after the other.
macro_rules! row {
    ($row:ident { $($field:ident: $type:ty),+ }) => {
        impl $crate::matcher::rows::Row for $row {
            const LEN: usize = 0 $(+ <$type as $crate::matcher::rows::Row>::LEN)+;

            fn write(&self, bytes: &mut Vec<u8>) {
                $($crate::matcher::rows::Row::write(&self.$field, bytes);)+
            }

            fn read(bytes: &[u8]) -> Self {
                let mut next = 0;
                $(
                    let start = next;
                    next += <$type as $crate::matcher::rows::Row>::LEN;
                    let $field = <$type as $crate::matcher::rows::Row>::read(&bytes[start..next]);
                )+
                $row { $($field),+ }
            }
        }
    };
}

pub(in crate::matcher) use row;

pub(in crate::matcher) fn serialize<T: Row + Serialize, S: Serializer>(
    table: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if serializer.is_human_readable() {
        return serializer.collect_seq(table);
    }
    let mut bytes = Vec::with_capacity(table.len() * T::LEN);
    for row in table {
        row.write(&mut bytes);
    }
    serializer.serialize_bytes(&bytes)
}

pub(in crate::matcher) fn deserialize<'de, T: Row + Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    struct Bytes<T>(PhantomData<T>);
    impl<T: Row> Visitor<'_> for Bytes<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "rows of {} bytes", T::LEN)
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
            if !bytes.len().is_multiple_of(T::LEN) {
                return Err(E::invalid_length(bytes.len(), &self));
            }
            Ok(T::read_all(bytes))
        }
    }
    if deserializer.is_human_readable() {
        return Vec::deserialize(deserializer);
    }
    deserializer.deserialize_bytes(Bytes(PhantomData))
}

#[cfg(all(test, feature = "snapshot"))]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::super::query::HitKind;
    use super::super::tables::LiteralUse;

    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    struct Place {
        number: u64,
        kind: HitKind,
        is_last: bool,
        to: LiteralUse,
    }

    row!(Place { number: u64, kind: HitKind, is_last: bool, to: LiteralUse });

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Table(#[serde(with = "super")] Vec<Place>);

    fn table() -> Table {
        let kinds =
            [HitKind::Name, HitKind::Keyword, HitKind::Verb, HitKind::Pattern, HitKind::Path];
        let uses = [LiteralUse::Name, LiteralUse::Item, LiteralUse::Exclude];
        let rows = kinds.into_iter().zip(1..).map(|(kind, n): (_, u32)| Place {
            number: u64::MAX / u64::from(n),
            kind,
            is_last: n == 5,
            to: uses[n as usize % 3](u32::MAX / n),
        });
        Table(rows.collect())
    }

    #[test]
    fn a_table_is_the_same_after_it_was_written() {
        let table = table();
        let written = postcard::to_stdvec(&table).unwrap();
        assert_eq!(written.len(), 1 + 5 * (8 + 1 + 1 + 5));
        assert_eq!(postcard::from_bytes::<Table>(&written).unwrap(), table);
        let written = serde_json::to_string(&table).unwrap();
        assert!(
            written.starts_with(r#"[{"number":18446744073709551615,"kind":"name""#),
            "{written}"
        );
        assert_eq!(serde_json::from_str::<Table>(&written).unwrap(), table);
    }

    #[test]
    fn a_part_of_a_row_is_refused() {
        let written = postcard::to_stdvec(&table()).unwrap();
        for missing in 1..15 {
            let mut written = written.clone();
            written.truncate(written.len() - missing);
            written[0] -= missing as u8;
            assert!(postcard::from_bytes::<Table>(&written).is_err(), "{missing} bytes");
        }
    }
}
