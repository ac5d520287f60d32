//! The parameters of an address that are ours, not the client's.

/// The parameters that we read ourselves, and the URL without them.
pub(crate) struct Parameters<'u> {
    pub(crate) url: String,
    pub(crate) sslmode: Option<&'u str>,
    pub(crate) sslrootcert: Option<String>,
}

impl<'u> Parameters<'u> {
    pub(crate) fn take(url: &'u str) -> Parameters<'u> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let mut taken = Parameters { url: base.to_owned(), sslmode: None, sslrootcert: None };
        let mut separator = '?';
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", mode)) => taken.sslmode = Some(mode),
                Some(("sslrootcert", path)) => {
                    let path = percent_encoding::percent_decode_str(path).decode_utf8_lossy();
                    taken.sslrootcert = Some(path.into_owned());
                }
                _ => {
                    taken.url.push(separator);
                    taken.url.push_str(pair);
                    separator = '&';
                }
            }
        }
        taken
    }
}
