//! Shapes of tokens: the prefix that an issuer gives them, their alphabet and their minimum length.

use std::ops::Range;
use std::sync::LazyLock;

use crate::literals::{Case, Literals};

/// The tokens of one issuer.
struct Row {
    /// The issuer, for readers of the table.
    #[cfg_attr(not(test), expect(dead_code, reason = "names the row"))]
    maker: &'static str,
    starts: &'static [&'static str],
    /// The alphabet of the body, which follows the start.
    of: Of,
    /// The minimum length of the body.
    least: usize,
}

/// The alphabet of the body of a token.
#[derive(Debug, Clone, Copy)]
enum Of {
    /// The body consists of letters, digits, `_` and `-`.
    Word,
    /// The body may also contain dots.
    Dotted,
    /// The body may also contain dots and the other characters of base64.
    Base64,
    /// The body consists of capital letters and digits.
    Capitals,
}

impl Of {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => Self::Word.has(byte) || byte == b'.',
            Self::Base64 => Self::Dotted.has(byte) || matches!(byte, b'+' | b'/' | b'=' | b'~' | b':'),
            Self::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
        }
    }
}

const fn row(maker: &'static str, starts: &'static [&'static str], of: Of, least: usize) -> Row {
    Row { maker, starts, of, least }
}

/// The tokens of all issuers, in alphabetical order.
#[rustfmt::skip]
const ROWS: &[Row] = {
    use Of::{Base64, Capitals, Dotted, Word};
    &[
        row("1Password", &["ops_eyJ", "A3-"], Word, 24),
        row("Adafruit", &["aio_"], Word, 24),
        row("Adobe", &["p8e-"], Word, 24),
        row("Age", &["AGE-SECRET-KEY-1", "AGE-PLUGIN-"], Word, 24),
        row("Alibaba Cloud", &["LTAI"], Word, 16),
        row("Amazon Web Services", &["AKIA", "ASIA", "ABIA", "ACCA"], Capitals, 12),
        row("Amazon, of a session", &["IQoJb3JpZ2lu", "FwoGZXIvYXdz", "FQoGZXIvYXdz"], Base64, 60),
        row("Amazon Bedrock", &["ABSK", "bedrock-api-key-"], Base64, 40),
        row("Artifactory", &["AKCp", "cmVmdGtuOjAxO"], Word, 30),
        row("Atlassian", &["ATATT3", "ATCTT3", "ATBB", "ATSTT3", "BBDC-"], Base64, 20),
        row("Azure", &["AzureStorageKey:"], Base64, 30),
        row("Brevo", &["xkeysib-", "xsmtpsib-"], Word, 30),
        row("Browserbase", &["bb_live_"], Word, 16),
        row("Buildkite", &["bkua_", "bkat_"], Word, 24),
        row("Cerebras", &["csk-"], Word, 24),
        row("CircleCI", &["CCIPAT_", "CCIPRJ_"], Word, 24),
        row("Clojars", &["CLOJARS_"], Word, 30),
        row("Cloudflare", &["v1.0-", "cfut_", "cfat_", "cfk_"], Word, 30),
        row("Contentful", &["CFPAT-"], Word, 30),
        row("crates.io", &["cio"], Word, 32),
        row("Databricks", &["dapi", "dose", "dkea"], Word, 32),
        row("Defined Networking", &["dnkey-"], Word, 24),
        row("Daytona, Dnsimple", &["dtn_", "dnsimple_"], Word, 24),
        row("DigitalOcean", &["dop_v1_", "doo_v1_", "dor_v1_"], Word, 24),
        row("Docker Hub", &["dckr_pat_", "dckr_oat_"], Word, 20),
        row("Doppler", &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], Dotted, 24),
        row("Duffel", &["duffel_test_", "duffel_live_"], Word, 24),
        row("Dynatrace", &["dt0c01.", "dt0s01.", "dt0s16."], Dotted, 40),
        row("E2B", &["e2b_"], Word, 24),
        row("EasyPost", &["EZAK", "EZTK"], Word, 40),
        row("Exa, Firecrawl, Tavily", &["fc-", "tvly-"], Word, 20),
        row("Facebook", &["EAA"], Word, 60),
        row("Figma", &["figd_", "figdr_", "figo_"], Word, 20),
        row("Fireworks", &["fw_"], Word, 20),
        row("Flutterwave", &["FLWSECK_TEST-", "FLWSECK-", "FLWPUBK_TEST-"], Word, 12),
        row("Fly.io", &["fo1_", "fm1r_", "fm1a_", "fm2_", "FlyV1"], Base64, 30),
        row("Frame.io", &["fio-u-"], Word, 30),
        row("GitHub", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"], Word, 16),
        row(
            "GitLab",
            &[
                "glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "glrtr-", "glptt-", "glimt-", "glagent-", "glcbt-", "glffct-",
                "gloas-", "glwt-", "GR1348941",
            ],
            Dotted,
            16,
        ),
        row("GoCardless", &["live_"], Word, 38),
        row("Google", &["AIza"], Word, 30),
        row("Google sign-in", &["GOCSPX-", "ya29.", "1//0", "AQ.Ab"], Dotted, 20),
        row("Grafana", &["glc_", "glsa_", "eyJrIjoi"], Base64, 30),
        row("Groq", &["gsk_"], Word, 20),
        row("HashiCorp", &["hvs.", "hvb.", "hvr.", "s."], Word, 24),
        row("Terraform Cloud", &["atlasv1."], Word, 40),
        row("Helicone, Heroku", &["HRKU-", "sk-helicone-"], Word, 24),
        row("HubSpot", &["pat-na1-", "pat-na2-", "pat-eu1-", "pat-ap1-"], Word, 30),
        row("Hugging Face", &["hf_", "api_org_"], Word, 16),
        row("Infracost", &["ico-"], Word, 30),
        row("Intra 42", &["s-s4t2ud-", "s-s4t2af-"], Word, 40),
        row("LangSmith", &["lsv2_pt_", "lsv2_sk_"], Word, 30),
        row("Linear", &["lin_api_", "lin_oauth_"], Word, 24),
        row("Lob", &["test_", "live_"], Word, 35),
        row("Logfire", &["pylf_v1_"], Word, 24),
        row("Mailgun", &["key-", "pubkey-"], Word, 32),
        row("Mapbox", &["sk.eyJ", "tk.eyJ"], Dotted, 40),
        row("Neon", &["napi_"], Word, 40),
        row("Netlify", &["nfp_", "nfc_", "nfo_"], Word, 30),
        row("New Relic", &["NRAK-", "NRJS-", "NRII-", "NRIQ-", "NRRA-", "NRSP-", "NRAA-", "NRBR-"], Word, 18),
        row("Notion", &["ntn_", "secret_"], Word, 40),
        row("npm", &["npm_"], Word, 16),
        row("NuGet", &["oy2"], Word, 43),
        row("NVIDIA", &["nvapi-"], Word, 30),
        row("Octopus Deploy", &["API-"], Capitals, 26),
        row("OpenAI and those like it", &["sk-"], Word, 16),
        row("OpenShift", &["sha256~"], Word, 40),
        row("Perplexity", &["pplx-"], Word, 20),
        row("Pinecone", &["pcsk_"], Word, 30),
        row("PlanetScale", &["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], Dotted, 24),
        row("Plaid", &["access-sandbox-", "access-production-", "access-development-"], Word, 30),
        row("PostHog", &["phx_", "phs_"], Word, 30),
        row("Postman", &["PMAK-", "PMAT-"], Word, 24),
        row("Prefect", &["pnu_", "pnb_"], Word, 30),
        row("Pulumi", &["pul-"], Word, 30),
        row("PyPI", &["pypi-"], Word, 16),
        row("ReadMe", &["rdme_"], Word, 40),
        row("Render", &["rnd_"], Word, 20),
        row("Replicate", &["r8_"], Word, 30),
        row("Resend", &["re_"], Word, 28),
        row("RubyGems", &["rubygems_"], Word, 32),
        row("Salesforce", &["00D"], Base64, 80),
        row("Scalingo", &["tk-us-"], Word, 30),
        row("Segment, Sourcegraph", &["sgp_"], Word, 30),
        row("SendGrid", &["SG."], Dotted, 30),
        row("Sentry", &["sntrys_", "sntryu_", "sntrya_", "sntryi_"], Base64, 24),
        row("SettleMint", &["sm_aat_", "sm_pat_", "sm_sat_"], Word, 12),
        row("Shippo", &["shippo_live_", "shippo_test_"], Word, 30),
        row("Shopify", &["shpat_", "shpca_", "shppa_", "shpss_", "shptka_"], Word, 16),
        row("Slack", &["xoxa-", "xoxb-", "xoxc-", "xoxd-", "xoxe-", "xoxe.xoxp-", "xoxe.xoxb-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "xwfp-"], Base64, 16),
        row("SonarQube", &["sqp_", "squ_", "sqa_"], Word, 30),
        row("Square", &["sq0atp-", "sq0csp-", "EAAA"], Word, 20),
        row("Stripe", &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_org_", "whsec_"], Base64, 16),
        row("Supabase", &["sbp_", "sb_secret_", "sb_temp_"], Word, 24),
        row("Tailscale", &["tskey-"], Word, 16),
        row("Together", &["tgp_v1_"], Word, 24),
        row("Typeform", &["tfp_"], Dotted, 30),
        row("Vercel", &["vcp_", "vci_", "vca_", "vcr_", "vck_"], Word, 20),
        row("Voyage", &["pa-"], Word, 40),
        row("xAI", &["xai-"], Word, 20),
        row("Yandex", &["t1.9eu", "AQVN", "YCAJ", "YCM", "y0_"], Dotted, 30),
    ]
};

/// Starts that identify an issuer by themselves: some of the table, longer ones, and what several have in common. The others begin ordinary words too, and count only with a body that looks random.
const DISTINCT: &[&str] = &[
    "github_pat_",
    "sk-ant-api03-",
    "sk-ant-oat01-",
    "sk-ant-",
    "sk-proj-",
    "sk-svcacct-",
    "sk-or-v1-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "rk_test_",
    "sk-",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "glpat-",
    "npm_",
    "pypi-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xapp-",
    "hf_",
    "gsk_",
    "AIza",
    "ya29.",
    "dop_v1_",
    "shpat_",
    "lin_api_",
    "SG.",
    "hvs.",
    "pat-",
    "AKIA",
    "ASIA",
];

/// All starts, and which row each belongs to.
static STARTS: LazyLock<(Literals, Vec<&'static Row>)> = LazyLock::new(|| {
    let starts = || ROWS.iter().flat_map(|row| row.starts.iter().map(move |start| (*start, row)));
    let literals = Literals::new(Case::Sensitive, starts().map(|(start, _)| start));
    (literals, starts().map(|(_, row)| row).collect())
});

/// How many bytes of a body are examined to tell it from words.
const LOOKED_AT: usize = 256;

/// Returns the start of a token that identifies its issuer by itself: `ghp_` of a token of GitHub. The longest one, or an empty text.
#[must_use]
pub fn token_prefix(text: &str) -> &'static str {
    let starts = DISTINCT.iter().copied().filter(|start| text.starts_with(start));
    starts.max_by_key(|start| start.len()).unwrap_or_default()
}

/// Returns whether a token with a distinct start is in a text.
pub(crate) fn has_distinct_token(text: &str) -> bool {
    let mut found = Vec::new();
    find(text, &mut found);
    found.into_iter().any(|token| text.get(token).is_some_and(|token| !token_prefix(token).is_empty()))
}

/// Finds tokens: a start of the table and a body that looks random.
pub(crate) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    let (starts, rows) = &*STARTS;
    let bytes = text.as_bytes();
    // The run of characters that was measured last, for each alphabet: a long run is not measured again from every start within.
    let mut runs: [Range<usize>; 4] = Default::default();
    for start in starts.find(text) {
        let is_within =
            start.start.checked_sub(1).and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
        let Some(row) = rows.get(start.word).filter(|_| !is_within) else { continue };
        let Some(run) = runs.get_mut(row.of as usize) else { continue };
        if start.end < run.start || run.end < start.end {
            let body = bytes.get(start.end..).unwrap_or_default();
            *run = start.end..start.end + body.iter().take_while(|byte| row.of.has(**byte)).count();
        }
        let body = bytes.get(start.end..run.end).unwrap_or_default();
        if body.len() >= row.least && is_no_word(body.get(..LOOKED_AT).unwrap_or(body)) {
            found.push(start.start..run.end);
        }
    }
}

/// Whether a body is not words: words have no digits between their letters, and longer runs of lower case than random text.
fn is_no_word(body: &[u8]) -> bool {
    let count = |is: fn(&u8) -> bool| body.iter().filter(|byte| is(byte)).count();
    let longest = body.split(|byte| !byte.is_ascii_lowercase()).map(<[u8]>::len).max().unwrap_or(0);
    let is_mixed = count(u8::is_ascii_lowercase) > 2 && count(u8::is_ascii_uppercase) > 2 && longest < 6;
    let is_same = body.iter().all(|byte| Some(byte) == body.first());
    !is_same && (count(u8::is_ascii_digit) > 0 || is_mixed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Letters and digits as a maker of secrets would choose them.
    const BODY: &str = "4KqW9ZxT2mLb7RcV1nYd8HsG3fJp6QaE5uOi0wXk4KqW9ZxT2mLb7RcV1nYd8HsG3fJp6QaE5uOi0wXk9";

    fn hidden(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        find(text, &mut found);
        found.into_iter().filter_map(|range| text.get(range)).collect()
    }

    #[test]
    fn distinct_starts_are_in_the_table() {
        for start in DISTINCT {
            let issuers = ROWS.iter().flat_map(|row| row.starts);
            assert!(
                issuers.into_iter().any(|known| known.starts_with(start) || start.starts_with(known)),
                "{start}"
            );
            assert_eq!(token_prefix(&format!("{start}4KqW")), *start);
        }
        for text in ["", "x-ghp_4KqW", "test_x", "s.x"] {
            assert_eq!(token_prefix(text), "");
        }
    }

    #[test]
    fn every_start_is_found_with_what_belongs_to_it() {
        for row in ROWS {
            let body = match row.of {
                Of::Capitals => BODY.to_ascii_uppercase(),
                _ => BODY.to_owned(),
            };
            for start in row.starts {
                let secret = format!("{start}{}", body.split_at(row.least.max(20)).0);
                for text in [
                    format!("echo {secret} x"),
                    format!("X={secret}"),
                    format!("'{secret}'"),
                    format!("/?x={secret}&y=1"),
                ] {
                    let found = hidden(&text);
                    assert!(
                        found.iter().any(|found| found.contains(&secret)),
                        "{}: {text}: {found:?}",
                        row.maker
                    );
                }
                let word = format!("{start}{}", "some-ordinary-words".repeat(6));
                assert_eq!(hidden(&word), [""; 0], "{}: {word}", row.maker);
                assert_eq!(hidden(start), [""; 0], "{start}");
            }
        }
    }

    #[test]
    fn ordinary_words_that_begin_alike_stay() {
        for text in [
            "a task-force of sk-learn",
            "AKIA",
            "ghp_short",
            "pat",
            "live_",
            "key-value-store",
            "patch/1/2",
            "s.example.org",
            "test_that_every_thing_which_was_written_is_read_again",
            "cioccolata",
            "re_encode_all_of_the_files_here_please",
            "pip install scikit-learn",
            "hf_hub_download",
            "xxghp_4KqW9ZxT2mLb7RcV1nYd",
        ] {
            assert_eq!(hidden(text), [""; 0], "{text}");
        }
    }
}
