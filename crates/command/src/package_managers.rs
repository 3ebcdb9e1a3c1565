//! Package managers: which registry they use, and which of their subcommands install or download packages.
//!
//! One table for the hazards `install-package` and `install-from-anywhere`, and for the hosts that a sandbox reaches once an installation is approved.

use stockade_shell::lookup::last_name;
use stockade_shell::{Arg, Run};

/// The registry of a package manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum PackageRegistry {
    /// The registry of npm, with packages for Node.js.
    Npm,
    /// The Python Package Index.
    PyPi,
    /// The registry of Cargo, with packages for Rust.
    Crates,
    /// The module proxy of Go.
    GoModules,
    /// The registry of RubyGems, with packages for Ruby.
    RubyGems,
    /// The registry of Composer, with packages for PHP.
    Packagist,
    /// The registries that Deno reads, those of JSR and npm.
    Jsr,
    /// Maven Central and the plugins of Gradle, for Java.
    Maven,
    /// The registry of NuGet, with packages for .NET.
    NuGet,
    /// The channels of Anaconda.
    Conda,
    /// The registry of LuaRocks, with packages for Lua.
    LuaRocks,
    /// The archive network of Perl, with its index.
    Cpan,
}

/// What a subcommand does with packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PackageUse {
    /// Installs packages, whose scripts may run.
    Installs,
    /// Downloads packages or data about them, and runs nothing of them.
    Downloads,
    /// Builds or runs the project, and downloads the dependencies that are missing.
    Builds,
}

/// A family of package managers with the same subcommands.
struct PackageManager {
    programs: &'static [&'static str],
    registry: PackageRegistry,
    installs: &'static [&'static str],
    downloads: &'static [&'static str],
    builds: &'static [&'static str],
    /// The use without a subcommand.
    bare: Option<PackageUse>,
}

/// A column that every subcommand is in.
const ANY: &[&str] = &["*"];

#[rustfmt::skip]
const MANAGERS: &[PackageManager] = {
    use PackageRegistry as R;
    use PackageUse::{Builds, Installs};
    &[
        PackageManager { programs: &["npm", "pnpm", "bun"], registry: R::Npm, bare: None,
            installs: &["install", "i", "ci", "add", "update", "up", "upgrade", "exec", "dlx", "x", "create", "init"],
            downloads: &["outdated", "view", "info", "audit"], builds: &[] },
        PackageManager { programs: &["yarn"], registry: R::Npm, bare: Some(Installs),
            installs: &["install", "add", "up", "upgrade", "exec", "dlx", "create", "init"],
            downloads: &["outdated", "info", "audit"], builds: &[] },
        PackageManager { programs: &["npx", "bunx", "pnpx"], registry: R::Npm, bare: None, installs: ANY, downloads: &[], builds: &[] },
        PackageManager { programs: &["pip", "pip3"], registry: R::PyPi, bare: None,
            installs: &["install", "download", "wheel"], downloads: &["index"], builds: &[] },
        PackageManager { programs: &["uv", "poetry", "pdm", "pipenv", "hatch", "rye"], registry: R::PyPi, bare: None,
            installs: &["install", "add", "sync", "lock", "update", "pip", "tool", "self"], downloads: &[], builds: &["run", "build"] },
        PackageManager { programs: &["pipx", "uvx"], registry: R::PyPi, bare: None, installs: ANY, downloads: &[], builds: &[] },
        PackageManager { programs: &["cargo"], registry: R::Crates, bare: None, installs: &["install"],
            downloads: &["add", "fetch", "update", "search", "info", "generate-lockfile", "vendor"],
            builds: &["build", "b", "check", "c", "test", "t", "run", "r", "doc", "bench", "clippy", "nextest"] },
        PackageManager { programs: &["go"], registry: R::GoModules, bare: None, installs: &["install", "get"], downloads: &["mod"],
            builds: &["build", "test", "run", "vet", "list", "generate"] },
        PackageManager { programs: &["gem", "bundle", "bundler"], registry: R::RubyGems, bare: None,
            installs: &["install", "update", "add"], downloads: &["fetch", "lock", "outdated"], builds: &[] },
        PackageManager { programs: &["composer"], registry: R::Packagist, bare: None,
            installs: &["install", "update", "require", "create-project"], downloads: &["outdated"], builds: &[] },
        PackageManager { programs: &["deno"], registry: R::Jsr, bare: None,
            installs: &["install", "add", "update"], downloads: &["cache"], builds: &["run", "test", "check", "task"] },
        PackageManager { programs: &["mvn", "mvnw", "gradle", "gradlew"], registry: R::Maven, bare: Some(Builds),
            installs: &[], downloads: &[], builds: ANY },
        PackageManager { programs: &["dotnet", "nuget"], registry: R::NuGet, bare: None,
            installs: &["install", "tool"], downloads: &["restore", "add"], builds: &["build", "test", "run", "publish"] },
        PackageManager { programs: &["conda", "mamba", "micromamba"], registry: R::Conda, bare: None,
            installs: &["install", "create", "update", "env"], downloads: &["search"], builds: &[] },
        PackageManager { programs: &["luarocks"], registry: R::LuaRocks, bare: None,
            installs: &["install", "build", "make"], downloads: &["search"], builds: &[] },
        PackageManager { programs: &["cpan", "cpanm"], registry: R::Cpan, bare: None, installs: ANY, downloads: &[], builds: &[] },
    ]
};

/// The programs of the table.
pub(crate) const PROGRAMS: &[&str] = {
    const ALL: [&str; count()] = joined(&[]);
    &ALL
};

/// The programs of the table, and those that are only asked to install, for which no host is opened.
pub(crate) const INSTALLERS: &[&str] = {
    const OTHERS: &[&str] = &["brew", "easy_install"];
    const ALL: [&str; count() + OTHERS.len()] = joined(OTHERS);
    &ALL
};

#[expect(clippy::indexing_slicing, reason = "runs at compile time")]
const fn count() -> usize {
    let (mut row, mut count) = (0, 0);
    while row < MANAGERS.len() {
        count += MANAGERS[row].programs.len();
        row += 1;
    }
    count
}

/// Returns the programs of all rows, and others.
#[expect(clippy::indexing_slicing, reason = "runs at compile time")]
const fn joined<const N: usize>(others: &[&'static str]) -> [&'static str; N] {
    let (mut all, mut next, mut row) = ([""; N], 0, 0);
    while row <= MANAGERS.len() {
        let programs = if row < MANAGERS.len() { MANAGERS[row].programs } else { others };
        let mut at = 0;
        while at < programs.len() {
            all[next] = programs[at];
            (next, at) = (next + 1, at + 1);
        }
        row += 1;
    }
    all
}

/// Whether every word of the program names a package: `npx cowsay`, `cpanm URL`.
pub(crate) fn installs_any(program: &str) -> bool {
    MANAGERS.iter().any(|manager| manager.programs.contains(&program) && manager.installs == ANY)
}

/// Returns the registry of the package manager that a command runs and what it does with packages, if it needs the registry.
#[must_use]
pub fn package_use(run: &Run<'_>) -> Option<(PackageRegistry, PackageUse)> {
    let name = last_name(run.program()?);
    let words: Vec<&str> = run.argv.iter().skip(1).filter_map(Arg::known).collect();
    let (name, words) = match words.as_slice() {
        // `python -m pip install x`
        ["-m", module @ ("pip" | "uv" | "poetry" | "pdm" | "pipenv" | "pipx"), words @ ..]
            if name.starts_with("python") =>
        {
            (*module, words)
        }
        words => (name, words),
    };
    use_of(name, words.iter().copied().find(|word| !word.starts_with(['-', '+'])))
}

/// Returns the registry of a program, and what its subcommand does with packages.
pub(crate) fn use_of(program: &str, subcommand: Option<&str>) -> Option<(PackageRegistry, PackageUse)> {
    let manager = MANAGERS.iter().find(|manager| manager.programs.contains(&program))?;
    Some((manager.registry, manager.use_of(subcommand)?))
}

impl PackageManager {
    fn use_of(&self, subcommand: Option<&str>) -> Option<PackageUse> {
        let Some(word) = subcommand else { return self.bare };
        let columns = [
            (self.installs, PackageUse::Installs),
            (self.downloads, PackageUse::Downloads),
            (self.builds, PackageUse::Builds),
        ];
        let is_in = |words: &[&str]| words.contains(&word) || words == ANY;
        columns.into_iter().find(|(words, _)| is_in(words)).map(|(_, its)| its)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_program_and_a_subcommand_stand_in_one_place() {
        let mut programs = HashSet::new();
        for manager in MANAGERS {
            assert!(
                manager.programs.iter().all(|program| programs.insert(*program)),
                "{:?}",
                manager.programs
            );
            let words = manager.installs.iter().chain(manager.downloads).chain(manager.builds);
            let mut seen = HashSet::new();
            assert!(words.into_iter().all(|word| seen.insert(*word)), "{:?}", manager.programs);
        }
    }

    #[test]
    fn a_subcommand_tells_what_is_done_with_packages() {
        use PackageUse::{Builds, Downloads, Installs};
        for (program, subcommand, wanted) in [
            ("npm", Some("ci"), Some(Installs)),
            ("npm", Some("view"), Some(Downloads)),
            ("npm", Some("test"), None),
            ("npm", None, None),
            ("yarn", None, Some(Installs)),
            ("npx", Some("cowsay"), Some(Installs)),
            ("cargo", Some("fetch"), Some(Downloads)),
            ("cargo", Some("test"), Some(Builds)),
            ("cargo", Some("fmt"), None),
            ("mvn", Some("dependency:tree"), Some(Builds)),
            ("ls", Some("install"), None),
        ] {
            assert_eq!(use_of(program, subcommand).map(|(_, its)| its), wanted, "{program} {subcommand:?}");
        }
    }
}
