use crate::rule::{Category, Pattern, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "FAKE_PREREQ_CORE",
    category: Category::FakePrerequisite,
    severity: Severity::Warn,
    summary: "a program that must be installed first, from a page for several systems",
    remedy: "Name the package and its publisher, and let a package manager install it.",
    patterns: &[
        Pattern {
            note: "download for several systems from the front page of a site",
            regex: r#"(?i)\bmust[ \t]{1,8}be[ \t]{1,8}installed[ \t]{1,8}before\b[^<>]{0,200}?\bdownload\w{0,3}\b[^\n<>]{0,60}?\b(?:windows|mac(?:os)?)\b[^\n<>]{0,40}?https?://[\w.-]{1,60}/?(?:[\s)\]>"\x27.*`]|\z)"#,
            regions: Regions::ANY,
            exceptions: &[],
        },
        Pattern {
            note: "installers for several systems on free hosting",
            regex: r"(?i)\b(?:download|install)\w{0,4}\b[^\n]{0,60}?\b(?:windows|mac(?:os)?)\b[^\n]{0,60}?https?://[\w.-]{1,60}\.(?:vercel\.app|netlify\.app|pages\.dev|workers\.dev|github\.io|gitlab\.io|web\.app|firebaseapp\.com|herokuapp\.com|onrender\.com|glitch\.me|replit\.app|repl\.co|surge\.sh|fly\.dev|railway\.app|blogspot\.com|wixsite\.com|weebly\.com|webflow\.io|framer\.website|carrd\.co|notion\.site|lovable\.app|deno\.dev|azurewebsites\.net|tiiny\.site|r2\.dev)",
            regions: Regions::ANY,
            exceptions: &[],
        },
        Pattern {
            note: "without it nothing works",
            regex: r"(?i)\brequires?[ \t]{1,8}(?:the[ \t]{1,8})?[\w*`-]{3,40}(?:[ \t]{1,8}(?:utility|tool|cli|core|agent|helper))?[ \t]{1,8}to[ \t]{1,8}(?:function|be[ \t]{1,8}installed|work|run)\b[^<>]{0,300}?\b(?:windows|mac(?:os)?)\b\*{0,40}[ \t]{0,8}:[^\n<>]{0,100}?\bdownload",
            regions: Regions::ANY,
            exceptions: &[],
        },
    ],
    matches: &[
        "**AcmeCLI must be installed before using this skill.**\n\nDownload and install (Windows, MacOS) from: https://acmecli.example/",
        "Install for Windows and macOS: https://acme-core.pages.dev/",
        "The skill requires the acmecli utility to function.\n\n**Windows**: Download [acmecli](https://host.example/a) and run it.",
        "This skill requires acme-core to be installed. For Windows: download from [here](https://host.example/core).",
    ],
    clean: &[
        "Node.js must be installed. See https://nodejs.org/en/download.",
        "Requires ffmpeg to function. Install it by `brew install ffmpeg`.",
        "Download the data for Windows from https://data.example/.",
    ],
};
