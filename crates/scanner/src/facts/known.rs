//! Addresses from which everybody downloads: an author of a skill cannot put a file there.

use crate::expression::Expression;
use crate::fragments::words;

/// Hosts of vendors whose downloads are meant to be run, and this machine itself.
static HOSTS: Expression = Expression::new(
    r"(?i)^(?:https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?:[:/]|$)|https://(?:(?:{installer-hosts})(?:[/?#]|$)|apt\.llvm\.org/|bootstrap\.pypa\.io/|repo\.(?:anaconda|continuum)\.(?:com|io)/|micro\.mamba\.pm/|awscli\.amazonaws\.com/|dl\.google\.com/|dl\.k8s\.io/|download\.docker\.com/|packages\.microsoft\.com/|get\.nextflow\.io(?:/|$)|releases\.hashicorp\.com/|nodejs\.org/dist/|static\.rust-lang\.org/|go\.dev/dl/|download\.pytorch\.org/))",
);

/// Installers in repositories that anyone may know.
static REPOSITORIES: Expression = Expression::new(
    r"(?i)^https://(?:raw\.githubusercontent\.com|github\.com)/(?:{installer-repositories}|conda-forge/miniforge|mamba-org/[\w-]+)/",
);

/// Hosts that serve files of repositories.
const SERVERS: [&str; 2] = ["https://raw.githubusercontent.com/", "https://github.com/"];

/// Whether an address is one of these.
pub(super) fn is_known(address: &str) -> bool {
    HOSTS.is_match(address) || REPOSITORIES.is_match(address) || is_of_vendor(address)
}

/// Whether an account at a code host is a vendor's.
pub(super) fn is_vendor(owner: &str) -> bool {
    words("vendors").any(|vendor| vendor.eq_ignore_ascii_case(owner))
}

/// Whether it leads into a repository of a vendor, by a branch or tag. A commit may be of a fork, which anyone can make.
fn is_of_vendor(address: &str) -> bool {
    let Some(path) = SERVERS.iter().find_map(|server| address.strip_prefix(server)) else { return false };
    let mut parts = path.split('/');
    parts.next().is_some_and(is_vendor) && !parts.any(is_commit)
}

fn is_commit(part: &str) -> bool {
    part.len() >= 7 && part.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::is_known;
    use crate::fragments::words;
    use crate::{Scanner, Syntax, facts_of};

    #[test]
    fn an_address_is_known_by_what_no_author_of_a_skill_can_claim() {
        for (address, expected) in [
            ("https://get.docker.com", true),
            ("https://get.docker.com/", true),
            ("https://get.docker.com.e.example/", false),
            ("http://get.docker.com/", false),
            ("http://localhost:8080/x", true),
            ("http://localhost.e.example/x", false),
            ("https://raw.githubusercontent.com/nvm-sh/nvm/v0.40.0/install.sh", true),
            ("https://raw.githubusercontent.com/NVIDIA/x/main/install.sh", true),
            (
                "https://raw.githubusercontent.com/NVIDIA/x/0123456789abcdef0123456789abcdef01234567/install.sh",
                false,
            ),
            ("https://github.com/microsoft/x/releases/download/v1/x", true),
            ("https://github.com/micros0ft/x/releases/download/v1/x", false),
            ("https://e.example/https://get.docker.com/", false),
        ] {
            assert_eq!(is_known(address), expected, "{address}");
        }
    }

    /// The table of vendors is read by facts about downloads and packages, and by patterns about settings.
    #[test]
    fn every_reader_knows_the_same_vendors() {
        let plain =
            |name: &str| name.bytes().all(|byte| byte.is_ascii_lowercase() || b"0123456789-".contains(&byte));
        assert!(words("vendors").count() > 50 && words("vendors").all(plain));
        for (owner, expected) in words("vendors").map(|owner| (owner, true)).chain([("some-author", false)]) {
            assert_eq!(is_known(&format!("https://github.com/{owner}/x/releases/download/v1/x")), expected);
            for text in [
                format!("```json\n{{\"command\": \"npx\", \"args\": [\"-y\", \"github:{owner}/x\"]}}\n```"),
                format!("```sh\npip install git+https://github.com/{owner}/x\n```"),
            ] {
                assert_eq!(Scanner::builtin().scan(&text).clean(), expected, "{text}");
            }
            let install = format!("```sh\nnpx github:{owner}/x\n```");
            let facts = facts_of(&install, Syntax::Markdown);
            assert_eq!(
                facts.packages.iter().map(|one| one.known_vendor).collect::<Vec<_>>(),
                [expected],
                "{owner}"
            );
        }
    }
}
