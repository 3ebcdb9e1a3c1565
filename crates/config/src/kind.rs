//! Types of configuration values.

use serde_json::{Value as Json, json};

use stockade_egress::RefusalTexts;
use stockade_exec_sandbox::{SandboxBackend, backend_option};
use stockade_text::nearest;

/// The beginnings of a proxy's address.
const PROXIES: &[&str] = &["http://", "socks5://", "socks5h://"];

/// The beginnings of a source of secrets.
const SOURCES: &[&str] = &["env:", "file:/", "json:/", "cmd:", "keyring:"];

/// Schemes of a server's address.
const ADDRESSES: &[&str] = &["redis://", "unix://"];

/// The type of a key's value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// A boolean: `true` or `false`.
    Flag,
    /// An integer within these bounds.
    Count { least: u64, most: u64 },
    /// An integer within these bounds, or null for no limit.
    OptionalCount { least: u64, most: u64 },
    /// US dollars, or null for no limit.
    Money,
    /// One of these words. If they are ordered, the last one is the strictest.
    Word(&'static [&'static str]),
    /// One of these words, or null.
    OptionalWord(&'static [&'static str]),
    /// True, false, or null.
    OptionalFlag,
    /// The address of a Redis server, or null.
    OptionalAddress,
    /// The address of a proxy, `none`, or null.
    OptionalProxy,
    /// A source of secrets, or null.
    OptionalSource,
    /// The name of a container image or runtime, or null.
    OptionalName,
    /// The name of a backend.
    Backend,
    /// A list of strings `NAME=VALUE`.
    Options,
    /// A list of strings.
    Texts,
    /// A list of strings `RULE: TEXT` or `HOST: TEXT`.
    Messages,
    /// A list of absolute paths.
    Paths,
    /// An absolute path, or null.
    OptionalPath,
    /// Rules for commands, which `rules` parses.
    Rules,
    /// A list of absolute paths of rule files, which `rules` reads.
    RuleFiles,
}

impl Kind {
    /// Returns why a value does not have this type, and what to write instead.
    pub(crate) fn check(self, value: &Json) -> Result<(), String> {
        let fits = match (self, value) {
            (Self::Flag | Self::OptionalFlag, Json::Bool(_))
            | (
                Self::OptionalCount { .. }
                | Self::Money
                | Self::OptionalPath
                | Self::OptionalWord(_)
                | Self::OptionalFlag
                | Self::OptionalAddress
                | Self::OptionalProxy
                | Self::OptionalSource
                | Self::OptionalName,
                Json::Null,
            ) => true,
            (Self::Count { least, most } | Self::OptionalCount { least, most }, Json::Number(number)) => {
                number.as_u64().is_some_and(|number| (least..=most).contains(&number))
            }
            (Self::Money, Json::Number(number)) => {
                number.as_f64().is_some_and(|dollars| (0.0..=1e9).contains(&dollars))
            }
            (Self::Word(words) | Self::OptionalWord(words), Json::String(word)) => {
                words.contains(&word.as_str())
            }
            (Self::OptionalAddress, Json::String(url)) => {
                ADDRESSES.iter().any(|start| url.starts_with(start))
            }
            // A login belongs into a source of secrets, not into a file that others read.
            (Self::OptionalProxy, Json::String(url)) => {
                url == "none" || (PROXIES.iter().any(|start| url.starts_with(start)) && !url.contains('@'))
            }
            (Self::OptionalSource, Json::String(source)) => {
                SOURCES.iter().any(|start| source.starts_with(start))
            }
            (Self::OptionalName, Json::String(name)) => is_name(name),
            (Self::Backend, Json::String(name)) => SandboxBackend::from_name(name).is_some(),
            (Self::Options, Json::Array(list)) => {
                list.iter().all(|text| text.as_str().and_then(backend_option).is_some())
            }
            (Self::Texts, Json::Array(list)) => list.iter().all(Json::is_string),
            (Self::Messages, Json::Array(list)) => {
                list.iter().all(|text| text.as_str().is_some_and(RefusalTexts::is_entry))
            }
            (Self::Paths | Self::RuleFiles, Json::Array(list)) => list.iter().all(is_path),
            (Self::OptionalPath, path) => is_path(path),
            (Self::Rules, Json::Array(list)) => list.iter().all(Json::is_object),
            _ => false,
        };
        if fits {
            return Ok(());
        }
        let hint = match (self, value) {
            (Self::Word(words) | Self::OptionalWord(words), Json::String(word)) => {
                nearest(word, words.iter().copied())
                    .map(|near| format!("; did you mean `{near}`?"))
                    .unwrap_or_default()
            }
            _ => String::new(),
        };
        Err(format!("expected {}{hint}", self.words()))
    }

    /// Returns what it holds, in words.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Count { least, most } => format!("a whole number from {least} to {most}"),
            Self::OptionalCount { least, most } => format!("a whole number from {least} to {most}, or null"),
            Self::Money => "dollars, such as 2.5, or null".to_owned(),
            Self::Word(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                format!("one of {}", words.join(", "))
            }
            Self::OptionalWord(words) => format!("{}, or null", Self::Word(words).words()),
            Self::OptionalFlag => "true, false, or null".to_owned(),
            Self::OptionalAddress => {
                "an address such as `redis://host:6379/0` or `unix:///run/redis.sock`, or null".to_owned()
            }
            Self::OptionalProxy => {
                "`http://HOST:PORT` or `socks5h://HOST:PORT` without a login, `none`, or null".to_owned()
            }
            Self::OptionalSource => {
                "a source such as `env:NAME`, `file:/PATH` or `cmd:PROGRAM`, or null".to_owned()
            }
            Self::OptionalName => "a name of letters, digits and `.-_/:@`, or null".to_owned(),
            Self::Backend => {
                let words: Vec<String> =
                    SandboxBackend::ALL.iter().map(|one| format!("`{}`", one.name())).collect();
                format!("{}, or the name of another backend", words.join(", "))
            }
            Self::Options => "a list of strings `NAME=VALUE`".to_owned(),
            Self::Texts => "a list of strings".to_owned(),
            Self::Messages => "a list of strings `RULE: TEXT` or `HOST: TEXT`, each in one line".to_owned(),
            Self::Paths => "a list of absolute paths".to_owned(),
            Self::OptionalPath => "an absolute path, or null".to_owned(),
            Self::Rules => "a list of rules, in the format of rule files".to_owned(),
            Self::RuleFiles => "a list of absolute paths of rule files".to_owned(),
        }
    }

    /// Returns the same as a JSON Schema.
    pub(crate) fn schema(self) -> Json {
        match self {
            Self::Flag => json!({ "type": "boolean" }),
            Self::Count { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
            Self::OptionalCount { least, most } => {
                json!({ "type": ["integer", "null"], "minimum": least, "maximum": most })
            }
            Self::Money => json!({ "type": ["number", "null"], "minimum": 0 }),
            Self::Word(words) => json!({ "enum": words }),
            Self::OptionalWord(words) => {
                json!({ "enum": words.iter().map(|word| json!(word)).chain([Json::Null]).collect::<Vec<_>>() })
            }
            Self::OptionalFlag => json!({ "type": ["boolean", "null"] }),
            Self::OptionalAddress => json!({ "type": ["string", "null"], "pattern": "^(redis|unix)://" }),
            Self::OptionalProxy => {
                json!({ "type": ["string", "null"], "pattern": "^(none$|(http|socks5|socks5h)://[^@]*$)" })
            }
            Self::OptionalSource => {
                json!({ "type": ["string", "null"], "pattern": "^(env|file|json|cmd|keyring):" })
            }
            Self::OptionalName => {
                json!({ "type": ["string", "null"], "pattern": "^[A-Za-z0-9][A-Za-z0-9._/:@-]*$" })
            }
            Self::Backend => json!({ "type": "string", "pattern": "^[a-z][a-z0-9-]{0,30}$" }),
            Self::Options => {
                json!({ "type": "array", "items": { "type": "string", "pattern": "^[A-Za-z][A-Za-z0-9._-]{0,63}=" } })
            }
            Self::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Self::Messages => {
                json!({ "type": "array", "items": { "type": "string", "pattern": "^[A-Za-z0-9._*-]+: ." } })
            }
            Self::Paths | Self::RuleFiles => {
                json!({ "type": "array", "items": { "type": "string", "pattern": "^/" } })
            }
            Self::OptionalPath => json!({ "type": ["string", "null"], "pattern": "^/" }),
            Self::Rules => {
                json!({ "type": "array", "items": { "type": "object", "required": ["id", "decision"] } })
            }
        }
    }

    /// Reads a value from a variable or an option, where everything is text: JSON, or a plain word or list.
    pub(crate) fn of_text(self, text: &str) -> Json {
        let plain = || Json::String(text.to_owned());
        match self {
            Self::Word(_) | Self::Backend => plain(),
            Self::OptionalPath
            | Self::OptionalWord(_)
            | Self::OptionalAddress
            | Self::OptionalProxy
            | Self::OptionalSource
            | Self::OptionalName => match text {
                "null" => Json::Null,
                _ => plain(),
            },
            Self::Texts | Self::Options | Self::Paths | Self::RuleFiles
                if !text.trim_start().starts_with('[') =>
            {
                let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
                items.map(|item| Json::String(item.to_owned())).collect()
            }
            _ => serde_json::from_str(text).unwrap_or_else(|_| plain()),
        }
    }
}

/// Whether this is a valid name that no program parses as an option.
fn is_name(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._/:@-".contains(&byte);
    name.starts_with(|first: char| first.is_ascii_alphanumeric()) && name.bytes().all(letter)
}

/// Whether a value is an absolute path without `..`, so that what it allows never depends on a working directory.
fn is_path(value: &Json) -> bool {
    let Some(path) = value.as_str() else { return false };
    path.starts_with('/') && !path.contains('\0') && path.split('/').all(|name| name != "..")
}
