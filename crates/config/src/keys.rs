//! The keys of a configuration: a table with the type, default, documentation and narrowing rule of each.
//!
//! The table is the only place that defines defaults. The settings of a guard, `CONFIG.md`, the schema and
//! `stockade config explain` derive from it.

use stockade_exec_sandbox::{HomeView, OnUnavailable, Priority, ReviewPolicy, SandboxMode};

use crate::kind::Kind;
use crate::narrow::Narrows;

/// A key of a configuration.
#[derive(Debug)]
pub struct ConfigKey {
    /// Its path. `<id>` matches the id of an agent or `*`, which applies to all agents; `<tool>` matches the name of a tool, and
    /// `<rule>` the id of a scanner rule.
    pub path: &'static str,
    /// The type of its value.
    pub(crate) kind: Kind,
    /// The default value, as JSON.
    pub default: &'static str,
    /// How a project may change it.
    pub(crate) narrows: Narrows,
    /// Its documentation.
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
/// Severities of scanner rules, from mildest to worst.
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
            "Tools that the agent starts with."),
        key("agents.<id>.toolPolicy.allow", Texts, "[]", Intersect,
            "Tools to add: names, `group:NAME`, or patterns such as `mcp__github__*`."),
        key("agents.<id>.toolPolicy.deny", Texts, "[]", Union,
            "Tools to remove. `deny` takes precedence over everything else."),
        key("agents.<id>.budget.maxTokens", Count { least: 1, most: MAX_TOKENS }, "2000000", Lower,
            "Token limit of one execution."),
        key("agents.<id>.budget.maxCostUsd", Money, "null", Lower,
            "Cost limit of one execution in US dollars; null for no limit."),
        key("agents.<id>.budget.maxTokensPerHour", Count { least: 1, most: MAX_TOKENS }, "10000000", Lower,
            "Token limit of all executions together in any hour."),
        key("agents.<id>.budget.maxTokensPerDay", Count { least: 1, most: MAX_TOKENS }, "100000000", Lower,
            "Token limit of all executions together in any day."),
        key("agents.<id>.circuitBreaker.failureThreshold", Count { least: 1, most: 1_000_000 }, "5", Lower,
            "Consecutive failures that open the circuit."),
        key("agents.<id>.circuitBreaker.resetTimeoutMs", Count { least: 1, most: 86_400_000 }, "60000", Higher,
            "Time that the circuit stays open before one trial call is allowed."),
        key("agents.<id>.circuitBreaker.halfOpenTimeoutMs", Count { least: 1, most: 86_400_000 }, "30000", Lower,
            "Time that the trial call may take before it counts as failed."),
        key("agents.<id>.maxSteps", Count { least: 1, most: 1_000_000 }, "150", Lower,
            "Limit of tool calls in one execution, as named by `--execution` or the host. Without a named execution, the \
             limit applies only if it is set: in a hook to each session of the harness, and in `stockade run`, `stockade exec \
             --agent`, and `exec` of `stockade serve` outside of a session to each terminal session or job."),
        key("agents.<id>.skills.dialect", Word(&["agentskills", "claude", "openclaw", "comis", "lenient"]),
            "\"agentskills\"", Never,
            "Expected format of a skill's front matter."),
        key("agents.<id>.skills.strict", Flag, "false", OnlyTrue,
            "Whether to reject a skill for deviations that the dialect only notes."),
        key("agents.<id>.skills.maxBodyLength", Count { least: 1, most: 1_000_000 }, "20000", Lower,
            "Maximum number of characters of a skill that reach a model."),
        key("agents.<id>.skills.contentScanning.blockOnCritical", Flag, "true", OnlyTrue,
            "Whether to reject a skill with a critical finding. If false, the skill is only flagged."),
        key("agents.<id>.skills.lock", OptionalPath, "null", Never,
            "Lock file written by `stockade skill lock`. A skill that is missing from it or has changed is rejected, and the \
             report lists what the skill can do now that it could not do before. The file is read again for every skill."),
        key("agents.<id>.skills.execSandbox.enabled", Word(&["never", "auto", "always"]), "\"always\"", Stricter,
            "Whether commands run in a sandbox. With `auto`, a command runs in one if no rule allows it or it uses a program \
             of `alwaysSandbox`. Other commands run with the rights and the network of this user, and each run is recorded as \
             a warning. `auto` acts as `always` where only a sandbox can enforce a setting (denied files, hosts, an overlay \
             workspace, another mode than `workspace-write`, a remote backend), or where an entry of `PATH` is in the \
             workspace. With `never`, commands that a rule allows are left to the embedding program, which runs them with all \
             of its rights; the user is asked about every other command."),
        key("agents.<id>.skills.execSandbox.alwaysSandbox", Texts,
            "[\"npm\", \"npx\", \"yarn\", \"pnpm\", \"pip\", \"pip3\", \"cargo\", \"make\", \"cmake\", \"git\", \"gh\", \"kubectl\", \"grep\", \"egrep\", \"fgrep\", \"rg\", \"ag\", \"find\", \"fd\", \"tree\", \"diff\", \"tar\", \"zip\"]", Union,
            "Programs that always run in a sandbox with `enabled: auto`, even if a rule allows them: they run untrusted code, \
             obey repository settings, use the network, or read whole directories including those that a sandbox hides. To \
             run a command outside of the sandbox anyway, list it in `excludedCommands`."),
        key("agents.<id>.skills.execSandbox.mode", Word(SandboxMode::NAMES), "\"workspace-write\"", Stricter,
            "What commands may change: nothing lasting with `read-only`, the workspace with `workspace-write`. With \
             `danger-full-access`, commands that a rule allows run without a sandbox and with all rights of the calling user, \
             the user is asked about every other command, and each run is recorded as a warning."),
        key("agents.<id>.skills.execSandbox.review", Word(ReviewPolicy::NAMES), "\"off\"", Stricter,
            "Which commands work on an overlay of the workspace, so that their changes reach the workspace only after they \
             end. With `hold`, changes wait for `stockade changes apply`. With `undoable`, they are applied automatically, \
             and `stockade changes undo` reverts them. `destructive` does the same as `undoable`, only for commands that are \
             known to delete or overwrite. Files that other programs obey are never applied. Requires a sandbox of \
             namespaces."),
        key("agents.<id>.skills.execSandbox.excludedCommands", Texts, "[]", Intersect,
            "Commands that run outside of the sandbox, with all rights of the calling user: `docker ps` matches exactly that \
             command, `docker logs **` every command that starts with it. Each program of a command must be excluded. A \
             command with a redirection, a variable, a substitution or anything dangerous stays in the sandbox. A program \
             that runs code that cannot be analysed, such as `docker compose up -d`, is excluded only if the entry spells out \
             the whole command. Each run is recorded as a warning."),
        key("agents.<id>.skills.execSandbox.onUnavailable", Word(OnUnavailable::NAMES), "\"refuse\"", Stricter,
            "What to do with a command if no sandbox can be created: refuse it, ask the user, or run it without a sandbox, \
             which its decision and outcome report."),
        key("agents.<id>.skills.execSandbox.backend", Backend, "\"auto\"", Never,
            "Sandbox backend. `native` needs nothing installed, `bwrap` is bubblewrap, `landlock` works where namespaces are \
             forbidden, and `auto` selects the first of these that works. `docker` and `podman` run a container from `image`. \
             Other backends are selected by the names that `stockade backends` lists, such as the name of a program \
             `stockade-backend-NAME`."),
        key("agents.<id>.skills.execSandbox.backendOptions", Options, "[]", Never,
            "Options for the backend, as `NAME=VALUE`, such as the address of its service. Do not put secrets here: name a \
             file that holds them."),
        key("agents.<id>.skills.execSandbox.image", OptionalName, "null", Never,
            "Container image, preferably by digest: `NAME@sha256:…`. It is never pulled."),
        key("agents.<id>.skills.execSandbox.runtime", OptionalName, "null", Never,
            "Container runtime to use instead of the engine's default, such as `runsc`."),
        key("agents.<id>.skills.execSandbox.home", Word(HomeView::NAMES), "\"tools\"", Stricter,
            "What commands see of the home directory. `tools` shows installed toolchains and libraries, the directories of \
             `PATH`, and git settings; `private` shows only git settings. Credentials are never visible."),
        key("agents.<id>.skills.execSandbox.readOnlyAllowPaths", Paths, "[]", IntersectPaths,
            "Additional paths that commands may read."),
        key("agents.<id>.skills.execSandbox.network", Word(&["open", "none"]), "\"none\"", Stricter,
            "Network access of commands."),
        key("agents.<id>.skills.execSandbox.timeoutMs", OptionalCount { least: 1, most: 86_400_000 }, "120000", Lower,
            "Wall-clock time limit of a command; null for no limit."),
        key("agents.<id>.skills.execSandbox.memoryMb", OptionalCount { least: 1, most: 1 << 24 }, "2048", Lower,
            "Memory limit of a command; null for no limit."),
        key("agents.<id>.skills.execSandbox.processes", OptionalCount { least: 1, most: 1 << 20 }, "1024", Lower,
            "Limit of processes and threads of a command; null for no limit."),
        key("agents.<id>.skills.execSandbox.priority", Word(Priority::NAMES), "\"low\"", Stricter,
            "CPU priority of a command. `normal` is that of other programs of the user, `low` is slightly lower (nice 5), and \
             `idle` gets only time that other programs leave, which is almost none on a busy machine. With `idle`, the \
             property `priority` is enforced."),
        key("agents.<id>.skills.execSandbox.maxOutputBytes", Count { least: 0, most: 1 << 30 }, "33554432", Lower,
            "Maximum output of a command. Further output is dropped, and the number of dropped bytes is reported."),
        key("agents.<id>.files.preset", Word(&["permissive", "daemon", "default"]), "\"default\"", Stricter,
            "Preset of rules for paths. `default` confines tools to the workspace and accepts only relative paths, `daemon` \
             also accepts absolute paths, and `permissive` restricts nothing. The first two ask about or refuse files that \
             start programs, instruct agents or hold secrets, as listed in [NAMES.md](../names/NAMES.md)."),
        key("agents.<id>.files.forbiddenGlobs", Texts, "[]", Union,
            "Paths that are never read or written, in addition to those of the preset. Hidden from commands in a sandbox."),
        key("agents.<id>.files.allowRead", Texts, "[]", Intersect,
            "Paths that may be read without asking. A glob that matches exactly one file allows it whatever its name; a glob \
             that can match many, such as `config/*.env`, still asks about sensitive names."),
        key("agents.<id>.files.allowWrite", Texts, "[]", Intersect,
            "Paths that may be written without asking; globs work as in `allowRead`."),
        key("agents.<id>.files.denyRead", Texts, "[]", Union,
            "Paths that may not be read. Hidden from commands in a sandbox."),
        key("agents.<id>.files.denyWrite", Texts, "[]", Union,
            "Paths that may not be written. Read-only for commands in a sandbox."),
        key("agents.<id>.files.reads", Word(&["allow", "ask", "deny"]), "\"allow\"", Stricter,
            "Decision about reads that no glob matches."),
        key("agents.<id>.files.writes", Word(&["allow", "ask", "deny"]), "\"allow\"", Stricter,
            "Decision about writes that no glob matches."),
        key("agents.<id>.files.jail", Flag, "false", OnlyTrue,
            "Whether paths must be inside the workspace even with the preset `permissive`; the other presets always require \
             it."),
        key("agents.<id>.files.relativeOnly", Flag, "false", OnlyTrue,
            "Whether paths must be relative to the workspace even if the preset accepts absolute paths."),
        key("agents.<id>.sourceProfiles.<tool>.maxResponseBytes", OptionalCount { least: 1, most: MAX_TOKENS }, "null", Never,
            "Maximum number of bytes read from a tool's result, clamped to 32000–5000000; null for the default of the tool's \
             profile. The output of commands has the profile `bash`."),
        key("agents.<id>.sourceProfiles.<tool>.maxChars", OptionalCount { least: 1, most: MAX_TOKENS }, "null", Never,
            "Maximum number of characters of a tool's result that reach a model, clamped to 100–500000; null for the default \
             of the profile."),
        key("agents.<id>.sourceProfiles.<tool>.extractionStrategy", OptionalWord(STRATEGIES), "null", Never,
            "Part of a tool's result to keep: the main content of a page, elements of a list, the end, or the beginning; null \
             for the default of the profile."),
        key("agents.<id>.sourceProfiles.<tool>.stripHidden", OptionalFlag, "null", OnlyTrue,
            "Whether to remove parts of a page that a browser does not display; null for the default of the profile."),
        key("agents.<id>.commands.unmatched", Word(EFFECTS), "\"sandbox\"", Stricter,
            "Decision about commands that no rule matches."),
        key("agents.<id>.commands.unanalysable", Word(EFFECTS), "\"ask\"", Stricter,
            "Decision about commands whose effect cannot be determined before they run."),
        key("agents.<id>.commands.substitutions", Word(&["rules", "local", "none"]), "\"local\"", Stricter,
            "Treatment of commands in substitutions such as `$(…)`. `rules` applies the rules, `local` also forbids network \
             access, and `none` refuses every substitution and everything else that `command.validate` rejects."),
        key("agents.<id>.commands.sessionAnswerMinutes", Count { least: 0, most: 720 }, "720", Lower,
            "How long a user's answer for the session stays valid, if the session lasts that long. With 0, such answers apply \
             once."),
        key("agents.<id>.commands.keptAnswerDays", Count { least: 0, most: 30 }, "30", Lower,
            "How long a user's saved answer stays valid. It is bound to the command, its directory and the content of the \
             files that the command names. With 0, no answer is saved."),
        key("agents.<id>.commands.rules", Rules, "[]", Tighten,
            "Rules for commands, in addition to the built-in ones. The rules of all layers apply together, for `*` and for \
             the agent: rules in `/etc/stockade` take precedence over the user's, and rules of lower layers can only be \
             stricter."),
        key("security.permission.enableNodePermissions", Flag, "false", OnlyTrue,
            "Whether every command must run in a sandbox, regardless of `execSandbox`, and may read only its workspace, \
             `allowedFsPaths` and `readOnlyAllowPaths`."),
        key("security.permission.allowedFsPaths", Paths, "[]", IntersectPaths,
            "Paths that commands may read if `enableNodePermissions` is true."),
        key("security.permission.allowedNetHosts", Texts, "[]", IntersectHosts,
            "Hosts that commands may connect to if `enableNodePermissions` is true. `example.com` allows ports 443 and 80, \
             `*.example.com:8443` subdomains at one port, `db.example.com:5432/tcp` protocols other than TLS and HTTP, and \
             `!ads.example.com` denies a host. Conditions such as `api.example.com GET /v1/** requests=100` require \
             inspecting TLS; see `stockade exec --help`. An egress proxy checks every connection: names, ports, each resolved \
             address, and that TLS requests the same name. It cannot be bypassed, and programs need no proxy settings."),
        key("security.permission.secrets", Texts, "[]", Never,
            "Secrets that commands can use but not read, each bound to one of `allowedNetHosts` and a place in the request: \
             `GITHUB_TOKEN=env:GITHUB_TOKEN@api.github.com in header:Authorization`. In the sandbox, the variable holds a \
             placeholder of the same form, which the egress proxy replaces by the secret. Sources are a variable of the \
             program that starts commands (`env:NAME`), a file that only its owner can read (`file:/PATH`), the output of a \
             command run without a shell (`cmd:PROGRAM ARGUMENTS`), and the keyring (`keyring:SERVICE/ACCOUNT`). A project \
             cannot enable secrets: they are used only if another layer sets `enableNodePermissions`. If a project removes a \
             secret's host from `allowedNetHosts`, the secret is omitted with a notice; see [Secrets](../egress/SECRETS.md)."),
        key("security.unnamedAgents", Word(&["allow", "refuse"]), "\"refuse\"", Stricter,
            "What to do with an agent that this configuration does not name, if it names others: refuse it, since its name \
             may be mistyped, or apply `agents.*`. A table names an agent even if it is empty: `[agents.bot]`. `default` and \
             the harnesses of `stockade hook` (`claude`, `codex` …) are always known."),
        key("scanner.rules.<rule>.severity", OptionalWord(SEVERITIES), "null", Stricter,
            "Severity of a built-in scanner rule in every scan: `off` disables the rule, null keeps its own severity. Each \
             finding names the layer that changed its severity, and each report lists the disabled rules. Set the severity of \
             your own rules in their file."),
        key("limits.server", OptionalAddress, "null", Never,
            "Redis server that shares budgets, circuit breakers and steps between machines. It must keep its data across \
             restarts (`appendonly yes`) and must not evict keys. Null for a file of this user: \
             `$XDG_STATE_HOME/stockade/limits.db`."),
        key("limits.mayForget", Flag, "false", Never,
            "Whether to use a server that may lose recorded usage."),
        key("audit.path", OptionalPath, "null", Never,
            "File of the audit trail: a database, or JSON lines if the name ends in `.jsonl`. Null for the user's own, in \
             `$XDG_STATE_HOME/stockade`."),
        key("audit.anchors", Texts, "[]", Never,
            "External witnesses that also receive checkpoints of the trail: `journal` for the systemd journal, or existing \
             files, preferably owned by another user. A checkpoint that a witness does not receive counts as unrecorded."),
        key("audit.evaluations", Flag, "false", OnlyTrue,
            "Whether to record decisions that are only queried, too: `check command`, and the methods `command.evaluate` and \
             `path.authorize` of `stockade serve`."),
        key("audit.onUnrecorded", Word(&["warn", "refuse"]), "\"refuse\"", Stricter,
            "What to do with an action that cannot be recorded."),
    ]
};

impl ConfigKey {
    /// Returns the key of a path that contains an agent's id.
    pub(crate) fn of(path: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| may_fit(key.path, path) && fits(key.path, path))
    }

    /// Whether it configures one tool or rule, so that it need not be set at all.
    pub(crate) fn is_of_one(&self) -> bool {
        self.path.contains("<tool>") || self.path.contains("<rule>")
    }

    /// Describes the type of its value for users.
    #[must_use]
    pub fn holds(&self) -> String {
        self.kind.words()
    }

    /// Describes for users how a project may change it.
    #[must_use]
    pub fn project(&self) -> &'static str {
        self.narrows.words()
    }
}

/// Tells most rows from a path without a look at each part.
fn may_fit(row: &str, path: &str) -> bool {
    match row.split_once('<') {
        None => row == path,
        Some((start, rest)) => {
            path.starts_with(start) && rest.rsplit('>').next().is_some_and(|end| path.ends_with(end))
        }
    }
}

/// Whether a row matches a path.
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

/// Whether a part of a row matches a part of a path.
pub(super) fn stands_for(row: &str, name: &str) -> bool {
    match row {
        _ if row == name => true,
        "<id>" => is_agent(name),
        "<tool>" => is_tool(name),
        // Whether the rule exists is checked later, where the error can suggest another id.
        "<rule>" => is_tool(name),
        _ => false,
    }
}

/// Whether a part of a row is a placeholder.
pub(super) fn is_open(row: &str) -> bool {
    row.starts_with('<')
}

/// Whether a tool may have this name in a configuration.
fn is_tool(name: &str) -> bool {
    let named = |byte: u8| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte);
    !name.is_empty() && name.len() <= 128 && name.bytes().all(named)
}

/// Whether an agent may have this id. `*` applies to all agents.
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
