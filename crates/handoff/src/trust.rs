//! How programs in a sandbox come to trust the authority of one run, by which a proxy looks into TLS: files in the place of the
//! system's, and variables for those that look elsewhere. Both are tables here and nowhere else.

#![expect(clippy::disallowed_methods, reason = "removes the files of a run")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where systems keep the certificates of authorities, all in one file: Debian and Alpine, Fedora, Arch, SUSE, OpenSSL.
pub const BUNDLES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/tls/cert.pem",
    "/etc/ca-certificates/extracted/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs/ca-bundle.crt",
];

/// The same, as Java reads them: Debian, Fedora, Arch.
const JAVA_STORES: &[&str] = &[
    "/etc/ssl/certs/java/cacerts",
    "/etc/pki/ca-trust/extracted/java/cacerts",
    "/etc/pki/java/cacerts",
    "/etc/ca-certificates/extracted/java-cacerts",
];

/// Where browsers that are built on Chromium look for policies of the machine: Chromium, Chrome, Chrome for Testing. They read
/// neither the bundles of the system nor a variable.
pub const BROWSER_POLICIES: &[&str] = &[
    "/etc/chromium/policies/managed",
    "/etc/opt/chrome/policies/managed",
    "/etc/opt/chrome_for_testing/policies/managed",
];

/// Where a sandbox has the files of a run.
pub const FOLDER: &str = "/etc/stockade-trust";
/// All authorities that the sandbox trusts, in that folder.
pub const BUNDLE: &str = "/etc/stockade-trust/authorities.pem";
const OF_RUN: &str = "/etc/stockade-trust/run.pem";
const STORE: &str = "/etc/stockade-trust/authorities.jks";

/// The name of that file in the folder.
pub const BUNDLE_NAME: &str = "authorities.pem";
/// The file with the authority of the run alone.
pub const OF_RUN_NAME: &str = "run.pem";
/// All authorities, as Java reads them.
pub const STORE_NAME: &str = "authorities.jks";
/// The folder with the policy of browsers.
pub const BROWSERS_NAME: &str = "browsers";

/// Variables that name a file of authorities.
pub const VARIABLES: &[(&str, &str)] = &[
    // OpenSSL, Go, rustls-native-certs, Python, Ruby, PHP, uv
    ("SSL_CERT_FILE", BUNDLE),
    ("NIX_SSL_CERT_FILE", BUNDLE),
    // Python's requests, and what is built on it; pip
    ("REQUESTS_CA_BUNDLE", BUNDLE),
    ("PIP_CERT", BUNDLE),
    ("CURL_CA_BUNDLE", BUNDLE),
    ("GIT_SSL_CAINFO", BUNDLE),
    ("CARGO_HTTP_CAINFO", BUNDLE),
    ("AWS_CA_BUNDLE", BUNDLE),
    ("DENO_CERT", BUNDLE),
    ("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", BUNDLE),
    ("CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE", BUNDLE),
    ("BUNDLE_SSL_CA_CERT", BUNDLE),
    ("COMPOSER_CAFILE", BUNDLE),
    // These are read beside those that Node.js has.
    ("NODE_EXTRA_CA_CERTS", OF_RUN),
];

/// Where options of every Java stand.
const JAVA_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// The files by which a sandbox trusts the authority of a run. They go with it.
#[derive(Debug, PartialEq, Eq)]
pub struct RunTrust {
    /// Where they lie on this machine.
    pub folder: PathBuf,
    /// Whether another program wrote them, and removes them.
    is_anothers: bool,
}

impl Drop for RunTrust {
    fn drop(&mut self) {
        if !self.is_anothers {
            self.remove();
        }
    }
}

impl RunTrust {
    /// Files that this program writes, in a folder of its own.
    #[must_use]
    pub const fn new(folder: PathBuf) -> Self {
        Self { folder, is_anothers: false }
    }

    /// Files that another program wrote, and that outlast this process.
    #[must_use]
    pub const fn of_another(folder: PathBuf) -> Self {
        Self { folder, is_anothers: true }
    }

    /// Removes them. What is mounted already stays as long as its sandbox does.
    pub fn remove(&self) {
        std::fs::remove_dir_all(&self.folder).ok();
    }

    /// What is mounted: where, and from where.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

/// The variables of a command that is to trust a run. `before` is what it would have otherwise.
pub fn variables(
    before: impl Fn(&str) -> Option<OsString>,
) -> impl Iterator<Item = (&'static str, OsString)> {
    let mut java = before(JAVA_OPTIONS).unwrap_or_default();
    if !java.is_empty() {
        java.push(" ");
    }
    java.push(format!("-Djavax.net.ssl.trustStore={STORE} -Djavax.net.ssl.trustStoreType=jks"));
    let files = VARIABLES.iter().map(|(name, file)| (*name, OsString::from(*file)));
    files.chain(std::iter::once((JAVA_OPTIONS, java)))
}

/// All places in a system that are replaced, and the file that is there instead.
pub fn replaced() -> impl Iterator<Item = (&'static Path, &'static str)> {
    let bundles = BUNDLES.iter().map(|path| (Path::new(*path), BUNDLE_NAME));
    bundles.chain(JAVA_STORES.iter().map(|path| (Path::new(*path), STORE_NAME)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_java_was_told_stays() {
        let java = |before: Option<&str>| {
            let before = before.map(OsString::from);
            let mut all = variables(|name| before.clone().filter(|_| name == JAVA_OPTIONS));
            all.find(|(name, _)| *name == JAVA_OPTIONS).unwrap().1.into_string().unwrap()
        };
        let own = "-Djavax.net.ssl.trustStore=/etc/stockade-trust/authorities.jks -Djavax.net.ssl.trustStoreType=jks";
        assert_eq!(java(None), own);
        assert_eq!(java(Some("-Xmx1g")), format!("-Xmx1g {own}"));
    }

    #[test]
    fn every_variable_names_a_file_that_is_there() {
        for (name, file) in VARIABLES {
            let file = Path::new(file);
            assert_eq!(file.parent(), Some(Path::new(FOLDER)), "{name}");
            let name = file.file_name().unwrap().to_str().unwrap();
            assert!([BUNDLE_NAME, OF_RUN_NAME].contains(&name), "{name}");
        }
        assert!(
            replaced().all(|(path, name)| path.is_absolute() && [BUNDLE_NAME, STORE_NAME].contains(&name))
        );
    }
}
