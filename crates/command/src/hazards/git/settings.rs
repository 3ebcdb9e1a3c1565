//! Git settings whose value git runs, or that include files with such settings: one table, for commands that set them and for
//! repositories that contain them.

use super::subcommands::Uses;

/// Git subcommands that use a setting of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// Every subcommand reads it.
    Always,
    /// Subcommands that compare, show or merge the contents of files.
    Contents,
    /// Subcommands that change the repository.
    Changes,
    /// Subcommands that connect to other repositories; and all, if missing objects are fetched on demand.
    Network,
    /// The help, which starts a browser or a manual viewer.
    Help,
    /// The subcommand in the name of the setting.
    Named,
    /// None: the included file is checked as well, or the value is not a program.
    Never,
}
use When::{Always, Changes, Contents, Help, Named, Network, Never};

/// Settings by the first and the last part of their name.
struct Row {
    section: &'static str,
    names: &'static [&'static str],
    when: When,
}

const fn row(section: &'static str, names: &'static [&'static str], when: When) -> Row {
    Row { section, names, when }
}

/// From git-config(1) and the manual pages that it refers to.
const ROWS: &[Row] = &[
    row("alias", &["*"], Named),
    row("browser", &["*"], Help),
    // Even `git status` runs the file system monitor, and `worktree` moves all paths elsewhere.
    row("core", &["fsmonitor", "pager", "worktree"], Always),
    row("core", &["alternaterefscommand", "editor"], Changes),
    // `git fetch` runs these instead of asking, connecting or calling ssh.
    row("core", &["askpass", "gitproxy", "sshcommand"], Network),
    // The caller lists the hooks in that directory; attributes only select drivers that other settings define.
    row("core", &["attributesfile", "hookspath"], Never),
    row("credential", &["helper"], Network),
    // Attributes select the drivers, so a repository only needs a `.gitattributes` beside the setting.
    row("diff", &["command", "external", "textconv"], Contents),
    row("difftool", &["*"], Named),
    row("filter", &["clean", "process", "smudge"], Contents),
    row("filter", &["*"], Never),
    row("gc", &["recentobjectshook"], Changes),
    // `log`, `show`, `tag` and some formats of lists verify signatures.
    row("gpg", &["defaultkeycommand", "program"], Always),
    row("guitool", &["*"], Named),
    row("help", &["browser"], Help),
    // `hook.<name>.command` needs no executable file in the repository.
    row("hook", &["*"], Always),
    // They weaken the transport, but name no program.
    row("http", &["cookiefile", "proxy", "sslverify"], Never),
    row("imap", &["tunnel"], Changes),
    row("include", &["*"], Never),
    row("includeif", &["*"], Never),
    row("init", &["templatedir"], Changes),
    row("instaweb", &["*"], Named),
    row("interactive", &["difffilter"], Changes),
    row("lfs", &["args", "clean", "path", "smudge", "standalonetransferagent"], Contents),
    row("man", &["*"], Help),
    row("merge", &["driver"], Contents),
    row("mergetool", &["*"], Changes),
    // `pager.<cmd>` is a command line, or a switch.
    row("pager", &["*"], Always),
    // It can permit `ext::`, whose URLs are command lines.
    row("protocol", &["allow"], Network),
    row("remote", &["proxy", "pushurl", "receivepack", "uploadpack", "url", "vcs"], Network),
    row("sendemail", &["*"], Changes),
    row("sequence", &["editor"], Changes),
    row("ssh", &["variant"], Never),
    row("submodule", &["update"], Changes),
    row("tar", &["command"], Changes),
    row("trailer", &["cmd", "command"], Changes),
    row("uploadpack", &["packobjectshook"], Changes),
    // A rewritten URL can have such a transport, although the remote looks harmless.
    row("url", &["insteadof", "pushinsteadof"], Network),
    row("web", &["browser"], Help),
];

/// Harmless values: no program, or a common one that does only what its name promises, by the parts of the setting's name.
const HARMLESS: &[(&str, &str, &[&str])] = &[
    // `true` starts git's own daemon.
    ("core", "fsmonitor", SWITCHES),
    ("core", "pager", PAGERS),
    ("pager", "*", PAGERS),
    ("pager", "*", SWITCHES),
    ("core", "editor", EDITORS),
    ("sequence", "editor", EDITORS),
    (
        "credential",
        "helper",
        &[
            "",
            "cache",
            "libsecret",
            "manager",
            "manager-core",
            "osxkeychain",
            "store",
            "wincred",
            "!gh auth git-credential",
            "!/usr/bin/gh auth git-credential",
        ],
    ),
    (
        "gpg",
        "program",
        &[
            "gpg",
            "gpg2",
            "gpgsm",
            "ssh-keygen",
            "/usr/bin/gpg",
            "/usr/bin/gpg2",
            "/usr/local/bin/gpg",
            "/opt/homebrew/bin/gpg",
        ],
    ),
    ("filter", "clean", &["", "cat", "git-lfs clean -- %f", "git-lfs clean %f"]),
    (
        "filter",
        "smudge",
        &["", "cat", "git-lfs smudge -- %f", "git-lfs smudge %f", "git-lfs smudge --skip -- %f"],
    ),
    ("filter", "process", &["", "git-lfs filter-process", "git-lfs filter-process --skip"]),
    // The usual way to keep the own side of a merge.
    ("merge", "driver", &["true", ""]),
    ("submodule", "update", &["checkout", "merge", "none", "rebase"]),
    ("protocol", "allow", &["never", "user"]),
    ("difftool", "prompt", SWITCHES),
    ("mergetool", "prompt", SWITCHES),
    ("mergetool", "keepbackup", SWITCHES),
];

const SWITCHES: &[&str] = &["", "true", "false", "yes", "no", "on", "off", "1", "0"];
const PAGERS: &[&str] = &[
    "cat",
    "less",
    "less -R",
    "less -r",
    "less -S",
    "less -F",
    "less -FX",
    "less -FRX",
    "less -FRSX",
    "more",
];
const EDITORS: &[&str] =
    &["vim", "vi", "nvim", "nano", "emacs", "emacs -nw", "code --wait", "code -w", "true", "cat", ":"];

/// The parts of a setting's name, in lower case except for the part between the first and the last dot.
struct Key<'k> {
    section: String,
    name: String,
    between: &'k str,
    /// Everything after the first part.
    rest: &'k str,
}

impl<'k> Key<'k> {
    /// Returns `None` without a dot, because that is not a setting.
    fn of(key: &'k str) -> Option<Self> {
        let (section, rest) = key.split_once('.')?;
        let (between, name) = rest.rsplit_once('.').unwrap_or(("", rest));
        let (section, name) = (section.to_ascii_lowercase(), name.to_ascii_lowercase());
        Some(Self { section, name, between, rest })
    }

    fn row(&self) -> Option<&'static Row> {
        let has = |row: &&Row| row.names.contains(&"*") || row.names.contains(&&*self.name);
        ROWS.iter().filter(|row| row.section == self.section).find(has)
    }

    /// Whether the value is known to be harmless.
    fn is_harmless(&self, value: Option<&str>) -> bool {
        // A setting without a value is true.
        let value = value.unwrap_or("true");
        match (&*self.section, &*self.name) {
            ("remote", "url" | "pushurl") => !names_helper(value),
            // `url.<base>.insteadOf`: the base is the new URL, and part of the key.
            ("url", _) => !names_helper(self.between),
            (section, name) => HARMLESS
                .iter()
                .filter(|row| row.0 == section && (row.1 == name || row.1 == "*"))
                .any(|row| row.2.contains(&value)),
        }
    }
}

/// Whether a URL sets the program with which git connects: `ext::sh -c …`, see gitremote-helpers(7).
fn names_helper(address: &str) -> bool {
    // A `::` after a slash is part of a path or of an IPv6 address.
    address.split_once("::").is_some_and(|(before, _)| !before.contains('/'))
}

/// Whether setting this key makes later git commands run a program.
pub(super) fn is_running_key(key: &str) -> bool {
    // An ordinary URL runs nothing, and `git remote add` sets it as well.
    let is_address = |key: &Key<'_>| key.section == "remote" && matches!(&*key.name, "url" | "pushurl");
    Key::of(key).is_some_and(|key| key.row().is_some() && !is_address(&key))
}

/// Whether `name=value` makes git run a program.
pub(super) fn sets_program(setting: &str) -> bool {
    let (name, value) = setting.split_once('=').unwrap_or((setting, "true"));
    // `-c core.pager=cat` is common in scripts, to get output without a pager.
    is_running_key(name) && !matches!(value, "" | "cat" | "less" | "false")
}

/// Returns the first setting of a repository that would make a git subcommand run a program.
pub(super) fn obeyed<'s>(settings: &'s [(String, Option<String>)], uses: &Uses<'_>) -> Option<&'s str> {
    let fetches = uses.network || settings.iter().any(|(key, value)| fetches_later(key, value.as_deref()));
    let runs = |(name, value): &&(String, Option<String>)| {
        let Some(key) = Key::of(name) else { return false };
        let Some(row) = key.row() else { return false };
        let counts = match row.when {
            Always => true,
            Contents => uses.contents,
            Changes => uses.changes,
            Network => fetches,
            Help => uses.help,
            Named => uses.is_named(&key.section) || key.section == "alias" && is_alias(&key, uses),
            Never => false,
        };
        counts && !key.is_harmless(value.as_deref())
    };
    settings.iter().find(runs).map(|(name, _)| name.as_str())
}

/// `alias.NAME`, or `alias.NAME.command`.
fn is_alias(key: &Key<'_>, uses: &Uses<'_>) -> bool {
    uses.is_named(key.rest) || uses.is_named(key.between)
}

/// Whether objects are fetched on demand, so that every subcommand may connect to a remote repository.
fn fetches_later(key: &str, value: Option<&str>) -> bool {
    let Some(key) = Key::of(key) else { return false };
    let is_on = value.is_none_or(|value| !matches!(value, "false" | "no" | "off" | "0" | ""));
    match (&*key.section, &*key.name) {
        ("extensions", "partialclone") => true,
        ("remote", "promisor" | "partialclonefilter") => is_on,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::subcommands::uses_of_words;
    use super::*;

    fn runs(command: &str, settings: &[&str]) -> bool {
        let settings: Vec<(String, Option<String>)> = settings
            .iter()
            .map(|setting| match setting.split_once('=') {
                Some((key, value)) => (key.to_owned(), Some(value.to_owned())),
                None => ((*setting).to_owned(), None),
            })
            .collect();
        let words: Vec<&str> = command.split(' ').collect();
        obeyed(&settings, &uses_of_words(&words)).is_some()
    }

    #[test]
    #[rustfmt::skip]
    fn a_setting_counts_where_the_command_obeys_it() {
        for (command, settings) in [
            ("status", &["core.fsmonitor=touch x; false"][..]),
            ("log", &["core.fsmonitor=./x"]),
            ("log", &["core.pager=./x"]),
            ("log", &["pager.log=less; ./x"]),
            ("status", &["core.worktree=/tmp"]),
            ("log", &["gpg.ssh.program=./x"]),
            ("log", &["hook.x.command=./x"]),
            ("diff", &["diff.external=./x"]),
            ("diff", &["diff.Pic.textconv=./x"]),
            ("show", &["diff.pic.command=./x"]),
            ("status", &["filter.x.clean=./x"]),
            ("status", &["filter.lfs.process=git-lfs filter-process; ./x"]),
            ("log --remerge-diff", &["merge.x.driver=./x %A"]),
            ("status", &["filter.lfs.clean=git-lfs clean -- %f", "lfs.extension.x.clean=./x"]),
            ("commit", &["core.editor=./x"]),
            ("fetch", &["core.sshCommand=./x"]),
            ("pull", &["credential.https://h.helper=!./x"]),
            ("fetch", &["remote.origin.url=ext::sh -c ./x"]),
            ("fetch", &["remote.origin.uploadpack=./x"]),
            // A missing object of a promisor remote is fetched on demand, by any git command.
            ("log", &["remote.origin.promisor=true", "remote.origin.uploadpack=./x"]),
            ("status", &["extensions.partialClone=origin", "core.sshCommand=./x"]),
            ("st", &["alias.st=!./x"]),
            ("ST", &["alias.st=!./x"]),
            ("whatchanged", &["alias.whatchanged=!./x"]),
            ("st", &["alias.st.command=!./x"]),
            ("help log", &["man.x.cmd=./x"]),
            ("log --help", &["browser.x.cmd=./x"]),
            ("difftool", &["difftool.x.cmd=./x"]),
            ("unheard-of", &["core.editor=./x"]),
        ] {
            assert!(runs(command, settings), "{command}: {settings:?}");
        }
        for (command, settings) in [
            ("status", &["core.bare=false", "user.name=x", "remote.origin.url=https://h/x", "branch.main.merge=refs/heads/main"][..]),
            ("status", &["core.fsmonitor", "core.untrackedcache=true"]),
            ("status", &["core.fsmonitor=true"]),
            ("log", &["core.pager=less -FRX", "pager.log=false"]),
            ("log", &["core.editor=./x"]),
            ("rev-parse HEAD", &["diff.x.textconv=./x", "filter.x.clean=./x"]),
            ("branch -a", &["filter.x.clean=./x"]),
            ("status", &["filter.lfs.clean=git-lfs clean -- %f", "filter.lfs.required=true", "filter.lfs.process=git-lfs filter-process"]),
            ("merge x", &["merge.ours.driver=true"]),
            ("log", &["core.sshCommand=./x", "remote.origin.uploadpack=./x", "credential.helper=!./x"]),
            ("fetch", &["credential.helper=store", "remote.origin.url=git@h:a/b::c"]),
            ("status", &["alias.st=!./x", "alias.x=!./y"]),
            ("log", &["core.hooksPath=.husky/_", "core.attributesFile=x"]),
            ("commit", &["core.editor=vim", "gpg.program=gpg2", "commit.gpgsign=true"]),
            ("log", &["difftool.x.cmd=./x", "man.x.cmd=./x"]),
            ("status", &["include.path=../x"]),
            ("submodule status", &["submodule.x.update=rebase", "submodule.x.active=true"]),
        ] {
            assert!(!runs(command, settings), "{command}: {settings:?}");
        }
    }

    #[test]
    fn every_harmless_value_belongs_to_a_setting() {
        for (section, name, values) in HARMLESS {
            let key = format!("{section}.{name}");
            let key = Key::of(&key).unwrap();
            assert!(key.row().is_some() && !values.is_empty(), "{section}.{name}");
        }
    }
}
