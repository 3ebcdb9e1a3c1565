//! `stockade deny`: forbids an agent what `stockade allow` with the same arguments allows.

use std::ops::ControlFlow;

use stockade_state::approvals::ApprovalKind;

use super::allow::MORE;
use super::approval::{self, ApprovalArgs};
use crate::args::HELP;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  stockade deny claude git push origin main   deny this command
  stockade deny claude WebSearch              deny a tool of Claude Code
  stockade deny claude ads.example.com        deny a host: for web pages, and for commands in the sandbox
  stockade deny --path claude notes           deny to read a directory
  stockade deny --dry-run codex npm ci        show what would change";

/// Deny an agent a command, tool, host or path
#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct DenyArgs {
    #[command(flatten)]
    approval: ApprovalArgs,
}

/// Runs the command.
pub(crate) fn run(args: &DenyArgs) -> Result<Exit, Failure> {
    let printed = approval::decide(&args.approval, ApprovalKind::Deny, approval::ApprovalTime::default())?;
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&printed);
    output.finish(Exit::Clean)
}
