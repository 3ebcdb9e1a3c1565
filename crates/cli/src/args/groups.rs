//! Groups of commands in the help of the program, which clap lists without groups.

use super::command::GROUPS;

/// The text before the commands, in the help of the program itself.
const OF_THE_PROGRAM: &str = "Usage: stockade [OPTIONS] <COMMAND>\n\nCommands:\n";

/// Returns the help of the program with a heading before each group. Other texts stay as they are.
pub(super) fn grouped(help: &str) -> String {
    let Some((head, list)) = help.split_once(OF_THE_PROGRAM) else { return help.to_owned() };
    let (commands, rest) = list.split_once("\n\n").unwrap_or((list, ""));
    let mut text = format!("{head}Usage: stockade [OPTIONS] <COMMAND>\n");
    let mut last = None;
    for line in commands.lines() {
        let is_wrapped = line.starts_with("    ");
        let group = group_of(line.split_whitespace().next().unwrap_or_default());
        if !is_wrapped && group != last {
            text.push_str(&format!("\n{}:\n", group.unwrap_or("Other commands")));
            last = group;
        }
        text.push_str(line);
        text.push('\n');
    }
    format!("{text}\n{rest}")
}

fn group_of(command: &str) -> Option<&'static str> {
    GROUPS.iter().find(|(_, commands)| commands.contains(&command)).map(|(group, _)| *group)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::args::Args;

    /// Every command is in one group, and the commands of a group stand together.
    #[test]
    fn every_command_is_in_one_group() {
        let program = Args::command();
        let listed: Vec<&str> = GROUPS.iter().flat_map(|(_, commands)| *commands).copied().collect();
        let known: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
        let listed: Vec<&str> = if cfg!(target_os = "linux") {
            listed
        } else {
            listed.into_iter().filter(|name| known.contains(name)).collect()
        };
        assert_eq!(listed, known);
    }

    #[test]
    fn only_the_help_of_the_program_is_grouped() {
        let help = "About\n\nUsage: stockade [OPTIONS] <COMMAND>\n\nCommands:\n  install  Install\n  scan     Scan\n    \
                    wrapped\n  skill    Check\n\nOptions:\n  -h\n";
        let want = "About\n\nUsage: stockade [OPTIONS] <COMMAND>\n\nProtect:\n  install  Install\n\nScan:\n  scan     Scan\n    \
                    wrapped\n  skill    Check\n\nOptions:\n  -h\n";
        assert_eq!(grouped(help), want);
        let other = help.replace("stockade [OPTIONS]", "stockade audit [OPTIONS]");
        assert_eq!(grouped(&other), other);
    }
}
