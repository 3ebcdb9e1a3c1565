//! Observed calls that the kernel is told to continue. It executes such a call with the command's current memory and descriptors,
//! which may differ from what was judged (TOCTOU). So there are few kinds, and each has a reason why that is harmless.

use std::os::fd::BorrowedFd;

use crate::sys::raw::{self, Notice};

/// Why it is harmless that the arguments of a continued call may change after they were judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Continued {
    /// The call is observed for an explanation only, or belongs to the setup of the sandbox.
    Undecided,
    /// A call of umask(2).
    Umask,
    /// Opening a file with O_PATH.
    NameAlone,
    /// Creating a process that shares its descriptor table.
    SharedFiles,
    /// A call of getsockname(2).
    OwnAddress,
    /// A record lock of a single-threaded process on a file of its own.
    LockOfOneThread,
}

impl Continued {
    /// All kinds, each with its reason.
    #[cfg(test)]
    pub(super) const ALL: &[(Self, &str)] = &[
        (
            Self::Undecided,
            "nothing is decided about it here: the filter permits it, or it belongs to the setup of the sandbox",
        ),
        (Self::Umask, "its argument is in a register; files are created with the mask that was recorded"),
        (
            Self::NameAlone,
            "its flags are in a register, and O_PATH creates, reads and writes nothing, whatever the path is",
        ),
        (Self::SharedFiles, "its flags are in a register; locks are decided differently from then on"),
        (Self::OwnAddress, "it only reports the address of a socket of its own"),
        (
            Self::LockOfOneThread,
            "the only thread waits for the call, and descriptors are shared with no other process: the file is the one that was \
             judged, and on its own the command takes any lock",
        ),
    ];
}

/// Tells the kernel to continue a call.
pub(super) fn let_go_on(shown: BorrowedFd<'_>, notice: &Notice, _why: Continued) {
    raw::let_go_on(shown, notice).ok();
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "reads the sources")]

    use super::*;
    use std::path::Path;

    fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                sources(&path, found);
            } else {
                found.push((path.to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }

    /// Calls are only continued here, and each kind is used and has a reason.
    #[test]
    fn every_continued_system_call_has_a_reason() {
        let mut found = Vec::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
        let holds = |text: &str| -> Vec<&str> {
            let files = found
                .iter()
                .filter(|(path, source)| source.contains(text) && !path.ends_with("continued.rs"));
            files.map(|(path, _)| path.rsplit('/').next().unwrap()).collect()
        };
        assert_eq!(holds(concat!("raw::let_", "go_on")), Vec::<&str>::new());
        assert_eq!(holds("NOTIF_FLAG_CONTINUE"), ["notices.rs"]);
        for (why, reason) in Continued::ALL {
            assert!(reason.len() > 40, "{why:?}");
            assert_eq!(holds(&format!("Continued::{why:?}")).len(), 1, "{why:?}");
        }
    }
}
