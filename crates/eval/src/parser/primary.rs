//! Primary expressions: literals, lists, objects, names.

use super::{Parsed, Parser};
use crate::ast::{Expr, ExprId, Property, PropertyKey, Symbol};
use crate::lexer::Token;

impl Parser<'_, '_> {
    pub(super) fn primary(&mut self) -> Parsed<ExprId> {
        let start = self.span.start;
        match self.token.clone() {
            Token::Number(number) => self.literal(Expr::Number(number)),
            Token::Text(text) => self.literal(Expr::Text(text)),
            Token::Template => self.template(),
            Token::Word(symbol) => self.word_expression(symbol),
            Token::Mark("(") => self.group(),
            Token::Mark("[") => {
                self.advance()?;
                let items = self.items("]")?;
                Ok(self.add(Expr::Array(items), start))
            }
            Token::Mark("{") => self.object(),
            Token::Mark("/" | "/=") => {
                let (source, flags) = self.lexer.regex(start)?;
                self.span.end = self.lexer.position();
                crate::regex::check(&source, &flags, self.meter).map_err(|error| error.at(self.span))?;
                self.literal(Expr::Regex(source, flags))
            }
            _ => Err(self.unexpected()),
        }
    }

    fn literal(&mut self, expr: Expr) -> Parsed<ExprId> {
        let start = self.span.start;
        self.advance()?;
        Ok(self.add(expr, start))
    }

    fn word_expression(&mut self, symbol: Symbol) -> Parsed<ExprId> {
        let start = self.span.start;
        match if self.is_escaped { "" } else { self.lexer.name(symbol) } {
            "null" => self.literal(Expr::Null),
            "true" => self.literal(Expr::Bool(true)),
            "false" => self.literal(Expr::Bool(false)),
            "this" => self.literal(Expr::This),
            "function" => self.function_expression(false),
            "new" => self.new_expression(),
            "async" => {
                self.advance()?;
                if self.is_word("function") && !self.after_line {
                    return self.async_function(symbol, start);
                }
                self.async_arrow_or_name(symbol, start)
            }
            _ => {
                self.name()?;
                Ok(self.add(Expr::Name(symbol), start))
            }
        }
    }

    /// In brackets: an expression, or the parameters of an arrow.
    fn group(&mut self) -> Parsed<ExprId> {
        let start = self.span.start;
        self.advance()?;
        let awaits = self.awaits;
        let items = self.items(")")?;
        if self.is("=>") && !self.after_line {
            self.no_await_since(awaits)?;
            return self.arrow_from(&items, start, false);
        }
        let mut all = Vec::new();
        for item in &items {
            match item.value {
                Some(value) if !item.is_spread => all.push(value),
                _ => return Err(self.error_here("... is only allowed in lists, objects and arguments")),
            }
        }
        let inner = match all.as_slice() {
            [] => return Err(self.unexpected()),
            [one] => *one,
            _ => self.add(Expr::Sequence(all.into()), start),
        };
        Ok(self.add(Expr::Group(inner), start))
    }

    fn template(&mut self) -> Parsed<ExprId> {
        let start = self.span.start;
        let (mut texts, mut exprs) = (Vec::new(), Vec::new());
        loop {
            let (text, goes_on) = self.lexer.template_text()?;
            texts.push(text);
            if !goes_on {
                break;
            }
            self.advance()?;
            exprs.push(self.nested(Self::expression)?);
            // The lexer is right after the brace: template text follows.
            if !self.is("}") {
                return Err(self.unexpected().fix("close the ${ with }"));
            }
        }
        self.span.end = self.lexer.position();
        self.advance()?;
        Ok(self.add(Expr::Template(texts.into(), exprs.into()), start))
    }

    fn object(&mut self) -> Parsed<ExprId> {
        let start = self.span.start;
        self.advance()?;
        let before = std::mem::replace(&mut self.in_is_operator, true);
        let mut properties = Vec::new();
        while !self.is("}") {
            properties.push(self.property()?);
            if !self.is("}") {
                self.expect(",")?;
            }
        }
        self.in_is_operator = before;
        self.advance()?;
        Ok(self.add(Expr::Object(properties.into()), start))
    }

    fn property(&mut self) -> Parsed<Property> {
        if self.eat("...")? {
            return self.assignment().map(Property::Spread);
        }
        if self.is("*") {
            return Err(self.error_here("generators do not exist here").fix("build a list"));
        }
        let start = self.span;
        if let Token::Word(symbol) = self.token
            && !self.is_escaped
        {
            self.advance()?;
            if let Some(property) = self.word_property(symbol, start)? {
                return Ok(property);
            }
            return self.property_value(
                PropertyKey::Fixed(self.lexer.shared_name(symbol)),
                false,
                start.start,
            );
        }
        let short = match self.token {
            Token::Word(symbol) if !self.is_reserved(self.lexer.name(symbol)) => Some(symbol),
            _ => None,
        };
        let key = self.property_key()?;
        match short {
            Some(symbol) if self.is(",") || self.is("}") => {
                let value = self.add(Expr::Name(symbol), start.start);
                Ok(Property::Field(key, value))
            }
            _ => self.property_value(key, false, start.start),
        }
    }

    /// Parses a property that begins with a word and is not `word: …` or `word() {…}`.
    fn word_property(&mut self, symbol: Symbol, at: crate::SourceSpan) -> Parsed<Option<Property>> {
        let name = self.lexer.name(symbol);
        let stands_alone = self.is(",") || self.is("}") || self.is("=");
        if stands_alone {
            if self.is_reserved(name) {
                return Err(self.unexpected());
            }
            if self.eat("=")? {
                self.only_in_patterns.push(at);
                return Ok(Some(Property::Default(symbol, self.assignment()?)));
            }
            let value = self.add(Expr::Name(symbol), at.start);
            return Ok(Some(Property::Field(PropertyKey::Fixed(self.lexer.shared_name(symbol)), value)));
        }
        if self.is(":") || self.is("(") {
            return Ok(None);
        }
        match name {
            "get" | "set" => Err(self
                .forbidden("getters and setters do not exist here: reading a field runs nothing")
                .fix("write a plain field or a method")),
            "async" if !self.after_line => {
                let key = self.property_key()?;
                self.property_value(key, true, at.start).map(Some)
            }
            _ => Err(self.unexpected()),
        }
    }

    pub(super) fn property_key(&mut self) -> Parsed<PropertyKey> {
        let key = match self.token.clone() {
            Token::Word(symbol) => self.lexer.shared_name(symbol),
            Token::Text(text) => text.shared(),
            Token::Number(number) => ryu_js::Buffer::new().format(number).into(),
            Token::Mark("[") => {
                self.advance()?;
                let key = self.nested(Self::assignment)?;
                self.expect("]")?;
                return Ok(PropertyKey::Computed(key));
            }
            _ => return Err(self.unexpected()),
        };
        self.advance()?;
        Ok(PropertyKey::Fixed(key))
    }

    fn property_value(&mut self, key: PropertyKey, is_async: bool, at: usize) -> Parsed<Property> {
        let start = self.span.start;
        if self.is("(") {
            let function = self.function_rest(None, is_async, at)?;
            let value = self.add(Expr::Function(function), start);
            return Ok(Property::Field(key, value));
        }
        if self.is(":") && matches!(&key, PropertyKey::Fixed(name) if **name == *"__proto__") {
            return Err(self.forbidden("`__proto__` does not exist here: there is nothing behind an object"));
        }
        self.expect(":")?;
        Ok(Property::Field(key, self.assignment()?))
    }

    fn new_expression(&mut self) -> Parsed<ExprId> {
        let start = self.span.start;
        self.advance()?;
        if self.is(".") {
            return Err(self.forbidden("new.target does not exist here"));
        }
        let mut callee = self.nested(Self::primary)?;
        while self.is(".") {
            self.advance()?;
            let Token::Word(symbol) = self.token else { return Err(self.unexpected()) };
            let key = self.lexer.shared_name(symbol);
            self.advance()?;
            callee = self.add(Expr::Member { object: callee, key, is_optional: false }, start);
        }
        let arguments = if self.is("(") { self.arguments()? } else { Box::default() };
        Ok(self.add(Expr::New(callee, arguments), start))
    }
}
