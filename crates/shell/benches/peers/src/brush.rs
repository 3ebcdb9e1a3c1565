//! Programs found by brush-parser.

use brush_parser::ast::{
    AndOr, AndOrList, Command, CompoundCommand, CompoundList, Pipeline, Program, SimpleCommand,
};
use brush_parser::{ParserOptions, TokenizerOptions};

/// Parses without the parser's caches, which would distort repeated measurements.
pub(crate) fn parse(text: &str) -> Option<Program> {
    let tokens = brush_parser::uncached_tokenize_str(text, &TokenizerOptions::default()).ok()?;
    brush_parser::parse_tokens(&tokens, &ParserOptions::default()).ok()
}

/// Returns the names of the simple commands, as written. Words are not inspected.
pub(crate) fn names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    if let Some(program) = parse(text) {
        program.complete_commands.iter().for_each(|list| compound(list, &mut names));
    }
    names
}

fn compound(list: &CompoundList, names: &mut Vec<String>) {
    list.0.iter().for_each(|item| and_or(&item.0, names));
}

fn and_or(list: &AndOrList, names: &mut Vec<String>) {
    pipeline(&list.first, names);
    for AndOr::And(next) | AndOr::Or(next) in &list.additional {
        pipeline(next, names);
    }
}

fn pipeline(pipeline: &Pipeline, names: &mut Vec<String>) {
    pipeline.seq.iter().for_each(|one| command(one, names));
}

fn command(one: &Command, names: &mut Vec<String>) {
    match one {
        Command::Simple(SimpleCommand { word_or_name, .. }) => {
            names.extend(word_or_name.iter().map(|word| word.value.clone()));
        }
        Command::Compound(inner, _) => of_compound(inner, names),
        Command::Function(function) => of_compound(&function.body.0, names),
        Command::ExtendedTest(..) => {}
    }
}

fn of_compound(inner: &CompoundCommand, names: &mut Vec<String>) {
    match inner {
        CompoundCommand::Arithmetic(_) => {}
        CompoundCommand::ArithmeticForClause(clause) => compound(&clause.body.list, names),
        CompoundCommand::BraceGroup(group) => compound(&group.list, names),
        CompoundCommand::Subshell(subshell) => compound(&subshell.list, names),
        CompoundCommand::ForClause(clause) => compound(&clause.body.list, names),
        CompoundCommand::CaseClause(clause) => {
            clause.cases.iter().filter_map(|case| case.cmd.as_ref()).for_each(|list| compound(list, names));
        }
        CompoundCommand::IfClause(clause) => {
            compound(&clause.condition, names);
            compound(&clause.then, names);
            for other in clause.elses.iter().flatten() {
                other.condition.iter().for_each(|list| compound(list, names));
                compound(&other.body, names);
            }
        }
        CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
            compound(&clause.0, names);
            compound(&clause.1.list, names);
        }
        CompoundCommand::Coprocess(coprocess) => command(&coprocess.body, names),
    }
}
