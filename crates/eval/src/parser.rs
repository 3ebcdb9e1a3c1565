//! Parser. Recursion is bounded, nothing is parsed twice, and features that are missing on purpose are named in
//! errors.

mod expressions;
mod functions;
mod operators;
mod patterns;
mod primary;
mod scopes;
mod statements;

use std::collections::HashSet;

use crate::ast::{Block, Expr, ExprId, Program, Symbol};
use crate::lexer::{Lexer, Token};
use crate::limits::{Meter, Stack, too_deep};
use crate::{ErrorKind, EvalError, SourceSpan};
use scopes::Scopes;

/// Maximum nesting of a source; each level takes several of the parser's own.
const MAX_NESTING: usize = 200;

/// Whether a source may wait for promises at its top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Plain,
    Async,
}

/// Reads a source.
pub(crate) fn parse(source: &str, mode: Mode, meter: &mut Meter<'_>) -> Result<Program, EvalError> {
    // A source that begins with a brace is an object if possible, otherwise a block.
    if source.trim_start().starts_with('{')
        && let Ok(program) = Parser::new(source, mode, &mut *meter).lone_expression()
    {
        return Ok(program);
    }
    Parser::new(source, mode, meter).program()
}

/// Reserved words, which cannot be names.
const RESERVED: &[&str] = &[
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "import",
    "in",
    "instanceof",
    "let",
    "new",
    "null",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

struct Parser<'s, 'm> {
    lexer: Lexer<'s>,
    /// Meter for regular expressions.
    meter: &'s mut Meter<'m>,
    token: Token,
    span: SourceSpan,
    /// Whether a line ended before the token.
    after_line: bool,
    /// Whether the token is a word with escapes: it may be a name, but is not a keyword.
    is_escaped: bool,
    /// Whether the code is strict (`'use strict'`).
    is_strict: bool,
    /// Lists whose rest element is followed by a comma, by the value of the rest: they cannot become a pattern.
    comma_after_rest: HashSet<ExprId>,
    /// Where the last token ended.
    last_end: usize,
    program: Program,
    scopes: Scopes,
    /// Constructs that are valid only in a pattern, and are not yet part of one.
    only_in_patterns: Vec<SourceSpan>,
    /// Number of `await`s read: none is permitted among parameters.
    awaits: usize,
    /// Whether `await` is an operator here.
    may_await: bool,
    /// Whether `in` is an operator here, and not part of the head of a loop.
    in_is_operator: bool,
    /// Where the statement began that is being read.
    statement_start: Option<usize>,
    loops: usize,
    switches: usize,
    depth: usize,
    max_depth: usize,
    stack: Stack,
}

type Parsed<T> = Result<T, EvalError>;

impl<'s, 'm> Parser<'s, 'm> {
    fn new(source: &'s str, mode: Mode, meter: &'s mut Meter<'m>) -> Self {
        Self {
            lexer: Lexer::new(source),
            max_depth: meter.options().limits.max_depth.min(MAX_NESTING),
            meter,
            token: Token::End,
            span: SourceSpan::default(),
            after_line: false,
            is_escaped: false,
            is_strict: false,
            comma_after_rest: HashSet::new(),
            last_end: 0,
            program: Program::default(),
            scopes: Scopes::default(),
            only_in_patterns: Vec::new(),
            awaits: 0,
            may_await: mode == Mode::Async,
            in_is_operator: true,
            statement_start: None,
            loops: 0,
            switches: 0,
            depth: 0,
            stack: Stack::here(),
        }
    }

    fn program(mut self) -> Parsed<Program> {
        self.advance()?;
        let (body, vars) = self.function_scope(&[], |parser| {
            parser.directives(false)?;
            let mut statements = Vec::new();
            while parser.token != Token::End {
                statements.push(parser.statement()?);
            }
            Ok(statements)
        })?;
        self.finish(body, vars)
    }

    fn lone_expression(mut self) -> Parsed<Program> {
        self.advance()?;
        let start = self.span.start;
        let expr = self.expression()?;
        self.eat(";")?;
        if self.token != Token::End {
            return Err(self.unexpected());
        }
        let statement = crate::ast::Statement::Expr(expr);
        let id = self.program.add_statement(statement, self.since(start));
        self.finish(Block { body: Box::new([id]), ..Block::default() }, Box::default())
    }

    fn finish(mut self, body: Block, vars: Box<[Symbol]>) -> Parsed<Program> {
        self.check_patterns()?;
        self.program.body = body;
        self.program.vars = vars;
        self.program.is_strict = self.is_strict;
        if self.program.has_functions() {
            self.program.source = self.lexer.source().into();
        }
        self.program.set_names(self.lexer.into_names());
        Ok(self.program)
    }

    /// `{a = 1}` that became no pattern is a mistake.
    fn check_patterns(&self) -> Parsed<()> {
        match self.only_in_patterns.first() {
            Some(&span) => {
                Err(self.error("a default value belongs into a pattern").fix("write a: 1").at(span))
            }
            None => Ok(()),
        }
    }

    fn advance(&mut self) -> Parsed<()> {
        self.last_end = self.span.end;
        (self.token, self.span) = self.lexer.next()?;
        self.after_line = self.lexer.after_line;
        self.is_escaped = self.lexer.is_escaped;
        Ok(())
    }

    fn is(&self, mark: &str) -> bool {
        matches!(self.token, Token::Mark(found) if found == mark)
    }

    fn eat(&mut self, mark: &str) -> Parsed<bool> {
        let found = self.is(mark);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, mark: &str) -> Parsed<()> {
        if self.eat(mark)? { Ok(()) } else { Err(self.unexpected().fix(format!("write {mark} here"))) }
    }

    /// The word that the token is.
    fn word(&self) -> Option<&str> {
        match self.token {
            Token::Word(symbol) if !self.is_escaped => Some(self.lexer.name(symbol)),
            _ => None,
        }
    }

    fn is_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    fn eat_word(&mut self, word: &str) -> Parsed<bool> {
        let found = self.is_word(word);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    /// Returns the token as a name, and advances.
    fn name(&mut self) -> Parsed<Symbol> {
        match self.token {
            Token::Word(symbol) if !self.is_reserved(self.lexer.name(symbol)) => {
                self.advance()?;
                Ok(symbol)
            }
            _ => Err(self.unexpected()),
        }
    }

    fn is_reserved(&self, name: &str) -> bool {
        RESERVED.contains(&name) || (self.is_strict && scopes::FUTURE.contains(&name))
    }

    /// Ends a statement: a semicolon, a line end, or the end of the block.
    fn end_statement(&mut self) -> Parsed<()> {
        if self.eat(";")? || self.is("}") || self.token == Token::End || self.after_line {
            return Ok(());
        }
        Err(self.unexpected())
    }

    fn since(&self, start: usize) -> SourceSpan {
        SourceSpan { start, end: self.last_end.max(start) }
    }

    fn add(&mut self, expr: Expr, start: usize) -> ExprId {
        let span = self.since(start);
        self.program.add_expr(expr, span)
    }

    /// A syntax error at the token.
    fn error(&self, message: impl Into<String>) -> EvalError {
        EvalError::new(ErrorKind::Syntax, message)
    }

    fn error_here(&self, message: impl Into<String>) -> EvalError {
        self.error(message).at(self.span)
    }

    fn forbidden(&self, message: impl Into<String>) -> EvalError {
        EvalError::new(ErrorKind::Forbidden, message).at(self.span)
    }

    fn unexpected(&self) -> EvalError {
        let what = match &self.token {
            Token::End => "the end".to_owned(),
            Token::Word(symbol) => format!("`{}`", self.lexer.name(*symbol)),
            Token::Number(_) => "this number".to_owned(),
            Token::Text(_) => "this text".to_owned(),
            Token::Template => "this template".to_owned(),
            Token::Mark(mark) => format!("`{mark}`"),
        };
        match self.word() {
            Some(word) => self.refused_word(word),
            None => None,
        }
        .unwrap_or_else(|| self.error_here(format!("{what} is not expected here")))
    }

    /// Words that mean something in JavaScript, and not here.
    fn refused_word(&self, word: &str) -> Option<EvalError> {
        Some(match word {
            "import" | "export" => {
                self.forbidden(format!("`{word}` does not exist here: there is nothing to load"))
            }
            "with" => self.forbidden("`with` does not exist here"),
            "class" | "extends" | "super" => {
                self.error_here("classes do not exist here").fix("use functions that return objects")
            }
            "yield" => self.error_here("generators do not exist here").fix("build a list"),
            "debugger" => self.forbidden("`debugger` does not exist here"),
            "await" => self
                .error_here(
                    "`await` is only allowed in async functions, and at the top level of asynchronous evaluation",
                )
                .fix("use evalAsync, or put it into an async function"),
            _ => return None,
        })
    }

    /// Reads something one level deeper.
    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= self.max_depth || !self.stack.has_room() {
            return Err(too_deep(self.depth).at(self.span));
        }
        self.depth += 1;
        let outcome = read(self);
        self.depth -= 1;
        outcome
    }
}
