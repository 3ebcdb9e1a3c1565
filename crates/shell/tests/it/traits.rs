//! Auto traits that users rely on.

use stockade_shell::{Actions, ReadError, ReadOptions, Script};

#[test]
fn types_can_be_shared_between_threads() {
    fn is_shared<T: Send + Sync + std::fmt::Debug + Clone>() {}
    is_shared::<Script<'_>>();
    is_shared::<Actions<'_>>();
    is_shared::<ReadOptions>();
    is_shared::<ReadError>();
}
