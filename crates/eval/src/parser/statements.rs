//! Statements.

use super::{Parsed, Parser};
use crate::ast::{
    Block, Each, Expr, For, Kind, Over, Pattern, PatternId, Statement, StatementId, Switch, Symbol, Try,
};
use crate::lexer::Token;

/// Parses the rest of a statement after its first word.
type Read = fn(&mut Parser<'_, '_>) -> Parsed<Statement>;

/// Statements that begin with a keyword.
const STATEMENTS: &[(&str, Read)] = &[
    ("break", |parser| parser.break_statement()),
    ("const", |parser| parser.declaration(Kind::Const)),
    ("continue", |parser| parser.continue_statement()),
    ("do", |parser| parser.do_statement()),
    ("for", |parser| parser.for_statement()),
    ("if", |parser| parser.if_statement()),
    ("let", |parser| parser.declaration(Kind::Let)),
    ("return", |parser| parser.return_statement()),
    ("switch", |parser| parser.switch_statement()),
    ("throw", |parser| parser.throw_statement()),
    ("try", |parser| parser.try_statement()),
    ("var", |parser| parser.declaration(Kind::Var)),
    ("while", |parser| parser.while_statement()),
];

impl Parser<'_, '_> {
    pub(super) fn statement(&mut self) -> Parsed<StatementId> {
        let start = self.span.start;
        let statement = self.nested(Self::statement_here)?;
        let span = self.since(start);
        Ok(self.program.add_statement(statement, span))
    }

    fn statement_here(&mut self) -> Parsed<Statement> {
        if self.eat(";")? {
            return Ok(Statement::Empty);
        }
        if self.is("{") {
            return self.block().map(Statement::Block);
        }
        let Some(word) = self.word() else { return self.expression_statement() };
        if let Some((_, read)) = STATEMENTS.iter().find(|(name, _)| *name == word) {
            self.advance()?;
            return read(self);
        }
        if word == "function" {
            let start = self.span.start;
            return self.function_statement(false, start);
        }
        self.expression_statement()
    }

    fn expression_statement(&mut self) -> Parsed<Statement> {
        self.statement_start = Some(self.span.start);
        let begins_escaped = self.is_escaped;
        let expr = self.expression()?;
        if let Expr::Name(symbol) = *self.program.expr(expr) {
            if self.is(":") {
                return Err(self
                    .error_here("labels do not exist here")
                    .fix("put an object in brackets: ({…})"));
            }
            if self.lexer.name(symbol) == "async"
                && !begins_escaped
                && self.is_word("function")
                && !self.after_line
            {
                let start = self.statement_start.unwrap_or_default();
                return self.function_statement(true, start);
            }
        }
        self.end_statement()?;
        Ok(Statement::Expr(expr))
    }

    pub(super) fn block(&mut self) -> Parsed<Block> {
        self.expect("{")?;
        let block = self.block_scope(&[], Self::statements_to_brace)?;
        self.expect("}")?;
        Ok(block)
    }

    /// Parses the directives of a body, and returns whether one of them is `'use strict'`.
    pub(super) fn directives(&mut self, is_forbidden: bool) -> Parsed<bool> {
        let is_strict =
            matches!(self.token, Token::Text(_)) && self.lexer.directives_say(self.span, "use strict");
        if is_strict && is_forbidden {
            return Err(
                self.error_here("'use strict' stands only in functions whose parameters are plain names")
            );
        }
        self.is_strict |= is_strict;
        Ok(is_strict)
    }

    /// Parses a statement that is part of another: it may not be a declaration.
    fn part(&mut self) -> Parsed<StatementId> {
        let begins_declaration = match self.word() {
            Some("let" | "const" | "function" | "class") => true,
            Some("async") => self.lexer.follows_on_line("function"),
            _ => false,
        };
        if begins_declaration {
            return Err(self
                .error_here("nothing is declared where a single statement stands")
                .fix("put braces around it: { … }"));
        }
        self.statement()
    }

    pub(super) fn statements_to_brace(&mut self) -> Parsed<Vec<StatementId>> {
        let mut statements = Vec::new();
        while !self.is("}") && self.token != Token::End {
            statements.push(self.statement()?);
        }
        Ok(statements)
    }

    fn declaration(&mut self, kind: Kind) -> Parsed<Statement> {
        let statement = self.declarators(kind)?;
        self.end_statement()?;
        Ok(statement)
    }

    fn declarators(&mut self, kind: Kind) -> Parsed<Statement> {
        let mut all = Vec::new();
        loop {
            let pattern = self.binding(kind)?;
            all.push(self.declarator(kind, pattern)?);
            if !self.eat(",")? {
                return Ok(Statement::Declare(kind, all.into()));
            }
        }
    }

    fn declarator(
        &mut self,
        kind: Kind,
        pattern: PatternId,
    ) -> Parsed<(PatternId, Option<crate::ast::ExprId>)> {
        let value = if self.eat("=")? { Some(self.assignment()?) } else { None };
        if value.is_none() && kind == Kind::Const {
            return Err(self.error_here("a const needs a value").fix("write = and the value, or use let"));
        }
        if value.is_none() && !matches!(self.program.pattern(pattern), Pattern::Name(_)) {
            return Err(self.error_here("what is taken apart needs a value").fix("write = and the value"));
        }
        Ok((pattern, value))
    }

    fn if_statement(&mut self) -> Parsed<Statement> {
        let test = self.in_brackets()?;
        let then = self.part()?;
        let otherwise = if self.eat_word("else")? { Some(self.part()?) } else { None };
        Ok(Statement::If(test, then, otherwise))
    }

    fn while_statement(&mut self) -> Parsed<Statement> {
        let test = self.in_brackets()?;
        Ok(Statement::While(test, self.loop_body()?))
    }

    fn do_statement(&mut self) -> Parsed<Statement> {
        let body = self.loop_body()?;
        if !self.eat_word("while")? {
            return Err(self.unexpected().fix("write while here"));
        }
        let test = self.in_brackets()?;
        self.eat(";")?;
        Ok(Statement::DoWhile(body, test))
    }

    fn loop_body(&mut self) -> Parsed<StatementId> {
        self.loops += 1;
        let body = self.part();
        self.loops -= 1;
        body
    }

    pub(super) fn in_brackets(&mut self) -> Parsed<crate::ast::ExprId> {
        self.expect("(")?;
        let expr = self.expression()?;
        self.expect(")")?;
        Ok(expr)
    }

    fn for_statement(&mut self) -> Parsed<Statement> {
        let is_awaited = self.is_word("await") && self.may_await && self.eat_word("await")?;
        self.expect("(")?;
        let (statement, own) = self.names_scope(|parser| parser.for_head(is_awaited))?;
        Ok(match statement {
            Statement::For(inner) => Statement::For(Box::new(For { own, ..*inner })),
            Statement::Each(inner) => Statement::Each(Box::new(Each { own, ..*inner })),
            other => other,
        })
    }

    fn for_head(&mut self, is_awaited: bool) -> Parsed<Statement> {
        let start = self.span.start;
        let kind = match self.word() {
            Some("let") => Some(Kind::Let),
            Some("const") => Some(Kind::Const),
            Some("var") => Some(Kind::Var),
            _ => None,
        };
        if self.eat(";")? {
            return self.for_rest(None);
        }
        let first = match kind {
            Some(kind) => {
                self.advance()?;
                let pattern = self.binding(kind)?;
                if self.is_word("of") || self.is_word("in") {
                    return self.each(Some(kind), pattern, is_awaited);
                }
                self.for_declaration(kind, pattern)?
            }
            None => {
                let expr = self.without_in(Self::expression)?;
                if self.is_word("of") || self.is_word("in") {
                    let pattern = self.assigned_pattern(expr)?;
                    return self.each(None, pattern, is_awaited);
                }
                Statement::Expr(expr)
            }
        };
        let span = self.since(start);
        let first = self.program.add_statement(first, span);
        self.expect(";")?;
        self.for_rest(Some(first))
    }

    fn for_declaration(&mut self, kind: Kind, pattern: PatternId) -> Parsed<Statement> {
        self.without_in(|parser| {
            let mut all = vec![parser.declarator(kind, pattern)?];
            while parser.eat(",")? {
                let pattern = parser.binding(kind)?;
                all.push(parser.declarator(kind, pattern)?);
            }
            Ok(Statement::Declare(kind, all.into()))
        })
    }

    fn for_rest(&mut self, start: Option<StatementId>) -> Parsed<Statement> {
        let test = if self.is(";") { None } else { Some(self.expression()?) };
        self.expect(";")?;
        let update = if self.is(")") { None } else { Some(self.expression()?) };
        self.expect(")")?;
        let body = self.loop_body()?;
        Ok(Statement::For(Box::new(For { start, own: Box::default(), test, update, body })))
    }

    fn each(&mut self, kind: Option<Kind>, target: PatternId, is_awaited: bool) -> Parsed<Statement> {
        let over = match (self.is_word("in"), is_awaited) {
            (true, _) => Over::Keys,
            (false, false) => Over::Values,
            (false, true) => Over::Awaited,
        };
        self.advance()?;
        let all = if over == Over::Keys { self.expression()? } else { self.assignment()? };
        self.expect(")")?;
        let body = self.loop_body()?;
        Ok(Statement::Each(Box::new(Each { kind, own: Box::default(), target, all, over, body })))
    }

    fn without_in<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let before = std::mem::replace(&mut self.in_is_operator, false);
        let outcome = read(self);
        self.in_is_operator = before;
        outcome
    }

    fn return_statement(&mut self) -> Parsed<Statement> {
        let ends = self.is(";") || self.is("}") || self.token == Token::End || self.after_line;
        let value = if ends { None } else { Some(self.expression()?) };
        self.end_statement()?;
        Ok(Statement::Return(value))
    }

    fn throw_statement(&mut self) -> Parsed<Statement> {
        if self.after_line {
            return Err(self.error_here("what is thrown stands on the line of throw"));
        }
        let value = self.expression()?;
        self.end_statement()?;
        Ok(Statement::Throw(value))
    }

    fn break_statement(&mut self) -> Parsed<Statement> {
        if self.loops + self.switches == 0 {
            return Err(self.error_here("break is only allowed in loops and in switch"));
        }
        self.end_jump()?;
        Ok(Statement::Break)
    }

    fn continue_statement(&mut self) -> Parsed<Statement> {
        if self.loops == 0 {
            return Err(self.error_here("continue is only allowed in loops"));
        }
        self.end_jump()?;
        Ok(Statement::Continue)
    }

    fn end_jump(&mut self) -> Parsed<()> {
        if self.word().is_some() && !self.after_line {
            return Err(self
                .error_here("labels do not exist here")
                .fix("put the loops into a function and return"));
        }
        self.end_statement()
    }

    fn try_statement(&mut self) -> Parsed<Statement> {
        let body = self.block()?;
        let ((caught, handler), own) = self.names_scope(Self::handler)?;
        let last = if self.eat_word("finally")? { Some(self.block()?) } else { None };
        if handler.is_none() && last.is_none() {
            return Err(self.unexpected().fix("write catch or finally here"));
        }
        Ok(Statement::Try(Box::new(Try { body, caught, own, handler, last })))
    }

    fn handler(&mut self) -> Parsed<(Option<PatternId>, Option<Block>)> {
        if !self.eat_word("catch")? {
            return Ok((None, None));
        }
        let mut caught = None;
        if self.eat("(")? {
            let pattern = self.binding(Kind::Let)?;
            if matches!(self.program.pattern(pattern), Pattern::Name(_)) {
                self.var_may_repeat();
            }
            caught = Some(pattern);
            self.expect(")")?;
        }
        let own = self.declared_here();
        self.expect("{")?;
        let block = self.block_scope(&own, Self::statements_to_brace)?;
        self.expect("}")?;
        Ok((caught, Some(block)))
    }

    fn switch_statement(&mut self) -> Parsed<Statement> {
        let value = self.in_brackets()?;
        self.expect("{")?;
        self.switches += 1;
        let mut cases = Vec::new();
        let block = self.block_scope(&[], |parser| {
            let mut body = Vec::new();
            while !parser.is("}") {
                let test = if parser.eat_word("default")? { None } else { Some(parser.case_test()?) };
                parser.expect(":")?;
                cases.push((test, body.len()));
                while !parser.is("}") && !parser.is_word("case") && !parser.is_word("default") {
                    body.push(parser.statement()?);
                }
            }
            Ok(body)
        });
        self.switches -= 1;
        let block = block?;
        self.expect("}")?;
        if cases.iter().filter(|(test, _)| test.is_none()).count() > 1 {
            return Err(self.error_here("a switch has one default"));
        }
        Ok(Statement::Switch(value, Box::new(Switch { block, cases: cases.into() })))
    }

    fn case_test(&mut self) -> Parsed<crate::ast::ExprId> {
        if self.eat_word("case")? { self.expression() } else { Err(self.unexpected().fix("write case here")) }
    }

    fn function_statement(&mut self, is_async: bool, start: usize) -> Parsed<Statement> {
        self.advance()?;
        let name: Symbol = self.function_name()?;
        let function = self.function_rest(Some(name), is_async, start)?;
        self.declare_function(name, function)?;
        Ok(Statement::Empty)
    }
}
