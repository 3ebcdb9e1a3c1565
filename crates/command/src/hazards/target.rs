//! The path in a word: its start, and its components.

use stockade_names::SYSTEM_DIRECTORIES;
use stockade_shell::Arg;

mod names;
mod pattern;

pub(super) use names::Likeness;
pub(super) use pattern::PathPattern;
use pattern::Start;

/// A path without `.`, `..` and duplicate slashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) base: Base,
    /// The components. `*`, `?` and `[…]` are globs unless escaped by a backslash, and `$` is the unknown value of a variable.
    pub(super) names: Vec<String>,
}

/// The start of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    Root,
    Home,
    /// The working directory of the command.
    Here,
    /// A parent of the working directory, this many levels up.
    Above(usize),
    /// The value of a variable, or the output of a command.
    Unknown,
}

/// Maximum number of components of a path: more than twice the number of symlinks that the kernel follows.
pub(super) const MAX_NAMES: usize = 96;

/// Maximum number of components of a directory that is tracked from one `cd` to the next.
const MAX_FOLDER_NAMES: usize = 64;

impl Target {
    /// Parses a word as a path.
    pub(super) fn of(arg: &Arg<'_>) -> Self {
        match arg {
            Arg::Known(text) if !text.bytes().any(is_special) => Self::spelled(text),
            // A quoted `*` is a letter of the name, and not a glob.
            Arg::Known(text) => Self::spelled(&protected(text)),
            // Without a text, such as for the output of a command, it can be any path.
            Arg::Unknown { spelling, .. } if spelling.is_empty() => {
                Self { base: Base::Unknown, names: vec!["$".to_owned()] }
            }
            Arg::Unknown { spelling, .. } => Self::spelled(spelling),
        }
    }

    /// Parses a text as a path.
    pub(super) fn spelled(text: &str) -> Self {
        let (base, rest) = base_of(text);
        let mut target = Self { base, names: Vec::new() };
        rest.split('/').for_each(|name| target.push(name));
        // After `..` was resolved: `/proc/self/task/../root` is `/proc/self/root`.
        target.through_proc();
        target.without_middle();
        target
    }

    /// Keeps only both ends of a very long path. The kernel follows at most 40 symlinks in a path, so an attacker who inserts
    /// more components would have to create these directories as well.
    fn without_middle(&mut self) {
        let left_out = self.names.len().saturating_sub(MAX_NAMES);
        if left_out == 0 {
            return;
        }
        self.names.drain(MAX_NAMES / 2..MAX_NAMES / 2 + left_out);
    }

    fn push(&mut self, name: &str) {
        match name {
            // `//` and `/./` do not change a path, and are used to evade word lists.
            "" | "." => {}
            ".." => self.go_up(),
            name => self.go_into(without_variables(name)),
        }
    }

    fn go_into(&mut self, name: String) {
        // For the user root, the parent of the home is the root directory: `~/../etc/shadow`.
        let is_of_system =
            self.base == Base::Root && self.names == ["home"] && SYSTEM_DIRECTORIES.contains(&name.as_str());
        if is_of_system {
            self.names.clear();
        }
        self.names.push(name);
    }

    fn go_up(&mut self) {
        let left = self.names.pop();
        match (self.base, left.as_deref()) {
            (Base::Here, None) => self.base = Base::Above(1),
            (Base::Above(steps), None) => self.base = Base::Above(steps + 1),
            // `~/..` is `/home` for most users. For root it is `/`, which `go_into` considers.
            (Base::Home, None) => (self.base, self.names) = (Base::Root, vec!["home".to_owned()]),
            // `/dev/fd` is a symlink to `/proc/self/fd`, so its parent is the process's directory in procfs.
            (Base::Root, Some("fd")) if self.names == ["dev"] => {
                self.names = vec!["proc".to_owned(), "self".to_owned()];
            }
            _ => {}
        }
    }

    /// `/proc/self/root` is the root, and `/proc/self/cwd` the working directory.
    fn through_proc(&mut self) {
        let is_process = |name: &str| {
            // `$` is an unknown value such as `$$`, the shell's own process ID.
            matches!(name, "self" | "thread-self" | "*" | "$")
                || name.bytes().all(|byte| byte.is_ascii_digit())
        };
        while self.base == Base::Root {
            let [proc, process, link, ..] = self.names.as_slice() else { break };
            match link.as_str() {
                "root" if proc == "proc" && is_process(process) => {}
                "cwd" if proc == "proc" && is_process(process) => self.base = Base::Here,
                _ => break,
            }
            self.names.drain(..3);
        }
    }

    /// Returns the components below a home directory.
    pub(super) fn below_home(&self) -> Option<&[String]> {
        match (self.base, self.names.as_slice()) {
            (Base::Home, names) => Some(names),
            (Base::Root, [root, rest @ ..]) if root == "root" => Some(rest),
            // Any user's home counts, because the name of the current user is not known here.
            (Base::Root, [homes, _, rest @ ..]) if homes == "home" || homes == "Users" => Some(rest),
            _ => None,
        }
    }

    /// Returns the components without a trailing glob that matches everything.
    fn folder(&self) -> &[String] {
        // `/*`, `/.*` and `/*.*` delete as much as `/`.
        let is_all = |name: &String| name.contains('*') && name.chars().all(|letter| "*.?!".contains(letter));
        let end = self.names.iter().rposition(|name| !is_all(name)).map_or(0, |last| last + 1);
        self.names.get(..end).unwrap_or_default()
    }

    /// Whether it is the root, a home, a system directory or a parent directory, or everything in one of these.
    pub(super) fn is_everything(&self) -> bool {
        let is_system = |name: &String| SYSTEM_DIRECTORIES.iter().any(|folder| names::fits(name, folder));
        match (self.base, self.folder()) {
            // A parent directory contains the workspace itself, and usually other projects.
            (Base::Root | Base::Home | Base::Above(_), []) => true,
            (Base::Root, [folder]) => is_system(folder),
            // `/home/.cache` and the like are files in the directory of homes.
            (Base::Root, [homes, user]) => (homes == "home" || homes == "Users") && !user.starts_with('.'),
            _ => false,
        }
    }

    /// Returns the same path for a command that runs in `folder`.
    pub(super) fn below(&self, folder: &Self) -> Self {
        let mut target = match self.base {
            Base::Root | Base::Home | Base::Unknown => return self.clone(),
            Base::Here | Base::Above(_) => folder.clone(),
        };
        if let Base::Above(steps) = self.base {
            (0..steps).for_each(|_| target.go_up());
        }
        self.names.iter().for_each(|name| target.go_into(name.clone()));
        target.without_middle();
        target
    }

    /// Whether it has more components than are tracked, so its parents would be unknown.
    pub(super) const fn is_too_deep(&self) -> bool {
        self.names.len() > MAX_FOLDER_NAMES
    }

    /// Whether it is the working directory, or everything in it.
    pub(super) fn is_here(&self) -> bool {
        self.base == Base::Here && self.folder().is_empty()
    }

    /// Whether it becomes the root or a system directory if a variable is empty: `"$x"/*`.
    pub(super) fn is_everything_when_empty(&self) -> bool {
        let emptied = Self { base: Base::Root, names: self.names.clone() };
        self.base == Base::Unknown
            && self.names.first().is_none_or(|name| name != "$")
            && emptied.is_everything()
    }

    /// Whether `pattern` matches it: `/etc/**`, `~/.ssh/*`, `**/.env`.
    pub(super) fn fits(&self, pattern: &str) -> bool {
        if let Some(rest) = pattern.strip_prefix("**/") {
            if !rest.as_bytes().contains(&b'/') && rest != "**" {
                return self.names.last().is_some_and(|name| names::fits(name, rest));
            }
            // Without a trailing `**`, it can only start at one position.
            let parts = 1 + rest.bytes().filter(|letter| *letter == b'/').count();
            let first = if rest.ends_with("**") { Some(0) } else { self.names.len().checked_sub(parts) };
            let last =
                if rest.ends_with("**") { self.names.len() } else { first.map_or(0, |first| first + 1) };
            return (first.unwrap_or(0)..last)
                .any(|from| names_fit(self.names.get(from..).unwrap_or_default(), rest));
        }
        if let Some(rest) = pattern.strip_prefix("~/") {
            return self.below_home().is_some_and(|names| names_fit(names, rest));
        }
        self.base == Base::Root && pattern.strip_prefix('/').is_some_and(|rest| names_fit(&self.names, rest))
    }

    /// Returns how likely it matches files of `pattern`, if some of its components are globs.
    pub(super) fn likeness(&self, pattern: &PathPattern) -> Likeness {
        match pattern.start {
            Start::Anywhere => self.likeness_anywhere(pattern),
            Start::Home => self.below_home().map_or(Likeness::Other, |names| pattern.along(names)),
            Start::Root if self.base == Base::Root => pattern.along(&self.names),
            Start::Root => Likeness::Other,
        }
    }

    /// Same as above for a pattern that may start at any component.
    fn likeness_anywhere(&self, pattern: &PathPattern) -> Likeness {
        let Some(last) = self.names.len().checked_sub(pattern.parts.len()) else { return Likeness::Other };
        // Without a trailing `**`, it can only start at one position.
        let starts = if pattern.ends_below { 0..last + 1 } else { last..last + 1 };
        let mut nearest = Likeness::Other;
        for from in starts {
            nearest = nearest.max(pattern.along(self.names.get(from..).unwrap_or_default()));
            if nearest == Likeness::Meant {
                break;
            }
        }
        nearest
    }

    /// Whether one of the patterns matches every file that its last component matches.
    pub(super) fn is_within_any(&self, patterns: &[&str]) -> bool {
        let names = |pattern: &&str| -> bool {
            let parts: Vec<&str> = pattern.trim_start_matches("**/").split('/').collect();
            let from = self.names.len().checked_sub(parts.len());
            let last = from.and_then(|from| self.names.get(from..)).unwrap_or_default();
            last.len() == parts.len()
                && last.iter().zip(parts).all(|(name, part)| names::is_within(name, part))
        };
        patterns.iter().any(names)
    }

    /// Whether it is exactly one file, independent of the file system.
    pub(super) fn is_certain(&self) -> bool {
        let varies = |letter: u8| matches!(letter, b'*' | b'?' | b'[' | b'$');
        !self.names.iter().any(|name| name.bytes().any(varies))
    }

    pub(super) fn fits_any(&self, patterns: &[&str]) -> bool {
        patterns.iter().any(|pattern| self.fits(pattern))
    }
}

/// Splits a path into its start and the rest.
fn base_of(text: &str) -> (Base, &str) {
    let tail = text.find('/').and_then(|slash| text.get(slash..)).unwrap_or_default();
    match text {
        _ if text.starts_with('/') => (Base::Root, text),
        // `~user` is another home, and treated alike. The parser writes `$HOME` as `${HOME}`.
        _ if text.starts_with('~') || text.starts_with("${HOME}") => (Base::Home, tail),
        _ if text.starts_with("${PWD}") => (Base::Here, tail),
        // An empty variable makes the rest an absolute path, which `is_everything_when_empty` checks.
        _ if text.starts_with('$') && text.contains('/') => (Base::Unknown, tail),
        _ if text.starts_with('$') => (Base::Unknown, text),
        _ => (Base::Here, text),
    }
}

/// Whether a character is part of a glob, or starts a variable.
const fn is_special(letter: u8) -> bool {
    matches!(letter, b'*' | b'?' | b'[' | b'\\' | b'$')
}

/// Escapes every glob character with a backslash.
fn protected(text: &str) -> String {
    let mut spelling = String::with_capacity(text.len() + 2);
    for character in text.chars() {
        if u8::try_from(character).is_ok_and(is_special) {
            spelling.push('\\');
        }
        spelling.push(character);
    }
    spelling
}

/// Replaces every variable and substitution by `$`.
fn without_variables(name: &str) -> String {
    // A plain `$` is a letter of the name here, because the parser has expanded variables to `${…}`.
    if !name.as_bytes().contains(&b'$') || !(name.contains("${") || name.contains("$(")) {
        return name.to_owned();
    }
    let mut short = String::new();
    let mut inside = false;
    for character in name.chars() {
        match character {
            '}' | ')' if inside => inside = false,
            '$' => {
                short.push('$');
                inside = true;
            }
            _ if inside => {}
            _ => short.push(character),
        }
    }
    short
}

/// Whether components match those of a pattern. A trailing `**` matches the directory and everything in it.
fn names_fit(names: &[String], pattern: &str) -> bool {
    let mut names = names.iter();
    for part in pattern.split('/') {
        match (part, names.next()) {
            ("**", _) => return true,
            (_, None) => return false,
            (part, Some(name)) if names::fits(name, part) => {}
            _ => return false,
        }
    }
    names.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_what_they_lead_to() {
        for (text, everything) in [
            ("/", true),
            ("//", true),
            ("/*", true),
            ("/./", true),
            ("/tmp/..", true),
            ("/e*", true),
            ("/etc/*", true),
            ("~", true),
            ("~/", true),
            ("~/.*", true),
            ("${HOME}", true),
            ("${HOME}/*", true),
            ("~/..", true),
            ("..", true),
            ("../*", true),
            ("../../", true),
            ("/home/me", true),
            ("/proc/self/root/etc", true),
            ("/tmp/x", false),
            ("build", false),
            (".", false),
            ("~/project", false),
            ("/etc/x", false),
            ("../sibling", false),
            ("${x}/*", false),
            ("\\*", false),
        ] {
            assert_eq!(Target::spelled(text).is_everything(), everything, "{text}");
        }
    }

    #[test]
    fn paths_fit_patterns() {
        for (text, pattern, fits) in [
            ("~/.ssh/id_rsa", "~/.ssh/**", true),
            ("/home/me/.ssh/id_rsa", "~/.ssh/**", true),
            ("/proc/self/root/root/.ssh/x", "~/.ssh/**", true),
            (".e?v", "**/.env", true),
            (".[e]nv", "**/.env", true),
            ("a/.env/../.env", "**/.env", true),
            ("*", "**/.env", false),
            ("*.txt", "**/.env", false),
            ("\\*env", "**/.env", false),
            ("src/x.env", "**/.env", false),
            ("/etc/x", "/etc/**", true),
            ("etc/x", "/etc/**", false),
            ("k.p*", "**/*.pem", true),
            ("a", "**/*.pem", false),
        ] {
            assert_eq!(Target::spelled(text).fits(pattern), fits, "{text} {pattern}");
        }
    }
}
