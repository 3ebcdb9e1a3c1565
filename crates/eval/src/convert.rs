//! Numbers and texts, turned into each other as JavaScript does.

/// The number that a text writes; NaN where it writes none.
pub(crate) fn number_of(text: &str) -> f64 {
    let text = text.trim_matches(is_space);
    if text.is_empty() {
        return 0.0;
    }
    for (prefix, radix) in [("0x", 16), ("0X", 16), ("0o", 8), ("0O", 8), ("0b", 2), ("0B", 2)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            return crate::lexer::from_digits(digits, radix).unwrap_or(f64::NAN);
        }
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "Infinity" {
        return if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    // Rust reads "inf" and "nan" too.
    let is_decimal = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    if is_decimal { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

/// Whether JavaScript treats the character as white space.
pub(crate) fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// The text of a number.
pub(crate) fn number_text(number: f64) -> String {
    ryu_js::Buffer::new().format(number).to_owned()
}

/// The number as 32 bits with a sign.
pub(crate) fn int32(number: f64) -> i32 {
    uint32(number).cast_signed()
}

/// Converts the number to an unsigned 32-bit integer.
pub(crate) fn uint32(number: f64) -> u32 {
    if !number.is_finite() {
        return 0;
    }
    let wrapped = number.trunc().rem_euclid(4_294_967_296.0);
    wrapped as u32
}

/// `left ** right`.
pub(crate) fn power(left: f64, right: f64) -> f64 {
    // JavaScript decides these two otherwise than the floating point standard.
    if right.is_nan() || (left.abs() == 1.0 && right.is_infinite()) {
        return f64::NAN;
    }
    libm::pow(left, right)
}

/// The text of a function of ours.
pub(crate) fn function_text(name: &str) -> String {
    format!("function {name}() {{ [native code] }}")
}

/// The digits of a number with so many after the point; halves are rounded away from zero.
pub(crate) fn rounded(number: f64, digits: usize) -> String {
    round_up_halves(number, digits, |number, digits| format!("{number:.digits$}"))
}

/// The same with an exponent.
pub(crate) fn rounded_exponent(number: f64, digits: usize) -> String {
    round_up_halves(number, digits, |number, digits| format!("{number:.digits$e}"))
}

/// How many further digits distinguish a half from a value near it.
const MORE: usize = 60;

/// Rust rounds an exact half to even, JavaScript up. A number whose digits end in an exact half is replaced by its
/// neighbour further from zero, which is nearer than any other candidate.
fn round_up_halves(number: f64, digits: usize, format: impl Fn(f64, usize) -> String) -> String {
    let is_half = |text: &str| {
        let mantissa = text.split_once('e').map_or(text, |(mantissa, _)| mantissa);
        let tail = mantissa.len().checked_sub(MORE).and_then(|start| mantissa.get(start..));
        tail.is_some_and(|tail| tail.starts_with('5') && tail.bytes().skip(1).all(|digit| digit == b'0'))
    };
    if !is_half(&format(number, digits + MORE)) {
        return format(number, digits);
    }
    let away = if number > 0.0 { number.next_up() } else { number.next_down() };
    format(away, digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_numbers() {
        for (text, number) in [
            ("", 0.0),
            ("  12 ", 12.0),
            ("0x10", 16.0),
            ("1e3", 1000.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("-Infinity", f64::NEG_INFINITY),
        ] {
            assert_eq!(number_of(text), number, "{text:?}");
        }
        for text in ["inf", "nan", "1_000", "0x", "- 1", "1e", "+-1", "12px", "."] {
            assert!(number_of(text).is_nan(), "{text:?}");
        }
    }

    #[test]
    fn halves_go_up() {
        assert_eq!(rounded(2.5, 0), "3");
        assert_eq!(rounded(-2.5, 0), "-3");
        assert_eq!(rounded(1.005, 2), "1.00");
        assert_eq!(rounded_exponent(25.0, 0), "3e1");
        assert_eq!(rounded(1e21, 2), "1000000000000000000000.00");
    }

    #[test]
    fn numbers_wrap() {
        assert_eq!(int32(4_294_967_295.0), -1);
        assert_eq!(int32(-2_147_483_649.0), 2_147_483_647);
        assert_eq!(uint32(f64::INFINITY), 0);
    }
}
