//! Patterns in parentheses: `!(*.md)` of bash's `extglob`, `(a|b)` of zsh.
//!
//! A caller that asks which files a word may name gets words without parentheses that together cover all of them, and
//! possibly more. Where the content of a group is unclear, they cover any name.

use crate::options::Shell;

/// More words than this are not listed one by one.
const MAX_WORDS: usize = 64;

/// Returns words that together cover every file that a word with groups matches, or `None` if there are too many.
/// `text` is the spelling of the word, with `$` for expansions; parentheses in it delimit groups.
pub(crate) fn covering(text: &str, shell: Shell) -> Option<Vec<String>> {
    let mut words = vec![String::new()];
    let mut rest = text;
    while let Some((before, from)) = rest.split_once('(') {
        let (inside, after) = closed(from);
        let (before, operator) = match before.chars().next_back() {
            Some(operator @ ('?' | '*' | '+' | '@' | '!')) if shell == Shell::Bash => {
                (before.strip_suffix(operator).unwrap_or(before), operator)
            }
            _ => (before, '('),
        };
        let begins =
            before.ends_with('/') || (before.is_empty() && words.iter().all(|word| starts_name(word)));
        let choices = choices(operator, inside, begins);
        if words.len().saturating_mul(choices.len()) > MAX_WORDS {
            return None;
        }
        let extended = |word: &String| -> Vec<String> {
            choices.iter().map(|choice| format!("{word}{before}{choice}")).collect()
        };
        words = words.iter().flat_map(extended).collect();
        rest = after;
    }
    words.iter_mut().for_each(|word| word.push_str(rest));
    Some(words)
}

/// Whether text appended to a word begins a file name.
fn starts_name(word: &str) -> bool {
    word.is_empty() || word.ends_with('/')
}

/// Returns the text up to the end of a group, and the rest.
fn closed(text: &str) -> (&str, &str) {
    let mut depth = 1_usize;
    let end = text.find(|letter| {
        depth = match letter {
            '(' => depth + 1,
            ')' => depth - 1,
            _ => depth,
        };
        depth == 0
    });
    let end = end.unwrap_or(text.len());
    let after = text.get(end..).unwrap_or_default();
    (text.get(..end).unwrap_or_default(), after.strip_prefix(')').unwrap_or(after))
}

/// Returns the possible texts of a group.
fn choices(operator: char, inside: &str, begins: bool) -> Vec<&str> {
    let is_plain = !inside.contains(['\'', '"', '\\', '$', '`', '(', ')']);
    let alternatives = inside.split('|');
    let (anything, nothing) = match operator {
        '@' => (false, false),
        '?' | '(' => (false, true),
        '+' => (true, false),
        _ => (true, true),
    };
    let mut choices = Vec::new();
    // A name that begins with a dot is matched only by a literal dot.
    let hides =
        operator != '!' && (!is_plain || alternatives.clone().any(|one| one.starts_with(['.', '?', '['])));
    if begins && hides && (anything || !is_plain) {
        choices.push(".*");
    }
    if is_plain && operator != '!' {
        choices.extend(alternatives);
    }
    if anything || !is_plain {
        choices.push("*");
    }
    if nothing && !choices.contains(&"") {
        choices.push("");
    }
    choices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_become_words_that_cover_them() {
        let rows: &[(&str, &[&str])] = &[
            ("a*", &["a*"]),
            ("!(*.md)", &["*", ""]),
            ("/!(x)", &["/*", "/"]),
            ("/@(etc|usr)/x", &["/etc/x", "/usr/x"]),
            ("@(.env|x)", &[".env", "x"]),
            (".@(env)", &[".env"]),
            ("a?(b)c", &["abc", "ac"]),
            ("id_+(rsa)", &["id_rsa", "id_*"]),
            ("+(.e|n|v)", &[".*", ".e", "n", "v", "*"]),
            ("@('id_rsa')", &[".*", "*"]),
            ("@(a|@(b))", &[".*", "*"]),
            ("x@($)", &["x*"]),
            ("@(a|b)@(c|d)", &["ac", "ad", "bc", "bd"]),
            ("@(a", &["a"]),
        ];
        for (text, expected) in rows {
            let found = covering(text, Shell::Bash).unwrap();
            assert_eq!(found, *expected, "{text}");
        }
        assert_eq!(covering("*(.)", Shell::Zsh).unwrap(), ["*.", "*"]);
        assert_eq!(covering("/(etc|usr)", Shell::Zsh).unwrap(), ["/etc", "/usr", "/"]);
        assert_eq!(covering(&"@(a|b)".repeat(7), Shell::Bash), None);
        assert_eq!(covering(&"@(a)".repeat(10_000), Shell::Bash).unwrap().len(), 1);
    }
}
