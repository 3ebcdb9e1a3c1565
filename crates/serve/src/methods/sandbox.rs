//! `sandbox.plan`: what a sandbox would be made of. Nothing is run.

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

/// Plan a sandbox. What `spec` does not say is as document 001 has it: an open network, and the caches of tools at home
/// visible; `warnings` then says so. `exec` closes both.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PlanSandbox {
    /// What the command may see and use.
    spec: SpecPatch,
    /// The machine that it is planned for; this one by default.
    host_facts: Option<Host>,
    /// `native`, with nothing installed, `bwrap`, `landlock`, `docker` or `podman`; for a Mac, `seatbelt`. By default `bwrap` where
    /// `hostFacts` names one, else the first that enforces what is required.
    backend: Option<String>,
    /// The command; `/bin/bash` by default.
    command: Option<Vec<String>>,
}

/// What would be run, and how.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Planned {
    backend: String,
    /// The program that is started: bubblewrap, `sandbox-exec`, or the command itself.
    program: String,
    /// Its arguments.
    argv: Vec<String>,
    /// Its variables, and no others.
    env: BTreeMap<String, String>,
    /// What it sees, in the order in which it is mounted, and why. On a Mac nothing is mounted: the profile, an argument, says it.
    mounts: Vec<Mounted>,
    /// Whether system calls are filtered.
    seccomp: bool,
    enforcement: Enforced,
    warnings: Vec<String>,
}

/// Something that the command sees.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Mount")]
struct Mounted {
    target: String,
    /// What is there and what may be done with it, in words.
    what: String,
    reason: &'static str,
}

/// What is enforced, and what is not.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Enforcement")]
pub(super) struct Enforced {
    enforced: Vec<Holds>,
    gaps: Vec<Lacks>,
}

/// A property that holds in the sandbox.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EnforcedProperty")]
struct Holds {
    property: String,
    means: String,
}

/// Something that does not hold, or only in part.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "EnforcementGap")]
struct Lacks {
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

/// What would be run on this machine, by whatever makes sandboxes for this program.
#[cfg(target_os = "linux")]
fn plan_here(spec: &SandboxSpec, facts: &HostFacts) -> Result<Plan, Refusal> {
    stockade_guard::exec::backends().plan(spec, facts)
}

#[cfg(not(target_os = "linux"))]
fn plan_here(spec: &SandboxSpec, facts: &HostFacts) -> Result<Plan, Refusal> {
    plan(spec, facts)
}

/// The one backend of a Mac.
const SEATBELT: &str = "seatbelt";

fn on_a_mac(
    wish: Option<&str>,
    spec: &SandboxSpec,
    facts: &HostFacts,
    warnings: Vec<String>,
) -> Result<Json, Fault> {
    if let Some(other) = wish.filter(|wish| !["auto", SEATBELT].contains(wish)) {
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

fn backend(wish: Option<&str>, has_bwrap: bool) -> Result<SandboxBackend, Fault> {
    let usual = if has_bwrap { SandboxBackend::Bwrap } else { SandboxBackend::Auto };
    let Some(wish) = wish else { return Ok(usual) };
    if NOT_HERE.contains(&wish) {
        return Err(Fault::new(
            fault::NO_SANDBOX,
            format!(
                "no plan is made for `{wish}`; there are native, bwrap, landlock, docker and podman, and seatbelt for `hostFacts` of the platform macos"
            ),
        ));
    }
    backend_named(wish)
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
                .map(|(property, means)| Holds { property: name(property), means: (*means).to_owned() })
                .collect(),
            gaps: enforcement
                .gaps
                .iter()
                .map(|gap| Lacks { property: name(&gap.property), why: gap.why.to_string() })
                .collect(),
        }
    }
}

/// The name of a property, as JSON has names: `systemCalls`.
fn name(property: &Property) -> String {
    let name = format!("{property:?}");
    let mut letters = name.chars();
    letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
}

/// A refusal to plan or to run: by policy, or because this machine cannot do it.
pub(super) fn refused(refusal: &Refusal) -> Fault {
    let code = if matches!(refusal.what, What::Property(_)) { fault::NO_SANDBOX } else { fault::REFUSED };
    Fault::new(code, refusal.to_string()).with(serde_json::json!({
        "decision": "deny",
        "what": refusal.what.to_string(),
        "rule": refusal.rule.to_string(),
        "fix": refusal.fix,
    }))
}
