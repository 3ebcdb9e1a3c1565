//! The keys of a configuration: one row for each, with what it holds, its default, and how a project may change it.
//!
//! The rows are the only place where a default is written. The types that a guard is built from are filled from them, and
//! so are `CONFIG.md`, the schema and `stockade config explain`.

use stockade_exec_sandbox::{HomeView, OnUnavailable, Priority, ReviewPolicy, SandboxMode};

use crate::kind::Kind;
use crate::narrow::Narrows;

/// A key of a configuration, with all that holds for it.
#[derive(Debug)]
pub struct ConfigKey {
    /// Its path. `<id>` stands for the name of an agent, or for `*`, which means all of them; `<tool>` for that of a tool, `<rule>` for
    /// the id of a rule of the scanner.
    pub path: &'static str,
    /// What it holds.
    pub(crate) kind: Kind,
    /// The default value, as JSON.
    pub default: &'static str,
    /// How a project may change it.
    pub(crate) narrows: Narrows,
    /// What it does.
    pub doc: &'static str,
}

const fn key(
    path: &'static str,
    kind: Kind,
    default: &'static str,
    narrows: Narrows,
    doc: &'static str,
) -> ConfigKey {
    ConfigKey { path, kind, default, narrows, doc }
}

const MAX_TOKENS: u64 = 1 << 53;
const PROFILES: &[&str] =
    &["minimal", "coding", "messaging", "supervisor", "full", "cron-minimal", "heartbeat-minimal"];
const STRATEGIES: &[&str] = &["readability", "structured", "tail", "raw"];
const EFFECTS: &[&str] = &["sandbox", "ask", "deny"];
/// How bad a hit of a rule of the scanner is, from mildest to worst.
const SEVERITIES: &[&str] = &["off", "warn", "critical"];

/// Every key, in the order of the documentation.
#[rustfmt::skip]
pub(crate) const KEYS: &[ConfigKey] = {
    use Kind::{
        Backend, Count, Flag, Money, OptionalAddress, OptionalCount, OptionalFlag, OptionalName, OptionalPath, OptionalWord, Options, Paths, Rules, Texts, Word,
    };
    use Narrows::{Higher, Intersect, IntersectHosts, IntersectPaths, Lower, Never, OnlyTrue, Profile, Stricter, Tighten, Union};
    &[
        key("agents.<id>.toolPolicy.profile", Word(PROFILES), "\"coding\"", Profile,
            "The tools that the agent starts with."),
        key("agents.<id>.toolPolicy.allow", Texts, "[]", Intersect,
            "Tools that are added: names, `group:NAME`, patterns such as `mcp__github__*`."),
        key("agents.<id>.toolPolicy.deny", Texts, "[]", Union,
            "Tools that are removed. Deny wins over everything."),
        key("agents.<id>.budget.maxTokens", Count { least: 1, most: MAX_TOKENS }, "2000000", Lower,
            "Tokens that one execution may use."),
        key("agents.<id>.budget.maxCostUsd", Money, "null", Lower,
            "Dollars that one execution may cost; null for no bound."),
        key("agents.<id>.budget.maxTokensPerHour", Count { least: 1, most: MAX_TOKENS }, "10000000", Lower,
            "Tokens in any hour, of all executions together."),
        key("agents.<id>.budget.maxTokensPerDay", Count { least: 1, most: MAX_TOKENS }, "100000000", Lower,
            "Tokens in any day, of all executions together."),
        key("agents.<id>.circuitBreaker.failureThreshold", Count { least: 1, most: 1_000_000 }, "5", Lower,
            "Failures in a row that open the circuit."),
        key("agents.<id>.circuitBreaker.resetTimeoutMs", Count { least: 1, most: 86_400_000 }, "60000", Higher,
            "How long it stays open before one call may try."),
        key("agents.<id>.circuitBreaker.halfOpenTimeoutMs", Count { least: 1, most: 86_400_000 }, "30000", Lower,
            "How long that call may take before it counts as failed."),
        key("agents.<id>.maxSteps", Count { least: 1, most: 1_000_000 }, "150", Lower,
            "Tool calls in one execution, as `--execution` or the host names it. Where none is named it counts only if it is set: at a hook for \
             each session of the harness, and for `stockade run`, `stockade exec --agent`, and `exec` of \
             `stockade serve` outside of a session, for each terminal session or job."),
        key("agents.<id>.skills.dialect", Word(&["agentskills", "claude", "openclaw", "comis", "lenient"]),
            "\"agentskills\"", Never, "What is expected of the head of a skill."),
        key("agents.<id>.skills.strict", Flag, "false", OnlyTrue,
            "Whether what the dialect merely notes turns a skill away."),
        key("agents.<id>.skills.maxBodyLength", Count { least: 1, most: 1_000_000 }, "20000", Lower,
            "Characters of a skill that reach a model."),
        key("agents.<id>.skills.contentScanning.blockOnCritical", Flag, "true", OnlyTrue,
            "Whether a critical finding turns a skill away. Otherwise the skill is flagged."),
        key("agents.<id>.skills.lock", OptionalPath, "null", Never,
            "A lock that `stockade skill lock` wrote. A skill that is another since, or that it does not hold, is turned away, and told of with \
             what it may do now and could not before. It is read anew for every skill."),
        key("agents.<id>.skills.execSandbox.enabled", Word(&["never", "auto", "always"]), "\"always\"", Stricter,
            "Whether commands run in a sandbox. With `auto`, those that need one do: whatever no rule allows, and the programs of \
             `alwaysSandbox`. The others run as other programs of this user, with the network that these have, and each such run is on record \
             as a warning. Where only a sandbox could hold what the configuration says (files that it denies, hosts, a view of the workspace, \
             another mode than `workspace-write`, a backend elsewhere), or `PATH` leads into the workspace, `auto` is `always`. With `never`, \
             what a rule allows is left to the program that embeds the guard, which runs it with all rights of the program, and a person is asked \
             about everything else."),
        key("agents.<id>.skills.execSandbox.alwaysSandbox", Texts,
            "[\"npm\", \"npx\", \"yarn\", \"pnpm\", \"pip\", \"pip3\", \"cargo\", \"make\", \"cmake\", \"git\", \"gh\", \"kubectl\", \"grep\", \"egrep\", \"fgrep\", \"rg\", \"ag\", \"find\", \"fd\", \"tree\", \"diff\", \"tar\", \"zip\"]", Union,
            "With `enabled: auto`, programs that always run in a sandbox, whatever a rule allows: they run code of strangers, obey the \
             settings of a repository, reach the network, or read whole folders, and with them what a sandbox hides. A command that is to run \
             outside all the same belongs into `excludedCommands`."),
        key("agents.<id>.skills.execSandbox.mode", Word(SandboxMode::NAMES), "\"workspace-write\"", Stricter,
            "How much commands may do: with `read-only` they change nothing that outlasts them, with `workspace-write` the \
             workspace. With `danger-full-access` what a rule allows runs without a sandbox, with all rights of the calling user, a \
             person is asked about everything else, and each run is on record as a warning."),
        key("agents.<id>.skills.execSandbox.review", Word(ReviewPolicy::NAMES), "\"off\"", Stricter,
            "Which commands work on a view of the workspace. What they change there is not in the workspace before they are over: with \
             `hold` it waits for `stockade changes apply`, with `undoable` it is applied by itself and `stockade changes undo` takes it \
             back, with `destructive` that holds for commands that delete or overwrite by their nature. What other programs obey is \
             never applied. It needs a sandbox of namespaces."),
        key("agents.<id>.skills.execSandbox.excludedCommands", Texts, "[]", Intersect,
            "Commands that run outside of the sandbox, with all rights of the calling user: `docker ps` is exactly that, `docker logs **` \
             whatever begins so. Every program of a command must be excluded by itself; with a redirection, a variable, a \
             substitution or anything dangerous it stays in the sandbox; what belongs into one because it runs what cannot be seen, such as \
             `docker compose up -d`, is excluded if it is written out to its last word. Each run is on record as a warning."),
        key("agents.<id>.skills.execSandbox.onUnavailable", Word(OnUnavailable::NAMES), "\"refuse\"", Stricter,
            "What becomes of a command where no sandbox can be made: it is refused, a person is asked, or it runs without one, \
             and its decision and outcome say so."),
        key("agents.<id>.skills.execSandbox.backend", Backend, "\"auto\"", Never,
            "What makes the sandbox: `native` needs nothing installed, `bwrap` is bubblewrap, `landlock` works where namespaces \
             are forbidden, and `auto` takes the first of these that works. `docker` and `podman` make a container of `image`. Others are taken by \
             the names that `stockade backends` lists, such as that of a program `stockade-backend-NAME`."),
        key("agents.<id>.skills.execSandbox.backendOptions", Options, "[]", Never,
            "What a backend is told besides, as texts `NAME=VALUE`: where its service is, what it starts from. No secret stands here: a \
             file that holds one is named."),
        key("agents.<id>.skills.execSandbox.image", OptionalName, "null", Never,
            "The image of a container, best by its digest: `NAME@sha256:…`. It is never fetched."),
        key("agents.<id>.skills.execSandbox.runtime", OptionalName, "null", Never,
            "What runs a container in the place of what the engine takes by itself, such as `runsc`."),
        key("agents.<id>.skills.execSandbox.home", Word(HomeView::NAMES), "\"tools\"", Stricter,
            "What commands see of the home: with `tools`, the toolchains and libraries that are installed there, the folders of `PATH`, \
             and settings of git; with `private`, settings of git alone. Credentials are never among it."),
        key("agents.<id>.skills.execSandbox.readOnlyAllowPaths", Paths, "[]", IntersectPaths,
            "Further paths that commands may read."),
        key("agents.<id>.skills.execSandbox.network", Word(&["open", "none"]), "\"none\"", Stricter,
            "What commands reach over the network."),
        key("agents.<id>.skills.execSandbox.timeoutMs", OptionalCount { least: 1, most: 86_400_000 }, "120000", Lower,
            "How long a command may take; null for no bound."),
        key("agents.<id>.skills.execSandbox.memoryMb", OptionalCount { least: 1, most: 1 << 24 }, "2048", Lower,
            "Memory of a command; null for no bound."),
        key("agents.<id>.skills.execSandbox.processes", OptionalCount { least: 1, most: 1 << 20 }, "1024", Lower,
            "Processes and threads of a command; null for no bound."),
        key("agents.<id>.skills.execSandbox.priority", Word(Priority::NAMES), "\"low\"", Stricter,
            "CPU priority of a command: `normal` is that of any other program of the user, `low` a little behind (nice 5), and `idle` gets what other \
             programs leave, which is next to nothing on a busy machine. With `idle`, the property `priority` is enforced."),
        key("agents.<id>.skills.execSandbox.maxOutputBytes", Count { least: 0, most: 1 << 30 }, "33554432", Lower,
            "What a command may print. What goes beyond is dropped, and the number of bytes is reported."),
        key("agents.<id>.files.preset", Word(&["permissive", "daemon", "default"]), "\"default\"", Stricter,
            "The rules for paths: `default` is jailed and takes relative paths only, `daemon` takes absolute ones as well, \
             `permissive` restricts nothing. The first two ask before, or refuse, files that start programs, instruct agents or \
             hold secrets, as [NAMES.md](../names/NAMES.md) has them."),
        key("agents.<id>.files.forbiddenGlobs", Texts, "[]", Union,
            "Paths that are never touched, besides those of the preset. A command in a sandbox does not see what there is of them."),
        key("agents.<id>.files.allowRead", Texts, "[]", Intersect,
            "Paths that are read without a question. A glob that means one file allows it whatever its name says; `config/*.env` \
             means many, and leaves the question."),
        key("agents.<id>.files.allowWrite", Texts, "[]", Intersect,
            "Paths that are written without a question; as `allowRead`."),
        key("agents.<id>.files.denyRead", Texts, "[]", Union,
            "Paths that are not read. A command in a sandbox does not see what there is of them."),
        key("agents.<id>.files.denyWrite", Texts, "[]", Union,
            "Paths that are not written. A command in a sandbox cannot change what there is of them."),
        key("agents.<id>.files.reads", Word(&["allow", "ask", "deny"]), "\"allow\"", Stricter,
            "The answer to a read that no glob decides."),
        key("agents.<id>.files.writes", Word(&["allow", "ask", "deny"]), "\"allow\"", Stricter,
            "The answer to a write that no glob decides."),
        key("agents.<id>.files.jail", Flag, "false", OnlyTrue,
            "Whether paths must lie in the workspace, also where the preset is `permissive`; the other presets always say so."),
        key("agents.<id>.files.relativeOnly", Flag, "false", OnlyTrue,
            "Whether paths must be relative to the workspace, also where the preset takes absolute ones."),
        key("agents.<id>.sourceProfiles.<tool>.maxResponseBytes", OptionalCount { least: 1, most: MAX_TOKENS }, "null", Never,
            "Bytes of what a tool brings back that are looked at, between 32000 and 5000000 whatever is written; null for those of the \
             profile of the tool. The output of commands has the profile `bash`."),
        key("agents.<id>.sourceProfiles.<tool>.maxChars", OptionalCount { least: 1, most: MAX_TOKENS }, "null", Never,
            "Characters of it that reach a model, between 100 and 500000 whatever is written; null for those of the profile."),
        key("agents.<id>.sourceProfiles.<tool>.extractionStrategy", OptionalWord(STRATEGIES), "null", Never,
            "Which part of it: the content of a page, elements of a list, the end, or the beginning; null for that of the profile."),
        key("agents.<id>.sourceProfiles.<tool>.stripHidden", OptionalFlag, "null", OnlyTrue,
            "Whether parts of a page that a person would not see are taken out; null for what the profile says."),
        key("agents.<id>.commands.unmatched", Word(EFFECTS), "\"sandbox\"", Stricter,
            "What becomes of a command that no rule matches."),
        key("agents.<id>.commands.unanalysable", Word(EFFECTS), "\"ask\"", Stricter,
            "What becomes of a command that is not certain before it runs."),
        key("agents.<id>.commands.substitutions", Word(&["rules", "local", "none"]), "\"local\"", Stricter,
            "What commands in substitutions, such as `$(…)`, may do: what the rules say, the same but not reach the network, or \
             nothing at all: `none` refuses every substitution and whatever else `command.validate` rejects."),
        key("agents.<id>.commands.sessionAnswerMinutes", Count { least: 0, most: 720 }, "720", Lower,
            "How long an answer to a command holds that a person gave for the session, should the session last longer. With 0, \
             such answers hold once."),
        key("agents.<id>.commands.keptAnswerDays", Count { least: 0, most: 30 }, "30", Lower,
            "How long an answer to a command holds that a person gave for always. It is bound to the command, its folder and the \
             bytes of the files that it names. With 0, no answer is kept."),
        key("agents.<id>.commands.rules", Rules, "[]", Tighten,
            "Rules for commands, beside the built-in ones. Those of all layers hold, for `*` and for the agent together: \
             what `/etc/stockade` says decides before what the user says, and lower ones can only be stricter."),
        key("security.permission.enableNodePermissions", Flag, "false", OnlyTrue,
            "Whether every command must run in a sandbox, whatever `execSandbox` says, and besides its workspace reads only \
             `allowedFsPaths` and `readOnlyAllowPaths`."),
        key("security.permission.allowedFsPaths", Paths, "[]", IntersectPaths,
            "Paths that commands may read where `enableNodePermissions` is true."),
        key("security.permission.allowedNetHosts", Texts, "[]", IntersectHosts,
            "Hosts that commands may talk to where `enableNodePermissions` is true: `example.com` at the ports of the web, 443 and \
             80, `*.example.com:8443`, `db.example.com:5432/tcp` for anything that is neither TLS nor HTTP, `!ads.example.com` for what stays out, and with \
             conditions, `api.example.com GET /v1/** requests=100`, for which TLS is looked into: see `stockade exec --help`. A broker judges every \
             connection: names, ports, each address that a name leads to, and that TLS asks for the same name. Nothing leads \
             around it, and programs need no proxy for it."),
        key("security.permission.secrets", Texts, "[]", Never,
            "Secrets that commands use and never see, each bound to one of `allowedNetHosts` and a place: \
             `GITHUB_TOKEN=env:GITHUB_TOKEN@api.github.com in header:Authorization`. Within, the variable holds a value of the same shape that is of \
             no use; the broker puts the secret in its place. It comes from a variable of the program that starts commands (`env:NAME`) or \
             a file that only its owner may read (`file:/PATH`), is printed by a command that no shell runs (`cmd:PROGRAM ARGUMENTS`), or lies in the keyring \
             (`keyring:SERVICE/ACCOUNT`). A project switches none of them on: where no other layer sets `enableNodePermissions`, no secret is lent, and one \
             whose host a project takes out of `allowedNetHosts` is left out, which is said: see [Secrets](../egress/SECRETS.md)."),
        key("security.unnamedAgents", Word(&["allow", "refuse"]), "\"refuse\"", Stricter,
            "What becomes of an agent that this configuration does not name, although it names others: it is refused, since its name may be \
             a slip, or has what `agents.*` says. A table names an agent, also an empty one: `[agents.bot]`. `default` and the harnesses that `stockade hook` knows (`claude`, `codex` …) are always known."),
        key("scanner.rules.<rule>.severity", OptionalWord(SEVERITIES), "null", Stricter,
            "How bad a hit of a built-in rule of the scanner is, for whatever is scanned: `off` for a rule that finds nothing, null for what \
             the rule itself says. Each finding of it says who changed it, and each report which rules are off. Rules of your own say it in \
             their file."),
        key("limits.server", OptionalAddress, "null", Never,
            "The Redis server on which machines share budgets, breakers and steps. It must keep what it is given across a restart \
             (`appendonly yes`) and when memory is short. Null for a file of this user: `$XDG_STATE_HOME/stockade/limits.db`."),
        key("limits.mayForget", Flag, "false", Never,
            "Whether a server is used that may forget what was used."),
        key("audit.path", OptionalPath, "null", Never,
            "The file of the audit trail: a database, or lines of JSON where the name ends in `.jsonl`. Null for the \
             user's own, in `$XDG_STATE_HOME/stockade`."),
        key("audit.anchors", Texts, "[]", Never,
            "Where checkpoints of the trail are told besides: `journal` for that of systemd, or files that are there already, best of \
             another owner. A checkpoint that cannot be told counts as not on record."),
        key("audit.evaluations", Flag, "false", OnlyTrue,
            "Whether decisions that are only asked for are put on record too: `check command`, and the methods `command.evaluate` and \
             `path.authorize` of `stockade serve`."),
        key("audit.onUnrecorded", Word(&["warn", "refuse"]), "\"refuse\"", Stricter,
            "What becomes of an action that cannot be put on record."),
    ]
};

impl ConfigKey {
    /// Returns the key of a path in which an agent is named.
    pub(crate) fn of(path: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| fits(key.path, path))
    }

    /// Whether it is said of one tool or rule, of which nothing need be said.
    pub(crate) fn is_of_one(&self) -> bool {
        self.path.contains("<tool>") || self.path.contains("<rule>")
    }

    /// Returns what it holds, in words.
    #[must_use]
    pub fn holds(&self) -> String {
        self.kind.words()
    }

    /// Returns how a project may change it, in words.
    #[must_use]
    pub fn project(&self) -> &'static str {
        self.narrows.words()
    }
}

/// Whether a path is that of a row.
fn fits(row: &str, path: &str) -> bool {
    let (mut left, mut right) = (row.split('.'), path.split('.'));
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            (Some(left), Some(right)) if stands_for(left, right) => {}
            _ => return false,
        }
    }
}

/// Whether a part of a row is that of a path, or stands for it.
pub(super) fn stands_for(row: &str, name: &str) -> bool {
    match row {
        _ if row == name => true,
        "<id>" => is_agent(name),
        "<tool>" => is_tool(name),
        // Whether there is such a rule is looked at later, so that a slip is told as one.
        "<rule>" => is_tool(name),
        _ => false,
    }
}

/// Whether a part of a row stands for names.
pub(super) fn is_open(row: &str) -> bool {
    row.starts_with('<')
}

/// Whether a tool may be called so in a configuration.
fn is_tool(name: &str) -> bool {
    let named = |byte: u8| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte);
    !name.is_empty() && name.len() <= 128 && name.bytes().all(named)
}

/// Whether an agent may be called so. `*` is all of them.
pub(crate) fn is_agent(id: &str) -> bool {
    let named = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    id == "*" || (!id.is_empty() && id.len() <= 64 && id.bytes().all(named))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_whole() {
        for key in KEYS {
            let default = serde_json::from_str(key.default).unwrap();
            assert_eq!(key.kind.check(&default), Ok(()), "{}", key.path);
            assert_eq!(KEYS.iter().filter(|other| other.path == key.path).count(), 1, "{}", key.path);
            assert!(key.doc.ends_with('.'), "{}", key.path);
        }
    }

    #[test]
    fn the_profiles_are_those_of_the_policy() {
        let names: Vec<_> = stockade_policy::Profile::all().map(stockade_policy::Profile::name).collect();
        assert_eq!(PROFILES, names);
    }
}
