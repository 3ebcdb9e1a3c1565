//! Published vulnerabilities of programs and kernels that create sandboxes, by the versions that have them.
//!
//! A version is what a program reports. A distribution can have fixed a fault without a new version, so a listed fault is a
//! reason to look, and not a proof. Branches whose fixed version is not known to this table are not listed.

use std::cmp::Ordering;

/// A published vulnerability of some versions of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KnownFault {
    pub(super) id: &'static str,
    component: &'static str,
    /// What an attacker can do, in a few words, and what prevents it here.
    pub(super) what: &'static str,
    /// Versions that have it: the first of a branch, and the first that is fixed.
    ranges: &'static [(&'static str, &'static str)],
}

const fn fault(
    component: &'static str,
    id: &'static str,
    ranges: &'static [(&'static str, &'static str)],
    what: &'static str,
) -> KnownFault {
    KnownFault { id, component, what, ranges }
}

/// Ranges of the three faults of runc that were published together.
const RUNC_2025: &[(&str, &str)] = &[("0", "1.2.8"), ("1.3.0-rc.1", "1.3.3"), ("1.4.0-rc.1", "1.4.0-rc.3")];

#[rustfmt::skip]
const FAULTS: &[KnownFault] = &[
    fault("bubblewrap", "CVE-2026-87766", &[("0", "0.12.0")], "during setup, a symlink in a mounted directory can redirect new mount points to files outside (GHSA-pxhw-h44j-8pfx); here mount points are checked before and after"),
    fault("bubblewrap", "CVE-2026-41163", &[("0.11.0", "0.11.2")], "a set-user-ID bubblewrap can be traced during setup"),
    fault("runc", "CVE-2026-41579", &[("0", "1.3.6"), ("1.4.0-rc.1", "1.4.3")], "the image can redirect the setup of `/dev` to files of the host"),
    fault("runc", "CVE-2025-31133", RUNC_2025, "masked paths can be redirected to files of the host"),
    fault("runc", "CVE-2025-52565", RUNC_2025, "the console can be redirected to files of the host"),
    fault("runc", "CVE-2025-52881", RUNC_2025, "writes to `/proc` during setup can be redirected"),
    fault("runc", "CVE-2024-21626", &[("0", "1.1.12")], "a leaked descriptor reaches the file system of the host"),
    fault("linux", "CVE-2026-31431", &[("6.18", "6.18.22"), ("6.19", "6.19.12")], "sockets of the crypto API write to read-only files in memory; the seccomp filter of native, bwrap and landlock denies these sockets"),
    fault("linux", "CVE-2024-1086", &[("5.15", "5.15.149"), ("6.1", "6.1.76"), ("6.6", "6.6.15"), ("6.7", "6.7.3")], "a process with a network namespace of its own becomes root; no sandbox of this program permits new namespaces"),
    fault("linux", "CVE-2022-0847", &[("5.8", "5.10.102"), ("5.11", "5.15.25"), ("5.16", "5.16.11")], "a process can write to every file that it can read; no sandbox prevents it"),
];

/// Returns the faults of a version of a component.
pub(super) fn known_faults(component: &str, version: &str) -> Vec<&'static KnownFault> {
    let is_in = |range: &&(&str, &str)| {
        compare(version, range.0) != Ordering::Less && compare(version, range.1) == Ordering::Less
    };
    let has = |fault: &&KnownFault| fault.component == component && fault.ranges.iter().any(|it| is_in(&it));
    FAULTS.iter().filter(has).collect()
}

/// Compares two versions by their numbers. A pre-release (`-rc.1`) comes before its release.
fn compare(one: &str, other: &str) -> Ordering {
    parts(one).cmp(&parts(other))
}

/// Returns the numbers of a version, and those of its pre-release.
fn parts(version: &str) -> ([u32; 4], [u32; 2]) {
    let version = version.trim_start_matches(['v', 'V']);
    let (release, pre) = match version.find("-rc").or_else(|| version.find("~rc")) {
        Some(at) => (version.get(..at).unwrap_or_default(), version.get(at + 3..)),
        None => (version, None),
    };
    let numbers = |text: &str| -> Vec<u32> {
        let text = text.trim_start_matches('.');
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let text = text.get(..end).unwrap_or_default();
        text.split('.').map(|part| part.parse().unwrap_or_default()).collect()
    };
    let mut release_numbers = [0; 4];
    release_numbers.iter_mut().zip(numbers(release)).for_each(|(to, from)| *to = from);
    let number = pre.and_then(|pre| numbers(pre).first().copied());
    // A release comes after all its pre-releases.
    (release_numbers, number.map_or([1, 0], |number| [0, number]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_versions() {
        let ids = |component: &str, version: &str| -> Vec<&str> {
            known_faults(component, version).iter().map(|fault| fault.id).collect()
        };
        for (component, version, expected) in [
            ("bubblewrap", "0.8.0", &["CVE-2026-87766"] as &[&str]),
            ("bubblewrap", "0.11.1", &["CVE-2026-87766", "CVE-2026-41163"]),
            ("bubblewrap", "0.11.2", &["CVE-2026-87766"]),
            ("bubblewrap", "0.12.0", &[]),
            ("bubblewrap", "1.0", &[]),
            (
                "runc",
                "1.1.5+ds1",
                &["CVE-2026-41579", "CVE-2025-31133", "CVE-2025-52565", "CVE-2025-52881", "CVE-2024-21626"],
            ),
            ("runc", "1.2.8", &["CVE-2026-41579"]),
            ("runc", "1.3.6", &[]),
            ("runc", "1.4.0-rc.2", &["CVE-2026-41579", "CVE-2025-31133", "CVE-2025-52565", "CVE-2025-52881"]),
            ("runc", "1.4.0", &["CVE-2026-41579"]),
            ("runc", "v1.4.3", &[]),
            ("runc", "1.5.0-rc.1", &[]),
            ("crun", "1.0", &[]),
            ("linux", "6.18.21", &["CVE-2026-31431"]),
            ("linux", "6.18.44-fc", &[]),
            ("linux", "7.1.0", &[]),
            ("linux", "5.15.20", &["CVE-2024-1086", "CVE-2022-0847"]),
            ("linux", "5.15.160", &[]),
            ("linux", "5.7.1", &[]),
        ] {
            assert_eq!(ids(component, version), expected, "{component} {version}");
        }
        for fault in FAULTS {
            assert!(fault.id.starts_with("CVE-") && !fault.ranges.is_empty());
            for (first, fixed) in fault.ranges {
                assert_eq!(compare(first, fixed), Ordering::Less, "{}", fault.id);
            }
        }
    }
}
