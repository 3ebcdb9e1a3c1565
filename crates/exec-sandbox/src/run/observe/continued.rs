//! Calls that are let go on after they were shown. The kernel makes such a call itself, by the memory and the descriptors that the
//! command has then: nothing of what was judged need hold any more. So there are few, and each says why that cannot matter.

use std::os::fd::BorrowedFd;

use crate::sys::raw::{self, Notice};

/// Why it cannot matter what a call is about by the time the kernel makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Continued {
    /// It is shown for an explanation, or by one of the processes that make the sandbox.
    Undecided,
    /// A call that says which rights new files are made without.
    Umask,
    /// An opening that gives a name for something.
    NameAlone,
    /// The start of a process that shares its descriptors.
    SharedFiles,
    /// A question for the address of a socket.
    OwnAddress,
    /// A lock of a process with one thread, on a part of a file of its own.
    LockOfOneThread,
}

impl Continued {
    /// All, each with its reason.
    #[cfg(test)]
    pub(super) const ALL: &[(Self, &str)] = &[
        (
            Self::Undecided,
            "nothing is decided about it here: the filter has let it pass, or it is a call of this program's own",
        ),
        (
            Self::Umask,
            "its argument is a number in a register; what is made is made with the mask that was seen",
        ),
        (
            Self::NameAlone,
            "its flags are in a register, and with O_PATH nothing is made, read or written, wherever the path leads",
        ),
        (Self::SharedFiles, "its flags are in a register; locks are judged otherwise before it is made"),
        (Self::OwnAddress, "it tells the caller about a socket of its own, and changes nothing"),
        (
            Self::LockOfOneThread,
            "the only thread waits for the call, and descriptors are shared with no other process: the file is the one that was \
             judged, and on its own the command takes any lock",
        ),
    ];
}

/// Lets a call go on.
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

    /// No call is let go on but here, and each kind is used where it says and has a reason.
    #[test]
    fn every_call_that_goes_on_has_a_reason() {
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
