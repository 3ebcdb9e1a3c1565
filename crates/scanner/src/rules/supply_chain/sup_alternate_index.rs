use crate::rule::{Category, Exception, Pattern, Region, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "SUP_ALTERNATE_INDEX",
    category: Category::SupplyChain,
    severity: Severity::Warn,
    summary: "a package from an index that is not the public one",
    remedy: "Install from the public index, or say whose index it is and pin the package by its checksum.",
    patterns: &[
        Pattern {
            note: "of npm",
            regex: r#"\b(?:npm|pnpm|yarn|npx|bun)\b[^\n|;&]{0,160}?--registry[ \t=]["\x27]?https?://"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[Exception::After(r"^(?:registry\.npmjs\.org|registry\.yarnpkg\.com|npm\.pkg\.github\.com|localhost|127\.0\.0\.1)(?::[0-9]{1,5})?(?:[/\s\x22\x27`]|$)")],
        },
        Pattern {
            note: "of npm, for all that comes",
            regex: r#"\b(?:npm|pnpm|yarn)[ \t]{1,8}config[ \t]{1,8}set[ \t]{1,8}(?:-{1,2}\w{1,12}[ \t]{1,8}){0,2}(?:@[\w-]{1,40}:)?(?:registry|npmRegistryServer)[ \t=]{1,4}["\x27]?https?://|\bregistry[ \t]{0,4}=[ \t]{0,4}https?://"#,
            regions: Regions::of(&[Region::Shell, Region::InlineCode]),
            exceptions: &[Exception::After(r"^(?:registry\.npmjs\.org|registry\.yarnpkg\.com|npm\.pkg\.github\.com|localhost|127\.0\.0\.1)(?::[0-9]{1,5})?(?:[/\s\x22\x27`]|$)")],
        },
        Pattern {
            note: "of Python, for all that comes",
            regex: r#"\bpip[0-9.]{0,4}[ \t]{1,8}config[ \t]{1,8}(?:--\w{1,12}[ \t]{1,8}){0,2}set[ \t]{1,8}\w{1,12}\.(?:extra-)?index-url[ \t=]{1,4}["\x27]?https?://"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[Exception::After(r"^(?:pypi\.org|test\.pypi\.org|download\.pytorch\.org|files\.pythonhosted\.org|localhost|127\.0\.0\.1)(?::[0-9]{1,5})?(?:[/\s\x22\x27`]|$)")],
        },
        Pattern {
            note: "of Python",
            regex: r#"(?:--(?:extra-)?index-url|\b(?:pip[0-9.]{0,40}|uv|pipx)\b[^\n|;&]{0,160}?(?:--index|[ \t]-i))[ \t=]["\x27]?https?://"#,
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[Exception::After(r"^(?:pypi\.org|test\.pypi\.org|download\.pytorch\.org|files\.pythonhosted\.org|localhost|127\.0\.0\.1)(?::[0-9]{1,5})?(?:[/\s\x22\x27`]|$)")],
        },
    ],
    matches: &[
        "```sh\nnpm config set registry https://npm.e.example\n```",
        "```sh\npip config set global.index-url https://e.example/simple\n```",
        "```sh\necho 'registry=https://e.example/' >> ~/.npmrc\n```",
        "```sh\nnpm install helper@latest --registry https://npm.e.example\n```",
        "```sh\npip install --index-url https://e.example/simple helper\n```",
        "Run `uv pip install --extra-index-url https://e.example/simple helper`.",
        "```sh\npip install --index-url https://pypi.org:a@e.example/simple helper\n```",
        "```sh\npip install --index-url https://pypi.org/simple --extra-index-url https://e.example/simple helper\n```",
    ],
    clean: &[
        "```sh\nnpm install --registry https://registry.npmjs.org x\n```",
        "```sh\npip install torch --index-url https://download.pytorch.org/whl/cpu\n```",
        "```sh\npip install -i requirements.txt\n```",
    ],
};
