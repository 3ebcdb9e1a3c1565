//! Regions of a document: the kind of text at each byte.
//!
//! Only the distinctions that rules ask for are made, and only as far into the text as needed. Where Markdown is
//! ambiguous, the answer is the one that hides less from the rules: an unclosed fence is not a fence, and a line is a
//! table row only if it looks like one at both ends or follows a header separator.

mod blocks;
mod spans;

use std::ops::Range;

use crate::facts;
use crate::flow::{FlowMap, Inflow, Inflows, Language};
use crate::rule::{Region, Regions};
use blocks::{Blocks, is_indented};

/// How a text is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Syntax {
    /// Prose with fences, code spans and tables.
    #[default]
    Markdown,
    /// A shell script, all of it one region.
    Shell,
    /// A program in another language, or a configuration file.
    Code,
    /// Text without markup, all of it prose.
    Plain,
}

/// A statement about commands that facts decide.
struct Statement {
    inflow: Inflow,
    /// Whether a text has a sign of such a command. Most have none, and are not read as commands then.
    may_hold: fn(&str) -> bool,
    /// The commands of which it holds, in order.
    commands: fn(&str, &[facts::Program]) -> Vec<Range<usize>>,
}

/// Statements that a condition of a rule can ask about, each with its readers.
const STATEMENTS: [Statement; 3] = [
    Statement { inflow: Inflow::RemovesData, may_hold: facts::may_remove, commands: facts::removes_data },
    Statement {
        inflow: Inflow::TrustedFile,
        may_hold: facts::may_write_trusted,
        commands: facts::writes_trusted,
    },
    Statement { inflow: Inflow::PushesSecret, may_hold: facts::may_push, commands: facts::pushes_secret },
];

/// Maximum number of commands around a place that are looked at.
const MAX_AROUND: usize = 16;

/// Returns the region of offsets, reading the text at most once.
#[derive(Debug)]
pub(crate) struct RegionMap<'t> {
    text: &'t str,
    /// The region of the whole text, if it is not Markdown.
    whole: Option<Region>,
    blocks: Blocks<'t>,
    /// Start of each region, ascending; prose comes before the first.
    borders: Vec<Border>,
    /// The last answer, and the bytes for which it is valid: the next question is usually about a nearby byte.
    last: (Range<usize>, Region),
    /// The last queried line, and whether it is indented like a program.
    line: (Range<usize>, bool),
    /// The programs of the text, once data flow was queried, and their flows where they were queried.
    programs: Option<Vec<Program>>,
    /// The commands of which facts hold, once these were queried: whose downloads are run later, and those of each statement.
    run_later: Option<Vec<facts::Fetch>>,
    stated: [Option<Vec<Range<usize>>>; STATEMENTS.len()],
    /// The last command whose packages were queried, and what holds of them.
    packages: (Range<usize>, Vec<(Range<usize>, Inflows)>),
}

/// A part of the text that is or may be a program, and its data flow once it was queried.
#[derive(Debug)]
struct Program {
    span: Range<usize>,
    language: Language,
    flows: Option<FlowMap>,
    /// Inflows that are known to be absent.
    absent: Inflows,
}

impl Program {
    fn new(span: Range<usize>, language: Language) -> Self {
        Self { span, language, flows: None, absent: Inflows::NONE }
    }

    /// Returns it as one that a shell may run. A whole file in another language, such as a Makefile, may list commands.
    fn in_shell(&self, is_whole: bool) -> Option<facts::Program> {
        let is_code = self.language == Language::Of(Region::Code);
        (is_whole || !is_code).then(|| facts::Program {
            span: self.span.clone(),
            is_listed: is_code,
            is_string: false,
        })
    }
}

/// The beginning of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Border {
    start: usize,
    region: Region,
}

impl<'t> RegionMap<'t> {
    /// Returns the map of `text`. Costs nothing until the first query.
    pub(crate) fn new(text: &'t str, syntax: Syntax) -> Self {
        let whole = match syntax {
            Syntax::Markdown => None,
            Syntax::Shell => Some(Region::Shell),
            Syntax::Code => Some(Region::Code),
            Syntax::Plain => Some(Region::Prose),
        };
        Self {
            text,
            whole,
            blocks: Blocks::new(text),
            borders: Vec::new(),
            last: (0..0, Region::Prose),
            line: (0..0, false),
            programs: None,
            run_later: None,
            stated: [const { None }; STATEMENTS.len()],
            packages: (0..0, Vec::new()),
        }
    }

    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// Returns the map of a decoded text.
    pub(crate) fn of_decoded(text: &'t str) -> Self {
        Self { whole: Some(Region::Decoded), ..Self::new(text, Syntax::Plain) }
    }

    /// Returns the region of all bytes, if the whole text has one.
    pub(crate) fn whole(&self) -> Option<Region> {
        self.whole
    }

    /// Returns the region of the byte at `offset`.
    pub(crate) fn at(&mut self, offset: usize) -> Region {
        if let Some(region) = self.whole {
            return region;
        }
        if !self.last.0.contains(&offset) {
            self.last = self.stretch_of(offset);
        }
        self.last.1
    }

    /// Returns the inflows of the statement at `offset`, or the empty set if none of `needed` is among them. Its
    /// program is read for the first answer.
    pub(crate) fn flows_at(&mut self, offset: usize, needed: Inflows) -> Inflows {
        let text = self.text;
        let run_later = Inflows::of(&[Inflow::RunLater]);
        if needed.has_any_of(run_later) && self.is_run_later(offset) {
            return run_later;
        }
        for (index, statement) in STATEMENTS.iter().enumerate() {
            if needed.contains(statement.inflow) && self.is_stated(index, statement, offset) {
                return Inflows::of(&[statement.inflow]);
            }
        }
        let of_packages = Inflows::of(&[Inflow::PackageAddress, Inflow::LookAlikePackage]);
        if needed.has_any_of(of_packages) {
            return self.packages_at(offset).common(needed);
        }
        let stated = STATEMENTS.iter().fold(needed, |rest, statement| rest.without(statement.inflow));
        if stated.without(Inflow::RunLater).is_empty() {
            return Inflows::default();
        }
        if self.programs.is_none() {
            self.programs = Some(self.programs());
        }
        let programs = self.programs.as_mut().map_or([].as_mut_slice(), Vec::as_mut_slice);
        let after = programs.partition_point(|program| program.span.start <= offset);
        let program = after.checked_sub(1).and_then(|index| programs.get_mut(index));
        program.filter(|program| offset < program.span.end).map_or(Inflows::default(), |program| {
            let Program { span, language, flows, absent } = program;
            let is_absent = |absent: Inflows| absent.common(needed) == needed;
            if flows.is_none()
                && !is_absent(*absent)
                && !FlowMap::may_hold(text.get(span.clone()).unwrap_or_default(), needed)
            {
                *absent = absent.with(needed);
            }
            if is_absent(*absent) {
                return Inflows::default();
            }
            flows.get_or_insert_with(|| FlowMap::of(text, span, *language)).at(offset)
        })
    }

    /// Whether the command at `offset` downloads a file that the text runs later.
    fn is_run_later(&mut self, offset: usize) -> bool {
        let text = self.text;
        if self.run_later.is_none() && !facts::may_save(text) {
            self.run_later = Some(Vec::new());
        }
        if self.run_later.as_ref().is_some_and(Vec::is_empty) {
            return false;
        }
        if self.run_later.is_none() {
            self.run_later = Some(facts::fetches(text, &self.in_shell(true), facts::Wanted::RunLater));
        }
        self.run_of(offset).is_some()
    }

    /// Returns the command that runs what the command at `offset` downloads, once downloads were queried.
    pub(crate) fn run_of(&self, offset: usize) -> Option<Range<usize>> {
        let mut fetches = self.run_later.iter().flatten();
        fetches.find(|fetch| fetch.span.contains(&offset)).and_then(|fetch| fetch.run_by.clone())
    }

    /// Returns what holds of the packages that the command at `offset` installs. A later match in it has the same answer.
    fn packages_at(&mut self, offset: usize) -> Inflows {
        if !self.packages.0.contains(&offset) {
            let (length, packages) = facts::packages_at(self.text.get(offset..).unwrap_or_default());
            let of_command = |facts::Installs { span, packages }| {
                let mut flows = Inflows::NONE;
                if packages.iter().any(|package| !package.known_vendor) {
                    flows = flows.with(Inflows::of(&[Inflow::PackageAddress]));
                }
                if packages.iter().any(|package| package.resembles.is_some()) {
                    flows = flows.with(Inflows::of(&[Inflow::LookAlikePackage]));
                }
                (offset + span.start..offset + span.end, flows)
            };
            self.packages = (offset..offset + length, packages.into_iter().map(of_command).collect());
        }
        // A program that runs another is listed with it.
        let commands = self.packages.1.iter().filter(|(span, _)| span.contains(&offset));
        commands.fold(Inflows::NONE, |all, (_, flows)| all.with(*flows))
    }

    /// Whether a statement holds of the command at `offset`.
    fn is_stated(&mut self, index: usize, statement: &Statement, offset: usize) -> bool {
        if self.stated.get(index).is_some_and(Option::is_none) {
            let spans = match (statement.may_hold)(self.text) {
                true => (statement.commands)(self.text, &self.in_shell(false)),
                false => Vec::new(),
            };
            self.stated.iter_mut().skip(index).take(1).for_each(|stated| *stated = Some(spans.clone()));
        }
        let spans = self.stated.get(index).and_then(Option::as_deref).unwrap_or_default();
        let after = spans.partition_point(|span| span.start <= offset);
        // A program that runs another is listed with it.
        spans.iter().take(after).rev().take(MAX_AROUND).any(|span| span.contains(&offset))
    }

    /// Returns the parts of the text that a shell may run, if wanted with the quoted strings of a file that is no script. Tests and
    /// lists quote removals as examples, but downloads rarely.
    pub(crate) fn in_shell(&mut self, with_quoted: bool) -> Vec<facts::Program> {
        if self.programs.is_none() {
            self.programs = Some(self.programs());
        }
        let is_whole = self.whole.is_some();
        let programs = self.programs.as_deref().unwrap_or_default();
        let mut in_shell: Vec<_> = programs.iter().filter_map(|program| program.in_shell(is_whole)).collect();
        if with_quoted && in_shell.iter().any(|program| program.is_listed) {
            in_shell.extend(facts::quoted(self.text).map(|(program, _)| program));
        }
        in_shell
    }

    /// Returns the parts of the text that are or may be programs.
    fn programs(&mut self) -> Vec<Program> {
        let program = Program::new;
        if let Some(region) = self.whole {
            return vec![program(0..self.text.len(), Language::Of(region))];
        }
        while self.blocks.read_block(&mut self.borders) {}
        let unclosed = self.blocks.unclosed();
        let end = unclosed.map_or(self.text.len(), |(start, _)| start);
        let ends = self.borders.iter().skip(1).map(|border| border.start).chain([end]);
        let mut language = Language::Unknown;
        let mut is_below_row = false;
        let mut programs = Vec::new();
        for (border, next) in self.borders.iter().zip(ends).take_while(|(border, _)| border.start < end) {
            let was_below_row = std::mem::replace(&mut is_below_row, border.region == Region::TableRow);
            match border.region {
                // Below a drawing a fence continues in its language, and an apparent fence may be part of its text.
                Region::Code if self.blocks.begins_fence(border.start) => {
                    let begun = self.blocks.language_at(border.start);
                    language = if was_below_row { Language::Unknown } else { begun };
                }
                Region::Code => {}
                Region::Shell | Region::InlineCode => language = Language::Of(border.region),
                _ => continue,
            }
            programs.push(program(border.start..next.min(end), language));
        }
        self.add_indented(0..end, &mut programs);
        // Everything behind an unclosed fence is one program.
        if let Some((start, _)) = unclosed {
            programs.push(program(start..self.text.len(), self.blocks.language_at(start)));
        }
        programs
    }

    /// Adds the lines that are indented like a program, consecutive ones as one program.
    fn add_indented(&mut self, within: Range<usize>, programs: &mut Vec<Program>) {
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut at = within.start;
        let mut is_open = false;
        for line in self.text.get(within).unwrap_or_default().split_inclusive('\n') {
            let span = at..at + line.len();
            at = span.end;
            let is_blank = line.trim().is_empty();
            let is_part = is_open && is_blank
                || is_indented(line) && matches!(self.at(span.start), Region::Prose | Region::InlineCode);
            match runs.last_mut().filter(|_| is_open && is_part) {
                Some(run) => run.end = span.end,
                None if is_part => runs.push(span),
                None => {}
            }
            is_open = is_part;
        }
        if runs.is_empty() {
            return;
        }
        let is_inside = |span: &Range<usize>| {
            let after = runs.partition_point(|run| run.start <= span.start);
            after.checked_sub(1).and_then(|index| runs.get(index)).is_some_and(|run| span.start < run.end)
        };
        programs.retain(|program| !is_inside(&program.span));
        programs.extend(runs.into_iter().map(|span| Program::new(span, Language::Unknown)));
        programs.sort_unstable_by_key(|program| program.span.start);
    }

    /// Whether a match at `offset` counts. Text behind an unclosed fence, and an indented line, are both prose and
    /// program.
    pub(crate) fn count_at(&mut self, regions: Regions, offset: usize) -> bool {
        let region = self.at(offset);
        if regions.count_in(region) {
            return true;
        }
        if self.whole.is_some() {
            return false;
        }
        let unclosed = self.blocks.unclosed().filter(|(start, _)| *start <= offset);
        unclosed.is_some_and(|(_, region)| regions.count_in(region))
            || matches!(region, Region::Prose | Region::InlineCode)
                && (regions.count_in(Region::Code) || regions.count_in(Region::Shell))
                && self.is_in_indented(offset)
    }

    /// Whether the line at `offset` is indented like a program. Consecutive queries about one line share the answer.
    fn is_in_indented(&mut self, offset: usize) -> bool {
        if !self.line.0.contains(&offset) {
            let bytes = self.text.as_bytes();
            let (before, after) = bytes.split_at_checked(offset).unwrap_or((bytes, &[]));
            let start = memchr::memrchr(b'\n', before).map_or(0, |end| end + 1);
            let end = memchr::memchr(b'\n', after).map_or(bytes.len(), |end| offset + end + 1);
            self.line = (start..end, self.text.get(start..end).is_some_and(is_indented));
        }
        self.line.1
    }

    /// Returns the region of the byte at `offset`, with the surrounding bytes that certainly share it.
    fn stretch_of(&mut self, offset: usize) -> (Range<usize>, Region) {
        // Blocks are read once and in order, whatever the order of queries: that bounds their total cost.
        while self.blocks.done() <= offset && self.blocks.read_block(&mut self.borders) {}
        let after = self.borders.partition_point(|border| border.start <= offset);
        // Behind the last border the answer is valid only as far as was read: the next block may begin another
        // region.
        let end = self.borders.get(after).map_or(self.blocks.done(), |border| border.start);
        let border = after.checked_sub(1).and_then(|index| self.borders.get(index));
        border.map_or((0..end, Region::Prose), |border| (border.start..end, border.region))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws the regions of a text under it: one letter for each byte.
    fn drawn(text: &str) -> String {
        let mut map = RegionMap::new(text, Syntax::Markdown);
        let letter = |region| match region {
            Region::Prose => 'p',
            Region::TableRow => 't',
            Region::InlineCode => 'i',
            Region::Code => 'c',
            Region::Shell => 's',
            Region::Decoded => 'd',
        };
        let letters = |(at, byte): (usize, u8)| if byte == b'\n' { '\n' } else { letter(map.at(at)) };
        text.bytes().enumerate().map(letters).collect()
    }

    fn region_of(text: &str, needle: &str) -> Region {
        RegionMap::new(text, Syntax::Markdown).at(text.find(needle).unwrap())
    }

    #[test]
    fn code_spans_pair_within_a_paragraph() {
        assert_eq!(drawn("a `b` c"), "ppiippp");
        assert_eq!(drawn("`a` and `b`"), "iippppppiip");
        assert_eq!(drawn("``a`b`` c"), "iiiiipppp");
        assert_eq!(drawn("a ` b"), "ppppp", "an opener without a closer is a backtick");
        assert_eq!(drawn("a `b\nc` d"), "ppii\nippp");
        assert_eq!(drawn("a `b\n\nc` d"), "pppp\n\npppp", "a blank line ends the paragraph");
        assert_eq!(drawn("- `a\n- b` c"), "pppp\npppppp", "so does the next item");
        assert_eq!(drawn(r"\`a` b`"), "pppiiip", "an escaped backtick opens nothing");
    }

    #[test]
    fn fences_know_their_language_and_end() {
        assert_eq!(region_of("```bash\nX\n```\n", "X"), Region::Shell);
        assert_eq!(region_of("```\nX\n```\n", "X"), Region::Code);
        assert_eq!(region_of("~~~ {.sh}\nX\n~~~\n", "X"), Region::Shell);
        assert_eq!(region_of("1. a\n   ```python\n   X\n   ```\n", "X"), Region::Code);
        assert_eq!(region_of("> ```sh\n> X\n> ```\n", "X"), Region::Shell);
        assert_eq!(region_of("- ```sh\n  X\n  ```\n", "X"), Region::Shell);
        assert_eq!(region_of("```\na\n```\nX\n", "X"), Region::Prose);
        assert_eq!(region_of("````\n```\nX\n````\n", "X"), Region::Code, "a shorter fence closes nothing");
        assert_eq!(region_of("```\n~~~\nX\n```\n", "X"), Region::Code);
        assert_eq!(
            region_of("```a`b\nX\n```\n", "X"),
            Region::Prose,
            "a backtick in the info string: no fence"
        );
    }

    #[test]
    fn a_fence_that_never_closes_hides_nothing() {
        assert_eq!(region_of("```text\nRun `X y` now\n", "X"), Region::InlineCode);
        assert_eq!(region_of("```text\nRun X now\n\n~~~\nY\n", "Y"), Region::Prose);
        let counts = |text: &str, regions| {
            RegionMap::new(text, Syntax::Markdown).count_at(Regions::of(&[regions]), text.find('X').unwrap())
        };
        assert!(counts("```sh\nX\n", Region::Shell) && counts("```sh\nX\n", Region::Prose));
        assert!(!counts("X\n```sh\n", Region::Shell) && !counts("```sh\nX\n```\n", Region::Prose));
    }

    #[test]
    fn table_rows_need_a_separator_or_both_bars() {
        assert_eq!(region_of("| Bash | X |\n", "X"), Region::TableRow);
        assert_eq!(region_of("a | b\n--|--\nX | d\n", "X"), Region::TableRow);
        assert_eq!(region_of("a X| b\n--|--\nc | d\n", "X"), Region::TableRow);
        assert_eq!(region_of("a | X\n", "X"), Region::Prose);
        assert_eq!(region_of("cat f \\\n| X\n", "X"), Region::Prose);
        assert_eq!(
            region_of("| a | b |\n|---|---|\n| c |\n\nX | y\n", "X"),
            Region::Prose,
            "the table has ended"
        );
        assert_eq!(region_of("```bash\n| X |\n```\n", "X"), Region::Shell, "a shell knows no tables");
        assert_eq!(region_of("```\n| X |\n```\n", "X"), Region::TableRow, "a drawing does");
        assert_eq!(region_of("| `X \\| y` | z |\n", "X"), Region::InlineCode);
    }

    #[test]
    fn any_order_of_questions_gives_the_same_answers() {
        let text = "a `b` c\n\n```sh\nd\n```\n| e | `f` |\n";
        let mut forwards = RegionMap::new(text, Syntax::Markdown);
        let expected: Vec<_> = (0..text.len()).map(|at| forwards.at(at)).collect();
        let mut backwards = RegionMap::new(text, Syntax::Markdown);
        let mut got: Vec<_> = (0..text.len()).rev().map(|at| backwards.at(at)).collect();
        got.reverse();
        assert_eq!(got, expected);
    }
}
