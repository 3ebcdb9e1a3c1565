//! Members that JavaScript has and this crate lacks: using one is refused, so that it cannot be mistaken for a
//! missing property.

use super::Method;

/// Names that all values have in JavaScript.
const OF_ALL: &[&str] =
    &["__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "isPrototypeOf"];

/// Names by kind, as the kind's table is called.
const OF_KINDS: &[(&[Method], &[&str])] = &[
    (
        super::STRING,
        &[
            "anchor",
            "big",
            "blink",
            "bold",
            "fixed",
            "fontcolor",
            "fontsize",
            "italics",
            "link",
            "small",
            "strike",
            "sub",
            "sup",
        ],
    ),
    (super::FUNCTION, &["arguments"]),
    (super::regexp::METHODS, &["compile", "hasIndices", "unicodeSets"]),
    (
        super::iterator::METHODS,
        &[
            "drop", "every", "filter", "find", "flatMap", "forEach", "map", "reduce", "some", "take",
            "toArray",
        ],
    ),
];

/// Names that a global has in JavaScript, by the name of the global.
const OF_GLOBALS: &[(&str, &[&str])] = &[
    ("Array", &["fromAsync"]),
    ("Error", &["captureStackTrace", "prepareStackTrace", "stackTraceLimit"]),
    (
        "Object",
        &[
            "create",
            "defineProperties",
            "defineProperty",
            "getOwnPropertyDescriptor",
            "getOwnPropertyDescriptors",
            "getOwnPropertySymbols",
            "getPrototypeOf",
            "setPrototypeOf",
        ],
    ),
    ("Promise", &["try", "withResolvers"]),
    (
        "RegExp",
        &[
            "$&",
            "$'",
            "$+",
            "$1",
            "$2",
            "$3",
            "$4",
            "$5",
            "$6",
            "$7",
            "$8",
            "$9",
            "$_",
            "$`",
            "escape",
            "input",
            "lastMatch",
            "lastParen",
            "leftContext",
            "rightContext",
        ],
    ),
    ("String", &["raw"]),
];

/// Whether JavaScript has a name that a kind lacks here.
pub(crate) fn is_absent(methods: &'static [Method], name: &str) -> bool {
    // A table may be at several addresses, since each part of a program has its own copy.
    let is_kind = |kind: &[Method]| {
        kind.len() == methods.len() && kind.iter().zip(methods).all(|(one, other)| one.name == other.name)
    };
    let of_kind = OF_KINDS.iter().find(|(kind, _)| is_kind(kind));
    OF_ALL.contains(&name) || of_kind.is_some_and(|(_, names)| names.contains(&name))
}

impl super::Global {
    /// Whether JavaScript has a name that this lacks.
    pub(crate) fn lacks(&self, name: &str) -> bool {
        OF_ALL.contains(&name)
            || OF_GLOBALS.iter().any(|(global, names)| *global == self.name && names.contains(&name))
    }
}
