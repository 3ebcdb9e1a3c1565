//! Why there is no value.

use std::fmt;

use crate::Data;

/// Where in the source something stands, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourceSpan {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The source is no expression of the language.
    Syntax,
    /// A name means nothing here.
    Reference,
    /// A value is not of the kind that is needed.
    Type,
    /// Too many steps, past the deadline, or a promise that nothing will settle.
    Timeout,
    /// More bytes than allowed: of source, of values or of the result.
    Memory,
    /// Nested too deeply: the source, the calls or the data.
    Depth,
    /// It reaches for what is not there on purpose: prototypes, constructors, code from text, the host.
    Forbidden,
    /// The expression threw something itself, or a built-in function refused its arguments.
    Thrown,
}

impl ErrorKind {
    /// The name as programs read it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Reference => "reference",
            Self::Type => "type",
            Self::Timeout => "timeout",
            Self::Memory => "memory",
            Self::Depth => "depth",
            Self::Forbidden => "forbidden",
            Self::Thrown => "thrown",
        }
    }

    /// Whether a limit was hit: then nobody knows what the value would have been.
    #[must_use]
    pub fn is_limit(self) -> bool {
        matches!(self, Self::Timeout | Self::Memory | Self::Depth)
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why there is no value: plain data, without a way back into the evaluation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct EvalError {
    /// What kind of failure it is.
    pub kind: ErrorKind,
    /// What happened.
    pub message: String,
    /// Where in the source.
    pub span: Option<SourceSpan>,
    /// The smallest change that mends it, where one is known.
    pub fix: Option<String>,
    /// What was thrown, where the expression threw it.
    pub thrown: Option<Data>,
}

impl EvalError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), span: None, fix: None, thrown: None }
    }

    pub(crate) fn at(self, span: SourceSpan) -> Self {
        Self { span: Some(self.span.unwrap_or(span)), ..self }
    }

    pub(crate) fn fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }
}
