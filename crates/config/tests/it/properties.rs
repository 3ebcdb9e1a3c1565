//! What is true of every input, however hostile. The fuzz target calls this function, and so do ordinary tests: with the
//! seeds, and with random texts.

use stockade_command::{AgentCommands, CommandDefaults, CommandPolicy, RuleLayer};
use stockade_config::{Config, ConfigSources};

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
            // Where only others are named, this one is unknown; the one of whoever names none is always known.
            let agent = config.agent("bot").or_else(|_| config.agent("default")).unwrap();
            assert!(agent.limits.max_steps.is_some_and(|steps| steps <= 150));
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
