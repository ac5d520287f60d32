//! Lazily decoded values: state restored from a snapshot, kept as bytes until first use.
//!
//! A short-lived process shows two or three of the skills in a snapshot. Decoding the others as well
//! would take longer than the rest of its work.

use std::fmt;
use std::sync::OnceLock;

#[cfg(feature = "snapshot")]
use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, Visitor};
#[cfg(feature = "snapshot")]
use serde::ser::{Error as _, Serialize, Serializer};

/// A value, or its bytes, which are decoded on first use.
pub(crate) struct Lazy<T> {
    value: OnceLock<Box<T>>,
    #[cfg(feature = "snapshot")]
    written: Option<Written<T>>,
}

/// Bytes, and the function that decodes them: the code that uses the value does not know its
/// encoding.
#[cfg(feature = "snapshot")]
struct Written<T> {
    bytes: Box<[u8]>,
    read: fn(&[u8]) -> postcard::Result<T>,
}

#[cfg(feature = "snapshot")]
impl<T> Clone for Written<T> {
    fn clone(&self) -> Self {
        Written { bytes: self.bytes.clone(), read: self.read }
    }
}

impl<T> From<T> for Lazy<T> {
    fn from(value: T) -> Self {
        Lazy {
            value: OnceLock::from(Box::new(value)),
            #[cfg(feature = "snapshot")]
            written: None,
        }
    }
}

impl<T: Default> Lazy<T> {
    /// Returns the value, decoding it on first use. If the bytes cannot be decoded, returns the default
    /// value; the checksum of the snapshot file makes that unlikely.
    pub(crate) fn get(&self) -> &T {
        self.value.get_or_init(|| Box::new(self.read()))
    }

    #[cfg_attr(
        not(feature = "snapshot"),
        expect(clippy::unused_self, reason = "without snapshots there is nothing to read")
    )]
    fn read(&self) -> T {
        #[cfg(feature = "snapshot")]
        if let Some(Written { bytes, read }) = &self.written {
            return read(bytes).unwrap_or_else(|error| {
                tracing::error!(%error, "a part of a snapshot cannot be read");
                T::default()
            });
        }
        T::default()
    }
}

impl<T: Default + Clone> Clone for Lazy<T> {
    fn clone(&self) -> Self {
        Lazy {
            value: self.value.clone(),
            #[cfg(feature = "snapshot")]
            written: self.written.clone(),
        }
    }
}

impl<T: Default + fmt::Debug> fmt::Debug for Lazy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}

#[cfg(feature = "snapshot")]
impl<T: Default + Serialize> Serialize for Lazy<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(written) = &self.written {
            return serializer.serialize_bytes(&written.bytes);
        }
        let bytes = postcard::to_stdvec(self.get()).map_err(S::Error::custom)?;
        serializer.serialize_bytes(&bytes)
    }
}

#[cfg(feature = "snapshot")]
impl<'de, T: DeserializeOwned> Deserialize<'de> for Lazy<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Box<[u8]>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the bytes of a value")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(bytes.into())
            }
        }
        let bytes = deserializer.deserialize_bytes(Bytes)?;
        let written = Some(Written { bytes, read: |bytes| postcard::from_bytes(bytes) });
        Ok(Lazy { value: OnceLock::new(), written })
    }
}

#[cfg(test)]
#[cfg(feature = "snapshot")]
mod tests {
    use super::*;

    fn kept(value: &str) -> Lazy<String> {
        let written = postcard::to_stdvec(&Lazy::from(value.to_owned())).unwrap();
        postcard::from_bytes(&written).unwrap()
    }

    #[test]
    fn what_was_written_is_read_when_it_is_asked_for() {
        let later = kept("what");
        assert!(later.value.get().is_none());
        let (first, clone) = (later.get(), later.clone());
        assert_eq!((first.as_str(), clone.get().as_str()), ("what", "what"));
        assert!(std::ptr::eq(first, later.get()), "once");
        assert_eq!(format!("{:?}", kept("what")), r#""what""#);
    }

    #[test]
    fn what_was_not_asked_for_is_written_as_it_was() {
        let written = postcard::to_stdvec(&kept("what")).unwrap();
        assert_eq!(written, postcard::to_stdvec(&Lazy::from("what".to_owned())).unwrap());
        assert_eq!(written, b"\x05\x04what");
    }

    #[test]
    fn what_cannot_be_read_is_empty() {
        // A string whose length exceeds the bytes that follow. In a snapshot file, the checksum would
        // refuse it.
        let later: Lazy<String> = postcard::from_bytes(b"\x02\x09w").unwrap();
        assert_eq!(later.get(), "");
    }
}
