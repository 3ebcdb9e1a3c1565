//! Declarations of a source file: types, functions, constants and modules, with their names.

use super::tree::{File, numbered};

/// A declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item<'c> {
    /// Its line, from 1.
    pub(super) line: usize,
    /// The keyword: `struct`, `fn`, `const` …
    pub(super) kind: &'c str,
    /// Name of the item.
    pub(super) name: &'c str,
    /// Whether it is `pub` on its own line.
    pub(super) is_public: bool,
    /// Whether it is at the left margin, and so in no `impl` and no `mod`.
    pub(super) is_outermost: bool,
}

/// Keywords that declare an item.
const KINDS: &[&str] =
    &["struct", "enum", "union", "trait", "type", "fn", "const", "static", "mod", "macro_rules!"];

/// Keywords that may precede them.
const MODIFIERS: &[&str] = &["unsafe", "async", "default", "extern", "\"\"", "mut"];

/// The keywords that declare a type.
const TYPES: &[&str] = &["struct", "enum", "union", "trait", "type"];

/// Returns the declarations of a file, without its unit tests.
pub(super) fn items(file: &File) -> impl Iterator<Item = Item<'_>> {
    numbered(file.code_before_tests()).filter_map(|(line, text)| item(line, text))
}

impl Item<'_> {
    /// Whether it declares a type.
    pub(super) fn is_type(&self) -> bool {
        TYPES.contains(&self.kind)
    }

    /// Whether it declares a value that never changes.
    pub(super) fn is_constant(&self) -> bool {
        matches!(self.kind, "const" | "static")
    }
}

fn item(line: usize, text: &str) -> Option<Item<'_>> {
    let declared = text.trim_start();
    let is_outermost = declared.len() == text.len();
    let (is_public, rest) = match declared.strip_prefix("pub") {
        Some(rest) if rest.starts_with(' ') => (true, rest),
        Some(rest) if rest.starts_with('(') => (false, rest.split_once(')')?.1),
        _ => (false, declared),
    };
    let mut words = rest.split_whitespace().skip_while(|word| MODIFIERS.contains(word)).peekable();
    let mut kind = words.next()?;
    // `const fn` declares a function.
    while kind == "const" && words.peek().is_some_and(|word| *word == "fn" || MODIFIERS.contains(word)) {
        kind = words.find(|word| !MODIFIERS.contains(word))?;
    }
    let kind = KINDS.iter().find(|known| **known == kind)?;
    let name = words.find(|word| !MODIFIERS.contains(word))?;
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    let name = name.get(..end).filter(|name| !name.is_empty() && *name != "_")?;
    Some(Item { line, kind, name, is_public, is_outermost })
}

/// Returns the words of a name, in small letters: `MAX_SIZE`, `max_size`, `MaxSize` and `max-size` are two words each.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in name.chars() {
        let begins = !before.is_alphanumeric() || (c.is_uppercase() && !before.is_uppercase());
        if c.is_alphanumeric() {
            match words.last_mut() {
                Some(word) if !begins => word.extend(c.to_lowercase()),
                _ => words.push(c.to_lowercase().collect()),
            }
        }
        before = c;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::tree::Tree;
    use super::*;

    fn read(text: &str) -> Vec<(usize, String, bool, bool)> {
        let tree = Tree::of(&[("a.rs", text)]);
        let found = items(&tree.files[0]);
        found
            .map(|item| {
                (item.line, format!("{} {}", item.kind, item.name), item.is_public, item.is_outermost)
            })
            .collect()
    }

    #[test]
    fn declarations_are_read() {
        for (text, kind_and_name, is_public, is_outermost) in [
            ("pub struct Place<'a>(u8);", "struct Place", true, true),
            ("    pub(crate) const MAX: u8 = 1;", "const MAX", false, false),
            ("pub const unsafe fn f<T>() {}", "fn f", true, true),
            ("pub unsafe extern \"C\" fn g() {}", "fn g", true, true),
            ("static mut N: u8 = 0;", "static N", false, true),
            ("pub(in crate::a) enum E {", "enum E", false, true),
            ("pub trait T: Sized {", "trait T", true, true),
            ("pub mod m;", "mod m", true, true),
        ] {
            assert_eq!(read(text), [(1, kind_and_name.to_owned(), is_public, is_outermost)], "{text}");
        }
    }

    #[test]
    fn what_declares_nothing_is_passed_over() {
        let text = "use a::b;\n// pub struct A;\nlet x = \"pub struct B\";\nimpl C {}\nconst _: () = ();\n\
                    #[cfg(test)]\nmod tests { pub struct D; }\n";
        assert_eq!(read(text), []);
    }

    #[test]
    fn names_are_words() {
        for (name, expected) in [
            ("MAX_SIZE", vec!["max", "size"]),
            ("way_out", vec!["way", "out"]),
            ("HitSpans", vec!["hit", "spans"]),
            ("JSONReader2", vec!["jsonreader2"]),
            ("look-alikes.rs", vec!["look", "alikes", "rs"]),
        ] {
            assert_eq!(words(name), expected, "{name}");
        }
    }
}
