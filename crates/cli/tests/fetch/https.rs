//! An MCP server and an archive over TLS. Both are accepted only with a certificate that the system
//! trusts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::binary::{Place, Run, finish};
use crate::mcp::{HttpServer, Served, TOKEN};

const REQUEST: &str = "[req]
distinguished_name = name
x509_extensions = extensions
prompt = no
[name]
CN = localhost
[extensions]
basicConstraints = critical, CA:FALSE
subjectAltName = DNS:localhost
";

/// Creates a certificate for `localhost` and its key in `dir`.
fn certificate(dir: &Path) -> (PathBuf, PathBuf) {
    let (request, key, certificate) = (dir.join("req.cnf"), dir.join("key.pem"), dir.join("c.pem"));
    fs::write(&request, REQUEST).unwrap();
    let mut command = Command::new("openssl");
    command.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-config"]);
    command.arg(request).arg("-keyout").arg(&key).arg("-out").arg(&certificate);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (certificate, key)
}

/// Forwards TLS connections to `target` for as long as the test runs. Returns the port.
fn encrypt(target: String, certificate: &Path, key: &Path) -> u16 {
    let chain = CertificateDer::pem_file_iter(certificate).unwrap().map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(key).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        runtime.block_on(async {
            let acceptor = TlsAcceptor::from(Arc::new(config));
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, target) = (acceptor.clone(), target.clone());
                tokio::spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    let mut server = TcpStream::connect(target).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut stream, &mut server).await;
                });
            }
        });
    });
    port
}

#[test]
fn https_servers_are_taken_with_a_trusted_certificate_only() {
    let (place, served, dir) = (Place::new(), Served::new(), TempDir::new().unwrap());
    let other = TempDir::new().unwrap();
    let http = HttpServer::start(&Place::new(), &served);
    let (trusted, key) = certificate(dir.path());
    let port = encrypt(http.authority().to_owned(), &trusted, &key);
    let add = |host: &str, trusted: &Path| -> Run {
        let source = format!("mcp+https://$ACME_TOKEN@{host}:{port}/mcp");
        let mut command = place.command(["add", &source, "--name", "acme", "--json"]);
        command.env("ACME_TOKEN", TOKEN).env("SSL_CERT_FILE", trusted).env_remove("SSL_CERT_DIR");
        finish(command, b"")
    };
    let (stranger, _) = certificate(other.path());
    let refused = add("localhost", &stranger).exits(1);
    assert!(refused.stdout.contains("certificate"), "{refused:?}");
    let refused = add("127.0.0.1", &trusted).exits(1);
    assert!(refused.stdout.contains("certificate"), "{refused:?}");
    let added = add("localhost", &trusted).exits(0).json();
    assert_eq!(added["skills"][0], "acme/deploy", "{added}");
    assert!(place.run(["use", "acme/deploy"]).exits(0).stdout.contains("with care"));
}

#[cfg(feature = "archive-https")]
#[test]
fn https_archives_are_taken_with_a_trusted_certificate_only() {
    use crate::web::{Web, answer};
    use crate::zip_file::{Part, zip};
    let (place, dir, other) = (Place::new(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let text = crate::repository::skill("deploy", "", "With care.\n");
    let file = zip(&[Part::packed("skills/deploy/SKILL.md", text)]);
    let web = Web::start(move |request, stream| match request.split(' ').nth(1) {
        Some("/kit.zip") => answer(stream, "200 OK", "", &file),
        // A redirect from an encrypted address to an unencrypted one on this machine.
        _ => answer(stream, "302 Found", "Location: http://127.0.0.1:1/kit.zip\r\n", b""),
    });
    let (trusted, key) = certificate(dir.path());
    let (stranger, _) = certificate(other.path());
    let port = encrypt(web.authority(), &trusted, &key);
    let add = |host: &str, name: &str, trusted: &Path| -> Run {
        let source = format!("https://{host}:{port}/{name}");
        let mut command = place.command(["add", &source, "--json"]);
        command.env("SSL_CERT_FILE", trusted).env_remove("SSL_CERT_DIR");
        finish(command, b"")
    };
    for (host, trusted) in [("localhost", &stranger), ("127.0.0.1", &trusted)] {
        let refused = add(host, "kit.zip", trusted).exits(1);
        assert!(refused.stdout.contains("certificate"), "{refused:?}");
    }
    let refused = add("localhost", "moved.zip", &trusted).exits(1);
    assert!(refused.stdout.contains("not encrypted"), "{refused:?}");
    let added = add("localhost", "kit.zip", &trusted).exits(0).json();
    assert_eq!(added["skills"][0], "deploy", "{added}");
    assert!(place.run(["use", "deploy"]).exits(0).stdout.contains("With care"));
}
