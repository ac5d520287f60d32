//! The addresses that a process may reach, by the part of the network that it has.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _, UdpSocket};
use std::time::{Duration, Instant};

use crate::network::{Endpoint, Host, Network};

/// The port of name servers.
const DNS: u16 = 53;
/// The time for which the addresses of a name are not asked for again.
const FRESH: Duration = Duration::from_secs(1);
/// The addresses outside of the link-local range at which clouds tell their machines about themselves, credentials
/// included: Azure, Alibaba, Oracle, and those of IPv6 of Amazon and Google.
const METADATA: [IpAddr; 5] = [
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
];
/// The most addresses that are kept of a name.
const MOST_ADDRESSES: usize = 1000;

/// Decides about addresses.
#[derive(Debug)]
pub(super) struct Policy {
    network: Network,
    nameservers: Vec<IpAddr>,
    /// The addresses that names had so far: a program may use one that an earlier answer held.
    resolved: HashMap<String, (Instant, BTreeSet<IpAddr>)>,
}

impl Policy {
    pub(super) fn new(network: Network) -> Policy {
        let is_name =
            |endpoint: &Endpoint| matches!(&endpoint.host, Host::Name(name) if name != "localhost");
        let asks = network.internet || network.named.iter().any(is_name);
        let resolv = asks.then(|| std::fs::read_to_string("/etc/resolv.conf").ok()).flatten();
        let nameservers = nameservers(&resolv.unwrap_or_default());
        Policy { network, nameservers, resolved: HashMap::new() }
    }

    /// Tells whether data may be sent to an address. May ask name servers.
    pub(super) fn may_reach(&mut self, address: SocketAddr) -> bool {
        let (ip, port) = (address.ip().to_canonical(), address.port());
        if self.names(ip, port) || port == DNS && self.nameservers.contains(&ip) {
            return true;
        }
        if is_local(ip) {
            return false;
        }
        self.network.internet && !is_private(ip) || self.name_has(ip, port)
    }

    /// Tells whether a socket may have an address of this machine: any that the system chooses, or one that is
    /// named.
    pub(super) fn may_bind(&self, address: SocketAddr) -> bool {
        address.port() == 0 || self.may_serve(address)
    }

    /// Tells whether others may connect to an address of this machine.
    pub(super) fn may_serve(&self, address: SocketAddr) -> bool {
        self.names(address.ip().to_canonical(), address.port())
    }

    /// Tells whether an address is named as such.
    fn names(&self, ip: IpAddr, port: u16) -> bool {
        let is_localhost =
            [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)].contains(&ip);
        self.network.named.iter().any(|endpoint| {
            endpoint.port == port
                && match &endpoint.host {
                    Host::Name(name) => is_localhost && name == "localhost",
                    Host::Address(named) => *named == ip,
                }
        })
    }

    /// Tells whether one of the names has an address now, or had it before.
    fn name_has(&mut self, ip: IpAddr, port: u16) -> bool {
        let Policy { network, resolved, .. } = self;
        network.named.iter().filter(|endpoint| endpoint.port == port).any(|endpoint| {
            let Host::Name(name) = &endpoint.host else { return false };
            let known = resolved.get(name);
            if known.is_some_and(|(_, addresses)| addresses.contains(&ip)) {
                return true;
            }
            if known.is_some_and(|(asked, _)| asked.elapsed() < FRESH) {
                return false;
            }
            let (asked, addresses) =
                resolved.entry(name.clone()).or_insert_with(|| (Instant::now(), BTreeSet::new()));
            if addresses.len() > MOST_ADDRESSES {
                addresses.clear();
            }
            match (name.as_str(), port).to_socket_addrs() {
                Ok(found) => addresses.extend(found.map(|address| address.ip().to_canonical())),
                Err(error) => tracing::debug!(name, "not resolved: {error}"),
            }
            *asked = Instant::now();
            addresses.contains(&ip)
        })
    }
}

/// Reads the addresses of name servers from the text of `resolv.conf`.
fn nameservers(text: &str) -> Vec<IpAddr> {
    let mut servers = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        if words.next() == Some("nameserver") {
            // An address may have a zone, as in `fe80::1%eth0`.
            let address =
                words.next().and_then(|word| word.split('%').next()?.parse::<IpAddr>().ok());
            servers.extend(address.map(|address| address.to_canonical()));
        }
    }
    servers
}

/// Tells whether an address is one of this machine, or one that only its neighbours have: data to it does not
/// go to the Internet. Addresses of IPv6 that stand for one of IPv4 are what they stand for.
fn is_local(ip: IpAddr) -> bool {
    let is_special = match ip {
        IpAddr::V4(ip) => {
            let first = ip.octets()[0];
            // The kernel takes 0.0.0.0 for this machine, and knows no other address of 0.0.0.0/8.
            first == 0
                || ip.is_loopback()
                || ip.is_link_local()
                || ip.is_multicast()
                || first >= 240
        }
        IpAddr::V6(ip) => {
            ip.is_unspecified()
                || ip.is_loopback()
                || ip.is_unicast_link_local()
                || ip.is_multicast()
                || inner(ip).is_some_and(|inner| is_local(inner.into()))
        }
    };
    let is_special = is_special || METADATA.contains(&ip);
    is_special || may_be_own(&UdpSocket::bind((ip, 0)))
}

/// Tells whether an address may be one of this machine, by an attempt to give it to a socket. Only the error that
/// there is no such address says that it is not: others, such as a lack of descriptors, say nothing about it.
fn may_be_own(bound: &io::Result<UdpSocket>) -> bool {
    !matches!(bound, Err(error) if error.kind() == io::ErrorKind::AddrNotAvailable)
}

/// Tells whether an address is one of a network of its own, such as a company's, a home's or a provider's, which the
/// Internet does not have: those that IANA lists as not globally reachable, without what is only for examples.
fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => {
            ip.is_private()
                || matches!(ip.octets(), [100, 64..=127, ..] | [192, 0, 0, _] | [198, 18 | 19, ..])
        }
        IpAddr::V6(ip) => {
            let [first, second, third, ..] = ip.segments();
            let is_own_translation = [first, second, third] == [0x64, 0xff9b, 1];
            // Unique local and site-local addresses, and the segments of a provider.
            matches!(first, 0xfc00..=0xfdff | 0xfec0..=0xfeff | 0x5f00)
                || is_own_translation
                || inner(ip).is_some_and(|inner| is_private(inner.into()))
        }
    }
}

/// Returns the address of IPv4 to which routers and tunnels translate an address of IPv6: of NAT64, of 6to4, Teredo
/// and ISATAP, and of the forms that are compatible with or translated from IPv4.
fn inner(ip: Ipv6Addr) -> Option<Ipv4Addr> {
    let octets = ip.octets();
    let (at, mask) = match ip.segments() {
        [0x64, 0xff9b, ..]
        | [0, 0, 0, 0, 0 | 0xffff, 0, ..]
        | [_, _, _, _, 0 | 0x200, 0x5efe, ..] => (12, 0),
        [0x2001, 0, ..] => (12, u32::MAX),
        [0x2002, ..] => (2, 0),
        _ => return None,
    };
    let bits = u32::from_be_bytes(<[u8; 4]>::try_from(&octets[at..at + 4]).ok()?);
    Some(Ipv4Addr::from_bits(bits ^ mask))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(entries: &[&str]) -> Policy {
        Policy::new(Network::parse(entries.iter().copied()).unwrap())
    }

    #[test]
    fn this_machine_and_its_neighbours_are_reached_by_name_alone() {
        let local = [
            "127.0.0.1:80",
            "127.9.9.9:80",
            "0.0.0.0:80",
            "0.1.2.3:80",
            "169.254.169.254:80",
            "[::]:80",
            "[::1]:80",
            "[fe80::1]:80",
            "[::ffff:127.0.0.1]:80",
            "[::ffff:169.254.169.254]:80",
            "[::127.0.0.1]:80",
            "[64:ff9b::169.254.169.254]:80",
            "[2002:7f00:1::]:80",
            "224.0.0.1:80",
            "255.255.255.255:80",
            "[ff02::1]:80",
            "[::ffff:0:127.0.0.1]:80",
            "[fd12::5efe:127.0.0.1]:80",
            "[2001:db8::200:5efe:169.254.169.254]:80",
            "[2001::5601:5601]:80", // Teredo of 169.254.169.254
            "[fe80::a9fe:a9fe]:80",
            "168.63.129.16:80",
            "100.100.100.200:80",
            "192.0.0.192:80",
            "[::ffff:100.100.100.200]:80",
            "[64:ff9b::168.63.129.16]:80",
            "[fd00:ec2::254]:80",
            "[fd20:ce::254]:80",
        ];
        for address in local.map(|address| address.parse::<SocketAddr>().unwrap()) {
            assert!(!policy(&["*"]).may_reach(address), "{address}");
            assert!(!resolving_to(address).may_reach(address), "{address}");
            assert!(policy(&[&address.to_string()]).may_reach(address), "{address}");
        }
        assert!(policy(&["*"]).may_reach("192.0.2.1:80".parse().unwrap()));
        let mut named = policy(&["localhost:8080", "169.254.169.254:80"]);
        for address in
            ["127.0.0.1:8080", "[::1]:8080", "[::ffff:127.0.0.1]:8080", "169.254.169.254:80"]
        {
            assert!(named.may_reach(address.parse().unwrap()), "{address}");
        }
        for address in
            ["127.0.0.1:81", "127.0.0.2:8080", "0.0.0.0:8080", "169.254.169.254:81", "192.0.2.1:80"]
        {
            assert!(!named.may_reach(address.parse().unwrap()), "{address}");
        }
        assert!(named.may_serve("127.0.0.1:8080".parse().unwrap()));
        assert!(!named.may_serve("0.0.0.0:8080".parse().unwrap()));
        assert!(named.may_bind("0.0.0.0:0".parse().unwrap()));
        assert!(!named.may_bind("0.0.0.0:9".parse().unwrap()));
    }

    /// A policy with a name that has an address.
    fn resolving_to(address: SocketAddr) -> Policy {
        let mut policy = policy(&[&format!("name.invalid:{}", address.port())]);
        let addresses = [address.ip().to_canonical()].into();
        policy.resolved.insert("name.invalid".to_owned(), (Instant::now(), addresses));
        policy
    }

    #[test]
    fn networks_of_their_own_are_no_internet_and_have_names() {
        let private = [
            "10.0.0.1:80", "172.16.0.1:80", "172.31.255.255:80", "192.168.1.1:80", "100.64.0.1:80",
            "100.127.0.1:80", "192.0.0.8:80", "198.18.0.1:80", "[::ffff:10.0.0.1]:80",
            "[64:ff9b::10.0.0.1]:80", "[64:ff9b:1::1]:80", "[2002:c0a8:101::]:80",
            "[fd12:3456::1]:80", "[fc00::1]:80", "[fec0::1]:80",
        ];
        for address in private.map(|address| address.parse::<SocketAddr>().unwrap()) {
            if is_local(address.ip().to_canonical()) {
                // This machine has it.
                continue;
            }
            assert!(!policy(&["*"]).may_reach(address), "{address}");
            assert!(resolving_to(address).may_reach(address), "{address}");
            assert!(policy(&[&address.to_string()]).may_reach(address), "{address}");
        }
        for address in
            ["11.0.0.1:80", "172.32.0.1:80", "100.128.0.1:80", "192.0.1.1:80", "[2a00::1]:80"]
        {
            assert!(policy(&["*"]).may_reach(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn an_own_address_of_the_machine_is_local() {
        // The address that this machine would use to reach another; nothing is sent.
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        if socket.connect("192.0.2.1:9").is_err() {
            return println!("SKIPPED: this machine has no address but that of its loopback");
        }
        assert!(is_local(socket.local_addr().unwrap().ip()));
    }

    #[test]
    fn an_address_that_cannot_be_tried_is_local() {
        let failed = |errno: rustix::io::Errno| may_be_own(&Err(errno.into()));
        assert!(!failed(rustix::io::Errno::ADDRNOTAVAIL));
        for errno in [
            rustix::io::Errno::MFILE,
            rustix::io::Errno::NFILE,
            rustix::io::Errno::NOMEM,
            rustix::io::Errno::ACCESS,
            rustix::io::Errno::ADDRINUSE,
            rustix::io::Errno::AFNOSUPPORT,
        ] {
            assert!(failed(errno), "{errno}");
        }
    }

    #[test]
    fn name_servers_are_reached_if_there_are_names_to_resolve() {
        let text =
            "# a comment\nsearch example.com\nnameserver 127.0.0.53\nnameserver fe80::1%eth0\n";
        let expected: [IpAddr; 2] = ["127.0.0.53".parse().unwrap(), "fe80::1".parse().unwrap()];
        assert_eq!(nameservers(text), expected);
        let named = policy;
        let mut policy = Policy { nameservers: expected.to_vec(), ..named(&["a.example:443"]) };
        assert!(policy.may_reach("127.0.0.53:53".parse().unwrap()));
        assert!(!policy.may_reach("127.0.0.53:54".parse().unwrap()));
        assert!(!policy.may_reach("127.0.0.1:53".parse().unwrap()));
        assert!(named(&["192.0.2.1:80"]).nameservers.is_empty());
    }

    #[test]
    fn a_name_that_stands_for_this_machine_opens_nothing_of_it() {
        let mut policy = policy(&["evil.example:80"]);
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        policy.resolved.insert("evil.example".to_owned(), (Instant::now(), [loopback].into()));
        assert!(!policy.may_reach("127.0.0.1:80".parse().unwrap()));
        let other: IpAddr = "192.0.2.7".parse().unwrap();
        policy.resolved.insert("evil.example".to_owned(), (Instant::now(), [other].into()));
        assert!(policy.may_reach("192.0.2.7:80".parse().unwrap()));
        assert!(!policy.may_reach("192.0.2.7:81".parse().unwrap()));
    }
}
