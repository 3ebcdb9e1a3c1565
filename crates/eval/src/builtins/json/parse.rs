//! `JSON.parse`.

use std::rc::Rc;

use super::super::argument;
use crate::machine::{Key, Machine, Run, Stop};
use crate::value::{Fields, Value};

pub(super) fn parse(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    let text = machine.text_of(argument(arguments, 0))?;
    machine.steps(text.as_str().len() / 8)?;
    let mut reader = Reader { text: text.as_str(), at: 0 };
    let value = reader.value(machine)?;
    reader.skip_space();
    if reader.at < reader.text.len() {
        return Err(reader.wrong(machine));
    }
    let reviver = argument(arguments, 1);
    if !machine.is_callable(reviver) {
        return Ok(value);
    }
    let fields: Fields = [("".into(), value)].into_iter().collect();
    let holder = machine.plain(fields)?;
    revive(machine, &holder, &Key::Name("".into()), reviver)
}

/// Passes each value to the reviver, inner ones first.
fn revive(machine: &mut Machine<'_>, holder: &Value, key: &Key, reviver: &Value) -> Run {
    let value = machine.get(holder, key)?;
    if matches!(value, Value::Object(_)) {
        machine.deeper(|machine| {
            for name in machine.own_keys(&value)? {
                let key = Key::of(&name);
                match revive(machine, &value, &key, reviver)? {
                    Value::Undefined => machine.delete(&value, &key)?,
                    new => machine.set(&value, &key, new)?,
                }
            }
            Ok(())
        })?;
    }
    machine.call(reviver, holder, &[Value::text(key.shared()), value])
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn wrong(&self, machine: &mut Machine<'_>) -> Stop {
        let message = match self.rest().chars().next() {
            Some(c) => format!("Unexpected token '{c}' in JSON at position {}", self.at),
            None => "Unexpected end of JSON input".to_owned(),
        };
        machine.other_error("SyntaxError", message)
    }

    fn value(&mut self, machine: &mut Machine<'_>) -> Run {
        machine.steps(1)?;
        self.skip_space();
        match self.peek() {
            Some(b'{') => machine.deeper(|machine| self.object(machine)),
            Some(b'[') => machine.deeper(|machine| self.list(machine)),
            Some(b'"') => {
                let text = self.string(machine)?;
                machine.new_text(text)
            }
            Some(b'-' | b'0'..=b'9') => self.number(machine),
            _ => self.word(machine),
        }
    }

    fn word(&mut self, machine: &mut Machine<'_>) -> Run {
        let words = [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))];
        for (word, value) in words {
            if self.rest().starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.wrong(machine))
    }

    fn list(&mut self, machine: &mut Machine<'_>) -> Run {
        self.at += 1;
        let mut items = Vec::new();
        if self.eat(b']') {
            return machine.array(items);
        }
        loop {
            machine.bytes(size_of::<Value>())?;
            items.push(self.value(machine)?);
            if self.eat(b']') {
                return machine.counted_array(items);
            }
            if !self.eat(b',') {
                return Err(self.wrong(machine));
            }
        }
    }

    fn object(&mut self, machine: &mut Machine<'_>) -> Run {
        self.at += 1;
        let object = machine.plain(Fields::new())?;
        if self.eat(b'}') {
            return Ok(object);
        }
        loop {
            self.skip_space();
            if self.peek() != Some(b'"') {
                return Err(self.wrong(machine));
            }
            let name: Rc<str> = self.string(machine)?.into();
            if !self.eat(b':') {
                return Err(self.wrong(machine));
            }
            let value = self.value(machine)?;
            machine.set(&object, &Key::Name(name), value)?;
            if self.eat(b'}') {
                return Ok(object);
            }
            if !self.eat(b',') {
                return Err(self.wrong(machine));
            }
        }
    }

    fn number(&mut self, machine: &mut Machine<'_>) -> Run {
        let rest = self.rest();
        let len = rest.bytes().take_while(|byte| b"+-.eE0123456789".contains(byte)).count();
        let text = rest.get(..len).unwrap_or_default();
        let digits = text.strip_prefix('-').unwrap_or(text);
        let has_needless_zero = digits.len() > 1
            && digits.starts_with('0')
            && !digits.starts_with("0.")
            && !digits.starts_with("0e")
            && !digits.starts_with("0E");
        let mantissa = digits.split(['e', 'E']).next().unwrap_or_default();
        let is_odd =
            !digits.starts_with(|c: char| c.is_ascii_digit()) || mantissa.ends_with('.') || has_needless_zero;
        match text.parse::<f64>() {
            Ok(number) if !is_odd => {
                self.at += len;
                Ok(Value::Number(number))
            }
            _ => Err(self.wrong(machine)),
        }
    }

    fn string(&mut self, machine: &mut Machine<'_>) -> Run<String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.rest();
            let len = rest.find(|c: char| c == '"' || c == '\\' || c < ' ').unwrap_or(rest.len());
            machine.bytes(len)?;
            out.push_str(rest.get(..len).unwrap_or_default());
            self.at += len;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => self.escape(machine, &mut out)?,
                _ => return Err(self.wrong(machine)),
            }
        }
    }

    fn escape(&mut self, machine: &mut Machine<'_>, out: &mut String) -> Run<()> {
        let letter = self.text.as_bytes().get(self.at + 1).copied();
        let meant = match letter {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'u') => return self.unicode(machine, out),
            _ => return Err(self.wrong(machine)),
        };
        self.at += 2;
        out.push(meant);
        Ok(())
    }

    fn unicode(&mut self, machine: &mut Machine<'_>, out: &mut String) -> Run<()> {
        let Some(first) = self.unit() else { return Err(self.wrong(machine)) };
        // Adjacent surrogates become a character when the text is made.
        out.push(crate::text::char_of(first));
        Ok(())
    }

    /// `\uXXXX`.
    fn unit(&mut self) -> Option<u32> {
        let digits = self.rest().strip_prefix("\\u")?.get(..4)?;
        let unit = u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?;
        self.at += 6;
        Some(unit)
    }
}
