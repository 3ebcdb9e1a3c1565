//! What a manifest says, once it has been read.

use std::fmt;
use stockade_text::to_hex;

use serde::Serialize;
use sha3::{Digest as _, Keccak256};

use super::problem::ManifestErrors;
use super::read::read;

/// A manifest whose every field is as the schema wants it. That says nothing about who signed it.
///
/// The fields here and below stand in the order of their names, which is that of the canonical text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerManifest {
    pub(super) files: Vec<DeclaredFile>,
    pub(super) name: String,
    pub(super) permissions: Permissions,
    pub(super) publisher: Publisher,
    pub(super) sandbox: SandboxLimits,
    #[serde(skip)]
    pub(super) signature: [u8; 65],
    pub(super) version: &'static str,
}

/// A file of a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DeclaredFile {
    /// Where it lies, below the folder of the package.
    pub path: String,
    /// The SHA-256 of what is in it, as 64 hexadecimal digits.
    pub sha256: String,
}

/// What the package may ask the wallet for. The container itself has no network and no files of the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Permissions {
    /// Numbers of chains.
    pub chains: Vec<u64>,
    pub(super) filesystem_access: bool,
    pub(super) network_access: bool,
    /// Transactions, such as `transfer`.
    pub tx_actions: Vec<String>,
}

/// Who answers for a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Publisher {
    /// The address of the key that signs, as it is written.
    pub address: String,
    /// An e-mail address.
    pub contact: String,
    /// A name for people. Anybody can write any name.
    pub name: String,
}

/// How much a package may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SandboxLimits {
    /// Whether it may start other programs.
    pub allow_spawn: bool,
    /// Megabytes of memory, 1 to 512.
    pub memory_mb: u64,
    /// Milliseconds, 1000 to 60000.
    pub timeout_ms: u64,
}

/// The Keccak-256 of a manifest's canonical text: what is signed. It is shown as `0x` and 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ManifestHash(pub(super) [u8; 32]);

impl ContainerManifest {
    /// Reads a manifest. `is_visible` says whether a person sees every character of a path, which is for a reader of text to
    /// know.
    ///
    /// # Errors
    /// Everything that is wrong with it. A field that the schema does not know is wrong, at every level.
    pub fn parse(text: &str, is_visible: fn(&str) -> bool) -> Result<Self, ManifestErrors> {
        read(text, is_visible)
    }

    /// Returns the text that is hashed: by RFC 8785, without spaces, keys in their order, and without the signature.
    #[must_use]
    pub fn canonical(&self) -> String {
        // Texts and whole numbers are written by serde_json as RFC 8785 wants them, and there are no others.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the hash that is signed.
    #[must_use]
    pub fn hash(&self) -> ManifestHash {
        ManifestHash(Keccak256::digest(self.canonical().as_bytes()).into())
    }

    /// Returns the name of the package: lower-case letters, digits and hyphens.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns who says to have published it; [`signer`](Self::signer) says whether that is so.
    #[must_use]
    pub const fn publisher(&self) -> &Publisher {
        &self.publisher
    }

    /// Returns what it may ask the wallet for.
    #[must_use]
    pub const fn permissions(&self) -> &Permissions {
        &self.permissions
    }

    /// Returns how much it may use.
    #[must_use]
    pub const fn sandbox(&self) -> &SandboxLimits {
        &self.sandbox
    }

    /// Returns the files of the package.
    #[must_use]
    pub fn files(&self) -> &[DeclaredFile] {
        &self.files
    }
}

impl fmt::Display for ManifestHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{}", to_hex(&self.0))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    use super::ContainerManifest;

    /// A manifest with nothing wrong but its signature.
    pub(crate) fn sample() -> Value {
        json!({
            "version": "1",
            "name": "example-transfer-skill",
            "publisher": {
                "name": "Publisher",
                "address": "0x1234567890abcdef1234567890abcdef12345678",
                "contact": "publisher@example.com",
            },
            "permissions": {
                "txActions": ["transfer"], "chains": [8453], "networkAccess": false, "filesystemAccess": false,
            },
            "sandbox": { "memoryMb": 128, "timeoutMs": 10000, "allowSpawn": false },
            "files": [{ "path": "index.js", "sha256": "a".repeat(64) }],
            "signature": format!("0x{}", "ab".repeat(65)),
        })
    }

    fn parse(manifest: &Value) -> ContainerManifest {
        ContainerManifest::parse(&manifest.to_string(), |_| true).unwrap()
    }

    #[test]
    fn the_canonical_text_is_written_by_rfc_8785() {
        let mut manifest = sample();
        // The texts of the RFC's section 3.2.3, and a number in another spelling.
        manifest["publisher"]["name"] = json!("\u{20ac}$\u{000F}\nA'B\"\\\\\"/\u{7f}😀");
        manifest["sandbox"]["memoryMb"] = json!(128.0);
        let wanted = [
            r#"{"files":[{"path":"index.js","sha256":""#,
            &"a".repeat(64),
            r#""}],"name":"example-transfer-skill","permissions":{"chains":[8453],"filesystemAccess":false,"#,
            r#""networkAccess":false,"txActions":["transfer"]},"publisher":{"#,
            r#""address":"0x1234567890abcdef1234567890abcdef12345678","contact":"publisher@example.com","#,
            "\"name\":\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\u{7f}😀\"},",
            r#""sandbox":{"allowSpawn":false,"memoryMb":128,"timeoutMs":10000},"version":"1"}"#,
        ];
        assert_eq!(parse(&manifest).canonical(), wanted.concat());
    }

    #[test]
    fn keys_stand_in_their_order_at_every_level() {
        fn ordered(value: &Value, text: &str) {
            if let Value::Object(fields) = value {
                let mut names: Vec<&String> = fields.keys().collect();
                names.sort_by_key(|name| name.encode_utf16().collect::<Vec<_>>());
                let places: Vec<_> = names.iter().map(|name| text.find(&format!("\"{name}\":"))).collect();
                assert!(places.is_sorted() && places.iter().all(Option::is_some), "{names:?} {text}");
                fields.values().for_each(|value| ordered(value, text));
            }
        }
        let mut manifest = sample();
        let text = parse(&manifest).canonical().replace("\"name\":\"Publisher\"", "\"name\":");
        manifest.as_object_mut().unwrap().remove("signature");
        // `name` stands at two levels.
        manifest["publisher"].as_object_mut().unwrap().remove("name");
        ordered(&manifest, &text);
    }

    #[test]
    fn the_hash_is_that_of_everything_but_the_signature() {
        let hash = |manifest: &Value| parse(manifest).hash().to_string();
        let base = hash(&sample());
        assert!(base.strip_prefix("0x").is_some_and(|digits| digits.len() == 64), "{base}");
        let mut other = sample();
        other["signature"] = json!(format!("0x{}", "cd".repeat(65)));
        assert_eq!(hash(&other), base);
        for (field, value) in [
            ("/name", json!("other")),
            ("/publisher/name", json!("Other")),
            ("/publisher/contact", json!("other@example.com")),
            ("/permissions/txActions", json!([])),
            ("/permissions/chains", json!([1])),
            ("/sandbox/memoryMb", json!(129)),
            ("/sandbox/timeoutMs", json!(10001)),
            ("/sandbox/allowSpawn", json!(true)),
            ("/files/0/path", json!("main.js")),
            ("/files/0/sha256", json!("b".repeat(64))),
        ] {
            let mut other = sample();
            *other.pointer_mut(field).unwrap() = value;
            assert_ne!(hash(&other), base, "{field}");
        }
    }
}
