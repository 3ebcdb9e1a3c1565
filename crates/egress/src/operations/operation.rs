//! One operation of a body, and the reasons why operations are not known.

/// Maximum number of operations in an entry, and in a body.
pub(super) const MAX_OPERATIONS: usize = 64;

/// An operation: `mutation:addStar`, `tools/call:search`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Operation {
    /// The kind of an operation of GraphQL, or the method of a call.
    pub(super) kind: String,
    /// The field at the root, or the name or address that a call is about.
    pub(super) name: Option<String>,
}

/// Maximum number of characters of an operation in a record.
const MAX_SHOWN_CHARS: usize = 100;

impl Operation {
    pub(super) fn shown(&self) -> String {
        let whole = self.name.iter().fold(self.kind.clone(), |kind, name| format!("{kind}:{name}"));
        whole.chars().take(MAX_SHOWN_CHARS).collect()
    }

    /// Returns it as an item of a condition.
    pub(super) fn written(&self) -> Option<String> {
        let is_writable = |text: &str| {
            !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() && !b"|*".contains(&byte))
        };
        let is_plain = is_writable(&self.kind) && !self.kind.contains(':');
        let name = self.name.as_deref().is_none_or(is_writable);
        (is_plain && name).then(|| match &self.name {
            Some(name) => format!("{}:{name}", self.kind),
            None => self.kind.clone(),
        })
    }
}

/// Why the operations of a body are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Unread {
    /// It is not declared as JSON in UTF-8, without compression.
    Kind,
    /// It is not a JSON object, or an array of them.
    Json,
    /// A member occurs twice, or in a spelling that some servers take for it.
    Twice,
    /// It has a member that such requests do not have.
    Unknown,
    /// It names a stored query instead of containing one.
    Stored,
    /// Its query is not valid GraphQL.
    Graphql,
    TooMany,
}

impl Unread {
    /// Returns the reason of a refusal, with what to do.
    pub(in super::super) const fn words(self) -> &'static str {
        match self {
            Self::Kind => {
                "an entry has conditions on operations, and its body is not declared as JSON; send it with \
                 `content-type: application/json` and without compression"
            }
            Self::Json => {
                "an entry has conditions on operations, and its body is not a JSON object or an array of objects"
            }
            Self::Twice => {
                "an entry has conditions on operations, and a member of its body occurs twice or in capitals, which \
                 servers read differently; send each once"
            }
            Self::Unknown => {
                "an entry has conditions on operations, and its body has members that such requests do not have, which \
                 a server may obey instead; leave them out"
            }
            Self::Stored => {
                "an entry has conditions on operations, and its body names a stored query; send the query itself"
            }
            Self::Graphql => "an entry has conditions on operations, and its `query` is not valid GraphQL",
            Self::TooMany => {
                "an entry has conditions on operations, and its body has more than 64; send them in several requests"
            }
        }
    }
}
