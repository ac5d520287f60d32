//! Addresses of remote archives: `https://host/path/skills.tar.gz`. `http://` is accepted on this
//! machine only.

use super::archive::is_archive;
use super::loopback::is_loopback;
use repertoire::{Error, ErrorCode};

/// Tells whether a text is the URL of an archive, by the end of its path.
pub(super) fn is_archive_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, rest)| {
        ["https", "http"].contains(&scheme) && is_archive(without_parameters(rest))
    })
}

fn without_parameters(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// The address of a remote archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArchiveAddress {
    url: String,
}

impl ArchiveAddress {
    /// Parses an address. Fails with `INVALID_PARAM` if it leads to another machine without encryption,
    /// or has a part that could be a secret.
    pub(super) fn parse(text: &str) -> Result<ArchiveAddress, Error> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let plain = without_parameters(rest);
        let (authority, path) = plain.split_at(plain.find('/').unwrap_or(plain.len()));
        let is_host = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
        // The message leaves out the address, since any part may contain a secret.
        let why = if authority.contains('@') || rest.contains(['?', '#']) {
            "holds a name, a password or a parameter, which would stand in `config.toml`"
        } else if path.is_empty() || authority.is_empty() || !authority.chars().all(is_host) {
            "names no host"
        } else if path.contains(|c: char| c.is_whitespace() || c == '\\') {
            "is not a URL"
        } else if scheme == "http" && !is_loopback(authority) {
            "is not encrypted: write `https://`"
        } else {
            return Ok(ArchiveAddress { url: text.to_owned() });
        };
        let message = format!("the address of an archive {why}");
        let help =
            "write `https://host/path/name.tar.gz`; `.tgz`, `.tar` and `.zip` are read alike";
        Err(Error::new(ErrorCode::InvalidParam, message, help))
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Tells whether the archive is on this machine.
    #[cfg(any(test, feature = "archive-https"))]
    pub(super) fn is_loopback(&self) -> bool {
        is_loopback(self.url.split('/').nth(2).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_told_from_repositories_by_the_end_of_the_path() {
        for text in [
            "https://h.org/a/x.tar.gz",
            "https://h.org/x.TGZ",
            "https://h.org:8443/x.tar",
            "https://h.org/@scope/x.zip",
            "http://127.0.0.1:80/x.zip",
            "http://localhost/x.zip",
            "http://[::1]:80/x.zip",
        ] {
            assert!(is_archive_url(text), "{text}");
            let address = ArchiveAddress::parse(text).unwrap();
            assert_eq!(address.url(), text);
            assert_eq!(address.is_loopback(), text.starts_with("http:"));
        }
        for host in ["LOCALHOST", "127.1", "0.0.0.0:443", "[::ffff:127.0.0.1]"] {
            let address = ArchiveAddress::parse(&format!("https://{host}/x.zip")).unwrap();
            assert!(address.is_loopback(), "{host}");
        }
        for text in ["https://h.org/o/r", "https://h.org/r.git?x=.zip", "ssh://h.org/x.zip"] {
            assert!(!is_archive_url(text), "{text}");
        }
    }

    #[test]
    fn other_addresses_are_refused_without_their_secrets() {
        for text in [
            "http://h.org/x.zip",
            "http://127.0.0.1.evil.org/x.zip",
            "http://localhost@h.org/x.zip",
            "https://secret@h.org/x.zip",
            "https://ann:secret@h.org/x.zip",
            "https://h.org/x.zip?token=secret",
            "https://h.org/x.zip#secret",
            "https:///x.zip",
            "https://x.zip",
            "https://h.org/a b.zip",
            "https://h.org\\x/x.zip",
        ] {
            assert!(is_archive_url(text), "{text}");
            let error = ArchiveAddress::parse(text).unwrap_err();
            assert_eq!(error.code(), ErrorCode::InvalidParam, "{text}");
            assert!(!error.message().contains("secret"), "{error}");
        }
    }
}
