//! Errors of evaluations.

use std::fmt;

use crate::Data;

/// A range of bytes in the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourceSpan {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// Kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The source is not valid in the language.
    Syntax,
    /// An unknown name is used.
    Reference,
    /// A value is not of the kind that is needed.
    Type,
    /// Too many steps, a passed deadline, or a promise that can never be settled.
    Timeout,
    /// More bytes than allowed: of source, of values or of the result.
    Memory,
    /// Nested too deeply: the source, the calls or the data.
    Depth,
    /// A feature that is missing on purpose: prototypes, constructors, code from text, the host.
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

    /// Whether a limit was hit: the value is then unknown.
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

/// Error of an evaluation: plain data, without a reference to the evaluation.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct EvalError {
    /// Kind of the error.
    pub kind: ErrorKind,
    /// Description of the error.
    pub message: String,
    /// Where in the source.
    pub span: Option<SourceSpan>,
    /// The smallest change that fixes it, if known.
    pub fix: Option<String>,
    /// The thrown value, if the expression threw it.
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
