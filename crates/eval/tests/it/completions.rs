//! Completion values of programs that end in a statement, by ECMA-262 and as Node returns them.

use stockade_eval::{Data, EvalOptions, eval, eval_async};

use crate::node::{self, Chance};

/// Programs and their values; none is `undefined`.
const ROWS: &[(&str, Option<i32>)] = &[
    // A `finally` that ends normally leaves no value; one that jumps does.
    ("try { 1 } finally { 2 }", Some(1)),
    ("try { throw 0 } catch (e) { 3 } finally { 4 }", Some(3)),
    ("7; try {} finally { 5 }", None),
    ("do { try { 1 } finally { 2; break } } while (false)", Some(2)),
    ("do { try { 1 } finally { break } } while (false)", None),
    // The value of a block is dropped when it throws.
    ("4; try { 5; throw 0 } catch (e) {}", None),
    // Loops, `if`, `switch` and `try` without a value are `undefined`, whatever precedes them.
    ("3; do {} while (0)", None),
    ("4; try {} catch (e) {}", None),
    ("2; var w = 2; while (w-- > 0) {}", None),
    ("1; for (const x of []) x", None),
    ("1; for (const x in {}) x", None),
    ("1; for (const x in null) x", None),
    ("1; for (let i = 5; i < 5; i++) i", None),
    ("1; if (true) {}", None),
    ("1; if (false) 2", None),
    ("1; switch (0) {}", None),
    ("1; switch (0) { case 0: }", None),
    ("1; switch (0) { default: 2 }", Some(2)),
    // The value of a list of statements is kept by a jump out of it, but not through a statement without one.
    ("do { 8; break } while (true)", Some(8)),
    ("do { 8; { break } } while (true)", Some(8)),
    ("do { 8; if (true) break } while (true)", None),
    ("for (const x of [1, 2]) { x; continue }", Some(2)),
    ("for (const x of [1, 2]) { if (x === 1) { x } else continue }", None),
    ("for (const x of [1, 2]) if (x === 1) 6; else ;", None),
    ("var i = 0; do { if (i === 0) 9; } while (++i < 1)", Some(9)),
    ("switch (1) { case 1: 1; case 2: 2; break; case 3: 3 }", Some(2)),
    ("switch (1) { case 1: 1; case 2: ; break }", Some(1)),
    // Declarations, blocks and `;` leave the value that was there.
    ("1; var x = 2", Some(1)),
    ("1; let x = 2; const y = 3", Some(1)),
    ("1; function f() { return 2 }", Some(1)),
    ("1; {}", Some(1)),
    ("1; { 2 }", Some(2)),
    ("1; ;", Some(1)),
    // Statements of functions belong to their calls.
    ("function f() { for (const x of [1]) { 5 } try { 6 } finally { 7 } } 1; f(); var y = f()", None),
    ("function f() { if (true) { 5 } return 9 } 1; var y = f()", Some(1)),
    ("const f = () => { try { throw 0 } catch (e) { 3 } return true }; if (f()) 4", Some(4)),
    ("3; try { [1].forEach(() => { throw 0 }) } catch (e) { 2 } finally { [1].map(x => { x }) }", Some(2)),
];

/// Where Node differs from ECMA-262: an empty `catch` may keep a value of its `try`.
const NOT_AS_NODE: &[(&str, Option<i32>)] = &[
    ("try { try { 5 } finally { throw 0 } } catch (e) {}", None),
    ("try { 5; var v = (() => { throw 0 })() } catch (e) {}", None),
];

#[test]
fn a_program_comes_to_its_completion_value() {
    for (source, expected) in ROWS.iter().chain(NOT_AS_NODE) {
        let expected = expected.map_or(Data::Undefined, Data::from);
        assert_eq!(eval(source, &[], &EvalOptions::default()), Ok(expected.clone()), "{source}");
        assert_eq!(eval_async(source, &[], &EvalOptions::default()), Ok(expected), "{source}");
    }
}

#[test]
fn node_agrees_on_the_completion_values() {
    node::compare(&ROWS.iter().map(|(source, _)| (*source).to_owned()).collect::<Vec<_>>());
}

#[test]
fn node_agrees_on_statements_by_chance() {
    let mut writer = Writer { chance: Chance(11), names: 0, depth: 0, loops: 0, breaks: 0 };
    let programs: Vec<String> = (0..node::cases(4_000)).map(|_| writer.program()).collect();
    node::compare(&programs);
}

/// Writes programs of nested statements, the same ones each time.
struct Writer {
    chance: Chance,
    names: usize,
    depth: usize,
    /// Number of surrounding loops, where `continue` is permitted.
    loops: usize,
    /// Number of surrounding loops and switches, where `break` is permitted.
    breaks: usize,
}

/// The deepest that statements lie in each other.
const MAX_DEPTH: usize = 3;

impl Writer {
    fn program(&mut self) -> String {
        // A source that begins with a brace would be parsed as an object. And only in strict code does a function in
        // a block belong to the block in Node too: otherwise it assigns to a `var`, which drops the earlier value.
        let begin = [
            "'use strict'; ",
            "'use strict'; 1; ",
            "'use strict'; var before = 1; ",
            "'use strict'; 'text'; ",
        ];
        let begin = begin[self.chance.below(begin.len())];
        format!("{begin}{}", self.list())
    }

    fn list(&mut self) -> String {
        let count = 1 + self.chance.below(3);
        (0..count).map(|_| self.statement()).collect::<Vec<_>>().join(" ")
    }

    fn block(&mut self) -> String {
        if self.chance.below(6) == 0 { "{}".to_owned() } else { format!("{{ {} }}", self.list()) }
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn value(&mut self) -> String {
        self.chance.below(100).to_string()
    }

    /// A test that is true, false, or true for some rounds of a loop.
    fn test(&mut self) -> &'static str {
        ["true", "false", "1", "''", "Math.abs(-1) > 0"][self.chance.below(5)]
    }

    fn statement(&mut self) -> String {
        if self.depth == MAX_DEPTH {
            return self.simple();
        }
        self.depth += 1;
        let statement = match self.chance.below(12) {
            0 | 1 => self.condition(),
            2 | 3 => self.rounds(),
            4..=6 => self.attempt(),
            7 => self.switch(),
            8 => self.block(),
            9 => self.call(),
            _ => self.simple(),
        };
        self.depth -= 1;
        statement
    }

    fn simple(&mut self) -> String {
        match self.chance.below(12) {
            0 if self.breaks > 0 => "break;".to_owned(),
            1 if self.loops > 0 => "continue;".to_owned(),
            2 => format!("var {} = {};", self.name(), self.value()),
            3 => format!("let {} = {};", self.name(), self.value()),
            4 => ";".to_owned(),
            5 => format!("throw {};", self.value()),
            6 => format!("[{}, {}];", self.value(), self.value()),
            7 => format!("function {}() {{ {} }}", self.name(), self.value()),
            _ => format!("{};", self.value()),
        }
    }

    fn condition(&mut self) -> String {
        let (test, then) = (self.test(), self.block());
        match self.chance.below(3) {
            0 => format!("if ({test}) {then}"),
            1 => format!("if ({test}) {then} else {}", self.block()),
            _ => format!("if ({test}) {}; else {then}", self.value()),
        }
    }

    fn rounds(&mut self) -> String {
        self.loops += 1;
        self.breaks += 1;
        let (name, count) = (self.name(), self.chance.below(4));
        let body = self.block();
        self.loops -= 1;
        self.breaks -= 1;
        match self.chance.below(6) {
            0 => format!("for (let {name} = 0; {name} < {count}; {name}++) {body}"),
            1 => format!("var {name} = {count}; for (; {name}-- > 0;) {body}"),
            2 => format!("var {name} = {count}; while ({name}-- > 0) {body}"),
            3 => format!("var {name} = {count}; do {body} while ({name}-- > 0)"),
            4 => format!("for (const {name} of [1, 2, 3].slice({count})) {body}"),
            _ => format!("for (const {name} in [1, 2, 3].slice({count})) {body}"),
        }
    }

    fn attempt(&mut self) -> String {
        let body = self.block();
        match self.chance.below(4) {
            0 => format!("try {body} finally {}", self.block()),
            1 | 2 => format!("try {body} {}", self.handler(&body)),
            _ => format!("try {body} {} finally {}", self.handler(&body), self.block()),
        }
    }

    /// A `catch`. One that runs has a value, see [`NOT_AS_NODE`].
    fn handler(&mut self, body: &str) -> String {
        let has_value = body.contains("throw") || self.chance.below(3) == 0;
        match (has_value, self.chance.below(2)) {
            (true, 0) => format!("catch (e) {{ [e]; {} }}", self.list()),
            (true, _) => format!("catch {{ {}; {} }}", self.value(), self.list()),
            (false, _) => format!("catch {}", self.block()),
        }
    }

    fn switch(&mut self) -> String {
        self.breaks += 1;
        let value = self.chance.below(4);
        let cases: String = (0..4)
            .map(|at| match self.chance.below(4) {
                0 => format!("case {at}: "),
                _ if at == 3 => format!("default: {} ", self.list()),
                _ => format!("case {at}: {} ", self.list()),
            })
            .collect();
        self.breaks -= 1;
        format!("switch ({value}) {{ {cases}}}")
    }

    /// A call of a function with statements of its own, which must not affect the completion value.
    fn call(&mut self) -> String {
        let (loops, breaks) = (std::mem::take(&mut self.loops), std::mem::take(&mut self.breaks));
        let body = self.list();
        (self.loops, self.breaks) = (loops, breaks);
        match self.chance.below(3) {
            0 => format!("(() => {{ {body} }})();"),
            1 => format!("var {} = (() => {{ {body} }})();", self.name()),
            _ => format!("[1, 2].map(() => {{ {body} return {} }});", self.value()),
        }
    }
}
