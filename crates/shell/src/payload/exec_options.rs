//! Ordinary programs with an option whose value is a command: `tar --to-command`, `sort --compress-program`.
//!
//! Only these options are looked for; unknown letters elsewhere do not matter.

use std::sync::LazyLock;

use super::text;
use crate::actions::{Arg, Run};
use crate::getopt::{self, OptionOrder, OptionTable};
use crate::lookup::{ByName, by_name};
use crate::runs::{Context, Walk};

/// A program, its options with a value, and those among them whose value is run.
struct ExecOption {
    names: &'static [&'static str],
    options: OptionTable,
    run: &'static [&'static str],
    /// Optional markers before the command in the value.
    marks: &'static [&'static str],
}

const TAR: &str = "-f: -C: -T: -X: -b: -I: -F: -g: -H: -K: -L: -N: -V: --to-command= --use-compress-program= --checkpoint=? \
                   --checkpoint-action= --info-script= --new-volume-script= --rsh-command= --file= --directory= --*";

static EXEC_OPTIONS: LazyLock<Vec<ExecOption>> = LazyLock::new(|| {
    vec![
        ExecOption {
            names: &["tar", "gtar", "bsdtar"],
            options: OptionTable::new(TAR),
            run: &[
                "-I",
                "-F",
                "--to-command",
                "--use-compress-program",
                "--info-script",
                "--new-volume-script",
                "--rsh-command",
            ],
            marks: &[],
        },
        ExecOption {
            names: &["tar", "gtar", "bsdtar"],
            options: OptionTable::new(TAR),
            run: &["--checkpoint-action"],
            marks: &["exec="],
        },
        ExecOption {
            names: &["rsync"],
            options: OptionTable::new("-e: -f: -B: -T: -M: --rsh= --rsync-path= --*"),
            run: &["-e", "--rsh", "--rsync-path"],
            marks: &[],
        },
        ExecOption {
            names: &["scp", "sftp"],
            options: OptionTable::new("-S: -D: -P: -i: -F: -o: -c: -l: -J: -B: -R: -b: -s:"),
            run: &["-S", "-D"],
            marks: &[],
        },
        ExecOption {
            names: &["ssh", "scp", "sftp", "slogin"],
            options: OptionTable::new(
                "-B: -b: -c: -D: -E: -e: -F: -I: -i: -J: -L: -l: -m: -O: -o: -P: -p: -Q: -R: -S: -W: -w:",
            ),
            run: &["-o"],
            marks: &["proxycommand", "localcommand", "knownhostscommand"],
        },
        ExecOption {
            names: &["sort", "gsort"],
            options: OptionTable::new("-o: -t: -k: -T: -S: --compress-program= --*"),
            run: &["--compress-program"],
            marks: &[],
        },
        ExecOption {
            names: &["split"],
            options: OptionTable::new("-a: -b: -C: -l: -n: -t: --filter= --*"),
            run: &["--filter"],
            marks: &[],
        },
        ExecOption {
            names: &["rg"],
            options: OptionTable::new("-e: -f: -g: -t: -T: -m: -A: -B: -C: --pre= --hostname-bin= --*"),
            run: &["--pre", "--hostname-bin"],
            marks: &[],
        },
        ExecOption {
            names: &["man"],
            options: OptionTable::new("-P: -M: -S: -s: -C: -L: -m: -e: --pager= --*"),
            run: &["-P", "--pager"],
            marks: &[],
        },
        ExecOption {
            names: &["zip"],
            options: OptionTable::new("-b: -i: -n: -t: -x: -TT: --unzip-command= --*"),
            run: &["-TT", "--unzip-command"],
            marks: &[],
        },
        ExecOption {
            names: &["bat", "batcat", "delta", "mysql", "mariadb"],
            options: OptionTable::new("-l: -H: -h: -u: -P: --pager= --*"),
            run: &["--pager"],
            marks: &[],
        },
        ExecOption {
            names: &["fzf"],
            options: OptionTable::new("-q: -f: --preview= --bind= --*"),
            run: &["--preview"],
            marks: &[],
        },
        ExecOption {
            names: &["tcpdump"],
            options: OptionTable::new("-i: -w: -r: -c: -s: -C: -G: -W: -z: -F: -y:"),
            run: &["-z"],
            marks: &[],
        },
        ExecOption {
            names: &["gdb", "cgdb"],
            options: OptionTable::new("-ex: -iex: -x: -p: --ex= --eval-command= --*"),
            run: &["-ex", "-iex", "--ex", "--eval-command"],
            marks: &["shell ", "!"],
        },
        ExecOption {
            names: &["vim", "vi", "nvim", "ex", "view"],
            options: OptionTable::new("-c: -S: -u: -s: -T: -w: -W: --cmd= --*"),
            run: &["-c", "--cmd"],
            marks: &[":!", "!"],
        },
        ExecOption {
            names: &["go"],
            options: OptionTable::new("-exec: -toolexec: -o:"),
            run: &["-exec", "-toolexec"],
            marks: &[],
        },
    ]
});

/// Lists the commands in the options of a program.
pub(super) fn follow<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, name: &str, context: Context<'_, 't>) {
    for row in BY_NAME.get(name).into_iter().flatten() {
        let options = getopt::parse(&run.argv, 1, &row.options, OptionOrder::Anywhere);
        let values = options.values.iter().filter(|(option, _)| row.runs(option));
        for command in values.filter_map(|(_, value)| row.command(value)) {
            text(walk, &command, run.span, Context { is_certain: false, ..context });
        }
    }
}

/// The rows of each name: nearly every command is looked up, and nearly none is found.
static BY_NAME: LazyLock<ByName<Vec<&'static ExecOption>>> =
    LazyLock::new(|| by_name(EXEC_OPTIONS.iter(), |row| row.names));

impl ExecOption {
    /// Whether the value of an option is run. GNU programs accept every prefix of a long option.
    fn runs(&self, option: &str) -> bool {
        let is_long = option.len() > 3 && option.starts_with("--");
        self.run.iter().any(|known| *known == option || (is_long && known.starts_with(option)))
    }

    /// The command in a value.
    fn command<'t>(&self, value: &Arg<'t>) -> Option<Arg<'t>> {
        if self.marks.is_empty() {
            return Some(value.clone());
        }
        let written = match value {
            Arg::Known(text) | Arg::Unknown { prefix: text, .. } => text,
        };
        let mark = self.marks.iter().find(|mark| written.to_ascii_lowercase().starts_with(**mark))?;
        let rest = written.get(mark.len()..)?;
        let space = rest.len() - rest.trim_start_matches(['=', ' ', '\t']).len();
        Some(value.without_prefix(mark.len() + space))
    }
}
