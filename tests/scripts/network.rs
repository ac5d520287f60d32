//! The part of the network that scripts of projects reach.

use repertoire::catalog::Scope;
use repertoire::script::NetworkLevel;
use repertoire::skill::Network;
use repertoire::trust::ContentHash;

use super::probes::reach::again_as_another;
use super::*;
use services::{PROGRAM, Services};

#[path = "../support/services.rs"]
mod services;

/// Runs a program as a script of a project that has this part of the network.
fn tried(program: &str, network: &Network, arg: &str) -> ScriptOutput {
    let mut place = Place::py(program);
    (place.owner.scope, place.owner.script_rights) = (Scope::Project, network.clone().into());
    let script = place.root().join("scripts/a.py");
    let hash = ContentHash::of_file(&script).unwrap();
    place.store.add_with(&script, hash, network.clone()).unwrap();
    place.only(&[arg])
}

#[test]
fn services_of_this_machine_answer_only_if_they_are_named() {
    if !has("python3") {
        return;
    }
    let services = Services::start();
    let named = services.named();
    let named = || named.iter().map(String::as_str);
    for (network, by_localhost) in [
        (Network::default(), false),
        (true.into(), false),
        (Network::parse(["api.example.com:443"]).unwrap(), false),
        (Network::parse(named()).unwrap(), true),
        (Network::parse(named().chain(["*"])).unwrap(), true),
    ] {
        let aim = services.aim(!network.is_none()).to_string();
        let output = tried(PROGRAM, &network, &aim);
        let expected = if network.is_none() { NetworkLevel::All } else { NetworkLevel::Named };
        if output.sandbox.network != expected {
            return println!("SKIPPED: this system cannot supervise: {:?}", output.sandbox);
        }
        assert_eq!(output.stderr, "", "{network}");
        Services::assert_reached(&output.stdout, by_localhost, !network.is_none());
    }
    let (_, module) = module_path!().split_once("::").unwrap();
    let name = format!("{module}::services_of_this_machine_answer_only_if_they_are_named");
    again_as_another(&name, |text| println!("{text}"));
}

/// Sends what finds no room: descriptors, data on a connection whose errors nobody reads, and six messages of a
/// mebibyte.
const NO_ROOM: &str = r#"import array, errno, os, socket, sys, threading, time

def fill(sender):
    sender.setblocking(False)
    try:
        while True:
            sender.send(bytes(1 << 16))
    except BlockingIOError:
        sender.setblocking(True)

def tried(sender, *message):
    try:
        sender.sendmsg(*message)
        return "sent"
    except OSError as error:
        return errno.errorcode[error.errno]

pairs = [socket.socketpair() for _ in range(7)]
for sender, _ in pairs:
    fill(sender)
passed = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0]))]
print(tried(pairs[0][0], [b"x"], passed))
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
connection.setsockopt(socket.SOL_SOCKET, 37, 0x392)  # SO_TIMESTAMPING of all that is sent
for _ in range(5):  # the system moves what was sent on, and makes more room
    fill(connection)
    time.sleep(0.1)
print(tried(connection, [b"x"]))
answers = []
for sender, _ in pairs[1:]:
    one = lambda sender: answers.append(tried(sender, [bytes(1 << 20)]))
    threading.Thread(target=one, args=(sender,), daemon=True).start()
patience = time.time() + 10
while len(answers) < 2 and time.time() < patience:
    time.sleep(0.01)
time.sleep(0.1)
print(*answers, flush=True)
os._exit(0)
"#;

#[test]
fn what_finds_no_room_takes_little_of_the_host() {
    if !has("python3") {
        return;
    }
    let deaf = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = deaf.local_addr().unwrap();
    let network = Network::parse([&*address.to_string()]).unwrap();
    let output = tried(NO_ROOM, &network, &address.port().to_string());
    if output.sandbox.network != NetworkLevel::Named {
        return println!("SKIPPED: this system cannot supervise: {:?}", output.sandbox);
    }
    assert_eq!((&*output.stdout, &*output.stderr), ("EAGAIN\nEAGAIN\nENOBUFS ENOBUFS\n", ""));
}
