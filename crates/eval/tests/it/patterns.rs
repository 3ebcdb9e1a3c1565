//! Random regular expressions: small ones find the same as in Node, and hostile ones stay within the memory limits.

use crate::bounds::keeps_to_its_limits;
use crate::node::{self, Chance};

/// Atoms that match one character, and whether they need the flag u.
const ATOMS: &[(&str, bool)] = &[
    ("a", false),
    ("B", false),
    ("k", false),
    ("ſ", false),
    ("é", false),
    ("ß", false),
    (".", false),
    ("\\w", false),
    ("\\W", false),
    ("\\d", false),
    ("\\S", false),
    ("[a-c]", false),
    ("[^a-c]", false),
    ("[A-Zé]", false),
    ("[^\\w]", false),
    ("[\\s\\S]", false),
    ("[é-\\u017f]", false),
    ("\\u212a", false),
    ("[^]", false),
    ("\\p{L}", true),
    ("\\P{L}", true),
    ("\\p{Lu}", true),
    ("\\P{Lu}", true),
    ("[^\\p{Ll}]", true),
    ("[\\p{N}_]", true),
    ("\\u{1f600}", true),
];

const COUNTS: &[&str] = &["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?", "??", "{1,3}?"];

const FLAGS: &[&str] = &["", "i", "u", "iu", "m", "s", "su", "im", "iu", "u"];

const TEXTS: &[&str] = &[
    "'aBcab'",
    "'Kk\\u212aS\\u017fs'",
    "'\\u00e9\\u00c9 \\u00df\\u1e9e x1_'",
    "'ab\\nA\\u{1f600}b'",
    "''",
    "'a-b c\\u0301 B9'",
];

struct Writer {
    chance: Chance,
    is_unicode: bool,
    groups: usize,
    kind: Kind,
}

/// Purpose of the patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// For comparison. Node 20 has bugs in lookbehind and back references: it crashes for some, and looks behind from
    /// within a character. `language.txt` contains the comparable ones.
    Compared,
    Hostile,
}

impl Writer {
    fn pattern(&mut self, depth: usize) -> String {
        let count = 1 + self.chance.below(3);
        let part: String = (0..count).map(|_| self.term(depth)).collect();
        if self.chance.below(5) == 0 { format!("{part}|{}", self.term(depth)) } else { part }
    }

    fn term(&mut self, depth: usize) -> String {
        let (term, can_repeat) = if depth == 0 { (self.atom(), true) } else { self.nested(depth - 1) };
        if can_repeat && self.chance.below(3) == 0 {
            term + &self.chance.pick(if self.kind == Kind::Compared { COUNTS } else { HOSTILE })
        } else {
            term
        }
    }

    fn atom(&mut self) -> String {
        loop {
            let (atom, needs_unicode) = ATOMS[self.chance.below(ATOMS.len())];
            if !needs_unicode || self.is_unicode {
                return atom.to_owned();
            }
        }
    }

    fn nested(&mut self, depth: usize) -> (String, bool) {
        match self.chance.below(9) {
            0 | 1 => {
                self.groups += 1;
                (format!("({})", self.pattern(depth)), true)
            }
            2 | 3 => (format!("(?:{})", self.pattern(depth)), true),
            4 => (format!("(?={})", self.pattern(depth)), false),
            5 if self.kind == Kind::Hostile => (format!("(?<!{})", self.pattern(depth)), false),
            6 if self.kind == Kind::Hostile && self.groups > 0 => {
                (format!("\\{}", 1 + self.chance.below(self.groups)), true)
            }
            7 => (["^", "$", "\\b"][self.chance.below(3)].to_owned(), false),
            _ => (self.atom(), true),
        }
    }
}

#[test]
fn node_agrees_on_patterns_by_chance() {
    let mut writer = Writer { chance: Chance(9), is_unicode: false, groups: 0, kind: Kind::Compared };
    let mut sources = Vec::new();
    for _ in 0..node::cases(2_000) {
        let flags = FLAGS[writer.chance.below(FLAGS.len())];
        (writer.is_unicode, writer.groups) = (flags.contains('u'), 0);
        let depth = writer.chance.below(3);
        let pattern = writer.pattern(depth);
        let text = TEXTS[writer.chance.below(TEXTS.len())];
        let how = match writer.chance.below(3) {
            0 => format!("{text}.match(/{pattern}/{flags})"),
            1 => format!("{text}.match(/{pattern}/g{flags})"),
            _ => format!("{text}.replace(/{pattern}/g{flags}, '<$&>')"),
        };
        // As JSON, halves of characters are seen too.
        sources.push(format!("JSON.stringify({how})"));
    }
    node::compare(&sources);
}

/// Counts that are large when they are written out.
const HOSTILE: &[&str] = &["{1000}", "{0,1000}", "{1,100}", "*", "+", "{60}?", "{4000000000}", "?"];

#[test]
fn patterns_by_chance_take_no_more_than_allowed() {
    let mut writer = Writer { chance: Chance(3), is_unicode: false, groups: 0, kind: Kind::Hostile };
    let mut sources = Vec::new();
    for _ in 0..node::cases(400) {
        let flags = FLAGS[writer.chance.below(FLAGS.len())];
        (writer.is_unicode, writer.groups) = (flags.contains('u'), 0);
        let depth = writer.chance.below(5);
        let pattern = serde_json::to_string(&writer.pattern(depth)).unwrap();
        let times = [1, 20, 400, 10_000][writer.chance.below(4)];
        sources.push(format!("new RegExp({pattern}.repeat({times}), '{flags}').exec('aBk'.repeat(1000))"));
    }
    keeps_to_its_limits(&sources);
}
