//! Environment variables that programs obey: names, and families with `*` at one end. Setting one changes which
//! programs run, which files are read or who is trusted, so they must not be treated as plain values.

use crate::pattern::fits;

/// Variables that load code into every program, or into every shell.
pub static LOADER_VARIABLES: &[&str] = &[
    // ld.so(8): objects that are loaded before all others, and directories where they are searched.
    "LD_PRELOAD",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PROFILE",
    "LD_DEBUG_OUTPUT",
    "DYLD_*",
    // iconv(3) loads modules from there; tunables are parsed before `main` (CVE-2023-4911).
    "GCONV_PATH",
    "GLIBC_TUNABLES",
    // Files that a shell reads first, functions that it imports (CVE-2014-6271), and options that make it expand
    // `PS4` before each command.
    "BASH_ENV",
    "ENV",
    "BASH_FUNC_*",
    "SHELLOPTS",
    "BASHOPTS",
    "ZDOTDIR",
    "PROMPT_COMMAND",
];

/// Variables that a shell expands before each command that it traces.
pub static TRACE_VARIABLES: &[&str] = &["PS4"];

/// Variables by which a shell splits words.
pub static SEPARATOR_VARIABLES: &[&str] = &["IFS"];

/// Variables that determine which programs and libraries a name refers to.
pub static SEARCH_VARIABLES: &[&str] = &[
    "PATH",
    "CDPATH",
    "MANPATH",
    // bash's cache of command paths: `BASH_CMDS[ls]=/tmp/ls`. `hash` writes it as well.
    "BASH_CMDS",
    "BASH_ALIASES",
    // The same table in zsh, and the directories of its modules.
    "commands",
    "MODULE_PATH",
    "HOME",
    "SHELL",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONINSPECT",
    "PYTHONUSERBASE",
    "PERL5OPT",
    "PERL5LIB",
    "PERL5DB",
    "RUBYOPT",
    "RUBYLIB",
    "NODE_PATH",
    "LUA_PATH",
    "LUA_INIT",
    "CLASSPATH",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    // bash ignores matching names when it searches for files and programs, so that others are found.
    "GLOBIGNORE",
    "EXECIGNORE",
    "FPATH",
    // Programs trust the files that they put there, and links that others left there.
    "TMPDIR",
    "R_PROFILE*",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
];

/// Variables that make an ordinary program start another one, or read other settings.
pub static HELPER_VARIABLES: &[&str] = &[
    "*PAGER",
    "*EDITOR",
    "VISUAL",
    "BROWSER",
    "GIT_*",
    "SSH_ASKPASS*",
    "SUDO_ASKPASS",
    // less(1), INPUT PREPROCESSOR: a value that begins with `|` is a command for each file.
    "LESSOPEN",
    "LESSCLOSE",
    "RSYNC_RSH",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC",
    "CARGO_BUILD_RUSTC*",
    "CVS_RSH",
    "SVN_SSH",
    // GNU tar prepends these to its own options, and `--checkpoint-action=exec=…` is one of them.
    "TAR_OPTIONS",
    // May contain `--eval=…`, which is a makefile of its own.
    "MAKEFLAGS",
    "GNUMAKEFLAGS",
    "GREP_OPTIONS",
    "RIPGREP_CONFIG_PATH",
    // The server that is obeyed: another daemon or another cluster may belong to an attacker.
    "DOCKER_HOST",
    "KUBECONFIG",
    "npm_config_*",
    "NPM_CONFIG_*",
    "PIP_*",
    "GOFLAGS",
    "GOPROXY",
    "GONOSUMDB",
    "*_PROXY",
    "*_proxy",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "CURL_HOME",
    "WGETRC",
    // ncurses parses files from there, and was not made for hostile ones (CVE-2023-29491).
    "TERMINFO",
    "HOSTALIASES",
    "BUNDLE_*",
    "GEM_HOME",
    "GEM_PATH",
    "EMACSLOADPATH",
    "VIMINIT",
    "EXINIT",
    "FZF_DEFAULT_COMMAND",
    // Not a helper, but worse: TLS libraries write their session keys there.
    "SSLKEYLOGFILE",
];

/// Variables that load code into every program of a runtime of JavaScript.
pub static NODE_VARIABLES: &[&str] =
    &["NODE_OPTIONS", "BUN_OPTIONS", "DENO_*", "NODE_TLS_REJECT_UNAUTHORIZED"];

/// Variables that configure a shell's history.
pub static HISTORY_VARIABLES: &[&str] =
    &["HISTFILE", "HISTSIZE", "HISTFILESIZE", "HISTCONTROL", "HISTIGNORE", "SAVEHIST"];

/// Variables that determine which certificate authorities a program trusts.
static TRUST: &[&str] = &[
    "SSL_CERT_*",
    "NIX_SSL_CERT_FILE",
    "*_CA_BUNDLE",
    "*_CA_CERT",
    "*_CA_CERTS",
    "*_CAINFO",
    "*_CAFILE",
    "*_CA_CERTS_FILE",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
];

/// Variables with the user's identity, the location of the user's files, and the language.
static PLACES: &[&str] = &[
    "PWD",
    "OLDPWD",
    "USER",
    "LOGNAME",
    "UID",
    "EUID",
    "TMP",
    "TEMP",
    "TERM",
    "TERM_*",
    "COLORTERM",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR*",
    "CI",
    "NODE_ENV",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "XDG_*",
    "MPLBACKEND",
    "MPLCONFIGDIR",
    "CARGO_HOME",
    "DBUS_SESSION_BUS_ADDRESS",
    "SSH_AUTH_SOCK",
    "DISPLAY",
    "NODE_USE_ENV_PROXY",
];

/// Variables with the location of a toolchain, as its installer or version manager sets them. A command without them
/// loses its compiler; their values are paths and not secrets. `CARGO_HOME` is left out: it contains tokens, and
/// cargo writes to it.
pub static TOOLCHAIN_VARIABLES: &[&str] = &[
    "ANDROID_HOME",
    "ANDROID_SDK_ROOT",
    "ASDF_DATA_DIR",
    "ASDF_DIR",
    "BUN_INSTALL",
    "CONDA_PREFIX",
    "DENO_INSTALL",
    "DOTNET_ROOT",
    "ELAN_HOME",
    "FNM_DIR",
    "FNM_MULTISHELL_PATH",
    "GHCUP_INSTALL_BASE_PREFIX",
    "GOENV_ROOT",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "GRADLE_HOME",
    "HOMEBREW_PREFIX",
    "JAVA_HOME",
    "JULIAUP_DEPOT_PATH",
    "M2_HOME",
    "MAVEN_HOME",
    "MISE_DATA_DIR",
    "NVM_BIN",
    "NVM_DIR",
    "OPAMROOT",
    "PIPX_HOME",
    "PNPM_HOME",
    "POETRY_HOME",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "RUSTUP_HOME",
    "SDKMAN_DIR",
    "UV_PYTHON_INSTALL_DIR",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
];

/// All of them, with their effect.
static OBEYED: &[(&[&str], &str)] = &[
    (LOADER_VARIABLES, "loads code into every program that is started"),
    (TRACE_VARIABLES, "is expanded before each command that is traced"),
    (SEPARATOR_VARIABLES, "changes where the shell splits words"),
    (SEARCH_VARIABLES, "changes which program or library a name resolves to"),
    (HELPER_VARIABLES, "makes programs start others, or read their settings elsewhere"),
    (NODE_VARIABLES, "loads code into every program that node starts"),
    (HISTORY_VARIABLES, "changes what is kept of the history of a shell"),
    (TRUST, "lists the authorities that programs trust"),
    (PLACES, "names the user, or where files are"),
    (TOOLCHAIN_VARIABLES, "determines which compiler or interpreter runs"),
];

/// Suffixes in families of which some members contain a secret, such as `BUNDLE_GITHUB__COM` and `DENO_AUTH_TOKENS`.
static OF_SECRETS: &[&str] = &["_TOKEN", "_TOKENS", "_PASSWORD", "_SECRET", "__COM", "__ORG", "__IO"];

/// Returns the effect of a variable that programs obey, or `None` if it is unknown or may contain a secret.
///
/// ```
/// use stockade_names::obeyed_variable;
///
/// assert!(obeyed_variable("LD_PRELOAD").is_some() && obeyed_variable("git_proxy").is_some());
/// assert_eq!(obeyed_variable("GITHUB_TOKEN"), None);
/// ```
#[must_use]
pub fn obeyed_variable(name: &str) -> Option<&'static str> {
    let is_of_secrets = OF_SECRETS.iter().any(|end| name.ends_with(end));
    let means = |entry: &&str| fits(name, entry) && !(is_of_secrets && entry.contains('*'));
    OBEYED.iter().find(|(names, _)| names.iter().any(&means)).map(|(_, changes)| *changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_programs_obey_and_what_holds_secrets() {
        for name in [
            "LD_PRELOAD",
            "DYLD_INSERT_LIBRARIES",
            "PATH",
            "HOME",
            "PWD",
            "IFS",
            "PS4",
            "BASH_ENV",
            "BASH_FUNC_x",
            "SSL_CERT_FILE",
            "SSL_CERT_DIR",
            "REQUESTS_CA_BUNDLE",
            "NODE_EXTRA_CA_CERTS",
            "NODE_OPTIONS",
            "GIT_SSH_COMMAND",
            "GIT_CONFIG_VALUE_0",
            "https_proxy",
            "HTTPS_PROXY",
            "NO_PROXY",
            "LC_ALL",
            "HISTFILE",
            "PYTHONPATH",
            "JAVA_TOOL_OPTIONS",
        ] {
            assert!(obeyed_variable(name).is_some(), "{name}");
        }
        for name in [
            "GITHUB_TOKEN",
            "GIT_TOKEN",
            "NPM_TOKEN",
            "PIP_PASSWORD",
            "BUNDLE_GITHUB__COM",
            "DENO_AUTH_TOKENS",
            "AWS_SECRET_ACCESS_KEY",
            "PGPASSWORD",
            "ANTHROPIC_API_KEY",
            "OPENAI_API_KEY",
            "CARGO_REGISTRY_TOKEN",
            "UV_PUBLISH_TOKEN",
            "DATABASE_URL",
            "T",
            "MY_PATH",
        ] {
            assert_eq!(obeyed_variable(name), None, "{name}");
        }
    }
}
