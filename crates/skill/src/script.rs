//! Detects programs among the files of a skill.

/// File extensions of programs, whatever their first line.
const ENDINGS: &[&str] = &[
    "sh", "bash", "zsh", "fish", "ksh", "command", "py", "pyw", "js", "mjs", "cjs", "ts", "mts", "rb", "pl",
    "php", "lua", "ps1", "bat", "cmd", "vbs", "awk",
];

/// Whether a file is a program: by its extension, or by an interpreter line.
///
/// ```
/// use stockade_skill::is_program;
///
/// assert!(is_program("tools/Build.PY", "import os") && is_program("run", "#!/bin/sh\nls\n"));
/// assert!(!is_program("notes.md", "Run it.") && !is_program("sh", "ls"));
/// ```
#[must_use]
pub fn is_program(name: &str, text: &str) -> bool {
    let ending = name.rsplit('/').next().and_then(|file| file.rsplit_once('.')).map(|(_, ending)| ending);
    let is_known = |ending: &str| ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending));
    text.starts_with("#!") || ending.is_some_and(is_known)
}
