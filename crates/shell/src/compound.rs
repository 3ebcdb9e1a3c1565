//! Groups, conditions, loops, `case`, functions and coprocesses.

use crate::expansion::is_name;
use crate::grammar::Keyword;
use crate::options::Shell;
use crate::parser::{Parser, Read};
use crate::read_error::ReadErrorKind;
use crate::tree::{Command, Compound, ExpansionKind, Item, Join, Kind, List, Word};
use crate::word::WordContext;

impl<'t> Parser<'t, '_, '_, '_> {
    /// Parses a compound command with its redirections, if one begins here.
    pub(crate) fn compound(&mut self) -> Read<Option<Compound<'t>>> {
        let start = self.text.at;
        let Some(kind) = self.deeper(Self::compound_kind)? else { return Ok(None) };
        let span = self.text.span(start, self.text.at);
        // A function and a coprocess read the redirections of their own bodies.
        if matches!(kind, Kind::Function { .. } | Kind::Coproc { .. }) {
            return Ok(Some(Compound { span, kind, redirects: Vec::new() }));
        }
        match self.redirects() {
            Ok(redirects) => Ok(Some(Compound { span, kind, redirects })),
            Err(error) => {
                self.keep_compound(kind);
                Err(error)
            }
        }
    }

    fn compound_kind(&mut self) -> Read<Option<Kind<'t>>> {
        let kind = match self.text.peek() {
            // `((` is always tried as arithmetic: bash falls back to nested subshells, and such texts are refused as
            // ambiguous.
            b'(' if self.text.peek_second() == b'(' => self.arithmetic_command()?,
            b'(' if self.text.peek_second() == b')' && self.shell() == Shell::Zsh => {
                self.anonymous_function()?
            }
            b'(' => self.subshell()?,
            _ => match self.keyword() {
                Some(Keyword::OpenBrace) => self.group()?,
                Some(Keyword::OpenTest) => self.test()?,
                Some(Keyword::If) => self.condition()?,
                Some(keyword @ (Keyword::While | Keyword::Until)) => self.conditional_loop(keyword)?,
                Some(keyword @ (Keyword::For | Keyword::Select)) => self.for_loop(keyword)?,
                Some(Keyword::Case) => self.case()?,
                Some(Keyword::Function) => self.function_keyword()?,
                Some(Keyword::Coproc) => self.coproc()?,
                // Where it is not a reserved word, `time` is a program.
                Some(Keyword::Time) => return Ok(None),
                Some(_) => return Err(self.refuse_here(ReadErrorKind::Syntax)),
                None => return self.refuse_zsh_keyword().map(|()| None),
            },
        };
        Ok(Some(kind))
    }

    /// Refuses the reserved words that only zsh has.
    fn refuse_zsh_keyword(&mut self) -> Read<()> {
        if self.shell() != Shell::Zsh || !matches!(self.text.peek(), b'f' | b'r' | b'e' | b'a') {
            return Ok(());
        }
        let rest = self.text.rest();
        let word = rest.split([' ', '\t', '\n', ';', '(', '{']).next().unwrap_or_default();
        if matches!(word, "foreach" | "repeat" | "end")
            || rest.contains("\\\n") && word.starts_with(['f', 'r']) && word.contains('\\')
        {
            return Err(self.refuse_here(ReadErrorKind::ZshSyntax));
        }
        Ok(())
    }

    fn subshell(&mut self) -> Read<Kind<'t>> {
        let start = self.text.at;
        self.text.eat(b'(');
        let list = self.filled_list()?;
        let end = if self.text.eat(b')') { Ok(()) } else { Err(self.refuse_unclosed(start)) };
        self.list_unless(end, list).map(Kind::Subshell)
    }

    fn group(&mut self) -> Read<Kind<'t>> {
        let start = self.text.at;
        let list = self.braces()?;
        if self.shell() == Shell::Zsh {
            let mut ahead = self.text;
            while matches!(ahead.peek(), b' ' | b'\t') {
                ahead.at += 1;
            }
            // `{ … } always { … }` is zsh's try and finally: both parts run.
            if ahead.rest().starts_with("always") {
                self.text.at = ahead.at + "always".len();
                self.skip_blanks();
                if self.keyword() != Some(Keyword::OpenBrace) {
                    return Err(self.refuse(ReadErrorKind::ZshSyntax, start));
                }
                let (mut clauses, always) = (vec![list], self.braces());
                let always = self.clauses_unless(always, &mut clauses)?;
                clauses.push(always);
                return Ok(Kind::Clauses(clauses));
            }
        }
        Ok(Kind::Group(list))
    }

    /// Reads `{ …; }`.
    fn braces(&mut self) -> Read<List<'t>> {
        let start = self.text.at;
        self.text.eat(b'{');
        let list = self.filled_list()?;
        let is_closed = self.eat_keyword(Keyword::CloseBrace);
        let end = if is_closed { Ok(()) } else { Err(self.refuse_unclosed(start)) };
        self.list_unless(end, list)
    }

    fn refuse_unclosed(&mut self, start: usize) -> super::read_error::ReadError {
        if self.text.is_at_end() {
            self.refuse(ReadErrorKind::UnterminatedCommand, start)
        } else {
            self.refuse_here(ReadErrorKind::Syntax)
        }
    }

    fn arithmetic_command(&mut self) -> Read<Kind<'t>> {
        if self.shell() == Shell::Sh {
            return Err(self.refuse_here(ReadErrorKind::Dialect));
        }
        let start = self.text.at;
        self.text.eat(b'(');
        self.text.eat(b'(');
        match self.arithmetic(start)? {
            ExpansionKind::Arithmetic { text, inside, .. } => {
                Ok(Kind::Arithmetic { text, inside, span: self.text.span(start, self.text.at) })
            }
            _ => Err(self.refuse(ReadErrorKind::AmbiguousArithmetic, start)),
        }
    }

    fn condition(&mut self) -> Read<Kind<'t>> {
        self.eat_keyword(Keyword::If);
        let mut clauses = vec![self.condition_list()?];
        let end = self.condition_clauses(&mut clauses);
        self.clauses_unless(end, &mut clauses)?;
        Ok(Kind::Clauses(clauses))
    }

    fn condition_clauses(&mut self, clauses: &mut Vec<List<'t>>) -> Read<()> {
        if let Some(short) = self.short_body()? {
            clauses.push(short);
            return Ok(());
        }
        loop {
            self.expect_keyword(Keyword::Then)?;
            clauses.push(self.filled_list()?);
            if self.eat_keyword(Keyword::Elif) {
                clauses.push(self.condition_list()?);
                continue;
            }
            if self.eat_keyword(Keyword::Else) {
                clauses.push(self.filled_list()?);
            }
            return self.expect_keyword(Keyword::Fi);
        }
    }

    fn conditional_loop(&mut self, keyword: Keyword) -> Read<Kind<'t>> {
        self.eat_keyword(keyword);
        let mut clauses = vec![self.condition_list()?];
        let body = match self.short_body() {
            Ok(None) => self.do_done(),
            Ok(Some(short)) => Ok(short),
            Err(error) => Err(error),
        };
        let body = self.clauses_unless(body, &mut clauses)?;
        clauses.push(body);
        Ok(Kind::Clauses(clauses))
    }

    /// Parses a condition. In zsh a bracketed one may be followed directly by its body.
    fn condition_list(&mut self) -> Read<List<'t>> {
        self.skip_blanks();
        let bracketed = matches!(self.text.peek(), b'(') || self.keyword() == Some(Keyword::OpenTest);
        if self.shell() != Shell::Zsh || !bracketed {
            return self.filled_list();
        }
        let pipeline = self.pipeline()?;
        self.skip_blanks();
        if matches!(self.text.peek(), b';' | b'\n' | b'&' | b'|') {
            return self.list_after(pipeline);
        }
        Ok(List { items: vec![Item { pipeline, then: Join::Sequence }] })
    }

    /// Parses the body of zsh's short forms, if one begins here.
    fn short_body(&mut self) -> Read<Option<List<'t>>> {
        if self.shell() != Shell::Zsh || matches!(self.text.peek(), b';' | b'\n' | 0) {
            return Ok(None);
        }
        match self.keyword() {
            Some(Keyword::Then | Keyword::Do) => Ok(None),
            Some(Keyword::OpenBrace) => self.braces().map(Some),
            _ => {
                let pipeline = self.pipeline()?;
                Ok(Some(List { items: vec![Item { pipeline, then: Join::Sequence }] }))
            }
        }
    }

    fn do_done(&mut self) -> Read<List<'t>> {
        self.expect_keyword(Keyword::Do)?;
        let body = self.filled_list()?;
        let end = self.expect_keyword(Keyword::Done);
        self.list_unless(end, body)
    }

    fn for_loop(&mut self, keyword: Keyword) -> Read<Kind<'t>> {
        self.eat_keyword(keyword);
        self.skip_blanks();
        if keyword == Keyword::For && self.text.peek() == b'(' && self.text.peek_second() == b'(' {
            return self.counted_loop();
        }
        let start = self.text.at;
        let name = self.name();
        if !is_name(&name) {
            return Err(self.refuse(ReadErrorKind::Syntax, start));
        }
        self.skip_blanks();
        if self.shell() == Shell::Zsh && self.text.peek() == b'(' {
            let mut words = self.array()?;
            self.skip_blanks();
            let body = match self.short_body() {
                Ok(None) => self.loop_body(),
                Ok(Some(short)) => Ok(short),
                Err(error) => Err(error),
            };
            let body = self.words_unless(body, &mut words)?;
            return Ok(Kind::For { name, words, body });
        }
        let mut words = self.loop_words()?;
        let body = self.loop_body();
        let body = self.words_unless(body, &mut words)?;
        Ok(Kind::For { name, words, body })
    }

    /// Reads `in …` and the separator after it.
    fn loop_words(&mut self) -> Read<Vec<Word<'t>>> {
        self.skip_line_ends()?;
        let mut words = Vec::new();
        if !self.eat_in() {
            if self.text.eat(b';') {
                self.skip_blanks();
            }
            return Ok(words);
        }
        let end = self.words_in(&mut words);
        self.words_unless(end, &mut words)?;
        Ok(words)
    }

    fn words_in(&mut self, words: &mut Vec<Word<'t>>) -> Read<()> {
        loop {
            self.skip_blanks();
            match self.word(WordContext::Argument)? {
                Some(word) => words.push(word),
                None => break,
            }
        }
        match self.text.peek() {
            b';' => self.text.at += 1,
            b'\n' => self.line_end()?,
            _ => return Err(self.refuse_missing_command()),
        }
        Ok(())
    }

    /// Moves over the word `in`.
    fn eat_in(&mut self) -> bool {
        let mut ahead = self.text;
        let found =
            ahead.eat(b'i') && ahead.eat(b'n') && matches!(ahead.peek(), 0 | b' ' | b'\t' | b'\n' | b';');
        if found {
            self.text.at = ahead.at;
        }
        found
    }

    fn counted_loop(&mut self) -> Read<Kind<'t>> {
        let Kind::Arithmetic { text, inside, .. } = self.arithmetic_command()? else {
            return Err(self.refuse_here(ReadErrorKind::Syntax));
        };
        self.skip_blanks();
        self.text.eat(b';');
        Ok(Kind::Counted { text, inside, body: self.loop_body()? })
    }

    /// Reads the body of a `for` loop: `do … done`, or braces.
    fn loop_body(&mut self) -> Read<List<'t>> {
        self.skip_line_ends()?;
        if self.keyword() == Some(Keyword::OpenBrace) && self.shell() != Shell::Sh {
            return self.braces();
        }
        self.do_done()
    }

    fn case(&mut self) -> Read<Kind<'t>> {
        let start = self.text.at;
        self.eat_keyword(Keyword::Case);
        self.skip_blanks();
        let Some(subject) = self.word(WordContext::Argument)? else {
            return Err(self.refuse_missing_command());
        };
        let (mut words, mut arms) = (vec![subject], Vec::new());
        let end = self.case_arms(start, &mut words, &mut arms);
        let end = self.clauses_unless(end, &mut arms);
        self.words_unless(end, &mut words)?;
        Ok(Kind::Case { words, arms })
    }

    fn case_arms(&mut self, start: usize, words: &mut Vec<Word<'t>>, arms: &mut Vec<List<'t>>) -> Read<()> {
        self.skip_line_ends()?;
        if !self.eat_in() {
            return Err(self.refuse_missing_command());
        }
        loop {
            self.skip_line_ends()?;
            if self.eat_keyword(Keyword::Esac) {
                return Ok(());
            }
            if self.text.is_at_end() {
                return Err(self.refuse(ReadErrorKind::UnterminatedCommand, start));
            }
            self.case_patterns(words)?;
            arms.push(self.list()?);
            if !self.arm_end() {
                return self.expect_keyword(Keyword::Esac);
            }
        }
    }

    fn case_patterns(&mut self, words: &mut Vec<Word<'t>>) -> Read<()> {
        self.text.eat(b'(');
        loop {
            self.skip_blanks();
            match self.word(WordContext::Argument)? {
                Some(word) => words.push(word),
                None => return Err(self.refuse_missing_command()),
            }
            self.skip_blanks();
            if self.text.eat(b')') {
                return Ok(());
            }
            if !self.text.eat(b'|') {
                return Err(self.refuse_missing_command());
            }
        }
    }

    /// Moves over `;;`, `;&` or `;;&`.
    fn arm_end(&mut self) -> bool {
        if self.text.peek() != b';' {
            return false;
        }
        self.text.eat(b';');
        if self.text.eat(b';') {
            self.text.eat(b'&');
        } else if !self.text.eat(b'&') {
            // zsh: `;|`
            self.text.eat(b'|');
        }
        true
    }

    fn function_keyword(&mut self) -> Read<Kind<'t>> {
        if self.shell() == Shell::Sh {
            return Err(self.refuse_here(ReadErrorKind::Dialect));
        }
        self.eat_keyword(Keyword::Function);
        self.skip_blanks();
        let word = self.word(WordContext::Argument)?;
        let name = word.as_ref().and_then(Word::bare).cloned();
        if name.is_none() || word.is_some_and(|word| word.marks != super::tree::Marks::default()) {
            return Err(self.refuse_here(ReadErrorKind::Syntax));
        }
        self.skip_blanks();
        if self.text.peek() == b'(' && self.text.peek_second() == b')' {
            self.text.eat(b'(');
            self.text.eat(b')');
        }
        Ok(Kind::Function { name, body: self.function_body()? })
    }

    /// zsh: `() { … }` runs at once.
    fn anonymous_function(&mut self) -> Read<Kind<'t>> {
        self.text.eat(b'(');
        self.text.eat(b')');
        Ok(Kind::Function { name: None, body: self.function_body()? })
    }

    /// Reads the body of a function, a compound command.
    pub(crate) fn function_body(&mut self) -> Read<Command<'t>> {
        self.skip_line_ends()?;
        match self.compound()? {
            Some(body) => Ok(Command::Compound(Box::new(body))),
            None if self.text.is_at_end() => Err(self.refuse_here(ReadErrorKind::UnterminatedCommand)),
            None => Err(self.refuse_here(ReadErrorKind::Syntax)),
        }
    }

    fn coproc(&mut self) -> Read<Kind<'t>> {
        if self.shell() == Shell::Sh {
            return Err(self.refuse_here(ReadErrorKind::Dialect));
        }
        self.eat_keyword(Keyword::Coproc);
        self.skip_blanks();
        let start = self.text.at;
        // A name is one only before a compound command.
        let name = self.name();
        if is_name(&name) && self.shell() == Shell::Bash && matches!(self.text.peek(), b' ' | b'\t') {
            self.skip_blanks();
            if let Some(compound) = self.compound()? {
                return Ok(Kind::Coproc { name: Some(name), command: Command::Compound(Box::new(compound)) });
            }
        }
        self.text.at = start;
        match self.compound()? {
            Some(compound) => Ok(Kind::Coproc { name: None, command: Command::Compound(Box::new(compound)) }),
            // bash prints a substitution again before it runs it, and the name of such a coprocess would then be
            // taken for the program.
            None if !self.state.is_outermost_compound() => Err(self.refuse_here(ReadErrorKind::Dialect)),
            None => Ok(Kind::Coproc { name: None, command: self.simple()? }),
        }
    }
}
