//! Proof that fuzzing works: a target with a planted crash, which must be found.
//!
//! The flags in `build.rs` are passed on to LLVM. Should a later compiler ignore one, fuzzing would go on, blind and
//! green; the canary would then live, and `ci` fail.

use crate::checks::{Check, Verdict};
use testkit::{Echo, Program, Workspace};

/// It takes less than a second; more than this is a failure.
const SECONDS: u32 = 20;

/// Returns the check that the planted crash is found, once everything is built.
pub(super) fn check(workspace: &Workspace) -> Check {
    let binary = super::build::binary(workspace, "planted");
    let artifacts = format!("-artifact_prefix={}/", workspace.target.join("fuzz").display());
    let hunt =
        Program::new(binary).args(["-seed=1".to_owned(), format!("-max_total_time={SECONDS}"), artifacts]);
    Check::new(super::GROUP, "the planted crash is found", move |_| {
        match crate::setup::lacking(super::GROUP) {
            Some(reason) => Verdict::cannot(reason),
            None => judge(&hunt),
        }
    })
}

/// Here a crash is success. Its output is not shown: it would look like a failure.
fn judge(hunt: &Program) -> Verdict {
    match hunt.run(Echo::Kept) {
        Ok(output) if output.text.contains("the planted crash was found") => Verdict::passed(),
        Ok(output) => Verdict::failed(format!("$ {hunt}\n{}\nThe fuzzer ran blind.", output.text)),
        Err(error) => Verdict::failed(format!("cannot run `{hunt}`: {error}")),
    }
}
