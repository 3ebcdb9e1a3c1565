//! What inline code does, written as shell commands, so that the rules for commands judge it.
//!
//! `python3 -c 'import os; os.remove("/etc/hosts")'` is judged like `rm -- /etc/hosts` as well as like unknown code: what is read here
//! only makes the answer stricter, and what is not read stays unknown.

use stockade_shell::quote_argv;

/// The mark of a computed part of a text.
pub(super) const HOLE: char = '\u{fffc}';

/// A language whose calls are recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    JavaScript,
    Ruby,
    Perl,
    Php,
}
use Language::{JavaScript, Perl, Php, Python, Ruby};

impl Language {
    pub(super) fn of(program: &str) -> Option<Self> {
        let name = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        Some(match name {
            "python" | "pypy" => Python,
            "node" | "nodejs" | "bun" | "deno" => JavaScript,
            "ruby" | "irb" => Ruby,
            "perl" => Perl,
            "php" => Php,
            _ => return None,
        })
    }
}

/// What a function does with its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    Read,
    Write,
    /// Reads or writes, by the mode in a later argument.
    Open,
    Delete,
    DeleteTree,
    Move,
    Copy,
    /// Runs a text in a shell, or a list of words.
    Run,
    /// Runs a program with the words of a list.
    Start,
    Fetch,
}

/// Functions by language: the end of their qualified name.
#[rustfmt::skip]
const FUNCTIONS: &[(Language, Does, &[&str])] = &[
    (Python, Does::Open, &["open"]),
    (Python, Does::Read, &["read_text", "read_bytes", "fromfile", "loadtxt", "read_csv", "read_json", "linecache.getlines"]),
    (Python, Does::Write, &["write_text", "write_bytes"]),
    (Python, Does::Delete, &["os.remove", "os.unlink", "os.rmdir", "os.removedirs", "unlink", "rmdir"]),
    (Python, Does::DeleteTree, &["rmtree"]),
    (Python, Does::Move, &["os.rename", "os.replace", "shutil.move"]),
    (Python, Does::Copy, &["shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree", "copyfile", "copytree"]),
    (Python, Does::Run, &[
        "os.system", "os.popen", "getoutput", "getstatusoutput", "subprocess.run", "subprocess.call", "check_call", "check_output",
        "Popen", "create_subprocess_shell",
    ]),
    (Python, Does::Start, &["os.execv", "os.execvp", "os.execl", "os.execlp", "pty.spawn", "create_subprocess_exec"]),
    (Python, Does::Fetch, &["urlopen", "urlretrieve", "requests.get", "requests.post", "requests.put", "httpx.get", "httpx.post"]),
    (JavaScript, Does::Read, &[
        "readFileSync", "readFile", "createReadStream", "openSync", "readTextFile", "readTextFileSync", "Bun.file",
    ]),
    (JavaScript, Does::Write, &[
        "writeFileSync", "writeFile", "appendFileSync", "appendFile", "createWriteStream", "writeTextFile", "writeTextFileSync",
        "Bun.write", "truncateSync",
    ]),
    (JavaScript, Does::Delete, &["unlinkSync", "unlink", "rmdirSync"]),
    (JavaScript, Does::DeleteTree, &["rmSync", "fs.rm", "promises.rm", "Deno.remove", "Deno.removeSync"]),
    (JavaScript, Does::Move, &["renameSync", "fs.rename"]),
    (JavaScript, Does::Copy, &["copyFileSync", "copyFile", "cpSync"]),
    (JavaScript, Does::Run, &["execSync", "child_process.exec"]),
    (JavaScript, Does::Start, &["spawnSync", "spawn", "execFileSync", "execFile", "Deno.Command", "Deno.run", "Bun.spawn"]),
    (JavaScript, Does::Fetch, &["fetch", "https.get", "http.get", "axios.get", "axios.post"]),
    (Ruby, Does::Read, &["File.read", "IO.read", "readlines", "foreach", "binread"]),
    (Ruby, Does::Open, &["File.open", "open", "File.new"]),
    (Ruby, Does::Write, &["File.write", "IO.write", "binwrite"]),
    (Ruby, Does::Delete, &["File.delete", "File.unlink", "FileUtils.rm", "FileUtils.rm_f"]),
    (Ruby, Does::DeleteTree, &["rm_rf", "rm_r", "remove_dir", "remove_entry"]),
    (Ruby, Does::Move, &["FileUtils.mv", "File.rename"]),
    (Ruby, Does::Copy, &["FileUtils.cp", "FileUtils.cp_r"]),
    (Ruby, Does::Run, &["system", "exec", "spawn", "IO.popen", "Open3.capture2", "Open3.capture3", "Open3.capture2e"]),
    (Ruby, Does::Fetch, &["URI.open", "HTTP.get", "HTTP.get_response"]),
    (Perl, Does::Open, &["open", "sysopen"]),
    (Perl, Does::Delete, &["unlink", "rmdir"]),
    (Perl, Does::DeleteTree, &["rmtree", "remove_tree"]),
    (Perl, Does::Move, &["rename", "move"]),
    (Perl, Does::Copy, &["copy"]),
    (Perl, Does::Run, &["system", "exec"]),
    (Perl, Does::Fetch, &["getstore", "getprint"]),
    (Php, Does::Read, &["file_get_contents", "readfile", "file", "parse_ini_file", "show_source", "highlight_file"]),
    (Php, Does::Open, &["fopen"]),
    (Php, Does::Write, &["file_put_contents"]),
    (Php, Does::Delete, &["unlink", "rmdir"]),
    (Php, Does::Move, &["rename"]),
    (Php, Does::Copy, &["copy"]),
    (Php, Does::Run, &["system", "exec", "shell_exec", "passthru", "popen", "proc_open"]),
];

/// Returns what a function does by its qualified name.
pub(super) fn does(language: Language, name: &str) -> Option<Does> {
    let mut rows = FUNCTIONS.iter().filter(|(of, _, _)| *of == language);
    rows.find(|(_, _, ends)| ends.iter().any(|end| is_end(name, end))).map(|(_, does, _)| *does)
}

/// Whether a qualified name ends in another.
pub(super) fn is_end(name: &str, end: &str) -> bool {
    name.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with(['.', ':']))
}

/// Writes an effect as a shell command. Nothing is returned where all of it is computed.
pub(super) fn command(does: Does, words: &[String], is_list: bool) -> Option<String> {
    let first = words.first()?;
    let second = words.get(1);
    let starts_known = !first.starts_with(HOLE) && !first.is_empty();
    let mode_writes = |mode: &String| mode.len() <= 4 && mode.contains(['w', 'a', 'x', '+', '>']);
    let path = || word(first);
    Some(match does {
        // Whatever the beginning is, the rest may be the path of a credential.
        Does::Read | Does::Open if !starts_known && first.chars().all(|letter| letter == HOLE) => {
            return None;
        }
        Does::Open if words.iter().skip(1).any(mode_writes) => {
            if !starts_known {
                return None;
            }
            format!(": > {}", path())
        }
        Does::Read | Does::Open => format!("cat < {}", path()),
        _ if !starts_known => return None,
        Does::Write => format!(": > {}", path()),
        Does::Delete => format!("rm -f -- {}", path()),
        Does::DeleteTree => format!("rm -rf -- {}", path()),
        Does::Move => format!("mv -- {} {}", path(), word(second?)),
        Does::Copy => format!("cp -r -- {} {}", path(), word(second?)),
        Does::Fetch if first.starts_with("http") && !is_local(first) => format!("curl -sS {}", path()),
        Does::Fetch => return None,
        Does::Run if !is_list => first.replace(HOLE, "$unknown"),
        Does::Run | Does::Start => words.iter().map(|one| word(one)).collect::<Vec<_>>().join(" "),
    })
}

/// Whether an address is that of the same machine. In a sandbox, only the same command connects there.
fn is_local(address: &str) -> bool {
    const LOCAL: &[&str] = &["localhost", "127.0.0.1", "[::1]"];
    let host = address.split("://").nth(1).unwrap_or_default();
    let ends = |rest: &str| rest.is_empty() || rest.starts_with([':', '/']);
    LOCAL.iter().any(|local| host.strip_prefix(local).is_some_and(ends)) && !host.contains('@')
}

/// Quotes a word. What is computed becomes a variable, and a tilde at the start is the home.
fn word(text: &str) -> String {
    let (home, rest) = match text.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => ("~", rest),
        _ => ("", text),
    };
    let mut out = home.to_owned();
    let (slash, rest) =
        if home.is_empty() { ("", rest) } else { rest.split_at(usize::from(!rest.is_empty())) };
    out.push_str(slash);
    for (at, known) in rest.split(HOLE).enumerate() {
        if at > 0 {
            out.push_str("\"$unknown\"");
        }
        if !known.is_empty() {
            out.push_str(&quote_argv([known]));
        }
    }
    if out.is_empty() { "''".to_owned() } else { out }
}
