//! What an approved installation needs in the sandbox besides the agent's own hosts: the registry of its package manager, or the
//! user's mirror.

use std::collections::{BTreeMap, BTreeSet};

use stockade_command::shell::{Arg, Run};
use stockade_command::{CommandDecision, Effect};

use super::package_mirrors::MirrorSetting;

/// A family of package managers.
pub(crate) struct Registry {
    programs: &'static [&'static str],
    /// Subcommands that download packages. Empty: the program does nothing else.
    installs: &'static [&'static str],
    /// Whether the program downloads without a subcommand.
    is_bare: bool,
    hosts: &'static [&'static str],
    mirror: Option<&'static MirrorSetting>,
}

/// The additions to a sandbox by which the installations of a command work.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct InstallationNeeds {
    /// Entries for the host list.
    pub(crate) hosts: BTreeSet<String>,
    /// Variables with the addresses of mirrors.
    pub(crate) variables: BTreeMap<&'static str, String>,
}

const NPM_MIRROR: MirrorSetting = MirrorSetting {
    files: &[".npmrc"],
    key: "registry",
    variables: &["NPM_CONFIG_REGISTRY", "npm_config_registry"],
};
const PYPI_MIRROR: MirrorSetting = MirrorSetting {
    files: &[".config/pip/pip.conf", ".pip/pip.conf"],
    key: "index-url",
    variables: &["PIP_INDEX_URL", "UV_DEFAULT_INDEX"],
};
const GO_MIRROR: MirrorSetting =
    MirrorSetting { files: &[".config/go/env"], key: "GOPROXY", variables: &["GOPROXY"] };

const NPM: &[&str] = &["registry.npmjs.org", "registry.yarnpkg.com"];
const PYPI: &[&str] = &["pypi.org", "files.pythonhosted.org"];
const CRATES: &[&str] = &["index.crates.io", "static.crates.io", "crates.io"];
const GO: &[&str] = &["proxy.golang.org", "sum.golang.org"];
const GEMS: &[&str] = &["rubygems.org", "index.rubygems.org"];
const PACKAGIST: &[&str] = &["repo.packagist.org", "packagist.org", "api.github.com", "codeload.github.com"];
const DENO: &[&str] = &["jsr.io", "npm.jsr.io", "registry.npmjs.org", "deno.land"];

#[rustfmt::skip]
const REGISTRIES: &[Registry] = &[
    Registry { programs: &["npm", "pnpm", "bun"], installs: &["install", "i", "ci", "add", "update", "up", "upgrade", "dlx", "exec", "x",
        "create", "init", "outdated", "view", "info", "audit"], is_bare: false, hosts: NPM, mirror: Some(&NPM_MIRROR) },
    Registry { programs: &["yarn"], installs: &["install", "add", "up", "upgrade", "dlx", "create", "outdated", "info", "audit"],
        is_bare: true, hosts: NPM, mirror: Some(&NPM_MIRROR) },
    Registry { programs: &["npx", "bunx", "pnpx"], installs: &[], is_bare: true, hosts: NPM, mirror: Some(&NPM_MIRROR) },
    Registry { programs: &["pip", "pip3"], installs: &["install", "download", "wheel", "index"], is_bare: false, hosts: PYPI, mirror: Some(&PYPI_MIRROR) },
    Registry { programs: &["uv", "poetry", "pdm", "pipenv", "hatch", "rye"], installs: &["sync", "add", "install", "lock", "update", "pip",
        "tool", "run", "self"], is_bare: false, hosts: PYPI, mirror: Some(&PYPI_MIRROR) },
    Registry { programs: &["pipx", "uvx"], installs: &[], is_bare: true, hosts: PYPI, mirror: Some(&PYPI_MIRROR) },
    Registry { programs: &["cargo"], installs: &["add", "install", "fetch", "update", "search", "info", "generate-lockfile"],
        is_bare: false, hosts: CRATES, mirror: None },
    Registry { programs: &["go"], installs: &["get", "install", "mod"], is_bare: false, hosts: GO, mirror: Some(&GO_MIRROR) },
    Registry { programs: &["gem", "bundle", "bundler"], installs: &["install", "update", "add", "fetch", "lock", "outdated"],
        is_bare: false, hosts: GEMS, mirror: None },
    Registry { programs: &["composer"], installs: &["install", "update", "require"], is_bare: false, hosts: PACKAGIST, mirror: None },
    Registry { programs: &["deno"], installs: &["install", "add", "cache", "update"], is_bare: false, hosts: DENO, mirror: None },
];

/// Returns the registries of the installations in a command, of the parts with at least this effect.
pub(crate) fn registries_of(judged: &CommandDecision<'_, '_>, least: Effect) -> Vec<&'static Registry> {
    let parts = judged.parts.iter().filter(|part| part.effect >= least);
    parts.filter_map(|part| part.run()).filter_map(registry_of).collect()
}

/// Whether a program downloads packages from a known registry.
pub(crate) fn is_installation(run: &Run<'_>) -> bool {
    registry_of(run).is_some()
}

/// Returns what these registries need, with the mirrors in the user's settings.
pub(crate) fn needs_of(registries: &[&Registry]) -> InstallationNeeds {
    let mut needs = InstallationNeeds::default();
    for registry in registries {
        needs.hosts.extend(registry.hosts.iter().map(|host| (*host).to_owned()));
        if let Some(mirror) = registry.mirror.and_then(MirrorSetting::read) {
            needs.hosts.insert(mirror.host);
            needs.variables.extend(mirror.variables);
        }
    }
    needs
}

fn registry_of(run: &Run<'_>) -> Option<&'static Registry> {
    let program = run.program()?;
    let name = program.rsplit('/').next().unwrap_or(program);
    let words: Vec<&str> = run.argv.iter().skip(1).filter_map(Arg::known).collect();
    // `python -m pip install x`
    let (name, words) = match words.as_slice() {
        ["-m", module @ ("pip" | "uv" | "poetry"), words @ ..] if name.starts_with("python") => {
            (*module, words)
        }
        words => (name, words),
    };
    let registry = REGISTRIES.iter().find(|registry| registry.programs.contains(&name))?;
    let subcommand = words.iter().find(|word| !word.starts_with('-'));
    let installs = match subcommand {
        None => registry.is_bare,
        Some(word) => registry.installs.is_empty() || registry.installs.contains(word),
    };
    installs.then_some(registry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_command::shell::ReadOptions;
    use stockade_command::{CommandContext, CommandPolicy};

    #[test]
    fn an_installation_needs_the_registry_of_its_manager() {
        let policy = CommandPolicy::builtin();
        for (text, hosts) in [
            ("npm install", NPM),
            ("npm ci --silent", NPM),
            ("yarn", NPM),
            ("npx cowsay", NPM),
            (".venv/bin/pip install x", PYPI),
            ("python3 -m pip install -r r.txt", PYPI),
            ("uv sync", PYPI),
            ("cd sub && cargo add serde", CRATES),
            ("bash -c 'go mod download'", GO),
            ("bundle install", GEMS),
            ("npm test", &[]),
            ("npm run build", &[]),
            ("pip list", &[]),
            ("cargo build", &[]),
            ("ls install", &[]),
        ] {
            let judged = policy.decide(text, &ReadOptions::default(), &CommandContext::default());
            let found: Vec<_> = registries_of(&judged, Effect::Allow)
                .iter()
                .flat_map(|registry| registry.hosts)
                .copied()
                .collect();
            assert_eq!(found, hosts, "{text}");
        }
    }
}
