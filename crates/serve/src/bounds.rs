//! Limits of a request, which keep the memory for any client below some 64 MB: the length of a line, the number of values in it,
//! and the size of each value in memory.

use super::fault::Fault;

/// Default maximum length of a line, in bytes. The largest request is the result of a tool: two million bytes of a page, in
/// Base64.
pub const MAX_REQUEST: usize = 4 << 20;

/// Maximum length of a command. No system starts a program with an argument longer than half of this.
pub(super) const MAX_COMMAND: usize = 256 << 10;

/// Maximum size of a scanned text that is not a file. Deobfuscation needs many times as much memory.
pub(super) const MAX_SCANNED: usize = 1 << 20;

/// Maximum length of a cleaned text, as in `skills.maxBodyLength` of the configuration.
pub(super) const MAX_BODY: usize = 1_000_000;

/// Maximum number of tools in a list, and of paths in a request.
pub(super) const MAX_TOOLS: usize = 10_000;
pub(super) const MAX_PATHS: usize = 10_000;

/// Maximum number of entries in a list of a tool policy. Each is matched against every tool.
pub(super) const MAX_LISTED: usize = 1000;

/// Maximum number of tools with policies and answers in a session.
pub(super) const MAX_GUARDED_TOOLS: usize = 256;

/// Maximum size of the names and globs in a session, in bytes.
pub(super) const MAX_SAID: usize = 16 << 10;

/// Refuses a number above a limit. `instead` is the advice in the error.
pub(super) fn at_most(what: &str, count: usize, most: usize, instead: &str) -> Result<(), Fault> {
    match count <= most {
        true => Ok(()),
        false => {
            Err(Fault::parameters(format!("{what}: {count}, but at most {most} are allowed; {instead}")))
        }
    }
}
