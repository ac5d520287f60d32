//! The form in which a snapshot holds blocks of bytes.

/// Serialises bytes as a block, not as a list of numbers.
pub(super) fn as_bytes<S: serde::Serializer>(
    bytes: &[u8],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytes)
}
