//! Commands of every form that shells know: lists, pipelines, compound commands, here-documents.

use stockade_shell::Shell;

use crate::random::Random;

/// How deep commands are nested.
const MAX_DEPTH: usize = 4;

/// A text that is being written.
#[derive(Debug)]
pub(crate) struct Grammar {
    pub(crate) random: Random,
    pub(crate) shell: Shell,
    pub(crate) out: String,
    pub(crate) depth: usize,
    /// Numbers the arguments, so that no two commands are the same.
    pub(crate) counter: usize,
    /// The bodies of here-documents that begin at the next line end.
    pending: Vec<String>,
    /// A function that calls itself would never end.
    in_function: bool,
    /// Most words of a plain text are plain, so that the few others meet in more than a handful of ways.
    is_plain: bool,
    /// Whether it generates what shells set, switch and evaluate, besides what they run.
    is_hostile: bool,
}

impl Grammar {
    /// Starts an empty text.
    pub(crate) fn new(shell: Shell, mut random: Random) -> Self {
        let is_plain = !random.once_in(4);
        let is_hostile = random.once_in(2);
        Self {
            random,
            shell,
            out: String::new(),
            depth: 0,
            counter: 0,
            pending: Vec::new(),
            in_function: false,
            is_plain,
            is_hostile,
        }
    }

    /// Returns a whole text.
    pub(crate) fn text(mut self) -> String {
        // Some texts enable patterns in parentheses for the following lines, which shells read line by line.
        match self.shell {
            Shell::Bash if self.random.once_in(8) => {
                self.one_of(&["shopt -s extglob\n", "shopt -s extglob dotglob\n"]);
            }
            _ => {}
        }
        self.list();
        if !self.pending.is_empty() || self.random.once_in(8) {
            self.line_end();
        }
        self.out
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Returns whether the next word is to be a plain one.
    pub(crate) fn stays_plain(&mut self) -> bool {
        self.is_plain && !self.random.once_in(3)
    }

    pub(crate) fn one_of(&mut self, choices: &[&str]) {
        let chosen = self.random.one_of(choices);
        self.push(chosen);
    }

    /// Returns the output of `write` without appending it.
    pub(crate) fn aside(&mut self, write: impl FnOnce(&mut Self)) -> String {
        let outer = std::mem::take(&mut self.out);
        let waiting = std::mem::take(&mut self.pending);
        write(self);
        if !self.pending.is_empty() {
            self.line_end();
        }
        self.pending = waiting;
        std::mem::replace(&mut self.out, outer)
    }

    /// Writes commands joined by `;`, `&`, `&&`, `||` and line ends.
    pub(crate) fn list(&mut self) {
        self.pipeline();
        let bound = if self.depth == 0 { 4 } else { 2 };
        for _ in 0..self.random.below(bound) {
            match self.random.below(10) {
                0..=3 => self.one_of(&[";", "; ", " ;"]),
                4 => self.one_of(&[" & ", "&"]),
                5 => self.one_of(&[" && ", "&&", " &&\n", "&& \\\n"]),
                6 => self.one_of(&[" || ", "||", " ||\n "]),
                _ => self.line_end(),
            }
            self.pipeline();
        }
    }

    /// Ends a line, often with a comment before it, and writes the here-documents that wait for it.
    fn line_end(&mut self) {
        if self.random.once_in(6) {
            self.one_of(&[" # rm c1", " #'", " # $(rm c2)", "\t#\"", " #`", " # \\", " #<<E"]);
        }
        self.push("\n");
        for body in std::mem::take(&mut self.pending) {
            self.push(&body);
        }
    }

    fn pipeline(&mut self) {
        match self.random.below(24) {
            0 => self.push("! "),
            1 => self.push("time "),
            2 => self.push("time -p "),
            3 if self.shell == Shell::Zsh => self.one_of(&["noglob ", "nocorrect ", "command "]),
            _ => {}
        }
        self.command();
        while self.random.once_in(6) {
            self.one_of(&[" | ", "|", " |& ", " |\n", "| \\\n"]);
            self.command();
        }
    }

    fn command(&mut self) {
        self.depth += 1;
        if self.is_hostile && self.random.once_in(2) {
            self.hostile();
        } else if self.depth < MAX_DEPTH && self.random.once_in(3) {
            self.compound();
            while self.random.once_in(6) {
                self.redirect();
            }
        } else if self.depth < MAX_DEPTH && self.random.once_in(5) {
            self.wrapped();
        } else {
            self.simple();
        }
        self.depth -= 1;
    }

    /// Writes a program with assignments before it, and arguments and redirections in any order after it.
    pub(crate) fn simple(&mut self) {
        while self.random.once_in(7) {
            self.assignment();
            self.push(" ");
        }
        if self.random.once_in(16) {
            self.redirect();
            self.push(" ");
        }
        self.program();
        for _ in 0..self.random.below(4) {
            if self.random.once_in(6) {
                self.redirect();
            } else {
                self.one_of(&[" ", "  ", "\t", " \\\n"]);
                self.word();
            }
        }
    }

    fn assignment(&mut self) {
        self.one_of(&["x", "y", "v1", "x+"]);
        self.push("=");
        match self.random.below(6) {
            0 => {}
            1 if self.shell != Shell::Sh => {
                self.push("(");
                self.word();
                self.one_of(&[" ", "\n", " # c\n"]);
                self.word();
                self.push(")");
            }
            _ => self.word(),
        }
    }

    fn redirect(&mut self) {
        self.one_of(&[" ", ""]);
        match self.random.below(9) {
            0 => self.heredoc(),
            1 => {
                self.push(" <<< ");
                self.word();
            }
            2 => self.one_of(&[" 2>&1", " >&2", " 2>/dev/null", " </dev/null"]),
            3 => {
                self.one_of(&[" {fd}>", " 3<", " &>", " >&", " >|", " <>", " &>>"]);
                self.push("f1");
            }
            _ => {
                self.one_of(&[" >", " > ", " >>", " < ", " 2>"]);
                self.file();
            }
        }
    }

    fn heredoc(&mut self) {
        let strips = self.random.once_in(3);
        self.push(if strips { " <<-" } else { " <<" });
        let (written, end) = match self.random.below(10) {
            0..=3 => ("E", "E"),
            4 => ("'E'", "E"),
            5 => ("\"E\"", "E"),
            6 => ("\\E", "E"),
            7 => (" E", "E"),
            8 => ("E\\\nF", "EF"),
            _ => ("E'F'", "EF"),
        };
        self.push(written);
        let mut body = self.aside(Self::heredoc_lines);
        if strips {
            body = body.lines().map(|line| format!("\t{line}\n")).collect();
        }
        self.pending.push(format!("{body}{}{end}\n", if strips { "\t" } else { "" }));
    }

    fn heredoc_lines(&mut self) {
        for _ in 0..self.random.below(4) {
            match self.random.below(7) {
                0 => self.push("E "),
                1 => self.one_of(&["'", "\"", "\\$(rm h1)", "$x", "${x:-'a'}", "# c", "\\", " E"]),
                2 | 3 if self.depth < MAX_DEPTH => self.substitution(),
                _ => self.one_of(&["rm h2", "text", "a `echo b` c", "$((1+1))"]),
            }
            self.push("\n");
        }
    }

    fn compound(&mut self) {
        match self.random.below(14) {
            0 => self.between(&["( ", "("], &[" )", ")"]),
            1 => self.between(&["{ ", "{\n"], &["; }", "\n}"]),
            2 | 3 => self.condition(),
            4 => self.repetition(),
            5 => {
                self.one_of(&["for i in ", "for i in a ", "select i in "]);
                self.word();
                self.between(&["; do ", "\ndo "], &["; done", "\ndone"]);
            }
            6 => self.between(&["for ((i=0; i<2; i++)); do ", "for ((i=0;i<1;i++)) { "], &["; done", "; }"]),
            7 | 8 => self.choice(),
            9 => self.test(),
            10 => self.function(),
            11 => self.between(&["coproc { ", "coproc X { "], &["; }"]),
            12 => {
                self.push("((");
                self.arithmetic();
                self.one_of(&["))", " ))"]);
            }
            _ if self.shell == Shell::Zsh => self.only_zsh(),
            _ => self.between(&["( (", "((", "{ ("], &[") )", "))", "); }"]),
        }
    }

    fn between(&mut self, begin: &[&str], end: &[&str]) {
        self.one_of(begin);
        self.list();
        if !self.pending.is_empty() {
            self.line_end();
        }
        self.one_of(end);
    }

    fn condition(&mut self) {
        self.push("if ");
        self.list();
        self.between(&["; then ", "\nthen "], &["; ", "\n"]);
        if self.random.once_in(3) {
            self.between(&["elif id; then ", "else "], &["; ", "\n"]);
        }
        self.push("fi");
    }

    /// Loops end after one turn, or they would not end at all.
    fn repetition(&mut self) {
        self.one_of(&["while ", "until ", "while ! "]);
        self.list();
        self.between(&["; do ", "\ndo "], &["; break; done", "\nbreak\ndone"]);
    }

    fn choice(&mut self) {
        self.push("case ");
        self.word();
        self.one_of(&[" in ", " in\n"]);
        for _ in 0..=self.random.below(2) {
            self.one_of(&[
                "a) ",
                "(a|b) ",
                "*) ",
                "[a-z]*) ",
                "\"a b\") ",
                "a | 'c')",
                "$x) ",
                "esac) ",
                "(esac) ",
            ]);
            self.list();
            self.one_of(&[" ;; ", ";;\n", " ;& ", " ;;& "]);
        }
        self.push("esac");
    }

    fn test(&mut self) {
        self.push("[[ ");
        self.one_of(&["", "! ", "-n ", "-e ", "-v ", "( "]);
        self.word();
        if self.random.once_in(2) {
            self.one_of(&[" == ", " = ", " -eq ", " =~ ", " < ", " && ", " || ", " != ", " -nt "]);
            self.word();
        }
        self.one_of(&[" ]]", " ]]", " ) ]]", " && -z '' ]]"]);
    }

    fn function(&mut self) {
        if self.in_function {
            return self.simple();
        }
        self.in_function = true;
        self.one_of(&["f() ", "f () ", "function f ", "function f() ", "f()\n", "rm() "]);
        self.between(&["{ ", "( ", "{\n"], &["; }", "\n}", " )"]);
        self.in_function = false;
        if self.random.once_in(2) {
            self.one_of(&["; f a1", "\nf", "; f | f", " && f $(f)"]);
        }
    }

    fn only_zsh(&mut self) {
        match self.random.below(6) {
            0 => self.between(&["repeat 2 { ", "repeat 1; do "], &["; }", "; done"]),
            1 => self.between(&["foreach i (a b) "], &["; end"]),
            2 => self.between(&["{ "], &["; } always { rm z1; }"]),
            3 => self.between(&["if [[ -n a ]] { "], &["; }"]),
            4 => self.between(&["() { "], &["; }", "; } a b"]),
            _ => self.between(&["for i (a b) ", "for i j in a b; { "], &["", "; }"]),
        }
    }

    /// Writes a program that runs another one, which it names in its arguments or as text.
    fn wrapped(&mut self) {
        match self.random.below(12) {
            0..=4 => {
                self.one_of(&[
                    "env ",
                    "env -i ",
                    "env A=1 ",
                    "env -u A B='c d' ",
                    "nohup ",
                    "nice ",
                    "nice -n 5 ",
                    "nice -5 ",
                    "timeout 5 ",
                    "timeout -k 1 5 ",
                    "timeout --signal=9 5s ",
                    "setsid ",
                    "setsid -w ",
                    "stdbuf -o0 ",
                    "command ",
                    "command -p ",
                    "exec ",
                    "xargs ",
                    "xargs -n 1 ",
                    "xargs -I{} ",
                    "env -- ",
                    "builtin eval ",
                    "env -S ",
                    "time -p ",
                    "sudo ",
                    "command -- ",
                    "exec -- ",
                    "exec -c ",
                    "env env ",
                    "timeout 5 env ",
                    "nohup nice -n1 ",
                ]);
                self.simple();
            }
            5 => {
                self.one_of(&["find . -maxdepth 0 -exec ", "find a -exec ", "find . -name a -execdir "]);
                self.program();
                self.one_of(&[" {} \\;", " {} +", " {} ';'", " 'x{}' \\;"]);
            }
            6 => {
                let text = self.aside(Self::list);
                self.one_of(&[
                    "bash -c ",
                    "sh -c ",
                    "bash -ec ",
                    "eval ",
                    "eval -- ",
                    "zsh -c ",
                    "bash -c -- ",
                    "env bash -c ",
                ]);
                self.quoted(&text);
                self.one_of(&["", " a b", " -"]);
            }
            7 => {
                let text = self.aside(Self::list);
                self.push("trap ");
                self.quoted(&text);
                self.one_of(&[" EXIT", " 0", " ERR", " DEBUG"]);
            }
            8 => {
                let text = self.aside(Self::simple);
                self.one_of(&["echo ", "printf %s ", "printf "]);
                self.quoted(&text);
                self.one_of(&[
                    " | sh",
                    " | bash",
                    " | bash -s",
                    " | env sh",
                    " | cat | sh",
                    " | { sh; }",
                    " | ( bash )",
                ]);
            }
            9 => {
                let text = self.aside(Self::list);
                self.one_of(&["bash <<< ", "sh <<<", "bash -s a <<< "]);
                self.quoted(&text);
            }
            10 => {
                self.one_of(&[
                    "sh",
                    "bash",
                    "bash -s",
                    "bash -",
                    "bash /dev/stdin",
                    "source /dev/stdin",
                    ". /dev/stdin",
                ]);
                let text = self.aside(Self::list);
                self.one_of(&[" << 'E'", " <<\\E", " <<E"]);
                self.pending.push(format!("{text}\nE\n"));
            }
            _ => {
                self.one_of(&[
                    "alias ll=",
                    "declare v=",
                    "export A=",
                    "local q=",
                    "typeset -i n=",
                    "readonly r=",
                ]);
                self.word();
            }
        }
    }

    /// Writes a text so that the shell reads it as one word.
    fn quoted(&mut self, text: &str) {
        if self.random.once_in(3) {
            let special = |c: char| if "$`\"\\".contains(c) { format!("\\{c}") } else { c.to_string() };
            let text: String = text.chars().map(special).collect();
            self.push(&format!("\"{text}\""));
        } else {
            self.push(&format!("'{}'", text.replace('\'', r"'\''")));
        }
    }
}
