//! Actions that are denied to a plugin's process.

use std::path::Path;

use repertoire_system::network::Network;
use repertoire_system::sandbox::{FilesystemLevel, NetworkLevel, SandboxLevel};

use super::attributes::{self, Files};
use super::services::{self, Services};
use super::*;

#[track_caller]
fn assert_refused(result: Result<String, WorkerError>, why: &str) {
    let error = result.unwrap_err().to_string();
    assert!(error.contains(why), "{error}");
}

fn named(name: impl AsRef<Path>) -> Value {
    json!({"name": name.as_ref()})
}

#[test]
fn files_are_closed_but_for_what_is_allowed() {
    let outside = tempfile::tempdir().unwrap();
    let (open, closed) = (outside.path().join("open"), outside.path().join("closed"));
    let data = outside.path().join("data");
    std::fs::write(&open, "open").unwrap();
    std::fs::write(&closed, "closed").unwrap();
    std::fs::create_dir(&data).unwrap();
    let limits = Limits { read: vec![open.clone()], write: vec![data.clone()], ..short() };
    let fixture = Fixture::prober(limits);
    let skill = fixture.skill.path();

    assert_eq!(fixture.probe("read", &named(skill.join("SKILL.md"))).unwrap(), "hello");
    assert_eq!(fixture.probe("read", &named("SKILL.md")).unwrap(), "hello");
    assert_eq!(fixture.probe("read", &named(&open)).unwrap(), "open");
    fixture.probe("write", &named(data.join("new"))).unwrap();
    fixture.probe("write", &named("/dev/null")).unwrap();

    let WorkerState::Running { sandbox: Some(level), .. } = fixture.worker.state() else {
        panic!("not running");
    };
    println!("{level:?}");
    assert!(level.no_new_privs && level.rlimits);
    if level.filesystem == FilesystemLevel::None {
        println!("SKIPPED: no landlock here");
        return;
    }
    assert_refused(fixture.probe("read", &named(&closed)), "ermission denied");
    assert_refused(fixture.probe("read", &named("/etc/passwd")), "ermission denied");
    assert_refused(fixture.probe("write", &named(&open)), "ermission denied");
    assert_refused(fixture.probe("write", &named(skill.join("SKILL.md"))), "ermission denied");
    assert_refused(fixture.probe("write", &named(skill.join("new"))), "ermission denied");
    let parent = format!("/proc/{}/environ", std::process::id());
    assert_refused(fixture.probe("read", &named(parent)), "ermission denied");
    // A program that the plugin starts is confined, too.
    let seen = fixture.probe("run", &json!({"name": "cat /etc/passwd; echo ran"})).unwrap();
    assert!(seen.contains("Permission denied") && seen.starts_with("ran\n"), "{seen}");
    if level.filesystem == FilesystemLevel::Full {
        assert_refused(fixture.probe("signal", &json!({})), "not permitted");
    }
}

#[test]
fn processes_and_threads_are_limited_unless_the_host_says_more() {
    let most = |limits| -> String {
        let limits = Fixture::prober(limits).probe("limits", &json!({})).unwrap();
        let line = limits.lines().find(|line| line.starts_with("Max processes")).unwrap();
        line.split_whitespace().nth(2).unwrap().to_owned()
    };
    let by_default: u64 = most(short()).parse().unwrap();
    assert!((512..100_000).contains(&by_default), "{by_default}");
    assert_eq!(most(Limits { processes: Some(77), ..short() }), "77");
    if rustix::process::geteuid().is_root() {
        println!("SKIPPED: the system does not hold the superuser to it");
        return;
    }
    let fixture = Fixture::prober(Limits { address_space: None, ..short() });
    let started = fixture.probe("threads", &json!({"name": "20000"})).unwrap();
    assert!(started.parse::<u64>().unwrap() <= by_default + 512, "{started}");
}

#[test]
fn no_probe_gets_through() {
    let say = |text: &str| println!("{text}");
    if !Path::new("/usr/bin/python3").exists() {
        return say("SKIPPED: no `python3` on this machine");
    }
    for has_rights in [false, true] {
        probe(has_rights);
    }
    let (_, module) = module_path!().split_once("::").unwrap();
    probes::again_as_another(&format!("{module}::no_probe_gets_through"), say);
}

fn probe(has_rights: bool) {
    let outside = probes::Outside::new();
    let data = tempfile::tempdir().unwrap();
    let granted =
        || Limits { network: true.into(), write: vec![data.path().to_owned()], ..short() };
    let fixture = Fixture::prober(if has_rights { granted() } else { short() });
    std::fs::write(fixture.skill.path().join("probes.py"), probes::PROGRAM).unwrap();
    let calls = repertoire_system::sandbox::allowed_calls();
    let aim = outside.aim(&calls, true, !has_rights);
    let command = format!("exec /usr/bin/python3 probes.py '{aim}'");
    let printed = fixture.probe("run", &named(command)).unwrap();
    let WorkerState::Running { sandbox: Some(level), .. } = fixture.worker.state() else {
        panic!("not running");
    };
    let network = if has_rights { NetworkLevel::Named } else { NetworkLevel::All };
    if level.filesystem != FilesystemLevel::Full || level.network != network {
        return println!("SKIPPED: this kernel has not all of Landlock and seccomp");
    }
    assert!(level.processes && level.terminal, "{level:?}");
    outside.assert_shut(&printed);
}

#[test]
fn attributes_change_only_where_a_toolset_may_write() {
    let say = |text: &str| println!("{text}");
    if !Path::new("/usr/bin/python3").exists() {
        return say("SKIPPED: no `python3` on this machine");
    }
    for has_network in [false, true] {
        let files = Files::new();
        let write = vec![files.writable.path().to_owned()];
        let limits = Limits { network: has_network.into(), write, ..short() };
        let fixture = Fixture::prober(limits);
        std::fs::write(fixture.skill.path().join("attributes.py"), attributes::PROGRAM).unwrap();
        let aim = files.aim();
        let command = format!("exec /usr/bin/python3 attributes.py '{aim}' 2>&1");
        let printed = fixture.probe("run", &named(command)).unwrap();
        let WorkerState::Running { sandbox: Some(level), .. } = fixture.worker.state() else {
            panic!("not running");
        };
        if !level.attributes {
            return say("SKIPPED: this kernel has not all of Landlock and seccomp");
        }
        files.assert_changed(&printed, printed.contains("own: fchmod: done"));
    }
    let (_, module) = module_path!().split_once("::").unwrap();
    let name = format!("{module}::attributes_change_only_where_a_toolset_may_write");
    probes::again_as_another(&name, say);
}

#[test]
fn the_environment_is_cleared_and_there_is_a_scratch_directory() {
    let fixture = Fixture::prober(short());
    let env = fixture.probe("env", &json!({})).unwrap();
    let names = env.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect::<Vec<_>>();
    let known = ["HOME", "LANG", "LC_ALL", "MALLOC_ARENA_MAX", "PATH", "TMPDIR", "TZ"];
    // The test harness sets a variable of its own.
    let unknown = names.iter().filter(|name| !known.contains(name) && !name.starts_with("RUST_"));
    assert_eq!(unknown.count(), 0, "{env}");
    let scratch = env.lines().find_map(|line| line.strip_prefix("TMPDIR=")).unwrap();
    let file = Path::new(scratch).join("file");
    fixture.probe("write", &named(&file)).unwrap();
    assert!(file.exists());
    let here = fixture.probe("where", &json!({})).unwrap();
    let skill = fixture.skill.path().display();
    assert_eq!(here, format!("{skill} {skill}"));
    assert_eq!(fixture.probe("stdin", &json!({})).unwrap(), "");
    drop(fixture);
    let patience = Instant::now() + Duration::from_secs(30);
    while Path::new(scratch).exists() {
        assert!(Instant::now() < patience, "{scratch} is left");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn the_network_is_closed_unless_allowed() {
    let fixture = Fixture::prober(short());
    assert_refused(fixture.probe("tcp", &json!({})), "not permitted");
    assert_refused(fixture.probe("udp", &json!({})), "not permitted");
    assert_eq!(fixture.probe("unix", &json!({})).unwrap(), "pair");
    let level = |fixture: &Fixture| match fixture.worker.state() {
        WorkerState::Running { sandbox: Some(SandboxLevel { network, .. }), .. } => network,
        state => panic!("{state:?}"),
    };
    assert_eq!(level(&fixture), NetworkLevel::All);
    let fixture = Fixture::prober(Limits { network: true.into(), ..short() });
    // Nobody may connect to it, unless that address is named.
    assert_refused(fixture.probe("tcp", &json!({})), "denied");
    assert_eq!(fixture.probe("udp", &json!({})).unwrap(), "binds");
    assert_eq!(level(&fixture), NetworkLevel::Named);
}

#[test]
fn services_of_this_machine_answer_only_if_they_are_named() {
    if !Path::new("/usr/bin/python3").exists() {
        return println!("SKIPPED: no `python3` on this machine");
    }
    let services = Services::start();
    let named = services.named();
    let named = Network::parse(named.iter().map(String::as_str)).unwrap();
    for (network, by_localhost) in
        [(Network::default(), false), (true.into(), false), (named, true)]
    {
        let has_network = !network.is_none();
        let fixture = Fixture::prober(Limits { network, ..short() });
        std::fs::write(fixture.skill.path().join("network.py"), services::PROGRAM).unwrap();
        let aim = services.aim(has_network);
        let command = format!("exec /usr/bin/python3 network.py '{aim}' 2>&1");
        let printed = fixture.probe("run", &json!({"name": command})).unwrap();
        Services::assert_reached(&printed, by_localhost, has_network);
    }
}

#[test]
fn too_large_a_file_and_too_much_time_end_the_process() {
    let limits = Limits { file_bytes: Some(1000), cpu_seconds: Some(1), ..short() };
    let fixture = Fixture::prober(limits);
    let env = fixture.probe("env", &json!({})).unwrap();
    let scratch = env.lines().find_map(|line| line.strip_prefix("TMPDIR=")).unwrap();
    let write = format!("head -c 5000 /dev/zero > {scratch}/big; echo $?");
    let seen = fixture.probe("run", &json!({"name": write})).unwrap();
    assert!(!seen.ends_with("0\n") || seen.contains("too large"), "{seen}");
    let error = fixture.probe("spin", &json!({})).unwrap_err();
    let WorkerError::Crashed { how, .. } = error else { panic!("{error}") };
    assert_eq!(how, "killed by signal 24 (SIGXCPU): it used up its processor time");
}
