//! Addresses that git reaches by SSH, with a skill, a directory or a revision behind the repository.

use super::package::of_package;
use super::{Address, host_in, of_page};

/// Hosts of forges for SSH through port 443.
const BEHIND_FIREWALLS: [(&str, &str); 2] =
    [("ssh.github.com", "github.com"), ("altssh.gitlab.com", "gitlab.com")];

/// Tells whether the text has the form `user@host:path`.
pub(super) fn is_scp(text: &str) -> bool {
    let start = text.split_once(':').map(|(start, _)| start);
    let user = start.and_then(|start| start.split_once('@')).map(|(user, _)| user);
    user.is_some_and(|user| {
        !user.is_empty() && user.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c))
    }) && !text.starts_with('-')
}

/// Reads `git@h.org:o/r`, `ssh://git@h.org/o/r` and `git://h.org/o/r` with what stands behind them as behind the
/// address of a page: `/tree/REV/DIR`, `/DIR`, `@skill`, `//DIR?ref=REV`. `None` if nothing does, and nothing is
/// to be corrected: a slash in place of the colon, and a colon in place of the slash.
pub(super) fn of_ssh(text: &str) -> Option<Address> {
    let (before, authority, path, is_corrected) = parts(text)?;
    let host = host_in(authority);
    let forge = BEHIND_FIREWALLS.iter().find(|(of_ssh, _)| *of_ssh == host);
    let host = forge.map_or(&*host, |(_, host)| host);
    let start = format!("https://{host}/");
    let of_package = || of_package("https", host, &format!("{host}/{path}"));
    let is_package = path.contains("//") || path.contains("?ref=");
    let read = if is_package { Some(of_package()) } else { of_page(host, host, path) };
    let shows = |read: &Address| read.rev.is_some() || !read.skills.is_empty();
    let read = read.filter(|read| shows(read) && read.source.starts_with(&start));
    match read {
        Some(read) => {
            let repository = &read.source[start.len()..];
            Some(Address { source: format!("{before}{repository}"), may_be_path: false, ..read })
        }
        None if is_corrected => {
            let (path, rev) = path.split_once('#').map_or((path, None), |(p, rev)| (p, Some(rev)));
            let rev = rev.map(str::to_owned);
            Some(Address { source: format!("{before}{path}"), rev, ..Address::default() })
        }
        None => None,
    }
}

/// Tells whether an authority has a number as its port, or no port.
pub(super) fn has_port(authority: &str) -> bool {
    let port = authority.rsplit_once(':').map(|(_, port)| port);
    authority.ends_with(']') || port.is_none_or(|port| port.chars().all(|c| c.is_ascii_digit()))
}

/// Returns what stands before the path, with the sign between them; the authority, the path, and whether the sign
/// was corrected.
fn parts(text: &str) -> Option<(String, &str, &str, bool)> {
    if let Some((scheme, rest)) = text.split_once("://") {
        let (authority, path) = rest.split_once('/')?;
        if has_port(authority) {
            return Some((format!("{scheme}://{authority}/"), authority, path, false));
        }
        // `ssh://git@h.org:o/r`, as npm writes it.
        let (user_and_host, path) = rest.split_once(':')?;
        return is_scp(rest).then(|| (format!("{user_and_host}:"), user_and_host, path, true));
    }
    if is_scp(text) {
        let (start, path) = text.split_once(':')?;
        return (!start.contains('/')).then(|| (format!("{start}:"), start, path, false));
    }
    let (start, path) = text.split_once('/')?;
    let is_host =
        start.split_once('@').is_some_and(|(user, host)| user == "git" && host.contains('.'));
    (is_host && !start.contains(':')).then(|| (format!("{start}:"), start, path, true))
}
