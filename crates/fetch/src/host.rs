//! The hosts in addresses: for policies about hosts, and for projects, which must not name a host on
//! this machine.

use std::net::Ipv6Addr;

use super::address::Address;
use super::loopback::{is_loopback, without_port};

/// The host of an address in any of its forms, in lower case: `github.com` for `owner/repo`, or the bucket
/// in an object store. `None` for an address on this machine.
///
/// Only the text counts, not the files on this machine: a directory named like a repository must not
/// lift the demand for a signature.
pub(super) fn host_of(source: &str) -> Option<String> {
    let read = Address::read(source);
    let source = read.as_ref().map_or(source.trim(), |address| &address.source);
    if source.starts_with("mcp:") || source.starts_with("file:") {
        return None;
    }
    let authority = match source.split_once("://") {
        Some((_, rest)) => rest.split(['/', '?', '#']).next().unwrap_or_default(),
        None if ["/", "./", "../", "~/"].iter().any(|start| source.starts_with(start)) => {
            return None;
        }
        None => match source.split_once(':') {
            Some((head, _)) if head.contains('@') && !head.contains('/') => {
                return Some(plain(&host_of_scp(source, head)));
            }
            _ => return None,
        },
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    Some(plain(without_port(host)))
}

/// The host of `user@host:path`; `head` is the part before the first `:`. Git accepts brackets round an
/// IPv6 address, or round a host with its port, and the user inside or outside the brackets.
fn host_of_scp(source: &str, head: &str) -> String {
    let is_bracketed = head.starts_with('[') || head.contains("@[");
    let bracketed = source.split_once("]:").filter(|_| is_bracketed);
    let head = bracketed.map_or(head, |(head, _)| head);
    let host = head.rsplit_once('@').map_or(head, |(_, host)| host).trim_start_matches('[');
    if host.parse::<Ipv6Addr>().is_ok() {
        return format!("[{host}]");
    }
    without_port(host).to_owned()
}

fn plain(host: &str) -> String {
    host.trim_end_matches('.').to_lowercase()
}

/// Tells whether an address may lead to this machine. Returns true if the host is missing or is this
/// machine, or if it is written so that a program may read a different host from it.
pub(super) fn may_be_here(source: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    host_of(source)
        .is_none_or(|host| host.is_empty() || !host.chars().all(is_plain) || is_loopback(&host))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_in_every_spelling() {
        for (source, host) in [
            ("https://GitHub.com/o/r.git", Some("github.com")),
            ("https://github.com.:443/o/r", Some("github.com")),
            ("ssh://git@github.com:22/o/r", Some("github.com")),
            ("git@github.com:o/r", Some("github.com")),
            ("git@github.com:o/]:r", Some("github.com")),
            ("git@[github.com:22]:o/r", Some("github.com")),
            ("[git@github.com:22]:o/r", Some("github.com")),
            ("git@[::1]:o/r", Some("[::1]")),
            ("[git@::1]:o/r", Some("[::1]")),
            ("o/r", Some("github.com")),
            ("o/r/skills/pdf#v1", Some("github.com")),
            ("www.github.com/o/r", Some("github.com")),
            ("https://skills.sh/o/r/pdf", Some("github.com")),
            ("gitlab:g/r", Some("gitlab.com")),
            ("npx skills add o/r", Some("github.com")),
            ("[x](https://gitlab.com/g/r)", Some("gitlab.com")),
            ("ghcr.io/o/r", Some("ghcr.io")),
            ("h.org/o/r", Some("h.org")),
            ("git::https://h.org/o/r//x?ref=v1", Some("h.org")),
            ("https://hub.docker.com/r/o/r", Some("docker.io")),
            ("https://m.github.com/o/r", Some("github.com")),
            ("https://m.h.org/o/r", Some("m.h.org")),
            ("@o/r/pdf", Some("github.com")),
            ("file:/srv/r", None),
            ("git+https://h.org/o/r#v1", Some("h.org")),
            ("https://h.org", Some("h.org")),
            ("https://h.org/x.tar.gz", Some("h.org")),
            ("https://h.org.evil.org/x", Some("h.org.evil.org")),
            ("oci://localhost:5000/o/r:v1", Some("localhost")),
            ("https://[::1]:80/o", Some("[::1]")),
            ("s3://bucket/prefix", Some("bucket")),
            ("mcp+https://$TOKEN@h.org/mcp", Some("h.org")),
            ("mcp:npx -y https://h.org/x", None),
            ("file:///srv/r", None),
            ("/srv/r", None),
            ("./o/r", None),
            ("skills.tar.gz", None),
        ] {
            assert_eq!(host_of(source).as_deref(), host, "{source}");
        }
    }

    #[test]
    fn this_machine_is_known_in_addresses_of_every_kind() {
        for source in [
            "https://127.0.0.1/o/r",
            "https://LOCALHOST.:8443/o/r.git",
            "https://%31%32%37.0.0.1/o/r",
            "https://１２７.0.0.1/o/r",
            "https://[::ffff:127.0.0.1]/x.zip",
            "ssh://git@127.1:2222/o/r",
            "ssh://git@[::1]/o/r",
            "git://0.0.0.0/r",
            "git@localhost:o/r",
            "git@[::1]:o/r",
            "[git@127.0.0.1:22]:o/r",
            "[git@::1]:o/r",
            "oci://127.0.0.1:5000/kit:v1",
            "oci://localhost/kit",
            "mcp+https://localhost/mcp",
            "mcp+http://127.0.0.1:80/mcp",
        ] {
            assert!(may_be_here(source), "{source}");
        }
        for source in [
            "https://github.com/o/r",
            "https://ann%40h@h.org/o/r",
            "https://127.0.0.1.h.org/o/r",
            "ssh://git@h.org:22/o/r",
            "git@h.org:o/r",
            "git@[2001:db8::1]:o/r",
            "oci://ghcr.io/acme/kit:v1",
            "mcp+https://h.org/mcp",
        ] {
            assert!(!may_be_here(source), "{source}");
        }
    }
}
