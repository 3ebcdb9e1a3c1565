use crate::rule::{Category, Pattern, Region, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "PRIV_ESCALATION",
    category: Category::Privilege,
    severity: Severity::Critical,
    summary: "a step to more rights than the user gave",
    remedy: "Work with the granted privileges, and document what needs more.",
    patterns: &[
        Pattern {
            note: "opened to all, then given to the administrator",
            regex: r"\bchmod[ \t]{1,8}(?:-R[ \t]{1,8})?(?:0?777|a\+rwx|[4-7]7[0-7]{2})[ \t][^\n;|&]{1,100}(?:&&|;)[ \t]{0,8}sudo[ \t]{1,8}ch(?:own|mod)[ \t]|\bsudo[ \t]{1,8}chown[ \t]{1,8}root\b[^\n;|&]{1,100}(?:&&|;)[ \t]{0,8}(?:sudo[ \t]{1,8})?chmod[ \t]{1,8}(?:0?777|u\+s|[4-7][0-7]{3})",
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "a line that grants administrator rights without a password",
            regex: r#"\bNOPASSWD[ \t]{0,8}:[ \t]{0,8}ALL\b[^\n]{0,80}?(?:>>?|\|[ \t]{0,8}(?:sudo[ \t]{1,8})?tee\b)|(?:>>?|\btee\b[^\n]{0,20}?)[ \t]{0,8}["\x27]?/etc/sudoers"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "a shell that keeps the rights of its owner",
            regex: r"\bcp[ \t]{1,8}/bin/(?:ba|da|z)?sh[ \t]{1,8}[^\n;|&]{1,60}(?:&&|;)[ \t]{0,8}(?:sudo[ \t]{1,8})?chmod[ \t]{1,8}(?:u?\+s|[4-7][0-7]{3})",
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "a shell or the list of users, opened to all",
            regex: r#"\bchmod[ \t]{1,8}(?:-R[ \t]{1,8})?(?:(?:u\+s|ug\+s|[4-7][0-7]{3})[ \t]{1,8}["\x27]?(?:/usr)?/bin/(?:ba|da|z)?sh\b|(?:0?666|0?777|[ago]{1,3}\+r?w\w?)[ \t]{1,8}["\x27]?/etc/(?:passwd|shadow|sudoers)\b|(?:0?777|a\+rwx)[ \t]{1,8}["\x27]?/["\x27]?(?:$|[\s;&|)`]))"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "the whole machine given to a container",
            regex: r"\bdocker[ \t]{1,8}run\b[^\n]{0,160}?[ \t](?:-v|--volume)[ \t=]/:/",
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "protection switched off",
            regex: r"(?i)\bspctl[ \t]{1,8}--(?:master|global)-disable\b|\bset-mppreference\b[^\n]{0,80}?-disable(?:realtime|behavior|ioav|script)\w{0,20}[ \t]{1,8}(?:\$true|1)\b|\bcsrutil[ \t]{1,8}disable\b|\bnetsh[ \t]{1,8}advfirewall[ \t]{1,8}set[ \t]{1,8}\w{1,20}[ \t]{1,8}state[ \t]{1,8}off\b|\badd-mppreference\b[^\n]{0,40}?-exclusionpath\b",
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
    ],
    matches: &[
        "```sh\nchmod u+s /bin/bash\n```",
        "```sh\nchmod 666 /etc/passwd\n```",
        "```sh\nchmod -R 777 /\n```",
        "```sh\nchmod 777 /opt/w && sudo chown root:root /opt/w\n```",
        "```sh\necho 'me ALL=(ALL) NOPASSWD: ALL' | sudo tee /etc/sudoers.d/me\n```",
        "```sh\ncp /bin/bash /tmp/b && chmod 4755 /tmp/b\n```",
        "```sh\ndocker run -v /:/host alpine chroot /host\n```",
        "```powershell\nSet-MpPreference -DisableRealtimeMonitoring $true\n```",
    ],
    clean: &[
        "```sh\nchmod 755 /bin/bash\n```",
        "```sh\nchmod 644 /etc/passwd\n```",
        "```sh\nsudo chown root:root /etc/tool.conf\n```",
        "```sh\ndocker run -v /data:/data alpine\n```",
        "```sh\nsudo -l\n```",
        "```sh\nspctl --assess app\n```",
    ],
};
