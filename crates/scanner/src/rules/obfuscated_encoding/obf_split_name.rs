use crate::rule::{Category, Pattern, Region, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "OBF_SPLIT_NAME",
    category: Category::ObfuscatedEncoding,
    severity: Severity::Critical,
    summary: "a name split into parts, so that a search does not find the call",
    remedy: "Write the name out.",
    patterns: &[
        Pattern {
            note: "of Python",
            regex: r#"\b(?:getattr|__import__|import_module)\([^\n]{0,80}?["\x27]\w{1,16}["\x27][ \t]{0,8}\+[ \t]{0,8}["\x27]\w{1,16}["\x27]|\b(?:globals|locals|vars)\(\)[ \t]{0,4}\[[ \t]{0,4}["\x27]__builtins__|\b__builtins__(?:\.__dict__)?[ \t]{0,4}\[|\bgetattr\([ \t]{0,4}(?:__builtins__|builtins|__import__\()"#,
            regions: Regions::of(&[Region::Code]),
            exceptions: &[],
        },
        Pattern {
            note: "of JavaScript",
            regex: r#"(?:\brequire[ \t]{0,4}\(|\b(?:globalThis|window|process|global|self)[ \t]{0,4}\[)[ \t]{0,4}["\x27`]\w{1,16}["\x27`][ \t]{0,4}\+[ \t]{0,4}["\x27`]|\[[ \t]{0,4}["\x27`]constructor["\x27`][ \t]{0,4}\][ \t]{0,4}\((?:[ \t]{0,4}atob\(|[^\n)]{0,60}\)[ \t]{0,4}\()|\bset(?:Timeout|Interval)\([ \t]{0,4}atob\("#,
            regions: Regions::of(&[Region::Code]),
            exceptions: &[],
        },
        Pattern {
            note: "of PowerShell",
            regex: r#"(?i)["\x27]i["\x27][ \t]{0,4}\+[ \t]{0,4}["\x27]e["\x27]?[ \t]{0,4}\+?[ \t]{0,4}["\x27]?x|\{[ \t]{0,4}\[char\][ \t]{0,4}(?:\$_|\(?\[(?:int|convert)\])|\[char\][ \t]{0,4}(?:0x)?[0-9a-f]{2,3}[ \t]{0,4}\+[ \t]{0,4}\[char\]"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
        Pattern {
            note: "a program of Perl or Ruby in digits",
            regex: r#"\b(?:system|exec|eval)[ \t]{0,4}\(?[ \t]{0,4}(?:pack[ \t]{0,4}\(?[ \t]{0,4}["\x27\\]{1,2}[Hu]|\[[^\n\]]{1,400}\]\.pack)"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
    ],
    matches: &[
        "```python\ngetattr(__builtins__, 'ex' + 'ec')(p)\n```",
        "```python\ngetattr(__import__('os'), 'sys'+'tem')(c)\n```",
        "```python\nglobals()['__builtins__']['ev'+'al'](s)\n```",
        "```js\nrequire('child' + '_process')\n```",
        "```js\n[]['filter']['constructor'](atob(p))()\n```",
        "```js\nsetTimeout(atob('YWxlcnQoMSk='), 0)\n```",
        "```powershell\n& ('i'+'ex') $x\n```",
        "```powershell\n$n = 105,101,120 | % {[char]$_}\n```",
        "```sh\nperl -e 'system(pack(\"H*\",\"6375726c\"))'\n```",
        "```python\nm = __import__('o' + 's')\n```",
    ],
    clean: &[
        "```python\ngetattr(self, 'visit_' + name)(node)\n```",
        "```python\ngetattr(obj, 'name', 'a' if x else 'b')\n```",
        "```js\nrequire('./' + name)\n```",
        "```js\nthis.constructor(options)\n```",
        "```js\nsetTimeout(() => run(), 0)\n```",
        "```powershell\n[char]65\n```",
    ],
};
