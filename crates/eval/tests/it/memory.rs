//! Memory limits, checked by counting allocations: peak use stays near `max_bytes` for any source. A limit that is
//! checked after the cost shows here as a peak, however soon the refusal follows.

use allocation_counter::measure;
use stockade_eval::{Data, EvalLimits, EvalOptions, eval};

const MAX_BYTES: usize = 1 << 20;

/// Small enough that a debug build is done soon, and enough to reach `MAX_BYTES` in.
const MAX_STEPS: u64 = 500_000;

/// Permitted peak as a multiple of `max_bytes`: lists and texts double their capacity while the old one is still in
/// use.
const FACTOR: usize = 3;

/// Fixed memory of an evaluation: the parsed source, and one compiled regular expression.
const ALLOWANCE: usize = 1 << 20;

/// Returns the peak allocation in bytes.
fn peak(source: &str, vars: &[(&str, Data)]) -> usize {
    let limits = EvalLimits {
        max_bytes: MAX_BYTES,
        max_steps: MAX_STEPS,
        max_output: MAX_BYTES / 4,
        ..EvalLimits::default()
    };
    let options = EvalOptions { limits, ..EvalOptions::default() };
    let info = measure(|| drop(eval(source, vars, &options)));
    usize::try_from(info.bytes_max).unwrap()
}

/// Patterns that are short, and large when they are read.
const PATTERNS: &[(&str, &str)] = &[
    ("'\\\\p{L}'", "u"),
    ("'\\\\p{L}'", "iu"),
    ("'\\\\P{L}'", "iu"),
    ("'\\\\p{Lu}'", "iu"),
    ("'[^\\\\p{L}]'", "iu"),
    ("'(?:\\\\p{L}|a)'", "iu"),
    ("'(?:\\\\p{L}|a)'", "u"),
    ("'[\\\\p{L}\\\\p{N}]'", "iu"),
    ("'[^a]'", "i"),
    ("'[^a]'", "iu"),
    ("'\\\\W'", "i"),
    ("'\\\\W'", "iu"),
    ("'.'", ""),
    ("'.'", "su"),
    ("'a'", ""),
    ("'a'", "i"),
    ("'k'", "iu"),
    ("'é'", "i"),
    ("'a|'", ""),
    ("'|'", ""),
    ("'()'", ""),
    ("'(a)'", ""),
    ("'(a)|'", ""),
    ("'(?:)'", ""),
    ("'(?=a)'", ""),
    ("'(?<!a)'", ""),
    ("'(?:(a)|b)*'", ""),
    ("'\\\\1'", ""),
    ("'^'", "m"),
    ("'\\\\b'", ""),
    ("'a{0,1000}'", ""),
    ("'(?:a{1,100}){1,100}'", ""),
    ("'\\\\p{L}{1000}'", "u"),
    ("'(a?){1000}'", ""),
    ("'[a-b]'", ""),
    ("'[]'", ""),
    ("'[^]'", ""),
];

#[test]
fn patterns_are_counted_before_they_are_made() {
    let mut worst = Vec::new();
    for (pattern, flags) in PATTERNS {
        for times in [100, 1_000, 20_000, 200_000] {
            // Alone, all in a class, and where the following part may backtrack.
            for (before, after) in [("", ""), ("[", "]"), ("(?=", ")"), ("(?:", "){1,1000}"), ("(", ")\\\\1")]
            {
                let source = format!(
                    "new RegExp('{before}' + {pattern}.repeat({times}) + '{after}', '{flags}').test('')"
                );
                worst.push((peak(&source, &[]), source));
            }
        }
    }
    report(worst);
}

/// A pattern within a source is read before the source runs.
#[test]
fn patterns_within_a_source_are_counted_too() {
    let mut worst = Vec::new();
    for (pattern, flags) in PATTERNS {
        let pattern = pattern.trim_matches('\'').replace("\\\\", "\\");
        let most = 60_000 / pattern.len();
        for source in [
            format!("/{}/{flags}.test('')", pattern.repeat(most)),
            format!("{{a: /{}/{flags}}}", pattern.repeat(most)),
            format!("/{}/{flags};", pattern.repeat(40)).repeat(most / 50),
            format!("/{}/{flags} +", pattern.repeat(most)),
        ] {
            worst.push((peak(&source, &[]), source.get(..60).unwrap_or(&source).to_owned()));
        }
    }
    report(worst);
}

/// The parsed source takes memory linear in any source; it is not part of `max_bytes`.
#[test]
fn a_source_takes_little_when_it_is_read() {
    let parts = [
        ";",
        "1;",
        "a,",
        "a;",
        "1+",
        "a.b;",
        "!",
        "{}",
        ";{}",
        "{;}",
        "x=>1,",
        "var a;",
        "let a;",
        "if(1);",
        "f(),",
        "[],",
        "[,],",
        "({}),",
        "`${1}`,",
        "'a',",
        "/a/,",
        "for(;;);",
        "do;while(0)",
        "try{}finally{}",
        "switch(1){default:}",
        "function f(){}",
        "a?b:c,",
        "[a]=[1],",
        "({a}=a),",
        "(a,b,c)=>1,",
        "a=>{},",
        "break;",
        "'\u{e9}',",
        "a_a,",
        "++a,",
        "a**a,",
    ];
    for part in parts {
        let source = format!("while (0) {{ {} 1 }}", part.repeat(64_000 / part.len()));
        let limits = EvalLimits { max_steps: 100_000, ..EvalLimits::default() };
        let options = EvalOptions { limits, ..EvalOptions::default() };
        let info = measure(|| drop(eval(&source, &[], &options)));
        assert!(info.bytes_max < 200 * source.len() as u64, "{} {part}", info.bytes_max);
    }
}

/// The attacks that were found, with the default limits.
#[test]
fn the_default_limits_hold() {
    for source in [
        "new RegExp('\\\\p{L}'.repeat(200000), 'iu')",
        "new RegExp('\\\\p{L}'.repeat(13000), 'iu')",
        "new RegExp('\\\\p{L}'.repeat(1500), 'iu')",
        "new RegExp('(?:\\\\p{L}|a)'.repeat(5000))",
        "new RegExp('a'.repeat(1e6))",
        "new RegExp('(a)'.repeat(2000))",
        "const e = new Error('x'.repeat(1e6)), k = []; for (;;) k.push(e.stack)",
        "const k = []; 'a'.repeat(1e5).replace(/a/g, (m, at, all) => { k.push(all); return '' })",
        "JSON.stringify('\\u0001'.repeat(1.6e7))",
        "throw 'x'.repeat(3.3e7)",
    ] {
        let info = measure(|| drop(eval(source, &[], &EvalOptions::default())));
        let most = FACTOR * EvalLimits::default().max_bytes + ALLOWANCE;
        assert!(info.bytes_max <= most as u64, "{} {source}", info.bytes_max);
    }
}

fn report(mut worst: Vec<(usize, String)>) {
    worst.sort();
    worst.reverse();
    for (peak, source) in worst.iter().take(25) {
        println!("{peak:>12} {source}");
    }
    let most = FACTOR * MAX_BYTES + ALLOWANCE;
    let over: Vec<_> = worst.iter().filter(|(peak, _)| *peak > most).collect();
    assert!(over.is_empty(), "{} of {}", over.len(), worst.len());
}

#[test]
fn values_are_counted_before_they_are_made() {
    let vars = [("t", Data::from("é".repeat(100_000)))];
    let mut worst = Vec::new();
    for source in SOURCES {
        for size in ["6000", "30000", "160000", "330000", "1e6", "4e6"] {
            let sized = source.replace('#', size);
            let is_only_one = sized == *source;
            worst.push((peak(&sized, &vars), sized));
            if is_only_one {
                break;
            }
        }
    }
    report(worst);
}

/// Values that stay alive together with existing ones.
const KEPT: &[&str] = &[
    "s + 'x'",
    "s[0]",
    "s[1]",
    "s.at(0)",
    "s.slice(1)",
    "s.slice(0)",
    "s.substr(1)",
    "s.substring(2)",
    "s.trim()",
    "s.concat()",
    "s.toString()",
    "s.valueOf()",
    "String(s)",
    "new String(s)",
    "`${s}`",
    "`${s}x`",
    "s.toUpperCase()",
    "s.toLowerCase()",
    "s.toLocaleUpperCase()",
    "s.normalize()",
    "s.toWellFormed()",
    "s.split()",
    "s.split('')",
    "s.split('x')",
    "s.match(/x/)",
    "s.match(/(.*)/)",
    "s.match(/x/g)",
    "s.matchAll(/x/g)",
    "s.replace('x', 'y')",
    "s.replace('nope', 'y')",
    "s.replaceAll('x', '')",
    "s.padEnd(s.length)",
    "s.padEnd(s.length + 1)",
    "s.repeat(1)",
    "s.codePointAt(0)",
    "[...s]",
    "Array.from(s)",
    "Object.keys(s)",
    "Object.entries(s)",
    "Object.assign({}, s)",
    "({...s})",
    "({[s]: 1})",
    "({s})",
    "new Map([[s, s]])",
    "new Set([s])",
    "new Set(s)",
    "e",
    "e.stack",
    "e.message",
    "e.toString()",
    "String(e)",
    "`${e}`",
    "new Error(s)",
    "new Error(e)",
    "Error(s, {cause: s})",
    "e.name",
    "JSON.stringify(s)",
    "JSON.stringify({s})",
    "JSON.parse(j)",
    "encodeURI(s)",
    "escaped",
    "decodeURI(s)",
    "f",
    "f.name",
    "f.toString()",
    "String(f)",
    "f.bind()",
    "f.bind().name",
    "f.bind(s, s)",
    "f()",
    "() => s",
    "f.length",
    "typeof s",
    "typeof f",
    "isNaN.name",
    "String(isNaN)",
    "String(Math)",
    "Object.prototype",
    "r",
    "r.source",
    "r.flags",
    "String(r)",
    "r.toString()",
    "r.exec(s)",
    "new RegExp(r)",
    "RegExp(s.slice(0, 99))",
    "new Date(0)",
    "new Date(0).toISOString()",
    "String(new Date(0))",
    "new Date(0).toJSON()",
    "1e300",
    "(1e300).toString()",
    "(1e300).toString(2)",
    "(1e-300).toFixed(100)",
    "(1.5).toExponential(100)",
    "(1e20).toLocaleString()",
    "String(1e300)",
    "a",
    "a.slice()",
    "a.concat()",
    "a.concat(a)",
    "[...a]",
    "a.map(x => x)",
    "a.filter(x => true)",
    "a.flat()",
    "a.flatMap(x => x)",
    "a.join()",
    "String(a)",
    "a.entries()",
    "[...a.entries()]",
    "a.toSorted()",
    "a.toReversed()",
    "a.with(0, 1)",
    "a.toSpliced(0, 1)",
    "Array.of(...a)",
    "Array(...a)",
    "new Array(99)",
    "Array.from(a)",
    "Array.from({length: 99})",
    "Object.keys(a)",
    "Object.values(a)",
    "Object.entries(a)",
    "Object.fromEntries(a.entries())",
    "Object.groupBy(a, x => x)",
    "Map.groupBy(a, x => x)",
    "new Set(a)",
    "new Map(a.entries())",
    "new Map(m)",
    "[...m]",
    "m.keys()",
    "Object.getOwnPropertyNames(a)",
    "JSON.stringify(a)",
    "structured",
    "Promise.resolve(s)",
    "Promise.all(a)",
    "Promise.allSettled(a)",
    "Promise.any(a)",
    "Promise.race(a)",
    "new Promise(x => x(s))",
    "Promise.resolve(1).then(f)",
    "Promise.resolve(1).finally(f)",
    "(async () => s)()",
    "a.at(0)",
    "[s, s]",
    "[, , ,]",
    "((...x) => x)(...a)",
    "(({...x}) => x)(o)",
    "(([...x]) => x)(a)",
    "({...o})",
    "Object.assign({}, o)",
    "Object.keys(o)",
    "Object.entries(o)",
    "Object.values(o)",
    "o.toString()",
    "Object.freeze({s})",
    "parseInt(s)",
    "s.localeCompare('y')",
    "[...s.matchAll(/x/g)]",
    "s.match(/(?<n>x)/).groups",
    "s.search(/y/)",
    "s.lastIndexOf('y')",
    "s.replace(/x/, x => x)",
    "s.replace(/(x)/, '$1$1')",
    "String.fromCharCode(120)",
    "String.fromCodePoint(0x1f600)",
    "String.raw",
    "s.isWellFormed()",
];

#[test]
fn what_is_kept_is_counted() {
    let vars = [("t", Data::Null)];
    let mut worst = Vec::new();
    for kept in KEPT {
        for text in ["'x'", "'\\u{1f600}'"] {
            for size in [1, 20_000] {
                let source = format!(
                    "const s = {text}.repeat({size}), e = new Error(s), f = function () {{ return s }}, a = Array(100).fill(1), \
                     r = /xyz/g, j = JSON.stringify(s), m = new Map([[1, s]]), o = {{a: 1, b: s, c: [1]}}; \
                     let escaped, structured; const k = []; for (;;) k.push({kept})"
                );
                worst.push((peak(&source, &vars), source));
            }
        }
    }
    report(worst);
}

const SOURCES: &[&str] = &[
    "'x'.repeat(#)",
    "'é'.repeat(#)",
    "'x'.repeat(#).padStart(#)",
    "'x'.padStart(#)",
    "'x'.padEnd(#, 'é')",
    "'x'.padStart(#, 'abc')",
    "let s = 'x'; for (;;) s += s",
    "let s = 'é'; for (;;) s = `${s}${s}`",
    "let s = '\\u{1f600}'; for (;;) s = s.concat(s, s, s)",
    "Array(1e9)",
    "Array(#).fill(0).map(x => [x])",
    "Array(#).fill(0).map((x, i) => i + 'x')",
    "const a = []; for (;;) a.push(a.length)",
    "const a = [1]; for (;;) a.push(...a)",
    "const a = [1]; for (;;) a.unshift(...a)",
    "const a = [1]; for (;;) a.splice(0, 0, ...a)",
    "let a = [1]; for (;;) a = [...a, ...a]",
    "let a = [1]; for (;;) a = a.concat(a)",
    "let a = [1]; for (;;) a = a.flatMap(x => [x, x])",
    "let a = [1]; for (;;) a = [a, a].flat()",
    "let a = Array(#).fill(1); a.slice(); a.filter(x => 1); a.map(x => x); a.toSorted(); a.toReversed(); a.with(0, 1)",
    "const a = Array(#).fill('abc'); a.sort(); a.sort((x, y) => 0)",
    "const a = Array(#).fill(0).map((x, i) => # - i); a.sort()",
    "Array(#).fill(1).toSpliced(0, 1, 2)",
    "Array.from({length: 1e8})",
    "Array.from({length: 1e8}, (_, i) => i)",
    "Array.from('x'.repeat(#))",
    "[...'x'.repeat(#)]",
    "'x'.repeat(#).split('')",
    "'x,'.repeat(#).split(',')",
    "'x,'.repeat(#).split(/,/)",
    "'\\u{1f600},'.repeat(#).split('\\ud83d')",
    "'x'.repeat(#).split(/x/)",
    "'x'.repeat(#).split(/(x)/)",
    "[1, 2].join('x'.repeat(#))",
    "Array(#).fill('x'.repeat(1e3)).join('')",
    "Array(#).join('é'.repeat(100))",
    "let s = 'aa'; for (;;) s = [s, s].join(s)",
    "let s = 'aa'; for (;;) s = s.replaceAll('a', \"$`$'\")",
    "let s = 'aa'; for (;;) s = s.replace(/a/g, '$&$&')",
    "'a'.repeat(#).replaceAll('a', 'bcd')",
    "'a'.repeat(#).replace(/a/g, x => x + x)",
    "'a'.repeat(#).replace('a', '$`$&$\\'')",
    "'a'.repeat(#).replace(/a+/, '$&'.repeat(100))",
    "'a'.repeat(#).replaceAll('', 'x')",
    "const k = []; 'a'.repeat(#).replace(/a/g, (...x) => { k.push(x); return '' })",
    "const k = []; 'é'.repeat(#).replace(/é/g, (...x) => { k.push(x); return '' })",
    "const k = []; '\\u{1f600}'.repeat(#).replace(/\\ude00/g, (...x) => { k.push(x); return '' })",
    "const k = []; 'a'.repeat(#).replaceAll('a', (m, at, all) => { k.push(all); return '' })",
    "[...'a'.repeat(#).matchAll(/a/g)]",
    "[...'\\u{1f600}'.repeat(#).matchAll(/./g)]",
    "const r = /a/g, s = 'a'.repeat(#), k = []; let m; while ((m = r.exec(s))) k.push(m)",
    "const r = /a/g, s = 'é a'.repeat(#), k = []; let m; while ((m = r.exec(s))) k.push(m)",
    "const s = '\\u{1f600}'.repeat(#), k = []; for (;;) k.push(s.match(/./))",
    "'a'.repeat(#).match(/a/g)",
    "'a'.repeat(#).match(/((((((((((a))))))))))/g)",
    "'a'.repeat(#).match(/(((((a+)))))/)",
    "'\\u{1f600}'.repeat(#).search(/x/)",
    "'\\u{1f600}'.repeat(#).replace(/x/, '')",
    "'\\u{1f600}'.repeat(#).split(/x/)",
    "'\\u{1f600}'.repeat(#).split('\\ude00')",
    "'\\u{1f600}'.repeat(#).slice(1)",
    "'\\u{1f600}'.repeat(#).slice(2)",
    "'\\u{1f600}'.repeat(#).indexOf('\\ude00')",
    "'é'.repeat(#).slice(1)",
    "'a'.repeat(#).match(/(?=(a))*?b/)",
    "'a'.repeat(#).match(/(?=a)(?:a|b)*c/)",
    "'a'.repeat(#).match(/(?=a)(?:(a)|b)*c/)",
    "'a'.repeat(#).match(/^(?:(a)|(b)|(c))*(?!a)/)",
    "'x'.repeat(#).toUpperCase()",
    "'ß'.repeat(#).toUpperCase()",
    "'\\u0390'.repeat(#).toUpperCase()",
    "'\\ufdfa'.repeat(#).normalize('NFKD')",
    "'\\u0344'.repeat(#).normalize('NFD')",
    "'x'.repeat(#).normalize()",
    "' '.repeat(#).trim(); (' '.repeat(#) + 'x'.repeat(#)).trim()",
    "'a'.repeat(#).localeCompare('b')",
    "encodeURIComponent('\\u0001'.repeat(#))",
    "decodeURIComponent('%41'.repeat(#))",
    "JSON.stringify('\\u0001'.repeat(#))",
    "JSON.stringify('\\u0001'.repeat(#))",
    "JSON.stringify({['\\u0001'.repeat(#)]: 1})",
    "JSON.stringify({['\\u0001'.repeat(#)]: 1})",
    "JSON.stringify(Array(#).fill('\"\"\"'))",
    "JSON.stringify(Array(#).fill('\\ud800'))",
    "JSON.stringify('\\ud800'.repeat(#))",
    "JSON.stringify('\\u{1f600}'.repeat(#))",
    "JSON.stringify(Array(#).fill([1]), null, 10)",
    "const e = {toString: () => 'x'.repeat(#)}; null[e]",
    "let o = 1; for (let i = 0; i < 60; i++) o = [o]; JSON.stringify(Array(#).fill(o), null, '          ')",
    "const n = Array(#).fill(0).map((x, i) => 'k' + i); let o = 1; for (let i = 0; i < 100; i++) o = {k0: o}; JSON.stringify(o, n)",
    "JSON.parse('[' + '1,'.repeat(#) + '1]')",
    "JSON.parse('[' + '[],'.repeat(#) + '1]')",
    "JSON.parse('[' + '{},'.repeat(#) + '1]')",
    "JSON.parse('[' + '\"\",'.repeat(#) + '1]')",
    "JSON.parse('{' + Array(#).fill(0).map((x, i) => `\"${i}\":1`).join() + '}')",
    "JSON.parse('\"' + '\\\\u0041'.repeat(#) + '\"')",
    "JSON.parse('\"' + '\\\\n'.repeat(#) + '\"')",
    "JSON.parse('\"' + 'x'.repeat(#) + '\"')",
    "const m = new Map(); for (let i = 0;; i++) m.set(i, i)",
    "const m = new Map(); for (let i = 0;; i++) m.set('k' + i, i)",
    "const m = new Set(); for (let i = 0;; i++) m.add(i)",
    "const o = {}; for (let i = 0;; i++) o[i] = i",
    "const o = {}; for (let i = 0;; i++) o['k' + i] = i",
    "const a = []; for (let i = 0;; i++) a.push({i})",
    "const a = []; for (let i = 0;; i++) a.push({a: 1, b: 2, c: 3, d: 4})",
    "const a = []; for (let i = 0;; i++) a.push([])",
    "const a = []; for (let i = 0;; i++) a.push(() => i)",
    "const a = []; for (let i = 0;; i++) a.push(/x/)",
    "const a = []; for (let i = 0;; i++) a.push(new RegExp('x' + i))",
    "const a = []; for (let i = 0;; i++) a.push(new RegExp('\\\\p{L}', 'u'))",
    "const a = []; for (let i = 0;; i++) a.push(new Map([[1, 2]]))",
    "const a = []; for (let i = 0;; i++) a.push(new Set([1]))",
    "const a = []; for (let i = 0;; i++) a.push(new Error('x'))",
    "const a = []; for (let i = 0;; i++) a.push(Promise.resolve(i).then(x => x))",
    "const a = []; for (let i = 0;; i++) a.push(String(i))",
    "const a = []; for (let i = 0;; i++) { const f = () => i; f.x = 1; a.push(f) }",
    "const a = []; for (let i = 0;; i++) { const f = [1]; f.x = 1; a.push(f) }",
    "Promise.all(Array(#).fill(1))",
    "Promise.allSettled(Array(#).fill(1))",
    "const p = Promise.resolve(1); for (;;) p.then(x => x)",
    "Object.entries(Array(#).fill(1))",
    "Object.keys('x'.repeat(#))",
    "Object.keys(Array(#).fill(1))",
    "Object.fromEntries(Array(#).fill(0).map((x, i) => [i, i]))",
    "const o = Object.fromEntries(Array(#).fill(0).map((x, i) => [i, i])); Object.assign({}, o); ({...o})",
    "Object.groupBy(Array(#).fill(0), (x, i) => i)",
    "Map.groupBy(Array(#).fill(0), (x, i) => i)",
    "for (const k in 'x'.repeat(#)) {}",
    "Math.max(...Array(#).fill(1))",
    "(function () {}).bind(null, ...Array(#).fill(1))()",
    "let f = () => 1; for (;;) f = f.bind(null, ...Array(1e3).fill(1)); f()",
    "let f = () => 1; for (let i = 0; i < 60; i++) f = f.bind(null, ...Array(1e3).fill(1)); f()",
    "(function f(...x) { f(...x) })(...Array(1e3).fill(1))",
    "String.fromCharCode(...Array(#).fill(65))",
    "String.fromCodePoint(...Array(#).fill(0x1f600))",
    "throw 'x'.repeat(#)",
    "throw new Error('x'.repeat(#))",
    "throw {x: 'x'.repeat(#)}",
    "null['x'.repeat(#)]",
    "const s = 'x'.repeat(#); ({})[s]()",
    "undefined_name['x'.repeat(#)]",
    "'x'.repeat(#).nope()",
    "(1)['x'.repeat(#)]()",
    "new RegExp('x'.repeat(#))",
    "new RegExp('/'.repeat(#))",
    "RegExp('('.repeat(#))",
    "'a'.match('(a)'.repeat(400))",
    "'a'.match('(a)'.repeat(2000))",
    "'a'.match('(?<a>a)'.repeat(400))",
    "'x'.repeat(#).match('x'.repeat(#))",
    "'x'.search('x?'.repeat(#))",
    "let o = []; for (let i = 0; i < 100; i++) o = [o, Array(1e3).fill(1)]; o",
    "const a = Array(300).fill(1); const b = Array(300).fill(a); b",
    "Array(#).fill([])",
    "Array(#).fill(null)",
    "Array(#).fill({})",
    "new Map(Array(#).fill(0).map((x, i) => [i, i]))",
    "new Set(Array(#).fill(0).map((x, i) => i))",
    "(1e21).toString(2).repeat(#)",
    "(0.1).toFixed(100).repeat(#)",
    "t.split('').reverse().join('')",
    "t.slice(1) + t.slice(2) + t.toUpperCase()",
    "[...t].map(c => c + c)",
    "`${Array(#)}${Array(#)}`",
    "let o = []; for (let i = 0; i < 100; i++) o = [o, o]; `${o}`",
    "const o = {toString: () => 'x'.repeat(#)}; `${Array(#).fill(o)}`",
    "Array(#).fill(0).map(() => Array(#).fill(0).map(() => 1))",
    "const f = () => Array(#).fill(0).map(f); f()",
    "const f = () => Array(#).fill(0).filter(f); f()",
    "const a = []; a[#] = 1; a",
    "const a = []; a.length = #; a.slice()",
    "const a = []; a.length = 1.5e5; a.length = 0; a.length = 1.5e5",
];
