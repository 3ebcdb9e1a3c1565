//! Tries `install.sh` with a mirror of ours: on this machine with each program that checks signatures, and with busybox alone.

use std::fs;
use std::path::Path;

use testkit::{Output, Stop};

use super::clean_root::{CleanRoot, HOME};
use super::mirror::{Fault, Mirror};
use super::pack::{Pack, copy, failed, make_directory};
use super::trial;

/// Where a case runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Machine {
    /// This one, with all its programs.
    Full,
    /// This one without minisign.
    Openssl,
    /// Busybox alone: its `wget`, and nothing that checks signatures.
    Busybox,
}

/// What is in the directory of the program after a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    /// The new program.
    Installed,
    /// What was there before.
    Unchanged,
    /// Nothing.
    Removed,
}

struct Case {
    name: &'static str,
    machine: Machine,
    fault: Fault,
    arguments: &'static [&'static str],
    /// Parts of what is printed.
    prints: &'static [&'static str],
    after: After,
    /// The version that was there before.
    before: &'static str,
}

const fn case(
    name: &'static str,
    machine: Machine,
    fault: Fault,
    arguments: &'static [&'static str],
    prints: &'static [&'static str],
    after: After,
) -> Case {
    Case { name, machine, fault, arguments, prints, after, before: "0.0.1" }
}

/// A case of `stockade self update`, which runs the installer of the archive.
const fn latest(
    name: &'static str,
    before: &'static str,
    prints: &'static [&'static str],
    after: After,
) -> Case {
    Case { before, ..case(name, Full, Faithful, &["--version", "latest"], prints, after) }
}

use After::{Installed, Removed, Unchanged};
use Fault::{
    BrokenConnection, ChangedArchive, Faithful, NoSignature, OtherVersion, ReplacedList, ShortArchive,
};
use Machine::{Busybox, Full, Openssl};

#[rustfmt::skip]
const CASES: &[Case] = &[
    case("an update", Full, Faithful, &[], &["signature: checked by ", "checksum:  checked", "is not in PATH", "next:      stockade install"], Installed),
    case("an update without minisign", Openssl, Faithful, &["--require-signature"], &["signature: checked by openssl"], Installed),
    case("an update with busybox alone", Busybox, Faithful, &[], &["signature: not checked, minisign and openssl 3 are missing", "checksum:  checked"], Installed),
    case("a dry run", Full, Faithful, &["--dry-run"], &["checksum:  checked", "would write"], Unchanged),
    case("the version by its name", Full, Faithful, &["--version", "v@VERSION@"], &["installed:"], Installed),
    case("no program for signatures, and one is required", Busybox, Faithful, &["--require-signature"], &["cannot check the signature", "help: install minisign"], Unchanged),
    case("a changed archive", Full, ChangedArchive, &[], &["the checksum of stockade-", "help: "], Unchanged),
    case("a changed archive, with busybox alone", Busybox, ChangedArchive, &[], &["the checksum of stockade-"], Unchanged),
    case("a short archive", Full, ShortArchive, &[], &["the checksum of stockade-", "cut off or changed"], Unchanged),
    case("a broken connection", Full, BrokenConnection, &[], &["cannot download "], Unchanged),
    case("a broken connection, with busybox alone", Busybox, BrokenConnection, &[], &["install.sh: "], Unchanged),
    case("a replaced list", Full, ReplacedList, &[], &["the signature of SHA256SUMS is wrong"], Unchanged),
    case("a replaced list, without minisign", Openssl, ReplacedList, &[], &["the signature of SHA256SUMS is wrong"], Unchanged),
    case("no signature", Full, NoSignature, &[], &["cannot download ", "SHA256SUMS.minisig"], Unchanged),
    case("no signature, with busybox alone", Busybox, NoSignature, &[], &["cannot download "], Unchanged),
    case("a version without a release", Full, OtherVersion, &["--version", "9.9.9"], &["does not list stockade-9.9.9-", "help: "], Unchanged),
    case("a version that is a path", Full, Faithful, &["--version", "../x"], &["invalid version ../x"], Unchanged),
    case("a directory that cannot be written", Full, Faithful, &["--dir", "/proc/stockade"], &["cannot write to /proc/stockade", "--dir DIR"], Unchanged),
    case("an unknown option", Full, Faithful, &["--force"], &["unknown option --force", "help: "], Unchanged),
    latest("a newer version", "0.0.1", &["signature: checked by ", "installed:"], Installed),
    latest("the latest version", "@VERSION@", &["stockade @VERSION@ is the latest version"], Unchanged),
    latest("a mirror that is behind", "9.9.9", &["which is older than 9.9.9", "help: "], Unchanged),
    latest("a mirror that is behind by a digit", "@VERSION@9", &["which is older than @VERSION@9"], Unchanged),
    case("the latest version with busybox alone", Busybox, Faithful, &["--version", "latest"], &["installed:"], Installed),
    case("an option without its value", Full, Faithful, &["--dir"], &["--dir needs a value"], Unchanged),
    case("uninstall", Full, Faithful, &["--uninstall"], &["deleted /home/user/.local/bin/stockade", "stockade uninstall AGENT"], Removed),
    case("a dry run of uninstall", Full, Faithful, &["--uninstall", "--dry-run"], &["would delete /home/user/.local/bin/stockade"], Unchanged),
];

/// Cases without a mirror: names of the system and of the processor, and what is printed.
const UNKNOWN: &[(&str, &str)] =
    &[("SunOS", "x86_64"), ("Linux", "riscv64"), ("Darwin", "ppc"), ("MINGW64_NT", "x86_64")];

/// The program that was there before.
const OLD: &str = "#!/bin/sh\necho old\n";

/// Runs every case, and returns how many there were.
pub(crate) fn try_all(pack: &Pack, place: &Path) -> Result<usize, Stop> {
    let mirror = Mirror::serve(&pack.out)?;
    let machines = [Full, Openssl, Busybox];
    let roots: Vec<CleanRoot> =
        machines.iter().map(|machine| root(pack, *machine, place)).collect::<Result<_, _>>()?;
    for case in CASES {
        let root =
            machines.iter().zip(&roots).find(|(machine, _)| **machine == case.machine).map(|(_, root)| root);
        let root = root.ok_or_else(|| Stop::failed("no root for a case"))?;
        one(pack, case, root, &mirror)
            .map_err(|stop| Stop::failed(format!("install.sh: {}: {}", case.name, stop.message())))?;
    }
    for (system, processor) in UNKNOWN {
        unknown_platform(&roots, system, processor)?;
    }
    Ok(CASES.len() + UNKNOWN.len())
}

fn root(pack: &Pack, machine: Machine, place: &Path) -> Result<CleanRoot, Stop> {
    let place = place.join(format!("{machine:?}").to_lowercase());
    let root = match machine {
        Full => CleanRoot::host(&place)?,
        Openssl => CleanRoot::host(&place)?.without("minisign"),
        Busybox => CleanRoot::busybox(&place, &[&pack.files().join("stockade")])?,
    };
    Ok(root.with_network())
}

/// A new home with the installer and the program of before.
fn prepare(pack: &Pack, root: &CleanRoot, before: &str) -> Result<(), Stop> {
    let home = root.home();
    fs::remove_dir_all(&home).map_err(|error| failed(&home, &error))?;
    make_directory(&home.join(".local/bin"))?;
    make_directory(&home.join(".local/share/stockade"))?;
    let write =
        |name: &str, text: &str| fs::write(home.join(name), text).map_err(|error| failed(&home, &error));
    write("old", OLD)?;
    copy(&home.join("old"), &home.join(".local/bin/stockade"), 0o755)?;
    write(
        ".local/share/stockade/installed",
        &format!("version {before}\nfrom x\nfile {HOME}/.local/bin/stockade\n"),
    )?;
    copy(&pack.out.join("install.sh"), &home.join("install.sh"), 0o644)
}

fn one(pack: &Pack, case: &Case, root: &CleanRoot, mirror: &Mirror) -> Result<(), Stop> {
    let filled = |word: &&str| word.replace("@VERSION@", &pack.facts.version);
    prepare(pack, root, &filled(&case.before))?;
    let mut command = vec!["sh".to_owned(), "install.sh".to_owned()];
    command.extend(case.arguments.iter().map(filled));
    let url = mirror.url(case.fault);
    let output = root.run(&command, &[("STOCKADE_BASE_URL", &url)])?;
    let is_done = case.arguments.contains(&"--dry-run") || case.before == "@VERSION@";
    let (succeeds, text) = (case.after != Unchanged || is_done, &output.text);
    if output.success != succeeds || case.prints.iter().any(|part| !text.contains(&filled(part))) {
        return Err(Stop::failed(format!("it ended with {:?} and printed:\n{text}", output.code)));
    }
    after(case.after, root)?;
    if case.after == Installed { is_up_to_date(pack, root, mirror) } else { Ok(()) }
}

/// Whether the installed program asks for its successor, and finds none.
fn is_up_to_date(pack: &Pack, root: &CleanRoot, mirror: &Mirror) -> Result<(), Stop> {
    let program = format!("{HOME}/.local/bin/stockade");
    let output =
        root.run(&[program.as_str(), "self", "update"], &[("STOCKADE_BASE_URL", &mirror.url(Faithful))])?;
    let expected = format!("stockade {} is the latest version", pack.facts.version);
    if output.success && output.text.contains(&expected) {
        return Ok(());
    }
    Err(Stop::failed(format!(
        "`stockade self update` ended with {:?} and printed:\n{}",
        output.code, output.text
    )))
}

fn after(after: After, root: &CleanRoot) -> Result<(), Stop> {
    let directory = root.home().join(".local/bin");
    let names: Vec<String> = fs::read_dir(&directory)
        .map_err(|error| failed(&directory, &error))?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    // Nothing but programs, whole or of before, is left behind.
    if names.iter().any(|name| !name.starts_with("stockade")) {
        return Err(Stop::failed(format!("left in the directory: {names:?}")));
    }
    let program = directory.join("stockade");
    match after {
        Installed if !root.home().join(".local/share/stockade/install.sh").exists() => {
            Err(Stop::failed("the installer for updates is missing"))
        }
        Installed => trial::runs(root, &format!("{HOME}/.local/bin/stockade")),
        Unchanged if fs::read_to_string(&program).is_ok_and(|text| text == OLD) => Ok(()),
        Unchanged => Err(Stop::failed("the program of before was changed")),
        Removed if names.is_empty() && !root.home().join(".local/share/stockade/installed").exists() => {
            Ok(())
        }
        Removed => Err(Stop::failed(format!("left after uninstall: {names:?}"))),
    }
}

/// An `uname` of another system in front of the real one.
fn unknown_platform(roots: &[CleanRoot], system: &str, processor: &str) -> Result<(), Stop> {
    let Some(root) = roots.first() else { return Ok(()) };
    let uname = root.home().join("uname");
    let script = format!("#!/bin/sh\nif [ \"$1\" = -s ]; then echo {system}; else echo {processor}; fi\n");
    fs::write(&uname, script).map_err(|error| failed(&uname, &error))?;
    copy(&uname, &root.home().join("other/uname"), 0o755)?;
    let path = format!("{HOME}/other:/usr/bin:/bin");
    let Output { success, text, .. } = root.run(&["sh", "install.sh"], &[("PATH", &path)])?;
    let expected = format!("no release for {system} on {processor}");
    if success || !text.contains(&expected) || !text.contains("help: build it: cargo install") {
        return Err(Stop::failed(format!("install.sh on {system} {processor} printed:\n{text}")));
    }
    Ok(())
}
