//! `stockade allow`: lets an agent run a command, use a tool, a host or a path, from now on.

use std::ops::ControlFlow;

use stockade_state::approvals::ApprovalKind;

use super::approval::{self, ApprovalArgs};
use crate::args::HELP;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

const EXAMPLES: &str = "\
Examples:
  stockade allow claude git push origin main      allow this command
  stockade allow claude WebSearch                 allow a tool of Claude Code
  stockade allow claude 'mcp__github__*'          allow all tools of an MCP server
  stockade allow claude registry.npmjs.org        allow a host: for web pages, and for commands in the sandbox
  stockade allow --path claude ~/data             allow to read a directory outside of the workspace
  stockade allow --write claude .github/ci.yml    allow to read and write a file of the workspace
  stockade allow --last                           allow what was asked about or refused last, after confirmation
  stockade allow --dry-run codex npm ci           show what would change";

pub(super) const MORE: &str = "\
Exit codes:
  0  done, or nothing to do
  1  not confirmed
  2  the command line or the configuration is wrong, the agent is unknown, or a fixed limit takes precedence; nothing was changed
  3  a file could not be read or written

Your own configuration is changed, which applies in all projects, and 'stockade undo' takes the last change back. The kind of WHAT is
recognised by its form: a tool of a harness or an MCP server, a URL or a host name that no file and no program has, an existing directory
that begins with / ./ ../ or ~/, and otherwise a command. --tool, --command, --host and --path select it. 'allow' and 'deny' have
the same extent, and the later one replaces the earlier one.";

/// Allow an agent a command, tool, host or path
#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct AllowArgs {
    #[command(flatten)]
    approval: ApprovalArgs,
}

/// Runs the command.
pub(crate) fn run(args: &AllowArgs) -> Result<Exit, Failure> {
    let printed = approval::decide(&args.approval, ApprovalKind::Allow)?;
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&printed);
    output.finish(Exit::Clean)
}
