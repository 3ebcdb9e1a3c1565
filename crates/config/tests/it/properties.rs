//! Properties that hold for every input, however hostile. The fuzz target and the ordinary tests call the same functions, with
//! seeds and with random texts.

use stockade_command::{AgentCommands, CommandDefaults, CommandPolicy, RuleLayer};
use stockade_config::{Config, ConfigSources};

/// Every config file is accepted or refused with a position, and a project's file never widens. The first byte selects the
/// format.
pub(crate) fn configuration(data: &[u8]) {
    let (format, text) = data.split_first().unwrap_or((&0, &[]));
    let folder = tempfile::tempdir().unwrap();
    let name = ["config.toml", "config.yaml", "config.json"][usize::from(*format) % 3];
    let file = folder.path().join(".stockade").join(name);
    write(&file, text);
    let sources = ConfigSources { project: Some(folder.path().into()), ..ConfigSources::default() };
    match Config::load(&sources) {
        Ok(config) => {
            // Where only other agents are named, this one is unknown; the default agent is always known.
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

/// Rules of a project never make the decision on a command less strict.
fn rules_only_tighten(rules: Vec<RuleLayer>) {
    if rules.is_empty() {
        return;
    }
    // Rules whose combined size exceeds a limit are refused.
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
