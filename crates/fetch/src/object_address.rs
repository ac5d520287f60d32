//! Addresses of object stores: `s3://bucket/prefix`, `gs://bucket/prefix` and `az://container/prefix`.

use super::paths::check_path;
use repertoire::{Error, ErrorCode};

/// The schemes: S3 and compatible servers, Google Cloud Storage, and Azure.
pub(super) const SCHEMES: [&str; 3] = ["s3", "gs", "az"];

/// The parts of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ObjectAddress {
    /// One of [`SCHEMES`].
    pub(super) scheme: String,
    /// The bucket; on Azure, the container.
    pub(super) bucket: String,
    /// The key of an archive, or the common prefix of all keys without its last `/`; empty for the whole
    /// bucket.
    pub(super) key: String,
}

impl ObjectAddress {
    /// Parses an address. Fails with `INVALID_PARAM` if a part is missing, or could be a password or
    /// a parameter.
    pub(super) fn parse(text: &str) -> Result<ObjectAddress, Error> {
        let invalid = |why: &str| {
            // Any part of the address may contain a password.
            let shown = text.split(['@', '?', '#']).next().unwrap_or_default();
            let shown = if shown == text { shown } else { "the address" };
            let message = format!("`{}` {why}", shown.escape_debug());
            let help = "write `s3://bucket/prefix`; credentials are read from the environment";
            Error::new(ErrorCode::InvalidParam, message, help)
        };
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        let key = key.trim_end_matches('/');
        if !SCHEMES.contains(&scheme) {
            return Err(invalid("is not in an object store"));
        }
        if text.contains(['@', '?', '#']) {
            return Err(invalid("holds `@`, `?` or `#`"));
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        if bucket.is_empty() || !bucket.chars().all(is_plain) || bucket.starts_with(['.', '-']) {
            return Err(invalid("names no bucket"));
        }
        if !key.is_empty() {
            check_path(key).map_err(invalid)?;
        }
        let [scheme, bucket, key] = [scheme, bucket, key].map(str::to_owned);
        Ok(ObjectAddress { scheme, bucket, key })
    }

    /// Tells whether this is the address of one archive, not a prefix.
    #[cfg(any(test, feature = "object-store"))]
    pub(super) fn is_archive(&self) -> bool {
        super::archive::is_archive(&self.key)
    }
}

impl std::fmt::Display for ObjectAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ObjectAddress { scheme, bucket, key } = self;
        write!(f, "{scheme}://{bucket}")?;
        if key.is_empty() { Ok(()) } else { write!(f, "/{key}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        for (text, scheme, bucket, key) in [
            ("s3://b", "s3", "b", ""),
            ("s3://b/", "s3", "b", ""),
            ("gs://team.example/a/b/", "gs", "team.example", "a/b"),
            ("az://skills/a.tar.gz", "az", "skills", "a.tar.gz"),
        ] {
            let address = ObjectAddress::parse(text).unwrap();
            assert_eq!((&*address.scheme, &*address.bucket, &*address.key), (scheme, bucket, key));
            assert_eq!(address.to_string(), text.trim_end_matches('/'));
            assert_eq!(address.is_archive(), key.ends_with("gz"));
        }
    }

    #[test]
    fn other_texts_are_refused_without_their_secrets() {
        for text in [
            "s3://", "s3:///a", "s3://-b/a", "s3://key:secret@b/a", "s3://b/a?sig=secret",
            "s3://b/../a", "s3://b//a", "s3://b/a\\b", "http://b/a",
        ] {
            let error = ObjectAddress::parse(text).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidParam, "{text}");
            assert!(!error.message().contains("secret"), "{error}");
        }
    }
}
