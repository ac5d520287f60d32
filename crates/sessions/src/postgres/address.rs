//! The address of a database: the part that the client understands, and our own parameters for TLS.

use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use crate::ServerOptions;
use crate::server::Parameters;
use repertoire::{Error, ErrorCode};

const FORM: &str = "write `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, with `%`-escapes for special \
     characters of the password";

/// A database, and how to reach it.
pub(super) struct Address {
    pub(super) config: Config,
    pub(super) security: Security,
    /// The address without its password.
    pub(super) shown: String,
}

/// The security of connections.
pub(super) enum Security {
    None,
    /// TLS, with certificates that are checked.
    #[cfg(feature = "tls")]
    Tls(tokio_postgres_rustls::MakeRustlsConnect),
}

impl Address {
    /// Parses a URL. The error for a malformed URL repeats no part of it, since any part could be a
    /// password.
    pub(super) fn parse(url: &str, options: &ServerOptions) -> Result<Address, Error> {
        let invalid = |why: &str, help: &str| {
            let message = format!("the address of the session store {why}");
            Error::new(ErrorCode::InvalidParam, message, help)
        };
        if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(invalid("does not begin with `postgres://`", FORM));
        }
        let parameters = Parameters::take(url);
        let mut config: Config =
            parameters.url.parse().map_err(|_| invalid("is not an address of PostgreSQL", FORM))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(invalid("names no host", FORM));
        }
        // The client takes the text after the first `@` for the host, so this may be the end of a
        // password.
        if config
            .get_hosts()
            .iter()
            .any(|host| matches!(host, Host::Tcp(name) if name.contains('@')))
        {
            return Err(invalid("has an `@` in its host or its password", FORM));
        }
        match parameters.sslmode {
            None if is_on_this_machine(&config) => config.ssl_mode(SslMode::Disable),
            None | Some("prefer") => config.ssl_mode(SslMode::Prefer),
            Some("disable") => config.ssl_mode(SslMode::Disable),
            // Certificates are always checked.
            Some("require" | "verify-ca" | "verify-full") => config.ssl_mode(SslMode::Require),
            Some(_) => {
                let help = "write `disable`, `prefer`, `require` or `verify-full`";
                return Err(invalid("has an unknown `sslmode`", help));
            }
        };
        if config.get_application_name().is_none() {
            config.application_name("repertoire");
        }
        // The system, too, notices a connection that a firewall dropped.
        config.keepalives_idle(Duration::from_secs(30)).tcp_user_timeout(options.timeout);
        let shown = shown(&config);
        let security = security(&config, parameters.sslrootcert.as_deref(), &shown)?;
        Ok(Address { config, security, shown })
    }
}

/// Tells whether every host is this machine.
fn is_on_this_machine(config: &Config) -> bool {
    config.get_hostaddrs().iter().all(std::net::IpAddr::is_loopback)
        && config.get_hosts().iter().all(|host| match host {
            #[cfg(unix)]
            Host::Unix(_) => true,
            Host::Tcp(name) => {
                let ip = name.parse::<std::net::IpAddr>();
                name == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
            }
        })
}

/// The address without password and parameters.
fn shown(config: &Config) -> String {
    let hosts: Vec<String> = if config.get_hosts().is_empty() {
        config.get_hostaddrs().iter().map(ToString::to_string).collect()
    } else {
        let name = |host: &Host| match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        };
        config.get_hosts().iter().map(name).collect()
    };
    let ports = config.get_ports();
    let with_port = |(n, host): (usize, &String)| match ports.get(n).or(ports.first()) {
        Some(port) => format!("{host}:{port}"),
        None => host.clone(),
    };
    let hosts: Vec<String> = hosts.iter().enumerate().map(with_port).collect();
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    let database = config.get_dbname().map(|name| format!("/{name}")).unwrap_or_default();
    format!("postgres://{user}{}{database}", hosts.join(","))
}

#[cfg(feature = "tls")]
fn security(config: &Config, roots: Option<&str>, shown: &str) -> Result<Security, Error> {
    if config.get_ssl_mode() == SslMode::Disable {
        return Ok(Security::None);
    }
    let tls = crate::server::tls::client_config(roots.map(std::path::Path::new), shown)?;
    Ok(Security::Tls(tokio_postgres_rustls::MakeRustlsConnect::new(tls)))
}

#[cfg(not(feature = "tls"))]
fn security(config: &Config, roots: Option<&str>, shown: &str) -> Result<Security, Error> {
    if config.get_ssl_mode() != SslMode::Require && roots.is_none() {
        return Ok(Security::None);
    }
    let message = format!("the session store {shown} needs TLS, and this build has none");
    let help = "build with the feature `tls`";
    Err(Error::new(ErrorCode::InvalidParam, message, help))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Address, Error> {
        Address::parse(url, &ServerOptions::default())
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (url, wanted) in [
            ("postgres://ann:s3cret@localhost/agents", "postgres://ann@localhost:5432/agents"),
            ("postgresql://localhost:5433", "postgres://localhost:5433"),
            (
                "postgres://ann:s3%40cret@127.0.0.1:1,localhost:2/a?connect_timeout=1",
                "postgres://ann@127.0.0.1:1,localhost:2/a",
            ),
            ("postgres://localhost/a?password=s3cret&user=ann", "postgres://ann@localhost:5432/a"),
            ("postgres://ann:s3cret@%2Ftmp%2Fpg/a", "postgres://ann@/tmp/pg:5432/a"),
        ] {
            let address = parse(url).unwrap();
            assert_eq!(address.shown, wanted);
        }
    }

    #[test]
    fn no_part_of_a_malformed_address_is_repeated() {
        for url in [
            "postgres://ann:s3cret@localhost:x/agents",
            "postgres://ann@localhost/agents?s3cret",
            "postgres://ann:a@s3cret@localhost/agents",
            "postgres://ann:a@s3cret@localhost,localhost/agents",
            "postgres://localhost/a?s3cret=s3cret",
            "postgres://localhost/a?sslmode=s3cret",
            "ann:s3cret@localhost",
            "postgres://",
            "",
        ] {
            let Err(error) = parse(url) else { panic!("{url} is an address") };
            assert_eq!(error.code(), ErrorCode::InvalidParam, "{url}");
            assert!(!format!("{error:#} {error:?}").contains("s3cret"), "{error:#}");
        }
    }

    #[test]
    fn connections_to_other_machines_prefer_tls_and_need_it_where_it_is_asked_for() {
        let mode = |url: &str| parse(url).map(|address| address.config.get_ssl_mode());
        assert_eq!(mode("postgres://localhost/a").unwrap(), SslMode::Disable);
        assert_eq!(mode("postgres://[::1]/a").unwrap(), SslMode::Disable);
        assert_eq!(mode("postgres://%2Ftmp/a").unwrap(), SslMode::Disable);
        assert_eq!(mode("postgres://db.example/a").unwrap(), SslMode::Prefer);
        assert_eq!(mode("postgres://db.example/a?sslmode=disable").unwrap(), SslMode::Disable);
        let required = mode("postgres://localhost/a?sslmode=verify-full&connect_timeout=3");
        if cfg!(feature = "tls") {
            assert_eq!(required.unwrap(), SslMode::Require);
        } else {
            assert!(required.unwrap_err().help().contains("`tls`"));
        }
    }
}
