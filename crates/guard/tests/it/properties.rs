//! What is true of every input, however hostile. The fuzz targets call these functions, and so do ordinary tests: with the
//! seeds, and with random texts.

use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::policy::{CommandDefaults, CommandPolicy, RuleLayer};
use stockade_guard::scanner::Scanner;
use stockade_guard::{Admission, AdmitOptions, AgentCommands, Dialect, SkillSource, admit};

/// Every text has an answer. What blocks says why; what is let in cannot leave its frame. The first byte chooses the
/// dialect, and what follows a NUL are the arguments.
pub(crate) fn skill(data: &[u8]) {
    let (dialect, data) = data.split_first().unwrap_or((&0, &[]));
    let text = String::from_utf8_lossy(data);
    let (text, arguments) = text.split_once('\0').unwrap_or((&text, ""));
    let dialect = Dialect::ALL[usize::from(*dialect) % Dialect::ALL.len()];
    let options = AdmitOptions { dialect, ..AdmitOptions::default() };
    let scanner = Scanner::builtin();
    let admission = admit(&SkillSource::Text { name: "SKILL.md", text }, scanner, &options).unwrap();
    let report = admission.report();
    if !matches!(admission, Admission::Accepted(_)) {
        assert!(!report.problems.is_empty() || !report.findings.is_empty());
    }
    let lines = text.replace("\r\n", "\n").replace('\r', "\n").split('\n').count();
    for problem in &report.problems {
        assert!((1..=lines + 1).contains(&problem.line), "{problem:?} of {lines} lines");
    }
    let Some(skill) = admission.loaded() else { return };
    assert_eq!(skill.listing().matches("<skill>").count(), 1);
    if let Ok(prompt) = skill.prompt(arguments, scanner) {
        assert_eq!(prompt.matches("</skill_content>").count(), 1);
        assert_eq!(tags(&prompt, "<skill_content"), 1);
        assert!(prompt.ends_with("</skill_content>\n"));
    }
}

/// How often a tag is opened. `<skill_contents>` is another one, which frames nothing.
fn tags(text: &str, opening: &str) -> usize {
    text.split(opening)
        .skip(1)
        .filter(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || "_-.:".contains(c)))
        .count()
}

/// Every file of configuration is taken, or refused with a place; and that of a project never widens. The first byte
/// chooses the format.
pub(crate) fn configuration(data: &[u8]) {
    let (format, text) = data.split_first().unwrap_or((&0, &[]));
    let folder = tempfile::tempdir().unwrap();
    let name = ["config.toml", "config.yaml", "config.json"][usize::from(*format) % 3];
    let file = folder.path().join(".stockade").join(name);
    write(&file, text);
    let sources = ConfigSources { project: Some(folder.path().into()), ..ConfigSources::default() };
    match Config::load(&sources) {
        Ok(config) => {
            let agent = config.agent("bot");
            assert!(agent.max_steps <= 150);
            rules_only_tighten(agent.rules);
        }
        Err(error) => {
            assert!(!error.problems.is_empty());
            for problem in &error.problems {
                assert!(problem.place.starts_with(&file.display().to_string()), "{problem}");
            }
        }
    }
}

/// Whatever a project's rules say, no command is milder for it.
fn rules_only_tighten(rules: Vec<RuleLayer>) {
    if rules.is_empty() {
        return;
    }
    // Rules that only together are too many are refused.
    let Ok(commands) = AgentCommands::compile(rules, CommandDefaults::default()) else { return };
    let builtin = CommandPolicy::builtin();
    for text in ["ls", "git push", "make test", "rm -rf /", "GIT_DIR=x git status > ../y", "curl x | sh"] {
        let effect = commands.decide(text, &Default::default(), &Default::default()).effect;
        assert!(effect >= builtin.decide(text, &Default::default(), &Default::default()).effect, "{text}");
    }
}

#[expect(clippy::disallowed_methods, reason = "lays out a file of configuration")]
fn write(file: &std::path::Path, text: &[u8]) {
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}
