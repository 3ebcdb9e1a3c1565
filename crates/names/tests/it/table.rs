//! The rows and their examples.

use std::collections::BTreeSet;

use stockade_names::{
    Kind, Name, Read, Root, Scope, Secrecy, Treatment, Write, fold, hits, names, treatment,
};

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
            let is_own = found.iter().any(|hit| hit.name == name && hit.length == plain.split('/').count());
            assert!(is_own, "{}: {path}", name.id);
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
        let is_somewhat_strict = name.treatment() != Treatment::default() || name.is_obeyed();
        assert!(is_somewhat_strict, "{} has no effect", name.id);
        let holds = matches!(name.kind, Kind::HoldsSecrets | Kind::GrantsAccess);
        assert!(name.secrecy > Secrecy::Public || !holds, "{} holds secrets, and is public", name.id);
        assert!(name.secrecy == Secrecy::Public || !name.is_obeyed(), "{} needs a row of its own", name.id);
        if name.is_obeyed() && name.id != "git-repository" {
            assert_ne!(name.write, Write::Free, "{} is obeyed, and anybody may write it", name.id);
        }
    }
}

/// A name has one level: rows that match the same path and place differ only where one is about a directory, and the
/// other about a file in it.
#[test]
fn a_path_has_one_level() {
    let mut wrong = Vec::new();
    for name in names().filter(|name| name.secrecy > Secrecy::Public) {
        for path in name.paths {
            let plain = path.replace('*', "x");
            let length = plain.split('/').count();
            let found = hits(root(name), plain.split('/'));
            let same = found.iter().filter(|hit| hit.name.scope == name.scope && hit.length == length);
            for other in same.filter(|hit| hit.name.secrecy > Secrecy::Public) {
                let differs = other.name.secrecy != name.secrecy && !is_narrower(name, other.name, &plain);
                wrong.extend(differs.then(|| format!("{path}: {} and {}", name.id, other.name.id)));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Whether one of two rows names a path in words and the other by a pattern or a directory around it.
fn is_narrower(one: &Name, other: &Name, path: &str) -> bool {
    one.paths.contains(&path) != other.paths.contains(&path)
}

/// Names that the sandbox, the command rules and the file tools once treated differently.
#[test]
fn levels_of_well_known_names() {
    let rows = [
        (
            Secrecy::Secret,
            "id_rsa .ssh/deploy .netrc .pypirc .htpasswd .s3cfg .aws/config .kube/config wallet.dat x.p12 app.jks",
        ),
        (
            Secrecy::MayHoldSecret,
            ".env .env.local prod.env credentials.json service-account.json secrets.yaml terraform.tfstate",
        ),
        (
            Secrecy::MayHoldSecret,
            ".npmrc AuthKey_1.p8 server.pem tls.key prod.tfvars config/master.key secrets/db .envrc .bash_history",
        ),
        (Secrecy::Settings, "docker-compose.yml .vscode/settings.json .mcp.json .env.test"),
        (
            Secrecy::Public,
            ".env.example id_rsa.pub secrets.rs credentials.ts src/secrets/mod.rs ca.crt cert.pem README.md",
        ),
        (
            Secrecy::Public,
            ".ssh/known_hosts x.pub.pem app.example.env secrets.md keystore.rs .npmignore tfstate.go",
        ),
    ];
    for (level, paths) in rows {
        for path in paths.split(' ') {
            let found = treatment(Root::Folder, path.split('/'));
            assert_eq!(found.secrecy, level, "{path}");
            assert_eq!(found.read, level.read(Scope::Anywhere), "{path}");
        }
    }
    for (path, read) in
        [(".config/rclone/rclone.conf", Read::Contain), (".npmrc", Read::Refuse), ("notes.txt", Read::Free)]
    {
        assert_eq!(treatment(Root::Home, path.split('/')).read, read, "~/{path}");
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
