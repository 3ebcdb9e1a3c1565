//! Presets: name, key sources, host, and initial settings of each CLI.

use stockade_exec_sandbox::MountAccess::{self, ReadOnly, ReadWrite};

/// An AI coding CLI.
#[derive(Debug, Clone, Copy)]
pub struct DrivenCli {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name in messages.
    pub title: &'static str,
    /// The program.
    pub program: &'static str,
    /// Its npm package.
    pub package: &'static str,
    /// Its keys. The first that exists is used.
    pub keys: &'static [DrivenKey],
    /// Environment variables to set. `{home}` is replaced by the home directory.
    pub(crate) set: Settings,
    /// A settings file to create, in one of its state directories.
    pub(crate) file: Option<(&'static str, &'static str)>,
    /// Environment variables to pass: selection of the model.
    pub(crate) pass: &'static [&'static str],
    /// State directories, relative to the home directory.
    pub(crate) state: &'static [&'static str],
    /// Parts of its own home directory that it sees with `secureCredentialHome: false`.
    pub(crate) own: &'static [(&'static str, MountAccess)],
    /// Hosts that renew its login, and their other purposes.
    pub(crate) own_hosts: &'static [(&'static str, &'static str)],
}

/// A key of a CLI.
#[derive(Debug, Clone, Copy)]
pub struct DrivenKey {
    /// The variable in which the CLI expects it.
    pub variable: &'static str,
    /// Its sources, outside of the sandbox.
    pub(crate) sources: &'static [KeySource],
    /// The request header that contains it.
    pub(crate) header: &'static str,
    /// The host that receives it.
    pub host: &'static str,
    /// Variables that configure the host. `{base}` is replaced by its URL, such as `https://api.example.com`.
    pub(crate) set: Settings,
    /// Arguments that configure the host, before all others.
    pub(crate) words: &'static [&'static str],
}

/// Variables and their values.
pub(crate) type Settings = &'static [(&'static str, &'static str)];

/// The source of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeySource {
    /// An environment variable of the calling program.
    Variable(&'static str),
    /// A JSON file in the home directory, in which the CLI stores its login.
    Login {
        file: &'static str,
        member: &'static str,
        /// The member with the expiry time, in milliseconds since 1970.
        until: Option<&'static str>,
    },
}

impl KeySource {
    /// Describes the source for users.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Variable(name) => format!("the variable {name}"),
            Self::Login { file, .. } => format!("a login in ~/{file}"),
        }
    }
}

use KeySource::{Login, Variable};

const fn login(file: &'static str, member: &'static str) -> KeySource {
    Login { file, member, until: None }
}

/// A row of [`DrivenCli`] with default values.
const NONE: DrivenCli = DrivenCli {
    name: "",
    title: "",
    program: "",
    package: "",
    keys: &[],
    set: &[],
    file: None,
    pass: &[],
    state: &[],
    own: &[],
    own_hosts: &[],
};

const ANTHROPIC: &str = "api.anthropic.com";
const OPENAI: &str = "api.openai.com";
const BEARER: &str = "Authorization";

const CLAUDE_BASE: Settings = &[("ANTHROPIC_BASE_URL", "{base}")];

/// What Claude Code sends behind `Bearer`.
const fn claude_token(variable: &'static str, sources: &'static [KeySource]) -> DrivenKey {
    DrivenKey { variable, sources, header: BEARER, host: ANTHROPIC, set: CLAUDE_BASE, words: &[] }
}

/// All of them, in the order of the documentation.
pub(crate) const TABLE: &[DrivenCli] = &[
    DrivenCli {
        name: "claude",
        title: "Claude Code",
        program: "claude",
        package: "@anthropic-ai/claude-code",
        keys: &[
            DrivenKey {
                variable: "ANTHROPIC_API_KEY",
                sources: &[Variable("ANTHROPIC_API_KEY")],
                header: "X-Api-Key",
                host: ANTHROPIC,
                set: CLAUDE_BASE,
                words: &[],
            },
            claude_token("ANTHROPIC_AUTH_TOKEN", &[Variable("ANTHROPIC_AUTH_TOKEN")]),
            claude_token(
                "CLAUDE_CODE_OAUTH_TOKEN",
                &[
                    Variable("CLAUDE_CODE_OAUTH_TOKEN"),
                    Login {
                        file: ".claude/.credentials.json",
                        member: "claudeAiOauth.accessToken",
                        until: Some("claudeAiOauth.expiresAt"),
                    },
                ],
            ),
        ],
        set: &[
            // Its settings beside the folder would be in the home, and gone with that.
            ("CLAUDE_CONFIG_DIR", "{home}/.claude"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
        ],
        // Before its first talk it would look for the host of its logins, which it does not reach.
        file: Some((".claude/.claude.json", "{\"hasCompletedOnboarding\":true}")),
        pass: &["ANTHROPIC_MODEL", "ANTHROPIC_SMALL_FAST_MODEL"],
        state: &[".claude"],
        own: &[(".claude", ReadWrite), (".claude.json", ReadOnly), (".local/share/claude", ReadWrite)],
        own_hosts: &[(ANTHROPIC, "the model"), ("platform.claude.com", "where its login is renewed")],
    },
    DrivenCli {
        name: "codex",
        title: "Codex",
        program: "codex",
        package: "@openai/codex",
        keys: &[DrivenKey {
            variable: "OPENAI_API_KEY",
            sources: &[
                Variable("OPENAI_API_KEY"),
                Variable("CODEX_API_KEY"),
                login(".codex/auth.json", "OPENAI_API_KEY"),
            ],
            header: BEARER,
            host: OPENAI,
            set: &[],
            // Its own provider looks for a login before it looks for a key. Its own sandbox cannot be made in this one.
            words: &[
                "-c",
                "model_providers.stockade={name=\"OpenAI\",base_url=\"{base}/v1\",env_key=\"OPENAI_API_KEY\",wire_api=\"responses\"}",
                "-c",
                "model_provider=\"stockade\"",
                "-c",
                "sandbox_mode=\"danger-full-access\"",
                "-c",
                "check_for_update_on_startup=false",
            ],
        }],
        state: &[".codex"],
        own: &[(".codex", ReadWrite)],
        own_hosts: &[
            ("chatgpt.com", "the model, for a login of ChatGPT"),
            (OPENAI, "the model, for a key"),
            ("auth.openai.com", "where its login is renewed"),
        ],
        ..NONE
    },
    DrivenCli {
        name: "gemini",
        title: "Gemini CLI",
        program: "gemini",
        package: "@google/gemini-cli",
        keys: &[DrivenKey {
            variable: "GEMINI_API_KEY",
            sources: &[Variable("GEMINI_API_KEY")],
            header: "X-Goog-Api-Key",
            host: "generativelanguage.googleapis.com",
            set: &[("GOOGLE_GEMINI_BASE_URL", "{base}")],
            words: &[],
        }],
        set: &[("GEMINI_CLI_TRUST_WORKSPACE", "true")],
        // Given a base address, the CLI assumes a gateway and refuses to start, unless the settings select a key as well. No
        // user is there to confirm that the folder is trusted; this sandbox confines what the CLI starts.
        file: Some((
            ".gemini/settings.json",
            "{\"security\":{\"auth\":{\"selectedType\":\"gemini-api-key\"},\"folderTrust\":{\"enabled\":false}},\
             \"general\":{\"enableAutoUpdate\":false},\"privacy\":{\"usageStatisticsEnabled\":false}}",
        )),
        pass: &["GEMINI_MODEL"],
        state: &[".gemini"],
        own: &[(".gemini", ReadWrite)],
        own_hosts: &[
            ("cloudcode-pa.googleapis.com", "the model, for a login of Google"),
            ("generativelanguage.googleapis.com", "the model, for a key"),
            ("oauth2.googleapis.com", "where its login is renewed"),
        ],
    },
    DrivenCli {
        name: "qwen",
        title: "Qwen Code",
        program: "qwen",
        package: "@qwen-code/qwen-code",
        keys: &[DrivenKey {
            variable: "OPENAI_API_KEY",
            sources: &[Variable("OPENAI_API_KEY")],
            header: BEARER,
            host: OPENAI,
            set: &[("OPENAI_BASE_URL", "{base}/v1")],
            words: &[],
        }],
        pass: &["OPENAI_MODEL"],
        state: &[".qwen"],
        own: &[(".qwen", ReadWrite)],
        own_hosts: &[(OPENAI, "the model, for a key")],
        ..NONE
    },
    DrivenCli {
        name: "copilot",
        title: "GitHub Copilot CLI, with a model of one's own",
        program: "copilot",
        package: "@github/copilot",
        keys: &[DrivenKey {
            variable: "COPILOT_PROVIDER_API_KEY",
            sources: &[Variable("COPILOT_PROVIDER_API_KEY"), Variable("OPENAI_API_KEY")],
            header: BEARER,
            host: OPENAI,
            set: &[("COPILOT_PROVIDER_BASE_URL", "{base}/v1")],
            words: &[],
        }],
        set: &[("COPILOT_OFFLINE", "true"), ("COPILOT_AUTO_UPDATE", "false")],
        pass: &["COPILOT_MODEL", "COPILOT_PROVIDER_TYPE"],
        state: &[".copilot"],
        own: &[(".copilot", ReadWrite)],
        own_hosts: &[(OPENAI, "the model, for a key")],
        ..NONE
    },
    DrivenCli {
        name: "opencode",
        title: "OpenCode",
        program: "opencode",
        package: "opencode-ai",
        keys: &[
            DrivenKey {
                variable: "ANTHROPIC_API_KEY",
                sources: &[
                    Variable("ANTHROPIC_API_KEY"),
                    login(".local/share/opencode/auth.json", "anthropic.key"),
                ],
                header: "X-Api-Key",
                host: ANTHROPIC,
                set: &[(
                    "OPENCODE_CONFIG_CONTENT",
                    "{\"provider\":{\"anthropic\":{\"options\":{\"baseURL\":\"{base}/v1\"}}}}",
                )],
                words: &[],
            },
            DrivenKey {
                variable: "OPENAI_API_KEY",
                sources: &[
                    Variable("OPENAI_API_KEY"),
                    login(".local/share/opencode/auth.json", "openai.key"),
                ],
                header: BEARER,
                host: OPENAI,
                set: &[(
                    "OPENCODE_CONFIG_CONTENT",
                    "{\"provider\":{\"openai\":{\"options\":{\"baseURL\":\"{base}/v1\"}}}}",
                )],
                words: &[],
            },
        ],
        set: &[
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            // It looks for its plugins at the registry, and waits for long where that is out of reach.
            ("npm_config_fetch_retries", "0"),
        ],
        state: &[".local/share/opencode", ".config/opencode", ".local/state/opencode", ".cache/opencode"],
        own: &[(".local/share/opencode", ReadWrite), (".config/opencode", ReadWrite)],
        own_hosts: &[(ANTHROPIC, "the model"), (OPENAI, "the model")],
        ..NONE
    },
    DrivenCli { name: "generic", title: "any other program, with its hosts and secrets named", ..NONE },
];
