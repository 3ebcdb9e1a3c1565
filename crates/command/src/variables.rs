//! Variables that change what programs run or read.

use super::hazards::is_dangerous_variable;

/// Variables that require a sandbox: names, and families with a `*` at the end or beginning. Dangerous ones are rows of
/// `hazards::environment`.
const OTHERS: &[&str] = &[
    // The shell and the loader.
    "BASH_LOADABLES_PATH",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "RPS1",
    "RPS2",
    "BASH_XTRACEFD",
    "NULLCMD",
    "READNULLCMD",
    "LD_*",
    "LOCPATH",
    "NLSPATH",
    "LANGUAGE",
    "TEXTDOMAIN*",
    "MALLOC_*",
    "RES_OPTIONS",
    // Configuration files.
    "XDG_*",
    "USER",
    "LOGNAME",
    // Programs that other programs run.
    "*BROWSER",
    "LESS",
    "LESSKEY*",
    "MORE",
    "MANOPT",
    "TERMINFO*",
    "SSH_*",
    "SUDO_*",
    "GPG_*",
    "GNUPGHOME",
    "HG*",
    "TAPE",
    "GZIP",
    "XZ_*",
    "ZSTD_*",
    "GREP_*",
    "ACK_*",
    "FZF_*",
    "BAT_*",
    "DELTA_*",
    // Interpreters and their libraries.
    "PYTHON*",
    "UV_*",
    "VIRTUAL_ENV",
    "CONDA_*",
    "PERL*",
    "RUBY*",
    "GEM_*",
    "NODE_*",
    "NPM_*",
    "npm_*",
    "YARN_*",
    "BUN_*",
    "PHP*",
    "LUA_*",
    "JAVA_*",
    "JDK_*",
    "MAVEN_*",
    "GRADLE_*",
    "JULIA_*",
    "R_*",
    "ERL_*",
    "GO*",
    "CGO_*",
    "AWKPATH",
    "AWKLIBPATH",
    "DOTNET_*",
    "PSModulePath",
    // Compilers and build tools.
    "CC",
    "CXX",
    "LD",
    "AR",
    "AS",
    "CPP",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "CPATH",
    "C_INCLUDE_PATH",
    "LIBRARY_PATH",
    "GCC_*",
    "COMPILER_PATH",
    "MAKE*",
    "MFLAGS",
    "CMAKE_*",
    "CARGO*",
    "RUST*",
    "PKG_CONFIG*",
    // Destinations and trust.
    "CURL_*",
    "SSL_*",
    "OPENSSL_*",
    "REQUESTS_CA_BUNDLE",
    "DOCKER_*",
    "AWS_*",
    "GOOGLE_*",
    "AZURE_*",
    "ANSIBLE_*",
    "TF_*",
    "VAULT_*",
    "DATABASE_URL",
    "PG*",
    "MYSQL_*",
];

/// Harmless variables of these families: verbosity, modes and build targets, which refer to no program, file or other machine.
const HARMLESS: &[&str] = &[
    "NODE_ENV",
    "NODE_NO_WARNINGS",
    "NODE_DISABLE_COLORS",
    "NODE_DEBUG",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "PYTHONFAULTHANDLER",
    "PYTHONOPTIMIZE",
    "RUST_LOG",
    "RUST_BACKTRACE",
    "RUST_LIB_BACKTRACE",
    "RUST_MIN_STACK",
    "RUST_TEST_THREADS",
    "CARGO_TERM_COLOR",
    "CARGO_TERM_QUIET",
    "CARGO_TERM_VERBOSE",
    "CARGO_TERM_PROGRESS_WHEN",
    "CARGO_INCREMENTAL",
    "CARGO_BUILD_JOBS",
    "GOOS",
    "GOARCH",
    "GOARM",
    "GOAMD64",
    "GOMAXPROCS",
    "GOGC",
    "GO111MODULE",
    "CGO_ENABLED",
    "DOTNET_NOLOGO",
    "DOTNET_CLI_TELEMETRY_OPTOUT",
    "GREP_COLOR",
    "GREP_COLORS",
    "DOCKER_BUILDKIT",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "TF_IN_AUTOMATION",
    "UV_NO_PROGRESS",
    "HGPLAIN",
];

/// Harmless variables of no family, which refer to no program, file or other machine, whatever their value.
const ORDINARY: &[&str] = &[
    "CI",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "COLUMNS",
    "FORCE_COLOR",
    "LANG",
    "LC_*",
    "LINES",
    "NO_COLOR",
    "TERM",
    "TZ",
];

/// Returns whether the meaning of a variable is known. The value of any other may be used by some program as the name of a
/// program, a file, or a machine that receives a secret.
pub(crate) fn is_known(name: &str) -> bool {
    ORDINARY.iter().any(|entry| fits(entry, name)) || HARMLESS.contains(&name)
}

/// Returns whether setting the variable changes what programs run or read.
pub(crate) fn matter(name: &str) -> bool {
    is_dangerous_variable(name) || !HARMLESS.contains(&name) && OTHERS.iter().any(|entry| fits(entry, name))
}

/// Returns whether a list of names and families contains the variable.
pub(crate) fn listed(list: &[String], name: &str) -> bool {
    list.iter().any(|entry| fits(entry, name))
}

/// Returns whether a name matches a list entry or its family.
pub(crate) fn fits(entry: &str, name: &str) -> bool {
    match (entry.strip_suffix('*'), entry.strip_prefix('*')) {
        (Some(start), _) => name.starts_with(start),
        (None, Some(end)) => name.ends_with(end),
        (None, None) => entry == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_variable_is_in_two_tables() {
        for entry in OTHERS {
            assert!(!is_dangerous_variable(entry.trim_matches('*')) || entry.contains('*'), "{entry}");
        }
    }

    #[test]
    fn what_is_harmless_is_of_a_family_and_not_dangerous() {
        for name in HARMLESS {
            assert!(!is_dangerous_variable(name), "{name}");
            assert!(OTHERS.iter().any(|entry| fits(entry, name)), "{name} is of no family");
        }
    }

    #[test]
    fn what_is_ordinary_is_in_no_other_table() {
        for name in ORDINARY {
            assert!(!matter(name.trim_end_matches('*')), "{name}");
        }
        assert!(is_known("LC_ALL") && is_known("RUST_LOG"));
        assert!(!is_known("GREP") && !is_known("CLOUDSDK_PYTHON") && !is_known("TEXTDOMAIN"));
    }

    #[test]
    fn variables_matter_or_do_not() {
        for name in [
            "PATH",
            "LD_PRELOAD",
            "GIT_PAGER",
            "PAGER",
            "MANPAGER",
            "IFS",
            "HOME",
            "LESSOPEN",
            "NODE_OPTIONS",
            "https_proxy",
        ] {
            assert!(matter(name), "{name}");
        }
        for name in ["FOO", "CI", "LANG", "LC_ALL", "TZ", "NO_COLOR", "x", "DEBUG"] {
            assert!(!matter(name), "{name}");
        }
        assert!(listed(&["GIT_*".to_owned()], "GIT_DIR") && !listed(&["GIT_*".to_owned()], "PATH"));
    }
}
