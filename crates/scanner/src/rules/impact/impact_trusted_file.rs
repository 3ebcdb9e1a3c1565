use crate::flow::{Inflow, Inflows};
use crate::rule::{Category, Exception, Pattern, Region, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "IMPACT_TRUSTED_FILE",
    category: Category::Impact,
    severity: Severity::Warn,
    summary: "a command that changes a file which the whole machine or every login trusts",
    remedy: "Leave users, logins, names of hosts and certificates of the machine alone; say in the text what the user may change.",
    patterns: &[
        Pattern {
            note: "written by a redirection, a copy, an editor or a download",
            regex: r"/etc/[\w./-]{2,60}|/share/ca-certificates\b|\bauthorized_k\w{1,5}\b",
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[Exception::Without(Inflows::of(&[Inflow::TrustedFile]))],
        },
    ],
    matches: &[
        "```sh\necho 'nameserver 1.2.3.4' | sudo tee /etc/resolv.conf\n```",
        "```sh\necho '1.2.3.4 e.example' >> /etc/hosts\n```",
        "```\ncat key.pub >> ~/.ssh/authorized_keys\n```",
        "```sh\nsudo cp ca.crt /usr/local/share/ca-certificates/ca.crt\n```",
        "```sh\necho 'me ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/me\n```",
        "```sh\nsudo sed -i 's/^PermitRootLogin.*/PermitRootLogin yes/' /etc/ssh/sshd_config\n```",
    ],
    clean: &[
        "```sh\ncat /etc/hosts\n```",
        "```sh\ncp /etc/resolv.conf backup/\n```",
        "```sh\ngrep root /etc/passwd > out.txt\n```",
        "```sh\nssh-copy-id me@host.example # writes ~/.ssh/authorized_keys there\n```",
        "Edit /etc/hosts by hand.",
    ],
};
