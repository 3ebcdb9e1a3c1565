//! `sandbox.plan`: plans a sandbox without running anything.

mod host;
pub(super) mod spec;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stockade_guard::exec::host::HostFacts;
use stockade_guard::exec::patch::SpecPatch;
use stockade_guard::exec::provider::Provider;
use stockade_guard::exec::seatbelt::{SANDBOX_EXEC, seatbelt_plan};
use stockade_guard::exec::{
    Enforcement, Plan, Property, Refusal, SandboxBackend, SandboxSpec, What, bwrap_arguments, plan,
};

use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::fault::{self, Fault};
use host::Host;
use spec::{Unsaid, backend_named, spec_of};

/// Plan a sandbox. Defaults for members missing in `spec` are those of document 001: an open network and visible caches of the
/// home, which `warnings` reports. `exec` denies both by default.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PlanSandbox {
    /// The sandbox spec.
    spec: SpecPatch,
    /// The machine to plan for; this one by default.
    host_facts: Option<Host>,
    /// `native`, which needs nothing installed, `bwrap`, `landlock`, `docker` or `podman`; for a Mac, `seatbelt`. By default
    /// `bwrap` if `hostFacts` contains it, otherwise the first that enforces what is required.
    backend: Option<String>,
    /// The command; `/bin/bash` by default.
    command: Option<Vec<String>>,
}

/// The planned sandbox, with its arguments.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Planned {
    backend: String,
    /// The program to start: bubblewrap, `sandbox-exec`, or the command itself.
    program: String,
    /// Its arguments.
    argv: Vec<String>,
    /// Its complete environment.
    env: BTreeMap<String, String>,
    /// The mounts, in order, each with a reason. On a Mac nothing is mounted: the profile in the arguments has the rules.
    mounts: Vec<Mounted>,
    /// Whether system calls are filtered.
    seccomp: bool,
    enforcement: Enforced,
    warnings: Vec<String>,
}

/// A mount in the sandbox.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Mount")]
struct Mounted {
    target: String,
    /// The content of the mount and the kind of access, in words.
    what: String,
    reason: &'static str,
}

/// What is enforced, and what is not.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Enforcement")]
pub(super) struct Enforced {
    enforced: Vec<EnforcedProperty>,
    gaps: Vec<UnenforcedProperty>,
}

/// A property that the sandbox enforces.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EnforcedProperty")]
struct EnforcedProperty {
    property: String,
    means: String,
}

/// A property that is not enforced, or only in part.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EnforcementGap")]
struct UnenforcedProperty {
    property: String,
    why: String,
}

impl Parameters for PlanSandbox {
    const METHOD: &'static str = "sandbox.plan";
    const LANE: Lane = Lane::Work;
    type Answer = Planned;

    fn answer(mut self, _: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let command = self.command.take().unwrap_or_else(|| vec!["/bin/bash".to_owned()]);
        let home = self.spec.home.take();
        let (mut spec, warnings) = spec_of(self.spec, command, Unsaid::Open)?;
        if let Some(host) = self.host_facts.take_if(|host| host.is_mac()) {
            return on_a_mac(self.backend.as_deref(), &spec, &host.facts(&spec, home)?, warnings);
        }
        let has_bwrap = self.host_facts.as_ref().is_some_and(Host::has_bwrap);
        if self.backend.is_some() || spec.backend == SandboxBackend::Auto {
            spec.backend = backend(self.backend.as_deref(), has_bwrap)?;
        }
        let planned = match self.host_facts {
            Some(host) => plan(&spec, &host.facts(&spec, home)?),
            None => plan_here(&spec, &host::this(&spec, home)?),
        };
        let plan = planned.map_err(|refusal| refused(&refusal))?;
        let (program, argv) = match &plan.provider {
            Provider::Bwrap { program } => (program.clone().into_os_string(), bwrap_arguments(&plan)),
            _ => (plan.program.clone(), plan.arguments.clone()),
        };
        Ok(Json::of(&Planned {
            backend: plan.provider.name().to_owned(),
            program: text(&program),
            argv: argv.iter().map(|word| text(word)).collect(),
            env: variables(&plan.environment),
            mounts: mounts(&plan),
            seccomp: plan.enforcement.holds(Property::SystemCalls),
            enforcement: Enforced::of(&plan.enforcement),
            warnings,
        }))
    }
}

/// Plans for this machine, with the backends of this program.
#[cfg(target_os = "linux")]
fn plan_here(spec: &SandboxSpec, facts: &HostFacts) -> Result<Plan, Refusal> {
    stockade_guard::exec::backends().plan(spec, facts)
}

#[cfg(not(target_os = "linux"))]
fn plan_here(spec: &SandboxSpec, facts: &HostFacts) -> Result<Plan, Refusal> {
    plan(spec, facts)
}

/// The only backend on a Mac.
const SEATBELT: &str = "seatbelt";

fn on_a_mac(
    requested: Option<&str>,
    spec: &SandboxSpec,
    facts: &HostFacts,
    warnings: Vec<String>,
) -> Result<Json, Fault> {
    if let Some(other) = requested.filter(|requested| !["auto", SEATBELT].contains(requested)) {
        return Err(Fault::new(
            fault::NO_SANDBOX,
            format!("no plan is made for `{other}` on macos; there is {SEATBELT}"),
        ));
    }
    let plan = seatbelt_plan(spec, facts).map_err(|refusal| refused(&refusal))?;
    Ok(Json::of(&Planned {
        backend: SEATBELT.to_owned(),
        program: SANDBOX_EXEC.to_owned(),
        argv: plan.sandbox_exec_arguments().iter().map(|word| text(word)).collect(),
        env: variables(&plan.environment),
        mounts: Vec::new(),
        seccomp: false,
        enforcement: Enforced::of(&plan.enforcement),
        warnings,
    }))
}

fn text(text: &OsStr) -> String {
    text.to_string_lossy().into_owned()
}

fn variables(variables: &[(OsString, OsString)]) -> BTreeMap<String, String> {
    variables.iter().map(|(name, value)| (text(name), text(value))).collect()
}

/// Backends of other systems, which clients may name.
const NOT_HERE: &[&str] = &[SEATBELT];

fn backend(requested: Option<&str>, has_bwrap: bool) -> Result<SandboxBackend, Fault> {
    let usual = if has_bwrap { SandboxBackend::Bwrap } else { SandboxBackend::Auto };
    let Some(requested) = requested else { return Ok(usual) };
    if NOT_HERE.contains(&requested) {
        return Err(Fault::new(
            fault::NO_SANDBOX,
            format!(
                "no plan is made for `{requested}`; there are native, bwrap, landlock, docker and podman, and seatbelt for `hostFacts` of the platform macos"
            ),
        ));
    }
    backend_named(requested)
}

fn mounts(plan: &Plan) -> Vec<Mounted> {
    let mounted = |mount: &stockade_guard::exec::mounts::Mount| Mounted {
        target: mount.target.to_string_lossy().into_owned(),
        what: mount.to_string(),
        reason: mount.reason,
    };
    plan.mounts.iter().map(mounted).collect()
}

impl Enforced {
    pub(super) fn of(enforcement: &Enforcement) -> Self {
        Self {
            enforced: enforcement
                .enforced
                .iter()
                .map(|(property, means)| EnforcedProperty {
                    property: name(property),
                    means: (*means).to_owned(),
                })
                .collect(),
            gaps: enforcement
                .gaps
                .iter()
                .map(|gap| UnenforcedProperty { property: name(&gap.property), why: gap.why.to_string() })
                .collect(),
        }
    }
}

/// Returns the JSON name of a property: `systemCalls`.
fn name(property: &Property) -> String {
    let name = format!("{property:?}");
    let mut letters = name.chars();
    letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
}

/// Converts a refusal to plan or run: by policy, or because this machine cannot enforce it.
pub(super) fn refused(refusal: &Refusal) -> Fault {
    let code = if matches!(refusal.what, What::Property(_)) { fault::NO_SANDBOX } else { fault::REFUSED };
    Fault::new(code, refusal.to_string()).with(serde_json::json!({
        "decision": "deny",
        "what": refusal.what.to_string(),
        "rule": refusal.rule.to_string(),
        "fix": refusal.fix,
    }))
}
