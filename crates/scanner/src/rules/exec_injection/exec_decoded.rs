use crate::flow::{Inflow, Inflows};
use crate::rule::{Category, Exception, Pattern, Region, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "EXEC_DECODED",
    category: Category::ExecInjection,
    severity: Severity::Critical,
    summary: "decoded data run as a program",
    remedy: "Write the program out, so that it can be read before it runs.",
    patterns: &[
        Pattern {
            note: "by an interpreter of Python or JavaScript",
            regex: r"\b(?:exec|eval|compile)[ \t]{0,4}\(|\bnew[ \t]{1,8}Function[ \t]{0,4}\(|\bvm\.runIn\w{1,16}\(|\b__import__[ \t]{0,4}\(",
            regions: Regions::of(&[Region::Code]),
            exceptions: &[DECODED, NAMESAKE],
        },
        Pattern {
            note: "by a shell",
            regex: r#"(?:^|[;&|({][ \t]{0,8}|[ \t])eval[ \t]{1,8}["\x27$`]|\b(?:ba|z|da|k)?sh[ \t]{1,8}-c[ \t]{1,8}(?:\\?["\x27])?[$`]|\|[ \t]{0,8}(?:sudo[ \t]{1,8})?(?:ba|z|da|k)?sh\b[ \t]{0,8}(?:-s?[ \t]{0,8})?(?:$|[\r)"\x27`;&|])|\b(?:python3?|node|perl|ruby)[ \t]{1,8}-[ce][ \t]{1,8}(?:\\?["\x27])?\$|(?i:\b(?:iex|invoke-expression)\b)"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[DECODED, Exception::After(r"^[ \t]*-[^cC]")],
        },
        Pattern {
            note: "as a command of another program",
            regex: r"\bos\.(?:system|popen)\(|\bsubprocess\.(?:run|call|Popen|check_output|check_call|getoutput)\(|\b(?:child_process|cp)\.\w{1,12}\(|\b(?:execSync|spawnSync|execFileSync)\(",
            regions: Regions::of(&[Region::Code]),
            exceptions: &[DECODED, LIST],
        },
        Pattern {
            note: "by what makes objects, modules or delayed calls of it",
            regex: r"\b__import__\([^)\n]{1,20}\)\.(?:system|popen|run|call|Popen|check_output)\(|\b(?:pickle|cPickle|dill|marshal|shelve)\.loads?[ \t]{0,4}\(|\bimport_module[ \t]{0,4}\(|\byaml\.(?:unsafe_load|full_load)[ \t]{0,4}\(",
            regions: Regions::of(&[Region::Code]),
            exceptions: &[DECODED],
        },
        Pattern {
            note: "by the same, named by what holds it",
            regex: r"\b(?:window|globalThis|builtins|__builtins__)\.(?:exec|eval|compile|Function)[ \t]{0,4}\(",
            regions: Regions::of(&[Region::Code]),
            exceptions: &[DECODED],
        },
    ],
    matches: &[
        "```python\np = base64.b64decode(blob)\nexec(p)\n```",
        "```python\nfrom base64 import b64decode as d\nexec(d(blob))\n```",
        "```python\n__import__('os').system(base64.b64decode(c).decode())\n```",
        "```python\npickle.loads(base64.b64decode(data))\n```",
        "```python\nk = Fernet(key).decrypt(blob)\nexec(k)\n```",
        "```python\nd = bytes(b ^ k[i % 3] for i, b in enumerate(blob))\nexec(d)\n```",
        "```python\nc = chr(99)+chr(117)+chr(114)+chr(108)\nos.system(c)\n```",
        "```js\nconst p = Buffer.from(c, 'base64').toString();\neval(p);\n```",
        "```sh\nx=$(echo aGk= | base64 -d)\neval \"$x\"\n```",
        "```sh\nP=$(echo aGk= | base64 --decode)\nbash -c \"$P\"\n```",
        "```python\nk = ''.join(chr(c ^ 7) for c in data)\nos.system(k)\n```",
        "```js\nconst c = a.map(x => String.fromCharCode(x)).join('');\nnew Function(c)();\n```",
        "```python\np = base64.b64decode(blob)\nbuiltins.exec(p)\n```",
        "```python\nargs = base64.b64decode(blob)\nos.system(args)\n```",
        "```python\np = base64.b64decode(blob)\nsubprocess.run([\"bash\", \"-c\", p])\n```",
        "```powershell\n$d = [Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('aGk='))\nInvoke-Expression -Command $d\n```",
        "```json\n{\"args\": [\"-c\", \"bash -c \\\"$(echo d2hvYW1pCg== | base64 -d)\\\"\"]}\n```",
    ],
    clean: &[
        "```python\nwith open('cache.pkl', 'rb') as f:\n    d = pickle.load(f)\n```",
        "```python\nimg = base64.b64decode(r['data'])\nopen('a.png', 'wb').write(img)\n```",
        "```js\nconst m = pattern.exec(atob(x));\n```",
        "```sh\necho \"$CERT\" | base64 -d > cert.pem\n```",
        "```python\nb = base64.b64decode(x)\nsubprocess.run(['ffmpeg', '-i', path])\n```",
    ],
};

/// An argument list whose first item is not a shell, and that passes a program to none.
const LIST: Exception<'static> = Exception::After(
    r#"^[ \t]*\[[ \t]*(?:["\x27](?:[^"\x27\n]{0,80}[^"\x27h\n]|[^"\x27\n]{0,80}[^s"\x27\n]h)["\x27]|[\w.]{1,80}[ \t]*[,\]])(?:[^-\n]|-[^ce\n]|-[ce][^"\x27\n])*$"#,
);

/// No decoded data is run.
const DECODED: Exception<'static> = Exception::Without(Inflows::of(&[Inflow::Decoded]));

/// Unrelated methods of the same name.
const NAMESAKE: Exception<'static> = Exception::Before(r"(?:[.$\-]|->|::|\bdef[ \t]+|\bre\.)$");
