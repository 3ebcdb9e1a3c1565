//! Names that no other process chooses.

use std::io;

/// Returns a name for a run, a writer or a permit: 128 random bits in hexadecimal digits.
///
/// # Errors
/// When the system has no random numbers.
pub fn new_name() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)?;
    Ok(stockade_text::to_hex(&bytes))
}
