//! What `stockade check` answers.

use serde::Serialize;

/// What was decided about one thing.
#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    /// The tool, or the path as it was typed.
    pub(crate) name: String,
    pub(crate) decision: Decision,
    /// The kind of refusal, in the words of the documents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// What decided, in a sentence.
    pub(crate) rule: String,
    /// Where a path really leads, when that is elsewhere.
    #[serde(rename = "realPath", skip_serializing_if = "Option::is_none")]
    pub(crate) real_path: Option<String>,
    /// What its arguments must keep to, for a tool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) limits: Vec<String>,
    /// The changes that together would allow it, each as narrow as can be.
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
