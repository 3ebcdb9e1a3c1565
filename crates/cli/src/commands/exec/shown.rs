//! The sandbox plan as text, or as a policy of another program.

use clap::ValueEnum;
use stockade_guard::egress::HostList;
use stockade_guard::exec::{Plan, openshell_policy};
use stockade_text::escape_lines;

/// A program whose policy format is supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum PlanForm {
    /// NVIDIA OpenShell, for `openshell sandbox create --policy FILE`
    #[value(name = "openshell")]
    OpenShell,
}

/// A plan as text.
pub(super) struct ShownPlan {
    pub(super) text: String,
    /// Settings that the other program's policy cannot express.
    pub(super) lost: Vec<String>,
}

/// Formats a plan, or returns why it cannot be expressed.
pub(super) fn plan(plan: &Plan, form: Option<PlanForm>, hosts: &[String]) -> Result<ShownPlan, String> {
    match form {
        None => {
            let hosts: String = hosts.iter().map(|host| format!("host     {host}\n")).collect();
            Ok(ShownPlan { text: escape_lines(&format!("{plan}{hosts}")), lost: Vec::new() })
        }
        Some(PlanForm::OpenShell) => {
            let hosts = HostList::compile(hosts).map_err(|error| error.to_string())?;
            let policy = openshell_policy(plan, Some(&hosts)).map_err(|error| error.to_string())?;
            Ok(ShownPlan { text: policy.yaml, lost: policy.lost })
        }
    }
}
