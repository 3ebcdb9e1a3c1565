//! Punycode for internationalized names (RFC 3492).

const BASE: u32 = 36;
const FIRST_BIAS: u32 = 72;
const FIRST_CODE: u32 = 128;

/// Encodes a label, without the prefix `xn--`.
pub(super) fn encode(label: &str) -> Option<String> {
    let plain: String = label.chars().filter(char::is_ascii).collect();
    let mut out = plain.clone();
    let mut done = u32::try_from(plain.len()).ok()?;
    if done > 0 {
        out.push('-');
    }
    let total = u32::try_from(label.chars().count()).ok()?;
    let (mut code, mut delta, mut bias, mut first) = (FIRST_CODE, 0_u32, FIRST_BIAS, true);
    while done < total {
        let next = label.chars().map(u32::from).filter(|&c| c >= code).min()?;
        delta = delta.checked_add((next - code).checked_mul(done + 1)?)?;
        code = next;
        for c in label.chars().map(u32::from) {
            if c < code {
                delta = delta.checked_add(1)?;
            }
            if c == code {
                push_number(&mut out, delta, bias);
                done += 1;
                bias = adapt(delta, done, first);
                (delta, first) = (0, false);
            }
        }
        (delta, code) = (delta.checked_add(1)?, code.checked_add(1)?);
    }
    Some(out)
}

/// Decodes a label; `label` is the part after `xn--`.
pub(super) fn decode(label: &str) -> Option<String> {
    let (plain, rest) = label.rsplit_once('-').unwrap_or(("", label));
    let mut out: Vec<char> = plain.chars().collect();
    let mut digits = rest.bytes();
    let (mut code, mut at, mut bias, mut first) = (FIRST_CODE, 0_u32, FIRST_BIAS, true);
    while digits.len() > 0 {
        let before = at;
        let (mut weight, mut k) = (1_u32, BASE);
        loop {
            let digit = value(digits.next()?)?;
            at = at.checked_add(digit.checked_mul(weight)?)?;
            let threshold = threshold(k, bias);
            if digit < threshold {
                break;
            }
            weight = weight.checked_mul(BASE - threshold)?;
            k += BASE;
        }
        let count = u32::try_from(out.len()).ok()?.checked_add(1)?;
        bias = adapt(at - before, count, first);
        first = false;
        code = code.checked_add(at / count)?;
        at %= count;
        out.insert(usize::try_from(at).ok()?, char::from_u32(code)?);
        at += 1;
    }
    Some(out.into_iter().collect())
}

fn push_number(out: &mut String, mut number: u32, bias: u32) {
    let mut k = BASE;
    loop {
        let threshold = threshold(k, bias);
        if number < threshold {
            out.push(digit(number));
            return;
        }
        out.push(digit(threshold + (number - threshold) % (BASE - threshold)));
        number = (number - threshold) / (BASE - threshold);
        k += BASE;
    }
}

fn threshold(k: u32, bias: u32) -> u32 {
    k.saturating_sub(bias).clamp(1, 26)
}

fn adapt(delta: u32, count: u32, first: bool) -> u32 {
    let mut delta = if first { delta / 700 } else { delta / 2 };
    delta += delta / count.max(1);
    let mut k = 0;
    while delta > 455 {
        delta /= BASE - 1;
        k += BASE;
    }
    k + BASE * delta / (delta + 38)
}

fn digit(value: u32) -> char {
    char::from_digit(value, 10 + 26).map_or('0', |c| match c {
        // In this alphabet letters precede digits.
        '0'..='9' => char::from(b'a' + c as u8 - b'0'),
        'a'..='p' => char::from(b'k' + c as u8 - b'a'),
        _ => char::from(b'0' + c as u8 - b'q'),
    })
}

fn value(byte: u8) -> Option<u32> {
    match byte {
        b'a'..=b'z' => Some(u32::from(byte - b'a')),
        b'0'..=b'9' => Some(u32::from(byte - b'0') + 26),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_other_scripts_there_and_back() {
        for (label, coded) in [
            ("bücher", "bcher-kva"),
            ("münchen-ost", "mnchen-ost-9db"),
            ("аррӏе", "80ak6aa92e"),
            ("pаypal", "pypal-4ve"),
            ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
            ("3年b組金八先生", "3b-ww4c5e180e575a65lsy2b"),
            ("почемужеонинеговорятпорусски", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
        ] {
            assert_eq!(encode(label).as_deref(), Some(coded), "{label}");
            assert_eq!(decode(coded).as_deref(), Some(label), "{label}");
        }
    }

    #[test]
    fn nonsense_is_no_label() {
        for coded in ["99999999", "a-ü", "9", "\u{1b}", "A"] {
            assert_eq!(decode(coded), None, "{coded}");
        }
    }
}
