//! What is required of a sandbox, held against what it enforces.

use std::collections::BTreeSet;

use crate::enforcement::{Enforcement, Property};
use crate::refusal::{Refusal, SandboxRule, What};

/// Returns why what is wanted cannot be promised, if something is missing.
pub(crate) fn require(wanted: &BTreeSet<Property>, enforcement: &Enforcement) -> Result<(), Refusal> {
    // Whether limits hold is known when they have been set.
    let later = [
        Property::Memory,
        Property::TotalMemory,
        Property::ProcessCount,
        Property::Priority,
        Property::Processors,
        Property::Disk,
    ];
    let missing = wanted.iter().find(|one| !enforcement.holds(**one) && !later.contains(one));
    let Some(property) = missing else { return Ok(()) };
    let refusal = cannot_enforce(*property);
    // Whoever promises less says why.
    let gap = enforcement.gaps.iter().find(|gap| gap.property == *property);
    Err(gap.map_or(refusal.clone(), |gap| Refusal { rule: SandboxRule::CannotEnforce(gap.why), ..refusal }))
}

/// Returns why a property cannot be enforced on this machine, and what would change that.
pub(crate) fn cannot_enforce(property: Property) -> Refusal {
    let why = match property {
        Property::SystemCalls => "there is no filter of system calls for this kernel or architecture",
        Property::SecondWall => "this kernel has no Landlock",
        Property::Memory | Property::TotalMemory | Property::ProcessCount | Property::Priority => {
            "no control group may be made here"
        }
        Property::ProtectedNames => "it was switched off",
        Property::Processors => "no number of processors was named",
        Property::Disk => "file systems are only looked at, and what others write counts as well",
        Property::NoSpawn => "it was not asked for",
        _ => "user namespaces cannot be made here",
    };
    let fix = match property {
        Property::Memory | Property::TotalMemory | Property::ProcessCount | Property::Priority => {
            "start it as root, or delegate a control group to this user"
        }
        Property::ProtectedNames => "let it be protected, or do not require it",
        Property::Processors => "name a number of processors",
        Property::Disk => "let the workspace lie on a file system of its own, or do not require it",
        Property::NoSpawn => "ask for it, and choose the native backend",
        _ => {
            "use a kernel that permits it: sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns"
        }
    };
    Refusal::new(What::Property(property), SandboxRule::CannotEnforce(why), fix)
}
