//! Explains what the sandbox denied to a failed command, from its system calls and its exit.
//!
//! The output of a command is not a source: a hostile command could print advice that the user follows. So without observed
//! system calls (see [`asked`]), denied paths and hosts are unknown and not reported.

pub(crate) mod asked;
mod denial;
mod judge;

use crate::outcome::End;
use asked::Asked;
pub use denial::Denial;

/// Maximum number of reported denials.
const MAX_DENIALS: usize = 8;

/// Returns the denials that follow from the exit of a command.
pub(crate) fn explain(end: End) -> Vec<Denial> {
    const SIGXFSZ: i32 = 25;
    match end {
        End::Signalled(SIGXFSZ) => vec![Denial::FileSize],
        _ => Vec::new(),
    }
}

/// Adds the denials of the supervisor (names, locks and sockets), and the most important ones from observed system calls.
///
/// Denials of the supervisor are reported even if the command succeeded.
pub(crate) fn add(found: &mut Vec<Denial>, end: End, refused: Vec<Denial>, asked: Asked) {
    found.extend(refused);
    if matches!(end, End::Exited(0) | End::NotFound | End::NotExecutable) {
        return;
    }
    for denial in asked.weightiest() {
        if !found.contains(&denial) {
            found.push(denial);
        }
    }
    found.truncate(MAX_DENIALS);
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::host::{Entry, HostFacts, Kernel};
    use crate::plan::Plan;
    use crate::spec::SandboxSpec;

    pub(super) fn planned() -> Plan {
        let folder = |path: &str| (PathBuf::from(path), Entry::Folder);
        let facts = HostFacts {
            entries: [folder("/usr"), folder("/srv/work"), folder("/srv/data")].into(),
            home: "/home/u".into(),
            user: 1000,
            kernel: Kernel { namespaces: true, landlock: 7, seccomp: true, mediation: true },
            ..HostFacts::default()
        };
        let mut spec = SandboxSpec::new("/srv/work", ["true"]);
        spec.environment.set.push(("PATH".into(), "/opt/programs:/usr/bin".into()));
        spec.read_only.push("/srv/data".into());
        crate::plan::plan(&spec, &facts).unwrap()
    }

    #[test]
    fn explanations_are_limited() {
        let mut asked = Asked::default();
        for number in 0..1000 {
            let path = format!("/opt/{number}").into();
            asked.note(
                &planned(),
                &asked::Ask::Path { path, path_use: crate::seccomp::PathUse::Read, is_there: false },
            );
        }
        let mut found = explain(End::Signalled(25));
        add(&mut found, End::Signalled(25), Vec::new(), asked);
        assert_eq!((found.len(), &found[0]), (MAX_DENIALS, &Denial::FileSize));
        assert_eq!(explain(End::Exited(1)), []);
    }
}
