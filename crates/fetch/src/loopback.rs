//! Checks whether the host of a URL is this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Tells whether the host of a URL, with or without a port, is this machine, in any notation:
/// `LOCALHOST.`, `127.1`, `0x7f000001`, `0.0.0.0`, `[::ffff:127.0.0.1]`. Any other name counts as
/// another machine, whatever it resolves to.
pub(super) fn is_loopback(host: &str) -> bool {
    let name = without_port(host);
    if let Some(inside) = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return inside.parse::<Ipv6Addr>().is_ok_and(|address| is_own(address.to_canonical()));
    }
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || ipv4(&name).is_some_and(|address| is_own(IpAddr::V4(address)))
}

/// Tells whether an address is this machine. A connection to the unspecified address reaches it, too.
fn is_own(address: IpAddr) -> bool {
    address.is_loopback() || address.is_unspecified()
}

/// Parses an IPv4 address as URLs write it: up to four numbers, each decimal, octal (`0…`) or hexadecimal
/// (`0x…`). The last number stands for all remaining bytes.
fn ipv4(name: &str) -> Option<Ipv4Addr> {
    let numbers = name.split('.').map(number).collect::<Option<Vec<u32>>>()?;
    let (&last, bytes) = numbers.split_last()?;
    let n_left = 4_usize.checked_sub(bytes.len()).filter(|n_left| *n_left > 0)?;
    let is_too_large = n_left < 4 && last >> (8 * n_left) != 0;
    if is_too_large || bytes.iter().any(|byte| *byte > 0xff) {
        return None;
    }
    let placed = bytes.iter().zip([24, 16, 8]).map(|(byte, shift)| byte << shift);
    Some(Ipv4Addr::from_bits(placed.sum::<u32>() | last))
}

fn number(text: &str) -> Option<u32> {
    // Rust's parser would accept a sign.
    if text.contains('+') {
        return None;
    }
    match text.strip_prefix("0x") {
        // In URLs, `0x` is zero.
        Some("") => Some(0),
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u32::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    }
}

/// The host of a URL without its port, if it has one.
pub(super) fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_known_in_every_form() {
        for host in [
            "localhost", "LocalHost:80", "localhost.", "x.localhost:443", "127.0.0.1",
            "127.0.0.1.", "127.255.3.4:8080", "127.1", "127.0.1", "2130706433", "0x7f.1",
            "0x7F000001", "0177.0.0.01", "0", "0x", "0.0.0.0:80", "[::1]", "[0:0::1]:443", "[::]",
            "[::ffff:127.0.0.1]", "[::FFFF:7f00:1]:80",
        ] {
            assert!(is_loopback(host), "{host}");
        }
    }

    #[test]
    fn other_hosts_are_other_machines() {
        for host in [
            "", ":80", "h.org", "localhost.h.org", "127.0.0.1.h.org", "mylocalhost", "128.0.0.1",
            "126.255.255.255", "127.0.0.0.1", "127.256.0.1", "127.16777216", "4294967296",
            "127..1", "127.+1", "127.0x+1", "08", "0xg", "10.0.0.1", "[::2]", "[::ffff:10.0.0.1]",
            "[::1", "::1",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
