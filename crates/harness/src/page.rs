//! The page about harnesses, made from the table.
#![expect(clippy::disallowed_methods, reason = "compares a generated file with what it should be")]

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use super::{HARNESSES, Harness, HookRegistration, Moment, Results};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/HARNESSES.md");

const HEAD: &str = "\
# Harnesses

Made by a test from `src/table.rs`; `cargo xtask generate` writes it anew.

A harness is a program that runs an agent: Claude Code, Codex, Gemini CLI … Most of them call *hooks* before a tool is used. One
command has them ask Stockade, for commands, files, pages and tools of servers, and look at what tools bring back:

```console
$ stockade install claude         # in the settings of this user; --project for a project, --dry-run to see it first
$ stockade status                 # makes a denial through every registered hook, and says which of them refuse
$ stockade uninstall claude       # takes exactly that out again
```

## What is asked

The same as at every other door, by the configuration of the agent that is called as the harness is (`agents.claude…`, or what
`--agent` says): whether anything is left of its budget (`budget`), whether it has the tool (`toolPolicy`), whether the path may be read or written (`files`), what becomes of the
command (`commands`), whether the host is in reach (`execSandbox.network`, `security.permission.allowedNetHosts`). Each decision is on record:
`stockade audit query --agent claude`.

| decision | what the harness is told |
|---|---|
| allowed | nothing: that grants nothing, and the harness asks whom it would ask anyway |
| sandbox | the same command within `stockade exec --agent …`, where the harness runs what a hook puts in its place; otherwise a refusal that names that line, which is allowed as it stands |
| ask | a question to the person, where that was seen to reach one; otherwise a refusal with the command that allows exactly this |
| denied | a refusal with its reason, its rule and the name of its record |

By default an agent has the tools of `coding`: commands and files of the workspace. Tools of the web and of servers are refused until
they are listed:

```toml
# ~/.config/stockade/config.toml
[agents.claude.toolPolicy]
allow = [\"web_fetch\", \"web_search\", \"mcp__github__*\"]

[security.permission]
enableNodePermissions = true
allowedNetHosts = [\"docs.rs:443\"]
```

The project is the folder that the harness names; where it names none, the one that it works in. Where a command runs is another
matter: nothing outside of the project becomes part of it so, and what belongs into the sandbox is refused there. The rules call a tool of a server
`mcp__SERVER__TOOL`, whatever it calls itself; Cursor does not say which server it is, so there it is `mcp__cursor__TOOL`.

A search is asked about as reads are: the folders that it names, those that its globs begin in, and every file below that a glob of it could match in any
of the ways in which harnesses read globs. Where one of them must not be read, or nobody can tell, that is a question, and so a refusal where nobody can be
asked. What lists names alone reads no file. Left open in all of them: a search of contents without a glob goes through every file below its folder,
those that a read is denied too, as far as the harness itself leaves none out. Deny the tool (`toolPolicy.deny = [\"grep\"]`), or keep such files elsewhere.

What writes to a program that runs already (`write_stdin`, `write_bash`, `process` with `write`) may give a command to it that nobody sees here, so that is
a question, and a refusal where nobody can be asked. To look at such a program, or to end it, is not.

What a tool brought back is cut to its profile, cleaned and scanned, and what was found is on record. The names of all members are scanned too, also with
`_`, `-`, `.` and the parts of `camelCase` read as words: where that finds something, nothing of the result is shown, and a shape that has to stay keeps only
the names and words of tools that Stockade knows, its numbers, and what is true or false in it. Where something was found, taken out or cut, the harness is told; what its model then gets is in the last column of the table at the end. Nothing is
shown that was not scanned, as far as the harness can hide a result: one that is longer than its profile lets, or that could not be looked at, is refused where
the cleaned one cannot be put in its place. Codex hides what is refused; Qwen Code shows it all the same, and so does Claude Code where the program itself
is missing or fails, since it takes nothing but a result of the same shape in its place.

## What goes wrong

Whatever cannot be read, decided or recorded is refused: a list where a text belongs, a key given twice, a configuration that is wrong, a
trail that cannot be written, a bug, more than five seconds. What is registered is a line for a shell, which says no by itself where
the program is missing, cannot be executed, was killed, fails, or prints anything that is no answer: a harness by itself takes most of that for
consent. So these cells are closed in every harness; what each leaves open is in its section.

| the program that is registered … | what becomes of the tool |
|---|---|
| is missing, cannot be executed, or is another one | not used |
| ends with an error, or is killed | not used |
| says nothing, garbage, or half an answer | not used |
| takes too long | not used after five seconds, by its own clock; where another program sits in its place, as the harness has it |

With real harnesses and a model that asks for what it is told to (`crates/cli/tests/harnesses/run.py`), without anybody to answer a question.
`RAN` is an ordinary run, `SANDBOX` one within the sandbox, `BLOCKED` none; `CLEANED` is a result of which the model got the cleaned text alone, `SHOWN` one that it
got as it was. `cargo xtask harnesses` makes this table:

MEASURED
## Settings

Files of settings are replaced whole or not at all. Comments, spaces, order and keys that are not ours stay as they are, in JSON
with comments and with commas at the end too; settings in TOML are not written, since every harness reads hooks from JSON as well. `uninstall`
takes out what was put in where it still stands, so that a file that nobody has touched since is what it was, byte for byte. Settings that are no JSON, that
are a link or lie behind one, that belong to or can be written by others, or that call Stockade already in another way are named with what mends them, and
left as they are.

`stockade status` and `stockade doctor` start each registered hook as the harness would and hand it a command that no rule allows, and for every other kind of
tool arguments that are none. Only where all of them are refused, hooks are not turned off (by settings of the user, the project or the machine)
and the harness is known to call them, it says `ok`. A hook is started only if it stands there as this program writes it, with whichever copy of the
program it calls, and a hook of a project only if that is this one: what another member does (`async`, `if`, a shorter `timeout`), or a line that does more, was
tried by nobody, and is named.

What others wrote stays, though it calls `stockade hook`: a hook whose line does more than that, one that stands in the same group as ours, a script, plugin
or file of hooks that does not say at its top that this program wrote it or holds anything else. `install` says what is in its way.

`stockade install HARNESS --mcp` is for the servers of the Model Context Protocol in those settings, and `doctor` names those that nothing stands in front of: see
[MCP.md](../mcp/MCP.md).
";

#[test]
fn harnesses_md_is_fresh() {
    let wanted = document();
    if env::var_os("STOCKADE_BLESS").is_some_and(|value| value == "1") {
        fs::write(PATH, &wanted).unwrap();
    }
    assert!(
        fs::read_to_string(PATH).unwrap_or_default() == wanted,
        "HARNESSES.md is not fresh: run `cargo xtask generate`"
    );
}

fn document() -> String {
    let measured = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/harnesses/measured.md");
    let mut out = HEAD.replace("MEASURED", &fs::read_to_string(measured).unwrap());
    let yes = |is: bool| if is { "yes" } else { "no" };
    out.push_str("\n## Each of them\n\n| harness | `NAME` | tried with | asks a person | runs in the sandbox | a result that was cleaned |\n|---|---|---|---|---|---|\n");
    for harness in HARNESSES {
        let Harness { name, title, tried, asks, rewrites, results, .. } = harness;
        let results = match results {
            Results::Replaced => "is in the place of the other",
            Results::Hidden => "is shown as the reason why the other is hidden",
            Results::Noted => "is not shown: the other is, with a note",
            Results::ByPlugin => "is put in the place of the other by the plugin",
            Results::Unchanged => "is not shown: the other is; it is on record",
        };
        let tried = tried.unwrap_or("its documentation alone");
        let _ = writeln!(
            out,
            "| {title} | `{name}` | {tried} | {} | {} | {results} |",
            yes(*asks),
            yes(*rewrites)
        );
    }
    for harness in HARNESSES {
        section(&mut out, harness);
    }
    out
}

fn section(out: &mut String, harness: &Harness) {
    let Harness { name, title, .. } = harness;
    let _ = writeln!(out, "\n### {title}\n");
    match harness.registered {
        HookRegistration::ByHand(how) => {
            let _ = writeln!(
                out,
                "`stockade install {name}` writes nothing, and says what to write: {}.\n",
                how.trim_end_matches([' ', ':'])
            );
        }
        HookRegistration::Settings(settings) => {
            let _ = writeln!(
                out,
                "`stockade install {name}` writes `~/{}`, or `{}` of a project.\n",
                settings.user, settings.project
            );
            for (path, value) in settings.off {
                let _ = writeln!(out, "- `{path}` = `{value}` turns hooks off, which `status` tells.");
            }
            if let Some(trust) = settings.trust {
                let _ = writeln!(out, "- {trust}.");
            }
        }
        HookRegistration::Own(own) => {
            let _ = writeln!(
                out,
                "`stockade install {name}` makes `~/{}`, or `{}` in a project.\n",
                own.user, own.project
            );
        }
    }
    let events: Vec<String> = harness.events_of(Moment::Before).map(|event| format!("`{event}`")).collect();
    let _ = writeln!(out, "- It asks at {}.", events.join(", "));
    for open in harness.open {
        let _ = writeln!(out, "- Left open: {open}.");
    }
}
