//! Words in every quoting, with everything that shells replace in them.

use stockade_shell::Shell;

use crate::grammar::Grammar;

/// Words nest less deep than commands: most of them are plain.
const MAX_DEPTH: usize = 4;

const PROGRAMS: &[&str] = &["rm", "id", "ls", "git", "curl", "cat", "echo", "tee"];

/// Programs by names that are not written as they are read.
const SPELLED: &[&str] = &[
    "r\\m",
    "\"rm\"",
    "r''m",
    "$'\\x72m'",
    "/bin/rm",
    "r\\\nm",
    "{rm,-rf}",
    "./evil.sh",
    "$(echo rm)",
    "$'r\\155'",
    "\"r\"\\m",
    "${z:-rm}",
    "$\"rm\"",
    "unknown",
    "a*",
    "'rm'",
    "\\rm",
    "r\"\"m",
];

impl Grammar {
    /// Writes the name of a program in one of many spellings, followed by a unique number.
    pub(crate) fn program(&mut self) {
        let spelled = if self.stays_plain() { PROGRAMS } else { SPELLED };
        self.one_of(spelled);
        self.counter += 1;
        let number = self.counter;
        self.push(&format!(" n{number}"));
    }

    /// Writes the name of a file that a redirection opens.
    pub(crate) fn file(&mut self) {
        if self.random.once_in(5) {
            self.word();
        } else {
            self.one_of(&["f1", "'f 2'", "/tmp/f3", "/dev/null", "a", "\"$x\"f4", "f\\ 5"]);
        }
    }

    /// Writes a word of one to three parts.
    pub(crate) fn word(&mut self) {
        self.depth += 1;
        let parts = if self.stays_plain() { 1 } else { 3 };
        for _ in 0..=self.random.below(parts) {
            self.part();
        }
        self.depth -= 1;
    }

    fn part(&mut self) {
        let ways = if self.stays_plain() { 5 } else { 19 };
        match self.random.below(ways) {
            0..=4 => {
                self.one_of(&["a", "-rf", "n", "x=y", "a#b", "{}", "--o=v", "0", "é", "a,b", "@", "%", "+"]);
            }
            5 => self.one_of(&["'a b'", "''", "'$(rm q1)'", "'\\'", "'\"'", "'`'", "'#'", "'a\nb'"]),
            6 | 7 => self.double_quoted(),
            8 => self.one_of(&[
                "$'a\\'b'",
                "$'\\n'",
                "$'\\x41'",
                "$'\\\\'",
                "$'\"'",
                "$'$(rm q2)'",
                "$'\\u0041'",
                "$'\\cA'",
                "$'\\q'",
                "$'\\0'",
                "$'a\\x00$(rm q4)'",
            ]),
            9 => {
                self.one_of(&[
                    "\\'", "\\\"", "\\\\", "\\ ", "\\$", "\\`", "\\#", "\\\n", "\\a", "\\;", "\\(",
                ]);
            }
            10 | 11 => self.parameter(),
            12 | 13 if self.depth < MAX_DEPTH => self.substitution(),
            14 => {
                self.push("$((");
                self.arithmetic();
                self.push("))");
            }
            15 => self.one_of(&[
                "{a,b}",
                "{1..3}",
                "{a,{b,c}}",
                "{a}",
                "{,a}",
                "{a..c}",
                "{a,b",
                "x{1,2}y",
                "{'a b',c}",
                "{$x,a}",
            ]),
            16 => self.one_of(&["~", "*", "?", "[a-z]", "a*", "~/x", "[!a]", "*.sh"]),
            _ if self.shell == Shell::Zsh => {
                self.one_of(&[
                    "=ls",
                    "${(e)x}",
                    "${:-x}",
                    "*(.)",
                    "$x[1]",
                    "${x:h}",
                    "^a",
                    "a(|b)",
                    "${(P)x}",
                    "=(id z2)",
                    "*(e:'rm z3':)",
                    "<1-3>",
                    "a<->",
                    "(a|b)",
                ]);
            }
            17 if self.depth < MAX_DEPTH && self.random.once_in(2) => {
                self.one_of(&["!(", "@(", "a+(", "*(", "?("]);
                self.one_of(&["*.sh", "a|b", "[)]", "'a b'", "$x", "a b", "("]);
                self.substitution();
                self.push(")");
            }
            _ => self.one_of(&[
                "!(*.sh)", "@(a|b)", "n+(a)", "?(n)", "*(n)", "!()", "$\"a\"", "$", "!", "=", "[", "]", "^",
                "a=(", "$[1+1]", "\"$@\"",
            ]),
        }
    }

    fn double_quoted(&mut self) {
        self.push("\"");
        for _ in 0..self.random.below(4) {
            match self.random.below(8) {
                0 | 1 => self.one_of(&[
                    "a", " ", "'", "#", "\\\"", "\\\\", "\\$", "\\`", "\\a", "\\\n", "\n", "{a,b}", "~", "$",
                    ";",
                ]),
                2 => self.parameter(),
                3 | 4 if self.depth < MAX_DEPTH => self.substitution(),
                5 => {
                    self.push("$((");
                    self.arithmetic();
                    self.push("))");
                }
                _ => self.one_of(&["b c", "$'q'", "<(rm q3)", "!", "*", "(", "))"]),
            }
        }
        self.push("\"");
    }

    fn parameter(&mut self) {
        match self.random.below(5) {
            0 => self.one_of(&[
                "$x", "${x}", "$1", "$?", "$$", "$#", "$@", "$*", "$-", "${#x}", "${x[0]}", "${!x}",
                "${x@Q}", "${#}", "${@:1}",
            ]),
            1 => self.one_of(&[
                "${x#a}",
                "${x%%*}",
                "${x/a/b}",
                "${x//'a'/b}",
                "${x:0:1}",
                "${x^^}",
                "${x/#/\\}}",
                "${x/\\//b}",
                "${x:-}",
                "${x%'a b'}",
                "${x:-'a b'}",
                "${x.y}",
                "${x[\"a\"].b(1):.2f}",
                "${x?'a':b}",
                "${x y $(rm q5)}",
            ]),
            _ => {
                self.one_of(&["${x:-", "${x-", "${x:+", "${x:=", "${x#", "${x%", "${x/a/", "${y:-", "${x:?"]);
                if self.depth < MAX_DEPTH {
                    self.word();
                }
                self.push("}");
            }
        }
    }

    /// Writes `$( … )`, backticks or a process substitution.
    pub(crate) fn substitution(&mut self) {
        self.depth += 1;
        match self.random.below(8) {
            0 | 1 => {
                let text = self.aside(Self::list);
                let text = text.replace('\\', "\\\\").replace('`', "\\`");
                self.push(&format!("`{text}`"));
            }
            2 if self.shell != Shell::Sh => {
                self.one_of(&["<(", ">("]);
                self.list();
                self.push(")");
            }
            3 => {
                self.one_of(&["$( ", "$(\n", "$(\\\n", "$((", "$( ("]);
                self.list();
                self.one_of(&[")", " )", "))", ") )", "\n)"]);
            }
            _ => {
                let text = self.aside(Self::list);
                self.push(&format!("$({text})"));
            }
        }
        self.depth -= 1;
    }

    pub(crate) fn arithmetic(&mut self) {
        match self.random.below(6) {
            0 => self.push("x"),
            1 if self.depth < MAX_DEPTH => {
                self.push("a[");
                self.substitution();
                self.push("]");
            }
            2 if self.depth < MAX_DEPTH => {
                self.push("1+");
                self.substitution();
            }
            3 => self.one_of(&[
                "(1+1)",
                "1<<2",
                "x=1",
                "'1'",
                "\"1\"",
                "1 ? 2 : 3",
                "16#ff",
                "x++",
                "1,2",
                "!x",
            ]),
            4 => self.parameter(),
            _ => self.one_of(&["1+1", " 1 ", "1#2"]),
        }
    }
}
