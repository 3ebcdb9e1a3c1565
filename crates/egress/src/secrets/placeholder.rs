//! Placeholders for secrets: of the same shape, so that programs accept them, and of no use to an attacker.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use stockade_credentials::token_prefix;

/// Minimum number of random characters, so that no other text contains them by chance.
const MIN_RANDOM: usize = 20;

/// Maximum length of a placeholder.
const MAX: usize = 512;

/// The prefix of a JSON Web Token, its header, and its claims, with an expiry in the year 9999.
const JWT_BEGINS: &str = "eyJ";
const JWT_HEAD: &str = r#"{"alg":"HS256","typ":"JWT"}"#;
const JWT_SAYS: &str = r#"{"sub":"stockade","exp":253402300799}"#;

/// Alphabets of the random part. The one of the secret is used, so that programs that validate the form accept it.
const ALPHABETS: &[&[u8]] = &[
    b"0123456789",
    b"0123456789abcdef",
    b"0123456789ABCDEF",
    b"0123456789abcdefghijklmnopqrstuvwxyz",
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
];

/// The default alphabet, of which no character is ever escaped.
const LETTERS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Returns the placeholder of a secret, or `None` if the system has no random numbers.
pub(super) fn of(secret: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(secret).unwrap_or_default();
    if is_jwt(text) {
        let signed = |text: &str| URL_SAFE_NO_PAD.encode(text);
        return Some(format!("{}.{}.{}", signed(JWT_HEAD), signed(JWT_SAYS), random(LETTERS, 43)?));
    }
    if is_uuid(text) {
        return uuid();
    }
    let prefix = token_prefix(text);
    let rest = text.strip_prefix(prefix).unwrap_or_default();
    let padding = rest.bytes().rev().take_while(|byte| *byte == b'=').take(2).count();
    let body = rest.trim_end_matches('=');
    let alphabet = ALPHABETS.iter().find(|alphabet| body.bytes().all(|byte| alphabet.contains(&byte)));
    let alphabet = alphabet.filter(|_| !body.is_empty()).copied().unwrap_or(LETTERS);
    let length = secret.len().saturating_sub(prefix.len() + padding).clamp(MIN_RANDOM, MAX);
    Some(format!("{prefix}{}{}", random(alphabet, length)?, "=".repeat(padding)))
}

/// Returns the length of the beginning of a secret that is public: the prefix of its kind of token, and the header and claims of a
/// JSON Web Token, which other tokens of the same issuer share. Without its signature, the token is not accepted.
pub(super) fn public_part(secret: &[u8]) -> usize {
    let text = std::str::from_utf8(secret).unwrap_or_default();
    match text.rfind('.').filter(|_| is_jwt(text)) {
        Some(signature) => signature + 1,
        None => token_prefix(text).len(),
    }
}

/// Whether a text has at least this length and the prefix of a token.
pub(super) fn begins_as_token(text: &str, long: usize) -> bool {
    text.len() >= long && (is_jwt(text) || !token_prefix(text).is_empty())
}

/// Whether a text has the form of a JSON Web Token: three parts in base64.
fn is_jwt(text: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    text.starts_with(JWT_BEGINS) && text.split('.').count() == 3 && text.split('.').all(is_part)
}

/// Lengths of the parts of a UUID.
const UUID: [usize; 5] = [8, 4, 4, 4, 12];

pub(super) fn is_uuid(text: &str) -> bool {
    let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.split('-').map(str::len).eq(UUID) && text.split('-').all(is_hex)
}

fn uuid() -> Option<String> {
    let parts: Option<Vec<_>> = UUID.iter().map(|length| random(b"0123456789abcdef", *length)).collect();
    Some(parts?.join("-"))
}

/// Returns random characters of an alphabet of at most 128, without bias.
fn random(alphabet: &[u8], length: usize) -> Option<String> {
    let mut text = String::with_capacity(length);
    let most = (256 / alphabet.len().max(1)) * alphabet.len();
    let mut bytes = [0; 64];
    while text.len() < length {
        getrandom::fill(&mut bytes).ok()?;
        let fair = bytes.iter().map(|byte| usize::from(*byte)).filter(|number| *number < most);
        let letters = fair.filter_map(|number| alphabet.get(number % alphabet.len()));
        text.extend(letters.take(length - text.len()).map(|letter| char::from(*letter)));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_have_the_shape_of_their_secrets() {
        let same_letters = |secret: &str, placeholder: &str| {
            let class =
                |byte: u8| (byte.is_ascii_digit(), byte.is_ascii_lowercase(), byte.is_ascii_uppercase());
            let has = |text: &str, what: (bool, bool, bool)| text.bytes().any(|byte| class(byte) == what);
            placeholder.bytes().all(|byte| has(secret, class(byte)))
        };
        for secret in [
            "ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "github_pat_11AAAAAAA0123456789abcdefghij",
            "sk-ant-api03-0a1B2c3D4e5F6g7H8i9J-_0a1B2c3D4e5F6g7H8i9J",
            "0123456789abcdef0123456789abcdef",
            "0123456789ABCDEF0123456789ABCDEF",
            "12345678901234567890123",
            "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0IHM0Cg==",
            "123e4567-e89b-12d3-a456-426614174000",
        ] {
            let placeholder = of(secret.as_bytes()).unwrap();
            assert_eq!(placeholder.len(), secret.len(), "{secret} {placeholder}");
            assert!(same_letters(secret, &placeholder), "{secret} {placeholder}");
            assert_ne!(placeholder, secret);
            assert_ne!(placeholder, of(secret.as_bytes()).unwrap(), "it is another one in each run");
            let prefix = token_prefix(secret);
            assert!(placeholder.starts_with(prefix), "{placeholder}");
        }
        let short = of(b"hunter22").unwrap();
        assert!(short.len() >= MIN_RANDOM, "{short}");
        let odd = of("p\u{e4}ss \"word\"&%+/".as_bytes()).unwrap();
        assert!(odd.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{odd}");
        let jwt = of(b"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl").unwrap();
        assert!(is_jwt(&jwt), "{jwt}");
    }
}
