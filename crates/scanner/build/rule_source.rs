//! Extracts the patterns of a rule from its source, since nothing is compiled yet. When the crate is compiled, an
//! assertion checks that the compiler reads the same patterns.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// Tokens of a rule's source, as far as they matter here.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Text(String),
    Sign(char),
}

/// Returns the regular expressions of a rule in order.
pub(crate) fn patterns(file: &Path) -> Vec<String> {
    let source = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let tokens = tokens(&source);
    let constants: HashMap<&str, &str> = tokens.windows(6).filter_map(constant).collect();
    let pattern = |three: &[Token]| match three {
        [Token::Word(field), Token::Sign(':'), value] if field == "regex" => match value {
            Token::Text(text) => Some(text.clone()),
            Token::Word(name) => {
                let text = constants.get(name.as_str());
                Some(
                    (*text.unwrap_or_else(|| panic!("{}: no constant {name} here", file.display())))
                        .to_owned(),
                )
            }
            Token::Sign(_) => None,
        },
        _ => None,
    };
    tokens.windows(3).filter_map(pattern).collect()
}

/// Returns every expression of a source file that the crate itself uses: patterns of rules, their exceptions, and
/// what is given to `Expression::new`.
pub(crate) fn expressions(file: &Path) -> Vec<String> {
    let source = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let tokens = tokens(&source);
    let mut found: Vec<String> =
        tokens.windows(6).filter_map(constant).map(|(_, text)| text.to_owned()).collect();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        let rest = tokens.get(at + 1..).unwrap_or_default();
        found.extend(match (word.as_str(), rest) {
            ("regex", [Token::Sign(':'), Token::Text(text), ..])
            | ("Match" | "Before" | "After" | "new", [Token::Sign('('), Token::Text(text), ..]) => {
                Some(text.clone())
            }
            ("concat", [Token::Sign('!'), Token::Sign('('), parts @ ..]) => Some(joined(parts)),
            _ => None,
        });
    }
    found
}

/// The parts of `concat!`, up to its end.
fn joined(parts: &[Token]) -> String {
    let text = |token: &Token| match token {
        Token::Text(text) => Some(text.clone()),
        _ => None,
    };
    parts.iter().take_while(|token| **token != Token::Sign(')')).filter_map(text).collect()
}

/// `NAME: &str = "…"`, by its name.
fn constant(tokens: &[Token]) -> Option<(&str, &str)> {
    match tokens {
        [
            Token::Word(name),
            Token::Sign(':'),
            Token::Sign('&'),
            Token::Word(kind),
            Token::Sign('='),
            Token::Text(text),
        ] if kind == "str" => Some((name, text)),
        _ => None,
    }
}

fn tokens(mut source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    while let Some(first) = source.chars().next() {
        source = if source.starts_with("//") {
            source.find('\n').and_then(|end| source.get(end..)).unwrap_or_default()
        } else if let Some((text, rest)) = raw_text(source).or_else(|| text(source)) {
            tokens.push(Token::Text(text));
            rest
        } else if first.is_alphanumeric() || first == '_' {
            let end = source.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(source.len());
            let (word, rest) = source.split_at(end);
            tokens.push(Token::Word(word.to_owned()));
            rest
        } else {
            tokens.extend(Some(Token::Sign(first)).filter(|_| !first.is_whitespace()));
            source.strip_prefix(first).unwrap_or_default()
        };
    }
    tokens
}

/// A raw string at the start, and the rest.
fn raw_text(source: &str) -> Option<(String, &str)> {
    let quoted = source.strip_prefix('r')?;
    let text = quoted.trim_start_matches('#');
    let end = format!("\"{}", "#".repeat(quoted.len() - text.len()));
    let (text, rest) = text.strip_prefix('"')?.split_once(&end)?;
    Some((text.to_owned(), rest))
}

/// An ordinary string. Escapes that no pattern needs are kept as written.
fn text(source: &str) -> Option<(String, &str)> {
    let mut chars = source.strip_prefix('"')?.chars();
    let mut text = String::new();
    loop {
        match chars.next()? {
            '"' => return Some((text, chars.as_str())),
            '\\' => match chars.next()? {
                escaped @ ('"' | '\\') => text.push(escaped),
                other => text.extend(['\\', other]),
            },
            plain => text.push(plain),
        }
    }
}
