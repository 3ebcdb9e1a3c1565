//! `HARNESSES.md`, generated from the table.
#![expect(clippy::disallowed_methods, reason = "compares a generated file with its expected content")]

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use super::{HARNESSES, Harness, HookRegistration, Manual, Moment, Results, UNHOOKED, Unhooked};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/HARNESSES.md");

const HEAD: &str = "\
# Harnesses

Generated from `src/table.rs` by `cargo xtask generate`. Do not edit.

A harness is a program that runs an agent: Claude Code, Codex, Gemini CLI … Most of them call *hooks* before a tool is used. One
command installs the Stockade hook, which checks commands, files, web pages and MCP tools, and scans tool results:

```console
$ stockade install claude         # in your settings; --project for the project's, --dry-run to preview
$ stockade status                 # make a test call through every registered hook, and report which of them block it
$ stockade uninstall claude       # remove exactly what was installed
```

## What is checked

The same as at every other entry point, with the configuration of the agent that is named like the harness (`agents.claude…`, or
`--agent`): the remaining budget (`budget`), the tool (`toolPolicy`), paths (`files`), commands (`commands`), and hosts
(`execSandbox.network`, `allowedNetHosts`). Every decision is recorded: `stockade audit query --agent claude`.

| decision | answer to the harness |
|---|---|
| allowed | none: the harness goes on, and asks the user as it would without the hook |
| sandbox | the same command in `stockade exec --agent …`, if the harness supports rewriting; otherwise a refusal with that command line, which is allowed unchanged |
| ask | a question to the user, if a test has shown that it reaches the user; otherwise a refusal with the command that allows exactly this; where the harness shows a replaced command in its question (Claude Code), an installation of packages is replaced by the command that runs it in the sandbox |
| denied | a refusal with its reason, its rule and the id of its record |

By default, an agent has the tools of the profile `coding`: commands, and files of the workspace. Tools of the harness itself, such as
to-do lists and subagents, are allowed. About any other tool, of the harness or of an MCP server, the user is asked, and the call is
refused where this is impossible. The message names the command that allows the tool from now on:

```console
$ stockade allow claude WebSearch          # a tool of the harness; --dry-run to preview
$ stockade allow claude 'mcp__github__*'   # all tools of an MCP server
$ stockade allow claude npm ci             # a command; an installation runs in the sandbox, which reaches its registry too
$ stockade allow claude docs.rs            # a host: for web pages, and for commands in the sandbox
$ stockade allow --path claude ~/data      # a file or directory outside of the workspace, to read
$ stockade allow --session claude docs.rs  # the same until this session ends
$ stockade allow --last                    # what was asked about or refused last, from any terminal
$ stockade undo                            # take the last one back; --list shows all
$ stockade nap 10m                         # ask no questions for ten minutes; denials and the sandbox stay
```

`stockade deny` denies what `allow` with the same arguments allows. Both change your own configuration, for this agent alone. A thing that
a fixed limit protects, such as a credential, is refused at once.

Where the harness cannot ask, `stockade watch` in a terminal of yours and the page of `stockade ui` do: while one of them is open, the hook waits for eight seconds for your answer,
which is for this one call. A later answer, within ten minutes, is for the next call with exactly the same arguments. Without it, the call
is refused as before.

To try the rules before they apply, let the hook observe:

```console
$ stockade install claude --observe        # record what would be refused, and leave it to the agent's own permission prompts
$ stockade learn claude                    # propose approvals for that; --apply adds them after one question
$ stockade install claude                  # enforce
```

While it observes, the hook decides and records as always. What it would refuse, ask about or run in the sandbox is left to the harness, as
without the hook, and the record of the decision gets the answer `observed`. What no rule can allow (credentials, deleting the home, an
agent's own approvals) and what a rule denies stays stopped. Commands are not rewritten, unless they
name credentials or Stockade's own files: a program that is started outside of the sandbox reads and writes whatever you can. The key is `agents.claude.hookMode`; a project can only set it to `enforce`.

A web page is decided by its host, whether or not the tool is listed: allowed if `allowedNetHosts` names the host, refused if an entry
with `!` does, and otherwise a question, once in a session for each host where the program can ask. The same settings in the configuration:

```toml
# ~/.config/stockade/config.toml
[agents.claude.toolPolicy]
allow = [\"web_fetch\", \"web_search\", \"mcp__github__*\"]

[agents.claude]
allowedNetHosts = [\"docs.rs:443\"]
```

The project is the directory that the harness names, or else its working directory. A command with a working directory outside of the project
does not extend the project, and is refused if it has to run in the sandbox. In rules, a tool of an MCP server is named
`mcp__SERVER__TOOL`, whatever its own name; Cursor does not report the server, so there it is `mcp__cursor__TOOL`.

A file is read by a tool as by a command: `Read` of a path gets the answer that `cat` of the same path gets, also outside of the
workspace, and `files.denyRead` holds for it besides. Where a command would read the file in the sandbox only, the tool may read what the
sandbox shows, and the user is asked about the rest. Files are written in the workspace only.

A search is checked like reads: of the directories that it names, those in which its globs start, and every file below them that a glob could match in any
glob dialect of the harnesses. If one of them may not be read, or this cannot be determined, the user is asked, and the call is refused where this is impossible.
Tools that only list names read no file. A known gap in all harnesses: a content search without a glob reads every file below its directory, including files
whose reading is denied, unless the harness itself excludes them. Deny the tool (`toolPolicy.deny = [\"grep\"]`), or keep such files elsewhere.

Tools that write to a running program (`write_stdin`, `write_bash`, `process` with `write`) could give it a command that the hook cannot check. So the user is
asked, and the call is refused where this is impossible. Reading from such a program, or stopping it, is allowed.

Tool results are truncated to their profile, cleaned and scanned, and findings are recorded. Names of members are scanned, too, also with `_`, `-`, `.` and the
parts of `camelCase` read as words. If that finds something, no part of the result is shown; if its shape has to stay, it keeps only names and words of known
tools, numbers and booleans. If something was found, removed or truncated, the harness is told, and the last column of the table at the end shows what its model
gets. As far as the harness can hide a result, nothing unscanned is shown: a result that is longer than its profile allows, or that could not be scanned, is
refused if it cannot be replaced by the cleaned one. Codex hides refused results. Qwen Code shows them anyway, and so does Claude Code if the program is missing
or fails, since it only accepts a result of the same shape as a replacement.

## Failures

Everything that cannot be parsed, decided or recorded is refused: a list instead of a string, a duplicate key, an invalid configuration, an
unwritable trail, a bug, more than five seconds. The registered hook is a shell command that refuses by itself if the program is missing, not
executable, killed, fails, or prints an invalid answer, since a harness takes most of these for consent. So the following holds in every harness;
the gaps of each are in its section.

| the registered program … | the tool is … |
|---|---|
| is missing, not executable, or another program | not used |
| exits with an error, or is killed | not used |
| prints nothing, garbage, or a partial answer | not used |
| takes too long | not used after five seconds, by its own timer; with another program in its place, the harness decides |

Results with real harnesses and a scripted model (`crates/cli/tests/harnesses/run.py`), without a user to answer questions.
`RAN` is an ordinary run, `SANDBOX` a run in the sandbox, `BLOCKED` no run; with `CLEANED`, the model got only the cleaned result, with `SHOWN` the original one.
`cargo xtask harnesses` generates this table:

MEASURED
## Settings

Settings files are replaced atomically. Comments, whitespace, order and other keys are preserved, also in JSON with comments and trailing commas. Settings in
TOML are not written, since every harness also reads hooks from JSON. `uninstall` removes what was installed, and restores the file byte for byte if it was
not changed in the meantime. Settings that are not JSON, that are or lie behind a symlink, that other users own or can write, or that already call Stockade in
another way are not changed, and are reported with a fix.

`stockade status` and `stockade doctor` start each registered hook as the harness would, with a command that no rule allows, and with invalid arguments for
every other kind of tool. They report `ok` only if all of these calls are refused, hooks are not disabled (by settings of the user, the project or the machine),
and the harness is known to call them. A hook is only started if it is exactly what `install` writes, with any copy of the program, or for a project's hook
with this copy. Hooks with other members (`async`, `if`, a shorter `timeout`) or with a longer command line are untested, and are reported.

Hooks of others are preserved even if they call `stockade hook`: a hook whose command line does more, a hook in the same group as Stockade's, and a script,
plugin or hooks file with other content or without Stockade's header. `install` reports what prevents it.

`stockade install HARNESS --mcp` wraps the MCP servers in those settings, and `doctor` lists those that are not wrapped: see
[MCP.md](../mcp/MCP.md).
";

const WITHOUT: &str = "
## Programs without a hook

These have no hook that can stop a tool, so `stockade install` refuses them. Run all of the program in the sandbox instead, with the host of
its model: `stockade exec --allow-host HOST -- PROGRAM`. Its MCP servers can be wrapped (`stockade mcp wrap`).

";

#[test]
fn harnesses_md_is_fresh() {
    let wanted = document();
    if env::var_os("STOCKADE_BLESS").is_some_and(|value| value == "1") {
        fs::write(PATH, &wanted).unwrap();
    }
    assert!(
        fs::read_to_string(PATH).unwrap_or_default() == wanted,
        "HARNESSES.md is stale: run `cargo xtask generate`"
    );
}

fn document() -> String {
    let measured = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/harnesses/measured.md");
    let mut out = HEAD.replace("MEASURED", &fs::read_to_string(measured).unwrap());
    let yes = |is: bool| if is { "yes" } else { "no" };
    out.push_str("\n## Details\n\n| harness | `NAME` | tested version | can ask the user | can rewrite commands | cleaned results |\n|---|---|---|---|---|---|\n");
    for harness in HARNESSES {
        let Harness { name, title, tried, asks, rewrites, results, .. } = harness;
        let results = match results {
            Results::Replaced => "replace the original",
            Results::Hidden => "are shown as the reason for hiding the original",
            Results::Noted => "are not shown; the original is, with a note",
            Results::ByPlugin => "replace the original by the plugin",
            Results::Unchanged => "are not shown; the original is, and findings are recorded",
        };
        let tried = tried.unwrap_or("none, only its documentation");
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
    out.push_str(WITHOUT);
    for Unhooked { title, tried, why, .. } in UNHOOKED {
        let _ = writeln!(out, "- {title} ({tried}): {why}.");
    }
    out
}

fn section(out: &mut String, harness: &Harness) {
    let Harness { name, title, .. } = harness;
    let _ = writeln!(out, "\n### {title}\n");
    match harness.registered {
        HookRegistration::ByHand(manual) => {
            let how = match manual {
                Manual::Line(how) => how.trim_end_matches([' ', ':']).to_owned(),
                Manual::Toml(file) | Manual::Yaml(file) => {
                    format!("a command that appends the hook to {file}")
                }
            };
            let _ =
                writeln!(out, "`stockade install {name}` writes nothing, but shows what to write: {how}.\n");
        }
        HookRegistration::Settings(settings) => {
            let _ = writeln!(
                out,
                "`stockade install {name}` writes `~/{}`, or `{}` of a project.\n",
                settings.user, settings.project
            );
            for (path, value) in settings.off {
                let _ = writeln!(out, "- `{path}` = `{value}` disables hooks, which `status` reports.");
            }
            if let Some(trust) = settings.trust {
                let _ = writeln!(out, "- {trust}.");
            }
        }
        HookRegistration::Own(own) if own.user.is_empty() => {
            let _ = writeln!(
                out,
                "`stockade install {name} --project` creates `{}` in a project. Hooks for all projects are not supported.\n",
                own.project
            );
        }
        HookRegistration::Own(own) => {
            let _ = writeln!(
                out,
                "`stockade install {name}` creates `~/{}`, or `{}` in a project.\n",
                own.user, own.project
            );
        }
    }
    let events: Vec<String> = harness.events_of(Moment::Before).map(|event| format!("`{event}`")).collect();
    let _ = writeln!(out, "- Hooked events: {}.", events.join(", "));
    for open in harness.open {
        let _ = writeln!(out, "- Known gap: {open}.");
    }
}
