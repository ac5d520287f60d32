//! Sessions in Redis: values of other versions and other programs, rights, expiry, and TLS.

use std::thread;
use std::time::{Duration, Instant};

use repertoire::ErrorCode;
use repertoire::session::{Event, SessionStore as _};
use repertoire_sessions::{RedisStore, ServerOptions};

use super::servers::{Kind, PASSWORD, Server, redis_at};
use super::{record_use, used};

/// Returns the value of a key, whatever its type.
fn dump(url: &str, key: &str) -> redis::Value {
    redis_at(url, &["DUMP", key]).unwrap()
}

#[test]
fn values_of_a_newer_version_or_of_another_program_are_refused_and_stay_unchanged() {
    let Some(server) = Server::shared(Kind::Redis) else { return };
    for (name, key, set, wanted) in [
        ("newer", "repertoire:version", ["SET", "99"], "newer Repertoire (its version 99"),
        ("a version", "repertoire:version", ["LPUSH", "x"], "of another program"),
        ("a session", "repertoire:session:a", ["LPUSH", "x"], "of another program"),
    ] {
        let url = server.fresh();
        redis_at(&url, &[set[0], key, set[1]]).unwrap();
        let before = dump(&url, key);
        let store = RedisStore::open(&url).unwrap();
        let recorded = store.record("a", &Event::Used(&"git".into())).map(drop);
        for error in [recorded, store.state("a").map(drop)].map(Result::unwrap_err) {
            assert_eq!(error.code(), ErrorCode::ExecutionError, "{name}");
            assert!(error.message().contains(wanted), "{name}: {error}");
            assert!(!error.help().is_empty() && !format!("{error:?}").contains(PASSWORD), "{name}");
        }
        assert_eq!(dump(&url, key), before, "{name}");
    }
}

#[test]
fn tallies_of_another_program_are_noticed_before_anything_is_written() {
    let Some(server) = Server::shared(Kind::Redis) else { return };
    let url = server.fresh();
    let day = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() / 86_400;
    redis_at(&url, &["SET", &format!("repertoire:tally:{day}"), "x"]).unwrap();
    let store = RedisStore::open(&url).unwrap();
    store.record("a", &Event::Used(&"git".into())).unwrap_err();
    assert_eq!(used(&store, "a"), 0);
}

#[test]
fn the_server_expires_idle_sessions() {
    let Some(server) = Server::shared(Kind::Redis) else { return };
    let url = server.fresh();
    let mut options = ServerOptions::default();
    options.keeps = Duration::from_secs(2);
    let store = RedisStore::open_with(&url, options).unwrap();
    record_use(&store, "idle", "git");
    let start = Instant::now();
    let mut n = 0;
    while start.elapsed() < Duration::from_secs(3) {
        record_use(&store, "busy", "git");
        n += 1;
        thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(["idle", "busy"].map(|session| used(&store, session)), [0, n]);
    let year = 365 * 24 * 60 * 60;
    let day = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() / 86_400;
    let left = redis_at(&url, &["TTL", &format!("repertoire:tally:{day}")]).unwrap();
    assert!(matches!(left, redis::Value::Int(left) if left > year), "{left:?}");
}

#[test]
fn a_wrong_password_is_told_without_it() {
    let Some(server) = Server::shared(Kind::Redis) else { return };
    let store = RedisStore::open(&server.url("0").replace(PASSWORD, "wr0ng")).unwrap();
    let error = store.check().unwrap_err();
    assert_eq!(error.help(), "correct the user and the password of its address");
    assert!(!format!("{error:?} {store:?}").contains("wr0ng"), "{error:?}");
    for url in ["redis://:s3cret@h:x/0", "redis://s3 cret", "s3cret", "redis://h/s3cret"] {
        let error = RedisStore::open(url).unwrap_err();
        assert_eq!(error.code(), ErrorCode::InvalidParam, "{url}");
        assert!(!format!("{error:#} {error:?}").contains("s3"), "{error:?}");
    }
}

#[test]
fn a_server_that_pauses_costs_one_timeout_and_is_used_again() {
    let Some(server) = Server::new(Kind::Redis, &[]) else { return };
    let url = server.url("0");
    let mut options = ServerOptions::default();
    options.timeout = Duration::from_millis(500);
    let store = RedisStore::open_with(&url, options).unwrap();
    record_use(&store, "a", "git");
    redis_at(&url, &["CLIENT", "PAUSE", "1500", "ALL"]).unwrap();
    let start = Instant::now();
    assert_eq!(store.state("a").unwrap_err().code(), ErrorCode::Timeout);
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    thread::sleep(Duration::from_secs(2));
    assert_eq!(used(&store, "a"), 1);
}

#[cfg(feature = "tls")]
#[test]
fn connections_are_encrypted_and_certificates_are_checked() {
    let port = super::servers::free_port();
    // Paths are relative to the server's directory.
    let settings = ["--tls-port", &port.to_string(), "--tls-auth-clients", "no"];
    let files = ["--tls-cert-file", "server.crt", "--tls-key-file", "server.key"];
    let settings = [&settings[..], &files, &["--tls-ca-cert-file", "server.crt"]].concat();
    let Some(server) = Server::new(Kind::Redis, &settings) else { return };
    let roots = server.dir().join("server.crt");
    let open = |host: &str, parameters: &str| {
        RedisStore::open(&format!("rediss://:{PASSWORD}@{host}:{port}/0{parameters}"))
    };
    let store = open("localhost", &format!("?sslrootcert={}", roots.display())).unwrap();
    record_use(&store, "a", "git");
    assert_eq!(used(&RedisStore::open(&server.url("0")).unwrap(), "a"), 1);

    let error = open("localhost", "").unwrap().state("a").unwrap_err();
    assert!(error.message().contains("certificate"), "{error}");
    let other_name = open("127.0.0.1", &format!("?sslrootcert={}", roots.display())).unwrap();
    assert!(other_name.state("a").unwrap_err().message().contains("certificate"));
    let error = open("localhost", "?sslrootcert=/nowhere.pem").unwrap_err();
    assert!(error.message().contains("/nowhere.pem"), "{error}");
}
