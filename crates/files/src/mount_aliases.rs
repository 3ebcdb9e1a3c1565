//! The paths by which a file is visible: its own, and those through other mounts of the same file system.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use crate::kernel_file::read_kernel_file;

/// The mounts of this process. Without any, a file has its own path alone.
#[derive(Debug, Default)]
pub struct MountAliases(Vec<Mount>);

/// A part of a file system, and where it is mounted.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    device: Vec<u8>,
    root: PathBuf,
    point: PathBuf,
}

impl MountAliases {
    /// Reads the mounts of this process.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn of_process() -> io::Result<Self> {
        read_kernel_file("/proc/self/mountinfo").map(|table| Self::parse(table.as_bytes()))
    }

    fn parse(table: &[u8]) -> Self {
        Self(table.split(|byte| *byte == b'\n').filter_map(Mount::parse).collect())
    }

    /// Returns every path by which a file may be visible, given one of them without links. The file need not exist. A path that is
    /// hidden by a later mount is among them.
    #[must_use]
    pub fn of(&self, path: &Path) -> Vec<PathBuf> {
        let around = self.0.iter().filter(|mount| path.starts_with(&mount.point));
        // Of mounts at one point, the last is visible.
        let Some(mount) = around.max_by_key(|mount| mount.point.components().count()) else {
            return vec![path.to_owned()];
        };
        let within = mount.root.join(path.strip_prefix(&mount.point).unwrap_or(path));
        let same = self.0.iter().filter(|other| other.device == mount.device);
        let others = same.filter_map(|other| Some(other.point.join(within.strip_prefix(&other.root).ok()?)));
        std::iter::once(path.to_owned()).chain(others).collect()
    }
}

impl Mount {
    /// Parses a line of `/proc/PID/mountinfo`: two numbers, the device, the part of it, the mount point, and more.
    fn parse(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(|byte| *byte == b' ').skip(2);
        let device = fields.next()?.to_vec();
        let (root, point) = (unescaped(fields.next()?), unescaped(fields.next()?));
        Some(Self { device, root, point })
    }
}

/// Undoes the escapes of the kernel: a backslash and three octal digits for a blank, a tab, a line end and a backslash.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        let escape = tail.get(..3).filter(|_| *first == b'\\').and_then(octal);
        bytes.push(escape.unwrap_or(*first));
        rest = if escape.is_some() { tail.get(3..).unwrap_or_default() } else { tail };
    }
    PathBuf::from(OsString::from_vec(bytes))
}

fn octal(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
23 22 0:21 / /proc rw - proc proc rw
30 22 8:1 /srv/work /mnt/bind\\040x rw - ext4 /dev/sda1 rw
31 22 8:2 / /srv/other rw - ext4 /dev/sdb1 rw
32 22 8:1 /srv/work/deep /home/me/deep rw - ext4 /dev/sda1 rw
";

    #[test]
    fn a_file_is_found_through_every_mount() {
        let aliases = MountAliases::parse(TABLE);
        for (path, expected) in [
            ("/etc/x", &["/etc/x", "/etc/x"][..]),
            ("/srv/work/a", &["/srv/work/a", "/srv/work/a", "/mnt/bind x/a"]),
            ("/mnt/bind x/a", &["/mnt/bind x/a", "/srv/work/a", "/mnt/bind x/a"]),
            (
                "/home/me/deep/a",
                &["/home/me/deep/a", "/srv/work/deep/a", "/mnt/bind x/deep/a", "/home/me/deep/a"],
            ),
            ("/srv/other/a", &["/srv/other/a", "/srv/other/a"]),
            ("/srv/workshop", &["/srv/workshop", "/srv/workshop"]),
        ] {
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(aliases.of(Path::new(path)), expected, "{path}");
        }
        assert_eq!(MountAliases::default().of(Path::new("/a")), [Path::new("/a")]);
        assert_eq!(MountAliases::parse(b"1 2\n\n\\").0, []);
    }
}
