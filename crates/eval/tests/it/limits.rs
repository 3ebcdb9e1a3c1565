//! Every limit, inputs that exceed it, and that it cannot be caught.

use stockade_eval::{Data, ErrorKind, EvalLimits, EvalOptions, condition, eval, interpolate};

const REFUSED: &[(&str, ErrorKind)] = &[
    ("while (true) {}", ErrorKind::Timeout),
    ("for (;;);", ErrorKind::Timeout),
    ("do {} while (true)", ErrorKind::Timeout),
    ("try { while (true); } catch (e) { 1 }", ErrorKind::Timeout),
    ("try { while (true); } finally { 'x' }", ErrorKind::Timeout),
    ("Promise.resolve().then(() => { while (true); })", ErrorKind::Timeout),
    ("new Promise(() => {})", ErrorKind::Timeout),
    ("({then() {}})", ErrorKind::Timeout),
    ("const f = () => Promise.resolve().then(f); f()", ErrorKind::Timeout),
    ("(function f() { f() })()", ErrorKind::Depth),
    ("const f = n => [n].map(f); f(1)", ErrorKind::Depth),
    ("const o = {toString: () => `${o}`}; `${o}`", ErrorKind::Depth),
    ("const o = {toJSON: () => JSON.stringify(o)}; JSON.stringify(o)", ErrorKind::Depth),
    ("let o = {}; for (let i = 0; i < 1000; i++) o = {o}; JSON.stringify(o)", ErrorKind::Depth),
    ("let o = []; for (let i = 0; i < 1000; i++) o = [o]; o", ErrorKind::Depth),
    ("let o = []; for (let i = 0; i < 1000; i++) o = [o]; `${o}`", ErrorKind::Depth),
    ("let o = []; for (let i = 0; i < 1000; i++) o = [o]; o.flat(Infinity)", ErrorKind::Depth),
    ("const a = []; a.push(a); a", ErrorKind::Depth),
    ("let f = x => x; for (let i = 0; i < 1000; i++) f = f.bind(null); f(1)", ErrorKind::Depth),
    ("JSON.parse('['.repeat(1000))", ErrorKind::Depth),
    ("'x'.repeat(1e9)", ErrorKind::Memory),
    ("'x'.padStart(1e9)", ErrorKind::Memory),
    ("'x'.padEnd(1e9, 'ab').length", ErrorKind::Memory),
    ("Array(1e9).fill(0).length", ErrorKind::Memory),
    ("const a = []; a[4e9] = 1", ErrorKind::Memory),
    ("const a = []; a.length = 4e9", ErrorKind::Memory),
    ("Array.from({length: 1e8}, (_, i) => i).sort(() => -1)", ErrorKind::Memory),
    ("let s = 'x'; for (;;) s += s", ErrorKind::Memory),
    ("let s = 'x'; for (;;) s = `${s}${s}`", ErrorKind::Memory),
    ("let a = [1]; for (;;) a = [...a, ...a]", ErrorKind::Memory),
    ("let a = [1]; for (;;) a = a.concat(a)", ErrorKind::Memory),
    ("let a = [1]; for (;;) a.push(...a)", ErrorKind::Memory),
    ("let s = 'aa'; for (;;) s = s.replace(/a/g, '$&$&')", ErrorKind::Memory),
    ("let s = 'aa'; for (;;) s = s.replaceAll('a', \"$`$'\")", ErrorKind::Memory),
    ("let s = 'aa'; for (;;) s = [s, s].join(s)", ErrorKind::Memory),
    ("let s = '\\n'; for (;;) s = JSON.stringify(s)", ErrorKind::Memory),
    ("[].concat(...Array(1e6).fill([1]))", ErrorKind::Memory),
    ("Math.max(...Array(1e5).fill(1))", ErrorKind::Memory),
    ("'x'.repeat(2e6)", ErrorKind::Memory),
    ("Array(1e6).fill(1)", ErrorKind::Memory),
    ("/(((a{1,100}){1,100}){1,100})/.test('a')", ErrorKind::Memory),
    ("'a'.repeat(1e6).match(/(a?){50}b/)", ErrorKind::Timeout),
    ("try { new RegExp('\\\\p{L}'.repeat(200000), 'iu') } catch (e) { 1 }", ErrorKind::Memory),
    ("new RegExp('\\\\p{L}'.repeat(13000), 'iu')", ErrorKind::Memory),
    ("new RegExp('(?:\\\\p{L}|a)'.repeat(5000), 'u')", ErrorKind::Memory),
    ("'x'.match('a'.repeat(1e6))", ErrorKind::Memory),
    ("'x'.search('(a)'.repeat(2000))", ErrorKind::Memory),
    ("new RegExp('\\\\W'.repeat(16000), 'iu')", ErrorKind::Timeout),
    ("const r = new RegExp('(?=)' + '(a)'.repeat(20000)); for (;;) r.test('')", ErrorKind::Timeout),
    ("const s = 'é'.repeat(1e5); for (let i = 0; i < s.length; i++) s[i]", ErrorKind::Timeout),
    (
        "const m = new Map(); for (let i = 0; i < 2e5; i++) m.set(i, i); for (let i = 0; i < 1e5; i++) m.delete(i)",
        ErrorKind::Timeout,
    ),
    ("const a = Array(1e5).fill(1); while (a.length) a.shift()", ErrorKind::Timeout),
    ("const s = 'a'.repeat(1e6), t = 'a'.repeat(1e6); for (;;) s < t", ErrorKind::Timeout),
    ("const s = 'a'.repeat(1e6), t = 'a'.repeat(1e6); for (;;) s === t", ErrorKind::Timeout),
    ("const s = 'a'.repeat(1e6), m = new Map([[s, 1]]); for (;;) m.get(s)", ErrorKind::Timeout),
    ("const s = 'a'.repeat(1e6), o = {[s]: 1}; for (;;) o[s]", ErrorKind::Timeout),
    ("for (;;) (1e-300).toPrecision(100)", ErrorKind::Timeout),
    ("const a = Array(1e5).fill(1); while (true) a.includes(2)", ErrorKind::Timeout),
];

#[test]
fn what_goes_over_a_limit_is_refused() {
    for (source, kind) in REFUSED {
        let error = eval(source, &[], &EvalOptions::default()).expect_err(source);
        // Which of two limits is hit first is unspecified; that one is hit is guaranteed.
        assert!(error.kind.is_limit(), "{source}: {} {error}", error.kind);
        assert!(error.kind == *kind || *kind != ErrorKind::Depth, "{source}: {} {error}", error.kind);
    }
}

#[test]
fn the_source_is_bounded() {
    let long = "1+".repeat(40_000) + "1";
    assert_eq!(eval(&long, &[], &EvalOptions::default()).unwrap_err().kind, ErrorKind::Memory);
    for (open, close) in [
        ("(", ")"),
        ("[", "]"),
        ("{a:", "}"),
        ("-", ""),
        ("!", ""),
        ("x=>", ""),
        ("`${", "}`"),
        ("a?", ":b"),
        ("f(", ")"),
        ("{", "}"),
        ("new ", ""),
        ("if(1)", ""),
        ("[...", "]"),
        ("2**", ""),
    ] {
        for inside in ["1", ""] {
            let deep = open.repeat(5_000) + inside + &close.repeat(5_000);
            let error = eval(&deep, &[], &EvalOptions::default()).unwrap_err();
            assert!(matches!(error.kind, ErrorKind::Depth | ErrorKind::Syntax), "{open}: {error}");
        }
    }
}

/// A long sum is not a deep one, and neither is a long list of choices.
#[test]
fn long_is_not_deep() {
    let options = EvalOptions::default();
    assert_eq!(eval(&("1+".repeat(20_000) + "1"), &[], &options), Ok(Data::from(20_001)));
    assert_eq!(eval(&("0||".repeat(20_000) + "7"), &[], &options), Ok(Data::from(7)));
}

/// The deepest that the limits allow fits on the stack of an ordinary thread, in a debug build too.
#[test]
fn the_deepest_fits_on_a_small_stack() {
    #![expect(clippy::disallowed_methods, reason = "a thread with a stack of a known size")]
    let sources = [
        "let n = 0; const f = () => { n++; try { f() } finally { n } }; f()".to_owned(),
        "(function f() { return [1].map(() => { if (true) { for (const x of [1]) { return f() } } }) })()"
            .to_owned(),
        "const f = () => `${{toString: () => f()}}`; f()".to_owned(),
        "const f = ([{a = f([{}])}]) => a; f([{}])".to_owned(),
        "const f = async () => await f(); f()".to_owned(),
        "const f = () => Promise.resolve().then(async () => { await f() }); f()".to_owned(),
        "const o = {toJSON: () => JSON.parse(JSON.stringify({o}))}; JSON.stringify(o)".to_owned(),
        "const f = x => 'a'.replace(/a/, f); f()".to_owned(),
        "const f = x => [1, 2].sort(f); f()".to_owned(),
        "const f = x => Object.groupBy([1], f); f()".to_owned(),
        "const f = x => new Map([[1, 2]]).forEach(f); f()".to_owned(),
        "let o = []; for (let i = 0; i < 1000; i++) o = [o]; `${o}`".to_owned(),
        "let o = []; for (let i = 0; i < 1000; i++) o = [o]; o".to_owned(),
        "let f = x => x; for (let i = 0; i < 1000; i++) f = f.bind(null); f(1)".to_owned(),
        format!("a{}", ".b".repeat(5_000)),
        format!("a{}", "?.b()".repeat(5_000)),
        "(".repeat(150) + "1" + &")".repeat(150),
        "[".repeat(150) + "1" + &"]".repeat(150),
        "{".repeat(150) + "1" + &"}".repeat(150),
        "x=>".repeat(150) + "1",
        "(".repeat(60_000),
    ];
    for source in sources {
        let run = move || {
            let vars = [("a", Data::from([("b", Data::Null)]))];
            eval(&source, &vars, &EvalOptions::default()).map_or_else(|error| error.kind.name(), |_| "value")
        };
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap();
        let outcome = thread.join().unwrap();
        assert_ne!(outcome, "forbidden");
    }
}

#[test]
fn limits_can_be_lowered() {
    let limits = EvalLimits { max_steps: 10, ..EvalLimits::default() };
    let options = EvalOptions { limits, ..EvalOptions::default() };
    assert_eq!(eval("[1, 2, 3].map(x => x * 2)", &[], &options).unwrap_err().kind, ErrorKind::Timeout);
    let limits = EvalLimits { max_output: 10, ..EvalLimits::default() };
    let options = EvalOptions { limits, ..EvalOptions::default() };
    assert_eq!(eval("'12345678901'", &[], &options).unwrap_err().kind, ErrorKind::Memory);
    let limits = EvalLimits { max_depth: 5, ..EvalLimits::default() };
    let options = EvalOptions { limits, ..EvalOptions::default() };
    assert_eq!(eval("((((((1))))))", &[], &options).unwrap_err().kind, ErrorKind::Depth);
    let limits = EvalLimits { max_source: 3, ..EvalLimits::default() };
    let options = EvalOptions { limits, ..EvalOptions::default() };
    assert_eq!(eval("1+11", &[], &options).unwrap_err().kind, ErrorKind::Memory);
}

#[test]
fn the_deadline_is_asked() {
    let asked = std::cell::Cell::new(0);
    let deadline = || {
        asked.set(asked.get() + 1);
        asked.get() > 3
    };
    let options = EvalOptions { deadline: Some(&deadline), ..EvalOptions::default() };
    let error = eval("while (true);", &[], &options).unwrap_err();
    assert_eq!((error.kind, error.to_string().as_str()), (ErrorKind::Timeout, "stopped at the deadline"));
    assert!(!condition("while (true);", &[], &options));
}

/// A pattern is read and folded for a long time, within one step of the program or before its first.
#[test]
fn the_deadline_is_asked_while_a_pattern_is_read() {
    let pattern = r"\W".repeat(2_000);
    for source in ["new RegExp(p, 'iu')".to_owned(), format!("/{pattern}/iu")] {
        let asked = std::cell::Cell::new(0);
        let deadline = || {
            asked.set(asked.get() + 1);
            asked.get() > 20
        };
        let limits = EvalLimits { max_steps: u64::MAX, max_bytes: usize::MAX, ..EvalLimits::default() };
        let options = EvalOptions { limits, deadline: Some(&deadline), ..EvalOptions::default() };
        let error = eval(&source, &[("p", Data::from(pattern.as_str()))], &options).unwrap_err();
        assert_eq!(error.to_string(), "stopped at the deadline");
        assert_eq!(asked.get(), 21, "{}", source.len());
    }
}

/// Regular expressions in a source are parsed before it runs, also if it then turns out to be invalid: their cost is
/// charged.
#[test]
fn patterns_of_a_template_share_one_budget() {
    let marker = format!("{{{{/{}/iu +}}}}", r"\W".repeat(20));
    assert_eq!(interpolate(&marker, &[], &EvalOptions::default()), Ok(marker.clone()));
    let error = interpolate(&marker.repeat(100), &[], &EvalOptions::default()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Timeout);
}

#[test]
fn patterns_of_ordinary_size_are_cheap() {
    let limits = EvalLimits { max_steps: 40_000, max_bytes: 400_000, ..EvalLimits::default() };
    let options = EvalOptions { limits, ..EvalOptions::default() };
    for source in [
        r"/^[\w.+-]+@[\w-]+\.[\w.]+$/i.test('a@b.cd')",
        r"/^\p{Lu}\p{L}*(?: \p{L}+)+$/u.test('Ada Lovelace')",
        r"/^(?=.*\d)(?=.*[a-z])[^\s]{8,64}$/i.test('abcdefg1')",
        r"/^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/.test('127.0.0.1')",
        r"/(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})/.test('2024-01-02T03:04:05')",
        r"/[^\x00-\x7f]/i.test('é')",
    ] {
        assert_eq!(eval(source, &[], &options), Ok(Data::from(true)), "{source}");
    }
}

#[test]
fn input_may_be_deep() {
    let mut data = Data::Null;
    for _ in 0..5_000 {
        data = Data::Array(vec![data]);
    }
    let error = eval("x", &[("x", data)], &EvalOptions::default()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Depth);
}
