//! Names that nobody else has.

use std::io;

use rustix::rand::{GetRandomFlags, getrandom};

/// Returns 128 random bits in hexadecimal digits.
pub(crate) fn new_name() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        filled += getrandom(rest, GetRandomFlags::empty())?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
