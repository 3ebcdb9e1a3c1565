//! Runs other programs: without standard input, with output and errors in one stream, in the order they were written.

use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether a program's output is shown while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Echo {
    /// Line by line, as it comes.
    Live,
    /// Only kept, for the report.
    Kept,
}

/// A program to run, with its arguments.
#[derive(Debug, Clone)]
pub struct Program {
    path: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, Option<OsString>)>,
    folder: Option<PathBuf>,
    input: Option<PathBuf>,
    warnings_fail: bool,
}

/// Result of a program.
#[derive(Debug)]
pub struct Output {
    /// Whether it ended with exit code 0, and without warnings where those count.
    pub success: bool,
    /// Its exit code, unless it was killed.
    pub code: Option<i32>,
    /// Its standard output and standard error together.
    pub text: String,
}

impl Program {
    /// A program by its name or path.
    pub fn new(path: impl AsRef<OsStr>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: None,
            input: None,
            warnings_fail: false,
        }
    }

    /// The cargo that runs this program, so that a chosen toolchain (`cargo +name xtask …`) is kept.
    pub fn cargo() -> Self {
        Self::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
    }

    /// Adds an argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    pub fn args<S: AsRef<OsStr>>(self, arguments: impl IntoIterator<Item = S>) -> Self {
        arguments.into_iter().fold(self, Self::arg)
    }

    /// Sets a variable of the program's environment.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.into(), Some(value.as_ref().to_owned())));
        self
    }

    /// Hides a variable of our environment from the program.
    pub fn without_env(mut self, name: &str) -> Self {
        self.environment.push((name.into(), None));
        self
    }

    /// Runs it in another directory.
    pub fn folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    /// Uses a file as standard input, and captures the output.
    pub fn input(mut self, file: &Path) -> Self {
        self.input = Some(file.to_owned());
        self
    }

    /// Makes a warning of the compiler a failure. `RUSTFLAGS=-Dwarnings` would do so too, but with other flags than
    /// everything else cargo builds every dependency again.
    pub fn warnings_fail(self) -> Self {
        Self { warnings_fail: true, ..self }
    }

    /// Runs it to its end.
    pub fn run(&self, echo: Echo) -> io::Result<Output> {
        let (reader, writer) = io::pipe()?;
        let mut child = {
            let mut command = self.command();
            command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
            // Our own ends of the pipe close with `command`, so that reading ends when the program does.
            command.spawn()?
        };
        let mut text = read_lines(reader, echo)?;
        let status = child.wait()?;
        if status.code().is_none() {
            text.push_str(&format!("{self} was killed: {status}\n"));
        }
        let is_spotless = !(self.warnings_fail && text.lines().any(counts_warnings));
        Ok(Output { success: status.success() && is_spotless, code: status.code(), text })
    }

    /// Runs it quietly and returns its standard output, if it succeeds.
    pub fn read(&self) -> io::Result<String> {
        let input = match &self.input {
            Some(file) => std::fs::File::open(file)?.into(),
            None => Stdio::null(),
        };
        let output = self.command().stdin(input).output()?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(io::Error::other(format!("{self} failed:\n{}", String::from_utf8_lossy(&output.stderr))))
    }

    /// Runs it in the place of this program, with the same streams, and returns its exit code, unless it was killed.
    pub fn run_in_place(&self) -> io::Result<Option<i32>> {
        self.command().status().map(|status| status.code())
    }

    /// Whether it exists and succeeds.
    pub fn succeeds(&self) -> bool {
        self.command().stdin(Stdio::null()).output().is_ok_and(|output| output.status.success())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.args(&self.arguments);
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }
}

/// The command line as a person would type it, for reports.
impl std::fmt::Display for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (name, value) in &self.environment {
            if let Some(value) = value {
                write!(f, "{}={} ", name.display(), quoted(value))?;
            }
        }
        let name = Path::new(&self.path).file_name().unwrap_or(&self.path);
        write!(f, "{}", name.display())?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {}", quoted(argument)))
    }
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) { word.into_owned() } else { format!("'{word}'") }
}

/// Whether a line is cargo's count of a crate's warnings, printed also for a cached build.
fn counts_warnings(line: &str) -> bool {
    line.starts_with("warning: `") && line.contains(" generated ")
}

fn read_lines(reader: impl io::Read, echo: Echo) -> io::Result<String> {
    let mut reader = BufReader::new(reader);
    let mut text = String::new();
    loop {
        let mut line = Vec::new();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(text);
        }
        let line = String::from_utf8_lossy(&line);
        if echo == Echo::Live {
            print!("{line}");
        }
        text.push_str(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Program {
        Program::new("sh").args(["-c", script])
    }

    #[test]
    fn output_and_errors_come_in_order() {
        let output = shell("echo one; echo two >&2; echo three").run(Echo::Kept).unwrap();
        assert_eq!(output.text, "one\ntwo\nthree\n");
        assert!(output.success);
    }

    #[test]
    fn there_is_no_standard_input() {
        let output = shell("cat; exit 3").run(Echo::Kept).unwrap();
        assert_eq!((output.success, output.text.as_str()), (false, ""));
    }

    #[test]
    fn a_killed_program_says_so() {
        let output = shell("kill -9 $$").run(Echo::Kept).unwrap();
        assert!(output.text.contains("was killed"), "{}", output.text);
    }

    #[test]
    fn a_missing_program_is_an_error_not_a_panic() {
        assert!(Program::new("no-such-program-here").run(Echo::Kept).is_err());
        assert!(!Program::new("no-such-program-here").succeeds());
    }

    #[test]
    fn shown_as_a_person_would_type_it() {
        let program = Program::new("/usr/bin/cargo").env("A", "b c").arg("test").arg("");
        assert_eq!(program.to_string(), "A='b c' cargo test ''");
    }
}
