use crate::rule::{Category, Pattern, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "CRYPTO_STRATUM",
    category: Category::CryptoMining,
    severity: Severity::Critical,
    summary: "Mining pool protocol (stratum://)",
    remedy: "Remove the address of the mining pool.",
    patterns: &[Pattern {
        note: "the protocol with any version and transport",
        regex: r"(?i)\b(?:(?:eth)?stratum|ethproxy)[0-9]?(?:(?:\+|%2b)[a-z0-9]{0,8})?(?::|%3a)(?:(?:\\?/){2}|%2f%2f)",
        regions: Regions::ANY,
        exceptions: &[],
    }],
    matches: &[
        "stratum://pool.example:3333",
        "stratum+tcp://p",
        "STRATUM+SSL://p",
        "stratum2+tcp://pool:3333",
        "stratum+tls://pool:3333",
        "\"stratum+tcp:\\/\\/pool:3333\"",
        "stratum%2Btcp%3A%2F%2Fpool",
        "ethproxy+tcp://pool:3333",
    ],
    clean: &["the stratum of rock", "strata://x", "a stratum + tcp"],
};
