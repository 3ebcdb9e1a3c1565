//! Which crate may depend on which: `cli → mcp → serve → harness → state → guard → {config, admission} → on the sandbox → layers → ground floor`, and nothing else.

use super::manifest::{Entry, entries};
use super::problem::Problem;
use super::tree::{File, Tree};

/// Readers and tables that decide nothing, which every crate above may name; and what each of them may name itself.
const GROUND_FLOOR: &[(&str, &[&str])] = &[
    ("shell", &["text", "names"]),
    ("credentials", &["shell", "text"]),
    ("names", &[]),
    ("text", &[]),
    ("files", &[]),
    ("git", &["files", "names"]),
    ("handoff", &[]),
    ("logins", &["text"]),
    ("seccomp", &[]),
];

/// Crates that answer one question each. A layer names the ground floor and no other layer, not even for its tests, but for the
/// arrows of [`BETWEEN_LAYERS`].
const LAYERS: &[&str] = &[
    "scanner",
    "sanitize",
    "policy",
    "command",
    "limits",
    "output",
    "eval",
    "egress",
    "exec-sandbox",
    "audit",
    "skill",
];

/// The arrows between layers: the layer, the one that it names, and why neither its own small type nor guard can do.
const BETWEEN_LAYERS: &[(&str, &str, &str)] = &[(
    "policy",
    "command",
    "a tool that runs commands is no milder than the rules for commands, and a file tool no milder than `cat` and `tee`",
)];

/// Crates that make something of layers, and which layers each of them may name.
const ON_THE_SANDBOX: &[(&str, &[&str])] = &[
    ("backends-remote", &["exec-sandbox"]),
    ("limits-replay", &["limits"]),
    ("limit-stores", &["audit", "limits"]),
    ("model-cli", &["egress", "exec-sandbox"]),
    ("package", &["exec-sandbox"]),
];

const PREFIX: &str = "stockade-";

/// What tests, benches and examples of every crate may use, since it is in no package; nothing that users compile may.
const TEST_TOOLS: &str = "testkit";

/// The packages beside the crates, and what each of them may name.
const TOOLS: &[(&str, &[&str])] = &[("fuzz", &[]), ("testkit", &[]), ("xtask", &[TEST_TOOLS])];

/// Returns the arrows that point where none may.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let manifests =
        tree.files.iter().filter(|file| file.path.ends_with("Cargo.toml") && file.path != "Cargo.toml");
    manifests.flat_map(problems_of).collect()
}

fn problems_of(manifest: &File) -> Vec<Problem> {
    // A crate's fuzz targets and peers may name what the crate itself may, and the crate.
    let (own, helper) = match manifest.path.strip_prefix("crates/").and_then(|path| path.split_once('/')) {
        Some((name, "Cargo.toml")) => (name, false),
        Some((name, _)) => (name, true),
        None => (manifest.path.split('/').next().unwrap_or_default(), false),
    };
    let Some(allowed) = allowed(own) else {
        let message = format!(
            "crate `{own}` stands on no floor; add it to LAYERS, ON_THE_SANDBOX or GROUND_FLOOR of xtask/src/tidy/arrows.rs"
        );
        return vec![Problem::new(&manifest.path, 1, message)];
    };
    let permitted = |name: &str, table: &str| {
        let is_for_tests = name == TEST_TOOLS && table.ends_with("dev-dependencies");
        allowed.contains(&name) || (helper && name == own) || is_for_tests
    };
    let dependencies = entries(manifest).into_iter().filter(Entry::is_dependency);
    dependencies
        .flat_map(|entry| {
            let named = crates_named(&format!("{} {}", entry.key, entry.value));
            let bad = named.into_iter().filter(|name| !permitted(name, &entry.table));
            bad.map(|name| arrow(&manifest.path, entry.line, own, &name)).collect::<Vec<_>>()
        })
        .collect()
}

/// Returns the crates of this repository that a crate may name, for tests and builds too.
fn allowed(own: &str) -> Option<Vec<&'static str>> {
    let ground = || GROUND_FLOOR.iter().map(|row| row.0);
    if let Some((_, below)) = GROUND_FLOOR.iter().find(|row| row.0 == own) {
        return Some(below.to_vec());
    }
    if let Some((_, layers)) = ON_THE_SANDBOX.iter().find(|row| row.0 == own) {
        return Some(layers.iter().copied().chain(ground()).collect());
    }
    if let Some((_, named)) = TOOLS.iter().find(|row| row.0 == own) {
        return Some(named.to_vec());
    }
    let below = || {
        let on_the_sandbox = ON_THE_SANDBOX.iter().map(|row| row.0);
        on_the_sandbox.chain(LAYERS.iter().copied()).chain(ground())
    };
    match own {
        "cli" => Some(["mcp", "serve", "harness", "state", "guard"].into_iter().chain(ground()).collect()),
        "mcp" => Some(["serve", "harness", "state", "guard"].into_iter().chain(ground()).collect()),
        // One judge decides about tool calls, for hooks and for `tool.before`.
        "serve" => Some(["harness", "state", "guard"].into_iter().chain(ground()).collect()),
        "harness" => Some(["state", "guard"].into_iter().chain(ground()).collect()),
        "state" => Some(std::iter::once("guard").chain(ground()).collect()),
        "guard" => Some(["admission", "config"].into_iter().chain(below()).collect()),
        "admission" | "config" => Some(below().collect()),
        layer if LAYERS.contains(&layer) => Some(ground().chain(beside(layer)).collect()),
        _ => None,
    }
}

/// The layers that a layer may name.
fn beside(layer: &str) -> impl Iterator<Item = &'static str> {
    BETWEEN_LAYERS.iter().filter(move |row| row.0 == layer).map(|row| row.1)
}

fn arrow(path: &str, line: usize, own: &str, name: &str) -> Problem {
    let message = format!(
        "`{own}` depends on `{name}`: arrows go cli → mcp → serve → harness → state → guard → {{config, admission}} → on the sandbox → layers → ground floor (shell, credentials, names, text, files, git, handoff), so that \
         each layer can be used alone; give each its own small type and let guard convert"
    );
    Problem::new(path, line, message)
}

/// The crates of this repository whose packages a line names, under a new name too (`x = { package = … }`).
fn crates_named(line: &str) -> Vec<String> {
    let in_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let words = line.split(|c| !in_name(c));
    words.filter_map(own_name).map(str::to_owned).collect()
}

/// The short name of a package of this repository.
fn own_name(package: &str) -> Option<&str> {
    if package == TEST_TOOLS { Some(package) } else { package.strip_prefix(PREFIX) }
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    #[test]
    fn allowed_arrows() {
        let files = [
            ("Cargo.toml", "[workspace.dependencies]\nstockade-scanner = \"1\"\n"),
            (
                "crates/cli/Cargo.toml",
                "[package]\nname = \"stockade-cli\"\n[dependencies]\nstockade-guard.workspace = true\n",
            ),
            ("crates/cli/Cargo.toml", "[dependencies]\nstockade-text.workspace = true\n"),
            ("crates/guard/Cargo.toml", "[dependencies]\nstockade-scanner = { workspace = true }\n"),
            (
                "crates/guard/Cargo.toml",
                "[dependencies]\nstockade-skill.workspace = true\nstockade-names = \"1\"\n",
            ),
            ("crates/policy/Cargo.toml", "[dependencies]\nstockade-shell = \"1\"\nstockade-names = \"1\"\n"),
            ("crates/skill/Cargo.toml", "[dev-dependencies]\nstockade-text.workspace = true\n"),
            ("crates/guard/Cargo.toml", "[dependencies]\nstockade-model-cli.workspace = true\n"),
            ("crates/model-cli/Cargo.toml", "[dependencies]\nstockade-exec-sandbox.workspace = true\n"),
            ("crates/shell/Cargo.toml", "[dependencies]\nstockade-text = \"1\"\nstockade-names = \"1\"\n"),
            ("crates/policy/Cargo.toml", "[dependencies]\nstockade-command = \"1\"\n"),
            ("crates/config/Cargo.toml", "[dependencies]\nstockade-policy = \"1\"\nstockade-text = \"1\"\n"),
            ("crates/scanner/fuzz/Cargo.toml", "[dependencies]\nstockade-scanner = { path = \"..\" }\n"),
            ("crates/text/Cargo.toml", "[dev-dependencies]\ntestkit = { workspace = true }\n"),
            ("testkit/Cargo.toml", "[dependencies]\nrustix.workspace = true\n"),
            ("xtask/Cargo.toml", "[dependencies]\ntestkit.workspace = true\n"),
        ];
        assert!(said(check, &files).is_empty());
    }

    #[test]
    fn forbidden_arrows() {
        for (path, text) in [
            ("crates/cli/Cargo.toml", "[dependencies]\nstockade-scanner = \"1\"\n"),
            ("crates/scanner/Cargo.toml", "[dev-dependencies]\nstockade-sanitize = \"1\"\n"),
            (
                "crates/policy/Cargo.toml",
                "[target.'cfg(unix)'.dependencies.stockade-limits]\nversion = \"1\"\n",
            ),
            ("crates/scanner/Cargo.toml", "[build-dependencies]\nx = { package = \"stockade-guard\" }\n"),
            (
                "crates/scanner/fuzz/Cargo.toml",
                "[dependencies]\nstockade-guard = { path = \"../../guard\" }\n",
            ),
            ("crates/skill/Cargo.toml", "[dependencies]\nstockade-scanner = \"1\"\n"),
            ("crates/config/Cargo.toml", "[dependencies]\nstockade-admission = \"1\"\n"),
            ("crates/audit/Cargo.toml", "[dependencies]\nstockade-guard = \"1\"\n"),
            ("crates/model-cli/Cargo.toml", "[dependencies]\nstockade-policy = \"1\"\n"),
            ("crates/exec-sandbox/Cargo.toml", "[dependencies]\nstockade-model-cli = \"1\"\n"),
            ("crates/text/Cargo.toml", "[dependencies]\nstockade-names = \"1\"\n"),
            ("crates/names/Cargo.toml", "[dependencies]\nstockade-text = \"1\"\n"),
            ("crates/shell/Cargo.toml", "[dependencies]\nstockade-policy = \"1\"\n"),
            ("crates/command/Cargo.toml", "[dependencies]\nstockade-policy = \"1\"\n"),
            ("xtask/Cargo.toml", "[dependencies]\nstockade-text = \"1\"\n"),
            ("testkit/Cargo.toml", "[dependencies]\nstockade-text = \"1\"\n"),
            ("crates/text/Cargo.toml", "[dependencies]\ntestkit.workspace = true\n"),
            ("crates/text/Cargo.toml", "[build-dependencies]\nx = { package = \"testkit\" }\n"),
        ] {
            let said = said(check, &[(path, text)]);
            assert_eq!(said.len(), 1, "{path}: {said:?}");
            assert!(
                said[0].starts_with(&format!("{path}:2: ")) || said[0].starts_with(&format!("{path}:1: "))
            );
        }
    }

    #[test]
    fn a_new_crate_needs_a_floor() {
        let said = said(check, &[("crates/new/Cargo.toml", "")]);
        assert_eq!(said.len(), 1);
        assert!(said[0].contains("`new` stands on no floor"));
    }
}
