//! Whether conditions hold for a request.

/// Whether conditions hold for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    Yes,
    No,
    /// Servers could read this part in more than one way.
    Ambiguous(Part),
}

/// What conditions look at besides the method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Path,
    Query,
}
