//! What an approved installation needs in the sandbox besides the agent's own hosts: the registry of its package manager, or the
//! user's mirror.

use std::collections::{BTreeMap, BTreeSet};

use stockade_command::{CommandDecision, Effect, Layer, PackageRegistry, PackageUse, package_use};

use super::package_mirrors::MirrorSetting;

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

/// The entries of a registry for the host list, and the setting for a mirror of it. Packages are only read: with a token of its
/// own, the script of a package could publish what it finds.
#[rustfmt::skip]
const fn registry(registry: PackageRegistry) -> (&'static [&'static str], Option<&'static MirrorSetting>) {
    use PackageRegistry as R;
    match registry {
        R::Npm => (&["registry.npmjs.org GET|HEAD", "registry.npmjs.org POST /-/npm/v1/security/**",
            "registry.yarnpkg.com GET|HEAD"], Some(&NPM_MIRROR)),
        R::PyPi => (&["pypi.org GET|HEAD", "files.pythonhosted.org GET|HEAD"], Some(&PYPI_MIRROR)),
        R::Crates => (&["index.crates.io GET|HEAD", "static.crates.io GET|HEAD", "crates.io GET|HEAD"], None),
        R::GoModules => (&["proxy.golang.org GET|HEAD", "sum.golang.org GET|HEAD"], Some(&GO_MIRROR)),
        R::RubyGems => (&["rubygems.org GET|HEAD", "index.rubygems.org GET|HEAD"], None),
        // Most packages of Packagist are archives that GitHub makes of a repository.
        R::Packagist => (&["repo.packagist.org GET|HEAD", "packagist.org GET|HEAD", "api.github.com GET|HEAD /repos/**",
            "codeload.github.com GET|HEAD"], None),
        R::Jsr => (&["jsr.io GET|HEAD", "npm.jsr.io GET|HEAD", "registry.npmjs.org GET|HEAD", "deno.land GET|HEAD"], None),
        R::Maven => (&["repo.maven.apache.org GET|HEAD", "repo1.maven.org GET|HEAD", "plugins.gradle.org GET|HEAD",
            "services.gradle.org GET|HEAD", "downloads.gradle.org GET|HEAD"], None),
        R::NuGet => (&["api.nuget.org GET|HEAD", "www.nuget.org GET|HEAD"], None),
        R::Conda => (&["repo.anaconda.com GET|HEAD", "conda.anaconda.org GET|HEAD"], None),
        R::LuaRocks => (&["luarocks.org GET|HEAD"], None),
        R::Cpan => (&["www.cpan.org GET|HEAD", "cpan.metacpan.org GET|HEAD", "fastapi.metacpan.org GET|HEAD"], None),
        // A registry without a row has no host.
        _ => (&[], None),
    }
}

/// Returns the registries of the parts of a command that are at least as strict as `least`.
pub(crate) fn registries_of(judged: &CommandDecision<'_, '_>, least: Effect) -> BTreeSet<PackageRegistry> {
    let parts = judged.parts.iter().filter(|part| part.effect >= least);
    parts.filter_map(|part| package_use(part.run()?)).map(|(registry, _)| registry).collect()
}

/// Returns the registries of the builds that a rule of the user or of the machine's owner allows. Without such a rule a build has
/// what is in its caches.
pub(crate) fn registries_of_allowed_builds(judged: &CommandDecision<'_, '_>) -> BTreeSet<PackageRegistry> {
    let is_own = |part: &&stockade_command::Part<'_, '_>| {
        part.cause.rule().is_some_and(|(_, layer)| layer != Layer::BuiltIn)
    };
    let uses = judged.parts.iter().filter(is_own).filter_map(|part| package_use(part.run()?));
    uses.filter(|(_, its)| *its == PackageUse::Builds).map(|(registry, _)| registry).collect()
}

/// Returns what these registries need, with the mirrors in the user's settings.
pub(crate) fn needs_of(registries: &BTreeSet<PackageRegistry>) -> InstallationNeeds {
    let mut needs = InstallationNeeds::default();
    for (hosts, mirror) in registries.iter().map(|found| registry(*found)) {
        needs.hosts.extend(hosts.iter().map(|host| (*host).to_owned()));
        if let Some(mirror) = mirror.and_then(MirrorSetting::read) {
            needs.hosts.insert(mirror.host);
            needs.variables.extend(mirror.variables);
        }
    }
    needs
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_command::shell::ReadOptions;
    use stockade_command::{CommandContext, CommandPolicy};
    use stockade_egress::HostList;

    #[test]
    fn an_installation_needs_the_registry_of_its_manager() {
        use PackageRegistry as R;
        let policy = CommandPolicy::builtin();
        for (text, wanted) in [
            ("npm install", Some(R::Npm)),
            ("npm ci --silent", Some(R::Npm)),
            ("yarn", Some(R::Npm)),
            ("npx cowsay", Some(R::Npm)),
            (".venv/bin/pip install x", Some(R::PyPi)),
            ("python3 -m pip install -r r.txt", Some(R::PyPi)),
            ("uv sync", Some(R::PyPi)),
            ("cd sub && cargo add serde", Some(R::Crates)),
            ("bash -c 'go mod download'", Some(R::GoModules)),
            ("bundle install", Some(R::RubyGems)),
            ("./mvnw package", Some(R::Maven)),
            ("npm test", None),
            ("npm run build", None),
            ("pip list", None),
            ("cargo fmt", None),
            ("ls install", None),
        ] {
            let judged = policy.decide(text, &ReadOptions::default(), &CommandContext::default());
            let found: Vec<_> = registries_of(&judged, Effect::Allow).into_iter().collect();
            assert_eq!(found, wanted.into_iter().collect::<Vec<_>>(), "{text}");
        }
    }

    #[test]
    fn every_registry_has_hosts_that_are_only_read() {
        use PackageRegistry as R;
        for found in [R::Npm, R::PyPi, R::Crates, R::GoModules, R::RubyGems, R::Packagist]
            .into_iter()
            .chain([R::Jsr, R::Maven, R::NuGet, R::Conda, R::LuaRocks, R::Cpan])
        {
            let (hosts, _) = registry(found);
            let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
            assert!(!hosts.is_empty() && HostList::compile(&hosts).is_ok(), "{found:?}");
            let only_reads = |host: &&String| !host.ends_with("GET|HEAD");
            let others: Vec<_> = hosts.iter().filter(only_reads).collect();
            assert!(
                others.iter().all(|host| host.contains(" GET|HEAD /") || host.contains("/security/")),
                "{others:?}"
            );
        }
    }
}
