//! Entry points for questions: `stockade check`, once for each, and one `stockade serve` for all of an attack.

use std::io;
use std::path::{Path, PathBuf};

use super::answer;
use super::case::{Case, Question, Try};
use super::disk::{Disk, Ground};
use testkit::{Echo, Program};

/// Tries an attack and returns the wrong answers.
pub(super) fn missed(program: &Path, disk: &Disk, number: usize, case: &Case) -> io::Result<Vec<String>> {
    let ground = disk.prepare(number, case)?;
    let entry_point = EntryPoint { program, ground: &ground };
    let mut missed = Vec::new();
    let answers = entry_point.serve(case.tries)?;
    for (number, one) in case.tries.iter().enumerate() {
        let Some(command) = entry_point.check(one)? else {
            let output = entry_point.plain(one).run(Echo::Kept)?;
            missed.extend(answer::hidden(one, &output.text));
            continue;
        };
        let checked = answer::of_check(&command.run(Echo::Kept)?.text);
        missed.extend(answer::wrong(one, "check", checked));
        let served = answers.iter().find(|(id, _)| *id == number).and_then(|(_, answer)| *answer);
        missed.extend(answer::wrong(one, "serve", served));
    }
    if ground.marker.exists() {
        missed.push("a program was started".to_owned());
    }
    Ok(missed)
}

/// The program, and where it is asked.
struct EntryPoint<'a> {
    program: &'a Path,
    ground: &'a Ground,
}

impl EntryPoint<'_> {
    fn stockade(&self) -> Program {
        let program = Program::new(self.program).folder(&self.ground.workspace);
        let program = program.env("HOME", &self.ground.home).env("PATH", &self.ground.programs);
        program.without_env("XDG_CONFIG_HOME").without_env("XDG_STATE_HOME")
    }

    fn folder(&self, one: &Try) -> PathBuf {
        if one.folder.is_empty() {
            self.ground.workspace.clone()
        } else {
            self.ground.workspace.join(one.folder)
        }
    }

    /// Runs a question that is about display or started programs instead of a decision.
    fn plain(&self, one: &Try) -> Program {
        let program = self.stockade().folder(&self.folder(one));
        match one.question {
            Question::Shown(text) => program.args(["check", "command", "--color=never", "--"]).arg(text),
            Question::Run(arguments) => program.args(arguments),
            Question::Command { .. } | Question::Path { .. } => program,
        }
    }

    /// Returns the command that asks, if there is a question.
    fn check(&self, one: &Try) -> io::Result<Option<Program>> {
        let folder = self.folder(one);
        let program = self.stockade().arg("check");
        Ok(Some(match one.question {
            Question::Shown(_) | Question::Run(_) => return Ok(None),
            Question::Command { text, shell, rules } => {
                let program =
                    program.args(["command", "--format=json", "--shell", shell, "--cwd"]).arg(folder);
                let program = program.arg("--workspace").arg(&self.ground.workspace);
                let program = if rules.is_empty() {
                    program
                } else {
                    let file = self.ground.home.join("rules.toml");
                    std::fs::write(&file, rules)?;
                    program.arg("--rules").arg(file)
                };
                program.arg("--").arg(filled_in(text))
            }
            Question::Path { access, path, deny } => {
                let program = program.args(["path", "--format=json"]).arg(format!("--{access}"));
                let program = program.arg("--cwd").arg(folder);
                let program = if deny.is_empty() { program } else { program.arg("--deny").arg(deny) };
                program.arg("--").arg(path)
            }
        }))
    }

    /// Asks everything of a server at once.
    fn serve(&self, tries: &[Try]) -> io::Result<Vec<(usize, Option<super::case::Strictness>)>> {
        let lines: String =
            tries.iter().enumerate().filter_map(|(number, one)| self.request(number, one)).collect();
        let input = self.ground.home.join("requests");
        std::fs::write(&input, lines)?;
        Ok(answer::of_serve(&self.stockade().arg("serve").input(&input).read()?))
    }

    fn request(&self, number: usize, one: &Try) -> Option<String> {
        let folder = testkit::quoted(&self.folder(one).to_string_lossy());
        let (method, parameters) = match one.question {
            Question::Shown(_) | Question::Run(_) => return None,
            Question::Command { text, shell, rules } => {
                let workspace = testkit::quoted(&self.ground.workspace.to_string_lossy());
                let rules = if rules.is_empty() {
                    String::new()
                } else {
                    format!(r#","rulesToml":{}"#, testkit::quoted(rules))
                };
                let text = testkit::quoted(&filled_in(text));
                let rest = format!(r#""cwd":{folder},"workspace":{workspace}{rules}"#);
                ("command.evaluate", format!(r#"{{"command":{text},"shell":"{shell}",{rest}}}"#))
            }
            Question::Path { access, path, deny } => {
                let deny = if deny.is_empty() {
                    String::new()
                } else {
                    format!(r#","{access}":{{"deny":[{}]}}"#, testkit::quoted(deny))
                };
                let config = format!(r#"{{"cwd":{folder},"preset":"default"{deny}}}"#);
                let path = testkit::quoted(path);
                let request = format!(r#"{{"resource":{path},"type":"fs.{access}"}}"#);
                ("path.authorize", format!(r#"{{"config":{config},"request":{request}}}"#))
            }
        };
        Some(format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{parameters}}}{}"#,
            '\n'
        ))
    }
}

fn filled_in(text: &str) -> String {
    /// Where a peer stopped to look.
    const BLANKS: usize = 12_000;
    text.replace("{blanks}", &" ".repeat(BLANKS))
}
