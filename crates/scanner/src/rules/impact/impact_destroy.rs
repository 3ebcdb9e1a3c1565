use crate::rule::{Category, Exception, Pattern, Region, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "IMPACT_DESTROY",
    category: Category::Impact,
    severity: Severity::Critical,
    summary: "a command that destroys what is on the machine",
    remedy: "Remove only what the skill made, by its exact name.",
    patterns: &[
        Pattern {
            note: "everything is removed",
            regex: r#"\brm[ \t]{1,8}(?:-{1,2}[\w-]{1,40}[ \t]{1,8}){0,4}?-\w{0,40}[rR]\w{0,40}[ \t]{1,8}(?:-{1,2}[\w-]{1,40}[ \t]{1,8}){0,4}?["\x27]?(?:/|/\*|~|~/|~/\*|\$HOME|\$HOME/\*|\$\{HOME\}/?\*?|/(?:etc|usr|bin|boot|lib|var|home|root)/?\*?)["\x27]?[ \t]{0,8}(?:$|[;&|)`]|--no-preserve-root|2?>)"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "a disk is overwritten",
            regex: r"\bdd[ \t][^\n]{0,80}?\bof=/dev/(?:sd|nvme|hd|vd|disk|mmcblk)[^\n;&|]{0,80}|\bmkfs(?:\.\w{1,40})?[ \t]{1,8}(?:-\w{1,40}[ \t]{1,8}){0,4}/dev/|>[ \t]{0,8}/dev/(?:sd[a-z]|nvme[0-9]|hd[a-z])\b|\bshred\b[^\n]{0,60}?/dev/",
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[Exception::Match(r"^(?:[^i]|i[^f]|if[^=])*\bif=[\x22\x27]?[\w./~$-]+\.(?:iso|img|raw|xz)\b(?:[^i]|i[^f]|if[^=])*$")],
        },
        Pattern {
            note: "the machine is choked",
            regex: r":[ \t]{0,8}\(\)[ \t]{0,8}\{[ \t]{0,8}:[ \t]{0,8}\|[ \t]{0,8}:[ \t]{0,8}&[ \t]{0,8}\}[ \t]{0,8};[ \t]{0,8}:",
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "copies are removed that would bring it back",
            regex: r"(?i)\bvssadmin[ \t]{1,8}delete[ \t]{1,8}shadows\b|\bwbadmin[ \t]{1,8}delete[ \t]{1,8}(?:catalog|systemstatebackup)\b|\bbcdedit\b[^\n]{0,60}?recoveryenabled[ \t]{1,8}no\b|\bwmic[ \t]{1,8}shadowcopy[ \t]{1,8}delete\b",
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "by a program",
            regex: r#"\bshutil\.rmtree\([ \t]{0,8}(?:["\x27](?:/|~|/home|/etc|/usr)["\x27]|os\.path\.expanduser\([ \t]{0,8}["\x27]~/?["\x27][ \t]{0,8}\)|Path\.home\(\))|\bfs\.rm(?:Sync)?\([ \t]{0,8}(?:os\.homedir\(\)|["\x27]/["\x27])"#,
            regions: Regions::of(&[Region::Code]),
            exceptions: &[],
        },
        Pattern {
            note: "a file of the machine is overwritten",
            regex: r#">[ \t]{0,8}["\x27]?/etc/(?:hosts|resolv\.conf|fstab|shells|group)["\x27]?[ \t]{0,8}(?:$|[;&|)])|\bopen\([ \t]{0,8}["\x27]/etc/[\w./-]{2,40}["\x27][ \t]{0,8},[ \t]{0,8}["\x27](?:w|a|r\+)"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
    ],
    matches: &[
        "```sh\nrm -rf / --no-preserve-root\n```",
        "```sh\nrm -rf ~\n```",
        "```sh\nsudo rm -rf $HOME/*\n```",
        "```sh\ndd if=/dev/zero of=/dev/sda\n```",
        "```sh\ndd if=a.iso of=/dev/sda if=/dev/zero\n```",
        "```sh\n:(){ :|:& };:\n```",
        "```bat\nvssadmin delete shadows /all\n```",
        "```python\nshutil.rmtree(os.path.expanduser('~'))\n```",
        "```python\nopen('/etc/cron.conf', 'w').write(x)\n```",
        "```sh\necho x > /etc/hosts\n```",
    ],
    clean: &[
        "```sh\nrm -rf build\n```",
        "```sh\nrm -rf /tmp/work\n```",
        "```sh\nrm -rf ~/.cache/tool\n```",
        "```sh\ndd if=/dev/zero of=disk.img\n```",
        "```sh\nsudo dd if=debian.iso of=/dev/sdb\n```",
        "Never run rm -rf /; it does not end well, see `rm -rf ./x`.",
        "```python\nopen('/etc/hosts').read()\n```",
    ],
};
