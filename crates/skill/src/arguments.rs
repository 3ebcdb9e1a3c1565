//! Substitutes arguments into a skill's text in one pass, so that an argument that looks like a placeholder is not
//! replaced again.

/// Maximum size of the result, however often a text repeats an argument.
const MAX_FILLED_BYTES: usize = 1 << 20;

/// Returns the text with its arguments substituted, or `None` if the result would exceed the size limit.
///
/// `$ARGUMENTS` and `$@` are replaced by all arguments, `$ARGUMENTS[0]` and `$1` by the first, `${@:2}` by those from
/// the second on, and `{name}` by the one of that name. A placeholder for a missing argument is left as is: it may be
/// a price. If the text has no placeholder, the arguments are appended.
#[must_use]
pub fn substitute(text: &str, arguments: &str, names: &[String]) -> Option<String> {
    let words = split(arguments);
    let filled = Filler { all: arguments.trim(), words: &words, names }.fill(text)?;
    if filled.0.len() > MAX_FILLED_BYTES {
        return None;
    }
    match filled {
        (filled, false) if !arguments.trim().is_empty() => {
            Some(format!("{}\n\nARGUMENTS: {}", filled.trim_end(), arguments.trim()))
        }
        (filled, _) => Some(filled),
    }
}

struct Filler<'a> {
    all: &'a str,
    words: &'a [String],
    names: &'a [String],
}

impl Filler<'_> {
    /// Returns the text, and whether it contained a placeholder.
    fn fill(&self, text: &str) -> Option<(String, bool)> {
        let (mut filled, mut found) = (String::with_capacity(text.len()), false);
        let mut rest = text;
        while let Some(at) = rest.find(['$', '{']) {
            let (before, from) = rest.split_at_checked(at)?;
            filled.push_str(before);
            match self.place(from) {
                Some((length, argument)) => {
                    found = true;
                    filled.push_str(&argument);
                    rest = from.get(length..)?;
                }
                None => {
                    filled.push_str(from.get(..1)?);
                    rest = from.get(1..)?;
                }
            }
            if filled.len() > MAX_FILLED_BYTES {
                return None;
            }
        }
        filled.push_str(rest);
        Some((filled, found))
    }

    /// Returns the length of the placeholder at the start of a text, and its replacement.
    fn place(&self, text: &str) -> Option<(usize, String)> {
        if let Some(rest) = text.strip_prefix("$ARGUMENTS") {
            let index = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
            return match index.and_then(|(index, _)| Some((index.len() + 2, index.parse::<usize>().ok()?))) {
                Some((length, index)) => Some(("$ARGUMENTS".len() + length, self.words.get(index)?.clone())),
                None => Some(("$ARGUMENTS".len(), self.all.to_owned())),
            };
        }
        if text.starts_with("$@") {
            return Some((2, self.all.to_owned()));
        }
        if let Some(rest) = text.strip_prefix("${@:") {
            let (number, _) = rest.split_once('}').filter(|(number, _)| number.len() < 4)?;
            let from = number.parse::<usize>().ok()?.checked_sub(1)?;
            return Some((5 + number.len(), self.words.get(from..).unwrap_or_default().join(" ")));
        }
        if let Some(rest) = text.strip_prefix('$') {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let number = rest.get(..digits).filter(|digits| digits.len() < 4)?.parse::<usize>().ok()?;
            return Some((1 + digits, self.words.get(number.checked_sub(1)?)?.clone()));
        }
        let name = text.strip_prefix('{')?.get(..)?.split('}').next()?;
        let index = self.names.iter().position(|known| known == name)?;
        Some((name.len() + 2, self.words.get(index)?.clone()))
    }
}

/// Splits arguments at spaces; quotes group words.
fn split(arguments: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in arguments.chars() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::{MAX_FILLED_BYTES, substitute};

    #[test]
    fn arguments_go_where_they_belong_and_once() {
        let names = ["file".to_owned(), "mode".to_owned()];
        for (text, arguments, wanted) in [
            ("Do $ARGUMENTS.", "a b", "Do a b."),
            ("Do $1 and $2, $ARGUMENTS[0].", "'a b' c", "Do a b and c, a b."),
            ("$@ / ${@:2}", "a b c", "a b c / b c"),
            ("{file} in {mode}, {other}", "x y", "x in y, {other}"),
            ("It costs $5 and $100.", "a", "It costs $5 and $100.\n\nARGUMENTS: a"),
            ("Do $1.", "$2 $1", "Do $2."),
            ("Do it.", "now", "Do it.\n\nARGUMENTS: now"),
            ("Do it. $1", "", "Do it. $1"),
            ("$ARGUMENTS", "", ""),
            ("$", "x", "$\n\nARGUMENTS: x"),
            ("{", "x", "{\n\nARGUMENTS: x"),
            ("é$1é", "ü", "éüé"),
            ("${@:0} ${@:9} $99999999999999999999", "x", "${@:0}  $99999999999999999999"),
        ] {
            assert_eq!(substitute(text, arguments, &names).as_deref(), Some(wanted), "{text} {arguments}");
        }
    }

    #[test]
    fn a_text_that_repeats_its_arguments_is_bounded() {
        let (text, arguments) = ("$ARGUMENTS".repeat(2000), "x".repeat(20_000));
        assert_eq!(substitute(&text, &arguments, &[]), None);
        assert!(substitute(&"x".repeat(MAX_FILLED_BYTES + 1), "", &[]).is_none());
    }
}
