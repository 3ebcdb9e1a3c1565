//! Secrets are taken out before anything is written down.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;

/// What stands where a secret stood.
const REDACTED: &str = "[redacted]";

/// The shortest value that [`Redactor::hide`] takes: a shorter one would be found everywhere.
const MIN_SECRET_BYTES: usize = 6;

/// A shape of secrets.
struct Shape {
    /// What the shape is, for whoever reads the table.
    #[cfg_attr(not(test), expect(dead_code, reason = "names the row"))]
    name: &'static str,
    /// A linear-time regular expression. Its first group is the secret.
    pattern: &'static str,
    /// Every match holds one of these, in lower case: the expression is not run on a text without.
    hints: &'static [&'static str],
    /// Texts with the secret between `<` and `>`.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests run them"))]
    hides: &'static [&'static str],
    /// Texts that must stay as they are.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests run them"))]
    keeps: &'static [&'static str],
}

/// A value: in quotes up to the next one, else up to a blank or a sign that ends words.
macro_rules! value {
    () => {
        r#"("[^"]*"?|'[^']*'?|[^\x00-\x20"'&;,)]+)"#
    };
}

const SHAPES: &[Shape] = &[
    Shape {
        name: "a private key",
        pattern: r"-----BEGIN [A-Z ]*PRIVATE KEY-----([^-]*(?:-{1,4}[^-]+)*)",
        hints: &["private key-----"],
        hides: &[
            "-----BEGIN RSA PRIVATE KEY-----<\nMIIEow\n>-----END RSA PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----<MIIEow and cut off>",
        ],
        keeps: &["-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----"],
    },
    Shape {
        name: "a token whose form tells its maker",
        pattern: concat!(
            r"(?-u:\b)((?:gh[pousr]_|npm_|hf_|glpat-|github_pat_|pypi-|sk-|sk_live_|rk_live_|xox[abeprs]-|dop_v1_|shpat_)",
            r"[A-Za-z0-9_-]{16,}|(?:AKIA|ASIA)[0-9A-Z]{12,}|AIza[0-9A-Za-z_-]{30,})"
        ),
        hints: &[
            "ghp_",
            "gho_",
            "ghu_",
            "ghs_",
            "ghr_",
            "npm_",
            "hf_",
            "glpat-",
            "github_pat_",
            "pypi-",
            "sk-",
            "sk_live_",
            "rk_live_",
            "xoxa-",
            "xoxb-",
            "xoxe-",
            "xoxp-",
            "xoxr-",
            "xoxs-",
            "dop_v1_",
            "shpat_",
            "akia",
            "asia",
            "aiza",
        ],
        hides: &[
            "push with <ghp_abcdefghijklmnopqrstuvwxyz0123456789> now",
            "<sk-ant-api03-abcdefghijklmnop>",
            "aws: <AKIAIOSFODNN7EXAMPLE>",
            "slack <xoxb-123456789012-abcdefghijkl>",
        ],
        keeps: &["ghp_short", "a task-force of sk-learn", "AKIA"],
    },
    Shape {
        name: "a JSON Web Token",
        pattern: r"(?-u:\b)(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)",
        hints: &["eyj"],
        hides: &["cookie=<eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl>"],
        keeps: &["eyJ is how they begin"],
    },
    Shape {
        name: "a header that carries credentials",
        pattern: r#"(?i-u:\b(?:proxy-)?authorization|\bx-api-key|\b(?:set-)?cookie)[\x20\t]*:[\x20\t]*([^\r\n"']+)"#,
        hints: &["authorization", "x-api-key", "cookie"],
        hides: &["curl -H 'Authorization: <Basic dXNlcjpwdw==>' x", "Cookie: <session=1; theme=dark>"],
        keeps: &["the authorization failed", "a cookie, please"],
    },
    Shape {
        name: "a bearer token",
        pattern: r"(?i-u:\bbearer)[\x20\t]+([A-Za-z0-9._~+/=-]{8,})",
        hints: &["bearer"],
        hides: &["auth bearer <abcdef123456>"],
        keeps: &["the bearer of news"],
    },
    Shape {
        name: "a password in a URL",
        pattern: r"://[^/?#@:\x00-\x20]*:([^/?#@\x00-\x20]+)@",
        hints: &["://"],
        hides: &["git clone https://me:<hunter2>@x.example/r", "postgres://app:<p%40ss>@db:5432/x"],
        keeps: &["https://x.example:8080/a@b", "ssh://git@x.example:22/r"],
    },
    Shape {
        name: "a setting or an option whose name says that it is secret",
        pattern: concat!(
            r"(?i-u:[a-z0-9_.-]*(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|",
            r#"credentials?)[a-z0-9_.-]*)["']?(?:[\x20\t]*[=:][\x20\t]*|[\x20\t]+)"#,
            value!()
        ),
        hints: &[
            "passwd",
            "password",
            "passphrase",
            "secret",
            "token",
            "apikey",
            "api_key",
            "api-key",
            "accesskey",
            "access_key",
            "access-key",
            "privatekey",
            "private_key",
            "private-key",
            "credential",
        ],
        hides: &[
            "AWS_SECRET_ACCESS_KEY=<abc/def> make",
            "mysql --password <hunter2> -u root",
            "{\"apiKey\": <\"abc\">}",
            "DB_PASSWORD=<'two words'> run",
            "token: <xyz>",
        ],
        keeps: &["the key is under the mat", "passport=1"],
    },
];

/// The table, ready to use.
struct Shapes {
    /// Finds the hints of all shapes in one pass.
    hints: Option<AhoCorasick>,
    /// Which shape a hint belongs to.
    of_hint: Vec<usize>,
    regexes: Vec<Regex>,
}

static SHAPES_COMPILED: LazyLock<Shapes> = LazyLock::new(|| {
    let hints = SHAPES.iter().flat_map(|shape| shape.hints);
    let of_hint = SHAPES.iter().enumerate().flat_map(|(index, shape)| shape.hints.iter().map(move |_| index));
    Shapes {
        hints: AhoCorasick::builder().ascii_case_insensitive(true).build(hints).ok(),
        of_hint: of_hint.collect(),
        regexes: SHAPES.iter().filter_map(|shape| compile(shape.pattern)).collect(),
    }
});

/// A test compiles every pattern of the table, so none is missing here.
fn compile(pattern: &str) -> Option<Regex> {
    Regex::builder().syntax(syntax::Config::new().unicode(true)).build(pattern).ok()
}

impl Shapes {
    /// Returns which expressions have a hint in the text.
    ///
    /// The hints of the text as it came suffice, although one expression sees what another one left: what is put in place of
    /// a secret begins and ends with brackets, which stand in no hint.
    fn hinted(&self, text: &str) -> [bool; SHAPES.len()] {
        let mut wanted = [false; SHAPES.len()];
        match &self.hints {
            Some(hints) => {
                for hint in hints.find_overlapping_iter(text) {
                    let shape = self.of_hint.get(hint.pattern().as_usize());
                    if let Some(wanted) = shape.and_then(|&shape| wanted.get_mut(shape)) {
                        *wanted = true;
                    }
                }
            }
            // Without the automaton nothing can be ruled out.
            None => wanted.fill(true),
        }
        wanted
    }
}

/// Takes secrets out of texts: those that look like one, and those it was told.
///
/// It is generous: the word behind `--password` goes, whatever it is. It cannot know a secret that looks like any other
/// word; tell it those of the environment that a command gets, with [`Redactor::hide`].
#[derive(Clone, Default)]
pub struct Redactor {
    known: Vec<String>,
    /// Finds all of them in one pass.
    finder: Option<AhoCorasick>,
}

impl Redactor {
    /// Hides these values too, wherever they stand. Values of fewer than six bytes are not hidden.
    #[must_use]
    pub fn hide<S: Into<String>>(mut self, secrets: impl IntoIterator<Item = S>) -> Self {
        let secrets = secrets.into_iter().map(Into::into);
        self.known.extend(secrets.filter(|secret: &String| secret.len() >= MIN_SECRET_BYTES));
        self.known.sort_unstable();
        self.known.dedup();
        self.finder = AhoCorasick::new(&self.known).ok();
        self
    }

    /// Returns the text without secrets.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = self.without_known(text);
        let wanted = SHAPES_COMPILED.hinted(&text);
        for (regex, _) in SHAPES_COMPILED.regexes.iter().zip(wanted).filter(|(_, wanted)| *wanted) {
            if let Some(redacted) = without(regex, &text) {
                text = Cow::Owned(redacted);
            }
        }
        text
    }

    /// Returns the text without the secrets that it was told. Where two of them overlap, all that either covers goes.
    fn without_known<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.known.is_empty() {
            return Cow::Borrowed(text);
        }
        let Some(finder) = &self.finder else {
            // More secrets than an automaton can hold: rather nothing than one of them.
            return Cow::Borrowed(REDACTED);
        };
        let mut secrets: Vec<Range<usize>> = Vec::new();
        for found in finder.find_overlapping_iter(text) {
            // They come in the order of their ends; one may reach back over several before it.
            let mut start = found.start();
            while let Some(before) = secrets.pop_if(|before| before.end > start) {
                start = start.min(before.start);
            }
            secrets.push(start..found.end());
        }
        replaced(text, secrets).map_or(Cow::Borrowed(text), Cow::Owned)
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("known", &self.known.len()).finish()
    }
}

/// Returns the text without what the first group of the expression matches, if anything.
fn without(regex: &Regex, text: &str) -> Option<String> {
    replaced(
        text,
        regex.captures_iter(text).filter_map(|found| found.get_group(1)).map(|secret| secret.range()),
    )
}

/// Returns the text with something else in place of these parts of it, which are in order; nothing where there are none.
fn replaced(text: &str, secrets: impl IntoIterator<Item = Range<usize>>) -> Option<String> {
    let mut redacted = String::new();
    let mut copied = 0;
    for secret in secrets {
        redacted.push_str(text.get(copied..secret.start)?);
        redacted.push_str(REDACTED);
        copied = secret.end;
    }
    (copied > 0).then(|| redacted + text.get(copied..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Pieces of what the expressions look for, in any case and any order.
    fn hinted_text() -> impl Strategy<Value = String> {
        let hints: Vec<&str> = SHAPES.iter().flat_map(|shape| shape.hints).copied().collect();
        let texts: Vec<&str> =
            SHAPES.iter().flat_map(|shape| shape.hides.iter().chain(shape.keeps)).copied().collect();
        let piece = prop_oneof![
            prop::sample::select(hints.clone()).prop_map(str::to_owned),
            prop::sample::select(hints).prop_map(str::to_uppercase),
            prop::sample::select(texts).prop_map(str::to_owned),
            "[ =:@/\"'_.-]{0,3}|[A-Za-z0-9]{1,20}",
        ];
        prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
    }

    #[test]
    fn every_shape_hides_its_secrets_and_keeps_the_rest() {
        for shape in SHAPES {
            let regex = compile(shape.pattern).unwrap_or_else(|| panic!("{} does not compile", shape.name));
            for marked in shape.hides {
                let (before, rest) = marked.split_once('<').unwrap();
                let (secret, after) = rest.rsplit_once('>').unwrap();
                let text = format!("{before}{secret}{after}");
                let expected = format!("{before}{REDACTED}{after}");
                assert_eq!(without(&regex, &text).as_deref(), Some(&*expected), "{}: {text}", shape.name);
                assert!(!Redactor::default().redact(&text).contains(secret), "{text}");
            }
            for text in shape.keeps {
                assert_eq!(without(&regex, text), None, "{}", shape.name);
            }
        }
    }

    #[test]
    fn what_it_was_told_is_hidden_wherever_it_stands() {
        let redactor = Redactor::default().hide(["correct horse", "correct horse battery", "tiny"]);
        let text = redactor.redact("echo tiny 'correct horse battery'; echo correct horse");
        assert_eq!(text, "echo tiny '[redacted]'; echo [redacted]");
        assert_eq!(format!("{redactor:?}"), "Redactor { known: 2 }");
    }

    #[test]
    fn secrets_that_overlap_go_together() {
        let redactor = Redactor::default().hide(["abcdef", "defghi", "hijklmnop", "cdefgh"]);
        assert_eq!(redactor.redact("x abcdefghijklmnop y"), "x [redacted] y");
        assert_eq!(redactor.redact("abcdefdefghi"), "[redacted][redacted]");
        assert_eq!(redactor.redact("abcde"), "abcde");
    }

    proptest! {
        #[test]
        fn no_hint_hides_a_secret_from_its_expression(text in hinted_text()) {
            let mut all = Cow::Borrowed(text.as_str());
            for regex in &SHAPES_COMPILED.regexes {
                if let Some(redacted) = without(regex, &all) {
                    all = Cow::Owned(redacted);
                }
            }
            prop_assert_eq!(Redactor::default().redact(&text), all);
        }

        #[test]
        fn a_text_is_redacted_once_and_for_all(text in "[ -~\n]{0,200}|.{0,80}") {
            let redactor = Redactor::default();
            let once = redactor.redact(&text).into_owned();
            let bound = text.len() * (REDACTED.len() + 1);
            prop_assert!(once.len() <= bound);
        }

        #[test]
        fn the_word_behind_a_secret_name_never_stays(word in "[A-Za-z0-9+/]{6,40}", name in "(DB_|db-)?(password|TOKEN|Api_Key)") {
            for text in [format!("{name}={word}"), format!("run --{name} {word} x"), format!("\"{name}\": \"{word}\"")] {
                let redacted = Redactor::default().redact(&text).into_owned();
                prop_assert!(!redacted.contains(&word), "{}", redacted);
            }
        }
    }
}
