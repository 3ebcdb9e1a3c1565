//! `stockade graph`: a folder that the commands of several agents share, for as long as they work together.

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
  run=$(stockade graph begin)                  make a folder, and keep its path
  stockade exec --agent a --graph \"$run\" -- sh -c \"date > $run/when\"
  stockade run --agent b --graph \"$run\" skills/reader -- cat \"$run/when\"
  stockade graph end \"$run\"                    remove it with all that is in it";

const MORE: &str = "\
Exit codes:
  0  it is done
  2  the command line is wrong, or there is no such run
  3  the folder could not be made, listed or removed

Only the commands of agents that are given the run may read and write its folder, and no other user enters it. It stays until somebody ends the
run; `graph.begin` of `stockade serve` makes one that ends with its client.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = MORE)]
pub(crate) struct GraphArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make a folder for a run, and print its path
    Begin,
    /// List the folders of runs that nobody has ended
    List,
    /// Remove the folders of runs, with all that is in them
    End {
        /// The folder, as `begin` printed it, or its name
        #[arg(value_name = "RUN", required = true, num_args = 1..)]
        runs: Vec<PathBuf>,
    },
}

/// Does what is asked.
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
            // All are looked for before any is removed.
            let found: Vec<GraphRun> =
                runs.iter().map(|run| graph_runs::find(run)).collect::<Result<_, _>>()?;
            for run in found {
                run.end().map_err(|error| undecided(&error))?;
            }
        }
    }
    output.finish(Exit::Clean)
}
