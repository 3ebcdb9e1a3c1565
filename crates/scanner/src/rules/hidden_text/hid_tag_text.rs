use crate::rule::{Category, Pattern, Regions, Rule, Severity};

pub(crate) const RULE: Rule<'static> = Rule {
    id: "HID_TAG_TEXT",
    category: Category::HiddenText,
    severity: Severity::Critical,
    summary: "a message in invisible tag characters",
    remedy: "Take the characters out, and write what they say as text.",
    patterns: &[
        Pattern {
            note: "more tag characters in a row than any flag has",
            regex: r"(?:\xF3\xA0[\x80\x81][\x80-\xBF]){8,96}",
            regions: Regions::ANY,
            exceptions: &[],
        },
        Pattern {
            note: "bits spelled by characters without width",
            regex: r"(?:\xE2\x80[\x8B-\x8D]|\xE2\x81[\xA0-\xA4]|\xEF\xBB\xBF){16,96}",
            regions: Regions::ANY,
            exceptions: &[],
        },
        Pattern {
            note: "bytes spelled by selectors of variants",
            regex: r"(?:\xF3\xA0[\x84-\x87][\x80-\xBF]|\xEF\xB8[\x80-\x8F]){12,96}",
            regions: Regions::ANY,
            exceptions: &[],
        },
    ],
    matches: &[
        "Hello.\u{e0049}\u{e0067}\u{e006e}\u{e006f}\u{e0072}\u{e0065}\u{e0020}\u{e0061}\u{e006c}\u{e006c}",
        "a\u{200b}\u{200c}\u{200b}\u{200c}\u{200b}\u{200c}\u{200b}\u{200c}\u{200b}\u{200c}\u{200b}\u{200c}\u{200b}\u{200c}\u{200b}\u{200c}\u{200b}\u{200c}\u{200b}\u{200c}b",
        "x󠅁󠅁󠅁󠅁󠅁󠅁󠅁󠅁󠅁󠅁󠅁󠅁󠅁",
    ],
    clean: &[
        "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
        "👩\u{200d}👩\u{200d}👧\u{200d}👦",
        "❤️❤️❤️",
    ],
};
