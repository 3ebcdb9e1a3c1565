//! The part of a file that decides what a finding means.

use std::ops::Range;
use std::path::Path;

use stockade_guard::scanner::{Syntax, syntax_of};

use crate::suppressions::sha256;

/// What decides the meaning of the findings in a file: in a document the block of each and every program, in a program the whole
/// file.
///
/// An edit of other prose leaves a context as it is. Any edit of a program changes it, because an unchanged command has another
/// meaning if a changed one names another host, file or secret.
#[derive(Debug)]
pub(super) struct Contexts<'t> {
    text: &'t str,
    blocks: Vec<Block>,
    /// The digest of every program.
    programs: String,
}

impl<'t> Contexts<'t> {
    pub(super) fn of(path: &Path, text: &'t str) -> Self {
        if !matches!(syntax_of(path, text), Syntax::Markdown | Syntax::Plain) {
            return Self { text, blocks: Vec::new(), programs: sha256(text.as_bytes()) };
        }
        let blocks = blocks(text);
        let programs = blocks.iter().filter(|block| block.is_program);
        let programs: Vec<&str> = programs.map(|block| block.of(text)).collect();
        let programs = sha256(programs.join("\n").as_bytes());
        Self { text, blocks, programs }
    }

    /// Returns the digest of the context of a finding.
    pub(super) fn at(&self, span: &Range<usize>) -> String {
        let first = self.blocks.partition_point(|block| block.span.end <= span.start);
        let own = self.blocks.iter().skip(first);
        let own = own.take_while(|block| block.span.start < span.end.max(span.start + 1));
        let own: Vec<&str> = own.map(|block| block.of(self.text)).collect();
        sha256(format!("{}\0{}", self.programs, own.join("\n")).as_bytes())
    }
}

impl Block {
    fn of<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.span.clone()).unwrap_or_default().trim_end()
    }
}

/// A paragraph, or a fence or indented lines, which may be a program.
#[derive(Debug)]
struct Block {
    span: Range<usize>,
    is_program: bool,
}

/// Splits a document into blocks. A fence that never ends continues to the end.
fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut is_open = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let span = at..at + line.len();
        at = span.end;
        let inner = line
            .trim_start_matches([' ', '\t', '>', '-', '*', '+', '.', ')'])
            .trim_start_matches(|c: char| c.is_ascii_digit());
        let inner = inner.trim_start_matches([' ', '.', ')']);
        let mark = ["```", "~~~"].into_iter().find(|mark| inner.starts_with(mark));
        let is_inside = fence.is_some();
        let is_indented = line.starts_with("    ") || line.starts_with('\t');
        let is_blank = line.trim().is_empty();
        match (fence, mark) {
            (None, Some(_)) => {
                fence = mark;
                is_open = false;
            }
            (Some(open), Some(mark)) if open == mark => fence = None,
            _ => {}
        }
        let is_program = is_inside || mark.is_some() || is_indented;
        match blocks.last_mut().filter(|_| is_open) {
            Some(block) if is_inside || !is_blank => {
                block.span.end = span.end;
                block.is_program |= is_program;
            }
            _ if is_blank && !is_inside => {}
            _ => blocks.push(Block { span, is_program }),
        }
        let has_closed = is_inside && fence.is_none();
        is_open = fence.is_some() || !(is_blank || has_closed);
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> Vec<(&str, bool)> {
        blocks(text).into_iter().map(|block| (text.get(block.span).unwrap(), block.is_program)).collect()
    }

    #[test]
    fn a_document_is_paragraphs_and_programs() {
        assert_eq!(
            parts("a\nb\n\nc\n```sh\nd\n\ne\n```\nf\n\n    g\n"),
            [
                ("a\nb\n", false),
                ("c\n", false),
                ("```sh\nd\n\ne\n```\n", true),
                ("f\n", false),
                ("    g\n", true)
            ]
        );
        assert_eq!(parts("a\n```\nb\n\nc\n"), [("a\n", false), ("```\nb\n\nc\n", true)]);
        assert_eq!(parts("- ~~~\n  a\n  ~~~\nb\n"), [("- ~~~\n  a\n  ~~~\n", true), ("b\n", false)]);
    }

    #[test]
    fn edits_of_other_prose_change_no_context() {
        let text = "Intro.\n\nRun `x`.\n\n```sh\ny\n```\n\nEnd.\n";
        let of = |text: &str| {
            let start = text.find("Run").unwrap();
            Contexts::of(Path::new("a.md"), text).at(&(start..start + 3))
        };
        let same =
            [text.replace("Intro", "Other words"), format!("New.\n\n{text}"), text.replace("End.", "")];
        let other =
            [text.replace("`x`", "`z`"), text.replace("\ny\n", "\nz\n"), format!("{text}\n```\nz\n```\n")];
        assert!(same.iter().all(|text| of(text) == of("Intro.\n\nRun `x`.\n\n```sh\ny\n```\n\nEnd.\n")));
        assert!(other.iter().all(|changed| of(changed) != of(text)));
        let program = |text: &str| Contexts::of(Path::new("a.sh"), text).at(&(0..1));
        assert_ne!(program("a\n\nb\n"), program("a\n\nc\n"));
    }
}
