//! Syntax tree of a source. Nodes refer to each other by number, so that deep nesting needs no recursive drop.

use std::rc::Rc;

use crate::SourceSpan;
use crate::text::Text;

/// A name, as its place in [`Program::names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol(pub(crate) u32);

/// The place of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ExprId(u32);

/// The place of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct StatementId(u32);

/// The place of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PatternId(u32);

/// The place of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FunctionId(u32);

/// A whole source, parsed: its expressions and statements in lists, which refer to each other by number.
#[derive(Debug)]
pub(crate) struct Program {
    names: Vec<Rc<str>>,
    exprs: Vec<(Expr, SourceSpan)>,
    statements: Vec<(Statement, SourceSpan)>,
    patterns: Vec<Pattern>,
    functions: Vec<Function>,
    /// Placeholders for missing nodes.
    nothing: (Expr, Statement, Pattern, Function),
    pub(crate) vars: Box<[Symbol]>,
    pub(crate) body: Block,
    pub(crate) is_strict: bool,
    /// Source text of the functions, if there are any.
    pub(crate) source: Rc<str>,
}

impl Default for Program {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            exprs: Vec::new(),
            statements: Vec::new(),
            patterns: Vec::new(),
            functions: Vec::new(),
            nothing: Default::default(),
            vars: Box::default(),
            body: Block::default(),
            is_strict: false,
            source: "".into(),
        }
    }
}

impl Program {
    pub(crate) fn name(&self, symbol: Symbol) -> &str {
        self.names.get(symbol.0 as usize).map_or("", |name| name)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = (Symbol, &str)> {
        (0..).map(Symbol).zip(self.names.iter().map(|name| &**name))
    }

    pub(crate) fn set_names(&mut self, names: Vec<Rc<str>>) {
        self.names = names;
    }

    pub(crate) fn expr(&self, id: ExprId) -> &Expr {
        self.exprs.get(id.0 as usize).map_or(&self.nothing.0, |(expr, _)| expr)
    }

    pub(crate) fn expr_mut(&mut self, id: ExprId) -> Option<&mut Expr> {
        self.exprs.get_mut(id.0 as usize).map(|(expr, _)| expr)
    }

    pub(crate) fn span(&self, id: ExprId) -> SourceSpan {
        self.exprs.get(id.0 as usize).map(|(_, span)| *span).unwrap_or_default()
    }

    pub(crate) fn statement(&self, id: StatementId) -> (&Statement, SourceSpan) {
        self.statements
            .get(id.0 as usize)
            .map_or((&self.nothing.1, SourceSpan::default()), |(statement, span)| (statement, *span))
    }

    pub(crate) fn pattern(&self, id: PatternId) -> &Pattern {
        self.patterns.get(id.0 as usize).unwrap_or(&self.nothing.2)
    }

    pub(crate) fn function(&self, id: FunctionId) -> &Function {
        self.functions.get(id.0 as usize).unwrap_or(&self.nothing.3)
    }

    pub(crate) fn has_functions(&self) -> bool {
        !self.functions.is_empty()
    }

    pub(crate) fn function_mut(&mut self, id: FunctionId) -> Option<&mut Function> {
        self.functions.get_mut(id.0 as usize)
    }

    pub(crate) fn add_expr(&mut self, expr: Expr, span: SourceSpan) -> ExprId {
        self.exprs.push((expr, span));
        ExprId(place(self.exprs.len()))
    }

    pub(crate) fn add_statement(&mut self, statement: Statement, span: SourceSpan) -> StatementId {
        self.statements.push((statement, span));
        StatementId(place(self.statements.len()))
    }

    pub(crate) fn add_pattern(&mut self, pattern: Pattern) -> PatternId {
        self.patterns.push(pattern);
        PatternId(place(self.patterns.len()))
    }

    pub(crate) fn add_function(&mut self, function: Function) -> FunctionId {
        self.functions.push(function);
        FunctionId(place(self.functions.len()))
    }
}

/// The place of the last of so many. A source is never that long.
fn place(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX).saturating_sub(1)
}

/// An expression, with its parts by number.
#[derive(Debug, Default)]
pub(crate) enum Expr {
    #[default]
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(Text),
    /// Texts, and the expressions between them.
    Template(Box<[Text]>, Box<[ExprId]>),
    Regex(Rc<str>, Rc<str>),
    Name(Symbol),
    This,
    Array(Box<[Item]>),
    Object(Box<[Property]>),
    Function(FunctionId),
    Unary(UnaryOp, ExprId),
    Update {
        target: PatternId,
        delta: f64,
        is_prefix: bool,
    },
    Binary(BinaryOp, ExprId, ExprId),
    Conditional(ExprId, ExprId, ExprId),
    /// The operator is `None` for a plain `=`.
    Assign(Option<BinaryOp>, PatternId, ExprId),
    Member {
        object: ExprId,
        key: Rc<str>,
        is_optional: bool,
    },
    Index {
        object: ExprId,
        index: ExprId,
        is_optional: bool,
    },
    Call {
        callee: ExprId,
        arguments: Box<[Item]>,
        is_optional: bool,
    },
    New(ExprId, Box<[Item]>),
    /// End of an optional chain, which is skipped when `?.` meets a nullish value.
    Chain(ExprId),
    Await(ExprId),
    Sequence(Box<[ExprId]>),
    /// Parenthesised: `(a)` is not a parameter, and `(a, b) => …` was converted when the arrow was parsed.
    Group(ExprId),
}

/// An item of a list or an argument.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    /// None is a hole.
    pub(crate) value: Option<ExprId>,
    pub(crate) is_spread: bool,
}

/// A part of an object.
#[derive(Debug, Clone)]
pub(crate) enum Property {
    Field(PropertyKey, ExprId),
    Spread(ExprId),
    /// `{a = 1}`, which is valid only in a pattern.
    Default(Symbol, ExprId),
}

/// The name of a field.
#[derive(Debug, Clone)]
pub(crate) enum PropertyKey {
    Fixed(Rc<str>),
    Computed(ExprId),
}

/// Operators before one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnaryOp {
    Not,
    Minus,
    Plus,
    BitNot,
    TypeOf,
    Void,
    Delete,
}

/// Operators between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    Equal,
    NotEqual,
    Same,
    NotSame,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    ShiftRightUnsigned,
    In,
    InstanceOf,
    And,
    Or,
    Coalesce,
}

impl BinaryOp {
    /// Whether the right side may be left out.
    pub(crate) fn is_logical(self) -> bool {
        matches!(self, Self::And | Self::Or | Self::Coalesce)
    }
}

/// The target of an assignment.
#[derive(Debug, Default)]
pub(crate) enum Pattern {
    #[default]
    Nothing,
    Name(Symbol),
    /// A member of something.
    Place(ExprId),
    Array(Box<[Option<Element>]>, Option<PatternId>),
    Object(Box<[(PropertyKey, Element)]>, Option<PatternId>),
}

/// An element of a pattern, with its default value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Element {
    pub(crate) pattern: PatternId,
    pub(crate) default: Option<ExprId>,
}

/// A statement, with its parts by number.
#[derive(Debug, Default)]
pub(crate) enum Statement {
    #[default]
    Empty,
    Expr(ExprId),
    Declare(Kind, Box<[(PatternId, Option<ExprId>)]>),
    Return(Option<ExprId>),
    If(ExprId, StatementId, Option<StatementId>),
    For(Box<For>),
    Each(Box<Each>),
    While(ExprId, StatementId),
    DoWhile(StatementId, ExprId),
    Block(Block),
    Throw(ExprId),
    Try(Box<Try>),
    Switch(ExprId, Box<Switch>),
    Break,
    Continue,
}

/// How a name is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Var,
    Let,
    Const,
}

/// Statements with names of their own.
#[derive(Debug, Default)]
pub(crate) struct Block {
    pub(crate) lexical: Box<[(Symbol, Kind)]>,
    pub(crate) functions: Box<[(Symbol, FunctionId)]>,
    pub(crate) body: Box<[StatementId]>,
}

/// `for (start; test; update) body`.
#[derive(Debug)]
pub(crate) struct For {
    pub(crate) start: Option<StatementId>,
    /// The names that each iteration binds again.
    pub(crate) own: Box<[(Symbol, Kind)]>,
    pub(crate) test: Option<ExprId>,
    pub(crate) update: Option<ExprId>,
    pub(crate) body: StatementId,
}

/// `for (target of all) body`.
#[derive(Debug)]
pub(crate) struct Each {
    /// `None` assigns to an existing name.
    pub(crate) kind: Option<Kind>,
    pub(crate) own: Box<[(Symbol, Kind)]>,
    pub(crate) target: PatternId,
    pub(crate) all: ExprId,
    /// `in` iterates over keys, `of` over values.
    pub(crate) over: Over,
    pub(crate) body: StatementId,
}

/// The subject of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    Keys,
    Values,
    /// `for await (… of …)`: waits for each value.
    Awaited,
}

/// `try body catch (caught) handler finally last`.
#[derive(Debug)]
pub(crate) struct Try {
    pub(crate) body: Block,
    pub(crate) caught: Option<PatternId>,
    pub(crate) own: Box<[(Symbol, Kind)]>,
    pub(crate) handler: Option<Block>,
    pub(crate) last: Option<Block>,
}

/// The cases of a `switch`; `default` has no test.
#[derive(Debug)]
pub(crate) struct Switch {
    pub(crate) block: Block,
    /// The test of each case, and the index in the block at which it continues.
    pub(crate) cases: Box<[(Option<ExprId>, usize)]>,
}

/// A function as it is written: parameters, body and kind.
#[derive(Debug, Default)]
pub(crate) struct Function {
    pub(crate) name: Option<Symbol>,
    pub(crate) parameters: Box<[Element]>,
    pub(crate) rest: Option<PatternId>,
    pub(crate) own: Box<[Symbol]>,
    pub(crate) vars: Box<[Symbol]>,
    pub(crate) body: Body,
    pub(crate) is_arrow: bool,
    pub(crate) is_async: bool,
    /// Whether it is strict (`'use strict'`).
    pub(crate) is_strict: bool,
    /// Whether it knows itself by its name, as the functions do that are written as expressions.
    pub(crate) knows_itself: bool,
    /// Whether its parameters contain expressions: then its `var`s are separate from them.
    pub(crate) has_expressions: bool,
    /// Position in the source.
    pub(crate) span: SourceSpan,
}

/// The body of a function.
#[derive(Debug)]
pub(crate) enum Body {
    Expr(ExprId),
    Block(Block),
}

impl Default for Body {
    fn default() -> Self {
        Self::Block(Block::default())
    }
}
