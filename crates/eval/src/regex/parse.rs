//! Parses regular expressions of ECMA-262: strictly with the flag u, and with its Annex B without.

use std::collections::HashMap;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::classes::{self, Case};
use super::node::{Look, Node, Repeat, range};
use crate::lexer::{is_name_part, is_name_start};
use crate::limits::Meter;
use crate::text::{char_of, join, numbers_of};
use crate::{ErrorKind, EvalError};

/// How deeply groups may lie in each other.
const MAX_NESTING: usize = 100;

type Parsed<T> = Result<T, EvalError>;

/// A regular expression: its shape, and the name of each group, of which the first is the whole.
#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) node: Node,
    pub(super) names: Vec<Option<String>>,
}

/// Memory of a node besides its class: here, in a growing list, and in the engine.
const BYTES_OF_NODE: usize = 3 * size_of::<Node>() + 256;

/// Memory of a range of characters in a growing list.
const BYTES_OF_RANGE: usize = 2 * size_of::<ClassUnicodeRange>();

/// Memory of each byte of a source while it is parsed as code points.
const BYTES_OF_SOURCE: usize = 4 * size_of::<u32>();

/// Memory of a group's name besides its letters.
const BYTES_OF_NAME: usize = 256;

/// Parses an expression. Each node is charged where it is made.
pub(super) fn parse(
    source: &str,
    is_unicode: bool,
    dot_is_all: bool,
    case: Case,
    meter: &mut Meter<'_>,
) -> Parsed<Pattern> {
    meter.bytes(source.len() * BYTES_OF_SOURCE)?;
    let code = numbers_of(source, is_unicode);
    let mut parser = Parser {
        code,
        at: 0,
        is_unicode,
        dot_is_all,
        case,
        names: vec![None],
        known: HashMap::new(),
        groups: 0,
        depth: 0,
        meter,
    };
    parser.count_groups()?;
    let node = parser.any()?;
    if parser.peek().is_some() {
        return Err(wrong("a ) closes nothing"));
    }
    Ok(Pattern { node, names: parser.names })
}

struct Parser<'m, 'a> {
    /// Code points with the flag u, and UTF-16 units without.
    code: Vec<u32>,
    at: usize,
    is_unicode: bool,
    dot_is_all: bool,
    case: Case,
    names: Vec<Option<String>>,
    /// The names and numbers of all groups, also of those that are read later.
    known: HashMap<String, usize>,
    groups: usize,
    depth: usize,
    meter: &'m mut Meter<'a>,
}

/// A member of a class: a character, which may begin or end a range, or several.
enum Member {
    One(u32),
    Many(ClassUnicode),
}

impl Parser<'_, '_> {
    fn peek(&self) -> Option<char> {
        self.code.get(self.at).map(|number| char_of(*number))
    }

    fn ahead(&self, by: usize) -> Option<char> {
        self.code.get(self.at + by).map(|number| char_of(*number))
    }

    fn starts_with(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(at, c)| self.ahead(at) == Some(c))
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.starts_with(text);
        if found {
            self.at += text.chars().count();
        }
        found
    }

    /// Numbers the groups before anything is read: a number or a name may come before its group.
    fn count_groups(&mut self) -> Parsed<()> {
        let mut in_class = false;
        while let Some(c) = self.peek() {
            self.at += 1;
            match c {
                '\\' => self.at += 1,
                '[' => in_class = true,
                ']' => in_class = false,
                '(' if in_class => {}
                '(' if self.peek() != Some('?') => self.groups += 1,
                '(' if self.starts_with("?<") && !matches!(self.ahead(2), Some('=' | '!')) => {
                    self.at += 2;
                    self.groups += 1;
                    let name = self.name()?;
                    self.meter.bytes(BYTES_OF_NAME + 2 * name.len())?;
                    if self.known.insert(name, self.groups).is_some() {
                        return Err(wrong("two groups have the same name"));
                    }
                }
                _ => {}
            }
        }
        self.at = 0;
        Ok(())
    }

    /// Counts a part of the expression.
    fn node(&mut self) -> Parsed<()> {
        self.meter.steps(1)?;
        self.meter.bytes(BYTES_OF_NODE)
    }

    /// Returns a class closed under case; charged before it is folded, and again by its new size.
    fn closed(&mut self, class: ClassUnicode) -> Parsed<ClassUnicode> {
        self.meter.steps(classes::cost(&class, self.case))?;
        self.meter.bytes(class.ranges().len() * BYTES_OF_RANGE)?;
        let (before, closed) = (class.ranges().len(), classes::closed(class, self.case));
        self.meter.bytes(closed.ranges().len().saturating_sub(before) * BYTES_OF_RANGE)?;
        Ok(closed)
    }

    fn any(&mut self) -> Parsed<Node> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err(EvalError::new(
                ErrorKind::Depth,
                "the groups of the regular expression lie too deep in each other",
            ));
        }
        let mut choices = vec![self.all()?];
        while self.eat("|") {
            self.node()?;
            choices.push(self.all()?);
        }
        self.depth -= 1;
        Ok(if choices.len() == 1 { choices.pop().unwrap_or(Node::Empty) } else { Node::Any(choices) })
    }

    fn all(&mut self) -> Parsed<Node> {
        let mut nodes = Vec::new();
        while let Some(c) = self.peek() {
            if matches!(c, '|' | ')') {
                break;
            }
            self.node()?;
            let before = self.names.len();
            let (node, can_repeat) = self.term(c)?;
            nodes.push(self.repeated(node, can_repeat, before)?);
        }
        Ok(if nodes.len() == 1 { nodes.pop().unwrap_or(Node::Empty) } else { Node::All(nodes) })
    }

    /// A term, and whether it may be repeated.
    fn term(&mut self, c: char) -> Parsed<(Node, bool)> {
        self.at += 1;
        Ok(match c {
            '^' => (Node::Start, false),
            '$' => (Node::End, false),
            '(' => return self.group(),
            '.' => (Node::Set(if self.dot_is_all { classes::all() } else { classes::no_line_end() }), true),
            '[' => (Node::Set(self.class()?), true),
            '\\' => return self.escape(),
            '*' | '+' | '?' => return Err(wrong("there is nothing to repeat")),
            '{' if self.is_unicode || self.bounds_at(self.at - 1).is_some() => {
                return Err(wrong("there is nothing to repeat"));
            }
            '}' | ']' if self.is_unicode => return Err(wrong("a bracket closes nothing")),
            _ => (self.one(self.code.get(self.at - 1).copied().unwrap_or_default())?, true),
        })
    }

    fn one(&mut self, number: u32) -> Parsed<Node> {
        self.closed(range(number, number)).map(Node::Set)
    }

    fn repeated(&mut self, node: Node, can_repeat: bool, before: usize) -> Parsed<Node> {
        let (least, most) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => match self.bounds_at(self.at) {
                Some((least, most, end)) => {
                    self.at = end - 1;
                    (least, most)
                }
                None if self.is_unicode => return Err(wrong("a { belongs to a repetition")),
                None => return Ok(node),
            },
            _ => return Ok(node),
        };
        self.at += 1;
        if !can_repeat {
            return Err(wrong("there is nothing to repeat"));
        }
        if most.is_some_and(|most| most < least) {
            return Err(wrong("the numbers of a repetition are out of order"));
        }
        let is_greedy = !self.eat("?");
        let groups = before..self.names.len();
        Ok(Node::Repeat(Box::new(Repeat { node, least, most, is_greedy, groups })))
    }

    /// Parses `{1}`, `{1,}` and `{1,2}`: the bounds, and the position behind them.
    fn bounds_at(&self, at: usize) -> Option<(u32, Option<u32>, usize)> {
        let mut at = at + 1;
        let digits = |at: &mut usize| -> Option<u32> {
            let mut number: Option<u32> = None;
            while let Some(digit) = self.code.get(*at).and_then(|c| char_of(*c).to_digit(10)) {
                number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit));
                *at += 1;
            }
            number
        };
        let is = |at: usize, c: char| self.code.get(at) == Some(&u32::from(c));
        let least = digits(&mut at)?;
        let most = if is(at, ',') {
            at += 1;
            digits(&mut at)
        } else {
            Some(least)
        };
        is(at, '}').then_some((least, most, at + 1))
    }

    fn group(&mut self) -> Parsed<(Node, bool)> {
        for (start, is_ahead, is_negative) in
            [("?=", true, false), ("?!", true, true), ("?<=", false, false), ("?<!", false, true)]
        {
            if self.eat(start) {
                let node = self.any()?;
                self.close()?;
                let look = Node::Look(Box::new(Look { node, is_ahead, is_negative }));
                return Ok((look, is_ahead && !self.is_unicode));
            }
        }
        if self.eat("?:") {
            let node = self.any()?;
            self.close()?;
            return Ok((node, true));
        }
        let name = if self.eat("?<") { Some(self.name()?) } else { None };
        if name.is_none() && self.peek() == Some('?') {
            return Err(wrong("a group begins with ( or (?: or (?<name>"));
        }
        let number = self.names.len();
        self.names.push(name);
        let node = self.any()?;
        self.close()?;
        Ok((Node::Group(number, Box::new(node)), true))
    }

    fn close(&mut self) -> Parsed<()> {
        if self.eat(")") { Ok(()) } else { Err(wrong("a ( is never closed")) }
    }

    /// The name of a group, up to its `>`.
    fn name(&mut self) -> Parsed<String> {
        let mut name = String::new();
        loop {
            let Some(&first) = self.code.get(self.at) else {
                return Err(wrong("the name of a group never ends"));
            };
            self.at += 1;
            let number = match char_of(first) {
                '>' if !name.is_empty() => return Ok(name),
                '\\' => {
                    if !self.eat("u") {
                        return Err(wrong("the name of a group is made of letters and digits"));
                    }
                    self.unicode_escape(true).ok_or_else(|| wrong("an escape lacks hexadecimal digits"))?
                }
                _ => match self.code.get(self.at) {
                    Some(&second) if join(first, second).is_some() => {
                        self.at += 1;
                        join(first, second).unwrap_or(first)
                    }
                    _ => first,
                },
            };
            let c = char_of(number);
            if !(if name.is_empty() { is_name_start(c) } else { is_name_part(c) }) {
                return Err(wrong("the name of a group is made of letters and digits"));
            }
            name.push(c);
        }
    }

    fn escape(&mut self) -> Parsed<(Node, bool)> {
        let Some(c) = self.peek() else { return Err(wrong("nothing follows the backslash")) };
        match c {
            'b' | 'B' => {
                self.at += 1;
                return Ok((Node::Boundary(c == 'b'), false));
            }
            'k' if self.is_unicode || !self.known.is_empty() => {
                self.at += 1;
                if !self.eat("<") {
                    return Err(wrong("the name of a group follows \\k"));
                }
                let name = self.name()?;
                let Some(number) = self.known.get(&name) else {
                    return Err(wrong("no group has this name"));
                };
                return Ok((Node::Back(*number), true));
            }
            '1'..='9' => {
                if let Some(number) = self.back_reference()? {
                    return Ok((Node::Back(number), true));
                }
            }
            _ => {}
        }
        Ok(match self.character(false)? {
            Member::One(number) => (self.one(number)?, true),
            Member::Many(class) => (Node::Set(class), true),
        })
    }

    /// `\1` to the number of groups; without the flag u, a greater number has another meaning.
    fn back_reference(&mut self) -> Parsed<Option<usize>> {
        let start = self.at;
        let mut number = 0_usize;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            number = number.saturating_mul(10).saturating_add(digit as usize);
            self.at += 1;
        }
        if number <= self.groups {
            return Ok(Some(number));
        }
        if self.is_unicode {
            return Err(wrong("there is no group of this number"));
        }
        self.at = start;
        Ok(None)
    }

    /// A character after a backslash, or a class.
    fn character(&mut self, in_class: bool) -> Parsed<Member> {
        let Some(&number) = self.code.get(self.at) else {
            return Err(wrong("nothing follows the backslash"));
        };
        let c = char_of(number);
        self.at += 1;
        if let Some(class) = classes::escape(c, self.case) {
            return self.closed(class).map(Member::Many);
        }
        let number = match c {
            'n' => 0x0a,
            't' => 0x09,
            'r' => 0x0d,
            'v' => 0x0b,
            'f' => 0x0c,
            'b' if in_class => 0x08,
            '-' if in_class => number,
            '0'..='7' => self.octal(c)?,
            '8' | '9' if !self.is_unicode => number,
            'c' => self.control(in_class)?,
            'x' | 'u' => {
                let start = self.at;
                let found = if c == 'x' { self.hex(2) } else { self.unicode_escape(self.is_unicode) };
                match found {
                    Some(found) => found,
                    None if self.is_unicode => return Err(wrong("an escape lacks hexadecimal digits")),
                    None => {
                        self.at = start;
                        number
                    }
                }
            }
            'p' | 'P' if self.is_unicode => return self.property(c == 'P').map(Member::Many),
            'k' if !self.known.is_empty() => return Err(wrong("unknown escape")),
            c if self.is_unicode && !"^$\\.*+?()[]{}|/".contains(c) => {
                return Err(wrong("unknown escape"));
            }
            _ => number,
        };
        Ok(Member::One(number))
    }

    fn octal(&mut self, first: char) -> Parsed<u32> {
        if self.is_unicode {
            let is_zero = first == '0' && !self.peek().is_some_and(|c| c.is_ascii_digit());
            return if is_zero { Ok(0) } else { Err(wrong("unknown escape")) };
        }
        let mut number = first.to_digit(8).unwrap_or(0);
        for _ in 0..2 {
            match self.peek().and_then(|c| c.to_digit(8)) {
                Some(digit) if number * 8 + digit < 256 => {
                    number = number * 8 + digit;
                    self.at += 1;
                }
                _ => break,
            }
        }
        Ok(number)
    }

    /// `\cA`; without a letter, the backslash is literal.
    fn control(&mut self, in_class: bool) -> Parsed<u32> {
        let is_letter = |c: char| {
            c.is_ascii_alphabetic() || (in_class && !self.is_unicode && (c.is_ascii_digit() || c == '_'))
        };
        match self.peek() {
            Some(c) if is_letter(c) => {
                self.at += 1;
                Ok(u32::from(c) % 32)
            }
            _ if self.is_unicode => Err(wrong("a letter follows \\c")),
            _ => {
                self.at -= 1;
                Ok(u32::from('\\'))
            }
        }
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let mut number = 0;
        for _ in 0..digits {
            number = number * 16 + self.peek()?.to_digit(16)?;
            self.at += 1;
        }
        Some(number)
    }

    /// After `\u`: four digits, two times four for a character of two halves, or any number in braces.
    fn unicode_escape(&mut self, takes_all: bool) -> Option<u32> {
        if takes_all && self.eat("{") {
            let mut number: Option<u32> = None;
            while !self.eat("}") {
                number =
                    Some(number.unwrap_or(0) * 16 + self.peek()?.to_digit(16)?).filter(|n| *n <= 0x10_ffff);
                number?;
                self.at += 1;
            }
            return number;
        }
        let first = self.hex(4)?;
        let back = self.at;
        if takes_all
            && (0xd800..0xdc00).contains(&first)
            && self.eat("\\u")
            && let Some(second) = self.hex(4)
            && let Some(whole) = join(first, second)
        {
            return Some(whole);
        }
        self.at = back;
        Some(first)
    }

    fn property(&mut self, is_negated: bool) -> Parsed<ClassUnicode> {
        if !self.eat("{") {
            return Err(wrong("a property is written \\p{…}"));
        }
        let mut name = String::new();
        while !self.eat("}") {
            match self.peek() {
                Some(c) if (c.is_ascii_alphanumeric() || c == '_' || c == '=') && name.len() < 80 => {
                    name.push(c);
                }
                _ => return Err(wrong("a property is written \\p{…}")),
            }
            self.at += 1;
        }
        let class = classes::property(&name)?;
        let class = if is_negated { classes::negated(class) } else { class };
        self.closed(class)
    }

    fn class(&mut self) -> Parsed<ClassUnicode> {
        let is_negated = self.eat("^");
        // They are put in order once, and not for each member.
        let mut ranges = Vec::new();
        while !self.eat("]") {
            let first = self.member()?;
            let is_range = self.peek() == Some('-') && !matches!(self.ahead(1), Some(']') | None);
            if !is_range {
                self.add(&mut ranges, first)?;
                continue;
            }
            self.at += 1;
            match (first, self.member()?) {
                (Member::One(from), Member::One(to)) if from <= to => {
                    self.add(&mut ranges, Member::Many(range(from, to)))?;
                }
                (Member::One(_), Member::One(_)) => {
                    return Err(wrong("a range of characters is out of order"));
                }
                _ if self.is_unicode => return Err(wrong("a class is no end of a range")),
                (first, last) => {
                    self.add(&mut ranges, first)?;
                    self.add(&mut ranges, last)?;
                    self.add(&mut ranges, Member::One(0x2d))?;
                }
            }
        }
        self.meter.steps(ranges.len() / 4)?;
        let class = self.closed(ClassUnicode::new(ranges))?;
        Ok(if is_negated { classes::negated(class) } else { class })
    }

    /// Adds a member to those of a class.
    fn add(&mut self, ranges: &mut Vec<ClassUnicodeRange>, member: Member) -> Parsed<()> {
        let class = set(member);
        self.meter.steps(1 + class.ranges().len() / 8)?;
        self.meter.bytes(class.ranges().len() * BYTES_OF_RANGE)?;
        ranges.extend_from_slice(class.ranges());
        Ok(())
    }

    fn member(&mut self) -> Parsed<Member> {
        let Some(&number) = self.code.get(self.at) else { return Err(wrong("a [ is never closed")) };
        self.at += 1;
        if number == u32::from('\\') { self.character(true) } else { Ok(Member::One(number)) }
    }
}

fn set(member: Member) -> ClassUnicode {
    match member {
        Member::One(number) => range(number, number),
        Member::Many(class) => class,
    }
}

/// Makes the error for an invalid regular expression.
pub(super) fn wrong(message: &str) -> EvalError {
    EvalError::new(ErrorKind::Syntax, format!("the regular expression is wrong: {message}"))
}
