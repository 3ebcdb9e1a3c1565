//! What users of other crates rely on: values can be shared between threads and shown.

use stockade_exec_sandbox::{Enforcement, HostFacts, Outcome, Plan, Refusal, SandboxSpec};

fn is_ordinary<T: Send + Sync + Unpin + std::fmt::Debug + Clone>() {}

#[test]
fn values_are_ordinary() {
    is_ordinary::<SandboxSpec>();
    is_ordinary::<HostFacts>();
    is_ordinary::<Plan>();
    is_ordinary::<Refusal>();
    is_ordinary::<Outcome>();
    is_ordinary::<Enforcement>();
}
