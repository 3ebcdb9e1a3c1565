//! What users of other crates rely on: values can be shared between threads and shown.

use stockade_exec_sandbox::host::HostFacts;
use stockade_exec_sandbox::{Enforcement, Outcome, Plan, Refusal, SandboxSpec};

fn is_ordinary<T: Send + Sync + Unpin + std::fmt::Debug + Clone>() {}

#[cfg(target_os = "linux")]
#[test]
fn a_pool_is_shared_between_threads() {
    fn is_shared<T: Send + Sync + Unpin + std::fmt::Debug>() {}
    is_shared::<stockade_exec_sandbox::SandboxPool>();
}

#[test]
fn values_are_ordinary() {
    is_ordinary::<SandboxSpec>();
    is_ordinary::<HostFacts>();
    is_ordinary::<Plan>();
    is_ordinary::<Refusal>();
    is_ordinary::<Outcome>();
    is_ordinary::<Enforcement>();
}
