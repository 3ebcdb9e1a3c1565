use crate::rule::{Category, Pattern, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "SUP_INTERNAL_PACKAGE",
    category: Category::SupplyChain,
    severity: Severity::Warn,
    summary: "a package of an internal index, whose name an attacker can publish elsewhere",
    remedy: "Name the index with its address, and pin the package by its checksum.",
    patterns: &[
        Pattern {
            note: "install it from an internal index",
            regex: r"(?i)\binstall(?:ed|s)?[ \t]{1,8}(?:it[ \t]{1,8})?from[ \t]{1,8}(?:the[ \t]{1,8}|our[ \t]{1,8}|an?[ \t]{1,8})?(?:internal|private|company|corporate)[ \t]{1,8}(?:registry|index|feed|repository|pypi|npm)\b|\bwrapper[ \t]{1,8}for[ \t]{1,8}internal[ \t]{1,8}package\b",
            regions: Regions::ANY,
            exceptions: &[],
        },
    ],
    matches: &[
        "Install from internal registry before use.",
        "It is installed from our private index.",
        "Wrapper for internal package acme-loader.",
    ],
    clean: &[
        "Push the image to a private registry.",
        "Install from PyPI.",
        "The registry is internal.",
    ],
};
