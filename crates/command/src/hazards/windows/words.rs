//! Recognises Windows commands by their words, and matches them with the tables.

use std::sync::LazyLock;

use super::table::{AMBIGUOUS, AT_DRIVE, CERTUTIL, ENDINGS, NOUNS, PROGRAMS, SWITCHED, VARIABLES, VERBS};
use crate::hazards::command::Command;
use crate::hazards::in_small_letters;
use stockade_shell::Arg;
use stockade_shell::lookup::{Names, names};

/// Whether a command is a Windows command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spoken {
    /// It has no sign of Windows.
    Never,
    /// It has the name of a program, a variable, a drive or a cmdlet of Windows.
    Certainly,
}

/// Maximum length of the name of a Windows program or cmdlet.
const MAX_NAME: usize = 64;

static ALONE: LazyLock<Names> = LazyLock::new(|| names(PROGRAMS));
static SHARED: LazyLock<Names> = LazyLock::new(|| names(AMBIGUOUS));

/// Returns whether a command is a Windows command.
pub(super) fn is_spoken(command: &Command<'_, '_>) -> Spoken {
    let program = command.run.program().unwrap_or(command.name);
    let is_name = is_program(program) || is_cmdlet(program) || runs_cmdlets(command) || is_certutil(command);
    if is_name || speaks(command) { Spoken::Certainly } else { Spoken::Never }
}

/// Whether PowerShell, which also exists on Unix, gets cmdlets or encoded text.
fn runs_cmdlets(command: &Command<'_, '_>) -> bool {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let mut words = command.words().map(spelled).flat_map(|word| word.split(move |letter| !is_word(letter)));
    matches!(command.name, "pwsh" | "pwsh-preview") && (is_encoded(command) || words.any(is_cmdlet))
}

fn is_certutil(command: &Command<'_, '_>) -> bool {
    let is_option = |word: &str| {
        word.strip_prefix(['-', '/']).is_some_and(|name| CERTUTIL.contains(&&*name.to_ascii_lowercase()))
    };
    command.name == "certutil" && command.known().take_while(|word| word.len() < MAX_NAME).any(is_option)
}

fn speaks(command: &Command<'_, '_>) -> bool {
    let name = in_small_letters(command.name);
    let is_shared = SHARED.contains(&*name);
    let mut words = command.words().map(spelled);
    let has_switch = |word: &str| SWITCHED.contains(&&*name) && is_switch(word);
    let is_script = |word: &str| matches!(&*name, "start" | "call" | "wine") && has_ending(word);
    words.any(|word| {
        names_variable(word) || (is_shared && (names_drive(word) || has_switch(word) || is_script(word)))
    })
}

fn spelled<'a>(word: &'a Arg<'_>) -> &'a str {
    match word {
        Arg::Known(text) => text,
        Arg::Unknown { spelling, .. } => spelling,
    }
}

/// Whether a program is a Windows program by its name, extension or drive.
fn is_program(path: &str) -> bool {
    let name = last_name(path);
    if name.len() > MAX_NAME || !name.is_ascii() {
        return false;
    }
    if has_ending(name) || names_drive(path) {
        return true;
    }
    // A path without an extension is a Unix program.
    path.len() == name.len() && ALONE.contains(&*in_small_letters(name))
}

fn last_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn has_ending(name: &str) -> bool {
    let ends = |ending: &str| {
        let at = name.len().checked_sub(ending.len()).filter(|at| *at > 0);
        at.and_then(|at| name.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(ending))
    };
    name.contains('.') && ENDINGS.iter().any(|ending| ends(ending))
}

/// Whether a name is a PowerShell verb and noun, one of which has a capital letter unless the noun is well known.
fn is_cmdlet(name: &str) -> bool {
    let Some((verb, noun)) = name.split_once('-').filter(|_| name.len() <= MAX_NAME) else { return false };
    let is_noun = noun.len() > 1 && noun.bytes().all(|letter| letter.is_ascii_alphanumeric());
    let has_capital = noun.starts_with(|letter: char| letter.is_ascii_uppercase());
    is_noun
        && VERBS.contains(&&*verb.to_ascii_lowercase())
        && (has_capital || NOUNS.contains(&&*noun.to_ascii_lowercase()))
}

/// Whether a word contains a Windows variable: `%APPDATA%`.
fn names_variable(word: &str) -> bool {
    if !word.contains('%') {
        return false;
    }
    let mut parts = word.split('%').skip(1);
    let is_closed = word.matches('%').count() > 1;
    is_closed && parts.any(|name| name.len() <= MAX_NAME && VARIABLES.contains(&&*name.to_ascii_lowercase()))
}

/// Whether a word starts with a drive: `C:\Users`, or `C:Usersx`, after a Unix shell has removed the backslash.
fn names_drive(word: &str) -> bool {
    let word = word.trim_start_matches(['"', '\'']);
    let mut signs = word.chars();
    let is_drive =
        signs.next().is_some_and(|letter| letter.is_ascii_alphabetic()) && signs.next() == Some(':');
    let rest = signs.as_str();
    if !is_drive {
        return false;
    }
    let folder = rest.trim_start_matches(['\\', '/']);
    let is_known =
        |name: &&str| folder.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    let has_separator = folder.len() < rest.len();
    let is_path = has_separator && (folder.is_empty() || folder.contains('\\') || rest.starts_with('\\'));
    is_path || AT_DRIVE.iter().any(is_known) || rest == "*" || rest.is_empty()
}

/// Whether a word is a switch: `/s`, `/q`, `/i:http`, `/all`.
fn is_switch(word: &str) -> bool {
    let Some(name) = word.strip_prefix('/') else { return false };
    let name = name.split(':').next().unwrap_or_default();
    const LONG: &[&str] = &[
        "all", "add", "delete", "create", "query", "priv", "groups", "user", "domain", "active", "quiet",
        "wait", "min", "max",
    ];
    name == "?"
        || (name.len() == 1 && name.bytes().all(|letter| letter.is_ascii_alphabetic()))
        || LONG.contains(&&*name.to_ascii_lowercase())
}

/// Whether a Windows shell gets encoded text. PowerShell accepts every abbreviation of the option.
pub(super) fn is_encoded(command: &Command<'_, '_>) -> bool {
    const MAX_OPTION: usize = 15;
    let name = last_name(command.name).to_ascii_lowercase();
    let is_power_shell = matches!(name.trim_end_matches(".exe"), "powershell" | "pwsh" | "powershell_ise");
    let is_option = |word: &str| {
        let word = word.trim_start_matches(['-', '/']).to_ascii_lowercase();
        word == "ec" || (!word.is_empty() && word.len() < MAX_OPTION && "encodedcommand".starts_with(&*word))
    };
    is_power_shell
        && command
            .known()
            .filter(|word| word.len() <= MAX_OPTION && word.starts_with(['-', '/']))
            .any(is_option)
}

/// Whether the words of any row occur in the command in this order.
pub(super) fn has_any(command: &Command<'_, '_>, rows: &[&[&str]]) -> bool {
    /// Maximum number of words of a command that are checked.
    const MAX_WORDS: usize = 64;
    let texts = command.run.argv.iter().take(MAX_WORDS).map(|word| spelled(word).to_ascii_lowercase());
    // The single text for a Windows shell is split into words as well.
    let words: Vec<String> = texts
        .enumerate()
        .flat_map(|(at, text)| match at {
            0 => vec![last_name(&text).trim_end_matches(".exe").to_owned()],
            _ => split(&text),
        })
        .take(MAX_WORDS * 4)
        .collect();
    rows.iter().any(|row| follows(&words, row))
}

/// Returns the words of a text, and the text itself.
fn split(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = vec![text.to_owned()];
    if text.contains(char::is_whitespace) {
        let ends = |part: &str| {
            part.trim_matches(['"', '\'', '(', ')', ';', '&', '|']).trim_end_matches(".exe").to_owned()
        };
        parts.extend(text.split_whitespace().map(ends));
    }
    parts
}

fn follows(words: &[String], row: &[&str]) -> bool {
    let mut words = words.iter();
    row.iter().all(|pattern| words.any(|word| fits(word, pattern)))
}

/// Whether a word matches a pattern: `http*`, `*lsass*`, `?:`.
fn fits(word: &str, pattern: &str) -> bool {
    if pattern == "?:" {
        return word.len() == 2 && word.ends_with(':');
    }
    let mut rest = word;
    let mut parts = pattern.split('*').peekable();
    let mut is_first = true;
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        let found = match (is_first, is_last) {
            (true, true) => return rest == part,
            (true, false) => rest.strip_prefix(part),
            (false, true) => return rest.ends_with(part),
            (false, false) => rest.find(part).and_then(|at| rest.get(at + part.len()..)),
        };
        let Some(behind) = found else { return false };
        rest = behind;
        is_first = false;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_are_told_from_hosts_and_escapes() {
        for word in ["C:\\Users\\x", "C:Usersx", "c:/windows/x", "D:\\", "C:", "\"C:\\x\\y", "c:\\x"] {
            assert!(names_drive(word), "{word}");
        }
        for word in ["h:file", "a:b", "ab:\\x", "x", "", "r:backup", "http://x", "é:\\x"] {
            assert!(!names_drive(word), "{word}");
        }
    }

    #[test]
    fn variables_of_windows_are_told_from_formats() {
        for word in ["%APPDATA%", "x%userprofile%\\y", "%ProgramFiles(x86)%"] {
            assert!(names_variable(word), "{word}");
        }
        for word in ["%Y-%m-%d", "%an%", "%Cred%h", "%TEMP", "100%", "%VERSION%"] {
            assert!(!names_variable(word), "{word}");
        }
    }

    #[test]
    fn cmdlets_are_told_from_names_with_dashes() {
        for name in ["Get-Process", "remove-item", "Invoke-WebRequest", "new-Object"] {
            assert!(is_cmdlet(name), "{name}");
        }
        for name in
            ["get-version", "add-apt-repository", "start-stop-daemon", "x-Y", "update-ca-certificates", "-"]
        {
            assert!(!is_cmdlet(name), "{name}");
        }
    }

    #[test]
    fn patterns_have_stars() {
        for (word, pattern) in [
            ("http://x", "http*"),
            ("a.lsass.b", "*lsass*"),
            ("c:", "?:"),
            ("x.aws/credentials1", "*.aws*credentials*"),
            ("a", "a"),
        ] {
            assert!(fits(word, pattern), "{word} {pattern}");
        }
        for (word, pattern) in [("xhttp", "http*"), ("lsas", "*lsass*"), ("cc:", "?:"), ("ab", "a")] {
            assert!(!fits(word, pattern), "{word} {pattern}");
        }
    }
}
