//! Variables that change what programs run or read.

/// Names, and families of names that end in `*` or begin with it.
const TABLE: &[&str] = &[
    // The shell and the loader.
    "PATH",
    "IFS",
    "ENV",
    "BASH_ENV",
    "SHELLOPTS",
    "BASHOPTS",
    "BASH_FUNC_*",
    "BASH_LOADABLES_PATH",
    "PS0",
    "PS1",
    "PS2",
    "PS3",
    "PS4",
    "PROMPT_COMMAND",
    "PROMPT",
    "RPROMPT",
    "CDPATH",
    "GLOBIGNORE",
    "ZDOTDIR",
    "FPATH",
    "fpath",
    "path",
    "NULLCMD",
    "READNULLCMD",
    "SHELL",
    "LD_*",
    "DYLD_*",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "MALLOC_*",
    "GLIBC_TUNABLES",
    "HOSTALIASES",
    "RES_OPTIONS",
    "TMPDIR",
    "HISTFILE",
    // Whose files are read.
    "HOME",
    "XDG_*",
    "USER",
    "LOGNAME",
    // Programs that others run.
    "*PAGER",
    "*EDITOR",
    "*BROWSER",
    "VISUAL",
    "LESS",
    "LESSOPEN",
    "LESSCLOSE",
    "LESSKEY*",
    "MORE",
    "MANOPT",
    "TERMINFO*",
    "GIT_*",
    "SSH_*",
    "SUDO_*",
    "GPG_*",
    "GNUPGHOME",
    "RSYNC_RSH",
    "CVS_RSH",
    "SVN_SSH",
    "HG*",
    "TAR_OPTIONS",
    "TAPE",
    "GZIP",
    "XZ_*",
    "ZSTD_*",
    "GREP_*",
    "ACK_*",
    "RIPGREP_CONFIG_PATH",
    "FZF_*",
    "BAT_*",
    "DELTA_*",
    // Interpreters and their libraries.
    "PYTHON*",
    "PIP_*",
    "UV_*",
    "VIRTUAL_ENV",
    "CONDA_*",
    "PERL*",
    "RUBY*",
    "GEM_*",
    "BUNDLE_*",
    "NODE_*",
    "NPM_*",
    "npm_*",
    "YARN_*",
    "BUN_*",
    "DENO_*",
    "PHP*",
    "LUA_*",
    "JAVA_*",
    "_JAVA_OPTIONS",
    "JDK_*",
    "CLASSPATH",
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
    "GNUMAKEFLAGS",
    "MFLAGS",
    "CMAKE_*",
    "CARGO*",
    "RUST*",
    "PKG_CONFIG*",
    // Where things are sent and who is trusted.
    "*_PROXY",
    "*_proxy",
    "CURL_*",
    "WGETRC",
    "SSL_*",
    "OPENSSL_*",
    "REQUESTS_CA_BUNDLE",
    "DOCKER_*",
    "KUBECONFIG",
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

/// Returns whether setting the variable changes what programs run or read.
pub(crate) fn matter(name: &str) -> bool {
    TABLE.iter().any(|entry| fits(entry, name))
}

/// Returns whether the variable is in a list of names and families.
pub(crate) fn listed(list: &[String], name: &str) -> bool {
    list.iter().any(|entry| fits(entry, name))
}

fn fits(entry: &str, name: &str) -> bool {
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
