//! Commands that destroy files, file systems and disks.

use super::Floor;
use super::shapes::Shape;
use crate::shell::Arg;

pub(super) static SHAPES: &[Shape] = &[Shape {
    id: "delete-everything",
    floor: Floor::Deny,
    programs: &["rm"],
    fires: |command| {
        (command.has(Some('r'), "--recursive") || command.has(Some('R'), "--recursive"))
            && command.words().filter_map(Arg::known).any(|word| matches!(word, "/" | "/*" | "~" | "~/"))
    },
    reason: "deletes the root, a home or a system folder with everything in it",
    fix: "name the folder inside the workspace that is to go",
    matches: &["rm -rf /", "rm -r -f /", "rm --recursive --forc /", "sudo rm -fr ~", "bash -c 'rm -rf /'"],
    clean: &["echo 'rm -rf /'", "rm -rf build", "rm -- -rf", "git commit -m 'rm -rf /'"],
}];
