//! Memory use of cleaning, counted in allocations.

use allocation_counter::{AllocationInfo, measure};
use stockade_sanitize::{SanitizeOptions, sanitize};

fn cost(text: &str) -> AllocationInfo {
    // Tables that are built once per process do not count.
    drop(sanitize("<!-- warm up --> [a]: b", &SanitizeOptions::default()));
    measure(|| drop(sanitize(text, &SanitizeOptions::default())))
}

#[test]
fn a_text_that_stays_as_it_is_costs_nothing() {
    let texts = [
        "Plain ASCII, with <tags a=b>, [links]: #there and `code`.\n\tTabs too.\n".repeat(100),
        "→ Symbols — “quotes” │ boxes ─ ✅ and \u{2764}\u{fe0f} emoji 1\u{fe0f}\u{20e3}.\n".repeat(100),
        "日本語と한국어、русский язык, ελληνικά.\n".repeat(100),
        "हिन्दी में लिखा, বাংলা, தமிழ், ภาษาไทย, עִבְרִית, العَرَبِيَّة\n".repeat(100),
        "Marks that stay: x\u{301} q\u{323}\u{302}\n".repeat(100),
    ];
    for text in texts {
        let clean = sanitize(&text, &SanitizeOptions::default());
        assert!(!clean.changed(), "{}", clean.body);
        assert_eq!(cost(&text).count_total, 0, "{text}");
    }
}

#[test]
fn a_small_change_costs_one_copy() {
    let text = format!("Long text. {} Ｗｉｄｅ.", "More. ".repeat(1_000));
    assert_eq!(cost(&text).count_total, 1);
}

#[test]
fn an_expansion_bomb_costs_no_more_than_six_times_the_limit() {
    let limit = SanitizeOptions::default().max_chars as u64;
    for (name, bomb) in [
        ("phrase ligatures", "\u{fdfa}".repeat(200_000)),
        ("phrase ligatures and a comment to be", format!("＜!---->{}", "\u{fdfa}".repeat(200_000))),
        ("marks", format!("a{}", "\u{301}\u{316}".repeat(200_000))),
        ("decomposing marks", format!("a{}", "\u{344}".repeat(200_000))),
        ("musical notes of eight bytes", "\u{1d160}".repeat(200_000)),
        ("hangul vowels", "\u{1161}".repeat(200_000)),
        ("zero widths", "\u{200b}".repeat(200_000)),
        ("a hidden message", "\u{e0041}".repeat(200_000)),
        ("openers to be", "＜!-".repeat(100_000)),
    ] {
        let peak = cost(&bomb).bytes_max;
        assert!(peak <= 6 * limit, "{name}: {peak} bytes for a limit of {limit} characters");
    }
}
