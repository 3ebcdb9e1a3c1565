//! Programs that print secrets.

use super::Floor::{Ask, Deny};
use super::shape::Shape;

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        // T1555. Programs get the credential from the store themselves, so printing it only brings it into the
        // transcript of the model.
        id: "print-credential",
        floor: Deny,
        programs: &[
            "gh",
            "glab",
            "gcloud",
            "aws",
            "az",
            "security",
            "secret-tool",
            "pass",
            "op",
            "bw",
            "lpass",
            "vault",
            "kubectl",
            "heroku",
            "doctl",
            "npm",
            "keyctl",
            "gpg",
            "gpg2",
            "ssh-keygen",
            "docker-credential-desktop",
            "kwallet-query",
            "gopass",
            "chamber",
            "sops",
            "age",
            "doppler",
            "infisical",
            "dashlane",
            "keepassxc-cli",
        ],
        fires: |command| {
            let path: Vec<&str> = command.operands().take(3).filter_map(|word| word.known()).collect();
            match (command.name, path.as_slice()) {
                ("gh" | "glab", ["auth", "token", ..]) => true,
                ("gh" | "glab", ["auth", "status", ..]) => command.has("-t --show-token"),
                (
                    "gcloud",
                    ["auth", "print-access-token" | "print-identity-token" | "application-default", ..],
                ) => true,
                (
                    "aws",
                    ["sts", "get-session-token" | "assume-role", ..]
                    | ["secretsmanager", "get-secret-value", ..]
                    | ["configure", "get" | "export-credentials", ..],
                ) => true,
                ("aws", ["ssm", "get-parameter" | "get-parameters", ..]) => command.has("--with-decryption"),
                ("aws", ["ecr", "get-login-password", ..]) => true,
                ("az", ["account", "get-access-token", ..] | ["keyvault", "secret", ..]) => true,
                ("security", ["find-generic-password" | "find-internet-password", ..]) => {
                    command.has("-w -g")
                }
                ("security", ["dump-keychain" | "export", ..]) => true,
                ("secret-tool", ["lookup" | "search", ..]) => true,
                ("pass" | "gopass", ["show", ..]) => true,
                ("op", ["read" | "item" | "document", ..]) => !command.says(&["list"]),
                ("bw", ["get" | "export" | "unlock", ..])
                | ("lpass", ["show" | "export", ..])
                | ("vault", ["read", ..]) => true,
                ("vault", ["kv", "get", ..] | ["token", ..]) => true,
                ("kubectl", ["get" | "describe", what, ..]) => {
                    what.starts_with("secret") && command.has("-o --output")
                }
                ("kubectl", ["create", "token", ..] | ["config", "view", ..]) => {
                    path.first() == Some(&"create") || command.has("--raw")
                }
                ("heroku", ["auth:token", ..])
                | ("doctl", ["auth", "token", ..])
                | ("npm", ["token", "list", ..]) => true,
                ("keyctl", ["print" | "read" | "pipe", ..]) => true,
                ("gpg" | "gpg2", _) => command.has("--export-secret-keys --export-secret-subkeys"),
                ("ssh-keygen", _) => command.has("-y") && !command.has("-t"),
                ("chamber", ["read" | "export" | "env", ..])
                | ("doppler" | "infisical", ["secrets", ..])
                | ("keepassxc-cli", ["show" | "export", ..]) => true,
                ("sops", _) => command.has("-d --decrypt"),
                ("kwallet-query" | "dashlane", _) => true,
                ("docker-credential-desktop", ["get", ..]) => true,
                _ => false,
            }
        },
        reason: "prints a password, a key or a token",
        fix: "let the program that needs it fetch it",
        matches: &[
            "gh auth token",
            "gcloud auth print-access-token",
            "security find-generic-password -w -s x",
            "aws secretsmanager get-secret-value --secret-id x",
            "pass show x",
            "op read op://v/i",
            "gpg --export-secret-keys",
            "gpg --export-secret-k x",
            "kubectl get secret x -o yaml",
            "vault kv get x",
            "secret-tool lookup a b",
            "bw get password x",
        ],
        clean: &[
            "gh auth status",
            "gcloud auth list",
            "security list-keychains",
            "kubectl get pods -o yaml",
            "vault status",
            "gpg --verify x",
            "echo gh auth token",
            "ssh-keygen -t ed25519 -f k",
            "pass ls",
        ],
    },
    Shape {
        // T1552.001. In the workspace, the same search is ordinary work.
        id: "look-for-secrets",
        floor: Ask,
        programs: &["find", "gfind", "locate", "mlocate", "plocate", "mdfind"],
        fires: |command| {
            let words: Vec<&str> = command.known().collect();
            let is_beyond = |word: &&str| word.starts_with(['/', '~']);
            let tests = words.iter().zip(words.iter().skip(1));
            let names = tests.filter(|(test, _)| LOOKING.contains(*test));
            match command.name {
                "find" | "gfind" => {
                    let starts = || words.iter().take_while(|word| !word.starts_with('-'));
                    let is_secret = |name: &str| super::files::speaks_of_secret(name) || of_browser(name);
                    starts().any(is_beyond) && names.map(|(_, name)| *name).any(is_secret)
                        || starts().any(|word| is_below_secret(word))
                }
                _ => words.iter().any(|word| super::files::speaks_of_secret(word)),
            }
        },
        reason: "searches the whole machine or a home for keys and passwords",
        fix: "search only the workspace",
        matches: &[
            "find / -name id_rsa",
            "find /home -name '*.pem' 2>/dev/null",
            "find ~ -iname .netrc -type f",
            "locate id_rsa",
            "find / -name '*.kdbx' -exec echo {} \\;",
            "find ~/.ssh -type f",
            "find //.aws -name credentials",
            "find / -path '*/Google/Chrome/*/Bookmarks'",
            "find ~ -ipath '*.mozilla/firefox/*/places.sqlite'",
            "find / -regex '.*/id_rsa'",
        ],
        clean: &[
            "find . -name '*.pem'",
            "find / -name '*.py'",
            "find src -name .env",
            "locate bash",
            "find /usr -name x",
            "find . -name Bookmarks",
            "find ~/src -name '*.ts'",
            "find /home/me/project -type f",
        ],
    },
    Shape {
        // Variables such as `GITHUB_TOKEN` are printed with all others, and the output goes to the model.
        id: "print-environment",
        floor: Ask,
        programs: &["env", "printenv", "set", "export", "declare", "typeset", "compgen", "ps", "launchctl"],
        fires: |command| match command.name {
            "env" | "printenv" if command.only_asks_for_help() => false,
            // `env` prints the environment only if it has no program to run.
            "env" => command.operands().all(|word| word.known().is_some_and(|word| word.contains('='))),
            "printenv" => {
                command.operands().next().is_none()
                    || command
                        .operands()
                        .filter_map(|word| word.known())
                        .any(super::environment::is_secret_name)
            }
            "set" => command.words().next().is_none(),
            // Without a name, these list all variables with their values. `-f` lists functions.
            "export" | "declare" | "typeset" => command.operands().next().is_none() && !command.has("-f -F"),
            "compgen" => command.has("-v -e"),
            "ps" => {
                command.has("-E")
                    || command.operands().filter_map(|word| word.known()).any(|word| {
                        // BSD options have no dash: the `e` in `ps auxe` shows the environment, and in `ps -ef` it
                        // does not.
                        word.contains('e') && word.chars().all(|letter| letter.is_ascii_lowercase())
                    })
            }
            _ => command.is_sub(&["getenv", "export"]),
        },
        reason: "prints environment variables, which often contain secrets",
        fix: "print a single variable: printenv NAME",
        matches: &[
            "env",
            "printenv",
            "bash -c env",
            "export -p",
            "set",
            "ps eww",
            "ps auxe",
            "declare -x",
            "printenv GITHUB_TOKEN",
            "env -0",
        ],
        clean: &[
            "env A=1 ls",
            "printenv HOME",
            "set -e",
            "export A=1",
            "ps aux",
            "ps -ef",
            "declare -f",
            "env -i ls",
            "env --version",
        ],
    },
];

/// Tests of `find` for names.
const LOOKING: &[&str] =
    &["-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname"];

/// Whether a glob matches data of browsers.
fn of_browser(pattern: &str) -> bool {
    const KEPT: &[&str] = &[
        "places.sqlite",
        "bookmarks",
        "cookies",
        "login data",
        "web data",
        "key3.db",
        "key4.db",
        "logins.json",
        "formhistory.sqlite",
        "history.db",
        "local state",
        "access_tokens.db",
        "credentials.db",
    ];
    // Longer than any name of the table. A glob can have the length of the command.
    const MAX_PATTERN: usize = 200;
    let pattern = pattern.get(..MAX_PATTERN.min(pattern.len())).unwrap_or_default().to_ascii_lowercase();
    KEPT.iter().any(|kept| pattern.contains(kept))
}

/// Whether a directory contains secrets, with any notation of the home: `~/.ssh`, `//.aws`.
fn is_below_secret(folder: &str) -> bool {
    const FOLDERS: &[&str] = &[
        ".ssh",
        ".aws",
        ".gnupg",
        ".azure",
        ".kube",
        ".oci",
        ".password-store",
        ".mozilla",
        "gcloud",
        "Keychains",
        "keyrings",
    ];
    folder.starts_with(['/', '~']) && folder.split('/').any(|name| FOLDERS.contains(&name))
}
