//! `cargo xtask check [CRATE…]`: the inner loop: format, tidy, then clippy and the tests of what changed and of what depends on it.
//!
//! Without arguments, git tells what changed: since the branch left its upstream (or `main`), committed or not. Documentation
//! tests, feature sets, other targets and fuzzing are left to `cargo xtask ci`.

use std::collections::BTreeSet;

use crate::checks::Check;
use crate::runner::run_live;
use crate::{lint, tidy};
use testkit::{Crate, Program, Stop, Workspace};

const GROUP: &str = "check";

/// Files at the root that every crate is built from.
const SHARED: &[&str] = &["Cargo.toml", "Cargo.lock", ".cargo/config.toml", "clippy.toml"];

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let changed = match arguments {
        [] => changed_crates(workspace, &changed_files(workspace)?),
        names => names.iter().map(|name| workspace.find(name)).collect::<Result<_, _>>()?,
    };
    let chosen = workspace.with_dependants(&changed);
    println!("{}\n", summary(&changed, &chosen));
    run_live(&checks(workspace, &chosen))
}

fn checks(workspace: &Workspace, chosen: &[&Crate]) -> Vec<Check> {
    let mut checks = vec![lint::format(workspace), tidy::sources(workspace)];
    if chosen.is_empty() {
        return checks;
    }
    let cargo = |command| {
        let packages = chosen.iter().map(|one| format!("--package={}", one.package));
        workspace.cargo().args([command, "--locked", "--all-features"]).args(packages)
    };
    let clippy = cargo("clippy").args(["--all-targets", "--keep-going", "--", "-D", "warnings"]);
    checks.push(Check::program(GROUP, "clippy", clippy));
    checks.push(Check::program(GROUP, "tests", cargo("test").args(["--tests", "--no-fail-fast"])));
    checks
}

fn summary(changed: &[&Crate], chosen: &[&Crate]) -> String {
    let names = |crates: &[&Crate]| crates.iter().map(|one| one.short()).collect::<Vec<_>>().join(", ");
    if changed.is_empty() {
        return "no crate changed: only the format and `tidy` are checked; `cargo xtask check CRATE` names one".to_owned();
    }
    let reached: Vec<&Crate> = chosen
        .iter()
        .copied()
        .filter(|one| !changed.iter().any(|first| first.package == one.package))
        .collect();
    match reached.as_slice() {
        [] => format!("changed: {}", names(changed)),
        reached => format!("changed: {}\ndepends on it: {}", names(changed), names(reached)),
    }
}

/// Returns the crates that files belong to; all of them where a file is shared by all.
fn changed_crates<'w>(workspace: &'w Workspace, files: &BTreeSet<String>) -> Vec<&'w Crate> {
    if files.iter().any(|file| SHARED.contains(&file.as_str())) {
        return workspace.crates.iter().collect();
    }
    let has_changed = |one: &&Crate| files.iter().any(|file| is_inside(file, &one.folder));
    workspace.crates.iter().filter(has_changed).collect()
}

fn is_inside(file: &str, folder: &str) -> bool {
    file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns the files that differ from where this branch began, and those that git does not know yet.
fn changed_files(workspace: &Workspace) -> Result<BTreeSet<String>, Stop> {
    let git = |words: &[&str]| Program::new("git").args(words).folder(&workspace.root).read();
    let base = ["@{upstream}", "main"].iter().find_map(|other| git(&["merge-base", "HEAD", other]).ok());
    let base = base.as_deref().map_or("HEAD", str::trim);
    let read = |words: &[&str]| {
        git(words).map_err(|error| {
            Stop::failed(format!("cannot ask git what changed: {error}\nhelp: cargo xtask check CRATE"))
        })
    };
    let differing = read(&["diff", "--name-only", base])?;
    let unknown = read(&["ls-files", "--others", "--exclude-standard"])?;
    Ok(differing.lines().chain(unknown.lines()).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> Workspace {
        Workspace::of(&[("text", &[]), ("shell", &["text"]), ("policy", &["shell"]), ("eval", &[])])
    }

    fn files(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    fn short_names(crates: &[&Crate]) -> Vec<String> {
        crates.iter().map(|one| one.short().to_owned()).collect()
    }

    #[test]
    fn changed_files_choose_their_crates_and_all_dependants() {
        for (changed, own, all) in [
            (&["crates/text/src/a.rs"] as &[_], &["text"] as &[_], &["policy", "shell", "text"] as &[_]),
            (&["crates/policy/README.md"], &["policy"], &["policy"]),
            (&["crates/textual/x.rs", "README.md"], &[], &[]),
            (&["Cargo.lock"], &["eval", "policy", "shell", "text"], &["eval", "policy", "shell", "text"]),
        ] {
            let workspace = workspace();
            let found = changed_crates(&workspace, &files(changed));
            assert_eq!(short_names(&found), own, "{changed:?}");
            assert_eq!(short_names(&workspace.with_dependants(&found)), all, "{changed:?}");
        }
    }

    #[test]
    fn the_summary_names_what_is_checked_and_why() {
        let workspace = workspace();
        let changed = vec![workspace.find("shell").unwrap()];
        let chosen = workspace.with_dependants(&changed);
        assert_eq!(summary(&changed, &chosen), "changed: shell\ndepends on it: policy");
        assert_eq!(summary(&chosen, &chosen), "changed: policy, shell");
        assert!(summary(&[], &[]).contains("no crate changed"));
    }

    #[test]
    fn no_crate_means_no_cargo() {
        let workspace = workspace();
        assert_eq!(checks(&workspace, &[]).len(), 2);
        assert_eq!(checks(&workspace, &[workspace.find("text").unwrap()]).len(), 4);
    }
}
