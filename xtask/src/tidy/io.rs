//! Where files, clocks, processes and the environment may be touched.
//!
//! The functions that do so are listed in `clippy.toml`, and a file that calls one must relax
//! `clippy::disallowed_methods` with its reason. This check holds the list of the files that do.

use super::manifest::entries;
use super::problem::Problem;
use super::tree::{File, Tree, numbered};

/// The lint that stands guard.
const LINT: &str = "clippy::disallowed_methods";

/// Layers that decide from their arguments alone, and the ground floor but for `files`, which reads and decides nothing.
const PURE: &[&str] = &[
    "scanner",
    "sanitize",
    "policy",
    "command",
    "limits",
    "limits-replay",
    "output",
    "eval",
    "skill",
    "names",
    "shell",
    "text",
    "credentials",
];

/// Packages that do I/O themselves, where the lint does not see it.
const IMPURE_PACKAGES: &[&str] =
    &["rustix", "libc", "nix", "caps", "landlock", "tempfile", "walkdir", "tokio", "mio", "rusqlite"];

/// The files that do I/O, and what they do. A name that ends in `/` is a folder.
const IO_FILES: &[(&str, &str)] = &[
    ("crates/audit/src/", "keeps the audit trail in a file"),
    ("crates/files/src/", "opens and reads untrusted directories, on several threads; that is its purpose"),
    ("crates/git/src/find.rs", "asks what is where git would look, and where the home is"),
    ("crates/git/src/users_settings.rs", "reads the settings of the user"),
    ("crates/admission/src/answers.rs", "reads the clock, by which answers end"),
    ("crates/admission/src/answers/store.rs", "keeps answers for later sessions in a file"),
    ("crates/admission/src/decide_on_disk.rs", "finds the home of the user"),
    ("crates/admission/src/links.rs", "reads where the links lead that a command names"),
    ("crates/admission/src/lock.rs", "asks where skills and their lock really are"),
    ("crates/guard/src/bound_socket.rs", "makes a socket, and removes that of a server that is gone"),
    ("crates/guard/src/broker.rs", "serves sockets of a broker, and asks brokers"),
    ("crates/guard/src/broker/", "serves sockets of a broker, and asks brokers"),
    ("crates/config/src/chosen.rs", "reads the variable that names the config file"),
    ("crates/config/src/layer.rs", "reads the files of a configuration"),
    ("crates/config/src/scoped.rs", "reads the clock, and resolves the directory of the project"),
    ("crates/config/src/sources.rs", "asks where the user keeps settings, and for the nearest project"),
    ("crates/guard/src/denied_files.rs", "looks through a workspace for what is denied"),
    ("crates/guard/src/guard/cache.rs", "asks where a workspace really is"),
    ("crates/guard/src/package_mirrors.rs", "finds the home, where settings of package managers are"),
    ("crates/guard/src/runner/secrets.rs", "asks where a file with a secret really is"),
    ("crates/guard/src/session/graph.rs", "makes the folder that the nodes of a graph share"),
    ("crates/guard/src/session/search_path.rs", "asks where programs are looked for"),
    ("crates/limit-stores/src/", "keeps what was spent in a database"),
    ("crates/handoff/src/helper.rs", "looks for programs of the machine, and starts them"),
    ("crates/handoff/src/trust.rs", "removes the certificates of a run"),
    ("crates/backends-remote/src/e2b/backend.rs", "reads a key, and packs a workspace"),
    ("crates/backends-remote/src/kubernetes/", "asks clusters, follows runs, and records how far they are"),
    ("crates/backends-remote/src/program.rs", "reads a request, and writes the answers"),
    ("crates/backends-remote/src/program/", "brings a command its input, and writes what it prints"),
    ("crates/backends-remote/src/remote.rs", "asks servers, and waits before it asks again"),
    ("crates/exec-sandbox/src/backends/engine.rs", "has an engine make, begin and end containers"),
    (
        "crates/exec-sandbox/src/backends/external/",
        "starts programs that are backends, and looks at whose they are",
    ),
    ("crates/exec-sandbox/src/backends/builtin.rs", "makes a folder to try sandboxes in"),
    (
        "crates/exec-sandbox/src/backends/engine/",
        "asks engines of containers, and finds what killed programs left",
    ),
    ("crates/exec-sandbox/src/bwrap/", "tries bubblewrap, and starts it"),
    ("crates/exec-sandbox/src/cgroup.rs", "makes and removes control groups"),
    ("crates/package/src/copy.rs", "writes the files of a package that was checked"),
    ("crates/model-cli/src/find.rs", "looks for CLIs and for where their keys are kept"),
    ("crates/model-cli/src/saved_state.rs", "creates directories for the saved state of CLIs"),
    ("crates/egress/src/broker.rs", "connects for commands, and keeps threads for it"),
    ("crates/egress/src/broker/shared_socket.rs", "lets programs in at a socket, and keeps threads for it"),
    ("crates/egress/src/broker/inspect.rs", "speaks TLS with both sides of a connection"),
    ("crates/egress/src/broker/inspect/", "reads the certificates of the machine, and writes those of a run"),
    ("crates/egress/src/secrets.rs", "lends secrets for a while"),
    ("crates/egress/src/login_bindings.rs", "looks up the home directory of the user"),
    ("crates/egress/src/upstream_proxy.rs", "reads the variables that name the proxies of the user"),
    ("crates/egress/src/secrets/source.rs", "reads secrets where their owner keeps them"),
    ("crates/egress/src/secrets/source/folders.rs", "looks whose the folders are above a secret"),
    ("crates/exec-sandbox/src/journal.rs", "keeps a list of what there was for as long as a command runs"),
    ("crates/exec-sandbox/src/journal/", "keeps a list of what there was for as long as a command runs"),
    ("crates/exec-sandbox/src/native.rs", "reads random numbers"),
    ("crates/exec-sandbox/src/native/", "maps users, and asks whose files are"),
    ("crates/exec-sandbox/src/probe.rs", "fills HostFacts from the real machine"),
    ("crates/exec-sandbox/src/quarantine.rs", "keeps what was taken away from workspaces"),
    ("crates/exec-sandbox/src/quarantine/", "takes, lists, gives back and drops what is kept"),
    (
        "crates/exec-sandbox/src/review/",
        "keeps what commands changed in views, and brings it into workspaces",
    ),
    ("crates/exec-sandbox/src/run.rs", "starts sandboxes and looks after them"),
    ("crates/exec-sandbox/src/run/", "starts sandboxes and looks after them"),
    ("crates/exec-sandbox/src/seatbelt/run.rs", "starts what holds a command on macOS, and ends it"),
    ("crates/exec-sandbox/src/exposed_secrets.rs", "keeps how files looked when a command had seen them"),
    ("crates/exec-sandbox/src/state.rs", "asks where this user keeps the state of programs"),
    ("crates/exec-sandbox/src/sweep.rs", "looks whether what was reported is gone"),
    ("crates/exec-sandbox/src/sweep/", "moves what a command left under protected names"),
    ("crates/exec-sandbox/src/sys/footprint.rs", "asks what lies where in the memory of this program"),
    ("crates/exec-sandbox/src/sys/mask.rs", "compares a file with the one that is to be hidden"),
    ("crates/exec-sandbox/src/tracked.rs", "reads indexes of repositories, and files that they may name"),
    ("crates/exec-sandbox/src/workspace/", "looks for protected names in a workspace"),
    ("crates/exec-sandbox/src/worktree.rs", "follows what git wrote about a worktree"),
    ("crates/harness/src/", "reads and writes settings of harnesses, and tests hooks"),
    ("crates/mcp/src/", "passes messages between a client and a server, and keeps pins"),
    ("crates/serve/src/", "reads requests, runs commands and writes answers, on threads of its own"),
    (
        "crates/state/src/",
        "keeps rules and answers of the user, and asks for the time and the folder it runs in",
    ),
    ("crates/cli/src/", "the command talks to a person"),
];

/// Returns the files that do I/O where none may.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    // A build script runs before there is a product, and is there to read and write files.
    let is_product = |file: &&File| tree.is_product(file) && !file.path.ends_with("/build.rs");
    for file in tree.rust().filter(is_product) {
        let mut relaxed = numbered(file.code_before_tests()).filter(|(_, line)| line.contains(LINT));
        let Some((line, _)) = relaxed.next() else { continue };
        let layer = PURE.iter().find(|layer| file.path.starts_with(&format!("crates/{layer}/")));
        if let Some(layer) = layer {
            let message = format!(
                "`{layer}` does I/O here: it decides from its arguments alone, so that every decision can be tested and \
                 repeated; take what it needs as an argument"
            );
            problems.push(Problem::new(&file.path, line, message));
        } else if !IO_FILES.iter().any(|(path, _)| file.path.starts_with(path)) {
            let message = "this file does I/O and is not listed; add it to IO_FILES in xtask/src/tidy/io.rs with what it \
                           does, or leave I/O to a file that is";
            problems.push(Problem::new(&file.path, line, message));
        }
    }
    problems.extend(impure_dependencies(tree));
    problems
}

/// Dependencies through which a pure layer could do I/O. Its tests may have them.
fn impure_dependencies(tree: &Tree) -> Vec<Problem> {
    let mut problems = Vec::new();
    for layer in PURE {
        let Some(manifest) = tree.file(&format!("crates/{layer}/Cargo.toml")) else { continue };
        let used = entries(manifest).into_iter().filter(|entry| entry.table == "dependencies");
        for entry in used.filter(|entry| IMPURE_PACKAGES.contains(&entry.dependency())) {
            let message =
                format!("`{layer}` decides from its arguments alone, and `{}` does I/O", entry.dependency());
            problems.push(Problem::new(&manifest.path, entry.line, message));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    const RELAXED: &str = "#![expect(clippy::disallowed_methods, reason = \"reads\")]\n";

    #[test]
    fn a_pure_layer_has_no_io_outside_its_tests() {
        let in_tests = format!("fn f() {{}}\n#[cfg(test)]\nmod tests {{\n    {RELAXED}}}\n");
        assert!(said(check, &[("crates/scanner/src/x.rs", &in_tests)]).is_empty());
        assert!(said(check, &[("crates/scanner/tests/it/main.rs", RELAXED)]).is_empty());
        let said = said(check, &[("crates/scanner/src/x.rs", RELAXED)]);
        assert_eq!(said.len(), 1);
        assert!(said[0].starts_with("crates/scanner/src/x.rs:1: `scanner` does I/O here"));
    }

    #[test]
    fn a_pure_layer_has_no_impure_dependency_outside_its_tests() {
        let manifest = "[dependencies]\nmemchr.workspace = true\nrustix.workspace = true\n[dev-dependencies]\ntempfile = \"3\"\n";
        assert_eq!(said(check, &[("crates/guard/Cargo.toml", manifest)]), [""; 0]);
        assert_eq!(
            said(check, &[("crates/policy/Cargo.toml", manifest)]),
            ["crates/policy/Cargo.toml:3: `policy` decides from its arguments alone, and `rustix` does I/O"]
        );
    }

    #[test]
    fn elsewhere_the_file_must_be_listed() {
        assert!(said(check, &[("crates/limit-stores/src/sqlite.rs", RELAXED)]).is_empty());
        assert!(said(check, &[("crates/guard/src/session.rs", RELAXED)])[0].contains("is not listed"));
    }
}
