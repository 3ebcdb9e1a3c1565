//! Secrets that a regular expression recognises by their form, anywhere in a text.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex_automata::Input;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;

use crate::literals::{Case, Literals};
use crate::values::{is_random, is_reference, looks_secret};

/// A form of secrets.
struct Form {
    /// A description, for readers of the table.
    #[cfg_attr(not(test), expect(dead_code, reason = "names the row"))]
    name: &'static str,
    /// A linear-time regular expression. Its first group is the secret.
    pattern: &'static str,
    /// Whether the secret is recognised by its own characters, and not by its context.
    is_certain: bool,
    /// Literals of which every match contains one, in lower case.
    hints: &'static [&'static str],
    /// What else every text with a match has.
    needs: Needs,
    /// A condition on the secret that the expression does not express.
    must: fn(&str) -> bool,
    /// Texts with the secret between `‹` and `›`.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests run them"))]
    hides: &'static [&'static str],
    /// Texts that must stay as they are.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests run them"))]
    keeps: &'static [&'static str],
}

/// A property of every text in which a form matches. It is cheap to check, and an expression is expensive to compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    /// A literal, besides one of the hints.
    Literal(&'static str),
    /// So many letters, digits, `_` and `-` next to each other.
    Word(usize),
    /// The same, with the other characters of base64.
    Base64(usize),
}

impl Needs {
    fn is_met(self, text: &str, longest: &Longest) -> bool {
        match self {
            Self::Nothing => true,
            Self::Literal(literal) => text.contains(literal),
            Self::Word(least) => longest.word >= least,
            Self::Base64(least) => longest.base64 >= least,
        }
    }
}

/// The longest runs of characters in a text.
struct Longest {
    word: usize,
    base64: usize,
}

impl Longest {
    fn of(text: &str) -> Self {
        let in_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let longest = |in_run: &dyn Fn(u8) -> bool| {
            text.as_bytes().split(|byte| !in_run(*byte)).map(<[u8]>::len).max().unwrap_or_default()
        };
        Self {
            word: longest(&in_word),
            base64: longest(&|byte| in_word(byte) || matches!(byte, b'+' | b'/')),
        }
    }
}

fn any(_: &str) -> bool {
    true
}

fn no_reference(value: &str) -> bool {
    !is_reference(value)
}

/// Words before the credentials of a header.
pub(super) const SCHEMES: &[&str] = &["bearer", "basic", "token", "digest", "apikey", "bot", "negotiate"];

/// Whether a header has credentials behind its scheme, and not only a reference.
fn credentials(value: &str) -> bool {
    let words =
        value.split_whitespace().filter(|word| !SCHEMES.contains(&word.to_ascii_lowercase().as_str()));
    words.into_iter().any(|word| !is_reference(word))
}

/// Whether letters and digits look random and are not encoded text.
fn random(value: &str) -> bool {
    is_random(value.as_bytes()) && !is_encoded_text(value)
}

fn is_encoded_text(value: &str) -> bool {
    use base64::Engine as _;
    let value = value.trim_end_matches(['=', '/']);
    let whole = value.get(..value.len() - value.len() % 4).unwrap_or_default();
    let bytes = base64::engine::general_purpose::STANDARD_NO_PAD.decode(whole);
    bytes.is_ok_and(|bytes| bytes.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~')))
}

/// Whether the user name in a URL looks like a token instead of a name.
fn token_for_name(value: &str) -> bool {
    no_reference(value) && value.len() >= 16 && looks_secret(value)
}

#[rustfmt::skip]
const FORMS: &[Form] = &[
    Form {
        name: "the body of a private key",
        is_certain: true,
        pattern: r"(?-u:\b)((?:b3BlbnNzaC1rZXktdjE|MII[A-Za-z0-9]{5}IBA[A-Z]|MC4CAQAw)[A-Za-z0-9+/=\\]{40,})",
        hints: &["b3blbnnzac1rzxktdje", "mii", "mc4caqaw"],
        needs: Needs::Nothing,
        must: any,
        hides: &["echo ‹b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2g›"],
        keeps: &["MIIEow"],
    },
    Form {
        name: "a JSON Web Token",
        is_certain: true,
        pattern: r"(?-u:\b)(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*)",
        hints: &["eyj"],
        needs: Needs::Nothing,
        must: any,
        hides: &["x=‹eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl›"],
        keeps: &["eyJ is how they begin"],
    },
    Form {
        name: "a header that carries credentials",
        is_certain: false,
        pattern: r#"(?i-u:\b(?:proxy-)?authorization|\bset-cookie|\bcookie|\bx-amz-security-token|\bx-vault-token|\bx-[a-z-]*(?:api-?key|token|secret|auth)|\bapi-?key|\bprivate-token|\bocp-apim-subscription-key)[\x20\t]*:[\x20\t]*(?:(?i-u:bearer|basic|token|digest|apikey|bot|negotiate)[\x20\t]+)?([^\r\n"'\x20\t][^\r\n"']*)"#,
        hints: &["authorization", "cookie", "x-", "apikey", "api-key", "private-token", "subscription-key"],
        needs: Needs::Literal(":"),
        must: credentials,
        hides: &[
            "curl -H 'Authorization: Basic ‹dXNlcjpwdw==›' x", "Cookie: ‹session=1; theme=dark›", "-H 'X-Api-Key: ‹abc›'",
            "-H \"PRIVATE-TOKEN: ‹abcdef›\"", "X-Vault-Token: ‹s.abc›", "-H 'X-Auth-Token:‹abc›'",
        ],
        keeps: &["the authorization failed", "a cookie, please", "-H \"Authorization: $AUTH\"", "x-request-id: 1234"],
    },
    Form {
        name: "a bearer token",
        is_certain: false,
        pattern: r"(?i-u:\bbearer)(?:[\x20\t]+|%20|\+)([A-Za-z0-9._~+/=-]{6,})",
        hints: &["bearer"],
        needs: Needs::Nothing,
        must: |value| value.bytes().any(|byte| byte.is_ascii_digit()) || value.len() >= 20,
        hides: &["auth bearer ‹abcdef123456›", "Bearer ‹eyJx.y-z_1›"],
        keeps: &["the bearer of news", "a bearer instrument"],
    },
    Form {
        name: "a password in a URL",
        is_certain: false,
        pattern: r#"://[^/?#@:\x00-\x20"']*:([^/?#@\x00-\x20"']+(?:@[^/?#@:\x00-\x20"'.]*)*)@"#,
        hints: &["://"],
        needs: Needs::Literal("@"),
        must: no_reference,
        hides: &[
            "git clone https://me:‹hunter2›@x.example/r", "postgres://app:‹p%40ss›@db:5432/x", "redis://:‹pw›@localhost:6379",
            "https://me:‹p@ss›@x.example",
        ],
        keeps: &["https://x.example:8080/a@b", "ssh://git@x.example:22/r", "https://$USER:$PW@x.example", "https://u:$PW@x.example"],
    },
    Form {
        name: "a token for a name in a URL",
        is_certain: false,
        pattern: r#"://([^/?#@:\x00-\x20"']+):?@"#,
        hints: &["://"],
        needs: Needs::Literal("@"),
        must: token_for_name,
        hides: &["https://‹4f6c1b0d9e8a7b6c5d4e3f2a1b0c9d8e›@o1.ingest.sentry.io/1", "git clone https://‹a1b2c3d4e5f6a7b8c9d0›@x.example/r"],
        keeps: &["ssh://git@x.example/r", "https://first.last@x.example/", "https://$TOKEN@x.example/", "ssh://deploy-user-2@x.example"],
    },
    Form {
        name: "a token for a name in a URL that also has a password",
        is_certain: false,
        pattern: r#"://([^/?#@:\x00-\x20"']+):[^/?#@\x00-\x20"']+@"#,
        hints: &["://"],
        needs: Needs::Literal("@"),
        must: token_for_name,
        hides: &["https://‹a1b2c3d4e5f6a7b8c9d0›:x-oauth-basic@x.example/r"],
        keeps: &["https://deploy-user:x@x.example/r"],
    },
    Form {
        name: "a password of netrc",
        is_certain: false,
        pattern: r#"(?i-u:\blogin)[\x20\t\n]+[^\x20\t\n]+[\x20\t\n]+(?i-u:password)[\x20\t\n]+([^\x20\t\n"']+)"#,
        hints: &["password"],
        needs: Needs::Nothing,
        must: no_reference,
        hides: &["machine x.example login bob password ‹hunter2›\n"],
        keeps: &["login with a password please"],
    },
    Form {
        name: "a password in a pair for a request",
        is_certain: false,
        pattern: r#"(?i-u:auth)[\x20]?=[\x20]?\([\x20]?\\?['"][^'"\n]*['"],[\x20]*\\?['"]([^'"\\\n]+)"#,
        hints: &["auth"],
        needs: Needs::Literal("("),
        must: no_reference,
        hides: &["requests.get(u, auth=(\"bob\", \"‹hunter2›\"))", "auth=('bob','‹x1›')"],
        keeps: &["auth=(user, password)"],
    },
    Form {
        name: "a password beside a name, as remote tools take them",
        is_certain: false,
        pattern: r"(?:^|[\x20\t])[A-Za-z0-9_.-]+/[A-Za-z0-9_.$-]+:([^\x20\t@/]{3,})@[A-Za-z0-9_.-]+(?:[\x20\t]|$)",
        hints: &["@"],
        needs: Needs::Literal("/"),
        must: |value| no_reference(value) && !value.bytes().all(|byte| byte.is_ascii_digit()),
        hides: &["psexec.py corp/admin:‹Winter2024!›@10.0.0.1"],
        keeps: &["docker pull registry/team/app:1.2@sha256", "scp a/b:c d@e"],
    },
    Form {
        name: "the URL of a webhook, which grants access by itself",
        is_certain: false,
        pattern: r"(?i-u:hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/|webhook\.office\.com/webhookb2/|hooks\.zapier\.com/hooks/catch/|outlook\.office\.com/webhook/|chat\.googleapis\.com/v1/spaces/)([A-Za-z0-9_@/?=&%.-]{12,})",
        hints: &["hooks.slack.com", "api/webhooks", "webhook.office.com", "hooks.zapier.com", "office.com/webhook", "chat.googleapis.com"],
        needs: Needs::Nothing,
        must: any,
        hides: &["curl https://hooks.slack.com/services/‹T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX›", "https://discord.com/api/webhooks/‹1234567890/abc-DEF_ghi›"],
        keeps: &["https://hooks.slack.com/docs"],
    },
    Form {
        name: "a token of Airtable",
        is_certain: true,
        pattern: r"(?-u:\b)(pat[A-Za-z0-9]{14}\.[0-9a-f]{64})",
        hints: &["pat"],
        needs: Needs::Word(64),
        must: any,
        hides: &["‹pat0aB1cD2eF3gH4i.0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef›"],
        keeps: &["patch.diff"],
    },
    Form {
        name: "a token of Telegram",
        is_certain: true,
        pattern: r"(?:^|[^0-9A-Za-z])(?:bot)?([0-9]{8,10}:[A-Za-z0-9_-]{34,36})(?:[^A-Za-z0-9_-]|$)",
        hints: &[":"],
        needs: Needs::Word(34),
        must: any,
        hides: &["https://api.telegram.org/bot‹1234567890:AAGmZ3x-Kq81LmNo24Pq7Rs9TuVw3XyZab_›/getMe"],
        keeps: &["2026:11", "12345678:9"],
    },
    Form {
        name: "a token of Discord",
        is_certain: true,
        pattern: r"(?-u:\b)([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})",
        hints: &["."],
        needs: Needs::Word(27),
        must: |value| is_random(value.as_bytes()),
        hides: &["‹MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs›"],
        keeps: &["MyVeryLongNameOfAJavaPackage.sub.more"],
    },
    Form {
        name: "a key of Twilio",
        is_certain: true,
        pattern: r"(?-u:\b)((?:SK|AC)[0-9a-f]{32})(?-u:\b)",
        hints: &["sk", "ac"],
        needs: Needs::Word(34),
        must: any,
        hides: &["twilio ‹SK0123456789abcdef0123456789abcdef›"],
        keeps: &["SK0123"],
    },
    Form {
        name: "a key of Mailchimp",
        is_certain: true,
        pattern: r"(?-u:\b)([0-9a-f]{32}-us[0-9]{1,2})(?-u:\b)",
        hints: &["-us"],
        needs: Needs::Word(36),
        must: any,
        hides: &["‹0123456789abcdef0123456789abcdef-us12›"],
        keeps: &["en-us", "0123456789abcdef0123456789abcdef"],
    },
    Form {
        name: "a secret of an application in Azure",
        is_certain: true,
        pattern: r"(?:^|[^A-Za-z0-9_~.-])([A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,})",
        hints: &["q~"],
        needs: Needs::Nothing,
        must: any,
        hides: &["‹abC8Q~dEfGhIjKlMnOpQrStUvWxYz0123456789ab›"],
        keeps: &["8Q~short"],
    },
    Form {
        name: "a key of an account in Azure, which 64 bytes make",
        is_certain: true,
        pattern: r"(?:^|[^A-Za-z0-9+/-])([A-Za-z0-9+/]{86}==)",
        hints: &["=="],
        needs: Needs::Base64(86),
        must: random,
        hides: &["‹4KqW9ZxT2mLb7RcV1nYd8HsG3fJp6QaE5uOi0wXk4KqW9ZxT2mLb7RcV1nYd8HsG3fJp6QaE5uOi0wXkAb12Cd==›"],
        keeps: &["aGVsbG8gd29ybGQ==", "sha512-4KqW9ZxT2mLb7RcV1nYd8HsG3fJp6QaE5uOi0wXk4KqW9ZxT2mLb7RcV1nYd8HsG3fJp6QaE5uOi0wXkAb12Cd=="],
    },
    Form {
        name: "a key of Cloudflare, which has an odd number of digits",
        is_certain: true,
        pattern: r"(?:^|[^0-9A-Za-z])([0-9a-f]{37})(?:[^0-9A-Za-z]|$)",
        hints: &[],
        needs: Needs::Word(37),
        must: any,
        hides: &["X ‹0123456789abcdef0123456789abcdef01234›"],
        keeps: &["da39a3ee5e6b4b0d3255bfef95601890afd80709"],
    },
    Form {
        name: "forty letters and digits by chance, as Amazon and Cloudflare make them",
        is_certain: true,
        pattern: r"(?:^|[^A-Za-z0-9+/_.-])([A-Za-z0-9+/_-]{40})(?:[^A-Za-z0-9+/=_.-]|$)",
        hints: &[],
        needs: Needs::Base64(40),
        must: random,
        hides: &["aws ‹wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY› x", "x=‹Zx81LmNo24Pq7Rs9TuVw3XyZaB5cDeF6gHiJkLm0›"],
        keeps: &["da39a3ee5e6b4b0d3255bfef95601890afd80709", "src/main/java/org/example/app/Main2024/Ab", "echo VGhpcyBpcyBhIHRleHQgb2YgdGhpcnR5IGJ5dGU"],
    },
    Form {
        name: "a password in a statement of SQL",
        is_certain: false,
        pattern: r"(?i-u:\bpassword\(|\bidentified(?:[\x20\t]+with[\x20\t]+[a-z0-9_]+)?[\x20\t]+by(?:[\x20\t]+password)?[\x20\t]+|\b(?:user|role|login)\b[\x20\x21\x23-\x26\x28-\x3a\x3c-\x7e]{1,200}\bpassword[\x20\t]*=?[\x20\t]+|\bset[\x20\t]+password[\x20-\x3a\x3c-\x7e]{0,200}=[\x20\t]*)(?:\\*['\x22]){1,5}([^'\x22\\]+)",
        hints: &["password", "identified"],
        needs: Needs::Nothing,
        must: no_reference,
        hides: &["ALTER USER bob PASSWORD '‹hunter2›'", "IDENTIFIED BY '‹hunter2›'", "PASSWORD('‹hunter2›')", "SET PASSWORD FOR bob = '‹pw›'"],
        keeps: &["the password is 'reset'", "echo \"password\" | md5sum | tr 'a' 'b'", "grep 'Failed password' x 'y'"],
    },
    Form {
        name: "a password that a conversation answers a question with",
        is_certain: false,
        pattern: r"(?i-u:assword|assphrase|asscode|ass phrase|otp)[^A-Za-z0-9$]{0,32}(?:[a-z_]{1,16}\.)?(?i-u:(?:exp_)?send(?:line|_slow|text)?)[\x20\t(]*(?:(?:-s|-h|--)[\x20\t]+)*(?:\\*['\x22{])+([^'\x22\\}\r\n]+)",
        hints: &["send"],
        needs: Needs::Nothing,
        must: no_reference,
        hides: &[
            "expect \"assword:\"; send \"‹hunter2›\\r\"", "expect \"password: \"\nsend -- \"‹hunter2›\\n\"", "{ \"*assword*\" { send {‹hunter2›} } }",
            "c.expect('Password:'); c.sendline('‹hunter2›')",
        ],
        keeps: &["expect \"assword:\"; send \"$env(PW)\\r\"", "the password is what I send \"tomorrow\""],
    },
    Form {
        name: "a value beside a name that is that of a secret",
        is_certain: false,
        pattern: r"(?i-u:(?:name|key)(?:\\*['\x22])*[\x20\t]*[:=][\x20\t]*(?:\\*['\x22])*[a-z0-9_./-]{0,64}(?:password|passwd|passphrase|secret|token|api_?key|access_?key|private_?key|credentials?)(?:\\*['\x22])*(?:[\x20\t\r\n,;]|\\n)*(?:\\*['\x22])*(?:parameter|option)?value(?:\\*['\x22])*[\x20\t]*[:=][\x20\t]*(?:\\*['\x22])*)([^\x00-\x20'\x22\\,;}]+)",
        hints: &["value"],
        needs: Needs::Nothing,
        must: no_reference,
        hides: &[
            "- name: DB_PASSWORD\n  value: ‹hunter2›\n", "{\"name\": \"API_KEY\", \"value\": \"‹hunter2›\"}",
            "ParameterKey=DbPassword,ParameterValue=‹hunter2›",
        ],
        keeps: &["- name: DB_PASSWORD\n  valueFrom:\n", "- name: MODE\n  value: fast\n", "name: TOKEN\nvalue: $TOKEN"],
    },
    Form {
        name: "a password of a session of FTP",
        is_certain: false,
        pattern: r"(?:^|\n)[\x20\t]*(?i-u:user)[\x20\t]+[^\x00-\x20'\x22]+[\x20\t]+([^\x00-\x20'\x22]+)[\x20\t]*(?:\n|$)",
        hints: &["ftp"],
        needs: Needs::Nothing,
        must: no_reference,
        hides: &["ftp -n h <<X\nuser bob ‹hunter2›\nX"],
        keeps: &["ftp is for a user with patience"],
    },
];

/// Finds the hints of all forms, and the form that each hint belongs to.
static HINTS: LazyLock<(Literals, Vec<usize>)> = LazyLock::new(|| {
    let hints = FORMS.iter().flat_map(|form| form.hints).copied();
    let of_hint = FORMS.iter().enumerate().flat_map(|(index, form)| form.hints.iter().map(move |_| index));
    (Literals::new(Case::Ignored, hints), of_hint.collect())
});

/// The expressions of the forms. Each is compiled for the first text that may match: most texts need none of them.
static COMPILED: [OnceLock<Option<Regex>>; FORMS.len()] = [const { OnceLock::new() }; FORMS.len()];

/// A test compiles every pattern of the table, so none is missing here.
fn compile(pattern: &str) -> Option<Regex> {
    Regex::builder().syntax(syntax::Config::new().unicode(true)).build(pattern).ok()
}

/// Finds what has a form of the table.
pub(super) fn find(text: &str, certain: &mut Vec<Range<usize>>, likely: &mut Vec<Range<usize>>) {
    let longest = Longest::of(text);
    let hinted = FORMS.iter().zip(&COMPILED).zip(hinted(text));
    for ((form, compiled), _) in
        hinted.filter(|((form, _), is_hinted)| *is_hinted && form.needs.is_met(text, &longest))
    {
        if let Some(regex) = compiled.get_or_init(|| compile(form.pattern)) {
            matches(form, regex, text, if form.is_certain { certain } else { likely });
        }
    }
}

fn matches(form: &Form, regex: &Regex, text: &str, found: &mut Vec<Range<usize>>) {
    let mut captures = regex.create_captures();
    let mut at = 0;
    while at <= text.len() {
        regex.search_captures(&Input::new(text).range(at..), &mut captures);
        let (Some(whole), Some(secret)) = (captures.get_match(), captures.get_group(1)) else { break };
        let secret = secret.range();
        if text.get(secret.clone()).is_some_and(form.must) {
            found.push(secret.clone());
        }
        // The text behind a secret may be the context of the next one.
        at = if secret.is_empty() { whole.end().max(at + 1) } else { secret.end };
    }
}

/// Returns which forms have a hint in the text, or need none.
fn hinted(text: &str) -> [bool; FORMS.len()] {
    let mut wanted = [false; FORMS.len()];
    wanted.iter_mut().zip(FORMS).for_each(|(wanted, form)| *wanted = form.hints.is_empty());
    let (hints, of_hint) = &*HINTS;
    for hit in hints.find(text) {
        if let Some(wanted) = of_hint.get(hit.word).and_then(|&form| wanted.get_mut(form)) {
            *wanted = true;
        }
    }
    wanted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(form: &Form, text: &str) -> Vec<Range<usize>> {
        let regex = compile(form.pattern).unwrap_or_else(|| panic!("{} does not compile", form.name));
        let mut found = Vec::new();
        matches(form, &regex, text, &mut found);
        found
    }

    #[test]
    fn every_form_hides_its_secrets_and_keeps_the_rest() {
        for form in FORMS {
            for marked in form.hides {
                let (before, rest) = marked.split_once('‹').unwrap();
                let (secret, after) = rest.split_once('›').unwrap();
                let text = format!("{before}{secret}{after}");
                let range = before.len()..before.len() + secret.len();
                assert_eq!(found(form, &text), std::slice::from_ref(&range), "{}: {text}", form.name);
                let (mut all, mut likely) = (Vec::new(), Vec::new());
                find(&text, &mut all, &mut likely);
                all.append(&mut likely);
                assert!(all.contains(&range), "{}: no hint in {text}", form.name);
            }
            for text in form.keeps {
                assert!(found(form, text).is_empty(), "{}: {text}", form.name);
            }
        }
    }

    static ALL: LazyLock<Vec<Regex>> =
        LazyLock::new(|| FORMS.iter().filter_map(|form| compile(form.pattern)).collect());

    proptest! {
        #[test]
        fn no_hint_hides_a_secret_from_its_expression(
            pieces in prop::collection::vec(
                prop::sample::select(FORMS.iter().flat_map(|form| form.hides.iter().chain(form.keeps).chain(form.hints)).copied().collect::<Vec<_>>()),
                0..6,
            ),
            upper: bool,
        ) {
            let text = pieces.concat().replace(['‹', '›'], "");
            let text = if upper { text.to_uppercase() } else { text };
            let (mut hinted, mut likely, mut all) = (Vec::new(), Vec::new(), Vec::new());
            find(&text, &mut hinted, &mut likely);
            hinted.append(&mut likely);
            let (by_form, by_place): (Vec<_>, Vec<_>) = FORMS.iter().zip(&*ALL).partition(|(form, _)| form.is_certain);
            by_form.into_iter().chain(by_place).for_each(|(form, regex)| matches(form, regex, &text, &mut all));
            prop_assert_eq!(hinted, all);
        }
    }
}
