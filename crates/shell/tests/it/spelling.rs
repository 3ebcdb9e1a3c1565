//! The ways to quote a word, all of which mean the same. The tests of the policy crate use them too.

/// Spells a word in one of five ways.
pub(crate) fn quoted(word: &str, way: usize) -> String {
    match way % 5 {
        0 => format!("'{}'", word.replace('\'', r"'\''")),
        1 => format!(
            "\"{}\"",
            word.chars()
                .map(|c| if "$`\"\\".contains(c) { format!("\\{c}") } else { c.to_string() })
                .collect::<String>()
        ),
        2 => word.chars().map(|c| format!("\\{c}")).collect(),
        3 => format!("$'{}'", word.replace('\\', r"\\").replace('\'', r"\'")),
        _ => {
            word.chars().map(|c| if c == '\'' { "\"'\"".to_owned() } else { format!("'{c}'\\\n") }).collect()
        }
    }
}
