use crate::flow::{Inflow, Inflows};
use crate::rule::{Category, Exception, Pattern, Region, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "PERSIST_STARTUP_WRITE",
    category: Category::Persistence,
    severity: Severity::Warn,
    summary: "a program that makes something start by itself",
    remedy: "Let the user decide what starts by itself, and show what is to be written.",
    patterns: &[
        Pattern {
            note: "a file that starts programs is opened to be written",
            regex: r#"\bopen\([^\n]{0,160}?,[ \t]{0,8}["\x27](?:a|w)[bt+]{0,2}["\x27]|\.write_text\(|\bfs\.(?:promises\.)?(?:append|write)File(?:Sync)?\("#,
            regions: Regions::of(&[Region::Code]),
            exceptions: &[Exception::Without(Inflows::of(&[Inflow::StartupFile]))],
        },
        Pattern {
            note: "a key for those who may log in",
            regex: r#"\bauthorized_k\w{1,4}["\x27`]\)?[ \t]{0,8},[ \t]{0,8}["\x27](?:a|w)"#,
            regions: Regions::of(&[Region::Code]),
            exceptions: &[],
        },
        Pattern {
            note: "the registry or the tasks of Windows",
            regex: r#"(?i)\breg(?:\.exe)?[ \t]{1,8}add[ \t]{1,8}["\x27]?hk(?:cu|lm|ey_\w{1,20})\\[^\n]{0,80}?\\currentversion\\run(?:once)?\b|\b(?:new|set)-itemproperty\b[^\n]{0,120}?\\currentversion\\run(?:once)?\b|\bschtasks(?:\.exe)?[ \t]{1,8}/create\b[^\n]{0,160}?\bonlogon\b"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "hooks of git in every project",
            regex: r#"\bgit[ \t]{1,8}config[ \t]{1,8}(?:--global|--system)[ \t]{1,8}(?:--\w{1,12}[ \t]{1,8})?core\.hookspath[ \t]{1,8}["\x27]?(?i:/tmp|/var/tmp|/dev/shm|~/\.|\$HOME/\.)|\bgit[ \t]{1,8}config[ \t]{1,8}(?:--global|--system)[ \t]{1,8}core\.hooksPath[ \t]{1,8}["\x27]?(?:/tmp|/var/tmp|/dev/shm|~/\.|\$HOME/\.)"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
    ],
    matches: &[
        "```python\nwith open(os.path.expanduser('~/.bashrc'), 'a') as f:\n    f.write(x)\n```",
        "```js\nfs.appendFileSync(home + '/.zshrc', line)\n```",
        "```python\nwith open(os.path.expanduser('~/.ssh/authorized_keys'), 'a') as f:\n    f.write(k)\n```",
        "```powershell\nreg add HKCU\\Software\\Microsoft\\Windows\\CurrentVersion\\Run /v x /d C:\\x.exe\n```",
        "```powershell\nschtasks /create /sc onlogon /tn x /tr C:\\x.exe\n```",
        "```sh\ngit config --global core.hooksPath /tmp/.h\n```",
        "```powershell\nREG.EXE ADD HKLM\\Software\\Microsoft\\Windows\\CurrentVersion\\RunOnce /v x\n```",
    ],
    clean: &[
        "```python\nwith open('notes.txt', 'a') as f:\n    f.write(x)\n```",
        "```python\ntext = open(os.path.expanduser('~/.bashrc')).read()\n```",
        "```js\nfs.writeFileSync('out.json', s)\n```",
        "```sh\ngit config core.hooksPath .githooks\n```",
        "```sh\nschtasks /query\n```",
    ],
};
