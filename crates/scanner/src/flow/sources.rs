//! Expressions for sources of data and for operations on it, in any language.

use std::ops::Range;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use regex_automata::meta::Regex;

use super::{Inflow, Inflows};
use crate::exact::compile_list;
use crate::expression::{Begin, Expression};

/// A source of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Inflow(Inflow),
    /// A variable of the environment, whose name is at the end of the match.
    Variable,
}

const fn flow(flow: Inflow) -> Source {
    Source::Inflow(flow)
}

/// The expressions of each source.
static SOURCES: [(Source, Expression); 14] = [
    // The whole environment: in a shell, a command; in a program, the whole object rather than one key.
    (
        flow(Inflow::Environment),
        Expression::new(
            r#"(?:^|[|;&(`"'!]|\$\(|\b(?:then|do|exec|sudo)[ \t])[ \t]*(?:env|printenv|set|export[ \t]+-p|declare[ \t]+-x)[ \t]*(?:$|[|)`]|\d?>[^&])"#,
        ),
    ),
    (
        flow(Inflow::Environment),
        Expression::new(
            r"\bos\.environ(?:\.(?:items|values|copy)\(\)|[ \t]*(?:[,)}]|$))|\bprocess\.env[ \t]*(?:[,)};]|$)|\bENV\.to_h\b|\bSystem\.getenv\(\)",
        ),
    ),
    (
        flow(Inflow::Environment),
        Expression::new(
            r"/proc/(?:self|thread-self|[0-9]+|\*|\$\w+|\$\$)/environ\b|(?i)\b(?:get-childitem|gci|dir|ls)[ \t]+env:|\bgetenvironmentvariables\(",
        ),
    ),
    // Keychains, browsers, wallets, clipboards and the cloud metadata address.
    (
        flow(Inflow::SecretFile),
        Expression::new(
            r"\bsecurity[ \t]+(?:dump-keychain|export\b|find-(?:generic|internet)-password\b[^\n|;)]{0,80}(?i:chrome|brave|edge|safari|firefox|safe[ _]storage|icloud|airport|wi-?fi))|\bgpg2?[ \t][^\n|;]{0,80}--export-secret|\bdpapi\b|\bCryptUnprotectData\b",
        ),
    ),
    (
        flow(Inflow::Setting),
        Expression::new(r"\bsecurity[ \t]+find-(?:generic|internet)-password\b|\bsecret-tool[ \t]+lookup\b"),
    ),
    (flow(Inflow::SecretFile), Expression::new(r"\bsecret-tool[ \t]+search\b")),
    // Personal directories, archived as a whole.
    (
        flow(Inflow::SecretFile),
        Expression::new(
            r#"\b(?:zip|tar|7z)[ \t][^\n|;]{0,80}?(?:~|\$HOME)/(?:Documents|Desktop|Pictures|Downloads)?/?(?:[\s"']|$)"#,
        ),
    ),
    (
        flow(Inflow::SecretFile),
        Expression::new(
            r#"["'/\\](?:Login Data|Web Data|Local Extension Settings)\b|(?i)\b(?:cookies\.(?:sqlite|binarycookies)|logins\.json|key[34]\.db|wallet\.dat)\b|(?:chrome|brave|edge|firefox|safari|browser)\w*[^\n]{0,80}[/\\]cookies\b|\b(?:chrome|browser)\.cookies\.getall|\bbrowser_?cookie3?\b|\brookiepy\b|--cookies-from-browser\b|\b(?:metamask|phantom)\b[^\n]{0,80}(?:vault|extension|leveldb)"#,
        ),
    ),
    (
        flow(Inflow::SecretFile),
        Expression::new(
            r"\bpbpaste\b|\b(?:xclip|xsel)\b[^\n|;]{0,60}[ \t]-(?:o|-output)\b|\bwl-paste\b|(?i:\bget-clipboard\b)|\bpyperclip\.paste\(|\bclipboard\.readText\(",
        ),
    ),
    (
        flow(Inflow::SecretFile),
        Expression::new(
            r#"\b(?:169\.254\.169\.254|metadata\.google\.internal)(?:(?:/latest)?(?:/meta-data)?(?:/iam)?/?(?:["'\s)`$]|$)|[^\s"']{0,80}(?:security-credentials|service-accounts|user-data|/identity/oauth2|computeMetadata/v1/?(?:["'\s)`?]|$|project|instance/attributes)))"#,
        ),
    ),
    // One variable of the environment.
    (
        Source::Variable,
        Expression::new(
            r#"\b(?:os\.environ(?:\.get\(|\[)|(?:os\.)?getenv\(|environ(?:\.get\(|\[)|process\.env(?:\.|\[)|Deno\.env\.get\(|Bun\.env\.|ENV\[|ENV\.fetch\()[ \t]*["'`]?[A-Za-z_][A-Za-z0-9_]{2,60}"#,
        ),
    ),
    (Source::Variable, Expression::new(r"\$(?:env:)?[{(]?[A-Z][A-Z0-9_]{3,60}")),
    // Data from the network.
    (
        flow(Inflow::Download),
        Expression::new(
            r"\b(?:requests|httpx|session)\.(?:get|post|request)\(|\burlopen\(|\burlretrieve\(|\bfetch\(|\baxios(?:\.get|\.post)?\(|\bgot\(|\bhttps?\.get\(|\b(?:curl|wget)[ \t]|(?i:\binvoke-(?:webrequest|restmethod)\b|\biwr[ \t]|\birm[ \t]|\bnet\.webclient\b|\bdownload(?:string|file|data)\()|\bfile_get_contents\([ \t]*.https?:",
        ),
    ),
    // Decoded data.
    (
        flow(Inflow::Decoded),
        Expression::new(
            r#"\b(?:b16|b32|b64|a85|b85|standard_b64|urlsafe_b64)decode\(|\batob\(|\bBuffer\.from\([^\n]{0,400}?,[ \t]*["'`](?:base64|hex)|\b(?:bytes|bytearray)\.fromhex\(|\b(?:un|a2b_)hex(?:lify)?\(|\ba2b_base64\(|\bcodecs\.decode\(|\bzlib\.decompress\(|\bgzip\.decompress\(|\bmarshal\.loads\(|\bfromCharCode\b|\b(?:base64|base32|basenc)[ \t][^\n|;]{0,40}?(?:-[a-z]*[dD]\b|--decode)|\bxxd[ \t][^\n|;]{0,20}-r|\bopenssl[ \t]+(?:enc|base64)[^\n|;]{0,60}[ \t]-d\b|(?i:\bfrombase64string\()|\bchr\([ \t]*\w+[ \t]*\^|\bchr\([ \t]*(?:\w+|int\([^\n)]{1,40}\))[ \t]*\)[ \t]*for\b|\bunescape\(|\bbase64_decode\(|\bgzinflate\(|\bstr_rot13\(|\bdecode64\(|\brot13\b|["'][ \t]*\)?\[::-1\]|\.reverse\(\)\.join\(|\bmap\([ \t]*chr\b|\bb(?:16|32|64|85)decode[ \t]+as\b|\.decrypt\(|\bbytes(?:array)?\([^\n]{0,60}?\^|\bchr\([0-9]{1,3}\)[ \t]*\+[ \t]*chr\("#,
        ),
    ),
];

/// How many bytes are searched for each source separately. Many more are searched for all of them at once, by an
/// expression that takes long to compile.
const PATIENCE: usize = 64 << 10;

/// Passes every source in a text to `found`, from left to right; of two at one place the first of the table.
pub(super) fn each_source(text: &str, mut found: impl FnMut(Source, Range<usize>)) {
    static SEARCHED: AtomicUsize = AtomicUsize::new(0);
    static ALL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let patterns: Vec<&str> = SOURCES.iter().map(|(_, expression)| expression.pattern()).collect();
        compile_list(&patterns).ok()
    });
    // Relaxed: threads that race may compile it a little earlier or later, and find the same in any case.
    let searched = SEARCHED.fetch_add(text.len(), Ordering::Relaxed);
    let all = if searched < PATIENCE { None } else { ALL.as_ref() };
    let Some(all) = all else { return each_source_separately(text.as_bytes(), found) };
    for hit in all.find_iter(text) {
        if let Some((source, _)) = SOURCES.get(hit.pattern().as_usize()) {
            found(*source, hit.range());
        }
    }
}

fn each_source_separately(text: &[u8], mut found: impl FnMut(Source, Range<usize>)) {
    /// For each byte, the rows whose matches can begin with it, as bits.
    static BEGINNINGS: LazyLock<[u16; 256]> = LazyLock::new(|| {
        let mut rows = [0; 256];
        for (bit, (_, expression)) in SOURCES.iter().enumerate() {
            for (row, byte) in rows.iter_mut().zip(0..=u8::MAX) {
                *row |= u16::from(expression.may_begin_with(byte)) << bit;
            }
        }
        rows
    });
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        let rows = BEGINNINGS.get(usize::from(*byte)).copied().unwrap_or_default();
        let mut rows = SOURCES.iter().enumerate().filter(|(bit, _)| rows & 1 << bit != 0);
        let hit = rows.find_map(|(_, (source, expression))| {
            Some((*source, expression.find(text, at..text.len(), Begin::Here).ok()??))
        });
        at += 1;
        if let Some((source, range)) = hit {
            at = at.max(range.end);
            found(source, range);
        }
    }
}

/// Whether any of these can flow in a program at all, as one search shows. Usually the answer is no, and costs no
/// reading of statements.
pub(super) fn may_hold(program: &str, needed: Inflows) -> bool {
    let of_variables = Inflows::of(&[Inflow::ForeignSecret, Inflow::ManySecrets]);
    let told = of_variables.with(Inflows::of(&[Inflow::Decoded, Inflow::Download]));
    // An expression that cannot be compiled may match anywhere.
    let is_not_in = |expression: &Expression| {
        expression
            .find(program.as_bytes(), 0..program.len(), Begin::Anywhere)
            .is_ok_and(|found| found.is_none())
    };
    let stands =
        |wanted| SOURCES.iter().any(|(source, expression)| *source == wanted && !is_not_in(expression));
    needed.common(told) != needed
        || needed.contains(Inflow::Decoded) && stands(flow(Inflow::Decoded))
        || needed.contains(Inflow::Download) && stands(flow(Inflow::Download))
        || needed.has_any_of(of_variables) && stands(Source::Variable)
}

/// Expressions that encode a value.
pub(super) static ENCODES: Expression = Expression::new(
    r#"\b(?:b16|b32|b64|a85|b85|standard_b64|urlsafe_b64)encode\(|\bbtoa\(|\.toString\([ \t]*["'`](?:base64|hex)|\bhexlify\(|\b(?:base64|base32|basenc|xxd|od|rev)\b|\bgzip\.compress\(|\bzlib\.compress\(|\.encode\([ \t]*["'](?:hex|base64)|(?i:\btobase64string\()"#,
);

/// Expressions that derive keys from a value.
pub(super) static DERIVES_KEYS: Expression = Expression::new(
    r"(?i)\b(?:derivepath|mnemonictoseed\w{0,8}|from(?:seed|mnemonic|masterseed)|pbkdf2\w{0,8}|scrypt\w{0,8}|hkdf\w{0,8})\(",
);

/// Expressions that sign or hash a value.
pub(super) static HASHES: Expression = Expression::new(
    r"(?i)\bhmac\b|createhmac|\bhashlib\.|createhash|\b(?:sha256|sha512|md5|sha1)(?:sum)?\b|[._]sign(?:ature)?\(|\bdigest\(",
);

/// The same in a shell: a command, and no other word.
pub(super) static HASHES_IN_SHELL: Expression = Expression::new(
    r"(?:^|[|;&(`])[ \t]*(?:sha(?:1|224|256|384|512)sum|shasum|md5sum|md5|openssl[ \t]+(?:dgst|sha\w+|md5|pkeyutl|rsautl))\b",
);

/// Programs that send what they are given to another machine.
pub(super) static SENDS_IN_SHELL: Expression = Expression::new(
    r"\b(?:curl|wget|nc|ncat|netcat|socat|ssh|scp|sftp|ftp|rsync|xh|https?|telnet|s_client|dig|nslookup|mail|sendmail|git[ \t]+push)\b",
);

/// Expressions that take one value out of a file, by its key.
pub(super) static PICKS: Expression = Expression::new(
    r#"\bjq[ \t][^|;\n]{0,60}\.[A-Za-z_]|\b(?:grep|awk|sed|cut)\b[^|;\n]{0,80}["'^|( \t][/^]?\^?[A-Z][A-Z0-9_]{3,60}\b"#,
);

/// Places in which a secret authenticates a request, as intended: a header, or the user of a request.
pub(super) static SHOWS_WHO_ASKS: Expression = Expression::new(
    r#"(?i:\bauthorization\b|\bbearer\b|\bx-[\w-]{0,30}(?:key|token|secret|auth)\b|\bheaders?["']?\)?[ \t]*[=:]|[ \t]--?header[ \t=]|\bauth[ \t]*=|[ \t]--?user[ \t=]|\bcookie\b|\bapi[-_]?key["']?[ \t]*[=:])|[ \t]-[Hu][ \t"']|//[^/\s]{0,80}(?:bot)?$"#,
);

/// An address up to the end of its host, with an optional user and password.
pub(super) static ADDRESS: Expression =
    Expression::new(r#"(?:https?|wss?)://(?:[^\s/@"'`]{1,120}@)?[A-Za-z0-9._-]{3,120}"#);

/// Whether the name of a variable indicates a secret.
pub(super) fn is_secret(name: &str) -> bool {
    const SECRETS: &[&str] = &[
        "KEY",
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASS",
        "PWD",
        "CREDENTIAL",
        "CREDENTIALS",
        "APIKEY",
        "DSN",
        "PASSPHRASE",
        "MNEMONIC",
    ];
    let mut words = name.split('_').map(str::to_ascii_uppercase);
    words.any(|word| SECRETS.contains(&word.as_str())) || name.to_ascii_uppercase().ends_with("DATABASE_URL")
}

/// Returns the words of a variable's name that identify its purpose.
pub(super) fn specific_words(name: &str) -> impl Iterator<Item = String> {
    const GENERIC: &[&str] = &[
        "api",
        "key",
        "keys",
        "token",
        "secret",
        "access",
        "auth",
        "password",
        "passwd",
        "pass",
        "pwd",
        "client",
        "user",
        "bot",
        "app",
        "private",
        "public",
        "url",
        "id",
        "my",
        "the",
        "credential",
        "credentials",
        "webhook",
        "admin",
        "oauth",
        "refresh",
        "bearer",
        "session",
        "test",
        "base",
        "account",
        "service",
        "apikey",
        "your",
        "new",
        "old",
        "jwt",
    ];
    let words = name.split('_').map(str::to_ascii_lowercase);
    words.filter(|word| word.len() >= 2 && !GENERIC.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules;

    #[test]
    fn every_expression_is_ready_at_once() {
        let others = [&ENCODES, &DERIVES_KEYS, &HASHES, &HASHES_IN_SHELL, &PICKS, &SHOWS_WHO_ASKS, &ADDRESS];
        for expression in SOURCES.iter().map(|(_, expression)| expression).chain(others) {
            assert!(expression.has_program(), "{}", expression.pattern());
        }
    }

    #[test]
    fn sources_are_found_separately_as_they_are_all_at_once() {
        let patterns: Vec<&str> = SOURCES.iter().map(|(_, expression)| expression.pattern()).collect();
        let all = compile_list(&patterns).unwrap();
        for text in rules::all().flat_map(|rule| rule.matches.iter().chain(rule.clean)) {
            let at_once = all.find_iter(text).map(|hit| (SOURCES[hit.pattern().as_usize()].0, hit.range()));
            let mut separately = Vec::new();
            each_source_separately(text.as_bytes(), |source, range| separately.push((source, range)));
            assert_eq!(separately, at_once.collect::<Vec<_>>(), "{text}");
        }
    }
}
