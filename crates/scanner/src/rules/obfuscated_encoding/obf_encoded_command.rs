use crate::rule::{Category, Pattern, Region, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "OBF_ENCODED_COMMAND",
    category: Category::ObfuscatedEncoding,
    severity: Severity::Critical,
    summary: "a command encoded so that a reader does not recognise it",
    remedy: "Write the command out.",
    patterns: &[
        Pattern {
            note: "a command that fetches, connects or starts something",
            regex: r#"(?i)(?:^|[\s;&|(\x22\x27`])(?:curl|wget|nc|ncat|bash|sh|zsh|powershell|iwr|invoke-\w{3,20}|certutil|mshta|osascript)[ \t]{1,8}(?:-[\w-]{1,24}[ \t]{1,8}){0,6}["\x27]?(?:https?://|-[ceiEW]|/dev/tcp|[\w.-]{1,40}\.(?:sh|ps1)\b|[0-9]{1,3}\.[0-9]{1,3}\.)"#,
            regions: Regions::of(&[Region::Decoded]),
            exceptions: &[],
        },
        Pattern {
            note: "a program that starts or fetches something",
            regex: r"\bimport[ \t]{1,8}(?:os|subprocess|socket|pty)\b|\bos\.(?:system|popen)\(|\bsubprocess\.\w{2,16}\(|\bchild_process\b|\b(?:exec|eval)\([ \t]{0,8}(?:base64|atob|requests|urlopen|__import__)|/dev/tcp/",
            regions: Regions::of(&[Region::Decoded]),
            exceptions: &[],
        },
    ],
    matches: &[
        "x = 'Y3VybCAtcyBodHRwczovL2UuZXhhbXBsZS94IC1vIC90bXAveA=='",
        "`aW1wb3J0IG9zOyBvcy5zeXN0ZW0oJ2lkJyk=`",
        "'\\x63\\x68\\x69\\x6c\\x64\\x5f\\x70\\x72\\x6f\\x63\\x65\\x73\\x73'",
    ],
    clean: &[
        "curl -s https://api.example.com",
        "import os",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9",
        "aGVsbG8gd29ybGQsIHRoaXMgaXMgYSB0ZXN0",
    ],
};
