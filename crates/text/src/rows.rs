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
pub trait Row: Sized {
    /// The number of bytes.
    const LEN: usize;

    /// Appends the row to `bytes`.
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
#[macro_export]
macro_rules! row {
    ($row:ident { $($field:ident: $type:ty),+ }) => {
        impl $crate::rows::Row for $row {
            const LEN: usize = 0 $(+ <$type as $crate::rows::Row>::LEN)+;

            fn write(&self, bytes: &mut Vec<u8>) {
                $($crate::rows::Row::write(&self.$field, bytes);)+
            }

            fn read(bytes: &[u8]) -> Self {
                let mut next = 0;
                $(
                    let start = next;
                    next += <$type as $crate::rows::Row>::LEN;
                    let $field = <$type as $crate::rows::Row>::read(&bytes[start..next]);
                )+
                $row { $($field),+ }
            }
        }
    };
}

/// Serialises a table; for `#[serde(with = "…")]`.
pub fn serialize<T: Row + Serialize, S: Serializer>(
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

/// Deserialises a table; for `#[serde(with = "…")]`. Bytes that end within a row are an error.
pub fn deserialize<'de, T: Row + Deserialize<'de>, D: Deserializer<'de>>(
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
