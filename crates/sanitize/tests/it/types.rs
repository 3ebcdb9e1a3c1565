//! Auto traits that users rely on.

use std::fmt::Debug;
use std::panic::{RefUnwindSafe, UnwindSafe};

use stockade_sanitize::{
    InvisibleStripped, Joiners, Note, SanitizeOptions, Sanitized, WithoutComments, WithoutInvisible, sanitize,
};

fn has_the_usual_traits<T: Clone + Debug + Eq + Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}

#[test]
fn every_type_can_be_printed_compared_and_sent() {
    has_the_usual_traits::<SanitizeOptions>();
    has_the_usual_traits::<Joiners>();
    has_the_usual_traits::<Sanitized<'_>>();
    has_the_usual_traits::<InvisibleStripped>();
    has_the_usual_traits::<WithoutComments<'_>>();
    has_the_usual_traits::<WithoutInvisible<'_>>();
    has_the_usual_traits::<Note>();
}

#[test]
fn the_limit_is_20_000_characters_by_default() {
    let text = "é".repeat(20_001);
    let clean = sanitize(&text, &SanitizeOptions::default());
    assert!(clean.truncated);
    assert_eq!(clean.body, format!("{}\n[TRUNCATED]", "é".repeat(20_000)));
    assert!(!sanitize(&"é".repeat(20_000), &SanitizeOptions::default()).changed());
}
