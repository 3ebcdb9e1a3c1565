//! What a failed command was refused, by what it asked the kernel for and what the kernel says of it.
//!
//! What a command prints is no source: whoever wrote the command would write the advice, and somebody would follow it. So
//! without a look at what it asks for (see [`asked`]), nothing is known of paths and machines, and nothing is said.

pub(crate) mod asked;
mod denial;
mod judge;

use crate::outcome::End;
use asked::Asked;
pub use denial::Denial;

/// The most that is said.
const MAX_DENIALS: usize = 8;

/// Returns what is known of a command that failed by the way it ended.
pub(crate) fn explain(end: End) -> Vec<Denial> {
    const SIGXFSZ: i32 = 25;
    match end {
        End::Signalled(SIGXFSZ) => vec![Denial::FileSize],
        _ => Vec::new(),
    }
}

/// Adds to what is known what a command was refused by whoever decides on names, locks and sockets, and what of all that it asked
/// for.
///
/// What was refused so is told of even where the command took no offence.
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
    fn what_is_said_has_an_end() {
        let mut asked = Asked::default();
        for number in 0..1000 {
            let path = format!("/opt/{number}").into();
            asked.note(
                &planned(),
                &asked::Ask::Path { path, way: crate::seccomp::Way::Read, is_there: false },
            );
        }
        let mut found = explain(End::Signalled(25));
        add(&mut found, End::Signalled(25), Vec::new(), asked);
        assert_eq!((found.len(), &found[0]), (MAX_DENIALS, &Denial::FileSize));
        assert_eq!(explain(End::Exited(1)), []);
    }
}
