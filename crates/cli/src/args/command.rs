//! The commands, in the groups in which help lists them.

use super::SharedArgs;
use clap::{Args as _, Error, FromArgMatches, Subcommand};

#[cfg(target_os = "linux")]
use crate::commands::{
    allow, backends, broker, changes, deny, doctor, drive, exec, graph, hook, install, learn, mcp, nap,
    quarantine, run, selftest, ui, undo, watch,
};
use crate::commands::{
    audit, check, completions, config, container, docs, eval, init, limits, own_program, policy, report,
    rules, sanitize, scan, serve, skill, why,
};

/// The groups of commands in the help of the program, in the order of the commands.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    ("Protect", &["install", "uninstall", "status", "doctor", "init"]),
    ("Scan", &["scan", "sanitize", "skill", "rules"]),
    (
        "Decide",
        &["allow", "deny", "undo", "nap", "learn", "watch", "ui", "why", "check", "policy", "config", "eval"],
    ),
    (
        "Run",
        &[
            "exec",
            "run",
            "drive",
            "container",
            "changes",
            "quarantine",
            "graph",
            "broker",
            "backends",
            "selftest",
        ],
    ),
    ("Record", &["audit", "report", "limits"]),
    ("Integrate", &["mcp", "serve", "hook"]),
    ("Help", &["docs", "completions", "man", "self"]),
];

/// Generates the subcommands. The options of a command are built only once it is selected: building those of all commands
/// takes as long as scanning a few skills.
macro_rules! commands {
    ($(#[doc = $about:literal] $(#[cfg($when:meta)])? $name:literal => $variant:ident($args:ty),)*) => {
        /// The selected command, with its arguments.
        #[derive(Debug)]
        pub(crate) enum Command {
            $(#[doc = $about] $(#[cfg($when)])? $variant($args),)*
        }

        impl Subcommand for Command {
            fn augment_subcommands(all: clap::Command) -> clap::Command {
                $(
                    $(#[cfg($when)])?
                    let all = all.subcommand(clap::Command::new($name).about($about.trim()).defer(|command| {
                        // Arguments that are shared bring a line of their own.
                        SharedArgs::of_command(<$args>::augment_args(command)).about($about.trim())
                    }));
                )*
                all
            }

            fn augment_subcommands_for_update(all: clap::Command) -> clap::Command {
                Self::augment_subcommands(all)
            }

            fn has_subcommand(name: &str) -> bool {
                $($(#[cfg($when)])? if name == $name { return true; })*
                false
            }
        }

        impl FromArgMatches for Command {
            fn from_arg_matches(typed: &clap::ArgMatches) -> Result<Self, Error> {
                Self::from_arg_matches_mut(&mut typed.clone())
            }

            fn from_arg_matches_mut(typed: &mut clap::ArgMatches) -> Result<Self, Error> {
                match typed.remove_subcommand() {
                    $(
                        $(#[cfg($when)])?
                        Some((name, mut typed)) if name == $name => {
                            <$args>::from_arg_matches_mut(&mut typed).map(Self::$variant)
                        }
                    )*
                    _ => Err(Error::new(clap::error::ErrorKind::MissingSubcommand)),
                }
            }

            fn update_from_arg_matches(&mut self, typed: &clap::ArgMatches) -> Result<(), Error> {
                *self = Self::from_arg_matches(typed)?;
                Ok(())
            }
        }
    };
}

commands! {
    /// Install the Stockade hook in an agent
    #[cfg(target_os = "linux")]
    "install" => Install(install::InstallArgs),
    /// Remove the hook that `install` added
    #[cfg(target_os = "linux")]
    "uninstall" => Uninstall(install::InstallArgs),
    /// Check that installed hooks block a test call
    #[cfg(target_os = "linux")]
    "status" => Status(install::StatusArgs),
    /// Check this machine and suggest fixes
    #[cfg(target_os = "linux")]
    "doctor" => Doctor(doctor::DoctorArgs),
    /// Create a commented configuration file
    "init" => Init(init::InitArgs),
    /// Scan files, directories or standard input for attacks in skills
    "scan" => Scan(scan::ScanArgs),
    /// Remove hidden and invisible characters from text
    "sanitize" => Sanitize(sanitize::SanitizeArgs),
    /// Check, lock and prepare skills before an agent uses them
    "skill" => Skill(skill::SkillArgs),
    /// Show scanner rules, or test your own
    "rules" => Rules(rules::RulesArgs),
    /// Allow an agent a command, tool, host or path
    #[cfg(target_os = "linux")]
    "allow" => Allow(allow::AllowArgs),
    /// Deny an agent a command, tool, host or path
    #[cfg(target_os = "linux")]
    "deny" => Deny(deny::DenyArgs),
    /// Take back the last approval or denial
    #[cfg(target_os = "linux")]
    "undo" => Undo(undo::UndoArgs),
    /// Leave questions to the agent's own permission prompts for a while
    #[cfg(target_os = "linux")]
    "nap" => Nap(nap::NapArgs),
    /// Propose approvals for what an agent was refused or asked about
    #[cfg(target_os = "linux")]
    "learn" => Learn(learn::LearnArgs),
    /// Show decisions as they are made, and answer waiting questions
    #[cfg(target_os = "linux")]
    "watch" => Watch(watch::WatchArgs),
    /// Serve a page with decisions and waiting questions on 127.0.0.1
    #[cfg(target_os = "linux")]
    "ui" => Ui(ui::UiArgs),
    /// Explain a decision and how to change it
    "why" => Why(why::WhyArgs),
    /// Check whether a policy allows a tool, path, command or host
    "check" => Check(check::CheckArgs),
    /// Add, remove, list, test and explain rules for commands
    "policy" => Policy(policy::PolicyArgs),
    /// Show effective settings, their origin and documentation
    "config" => Config(config::ConfigArgs),
    /// Evaluate a JavaScript expression over JSON data, without I/O
    "eval" => Eval(eval::EvalArgs),
    /// Run a command in a sandbox
    #[cfg(target_os = "linux")]
    "exec" => Exec(Box<exec::ExecArgs>),
    /// Check a skill, then run a command on its behalf
    #[cfg(target_os = "linux")]
    "run" => Run(run::RunArgs),
    /// Run an AI coding CLI in a sandbox without exposing its API key
    #[cfg(target_os = "linux")]
    "drive" => Drive(Box<drive::DriveArgs>),
    /// Verify signed container packages, and run them
    "container" => Container(container::ContainerArgs),
    /// Review, apply, discard or undo changes made under --review
    #[cfg(target_os = "linux")]
    "changes" => Changes(changes::ChangesArgs),
    /// List, restore or delete quarantined files
    #[cfg(target_os = "linux")]
    "quarantine" => Quarantine(quarantine::QuarantineArgs),
    /// Manage directories shared between agents
    #[cfg(target_os = "linux")]
    "graph" => Graph(graph::GraphArgs),
    /// Run an egress proxy with a host allowlist
    #[cfg(target_os = "linux")]
    "broker" => Broker(broker::BrokerArgs),
    /// List sandbox backends and what each enforces
    #[cfg(target_os = "linux")]
    "backends" => Backends(backends::BackendsArgs),
    /// Run attacks against the sandboxes of this machine, and report which were stopped
    #[cfg(target_os = "linux")]
    "selftest" => Selftest(selftest::SelftestArgs),
    /// Show, verify and export the audit trail
    "audit" => Audit(audit::AuditArgs),
    /// Write an HTML report of what agents did and what was refused
    "report" => Report(report::ReportArgs),
    /// Show and reset usage limits, or simulate them
    "limits" => Limits(limits::LimitsArgs),
    /// Wrap an MCP server, or run Stockade as one
    #[cfg(target_os = "linux")]
    "mcp" => Mcp(mcp::McpArgs),
    /// Serve all layers to other programs: JSON-RPC 2.0, one message per line
    "serve" => Serve(serve::ServeArgs),
    /// Answer a hook call of an agent
    #[cfg(target_os = "linux")]
    "hook" => Hook(hook::HookArgs),
    /// Show the documentation in the terminal
    "docs" => Docs(docs::DocsArgs),
    /// Generate shell completions
    "completions" => Completions(completions::CompletionsArgs),
    /// Print the manual page, or write one for every command
    "man" => Man(completions::ManArgs),
    /// Update this program, or name the package manager that does
    "self" => OwnProgram(own_program::SelfArgs),
}
