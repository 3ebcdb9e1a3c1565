//! Variables that arithmetic reads and sets, determined from its text.
//!
//! bash(1) and zshmisc(1), ARITHMETIC EVALUATION: the value of a name is evaluated in turn, including its subscript,
//! so a value `a[$(id)]` runs `id`. This module evaluates nothing: everything that may be a name counts as one, and
//! everything unknown is [`Event::Data`].

/// An effect of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event<'a> {
    /// Evaluates the value of this variable.
    Reads(&'a str),
    /// Sets this variable to a number.
    Sets(&'a str),
    /// Evaluates something other than a variable: the output of a command, or a parameter.
    Data,
}

/// Returns the events of arithmetic in the order of the text. Takes linear time.
pub(crate) fn events(text: &str) -> Vec<Event<'_>> {
    let mut scan = Scan { text, at: 0, open: Vec::new(), found: Vec::new() };
    while scan.at < text.len() {
        scan.step();
    }
    scan.found
}

/// Whether a part of the text may not be evaluated: its assignments are then uncertain.
pub(crate) fn is_conditional(text: &str) -> bool {
    text.contains("&&") || text.contains("||") || text.contains('?')
}

#[derive(Debug)]
struct Scan<'a> {
    text: &'a str,
    at: usize,
    /// The names before the brackets that are open here.
    open: Vec<Option<&'a str>>,
    found: Vec<Event<'a>>,
}

impl<'a> Scan<'a> {
    fn step(&mut self) {
        match self.byte(0) {
            b'$' => self.dollar(),
            b'`' => self.event(Event::Data),
            byte if byte.is_ascii_digit() => {
                let number = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | b'.');
                self.take(number);
                // `16#ff` has a base; scanning continues behind `10#$x`.
                if self.byte(0) == b'#' {
                    self.at += 1;
                    self.take(number);
                }
            }
            byte if is_name_start(byte) => self.name(),
            b'[' => {
                self.open.push(None);
                self.at += 1;
            }
            b']' => {
                self.at += 1;
                if let Some(Some(name)) = self.open.pop() {
                    self.used(name, false);
                }
            }
            _ => self.at += 1,
        }
    }

    fn name(&mut self) {
        let is_prefixed = self.text.get(..self.at).is_some_and(|before| {
            let before = before.trim_end();
            before.ends_with("++") || before.ends_with("--")
        });
        let name = self.take(is_name_byte);
        if self.byte(0) == b'[' {
            self.open.push(Some(name));
            self.at += 1;
            if is_prefixed {
                self.found.push(Event::Sets(name));
            }
        } else {
            self.used(name, is_prefixed);
        }
    }

    /// Records the use of a variable, which a following operator may set.
    fn used(&mut self, name: &'a str, is_prefixed: bool) {
        let rest = self.text.get(self.at..).unwrap_or_default().trim_start();
        let sets_only = rest.starts_with('=') && !rest.starts_with("==");
        if !sets_only {
            self.found.push(Event::Reads(name));
        }
        if sets_only || is_prefixed || ASSIGNING.iter().any(|operator| rest.starts_with(operator)) {
            self.found.push(Event::Sets(name));
        }
    }

    fn dollar(&mut self) {
        self.at += 1;
        match self.byte(0) {
            b'(' if self.byte(1) == b'(' => self.at += 2,
            b'{' => self.braced(),
            b'#' | b'?' | b'$' => self.at += 1,
            byte if is_name_start(byte) => {
                let name = self.take(is_name_byte);
                self.found.push(Event::Reads(name));
            }
            // zsh: `$[1+1]` is arithmetic, as it is in bash.
            b'[' => {}
            _ => self.event(Event::Data),
        }
    }

    /// `${#x}` is a number, `${x…}` the value of `x` or a result of the rest, which is scanned as is.
    fn braced(&mut self) {
        self.at += 1;
        match self.byte(0) {
            b'#' | b'?' if self.byte(1) == b'}' => self.at += 2,
            b'#' if self.byte(1).is_ascii_digit() || matches!(self.byte(1), b'@' | b'*') => self.at += 2,
            b'#' if is_name_start(self.byte(1)) => {
                self.at += 1;
                self.take(is_name_byte);
            }
            byte if is_name_start(byte) => {
                let name = self.take(is_name_byte);
                self.found.push(Event::Reads(name));
            }
            _ => self.event(Event::Data),
        }
    }

    fn event(&mut self, event: Event<'a>) {
        self.found.push(event);
        self.at += 1;
    }

    fn take(&mut self, belongs: impl Fn(u8) -> bool) -> &'a str {
        let start = self.at;
        while self.at < self.text.len() && belongs(self.byte(0)) {
            self.at += 1;
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }
}

/// Operators that read and set the variable before them.
const ASSIGNING: &[&str] =
    &["++", "--", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|=", "**=", "&&=", "||=", "^^="];

const fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

const fn is_name_byte(byte: u8) -> bool {
    is_name_start(byte) || byte.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::Event::{Data, Reads, Sets};
    use super::*;

    #[test]
    fn names_are_read_and_set() {
        let rows: &[(&str, &[Event<'_>])] = &[
            ("1 + 2", &[]),
            ("i < 10", &[Reads("i")]),
            ("i=0", &[Sets("i")]),
            ("i == 0", &[Reads("i")]),
            ("i <= j", &[Reads("i"), Reads("j")]),
            ("i += 2", &[Reads("i"), Sets("i")]),
            ("i++", &[Reads("i"), Sets("i")]),
            ("++i", &[Reads("i"), Sets("i")]),
            ("$i % 2", &[Reads("i")]),
            ("${i} * ${#x} + $# - $?", &[Reads("i")]),
            ("a[i] = 3", &[Reads("i"), Sets("a")]),
            ("a[b[1]]++", &[Reads("b"), Reads("a"), Sets("a")]),
            ("0xff + 16#ab + 10#$d", &[Reads("d")]),
            ("$(cat f) > 1", &[Data]),
            ("$(id)", &[Data]),
            ("${#1} + ${#@}", &[]),
            ("`id`", &[Data, Data]),
            ("$1 + ${2}", &[Data, Data]),
            ("$((x + 1))", &[Reads("x")]),
            ("${!x}", &[Data, Reads("x")]),
            ("x ? y=1 : 2", &[Reads("x"), Sets("y")]),
        ];
        for (text, expected) in rows {
            let found: Vec<Event<'_>> = events(text)
                .into_iter()
                .filter(|event| !matches!(event, Reads("cat" | "f" | "id")))
                .collect();
            assert_eq!(found, *expected, "{text}");
        }
    }
}
