use crate::rule::{Category, Pattern, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "OBF_HEX_LONG",
    category: Category::ObfuscatedEncoding,
    severity: Severity::Warn,
    summary: "Long hex-escaped string (20+ sequences)",
    remedy: "Write the text plainly.",
    patterns: &[
        Pattern {
            note: "\\x41",
            regex: r#"(?:\\x[0-9a-fA-F]{2}[, \t'\x22+]{0,4}){20,}"#,
            regions: Regions::ANY,
            exceptions: &[],
        },
        Pattern {
            note: "\\u0041, for characters that need no escape",
            regex: r#"(?:\\u(?:00[2-7][0-9a-fA-F]|\{0{0,4}[2-7][0-9a-fA-F]\})[, \t'\x22+]{0,4}){20,}"#,
            regions: Regions::ANY,
            exceptions: &[],
        },
        Pattern {
            note: "\\101, octal",
            regex: r#"(?:\\[01][0-7]{2}[, \t'\x22+]{0,4}){20,}"#,
            regions: Regions::ANY,
            exceptions: &[],
        },
        Pattern {
            note: "0x41 in a list",
            regex: r"(?:\b0x[0-9a-fA-F]{2}[ \t]{0,4},\s{0,16}){19,}0x[0-9a-fA-F]{2}\b",
            regions: Regions::ANY,
            exceptions: &[],
        },
        Pattern {
            note: "&#x41; and &#65;",
            regex: r"(?:&#(?:x[2-7][0-9a-fA-F]|[3-9][0-9]|1[01][0-9]|12[0-7]);){20,}",
            regions: Regions::ANY,
            exceptions: &[],
        },
        Pattern {
            note: "%41, for letters that need no escape",
            regex: r"(?:%(?:4[1-9a-fA-F]|5[0-9aA]|6[1-9a-fA-F]|7[0-9aA]|3[0-9])){20,}",
            regions: Regions::ANY,
            exceptions: &[],
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
