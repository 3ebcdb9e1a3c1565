//! The settings of git that a command gets: who a commit is by, and what is harmless, in a file that is made for it.
//!
//! The user's own file stays outside. Tokens stand in it, in `http.extraHeader` or in the address of `url.insteadOf`, and so do
//! programs: helpers for credentials, aliases, hooks. What is handed on is a list of names, each with a form that its value
//! must have; whatever is not on the list is left out, so a name that git learns tomorrow is as well. Nothing signs, since
//! no key is inside.

use std::fmt::Write as _;

use stockade_names::fits;

use crate::settings::GitSetting;

/// The settings of git that are handed on, each once: git takes the last of a name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GitSettings {
    settings: Vec<(String, String)>,
}

/// How many settings are handed on.
const MAX_SETTINGS: usize = 256;

/// The one setting of which git takes all values, and not the last.
const TAKEN_TOGETHER: &str = "safe.directory";

/// Longest value that is handed on.
const MAX_VALUE: usize = 256;

/// What the value of a setting may look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// One line of any text.
    Line,
    /// What settings are made of that are chosen from a few words, and numbers.
    Word,
}

/// The settings that are handed on: names in small letters, `*` for any part of one. None of them names a program, a file or
/// an address.
#[rustfmt::skip]
const HARMLESS: &[(Shape, &[&str])] = &[
    (Shape::Line, &["user.name", "user.email", "author.name", "author.email", "committer.name", "committer.email"]),
    // Which folders of other users are trusted: git refuses to work in them else.
    (Shape::Line, &["safe.directory"]),
    (Shape::Word, &["user.useconfigonly", "init.defaultbranch", "init.defaultobjectformat"]),
    (Shape::Word, &[
        "core.autocrlf", "core.eol", "core.safecrlf", "core.filemode", "core.ignorecase", "core.symlinks", "core.quotepath",
        "core.abbrev", "core.whitespace", "core.precomposeunicode", "core.longpaths", "core.commentchar",
        "core.logallrefupdates", "core.protecthfs", "core.protectntfs", "core.untrackedcache",
    ]),
    (Shape::Word, &["color.*", "column.*", "advice.*", "status.*", "diff.algorithm", "diff.renames", "diff.renamelimit",
        "diff.context", "diff.colormoved", "diff.mnemonicprefix", "diff.noprefix", "diff.submodule", "diff.wserrorhighlight"]),
    (Shape::Word, &["log.date", "log.decorate", "log.abbrevcommit", "log.follow", "log.showroot", "blame.date", "blame.coloring",
        "grep.linenumber", "grep.patterntype", "grep.extendedregexp", "branch.sort", "tag.sort", "versionsort.suffix"]),
    (Shape::Word, &["pull.rebase", "pull.ff", "push.default", "push.autosetupremote", "push.followtags", "fetch.prune",
        "fetch.prunetags", "fetch.parallel", "merge.ff", "merge.conflictstyle", "merge.renames", "merge.log",
        "rebase.autosquash", "rebase.autostash", "rebase.updaterefs", "rebase.stat", "rebase.missingcommitscheck",
        "branch.autosetuprebase", "branch.autosetupmerge", "rerere.enabled", "rerere.autoupdate", "checkout.guess",
        "checkout.defaultremote", "submodule.recurse", "submodule.fetchjobs", "stash.showpatch", "apply.whitespace"]),
    (Shape::Word, &["commit.cleanup", "commit.status", "commit.verbose", "help.autocorrect", "i18n.commitencoding",
        "i18n.logoutputencoding", "feature.*", "index.version", "index.threads", "pack.threads", "gc.auto", "gc.autodetach",
        "maintenance.auto", "protocol.version", "transfer.fsckobjects", "fetch.fsckobjects", "receive.fsckobjects"]),
];

impl GitSettings {
    /// Takes a setting if it may be handed on.
    pub fn take(&mut self, setting: &GitSetting) {
        // A name alone says yes.
        let value = setting.value.as_deref().unwrap_or("true");
        let key = &setting.key;
        if setting.subsection().is_some() || !is_harmless(key, value) {
            return;
        }
        if key != TAKEN_TOGETHER {
            self.settings.retain(|(other, _)| other != key);
        }
        if self.settings.len() < MAX_SETTINGS {
            self.settings.push((key.clone(), value.to_owned()));
        }
    }

    /// Whether it has no settings.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.settings.is_empty()
    }

    /// Returns the file.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::from(
            "# Generated for this command: the user's settings that start no program and contain no secret.\n",
        );
        for (key, value) in &self.settings {
            let (section, name) = key.split_once('.').unwrap_or((key, ""));
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            writeln!(text, "[{section}]\n\t{name} = \"{value}\"").ok();
        }
        text
    }
}

fn is_harmless(key: &str, value: &str) -> bool {
    let mut rows = HARMLESS.iter().filter(|(_, keys)| keys.iter().any(|known| fits(key, known)));
    rows.any(|(shape, _)| shape.has(value))
}

impl Shape {
    fn has(self, value: &str) -> bool {
        let letter = |letter: char| match self {
            Self::Line => !letter.is_control(),
            Self::Word => letter.is_ascii_alphanumeric() || " ._-+,:/*%#".contains(letter),
        };
        value.len() <= MAX_VALUE && value.chars().all(letter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made_of(text: &str) -> GitSettings {
        let mut settings = GitSettings::default();
        crate::settings::read_settings(text).flatten().for_each(|setting| settings.take(&setting));
        settings
    }

    #[test]
    fn passed_and_removed_git_settings() {
        for (key, value) in [
            ("user.name", "Änne \"x\" O'Hara"),
            ("user.email", "a+b@example.org"),
            ("init.defaultbranch", "team/main"),
            ("core.autocrlf", "input"),
            ("core.whitespace", "trailing-space,space-before-tab"),
            ("color.ui", "auto"),
            ("log.date", "format:%Y-%m-%d"),
            ("safe.directory", "*"),
        ] {
            assert!(is_harmless(key, value), "{key}");
        }
        for (key, value) in [
            ("user.signingkey", "AB12"),
            ("user.password", "x"),
            ("commit.gpgsign", "true"),
            ("credential.helper", "store"),
            ("http.extraheader", "Authorization: Bearer x"),
            ("http.proxy", "http://me:x@proxy"),
            ("url.insteadof", "https://example.org/"),
            ("alias.st", "!touch x"),
            ("core.hookspath", "/x"),
            ("core.fsmonitor", "/x"),
            ("core.editor", "vim"),
            ("core.pager", "less"),
            ("core.sshcommand", "ssh"),
            ("core.askpass", "x"),
            ("core.excludesfile", "~/x"),
            ("core.attributesfile", "~/x"),
            ("core.gitproxy", "x"),
            ("init.templatedir", "/x"),
            ("diff.external", "x"),
            ("gpg.program", "x"),
            ("sendemail.smtppass", "x"),
            ("github.token", "x"),
            ("include.path", "x"),
            // Forms that no value has.
            ("user.name", "a\nb"),
            ("color.ui", "\u{1b}[31m"),
            ("pull.rebase", "`x`"),
            ("init.defaultbranch", "https://me:token@example.org"),
        ] {
            assert!(!is_harmless(key, value), "{key}");
        }
    }

    #[test]
    fn a_git_setting_with_an_additional_part_is_another_one() {
        let text = "[user]\n\tname = A\n[color \"https://t@x\"]\n\tui = auto\n[USER]\n\tEmail = a@b\n[url \"https://t@x\"]\n\tinsteadOf = y\n";
        let made = made_of(text);
        assert_eq!(made, made_of(&made.text()), "what is written reads as it was meant");
        assert_eq!(
            made.settings,
            [("user.name", "A"), ("user.email", "a@b")].map(|(k, v)| (k.into(), v.into()))
        );
    }

    #[test]
    fn every_value_is_read_as_it_was_written() {
        for value in ["a", "a b", " a ", "\"", "\\", "a\"b\\c", "#", "a;b", "é", "\\n", ""] {
            let mut settings = GitSettings::default();
            settings.settings.push(("user.name".to_owned(), value.to_owned()));
            assert_eq!(made_of(&settings.text()), settings, "{value:?}");
        }
    }

    #[test]
    fn a_flood_is_cut() {
        let made = made_of(&"[safe]\ndirectory = /x\n".repeat(10_000));
        assert_eq!(made.settings.len(), MAX_SETTINGS);
        assert_eq!(made_of(&"[user]\nname = x\n".repeat(10_000)).settings.len(), 1);
        assert!(made_of(&format!("[user]\nname = {}\n", "x".repeat(MAX_VALUE + 1))).is_empty());
    }
}
