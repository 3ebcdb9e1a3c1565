//! Names that nobody else has.

use std::io;

/// Returns 128 random bits in hexadecimal digits.
pub(crate) fn new_name() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
