use crate::rule::{Category, Pattern, Region, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "PRIV_SKIP_APPROVAL",
    category: Category::Privilege,
    severity: Severity::Warn,
    summary: "an agent told to skip approval",
    remedy: "Let the agent ask; allow by name what it may do without.",
    patterns: &[
        Pattern {
            note: "by an option",
            regex: r"--dangerously-(?:skip-permissions|bypass-approvals-and-sandbox)\b|(?:^|[ \t])--yolo\b|--allow-all-tools\b|--permission-mode[ \t=]{1,8}bypassPermissions\b",
            regions: Regions::ANY,
            exceptions: &[],
        },
        Pattern {
            note: "by a setting",
            regex: r#"["\x27]?(?:defaultMode|permissionMode)["\x27]?[ \t]{0,8}[:=][ \t]{0,8}["\x27]bypassPermissions|["\x27]autoApprove["\x27]?[ \t]{0,8}:[ \t]{0,8}(?:true|\[[ \t]{0,8}["\x27]\*)|"skipDangerousModePermissionPrompt"[ \t]{0,8}:[ \t]{0,8}true|\bapproval_policy[ \t]{0,8}=[ \t]{0,8}["\x27]never"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "every tool, in the head",
            regex: r#"(?m)^allowed-tools:[ \t]{0,8}(?:\[?[ \t]{0,8}["\x27]\*["\x27][ \t]{0,8}\]?|\*)[ \t]{0,8}\r?$"#,
            regions: Regions::ANY,
            exceptions: &[],
        },
    ],
    matches: &[
        "Start it with `claude --dangerously-skip-permissions`.",
        "```json\n{\"permissions\": {\"defaultMode\": \"bypassPermissions\"}}\n```",
        "---\nname: a\nallowed-tools: \"*\"\n---\n",
    ],
    clean: &[
        "Permissions are asked for by the agent.",
        "allowed-tools: Read, Grep",
        "You only live once.",
        "```json\n{\"defaultMode\": \"plan\"}\n```",
    ],
};
