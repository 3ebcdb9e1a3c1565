//! Selects the tests that use only features of this crate.

/// Words that occur only in tests of missing features, as listed in README.md.
const WORDS: &[&str] = &[
    "class",
    "super",
    "yield",
    "Symbol",
    "Proxy",
    "Reflect",
    "prototype",
    "constructor",
    "__proto__",
    "defineProperty",
    "defineProperties",
    "getOwnPropertyDescriptor",
    "getOwnPropertyDescriptors",
    "getPrototypeOf",
    "setPrototypeOf",
    "isPrototypeOf",
    "create",
    "eval",
    "Function",
    "globalThis",
    "$262",
    "with",
    "import",
    "export",
    "arguments",
    "BigInt",
    "ArrayBuffer",
    "DataView",
    "SharedArrayBuffer",
    "Atomics",
    "WeakMap",
    "WeakSet",
    "WeakRef",
    "FinalizationRegistry",
    "Iterator",
    "Intl",
    "Temporal",
    "target",
    "caller",
    "callee",
    "Int8Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "Int16Array",
    "Uint16Array",
    "Int32Array",
    "Uint32Array",
    "Float32Array",
    "Float64Array",
    "TypedArray",
    "escape",
    "unescape",
    "ShadowRealm",
    "AsyncFunction",
    "GeneratorFunction",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "compile",
    "fnGlobalObject",
    "raw",
    "fromAsync",
    "next",
    "document",
    "$DONE",
    "$DONOTEVALUATE",
    "preventExtensions",
    "isExtensible",
];

/// Features of the head that do not exist here.
const FEATURES: &[&str] = &[
    "generators",
    "class",
    "Symbol",
    "BigInt",
    "Proxy",
    "Reflect",
    "tail-call-optimization",
    "import",
    "top-level-await",
    "decorators",
    "resizable-arraybuffer",
    "iterator-helpers",
    "Temporal",
    "ShadowRealm",
    "async-iteration",
    "legacy-regexp",
    "IsHTMLDDA",
    "json-parse-with-source",
    "cross-realm",
    "caller",
    "String.fromCodePoint.raw",
    "Atomics",
    "TypedArray",
    "explicit-resource-management",
];

/// Programs that are invalid in JavaScript but valid here on purpose, as listed in README.md: `return` at the top.
const ON_PURPOSE: &[&str] = &["language/statements/return/S12.9_A1_", "language/global-code/return.js"];

/// Whether a test is decided otherwise on purpose.
pub(crate) fn is_decided_otherwise(name: &str) -> bool {
    ON_PURPOSE.iter().any(|start| name.starts_with(start))
}

/// Whether a test uses only features of this crate.
pub(crate) fn is_in(head: &str, body: &str) -> bool {
    let features = head.lines().find_map(|line| line.trim_start().strip_prefix("features:")).unwrap_or("");
    if FEATURES.iter().any(|feature| features.contains(feature)) {
        return false;
    }
    let code = without_comments(body);
    let mut words = code.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'));
    if words.any(|word| WORDS.contains(&word)) {
        return false;
    }
    !has_accessor(&code) && !code.contains("function*") && !code.contains("function *") && !has_label(&code)
}

/// `get name() {…}` and `set name(…) {…}`.
fn has_accessor(code: &str) -> bool {
    ["get ", "set "].into_iter().any(|word| {
        code.match_indices(word).any(|(at, _)| {
            let before = code.get(..at).unwrap_or("").trim_end();
            let after = code.get(at + word.len()..).unwrap_or("").trim_start();
            (before.ends_with(['{', ',']))
                && after.starts_with(|c: char| c.is_alphanumeric() || "_$['\"".contains(c))
        })
    })
}

/// Detects a label, `name:` at the start of a statement.
fn has_label(code: &str) -> bool {
    code.lines().any(|line| {
        let line = line.trim();
        let word_end = line.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(line.len());
        let (word, rest) = line.split_at(word_end);
        let jumps = ["break ", "continue "].into_iter().any(|jump| {
            line.match_indices(jump).any(|(at, _)| {
                line.get(at + jump.len()..)
                    .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic() || c == '_'))
            })
        });
        let labels = !word.is_empty()
            && rest.trim_start().starts_with(':')
            && ["for", "while", "do", "{"]
                .into_iter()
                .any(|next| rest.trim_start().trim_start_matches(':').trim_start().starts_with(next));
        jumps || labels
    })
}

fn without_comments(body: &str) -> String {
    let mut code = String::new();
    let mut rest = body;
    while let Some((before, after)) = rest.split_once("/*") {
        code.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    code.push_str(rest);
    code.lines()
        .map(|line| line.split_once("//").map_or(line, |(code, _)| code))
        .collect::<Vec<_>>()
        .join("\n")
}
