//! TLS for connections to servers: rustls, with the certificates that the system trusts.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

use repertoire::{Error, ErrorCode};

/// Returns a configuration that trusts the certificates of the PEM file `roots`, otherwise those of
/// the system.
pub(crate) fn client_config(roots: Option<&Path>, store: &str) -> Result<ClientConfig, Error> {
    let failed = |why: String, help: &str| {
        let message = format!("cannot check the certificate of the session store {store}: {why}");
        Error::new(ErrorCode::NotFound, message, help)
    };
    let mut trusted = RootCertStore::empty();
    if let Some(path) = roots {
        let help = "name a PEM file of certificates with `sslrootcert`";
        let told = |error: String| failed(format!("{}: {error}", path.display()), help);
        let file = File::open(path).map_err(|error| told(error.to_string()))?;
        for certificate in CertificateDer::pem_reader_iter(BufReader::new(file)) {
            let certificate = certificate.map_err(|error| told(error.to_string()))?;
            trusted.add(certificate).map_err(|error| told(error.to_string()))?;
        }
        if trusted.is_empty() {
            return Err(told("it holds no certificate".to_owned()));
        }
    } else {
        let found = rustls_native_certs::load_native_certs();
        trusted.add_parsable_certificates(found.certs);
        if trusted.is_empty() {
            let why = found
                .errors
                .first()
                .map_or("the system trusts none".to_owned(), ToString::to_string);
            return Err(failed(why, "name a PEM file of certificates with `sslrootcert`"));
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(error.to_string(), "update Repertoire"))?;
    Ok(builder.with_root_certificates(trusted).with_no_client_auth())
}
