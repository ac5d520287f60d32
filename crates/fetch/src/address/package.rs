//! Addresses of repositories as package managers write them.

use super::{Address, of_page};

/// Reads `git+https://h.org/o/r@v1#subdirectory=skills/pdf`, as pip writes it, and
/// `git::https://h.org/o/r//skills/pdf?ref=v1`, as Terraform does: `rest` is what follows `scheme://`.
pub(super) fn of_package(scheme: &str, host: &str, rest: &str) -> Address {
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let (path, fragment) = path.split_once('#').unwrap_or((path, ""));
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let (path, dir) = path.split_once("//").unwrap_or((path, ""));
    let (path, of_at) = path.rsplit_once('@').unwrap_or((path, ""));
    let of_query = query.strip_prefix("ref=").filter(|rev| !rev.contains('&'));
    // Another parameter may be a secret: it stays, so that the address is refused.
    let rest = if query.is_empty() || of_query.is_some() {
        path.to_owned()
    } else {
        format!("{path}?{query}")
    };
    let source = format!("{scheme}://{authority}/{rest}");
    let page = (scheme == "https").then(|| of_page(host, authority, &rest)).flatten();
    let read = page.unwrap_or(Address { source, ..Address::default() });
    let named = (!fragment.contains('=')).then_some(fragment);
    let rev = [Some(of_at), of_query, named].into_iter().flatten().find(|rev| !rev.is_empty());
    let subdirectory = fragment.split('&').find_map(|part| part.strip_prefix("subdirectory="));
    let skill = subdirectory.or(Some(dir)).filter(|dir| !dir.is_empty());
    Address {
        rev: rev.map(str::to_owned).or(read.rev),
        skills: skill.map_or(read.skills, |skill| vec![skill.to_owned()]),
        ..read
    }
}
