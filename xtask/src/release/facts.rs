//! What all artefacts are made from: `Cargo.toml`, the changelog, and the head of the program.

use std::fs;
use std::path::Path;

use testkit::Stop;

/// Version, addresses and names of a release. They are written in `Cargo.toml`, and nowhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) version: String,
    pub(crate) repository: String,
    pub(crate) maintainer: String,
    /// As minisign writes it; empty until the project has one.
    pub(crate) public_key: String,
    /// Midnight of the day of the release in the changelog: the time of all files in archives.
    pub(crate) time: u64,
}

/// The sentence in the lists of package managers.
pub(crate) const SUMMARY: &str = "Sandbox, policy, scanning and audit for AI agents";

/// The time of files in archives while a version has no date: 1980, the first year of zip.
const UNDATED: u64 = 315_532_800;

impl Facts {
    pub(crate) fn load(root: &Path) -> Result<Self, Stop> {
        let manifest = read(root, "Cargo.toml")?;
        Self::parse(&manifest, &read(root, "CHANGELOG.md")?)
            .ok_or_else(|| Stop::failed("Cargo.toml lacks the version, the repository or the maintainer"))
    }

    fn parse(manifest: &str, changelog: &str) -> Option<Self> {
        let version = value(manifest, "workspace.package", "version")?;
        Some(Self {
            repository: value(manifest, "workspace.package", "repository")?,
            maintainer: value(manifest, "workspace.metadata.release", "maintainer")?,
            public_key: value(manifest, "workspace.metadata.release", "public-key")?,
            time: date_of(changelog, &version).unwrap_or(UNDATED),
            version,
        })
    }

    /// Why these facts are good for a dry run only.
    pub(crate) fn unfinished(&self) -> Option<&'static str> {
        if self.public_key.is_empty() {
            return Some("Cargo.toml has no public-key in [workspace.metadata.release]");
        }
        if self.repository.contains("example.invalid") || self.maintainer.contains("example.invalid") {
            return Some("Cargo.toml has placeholders (example.invalid)");
        }
        (self.time == UNDATED).then_some("CHANGELOG.md has no date behind this version")
    }

    /// Where the files of this version are downloaded.
    pub(crate) fn downloads(&self) -> String {
        format!("{}/releases/download/v{}", self.repository, self.version)
    }
}

/// What readers of pages copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Addresses {
    pub(crate) repository: String,
    /// `OWNER/NAME@vVERSION`, by which workflows name an action.
    pub(crate) action: String,
}

/// Reads them from the manifest of the workspace.
pub(crate) fn addresses(manifest: &str) -> Option<Addresses> {
    let repository = value(manifest, "workspace.package", "repository")?;
    let version = value(manifest, "workspace.package", "version")?;
    let path = repository.splitn(4, '/').nth(3)?;
    // A placeholder of a repository has no owner.
    let slug = if path.contains('/') { path.to_owned() } else { format!("OWNER/{path}") };
    Some(Addresses { action: format!("{slug}@v{version}"), repository })
}

fn read(root: &Path, name: &str) -> Result<String, Stop> {
    fs::read_to_string(root.join(name)).map_err(|error| Stop::failed(format!("{name}: {error}")))
}

/// The string of a key in a table of a manifest.
fn value(manifest: &str, table: &str, key: &str) -> Option<String> {
    let mut here = false;
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            here = line.trim_matches(['[', ']']) == table;
        }
        let found = line.split_once('=').filter(|(name, _)| here && name.trim() == key);
        if let Some((_, text)) = found {
            return Some(text.trim().trim_matches('"').to_owned());
        }
    }
    None
}

/// The day in `## VERSION (YYYY-MM-DD)`, in seconds since 1970.
fn date_of(changelog: &str, version: &str) -> Option<u64> {
    let start = format!("## {version} (");
    let date = changelog.lines().find_map(|line| line.strip_prefix(&start)?.strip_suffix(')'))?;
    let mut parts = date.split('-').map(|part| part.parse::<u64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if year < 1980 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years begin in March here, so that the leap day is their last (Hinnant, "chrono-compatible low-level date algorithms").
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
    Some((days - 719_468) * 86_400)
}

/// A system that programs are released for, as each kind of package names it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Platform {
    /// Rust's name, by which archives are named.
    pub(crate) triple: &'static str,
    pub(crate) debian: &'static str,
    pub(crate) rpm: &'static str,
    /// The blocks of a formula around its address.
    pub(crate) homebrew: [&'static str; 2],
    pub(crate) nix: &'static str,
    /// The first bytes of its programs, and where the number of the processor is in them.
    magic: &'static [u8],
    processor: (usize, u32),
}

/// Whether a program is complete, or loads libraries of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linkage {
    Static,
    Dynamic,
}

const ELF: &[u8] = b"\x7fELF\x02\x01";
const MACH: &[u8] = b"\xcf\xfa\xed\xfe";

/// Each system with a release.
#[rustfmt::skip]
pub(crate) const PLATFORMS: &[Platform] = &[
    Platform { triple: "x86_64-unknown-linux-gnu", debian: "amd64", rpm: "x86_64", homebrew: ["on_linux", "on_intel"], nix: "x86_64-linux", magic: ELF, processor: (18, 62) },
    Platform { triple: "aarch64-unknown-linux-gnu", debian: "arm64", rpm: "aarch64", homebrew: ["on_linux", "on_arm"], nix: "aarch64-linux", magic: ELF, processor: (18, 183) },
    Platform { triple: "aarch64-apple-darwin", debian: "", rpm: "", homebrew: ["on_macos", "on_arm"], nix: "aarch64-darwin", magic: MACH, processor: (4, 0x0100_000c) },
    Platform { triple: "x86_64-apple-darwin", debian: "", rpm: "", homebrew: ["on_macos", "on_intel"], nix: "x86_64-darwin", magic: MACH, processor: (4, 0x0100_0007) },
];

impl Platform {
    pub(crate) fn is_linux(&self) -> bool {
        self.magic == ELF
    }

    /// Reads from a program what it runs on: its name would only be a claim.
    pub(crate) fn of(program: &[u8]) -> Option<(&'static Self, Linkage)> {
        let number = |at: usize, size: usize| {
            let bytes = program.get(at..at + size)?;
            Some(bytes.iter().rev().fold(0_u32, |all, byte| all << 8 | u32::from(*byte)))
        };
        let found = PLATFORMS.iter().find(|platform| {
            let (at, wanted) = platform.processor;
            let size = if platform.is_linux() { 2 } else { 4 };
            program.starts_with(platform.magic) && number(at, size) == Some(wanted)
        })?;
        let loads = !found.is_linux() || names_a_loader(program).unwrap_or(true);
        Some((found, if loads { Linkage::Dynamic } else { Linkage::Static }))
    }
}

/// Whether an ELF program of 64 bits has a segment with the name of a loader (`PT_INTERP`).
fn names_a_loader(program: &[u8]) -> Option<bool> {
    let number = |at: usize, size: usize| {
        let bytes = program.get(at..at.checked_add(size)?)?;
        Some(bytes.iter().rev().fold(0_usize, |all, byte| all << 8 | usize::from(*byte)))
    };
    let (table, size, count) = (number(32, 8)?, number(54, 2)?, number(56, 2)?);
    let mut kinds = (0..count).map(|index| number(table.checked_add(index * size)?, 4));
    kinds.try_fold(false, |found, kind| Some(found || kind? == 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[workspace.package]\nversion = \"1.2.3\"\nrepository = \"https://git.example/acme/stockade\"\n\
                            [workspace.metadata.release]\nmaintainer = \"A <a@b.example>\"\npublic-key = \"K\"\n";

    fn facts(manifest: &str, changelog: &str) -> Facts {
        Facts::parse(manifest, changelog).unwrap()
    }

    #[test]
    fn facts_are_read_from_the_manifest_and_the_changelog() {
        let facts = facts(MANIFEST, "# Changelog\n\n## 1.2.3 (2026-11-30)\n");
        assert_eq!(facts.downloads(), "https://git.example/acme/stockade/releases/download/v1.2.3");
        assert_eq!(facts.time, 1_795_996_800);
        assert_eq!(addresses(MANIFEST).unwrap().action, "acme/stockade@v1.2.3");
        assert_eq!(facts.unfinished(), None);
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (date, seconds) in
            [("1980-01-01", UNDATED), ("2000-02-29", 951_782_400), ("2024-03-01", 1_709_251_200)]
        {
            assert_eq!(date_of(&format!("## 1.0.0 ({date})\n"), "1.0.0"), Some(seconds), "{date}");
        }
        for heading in ["## 1.0.0 (unreleased)", "## 1.0.0", "## 1.0.1 (2024-03-01)", "## 1.0.0 (2024-13-01)"]
        {
            assert_eq!(date_of(heading, "1.0.0"), None, "{heading}");
        }
    }

    #[test]
    fn a_release_needs_a_key_an_address_and_a_date() {
        let dated = "## 1.2.3 (2026-11-30)\n";
        assert!(
            facts(&MANIFEST.replace("\"K\"", "\"\""), dated).unfinished().unwrap().contains("public-key")
        );
        let placeholder = MANIFEST.replace("git.example/acme", "example.invalid");
        assert!(facts(&placeholder, dated).unfinished().unwrap().contains("placeholders"));
        assert_eq!(addresses(&placeholder).unwrap().action, "OWNER/stockade@v1.2.3");
        assert!(facts(MANIFEST, "").unfinished().unwrap().contains("date"));
    }

    /// The head of an ELF program with one segment of a kind.
    fn elf(processor: u8, segment: u8) -> Vec<u8> {
        let mut head = vec![0; 120];
        head[..6].copy_from_slice(ELF);
        (head[18], head[32], head[54], head[56], head[64]) = (processor, 64, 56, 1, segment);
        head
    }

    #[test]
    fn programs_tell_their_platform() {
        let of = |bytes: &[u8]| Platform::of(bytes).map(|(platform, linkage)| (platform.triple, linkage));
        assert_eq!(of(&elf(62, 1)), Some(("x86_64-unknown-linux-gnu", Linkage::Static)));
        assert_eq!(of(&elf(183, 3)), Some(("aarch64-unknown-linux-gnu", Linkage::Dynamic)));
        assert_eq!(of(b"\xcf\xfa\xed\xfe\x0c\0\0\x01"), Some(("aarch64-apple-darwin", Linkage::Dynamic)));
        // What was cut off is not called static.
        assert_eq!(of(&elf(62, 1)[..60]), Some(("x86_64-unknown-linux-gnu", Linkage::Dynamic)));
        assert_eq!((of(&elf(3, 1)), of(b"#!/bin/sh\n"), of(b"")), (None, None, None));
    }
}
