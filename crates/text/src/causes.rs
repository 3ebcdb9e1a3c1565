//! Formatting of errors with their causes.

/// Returns an error and its causes as one sentence. Causes that a message already includes are not repeated.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source()).map(ToString::to_string);
    let (mut text, mut last) = (error.to_string(), error.to_string());
    for cause in causes {
        if !text.ends_with(&cause) && !cause.ends_with(&last) {
            text = format!("{text}: {cause}");
        }
        last = cause;
    }
    text
}
