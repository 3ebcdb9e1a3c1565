//! What each kind of sandbox enforces, for operators who choose one. The table is computed from plans and what runs add.

use std::path::{Path, PathBuf};

use crate::choices::SandboxBackend;
use crate::container_request::EngineFacts;
use crate::enforcement::{Enforcement, Property};
use crate::host::{Entry, HostFacts, Kernel};
use crate::plan::plan;
use crate::refusal::Refusal;
use crate::run::limits_without_groups;
use crate::spec::SandboxSpec;

/// How one kind of sandbox enforces one property.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TierEnforcement {
    /// Enforced, by these means.
    Full(&'static str),
    /// Enforced by these means, with these gaps.
    Partial(&'static str, Vec<&'static str>),
    /// Not enforced, for these reasons; empty if it was not requested.
    None(Vec<&'static str>),
}

/// The kinds of sandboxes, strongest first.
const TIERS: [SandboxBackend; 4] =
    [SandboxBackend::Native, SandboxBackend::Bwrap, SandboxBackend::Landlock, SandboxBackend::Docker];

/// Returns how each kind of sandbox enforces each property: native, bubblewrap, Landlock, and a container.
///
/// The table assumes an ordinary user on a current machine without delegated control groups, a command with every limit, and an
/// engine with control groups of its own and an image that is named by its digest.
pub fn tier_table() -> Result<Vec<(Property, [TierEnforcement; 4])>, Refusal> {
    let [native, bwrap, landlock, container] = TIERS.map(promised);
    let all = [native?, bwrap?, landlock?, container?];
    let rows = Property::all()
        .map(|property| (property, [0, 1, 2, 3].map(|at| tier_enforcement(all.get(at), property))));
    Ok(rows.collect())
}

/// Returns what a sandbox of this kind enforces.
fn promised(backend: SandboxBackend) -> Result<Enforcement, Refusal> {
    let workspace = PathBuf::from("/home/u/work");
    let mut spec = SandboxSpec::new(&workspace, ["true"]);
    spec.backend = backend;
    spec.limits.processors = crate::Limit::AtMost(crate::Processors::ONE);
    spec.limits.disk = crate::Limit::AtMost(1 << 30);
    let digest = format!("sha256:{}", "0".repeat(64));
    spec.container.image = Some(digest.clone());
    let engine = EngineFacts::complete(digest);
    let facts = HostFacts {
        entries: [workspace, "/usr".into(), "/home/u".into()].map(|path| (path, Entry::Folder)).into(),
        home: "/home/u".into(),
        user: 1000,
        group: 1000,
        workspace_owner: Some((1000, 1000)),
        kernel: Kernel { namespaces: true, landlock: 6, seccomp: true, mediation: true },
        engine: Some(Ok(engine)),
        bubblewrap: Some(Path::new("/usr/bin/bwrap").into()),
        ..HostFacts::default()
    };
    let plan = plan(&spec, &facts)?;
    Ok(limits_without_groups(&plan))
}

fn tier_enforcement(enforcement: Option<&Enforcement>, property: Property) -> TierEnforcement {
    let Some(enforcement) = enforcement else { return TierEnforcement::None(Vec::new()) };
    let gaps = enforcement.gaps.iter().filter(|gap| gap.property == property).map(|gap| gap.why).collect();
    let means = enforcement.enforced.iter().find(|(enforced, _)| *enforced == property).map(|row| row.1);
    match means {
        Some(means) if Vec::is_empty(&gaps) => TierEnforcement::Full(means),
        Some(means) => TierEnforcement::Partial(means, gaps),
        None => TierEnforcement::None(gaps),
    }
}
