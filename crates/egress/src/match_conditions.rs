//! Results of matching conditions against requests.

/// Whether a request meets conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    Yes,
    No,
    /// This part of the request is ambiguous.
    Ambiguous(Part),
}

/// A part of a request other than the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Path,
    Query,
}
