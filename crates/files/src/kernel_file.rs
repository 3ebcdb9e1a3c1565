//! Files that the kernel makes when they are read, such as those of `/proc`.

#![expect(clippy::disallowed_methods, reason = "reads what the kernel says")]

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// Longer than nearly all of them.
const USUAL: usize = 4096;

/// Reads a text of the kernel.
///
/// [`std::fs::read_to_string`] asks for the length first, which is always 0, and then reads in pieces of 32 bytes and more. The kernel
/// makes the text anew for each of them.
///
/// # Errors
/// The file cannot be read, or is not UTF-8.
pub fn read_kernel_file(path: impl AsRef<Path>) -> io::Result<String> {
    read_until(path.as_ref(), |_| false)
}

/// Reads the first line of a text of the kernel, with its end. A text of one line is read by one call: the second, which only finds
/// the end, is left out.
///
/// # Errors
/// The file cannot be read, or is not UTF-8.
pub fn read_kernel_line(path: impl AsRef<Path>) -> io::Result<String> {
    let mut text = read_until(path.as_ref(), |text| text.contains(&b'\n'))?;
    text.truncate(text.find('\n').map_or(text.len(), |end| end + 1));
    Ok(text)
}

fn read_until(path: &Path, is_enough: impl Fn(&[u8]) -> bool) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut text = vec![0; USUAL];
    let mut length = 0;
    loop {
        match file.read(text.get_mut(length..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(read) => {
                let read = length..length + read;
                length = read.end;
                if is_enough(text.get(read).unwrap_or_default()) {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if length == text.len() {
            text.resize(2 * length, 0);
        }
    }
    text.truncate(length);
    String::from_utf8(text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_any_length_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("text");
        for length in [0, 1, USUAL - 1, USUAL, USUAL + 1, 3 * USUAL] {
            let text = "x".repeat(length);
            std::fs::write(&path, &text).unwrap();
            assert!(read_kernel_file(&path).unwrap() == text, "{length}");
        }
        for (text, line) in [("", ""), ("7", "7"), ("7\n", "7\n"), ("7\n8\n", "7\n"), ("\n8", "\n")] {
            std::fs::write(&path, text).unwrap();
            assert_eq!(read_kernel_line(&path).unwrap(), line);
        }
        std::fs::write(&path, b"\xff").unwrap();
        assert_eq!(read_kernel_file(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert_eq!(read_kernel_file(folder.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
