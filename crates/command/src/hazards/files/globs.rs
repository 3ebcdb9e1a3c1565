//! Globs that count as reading secrets: only those whose letters indicate one.
#![expect(clippy::string_slice, reason = "the names of the table are ASCII, and a test may panic")]

use stockade_names::{Read, Scope, names};

use stockade_shell::Arg;

use super::index::shapes_and_possible;
use super::looks_like_path;
use super::patterns::files;
use super::table::SHAPES;
use crate::hazards::target::Target;
use stockade_names::Access;

/// The treatment of a glob whose files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// It counts as the secret itself.
    Secret,
    /// It may match one, which requires only a sandbox.
    Perhaps,
    Nothing,
}
use Verdict::{Nothing, Perhaps, Secret};

fn verdict(glob: &str) -> Verdict {
    let target = Target::spelled(glob);
    match shapes_and_possible(&target, Access::Read) {
        (meant, _) if !meant.is_empty() => Secret,
        (_, Some(_)) => Perhaps,
        _ => Nothing,
    }
}

#[rustfmt::skip]
const TABLE: &[(&str, Verdict)] = &[
    // A common extension indicates nothing.
    ("*.md", Nothing), ("src/*.rs", Nothing), ("src/*.c", Nothing), ("data/*.csv", Nothing), ("tests/*.py", Nothing),
    ("src/**/*.ts", Nothing), ("/etc/*release", Nothing), ("*_test.go", Nothing), ("[a-z]*.md", Nothing),
    ("chapter-??.tex", Nothing), ("/app/*.log", Nothing), ("~/notes/*.md", Nothing), ("/usr/bin/*pdp", Nothing),
    ("*.example", Nothing), ("packages/*/src/index.js", Nothing),
    ("*/*.md", Nothing), ("*/README*.md", Nothing), ("*.d", Nothing), ("/sys/class/net/*/address", Nothing),
    ("server*.pub", Nothing), ("~/.ssh/*.pub", Nothing), ("*.pub.pem", Nothing), ("/proc/[0-9]*/status", Nothing),
    // It may match a secret.
    ("*", Perhaps), ("x*", Perhaps), ("i*", Perhaps), ("log*", Perhaps), ("*.json", Perhaps), ("*.toml", Perhaps),
    ("/var/log/*.log", Perhaps), ("src/*", Perhaps),
    ("?", Nothing), ("/usr/bin/*pdp*", Perhaps), ("cred*", Perhaps), ("*.tf*", Perhaps), ("README*", Perhaps), ("/etc/s*", Perhaps),
    ("/proc/self/*", Perhaps), ("[[:alnum:]]*", Perhaps),
    // It indicates a secret.
    ("id_*", Secret), ("id_*.bak", Secret), ("*_rsa", Secret), ("??_rsa", Secret), ("id_rs?", Secret),
    (".ssh/*", Secret), ("~/.ssh/*", Secret), ("~/.s*/id_rsa", Secret), ("*/.ssh/id_*", Secret),
    ("*.pem", Secret), ("certs/*.pem", Secret), ("*.pe?", Secret), ("[a-z]*.p12", Secret), ("*.kdbx", Secret),
    ("~/.aws/*", Secret), ("~/.aws/cred*", Secret), (".env*", Secret), (".e?v", Secret), (".[e]nv", Secret),
    (".env.*", Secret), ("*/.env", Secret), (".en[v]", Secret), ("~/.netr?", Secret), (".*", Secret), ("~/.??*", Secret),
    ("/etc/shado*", Secret), ("/e*/shadow", Secret), ("/*/shadow", Secret), ("/proc/*/environ", Secret),
    ("/proc/*/env*", Secret), ("secret*.yml", Secret), ("*.tfvars", Secret), ("credential*.json", Secret),
    ("~/.gnupg/*", Secret), ("~/.docker/*.json", Secret), ("~/Library/Keychains/*", Secret), ("/run/secrets/*", Secret),
];

#[test]
fn patterns_are_secrets_by_what_their_letters_say() {
    let wrong: Vec<_> = TABLE.iter().filter(|(glob, expected)| verdict(glob) != *expected).collect();
    let found: Vec<_> = wrong.iter().map(|(glob, _)| verdict(glob)).collect();
    assert!(wrong.is_empty(), "{wrong:?} are {found:?}");
}

/// Returns the example of every row of secrets, relative to its location.
fn secrets() -> impl Iterator<Item = String> {
    let rows = names().filter(|name| name.read() >= Read::Ask);
    rows.flat_map(|row| {
        row.matches.iter().map(|path| match row.scope {
            Scope::Anywhere => (*path).to_owned(),
            Scope::Home => format!("~/{path}"),
            Scope::Repository => format!(".git/{path}"),
            Scope::Machine => format!("/{path}"),
        })
    })
    // Globs are compared with case, and the examples of some rows have other cases or extensions.
    .filter(|path| verdict(path) == Secret && !path.bytes().any(|byte| byte.is_ascii_uppercase()))
    .filter(|path| verdict(&path[..path.len() - 1]) != Secret)
}

#[test]
fn no_pattern_that_names_a_secret_is_taken_for_nothing() {
    let mut tried = 0;
    for path in secrets() {
        let start = path.rfind('/').map_or(0, |slash| slash + 1);
        let (folder, name) = path.split_at(start);
        for from in 0..name.len() {
            for to in from + 1..=name.len() {
                // A glob must have the leading dot literally.
                if from == 0 && name.starts_with('.') {
                    continue;
                }
                let (before, after) = (&name[..from], &name[to..]);
                for middle in ["*", "?*", "*?", "[!x]*"] {
                    if middle.len() > 1 && to - from < 2 {
                        continue;
                    }
                    let glob = format!("{folder}{before}{middle}{after}");
                    assert_ne!(verdict(&glob), Nothing, "{glob} names {path}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 1000, "{tried}");
}

#[test]
fn one_letter_less_hides_no_secret() {
    for path in secrets() {
        let start = path.rfind('/').map_or(0, |slash| slash + 1);
        // Fewer letters do not indicate anything.
        for at in (start + 1..path.len()).filter(|_| path.len() - start > 5) {
            let glob = format!("{}?{}", &path[..at], &path[at + 1..]);
            let is_in_the_ending = path[at..].bytes().filter(|byte| *byte == b'.').count() == 0;
            assert!(
                verdict(&glob) == Secret || is_in_the_ending,
                "{glob} names {path}: {:?}",
                verdict(&glob)
            );
        }
    }
}

#[test]
fn no_pattern_with_an_ordinary_ending_is_a_secret() {
    const FOLDERS: &[&str] =
        &["", "src/", "./", "../", "/app/", "/etc/", "~/project/", "a/*/", "**/", "/usr/share/*/"];
    const BEFORE: &[&str] =
        &["*", "?", "[a-z]*", "x*", "main*", "*test", "test_*", "??*", "*-*", "[!.]*", "index.*", "*s", "i*"];
    const ENDINGS: &[&str] = &[
        "md", "txt", "rs", "c", "h", "cpp", "py", "js", "ts", "tsx", "jsx", "go", "java", "rb", "php", "sh",
        "css", "html", "json", "toml", "yaml", "yml", "csv", "log", "lock", "xml", "sql", "proto", "tf",
        "ipynb", "svg", "png", "out",
    ];
    for folder in FOLDERS {
        for before in BEFORE {
            for ending in ENDINGS {
                let glob = format!("{folder}{before}.{ending}");
                assert_ne!(verdict(&glob), Secret, "{glob}");
            }
        }
    }
}

/// The quick check for words that may be paths knows every name of the tables that has no mark of a path.
#[test]
fn every_bare_name_looks_like_a_path() {
    let mut missed = Vec::new();
    let mut tried = 0;
    for pattern in SHAPES.iter().flat_map(files) {
        let pattern = pattern.strip_prefix("**/").unwrap_or(pattern);
        let name = pattern.strip_suffix("/**").unwrap_or(pattern).replace(['*', '?'], "x");
        if name.contains(['/', '~']) {
            continue;
        }
        tried += 1;
        for word in [name.clone(), name.to_uppercase(), name.to_lowercase()] {
            if !looks_like_path(&Arg::Known(word.clone().into())) {
                missed.push(word);
            }
        }
    }
    assert!(missed.is_empty(), "{missed:?}");
    assert!(tried > 100, "{tried}");
}
