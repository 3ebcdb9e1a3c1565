//! Promises and async functions.

use stockade_eval::{Data, ErrorKind, EvalOptions, eval, eval_async};

const VALUES: &[(&str, &str)] = &[
    ("await 1", "1"),
    ("await Promise.resolve(2)", "2"),
    ("return await Promise.resolve(2)", "2"),
    ("const f = async x => { const y = await x; return y + 1 }; await f(Promise.resolve(1))", "2"),
    ("await Promise.all([1, Promise.resolve(2), (async () => 3)()])", "[1,2,3]"),
    ("await Promise.all([])", "[]"),
    ("await Promise.race([new Promise(() => {}), Promise.resolve(1)])", "1"),
    ("await Promise.any([Promise.reject(1), Promise.resolve(2)])", "2"),
    (
        "await Promise.allSettled([Promise.reject(1), 2])",
        r#"[{"status":"rejected","reason":1},{"status":"fulfilled","value":2}]"#,
    ),
    ("await Promise.reject(1).catch(x => x + 1)", "2"),
    ("await Promise.reject(1).then(() => 5, x => x + 2)", "3"),
    ("await Promise.resolve(1).finally(() => 9)", "1"),
    ("await Promise.resolve(1).then(x => Promise.resolve(x + 1)).then(x => x * 10)", "20"),
    ("await new Promise((yes, no) => { yes(1); no(2); yes(3) })", "1"),
    ("await new Promise(() => { throw 1 }).catch(x => x)", "1"),
    ("await {then(yes) { yes(7) }}", "7"),
    ("try { await Promise.reject(new Error('no')) } catch (e) { e.message }", "\"no\""),
    ("let s = 0; for await (const x of [1, Promise.resolve(2)]) s += x; s", "3"),
    ("const xs = []; for (const x of [1, 2]) xs.push(await (async () => x * 2)()); xs", "[2,4]"),
    ("let r; const p = new Promise(y => r = y); Promise.resolve().then(() => r(5)); await p", "5"),
    ("[await 1, await 2]", "[1,2]"),
    ("await Promise.all([1, 2].map(async x => x * 2))", "[2,4]"),
];

#[test]
fn promises_are_settled() {
    for (source, expected) in VALUES {
        let value = eval_async(source, &[], &EvalOptions::default())
            .unwrap_or_else(|error| panic!("{source}: {error}"));
        assert_eq!(value.to_string(), *expected, "{source}");
    }
}

#[test]
fn a_promise_is_waited_for_without_await_too() {
    assert_eq!(eval("Promise.resolve(1).then(x => x + 1)", &[], &EvalOptions::default()), Ok(Data::from(2)));
    let error =
        eval("(async () => { throw new TypeError('no') })()", &[], &EvalOptions::default()).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Thrown, "TypeError: no"));
}

#[test]
fn await_needs_an_async_place() {
    for source in ["await 1", "() => await 1", "function f() { await 1 }"] {
        assert_eq!(
            eval(source, &[], &EvalOptions::default()).unwrap_err().kind,
            ErrorKind::Syntax,
            "{source}"
        );
    }
    assert_eq!(
        eval_async("() => await 1", &[], &EvalOptions::default()).unwrap_err().kind,
        ErrorKind::Syntax
    );
}

#[test]
fn what_nothing_settles_is_a_timeout() {
    for source in ["await new Promise(() => {})", "await {then() {}}", "await Promise.race([])"] {
        assert_eq!(
            eval_async(source, &[], &EvalOptions::default()).unwrap_err().kind,
            ErrorKind::Timeout,
            "{source}"
        );
    }
}
