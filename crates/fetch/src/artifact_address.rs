//! Addresses of artifacts in OCI registries: `oci://registry/name:tag` or `oci://registry/name@sha256:…`.

#[cfg(any(test, feature = "oci"))]
use super::loopback::is_loopback;
use repertoire::{Error, ErrorCode};

/// The scheme of these addresses.
pub(super) const SCHEME: &str = "oci";

/// The parts of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArtifactAddress {
    /// The host of the registry, with its port if there is one.
    pub(super) registry: String,
    /// The name of the repository.
    pub(super) name: String,
    /// The tag, if there is one.
    pub(super) tag: Option<String>,
    /// The digest of the manifest, if there is one.
    pub(super) digest: Option<String>,
}

impl ArtifactAddress {
    /// Parses an address. Fails with `INVALID_PARAM` if it is not valid.
    pub(super) fn parse(text: &str) -> Result<ArtifactAddress, Error> {
        let invalid = || {
            let help = "write `oci://registry/name:tag`; credentials are those of `docker login`";
            // The message leaves out the address, which may contain a password.
            let message = "the address does not name an artifact of a registry";
            Error::new(ErrorCode::InvalidParam, message, help)
        };
        let rest = text.strip_prefix("oci://").ok_or_else(invalid)?;
        let (rest, digest) = match rest.split_once('@') {
            Some((rest, digest)) if is_digest(digest) => (rest, Some(digest.to_owned())),
            Some(_) => return Err(invalid()),
            None => (rest, None),
        };
        let (registry, rest) = rest.split_once('/').ok_or_else(invalid)?;
        let (name, tag) = match rest.split_once(':') {
            Some((name, tag)) if is_tag(tag) => (name, Some(tag.to_owned())),
            Some(_) => return Err(invalid()),
            None => (rest, None),
        };
        let (host, port) = registry.split_once(':').unwrap_or((registry, "443"));
        let is_host = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
        let is_host = host.starts_with(|c: char| c.is_ascii_alphanumeric())
            && host.chars().all(is_host)
            && port.parse::<u16>().is_ok();
        let is_part = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit())
                && part
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c))
        };
        if !is_host || !name.split('/').all(is_part) || name.len() > 255 {
            return Err(invalid());
        }
        Ok(ArtifactAddress { registry: registry.to_owned(), name: name.to_owned(), tag, digest })
    }

    /// Adds the revision that the settings name: a tag or a digest. Fails with `INVALID_PARAM` if it is
    /// neither, or if the address already has one of that kind.
    #[cfg(any(test, feature = "oci"))]
    pub(super) fn set_revision(&mut self, rev: Option<&str>) -> Result<(), Error> {
        let Some(rev) = rev else { return Ok(()) };
        let slot = if is_digest(rev) { &mut self.digest } else { &mut self.tag };
        if slot.is_none() && (is_digest(rev) || is_tag(rev)) {
            *slot = Some(rev.to_owned());
            return Ok(());
        }
        let message = format!("`{}` cannot be the revision of {self}", rev.escape_debug());
        let help =
            "name a tag, or the digest of a manifest, either in the address or as the revision";
        Err(Error::new(ErrorCode::InvalidParam, message, help))
    }

    /// Tells whether the registry is on this machine, where it needs no TLS.
    #[cfg(any(test, feature = "oci"))]
    pub(super) fn is_loopback(&self) -> bool {
        is_loopback(&self.registry)
    }
}

impl std::fmt::Display for ArtifactAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ArtifactAddress { registry, name, tag, digest } = self;
        write!(f, "oci://{registry}/{name}")?;
        tag.iter().try_for_each(|tag| write!(f, ":{tag}"))?;
        digest.iter().try_for_each(|digest| write!(f, "@{digest}"))
    }
}

/// Tells whether `text` is a digest: `sha256:` and 64 hexadecimal digits in lower case.
pub(super) fn is_digest(text: &str) -> bool {
    let is_hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    text.strip_prefix("sha256:").is_some_and(|hex| hex.len() == 64 && hex.bytes().all(is_hex))
}

/// Tells whether `text` is a valid tag.
fn is_tag(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    text.len() <= 128
        && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        let hash = format!("sha256:{}", "0a".repeat(32));
        for (text, name, tag, digest) in [
            ("oci://ghcr.io/acme/skills:v1".to_owned(), "acme/skills", Some("v1"), None),
            ("oci://localhost:5000/kit".to_owned(), "kit", None, None),
            (format!("oci://h.org/a/b@{hash}"), "a/b", None, Some(&hash)),
            (format!("oci://h.org/a/b:1.0@{hash}"), "a/b", Some("1.0"), Some(&hash)),
        ] {
            let address = ArtifactAddress::parse(&text).unwrap();
            assert_eq!((&*address.name, address.tag.as_deref()), (name, tag), "{text}");
            assert_eq!(address.digest.as_ref(), digest, "{text}");
            assert_eq!(address.to_string(), text);
            assert_eq!(address.is_loopback(), text.contains("localhost"));
            let mut other = address.clone();
            assert_eq!(other.set_revision(Some("v2")).is_ok(), tag.is_none(), "{text}");
            assert_eq!(other.set_revision(Some(&hash)).is_ok(), digest.is_none(), "{text}");
            assert!(other.set_revision(Some("a/b")).is_err());
        }
    }

    #[test]
    fn other_texts_are_refused_without_their_secrets() {
        for text in [
            "oci://ghcr.io",
            "oci://ghcr.io/",
            "oci:///a/b",
            "oci://ann:secret@ghcr.io/a",
            "oci://ghcr.io/A/b",
            "oci://ghcr.io/a/../b",
            "oci://ghcr.io/a:b:c",
            "oci://ghcr.io:x/a",
            "oci://ghcr.io/a@sha256:12",
            "oci://ghcr.io/a?x=secret",
            "https://ghcr.io/a",
        ] {
            let error = ArtifactAddress::parse(text).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidParam, "{text}");
            assert!(!error.message().contains("secret"), "{error}");
        }
    }
}
