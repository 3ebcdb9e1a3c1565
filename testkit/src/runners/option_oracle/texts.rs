//! Generates commands: the words of a rule that allows, and one option, variable, place or script.

use std::collections::BTreeMap;

use super::inline_code;
use super::vocabulary::{self, Vocabulary};

/// Values with which an option, a variable or an operand does harm if it is a program, a file to write or to read, or a script.
const VALUES: &[&str] = &[
    "/evil/run",
    "./sh",
    "'!/evil/run'",
    "'|/evil/run'",
    "'/evil/run %s'",
    "exec=/evil/run",
    "sh=/evil/run",
    "/outside/new",
    "/outside/kept",
    "new",
    "f",
    "f.json",
    ".env",
    "/home/me/.netrc",
    "~/.netrc",
    "@.env",
    "@/home/me/.netrc",
    "file:///home/me/.netrc",
    "awk.awk",
    "sed.sed",
    "/work",
    "..",
    "/home/me",
    ".",
    "evil:/evil/run",
    "1",
    "x",
    "-",
    "all",
    "'%s'",
    "'a[$(/evil/run)]'",
    "/proc/self/environ",
    "hostile",
    "w=/outside/new",
    "yes",
];

/// Operands: ordinary ones, and ways to name a secret.
const PLACES: &[&str] = &[
    "f",
    "f",
    "f",
    "",
    "",
    ".",
    "src",
    "x f",
    "-- f",
    "f.json",
    "HEAD",
    "x",
    "'*'",
    "~/.netrc",
    "/home/me/.aws/credentials",
    ".env",
    "./.env",
    "@.env",
    "+f",
    "*",
    ".e*",
    ".??*",
    "$HOME/.netrc",
    "~+/.env",
    "../home/me/.netrc",
    "/outside/notes",
    "../outside/notes",
    "/outside/*",
    "< /outside/notes",
    "/proc/self/environ",
    "/proc/$$/environ",
    "/home/me",
    "-r .",
    "~",
    "/work/../home/me/.netrc",
    "{.env,f}",
    "'f' .env",
    "file://.env",
    "< .env",
    "<<< x",
    "HEAD:f",
    "x=y",
    "=x",
];

/// Commands around the words of a rule, in which data of the workspace would be expanded again.
const AROUND: &[(&str, &str)] = &[
    ("TEXTDOMAINDIR=/work/l\nTEXTDOMAIN=x\nLANGUAGE=xx\n", " $\"hi\""),
    ("export TEXTDOMAINDIR=/work/l TEXTDOMAIN=x LANGUAGE=xx; ", " $\"hi\""),
    ("LANGUAGE=xx; ", " -- $\"hi\""),
    ("x=$(< hostile); ", " \"$((x))\""),
    ("x=$(cat hostile); ", "; [[ x -eq 1 ]]"),
    ("", " \"${x[$(< hostile)]}\""),
    ("read x < hostile; ", " $((x))"),
    ("for x in *; do ", " $x; done"),
    ("for x in *; do ", " \"$x\"; done"),
    ("set -- *; ", " \"$@\""),
    ("cat f | ", " *"),
    ("", " -- *"),
    ("", " ./*"),
    ("printf '%s\\n' * | ", ""),
    ("ls | ", " -"),
    ("cd src && ", " ../f"),
    ("x=(*); ", " \"${x[@]}\""),
    ("while read -r x; do ", " $x; done < hostile"),
    ("{ ", " f; } < .env"),
    ("! ", " f"),
];

/// Parts of scripts, by the program that reads them.
const SCRIPTS: &[(&[&str], &[&str])] = &[
    (
        &["sed", "gsed"],
        &[
            "s/o/b/",
            "w /outside/new",
            "e /evil/run",
            "e",
            "r .env",
            "R .env",
            "W /outside/new",
            ":a",
            "ba",
            "b",
            "t",
            ";",
            ";",
            "\n",
            "1",
            "$!",
            "{",
            "}",
            "p",
            "/x/",
            "/o/,/x/",
            "s/o/b/w /outside/new",
            "s/.*/\\/evil\\/run/e",
            "s,.*,/evil/run,e",
            "y/abe/xyz/",
            "F",
            "z",
            "d",
            "N",
            "\\cacb",
            "a\\",
            "i x",
            "c x",
            "#",
            "l 5",
            "q",
            "=",
            "s/[/]/w x/",
            " ",
            "s/o/b/gpw /outside/new",
            "0~2",
            "v",
            "n",
            "\\n",
        ],
    ),
    (
        &["awk", "mawk", "gawk", "nawk"],
        &[
            "{",
            "}",
            "BEGIN",
            "END",
            "{print}",
            "print",
            "system(\"/evil/run\")",
            "system",
            "(",
            ")",
            "| \"/evil/run\"",
            "> \"/outside/new\"",
            ">> \"/outside/new\"",
            "getline",
            "getline < \".env\"",
            "while ((getline l < \".env\") > 0) print l",
            "\"/evil/run\" | getline",
            "ENVIRON",
            "[\"API_TOKEN\"]",
            "@include \".env\"",
            "@f()",
            "$1",
            "x = 1",
            ";",
            "\n",
            "/x/",
            "\"",
            "\\",
            "printf",
            "close(\"/evil/run\")",
            "f(x)",
            "function f(a) {",
            "ARGV[1]=\".env\"",
            "ARGC=2",
            "for (k in ENVIRON)",
            "SYMTAB",
            "length",
            "in",
            ",",
            "1",
            "/",
            "#",
            "~",
            "substr($0, 1)",
            "a[$1]++",
            "||",
            "|&",
            "NR > 1",
            "%c",
            "delete a",
        ],
    ),
    (
        &["jq", "yq"],
        &[
            ".",
            ".a",
            "|",
            "env",
            "$ENV",
            "$ENV.API_TOKEN",
            ".API_TOKEN",
            "input_filename",
            "import \"a\" as a;",
            "include \"a\";",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            "\"\\(",
            ")\"",
            "def f: ",
            ";",
            "f",
            ",",
            "keys",
            "getpath([\"a\"])",
            "$__loc__",
            "modulemeta",
            "\"/home/me/x\"",
            "inputs",
            "debug",
            "@sh",
            "as $x",
            "$x",
            "..",
            "load(\".env\")",
            "strenv(API_TOKEN)",
            "env(API_TOKEN)",
            "envsubst",
            "load_str(\"/home/me/.netrc\")",
            "eval(\"env\")",
            "\"e\"",
            "\"nv\"",
            "+",
            "$__prog_args",
            "get_search_list",
            "input",
            "tojson",
            "{env}",
            "{$ENV}",
            ":",
            "filename",
            "system(\"/evil/run\")",
            "with_entries(.)",
            "error",
            "reduce",
            "try",
            "?",
            "//",
        ],
    ),
];

/// Generates texts from a seed.
pub(super) struct Generator {
    /// The beginnings of allowed commands, by program.
    programs: Vec<(String, Vec<String>, Vocabulary)>,
    state: u64,
}

impl Generator {
    pub(super) fn new(commands: &str, seed: usize) -> Self {
        let mut by_program: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for line in commands.lines() {
            let program = line.split(' ').next().unwrap_or_default();
            by_program.entry(program).or_default().push(line.to_owned());
        }
        let is_here = |program: &str| vocabulary::file(program).is_some() || BUILTINS.contains(&program);
        let here = by_program.into_iter().filter(|(program, _)| is_here(program));
        let programs =
            here.map(|(program, lines)| (program.to_owned(), lines, vocabulary::of(program))).collect();
        // An xorshift generator must not start at zero.
        Self { programs, state: (seed as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1 }
    }

    pub(super) fn texts(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.text()).collect()
    }

    fn text(&mut self) -> String {
        let kind = self.below(21);
        if kind == 20 {
            return inline_code::text(|most| self.below(most));
        }
        let scripts = if kind < 4 { self.with_script() } else { None };
        if let Some(text) = scripts {
            return text;
        }
        let program = self.below(self.programs.len());
        let Some((_, lines, vocabulary)) = self.programs.get(program).cloned() else { return String::new() };
        let line = self.one(&lines).to_owned();
        match kind {
            10..=11 => {
                let (before, after) = AROUND.get(self.below(AROUND.len())).copied().unwrap_or_default();
                format!("{before}{line} {}{after}", self.pick(PLACES))
            }
            0..=9 => self.with_option(&line, &vocabulary),
            12..=15 => self.with_variable(&line, &vocabulary),
            _ => format!("{line} {} {}", self.pick(PLACES), self.pick(PLACES)),
        }
    }

    /// A script for a program that reads one, if this machine has the program.
    fn with_script(&mut self) -> Option<String> {
        let (programs, parts) = SCRIPTS.get(self.below(SCRIPTS.len()))?;
        let program = self.pick(programs);
        let (_, lines, _) = self.programs.iter().find(|(name, ..)| name == program)?.clone();
        let script = self.script(parts);
        Some(format!("{} {} {}", self.one(&lines), quoted(&script), self.pick(PLACES)))
    }

    fn with_option(&mut self, line: &str, vocabulary: &Vocabulary) -> String {
        let option = self.option(vocabulary);
        let (value, place) = (self.pick(VALUES), self.pick(PLACES));
        let is_long = option.starts_with("--");
        match self.below(6) {
            0 => format!("{line} {option} {place}"),
            1 => format!("{line} {option} {value} {place}"),
            2 if is_long => format!("{line} {option}={value} {place}"),
            2 => format!("{line} {option}{value} {place}"),
            3 => format!("{line} {place} {option} {value}"),
            4 => format!("{line} {option} {} {place}", self.option(vocabulary)),
            _ => format!("{line} {option} -- {value} {place}"),
        }
    }

    /// A letter, two letters, or a word, which some programs write with a single dash.
    fn option(&mut self, vocabulary: &Vocabulary) -> String {
        const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        let letter = |at: usize| LETTERS.chars().nth(at).unwrap_or('x');
        match self.below(8) {
            0..=2 => format!("-{}", letter(self.below(LETTERS.len()))),
            3 => format!("-{}{}", letter(self.below(LETTERS.len())), letter(self.below(LETTERS.len()))),
            4 if !vocabulary.options.is_empty() => format!("-{}", self.one(&vocabulary.options)),
            _ if !vocabulary.options.is_empty() => format!("--{}", self.one(&vocabulary.options)),
            _ => "--output".to_owned(),
        }
    }

    fn with_variable(&mut self, line: &str, vocabulary: &Vocabulary) -> String {
        const ALWAYS: &[&str] = &[
            "PATH", "HOME", "PAGER", "LANG", "TZ", "TERM", "LC_ALL", "IFS", "EDITOR", "SHELL", "TMPDIR",
            "NO_COLOR",
        ];
        let name = match self.below(4) {
            0..=2 if !vocabulary.variables.is_empty() => self.one(&vocabulary.variables).to_owned(),
            _ => self.pick(ALWAYS).to_owned(),
        };
        let (value, place) = (self.pick(VALUES), self.pick(PLACES));
        match self.below(6) {
            0 => format!("export {name}={value}; {line} {place}"),
            1 => format!("unset {name}; {line} {place}"),
            2 => format!("{name}={value}; export {name}; {line} {place}"),
            3 => format!("declare -x {name}={value}; {line} {place}"),
            _ => format!("{name}={value} {line} {place}"),
        }
    }

    fn script(&mut self, parts: &[&'static str]) -> String {
        let count = 1 + self.below(6);
        (0..count).map(|_| self.pick(parts)).collect::<Vec<_>>().join(if self.below(3) == 0 {
            " "
        } else {
            ""
        })
    }

    fn pick(&mut self, list: &[&'static str]) -> &'static str {
        list.get(self.below(list.len())).copied().unwrap_or_default()
    }

    fn one<'l>(&mut self, list: &'l [String]) -> &'l str {
        list.get(self.below(list.len())).map_or("", String::as_str)
    }

    fn below(&mut self, most: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state >> 33).unwrap_or_default() % most.max(1)
    }
}

/// Words that bash has without a file.
const BUILTINS: &[&str] = &[
    ":", "alias", "break", "cd", "command", "continue", "declare", "dirs", "exit", "export", "getopts",
    "hash", "jobs", "kill", "local", "read", "readonly", "return", "set", "shift", "times", "type",
    "typeset", "ulimit", "umask", "unset", "wait",
];

pub(super) fn quoted(script: &str) -> String {
    format!("'{}'", script.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_has_its_texts() {
        let texts = |seed| Generator::new("sed\ncd\nno-such-program x\n", seed).texts(50);
        assert_eq!(texts(7), texts(7));
        assert_ne!(texts(7), texts(8));
        assert!(texts(7).iter().all(|text| !text.contains("no-such-program")));
    }
}
