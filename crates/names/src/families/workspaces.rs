//! Files of a workspace that may hold a secret, and settings that rarely do.

use super::{MAY_HOLD_SECRET, SECRET, SETTINGS};
use crate::name::{Kind, Name, Scope};
use crate::secrecy::Needed;

/// Files that builds read, and that mostly contain no secret.
const READ_BY_BUILDS: Name = Name { needed: Needed::Itself, ..MAY_HOLD_SECRET };

/// Sources and documents, which are about secrets and contain none.
#[rustfmt::skip]
const SOURCES: &[&str] = &[
    "*.pub", "*.rs", "*.go", "*.py", "*.js", "*.mjs", "*.ts", "*.tsx", "*.jsx", "*.java", "*.kt", "*.swift",
    "*.c", "*.h", "*.cc", "*.cpp", "*.cs", "*.rb", "*.php", "*.md", "*.rst", "*.html", "*.css", "*.proto",
];

/// Ends of the names of templates, which contain no values.
const TEMPLATES: &[&str] = &["*.example", "*.sample", "*.template", "*.dist", "*.defaults", "*.schema"];

#[rustfmt::skip]
pub(super) const ROWS: &[Name] = &[
    Name {
        id: "dotenv",
        tool: "dotenv",
        paths: &[".env", ".env.*"],
        but: &[".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults", ".env.schema", ".env.test"],
        why: "Passwords and tokens for the program of the project.",
        matches: &[".env", "a/b/.ENV.local", ".env.production"],
        clean: &["env", "env.md", ".environment", "env.ts", ".env.example"],
        ..MAY_HOLD_SECRET
    },
    Name {
        id: "dotenv-of-tests",
        tool: "dotenv",
        paths: &[".env.test"],
        why: "Values for the tests of the project, which are rarely secrets.",
        matches: &[".env.test"],
        clean: &["env.test"],
        ..SETTINGS
    },
    Name {
        id: "named-dotenv",
        tool: "dotenv",
        paths: &["*.env"],
        but: &["*example.env", "*sample.env", "*template.env", "*dist.env", "*test.env"],
        why: "Passwords and tokens for the program of the project, one file for each place where it runs.",
        matches: &["prod.env", "deploy/staging.env", "x/.prod.ENV"],
        clean: &["x.environ", "example.env", "app.example.env"],
        ..READ_BY_BUILDS
    },
    Name {
        id: "key-files",
        tool: "TLS, GnuPG",
        paths: &["*.pem", "*.key", "*.asc"],
        but: &["*.pub.pem", "cert.pem", "ca*.pem", "fullchain.pem", "*.pub.asc"],
        why: "It may be a private key; most of these files are certificates and signatures, and builds read them.",
        matches: &["server.pem", "tls.key", "x/private.asc"],
        clean: &["pem.md", "keys", "key.rs", "cert.pem"],
        ..READ_BY_BUILDS
    },
    Name {
        id: "private-key-files",
        tool: "PuTTY, Apple, OpenVPN, Kerberos",
        kind: Kind::GrantsAccess,
        paths: &["*.p8", "*.pk8", "*.ppk", "*.keytab", "*.ovpn"],
        why: "Private keys, or settings with a private key in them, which signing tools and clients read.",
        matches: &["x.ppk", "client.ovpn", "AuthKey_1.p8"],
        clean: &["p8.md", "keytab.c"],
        ..READ_BY_BUILDS
    },
    Name {
        id: "key-containers",
        tool: "TLS, Java, KeePass",
        kind: Kind::GrantsAccess,
        paths: &["*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.kdb"],
        why: "Containers of private keys or passwords, which a passphrase protects at best: their text tells an agent nothing.",
        matches: &["x/release.JKS", "vault.kdbx"],
        clean: &["keystore.rs", "p12.md"],
        ..SECRET
    },
    Name {
        id: "settings-with-passwords",
        tool: "Package managers, clouds, Terraform",
        paths: &[
            ".npmrc", ".yarnrc", ".yarnrc.yml", "pip.conf", "bunfig.toml", ".terraformrc", ".m2/settings.xml", "nuget.config",
            "service-account*.json", "*serviceaccount*.json", "application_default_credentials.json", "credentials.json",
            "client_secret*.json", "secrets.json", "secrets.yaml", "secrets.yml", "secrets.toml", "*.tfvars", "*.tfvars.json", ".envrc",
        ],
        but: TEMPLATES,
        why: "It may contain a token or a password; mostly it does not, and builds read it.",
        matches: &["web/.npmrc", "x/service-account-1.json", "secrets.yaml", ".envrc", ".m2/settings.xml", "prod.tfvars"],
        clean: &["npmrc", "secrets.rs", "m2/settings.xml", "credentials.ts", ".envrc.example"],
        ..READ_BY_BUILDS
    },
    Name {
        id: "records-with-passwords",
        tool: "Terraform, Rails",
        paths: &["*.tfstate", "*.tfstate.backup", "*.tfstate.*.backup", "master.key"],
        why: "A record of resources with their passwords, or the key to the settings of a project.",
        matches: &["terraform.tfstate", "infra/prod.tfstate.backup", "config/master.key"],
        clean: &["tfstate.md"],
        ..MAY_HOLD_SECRET
    },
    Name {
        id: "secrets-folder",
        tool: "Projects",
        paths: &["secrets", "secrets/*"],
        but: SOURCES,
        why: "A folder that is called so holds some.",
        matches: &["secrets/x", "deploy/Secrets/db.txt"],
        clean: &["secret/x", "secrets.md", "internal/secrets/store.go"],
        ..READ_BY_BUILDS
    },
    Name {
        id: "told-of-with-a-secret",
        tool: "Agents, editors, containers",
        paths: &[
            ".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".vscode/launch.json", ".vscode/settings.json", ".claude/settings.json",
            ".claude/settings.local.json", ".gemini/settings.json", ".codex/config.toml", "docker-compose.yml", "docker-compose.yaml",
            "compose.yaml", "compose.yml", ".gitmodules",
        ],
        why: "It may contain a token or a password, and programs need the rest.",
        matches: &[".mcp.json", "x/docker-compose.yml"],
        clean: &["mcp.json.md"],
        ..SETTINGS
    },
    Name {
        id: "git-settings-with-a-secret",
        tool: "Git",
        scope: Scope::Repository,
        paths: &["config", "config.worktree"],
        why: "The address of a remote may have a password in it, and git needs the rest.",
        matches: &["config", "modules/a/config"],
        clean: &["HEAD"],
        ..SETTINGS
    },
];
