//! `stockade allow`: lets an agent use a tool, or run a command, from now on.

use std::ops::ControlFlow;

use stockade_guard::command::shell::quote_argv;
use stockade_text::escape;

use super::policy;
use crate::args::HELP;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use stockade_harness::tools::{ToolKind, known};
use stockade_state::allowed_tools::AllowedTools;

const EXAMPLES: &str = "\
Examples:
  stockade allow claude WebSearch           let Claude Code use a tool of its own
  stockade allow claude mcp__github__*      and all tools of an MCP server
  stockade allow claude git push origin main
                                            let it run this command, as `policy add --for` does
  stockade allow --dry-run codex npm ci     show what would change";

/// What is allowed is written to your own configuration, and holds in all projects.
#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES)]
pub(crate) struct AllowArgs {
    /// Agent to allow it; '*' for all agents
    #[arg(value_name = "AGENT", value_parser = policy::agent_or_all)]
    agent: String,

    /// Name of a tool, or a command
    #[arg(value_name = "WHAT", num_args = 1.., required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    what: Vec<String>,

    /// Show the change without making it
    #[arg(long)]
    dry_run: bool,

    /// Take one word for the name of a tool, even of one that is not known
    #[arg(long, conflicts_with = "command")]
    tool: bool,

    /// Take one word for a command, even if a tool has that name
    #[arg(long)]
    command: bool,
}

/// Runs the command.
pub(crate) fn run(args: &AllowArgs) -> Result<Exit, Failure> {
    let printed = match args.what.as_slice() {
        [one] if !args.command && (args.tool || is_tool(one)) => tool(args, one)?,
        // One word with spaces is a whole command line, as refusals print it.
        [one] => policy::allow_command(&args.agent, one, args.dry_run)?,
        words => {
            policy::allow_command(&args.agent, &quote_argv(words.iter().map(String::as_str)), args.dry_run)?
        }
    };
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&printed);
    output.finish(Exit::Clean)
}

/// Whether a word names a tool: one of a harness, one of an MCP server, or one that is spelled as only tools are.
fn is_tool(word: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-*".contains(c);
    let is_spelled = word.starts_with("mcp__") || word.starts_with(|c: char| c.is_ascii_uppercase());
    word.chars().all(is_name) && (is_spelled || known(word).1 != ToolKind::Other)
}

fn tool(args: &AllowArgs, word: &str) -> Result<String, Failure> {
    let (name, kind) = known(word);
    if kind == ToolKind::Own {
        let what = escape(name);
        return Ok(format!(
            "nothing to add: {what} is a tool of the agent's own program, which none is refused\n"
        ));
    }
    let list = AllowedTools::of_agent(&args.agent)?;
    let is_new = list.add(name, !args.dry_run).map_err(stockade_state::StateError::from)?;
    Ok(match (is_new, args.dry_run) {
        (false, _) => format!("nothing to add: {} is in {}\n", escape(name), list.place()),
        (true, true) => format!("would add {} to {}\n", escape(name), list.place()),
        (true, false) => format!("added {} to {}\n", escape(name), list.place()),
    })
}
