//! Launcher of a command in a container that may start no other program. It is an executable file, because the engine starts it.
//!
//! It generates three secret words, puts them into the seccomp filter that it carries, loads the filter, and starts the command
//! by a call with the words in arguments that execve(2) ignores: see [`no_spawn`](crate::seccomp). The call replaces the
//! launcher's memory, and its file does not contain the words, so the command cannot learn them.

use crate::seccomp::{Architecture, no_spawn_alone};
use crate::sys::launcher::code;

/// The size of the two heads of a program for Linux, see elf(5).
const HEADS: usize = 64 + 56;

/// Where the program lies in memory.
const BASE: u64 = 0x40_0000;

/// How many halves of the words a filter compares.
const HALVES: usize = 6;

/// Returns the program, or nothing on an architecture without one.
pub(super) fn program() -> Option<Vec<u8>> {
    let architecture = Architecture::current().filter(|it| *it == Architecture::X86_64)?;
    let filter = no_spawn_alone(architecture, [0; 3]);
    // The words are where two filters differ that were made with others.
    let other = no_spawn_alone(architecture, [u64::MAX; 3]);
    let differ = filter.iter().zip(&other).enumerate().filter(|(_, (one, other))| one != other);
    let places: Vec<u32> = differ.filter_map(|(at, _)| u32::try_from(at * 8 + 4).ok()).collect();
    if places.len() != HALVES || filter.len() != other.len() {
        return None;
    }
    let mut code = code()?.to_vec();
    // The code looks for its data at the next multiple of eight.
    code.resize(code.len().next_multiple_of(8), 0);
    code.extend(u64::try_from(filter.len()).ok()?.to_le_bytes());
    code.extend(places.iter().flat_map(|place| place.to_le_bytes()));
    code.extend(filter.iter().flat_map(|instruction| instruction.bytes()));
    let mut program = heads(u64::try_from(code.len()).ok()?);
    program.extend(code);
    Some(program)
}

/// The heads of a program that is one piece, which begins behind them.
fn heads(length: u64) -> Vec<u8> {
    const LOADED: u32 = 1;
    const READ_WRITE_RUN: u32 = 7;
    let size = HEADS as u64 + length;
    let mut heads = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    // A program, for 64-bit x86, of the first version.
    heads.extend([2_u16, 62].iter().flat_map(|word| word.to_le_bytes()));
    heads.extend(1_u32.to_le_bytes());
    heads.extend([BASE + HEADS as u64, 64, 0].iter().flat_map(|word| word.to_le_bytes()));
    heads.extend(0_u32.to_le_bytes());
    heads.extend([64_u16, 56, 1, 0, 0, 0].iter().flat_map(|word| word.to_le_bytes()));
    heads.extend([LOADED, READ_WRITE_RUN].iter().flat_map(|word| word.to_le_bytes()));
    heads.extend([0, BASE, BASE, size, size, 0x1000].iter().flat_map(|word: &u64| word.to_le_bytes()));
    heads
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "starts the launcher")]

    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::{Command, Output};

    use super::*;

    fn launched(count: &str, words: &[&str]) -> Option<Output> {
        let program = program()?;
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&program).unwrap();
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o555)).unwrap();
        let path = file.into_temp_path();
        loop {
            match Command::new(&path).arg(count).args(words).output() {
                // A child of another test has not yet closed what it was born with.
                Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {}
                output => return Some(output.unwrap()),
            }
        }
    }

    #[test]
    fn the_launcher_starts_the_first_existing_program_which_starts_no_other() {
        let words =
            ["/no/such", "/bin/sh", "sh", "-c", "echo $0 ran; (echo SPAWNED); /bin/echo SPAWNED", "x"];
        let Some(output) = launched("2", &words) else {
            return println!("skipped: there is no launcher here");
        };
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said, "x ran\n", "{output:?}");
    }

    #[test]
    fn programs_that_cannot_start_have_the_exit_codes_of_shells() {
        for (count, words, code) in [
            ("1", ["/no/such", "x"].as_slice(), 127),
            ("2", ["/bin/sh/x", "/no/such", "x"].as_slice(), 127),
            ("1", ["/etc/passwd", "x"].as_slice(), 126),
            ("2", ["/etc/passwd", "/no/such", "x"].as_slice(), 126),
            ("0", ["x"].as_slice(), 127),
        ] {
            let Some(output) = launched(count, words) else {
                return println!("skipped: there is no launcher here");
            };
            assert_eq!(output.status.code(), Some(code), "{words:?} {output:?}");
        }
    }
}
