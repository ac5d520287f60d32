//! The environment variables that configure how requests to an object store are signed.

use super::object_address::ObjectAddress;
use repertoire::{Error, ErrorCode};

/// For each scheme, the variables by which a user configures how requests are signed, or that they are
/// not. Without any of them, the clients would ask the metadata service of the cloud, or read files of
/// the vendor's tools.
const SIGNING: [(&str, &[&str]); 3] = [
    (
        "s3",
        &[
            "AWS_ACCESS_KEY_ID",
            "AWS_SKIP_SIGNATURE",
            "AWS_WEB_IDENTITY_TOKEN_FILE",
            "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
            "AWS_CONTAINER_CREDENTIALS_FULL_URI",
            "AWS_METADATA_ENDPOINT",
        ],
    ),
    (
        "gs",
        &[
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GOOGLE_SKIP_SIGNATURE",
            "GOOGLE_SERVICE_ACCOUNT",
            "GOOGLE_SERVICE_ACCOUNT_KEY",
            "GOOGLE_BEARER_TOKEN",
        ],
    ),
    (
        "az",
        &[
            "AZURE_STORAGE_ACCOUNT_KEY",
            "AZURE_SKIP_SIGNATURE",
            "AZURE_STORAGE_SAS_TOKEN",
            "AZURE_STORAGE_TOKEN",
            "AZURE_CLIENT_SECRET",
            "AZURE_FEDERATED_TOKEN_FILE",
            "AZURE_STORAGE_USE_EMULATOR",
        ],
    ),
];

/// Fails with `PERMISSION_DENIED` if no variable configures how requests to this address are signed.
pub(super) fn check(address: &ObjectAddress) -> Result<(), Error> {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let of_scheme = SIGNING.iter().find(|(scheme, _)| *scheme == address.scheme);
    let names = of_scheme.map_or(&[][..], |(_, names)| names);
    let [key, public, ..] = names else { return Ok(()) };
    if names.iter().any(is_set) {
        return Ok(());
    }
    let message = format!("the environment has no credentials for {address}");
    let help = format!("set `{key}` and its like, or `{public}=true` for a public bucket");
    Err(Error::new(ErrorCode::PermissionDenied, message, help))
}
