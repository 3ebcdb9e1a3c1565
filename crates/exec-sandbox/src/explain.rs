//! What a failed command was probably refused, from what it said on standard error.
//!
//! Programs say in well-known words what they could not open or reach. Here those words are compared with the plan, and
//! with nothing else: whether a path that the command does not see exists on this machine is not looked up, as the answer
//! may find its way to whoever wrote the command. So this is a hint, and a program that lies gets a wrong one.
//!
//! A command that says nothing can be asked in another way: see [`asked`].

pub(crate) mod asked;
mod judge;

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use crate::outcome::End;
use crate::plan::Plan;
use crate::spec::Network;
use asked::Asked;
use judge::Judge;

/// Something that a command was probably refused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Denial {
    /// To read a path that it does not see.
    Read(PathBuf),
    /// To write a path that it may only read.
    Write(PathBuf),
    /// To read or write a path that is shared with no command, and why.
    Never(PathBuf, String),
    /// To reach a socket of this machine.
    Socket(PathBuf),
    /// To reach a machine; its name, if that was said.
    Reach(Option<String>),
    /// More processes and threads.
    Processes,
    /// More memory than the limit lets it have.
    Memory,
    /// A larger file than the limit lets it write.
    FileSize,
    /// More open files than the limit lets it have.
    OpenFiles,
    /// More room for temporary files.
    Scratch,
}

impl Denial {
    /// Its stable name, for machines.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Read(_) => "read",
            Self::Write(_) => "write",
            Self::Never(..) => "never",
            Self::Socket(_) => "socket",
            Self::Reach(_) => "reach",
            Self::Processes => "processes",
            Self::Memory => "memory",
            Self::FileSize => "file-size",
            Self::OpenFiles => "open-files",
            Self::Scratch => "scratch",
        }
    }
}

/// What a phrase is about.
#[derive(Clone, Copy)]
enum About {
    /// A path in the same line.
    Path,
    /// A machine that was to be reached.
    Network,
    /// A limit that the command ran into.
    Limit(fn() -> Denial),
}

/// What programs print when the kernel refuses something, and what that is about.
const PHRASES: &[(&str, About)] = &[
    ("No such file or directory", About::Path),
    ("Permission denied", About::Path),
    ("permission denied", About::Path),
    ("Read-only file system", About::Path),
    ("Operation not permitted", About::Path),
    ("ENOENT", About::Path),
    ("EACCES", About::Path),
    ("EROFS", About::Path),
    ("Network is unreachable", About::Network),
    ("Network unreachable", About::Network),
    ("ENETUNREACH", About::Network),
    ("Could not resolve", About::Network),
    ("could not resolve", About::Network),
    ("unable to resolve host", About::Network),
    ("Name or service not known", About::Network),
    ("name resolution", About::Network),
    ("Failed to resolve", About::Network),
    ("ENOTFOUND", About::Network),
    ("EAI_AGAIN", About::Network),
    ("no such host", About::Network),
    ("Address family not supported", About::Network),
    ("Resource temporarily unavailable", About::Limit(|| Denial::Processes)),
    ("can't start new thread", About::Limit(|| Denial::Processes)),
    ("Cannot allocate memory", About::Limit(|| Denial::Memory)),
    ("MemoryError", About::Limit(|| Denial::Memory)),
    ("out of memory", About::Limit(|| Denial::Memory)),
    ("File too large", About::Limit(|| Denial::FileSize)),
    ("File size limit exceeded", About::Limit(|| Denial::FileSize)),
    ("Too many open files", About::Limit(|| Denial::OpenFiles)),
    ("No space left on device", About::Limit(|| Denial::Scratch)),
];

/// What stands before the name of a machine.
const BEFORE_A_HOST: &[&str] = &[
    "resolve host: ",
    "resolve host '",
    "resolve hostname ",
    "resolve '",
    "host address ‘",
    "host address '",
    "ENOTFOUND ",
    "EAI_AGAIN ",
    "lookup ",
    "connect to host ",
    "connect to ",
];

/// Lines that are looked at, the last ones, and the most that is said.
const LINES: usize = 200;
const MAX_DENIALS: usize = 8;

/// Returns what the command was probably refused, if it failed.
pub(crate) fn explain(plan: &Plan, end: End, errors: &[u8]) -> Vec<Denial> {
    const SIGXFSZ: i32 = 25;
    let mut found = Vec::new();
    match end {
        End::Exited(0) | End::NotFound | End::NotExecutable => return found,
        End::Signalled(SIGXFSZ) => found.push(Denial::FileSize),
        _ => {}
    }
    let judge = Judge::new(plan);
    let text = String::from_utf8_lossy(errors);
    for line in text.lines().rev().take(LINES) {
        let phrases = PHRASES.iter().filter(|(phrase, _)| line.contains(phrase));
        found.extend(phrases.flat_map(|(_, about)| match about {
            About::Path => paths(line, &plan.cwd).filter_map(|path| judge.failed(&path)).collect(),
            About::Network if plan.network == Network::Open => Vec::new(),
            About::Network => vec![Denial::Reach(host(line))],
            About::Limit(limit) => vec![limit()],
        }));
    }
    let mut seen = BTreeSet::new();
    found.retain(|denial| seen.insert(denial.clone()));
    found.truncate(MAX_DENIALS);
    found
}

/// Adds to what was found in the words of a command what it was refused of all that it asked for.
pub(crate) fn add(found: &mut Vec<Denial>, end: End, asked: Asked) {
    if matches!(end, End::Exited(0) | End::NotFound | End::NotExecutable) {
        return;
    }
    for denial in asked.weightiest() {
        // A machine whose name was said is that which was looked for.
        let is_known =
            |other: &Denial| *other == denial || (denial == Denial::Reach(None) && other.name() == "reach");
        if !found.iter().any(is_known) {
            found.push(denial);
        }
    }
    found.truncate(MAX_DENIALS);
}

/// Returns the paths in a line, without `.` and `..`.
fn paths<'l>(line: &'l str, cwd: &'l Path) -> impl Iterator<Item = PathBuf> + 'l {
    let ends = |c: char| {
        c.is_whitespace()
            || matches!(c, '\'' | '"' | '`' | '‘' | '’' | '(' | ')' | ',' | ';' | '[' | ']' | '<' | '>' | '=')
    };
    let words = line.split(ends).map(|word| word.trim_end_matches([':', '.']));
    words.filter(|word| word.len() > 1 && word.contains('/')).filter_map(|word| plain(&cwd.join(word)))
}

fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    (plain.is_absolute() && plain != Path::new("/")).then_some(plain)
}

fn host(line: &str) -> Option<String> {
    let rest = BEFORE_A_HOST.iter().find_map(|before| line.split_once(before))?.1;
    let is_part = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let name: String = rest.chars().take_while(is_part).take(253).collect();
    let name = name.trim_end_matches('.');
    (name.len() > 1).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Entry, HostFacts, Kernel};
    use crate::spec::SandboxSpec;

    pub(super) fn planned() -> Plan {
        let folder = |path: &str| (PathBuf::from(path), Entry::Folder);
        let facts = HostFacts {
            entries: [folder("/usr"), folder("/srv/work"), folder("/srv/data")].into(),
            home: "/home/u".into(),
            user: 1000,
            kernel: Kernel { namespaces: true, landlock: 7, seccomp: true },
            ..HostFacts::default()
        };
        let mut spec = SandboxSpec::new("/srv/work", ["true"]);
        spec.environment.set.push(("PATH".into(), "/opt/programs:/usr/bin".into()));
        spec.read_only.push("/srv/data".into());
        crate::plan::plan(&spec, &facts).unwrap()
    }

    #[test]
    fn what_programs_say_is_understood() {
        let read = |path: &str| vec![Denial::Read(path.into())];
        let write = |path: &str| vec![Denial::Write(path.into())];
        let reach = |host: &str| vec![Denial::Reach(Some(host.to_owned()))];
        let cases = [
            ("cat: /opt/x/y: No such file or directory", read("/opt/x/y")),
            ("cat: ../other/file: No such file or directory", read("/srv/other/file")),
            ("Error: ENOENT: no such file or directory, open '/opt/a b'", read("/opt/a")),
            ("FileNotFoundError: [Errno 2] No such file or directory: '/opt/x'", read("/opt/x")),
            ("touch: cannot touch '/srv/data/x': Read-only file system", write("/srv/data/x")),
            ("sh: 1: cannot create /srv/data/x/y: Read-only file system", write("/srv/data/x/y")),
            ("curl: (6) Could not resolve host: example.com", reach("example.com")),
            ("Error: getaddrinfo EAI_AGAIN registry.npmjs.org", reach("registry.npmjs.org")),
            ("connect: Network is unreachable", vec![Denial::Reach(None)]),
            ("sh: fork: Resource temporarily unavailable", vec![Denial::Processes]),
            ("write error: No space left on device", vec![Denial::Scratch]),
            ("cc: error: main.c: No such file or directory", vec![]),
            ("cat: src/x: No such file or directory", vec![]),
            ("all is well in /opt/x", vec![]),
        ];
        for (line, expected) in cases {
            assert_eq!(explain(&planned(), End::Exited(1), line.as_bytes()), expected, "{line}");
            assert_eq!(explain(&planned(), End::Exited(0), line.as_bytes()), [], "{line}");
        }
        let found = explain(&planned(), End::Exited(1), b"cat: /home/u/.ssh/id: No such file or directory\n");
        assert!(
            matches!(&found[..], [Denial::Never(path, _)] if path == Path::new("/home/u/.ssh/id")),
            "{found:?}"
        );
    }

    #[test]
    fn what_is_said_has_an_end() {
        let many: String = (0..1000).map(|n| format!("/opt/{n}: Permission denied\n")).collect();
        assert_eq!(explain(&planned(), End::Exited(1), many.as_bytes()).len(), MAX_DENIALS);
        assert_eq!(explain(&planned(), End::Exited(1), &[0xff; 4096]), []);
    }
}
