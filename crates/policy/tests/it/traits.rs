//! What users rely on without saying so.

use stockade_policy::access::Policy;
use stockade_policy::{Ask, Sandbox, SkillTools, ToolGuard, ToolPolicy, Verdict, Violation};

#[test]
fn types_can_be_shared_between_threads() {
    fn is_shared<T: Send + Sync + std::fmt::Debug + Clone>() {}
    is_shared::<ToolPolicy>();
    is_shared::<SkillTools>();
    is_shared::<Sandbox>();
    is_shared::<ToolGuard>();
    is_shared::<Policy>();
    is_shared::<Verdict>();
    is_shared::<Ask>();
    is_shared::<Violation>();
}
