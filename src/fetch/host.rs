//! Hosts of addresses, for policies that name hosts.

use super::location::is_owner_and_repo;
use super::loopback::without_port;

/// The host of an address, in small letters: of a URL, of `user@host:path`, or GitHub's for
/// `owner/repo`; the name of a bucket in an object store. `None` for what is on this machine.
///
/// The text alone decides, without a look at files: a directory of another name must not lift a demand.
pub(super) fn host_of(source: &str) -> Option<String> {
    let source = source.trim();
    if source.starts_with("mcp:") || source.starts_with("file:") {
        return None;
    }
    let authority = match source.split_once("://") {
        Some((_, rest)) => rest.split(['/', '?', '#']).next().unwrap_or_default(),
        None if ["/", "./", "../", "~/"].iter().any(|start| source.starts_with(start)) => {
            return None;
        }
        None => match source.split_once(':') {
            Some((host, _)) if host.contains('@') && !host.contains('/') => host,
            _ => return is_owner_and_repo(source).then(|| "github.com".to_owned()),
        },
    };
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    Some(without_port(host).trim_end_matches('.').to_lowercase())
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
            ("o/r", Some("github.com")),
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
}
