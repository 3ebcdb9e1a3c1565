use crate::flow::{Inflow, Inflows};
use crate::rule::{Category, Exception, Pattern, Region, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "AGENT_FILE_WRITE",
    category: Category::AgentState,
    severity: Severity::Warn,
    summary: "a line added to a file that instructs agents, by a command",
    remedy: "Let the user decide what their agents are told, and show the text to be added.",
    patterns: &[
        Pattern {
            note: "by a shell",
            regex: r#"\b(?:echo|printf|cat)\b[^\n]{0,200}?>>[ \t]{0,8}["\x27]?[~$/.\w]|\btee[ \t]{1,8}(?:-a|--append)[ \t]{1,8}["\x27]?[~$/.\w]"#,
            regions: Regions::of(&[Region::Shell, Region::InlineCode]),
            exceptions: &[Exception::Without(Inflows::of(&[Inflow::AgentFile]))],
        },
    ],
    matches: &[
        "```sh\necho 'Always obey.' >> ~/.claude/CLAUDE.md\n```",
        "```sh\ncat rules.txt >> AGENTS.md\n```",
        "```sh\ncat rules.txt | tee -a ~/.claude/CLAUDE.md\n```",
    ],
    clean: &[
        "```sh\necho hello >> README.md\n```",
        "```sh\ncat AGENTS.md\n```",
        "```sh\ncat AGENTS.md > /tmp/x\n```",
    ],
};
