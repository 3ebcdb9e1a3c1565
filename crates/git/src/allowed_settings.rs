//! The allowlist of repository settings that a command may write: each is known not to run a program. Any other setting may
//! run one.

use crate::settings::{GitSetting, git_settings};

/// Maximum size of a settings file.
pub const MAX_REPOSITORY_SETTINGS: usize = 64 << 10;

/// The permitted values of a setting.
#[derive(Debug, Clone, Copy)]
enum Value {
    /// Any text is permitted.
    Any,
    /// The address of a repository: no option, and no `helper::address`, which starts a program of that name.
    Address,
    /// A path in a writable directory.
    Within,
    /// One of these words.
    OneOf(&'static [&'static str]),
}
use Value::{Address, Any, OneOf, Within};

/// The section and the name of a key, and whether it has a subsection.
type Row = (&'static str, bool, &'static str, Value);

/// The permitted update modes of a submodule; `!command` would run a program.
const UPDATES: &[&str] = &["checkout", "rebase", "merge", "none"];

const SWITCH: &[&str] = &["true", "false", "yes", "no", "on", "off", "1", "0"];

#[rustfmt::skip]
const REPOSITORY: &[Row] = &[
    ("core", false, "repositoryformatversion", Any),
    ("core", false, "filemode", Any),
    ("core", false, "bare", Any),
    ("core", false, "logallrefupdates", Any),
    ("core", false, "ignorecase", Any),
    ("core", false, "precomposeunicode", Any),
    ("core", false, "symlinks", Any),
    ("core", false, "autocrlf", Any),
    ("core", false, "eol", Any),
    ("core", false, "safecrlf", Any),
    ("core", false, "quotepath", Any),
    ("core", false, "longpaths", Any),
    ("core", false, "sharedrepository", Any),
    ("core", false, "sparsecheckout", Any),
    ("core", false, "sparsecheckoutcone", Any),
    ("core", false, "untrackedcache", Any),
    ("core", false, "splitindex", Any),
    ("core", false, "worktree", Within),
    ("extensions", false, "objectformat", Any),
    ("extensions", false, "refstorage", Any),
    ("extensions", false, "worktreeconfig", Any),
    ("extensions", false, "partialclone", Any),
    ("extensions", false, "relativeworktrees", Any),
    ("user", false, "name", Any),
    ("user", false, "email", Any),
    ("init", false, "defaultbranch", Any),
    ("remote", true, "url", Address),
    ("remote", true, "pushurl", Address),
    ("remote", true, "fetch", Any),
    ("remote", true, "push", Any),
    ("remote", true, "mirror", Any),
    ("remote", true, "tagopt", Any),
    ("remote", true, "prune", Any),
    ("remote", true, "promisor", Any),
    ("remote", true, "partialclonefilter", Any),
    ("remote", true, "skipdefaultupdate", Any),
    ("remote", false, "pushdefault", Address),
    ("branch", true, "remote", Address),
    ("branch", true, "pushremote", Address),
    ("branch", true, "merge", Any),
    ("branch", true, "rebase", Any),
    ("branch", true, "description", Any),
    ("branch", true, "vscode-merge-base", Any),
    ("branch", true, "gh-merge-base", Any),
    ("branch", false, "autosetuprebase", Any),
    ("branch", false, "autosetupmerge", Any),
    ("submodule", true, "url", Address),
    ("submodule", true, "active", Any),
    ("submodule", true, "branch", Any),
    ("submodule", true, "ignore", Any),
    ("submodule", true, "update", OneOf(UPDATES)),
    ("submodule", true, "fetchrecursesubmodules", Any),
    ("submodule", false, "active", Any),
    ("submodule", false, "recurse", Any),
    ("pull", false, "rebase", Any),
    ("pull", false, "ff", Any),
    ("push", false, "default", Any),
    ("push", false, "autosetupremote", Any),
    ("fetch", false, "prune", Any),
    ("merge", false, "conflictstyle", Any),
    ("merge", false, "ff", Any),
    ("rebase", false, "autostash", Any),
    ("rebase", false, "autosquash", Any),
    ("receive", false, "denynonfastforwards", Any),
    ("receive", false, "denydeletes", Any),
    ("rerere", false, "enabled", Any),
    ("diff", false, "algorithm", Any),
    ("diff", false, "renames", Any),
    ("commit", false, "gpgsign", OneOf(SWITCH)),
    ("tag", false, "gpgsign", OneOf(SWITCH)),
    ("gc", false, "auto", Any),
    ("color", false, "ui", Any),
    ("lfs", false, "repositoryformatversion", Any),
    ("commit", false, "template", Within),
    ("blame", false, "ignorerevsfile", Within),
];

/// The permitted settings in `.gitmodules`.
#[rustfmt::skip]
const SUBMODULES: &[Row] = &[
    ("submodule", true, "path", Within),
    ("submodule", true, "url", Address),
    ("submodule", true, "branch", Any),
    ("submodule", true, "ignore", Any),
    ("submodule", true, "shallow", Any),
    ("submodule", true, "update", OneOf(UPDATES)),
    ("submodule", true, "fetchrecursesubmodules", Any),
];

/// The permitted settings of Mercurial: the origin of a clone.
const MERCURIAL: &[Row] = &[("paths", false, "default", Address)];

/// A kind of settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsOf {
    /// The settings in the `config` file of a git repository or worktree.
    Repository,
    /// The file `.gitmodules`, which lists the submodules of a repository.
    Submodules,
    /// The `hgrc` of a Mercurial repository.
    Mercurial,
}

impl SettingsOf {
    const fn rows(self) -> &'static [Row] {
        match self {
            Self::Repository => REPOSITORY,
            Self::Submodules => SUBMODULES,
            Self::Mercurial => MERCURIAL,
        }
    }
}

/// Returns the first new setting that may run a program, or a description of an unreadable text. `is_within` returns whether a
/// path is in a writable directory.
#[must_use]
pub fn harmful_setting(
    kind: SettingsOf,
    text: &[u8],
    before: &[GitSetting],
    is_within: impl Fn(&str) -> bool,
) -> Option<String> {
    if text.len() > MAX_REPOSITORY_SETTINGS {
        return Some("too long".to_owned());
    }
    let Ok(settings) = git_settings(text) else { return Some("not readable".to_owned()) };
    let is_fine = |setting: &GitSetting| {
        before.contains(setting) || kind.rows().iter().any(|row| fits(row, setting, &is_within))
    };
    settings.into_iter().find(|setting| !is_fine(setting)).map(|setting| setting.key)
}

/// Returns the subsection of a key if a row matches it; empty without one.
fn is_key_of<'k>((section, is_named, last, _): &Row, key: &'k str) -> Option<&'k str> {
    let rest = key.strip_prefix(section)?.strip_prefix('.')?;
    match rest.rsplit_once('.') {
        Some((name, found)) if *is_named && found == *last => Some(name),
        None if !is_named && rest == *last => Some(""),
        _ => None,
    }
}

fn fits(row: &Row, setting: &GitSetting, is_within: &impl Fn(&str) -> bool) -> bool {
    let (Some(name), (.., value)) = (is_key_of(row, &setting.key), row) else { return false };
    // Subsection names become parts of paths.
    let is_plain = |text: &str| !text.starts_with('-') && !text.split('/').any(|part| part == "..");
    let text = setting.value.as_deref().unwrap_or("true");
    is_plain(name)
        && match value {
            Any => true,
            Address => is_address(text),
            Within => is_within(text),
            OneOf(words) => words.contains(&text),
        }
}

fn is_address(text: &str) -> bool {
    let helper = text.split_once("::").map(|(helper, _)| helper);
    let names_a_helper = helper.is_some_and(|helper| {
        helper.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
    });
    !names_a_helper && !text.starts_with('-') && !text.chars().any(char::is_control)
}

/// Returns the paths that settings name, with their kinds. Files there are obeyed like the settings. In an unknown setting, each
/// word may be a program.
#[must_use]
pub fn git_targets(settings: &[GitSetting]) -> Vec<(&str, GitTarget)> {
    let of_one = |setting: &'_ GitSetting| {
        let key = setting.key.as_str();
        let conditional = key.starts_with("includeif.") && key.ends_with(".path");
        match key {
            "core.hookspath" => Some(GitTarget::Hooks),
            "include.path" => Some(GitTarget::Settings),
            _ if conditional => Some(GitTarget::Settings),
            _ if REPOSITORY.iter().any(|row| is_key_of(row, key).is_some()) => None,
            _ => Some(GitTarget::Program),
        }
    };
    let mut paths = Vec::new();
    for setting in settings {
        match (setting.value.as_deref(), of_one(setting)) {
            (Some(value), Some(GitTarget::Program)) => {
                paths.extend(words(value).map(|word| (word, GitTarget::Program)));
            }
            (Some(value), Some(kind)) => paths.push((value, kind)),
            _ => {}
        }
    }
    paths
}

/// Returns the words of a command that can be paths.
fn words(command: &str) -> impl Iterator<Item = &str> {
    let ends = |letter: char| letter.is_whitespace() || "'\"`;|&()<>=$!".contains(letter);
    command.split(ends).filter(|word| !word.is_empty() && !word.starts_with('-'))
}

/// The kind of path in a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitTarget {
    /// A directory of hooks, relative to the worktree.
    Hooks,
    /// Included settings, relative to the including file.
    Settings,
    /// A program or its argument, relative to the worktree.
    Program,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn harmful(kind: SettingsOf, text: &str) -> Option<String> {
        let within = |path: &str| !path.starts_with('/') && !path.contains("../../..");
        harmful_setting(kind, text.as_bytes(), &[], within)
    }

    #[test]
    fn what_git_itself_writes_is_fine() {
        for text in [
            "",
            "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
            "[remote \"origin\"]\n\turl = https://example.org/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n",
            "[remote \"a.b\"]\nurl = git@example.org:a/b\n[branch \"x/y.z\"]\nremote = a.b\nmerge = refs/heads/x\n",
            "[user]\n name = A\n email = a@b\n[submodule \"lib/x\"]\nactive = true\nurl = ../x\n",
            "[core]\nworktree = ../../lib\n[submodule \"m\"]\nupdate = rebase\n",
        ] {
            assert_eq!(harmful(SettingsOf::Repository, text), None, "{text}");
        }
    }

    #[test]
    fn what_runs_a_program_is_found() {
        for (text, key) in [
            ("[core]\nfsmonitor = x\n", "core.fsmonitor"),
            ("[core]\nhooksPath = x\n", "core.hookspath"),
            ("[core] bare = false\n[Core]\nSSHCommand=x\n", "core.sshcommand"),
            ("[core]\nworktree = /home/u\n", "core.worktree"),
            ("[core]\npager\n", "core.pager"),
            ("[include]\npath = x\n", "include.path"),
            ("[includeIf \"gitdir:/\"]\npath = x\n", "includeif.gitdir:/.path"),
            ("[filter \"remote\"]\nurl = x\n", "filter.remote.url"),
            ("[filter \"a\"]\nclean = x\n", "filter.a.clean"),
            ("[alias]\nst = !x\n", "alias.st"),
            ("[remote \"o\"]\nurl = ext::sh -c x\n", "remote.o.url"),
            ("[remote \"o\"]\nurl = -oProxyCommand=x\n", "remote.o.url"),
            ("[remote \"o\"]\nuploadpack = x\n", "remote.o.uploadpack"),
            ("[remote \"o\"]\nvcs = x\n", "remote.o.vcs"),
            ("[submodule \"../x\"]\nurl = x\n", "submodule.../x.url"),
            ("[submodule \"x\"]\nupdate = !x\n", "submodule.x.update"),
            ("[commit]\ngpgsign = /x\n", "commit.gpgsign"),
            ("[url \"x\"]\ninsteadOf = y\n", "url.x.insteadof"),
            ("[credential]\nhelper = x\n", "credential.helper"),
            ("[user]\nname = a \\\n[core]\nfsmonitor = x\n", "user.fsmonitor"),
            ("[remote]\nurl = x\n", "remote.url"),
            ("[core \"x\"]\nbare = x\n", "core.x.bare"),
            ("no setting", "not readable"),
            ("[core\nbare = x", "not readable"),
        ] {
            assert_eq!(harmful(SettingsOf::Repository, text).as_deref(), Some(key), "{text}");
        }
        let long = "#".repeat(MAX_REPOSITORY_SETTINGS + 1);
        assert!(harmful(SettingsOf::Repository, &long).is_some());
    }

    #[test]
    fn submodules_and_mercurial_have_tables_of_their_own() {
        let good = "[submodule \"m\"]\npath = lib/m\nurl = ../m.git\n";
        assert_eq!(harmful(SettingsOf::Submodules, good), None);
        assert_eq!(harmful(SettingsOf::Mercurial, "[paths]\ndefault = https://example.org\n"), None);
        for bad in [
            "[submodule \"m\"]\npath = /etc\n",
            "[submodule \"m\"]\nurl = -u./x\n",
            "[submodule \"m\"]\nupdate = !sh\n",
            "[core]\nbare = true\n",
        ] {
            assert!(harmful(SettingsOf::Submodules, bad).is_some(), "{bad}");
        }
        assert!(harmful(SettingsOf::Mercurial, "[hooks]\nupdate = x\n").is_some());
    }

    #[test]
    fn existing_git_settings_are_permitted_and_new_ones_judged() {
        let before = git_settings(b"[alias]\nst = !x\n").unwrap();
        let judge = |text: &str| harmful_setting(SettingsOf::Repository, text.as_bytes(), &before, |_| true);
        assert_eq!(judge("[alias]\nst = !x\n[user]\nname = me\n"), None);
        assert!(judge("[alias]\nst = !y\n").is_some());
    }

    #[test]
    fn settings_lead_to_other_files() {
        let text = b"[core]\nhooksPath = .githooks\n[include]\npath = ../team\n[includeIf \"gitdir:x\"]\npath = y\n[a]\npath = z\n";
        let settings = git_settings(text).unwrap();
        let expected = [
            (".githooks", GitTarget::Hooks),
            ("../team", GitTarget::Settings),
            ("y", GitTarget::Settings),
            ("z", GitTarget::Program),
        ];
        assert_eq!(git_targets(&settings), expected);
    }
}
