use crate::flow::{Inflow, Inflows};
use crate::rule::{Category, Exception, Pattern, Region, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "SUP_LOOK_ALIKE",
    category: Category::SupplyChain,
    severity: Severity::Warn,
    summary: "a package whose name is easily taken for a popular one",
    remedy: "Correct the name, or install the package under the name of its scope.",
    patterns: &[
        Pattern {
            note: "one letter is left out, added, replaced or swapped",
            regex: r"\b(?:(?:npm|pnpm|yarn|bun)[ \t]{1,8}(?:install|i|add|exec|dlx|x)|npx|bunx|uvx|(?:pip[0-9.]{0,4}|pipx)[ \t]{1,8}(?:install|run)|uv[ \t]{1,8}(?:pip[ \t]{1,8}install|add|tool[ \t]{1,8}(?:install|run))|(?:poetry|pdm)[ \t]{1,8}add)[ \t][^\n|;&`]{1,200}",
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[Exception::Without(Inflows::of(&[Inflow::LookAlikePackage]))],
        },
    ],
    matches: &[
        "```sh\nnpm install -D typescritp\n```",
        "Run `pip install beautifulsoup44`.",
        "```sh\nnpm i react momment\n```",
        "```sh\nuv add tensorfow\n```",
        "```sh\npython3 -m pip install panddas\n```",
    ],
    clean: &[
        "```sh\nnpm install react preact vitest\n```",
        "```sh\npip install requests httpx\n```",
        "```sh\nnpm i @me/reactt\n```",
        "```sh\nnpm run reactt\n```",
        "```python\nprint('pip install requests', file=sys.stderr)\n```",
    ],
};
