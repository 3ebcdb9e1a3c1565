//! Functions and arrows.

use super::{Parsed, Parser};
use crate::ast::{Body, Element, Expr, ExprId, Function, FunctionId, Item, Kind, Pattern, PatternId, Symbol};

/// Parameters: the plain ones, the rest parameter, and the declared names.
type Parameters = (Box<[Element]>, Option<PatternId>, Box<[Symbol]>);

impl Parser<'_, '_> {
    pub(super) fn function_name(&mut self) -> Parsed<Symbol> {
        if self.is("*") {
            return Err(self.error_here("generators do not exist here").fix("build a list"));
        }
        let name = self.name()?;
        self.check_target(name)?;
        Ok(name)
    }

    /// After `function`, which is the token.
    pub(super) fn function_expression(&mut self, is_async: bool) -> Parsed<ExprId> {
        let start = self.span.start;
        self.advance()?;
        let name = if self.is("(") { None } else { Some(self.function_name()?) };
        let function = self.function_rest(name, is_async, start)?;
        if let Some(function) = self.program.function_mut(function) {
            function.knows_itself = name.is_some();
        }
        Ok(self.add(Expr::Function(function), start))
    }

    /// After `async`, at `function`. As a statement of its own it declares a name: the statement sees to that.
    pub(super) fn async_function(&mut self, symbol: Symbol, start: usize) -> Parsed<ExprId> {
        if self.is_statement_start(start) {
            return Ok(self.add(Expr::Name(symbol), start));
        }
        self.function_expression(true)
    }

    /// Whether this is the start of a statement.
    fn is_statement_start(&self, start: usize) -> bool {
        self.statement_start == Some(start)
    }

    /// The parameters and the body of a function.
    pub(super) fn function_rest(
        &mut self,
        name: Option<Symbol>,
        is_async: bool,
        start: usize,
    ) -> Parsed<FunctionId> {
        self.nested(|parser| {
            let ((parameters, rest, own), (block, vars), is_strict) = parser.inside(is_async, |parser| {
                let all = parser.parameters()?;
                let is_simple = parser.are_simple(&all.0, all.1);
                let body = parser.braced_body(&all.2, is_simple)?;
                Ok((all, body, parser.is_strict))
            })?;
            let has_expressions = parser.have_expressions(&parameters);
            let body = Body::Block(block);
            let is_arrow = false;
            Ok(parser.program.add_function(Function {
                name,
                parameters,
                rest,
                own,
                vars,
                body,
                is_arrow,
                is_async,
                is_strict,
                knows_itself: false,
                has_expressions,
                span: parser.since(start),
            }))
        })
    }

    /// Whether all parameters are plain names.
    fn are_simple(&self, parameters: &[Element], rest: Option<PatternId>) -> bool {
        let is_plain = |element: &Element| {
            element.default.is_none() && matches!(self.program.pattern(element.pattern), Pattern::Name(_))
        };
        rest.is_none() && parameters.iter().all(is_plain)
    }

    /// Whether parameters contain expressions, in which functions may refer to the surrounding names.
    fn have_expressions(&self, parameters: &[Element]) -> bool {
        let is_plain = |element: &Element| {
            element.default.is_none() && matches!(self.program.pattern(element.pattern), Pattern::Name(_))
        };
        !parameters.iter().all(is_plain)
    }

    fn braced_body(&mut self, own: &[Symbol], is_simple: bool) -> Parsed<(crate::ast::Block, Box<[Symbol]>)> {
        self.in_is_operator = true;
        self.expect("{")?;
        let outcome = self.function_scope(own, |parser| {
            if parser.directives(!is_simple)? {
                // Names that were parsed before the function was known to be strict must be valid in strict code,
                // too.
                own.iter().try_for_each(|name| parser.check_target(*name))?;
            }
            parser.statements_to_brace()
        })?;
        self.expect("}")?;
        Ok(outcome)
    }

    fn parameters(&mut self) -> Parsed<Parameters> {
        self.expect("(")?;
        let ((all, rest), own) = self.names_scope(|parser| {
            let (mut all, mut rest) = (Vec::new(), None);
            while !parser.is(")") && rest.is_none() {
                if parser.eat("...")? {
                    rest = Some(parser.binding(Kind::Let)?);
                } else {
                    all.push(parser.binding_element(Kind::Let)?);
                }
                if !parser.is(")") && rest.is_none() {
                    parser.expect(",")?;
                }
            }
            parser.expect(")")?;
            Ok((all, rest))
        })?;
        Ok((all.into(), rest, own.iter().map(|(symbol, _)| *symbol).collect()))
    }

    /// Parses `a => …`, and the rest of an arrow function whose left side was parsed as an expression.
    pub(super) fn arrow(&mut self, left: ExprId, start: usize) -> Parsed<Option<ExprId>> {
        if !self.is("=>") || self.after_line {
            return Ok(None);
        }
        let Expr::Name(_) = self.program.expr(left) else { return Err(self.unexpected()) };
        let items = [Item { value: Some(left), is_spread: false }];
        self.arrow_from(&items, start, false).map(Some)
    }

    /// After `async`: an arrow, or the name.
    pub(super) fn async_arrow_or_name(&mut self, symbol: Symbol, start: usize) -> Parsed<ExprId> {
        let has_parameter = self.word().is_some_and(|word| !self.is_reserved(word));
        if has_parameter && !self.after_line {
            let at = self.span.start;
            let name = self.name()?;
            let value = self.add(Expr::Name(name), at);
            return self.arrow_from(&[Item { value: Some(value), is_spread: false }], start, true);
        }
        if self.is("(") && !self.after_line {
            let awaits = self.awaits;
            let items = self.arguments()?;
            if self.is("=>") && !self.after_line {
                self.no_await_since(awaits)?;
                return self.arrow_from(&items, start, true);
            }
            let callee = self.add(Expr::Name(symbol), start);
            return Ok(self.add(Expr::Call { callee, arguments: items, is_optional: false }, start));
        }
        Ok(self.add(Expr::Name(symbol), start))
    }

    /// Refuses an `await` in an expression that turned out to be a list of parameters.
    pub(super) fn no_await_since(&self, awaits: usize) -> Parsed<()> {
        if self.awaits == awaits {
            Ok(())
        } else {
            Err(self.error_here("parameters cannot wait for anything"))
        }
    }

    /// Parses an arrow function whose parameters were parsed as items of a list.
    pub(super) fn arrow_from(&mut self, items: &[Item], start: usize, is_async: bool) -> Parsed<ExprId> {
        let ((parameters, rest), own) = self.names_scope(|parser| parser.items_to_parameters(items))?;
        let own: Box<[Symbol]> = own.iter().map(|(symbol, _)| *symbol).collect();
        let is_simple = self.are_simple(&parameters, rest);
        self.expect("=>")?;
        let (body, vars, is_strict) = self.inside(is_async, |parser| {
            if !parser.is("{") {
                return Ok((Body::Expr(parser.assignment()?), Box::default(), parser.is_strict));
            }
            let (block, vars) = parser.braced_body(&own, is_simple)?;
            Ok((Body::Block(block), vars, parser.is_strict))
        })?;
        let function = Function {
            name: None,
            parameters: parameters.clone().into(),
            rest,
            own,
            vars,
            body,
            is_arrow: true,
            is_async,
            is_strict,
            knows_itself: false,
            has_expressions: self.have_expressions(&parameters),
            span: self.since(start),
        };
        let function = self.program.add_function(function);
        Ok(self.add(Expr::Function(function), start))
    }

    fn items_to_parameters(&mut self, items: &[Item]) -> Parsed<(Vec<Element>, Option<PatternId>)> {
        let (mut parameters, mut rest) = (Vec::new(), None);
        for (at, item) in items.iter().enumerate() {
            let Some(value) = item.value else { return Err(self.unexpected()) };
            if item.is_spread && at + 1 == items.len() && !self.comma_after_rest.contains(&value) {
                rest = Some(self.bound_pattern(value)?);
            } else if item.is_spread {
                return Err(self.error_here("a rest parameter is the last"));
            } else {
                parameters.push(self.bound_element(value)?);
            }
        }
        Ok((parameters, rest))
    }

    /// Parses the inside of a function: surrounding loops do not count, and `await` depends on the function.
    fn inside<T>(&mut self, is_async: bool, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let outer = (self.loops, self.switches, self.may_await, self.in_is_operator);
        let was_strict = self.is_strict;
        (self.loops, self.switches, self.may_await) = (0, 0, is_async);
        let outcome = read(self);
        (self.loops, self.switches, self.may_await, self.in_is_operator) = outer;
        self.is_strict = was_strict;
        outcome
    }
}
