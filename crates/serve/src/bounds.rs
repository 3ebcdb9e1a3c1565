//! What one request may ask for, so that no client takes more than some 64 MB whatever it sends: its line is short enough, holds
//! few enough values, and what is made of each of them is small.

use super::fault::Fault;

/// The longest line that is read by default, in bytes. The largest thing that a client sends is the result of a tool: two million
/// bytes of a page, in Base64.
pub const MAX_REQUEST: usize = 4 << 20;

/// The longest command. No system starts a program with a longer argument than half of this.
pub(super) const MAX_COMMAND: usize = 256 << 10;

/// The most bytes of a text that is scanned, and is no file: looking behind disguises takes many times as many.
pub(super) const MAX_SCANNED: usize = 1 << 20;

/// The most characters that are kept of a cleaned text, as `skills.maxBodyLength` of the configuration has it.
pub(super) const MAX_BODY: usize = 1_000_000;

/// The most tools of one list, and paths of one request.
pub(super) const MAX_TOOLS: usize = 10_000;
pub(super) const MAX_PATHS: usize = 10_000;

/// The most entries of a list of a policy for tools. Each is held against every tool.
pub(super) const MAX_LISTED: usize = 1000;

/// The most tools that a session remembers policies and answers of.
pub(super) const MAX_GUARDED_TOOLS: usize = 256;

/// The most bytes of names and globs that a session remembers.
pub(super) const MAX_SAID: usize = 16 << 10;

/// Refuses more of something than one request may have. `instead` is the advice in the error.
pub(super) fn at_most(what: &str, count: usize, most: usize, instead: &str) -> Result<(), Fault> {
    match count <= most {
        true => Ok(()),
        false => {
            Err(Fault::parameters(format!("{what}: {count}, but at most {most} are allowed; {instead}")))
        }
    }
}
