//! What a failed command was refused, by what it asked the kernel for and what the kernel says of it.
//!
//! What a command prints is no source: whoever wrote the command would write the advice, and somebody would follow it. So
//! without a look at what it asks for (see [`asked`]), nothing is known of paths and machines, and nothing is said.

pub(crate) mod asked;
mod judge;

use std::path::{Path, PathBuf};

use crate::outcome::End;
use asked::Asked;

/// Something that a command was refused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Denial {
    /// To read a path that it does not see.
    Read(PathBuf),
    /// To write a path that it may only read.
    Write(PathBuf),
    /// To read or write a path that is shared with no command, and why.
    Never(PathBuf, String),
    /// To make, move or change something under a name that other programs obey, and why not.
    Name(PathBuf, String),
    /// To reach a socket of this machine.
    Socket(PathBuf),
    /// To lock a file that it can only read, so that other programs would wait for it.
    Lock(PathBuf),
    /// To reach a machine; its name, if that was said.
    Reach(Option<String>),
    /// More processes and threads.
    Processes,
    /// More memory than the limit lets it have.
    Memory,
    /// A larger file than the limit lets it write.
    FileSize,
    /// More room for temporary files.
    Scratch,
}

impl Denial {
    /// The path that it is about, if it is about one.
    #[cfg(target_os = "linux")]
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Read(path) | Self::Write(path) | Self::Socket(path) => Some(path),
            Self::Never(path, _) | Self::Name(path, _) | Self::Lock(path) => Some(path),
            _ => None,
        }
    }

    /// Its stable name, for machines.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Read(_) => "read",
            Self::Write(_) => "write",
            Self::Never(..) => "never",
            Self::Name(..) => "name",
            Self::Socket(_) => "socket",
            Self::Lock(_) => "lock",
            Self::Reach(_) => "reach",
            Self::Processes => "processes",
            Self::Memory => "memory",
            Self::FileSize => "file-size",
            Self::Scratch => "scratch",
        }
    }
}

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
