//! Expressions: operators, calls and members.

use super::operators::{ASSIGN, BINARY, Binary, POWER, UNARY, find};
use super::{Parsed, Parser};
use crate::ast::{BinaryOp, Expr, ExprId, Item, Pattern, UnaryOp};
use crate::lexer::Token;

impl Parser<'_, '_> {
    /// Expressions with commas between them.
    pub(super) fn expression(&mut self) -> Parsed<ExprId> {
        let start = self.span.start;
        let first = self.assignment()?;
        if !self.is(",") {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.eat(",")? {
            all.push(self.assignment()?);
        }
        Ok(self.add(Expr::Sequence(all.into()), start))
    }

    pub(super) fn assignment(&mut self) -> Parsed<ExprId> {
        self.nested(Self::assignment_here)
    }

    fn assignment_here(&mut self) -> Parsed<ExprId> {
        let start = self.span.start;
        let left = self.conditional()?;
        if let Some(arrow) = self.arrow(left, start)? {
            return Ok(arrow);
        }
        let Token::Mark(mark) = self.token else { return Ok(left) };
        let Some(op) = find(ASSIGN, mark) else { return Ok(left) };
        let target = if op.is_none() { self.assigned_pattern(left)? } else { self.assigned_place(left)? };
        self.advance()?;
        let value = self.assignment()?;
        Ok(self.add(Expr::Assign(op, target, value), start))
    }

    fn conditional(&mut self) -> Parsed<ExprId> {
        let start = self.span.start;
        let test = self.binary(0)?;
        if !self.eat("?")? {
            return Ok(test);
        }
        let before = std::mem::replace(&mut self.in_is_operator, true);
        let yes = self.assignment();
        self.in_is_operator = before;
        self.expect(":")?;
        let (yes, no) = (yes?, self.assignment()?);
        Ok(self.add(Expr::Conditional(test, yes, no), start))
    }

    fn binary(&mut self, least: u8) -> Parsed<ExprId> {
        let start = self.span.start;
        let mut left = self.unary()?;
        while let Some(Binary { op, power }) = self.operator().filter(|found| found.power >= least.max(1)) {
            if power == POWER && self.is_bare_unary(left) {
                return Err(self
                    .error_here("the sign before ** needs brackets")
                    .fix("write (-a) ** b or -(a ** b)"));
            }
            self.advance()?;
            // The operator ** is right-associative; the right side of all others contains only tighter operators.
            let next = if power == POWER { power } else { power + 1 };
            let right = self.nested(|parser| parser.binary(next))?;
            self.check_mix(op, left, right)?;
            left = self.add(Expr::Binary(op, left, right), start);
        }
        Ok(left)
    }

    fn operator(&self) -> Option<Binary> {
        let mark = match self.token {
            Token::Mark(mark) => mark,
            Token::Word(symbol) if !self.is_escaped => self.lexer.name(symbol),
            _ => return None,
        };
        find(BINARY, mark).filter(|found| found.op != BinaryOp::In || self.in_is_operator)
    }

    fn is_bare_unary(&self, expr: ExprId) -> bool {
        matches!(self.program.expr(expr), Expr::Unary(..) | Expr::Await(_))
    }

    /// `a ?? b || c` could mean two things.
    fn check_mix(&self, op: BinaryOp, left: ExprId, right: ExprId) -> Parsed<()> {
        let is = |expr: ExprId, wanted: fn(BinaryOp) -> bool| matches!(self.program.expr(expr), Expr::Binary(op, ..) if wanted(*op));
        let and_or = |op| matches!(op, BinaryOp::And | BinaryOp::Or);
        let mixed = match op {
            BinaryOp::Coalesce => is(left, and_or) || is(right, and_or),
            BinaryOp::And | BinaryOp::Or => is(left, |op| op == BinaryOp::Coalesce),
            _ => false,
        };
        if mixed { Err(self.error_here("?? beside && or || needs brackets")) } else { Ok(()) }
    }

    fn unary(&mut self) -> Parsed<ExprId> {
        let start = self.span.start;
        let mark = match self.token {
            Token::Mark(mark) => mark,
            Token::Word(symbol) if !self.is_escaped => self.lexer.name(symbol),
            _ => return self.postfix(),
        };
        if mark == "await" && self.may_await {
            self.awaits += 1;
            self.advance()?;
            let operand = self.nested(Self::unary)?;
            return Ok(self.add(Expr::Await(operand), start));
        }
        if mark == "++" || mark == "--" {
            let delta = if mark == "++" { 1.0 } else { -1.0 };
            self.advance()?;
            let operand = self.nested(Self::unary)?;
            let target = self.assigned_place(operand)?;
            return Ok(self.add(Expr::Update { target, delta, is_prefix: true }, start));
        }
        let Some(op) = find(UNARY, mark) else { return self.postfix() };
        self.advance()?;
        let operand = self.nested(Self::unary)?;
        if op == UnaryOp::Delete && self.is_name(operand) {
            return Err(self.error_here("a name cannot be deleted").fix("write delete object.name"));
        }
        Ok(self.add(Expr::Unary(op, operand), start))
    }

    fn is_name(&self, expr: ExprId) -> bool {
        match self.program.expr(expr) {
            Expr::Name(_) => true,
            Expr::Group(inner) => self.is_name(*inner),
            _ => false,
        }
    }

    fn postfix(&mut self) -> Parsed<ExprId> {
        let start = self.span.start;
        let operand = self.chain()?;
        let delta = match self.token {
            Token::Mark("++") if !self.after_line => 1.0,
            Token::Mark("--") if !self.after_line => -1.0,
            _ => return Ok(operand),
        };
        let target = self.assigned_place(operand)?;
        self.advance()?;
        Ok(self.add(Expr::Update { target, delta, is_prefix: false }, start))
    }

    /// Members and calls, one after the other.
    fn chain(&mut self) -> Parsed<ExprId> {
        let start = self.span.start;
        let mut expr = self.primary()?;
        let mut is_optional_chain = false;
        loop {
            let is_optional = self.is("?.");
            if is_optional {
                is_optional_chain = true;
                self.advance()?;
            }
            expr = match self.token {
                Token::Mark("(") => {
                    let arguments = self.arguments()?;
                    self.add(Expr::Call { callee: expr, arguments, is_optional }, start)
                }
                Token::Mark("[") => {
                    let index = self.index()?;
                    self.add(Expr::Index { object: expr, index, is_optional }, start)
                }
                Token::Mark(".") if !is_optional => {
                    self.advance()?;
                    self.member(expr, false, start)?
                }
                Token::Word(_) if is_optional => self.member(expr, true, start)?,
                Token::Template => {
                    return Err(self.error_here("templates with a function before them do not exist here"));
                }
                _ if is_optional => return Err(self.unexpected()),
                _ => break,
            };
        }
        Ok(if is_optional_chain { self.add(Expr::Chain(expr), start) } else { expr })
    }

    fn member(&mut self, object: ExprId, is_optional: bool, start: usize) -> Parsed<ExprId> {
        let Token::Word(symbol) = self.token else { return Err(self.unexpected()) };
        let key = self.lexer.shared_name(symbol);
        self.advance()?;
        Ok(self.add(Expr::Member { object, key, is_optional }, start))
    }

    fn index(&mut self) -> Parsed<ExprId> {
        self.expect("[")?;
        let before = std::mem::replace(&mut self.in_is_operator, true);
        let index = self.expression();
        self.in_is_operator = before;
        let index = index?;
        self.expect("]")?;
        Ok(index)
    }

    pub(super) fn arguments(&mut self) -> Parsed<Box<[Item]>> {
        self.expect("(")?;
        self.items(")")
    }

    /// Parses items up to the closing token. A trailing comma is permitted.
    pub(super) fn items(&mut self, close: &str) -> Parsed<Box<[Item]>> {
        let before = std::mem::replace(&mut self.in_is_operator, true);
        let mut items = Vec::new();
        while !self.is(close) {
            if close == "]" && self.eat(",")? {
                items.push(Item { value: None, is_spread: false });
                continue;
            }
            let is_spread = self.eat("...")?;
            let value = self.assignment()?;
            items.push(Item { value: Some(value), is_spread });
            if !self.is(close) {
                self.expect(",")?;
                if is_spread {
                    self.comma_after_rest.insert(value);
                }
            }
        }
        self.in_is_operator = before;
        self.advance()?;
        Ok(items.into())
    }

    /// A place that has a value already: a name or a member.
    fn assigned_place(&mut self, expr: ExprId) -> Parsed<crate::ast::PatternId> {
        let pattern = match *self.program.expr(expr) {
            Expr::Name(symbol) => {
                self.check_target(symbol)?;
                Pattern::Name(symbol)
            }
            Expr::Member { .. } | Expr::Index { .. } => Pattern::Place(expr),
            Expr::Group(inner) => return self.assigned_place(inner),
            _ => return Err(self.error_here("only a name or a member can be assigned to")),
        };
        Ok(self.program.add_pattern(pattern))
    }
}
