//! Places outside the workspace that a command may read without a sandbox.
//!
//! A list of secrets is never complete: `/etc/wireguard/wg0.conf`, `/etc/mysql/debian.cnf`, another project below `/srv`. So the built-in
//! rules allow reading only here; in the sandbox, everything else is what the sandbox shows.

use std::path::{Component, Path, PathBuf};

use super::named;
use crate::context::CommandContext;
use crate::hazards::command::Command;
use crate::hazards::flows::{WorkingFolders, opened_at};
use crate::hazards::target::{Base, Target};
use crate::hazards::{Floor, Hazard, trees};
use stockade_names::fits;
use stockade_shell::{Actions, Arg, Redirect, Run, Span};
use stockade_text::resolve_path;

/// The hazard of reading any other place.
const READ_OUTSIDE: &str = "read-outside";

/// Paths below the root. `**` at the end is everything below; `*` is any part of a name.
#[rustfmt::skip]
const READABLE: &[&str] = &[
    "usr/bin/**", "usr/sbin/**", "usr/lib/**", "usr/lib32/**", "usr/lib64/**", "usr/libexec/**", "usr/include/**",
    "usr/share/**", "usr/src/**", "usr/games/**", "usr/local/bin/**", "usr/local/sbin/**", "usr/local/lib/**",
    "usr/local/lib64/**", "usr/local/libexec/**", "usr/local/include/**", "usr/local/share/**", "usr/local/src/**",
    "usr/local/go/**", "usr/local/Cellar/**", "usr/local/opt/**", "bin/**", "sbin/**", "lib/**", "lib32/**", "lib64/**",
    "nix/store/**", "opt/homebrew/**", "System/Library/**", "Library/Developer/**",
    // Temporary files and logs, which agents write and read all the time. Files of secrets there have rows of their own.
    "tmp/**", "var/tmp/**", "private/tmp/**", "var/folders/**", "var/log/**", "dev/null", "dev/zero", "dev/random",
    "dev/urandom", "dev/tty", "dev/stdin", "dev/stdout", "dev/stderr", "dev/fd/*", "dev/full", "dev/tcp/**",
    "dev/udp/**",
    // The machine.
    "proc/cpuinfo", "proc/meminfo", "proc/loadavg", "proc/uptime", "proc/version", "proc/stat", "proc/vmstat",
    "proc/mounts", "proc/filesystems", "proc/swaps", "proc/partitions", "proc/devices", "proc/modules",
    "proc/diskstats", "proc/interrupts", "proc/cmdline", "proc/net/**", "proc/sys/**", "proc/pressure/**",
    "proc/self/*", "proc/*/status", "proc/*/stat", "proc/*/statm", "proc/*/comm", "proc/*/cmdline", "proc/*/cgroup",
    "proc/*/limits", "proc/*/mounts", "proc/*/mountinfo", "proc/*/maps", "proc/*/io", "proc/*/sched", "proc/*/wchan",
    "proc/*/net/**", "sys/**", "var/lib/dpkg/**", "var/lib/apt/lists/**", "var/cache/apt/**", "boot/config*",
    // Settings of the system without secrets.
    "etc/*release", "etc/*version", "etc/hosts", "etc/hostname", "etc/host.conf", "etc/hosts.allow", "etc/hosts.deny",
    "etc/issue", "etc/issue.net", "etc/motd", "etc/resolv.conf", "etc/nsswitch.conf", "etc/services", "etc/protocols",
    "etc/networks", "etc/passwd", "etc/group", "etc/shells", "etc/fstab", "etc/mtab", "etc/timezone", "etc/localtime",
    "etc/locale.*", "etc/default/locale", "etc/default/grub", "etc/default/keyboard", "etc/ld.so.*", "etc/ld.so.conf.d/*", "etc/profile", "etc/profile.d/*",
    "etc/bash.bashrc", "etc/bashrc", "etc/zshrc", "etc/zprofile", "etc/zsh/*", "etc/inputrc", "etc/vim/*",
    "etc/mime.types", "etc/magic", "etc/manpath.config", "etc/alternatives/*", "etc/apt/sources.list",
    "etc/apt/sources.list.d/*", "etc/apt/preferences.d/*", "etc/yum.repos.d/*", "etc/pam.d/*", "etc/pam.conf",
    "etc/security/*.conf", "etc/security/limits.d/*", "etc/login.defs", "etc/sysctl.conf", "etc/sysctl.d/*",
    "etc/modules", "etc/modprobe.d/*", "etc/systemd/*.conf", "etc/init.d/*", "etc/init/*", "etc/inittab",
    "etc/logrotate.conf", "etc/logrotate.d/*", "etc/rsyslog.conf", "etc/syslog.conf",
    "etc/ssh/sshd_config", "etc/ssh/ssh_config", "etc/ssh/*.pub", "etc/ssl/certs/**", "etc/ssl/openssl.cnf",
    "etc/ca-certificates/**", "etc/ca-certificates.conf", "etc/pki/ca-trust/**", "etc/pki/tls/certs/**", "etc/nginx/*.conf", "etc/nginx/conf.d/*", "etc/nginx/sites-*/*",
    "etc/apache2/*.conf", "etc/apache2/sites-*/*",
    "etc/exports", "etc/subuid", "etc/subgid", "etc/skel/*", "etc/udev/**", "etc/X11/**", "etc/fonts/**",
    "etc/adduser.conf", "etc/deluser.conf", "etc/sudo.conf", "etc/machine-id", "etc/papersize", "etc/os-release",
    "etc/lsb-release", "etc/ntp.conf", "etc/chrony*", "etc/dhcp/*", "etc/anacrontab",
    "etc/paths", "etc/paths.d/*", "etc/asl.conf", "etc/newsyslog.conf", "etc/man.conf", "etc/man_db.conf",
    "etc/updatedb.conf", "etc/nanorc", "etc/screenrc", "etc/terminfo/**", "etc/gai.conf",
];

/// Where the programs of a text run, without which relative names cannot be told.
pub(crate) struct Whereabouts<'c> {
    folders: WorkingFolders<'c>,
    /// For each redirection, the position of the program in whose directory it is opened.
    opened: Vec<usize>,
    /// Whether the first directory is in the workspace.
    begins_inside: bool,
    context: &'c CommandContext,
}

impl<'c> Whereabouts<'c> {
    pub(crate) fn of(actions: &Actions<'_>, context: &'c CommandContext) -> Self {
        let first = context.cwd.as_deref().or(context.workspace.as_deref()).filter(|cwd| cwd.is_absolute());
        let first = first.unwrap_or(Path::new(SOMEWHERE));
        let opened = actions.redirects.iter().map(|redirect| opened_at(redirect, actions)).collect();
        let is_plain = first.components().all(|part| !matches!(part, Component::ParentDir));
        let begins_inside = is_plain && context.workspace.as_deref().is_none_or(|top| first.starts_with(top));
        let folders = WorkingFolders::of(actions, first, context.home.as_deref());
        Self { folders, opened, begins_inside, context }
    }

    /// Returns the hazard of a command that reads a file outside the workspace, or everything in it by its path. `index` is its position in the text.
    pub(crate) fn read_outside(&self, run: &Run<'_>, index: usize) -> Option<Hazard> {
        let command = Command::of(run)?;
        let folder = self.folders.at(index);
        // Nearly all commands run where the text begins, in the workspace.
        let stays = self.begins_inside && !self.folders.are_several()
            || folder.is_some_and(|folder| self.holds(folder));
        let may_leave = |word: &Arg<'_>| match word {
            Arg::Known(text) => text.contains(['/', '~']) || text.contains(".."),
            Arg::Unknown { spelling, .. } => spelling.contains(['/', '~']),
        };
        // git finds its repository, and that decides; but it also compares files outside of it.
        let is_git = command.name == "git";
        let is_other = is_git && !command.says(&["diff"]) || LISTING.contains(&command.name);
        if is_other || stays && !command.words().any(may_leave) {
            return None;
        }
        let hidden = trees::read_hidden_at(&command, |word| self.is_top(word, folder));
        if hidden.is_some() {
            return hidden;
        }
        let read = named::read(&command);
        let is_path = |word: &&Arg<'_>| {
            !is_git
                || word
                    .known()
                    .is_none_or(|text| text.starts_with('/') || text.split('/').any(|name| name == ".."))
        };
        let found = read.iter().filter(is_path).find(|word| self.leaves(word, folder))?;
        Some(hazard(found, run.span))
    }

    /// Returns the hazard of a redirection that reads a file outside the workspace. `place` is its position in the text.
    pub(crate) fn redirect_outside(&self, redirect: &Redirect<'_>, place: usize) -> Option<Hazard> {
        let reads = redirect.opens_file() && !redirect.writes();
        let folder = self.opened.get(place).and_then(|index| self.folders.at(*index));
        let leaves = reads && self.leaves(&redirect.target, folder);
        leaves.then(|| hazard(&redirect.target, redirect.span))
    }

    fn leaves(&self, word: &Arg<'_>, folder: Option<&Path>) -> bool {
        let target = Target::of(word);
        let target = match (target.base, located(word, self.context, folder)) {
            (_, Some(path)) if self.holds(&path) || self.is_at_home(&path) => return false,
            // What is not named by a path, such as a regular expression that is taken for a file.
            (Base::Unknown, _) => return false,
            (Base::Here | Base::Above(_), Some(path)) => Target::spelled(&path.to_string_lossy()),
            _ => target,
        };
        match target.base {
            // Rows of settings and credentials list what is not read in a home.
            _ if target.below_home().is_some() => false,
            // A slash alone is nearly always a separator, and no file.
            Base::Root => !target.names.is_empty() && !is_readable(&target),
            Base::Home | Base::Here | Base::Above(_) | Base::Unknown => false,
        }
    }

    /// Whether a word is the workspace, or a directory above it.
    fn is_top(&self, word: &Arg<'_>, folder: Option<&Path>) -> bool {
        let top = self.context.workspace.as_deref().or(self.context.cwd.as_deref());
        let path = located(word, self.context, folder);
        top.zip(path).is_some_and(|(top, path)| resolve_path(Path::new("/"), top).starts_with(path))
    }

    /// Whether a path is in the home directory, wherever that is.
    fn is_at_home(&self, path: &Path) -> bool {
        let home = self.context.home.as_deref().map(|home| resolve_path(Path::new("/"), home));
        home.is_some_and(|home| home.parent().is_some() && path.starts_with(home))
    }

    fn holds(&self, path: &Path) -> bool {
        let context = self.context;
        match context.workspace.as_deref().or(context.cwd.as_deref()) {
            Some(top) => path.starts_with(resolve_path(Path::new("/"), top)),
            None => path.starts_with(Path::new("/").join(SOMEWHERE.split('/').nth(1).unwrap_or_default())),
        }
    }
}

/// A directory for texts of which it is not known where they run: relative names are in it, also some steps up.
const SOMEWHERE: &str = "/.somewhere/1/2/3/4/5/6/7/8";

/// Returns the path of a word, from its name and the directory in which its program runs.
fn located(word: &Arg<'_>, context: &CommandContext, folder: Option<&Path>) -> Option<PathBuf> {
    let text = match word {
        Arg::Known(text) => text,
        // The folder of a pattern.
        Arg::Unknown { prefix, .. } => prefix,
    };
    let path = match (text.strip_prefix("~/"), &context.home) {
        (Some(rest), Some(home)) => home.join(rest),
        (None, _) if text.starts_with('/') => Path::new(&**text).to_owned(),
        (None, _) if !text.starts_with('~') => folder?.join(&**text),
        _ => return None,
    };
    Some(resolve_path(Path::new("/"), &path))
}

/// Programs that show names, sizes or types of files, and no contents.
const LISTING: &[&str] = &[
    "tree",
    "file",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "md5sum",
    "cksum",
    "b2sum",
    "wc",
    "namei",
    "lsattr",
    "getfacl",
    "lsof",
    "findmnt",
    "man",
    "rpm",
    "dpkg",
];

fn hazard(word: &Arg<'_>, span: Span) -> Hazard {
    Hazard {
        id: READ_OUTSIDE,
        floor: Floor::Sandbox,
        reason: format!("reads a file outside the workspace (`{}`)", super::shown(word)),
        fix: "copy the file into the workspace, or allow the command with a rule".to_owned(),
        span,
        variable: None,
    }
}

fn is_readable(target: &Target) -> bool {
    READABLE.iter().any(|pattern| {
        let mut names = target.names.iter();
        let mut parts = pattern.split('/');
        loop {
            match (parts.next(), names.next()) {
                (Some("**"), _) | (None, None) => return true,
                (Some(part), Some(name)) if fits(name, part) => {}
                _ => return false,
            }
        }
    })
}

/// Whether a path is in the workspace, as far as its name and the context show.
pub(super) fn is_inside(word: &Arg<'_>, context: &CommandContext) -> bool {
    let top = context.workspace.as_deref().or(context.cwd.as_deref());
    let path = located(word, context, context.cwd.as_deref());
    top.zip(path).is_some_and(|(top, path)| path.starts_with(resolve_path(Path::new("/"), top)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_shell::{ReadOptions, Script};

    fn reads_outside(text: &str, top: &str) -> bool {
        reads_outside_of("/home/me", text, top)
    }

    fn reads_outside_of(home: &str, text: &str, top: &str) -> bool {
        let script = Script::read(text, &ReadOptions::default()).unwrap();
        let context = CommandContext {
            home: Some(home.into()),
            ..CommandContext::new(Some(top.into()), Some(top.into()))
        };
        let actions = script.actions();
        let places = Whereabouts::of(&actions, &context);
        let mut runs = actions.runs.iter().enumerate();
        runs.any(|(index, run)| places.read_outside(run, index).is_some())
            || actions
                .redirects
                .iter()
                .enumerate()
                .any(|(at, one)| places.redirect_outside(one, at).is_some())
    }

    /// Files of a home that are no secrets are read without a sandbox, wherever the home is, and however it is spelled.
    #[test]
    fn a_home_may_be_anywhere() {
        for text in ["cat ../other/x", "cat ~/other/x", "cat /srv/users/me/other/x", "cd ../other && cat x"] {
            assert!(!reads_outside_of("/srv/users/me", text, "/srv/users/me/work"), "{text}");
            assert_eq!(
                reads_outside_of("/", text, "/srv/users/me/work"),
                !text.contains('~'),
                "everything would be at home: {text}"
            );
        }
        assert!(reads_outside_of("/srv/users/me", "cat /srv/users/you/x", "/srv/users/me/work"));
    }

    #[test]
    fn only_listed_places_are_read() {
        for text in [
            "cat /etc/wireguard/wg0.conf",
            "head /etc/mysql/debian.cnf",
            "cat /srv/other/x",
            "grep x < /srv/other/x",
            "cat /usr/../srv/x",
            "cat /var/lib/x",
            "cat /usr/local/etc/x",
            "cat /proc/1/fd/3",
            "jq . /opt/x/config.json",
            "cat /srv/*",
            "cat /etc/nginx/.htpasswd",
            "cat /etc/netplan/01-wifi.yaml",
            "cd /srv && cat x",
            "cd /srv && cat < x",
            "git diff /srv/x f",
            "git diff ../../../srv/x f",
            "fgrep -v /srv/*",
            "grep -r KEY /home/me/work",
            "grep -rn KEY ~/work/",
            "diff -N x /home/me/work",
        ] {
            assert!(reads_outside(text, "/home/me/work"), "{text}");
        }
        for text in [
            "cat /usr/include/stdio.h",
            "cat /etc/hosts /etc/os-release",
            "cat /proc/cpuinfo",
            "tail /tmp/x.log",
            "cat /home/me/work/x",
            "cat ~/work/x",
            "cat ../work/x",
            "cat src/../x",
            "cat ~/.bashrc",
            "ls /srv /home/other",
            "tree ~",
            "wc -l < /dev/null",
            "grep /srv/x f",
            "cut -d / -f1 f",
            "grep -r KEY /home/me/work/src",
            "grep -r KEY /home/me/work --include='*.rs'",
            "cd src && cat ../x",
            "cd /usr/include && cat stdio.h",
            "cat ~/notes.txt",
            "cat ../other/x",
            "git diff HEAD~1 -- src",
            "git diff main..HEAD",
        ] {
            assert!(!reads_outside(text, "/home/me/work"), "{text}");
        }
    }
}
