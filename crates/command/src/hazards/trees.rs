//! Programs that read a directory recursively. Secrets in it count as read.

use std::sync::LazyLock;

use super::Floor::{Ask, Sandbox};
use super::Hazard;
use super::command::Command;
use super::shape::Shape;
use super::target::{Base, Target};
use stockade_names::{Read, Scope, names};
use stockade_shell::Arg;

pub(super) const SHAPES: &[Shape] = &[READ_TREE, READ_HIDDEN, READ_LINKED];

const READ_TREE: Shape = Shape {
    // `grep -r . ~` prints every key below it without naming one.
    id: "read-tree",
    floor: Ask,
    programs: &[
        "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ugrep", "diff", "cp", "rsync", "tar", "gtar",
        "bsdtar", "zip", "7z", "scp", "cpio", "gcp", "ditto", "sdiff",
    ],
    fires: |command| folders(command).iter().any(holds_secrets),
    reason: "reads everything in a directory that contains keys, passwords or tokens",
    fix: "name the required directory or files inside the workspace",
    matches: &[
        "grep -r x ~",
        "grep -rn PRIVATE ~/",
        "grep -ra . /proc/self/",
        "grep -r password /",
        "rg -uu AKIA ~",
        "rg AKIA $HOME",
        "ag . ~/.aws",
        "diff -r ~ /tmp/x",
        "diff -N x ~",
        "diff . ~/.aws",
        "cp -r ~/.config x",
        "cp -a ~ /tmp/x",
        "tar czf x.tgz ~",
        "rsync -a /root/ x",
        "zip -r x.zip ~/.docker",
        "grep -R token /home/me",
        "grep -r x /etc",
    ],
    clean: &[
        "grep -r x .",
        "grep x /etc/hosts",
        "rg TODO src",
        "rg TODO",
        "grep -r x /usr/include",
        "grep -r foo ~/src/project",
        "diff -r a b",
        "diff ~/a ~/b",
        "cp -r src /tmp/x",
        "cp x ~",
        "cp -r build ~",
        "tar xzf x.tgz -C ~",
        "tar czf x.tgz src",
        "zip x.zip a b",
        "grep -e x -r .",
    ],
};

const READ_HIDDEN: Shape = Shape {
    // In a sandbox, files with secrets cannot be opened, so the same search is harmless.
    id: "read-hidden-tree",
    floor: Sandbox,
    programs: &["grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ugrep", "diff", "sdiff"],
    fires: |command| looks_into_hidden(command) && !is_limited_to_names(command),
    reason: "reads every file of the workspace, including those that contain secrets",
    fix: "name a directory (`grep -r x src`) or the files (`--include='*.py'`), or use `git grep` or plain `rg`",
    matches: &[
        "grep -r KEY .",
        "grep -rn KEY",
        "grep KEY -r ./",
        "grep -R KEY ..",
        "grep -rn KEY \"$PWD\"",
        "grep -rn KEY $(pwd)",
        "grep -d recurse KEY .",
        "egrep -r KEY .",
        "grep -r KEY . --include='*'",
        "grep -r KEY . --include='.env*'",
        "rg -uu KEY",
        "rg -u KEY",
        "rg --hidden KEY",
        "rg -. KEY src",
        "rg --no-ignore KEY",
        "rg -g .env KEY",
        "rg -g '.env*' KEY",
        "ag -u KEY",
        "ag --hidden KEY",
        "ack --noenv KEY",
        "diff -N . x",
        "diff ../a .",
    ],
    clean: &[
        "grep -r KEY src",
        "grep -rn KEY src tests/it",
        "grep KEY README.md",
        "grep -rn KEY . --include='*.py'",
        "grep -r KEY . --include=*.py --include '*.toml'",
        "grep -r x *",
        "rg KEY",
        "rg -n KEY src",
        "rg -g '*.rs' KEY",
        "rg -g '!.env' KEY",
        "ag KEY",
        "ack --noenv KEY src",
        "diff src old",
        "diff ../a/f f",
    ],
};

const READ_LINKED: Shape = Shape {
    // A link in the tree may end anywhere, and only the tree shows where.
    id: "read-linked-tree",
    floor: Sandbox,
    programs: &["grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ugrep", "diff"],
    fires: |command| match command.name {
        "rg" => command.has("-L --follow"),
        "ag" => command.has("-f --follow"),
        "ack" => command.has("--follow"),
        "diff" => command.has("-r --recursive") && !command.has("--no-dereference"),
        _ => command.has("-R --dereference-recursive"),
    },
    reason: "follows every link in a directory",
    fix: "leave links out (`grep -r` instead of `-R`, `diff -r --no-dereference`)",
    matches: &["grep -R x src", "rg -L x", "rg --follow x src", "ag -f x", "diff -r a b", "diff -ru a b"],
    clean: &["grep -r x src", "rg x", "diff a b", "diff -r --no-dereference a b", "grep -f x y", "rg -l x"],
};

/// Whether a search includes hidden files, and may start in the root of the workspace.
fn looks_into_hidden(command: &Command<'_, '_>) -> bool {
    let is_difference = shows_differences(command);
    let is_top = |word: &Arg<'_>| {
        let folder = Target::of(word);
        match folder.base {
            Base::Here => folder.names.is_empty(),
            Base::Above(_) => !is_difference || folder.names.is_empty(),
            Base::Unknown => folder.names == ["$"],
            Base::Root | Base::Home => false,
        }
    };
    searches_hidden(command, is_top)
}

/// Returns the hazard of a search that includes hidden files and starts in the root of the workspace, or above it, by another name.
pub(super) fn read_hidden_at(command: &Command<'_, '_>, is_top: impl Fn(&Arg<'_>) -> bool) -> Option<Hazard> {
    let reads = READ_HIDDEN.programs.contains(&command.name)
        && searches_hidden(command, is_top)
        && !is_limited_to_names(command);
    reads.then(|| READ_HIDDEN.hazard(command.run.span))
}

fn shows_differences(command: &Command<'_, '_>) -> bool {
    matches!(command.name, "diff" | "sdiff")
}

fn searches_hidden(command: &Command<'_, '_>, is_top: impl Fn(&Arg<'_>) -> bool) -> bool {
    let is_given_pattern = super::files::is_given_pattern(command);
    let skip = usize::from(!is_given_pattern && !shows_differences(command));
    let folders: Vec<&Arg<'_>> = command.operands().skip(skip).collect();
    let begins_at_top = folders.is_empty() || folders.iter().any(|folder| is_top(folder));
    match command.name {
        "rg" => command.has(
            "-u --unrestricted --hidden -. --no-ignore --no-ignore-vcs --no-ignore-dot --no-ignore-exclude",
        ) || command.values("-g --glob --iglob").any(is_glob_of_secrets),
        "ag" => command.has("-u --unrestricted --hidden -U --skip-vcs-ignores -a --all-types -t --all-text"),
        "ack" | "ugrep" => begins_at_top,
        "diff" | "sdiff" => folders.iter().any(|folder| is_top(folder)),
        _ => {
            let recurses = command.has("-r -R --recursive --dereference-recursive")
                || command.values("-d --directories").any(|value| value.known() == Some("recurse"))
                || command.says(&["-drecurse", "--directories=recurse"]);
            recurses && begins_at_top
        }
    }
}

fn is_glob_of_secrets(glob: &Arg<'_>) -> bool {
    glob.known().is_none_or(|glob| {
        !glob.starts_with('!') && (glob.starts_with('.') || super::files::speaks_of_secret(glob))
    })
}

/// Whether `grep` only reads file names that cannot be secrets (`--include`).
fn is_limited_to_names(command: &Command<'_, '_>) -> bool {
    let mut names = command.values("--include").peekable();
    let is_harmless = |name: &Arg<'_>| {
        name.known().is_some_and(|name| name.starts_with("*.") && !super::files::speaks_of_secret(name))
    };
    names.peek().is_some() && names.all(is_harmless)
}

/// Returns the hazard of a command that runs in `folder` and reads a directory recursively.
pub(super) fn read_in(command: &Command<'_, '_>, folder: &Target) -> Option<Hazard> {
    let reads = READ_TREE.programs.contains(&command.name) && {
        let mut folders = folders(command);
        // Without a directory, a search starts in the working directory.
        if folders.is_empty() && matches!(command.name, "rg" | "ag" | "ack" | "ugrep") {
            folders.push(Target::spelled("."));
        }
        folders.iter().any(|target| target.base == Base::Here && holds_secrets(&target.below(folder)))
    };
    reads.then(|| READ_TREE.hazard(command.run.span))
}

/// Returns the directories that a command reads recursively.
fn folders(command: &Command<'_, '_>) -> Vec<Target> {
    let targets: Vec<Target> = command.targets().collect();
    let is_given_pattern = super::files::is_given_pattern(command);
    let (skip, last) = match command.name {
        "rg" | "ag" | "ack" | "ugrep" if is_given_pattern => (0, 0),
        "rg" | "ag" | "ack" | "ugrep" => (1, 0),
        "grep" | "egrep" | "fgrep" | "zgrep"
            if command.has("-r -R --recursive --dereference-recursive -d --directories") =>
        {
            (usize::from(!is_given_pattern), 0)
        }
        // Also without `-r`, they show the differences of all files in a directory.
        "diff" | "sdiff" => (0, 0),
        "cp" | "gcp" | "scp" if command.has("-r -R -a --recursive --archive") => (0, 1),
        "rsync" | "ditto" => (0, 1),
        "tar" | "gtar" | "bsdtar" if writes_archive(command) => (0, 0),
        "zip" if command.has("-r -R --recurse-paths") => (1, 0),
        "7z" if command.is_sub(&["a", "u"]) => (2, 0),
        _ => return Vec::new(),
    };
    let end = targets.len().saturating_sub(last);
    targets.get(skip..end).unwrap_or_default().to_vec()
}

/// tar(1): `c`, `r` and `u` add files to an archive, also in a first word without a dash.
fn writes_archive(command: &Command<'_, '_>) -> bool {
    let is_old = |word: &str| word.bytes().all(|letter| letter.is_ascii_alphabetic());
    command.has("-c -r -u --create --append --update")
        || command.operand(0).is_some_and(|word| is_old(word) && word.contains(['c', 'r', 'u']))
}

/// Whether a directory contains files that only their owner may read.
fn holds_secrets(folder: &Target) -> bool {
    let is_above = |secret: &Target| {
        let names = folder.below_home().filter(|_| secret.base == Base::Home);
        let names = names.or((folder.base == secret.base).then_some(folder.names.as_slice()));
        names.is_some_and(|names| secret.names.len() > names.len() && secret.names.starts_with(names))
    };
    // Parent directories of homes.
    let is_root = folder.base == Base::Root
        && matches!(&*folder.names, [] | [_] if folder.is_everything() && holds_homes(folder));
    is_root || SECRETS.iter().any(is_above)
}

fn holds_homes(folder: &Target) -> bool {
    folder.names.first().is_none_or(|name| matches!(name.as_str(), "home" | "Users" | "root"))
}

/// Returns the paths of secrets in a home and on a machine, from the examples of the table.
static SECRETS: LazyLock<Vec<Target>> = LazyLock::new(|| {
    let rows = names().filter(|name| name.read() == Read::Refuse);
    let spelled = rows.flat_map(|row| {
        let start = match row.scope {
            Scope::Machine => "/",
            Scope::Anywhere | Scope::Home => "~/",
            Scope::Repository => "",
        };
        let paths = row.paths.iter().chain(row.matches).filter(move |_| !start.is_empty());
        paths.map(move |path| format!("{start}{path}"))
    });
    // `self` is also a name of a process.
    spelled.chain(["/proc/self/environ".to_owned()]).map(|path| Target::spelled(&path)).collect()
});
