//! Patterns: parsed directly in declarations, and converted from expressions where an `=` or `=>` follows.

use super::{Parsed, Parser};
use crate::ast::{Element, Expr, ExprId, Item, Kind, Pattern, PatternId, Property, PropertyKey, Symbol};
use crate::lexer::Token;

impl Parser<'_, '_> {
    /// A pattern that declares names.
    pub(super) fn binding(&mut self, kind: Kind) -> Parsed<PatternId> {
        self.nested(|parser| match parser.token {
            Token::Mark("[") => parser.array_binding(kind),
            Token::Mark("{") => parser.object_binding(kind),
            _ => {
                let name = parser.name()?;
                parser.declare(name, kind)?;
                Ok(parser.program.add_pattern(Pattern::Name(name)))
            }
        })
    }

    pub(super) fn binding_element(&mut self, kind: Kind) -> Parsed<Element> {
        let pattern = self.binding(kind)?;
        let default = if self.eat("=")? { Some(self.assignment()?) } else { None };
        Ok(Element { pattern, default })
    }

    fn array_binding(&mut self, kind: Kind) -> Parsed<PatternId> {
        self.advance()?;
        let (mut items, mut rest) = (Vec::new(), None);
        while !self.is("]") {
            if self.eat(",")? {
                items.push(None);
                continue;
            }
            if self.eat("...")? {
                rest = Some(self.binding(kind)?);
                break;
            }
            items.push(Some(self.binding_element(kind)?));
            if !self.is("]") {
                self.expect(",")?;
            }
        }
        self.expect("]")?;
        Ok(self.program.add_pattern(Pattern::Array(items.into(), rest)))
    }

    fn object_binding(&mut self, kind: Kind) -> Parsed<PatternId> {
        self.advance()?;
        let (mut fields, mut rest) = (Vec::new(), None);
        while !self.is("}") {
            if self.eat("...")? {
                rest = Some(self.binding(kind)?);
                break;
            }
            fields.push(self.field_binding(kind)?);
            if !self.is("}") {
                self.expect(",")?;
            }
        }
        self.expect("}")?;
        Ok(self.program.add_pattern(Pattern::Object(fields.into(), rest)))
    }

    fn field_binding(&mut self, kind: Kind) -> Parsed<(PropertyKey, Element)> {
        let short = match self.token {
            Token::Word(symbol) if !self.is_reserved(self.lexer.name(symbol)) => Some(symbol),
            _ => None,
        };
        let key = self.property_key()?;
        if self.eat(":")? {
            return Ok((key, self.binding_element(kind)?));
        }
        let Some(symbol) = short else { return Err(self.unexpected()) };
        self.declare(symbol, kind)?;
        let pattern = self.program.add_pattern(Pattern::Name(symbol));
        let default = if self.eat("=")? { Some(self.assignment()?) } else { None };
        Ok((key, Element { pattern, default }))
    }

    /// An expression that is assigned to.
    pub(super) fn assigned_pattern(&mut self, expr: ExprId) -> Parsed<PatternId> {
        self.convert(expr, Targets::Places)
    }

    /// An expression that turned out to be a parameter.
    pub(super) fn bound_pattern(&mut self, expr: ExprId) -> Parsed<PatternId> {
        self.convert(expr, Targets::Names)
    }

    pub(super) fn bound_element(&mut self, expr: ExprId) -> Parsed<Element> {
        self.convert_element(expr, Targets::Names)
    }

    fn convert(&mut self, expr: ExprId, targets: Targets) -> Parsed<PatternId> {
        let span = self.program.span(expr);
        let Some(node) = self.program.expr_mut(expr) else { return Err(self.unexpected()) };
        let pattern = match std::mem::take(node) {
            Expr::Name(symbol) => {
                self.declare_target(symbol, targets)?;
                *self.expr_again(expr)? = Expr::Name(symbol);
                Pattern::Name(symbol)
            }
            Expr::Array(items) => self.convert_array(&items, targets)?,
            Expr::Object(fields) => self.convert_object(&fields, targets)?,
            Expr::Group(inner) if targets == Targets::Places && self.is_place(inner) => {
                return self.convert(inner, targets);
            }
            place @ (Expr::Member { .. } | Expr::Index { .. }) if targets == Targets::Places => {
                *self.expr_again(expr)? = place;
                Pattern::Place(expr)
            }
            _ => return Err(self.error("this cannot be assigned to").at(span)),
        };
        Ok(self.program.add_pattern(pattern))
    }

    fn expr_again(&mut self, expr: ExprId) -> Parsed<&mut Expr> {
        let gone = self.unexpected();
        self.program.expr_mut(expr).ok_or(gone)
    }

    fn is_place(&self, expr: ExprId) -> bool {
        matches!(self.program.expr(expr), Expr::Name(_) | Expr::Member { .. } | Expr::Index { .. })
    }

    fn declare_target(&mut self, symbol: Symbol, targets: Targets) -> Parsed<()> {
        if targets == Targets::Names { self.declare(symbol, Kind::Let) } else { self.check_target(symbol) }
    }

    fn convert_element(&mut self, expr: ExprId, targets: Targets) -> Parsed<Element> {
        if let Expr::Assign(None, pattern, default) = *self.program.expr(expr) {
            if targets == Targets::Names {
                self.declare_pattern(pattern)?;
            }
            return Ok(Element { pattern, default: Some(default) });
        }
        Ok(Element { pattern: self.convert(expr, targets)?, default: None })
    }

    /// Declares the names of a pattern that was converted before it was known to be a parameter.
    fn declare_pattern(&mut self, pattern: PatternId) -> Parsed<()> {
        let mut open = vec![pattern];
        while let Some(pattern) = open.pop() {
            match self.program.pattern(pattern) {
                Pattern::Name(symbol) => {
                    let symbol = *symbol;
                    self.declare(symbol, Kind::Let)?;
                }
                Pattern::Array(items, rest) => {
                    open.extend(items.iter().flatten().map(|item| item.pattern).chain(*rest));
                }
                Pattern::Object(fields, rest) => {
                    open.extend(fields.iter().map(|(_, field)| field.pattern).chain(*rest));
                }
                Pattern::Place(_) | Pattern::Nothing => {
                    return Err(self.error_here("a parameter is a name or a pattern of names"));
                }
            }
        }
        Ok(())
    }

    fn convert_array(&mut self, items: &[Item], targets: Targets) -> Parsed<Pattern> {
        let (mut parts, mut rest) = (Vec::new(), None);
        for (at, item) in items.iter().enumerate() {
            match (item.value, item.is_spread) {
                (None, _) => parts.push(None),
                (Some(value), false) => parts.push(Some(self.convert_element(value, targets)?)),
                (Some(value), true) if at + 1 == items.len() && !self.comma_after_rest.contains(&value) => {
                    rest = Some(self.convert(value, targets)?);
                }
                (Some(_), true) => return Err(self.error_here("a rest is the last")),
            }
        }
        Ok(Pattern::Array(parts.into(), rest))
    }

    fn convert_object(&mut self, fields: &[Property], targets: Targets) -> Parsed<Pattern> {
        let (mut parts, mut rest) = (Vec::new(), None);
        for (at, field) in fields.iter().enumerate() {
            match field {
                Property::Field(key, value) => {
                    parts.push((key.clone(), self.convert_element(*value, targets)?));
                }
                Property::Default(symbol, default) => {
                    self.only_in_patterns.pop();
                    self.declare_target(*symbol, targets)?;
                    let pattern = self.program.add_pattern(Pattern::Name(*symbol));
                    let key = PropertyKey::Fixed(self.lexer.shared_name(*symbol));
                    parts.push((key, Element { pattern, default: Some(*default) }));
                }
                Property::Spread(value) if at + 1 == fields.len() => {
                    rest = Some(self.convert(*value, targets)?);
                }
                Property::Spread(_) => return Err(self.error_here("a rest is the last")),
            }
        }
        Ok(Pattern::Object(parts.into(), rest))
    }
}

/// Permitted targets of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Targets {
    /// The pattern may declare new names only.
    Names,
    /// Anything that can be assigned to.
    Places,
}
