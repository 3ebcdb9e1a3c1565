//! Disguised programs, hidden files and false modification times.

use super::Floor::Ask;
use super::Hazard;
use super::code;
use super::command::Command;
use super::shape::Shape;
use super::target::{Base, Target};
use stockade_shell::lookup::last_name;
use stockade_shell::{Arg, Run};

pub(super) const SHAPES: &[Shape] = &[
    // MITRE T1036.003: a shell named `crond` is not noticed, and a rule that denies `nc` does not match its copy `x`.
    Shape {
        id: "copy-of-program",
        floor: Ask,
        programs: &["cp", "mv", "ln", "install", "gcp", "rsync", "ditto", "link"],
        fires: |command| {
            let operands: Vec<&Arg<'_>> = command.operands().collect();
            let Some((last, sources)) = operands.split_last() else { return false };
            sources.iter().any(|source| is_program_of_system(source) && !keeps_its_name(source, last))
        },
        reason: "gives a shell or a system program another name, which hides it",
        fix: "run the program by its original name",
        matches: &[
            "cp /bin/sh /tmp/crond",
            "cp $(which sh) $HOME/...",
            "ln -s /bin/bash /tmp/kworker",
            "cp /usr/bin/python3 .init",
            "cp `command -v perl` /tmp/x",
            "install -m 755 /bin/busybox /tmp/.x",
            "cp -p /usr/bin/nc \"/tmp/[kworker]\"",
            "mv /usr/bin/curl /tmp/y",
        ],
        clean: &[
            "cp target/release/sh /tmp/x",
            "ln -s /usr/bin/python3 ~/bin/python",
            "ln -sf /usr/bin/clang-14 /tmp/clang",
            "cp /usr/bin/jq .",
            "cp a b",
            "cp /bin/ls /app/ls",
            "ln -s \"$(which node)\" node",
            "cp /etc/hosts x",
        ],
    },
    // MITRE T1036.006 and .007: names with an invisible end, or with two extensions.
    Shape {
        id: "deceiving-name",
        floor: Ask,
        // Checked by `of_command`, because it applies to programs with any name.
        programs: &[],
        fires: |command| {
            let names = || command.operands().filter_map(|word| word.known());
            let is_program = command.run.program().is_some_and(|path| {
                ends_in_space(last_name(path)) || is_dots(path) || is_document_and_program(path)
            });
            let is_script = code::is_interpreter(command.name) && runs_document(command.run);
            is_program || is_script || NAMING.contains(&command.name) && names().any(deceives)
        },
        reason: "uses a misleading name: only dots, a space at the end, or a document name for a program",
        fix: "give the file a descriptive name",
        matches: &[
            "mkdir -p ~/...",
            "mv evil '/tmp/init '",
            "chmod +x report.pdf.sh",
            "./report.pdf.sh",
            "'./init ' -e x",
            "sh /tmp/image.png",
            "cp sh '/tmp/x /y'",
            "bash invoice.docx",
        ],
        clean: &[
            "mkdir -p a/..",
            "touch 'a b'",
            "sh run.sh",
            "./a.min.sh",
            "cp a.pdf b.pdf",
            "python3 x.py a.png",
            "bash build.sh image.png",
            "chmod 644 image.png",
            "go test ./...",
        ],
    },
    // MITRE T1564.001: directories that all users can write to, and that are rarely looked at.
    Shape {
        id: "hide-file",
        floor: Ask,
        programs: &[
            "mkdir", "touch", "cp", "mv", "install", "ln", "tee", "chflags", "setfile", "SetFile", "attrib",
        ],
        fires: |command| match command.name {
            "chflags" => {
                command.operand(0).is_some_and(|flags| flags.split(',').any(|flag| HIDING.contains(&flag)))
            }
            "setfile" | "SetFile" => command.has("-a -d -m"),
            "attrib" => command.says(&["+h", "+s", "+H", "+S"]),
            "mkdir" | "touch" | "tee" => command.targets().any(|target| is_hidden_in_shared(&target)),
            _ => command.targets().last().is_some_and(|target| is_hidden_in_shared(&target)),
        },
        reason: "hides a file",
        fix: "use a visible name inside the workspace",
        matches: &[
            "mkdir /var/tmp/.x",
            "cp a /tmp/.b",
            "touch /dev/shm/.c",
            "chflags hidden a",
            "setfile -a V a",
            "mv a /tmp/.d",
        ],
        clean: &[
            "mkdir .cache",
            "cp a /tmp/b",
            "touch .gitkeep",
            "mkdir -p /tmp/build/.cache",
            "cp a /tmp/.tmpQx1/data",
            "chflags nohidden a",
            "chflags nouchg a",
            "cp /tmp/.b a",
        ],
    },
    // MITRE T1070.006: a changed file looks as old as its neighbours.
    Shape {
        id: "make-up-time",
        floor: Ask,
        programs: &["touch"],
        fires: |command| {
            let is_beyond = |target: &Target| target.base != Base::Here;
            let sets = command.has("-t -d --date") && command.targets().any(|target| is_beyond(&target));
            let copies = command.values("-r --reference").any(|word| is_beyond(&Target::of(word)));
            sets || copies
        },
        reason: "sets a false modification time",
        fix: "do not change times, except of files inside the workspace",
        matches: &[
            "touch -r /bin/sh x",
            "touch -acmr /bin/ls evil",
            "touch -t 197001010000.00 /tmp/x",
            "touch -d '2 years ago' /opt/x",
            "touch --reference=/etc/hosts a",
        ],
        clean: &[
            "touch x",
            "touch -d yesterday notes.txt",
            "touch -r a b",
            "touch /tmp/x",
            "touch -t 202001010000 a",
        ],
    },
    // MITRE T1546.005, T1056.001: a DEBUG trap sees every following command with its arguments.
    Shape {
        id: "watch-commands",
        floor: Ask,
        programs: &["trap"],
        fires: |command| {
            let signals = command.words().skip(1).filter_map(Arg::known);
            command.words().count() > 1
                && signals.map(str::to_ascii_uppercase).any(|signal| matches!(&*signal, "DEBUG" | "SIGDEBUG"))
        },
        reason: "runs a hook before each following command, which can read that command",
        fix: "use `set -x` to see commands",
        matches: &["trap 'echo \"$BASH_COMMAND\" >> /tmp/x' DEBUG", "trap f DEBUG", "trap -- x debug"],
        clean: &["trap 'rm -f a' EXIT", "trap - DEBUG2", "trap f INT TERM", "echo DEBUG", "trap -p"],
    },
];

/// Programs that create or rename files.
const NAMING: &[&str] = &["cp", "mv", "ln", "install", "touch", "mkdir", "tee", "chmod"];

/// Returns the hazard of misleading file names.
pub(super) fn of_command(command: &Command<'_, '_>, found: &mut Vec<Hazard>) {
    let shapes = SHAPES.iter().filter(|shape| shape.programs.is_empty() && (shape.fires)(command));
    found.extend(shapes.map(|shape| shape.hazard(command.run.span)));
}

/// Flags of chflags(1) that hide a file or make it immutable.
const HIDING: &[&str] =
    &["hidden", "uchg", "uchange", "uimmutable", "schg", "schange", "simmutable", "sappnd"];

/// Whether a word is the path of a shell, an interpreter or a system program.
fn is_program_of_system(word: &Arg<'_>) -> bool {
    const FOLDERS: &[&str] =
        &["/bin/*", "/sbin/*", "/usr/bin/*", "/usr/sbin/*", "/usr/libexec/**", "/System/**"];
    word.known().is_some() && Target::of(word).fits_any(FOLDERS)
}

/// Whether a copy of a program, or a link to it, keeps its name: `python` for `python3`, or a directory as target.
fn keeps_its_name(source: &Arg<'_>, into: &Arg<'_>) -> bool {
    let Some(name) = source.known().map(last_name) else { return false };
    let target = Target::of(into);
    let is_hidden = target.names.iter().any(|part| part.starts_with('.'));
    let Some(last) = target.names.last() else { return true };
    // A shell in a hidden directory is hidden under any name.
    if is_hidden && code::is_shell(name) {
        return false;
    }
    without_version(last) == without_version(name) || matches!(last.as_str(), "bin" | "sbin")
}

fn without_version(name: &str) -> &str {
    name.trim_end_matches(|sign: char| sign.is_ascii_digit() || matches!(sign, '.' | '-'))
}

/// Returns the hazard of copying a program that is found by `which` or `command -v`.
pub(super) fn copies(finder: &Run<'_>, copier: &Run<'_>) -> Option<Hazard> {
    let shape = SHAPES.first()?;
    let words: Vec<Option<&str>> = finder.argv.iter().map(Arg::known).collect();
    let name = match words.as_slice() {
        [Some("which" | "whence"), Some(name)]
        | [Some("command"), Some("-v"), Some(name)]
        | [Some("type"), Some("-p" | "-P"), Some(name)] => *name,
        _ => return None,
    };
    let command = Command::of(copier).filter(|command| shape.programs.contains(&command.name))?;
    let into = command.operands().last()?;
    let source = Arg::Known(name.into());
    (!keeps_its_name(&source, into)).then(|| shape.hazard(copier.span))
}

/// Whether a path is a hidden file directly in a directory that all users share.
fn is_hidden_in_shared(target: &Target) -> bool {
    const KNOWN: &[&str] = &[".X11-unix", ".ICE-unix", ".XIM-unix", ".font-unix", ".Test-unix"];
    let names: Vec<&str> = target.names.iter().map(String::as_str).collect();
    let name = match names.as_slice() {
        ["tmp", name] | ["var" | "private", "tmp", name] | ["dev", "shm", name] => *name,
        _ => return false,
    };
    target.base == Base::Root && name.len() > 1 && name.starts_with('.') && !KNOWN.contains(&name)
}

/// Whether a name is misleading.
fn deceives(path: &str) -> bool {
    path.split('/').any(ends_in_space) || is_dots(path) || is_document_and_program(path)
}

fn ends_in_space(name: &str) -> bool {
    name.len() > 1 && name.ends_with(' ') && !name.contains('\n')
}

/// Whether a path contains a component of three or more dots, which is neither this directory nor its parent. `...` by itself
/// marks an omission, and `./...` everything below.
fn is_dots(path: &str) -> bool {
    let name = |name: &str| name.len() > 2 && name.bytes().all(|sign| sign == b'.');
    path.contains('/') && !path.starts_with("./...") && path.split('/').any(name)
}

/// Whether a name has the extension of a document followed by that of a program.
fn is_document_and_program(path: &str) -> bool {
    let name = last_name(path);
    if name.matches('.').count() < 2 {
        return false;
    }
    let name = name.to_ascii_lowercase();
    let mut endings = name.rsplit('.');
    let (last, before) = (endings.next().unwrap_or_default(), endings.next().unwrap_or_default());
    DOCUMENTS.contains(&before) && endings.next().is_some() && PROGRAMS.contains(&last)
}

const DOCUMENTS: &[&str] = &[
    "pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "rtf", "odt", "jpg", "jpeg", "png", "gif", "bmp",
    "mp3", "mp4", "avi",
];
const PROGRAMS: &[&str] = &[
    "sh", "bash", "py", "pl", "rb", "exe", "command", "app", "bin", "run", "js", "vbs", "ps1", "bat", "elf",
];

/// Whether a shell or an interpreter runs a document as its script.
fn runs_document(run: &Run<'_>) -> bool {
    let script = run.argv.iter().skip(1).filter_map(Arg::known).find(|word| !word.starts_with(['-', '+']));
    script.is_some_and(|script| {
        let name = last_name(script).to_ascii_lowercase();
        name.rsplit_once('.').is_some_and(|(_, ending)| DOCUMENTS.contains(&ending))
    })
}
