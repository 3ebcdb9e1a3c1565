//! Where a cluster is and who asks, as a kubeconfig says it. What is not understood is refused, and so is what weakens the connection
//! or runs a program.

#![expect(clippy::disallowed_methods, reason = "reads the kubeconfig, and the files that it names")]

use std::fmt;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use stockade_text::{Format, Node, SchemaError, TableReader, Value, parse};

use super::KubernetesError;

/// The longest kubeconfig that is read.
const MAX_CONFIG: usize = 1 << 20;
/// The longest certificate, key or token that is read.
const MAX_FILE: u64 = 1 << 18;
/// Where a pod of a cluster finds who it is.
const IN_CLUSTER: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// Where a cluster is, and who asks it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterAccess {
    /// The address of its server.
    pub server: String,
    /// Who has signed the certificate of the server, as PEM; those whom everybody trusts, if nothing is said.
    pub authority: Option<Vec<u8>>,
    /// Who asks.
    pub login: ClusterLogin,
    /// The namespace that is meant if nothing is said.
    pub namespace: String,
}

/// The credentials of the user. They are shown to the server alone.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClusterLogin {
    /// A token, which is sent with every request.
    Token(String),
    /// The token in this file, which is replaced now and then.
    TokenFile(PathBuf),
    /// A certificate with its key, both as PEM.
    Certificate {
        /// The certificate.
        certificate: Vec<u8>,
        /// Its key.
        key: Vec<u8>,
    },
    /// No credentials: a test server may accept that, a cluster does not.
    Anonymous,
}

impl fmt::Debug for ClusterLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Token(_) => "Token(…)",
            Self::TokenFile(_) => "TokenFile(…)",
            Self::Certificate { .. } => "Certificate(…)",
            Self::Anonymous => "Anonymous",
        })
    }
}

impl ClusterLogin {
    /// The token that goes into a request, if one does.
    pub(super) fn token(&self) -> Result<Option<String>, KubernetesError> {
        let text = match self {
            Self::Token(token) => token.clone(),
            Self::TokenFile(path) => {
                let bytes = file(path)?;
                String::from_utf8(bytes).map_err(|_| config("the token is not a string", NEW_TOKEN))?
            }
            Self::Certificate { .. } | Self::Anonymous => return Ok(None),
        };
        let token = text.trim();
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(config("the token is not valid", NEW_TOKEN));
        }
        Ok(Some(token.to_owned()))
    }
}

const NEW_TOKEN: &str =
    "create a token (`kubectl create token NAME`), and add it to the user in the kubeconfig as `token`";

fn config(why: impl Into<String>, fix: &'static str) -> KubernetesError {
    KubernetesError::Config { why: why.into(), fix }
}

const ROOT: &[&str] =
    &["apiVersion", "kind", "clusters", "contexts", "users", "current-context", "preferences", "extensions"];
const NAMED: &[&str] = &["name", "cluster", "context", "user"];
const CLUSTER: &[&str] = &["server", "certificate-authority", "certificate-authority-data", "extensions"];
const CONTEXT: &[&str] = &["cluster", "user", "namespace", "extensions"];
const USER: &[&str] = &[
    "client-certificate",
    "client-certificate-data",
    "client-key",
    "client-key-data",
    "token",
    "tokenFile",
    "extensions",
];

/// What a kubeconfig may say and this program does not do: the key, why, and what to do instead.
#[rustfmt::skip]
const REFUSED: &[(&str, &str, &str)] = &[
    ("exec", "its user has an `exec` plugin, which is not supported because it would run a program on this machine", NEW_TOKEN),
    ("auth-provider", "its user has an auth provider plugin, which Kubernetes has removed", NEW_TOKEN),
    ("username", "its user has a password, which Kubernetes does not support since 1.19", NEW_TOKEN),
    ("password", "its user has a password, which Kubernetes does not support since 1.19", NEW_TOKEN),
    ("as", "its user impersonates another one", "use the impersonated user directly, with a token"),
    ("as-uid", "its user impersonates another one", "use the impersonated user directly, with a token"),
    ("as-groups", "its user impersonates another one", "use the impersonated user directly, with a token"),
    ("as-user-extra", "its user impersonates another one", "use the impersonated user directly, with a token"),
    ("insecure-skip-tls-verify", "it does not verify the server's certificate, so the token could be intercepted",
        "remove the line, and set `certificate-authority-data`"),
    ("proxy-url", "its server has a `proxy-url`, which is not supported", "use a server that is reachable without a proxy"),
    ("tls-server-name", "its server has a `tls-server-name`, which is not supported",
        "use a host name that is in the server's certificate"),
    ("disable-compression", "it has a setting that only kubectl uses", "remove the line"),
];

impl ClusterAccess {
    /// Finds the kubeconfig as `kubectl` does: `KUBECONFIG`, then `~/.kube/config`, then what a pod of a cluster is given.
    /// `context` is one of its contexts, or the current one if nothing is said.
    ///
    /// # Errors
    /// When no kubeconfig is found, or it cannot be used.
    pub fn find(context: Option<&str>, home: &Path) -> Result<Self, KubernetesError> {
        let named = std::env::var_os("KUBECONFIG").filter(|paths| !paths.is_empty());
        if let Some(paths) = named {
            let mut paths = std::env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty());
            return match (paths.next(), paths.next()) {
                (Some(path), None) => Self::from_file(&path, context),
                _ => Err(config(
                    "KUBECONFIG lists several files",
                    "merge them into one: `kubectl config view --flatten --minify`",
                )),
            };
        }
        let path = home.join(".kube/config");
        let pod = Path::new(IN_CLUSTER);
        if !path.exists() && context.is_none() && pod.join("token").exists() {
            return Self::from_pod(pod);
        }
        Self::from_file(&path, context)
    }

    /// Reads a kubeconfig from a file.
    ///
    /// # Errors
    /// When it cannot be read or used.
    pub fn from_file(path: &Path, context: Option<&str>) -> Result<Self, KubernetesError> {
        let text = String::from_utf8(file(path)?)
            .map_err(|_| config(format!("{} is not a string", path.display()), "name a kubeconfig"))?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        Self::from_text(&text, folder, context).map_err(|error| match error {
            KubernetesError::Config { why, fix } => config(format!("{}:{why}", path.display()), fix),
            error => error,
        })
    }

    fn from_pod(folder: &Path) -> Result<Self, KubernetesError> {
        let address = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let missing = || {
            config(
                "this pod has no variables with the address of its cluster",
                "set KUBECONFIG to a kubeconfig",
            )
        };
        let host = address("KUBERNETES_SERVICE_HOST").ok_or_else(missing)?;
        let port = address("KUBERNETES_SERVICE_PORT").ok_or_else(missing)?;
        let host = if host.contains(':') { format!("[{host}]") } else { host };
        let namespace = String::from_utf8_lossy(&file(&folder.join("namespace"))?).trim().to_owned();
        Ok(Self {
            server: server(&format!("https://{host}:{port}"))?,
            authority: Some(file(&folder.join("ca.crt"))?),
            login: ClusterLogin::TokenFile(folder.join("token")),
            namespace: named(namespace)?,
        })
    }

    /// Reads a kubeconfig. What it names by a relative path is looked for in `folder`.
    ///
    /// # Errors
    /// When the text is not a kubeconfig, or asks for something that is not supported.
    pub fn from_text(text: &str, folder: &Path, context: Option<&str>) -> Result<Self, KubernetesError> {
        const WRITE: &str = "write it with `kubectl config view --flatten --minify`";
        let document =
            parse(text, Format::Yaml, MAX_CONFIG).map_err(|error| config(error.to_string(), WRITE))?;
        let root = table(&document, "", "a kubeconfig", ROOT)?;
        let current = optional(&root, "current-context")?;
        let name = context.or(current).filter(|name| !name.is_empty()).ok_or_else(|| {
            config("1:1: it has no current context", "choose one: `kubectl config use-context NAME`")
        })?;
        let context = table(entry(&root, "contexts", "context", name)?, "context", "a context", CONTEXT)?;
        let cluster = entry(&root, "clusters", "cluster", &said(&context, "cluster")?)?;
        let cluster = table(cluster, "cluster", "a cluster", CLUSTER)?;
        let user = entry(&root, "users", "user", &said(&context, "user")?)?;
        let user = table(user, "user", "a user", USER)?;
        let namespace = optional(&context, "namespace")?.unwrap_or("default").to_owned();
        Ok(Self {
            server: server(&said(&cluster, "server")?)?,
            authority: data(&cluster, "certificate-authority", folder)?,
            login: login(&user, folder)?,
            namespace: named(namespace)?,
        })
    }
}

fn login(user: &TableReader<'_>, folder: &Path) -> Result<ClusterLogin, KubernetesError> {
    let certificate = data(user, "client-certificate", folder)?;
    let key = data(user, "client-key", folder)?;
    match (certificate, key, optional(user, "token")?, optional(user, "tokenFile")?) {
        (Some(certificate), Some(key), None, None) => Ok(ClusterLogin::Certificate { certificate, key }),
        (None, None, Some(token), None) => Ok(ClusterLogin::Token(token.to_owned())),
        (None, None, None, Some(path)) => Ok(ClusterLogin::TokenFile(folder.join(path))),
        _ => Err(config(
            "1:1: its user has neither a certificate with its key nor a token, or has several of them",
            NEW_TOKEN,
        )),
    }
}

/// The address of a server to which a token may be sent: it cannot be read on the way.
fn server(address: &str) -> Result<String, KubernetesError> {
    let address = address.trim_end_matches('/');
    let is_plain = address.bytes().all(|byte| byte.is_ascii_graphic() && !b"@?#\\".contains(&byte));
    let is_safe = match address.split_once("://") {
        Some(("https", rest)) => !rest.is_empty() && !rest.starts_with(['/', ':']),
        Some(("http", rest)) => matches!(rest.split(['/', ':']).next(), Some("127.0.0.1" | "localhost")),
        _ => false,
    };
    if is_safe && is_plain {
        return Ok(address.to_owned());
    }
    let why = format!(
        "the token is not sent to {}: the URL is neither https nor on this machine",
        stockade_text::escape(address)
    );
    Err(config(why, "use an https URL"))
}

fn named(namespace: String) -> Result<String, KubernetesError> {
    if super::name::is_label(&namespace, 63) {
        return Ok(namespace);
    }
    let why = format!("invalid name of a namespace: {}", stockade_text::escape(&namespace));
    Err(config(why, "use an existing namespace: `kubectl get namespaces`"))
}

/// Reads a table, and says of what is refused why.
fn table<'n>(
    node: &'n Node,
    key: &str,
    name: &'static str,
    known: &'static [&'static str],
) -> Result<TableReader<'n>, KubernetesError> {
    if let Value::Table(entries) = &node.value {
        for entry in entries {
            let row = REFUSED.iter().find(|row| row.0 == entry.key && !known.contains(&row.0));
            let is_off = matches!(entry.node.value, Value::Nothing | Value::Flag(false));
            if let Some((key, why, fix)) = row.filter(|_| !is_off) {
                return Err(config(format!("{}: `{key}`: {why}", entry.at), fix));
            }
        }
        // What is switched off says nothing.
        let is_known = |key: &str| known.contains(&key) || REFUSED.iter().any(|row| row.0 == key);
        if let Some(entry) = entries.iter().find(|entry| !is_known(&entry.key)) {
            let key = stockade_text::escape(&entry.key);
            let why = format!("{}: {name} has no key `{key}` that this program knows", entry.at);
            return Err(config(why, "remove the line, or fix its spelling"));
        }
    }
    TableReader::new(node, key, name, known).map_err(|error| wrong(&error))
}

fn wrong(error: &SchemaError) -> KubernetesError {
    config(error.to_string(), "fix the cause in the message")
}

fn optional<'n>(table: &TableReader<'n>, key: &'static str) -> Result<Option<&'n str>, KubernetesError> {
    let text =
        table.get(key).map(stockade_text::TableEntry::text).transpose().map_err(|error| wrong(&error))?;
    Ok(text.filter(|text| !text.is_empty()))
}

fn said(table: &TableReader<'_>, key: &'static str) -> Result<String, KubernetesError> {
    let missing = || config(format!("1:1: `{key}` is missing"), "add it to the kubeconfig");
    optional(table, key)?.map(str::to_owned).ok_or_else(missing)
}

/// The entry of a list that has this name. Two with the same name are ambiguous.
fn entry<'n>(
    root: &TableReader<'n>,
    list: &'static str,
    key: &'static str,
    name: &str,
) -> Result<&'n Node, KubernetesError> {
    let shown = stockade_text::escape(name);
    let missing = || {
        let why = format!("1:1: it has no {key} called `{shown}`");
        config(why, "use an existing one: `kubectl config get-contexts`")
    };
    let listed = root.get(list).ok_or_else(missing)?;
    let Value::List(entries) = &listed.node.value else { return Err(missing()) };
    let mut found = None;
    for one in entries {
        let reader = table(one, list, "an entry", NAMED)?;
        if optional(&reader, "name")? == Some(name) && found.replace(reader).is_some() {
            return Err(config(format!("{}: duplicate name `{shown}`", one.at), "rename one of them"));
        }
    }
    found.and_then(|reader| reader.get(key)).map(|entry| &entry.node).ok_or_else(missing)
}

/// The content in the document itself, or in a file that it names.
fn data(
    table: &TableReader<'_>,
    key: &'static str,
    folder: &Path,
) -> Result<Option<Vec<u8>>, KubernetesError> {
    let inline = match key {
        "certificate-authority" => "certificate-authority-data",
        "client-certificate" => "client-certificate-data",
        _ => "client-key-data",
    };
    match (optional(table, inline)?, optional(table, key)?) {
        (Some(_), Some(_)) => {
            Err(config(format!("1:1: it has both `{key}` and `{inline}`"), "remove one of the lines"))
        }
        (Some(text), None) => {
            let text: String = text.split_whitespace().collect();
            let bytes = STANDARD.decode(text);
            bytes
                .map(Some)
                .map_err(|_| config(format!("1:1: `{inline}` is not valid base64"), "write it with kubectl"))
        }
        (None, Some(path)) => file(&folder.join(path)).map(Some),
        (None, None) => Ok(None),
    }
}

fn file(path: &Path) -> Result<Vec<u8>, KubernetesError> {
    use std::io::Read as _;
    let failed = |error: std::io::Error| {
        let why = format!("{} cannot be read: {error}", path.display());
        config(why, "set KUBECONFIG to a kubeconfig, and check that the files in it exist")
    };
    let mut bytes = Vec::new();
    let mut from = std::fs::File::open(path).map_err(failed)?.take(MAX_FILE.max(MAX_CONFIG as u64) + 1);
    from.read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > MAX_CONFIG {
        return Err(config(format!("{} is too long", path.display()), "name a kubeconfig"));
    }
    Ok(bytes)
}
