//! Variables that change what programs run or read, and the pattern of their names.

use super::hazards::is_dangerous_variable;

/// Variables that only need a sandbox: names, and families of names that end in `*` or begin with it. Those that are
/// dangerous are rows of `hazards::environment`.
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
    // Whose files are read.
    "XDG_*",
    "USER",
    "LOGNAME",
    // Programs that others run.
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
    // Where things are sent and who is trusted.
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

/// Variables of these families that say how much is printed, in which mode something runs, or for which machine it is built, and
/// name no program, no file and no other machine.
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

/// Variables of no such family that name no program, no file and no other machine either, whatever they hold.
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

/// Returns whether it is known of a variable what programs do with it. Of any other, some program may take its value for the
/// name of a program, of a file, or of a machine that a secret is sent to.
pub(crate) fn is_known(name: &str) -> bool {
    ORDINARY.iter().any(|entry| fits(entry, name)) || HARMLESS.contains(&name)
}

/// Returns whether setting the variable changes what programs run or read.
pub(crate) fn matter(name: &str) -> bool {
    is_dangerous_variable(name) || !HARMLESS.contains(&name) && OTHERS.iter().any(|entry| fits(entry, name))
}

/// Returns whether the variable is in a list of names and families.
pub(crate) fn listed(list: &[String], name: &str) -> bool {
    list.iter().any(|entry| fits(entry, name))
}

/// Returns whether a name is the one in a list, or of the family there.
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
