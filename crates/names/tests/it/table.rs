//! The rows and their examples.

use std::collections::BTreeSet;

use stockade_names::{Name, Read, Root, Scope, Tools, Treatment, Write, fold, hits, names, treatment};

fn root(name: &Name) -> Root {
    match name.scope {
        Scope::Anywhere => Root::Folder,
        Scope::Home => Root::Home,
        Scope::Repository => Root::Repository,
        Scope::Machine => Root::Machine,
    }
}

#[test]
fn every_row_has_its_examples_and_an_identifier_of_its_own() {
    let mut seen = BTreeSet::new();
    for name in names() {
        assert!(seen.insert(name.id), "{} comes twice", name.id);
        assert!(!name.matches.is_empty() && !name.clean.is_empty(), "{} has no examples", name.id);
        assert!(name.why.ends_with('.') && !name.tool.is_empty() && !name.paths.is_empty(), "{}", name.id);
    }
}

#[test]
fn every_example_means_its_row() {
    for name in names() {
        for path in name.matches {
            let found = hits(root(name), path.split('/'));
            assert!(found.iter().any(|hit| hit.name == name), "{}: {path}", name.id);
        }
    }
}

/// A look-alike of one row does not match another one either.
#[test]
fn no_look_alike_means_any_row() {
    for name in names() {
        for path in name.clean {
            let found = hits(root(name), path.split('/'));
            let obeyed = found.iter().find(|hit| hit.name.treatment() != Treatment::default());
            assert!(obeyed.is_none(), "{}: {path} is {:?}", name.id, obeyed.map(|hit| hit.name.id));
        }
    }
}

#[test]
fn every_path_is_found_as_it_stands() {
    for name in names() {
        for path in name.paths {
            let plain = path.replace('*', "x");
            let found = hits(root(name), plain.split('/'));
            let own = found.iter().find(|hit| hit.name == name);
            assert_eq!(own.map(|hit| hit.length), Some(plain.split('/').count()), "{}: {path}", name.id);
        }
    }
}

#[test]
fn paths_are_plain() {
    for name in names() {
        for path in name.paths.iter().chain(name.but) {
            let plain = |part: &str| !part.is_empty() && part != "." && part != ".." && part == part.trim();
            assert!(path.split('/').all(plain), "{}: {path}", name.id);
            let folded: Vec<_> = path.split('/').map(fold).collect();
            assert!(folded.iter().zip(path.split('/')).all(|(a, b)| *a == b.to_lowercase()), "{path}");
        }
    }
}

/// Every row has an effect, and none contradicts its kind.
#[test]
fn treatments_go_together() {
    for name in names() {
        let is_somewhat_strict = name.treatment() != Treatment::default();
        assert!(is_somewhat_strict, "{} has no effect", name.id);
        if name.read == Read::Refuse && name.scope == Scope::Anywhere {
            assert_eq!(
                name.tools,
                Tools::Forbidden,
                "{}: file tools do not read what commands may not",
                name.id
            );
        }
        if name.is_obeyed() && name.id != "git-repository" {
            assert_ne!(name.write, Write::Free, "{} is obeyed, and anybody may write it", name.id);
        }
    }
}

#[test]
fn repositories_within_repositories() {
    for path in [
        ".git/hooks/pre-commit",
        ".git/modules/a/hooks/pre-commit",
        ".git/modules/a/b/c/d/e/f/config",
        ".git/modules/a/modules/b/config",
        ".git/worktrees/x/config.worktree",
        "deep/er/GIT~1/config",
    ] {
        assert_eq!(treatment(Root::Folder, path.split('/')).write, Write::Protect, "{path}");
    }
    for path in [".git/HEAD", ".git/refs/heads/hooks", ".git/worktrees/hooks/HEAD", "hooks/x", "config"] {
        assert_eq!(treatment(Root::Folder, path.split('/')).write, Write::Free, "{path}");
    }
}
