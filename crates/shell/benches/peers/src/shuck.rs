//! Programs found by shuck-parser.

use shuck_ast::{
    Assignment, AssignmentValue, Command, CompoundCommand, DeclOperand, Redirect, RedirectTarget, Stmt,
    StmtSeq, Word, WordPart, WordPartNode,
};
use shuck_parser::parser::{ParseStatus, Parser};

/// The names of the simple commands, those in substitutions too, as they are written.
pub(crate) fn names(text: &str) -> Vec<String> {
    let parsed = Parser::new(text).parse();
    let mut names = Names { text, found: Vec::new() };
    // An error recovery is a guess, not an opinion.
    if parsed.status == ParseStatus::Clean {
        names.list(&parsed.file.body);
    }
    names.found
}

struct Names<'t> {
    text: &'t str,
    found: Vec<String>,
}

impl Names<'_> {
    fn list(&mut self, list: &StmtSeq) {
        list.stmts.iter().for_each(|one| self.statement(one));
    }

    fn statement(&mut self, one: &Stmt) {
        one.redirects.iter().for_each(|redirect| self.redirect(redirect));
        match &one.command {
            Command::Simple(simple) => {
                self.found.push(simple.name.span.slice(self.text).to_owned());
                self.word(&simple.name);
                simple.args.iter().for_each(|word| self.word(word));
                simple.assignments.iter().for_each(|assignment| self.assignment(assignment));
            }
            Command::Decl(declared) => {
                for operand in &declared.operands {
                    match operand {
                        DeclOperand::Dynamic(word) | DeclOperand::Flag(word) => self.word(word),
                        DeclOperand::Assignment(assignment) => self.assignment(assignment),
                        DeclOperand::Name(_) => {}
                    }
                }
            }
            Command::Binary(binary) => {
                self.statement(&binary.left);
                self.statement(&binary.right);
            }
            Command::Compound(compound) => self.compound(compound),
            Command::Function(function) => self.statement(&function.body),
            Command::AnonymousFunction(function) => self.statement(&function.body),
            Command::Builtin(_) => {}
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::If(one) => {
                self.list(&one.condition);
                self.list(&one.then_branch);
                for (condition, branch) in &one.elif_branches {
                    self.list(condition);
                    self.list(branch);
                }
                one.else_branch.iter().for_each(|branch| self.list(branch));
            }
            CompoundCommand::For(one) => {
                one.words.iter().flatten().for_each(|word| self.word(word));
                self.list(&one.body);
            }
            CompoundCommand::Select(one) => {
                one.words.iter().for_each(|word| self.word(word));
                self.list(&one.body);
            }
            CompoundCommand::Case(one) => {
                self.word(&one.word);
                one.cases.iter().for_each(|case| self.list(&case.body));
            }
            CompoundCommand::While(one) => {
                self.list(&one.condition);
                self.list(&one.body);
            }
            CompoundCommand::Until(one) => {
                self.list(&one.condition);
                self.list(&one.body);
            }
            CompoundCommand::ArithmeticFor(one) => self.list(&one.body),
            CompoundCommand::Subshell(list) | CompoundCommand::BraceGroup(list) => self.list(list),
            CompoundCommand::Time(one) => one.command.iter().for_each(|one| self.statement(one)),
            CompoundCommand::Coproc(one) => self.statement(&one.body),
            // Only zsh has the others, and arithmetic is not inspected.
            _ => {}
        }
    }

    fn redirect(&mut self, redirect: &Redirect) {
        if let RedirectTarget::Word(word) = &redirect.target {
            self.word(word);
        }
    }

    fn assignment(&mut self, assignment: &Assignment) {
        if let AssignmentValue::Scalar(word) = &assignment.value {
            self.word(word);
        }
    }

    fn word(&mut self, word: &Word) {
        self.parts(&word.parts);
    }

    fn parts(&mut self, parts: &[WordPartNode]) {
        for part in parts {
            match &part.kind {
                WordPart::DoubleQuoted { parts, .. } => self.parts(parts),
                WordPart::CommandSubstitution { body, .. } | WordPart::ProcessSubstitution { body, .. } => {
                    self.list(body)
                }
                _ => {}
            }
        }
    }
}
