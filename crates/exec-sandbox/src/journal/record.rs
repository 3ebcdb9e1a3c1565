//! The format of a journal file: rows of six NUL-terminated fields, and a final field without which the file is incomplete.

#![expect(clippy::disallowed_methods, reason = "asks which folder lies at a path")]

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::snapshot::Snapshot;
use crate::host::{Entry, FileIdentity, ProtectedEntry, ProtectionMode, Stamp};
use crate::workspace::roots::Root;

/// The final field. A file without it is incomplete, so its command was not started.
const END: &[u8] = b"end";

const FIELDS: usize = 6;

const MODES: &[(ProtectionMode, &str)] = &[
    (ProtectionMode::ReadOnly, "r"),
    (ProtectionMode::Pin, "p"),
    (ProtectionMode::Hide, "h"),
    (ProtectionMode::Check, "c"),
];

/// Serializes the state before a command.
pub(super) fn record(snapshot: &Snapshot) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut row = |fields: [&[u8]; FIELDS]| {
        for field in fields {
            bytes.extend(field.iter().copied().filter(|byte| *byte != 0));
            bytes.push(0);
        }
    };
    for root in &snapshot.roots {
        let identity = identity(&root.path)?;
        row([b"root", path_bytes(&root.path), path_bytes(&root.name), identity.as_bytes(), b"", b""]);
    }
    row([b"command", snapshot.command.as_bytes(), b"", b"", b"", b""]);
    if snapshot.is_decided {
        row([b"decided", b"", b"", b"", b"", b""]);
    }
    for entry in &snapshot.entries {
        let (kind, to) = match &entry.kind {
            Entry::Folder => ("d", None),
            Entry::File => ("f", None),
            Entry::Socket => ("s", None),
            Entry::Other => ("o", None),
            Entry::Link { to, .. } => ("l", to.as_deref()),
        };
        let mode = MODES.iter().find(|row| row.0 == entry.mode).map_or("r", |row| row.1);
        let (stamp, around) = (stamp_text(&entry.stamp), entry.around.to_string());
        let to = to.map_or(&b""[..], path_bytes);
        row([
            kind.as_bytes(),
            path_bytes(&entry.path),
            to,
            mode.as_bytes(),
            stamp.as_bytes(),
            around.as_bytes(),
        ]);
    }
    for path in &snapshot.git_targets {
        row([b"led_to", path_bytes(path), b"", b"", b"", b""]);
    }
    for (path, lines) in &snapshot.plans {
        row([b"plan", path_bytes(path), b"", b"", b"", b""]);
        lines.iter().for_each(|line| row([b"line", path_bytes(path), line.as_bytes(), b"", b"", b""]));
    }
    bytes.extend_from_slice(END);
    bytes.push(0);
    Ok(bytes)
}

/// Parses a file, if it is complete and its directories are still the same.
pub(super) fn read(bytes: &[u8]) -> Option<Snapshot> {
    let fields: Vec<&[u8]> = bytes.strip_suffix(b"\0")?.split(|byte| *byte == 0).collect();
    let (end, fields) = fields.split_last()?;
    if *end != END || fields.len() % FIELDS != 0 {
        return None;
    }
    let mut snapshot = Snapshot::default();
    for fields in fields.chunks_exact(FIELDS) {
        let [kind, first, second, third, fourth, fifth] = fields else { return None };
        match *kind {
            b"root" => {
                let root = Root { path: path(first), name: path(second) };
                (identity(&root.path).ok()?.as_bytes() == *third).then_some(())?;
                snapshot.roots.push(root);
            }
            b"command" => snapshot.command = String::from_utf8_lossy(first).into_owned(),
            b"decided" => snapshot.is_decided = true,
            b"led_to" => snapshot.git_targets.push(path(first)),
            b"plan" => drop(snapshot.plans.entry(path(first)).or_default()),
            b"line" => {
                let line = String::from_utf8_lossy(second).into_owned();
                snapshot.plans.entry(path(first)).or_default().push(line);
            }
            kind => snapshot.entries.push(entry(kind, first, second, [third, fourth, fifth])?),
        }
    }
    (!snapshot.roots.is_empty()).then_some(snapshot)
}

fn entry(kind: &[u8], below: &[u8], to: &[u8], [mode, stamp, around]: [&[u8]; 3]) -> Option<ProtectedEntry> {
    let kind = match kind {
        b"d" => Entry::Folder,
        b"f" => Entry::File,
        b"s" => Entry::Socket,
        b"o" => Entry::Other,
        b"l" => Entry::Link { to: (!to.is_empty()).then(|| path(to)), resolved: None },
        _ => return None,
    };
    let mode = MODES.iter().find(|row| row.1.as_bytes() == mode)?.0;
    let around = std::str::from_utf8(around).ok()?.parse().ok()?;
    Some(ProtectedEntry { path: path(below), kind, mode, stamp: stamp_of_text(stamp)?, around })
}

fn stamp_text(stamp: &Stamp) -> String {
    let FileIdentity { device, number, born } = stamp.file;
    let (modified, changed) = (stamp.modified, stamp.changed);
    format!(
        "{device}:{number}:{}:{}:{}:{}:{}:{}:{}",
        born.0, born.1, stamp.size, modified.0, modified.1, changed.0, changed.1
    )
}

fn stamp_of_text(text: &[u8]) -> Option<Stamp> {
    let numbers: Vec<&str> = std::str::from_utf8(text).ok()?.split(':').collect();
    let [device, number, born, born_part, size, modified, modified_part, changed, changed_part] = numbers[..]
    else {
        return None;
    };
    let born = (born.parse().ok()?, born_part.parse().ok()?);
    Some(Stamp {
        file: FileIdentity { device: device.parse().ok()?, number: number.parse().ok()?, born },
        size: size.parse().ok()?,
        modified: (modified.parse().ok()?, modified_part.parse().ok()?),
        changed: (changed.parse().ok()?, changed_part.parse().ok()?),
    })
}

/// Returns the identity of the directory at a path.
fn identity(path: &Path) -> io::Result<String> {
    let data = fs::symlink_metadata(path)?;
    Ok(format!("{}:{}", data.dev(), data.ino()))
}

fn path_bytes(path: &Path) -> &[u8] {
    path.as_os_str().as_bytes()
}

fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(root: &Path) -> Snapshot {
        let link = Entry::Link { to: Some("/x\n".into()), resolved: None };
        let file = FileIdentity { device: 1, number: 2, born: (-3, 4) };
        let stamp = Stamp { file, size: 5, modified: (6, 7), changed: (-8, 9) };
        let rows = [
            (".git", Entry::Folder, ProtectionMode::Pin),
            (".idea", link, ProtectionMode::Check),
            (".envrc", Entry::File, ProtectionMode::ReadOnly),
        ];
        let entry = |(path, kind, mode): (&str, Entry, ProtectionMode)| ProtectedEntry {
            path: path.into(),
            kind,
            mode,
            stamp,
            around: u64::MAX,
        };
        Snapshot {
            roots: vec![Root { path: root.to_path_buf(), name: PathBuf::new() }],
            command: "make it".to_owned(),
            entries: rows.map(entry).into(),
            git_targets: vec!["hooks".into()],
            plans: [("plan".into(), vec!["exec a".to_owned()]), ("empty".into(), Vec::new())].into(),
            is_decided: true,
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let snapshot = snapshot(folder.path());
        let bytes = record(&snapshot).unwrap();
        assert_eq!(read(&bytes), Some(snapshot));
        for length in 0..bytes.len() {
            assert_eq!(read(&bytes[..length]), None, "{length}");
        }
        let moved = folder.path().with_extension("moved");
        fs::rename(folder.path(), &moved).unwrap();
        fs::create_dir(folder.path()).unwrap();
        assert_eq!(read(&bytes), None, "it is another folder now");
        fs::remove_dir(moved).unwrap();
    }
}
