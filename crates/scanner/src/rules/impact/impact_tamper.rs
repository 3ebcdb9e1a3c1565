use crate::rule::{Category, Pattern, Region, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "IMPACT_TAMPER",
    category: Category::Impact,
    severity: Severity::Critical,
    summary: "a file changed that the whole machine trusts",
    remedy: "Leave users, names of hosts and programs of the machine alone; say in the text what the user may change.",
    patterns: &[
        Pattern {
            note: "users, passwords, and libraries that every program loads",
            regex: r#"(?:>>?|\btee\b(?:[ \t]{1,8}-{1,2}[a-z]{1,8}){0,2})[ \t]{0,8}["\x27]?/etc/(?:passwd|shadow|gshadow|ld\.so\.preload|pam\.d/[\w.-]{1,40})["\x27]?(?:$|[\s;&|)<`])"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "a name of a host, led to an address on the Internet",
            regex: r#"\b(?:echo|printf)\b[ \t]{1,8}[^\n]{0,120}?(?:["\x27 \t]|\\n)(?:[1-9]|[2-9][0-9]|1[1-9]|1[01][0-9]|12[0-689]|1[345][0-9]|16[0-8]|17[013-9]|18[0-9]|19[013-9]|2[0-2][0-9])(?:\.[0-9]{1,3}){3}[ \t\\][^\n]{1,160}?(?:>>?|\btee\b[^\n]{0,16}?)[ \t]{0,8}["\x27]?/etc/hosts\b"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "a program of the machine, replaced by another",
            regex: r#"(?:>>?|\b(?:cp|mv|install|ln|tee)[ \t][^\n;&|]{0,160}?)[ \t]{0,8}["\x27]?(?:(?:/usr(?:/local)?)?/s?bin|(?:~|\$HOME)/\.\w{2,8}/bin)/(?:ls|ps|git|ssh|sudo|su|curl|wget|cat|bash|login|top|netstat|passwd|crontab|gpg)["\x27]?(?:[ \t]{1,8}-{1,2}[\w=-]{1,40}){0,4}[ \t]{0,8}(?:$|[\r;&|)`<>]|[0-9]>)"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "a name of a program, given to one in a folder for what is passing",
            regex: r#"\balias[ \t]{1,8}(?:sudo|su|ssh|git|gpg|passwd|docker|ls|cd)=["\x27]?(?:/tmp|/var/tmp|/dev/shm|~/\.|\$HOME/\.)"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "the same by a program",
            regex: r#"\bopen\([ \t]{0,8}["\x27](?:/usr(?:/local)?)?/s?bin/[\w.-]{1,40}["\x27][ \t]{0,8},[ \t]{0,8}["\x27][wa]|\bfs\.(?:promises\.)?(?:append|write)File(?:Sync)?\([ \t]{0,8}["\x27`]/(?:etc|(?:usr/)?s?bin)/"#,
            regions: Regions::of(&[Region::Code]),
            exceptions: &[],
        },
    ],
    matches: &[
        "```sh\necho 'x::0:0::/root:/bin/bash' >> /etc/passwd\n```",
        "```sh\necho /opt/x.so | sudo tee /etc/ld.so.preload\n```",
        "```sh\necho '1.2.3.4 pypi.org' | sudo tee -a /etc/hosts\n```",
        "```sh\ncp /opt/x/ls /usr/local/bin/ls\n```",
        "```sh\necho \"alias sudo='/tmp/.sudo'\" >> ~/.bashrc\n```",
        "```js\nfs.appendFileSync('/etc/hosts', line)\n```",
        "```sh\nprintf '127.0.0.1 a.test\\n1.2.3.4 github.com\\n' >> /etc/hosts\n```",
        "```python\nwith open('/usr/local/bin/git', 'w') as f:\n    f.write(p)\n```",
        "```sh\ne''cho 'x::0:0::/:/bin/sh' >> /etc/passwd\n```",
    ],
    clean: &[
        "```sh\necho '127.0.0.1 app.test' | sudo tee -a /etc/hosts\n```",
        "```sh\necho '192.168.1.20 nas.local' >> /etc/hosts\n```",
        "```sh\ngrep root /etc/passwd\n```",
        "```sh\ncp build/tool /usr/local/bin/tool\n```",
        "```sh\nln -s /usr/bin/python3 /usr/local/bin/python\n```",
        "```js\nfs.readFileSync('/etc/hosts')\n```",
        "```sh\nalias ls='ls --color'\n```",
    ],
};
