//! Sessions in `PostgreSQL`: tables of other versions and other programs, rights, expiry, and TLS.

use std::time::Duration;

use repertoire::ErrorCode;
use repertoire::session::{Day, SessionStore as _};
use repertoire_sessions::{PostgresStore, ServerOptions};

use super::servers::{Kind, PASSWORD, Server, sql_at};
use super::{record_use, used};

/// Returns everything in our tables of a database, and the tables' columns.
fn contents(url: &str) -> Vec<String> {
    let sql = "SELECT table_name || '.' || column_name || ' ' || data_type
        FROM information_schema.columns WHERE table_name LIKE 'repertoire%' ORDER BY 1;
        SELECT table_name || ' ' || query_to_xml('TABLE ' || table_name, true, true, '')::text
        FROM information_schema.tables WHERE table_name LIKE 'repertoire%' ORDER BY 1";
    sql_at(url, sql).unwrap()
}

fn open_with(url: &str, change: impl Fn(&mut ServerOptions)) -> PostgresStore {
    let mut options = ServerOptions::default();
    change(&mut options);
    PostgresStore::open_with(url, options).unwrap()
}

#[test]
fn tables_of_a_newer_version_or_of_another_program_are_refused_and_stay_unchanged() {
    let Some(server) = Server::shared(Kind::Postgres) else { return };
    for (name, is_ours, sql, wanted) in [
        (
            "newer",
            true,
            "UPDATE repertoire_store SET version = 99",
            "newer Repertoire (its version 99",
        ),
        (
            "a session table",
            false,
            "CREATE TABLE repertoire_session (n int)",
            "`repertoire_session` is of another",
        ),
        (
            "a mark",
            false,
            "CREATE TABLE repertoire_store (n int)",
            "`repertoire_store` is of another",
        ),
        ("no column", true, "ALTER TABLE repertoire_session DROP COLUMN skills", "skills"),
        ("no table", true, "DROP TABLE repertoire_tally", "repertoire_tally"),
    ] {
        let url = server.fresh();
        if is_ours {
            record_use(&PostgresStore::open(&url).unwrap(), "a", "git");
        }
        sql_at(&url, sql).unwrap();
        let before = contents(&url);
        let store = PostgresStore::open(&url).unwrap();
        let error =
            store.record("a", &repertoire::session::Event::Used(&"git".into())).unwrap_err();
        assert_eq!(error.code(), ErrorCode::ExecutionError, "{name}");
        assert!(error.message().contains(wanted), "{name}: {error}");
        assert!(!error.help().is_empty() && !format!("{error:?}").contains(PASSWORD), "{name}");
        assert_eq!(contents(&url), before, "{name}");
    }
}

#[test]
fn a_process_that_runs_while_the_tables_become_newer_notices_with_its_next_connection() {
    let Some(server) = Server::shared(Kind::Postgres) else { return };
    let url = server.fresh();
    let store = PostgresStore::open(&url).unwrap();
    store.check().unwrap();
    sql_at(&url, "UPDATE repertoire_store SET version = 99").unwrap();
    PostgresStore::open(&url).unwrap().check().unwrap_err();
    let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    sql_at(&url, sql).unwrap();
    let error = store.state("a").unwrap_err();
    assert!(error.message().contains("newer Repertoire"), "{error}");
}

#[test]
fn other_tables_and_other_schemas_of_a_database_do_not_matter() {
    let Some(server) = Server::shared(Kind::Postgres) else { return };
    let url = server.fresh();
    sql_at(&url, "CREATE TABLE session (n int); CREATE TABLE skill (n int); CREATE SCHEMA acme")
        .unwrap();
    let stores = ["", "?options=-c%20search_path=acme"]
        .map(|parameters| PostgresStore::open(&format!("{url}{parameters}")).unwrap());
    record_use(&stores[0], "a", "git");
    assert_eq!(stores.each_ref().map(|store| used(store, "a")), [1, 0]);
    record_use(&stores[1], "a", "git");
    assert_eq!(stores.each_ref().map(|store| used(store, "a")), [1, 1]);
}

#[test]
fn a_user_needs_no_right_to_create_tables_once_they_are_there() {
    let Some(server) = Server::shared(Kind::Postgres) else { return };
    let url = server.fresh();
    let user = format!("bob_{}", url.rsplit('_').next().unwrap());
    let as_bob = url.replace("ann:", &format!("{user}:"));
    sql_at(&url, &format!("CREATE USER {user} PASSWORD '{PASSWORD}'")).unwrap();
    let store = PostgresStore::open(&as_bob).unwrap();
    let error = store.check().unwrap_err();
    assert!(error.message().contains("permission denied"), "{error}");
    assert!(error.help().contains("grant the user"), "{error:#}");
    PostgresStore::open(&url).unwrap().check().unwrap();
    let tables = "repertoire_store, repertoire_session, repertoire_tally, repertoire_begun, \
                  repertoire_trail";
    sql_at(&url, &format!("GRANT SELECT, INSERT, UPDATE, DELETE ON {tables} TO {user}")).unwrap();
    record_use(&store, "a", "git");
    store.end("a").unwrap();

    let wrong = PostgresStore::open(&as_bob.replace(PASSWORD, "wr0ng")).unwrap();
    let error = wrong.state("a").unwrap_err();
    assert!(error.message().contains("password authentication failed"), "{error}");
    assert!(error.help().contains("the user and the password"), "{error:#}");
    assert!(!format!("{error:?}").contains("wr0ng"), "{error:?}");
}

#[test]
fn idle_sessions_expire_by_the_clock_of_the_server_and_are_deleted_by_the_hour() {
    let Some(server) = Server::shared(Kind::Postgres) else { return };
    let url = server.fresh();
    let open = || open_with(&url, |options| options.keeps = Duration::from_secs(1000));
    let store = open();
    for session in ["old", "kept", "back"] {
        record_use(&store, session, "git");
    }
    sql_at(
        &url,
        "UPDATE repertoire_session SET touched = touched - interval '1 second'
            * CASE id WHEN 'kept' THEN 900 ELSE 1100 END",
    )
    .unwrap();
    assert_eq!(["old", "kept", "back"].map(|session| used(&store, session)), [0, 1, 0]);
    record_use(&store, "back", "git");
    assert_eq!(used(&store, "back"), 1, "what expired is not counted any more");
    let n_rows = || sql_at(&url, "SELECT count(*) FROM repertoire_session").unwrap().remove(0);
    open().check().unwrap();
    assert_eq!(n_rows(), "3", "it was not due");

    let year =
        "UPDATE repertoire_tally SET day = day - 366; UPDATE repertoire_begun SET day = day - 366";
    sql_at(&url, year).unwrap();
    record_use(&store, "kept", "sql");
    sql_at(&url, "UPDATE repertoire_store SET swept = swept - interval '2 hours'").unwrap();
    assert_eq!(store.tallies(Day::default()).unwrap().sessions, 4);
    open().check().unwrap();
    assert_eq!(n_rows(), "2");
    let tallies = store.tallies(Day::default()).unwrap();
    assert_eq!((tallies.sessions, tallies.skills.len()), (0, 1));
    sql_at(&url, "INSERT INTO repertoire_session VALUES ('x', now() - interval '1 day', '[]')")
        .unwrap();
    open().check().unwrap();
    assert_eq!(n_rows(), "3", "it is not due again");
}

#[test]
fn a_row_that_is_not_what_was_written_is_an_error_until_its_session_ends() {
    let Some(server) = Server::shared(Kind::Postgres) else { return };
    let url = server.fresh();
    let store = PostgresStore::open(&url).unwrap();
    record_use(&store, "a", "git");
    sql_at(&url, "UPDATE repertoire_session SET skills = left(skills, 9)").unwrap();
    let error = store.state("a").unwrap_err();
    assert!(error.message().contains("the row of the session `a` cannot be read"), "{error}");
    store.record("a", &repertoire::session::Event::Compacted).unwrap_err();
    store.end("a").unwrap();
    record_use(&store, "a", "git");
    assert_eq!(used(&store, "a"), 1);
}

#[test]
fn more_callers_than_connections_wait_for_each_other() {
    let Some(server) = Server::shared(Kind::Postgres) else { return };
    let url = server.fresh();
    let store = open_with(&url, |options| {
        (options.connections, options.timeout) = (2, Duration::from_secs(30));
    });
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| (0..20).for_each(|_| record_use(&store, "a", "git")));
        }
    });
    assert_eq!(used(&store, "a"), 200);
    let sql = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'repertoire'";
    assert_eq!(sql_at(&url, sql).unwrap(), ["2"]);
}

#[test]
fn a_session_that_another_client_holds_is_waited_for_until_the_deadline() {
    let Some(server) = Server::shared(Kind::Postgres) else { return };
    let url = server.fresh();
    let store = open_with(&url, |options| options.timeout = Duration::from_secs(2));
    store.check().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let connected = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connected.1);
        let lock = "BEGIN; SELECT pg_advisory_xact_lock(1383101044, hashtext('a'))";
        connected.0.batch_execute(lock).await.unwrap();
        let event = repertoire::session::Event::Used(&"git".into());
        let error = store.record("a", &event).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Timeout, "{error}");
        connected.0.batch_execute("COMMIT").await.unwrap();
        std::thread::sleep(Duration::from_millis(100));
        record_use(&store, "a", "git");
        // Without the lock, recording works. Next, another transaction holds the row.
        assert_eq!(used(&store, "a"), 1, "what was told as failed was not written");
        let row = "BEGIN; SELECT FROM repertoire_session WHERE id = 'a' FOR UPDATE";
        connected.0.batch_execute(row).await.unwrap();
        let error = store.record("a", &event).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Timeout, "{error}");
        connected.0.batch_execute("COMMIT").await.unwrap();
    });
    std::thread::sleep(Duration::from_millis(100));
    record_use(&store, "a", "git");
    assert_eq!(used(&store, "a"), 2, "what was told as failed was not written");
}

#[cfg(feature = "tls")]
#[test]
fn connections_are_encrypted_and_certificates_are_checked() {
    let Some(server) = Server::new(Kind::Postgres, &["ssl=on"]) else { return };
    let trusted = server.dir().join("certificate.pem");
    std::fs::copy(server.dir().join("data/server.crt"), &trusted).unwrap();
    let url = server.fresh().replace("127.0.0.1", "localhost");
    let open = |parameters: &str| PostgresStore::open(&format!("{url}?{parameters}"));
    let roots = format!("sslrootcert={}", trusted.display());

    let store = open(&format!("sslmode=verify-full&{roots}")).unwrap();
    record_use(&store, "a", "git");
    let sql = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE application_name = 'repertoire'";
    assert_eq!(sql_at(&url.replace("localhost", "127.0.0.1"), sql).unwrap(), ["t"]);

    let error = open("sslmode=require").unwrap().state("a").unwrap_err();
    assert!(error.message().contains("certificate"), "{error}");
    assert!(error.help().contains("`sslrootcert`"), "{error:#}");
    let by_address = url.replace("localhost", "127.0.0.1");
    let other_name = PostgresStore::open(&format!("{by_address}?sslmode=require&{roots}")).unwrap();
    let error = other_name.state("a").unwrap_err();
    assert!(error.message().contains("certificate"), "{error}");
    let error = open("sslmode=require&sslrootcert=/nowhere.pem").unwrap_err();
    assert!(error.message().contains("/nowhere.pem"), "{error}");
    assert!(!format!("{error:?}").contains(PASSWORD), "{error:?}");

    let Some(server) = Server::shared(Kind::Postgres) else { return };
    let url =
        format!("{}?sslmode=require&{roots}", server.fresh().replace("127.0.0.1", "localhost"));
    let error = PostgresStore::open(&url).unwrap().state("a").unwrap_err();
    assert!(error.message().contains("does not support TLS"), "{error}");
    assert!(error.help().contains("let the server offer TLS"), "{error:#}");
}
