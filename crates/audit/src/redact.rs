//! Secrets are taken out before anything is written down.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex_automata::meta::Regex;
use regex_automata::util::syntax;

/// What stands where a secret stood.
const REDACTED: &str = "[redacted]";

/// The shortest value that [`Redactor::hide`] takes: a shorter one would be found everywhere.
const SHORTEST_SECRET: usize = 6;

/// A shape of secrets.
struct Shape {
    /// What the shape is, for whoever reads the table.
    #[cfg_attr(not(test), expect(dead_code, reason = "names the row"))]
    name: &'static str,
    /// A linear-time regular expression. Its first group is the secret; without one, all of it is.
    pattern: &'static str,
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
        hides: &["cookie=<eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl>"],
        keeps: &["eyJ is how they begin"],
    },
    Shape {
        name: "a header that carries credentials",
        pattern: r#"(?i-u:\b(?:proxy-)?authorization|\bx-api-key|\b(?:set-)?cookie)[\x20\t]*:[\x20\t]*([^\r\n"']+)"#,
        hides: &["curl -H 'Authorization: <Basic dXNlcjpwdw==>' x", "Cookie: <session=1; theme=dark>"],
        keeps: &["the authorization failed", "a cookie, please"],
    },
    Shape {
        name: "a bearer token",
        pattern: r"(?i-u:\bbearer)[\x20\t]+([A-Za-z0-9._~+/=-]{8,})",
        hides: &["auth bearer <abcdef123456>"],
        keeps: &["the bearer of news"],
    },
    Shape {
        name: "a password in a URL",
        pattern: r"://[^/?#@:\x00-\x20]*:([^/?#@\x00-\x20]+)@",
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

static COMPILED: LazyLock<Vec<Regex>> =
    LazyLock::new(|| SHAPES.iter().filter_map(|shape| compile(shape.pattern)).collect());

/// A test compiles every pattern of the table, so none is missing here.
fn compile(pattern: &str) -> Option<Regex> {
    Regex::builder().syntax(syntax::Config::new().unicode(true)).build(pattern).ok()
}

/// Takes secrets out of texts: those that look like one, and those it was told.
///
/// It is generous: the word behind `--password` goes, whatever it is. It cannot know a secret that looks like any other
/// word; tell it those of the environment that a command gets, with [`Redactor::hide`].
#[derive(Clone, Default)]
pub struct Redactor {
    told: Vec<String>,
}

impl Redactor {
    /// Hides these values too, wherever they stand. Values of fewer than six bytes are not hidden.
    #[must_use]
    pub fn hide<S: Into<String>>(mut self, secrets: impl IntoIterator<Item = S>) -> Self {
        self.told
            .extend(secrets.into_iter().map(Into::into).filter(|secret| secret.len() >= SHORTEST_SECRET));
        // The longest first: a secret may be part of another.
        self.told.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.len()));
        self.told.dedup();
        self
    }

    /// Returns the text without secrets.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        for secret in self.told.iter().filter(|secret| secret.len() >= SHORTEST_SECRET) {
            if text.contains(secret.as_str()) {
                text = Cow::Owned(text.replace(secret.as_str(), REDACTED));
            }
        }
        for regex in COMPILED.iter() {
            if let Some(redacted) = without(regex, &text) {
                text = Cow::Owned(redacted);
            }
        }
        text
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Redactor").field("told", &self.told.len()).finish()
    }
}

/// Returns the text without what the first group of the expression matches, if anything.
fn without(regex: &Regex, text: &str) -> Option<String> {
    let mut redacted = String::new();
    let mut copied = 0;
    for found in regex.captures_iter(text) {
        let Some(secret) = found.get_group(1) else { continue };
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
        assert_eq!(format!("{redactor:?}"), "Redactor { told: 2 }");
    }

    proptest! {
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
