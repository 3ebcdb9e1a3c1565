//! Comparison with Node, if it is installed: the table of the language, and random expressions.
#![expect(clippy::disallowed_methods, reason = "runs another engine")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use stockade_eval::{EvalOptions, eval};

use crate::{invalid, language};

/// Evaluates each expression of a list in a context of its own, and answers with a list of JSON texts.
const ASK: &str = "
    const vm = require('vm');
    const vars = process.argv[1];
    const answers = JSON.parse(require('fs').readFileSync(0, 'utf8')).map(source => {
        try {
            const context = vm.createContext({text: vars});
            vm.runInContext('Object.assign(globalThis, JSON.parse(text)); u = undefined; delete text', context);
            const value = vm.runInContext(source, context, {timeout: 5000});
            return vm.runInContext('JSON.stringify', context)(value) ?? 'null';
        } catch {
            return 'throws';
        }
    });
    process.stdout.write(JSON.stringify(answers));";

/// Returns Node's results; `None` if it is not installed.
pub(crate) fn node(sources: &[String]) -> Option<Vec<String>> {
    let child = Command::new("node")
        .args(["-e", ASK, language::VARS])
        .env("TZ", "UTC")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else {
        println!("skipped: there is no node to compare with");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(serde_json::to_string(sources).unwrap().as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let Ok(answers) = serde_json::from_slice::<Vec<String>>(&output.stdout) else {
        println!("skipped: this node cannot run the comparison");
        return None;
    };
    assert_eq!(answers.len(), sources.len());
    Some(answers)
}

#[test]
fn node_agrees_with_the_table() {
    let rows = language::rows();
    let sources: Vec<String> = rows.iter().map(|row| row.0.clone()).collect();
    let Some(answers) = node(&sources) else { return };
    for ((source, expected), answer) in rows.iter().zip(answers) {
        assert_eq!(answer, *expected, "{source}");
    }
}

#[test]
fn node_refuses_what_is_no_program() {
    let checks: Vec<String> = invalid::rows().iter().map(|row| parses(row)).collect();
    let Some(answers) = node(&checks) else { return };
    for (row, answer) in invalid::rows().iter().zip(answers) {
        assert_eq!(answer, "false", "{row} is a program");
    }
}

/// Returns whether a text is a valid strict program, as an expression.
fn parses(row: &str) -> String {
    let text = serde_json::to_string(&format!("'use strict';\n{row}")).unwrap();
    format!(
        "(() => {{ try {{ (0, eval)({text}); return true }} catch (error) {{ return !(error instanceof SyntaxError) }} }})()"
    )
}

/// How many generated sources are tried: as many as the tests of every run need, or as `STOCKADE_EVAL_CASES` says.
pub(crate) fn cases(usual: usize) -> usize {
    std::env::var("STOCKADE_EVAL_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(usual)
}

/// Generates random expressions from a fixed seed.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count
    }

    pub(crate) fn pick(&mut self, from: &[&str]) -> String {
        from[self.below(from.len())].to_owned()
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.pick(LEAVES);
        }
        let form = self.pick(FORMS);
        let mut out = String::new();
        for part in form.split_inclusive('$') {
            out.push_str(part.trim_end_matches('$'));
            if part.ends_with('$') {
                let depth = depth - 1;
                out.push_str(&format!("({})", self.expression(depth)));
            }
        }
        out
    }
}

const LEAVES: &[&str] = &[
    "0",
    "1",
    "-1",
    "2.5",
    "1e21",
    "1e-7",
    "NaN",
    "Infinity",
    "-0",
    "123456789",
    "''",
    "'a'",
    "'10'",
    "'abc'",
    "'a,b'",
    "' 7 '",
    "'é'",
    "null",
    "undefined",
    "true",
    "false",
    "[]",
    "[1, 2]",
    "['b', 'a']",
    "[[1], [2]]",
    "[null]",
    "{a: 1}",
    "({})",
    "({a: 1, b: 'x'})",
    "a",
    "s",
    "xs",
    "o",
    "people",
    "n",
];

/// `$` is replaced by another expression.
const FORMS: &[&str] = &[
    "$ + $",
    "$ - $",
    "$ * $",
    "$ / $",
    "$ % $",
    "$ ** $",
    "$ == $",
    "$ === $",
    "$ < $",
    "$ >= $",
    "$ && $",
    "$ || $",
    "$ ?? $",
    "$ ? $ : $",
    "!$",
    "-$",
    "+$",
    "~$",
    "$ | $",
    "$ ^ $",
    "$ >>> $",
    "$ << $",
    "typeof $",
    "[$, $]",
    "[...String($)]",
    "({k: $, ...$})",
    "`<${$}>`",
    "$?.a",
    "$?.length",
    "$?.[0]",
    "String($)",
    "Number($)",
    "Boolean($)",
    "String($).toUpperCase()",
    "String($).slice($)",
    "String($).split($)",
    "String($).indexOf($)",
    "String($).replace($, $)",
    "String($).padStart(5, $)",
    "String($).at($)",
    "String($).substring($, $)",
    "String($).includes(String($))",
    "String($).lastIndexOf($)",
    "[$, $].join($)",
    "[$, $].includes($)",
    "[$, $, $].indexOf($)",
    "[$, $, $].sort()",
    "[$, $].map(x => $)",
    "[$, $].concat($)",
    "[$, [$, [$]]].flat($)",
    "[$, $, $].slice($, $)",
    "[$, $].reduce((p, q) => [q, p])",
    "Math.max($, $)",
    "Math.round($)",
    "Math.trunc($)",
    "parseInt($)",
    "parseFloat($)",
    "JSON.stringify($)",
    "JSON.parse(String($))",
    "Object.keys($)",
    "Object.values($)",
    "Object.entries($)",
    "Array.isArray($)",
    "Array.from($)",
    "isNaN($)",
    "($, $)",
    "(x => [x, $])($)",
    "(({a, ...r}) => [a, r])($)",
    "(([p, ...q]) => [p, q])($)",
    "[$].length",
    "Object.assign({}, $, $)",
    "(() => { try { return $ } catch { return $ } })()",
    "new Set([$, $]).size",
    "new Map([[$, $]]).get($)",
    "encodeURIComponent($)",
    "String($).trim()",
    "Number($).toFixed(2)",
    "Number($).toString(2)",
    "Number($).toPrecision(3)",
    "Object.is($, $)",
    "[$, $].findLast(x => x)",
    "[$, $].at($)",
    "String($).match(/[a-z0-9]+/g)",
    "String($).repeat(2)",
    "'x' in $",
    "$ instanceof Array",
];

#[test]
fn node_agrees_on_expressions_by_chance() {
    let mut chance = Chance(7);
    let sources: Vec<String> =
        (0..cases(6_000)).map(|at| format!("({})", chance.expression(1 + at % 3))).collect();
    compare(&sources);
}

/// Evaluates each source here and in Node, where there is one, and fails where they differ.
pub(crate) fn compare(sources: &[String]) {
    let Some(answers) = node(sources) else { return };
    let vars = language::vars();
    let mut wrong = Vec::new();
    for (source, answer) in sources.iter().zip(&answers) {
        let found = eval(source, &vars, &EvalOptions::default());
        let text = found.as_ref().map_or_else(|_| "throws".to_owned(), ToString::to_string);
        if text != *answer {
            wrong.push(format!(
                "{source}\n  node {answer}\n  ours {text} {:?}",
                found.err().map(|error| error.message)
            ));
        }
    }
    println!("{} sources compared", sources.len());
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        sources.len(),
        wrong[..wrong.len().min(40)].join("\n")
    );
}
