//! The part of the network that code asks for: none, the Internet, or addresses that are named.

use std::collections::BTreeSet;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use serde::de::{Error as _, SeqAccess, Visitor, value::SeqAccessDeserializer};
use serde::ser::SerializeSeq as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The entry of a list that stands for the whole Internet.
const INTERNET: &str = "*";

/// A part of the network. In JSON and YAML, it is `false`, `true`, or a list of addresses such as
/// `["api.example.com:443"]`, in which `*` stands for the Internet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Network {
    /// True for all addresses of the Internet. The addresses of this machine, those that only reach its neighbours
    /// (link-local and multicast), and those of private networks must be named nevertheless.
    pub internet: bool,
    /// Addresses that are named.
    pub named: BTreeSet<Endpoint>,
}

impl Network {
    /// Tells whether nothing of the network may be reached.
    pub fn is_none(&self) -> bool {
        !self.internet && self.named.is_empty()
    }

    /// Returns the parts of `self` that are also in `other`.
    #[must_use]
    pub fn and(&self, other: &Network) -> Network {
        let ours = self.named.iter().filter(|endpoint| other.covers(endpoint));
        let theirs = other.named.iter().filter(|endpoint| self.covers(endpoint));
        Network {
            internet: self.internet && other.internet,
            named: ours.chain(theirs).cloned().collect(),
        }
    }

    /// Returns the parts of `self` that are not in `other`.
    #[must_use]
    pub fn without(&self, other: &Network) -> Network {
        let named = self.named.iter().filter(|endpoint| !other.covers(endpoint));
        Network { internet: self.internet && !other.internet, named: named.cloned().collect() }
    }

    /// Returns the parts of both.
    #[must_use]
    pub fn or(&self, other: &Network) -> Network {
        Network {
            internet: self.internet || other.internet,
            named: self.named.union(&other.named).cloned().collect(),
        }
    }

    fn covers(&self, endpoint: &Endpoint) -> bool {
        self.named.contains(endpoint) || self.internet && !endpoint.may_be_local()
    }

    /// Parses the entries of a list.
    ///
    /// Fails with the reason, for the first entry that is not an address.
    pub fn parse<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Network, String> {
        let mut network = Network::default();
        for entry in entries {
            if entry.trim() == INTERNET {
                network.internet = true;
            } else {
                network.named.insert(entry.parse()?);
            }
        }
        Ok(network)
    }

    fn entries(&self) -> impl Iterator<Item = String> {
        let internet = self.internet.then(|| INTERNET.to_owned());
        internet.into_iter().chain(self.named.iter().map(Endpoint::to_string))
    }
}

/// `true` is the Internet, and `false` nothing.
impl From<bool> for Network {
    fn from(internet: bool) -> Network {
        Network { internet, named: BTreeSet::new() }
    }
}

/// Writes the network as it follows "to use", such as "the network" or "the network at `a.example:443`".
impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the network")?;
        for (at, endpoint) in self.named.iter().enumerate() {
            let before = match at {
                0 if self.internet => ", and also at",
                0 => " at",
                _ => ",",
            };
            write!(f, "{before} `{endpoint}`")?;
        }
        Ok(())
    }
}

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoint {
    /// The host.
    pub host: Host,
    /// The port, from 1 on.
    pub port: u16,
}

/// A host of a network.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Host {
    /// A name in lower case. `localhost` stands for `127.0.0.1` and `::1`; no other name stands for this
    /// machine, whatever it resolves to.
    Name(String),
    /// An address.
    Address(IpAddr),
}

impl Endpoint {
    /// Tells whether it may be an address that the right to the Internet does not include. The addresses of
    /// this machine are not looked up: every address that is given as a number may be one of them.
    fn may_be_local(&self) -> bool {
        match &self.host {
            Host::Name(name) => name == "localhost",
            Host::Address(_) => true,
        }
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Host::Name(name) => write!(f, "{name}:{}", self.port),
            Host::Address(IpAddr::V4(address)) => write!(f, "{address}:{}", self.port),
            Host::Address(IpAddr::V6(address)) => write!(f, "[{address}]:{}", self.port),
        }
    }
}

impl FromStr for Endpoint {
    type Err = String;

    /// Parses `name:port`, `1.2.3.4:port` or `[::1]:port`. The error says what is wrong, to follow the
    /// entry.
    fn from_str(text: &str) -> Result<Endpoint, String> {
        let refuse = |why: &str| Err(format!("`{text}` {why}"));
        let Some((host, port)) = text.trim().rsplit_once(':') else {
            return refuse("has no port, as in `api.example.com:443`");
        };
        let port = match port.parse() {
            Ok(port) if port > 0 => port,
            _ => return refuse("has a port that is not a number from 1 to 65535"),
        };
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = match (bracketed, host.parse()) {
            (Some(address), _) => match address.parse() {
                Ok(address) => Host::Address(IpAddr::V6(address)),
                Err(_) => return refuse("has no IPv6 address between its brackets"),
            },
            (None, Ok(IpAddr::V4(address))) => Host::Address(IpAddr::V4(address)),
            (None, Ok(IpAddr::V6(_))) => {
                return refuse("needs brackets around its IPv6 address, as in `[::1]:80`");
            }
            (None, Err(_)) if is_name(host) => Host::Name(host.to_ascii_lowercase()),
            (None, Err(_)) => {
                return refuse("is not a host and a port, as in `api.example.com:443`");
            }
        };
        Ok(Endpoint { host: host.canonical(), port })
    }
}

impl Host {
    /// The same host in one spelling: an IPv4 address that is written as IPv6 is IPv4.
    fn canonical(self) -> Host {
        match self {
            Host::Address(address) => Host::Address(address.to_canonical()),
            Host::Name(name) => Host::Name(name.trim_end_matches('.').to_owned()),
        }
    }
}

/// Tells whether `host` is a name of the DNS: labels of letters, digits, hyphens and underscores. The last
/// label has a letter: programs read `127.1` and `0x7f.1` as addresses.
fn is_name(host: &str) -> bool {
    let host = host.strip_suffix('.').unwrap_or(host);
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    host.len() <= 253
        && host.split('.').all(is_label)
        && last.starts_with(|first: char| first.is_ascii_alphabetic())
}

impl Serialize for Network {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() && self.named.is_empty() {
            return serializer.serialize_bool(self.internet);
        }
        let count = self.named.len() + usize::from(self.internet);
        let mut list = serializer.serialize_seq(Some(count))?;
        self.entries().try_for_each(|entry| list.serialize_element(&entry))?;
        list.end()
    }
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Network, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(Reader)
        } else {
            deserializer.deserialize_seq(Reader)
        }
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Network;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, or a list of addresses such as `api.example.com:443`")
    }

    fn visit_bool<E: serde::de::Error>(self, internet: bool) -> Result<Network, E> {
        Ok(internet.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, entries: A) -> Result<Network, A::Error> {
        let entries = Vec::<String>::deserialize(SeqAccessDeserializer::new(entries))?;
        Network::parse(entries.iter().map(String::as_str)).map_err(A::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(entries: &[&str]) -> Network {
        Network::parse(entries.iter().copied()).unwrap()
    }

    #[test]
    fn addresses_are_read_and_written_in_one_spelling() {
        for (text, written) in [
            ("API.example.com:443", "api.example.com:443"),
            ("api.example.com.:443", "api.example.com:443"),
            ("127.0.0.1:80", "127.0.0.1:80"),
            ("[::1]:80", "[::1]:80"),
            ("[::ffff:169.254.169.254]:80", "169.254.169.254:80"),
            ("my_host:1", "my_host:1"),
        ] {
            assert_eq!(text.parse::<Endpoint>().unwrap().to_string(), written);
        }
        for text in [
            "api.example.com", "api.example.com:0", "api.example.com:65536", "a b:1", ":80",
            "::1:80", "[1.2.3.4]:80", "127.1:80", "2130706433:80", "0x7f000001:80",
            "http://a.example:80", "*:80", "a..b:80", "*.example.com:443",
        ] {
            assert!(text.parse::<Endpoint>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_right_covers_what_it_names_and_the_internet_nothing_of_this_machine() {
        let all = named(&["*", "localhost:80"]);
        let some = named(&["api.example.com:443", "localhost:80", "10.0.0.1:80"]);
        assert_eq!(some.and(&true.into()), named(&["api.example.com:443"]));
        assert_eq!(Network::from(true).and(&some), named(&["api.example.com:443"]));
        assert_eq!(some.without(&true.into()), named(&["localhost:80", "10.0.0.1:80"]));
        assert_eq!(some.and(&all), named(&["api.example.com:443", "localhost:80"]));
        assert_eq!(some.and(&false.into()), Network::default());
        assert_eq!(all.without(&some), Network::from(true));
        assert!(some.or(&true.into()).internet);
    }

    #[test]
    fn it_is_a_bool_or_a_list() {
        for (network, json) in [
            (Network::default(), "false"),
            (true.into(), "true"),
            (named(&["b.example:1", "*"]), r#"["*","b.example:1"]"#),
        ] {
            assert_eq!(serde_json::to_string(&network).unwrap(), json);
            assert_eq!(serde_json::from_str::<Network>(json).unwrap(), network);
        }
        assert!(serde_json::from_str::<Network>(r#"["a"]"#).is_err());
        assert_eq!(
            named(&["b.example:1", "[::1]:2"]).to_string(),
            "the network at `b.example:1`, `[::1]:2`"
        );
        assert_eq!(
            named(&["*", "localhost:2"]).to_string(),
            "the network, and also at `localhost:2`"
        );
    }
}
