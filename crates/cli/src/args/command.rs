//! The commands, and what each is for.

use clap::{Args as _, Error, FromArgMatches, Subcommand};

use crate::commands::{
    audit, check, completions, config, container, eval, init, limits, policy, report, rules, sanitize, scan,
    serve, skill, why,
};
#[cfg(target_os = "linux")]
use crate::commands::{
    backends, broker, changes, doctor, drive, exec, graph, hook, install, mcp, quarantine, run, selftest,
};

/// Makes the list. The options of a command are described only once it is known to be the one that was typed: to describe
/// those of all takes as long as to scan a few skills.
macro_rules! commands {
    ($(#[doc = $about:literal] $(#[cfg($when:meta)])? $name:literal => $variant:ident($args:ty),)*) => {
        /// The command that was typed, with its arguments.
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
                        <$args>::augment_args(command).about($about.trim())
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
    /// Look for attacks in skills: files, folders or standard input
    "scan" => Scan(scan::ScanArgs),
    /// Print a text without what a person cannot see
    "sanitize" => Sanitize(sanitize::SanitizeArgs),
    /// Say whether skills may be used, and what of them reaches a model
    "skill" => Skill(skill::SkillArgs),
    /// Say whether packages for containers are what was signed, and how to run them
    "container" => Container(container::ContainerArgs),
    /// Show the rules of the scanner, or test rules of your own
    "rules" => Rules(rules::RulesArgs),
    /// Show and reset what agents used, and replay what limits would do
    "limits" => Limits(limits::LimitsArgs),
    /// Say what a policy decides about tools, paths, commands and hosts, and why
    "check" => Check(check::CheckArgs),
    /// Evaluate an expression of JavaScript over plain data, with nothing else in reach
    "eval" => Eval(eval::EvalArgs),
    /// Run a command where it sees and reaches only what it was given
    #[cfg(target_os = "linux")]
    "exec" => Exec(Box<exec::ExecArgs>),
    /// Run the CLI of a model where its key stays outside, and it reaches its model and nothing else
    #[cfg(target_os = "linux")]
    "drive" => Drive(Box<drive::DriveArgs>),
    /// Let a skill in, and run a command for it
    #[cfg(target_os = "linux")]
    "run" => Run(run::RunArgs),
    /// List, give back and drop what commands left that runs programs outside of the sandbox
    #[cfg(target_os = "linux")]
    "quarantine" => Quarantine(quarantine::QuarantineArgs),
    /// Show, apply, discard and undo what commands changed in views of a workspace
    #[cfg(target_os = "linux")]
    "changes" => Changes(changes::ChangesArgs),
    /// Make and remove folders that the commands of several agents share
    #[cfg(target_os = "linux")]
    "graph" => Graph(graph::GraphArgs),
    /// Serve a socket that leads to some hosts and no others, and say what it holds
    #[cfg(target_os = "linux")]
    "broker" => Broker(broker::BrokerArgs),
    /// Add, remove, list, test and explain rules for commands
    "policy" => Policy(policy::PolicyArgs),
    /// Say why something was decided so, or would be, and what would change it
    "why" => Why(why::WhyArgs),
    /// Write a page for a browser: what agents did, and what was refused
    "report" => Report(report::ReportArgs),
    /// Show, check and export the audit trail
    "audit" => Audit(audit::AuditArgs),
    /// Show what holds, who says so, and what a key does
    "config" => Config(config::ConfigArgs),
    /// Answer the requests of other programs: JSON-RPC 2.0, one message a line
    "serve" => Serve(serve::ServeArgs),
    /// Have the program that runs an agent ask before it uses a tool
    #[cfg(target_os = "linux")]
    "install" => Install(install::InstallArgs),
    /// Take out what `install` wrote
    #[cfg(target_os = "linux")]
    "uninstall" => Uninstall(install::InstallArgs),
    /// Say which harnesses ask, by asking their hooks for what must be refused
    #[cfg(target_os = "linux")]
    "status" => Status(install::StatusArgs),
    /// Answer a harness that asks before it uses a tool
    #[cfg(target_os = "linux")]
    "hook" => Hook(hook::HookArgs),
    /// Stand between a client and a server of the Model Context Protocol, or be such a server
    #[cfg(target_os = "linux")]
    "mcp" => Mcp(mcp::McpArgs),
    /// Say what works on this machine, and what mends the rest
    #[cfg(target_os = "linux")]
    "doctor" => Doctor(doctor::DoctorArgs),
    /// List what makes sandboxes on this machine, what each holds, and how to get it
    #[cfg(target_os = "linux")]
    "backends" => Backends(backends::BackendsArgs),
    /// Attack the sandboxes of this machine, and say which attacks were stopped
    #[cfg(target_os = "linux")]
    "selftest" => Selftest(selftest::SelftestArgs),
    /// Begin a configuration, with every key and what it does
    "init" => Init(init::InitArgs),
    /// Print what a shell needs to complete commands and options
    "completions" => Completions(completions::CompletionsArgs),
    /// Print the page of the manual, or write a page for every command
    "man" => Man(completions::ManArgs),
}
