//! One test of test262: its source between prelude and end, and its expected result.

use std::path::Path;

use crate::scope;

/// Expected result of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// It runs to its end.
    Value,
    /// The program is invalid.
    SyntaxError,
}

/// A test.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) expected: Expected,
}

/// Functions that tests call. A failed assertion throws a text.
const PRELUDE: &str = "
var $fail = function (message) { throw 'test262: ' + message; };
var $same = function (a, b) { return a === b ? a !== 0 || 1 / a === 1 / b : a !== a && b !== b; };
var $lists = function (a, b) {
  if (a.length !== b.length) return false;
  for (var i = 0; i < a.length; i += 1) if (!$same(a[i], b[i])) return false;
  return true;
};
var assert = {
  ok: function (value, message) { if (value !== true) $fail(message); },
  sameValue: function (found, wanted, message) {
    if (!$same(found, wanted)) $fail(message + ' found ' + typeof found + ' wanted ' + typeof wanted);
  },
  notSameValue: function (found, unwanted, message) { if ($same(found, unwanted)) $fail(message); },
  compareArray: function (found, wanted, message) { if (!$lists(found, wanted)) $fail(message); },
  throws: function (kind, run, message) {
    var thrown;
    var threw = false;
    try { run(); } catch (error) { threw = true; thrown = error; }
    if (!threw) $fail('nothing thrown ' + message);
    if (!(thrown instanceof kind)) $fail('another thing thrown ' + message);
    if (thrown.name !== kind.name) $fail('thrown ' + thrown.name + ' wanted ' + kind.name);
  },
};
var compareArray = $lists;
var isConstructor;
";

impl Case {
    /// Reads a test; `None` if it is out of scope.
    pub(crate) fn read(file: &Path, folder: &Path) -> Option<Self> {
        let name = file.strip_prefix(folder).unwrap_or(file).display().to_string();
        if scope::is_decided_otherwise(&name) {
            return None;
        }
        let source = std::fs::read_to_string(file).ok()?;
        let (head, body) = source.split_once("---*/")?;
        let (_, head) = head.split_once("/*---")?;
        let flags = line(head, "flags:");
        let has = |flag: &str| flags.split([',', '[', ']', ' ']).any(|one| one == flag);
        if ["module", "raw", "async", "CanBlockIsFalse", "noStrict"].into_iter().any(has) {
            return None;
        }
        let expected = match (line(head, "phase:"), line(head, "type:")) {
            ("parse" | "early", "SyntaxError") => Expected::SyntaxError,
            ("", "") => Expected::Value,
            _ => return None,
        };
        let strict = if has("onlyStrict") { "'use strict';\n" } else { "" };
        let body = body.replace("reportCompare(0, 0);", "");
        let source = match expected {
            Expected::SyntaxError => format!("{strict}{body}"),
            Expected::Value if scope::is_in(head, body.as_str()) => {
                let includes = line(head, "includes:").trim_matches(['[', ']']);
                let helpers =
                    includes.split(", ").map(|name| helper(name, folder)).collect::<Option<String>>()?;
                format!("{strict}{PRELUDE}{helpers}{}", plain_assertions(&body))
            }
            Expected::Value => return None,
        };
        Some(Self { name, source, expected })
    }
}

/// Returns the rest of the header line with this key.
fn line<'h>(head: &'h str, key: &str) -> &'h str {
    head.lines().find_map(|line| line.trim_start().strip_prefix(key)).map_or("", str::trim)
}

/// Returns a helper that a test includes; `None` if it is out of scope.
fn helper(name: &str, folder: &Path) -> Option<String> {
    match name {
        // The prelude has them.
        "" | "assert.js" | "sta.js" | "compareArray.js" => Some(String::new()),
        "decimalToHexString.js" | "dateConstants.js" | "assertRelativeDateMs.js" => {
            std::fs::read_to_string(folder.join("harness").join(name)).ok()
        }
        _ => None,
    }
}

/// Functions have no fields here: `assert(…)` is written as `assert.ok(…)`, and the tests' own error is a plain one.
fn plain_assertions(body: &str) -> String {
    body.replace("assert(", "assert.ok(").replace("Test262Error", "Error").replace("$ERROR(", "$fail(")
}
