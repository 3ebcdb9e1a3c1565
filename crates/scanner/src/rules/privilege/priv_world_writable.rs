use crate::rule::{Category, Pattern, Region, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "PRIV_WORLD_WRITABLE",
    category: Category::Privilege,
    severity: Severity::Warn,
    summary: "rights that let everybody write, or run as another user",
    remedy: "Give the rights to the one user who needs them.",
    patterns: &[
        Pattern {
            note: "a folder of the machine that everybody may write",
            regex: r#"\bchmod[ \t]{1,8}(?:-R[ \t]{1,8})?(?:0?777|a\+rwx|ugo\+rwx)[ \t]{1,8}["\x27]?/(?:etc|usr|opt|var|bin|sbin|lib|root|home|boot|srv)\b[^\n;|&]{0,100}"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "a program that runs as its owner",
            regex: r#"\bchmod[ \t]{1,8}(?:u\+s|g\+s|ug\+s|[2467][0-7]{3})[ \t]{1,8}["\x27]?[/$~]"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "by a program",
            regex: r"\bos\.chmod\([^\n]{1,120}?0o?(?:777|[2467]7[0-7]{2})\b|\bos\.set[eu]{0,40}uid\([ \t]{0,8}0[ \t]{0,8}\)",
            regions: Regions::of(&[Region::Code]),
            exceptions: &[],
        },
    ],
    matches: &[
        "```sh\nchmod 777 /opt/shared\n```",
        "```sh\nchmod u+s /usr/bin/find\n```",
        "```python\nos.chmod('/etc/x', 0o777)\n```",
        "```sh\nsudo chmod 4755 /tmp/sh\n```",
    ],
    clean: &[
        "```sh\nchmod 755 /opt/tool\n```",
        "```sh\nchmod +x ./run.sh\n```",
        "```python\nos.chmod(path, 0o755)\n```",
        "Never run `chmod -R 777 .`",
    ],
};
