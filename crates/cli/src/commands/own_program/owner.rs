//! What installed a program, by its path and by what installers record.

use std::fs;
use std::path::{Path, PathBuf};

use stockade_guard::command::shell::quote_argv;

/// What keeps a program up to date.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// `install.sh`, which left the installer of this version.
    Installer { directory: PathBuf, script: PathBuf },
    /// A package manager, and its command.
    Manager { name: &'static str, update: String },
    /// A copy, or a build.
    Unknown,
}

/// Where installers record what they installed.
pub(super) struct Machine {
    /// `/`, but for tests.
    pub(super) root: PathBuf,
    /// Data of the user.
    pub(super) data: Option<PathBuf>,
    /// Home of cargo.
    pub(super) cargo: Option<PathBuf>,
    /// Asks rpm, whose database only itself reads.
    pub(super) is_of_rpm: fn(&Path) -> bool,
}

/// Package managers whose directories are told by a part of the path.
const BY_PATH: &[(&str, &str, &str)] = &[
    ("/Cellar/stockade/", "Homebrew", "brew upgrade stockade"),
    ("/nix/store/", "Nix", "nix profile upgrade stockade"),
    ("/pipx/venvs/stockade/", "pipx", "pipx upgrade stockade"),
    ("/uv/tools/stockade/", "uv", "uv tool upgrade stockade"),
];

/// Returns what installed a program. Its path has no symlinks.
pub(super) fn of(program: &Path, machine: &Machine) -> Owner {
    let text = program.to_string_lossy();
    let by_path = BY_PATH.iter().find(|(part, ..)| text.contains(part));
    by_path
        .map(|&(_, name, update)| Owner::Manager { name, update: update.to_owned() })
        .or_else(|| npm(program))
        .or_else(|| installer(program, machine))
        .or_else(|| distribution(program, machine))
        .or_else(|| cargo(program, machine))
        .or_else(|| pip(program))
        .unwrap_or(Owner::Unknown)
}

/// The package of a platform is in `node_modules`: of a project, or of all projects.
fn npm(program: &Path) -> Option<Owner> {
    let modules = program.ancestors().filter(|path| path.ends_with("node_modules")).last()?;
    let is_ours = program.parent()?.strip_prefix(modules).ok()?.to_string_lossy().contains("@stockade/cli-");
    let project = modules.parent().filter(|project| project.join("package.json").is_file());
    let update = match project {
        Some(project) => {
            command(&["npm", "--prefix", &project.to_string_lossy(), "install", "@stockade/client@latest"])
        }
        None => "npm install --global @stockade/client@latest".to_owned(),
    };
    is_ours.then_some(Owner::Manager { name: "npm", update })
}

/// The list of files that `install.sh` wrote.
fn installer(program: &Path, machine: &Machine) -> Option<Owner> {
    let records = machine.data.as_ref()?.join("stockade");
    let list = fs::read_to_string(records.join("installed")).ok()?;
    let listed = |line: &str| line.strip_prefix("file ").map(Path::new)?.canonicalize().ok();
    let script = records.join("install.sh");
    let is_ours = list.lines().filter_map(listed).any(|file| file == program) && script.is_file();
    is_ours.then(|| Owner::Installer { directory: program.parent().unwrap_or(program).to_owned(), script })
}

/// The package of a distribution.
fn distribution(program: &Path, machine: &Machine) -> Option<Owner> {
    let list = fs::read_to_string(machine.root.join("var/lib/dpkg/info/stockade.list")).unwrap_or_default();
    if list.lines().any(|line| Path::new(line) == program) {
        return Some(Owner::Manager {
            name: "dpkg",
            update: "sudo apt install --only-upgrade stockade".to_owned(),
        });
    }
    let update = "sudo dnf upgrade stockade".to_owned();
    (machine.is_of_rpm)(program).then_some(Owner::Manager { name: "rpm", update })
}

/// What cargo installed is listed with its source.
fn cargo(program: &Path, machine: &Machine) -> Option<Owner> {
    let home = machine.cargo.as_ref()?.canonicalize().ok()?;
    let list = fs::read_to_string(home.join(".crates.toml")).ok()?;
    let source =
        list.lines().find_map(|line| line.strip_prefix("\"stockade-cli ")?.split(['(', ')']).nth(1))?;
    let update = match source.split_once('+') {
        Some(("git", address)) => {
            let address = address.split(['#', '?']).next().unwrap_or(address);
            command(&["cargo", "install", "--locked", "--git", address, "stockade-cli"])
        }
        Some(("path", address)) => {
            let directory = address.strip_prefix("file://").unwrap_or(address);
            command(&["cargo", "install", "--locked", "--path", directory])
        }
        _ => "cargo install --locked stockade-cli".to_owned(),
    };
    (program.parent()? == home.join("bin")).then_some(Owner::Manager { name: "cargo", update })
}

/// The wheel leaves its description beside the packages of the same environment.
fn pip(program: &Path) -> Option<Owner> {
    let prefix = program.parent().filter(|folder| folder.ends_with("bin"))?.parent()?;
    let names =
        |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let pythons = names(prefix.join("lib")).filter(|path| path.to_string_lossy().contains("/python"));
    let is_ours = pythons.flat_map(|python| names(python.join("site-packages"))).any(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with("stockade-") && name.ends_with(".dist-info")
    });
    let python = prefix.join("bin/python");
    let update = if python.exists() {
        command(&[&python.to_string_lossy(), "-m", "pip", "install", "--upgrade", "stockade"])
    } else {
        "python3 -m pip install --user --upgrade stockade".to_owned()
    };
    is_ours.then_some(Owner::Manager { name: "pip", update })
}

/// A command line in which a path may contain spaces.
fn command(words: &[&str]) -> String {
    quote_argv(words.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with files, and the owner of one of them. `{}` in a text is the directory of the machine.
    fn owner(files: &[(&str, &str)], program: &str, is_of_rpm: fn(&Path) -> bool) -> (Owner, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (name, text) in files.iter().chain(&[(program, "")]) {
            let file = root.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text.replace("{}", &root.to_string_lossy())).unwrap();
        }
        let machine = Machine {
            root: root.clone(),
            data: Some(root.join("home/.local/share")),
            cargo: Some(root.join("home/.cargo")),
            is_of_rpm,
        };
        (of(&root.join(program), &machine), root)
    }

    /// Files, the program among them, the name of its owner, and its command.
    type Row<'a> = (&'a [(&'a str, &'a str)], &'a str, &'static str, &'a str);

    const RECEIPT: &str = "home/.local/share/stockade/installed";
    const CRATES: &str = "home/.cargo/.crates.toml";

    #[test]
    fn each_package_manager_is_found_with_its_command() {
        let registry = "[v1]\n\"stockade-cli 0.1.0 (registry+https://index.example)\" = [\"stockade\"]\n";
        let git = registry
            .replace("registry+https://index.example", "git+https://git.example/a/stockade?tag=v1#0a1b");
        let path =
            registry.replace("registry+https://index.example", "path+file:///src/my stockade/crates/cli");
        #[rustfmt::skip]
        let rows: &[Row<'_>] = &[
            (&[], "opt/homebrew/Cellar/stockade/0.1.0/bin/stockade", "Homebrew", "brew upgrade stockade"),
            (&[], "nix/store/abc-stockade/bin/stockade", "Nix", "nix profile upgrade stockade"),
            (&[], "home/.local/share/pipx/venvs/stockade/bin/stockade", "pipx", "pipx upgrade stockade"),
            (&[], "home/.local/share/uv/tools/stockade/bin/stockade", "uv", "uv tool upgrade stockade"),
            (&[], "usr/lib/node_modules/@stockade/client/node_modules/@stockade/cli-linux-x64/stockade", "npm",
                "npm install --global @stockade/client@latest"),
            (&[("p/package.json", "{}")], "p/node_modules/@stockade/cli-linux-x64/stockade", "npm",
                "npm --prefix ROOT/p install @stockade/client@latest"),
            (&[("var/lib/dpkg/info/stockade.list", "/.\n{}/usr/bin/stockade\n")], "usr/bin/stockade", "dpkg",
                "sudo apt install --only-upgrade stockade"),
            (&[(CRATES, registry)], "home/.cargo/bin/stockade", "cargo", "cargo install --locked stockade-cli"),
            (&[(CRATES, &git)], "home/.cargo/bin/stockade", "cargo",
                "cargo install --locked --git https://git.example/a/stockade stockade-cli"),
            (&[(CRATES, &path)], "home/.cargo/bin/stockade", "cargo",
                "cargo install --locked --path '/src/my stockade/crates/cli'"),
            (&[("v/lib/python3.11/site-packages/stockade-0.1.0.dist-info/RECORD", ""), ("v/bin/python", "")], "v/bin/stockade",
                "pip", "ROOT/v/bin/python -m pip install --upgrade stockade"),
            (&[("home/.local/lib/python3.11/site-packages/stockade-0.1.0.dist-info/RECORD", "")], "home/.local/bin/stockade",
                "pip", "python3 -m pip install --user --upgrade stockade"),
        ];
        for (files, program, name, update) in rows {
            let (owner, root) = owner(files, program, |_| false);
            let update = update.replace("ROOT", &root.to_string_lossy());
            assert_eq!(owner, Owner::Manager { name, update }, "{program}");
        }
        let (owner, _) = owner(&[], "usr/bin/stockade", |_| true);
        assert_eq!(owner, Owner::Manager { name: "rpm", update: "sudo dnf upgrade stockade".to_owned() });
    }

    #[test]
    fn only_files_on_the_list_of_the_installer_are_its_own() {
        let script = ("home/.local/share/stockade/install.sh", "");
        let receipt = (RECEIPT, "version 0.1.0\nfile {}/home/.local/bin/stockade\n");
        let (owner_of_listed, root) = owner(&[receipt, script], "home/.local/bin/stockade", |_| false);
        let directory = root.join("home/.local/bin");
        assert_eq!(owner_of_listed, Owner::Installer { directory, script: root.join(script.0) });
        for (files, program) in [
            // Another copy, a list without its installer, and a list of another program.
            ([receipt, script].as_slice(), "opt/stockade"),
            (&[receipt], "home/.local/bin/stockade"),
            (&[(RECEIPT, "file {}/other\n"), script], "home/.local/bin/stockade"),
        ] {
            assert_eq!(owner(files, program, |_| false).0, Owner::Unknown, "{program}");
        }
    }

    #[test]
    fn what_lies_beside_a_package_manager_is_not_its_own() {
        let dpkg = ("var/lib/dpkg/info/stockade.list", "/usr/bin/stockade\n");
        let crates = (CRATES, "\"stockade-cli 0.1.0 (registry+x)\" = [\"stockade\"]\n");
        for program in
            ["usr/local/bin/stockade", "home/project/target/release/stockade", "home/node_modules/x/stockade"]
        {
            assert_eq!(owner(&[dpkg, crates], program, |_| false).0, Owner::Unknown, "{program}");
        }
    }
}
