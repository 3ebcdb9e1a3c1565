//! Equivalent forms of commands: one row each, with the statement of the manual that proves it.
//!
//! A form is written as in the rules: spaces between words, bars between alternatives, `%` for any word, which is preserved, and
//! `!` if only options may follow.

use super::abbreviated::{Beginnings, spelled};
use super::group::Group;
use super::group::Sameness::{self, Alike, Instead, Same};
use super::spelling::Spelling;

/// The similarity, the programs that each form starts with (empty if the forms include them), the forms separated by `=`, and the
/// statement of the manual.
pub(super) type Row = (Sameness, &'static str, &'static str, &'static str);

/// A part of the tables, from which the groups of a program are created.
#[derive(Clone, Copy)]
pub(super) enum Source {
    /// A row, for one of its programs; for none if the forms include them.
    Row(&'static Row, &'static str),
    /// The subcommands of a program.
    List(&'static List, &'static str),
    /// The names of a Kubernetes resource, for a cluster client.
    Resource(&'static str, &'static str),
}

/// Returns the parts of all tables, in order.
pub(super) fn sources() -> impl Iterator<Item = Source> {
    let rows = ROWS.iter().flat_map(|row| {
        let own = row.1.split_whitespace().map(move |program| Source::Row(row, program));
        own.chain(row.1.is_empty().then_some(Source::Row(row, "")))
    });
    let lists = LISTS
        .iter()
        .flat_map(|list| list.programs.split_whitespace().map(move |program| Source::List(list, program)));
    let resources = RESOURCES
        .iter()
        .flat_map(|names| CLIENTS.iter().map(move |program| Source::Resource(names, program)));
    rows.chain(lists).chain(resources)
}

impl Source {
    /// Returns the programs that the forms start with, possibly with duplicates.
    pub(super) fn programs(self) -> Vec<&'static str> {
        match self {
            Self::Row((_, _, spellings, _), "") => spellings.split(" = ").flat_map(first_words).collect(),
            Self::Row(_, program) | Self::List(_, program) | Self::Resource(_, program) => vec![program],
        }
    }

    /// Returns whether it makes forms of two words identical.
    pub(super) fn has_full_names(self) -> bool {
        match self {
            Self::Row(row, _) => row.0 == Same,
            Self::List(..) => true,
            Self::Resource(..) => false,
        }
    }

    /// Returns its groups.
    pub(super) fn groups(self) -> Vec<Group> {
        match self {
            Self::Row(row, program) => vec![of_row(row, program)],
            Self::List(list, program) => of_list(list, program),
            Self::Resource(names, program) => of_resource(names, program),
        }
    }
}

fn first_words(spelling: &'static str) -> impl Iterator<Item = &'static str> {
    spelling.split_whitespace().next().into_iter().flat_map(|word| word.split('|'))
}

fn of_row((sameness, _, spellings, _): &Row, program: &str) -> Group {
    let read = |one| Spelling::read(format!("{program} {one}").trim());
    Group { sameness: *sameness, spellings: spellings.split(" = ").map(read).collect() }
}

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // Packages of JavaScript.
    (Same, "npm", "run|run-script|rum|urn test = test|t|tst", "npm help run: `npm test` runs the script `test`"),
    (Same, "npm", "run|run-script|rum|urn start = start", "npm help start: runs the script `start`"),
    (Same, "npm", "run|run-script|rum|urn stop = stop", "npm help stop: runs the script `stop`"),
    (Alike, "npm", "run|run-script|rum|urn restart = restart", "npm help restart: the script `restart`, or `stop` and `start`"),
    (Alike, "npm", "config|c set = set", "npm help set: the same as `npm config set`"),
    (Alike, "npm", "config|c get = get", "npm help get: the same as `npm config get`"),
    (Alike, "npm", "dist-tag|dist-tags add|set|a|s", "npm help dist-tag"),
    (Alike, "npm", "dist-tag|dist-tags rm|r|del|d|remove", "npm help dist-tag"),
    (Alike, "", "npx = npm exec|x", "npx --help: runs a command as `npm exec` does, with its options read otherwise"),
    (Same, "pnpm", "install|i", "pnpm install --help: Aliases: i"),
    (Alike, "pnpm", "add % = install|i %", "pnpm: `pnpm install NAME` is `pnpm add NAME`"),
    (Same, "pnpm", "remove|rm|uninstall|un|uni", "pnpm remove --help: Aliases: rm, uninstall, un, uni"),
    (Same, "pnpm", "update|up|upgrade", "pnpm update --help: Aliases: up, upgrade"),
    (Same, "pnpm", "run|run-script", "pnpm run --help: Alias: run-script"),
    (Same, "pnpm", "list|ls", "pnpm list --help: Aliases: ls"),
    (Same, "pnpm", "list|ls --long = ll|la", "pnpm ll: `list --long`"),
    (Same, "pnpm", "link|ln", "pnpm link --help: Aliases: ln"),
    (Same, "pnpm", "unlink|dislink", "pnpm unlink --help: Aliases: dislink"),
    (Same, "pnpm", "rebuild|rb", "pnpm rebuild --help: Aliases: rb"),
    (Same, "pnpm", "config|c", "pnpm config --help: Aliases: c"),
    (Same, "pnpm", "ci|clean-install|ic|install-clean", "pnpm ci --help: Aliases"),
    (Same, "pnpm", "install-test|it", "pnpm install-test --help: Aliases: it"),
    (Same, "pnpm", "login|adduser", "pnpm login --help: Aliases: adduser"),
    (Same, "pnpm", "run|run-script test = test|t|tst", "pnpm test --help: Aliases: t, tst"),
    (Same, "pnpm", "run|run-script start = start", "pnpm start --help"),
    (Alike, "pnpm yarn bun", "run % = %", "a word that is no command of it is the name of a script"),
    (Alike, "pnpm", "recursive|multi|m % = %", "pnpm recursive --help: runs a command in every package"),
    (Alike, "", "pnpx = pnpm dlx", "pnpm dlx --help: pnpx is a shorthand"),
    (Same, "yarn", "run|run-script|runScript", "yarn 1 src/cli/aliases.js"),
    (Same, "yarn", "install|i|isntall = !", "yarn install: `yarn` alone installs"),
    (Same, "yarn", "remove|rm|r|un|unlink|uninstall", "yarn 1 src/cli/aliases.js"),
    (Same, "yarn", "upgrade|update|up", "yarn 1 src/cli/aliases.js; `up` of later ones"),
    (Same, "yarn", "config|c", "yarn 1 src/cli/aliases.js"),
    (Same, "yarn", "list|ls|la|ll", "yarn 1 src/cli/aliases.js"),
    (Same, "yarn", "link|ln", "yarn 1 src/cli/aliases.js"),
    (Same, "yarn", "rebuild|rb", "yarn 1 src/cli/aliases.js"),
    (Same, "yarn", "test|t|tst = run test", "yarn 1 src/cli/aliases.js; `test` is a script"),
    (Same, "yarn", "info|v|view|show", "yarn 1 src/cli/aliases.js"),
    (Same, "yarn", "login|adduser|add-user", "yarn 1 src/cli/aliases.js"),
    (Same, "yarn", "tag|dist-tag|dist-tags", "yarn 1 src/cli/aliases.js"),
    (Same, "yarn", "owner|author", "yarn 1 src/cli/aliases.js"),
    (Same, "yarn", "version|verison", "yarn 1 src/cli/aliases.js"),
    (Alike, "yarn", "publish = npm publish", "yarn 4: publishing moved below `yarn npm`"),
    (Alike, "yarn", "login|adduser|add-user = npm login", "yarn 4: moved below `yarn npm`"),
    (Alike, "yarn", "workspace * % = %", "yarn workspace NAME COMMAND runs the command in a package"),
    (Same, "bun", "install|i", "bun install --help: alias `bun i`"),
    (Same, "bun", "add|a", "bun add --help: alias `bun a`"),
    (Alike, "bun", "add|a % = install|i %", "bun install --help: with names it adds them"),
    (Same, "bun", "remove|rm|uninstall|r", "bun remove --help: alias `bun r`"),
    (Same, "bun", "create|c", "bun create --help: alias `bun c`"),
    (Alike, "", "bunx = bun x", "bunx is an alias for `bun x`"),
    (Alike, "", "npm = corepack npm", "corepack: runs the package manager that it is told"),
    (Alike, "", "yarn|yarnpkg = corepack yarn|yarnpkg", "corepack: yarnpkg is the same program"),
    (Alike, "", "pnpm = corepack pnpm", "corepack: runs the package manager that it is told"),
    (Instead, "", "npx = npm exec|x = pnpx = pnpm dlx = yarn dlx = bunx = bun x", "each runs a package that it fetches"),
    (Alike, "", "deno install|i|add", "deno add --help: `deno install NAME` adds it"),
    (Alike, "", "deno remove|rm|uninstall", "deno remove --help: Aliases: rm"),
    // Packages of Python.
    (Instead, "", "pip = pip3", "pip of one of the versions of Python"),
    (Instead, "", "python = python3", "one of the versions of Python"),
    (Alike, "", "python|python3|pypy|pypy3|py -m % = %", "python --help: -m runs a module as a program"),
    (Instead, "", "pip % = uv pip %", "uv pip --help: the interface of pip"),
    (Alike, "", "uvx = uv tool run", "uvx --help: an alias for `uv tool run`"),
    (Instead, "", "uvx = uv tool run = pipx run", "each runs a package that it fetches"),
    (Alike, "conda mamba micromamba", "remove|uninstall", "conda uninstall --help: an alias for conda remove"),
    (Alike, "conda mamba micromamba", "update|upgrade", "conda upgrade --help: an alias for conda update"),
    (Instead, "", "conda = mamba", "mamba: a drop-in replacement"),
    // Rust, Ruby, PHP and others.
    (Same, "cargo", "build|b", "cargo --list"),
    (Same, "cargo", "check|c", "cargo --list"),
    (Same, "cargo", "test|t", "cargo --list"),
    (Same, "cargo", "run|r", "cargo --list"),
    (Same, "cargo", "doc|d", "cargo --list"),
    (Same, "cargo", "remove|rm", "cargo --list"),
    (Same, "bundle bundler", "install|i = !", "bundle install --help: the default command"),
    (Same, "bundle bundler", "exec|e|ex|exe", "bundler: commands may be abbreviated"),
    (Same, "bundle bundler", "update|u|up", "bundler: commands may be abbreviated"),
    (Same, "gem", "install|i|in|ins|inst|insta|instal", "rubygems: commands may be abbreviated; `i` is an alias"),
    (Same, "gem", "uninstall|un|uni|unin|unins|uninst|uninsta|uninstal", "rubygems: commands may be abbreviated"),
    (Same, "gem", "push|pus", "rubygems: commands may be abbreviated"),
    (Same, "gem", "yank|y|ya|yan", "rubygems: commands may be abbreviated"),
    (Alike, "composer", "install|i", "composer install: Aliases: i"),
    (Alike, "composer", "update|u|upgrade", "composer update: Aliases: u, upgrade"),
    (Alike, "composer", "require|r", "composer require: Aliases: r"),
    (Alike, "composer", "remove|rm|uninstall", "composer remove: Aliases: rm, uninstall"),
    (Alike, "composer", "run-script|run", "composer run-script: Aliases: run"),
    (Alike, "composer", "info|show", "composer show: Aliases: info"),
    (Alike, "", "make|gmake", "GNU make is installed under both names"),
    // Packages of systems.
    (Alike, "", "apt-get = apt", "apt(8): the commands of apt-get(8) for use by people"),
    (Same, "apt apt-get", "autoremove|auto-remove", "apt-get(8)"),
    (Same, "apt apt-get", "autoclean|auto-clean", "apt-get(8)"),
    (Alike, "apt apt-get", "dist-upgrade|full-upgrade", "apt(8): full-upgrade does what dist-upgrade does"),
    (Alike, "apt apt-get", "autopurge = autoremove|auto-remove --purge", "apt-get(8)"),
    (Alike, "apt apt-get", "purge = remove --purge", "apt-get(8): purge is remove with --purge"),
    (Alike, "", "yum|dnf|dnf5|microdnf|dnf-3|yum4", "yum(8): a link to dnf"),
    (Same, "dnf yum dnf5", "install|in", "dnf(8): install, aliases in, localinstall"),
    (Same, "dnf yum dnf5", "remove|rm|erase", "dnf(8): remove, aliases rm, erase"),
    (Same, "dnf yum dnf5", "upgrade|up|update|localupdate", "dnf(8): upgrade, aliases up, update"),
    (Same, "dnf yum dnf5", "reinstall|rei", "dnf(8): reinstall, alias rei"),
    (Same, "dnf yum dnf5", "downgrade|dg", "dnf(8): downgrade, alias dg"),
    (Same, "dnf yum dnf5", "distro-sync|dsync|distrosync", "dnf(8): distro-sync, alias dsync"),
    (Same, "dnf yum dnf5", "group|grp|groups", "dnf(8): group, aliases groups, grp"),
    (Same, "dnf yum dnf5", "list|ls", "dnf(8): list, alias ls"),
    (Same, "dnf yum dnf5", "search|se", "dnf(8): search, alias se"),
    (Same, "zypper", "install|in", "zypper(8)"),
    (Same, "zypper", "remove|rm", "zypper(8)"),
    (Same, "zypper", "update|up", "zypper(8)"),
    (Same, "zypper", "dist-upgrade|dup", "zypper(8)"),
    (Same, "zypper", "search|se", "zypper(8)"),
    (Same, "zypper", "refresh|ref", "zypper(8)"),
    (Same, "zypper", "addrepo|ar", "zypper(8)"),
    (Same, "zypper", "removerepo|rr", "zypper(8)"),
    (Same, "zypper", "modifyrepo|mr", "zypper(8)"),
    (Same, "zypper", "repos|lr", "zypper(8)"),
    (Same, "zypper", "info|if", "zypper(8)"),
    (Same, "zypper", "source-install|si", "zypper(8)"),
    (Same, "zypper", "install-new-recommends|inr", "zypper(8)"),
    (Same, "brew", "install|instal", "brew commands --include-aliases"),
    (Same, "brew", "uninstall|uninstal|remove|rm", "brew commands --include-aliases"),
    (Same, "brew", "update|up", "brew commands --include-aliases"),
    (Same, "brew", "list|ls", "brew commands --include-aliases"),
    (Same, "brew", "link|ln", "brew commands --include-aliases"),
    (Same, "brew", "info|abv", "brew commands --include-aliases"),
    (Same, "brew", "doctor|dr", "brew commands --include-aliases"),
    (Same, "brew", "search|-S", "brew commands --include-aliases"),
    (Same, "brew", "home|homepage", "brew commands --include-aliases"),
    (Same, "brew", "postinstall|post_install", "brew commands --include-aliases"),
    (Same, "brew", "config|--config", "brew commands --include-aliases"),
    (Alike, "", "pacman -S = pacman --sync", "pacman(8)"),
    (Alike, "", "pacman -R = pacman --remove", "pacman(8)"),
    (Alike, "", "pacman -U = pacman --upgrade", "pacman(8)"),
    (Alike, "", "pacman -D = pacman --database", "pacman(8)"),
    (Alike, "", "dpkg -i = dpkg --install", "dpkg(1)"),
    (Alike, "", "dpkg -r = dpkg --remove", "dpkg(1)"),
    (Alike, "", "dpkg -P = dpkg --purge", "dpkg(1)"),
    (Alike, "", "rpm -i = rpm --install", "rpm(8)"),
    (Alike, "", "rpm -U = rpm --upgrade", "rpm(8)"),
    (Alike, "", "rpm -e = rpm --erase", "rpm(8)"),
    (Alike, "flatpak", "uninstall|remove", "flatpak-uninstall(1)"),
    (Alike, "flatpak", "update|upgrade", "flatpak-update(1)"),
    // Containers.
    (Same, "docker podman nerdctl", "rm = container rm|remove", "docker container rm --help: Aliases"),
    (Same, "docker podman nerdctl", "rmi = image rm|remove", "docker image rm --help: Aliases"),
    (Same, "docker podman nerdctl", "ps = container ls|list|ps", "docker container ls --help: Aliases"),
    (Same, "docker podman nerdctl", "images = image ls|list", "docker image ls --help: Aliases"),
    (Same, "docker podman nerdctl", "build = image build = builder build", "docker build --help: Aliases"),
    (Alike, "docker podman nerdctl", "build = buildx build|b", "docker buildx build --help: Aliases: docker buildx b"),
    (Alike, "docker", "build = buildx bake|f", "docker buildx bake --help: builds what a file says"),
    (Same, "docker podman nerdctl", "info = system info", "docker system info --help: Aliases"),
    (Same, "docker podman nerdctl", "events = system events", "docker system events --help: Aliases"),
    (Same, "docker podman nerdctl", "volume rm|remove", "docker volume rm --help: Aliases"),
    (Same, "docker podman nerdctl", "volume ls|list", "docker volume ls --help: Aliases"),
    (Same, "docker podman nerdctl", "network rm|remove", "docker network rm --help: Aliases"),
    (Same, "docker podman nerdctl", "network ls|list", "docker network ls --help: Aliases"),
    (Same, "docker podman nerdctl", "context rm|remove", "docker context rm --help: Aliases"),
    (Same, "docker podman nerdctl", "context ls|list", "docker context ls --help: Aliases"),
    (Same, "docker podman nerdctl", "plugin rm|remove", "docker plugin rm --help: Aliases"),
    (Same, "docker podman nerdctl", "stack rm|remove|down", "docker stack rm --help: Aliases"),
    (Same, "docker podman nerdctl", "stack deploy|up", "docker stack deploy --help: Aliases"),
    (Same, "docker podman nerdctl", "service rm|remove", "docker service rm --help: Aliases"),
    (Same, "docker podman nerdctl", "secret rm|remove", "docker secret rm --help: Aliases"),
    (Same, "docker podman nerdctl", "config rm|remove", "docker config rm --help: Aliases"),
    (Same, "docker podman nerdctl", "node rm|remove", "docker node rm --help: Aliases"),
    (Alike, "docker podman nerdctl", "inspect = container inspect = image inspect", "docker inspect --help: any of them"),
    (Alike, "", "docker-compose = docker compose", "the same program as a plugin of docker"),
    (Alike, "", "podman-compose = podman compose", "podman compose --help: runs an external provider"),
    (Alike, "", "docker-buildx = docker buildx", "the same program as a plugin of docker"),
    // Clusters and clouds.
    (Same, "kubectl oc", "create namespace|ns", "kubectl create namespace --help: Aliases"),
    (Same, "kubectl oc", "create configmap|cm", "kubectl create configmap --help: Aliases"),
    (Same, "kubectl oc", "create deployment|deploy", "kubectl create deployment --help: Aliases"),
    (Same, "kubectl oc", "create service|svc", "kubectl create service --help: Aliases"),
    (Same, "kubectl oc", "create serviceaccount|sa", "kubectl create serviceaccount --help: Aliases"),
    (Same, "kubectl oc", "create ingress|ing", "kubectl create ingress --help: Aliases"),
    (Same, "kubectl oc", "create cronjob|cj", "kubectl create cronjob --help: Aliases"),
    (Same, "kubectl oc", "create quota|resourcequota", "kubectl create quota --help: Aliases"),
    (Same, "kubectl oc", "create poddisruptionbudget|pdb", "kubectl create poddisruptionbudget --help: Aliases"),
    (Same, "kubectl oc", "create priorityclass|pc", "kubectl create priorityclass --help: Aliases"),
    (Alike, "kubectl oc", "config use-context|use", "kubectl config use-context --help: Aliases: use"),
    (Same, "helm", "uninstall|un|delete|del", "helm uninstall --help: Aliases: del, delete, un"),
    (Same, "helm", "list|ls", "helm list --help: Aliases: ls"),
    (Same, "helm", "dependency|dep|dependencies", "helm dependency --help: Aliases: dep, dependencies"),
    (Same, "helm", "history|hist", "helm history --help: Aliases: hist"),
    (Alike, "helm", "pull|fetch", "helm pull --help: Aliases: fetch"),
    (Alike, "helm", "plugin uninstall|rm|remove", "helm plugin uninstall --help: Aliases: rm, remove"),
    (Alike, "helm", "repo remove|rm", "helm repo remove --help: Aliases: rm"),
    (Alike, "terraform tofu", "destroy = apply -destroy", "terraform destroy -help: an alias for apply -destroy"),
    (Alike, "terraform tofu", "destroy = apply --destroy", "options are taken with one dash and with two"),
    (Alike, "terraform tofu", "workspace|env", "terraform env: the old name of workspace"),
    (Instead, "", "terraform = tofu", "OpenTofu: a fork with the same commands"),
    (Alike, "pulumi", "up|update", "pulumi up --help: Aliases: update"),
    (Alike, "pulumi", "destroy|down", "pulumi destroy --help: Aliases: down, dn"),
    // Hosts of repositories.
    (Same, "gh", "pr create|new", "gh pr create --help: Aliases: gh pr new"),
    (Same, "gh", "issue create|new", "gh issue create --help: Aliases: gh issue new"),
    (Same, "gh", "repo create|new", "gh repo create --help: Aliases: gh repo new"),
    (Same, "gh", "release create|new", "gh release create --help: Aliases: gh release new"),
    (Same, "gh", "gist create|new", "gh gist create --help: Aliases: gh gist new"),
    (Same, "gh", "pr list|ls", "gh pr list --help: Aliases: gh pr ls"),
    (Same, "gh", "issue list|ls", "gh issue list --help: Aliases: gh issue ls"),
    (Same, "gh", "repo list|ls", "gh repo list --help: Aliases: gh repo ls"),
    (Same, "gh", "release list|ls", "gh release list --help: Aliases: gh release ls"),
    (Same, "gh", "gist list|ls", "gh gist list --help: Aliases: gh gist ls"),
    (Same, "gh", "run list|ls", "gh run list --help: Aliases: gh run ls"),
    (Same, "gh", "workflow list|ls", "gh workflow list --help: Aliases: gh workflow ls"),
    (Same, "gh", "secret list|ls", "gh secret list --help: Aliases: gh secret ls"),
    (Same, "gh", "variable list|ls", "gh variable list --help: Aliases: gh variable ls"),
    (Same, "gh", "secret delete|remove", "gh secret delete --help: Aliases: gh secret remove"),
    (Same, "gh", "variable delete|remove", "gh variable delete --help: Aliases: gh variable remove"),
    (Same, "gh", "extension|extensions|ext", "gh extension --help: Aliases: gh extensions, gh ext"),
    (Same, "gh", "codespace|cs", "gh codespace --help: Aliases: gh cs"),
    (Same, "gh", "ruleset|rs", "gh ruleset --help: Aliases: gh rs"),
    (Same, "gh", "attestation|at", "gh attestation --help: Aliases: gh at"),
    (Same, "gh", "pr checkout|co = co", "gh pr checkout: `co` is an alias that gh comes with"),
    (Same, "glab", "mr create|new", "glab mr create --help: Aliases: new"),
    (Same, "glab", "mr merge|accept", "glab mr merge --help: Aliases: accept"),
    (Same, "glab", "issue create|new", "glab issue create --help: Aliases: new"),
    // Versions.
    (Alike, "git", "add|stage", "git-stage(1): a synonym for git add"),
    (Alike, "git", "init|init-db", "git-init-db(1)"),
    (Alike, "git", "blame|annotate", "git-annotate(1)"),
    (Alike, "git", "fsck|fsck-objects", "git-fsck-objects(1)"),
    (Alike, "git", "stash push = stash save = stash!", "git-stash(1): without a command it pushes"),
    (Alike, "git", "reflog = log -g", "git-reflog(1)"),
    (Alike, "git", "remote remove|rm", "git-remote(1)"),
    // Services.
    (Alike, "", "systemctl start % = systemctl start %.service = service % start", "systemctl(1): a name without an ending is a service"),
    (Alike, "", "systemctl stop % = systemctl stop %.service = service % stop", "service(8)"),
    (Alike, "", "systemctl restart|try-restart|reload-or-restart|condrestart % = systemctl restart %.service = service % restart", "service(8)"),
    (Alike, "", "systemctl reload % = systemctl reload %.service = service % reload", "service(8)"),
    (Alike, "", "systemctl enable|reenable % = systemctl enable|reenable %.service", "systemctl(1)"),
    (Alike, "", "systemctl disable % = systemctl disable %.service", "systemctl(1)"),
    (Alike, "", "systemctl mask % = systemctl mask %.service", "systemctl(1)"),
    (Alike, "", "systemctl poweroff = poweroff", "systemctl(1): one program under these names"),
    (Alike, "", "systemctl halt = halt", "systemctl(1): one program under these names"),
    (Alike, "", "systemctl reboot = reboot", "systemctl(1): one program under these names"),
    // Programs under other names.
    (Alike, "", "node|nodejs", "Debian installs node as nodejs"),
    (Alike, "", "fd|fdfind", "Debian installs fd as fdfind"),
    (Alike, "", "bat|batcat", "Debian installs bat as batcat"),
    (Alike, "", "vi|vim|ex|view|vimdiff|rvim|rview", "vim(1): one program under these names"),
    (Alike, "", "awk|gawk|mawk|nawk|original-awk", "each is installed as awk"),
    (Alike, "", "nc|ncat|netcat|nc.openbsd|nc.traditional", "each is installed as nc"),
    (Alike, "", "grep|egrep|fgrep|rgrep", "grep(1): one program under these names"),
    (Alike, "", "tar|bsdtar|gtar", "each is installed as tar"),
    (Alike, "", "ssh|slogin", "ssh(1)"),
    (Alike, "", "iptables|ip6tables|iptables-nft|iptables-legacy|ip6tables-nft|ip6tables-legacy", "iptables(8)"),
];

/// All subcommands of a program, and how it resolves abbreviations.
pub(super) struct List {
    programs: &'static str,
    /// The words before the subcommand.
    before: &'static str,
    beginnings: Beginnings,
    /// Whether a dash in a word may be replaced by a capital letter.
    has_humps: bool,
    /// Subcommands separated by spaces, each with its aliases.
    words: &'static str,
}

fn of_list(list: &List, program: &str) -> Vec<Group> {
    let words: Vec<Vec<String>> =
        list.words.split_whitespace().map(|word| word.split('|').map(str::to_owned).collect()).collect();
    let of = |names: Vec<String>| {
        let text = format!("{program} {} {}", list.before, names.join("|"));
        Group { sameness: Same, spellings: vec![Spelling::read(&text)] }
    };
    spelled(&words, list.beginnings, list.has_humps).into_iter().map(of).collect()
}

const LISTS: &[List] = &[
    // lib/utils/cmd-list.js of npm 11: commands, aliases, and all unambiguous abbreviations.
    List {
        programs: "npm",
        before: "",
        beginnings: Beginnings::OfOne,
        has_humps: true,
        words: "access approve-scripts audit bugs|issues cache ci|clean-install|ic|install-clean|isntall-clean completion config|c \
            dedupe|ddp deny-scripts deprecate diff dist-tag|dist-tags docs|home doctor edit exec|x explain|why explore find-dupes fund \
            get help|hlep help-search init|create|innit \
            install|add|i|in|ins|inst|insta|instal|isnt|isnta|isntal|isntall install-ci-test|cit|clean-install-test|sit \
            install-test|it link|ln ll|la login logout ls|list org|ogr outdated owner|author pack ping pkg prefix profile prune publish \
            query rebuild|rb repo restart root run|run-script|rum|urn sbom search|find|s|se set stage start stop team test|t|tst token \
            trust undeprecate uninstall|unlink|remove|rm|r|un unpublish update|u|up|upgrade|udpate version|verison view|info|show|v \
            whoami adduser|add-user star stars unstar shrinkwrap hook",
    },
    // do_cmd() of iproute2 uses the first command with this prefix.
    List {
        programs: "ip",
        before: "",
        beginnings: Beginnings::OfFirst,
        has_humps: false,
        words: "address addrlabel maddress route rule neighbor|neighbour ntable|ntbl link l2tp fou ila macsec tunnel|tunl \
            tuntap|tap token tcpmetrics|tcp_metrics monitor xfrm mroute mrule netns netconf vrf sr nexthop mptcp ioam help stats",
    },
    List {
        programs: "ip",
        before: "%",
        beginnings: Beginnings::OfFirst,
        has_humps: false,
        words: "add|new change|chg replace delete show|list|lst flush set exec save restore append get",
    },
    // main() of svn: names and aliases, without abbreviations.
    List {
        programs: "svn",
        before: "",
        beginnings: Beginnings::Whole,
        has_humps: false,
        words: "blame|praise|annotate|ann changelist|cl checkout|co commit|ci copy|cp delete|del|remove|rm diff|di help|h list|ls \
            mkdir move|mv|rename|ren propdel|pdel|pd propedit|pedit|pe propget|pget|pg proplist|plist|pl propset|pset|ps \
            resolve resolved revert status|stat|st switch|sw update|up",
    },
    // findcmd() of Mercurial accepts all unambiguous abbreviations.
    List {
        programs: "hg",
        before: "",
        beginnings: Beginnings::OfOne,
        has_humps: false,
        words: "abort add addremove annotate|blame archive backout bisect bookmarks|bookmark branch branches bundle cat clone \
            commit|ci config|showconfig|debugconfig continue copy|cp diff export files forget graft grep heads help identify|id \
            import|patch incoming|in init locate log|history manifest merge outgoing|out parents paths phase pull push recover \
            remove|rm rename|move|mv|ren resolve revert rollback root serve shelve status|st strip summary|sum tag tags tip \
            unbundle unshelve update|up|checkout|co verify version histedit rebase purge|clean",
    },
];

/// Kubernetes resources with all their names.
const RESOURCES: &[&str] = &[
    "pods|pod|po",
    "services|service|svc",
    "deployments|deployment|deploy|deployments.apps",
    "namespaces|namespace|ns",
    "nodes|node|no",
    "configmaps|configmap|cm",
    "secrets|secret",
    "daemonsets|daemonset|ds",
    "replicasets|replicaset|rs",
    "statefulsets|statefulset|sts",
    "persistentvolumes|persistentvolume|pv",
    "persistentvolumeclaims|persistentvolumeclaim|pvc",
    "serviceaccounts|serviceaccount|sa",
    "ingresses|ingress|ing",
    "networkpolicies|networkpolicy|netpol",
    "cronjobs|cronjob|cj",
    "jobs|job",
    "endpoints|ep",
    "events|event|ev",
    "horizontalpodautoscalers|horizontalpodautoscaler|hpa",
    "poddisruptionbudgets|poddisruptionbudget|pdb",
    "customresourcedefinitions|customresourcedefinition|crd|crds",
    "certificatesigningrequests|certificatesigningrequest|csr",
    "replicationcontrollers|replicationcontroller|rc",
    "limitranges|limitrange|limits",
    "resourcequotas|resourcequota|quota",
    "storageclasses|storageclass|sc",
    "priorityclasses|priorityclass|pc",
    "clusterroles|clusterrole",
    "clusterrolebindings|clusterrolebinding",
    "roles|role",
    "rolebindings|rolebinding",
    "all",
];

/// Clients of Kubernetes that share subcommands and resource names.
const CLIENTS: &[&str] = &["kubectl", "oc"];

/// The names are those of `kubectl api-resources`. Before a slash and in lists, only rules that deny apply to them.
fn of_resource(names: &str, program: &str) -> Vec<Group> {
    let joined = |patterns: &[&str]| -> String {
        let of = |name: &str| patterns.iter().map(|pattern| pattern.replace('#', name)).collect::<Vec<_>>();
        names.split('|').flat_map(of).collect::<Vec<_>>().join("|")
    };
    let lists = format!("{names}|{}", joined(&["#/*", "#,*", "*,#", "*,#,*"]));
    let group = |sameness, words: &str| Group {
        sameness,
        spellings: vec![Spelling::read(&format!("{program} % {words}"))],
    };
    vec![group(Same, names), group(Alike, &lists)]
}
