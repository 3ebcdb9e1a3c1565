//! Sandbox escapes that work on evaluators which share objects with their host. There is nothing to reach here; each
//! is refused, or returns plain data.

use stockade_eval::{Data, ErrorKind, EvalOptions, eval};

fn vars() -> Vec<(&'static str, Data)> {
    vec![
        ("v", Data::from([("a", Data::from(1))])),
        ("constructor", Data::from(1)),
        ("prototype", Data::from(2)),
        ("__proto__", Data::from(3)),
        ("nested", Data::from([("__proto__", Data::from([("x", Data::from(1))])), ("ok", Data::from(true))])),
    ]
}

const FORBIDDEN: &[&str] = &[
    "console.log.constructor('return process')()",
    "this?.constructor ?? [].constructor",
    "JSON.parse.constructor('return process')()",
    "Array.from.constructor('return process')()",
    "new Error().constructor.constructor('return process')()",
    "Promise.resolve().constructor",
    "Map.prototype.get",
    "(()=>{}).constructor('return this')()",
    "(async () => {}).constructor('return 1')",
    "v['con' + 'structor']",
    "v[['constructor']]",
    "v[{toString: () => 'constructor'}]",
    "v.__proto__.polluted = 1",
    "v['__proto__'] = {}",
    "({__proto__: null})",
    "({['__proto__']: 1})",
    "({constructor: 1})",
    "JSON.parse('{\"__proto__\": {\"x\": 1}}')",
    "Object.fromEntries([['__proto__', 1]])",
    "Object.assign({}, JSON.parse('{\"constructor\": 1}'))",
    "const {constructor} = v; constructor",
    "const {['__proto__']: p} = v; p",
    "Object.prototype.polluted = 1",
    "Array.prototype.map = () => 'x'",
    "String.prototype.trim = function () { return 'x' }",
    "RegExp.prototype.exec = () => null",
    "Object.assign = () => { throw 1 }",
    "Math.max = 1",
    "JSON = {}",
    "Math = {}",
    "constructor = 1",
    "eval('1')",
    "(0, eval)('this')",
    "Function('return 1')()",
    "new Function('return 1')",
    "globalThis.process",
    "new Proxy({}, {})",
    "Reflect.construct(Array, [])",
    "import('fs')",
    "import fs from 'fs'",
    "import.meta",
    "({get x() { return 1 }})",
    "({set x(y) {}})",
    "with (v) a",
    "WebAssembly",
    "SharedArrayBuffer",
    "new WeakRef({})",
    "debugger",
    "Math.random()",
    "Date.now()",
    "new Date()",
    "/a/d.exec('a')",
    "/[a]/v.test('a')",
    "({__proto__: 1, a: 2}).a",
    "try { v.constructor } catch (e) { 'caught' }",
    "try { eval('1') } finally { 1 }",
    "[1].map([].constructor)",
    "`${v.constructor}`",
];

#[test]
fn what_does_not_exist_is_forbidden() {
    for source in FORBIDDEN {
        let error = eval(source, &vars(), &EvalOptions::default()).expect_err(source);
        assert_eq!(error.kind, ErrorKind::Forbidden, "{source}: {error}");
        assert!(error.span.is_some(), "{source} has no place");
    }
}

/// Not forbidden, and harmless.
const HARMLESS: &[(&str, &str)] = &[
    ("typeof constructor", "\"undefined\""),
    ("typeof eval + typeof Function + typeof globalThis", "\"undefinedundefinedundefined\""),
    ("typeof process + typeof require + typeof module", "\"undefinedundefinedundefined\""),
    ("Object.keys(nested)", "[\"ok\"]"),
    ("nested", "{\"ok\":true}"),
    ("'__proto__' in v", "false"),
    ("'constructor' in {}", "false"),
    ("(function f() { return f.caller })()", "null"),
    ("({then: 1})", "{\"then\":1}"),
    ("console.log('x')", "null"),
    ("Object.freeze(v).a", "1"),
    ("(() => { const undefined1 = 1; return undefined1 })()", "1"),
    ("[].polyfill", "null"),
];

#[test]
fn what_is_harmless_comes_to_plain_data() {
    for (source, expected) in HARMLESS {
        let value = eval(source, &vars(), &EvalOptions::default())
            .unwrap_or_else(|error| panic!("{source}: {error}"));
        assert_eq!(value.to_string(), *expected, "{source}");
    }
}

#[test]
fn thrown_objects_are_told_without_running_them() {
    let source = "throw {toString() { while (true); }, message: 'no'}";
    let error = eval(source, &[], &EvalOptions::default()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Thrown);
    assert_eq!(error.thrown, Some(Data::from([("message", Data::from("no"))])));
    assert_eq!(error.message, "thrown: {\"message\":\"no\"}");
}

#[test]
fn one_evaluation_leaves_nothing_for_the_next() {
    eval("leak = 1; Object.freeze(v)", &vars(), &EvalOptions::default()).unwrap();
    assert_eq!(eval("typeof leak", &[], &EvalOptions::default()), Ok(Data::from("undefined")));
}
