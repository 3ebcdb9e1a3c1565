use crate::rule::{Category, Pattern, Region, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "IMPACT_TRACES",
    category: Category::Impact,
    severity: Severity::Critical,
    summary: "records of actions removed from the machine",
    remedy: "Leave the history of shells and the records of the machine as they are.",
    patterns: &[
        Pattern {
            note: "the history of a shell",
            regex: r#"(?:\b(?:rm|shred|truncate|srm|unlink)[ \t][^\n;|&]{0,80}?|>[ \t]{0,8}["\x27]?|\bln[ \t]{1,8}-\w{1,4}[ \t]{1,8}/dev/null[ \t][^\n;|&]{0,40}?)(?:~|\$HOME|/root|/home/[\w*.-]{1,40})/\.(?:bash|zsh|sh|python|mysql)_?history\b|\bhistory[ \t]{1,8}-c[ \t]{0,8}(?:;|&&)"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "login and command records",
            regex: r#"(?:\b(?:rm|shred|truncate|srm)[ \t][^\n;|&]{0,80}?|>[ \t]{0,8}["\x27]?)/var/log/(?:auth\w{0,4}\.log|secure|wtmp|btmp|lastlog|audit)\b|\brm[ \t]{1,8}(?:-\w{1,8}[ \t]{1,8}){1,3}["\x27]?/var/log(?:/\*?)?["\x27]?(?:$|[\s;&|)`])"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "the same of Windows",
            regex: r"(?i)\bwevtutil(?:\.exe)?[ \t]{1,8}(?:cl|clear-log)[ \t]|\b(?:clear|remove)-eventlog\b",
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
    ],
    matches: &[
        "```sh\nhistory -c && rm -f ~/.bash_history\n```",
        "```sh\n> /var/log/auth.log\n```",
        "```sh\nrm -rf /var/log/*\n```",
        "```sh\nwevtutil cl Security\n```",
        "```sh\nln -sf /dev/null ~/.bash_history\n```",
        "```sh\nr\u{200b}m -f ~/.zsh_history\n```",
    ],
    clean: &[
        "```sh\ntail ~/.bash_history\n```",
        "```sh\ntruncate -s 0 /var/log/myapp/app.log\n```",
        "```sh\nhistory | tail\n```",
        "```sh\njournalctl --vacuum-time=7d\n```",
        "Use `history -c` to clear the list.",
    ],
};
