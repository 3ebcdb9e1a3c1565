use crate::flow::{Inflow, Inflows};
use crate::rule::{Category, Exception, Pattern, Region, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "SUP_PACKAGE_ADDRESS",
    category: Category::SupplyChain,
    severity: Severity::Warn,
    summary: "a package that is installed from an address or a repository and not from a registry",
    remedy: "Install a published version from the registry, or pin a commit or checksum that the user has reviewed.",
    patterns: &[
        Pattern {
            note: "an address or a short form of a code host, of an unknown vendor",
            regex: r"\b(?:npm|pnpm|yarn|bun|npx|bunx|pnpx|pip[0-9.]{0,4}|pipx|uvx?|poetry|pdm|cargo|go|gem)[ \t][^\n|;&`]{0,160}?(?:https?://|git://|ssh://|git\+|github:|gitlab:|bitbucket:|gist:|git@)",
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[Exception::Without(Inflows::of(&[Inflow::PackageAddress]))],
        },
        Pattern {
            note: "a repository in the short form of npm",
            regex: r"\b(?:npm[ \t]{1,8}(?:install|i)|(?:pnpm|yarn|bun)[ \t]{1,8}add|npx)[ \t][^\n|;&`@/:]{0,80}?[\w-]{1,40}/[\w.-]{1,60}",
            regions: Regions::of(&[Region::Shell, Region::InlineCode]),
            exceptions: &[Exception::Without(Inflows::of(&[Inflow::PackageAddress]))],
        },
        Pattern {
            note: "a tap of Homebrew",
            regex: r"\bbrew[ \t]{1,8}(?:tap|install)[ \t]{1,8}(?:--?\w{1,20}[ \t]{1,8}){0,3}[\w-]{1,40}/[\w-]{1,40}",
            regions: Regions::of(&[Region::Code, Region::Shell, Region::InlineCode]),
            exceptions: &[Exception::Without(Inflows::of(&[Inflow::PackageAddress]))],
        },
        Pattern {
            note: "a server or a task that a program of settings starts",
            regex: r#"\x22command\x22[ \t]{0,4}:[ \t]{0,4}\x22(?:npx|bunx|uvx|pipx)\x22\s{0,40},\s{0,40}\x22args\x22[ \t]{0,4}:[ \t]{0,4}\[\s{0,40}(?:\x22-[\w=-]{0,30}\x22\s{0,4},\s{0,40}){0,4}\x22(?:https?://|git://|git\+|github:|gitlab:|bitbucket:|gist:|git@)"#,
            regions: Regions::of(&[Region::Code, Region::InlineCode]),
            exceptions: &[Exception::After(r"^(?:(?:https://)?github\.com/)?(?i:{vendors})/")],
        },
    ],
    matches: &[
        "```sh\nnpx -y github:someone-else/tool\n```",
        "Run `pip install git+https://git.example/x/tool`.",
        "```sh\nnpm install someone-else/tool\n```",
        "```sh\nbrew tap someone-else/tools && brew install helper\n```",
        "```json\n{\"command\": \"npx\", \"args\": [\"-y\", \"github:someone-else/tool\"]}\n```",
    ],
    clean: &[
        "```sh\npip install git+https://github.com/huggingface/transformers\n```",
        "```sh\nnpm install @scope/name react\n```",
        "```sh\nbrew install hashicorp/tap/terraform jq\n```",
        "```sh\nnpx create-next-app my/app\n```",
        "```json\n{\"command\": \"npx\", \"args\": [\"-y\", \"github:microsoft/tool\"]}\n```",
        "```json\n{\"command\": \"uvx\", \"args\": [\"git+https://github.com/astral-sh/tool\"]}\n```",
        "Use npm, see https://e.example.",
        "```json\n{\"command\": \"npx\", \"args\": [\"mcp-remote\", \"https://e.example/mcp\"]}\n```",
    ],
};
