//! Names of the variables in an environment file (`.env`), without their values.
//!
//! Programs differ in what a value is: a shell continues one behind a backslash, in quotes, brackets and here-documents, and libraries
//! know some of these. So only a text that all of them read alike is read: each line assigns one variable, and a value in quotes ends
//! with its quote. At the first line that could be a part of a value, the reading ends.

/// The first line of a result.
const HEAD: &str = "# The names of variables. The sandbox hides their values.\n";

/// The last line of a result that is not complete.
const REST: &str = "# More lines are hidden: what follows may be a part of a value.\n";

/// Maximum length of a name: longer ones are hardly names.
const MAX_NAME: usize = 100;

/// Brackets in which a shell continues a value.
const BRACKETS: &[(char, char)] = &[('(', ')'), ('{', '}')];

/// Returns an environment file with the names of the variables in this one, and without values. Takes linear time.
///
/// A result is not complete where a line could belong to a value; it says so in its last line.
#[must_use]
pub fn names_without_values(text: &str) -> String {
    let mut names = String::from(HEAD);
    let mut rest = text.trim_start_matches('\u{feff}');
    while !rest.is_empty() {
        match assignment(rest) {
            Some((name, after)) => {
                name.into_iter().for_each(|name| names.extend([name, "=\n"]));
                rest = after;
            }
            None => {
                names.push_str(REST);
                break;
            }
        }
    }
    names
}

/// Reads one assignment, comment or empty line, and returns the name and the text behind it; nothing if it is another line, or its
/// value may go on in the next one.
fn assignment(text: &str) -> Option<(Option<&str>, &str)> {
    let (line, after) = text.split_once('\n').unwrap_or((text, ""));
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Some((None, after));
    }
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end();
    let name =
        name.strip_prefix("export").filter(|it| it.starts_with([' ', '\t'])).unwrap_or(name).trim_start();
    let value = value.trim_start();
    (is_name(name) && !continues(value)).then_some(())?;
    match value.chars().next() {
        Some(quote @ ('"' | '\'')) => Some((Some(name), behind(text, quote)?)),
        _ => Some((Some(name), after)),
    }
}

fn is_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    name.len() <= MAX_NAME
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(is_part)
}

/// Whether a value without quotes may go on in the next line.
fn continues(value: &str) -> bool {
    if value.starts_with(['"', '\'']) {
        return false;
    }
    let value =
        [" #", "\t#"].iter().fold(value, |value, begin| value.split_once(begin).map_or(value, |it| it.0));
    value.ends_with('\\')
        || value.contains(['"', '\'', '`', '\0'])
        || value.contains("<<")
        || !BRACKETS.iter().all(|pair| is_balanced(value, *pair))
}

fn is_balanced(value: &str, (begin, end): (char, char)) -> bool {
    let mut depth = 0_usize;
    for letter in value.chars() {
        if letter == begin {
            depth += 1;
        } else if letter == end {
            let Some(less) = depth.checked_sub(1) else { return false };
            depth = less;
        }
    }
    depth == 0
}

/// Returns the text behind a value in quotes, which may have several lines; nothing if the quote does not end, or more of the value
/// follows it.
fn behind(text: &str, quote: char) -> Option<&str> {
    let (_, value) = text.split_once(quote)?;
    let mut is_escaped = false;
    let end = value.find(|letter| {
        let ends = letter == quote && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends
    })?;
    // Not all programs know an escape: for those without, the value ends at the first quote.
    if value.get(..end)?.contains(quote) || (quote == '\'' && value.get(..end)?.contains('\\')) {
        return None;
    }
    let (line, after) = value.get(end + 1..)?.split_once('\n').unwrap_or((value.get(end + 1..)?, ""));
    let line = line.trim();
    let is_comment = line.starts_with('#') && !line.contains(['"', '\'']);
    (line.is_empty() || is_comment).then_some(after)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(text: &str) -> Vec<String> {
        let names = names_without_values(text);
        names.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
    }

    #[test]
    fn each_assignment_has_a_name() {
        let text = "\u{feff}# a comment\r\nPORT=8080\r\n\n  export TOKEN = abc # it's\nURL=${HOST}/x?a=b\nA=\"x\ny=1\n\" # z\nB=''\nc.d-e=1";
        assert_eq!(names(text), ["PORT=", "TOKEN=", "URL=", "A=", "B=", "c.d-e="]);
        assert_eq!(names_without_values("A=1"), format!("{HEAD}A=\n"));
        assert_eq!(names_without_values(""), HEAD);
    }

    #[test]
    fn what_may_belong_to_a_value_ends_the_names() {
        for value in [
            "x\\",
            "\"x",
            "'x",
            "x\"y",
            "it's",
            "$(cat",
            "(",
            "{",
            "${X:-",
            "<<END",
            "`id",
            "a)",
            "\"x\"y",
            "'a\\'b",
            "\"a\\\"b\"",
            "\"x\" # \"",
        ] {
            let shown = names_without_values(&format!("A=1\nB={value}\nSECRET=1\n"));
            assert!(shown.starts_with(&format!("{HEAD}A=\n")) && shown.ends_with(REST), "{value}: {shown}");
            assert!(!shown.contains("SECRET"), "{value}");
        }
        for line in
            ["-----BEGIN KEY-----", "MIIEvQ+/==", "MIIEvQ", "[part]", "a b=1", "1=2", "=x", "A: 1", "\0=1"]
        {
            assert_eq!(names(&format!("A=1\n{line}\nSECRET=1")), ["A="], "{line}");
        }
        assert_eq!(names(&format!("A=1\n{}=1", "x".repeat(MAX_NAME + 1))), ["A="]);
    }

    /// A variable, as a shell or a library writes it, whose value has lines that look like variables.
    fn written(form: usize, value: &str) -> String {
        match form {
            0 => format!("'{value}'"),
            1 => format!("\"{value}\""),
            2 => value.replace('\n', "\\\n"),
            3 => format!("$(cat <<E\n{value}\nE\n)"),
            4 => format!("(a\n{value}\n)"),
            5 => format!("x'{value}'"),
            6 => format!("${{X:-\n{value}}}"),
            7 => format!("-----BEGIN X-----\n{}\n-----END X-----", value.replace('=', "")),
            _ => format!("`echo\n{value}`"),
        }
    }

    proptest! {
        #[test]
        fn no_part_of_a_value_is_shown(
            all in proptest::collection::vec((0..9_usize, "[a-z \\\\{(#]{0,4}(\n(VALUE[0-9]=x|[a-z#{(]{0,3}))*"), 0..8),
        ) {
            let variables = all.iter().enumerate();
            let text: String = variables.map(|(at, (form, value))| format!("N{at}={}\n", written(*form, value))).collect();
            let shown = names_without_values(&text);
            prop_assert!(!shown.contains("VALUE"), "{text:?}: {shown:?}");
            let mut expected = names(&text).into_iter().enumerate();
            prop_assert!(expected.all(|(at, name)| name == format!("N{at}=")), "{text:?}: {shown:?}");
        }
    }
}
