//! Quoting of paths and patterns in profiles, which use the syntax of Scheme.

use std::path::Path;

use crate::refusal::{Refusal, SandboxRule, What};

/// Returns a path as a quoted string of a profile, in which only `\` and `"` are special. Invisible and control characters are
/// refused, because profiles are also read by users.
pub(super) fn quoted(path: &Path) -> Result<String, Refusal> {
    let plain = path.to_str().filter(|text| !text.chars().any(char::is_control));
    let Some(text) = plain else {
        let rule =
            SandboxRule::CannotEnforce("a profile cannot contain paths with control or invisible characters");
        return Err(Refusal::new(
            What::Read(path.to_path_buf()),
            rule,
            "rename it, or use its parent directory",
        ));
    };
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        if matches!(c, '\\' | '"') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    Ok(quoted)
}

/// Returns a regular expression for a path at any depth below a directory, and for everything below that path. In the path, a
/// `*` matches any part of a name.
///
/// It is used in denials, so it errs on the side of matching: special characters of the directory match any character, and
/// letters of the names match either case, because most file systems of Macs are case-insensitive.
pub(super) fn anywhere_below(folder: &Path, path: &str) -> String {
    format!("#\"^{}/(.*/)?{}(/.*)?$\"", folder_pattern(folder), name_pattern(path))
}

/// Returns a regular expression for a path in any repository below a directory, including its submodules and worktrees.
pub(super) fn in_repositories_below(folder: &Path, path: &str) -> String {
    let repository = format!("{}/((modules|worktrees)/.*/)?", name_pattern(".git"));
    format!("#\"^{}/(.*/)?{repository}{}(/.*)?$\"", folder_pattern(folder), name_pattern(path))
}

fn folder_pattern(folder: &Path) -> String {
    let text = folder.to_string_lossy();
    let pattern = text.trim_end_matches('/').chars().map(|c| match c {
        c if c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_') => c.to_string(),
        '.' => "[.]".to_owned(),
        _ => ".+".to_owned(),
    });
    pattern.collect()
}

fn name_pattern(path: &str) -> String {
    let pattern = path.chars().map(|c| match c {
        // Besides the two cases, other characters case-fold to these letters.
        's' | 'S' => "(s|S|\u{17f})".to_owned(),
        'k' | 'K' => "(k|K|\u{212a})".to_owned(),
        c if c.is_ascii_alphabetic() => format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase()),
        '*' => "[^/]*".to_owned(),
        c if c.is_ascii_digit() || matches!(c, '/' | '-' | '_') => c.to_string(),
        '.' => "[.]".to_owned(),
        _ => ".+".to_owned(),
    });
    pattern.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Parses a string as Scheme does; nothing if text follows it.
    fn read(text: &str) -> Option<String> {
        let mut chars = text.strip_prefix('"')?.chars();
        let mut read = String::new();
        loop {
            match chars.next()? {
                '"' => return chars.next().is_none().then_some(read),
                '\\' => read.push(chars.next()?),
                c => read.push(c),
            }
        }
    }

    proptest! {
        #[test]
        fn a_path_is_read_as_it_is(text in "[ -~äß€\\\\\"/();#]{0,40}") {
            let quoted = quoted(Path::new(&text)).unwrap();
            prop_assert_eq!(read(&quoted), Some(text));
        }

        #[test]
        fn paths_below_a_protected_name_match(
            folder in "(/[ -.0-~äß]{1,9}){1,3}", around in "([a-zA-Z .]{1,8}/){0,3}", below in "(/[a-z]{1,5}){0,2}",
        ) {
            for (path, name) in [(".vscode", ".VsCode"), (".git/hooks", ".GIT/Hooks"), (".env.*", ".env.local")] {
                let pattern = anywhere_below(Path::new(&folder), path);
                let regex = regex_automata::meta::Regex::new(pattern.trim_matches(['#', '"'])).unwrap();
                let found = format!("{folder}/{around}{name}{below}");
                prop_assert!(regex.is_match(&found), "{pattern} {found}");
            }
        }
    }

    #[test]
    fn invisible_characters_are_refused() {
        for path in ["/a\nb", "/a\u{1b}[2J", "/a\0", "/a\u{85}b"] {
            assert!(quoted(Path::new(path)).is_err(), "{path:?}");
        }
    }

    #[test]
    fn unprotected_names_do_not_match() {
        let regex =
            |pattern: String| regex_automata::meta::Regex::new(pattern.trim_matches(['#', '"'])).unwrap();
        let names = regex(anywhere_below(Path::new("/w.x"), ".vscode"));
        for path in
            ["/w.x/vscode", "/w.x/a.vscode/b", "/wyx/.vscode", "/w.x/.vscodes", "/w.x", "/z/w.x/.vscode"]
        {
            assert!(!names.is_match(path), "{path}");
        }
        let hooks = regex(in_repositories_below(Path::new("/w"), "hooks"));
        for path in
            ["/w/.git/hooks", "/w/a/.git/hooks/x", "/w/.git/modules/a/b/hooks/y", "/w/.git/worktrees/t/hooks"]
        {
            assert!(hooks.is_match(path), "{path}");
        }
        for path in ["/w/hooks", "/w/.git/objects/hooks", "/w/.gitx/hooks"] {
            assert!(!hooks.is_match(path), "{path}");
        }
    }
}
