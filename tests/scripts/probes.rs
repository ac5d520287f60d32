//! Attempts to break out of the sandbox, as the user who runs the tests and, if that is root, also as
//! another user.

use repertoire::script::{FilesystemLevel, NetworkLevel};

use super::*;

#[path = "../support/probes.rs"]
pub(super) mod reach;

#[test]
fn no_probe_gets_through() {
    if !has("python3") {
        return;
    }
    for has_network in [false, true] {
        probe(has_network);
    }
    reach::again_as_another("probes::no_probe_gets_through", support::say);
}

fn probe(has_network: bool) {
    let outside = reach::Outside::new();
    let mut place = Place::with(&[("scripts/probes.py", reach::PROGRAM)]);
    place.options.network = has_network;
    place.options.limits.arg_bytes = 1 << 16;
    let calls = repertoire::script::allowed_calls();
    let aim = outside.aim(&calls, false, !has_network);
    let output = place.run("probes.py", &[&aim.to_string()]).unwrap();
    let level = output.sandbox;
    if level.filesystem != FilesystemLevel::Full || !level.contained {
        support::say("SKIPPED: this kernel has not all of Landlock and seccomp");
        return;
    }
    let network = if has_network { NetworkLevel::Open } else { NetworkLevel::All };
    assert!(level.processes && level.terminal && level.network == network, "{level:?}");
    assert_eq!(output.exit_code, Some(0), "{output:?}");
    outside.assert_shut(&output.stdout);
}

#[test]
fn what_programs_need_stays_open() {
    if !has("python3") {
        return;
    }
    let text = "
import socket, subprocess, threading, multiprocessing, os, tempfile
one, other = socket.socketpair()
one.sendall(b'pair')
print(other.recv(4).decode())
thread = threading.Thread(target=print, args=('thread',), kwargs={'flush': True})
thread.start(); thread.join()
print(subprocess.run(['echo', 'program'], capture_output=True, text=True).stdout.strip())
reader, writer = multiprocessing.Pipe()
child = multiprocessing.Process(target=writer.send, args=('process',))
child.start(); print(reader.recv()); child.join()
os.kill(child.pid, 0) if child.is_alive() else print('ended')
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); print('limits')
import shutil
one, other = os.environ['TMPDIR'] + '/one', os.environ['TMPDIR'] + '/other'
with open(one, 'wb') as file: file.write(bytes(300_000))
shutil.copyfile(one, other); print('copy', os.path.getsize(other))
print('cat', len(subprocess.run(['cat', other], capture_output=True).stdout))
";
    let mut place = Place::py(text);
    place.options.network = false;
    let output = place.only(&[]);
    let expected = "pair\nthread\nprogram\nprocess\nended\nlimits\ncopy 300000\ncat 300000\n";
    assert_eq!((&*output.stdout, output.exit_code), (expected, Some(0)), "{output:?}");
}

#[test]
fn the_network_of_a_project_is_that_of_the_internet() {
    if !has("python3") {
        return;
    }
    let text = "
import socket
for family in ['AF_INET', 'AF_INET6', 'AF_UNIX', 'AF_PACKET']:
    try:
        socket.socket(getattr(socket, family), socket.SOCK_STREAM).close()
        print(family, 'open')
    except OSError:
        print(family, 'closed')
";
    let closed = "AF_INET closed\nAF_INET6 closed\nAF_UNIX closed\nAF_PACKET closed\n";
    let internet = "AF_INET open\nAF_INET6 open\nAF_UNIX closed\nAF_PACKET closed\n";
    // The scope; whether the manifest asks for the network; whether the user allowed it; and the
    // result.
    let cases = [
        (Scope::Project, false, false, closed, Some("not-asked")),
        (Scope::Project, false, true, closed, Some("not-asked")),
        (Scope::Project, true, false, closed, Some("not-allowed")),
        (Scope::Project, true, true, internet, None),
    ];
    for (scope, asks, allowed, printed, offline) in cases {
        let mut place = Place::py(text);
        (place.owner.scope, place.owner.script_rights) = (scope, asks.into());
        let script = place.root().join("scripts/a.py");
        let hash = repertoire::trust::ContentHash::of_file(&script).unwrap();
        place.store.add_with(&script, hash, allowed).unwrap();
        let output = place.only(&[]);
        assert_eq!(output.stdout, printed, "{scope:?}, asks: {asks}, allowed: {allowed}");
        let told = serde_json::to_value(output.offline).unwrap();
        assert_eq!(told.as_str(), offline);
        // A change of the script revokes its trust, and the right to the network with it.
        place.write("scripts/a.py", format!("{text}\n#"));
        assert!(place.run("a.py", &[]).is_err());
    }
    let output = Place::py(text).only(&[]);
    assert!(output.stdout.contains("AF_INET open\nAF_INET6 open\nAF_UNIX open\n"), "{output:?}");
    assert_eq!(output.offline, None);
}
