//! What the value of one field must be.

use std::borrow::Cow;

use stockade_text::Value;

/// What was wanted instead of a value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// What a value must be, so that it ends the sentence "… is not".
    pub(super) what: Cow<'static, str>,
    pub(super) fix: Cow<'static, str>,
}

pub(super) type Checked<T> = Result<T, Wanted>;

/// The greatest number that every reader of JSON reads the same.
const GREATEST: u64 = (1 << 53) - 1;

/// What a wallet can be asked for.
const TX_ACTIONS: [&str; 5] = ["transfer", "transfer_native", "approve", "swap_exact_in", "swap_exact_out"];

pub(super) fn wanted(what: impl Into<Cow<'static, str>>, fix: impl Into<Cow<'static, str>>) -> Wanted {
    Wanted { what: what.into(), fix: fix.into() }
}

pub(super) fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

/// A text that fits, or what was wanted.
fn fitting(value: &Value, fits: impl Fn(&str) -> bool, wanted: impl Fn() -> Wanted) -> Checked<String> {
    text(value).filter(|text| fits(text)).map(str::to_owned).ok_or_else(wanted)
}

pub(super) fn version(value: &Value) -> Checked<&'static str> {
    let fits = text(value) == Some("1");
    fits.then_some("1").ok_or_else(|| wanted("the text \"1\"", "write \"version\": \"1\""))
}

pub(super) fn name(value: &Value) -> Checked<String> {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    // The schema allows a name that begins with a hyphen. One that begins with two would be an option in a command line without
    // the name of the image before it.
    let fits =
        |text: &str| (1..=64).contains(&text.len()) && text.bytes().all(letter) && !text.starts_with("--");
    fitting(value, fits, || {
        wanted(
            "1 to 64 lower-case letters, digits and hyphens, not two hyphens first",
            "write such as `my-skill`",
        )
    })
}

pub(super) fn publisher_name(value: &Value) -> Checked<String> {
    fitting(
        value,
        |text| !text.is_empty(),
        || wanted("a non-empty string", "write the name of the publisher"),
    )
}

pub(super) fn address(value: &Value) -> Checked<String> {
    let fits = |text: &str| hex(text).is_some_and(|digits| digits.len() == 40);
    fitting(value, fits, || {
        wanted("0x and 40 hexadecimal digits", "write the address of the key that signs the manifest")
    })
}

pub(super) fn contact(value: &Value) -> Checked<String> {
    fitting(value, is_email, || wanted("an e-mail address", "write such as `me@example.com`"))
}

pub(super) fn signature(value: &Value) -> Checked<[u8; 65]> {
    let bytes = text(value).and_then(hex).and_then(bytes_of);
    bytes.ok_or_else(|| {
        wanted("0x and 130 hexadecimal digits", "sign the manifest: the signature is r, s and v, 65 bytes")
    })
}

pub(super) fn sha256(value: &Value) -> Checked<String> {
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    fitting(
        value,
        |text| text.len() == 64 && text.bytes().all(digit),
        || wanted("64 lower-case hexadecimal digits", "write what `sha256sum FILE` prints"),
    )
}

pub(super) fn flag(value: &Value) -> Checked<bool> {
    match value {
        Value::Flag(flag) => Ok(*flag),
        _ => Err(wanted("true or false", "write true or false, without quotes")),
    }
}

/// A permission that no container here can give.
pub(super) fn never(value: &Value) -> Checked<bool> {
    match flag(value)? {
        false => Ok(false),
        true => Err(wanted(
            "false, because containers have no network and no files of the host",
            "write false; the package requests everything through the API",
        )),
    }
}

pub(super) fn memory_mb(value: &Value) -> Checked<u64> {
    within(value, 1, 512)
}

pub(super) fn timeout_ms(value: &Value) -> Checked<u64> {
    within(value, 1_000, 60_000)
}

pub(super) fn chain(value: &Value) -> Checked<u64> {
    within(value, 1, GREATEST)
}

pub(super) fn tx_action(value: &Value) -> Checked<String> {
    fitting(
        value,
        |text| TX_ACTIONS.contains(&text),
        || wanted(format!("one of {}", TX_ACTIONS.join(", ")), "write one of these"),
    )
}

/// A whole number. `1e2` and `100.0` are the number 100 to every reader of JSON.
fn within(value: &Value, least: u64, most: u64) -> Checked<u64> {
    let number = match value {
        Value::Number(number) => number.parse::<f64>().ok(),
        _ => None,
    };
    number.and_then(whole).filter(|number| (least..=most).contains(number)).ok_or_else(|| {
        let what = format!("a whole number from {least} to {most}");
        wanted(what.clone(), format!("write {what}"))
    })
}

/// The number as a whole one, if every reader of JSON reads it the same.
fn whole(number: f64) -> Option<u64> {
    // As a text, since a conversion by `as` would round what does not fit.
    let fits = number.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&number);
    fits.then(|| format!("{number:.0}").parse().ok()).flatten()
}

fn hex(text: &str) -> Option<&str> {
    text.strip_prefix("0x").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Decodes hexadecimal digits, if they are exactly `N` bytes.
pub(super) fn bytes_of<const N: usize>(digits: &str) -> Option<[u8; N]> {
    stockade_text::from_hex(digits.as_bytes())?.try_into().ok()
}

/// Whether a text is an e-mail address as mail servers know them: no quotes, no comments, a host with a dot.
fn is_email(text: &str) -> bool {
    let Some((local, host)) = text.rsplit_once('@') else { return false };
    let atom = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+/=?^_`{|}~-".contains(&byte);
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= 254
        && local.split('.').all(|part| !part.is_empty() && part.bytes().all(atom))
        && host.contains('.')
        && host.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_however_they_are_spelled() {
        for (number, read) in [
            ("128", Some(128)),
            ("128.0", Some(128)),
            ("1.28e2", Some(128)),
            ("1e2", Some(100)),
            ("1.5", None),
            ("0", None),
            ("-0", None),
            ("-1", None),
            ("513", None),
            ("1e400", None),
            ("18446744073709551617", None),
        ] {
            assert_eq!(memory_mb(&Value::Number(number.into())).ok(), read, "{number}");
        }
        assert_eq!(chain(&Value::Number("9007199254740991".into())), Ok(GREATEST));
        assert!(chain(&Value::Number("9007199254740992".into())).is_err());
        assert!(memory_mb(&Value::Text("128".into())).is_err());
    }

    #[test]
    fn e_mail_addresses() {
        for (address, is_one) in [
            ("me@example.com", true),
            ("first.last+tag@mail.example.co.uk", true),
            ("o'neill@example.com", true),
            ("nope", false),
            ("@example.com", false),
            ("me@", false),
            ("me@example", false),
            ("me@-example.com", false),
            ("me@example..com", false),
            ("a..b@example.com", false),
            ("a b@example.com", false),
            ("a@b@example.com", false),
            ("me@example.com\n", false),
            ("me@ex\u{e4}mple.com", false),
        ] {
            assert_eq!(is_email(address), is_one, "{address}");
        }
    }

    #[test]
    fn names_become_names_of_images() {
        for (text, is_one) in [
            ("a", true),
            ("my-skill-2", true),
            ("--privileged", false),
            ("A", false),
            ("a_b", false),
            ("a\n", false),
        ] {
            assert_eq!(name(&Value::Text(text.into())).is_ok(), is_one, "{text}");
        }
    }

    #[test]
    fn digits_are_bytes() {
        assert_eq!(bytes_of("00fFa0"), Some([0, 255, 160]));
        for digits in ["00ff", "00ffa", "00ffa0b1", "00ffg0"] {
            assert_eq!(bytes_of::<3>(digits), None, "{digits}");
        }
    }
}
