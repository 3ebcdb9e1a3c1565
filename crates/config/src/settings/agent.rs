//! Settings of one agent.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use serde::de::IgnoredAny;
use stockade_command::{CommandDefaults, Effect, Substitutions};
use stockade_egress::RefusalTexts;
use stockade_exec_sandbox::Network;
use stockade_limits::breaker::BreakerSettings;
use stockade_limits::budget::{Allowance, BudgetLimits};
use stockade_limits::store::AgentLimits;
use stockade_limits::{Cap, MicroUsd};
use stockade_output::{Hidden, ProfileOverride, Strategy};
use stockade_policy::paths::{AbsolutePaths, Jail, Preset};
use stockade_policy::{Answer, SandboxConfig, ToolPolicyConfig};

use super::Permission;
use super::declare::settings;
use super::skills::Skills;
use crate::agent::{AgentConfig, HookMode};

const MAX_TOKENS: u64 = 1 << 53;
const PROFILES: &[&str] =
    &["minimal", "coding", "messaging", "supervisor", "full", "cron-minimal", "heartbeat-minimal"];
const STRATEGIES: &[&str] = &["readability", "structured", "tail", "raw"];
const EFFECTS: &[&str] = &["sandbox", "ask", "deny"];

settings! {
    /// Settings of one agent.
    struct Agent at "agents.<id>" {
        "toolPolicy" tool_policy: Tools;
        "budget" budget: Budget;
        "circuitBreaker" circuit_breaker: Breaker;
        /// Limit of tool calls in one execution, as named by `--execution` or the host. Without a named execution,
        /// the limit applies only if it is set: in a hook to each session of the harness, and in `stockade run`,
        /// `stockade exec --agent`, and `exec` of `stockade serve` outside of a session to each terminal session or
        /// job.
        "maxSteps" max_steps: u32 = 150, Count { least: 1, most: 1_000_000 }, Lower;
        /// Hosts that this agent may use in addition to `security.permission.allowedNetHosts`: its tools that load web
        /// pages, and its commands in a sandbox, through the egress proxy. No other key is needed, and other agents are
        /// not affected. Entries have the same form, and `!ads.example.com` denies a host. `stockade allow AGENT HOST`
        /// adds an entry. Without effect if `execSandbox.network` is `open`, or if `/etc/stockade/managed.*` sets
        /// `security.permission.allowedNetHosts`, which then limits every agent.
        "allowedNetHosts" allowed_net_hosts: Vec<String> = [], Texts, IntersectHosts;
        /// What `stockade hook` does with its decisions. `enforce` applies them. `observe` only records what it would
        /// refuse, ask about or run in a sandbox, and leaves it to the agent's own permission prompts; what no rule can
        /// allow, and what a rule denies, stays refused. `stockade install AGENT --observe` sets it, and `stockade
        /// install AGENT` unsets it. It concerns hooks alone: not `stockade exec`, `serve` or `mcp`.
        "hookMode" hook_mode: String = "enforce", Word(&["observe", "enforce"]), Stricter;
        /// Your own texts behind the reason of a refusal or a question: `RULE: TEXT` or `HOST: TEXT`, such as
        /// `git-beyond: ask in #release` or `*.corp.example: use the mirror`. The first entry that fits the deciding
        /// rule or the host is printed, at every entry point.
        "messages" messages: Vec<String> = [], Messages, Never;
        "skills" skills: Skills;
        "files" files: Files;
        "sourceProfiles" source_profiles: Option<BTreeMap<String, SourceProfile>>;
        "commands" commands: Commands;
    }

    /// Tools that an agent may use.
    struct Tools at "agents.<id>.toolPolicy" {
        /// Tools that the agent starts with.
        "profile" profile: String = "coding", Word(PROFILES), Profile;
        /// Tools to add: names, `group:NAME`, or patterns such as `mcp__github__*`.
        "allow" allow: Vec<String> = [], Texts, Intersect;
        /// Tools to remove. `deny` takes precedence over everything else.
        "deny" deny: Vec<String> = [], Texts, Union;
    }

    /// Limits of what an agent spends.
    struct Budget at "agents.<id>.budget" {
        /// Token limit of one execution.
        "maxTokens" max_tokens: u64 = 2000000, Count { least: 1, most: MAX_TOKENS }, Lower;
        /// Cost limit of one execution in US dollars; null for no limit.
        "maxCostUsd" max_cost_usd: Option<f64> = null, Money, Lower;
        /// Token limit of all executions together in any hour.
        "maxTokensPerHour" max_tokens_per_hour: u64 = 10000000, Count { least: 1, most: MAX_TOKENS }, Lower;
        /// Token limit of all executions together in any day.
        "maxTokensPerDay" max_tokens_per_day: u64 = 100000000, Count { least: 1, most: MAX_TOKENS }, Lower;
    }

    /// When calls stop after failures.
    struct Breaker at "agents.<id>.circuitBreaker" {
        /// Consecutive failures that open the circuit.
        "failureThreshold" failure_threshold: NonZeroU32 = 5, Count { least: 1, most: 1_000_000 }, Lower;
        /// Time that the circuit stays open before one trial call is allowed.
        "resetTimeoutMs" reset_timeout_ms: u64 = 60000, Count { least: 1, most: 86_400_000 }, Higher;
        /// Time that the trial call may take before it counts as failed.
        "halfOpenTimeoutMs" half_open_timeout_ms: u64 = 30000, Count { least: 1, most: 86_400_000 }, Lower;
    }

    /// Paths that an agent's tools may use.
    struct Files at "agents.<id>.files" {
        /// Preset of rules for paths. `default` confines tools to the workspace and accepts only relative paths,
        /// `daemon` also accepts absolute paths, and `permissive` restricts nothing. The first two ask about or
        /// refuse files that start programs, instruct agents or hold secrets, as listed in
        /// [NAMES.md](../names/NAMES.md).
        "preset" preset: String = "default", Word(&["permissive", "daemon", "default"]), Stricter;
        /// Paths that are never read or written, in addition to those of the preset. Hidden from commands in a
        /// sandbox.
        "forbiddenGlobs" forbidden_globs: Vec<String> = [], Texts, Union;
        /// Paths that may be read without asking. A glob that matches exactly one file allows it whatever its name; a
        /// glob that can match many, such as `config/*.env`, still asks about sensitive names.
        "allowRead" allow_read: Vec<String> = [], Texts, Intersect;
        /// Paths that may be written without asking; globs work as in `allowRead`.
        "allowWrite" allow_write: Vec<String> = [], Texts, Intersect;
        /// Paths that may not be read. Hidden from commands in a sandbox.
        "denyRead" deny_read: Vec<String> = [], Texts, Union;
        /// Paths that may not be written. Read-only for commands in a sandbox.
        "denyWrite" deny_write: Vec<String> = [], Texts, Union;
        /// Decision about reads that no glob matches.
        "reads" reads: String = "allow", Word(&["allow", "ask", "deny"]), Stricter;
        /// Decision about writes that no glob matches.
        "writes" writes: String = "allow", Word(&["allow", "ask", "deny"]), Stricter;
        /// Whether paths must be inside the workspace even with the preset `permissive`; the other presets always
        /// require it.
        "jail" jail: bool = false, Flag, OnlyTrue;
        /// Whether paths must be relative to the workspace even if the preset accepts absolute paths.
        "relativeOnly" relative_only: bool = false, Flag, OnlyTrue;
    }

    /// How much of one tool's result reaches a model.
    struct SourceProfile at "agents.<id>.sourceProfiles.<tool>" {
        /// Maximum number of bytes read from a tool's result, clamped to 32000–5000000; null for the default of the
        /// tool's profile. The output of commands has the profile `bash`.
        "maxResponseBytes" max_response_bytes: Option<u64> = null, OptionalCount { least: 1, most: MAX_TOKENS }, Never;
        /// Maximum number of characters of a tool's result that reach a model, clamped to 100–500000; null for the
        /// default of the profile.
        "maxChars" max_chars: Option<u64> = null, OptionalCount { least: 1, most: MAX_TOKENS }, Never;
        /// Part of a tool's result to keep: the main content of a page, elements of a list, the end, or the
        /// beginning; null for the default of the profile.
        "extractionStrategy" extraction_strategy: Option<Strategy> = null, OptionalWord(STRATEGIES), Never;
        /// Whether to remove parts of a page that a browser does not display; null for the default of the profile.
        "stripHidden" strip_hidden: Option<Hidden> = null, OptionalFlag, OnlyTrue;
    }

    /// Rules for commands, the decision where no rule matches, and how long answers stay valid.
    struct Commands at "agents.<id>.commands" {
        /// Decision about commands that no rule matches.
        "unmatched" unmatched: String = "sandbox", Word(EFFECTS), Stricter;
        /// Decision about commands whose effect cannot be determined before they run.
        "unanalysable" unanalysable: String = "ask", Word(EFFECTS), Stricter;
        /// Treatment of commands in substitutions such as `$(…)`. `rules` applies the rules, `local` also forbids
        /// network access, and `none` refuses every substitution and everything else that `command.validate` rejects.
        "substitutions" substitutions: String = "local", Word(&["rules", "local", "none"]), Stricter;
        /// How long a user's answer for the session stays valid, if the session lasts that long. With 0, such answers
        /// apply once.
        "sessionAnswerMinutes" session_answer_minutes: u64 = 720, Count { least: 0, most: 720 }, Lower;
        /// How long a user's saved answer stays valid. It is bound to the command, its directory and the content of
        /// the files that the command names. With 0, no answer is saved.
        "keptAnswerDays" kept_answer_days: u64 = 30, Count { least: 0, most: 30 }, Lower;
        /// Rules for commands, in addition to the built-in ones. The rules of all layers apply together, for `*` and
        /// for the agent: rules in `/etc/stockade` take precedence over the user's, and rules of lower layers can
        /// only be stricter.
        #[expect(dead_code, reason = "the rules of all layers apply together, so they are no value of one layer")]
        "rules" rules: Option<IgnoredAny> = [], Rules, Tighten;
        /// Files of rules for commands (TOML, YAML or JSON, see `stockade policy --help`), which apply as if they were
        /// written in `rules` of the same layer. The files of all layers apply together, and defaults in a file can
        /// only be stricter. A project cannot name files.
        #[expect(dead_code, reason = "read with their origin, as the rules that they hold")]
        "ruleFiles" rule_files: Vec<std::path::PathBuf> = [], RuleFiles, Never;
    }
}

// Words were checked on parsing; an unknown one is treated as the strictest.
impl Agent {
    pub(super) fn read(self, permission: &Permission) -> AgentConfig {
        let (skills, mut exec) = self.skills.read(permission);
        // An open network reaches every host, and a list would restrict it.
        if exec.spec.network != Network::Open {
            exec.hosts.extend(self.allowed_net_hosts);
        }
        let Tools { profile, allow, deny } = self.tool_policy;
        AgentConfig {
            steps_are_set: false,
            tools: ToolPolicyConfig { profile, allow, deny },
            limits: AgentLimits {
                budget: self.budget.read(),
                breaker: self.circuit_breaker.read(),
                max_steps: Some(self.max_steps),
            },
            denied_files: self.files.denied(),
            files: self.files.read(),
            source_profiles: (self.source_profiles.unwrap_or_default().into_iter())
                .map(|(tool, profile)| (tool, profile.read()))
                .collect(),
            commands: CommandDefaults {
                unmatched: Effect::from_name(&self.commands.unmatched).unwrap_or(Effect::Deny),
                unanalysable: Effect::from_name(&self.commands.unanalysable).unwrap_or(Effect::Deny),
                substitutions: Substitutions::from_name(&self.commands.substitutions)
                    .unwrap_or(Substitutions::None),
            },
            session_answers: Duration::from_secs(self.commands.session_answer_minutes.saturating_mul(60)),
            kept_answers: Duration::from_secs(self.commands.kept_answer_days.saturating_mul(24 * 3600)),
            rules: Vec::new(),
            messages: RefusalTexts::read(&self.messages),
            hook_mode: if self.hook_mode == "observe" { HookMode::Observe } else { HookMode::Enforce },
            exec,
            skills,
        }
    }
}

impl Budget {
    fn read(&self) -> BudgetLimits {
        // Fail closed: nothing may be spent under a limit that cannot be represented.
        let money = |dollars| MicroUsd::from_dollars(dollars).unwrap_or_default();
        let cost = self.max_cost_usd.map_or(Cap::Unlimited, |dollars| Cap::AtMost(money(dollars)));
        BudgetLimits {
            per_execution: Allowance { tokens: Cap::AtMost(self.max_tokens), cost },
            per_hour: Allowance::tokens(self.max_tokens_per_hour),
            per_day: Allowance::tokens(self.max_tokens_per_day),
            ..BudgetLimits::default()
        }
    }
}

impl Breaker {
    fn read(&self) -> BreakerSettings {
        BreakerSettings {
            failure_threshold: self.failure_threshold,
            cooldown: Duration::from_millis(self.reset_timeout_ms),
            probe_timeout: Duration::from_millis(self.half_open_timeout_ms),
        }
    }
}

impl Files {
    /// Globs of the configuration itself, without those of a preset, which match files that many commands need, such as
    /// certificates.
    fn denied(&self) -> SandboxConfig {
        let mut config = SandboxConfig::default();
        config.forbidden_globs.clone_from(&self.forbidden_globs);
        config.read.deny.clone_from(&self.deny_read);
        config.write.deny.clone_from(&self.deny_write);
        config
    }

    fn read(self) -> SandboxConfig {
        let mut config = SandboxConfig::from(Preset::from_name(&self.preset).unwrap_or(Preset::Default));
        config.forbidden_globs.extend(self.forbidden_globs);
        config.read.allow.extend(self.allow_read);
        config.write.allow.extend(self.allow_write);
        config.read.deny.extend(self.deny_read);
        config.write.deny.extend(self.deny_write);
        let answer = |word: &str| match word {
            "allow" => Answer::Allow,
            "ask" => Answer::Ask,
            _ => Answer::Deny,
        };
        config.read.default = config.read.default.max(answer(&self.reads));
        config.write.default = config.write.default.max(answer(&self.writes));
        if self.jail {
            config.jail = Jail::Confined;
        }
        if self.relative_only {
            config.absolute_paths = AbsolutePaths::Refused;
        }
        config
    }
}

impl SourceProfile {
    const fn read(self) -> ProfileOverride {
        ProfileOverride {
            max_response_bytes: self.max_response_bytes,
            max_chars: self.max_chars,
            strategy: self.extraction_strategy,
            hidden: self.strip_hidden,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profiles_are_those_of_the_policy() {
        let names: Vec<_> = stockade_policy::Profile::all().map(stockade_policy::Profile::name).collect();
        assert_eq!(PROFILES, names);
    }
}
