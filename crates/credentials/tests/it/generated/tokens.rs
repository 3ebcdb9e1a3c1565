//! Secrets as their issuers make them, passwords as users choose them, and harmless words that look like either.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use super::numbers::Numbers;

const ALNUM: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const WORD: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const LOWER_ALNUM: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
const HEX: &str = "0123456789abcdef";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const DIGITS: &str = "0123456789";

/// What is fixed of a token, and the alphabets and lengths of what varies.
type Shape = (&'static str, &'static [(&'static str, &'static str, usize)]);

/// The issuers, and for each part of a token its prefix, its alphabet and its length.
#[rustfmt::skip]
const SHAPES: &[Shape] = &[
    ("GitHub", &[("ghp_", ALNUM, 36)]),
    ("GitHub", &[("gho_", ALNUM, 36)]),
    ("GitHub", &[("ghs_", ALNUM, 36)]),
    ("GitHub", &[("github_pat_", ALNUM, 22), ("_", ALNUM, 59)]),
    ("GitLab", &[("glpat-", WORD, 20)]),
    ("GitLab", &[("glpat-", WORD, 27), (".01.", LOWER_ALNUM, 9)]),
    ("AWS", &[("AKIA", BASE32, 16)]),
    ("AWS", &[("ASIA", BASE32, 16)]),
    ("AWS", &[("", BASE64, 40)]),
    ("AWS", &[("IQoJb3JpZ2luX2VjE", BASE64, 400)]),
    ("Anthropic", &[("sk-ant-api03-", WORD, 93), ("AA", "", 0)]),
    ("Anthropic", &[("sk-ant-oat01-", WORD, 93), ("AA", "", 0)]),
    ("Anthropic", &[("sk-ant-admin01-", WORD, 93), ("AA", "", 0)]),
    ("OpenAI", &[("sk-proj-", WORD, 74), ("T3BlbkFJ", WORD, 74)]),
    ("OpenAI", &[("sk-svcacct-", WORD, 74), ("T3BlbkFJ", WORD, 74)]),
    ("OpenAI", &[("sk-", ALNUM, 20), ("T3BlbkFJ", ALNUM, 20)]),
    ("OpenRouter", &[("sk-or-v1-", HEX, 64)]),
    ("Slack", &[("xoxb-", DIGITS, 12), ("-", DIGITS, 13), ("-", ALNUM, 24)]),
    ("Slack", &[("xoxp-", DIGITS, 12), ("-", DIGITS, 12), ("-", DIGITS, 13), ("-", HEX, 32)]),
    ("Slack", &[("xapp-1-A", BASE32, 10), ("-", DIGITS, 13), ("-", HEX, 64)]),
    ("Slack", &[("xoxe.xoxp-1-", ALNUM, 150)]),
    ("Stripe", &[("sk_live_", ALNUM, 24)]),
    ("Stripe", &[("sk_live_51", ALNUM, 97)]),
    ("Stripe", &[("rk_test_51", ALNUM, 97)]),
    ("Stripe", &[("whsec_", ALNUM, 32)]),
    ("Google", &[("AIzaSy", WORD, 33)]),
    ("Google", &[("GOCSPX-", WORD, 28)]),
    ("npm", &[("npm_", ALNUM, 36)]),
    ("PyPI", &[("pypi-AgEIcHlwaS5vcmc", WORD, 150)]),
    ("Hugging Face", &[("hf_", ALNUM, 34)]),
    ("DigitalOcean", &[("dop_v1_", HEX, 64)]),
    ("SendGrid", &[("SG.", WORD, 22), (".", WORD, 43)]),
    ("Vault", &[("hvs.", WORD, 90)]),
    ("Databricks", &[("dapi", HEX, 32)]),
    ("Docker Hub", &[("dckr_pat_", WORD, 27)]),
    ("Azure", &[("", BASE64, 86), ("==", "", 0)]),
];

/// Returns a token with the name of its issuer.
pub(super) fn token(numbers: &mut Numbers) -> (&'static str, String) {
    if numbers.below(SHAPES.len()) < 4 {
        return ("JWT", web_token(numbers));
    }
    let (issuer, parts) = numbers.one(SHAPES);
    let part = |&(before, alphabet, length): &(&str, &str, usize)| {
        format!("{before}{}", numbers.text(alphabet, length))
    };
    (issuer, parts.iter().map(part).collect())
}

/// Returns the part of a webhook's address that grants access.
pub(super) fn webhook(numbers: &mut Numbers) -> String {
    format!("T{}/B{}/{}", numbers.text(BASE32, 8), numbers.text(BASE32, 10), numbers.text(ALNUM, 24))
}

fn web_token(numbers: &mut Numbers) -> String {
    let head = numbers.one(&[
        r#"{"alg":"HS256","typ":"JWT"}"#,
        r#"{"typ":"JWT","alg":"RS256"}"#,
        r#"{ "alg": "ES256" }"#,
    ]);
    let claims = format!(r#"{{"sub":"{}","iat":1{}}}"#, numbers.text(DIGITS, 9), numbers.text(DIGITS, 9));
    let signature = numbers.text(WORD, 43);
    format!("{}.{}.{signature}", URL_SAFE_NO_PAD.encode(head), URL_SAFE_NO_PAD.encode(claims))
}

const WORDS: &[&str] = &[
    "report",
    "server",
    "monkey",
    "summer",
    "backup",
    "customer",
    "production",
    "index",
    "session",
    "handler",
    "release",
    "winter",
    "dragon",
    "orange",
    "deploy",
    "metrics",
    "billing",
    "gateway",
    "feature",
    "review",
    "coffee",
    "planet",
];

fn capital(word: &str) -> String {
    let (first, rest) = word.split_at(1);
    format!("{}{rest}", first.to_ascii_uppercase())
}

/// Returns a password as users choose them. One for an address has no other signs than letters, digits, `-`, `_` and `.`.
pub(super) fn password(numbers: &mut Numbers, signs: &str) -> String {
    let (first, second) = (numbers.one(WORDS), numbers.one(WORDS));
    let capital = capital(first);
    let digits = numbers.text(DIGITS, 2);
    let sign = numbers.text(signs, 1);
    match numbers.below(6) {
        0 => format!("{first}{second}{digits}"),
        1 => format!("{capital}{sign}{digits}{second}"),
        2 => format!("{first}-{second}-{digits}"),
        3 => numbers.text(ALNUM, 16),
        4 => format!("{}{sign}{}", numbers.text(ALNUM, 6), numbers.text(ALNUM, 6)),
        _ => format!("{capital}{second}{digits}{sign}"),
    }
}

/// Returns a word without a secret that a reader of a record needs: a name, a version, a digest, an address.
pub(super) fn harmless(numbers: &mut Numbers) -> String {
    let (first, second, third) = (numbers.one(WORDS), numbers.one(WORDS), numbers.one(WORDS));
    let digits = numbers.text(DIGITS, 2);
    match numbers.below(20) {
        0 => format!("{first}_{second}_{third}"),
        1 => format!("{first}-{second}-{digits}"),
        2 => format!("{first}{}", capital(second)),
        3 => format!("{first}/{second}/{third}.rs"),
        4 => format!("./{first}/{second}.{digits}.log"),
        5 => numbers.text(HEX, 40),
        6 => numbers.text(HEX, 7),
        7 => format!("sha256:{}", numbers.text(HEX, 64)),
        8 => {
            let parts = [8, 4, 4, 4, 12].map(|length| numbers.text(HEX, length));
            parts.join("-")
        }
        9 => format!("{}.{}.{digits}", numbers.below(20), numbers.below(40)),
        10 => format!("2026-11-{:02}T{:02}:30:00Z", 1 + numbers.below(28), numbers.below(24)),
        11 => format!("10.{}.{}.{}", numbers.below(256), numbers.below(256), numbers.below(256)),
        12 => format!("{first}.{second}.{third}.Main{}", numbers.text(LOWER, 6)),
        13 => format!("{first}:{second}"),
        14 => format!("@{first}/{second}@{}.{digits}.0", numbers.below(20)),
        15 => STANDARD.encode(format!("{first} {second} of the {third}")).trim_end_matches('=').to_owned(),
        16 => format!("{first}Of{}In{digits}", second.to_ascii_uppercase()),
        17 => format!("--{first}-{second}={third}"),
        18 => numbers.text(DIGITS, 10),
        _ => first.to_owned(),
    }
}

/// Returns the name of a host.
pub(super) fn host(numbers: &mut Numbers) -> String {
    format!("{}{}.example", numbers.one(WORDS), numbers.text(DIGITS, 3))
}
