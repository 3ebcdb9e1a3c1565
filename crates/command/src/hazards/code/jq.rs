//! Filters of jq, and of programs with filters like it, that read more than their input.
//!
//! A filter is read as words: fields, variables, keys of objects and functions. It only reads its input if every function is in
//! [`PURE`] or defined in the filter.

use std::sync::LazyLock;

use crate::hazards::Floor::{Ask, Sandbox};
use crate::hazards::command::Command;
use crate::hazards::shape::Shape;
use stockade_shell::Arg;
use stockade_shell::lookup::{Names, names};

pub(in crate::hazards) const SHAPES: &[Shape] = &[
    Shape {
        id: "read-jq-env",
        floor: Ask,
        programs: &["jq", "gh", "glab"],
        fires: |command| filters(command).flatten().any(|filter| reach(filter) == Reach::Environment),
        reason: "prints the environment, which may contain secrets",
        fix: "name the required variable with `--arg`",
        matches: &[
            "jq -n env",
            "jq -n '$ENV.X'",
            "jq '.a, env.PATH' f",
            "jq '\"\\(env)\"' f",
            "jq --arg a b '{$ENV}'",
            "gh pr list --json number --jq env",
            "gh pr list --json number -q '$ENV|keys'",
        ],
        clean: &[
            "jq .env f",
            "jq '{env: .a}' f",
            "jq .environment f",
            "jq '\"env\"' f",
            "jq .a env",
            "gh pr list --json number --jq '.[].number'",
        ],
    },
    Shape {
        id: "json-filter-unclear",
        floor: Sandbox,
        programs: &["jq", "yq", "gh", "glab"],
        fires: |command| {
            filters(command).any(|filter| filter.is_none_or(|filter| reach(filter) != Reach::Input))
        },
        reason: "has a filter that may read more than its input",
        fix: "use only functions that compute with their input",
        matches: &[
            "jq 'import \"a\" as $a; .' f",
            "jq input_filename f",
            "jq '\"a\" | modulemeta' f",
            "jq \"$x\" f",
            "jq '.a # b' f",
            "yq 'load(\".env\")' f",
            "yq 'eval(\"e\" + \"nv(X)\")' f",
            "yq '.a = strenv(X)' f",
            "yq e 'load_str(\"x\")' f",
            "yq -n 'system(\"id\")'",
            "jq 'unheard_of' f",
        ],
        clean: &[
            "jq . f",
            "jq -r '.[] | .b' f",
            "jq -c '.a[] | select(.b == \"x\") | {c: .d, e}' f",
            "jq --arg a b '.[$a]' f",
            "jq --indent 2 '.a | keys' f",
            "jq 'def f(x): x + 1; [.[] | f(.)] | add' f",
            "jq '\"\\(.a)-\\(.b | length)\"' f",
            "jq '.a as $x | reduce .b[] as $i (0; . + $i)' f",
            "jq 'to_entries | map(\"\\(.key)=\\(.value)\") | .[]' f",
            "jq '[.[] | {name, v: .x?}] | sort_by(.v) | reverse | .[0:5]' f",
            "jq -s 'map(.a // empty) | unique | length' f g",
            "yq .a f.yaml",
            "yq e '.a[0].b' f.yaml",
            "yq eval '.a | length' f.yaml",
            "yq -o json f.yaml",
            "gh pr list --json number,title --jq '.[] | \"\\(.number) \\(.title)\"'",
        ],
    },
];

/// Functions and keywords that compute with their input alone.
static PURE: LazyLock<Names> = LazyLock::new(|| {
    names(
        const {
            &[
                "IN",
                "INDEX",
                "JOIN",
                "abs",
                "acos",
                "acosh",
                "add",
                "all",
                "alias",
                "anchor",
                "and",
                "any",
                "array_to_map",
                "arrays",
                "as",
                "ascii",
                "ascii_downcase",
                "ascii_upcase",
                "asin",
                "asinh",
                "atan",
                "atan2",
                "atanh",
                "booleans",
                "bsearch",
                "capture",
                "cbrt",
                "ceil",
                "collect",
                "column",
                "combinations",
                "contains",
                "copysign",
                "cos",
                "cosh",
                "def",
                "del",
                "delpaths",
                "document_index",
                "documentIndex",
                "downcase",
                "elif",
                "else",
                "empty",
                "end",
                "endswith",
                "erf",
                "error",
                "exp",
                "exp10",
                "exp2",
                "explode",
                "fabs",
                "false",
                "finites",
                "first",
                "flatten",
                "floor",
                "fmax",
                "fmin",
                "fmod",
                "foot_comment",
                "foreach",
                "format",
                "format_datetime",
                "from_entries",
                "from_json",
                "from_unix",
                "from_yaml",
                "fromdate",
                "fromdateiso8601",
                "fromjson",
                "fromstream",
                "getpath",
                "gmtime",
                "group_by",
                "gsub",
                "halt",
                "has",
                "have_decnum",
                "have_literal_numbers",
                "head_comment",
                "if",
                "implode",
                "in",
                "index",
                "indices",
                "infinite",
                "input",
                "inputs",
                "inside",
                "ireduce",
                "is_key",
                "isempty",
                "isinfinite",
                "isnan",
                "isnormal",
                "isvalid",
                "iterables",
                "join",
                "key",
                "keys",
                "keys_unsorted",
                "kind",
                "label",
                "last",
                "ldexp",
                "leaf_paths",
                "length",
                "limit",
                "line",
                "line_comment",
                "localtime",
                "log",
                "log10",
                "log2",
                "ltrim",
                "ltrimstr",
                "map",
                "map_values",
                "match",
                "max",
                "max_by",
                "min",
                "min_by",
                "mktime",
                "modf",
                "nan",
                "normals",
                "not",
                "now",
                "nth",
                "null",
                "nulls",
                "numbers",
                "objects",
                "omit",
                "or",
                "parent",
                "path",
                "paths",
                "pick",
                "pivot",
                "pow",
                "pow10",
                "range",
                "recurse",
                "recurse_down",
                "reduce",
                "repeat",
                "reverse",
                "rindex",
                "round",
                "rtrim",
                "rtrimstr",
                "scalars",
                "scan",
                "select",
                "setpath",
                "shuffle",
                "sin",
                "sinh",
                "skip",
                "sort",
                "sort_by",
                "sort_keys",
                "split",
                "splits",
                "sqrt",
                "startswith",
                "strflocaltime",
                "strftime",
                "strings",
                "strptime",
                "style",
                "sub",
                "tag",
                "tan",
                "tanh",
                "test",
                "then",
                "to_entries",
                "to_json",
                "to_number",
                "to_string",
                "to_unix",
                "to_yaml",
                "toarray",
                "todate",
                "todateiso8601",
                "tojson",
                "tonumber",
                "tostream",
                "tostring",
                "transpose",
                "trim",
                "trimstr",
                "true",
                "trunc",
                "truncate_stream",
                "try",
                "catch",
                "type",
                "tz",
                "unique",
                "unique_by",
                "until",
                "upcase",
                "utf8bytelength",
                "values",
                "walk",
                "while",
                "with",
                "with_dtf",
                "with_entries",
            ]
        },
    )
});

/// What a filter reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// It computes with its input and reads nothing else.
    Input,
    /// Possibly files, or it is not understood.
    Unclear,
    /// It prints or uses variables of the environment.
    Environment,
}

/// Returns the filters of a command; `None` for one that is only known at run time.
fn filters<'c>(command: &'c Command<'_, '_>) -> impl Iterator<Item = Option<&'c str>> {
    let is_jq = matches!(command.name, "jq" | "yq");
    let operand = is_jq.then(|| operand(command)).flatten().map(Arg::known);
    let values = if is_jq { Vec::new() } else { values(command) };
    operand.into_iter().chain(values)
}

/// Options with values in words of their own, and how many.
const WITH_VALUES: &[(&str, usize)] = &[
    ("--arg", 2),
    ("--argjson", 2),
    ("--slurpfile", 2),
    ("--rawfile", 2),
    ("--indent", 1),
    ("-I", 1),
    ("-o", 1),
    ("-p", 1),
    ("--output-format", 1),
    ("--input-format", 1),
];

/// Returns the first operand, which is the filter. Some versions of yq have a subcommand before it, and no filter before a file.
fn operand<'c, 't>(command: &'c Command<'_, 't>) -> Option<&'c Arg<'t>> {
    let mut words = command.words();
    let mut is_after_command = false;
    while let Some(word) = words.next() {
        let text = word.known();
        match text.and_then(|text| WITH_VALUES.iter().find(|(option, _)| *option == text)) {
            Some((_, count)) => {
                words.nth(count - 1);
            }
            None if text.is_some_and(|text| text.starts_with('-')) => {}
            None if command.name == "yq" && !is_after_command && text.is_some_and(is_evaluation) => {
                is_after_command = true;
            }
            None if command.name == "yq" && text.is_some_and(is_yaml_file) => return None,
            None => return Some(word),
        }
    }
    None
}

fn is_evaluation(word: &str) -> bool {
    matches!(word, "e" | "ea" | "eval" | "eval-all")
}

fn is_yaml_file(word: &str) -> bool {
    let is_plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte));
    is_plain && !word.starts_with('.') && [".yaml", ".yml", ".json"].iter().any(|end| word.ends_with(end))
}

/// Returns the values of `--jq` and `-q`.
fn values<'c>(command: &'c Command<'_, '_>) -> Vec<Option<&'c str>> {
    let mut found = Vec::new();
    let mut words = command.words().peekable();
    while let Some(word) = words.next() {
        let Some(text) = word.known() else { continue };
        if matches!(text, "--jq" | "-q") {
            found.extend(words.peek().map(|value| value.known()));
        } else if let Some(value) = text.strip_prefix("--jq=").or_else(|| attached(text)) {
            found.push(Some(value));
        }
    }
    found
}

fn attached(text: &str) -> Option<&str> {
    text.strip_prefix("-q").map(|value| value.trim_start_matches('=')).filter(|value| !value.is_empty())
}

/// The innermost open bracket of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Parenthesis,
    Bracket,
    Brace,
    /// `\(` in a text: behind its end, the text goes on.
    Interpolation,
}

/// Reads a filter.
fn reach(filter: &str) -> Reach {
    let mut reader = Reader { rest: filter, open: Vec::new(), before: None, defined: Vec::new() };
    let mut worst = Reach::Input;
    while let Some(found) = reader.next() {
        worst = worst.max(found);
    }
    worst
}

struct Reader<'f> {
    rest: &'f str,
    open: Vec<Open>,
    /// The last character that is not a blank.
    before: Option<char>,
    defined: Vec<&'f str>,
}

impl<'f> Reader<'f> {
    /// Returns what the next part reads.
    fn next(&mut self) -> Option<Reach> {
        let letter = self.rest.chars().next()?;
        if letter.is_ascii_alphabetic() || letter == '_' {
            return Some(self.word());
        }
        self.rest = self.rest.get(letter.len_utf8()..).unwrap_or_default();
        let is_read = match letter {
            '"' => self.text(),
            '(' => self.opens(Open::Parenthesis),
            '[' => self.opens(Open::Bracket),
            '{' => self.opens(Open::Brace),
            ')' if self.open.last() == Some(&Open::Interpolation) => {
                self.open.pop();
                self.text()
            }
            ')' => self.open.pop() == Some(Open::Parenthesis),
            ']' => self.open.pop() == Some(Open::Bracket),
            '}' => self.open.pop() == Some(Open::Brace),
            '0'..='9' => {
                self.number();
                true
            }
            _ => letter.is_ascii_whitespace() || "|,.:;?/*+-%=<>!$@".contains(letter),
        };
        if !letter.is_ascii_whitespace() {
            self.before = Some(letter);
        }
        Some(if is_read { Reach::Input } else { Reach::Unclear })
    }

    fn opens(&mut self, bracket: Open) -> bool {
        self.open.push(bracket);
        true
    }

    /// The letters of a number such as `1e5` are not a word.
    fn number(&mut self) {
        let after = self.rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let exponent =
            after.strip_prefix(['e', 'E']).map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
        let is_exponent = exponent.filter(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
        self.rest =
            is_exponent.map_or(after, |rest| rest.trim_start_matches(|letter: char| letter.is_ascii_digit()));
    }

    /// Reads a text to its end, or to the next interpolation. Returns whether there is one.
    fn text(&mut self) -> bool {
        let mut letters = self.rest.char_indices();
        while let Some((at, letter)) = letters.next() {
            let escaped = if letter == '\\' { letters.next().map(|(_, escaped)| escaped) } else { None };
            if letter == '"' || escaped == Some('(') {
                self.rest = self.rest.get(at + if escaped.is_some() { 2 } else { 1 }..).unwrap_or_default();
                if escaped.is_some() {
                    self.open.push(Open::Interpolation);
                }
                return true;
            }
        }
        self.rest = "";
        false
    }

    fn word(&mut self) -> Reach {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, ""));
        let (before, after) = (self.before, rest.trim_start().chars().next());
        self.rest = rest;
        self.before = Some('w');
        let is_key = self.open.last() == Some(&Open::Brace)
            && matches!(before, Some('{' | ','))
            && matches!(after, Some(':' | ',' | '}'));
        match before {
            Some('$') if word == "ENV" => Reach::Environment,
            Some('$') if word.starts_with("__prog") => Reach::Unclear,
            Some('.' | '$' | '@') => Reach::Input,
            _ if is_key || self.defined.contains(&word) => Reach::Input,
            _ if word == "env" => Reach::Environment,
            _ if word == "def" => self.definition(),
            _ if PURE.contains(word) => Reach::Input,
            _ => Reach::Unclear,
        }
    }

    /// Reads the name and the parameters of a function, which are functions as well.
    fn definition(&mut self) -> Reach {
        /// More functions than any filter in a command line defines.
        const MAX_DEFINED: usize = 32;
        let Some((head, _)) = self.rest.split_once(':') else { return Reach::Unclear };
        let names = head.split(['(', ';', ')', ' ']).map(|name| name.trim_start_matches('$'));
        self.defined.extend(names.filter(|name| !name.is_empty()).take(MAX_DEFINED));
        if self.defined.len() > MAX_DEFINED { Reach::Unclear } else { Reach::Input }
    }
}
