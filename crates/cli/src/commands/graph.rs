//! `stockade graph`: directories that commands of several agents share during a graph run.

use std::path::PathBuf;

use clap::Subcommand;
use stockade_guard::GraphRun;

use crate::agent_run::undecided;
use crate::args::HELP;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use stockade_state::graph_runs;

const EXAMPLES: &str = "\
Examples:
  run=$(stockade graph begin)                  create a shared directory
  stockade exec --agent a --graph \"$run\" -- sh -c \"date > $run/when\"
  stockade run --agent b --graph \"$run\" skills/reader -- cat \"$run/when\"
  stockade graph end \"$run\"                    remove it and its content";

const MORE: &str = "\
Exit codes:
  0  done
  2  the command line is wrong, or the graph run does not exist
  3  the directory could not be created, listed or removed

Only commands of agents that get the graph run may read and write its directory, and no other user can enter it. It exists until
`stockade graph end`; one made by `graph.begin` of `stockade serve` ends with its client.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct GraphArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Create a shared directory, and print its path
    Begin,
    /// List graph runs that have not ended
    List,
    /// End graph runs, and remove their directories with all content
    End {
        /// Directory as printed by `begin`, or its name
        #[arg(value_name = "RUN", required = true, num_args = 1..)]
        runs: Vec<PathBuf>,
    },
}

/// Runs the command.
pub(crate) fn run(args: &GraphArgs) -> Result<Exit, Failure> {
    let mut output = Output::new();
    let base = graph_runs::base().ok_or_else(|| Failure::incomplete(graph_runs::NO_BASE))?;
    match &args.what {
        What::Begin => {
            let run = graph_runs::begin(&base).map_err(|error| undecided(&error))?;
            let _ = output.write(&format!("{}\n", run.path().display()));
        }
        What::List => {
            for name in GraphRun::names(&base).map_err(|error| undecided(&error))? {
                if output.write(&format!("{}\n", base.join(name).display())).is_break() {
                    break;
                }
            }
        }
        What::End { runs } => {
            // All names are checked before anything is removed.
            let found: Vec<GraphRun> =
                runs.iter().map(|run| graph_runs::find(run)).collect::<Result<_, _>>()?;
            for run in found {
                run.end().map_err(|error| undecided(&error))?;
            }
        }
    }
    output.finish(Exit::Clean)
}
