//! The `stockade` command. See `stockade --help`.
#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod agent_run;
mod args;
mod baseline;
mod bug;
mod commands;
mod confirm;
mod exclusions;
mod exit;
mod failure;
mod output;
mod render;
mod report;
mod rule_files;
mod suppressions;

use std::process::ExitCode;

use args::{Args, Command};
use exit::Exit;

fn main() -> ExitCode {
    bug::tell();
    let args = match Args::read() {
        Ok(args) => args,
        Err(exit) => return exit,
    };
    if let Some(file) = &args.shared.config {
        stockade_guard::config::choose_config_file(file);
    }
    // Output before a panic is not a result.
    bug::caught(|| carry_out(&args)).unwrap_or_else(|| match args.command {
        #[cfg(target_os = "linux")]
        Command::Exec(_) | Command::Run(_) | Command::Drive(_) => args::NOTHING_RAN.into(),
        _ => Exit::Incomplete.into(),
    })
}

fn carry_out(args: &Args) -> ExitCode {
    let outcome = match &args.command {
        // Exits like its command, with any code.
        #[cfg(target_os = "linux")]
        Command::Exec(exec) => return commands::exec::run(exec),
        #[cfg(target_os = "linux")]
        Command::Run(run) => return commands::run::run(run),
        #[cfg(target_os = "linux")]
        Command::Drive(drive) => return commands::drive::run(drive),
        // Exits with a code that the harness understands.
        #[cfg(target_os = "linux")]
        Command::Hook(hook) => return commands::hook::run(hook),
        Command::Container(container) => return commands::container::run(container, args.shared.color),
        // Exits like the wrapped server.
        #[cfg(target_os = "linux")]
        Command::Mcp(mcp) => return commands::mcp::run(mcp),
        Command::Scan(scan) => commands::scan::run(scan, args.shared.color),
        Command::Sanitize(sanitize) => commands::sanitize::run(sanitize),
        #[cfg(target_os = "linux")]
        Command::Quarantine(quarantine) => commands::quarantine::run(quarantine),
        #[cfg(target_os = "linux")]
        Command::Changes(changes) => commands::changes::run(changes),
        #[cfg(target_os = "linux")]
        Command::Broker(broker) => commands::broker::run(broker),
        #[cfg(target_os = "linux")]
        Command::Graph(graph) => commands::graph::run(graph),
        Command::Limits(limits) => commands::limits::run(limits, args.shared.color),
        Command::Eval(eval) => commands::eval::run(eval),
        Command::Rules(rules) => commands::rules::run(rules, args.shared.color),
        Command::Check(check) => commands::check::run(check, args.shared.color),
        Command::Report(report) => commands::report::run(report),
        Command::Why(why) => commands::why::run(why, args.shared.color),
        Command::Audit(audit) => commands::audit::run(audit, args.shared.color),
        Command::Skill(skill) => commands::skill::run(skill, args.shared.color),
        Command::Config(config) => commands::config::run(config, args.shared.color),
        #[cfg(target_os = "linux")]
        Command::Allow(allow) => commands::allow::run(allow),
        #[cfg(target_os = "linux")]
        Command::Deny(deny) => commands::deny::run(deny),
        #[cfg(target_os = "linux")]
        Command::Undo(undo) => commands::undo::run(undo),
        #[cfg(target_os = "linux")]
        Command::Learn(learn) => commands::learn::run(learn),
        #[cfg(target_os = "linux")]
        Command::Ui(ui) => commands::ui::run(ui),
        #[cfg(target_os = "linux")]
        Command::Watch(watch) => commands::watch::run(watch, args.shared.color),
        #[cfg(target_os = "linux")]
        Command::Nap(nap) => commands::nap::run(nap),
        Command::Policy(policy) => commands::policy::run(policy, args.shared.color),
        Command::Serve(serve) => commands::serve::run(serve),
        #[cfg(target_os = "linux")]
        Command::Doctor(doctor) => commands::doctor::run(doctor, args.shared.color),
        #[cfg(target_os = "linux")]
        Command::Install(install) => commands::install::install(install),
        #[cfg(target_os = "linux")]
        Command::Uninstall(install) => commands::install::uninstall(install),
        #[cfg(target_os = "linux")]
        Command::Status(status) => commands::install::status(status),
        #[cfg(target_os = "linux")]
        Command::Backends(backends) => commands::backends::run(backends, args.shared.color),
        #[cfg(target_os = "linux")]
        Command::Selftest(selftest) => commands::selftest::run(selftest, args.shared.color),
        Command::Docs(docs) => commands::docs::run(docs),
        Command::Completions(completions) => commands::completions::complete(completions),
        Command::Init(init) => commands::init::run(init),
        Command::Man(man) => commands::completions::man(man),
        Command::OwnProgram(own) => commands::own_program::run(own),
    };
    match outcome {
        Ok(exit) => exit.into(),
        Err(failure) => failure.report().into(),
    }
}
