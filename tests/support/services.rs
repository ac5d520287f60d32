//! Services of this machine, which sandboxed code tries to reach by `network.py`.

use std::io::Write as _;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::thread;

use serde_json::{Value, json};

/// The Python program that tries to reach the services.
pub(crate) const PROGRAM: &str = include_str!("network.py");

/// Ways to the services that a right to `localhost` opens.
const OF_LOCALHOST: [&str; 10] = [
    "loopback",
    "loopback, with a timeout",
    "localhost",
    "a child",
    "UDP by sendto",
    "UDP by sendmsg",
    "UDP by sendmmsg",
    "UDP by sendmmsg with a name",
    "IPv6",
    "IPv4 as IPv6",
];

/// Services that greet whoever connects: on all addresses at one port, and on loopback at another.
pub(crate) struct Services {
    pub(crate) tcp: u16,
    pub(crate) udp: u16,
    other: u16,
    own: IpAddr,
}

impl Services {
    pub(crate) fn start() -> Services {
        // A socket of IPv6 takes both; without IPv6, only one is there.
        let all = TcpListener::bind((Ipv6Addr::UNSPECIFIED, 0));
        let all = all.or_else(|_| TcpListener::bind("0.0.0.0:0")).unwrap();
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
        let own = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
            socket.connect("192.0.2.1:9")?;
            socket.local_addr()
        });
        let services = Services {
            tcp: all.local_addr().unwrap().port(),
            udp: datagrams.local_addr().unwrap().port(),
            other: other.local_addr().unwrap().port(),
            own: own.map_or(IpAddr::from([127, 0, 0, 9]), |own: SocketAddr| own.ip()),
        };
        for listener in [all, other] {
            thread::spawn(move || {
                for stream in listener.incoming() {
                    let _ = stream.and_then(|mut stream| stream.write_all(b"hello"));
                }
            });
        }
        thread::spawn(move || {
            let mut text = [0; 100];
            while let Ok((_, from)) = datagrams.recv_from(&mut text) {
                let _ = datagrams.send_to(b"hello", from);
            }
        });
        services
    }

    /// The entries of `network` that name the services by `localhost`.
    pub(crate) fn named(&self) -> [String; 2] {
        [self.tcp, self.udp].map(|port| format!("localhost:{port}"))
    }

    /// The argument of the program.
    pub(crate) fn aim(&self, has_network: bool) -> Value {
        let Services { tcp, udp, other, own } = self;
        let allowed = "127.0.0.1";
        json!({"tcp": tcp, "udp": udp, "other": other, "own": own, "allowed": allowed, "network": has_network})
    }

    /// Asserts that exactly those ways are open which the right opens.
    pub(crate) fn assert_reached(printed: &str, by_localhost: bool, has_network: bool) {
        let mut counted = 0;
        for line in printed.lines() {
            let (way, answer) = line.split_once(": ").unwrap_or((line, ""));
            if ["descriptors", "interfaces", "bound"].contains(&way) {
                assert!(["passed", "True"].contains(&answer), "{line}\nof {printed}");
            } else if by_localhost && OF_LOCALHOST.contains(&way) {
                let no_ipv6 = way.contains("IPv6") && answer.contains("[Errno 9");
                assert!(answer == "hello" || no_ipv6, "{line}\nof {printed}");
            } else {
                assert!(answer.starts_with("closed ("), "{line}\nof {printed}");
            }
            counted += 1;
        }
        assert_eq!(counted, if has_network { 30 } else { 28 }, "{printed}");
    }
}
