//! Results of `stockade check`.

use serde::Serialize;

/// The decision about one argument.
#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    /// The argument: a tool, path or host.
    pub(crate) name: String,
    pub(crate) decision: Decision,
    /// The kind of refusal, as documented.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The deciding rule, as a sentence.
    pub(crate) rule: String,
    /// The resolved path, if it differs.
    #[serde(rename = "realPath", skip_serializing_if = "Option::is_none")]
    pub(crate) real_path: Option<String>,
    /// Restrictions of a tool's arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) limits: Vec<String>,
    /// Changes that together would allow it, each as narrow as possible.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) fixes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Decision {
    Allow,
    Ask,
    Deny,
}
