//! Files in a sandbox: written, read and listed.

use serde::{Deserialize, Serialize};

use super::http::{Ask, body, bytes, json};
use super::{E2bError, E2bSandbox};

/// The most files that are listed.
const MAX_LISTED: usize = 10_000;

/// Something in a folder of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct E2bEntry {
    /// Its name in the folder.
    pub name: String,
    /// What it is.
    pub kind: E2bEntryKind,
    /// How many bytes it has.
    pub size: u64,
}

/// What something in a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum E2bEntryKind {
    /// Something with content that can be read.
    File,
    /// A folder with more in it.
    Folder,
    /// A link to something else.
    Link,
    /// What this version does not know.
    Other,
}

impl E2bSandbox {
    /// Writes a file, with the folders around it.
    ///
    /// # Errors
    ///
    /// When the path is not plain, the sandbox is gone, or there is no more room.
    pub fn write(&self, path: &str, content: &[u8]) -> Result<(), E2bError> {
        let boundary = boundary(content);
        let mut form = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"file\"\r\nContent-Type: application/octet-stream\r\n\r\n"
        )
        .into_bytes();
        form.extend_from_slice(content);
        form.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        let headers = self.headers(&format!("multipart/form-data; boundary={boundary}"));
        let address = self.file(path)?;
        self.http.ask(&Ask { method: "POST", address, headers, body: &form, time: None }).map(drop)
    }

    /// Reads a file of no more than so many bytes.
    ///
    /// # Errors
    ///
    /// When it is not there, is longer, or the sandbox is gone.
    pub fn read(&self, path: &str, most: u64) -> Result<Vec<u8>, E2bError> {
        let headers = self.headers("application/octet-stream");
        let address = self.file(path)?;
        bytes(self.http.ask(&Ask { method: "GET", address, headers, body: &[], time: None })?, most)
    }

    /// Lists a folder.
    ///
    /// # Errors
    ///
    /// When it is not there, or the sandbox is gone.
    pub fn list(&self, path: &str) -> Result<Vec<E2bEntry>, E2bError> {
        #[derive(Serialize)]
        struct Folder<'p> {
            path: &'p str,
            depth: u32,
        }
        #[derive(Deserialize)]
        struct Listed {
            #[serde(default)]
            entries: Vec<Entry>,
        }
        let folder = body(&Folder { path: plain(path)?, depth: 1 })?;
        let (address, headers) =
            (format!("{}/filesystem.Filesystem/ListDir", self.service), self.headers("application/json"));
        let listed: Listed =
            json(self.http.ask(&Ask { method: "POST", address, headers, body: &folder, time: None })?)?;
        if listed.entries.len() > MAX_LISTED {
            return Err(E2bError::TooLong(MAX_LISTED as u64));
        }
        Ok(listed.entries.into_iter().map(Entry::known).collect())
    }

    fn file(&self, path: &str) -> Result<String, E2bError> {
        Ok(format!("{}/files?path={}&username=user", self.service, escaped(plain(path)?)))
    }
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    #[serde(rename = "type", default)]
    kind: String,
    /// Numbers of 64 bits are texts in JSON of protocol buffers.
    #[serde(default)]
    size: Size,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Size {
    Text(String),
    Number(u64),
}

impl Default for Size {
    fn default() -> Self {
        Self::Number(0)
    }
}

impl Entry {
    fn known(self) -> E2bEntry {
        let kind = match self.kind.as_str() {
            "FILE_TYPE_FILE" => E2bEntryKind::File,
            "FILE_TYPE_DIRECTORY" => E2bEntryKind::Folder,
            "FILE_TYPE_SYMLINK" => E2bEntryKind::Link,
            _ => E2bEntryKind::Other,
        };
        let size = match self.size {
            Size::Number(size) => size,
            Size::Text(size) => size.parse().unwrap_or(0),
        };
        E2bEntry { name: self.name, kind, size }
    }
}

/// An absolute path, without `..` and without invisible characters.
fn plain(path: &str) -> Result<&str, E2bError> {
    let is_plain = path.starts_with('/')
        && !path.chars().any(char::is_control)
        && !path.split('/').any(|part| matches!(part, "." | ".."));
    if is_plain {
        Ok(path)
    } else {
        Err(E2bError::Plain("a path in a sandbox is absolute, without `..` and control characters"))
    }
}

fn escaped(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~') {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

/// A line that is not in the content.
fn boundary(content: &[u8]) -> String {
    let mut number = 0_u64;
    loop {
        let boundary = format!("stockade-{number:016x}");
        if memchr::memmem::find(content, boundary.as_bytes()).is_none() {
            return boundary;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_absolute_and_plain() {
        for path in ["/home/user/a b", "/ä", "/a..b/.c"] {
            assert!(plain(path).is_ok(), "{path}");
        }
        for path in ["", "a", "/a/../b", "/a/./b", "/a\nb", "/a\0"] {
            assert!(plain(path).is_err(), "{path:?}");
        }
        assert_eq!(escaped("/a b/ä&x=1%"), "/a%20b/%C3%A4%26x%3D1%25");
    }

    #[test]
    fn no_boundary_is_in_the_content() {
        let content = b"x stockade-0000000000000000 y stockade-0000000000000001";
        assert_eq!(boundary(content), "stockade-0000000000000002");
    }
}
