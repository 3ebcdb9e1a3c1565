//! How a text is to be read.

/// The shell that will run the text.
///
/// A text is read for the shell that runs it: `cat =(id)` runs a command in zsh and is an error in bash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Shell {
    /// GNU bash 4 and 5.
    #[default]
    Bash,
    /// `/bin/sh`, which may be dash, busybox or bash: text that they read differently is refused.
    Sh,
    /// zsh without a configuration, as `zsh -f -c` runs it.
    Zsh,
}

impl Shell {
    /// Returns the shell that a program of this name is.
    #[must_use]
    pub fn named(program: &str) -> Option<Self> {
        match program {
            "bash" | "rbash" => Some(Self::Bash),
            "sh" | "dash" | "ash" | "ksh" | "mksh" | "posh" | "yash" => Some(Self::Sh),
            "zsh" | "rzsh" => Some(Self::Zsh),
            _ => None,
        }
    }
}

/// Limits and dialect of parsing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// The shell that will run the text.
    pub shell: Shell,
    /// The longest text in bytes, and the most bytes that all texts nested in it may have together. 65,536 by default.
    pub max_bytes: usize,
    /// Maximum number of commands and redirections in one text, including those in substitutions. 4,096 by default: a
    /// hand-written script of 64 KiB has some 2,000, and each costs more time than its bytes.
    pub max_commands: usize,
    /// The most words and expansions in one text, those in substitutions included. 10,000 by default, for the same reason:
    /// words are some eight bytes long.
    pub max_words: usize,
    /// How deep substitutions, groups, loops and quotes may be nested in one text. 48 by default.
    pub max_depth: usize,
    /// How many texts may be nested in texts (`bash -c "bash -c …"`). 8 by default.
    pub max_texts: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            shell: Shell::Bash,
            max_bytes: 64 * 1024,
            max_commands: 4_096,
            max_words: 10_000,
            max_depth: 48,
            max_texts: 8,
        }
    }
}

impl ReadOptions {
    /// Returns the default limits for a text that `shell` runs.
    #[must_use]
    pub fn for_shell(shell: Shell) -> Self {
        Self { shell, ..Self::default() }
    }
}
