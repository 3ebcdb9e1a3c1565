//! A reader of JSON that is told one character at a time and remembers only what is open.

use super::Kind;

/// What a character does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// White space between tokens.
    Blank,
    /// A list or object begins.
    Opened(Kind),
    /// A list or object ends.
    Closed,
    /// A string value begins.
    BeginsString,
    /// Within a string value, which could be cut after this character.
    StringMayEnd,
    /// A value ends with this character.
    EndsScalar,
    /// A number ended before this character.
    EndsScalarBefore,
    /// A number ended before this character, which ends a list or object.
    EndsScalarBeforeClosing,
    /// Anything else that JSON allows here.
    Other,
    /// JSON does not allow this here.
    NotJson,
}

#[derive(Default)]
pub(super) struct Lexer {
    state: State,
    open: Vec<Kind>,
}

#[derive(Clone, Copy, Default)]
enum State {
    /// At the top: a value may follow, or nothing.
    #[default]
    Top,
    /// A value must follow.
    Value,
    /// A value or the end of the list.
    FirstElement,
    /// A key or the end of the object.
    FirstKey,
    Key,
    Colon,
    /// A comma or the end of what is open.
    AfterValue,
    Text(Text, Role),
    Number(Number),
    /// The rest of `true`, `false` or `null`.
    Word(&'static str),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Key,
    Value,
}

/// Where in a string.
#[derive(Clone, Copy)]
enum Text {
    Plain,
    /// After a backslash; `pairs` tells whether the first half of a surrogate pair stands before it.
    Escape {
        pairs: bool,
    },
    /// Within an escape `\uXXXX` of a string.
    Code {
        digits: u8,
        value: u16,
        pairs: bool,
    },
    /// After the first half of a pair: its second half belongs to it.
    AfterHalf,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    Minus,
    Zero,
    Integer,
    Point,
    Fraction,
    Exponent,
    ExponentSign,
    ExponentDigits,
}

impl Lexer {
    pub(super) fn push(&mut self, character: char) -> Answer {
        match self.state {
            State::Text(text, role) => self.in_text(text, role, character),
            State::Number(number) => self.in_number(number, character),
            State::Word(rest) => self.in_word(rest, character),
            _ if matches!(character, ' ' | '\t' | '\n' | '\r') => Answer::Blank,
            State::Top | State::Value => self.value(character),
            State::FirstElement if character == ']' => self.close(Kind::List),
            State::FirstElement => self.value(character),
            State::FirstKey if character == '}' => self.close(Kind::Object),
            State::FirstKey | State::Key => self.key(character),
            State::Colon if character == ':' => self.go(State::Value),
            State::AfterValue => self.after_value(character),
            State::Colon => Answer::NotJson,
        }
    }

    /// Returns whether every value that began has ended.
    pub(super) fn is_complete(&self) -> bool {
        match self.state {
            State::Top => true,
            State::Number(number) => self.open.is_empty() && number.may_end(),
            _ => false,
        }
    }

    fn go(&mut self, state: State) -> Answer {
        self.state = state;
        Answer::Other
    }

    fn value(&mut self, character: char) -> Answer {
        match character {
            '[' => self.open(Kind::List, State::FirstElement),
            '{' => self.open(Kind::Object, State::FirstKey),
            '"' => {
                self.state = State::Text(Text::Plain, Role::Value);
                Answer::BeginsString
            }
            '-' => self.go(State::Number(Number::Minus)),
            '0' => self.go(State::Number(Number::Zero)),
            '1'..='9' => self.go(State::Number(Number::Integer)),
            't' => self.go(State::Word("rue")),
            'f' => self.go(State::Word("alse")),
            'n' => self.go(State::Word("ull")),
            _ => Answer::NotJson,
        }
    }

    fn open(&mut self, kind: Kind, state: State) -> Answer {
        self.open.push(kind);
        self.state = state;
        Answer::Opened(kind)
    }

    fn close(&mut self, kind: Kind) -> Answer {
        if self.open.pop() != Some(kind) {
            return Answer::NotJson;
        }
        self.end_value();
        Answer::Closed
    }

    fn end_value(&mut self) {
        self.state = if self.open.is_empty() { State::Top } else { State::AfterValue };
    }

    fn key(&mut self, character: char) -> Answer {
        match character {
            '"' => self.go(State::Text(Text::Plain, Role::Key)),
            _ => Answer::NotJson,
        }
    }

    fn after_value(&mut self, character: char) -> Answer {
        match (character, self.open.last()) {
            (',', Some(Kind::List)) => self.go(State::Value),
            (',', Some(Kind::Object)) => self.go(State::Key),
            (']', _) => self.close(Kind::List),
            ('}', _) => self.close(Kind::Object),
            _ => Answer::NotJson,
        }
    }

    fn in_text(&mut self, text: Text, role: Role, character: char) -> Answer {
        let next = match (text, character) {
            (Text::Plain | Text::AfterHalf, '"') => return self.end_text(role),
            (Text::Plain, '\\') => Text::Escape { pairs: false },
            (Text::AfterHalf, '\\') => Text::Escape { pairs: true },
            (Text::Plain | Text::AfterHalf, '\0'..='\u{1f}') => return Answer::NotJson,
            (Text::Plain | Text::AfterHalf, _) => Text::Plain,
            (Text::Escape { pairs }, 'u') => Text::Code { digits: 0, value: 0, pairs },
            (Text::Escape { .. }, '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't') => Text::Plain,
            (Text::Escape { .. }, _) => return Answer::NotJson,
            (Text::Code { digits, value, pairs }, _) => match character.to_digit(16) {
                Some(digit) => code(digits + 1, (value << 4) | digit as u16, pairs),
                None => return Answer::NotJson,
            },
        };
        self.state = State::Text(next, role);
        if role == Role::Value && matches!(next, Text::Plain) { Answer::StringMayEnd } else { Answer::Other }
    }

    fn end_text(&mut self, role: Role) -> Answer {
        if role == Role::Key {
            return self.go(State::Colon);
        }
        self.end_value();
        Answer::EndsScalar
    }

    fn in_number(&mut self, number: Number, character: char) -> Answer {
        if let Some(next) = number.after(character) {
            return self.go(State::Number(next));
        }
        if !number.may_end() {
            return Answer::NotJson;
        }
        self.end_value();
        match self.push(character) {
            Answer::Closed => Answer::EndsScalarBeforeClosing,
            Answer::Other | Answer::Blank => Answer::EndsScalarBefore,
            // At the top, a value must not touch the one before.
            _ => Answer::NotJson,
        }
    }

    fn in_word(&mut self, rest: &'static str, character: char) -> Answer {
        let mut letters = rest.chars();
        if letters.next() != Some(character) {
            return Answer::NotJson;
        }
        let rest = letters.as_str();
        if !rest.is_empty() {
            return self.go(State::Word(rest));
        }
        self.end_value();
        Answer::EndsScalar
    }
}

/// Goes on after a digit of `\uXXXX`.
fn code(digits: u8, value: u16, pairs: bool) -> Text {
    match (digits, value) {
        (4, 0xd800..=0xdbff) if !pairs => Text::AfterHalf,
        (4, _) => Text::Plain,
        _ => Text::Code { digits, value, pairs },
    }
}

impl Number {
    fn after(self, character: char) -> Option<Self> {
        match (self, character) {
            (Self::Minus, '0') => Some(Self::Zero),
            (Self::Minus | Self::Integer, '0'..='9') => Some(Self::Integer),
            (Self::Zero | Self::Integer, '.') => Some(Self::Point),
            (Self::Point | Self::Fraction, '0'..='9') => Some(Self::Fraction),
            (Self::Zero | Self::Integer | Self::Fraction, 'e' | 'E') => Some(Self::Exponent),
            (Self::Exponent, '+' | '-') => Some(Self::ExponentSign),
            (Self::Exponent | Self::ExponentSign | Self::ExponentDigits, '0'..='9') => {
                Some(Self::ExponentDigits)
            }
            _ => None,
        }
    }

    fn may_end(self) -> bool {
        matches!(self, Self::Zero | Self::Integer | Self::Fraction | Self::ExponentDigits)
    }
}
