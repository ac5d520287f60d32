//! Addresses of servers in settings, and the parts of an address that may be shown.

/// The schemes of addresses that [`open_url`](crate::open_url) understands.
const SCHEMES: [&str; 4] = ["postgres", "postgresql", "redis", "rediss"];

/// Tells whether `text` begins as the address of a session store does.
pub fn is_address(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| SCHEMES.contains(&scheme))
}

/// Returns the address of a session store in a form that can be shown without revealing a password:
/// without parameters, and with nothing but its scheme if it is not a well-formed address.
pub fn without_secrets(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let (main, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let (user, place) = main.rsplit_once('@').unwrap_or(("", main));
    let name = user.split(':').next().unwrap_or_default();
    let is_plain = |text: &str, others: &str| {
        text.chars().all(|c| c.is_ascii_alphanumeric() || others.contains(c))
    };
    // `place` should consist of hosts with ports, and a database. A `:` that is not before a port may
    // begin a password.
    let authority = place.split('/').next().unwrap_or_default();
    let has_ports_only = authority.starts_with('[')
        || authority.split(',').all(|host| {
            host.split_once(':').is_none_or(|(_, port)| port.chars().all(|c| c.is_ascii_digit()))
        });
    // If a password contains a `?`, the text after it was taken for parameters, and has the `@`.
    let is_sound = is_plain(name, "_.%-")
        && is_plain(place, "_.%-:,/[]")
        && has_ports_only
        && !parameters.contains('@');
    match (is_sound, name) {
        (false, _) => format!("{scheme}://***"),
        (true, "") => format!("{scheme}://{place}"),
        (true, name) => format!("{scheme}://{name}@{place}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_shown() {
        for (url, wanted) in [
            ("postgres://ann:s3cret@db.example:5432/a", "postgres://ann@db.example:5432/a"),
            ("postgres://db/a?password=s3cret", "postgres://db/a"),
            ("postgres://:s3cret@[::1]:1/0", "postgres://[::1]:1/0"),
            ("postgres://ann:s3@cret@db/a", "postgres://ann@db/a"),
            ("postgres://ann:s3/cret@db/a", "postgres://ann@db/a"),
            ("postgres://ann:1?s3cret@db/a", "postgres://***"),
            ("postgres://ann:s3cret", "postgres://***"),
            ("postgres://s3 cret", "postgres://***"),
            ("", "://"),
        ] {
            assert_eq!(without_secrets(url), wanted);
        }
    }
}
