//! Runs a command under the tools that count, each time in a folder that was made anew, with an environment of its own.

use std::fs;
use std::path::{Path, PathBuf};

use testkit::{Echo, Program, Workspace};

use super::file::{Cost, Section};

/// How often a thread waits for another depends on the machine.
const TIMING: [&str; 4] = ["futex", "sched_yield", "restart_syscall", "rt_sigreturn"];

const SYNCS: [&str; 5] = ["fsync", "fdatasync", "sync", "syncfs", "msync"];

/// A command, and the folder that it runs in.
pub(super) struct MeasuredCommand<'a> {
    section: &'a Section,
    root: PathBuf,
    program: PathBuf,
    folder: PathBuf,
}

impl<'a> MeasuredCommand<'a> {
    /// The command of this section.
    pub(super) fn new(workspace: &Workspace, section: &'a Section) -> Self {
        Self {
            section,
            root: workspace.root.clone(),
            program: workspace.target.join("fast/stockade"),
            folder: workspace.target.join("budgets").join(&section.name),
        }
    }

    /// Measures a cost of the command once.
    pub(super) fn measure(&self, cost: Cost) -> Result<u64, String> {
        self.prepare()?;
        match cost {
            Cost::Instructions => self.instructions(),
            Cost::SystemCalls => self.calls(|name| !TIMING.contains(&name)),
            Cost::Syncs => self.calls(|name| SYNCS.contains(&name)),
            Cost::PageFaults => self.resource("%R"),
            Cost::PeakKib => self.resource("%M"),
        }
    }

    /// Makes the folder anew, with a home in it, and what the command works on.
    fn prepare(&self) -> Result<(), String> {
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder).map_err(|error| error.to_string())?;
        }
        fs::create_dir_all(self.folder.join("home")).map_err(|error| error.to_string())?;
        succeed(&self.program("sh").args(["-ec", &self.section.prepare]))
    }

    fn instructions(&self) -> Result<u64, String> {
        let log = self.folder.join("callgrind.log");
        let into_log = format!("--log-file={}", log.display());
        self.run(&["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", &into_log])?;
        let text = fs::read_to_string(&log).map_err(|error| error.to_string())?;
        collected(&text).ok_or_else(|| format!("valgrind counted nothing:\n{text}"))
    }

    fn calls(&self, counts: impl Fn(&str) -> bool) -> Result<u64, String> {
        let log = self.folder.join("strace.log");
        self.run(&["strace", "-f", "-c", "-o", &log.to_string_lossy()])?;
        let text = fs::read_to_string(&log).map_err(|error| error.to_string())?;
        Ok(rows(&text).filter(|(name, _)| counts(name)).map(|(_, count)| count).sum())
    }

    fn resource(&self, format: &str) -> Result<u64, String> {
        let log = self.folder.join("time.log");
        self.run(&["/usr/bin/time", "-q", "-f", format, "-o", &log.to_string_lossy()])?;
        let text = fs::read_to_string(&log).map_err(|error| error.to_string())?;
        text.trim().parse().map_err(|_| format!("`time` printed {text:?}"))
    }

    /// Runs the command under a tool that counts. It has to end as it does when it works.
    fn run(&self, tool: &[&str]) -> Result<(), String> {
        let Section { input, exit, run, .. } = self.section;
        let input = input.as_deref().unwrap_or("/dev/null");
        let script =
            format!("\"$@\" < {input} > out 2> err; test $? = {exit} || {{ tail -n 20 out err; exit 1; }}");
        succeed(&self.program("sh").args(["-c", &script, "sh"]).args(tool).arg(&self.program).args(run))
    }

    /// A program in the folder, whose environment is the same on every machine.
    fn program(&self, name: &str) -> Program {
        let value = |name: &str, path: &Path| format!("{name}={}", path.display());
        Program::new("env")
            .args(["-i", "LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin"])
            .arg(value("HOME", &self.folder.join("home")))
            .arg(value("REPOSITORY", &self.root))
            .arg(value("STOCKADE", &self.program))
            .arg(name)
            .folder(&self.folder)
    }
}

fn succeed(program: &Program) -> Result<(), String> {
    let output = program.run(Echo::Kept).map_err(|error| error.to_string())?;
    if output.success { Ok(()) } else { Err(format!("{program} failed:\n{}", output.text)) }
}

/// The sum that callgrind prints: `==12== Collected : 5930000`.
fn collected(log: &str) -> Option<u64> {
    log.lines().find_map(|line| line.split_once("Collected : "))?.1.trim().parse().ok()
}

/// The names and counts in the table of `strace -c`, whose fourth column counts calls and whose last one names them.
fn rows(log: &str) -> impl Iterator<Item = (&str, u64)> {
    log.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let name = cells.last().copied().filter(|&name| name != "total")?;
        Some((name, cells.get(3)?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_strace_are_read() {
        let log = "% time     seconds  usecs/call     calls    errors syscall\n\
                   ------ ----------- ----------- --------- --------- ----------------\n 60.00    0.000120          12        10         2 openat\n \
                   40.00    0.000080          80         1           fdatasync\n\
                   ------ ----------- ----------- --------- --------- ----------------\n100.00    0.000200          18        11         2 total\n";
        assert_eq!(rows(log).collect::<Vec<_>>(), [("openat", 10), ("fdatasync", 1)]);
    }

    #[test]
    fn the_sum_of_callgrind_is_read() {
        assert_eq!(collected("==7== Events    : Ir\n==7== Collected : 1134567\n==7==\n"), Some(1_134_567));
        assert_eq!(collected("==7== no room\n"), None);
    }
}
