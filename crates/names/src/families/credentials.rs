//! Files below the home in which tools store credentials.
//!
//! A file or directory that belongs to one tool alone is withheld; it never has to be shared. Credentials in a
//! directory that is worth sharing, such as a package manager's cache, are masked individually.

use super::MAY_HOLD_SECRET;
use crate::name::{Name, Scope};
use crate::secrecy::Needed;

/// Never shared, and neither is a directory that contains it.
const WITHHELD: Name = Name { scope: Scope::Home, ..MAY_HOLD_SECRET };

/// Masked where its directory is shared.
const MASKED: Name = Name { needed: Needed::Around, ..WITHHELD };

#[rustfmt::skip]
pub(super) const ROWS: &[Name] = &[
    Name {
        id: "cloud-credentials",
        tool: "Clients of clouds and hosters",
        paths: &[
            ".oci", ".aliyun", ".alibabacloud", ".tccli", ".bluemix", ".ibmcloud", ".cf", ".openstack", ".huaweicloud", ".volcengine",
            ".s3cfg", ".s3curl", ".boto", ".gsutil", ".mc", ".ossutilconfig", ".b2_account_info", ".rclone.conf", ".heroku", ".netlify",
            ".vercel", ".now", ".fly", ".railway", ".wrangler", ".scw", ".linode-cli", ".vultr-cli.yaml", ".civo.json", ".doctl",
            ".hcloud", ".exoscale", ".upcloud", ".nimbella", ".serverlessrc", ".ngrok2", ".cloudflared", ".flyctl", ".supabase",
            ".planetscale", ".turso", ".neonctl", ".edgerc", ".fastly", ".akamai-cli", ".saml2aws", ".okta", ".okta_aws_login_config",
            ".awsvault", ".granted", ".leapp", ".tsh", ".step", ".acme.sh", ".lego",
        ],
        why: "Keys to accounts at hosters, and to what runs there.",
        matches: &[".oci/oci_api_key.pem", ".s3cfg", ".fly/config.yml"],
        clean: &["oci", ".s3cfg.md", ".flyer"],
        ..WITHHELD
    },
    Name {
        id: "operations-credentials",
        tool: "Tools that run machines and clusters",
        paths: &[
            ".terraformrc", ".tfvars", ".vault", ".vault_pass", ".vault_pass.txt", ".vault_password", ".consul", ".nomad", ".chef",
            ".puppetlabs", ".rancher", ".argocd", ".helm", ".dockercfg", ".podman", ".k8slens", ".teleport", ".boundary", ".sentryclirc",
            ".newrelic", ".datadogrc", ".dogrc", ".honeycomb", ".pagerduty", ".splunkrc", ".jenkins-cli", ".jenkins", ".circleci", ".travis",
            ".buildkite", ".drone", ".concourse", ".flyrc", ".sops", ".age", ".vmware", ".govc", ".esxcli", ".racadm", ".ipmi", ".salt", ".multipass",
            ".ansible_vault_password", ".ansible.cfg",
        ],
        why: "Keys to machines, clusters and what watches them.",
        matches: &[".terraformrc", ".vault_pass", ".circleci/cli.yml"],
        clean: &["vault_pass", ".vaulting"],
        ..WITHHELD
    },
    Name {
        id: "operations-credentials-inside",
        tool: "Tools that run machines and clusters",
        paths: &[
            ".terraform.d/credentials*", ".terraform.d/*.tfrc", ".pulumi/credentials.json", ".vagrant.d/insecure_private_key",
            ".vagrant.d/insecure_private_keys", ".vagrant.d/data/vagrant_login_token", ".minikube/*.pem", ".minikube/*.key",
            ".minikube/certs", ".minikube/profiles", ".minikube/machines", ".ansible/galaxy_token", ".ansible/vault_password", ".ansible/galaxy.yml",
            ".lima/_config", ".colima/_lima", ".orbstack/ssh",
        ],
        why: "Keys beside plugins and images that a command may need.",
        matches: &[".terraform.d/credentials.tfrc.json", ".pulumi/credentials.json", ".minikube/ca.key"],
        clean: &[".terraform.d/plugin-cache/x", ".pulumi/plugins/x", ".minikube/cache/x"],
        ..MASKED
    },
    Name {
        id: "database-credentials",
        tool: "Clients of databases",
        paths: &[
            ".pgpass", ".pg_service.conf", ".postgresql", ".my.cnf", ".mylogin.cnf", ".mariadb", ".mongorc.js", ".mongoshrc.js", ".mongodb",
            ".cassandra", ".cqlshrc", ".odbc.ini", ".odbcinst.ini", ".influxdbv2", ".influx_history", ".clickhouse-client", ".dbt",
            ".databrickscfg", ".databricks", ".snowsql", ".snowflake", ".bigqueryrc", ".redisclirc", ".pgadmin", ".dbeaver", ".sqlcl", ".oracle",
            ".couchbase", ".neo4j", ".cockroach-certs", ".tarantool", ".ksql", ".kafka", ".rediscli_history", ".mongo",
        ],
        why: "Passwords of databases, and the questions that were put to them.",
        matches: &[".pgpass", ".databrickscfg", ".dbt/profiles.yml"],
        clean: &["pgpass", ".mysql", ".dbtools"],
        ..WITHHELD
    },
    Name {
        id: "package-credentials",
        tool: "Package managers",
        paths: &[
            ".yarnrc", ".yarnrc.yml", ".bunfig.toml", ".pip", ".pydistutils.cfg", ".condarc", ".continuum", ".anaconda",
            ".pause", ".cpanreporter", ".luarocks", ".jfrog", ".artifactory", ".nexus", ".cloudsmith", ".packagecloud", ".gemrc",
            ".Renviron", ".octave_hist", ".cargo-credentials", ".verdaccio", ".twine", ".flit", ".jspm",
        ],
        why: "Tokens with which packages are fetched and published.",
        matches: &[".yarnrc.yml", ".jfrog/jfrog-cli.conf.v6", ".Renviron"],
        clean: &["yarnrc", ".renv", ".pipx"],
        ..WITHHELD
    },
    Name {
        id: "package-credentials-inside",
        tool: "Package managers",
        paths: &[
            ".cargo/config", ".cargo/config.toml", ".m2/settings.xml", ".m2/settings-security.xml", ".m2/settings*.xml",
            ".m2/toolchains.xml", ".gradle/gradle.properties", ".gradle/init.gradle*", ".gradle/init.d", ".gradle/credentials*",
            ".gradle/.gradle-enterprise-keys", ".gradle/develocity", ".ivy2/.credentials", ".ivy2/credentials*", ".sbt/.credentials",
            ".sbt/credentials*", ".sbt/repositories", ".bundle/config", ".composer/auth.json", ".composer/config.json",
            ".nuget/NuGet", ".nuget/*.Config", ".cabal/config", ".cabal/credentials", ".stack/upload", ".pub-cache/credentials.json",
            ".pub-cache/pub-tokens.json", ".conan/*registry*", ".conan/.conan.db", ".conan2/*credentials*", ".conan2/.conan.db", ".nvm/.npmrc",
            ".bun/.npmrc", ".volta/.npmrc", ".pnpm-store/.npmrc", ".julia/servers", ".conda/.token", ".conda/environments_token",
            ".mix/api_token", ".hex/hex.config", ".deno/credentials*", ".opam/credentials*", ".coursier/credentials*", ".local/share/uv/credentials",
            ".cache/pypoetry/auth.toml", ".cocoapods/trunk", ".spago/credentials", ".elm/credentials",
        ],
        why: "Tokens beside libraries that were fetched, which a command may need.",
        matches: &[".cargo/config", ".m2/settings.xml", ".gradle/gradle.properties", ".nvm/.npmrc"],
        clean: &[".m2/repository/x", ".gradle/caches/x", ".ivy2/cache/x"],
        ..MASKED
    },
    Name {
        id: "model-credentials",
        tool: "Clients of models",
        paths: &[
            ".openai", ".anthropic", ".huggingface", ".kaggle", ".modal.toml", ".modal", ".replicate", ".cohere", ".mistral", ".together",
            ".groq", ".perplexity", ".xai", ".deepseek", ".langchain", ".langsmith", ".wandb", ".comet.config", ".neptune", ".clearml.conf",
            ".mlflow", ".lightning", ".runpod", ".vast_api_key", ".lambdalabs", ".llm", ".sgpt", ".shell_gpt", ".aichat", ".fabric", ".mods",
        ],
        why: "API keys of models, which spend their owner's money.",
        matches: &[".openai", ".kaggle/kaggle.json", ".modal.toml"],
        clean: &["openai", ".kaggler", ".modals"],
        ..WITHHELD
    },
    Name {
        id: "model-credentials-inside",
        tool: "Clients of models",
        paths: &[
            ".cache/huggingface/token", ".cache/huggingface/stored_tokens", ".cache/huggingface/hub/.token", ".cache/kaggle/kaggle.json",
            ".cache/llm/keys.json", ".ollama/id_ed25519", ".jupyter/*config.json", ".jupyter/*config.py", ".jupyter/migrated",
            ".local/share/jupyter/runtime", ".ipython/profile_default/history.sqlite", ".ipython/profile_default/security",
        ],
        why: "Keys and sessions beside models and notebooks, which a command may need.",
        matches: &[".cache/huggingface/token", ".ollama/id_ed25519", ".jupyter/jupyter_server_config.json"],
        clean: &[".cache/huggingface/hub/models--x", ".ollama/models/x", ".jupyter/lab/x"],
        ..MASKED
    },
    Name {
        id: "agent-credentials",
        tool: "Agents",
        paths: &[
            ".amazonq", ".amp", ".augment", ".aider.conf.yml", ".aider", ".aider.input.history", ".aider.chat.history.md", ".cline",
            ".codeium", ".continue", ".copilot", ".crush", ".cursor", ".cursor-server", ".factory", ".goose", ".grok", ".hermes", ".junie",
            ".kiro", ".mcp-auth", ".mcp.json", ".openclaw", ".clawdbot", ".moltbot", ".picoclaw", ".zeroclaw", ".nanobot", ".opencode", ".openhands", ".pi", ".qwen", ".roo", ".tabnine", ".trae",
            ".warp", ".windsurf", ".windsurf-server", ".zed_server", ".comis", ".stockade", ".local/share/opencode", ".local/share/goose",
            ".local/share/amp", ".local/share/com.vercel.cli", ".local/share/crush", ".local/share/cursor-agent", ".local/share/zed", ".local/share/kiro-cli",
            ".local/state/stockade", ".local/share/stockade",
        ],
        why: "Logins of agents, and what was said to them.",
        matches: &[".cursor/auth.json", ".mcp-auth/x", ".local/share/opencode/auth.json"],
        clean: &["cursor", ".cursors"],
        ..WITHHELD
    },
    Name {
        id: "developer-credentials",
        tool: "Version control, issue trackers, clients of services",
        paths: &[
            ".gitconfig", ".gitcookies", ".git-credential-cache", ".github_token", ".ghtoken", ".hub", ".gitlab", ".python-gitlab.cfg",
            ".hgrc", ".subversion/auth", ".bzr.credentials", ".arcrc", ".gerritrc", ".reviewboardrc", ".jira.d", ".jira", ".jiracli", ".linear",
            ".asana", ".notion", ".slackcat", ".slack", ".discord", ".twurlrc", ".trc", ".stripe", ".twilio-cli", ".sendgrid", ".postman",
            ".newman", ".insomnia", ".httpie", ".curlrc", ".wgetrc", ".wget-hsts", ".lftp", ".ncftp", ".filezilla", ".netrc.gpg", "_netrc",
            ".authinfo", ".authinfo.gpg", ".authinfo.json", ".fastlane", ".appstoreconnect", ".private_keys", ".shopify", ".contentful", ".contentfulrc.json", ".firebase", ".eas", ".sfdx", ".sf",
        ],
        why: "Tokens of services that a developer logs in to.",
        matches: &[".gitconfig", ".arcrc", ".stripe/config.toml"],
        clean: &["gitconfig", ".hgignores"],
        ..WITHHELD
    },
    Name {
        id: "developer-credentials-inside",
        tool: "Version control, mobile and chain development",
        paths: &[
            ".cache/git/credential", ".cache/git-credential-manager", ".android/adbkey", ".android/*.keystore", ".android/*.jks",
            ".android/sites-settings.cfg", ".foundry/keystores", ".brownie/accounts", ".expo/state.json", ".gitlab-runner/config.toml",
        ],
        why: "Keys beside tools and images that a command may need.",
        matches: &[".android/adbkey", ".android/debug.keystore", ".foundry/keystores/main"],
        clean: &[".android/avd/x", ".foundry/bin/x", ".cache/pip/x"],
        ..MASKED
    },
    Name {
        id: "mail-and-chat",
        tool: "Mail programs and messengers",
        paths: &[
            ".mailrc", ".msmtprc", ".fetchmailrc", ".getmail", ".mbsyncrc", ".offlineimaprc", ".muttrc", ".mutt", ".esmtprc", ".procmailrc",
            ".davmail.properties", ".davfs2", ".smbcredentials", ".cifs", ".irssi", ".weechat", ".purple", ".znc", ".bitlbee", ".mcabber",
            ".evolution", ".sylpheed-2.0", ".claws-mail", ".signal", ".telegram", ".local/share/TelegramDesktop",
            ".local/share/evolution", ".skype", ".zoom",
        ],
        why: "Passwords of mailboxes, letters and conversations.",
        matches: &[".msmtprc", ".purple/accounts.xml", ".local/share/TelegramDesktop/x"],
        clean: &["mailrc", ".mutts"],
        ..WITHHELD
    },
    Name {
        id: "keys-and-wallets",
        tool: "Key stores, password managers, remote desktops, wallets",
        paths: &[
            ".pki", ".putty", ".vnc", ".rdesktop", ".x2go", ".remmina", ".local/share/remmina", ".Xauthority", ".ICEauthority", ".k5login",
            ".k5identity", ".krb5", ".java/.userPrefs", ".keystore", ".gnome2/keyrings", ".kde/share/apps/kwallet", ".local/share/kwalletd",
            ".keychain", ".keyring", ".1password", ".op", ".lpass", ".bitwarden", ".authy", ".yubico", ".gnupg2", ".local/share/gnupg",
            ".local/share/gopass", ".local/share/password-store", ".local/share/python_keyring", ".keepass", ".keepassxc", ".secrets",
            ".credentials", ".tokens", ".wireguard", ".openvpn", ".vpn", ".cisco", ".anyconnect", ".ecryptfs", ".private", ".bitcoin", ".electrum",
            ".electrum-ltc", ".ethereum", ".litecoin", ".dogecoin", ".monero", ".bitmonero", ".zcash", ".solana", ".sui", ".aptos", ".near-credentials",
            ".eth2", ".lnd", ".lightning-cli", ".cardano", ".polkadot", ".trezor", ".ledger",
        ],
        why: "Keys, passwords and coins.",
        matches: &[".pki/nssdb/key4.db", ".Xauthority", ".bitcoin/wallet.dat"],
        clean: &["pki", ".vnctool"],
        ..WITHHELD
    },
    Name {
        id: "withheld-histories",
        tool: "Shells, interpreters, pagers and browsers",
        paths: &[
            ".bash_history", ".zsh_history", ".zhistory", ".histfile", ".history", ".sh_history", ".ksh_history", ".mksh_history", ".ash_history",
            ".python_history", ".node_repl_history", ".irb_history", ".pry_history", ".psql_history", ".mysql_history", ".mariadb_history",
            ".sqlite_history", ".dbshell", ".mongo_history", ".lesshst", ".viminfo", ".scala_history", ".ghc/ghci_history", ".lua_history", ".php_history",
            ".R_history", ".Rhistory", ".gdb_history", ".bash_sessions", ".zsh_sessions", ".local/share/fish", ".local/share/nushell", ".local/share/atuin",
            ".local/share/mcfly", ".local/share/zoxide", ".local/state/bash", ".local/state/zsh", ".local/share/recently-used.xbel", ".xsession-errors",
            ".var/app", "snap/bitwarden", "snap/telegram-desktop",
        ],
        why: "Typed commands contain passwords, and browser profiles contain sessions.",
        matches: &[".bash_history", ".local/share/fish/fish_history", ".Rhistory"],
        clean: &["bash_history", ".historybook"],
        ..WITHHELD
    },
];
