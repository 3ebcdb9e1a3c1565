//! `cargo xtask release`: makes what users install, and tries each artefact in a clean root.
//!
//! `--dry-run` does all of it for this platform with a key that is thrown away; `ci` runs it. A release has two steps, since each
//! platform builds its own program: `pack` on each, then `index` where all archives are, with the key of the project.

mod clean_root;
mod facts;
mod fetchers;
mod index;
mod installer;
mod mirror;
mod pack;
mod sign;
mod tar;
mod templates;
mod trial;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::checks::{Check, Verdict};
use crate::runner::run_live;
use crate::{budgets, sbom, static_programs};
use testkit::{Echo, Program, Stop, Workspace};

use facts::{Facts, Linkage, PLATFORMS};
use pack::{Pack, make_directory, succeed};
use sign::SigningKey;

pub(crate) use facts::{Addresses, addresses};

const GROUP: &str = "release";

const USAGE: &str =
    "usage: cargo xtask release --dry-run [--binary FILE] | pack [--binary FILE] | index --key FILE";

/// Where artefacts are made, in the target directory.
const OUT: &str = "release-artefacts";
const WORK: &str = "release-work";

/// What a step makes and tries. It returns a note for the table.
type Step = fn(&Pack) -> Result<String, Stop>;

/// In this order: the archive comes first, and what is made from all files last.
const STEPS: &[(&str, Step)] = &[
    ("archive", archive),
    ("wheel", wheel),
    ("packages for Node.js", node),
    ("Debian package", deb),
    ("RPM package", rpm),
    ("bill of materials", bill_of_materials),
];

/// What a dry run does besides, with a key of its own.
const INDEX_STEPS: &[(&str, Step)] = &[
    ("checksums, signature, formula, flake", throwaway_index),
    ("scripts in any POSIX shell", scripts),
    ("installer", installer),
    ("action and pre-commit", fetchers),
    ("container image", image),
    ("the same bytes once more", same_bytes),
];

#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    words: Vec<String>,
    binary: Option<PathBuf>,
    key: Option<PathBuf>,
}

impl Options {
    fn parse(arguments: &[String]) -> Result<Self, Stop> {
        let mut options = Self::default();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut path = || words.next().map(PathBuf::from).ok_or_else(|| Stop::usage(USAGE));
            match word.as_str() {
                "--binary" => options.binary = Some(path()?),
                "--key" => options.key = Some(path()?),
                "--dry-run" | "pack" | "index" => options.words.push(word.clone()),
                _ => return Err(Stop::usage(USAGE)),
            }
        }
        Ok(options)
    }
}

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let options = Options::parse(arguments)?;
    let words: Vec<&str> = options.words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--dry-run"] => {
            let program = options.binary.map_or_else(|| fast_program(workspace, Echo::Live), Ok)?;
            let steps = [STEPS, INDEX_STEPS].concat();
            run_live(&steps_as_checks(&Arc::new(new_pack(workspace, &program, Key::Throwaway)?), &steps))
        }
        ["pack"] => {
            let program = options.binary.map_or_else(|| release_program(workspace), Ok)?;
            let pack = new_pack(workspace, &program, Key::Project)?;
            is_releasable(&pack)?;
            run_live(&steps_as_checks(&Arc::new(pack), STEPS))
        }
        ["index"] => index_of_release(workspace, &options.key.ok_or_else(|| Stop::usage(USAGE))?),
        _ => Err(Stop::usage(USAGE)),
    }
}

/// Returns the check of continuous integration: the dry run with the program of the budgets.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    let workspace = workspace.clone();
    vec![Check::new(GROUP, "artefacts install and run", move |echo| {
        let made =
            fast_program(&workspace, echo).and_then(|program| new_pack(&workspace, &program, Key::Throwaway));
        match made {
            Ok(pack) => all_steps(&pack),
            Err(stop) => verdict(Err(stop)),
        }
    })]
}

fn steps_as_checks(pack: &Arc<Pack>, steps: &[(&'static str, Step)]) -> Vec<Check> {
    let check = |&(name, step): &(&'static str, Step)| {
        let pack = Arc::clone(pack);
        Check::new(GROUP, name, move |_| verdict(step(&pack)))
    };
    steps.iter().map(check).collect()
}

/// One verdict on all steps. What this machine lacks is in its note.
fn all_steps(pack: &Pack) -> Verdict {
    let (mut failures, mut notes) = (Vec::new(), Vec::new());
    for (name, step) in STEPS.iter().chain(INDEX_STEPS) {
        match step(pack) {
            Ok(_) => {}
            Err(Stop::Skipped(reason)) => notes.push(format!("not tried: {name}: {reason}")),
            Err(stop) => failures.push(format!("{name}: {}", stop.message())),
        }
    }
    if failures.is_empty() { passed(notes.join("; ")) } else { Verdict::failed(failures.join("\n")) }
}

fn verdict(result: Result<String, Stop>) -> Verdict {
    match result {
        Ok(note) => passed(note),
        Err(Stop::Skipped(reason)) => Verdict::cannot(reason),
        Err(stop) => Verdict::failed(stop.message()),
    }
}

fn passed(note: String) -> Verdict {
    Verdict::Passed { tests: Default::default(), note }
}

/// Whose key is in the installer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Project,
    Throwaway,
}

/// Empty directories, and the program laid out in them.
fn new_pack(workspace: &Workspace, program: &Path, key: Key) -> Result<Pack, Stop> {
    let [out, work] = [OUT, WORK].map(|name| workspace.target.join(name));
    for directory in [&out, &work] {
        if directory.exists() {
            fs::remove_dir_all(directory).map_err(|error| pack::failed(directory, &error))?;
        }
        make_directory(directory)?;
    }
    let program = fs::canonicalize(program).map_err(|error| pack::failed(program, &error))?;
    let facts = Facts::load(&workspace.root)?;
    let public_key = match key {
        Key::Project => facts.public_key.clone(),
        Key::Throwaway => SigningKey::throwaway(&work)?.public(),
    };
    Pack::new(&workspace.root, facts, &public_key, &program, &work, &out)
}

/// The program in the profile of the budgets, which they built before.
fn fast_program(workspace: &Workspace, echo: Echo) -> Result<PathBuf, Stop> {
    budgets::build(workspace, echo)?;
    Ok(workspace.target.join("fast/stockade"))
}

/// The programs of a release: on Linux each is one file without shared libraries.
fn release_program(workspace: &Workspace) -> Result<PathBuf, Stop> {
    if cfg!(target_os = "linux") {
        for name in ["stockade", "e2b", "kubernetes"] {
            static_programs::run(workspace, &[name.to_owned()])?;
        }
    } else {
        succeed(&workspace.cargo().args(["build", "--locked", "--release", "--package", "stockade-cli"]))?;
    }
    Ok(workspace.target.join("release/stockade"))
}

/// What a dry run forgives.
fn is_releasable(pack: &Pack) -> Result<(), Stop> {
    if pack.platform.is_linux() {
        if pack.linkage == Linkage::Dynamic {
            return Err(Stop::failed(
                "the program loads shared libraries; a release is made from that of `cargo static`",
            ));
        }
        if let Some(missing) = pack::BACKENDS.iter().find(|name| !pack.files().join(name).exists()) {
            return Err(Stop::failed(format!(
                "{missing} is missing beside the program; build it by `cargo static-{{e2b,kubernetes}}`"
            )));
        }
    }
    // A release of another version than its tag would be taken for something that it is not.
    let tag = std::env::var("GITHUB_REF").unwrap_or_default();
    match tag.strip_prefix("refs/tags/v") {
        Some(version) if version != pack.facts.version => {
            Err(Stop::failed(format!("the tag is v{version}, and Cargo.toml has {}", pack.facts.version)))
        }
        Some(_) => match pack.facts.unfinished() {
            Some(why) => Err(Stop::failed(format!("cannot release: {why}"))),
            None => Ok(()),
        },
        None => Ok(()),
    }
}

fn archive(pack: &Pack) -> Result<String, Stop> {
    let file = pack.archive()?;
    tried_on_linux(pack, size_of(&file), || trial::archive(pack, &file, &pack.work.join("root-archive")))
}

fn wheel(pack: &Pack) -> Result<String, Stop> {
    let file = pack.wheel()?;
    tried_on_linux(pack, size_of(&file), || trial::wheel(pack, &file, &pack.work.join("root-wheel")))
}

fn node(pack: &Pack) -> Result<String, Stop> {
    let files = pack.node()?;
    // The plugin is installed by OpenClaw, and tried with it.
    let installed: Vec<&Path> = files
        .iter()
        .map(PathBuf::as_path)
        .filter(|file| !file.to_string_lossy().contains("openclaw"))
        .collect();
    let sizes: Vec<String> = installed.iter().map(|file| size_of(file)).collect();
    tried_on_linux(pack, sizes.join(", "), || trial::node(pack, &installed, &pack.work.join("root-node")))
}

fn deb(pack: &Pack) -> Result<String, Stop> {
    for_distributions(pack, &["dpkg-deb", "dpkg"])?;
    let file = pack.deb()?;
    trial::deb(pack, &file, &pack.work.join("root-deb"))?;
    Ok(size_of(&file))
}

fn rpm(pack: &Pack) -> Result<String, Stop> {
    for_distributions(pack, &["rpmbuild", "rpm"])?;
    let file = pack.rpm()?;
    trial::rpm(pack, &file, &pack.work.join("root-rpm"))?;
    Ok(size_of(&file))
}

/// Tries an artefact where clean roots can be made, and returns the note for the table.
fn tried_on_linux(
    pack: &Pack,
    note: String,
    trial: impl FnOnce() -> Result<(), Stop>,
) -> Result<String, Stop> {
    if !pack.platform.is_linux() {
        return Ok(format!("{note}, not tried: a clean root needs Linux"));
    }
    trial().map(|()| note)
}

/// What is compiled in on this platform, beside its archive.
fn bill_of_materials(pack: &Pack) -> Result<String, Stop> {
    let workspace = Workspace { root: pack.root.clone(), ..Workspace::default() };
    let bill = sbom::of(&workspace, "stockade-cli")?;
    let file = pack.out.join(format!("stockade-{}-{}.cdx.json", pack.facts.version, pack.platform.triple));
    fs::write(&file, format!("{bill}\n")).map_err(|error| pack::failed(&file, &error))?;
    Ok(format!("{} packages", bill.matches("\"bom-ref\"").count()))
}

/// Packages of distributions are made on Linux, by the tools of the distributions.
fn for_distributions(pack: &Pack, tools: &[&str]) -> Result<(), Stop> {
    if !pack.platform.is_linux() {
        return Err(Stop::skipped("a package for Linux"));
    }
    match tools.iter().find(|tool| !Program::new(tool).arg("--version").succeeds()) {
        Some(tool) => Err(Stop::skipped(format!("{tool} is missing: run `cargo xtask setup`"))),
        None => Ok(()),
    }
}

fn throwaway_index(pack: &Pack) -> Result<String, Stop> {
    let key = SigningKey::read(&pack.work.join(sign::THROWAWAY), &pack.work)?;
    index::write(&pack.root, &pack.facts, &pack.out, &key)?;
    Ok(pack.facts.unfinished().map_or_else(String::new, |why| format!("not releasable: {why}")))
}

fn installer(pack: &Pack) -> Result<String, Stop> {
    let cases = installer::try_all(pack, &pack.work.join("root-installer"))?;
    Ok(format!("{cases} cases"))
}

fn fetchers(pack: &Pack) -> Result<String, Stop> {
    let cases = fetchers::try_all(pack, &pack.work.join("root-fetchers"))?;
    Ok(format!("{cases} cases"))
}

/// Scripts that run on machines of users, where no test of ours runs.
fn scripts(pack: &Pack) -> Result<String, Stop> {
    let shellcheck = || Program::new("shellcheck").folder(&pack.root);
    if !shellcheck().arg("--version").succeeds() {
        return Err(Stop::skipped("shellcheck is missing: run `cargo xtask setup`"));
    }
    let names = ["action/fetch.sh", "action/pre-commit.sh", "action/scan.sh", "release/install.sh"];
    let output = shellcheck().args(names.map(|name| format!("packages/{name}"))).run(Echo::Kept);
    let output = output.map_err(|error| Stop::failed(error.to_string()))?;
    if output.success { Ok(format!("{} scripts", names.len())) } else { Err(Stop::failed(output.text)) }
}

fn image(pack: &Pack) -> Result<String, Stop> {
    trial::image(pack).map(|()| String::new())
}

/// Makes the archive and the packages of distributions again, elsewhere and later, and compares the bytes.
fn same_bytes(pack: &Pack) -> Result<String, Stop> {
    let (work, out) = (pack.work.join("again"), pack.work.join("again-out"));
    let again = Pack::new(
        &pack.root,
        pack.facts.clone(),
        &pack.public_key,
        &pack.files().join("stockade"),
        &work,
        &out,
    )?;
    let mut files = vec![again.archive()?, again.wheel()?];
    for (tools, make) in
        [("dpkg-deb", Pack::deb as fn(&Pack) -> Result<PathBuf, Stop>), ("rpmbuild", Pack::rpm)]
    {
        if for_distributions(pack, &[tools]).is_ok() {
            files.push(make(&again)?);
        }
    }
    files.extend(again.node()?);
    for file in &files {
        let first = pack.out.join(file.file_name().unwrap_or_default());
        let [one, two] =
            [&first, file].map(|file| fs::read(file).map_err(|error| pack::failed(file, &error)));
        if one? != two? {
            return Err(Stop::failed(format!("{} and {} differ", first.display(), file.display())));
        }
    }
    Ok(format!("{} files", files.len()))
}

/// The last step of a release: the archives of all platforms, and the key of the project.
fn index_of_release(workspace: &Workspace, key: &Path) -> Result<(), Stop> {
    let facts = Facts::load(&workspace.root)?;
    let [out, work] = [OUT, WORK].map(|name| workspace.target.join(name));
    make_directory(&work)?;
    let key = SigningKey::read(key, &work)?;
    if key.public() != facts.public_key {
        let found = &facts.public_key;
        let line = format!("public-key = \"{}\"", key.public());
        return Err(Stop::failed(format!(
            "Cargo.toml has the key `{found}`; for this one the line is {line}"
        )));
    }
    if let Some(why) = facts.unfinished() {
        return Err(Stop::failed(format!("cannot release: {why}")));
    }
    let archives = index::write(&workspace.root, &facts, &out, &key)?;
    match PLATFORMS.iter().find(|platform| archives.iter().all(|archive| archive.platform != *platform)) {
        Some(missing) => Err(Stop::failed(format!("no archive for {} in {}", missing.triple, out.display()))),
        None => Ok(()),
    }
}

fn size_of(file: &Path) -> String {
    let size = fs::metadata(file).map_or(0, |file| file.len());
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    format!("{name} {}.{} MB", size / 1_000_000, size / 100_000 % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Options, Stop> {
        Options::parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_read() {
        let options = parsed(&["--dry-run", "--binary", "x"]).unwrap();
        assert_eq!((options.words, options.binary), (vec!["--dry-run".to_owned()], Some("x".into())));
        for words in [["--binary"].as_slice(), &["--key"], &["--dry"], &["publish"]] {
            assert!(parsed(words).unwrap_err().message().starts_with("usage: "), "{words:?}");
        }
    }

    #[test]
    fn each_template_is_used() {
        let workspace = Workspace::load().unwrap();
        let used = ["install.sh", "stockade.rb", "flake.nix", "Containerfile", "control", "stockade.spec"];
        for entry in fs::read_dir(workspace.root.join(templates::TEMPLATES)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert!(used.contains(&name.as_str()), "{name} is a template that is not used");
        }
    }
}
