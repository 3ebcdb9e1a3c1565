//! Addresses from which everybody downloads: an author of a skill cannot put a file there.

use crate::expression::Expression;

/// Hosts of vendors whose downloads are meant to be run, and this machine itself.
static HOSTS: Expression = Expression::new(
    r"(?i)^(?:https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?:[:/]|$)|https://(?:(?:{installer-hosts})(?:[/?#]|$)|apt\.llvm\.org/|bootstrap\.pypa\.io/|repo\.(?:anaconda|continuum)\.(?:com|io)/|micro\.mamba\.pm/|awscli\.amazonaws\.com/|dl\.google\.com/|dl\.k8s\.io/|download\.docker\.com/|packages\.microsoft\.com/|get\.nextflow\.io(?:/|$)|releases\.hashicorp\.com/|nodejs\.org/dist/|static\.rust-lang\.org/|go\.dev/dl/|download\.pytorch\.org/))",
);

/// Installers in repositories that anyone may know.
static REPOSITORIES: Expression = Expression::new(
    r"(?i)^https://(?:raw\.githubusercontent\.com|github\.com)/(?:{installer-repositories}|conda-forge/miniforge|mamba-org/[\w-]+)/",
);

/// Accounts of vendors at GitHub, in small letters.
const VENDORS: &[&str] = &[
    "actions",
    "anchore",
    "anthropics",
    "apache",
    "apple",
    "aquasecurity",
    "argoproj",
    "astral-sh",
    "aws",
    "aws-samples",
    "awslabs",
    "azure",
    "azure-samples",
    "bazelbuild",
    "bufbuild",
    "cli",
    "cloudflare",
    "databricks",
    "datadog",
    "denoland",
    "docker",
    "dotnet",
    "elastic",
    "expo",
    "facebook",
    "getsentry",
    "github",
    "golang",
    "google",
    "google-gemini",
    "googleapis",
    "googlecloudplatform",
    "grafana",
    "hashicorp",
    "helm",
    "homebrew",
    "huggingface",
    "istio",
    "jetbrains",
    "kubernetes",
    "kubernetes-sigs",
    "llvm",
    "microsoft",
    "moby",
    "modelcontextprotocol",
    "mongodb",
    "netlify",
    "nodejs",
    "nvidia",
    "nvidia-ai-blueprints",
    "nvidia-holoscan",
    "nvidia-medtech",
    "nvidia-nemo",
    "nvlabs",
    "openai",
    "oven-sh",
    "powershell",
    "prometheus",
    "pulumi",
    "pypa",
    "python",
    "pytorch",
    "redis",
    "rust-lang",
    "shopify",
    "sigstore",
    "stripe",
    "supabase",
    "tensorflow",
    "vercel",
    "vercel-labs",
];

/// Hosts that serve files of repositories.
const SERVERS: [&str; 2] = ["https://raw.githubusercontent.com/", "https://github.com/"];

/// Whether an address is one of these.
pub(super) fn is_known(address: &str) -> bool {
    HOSTS.is_match(address) || REPOSITORIES.is_match(address) || is_of_vendor(address)
}

/// Whether an account at GitHub is a vendor's.
pub(super) fn is_vendor(owner: &str) -> bool {
    VENDORS.contains(&owner.to_ascii_lowercase().as_str())
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
}
