//! Finds the commands in a skill's text that run when the skill is loaded.
//!
//! `` !`command` `` and blocks that begin with ```` ```! ```` are replaced by their output before a model sees the
//! text. They are found everywhere, also in examples: the programs that run them make no distinction.

/// A command in a skill's text that runs when the skill is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadCommand<'t> {
    /// The command, without the backticks around it.
    pub text: &'t str,
    /// The line that it begins on, from 1.
    pub line: usize,
}

/// Iterates over the commands of a text in order.
pub fn load_commands(text: &str) -> impl Iterator<Item = LoadCommand<'_>> {
    Search { text, at: 0, line: 1, inline: Next::default(), block: Next::default(), is_last_line: false }
}

struct Search<'t> {
    text: &'t str,
    /// Offset at which the search continues, at the start of a line.
    at: usize,
    line: usize,
    inline: Next,
    block: Next,
    /// Whether no further line end follows, so that no block can begin.
    is_last_line: bool,
}

/// Offset of the next occurrence. It is searched again only after the search has passed it, so that all searches
/// together read the text once.
#[derive(Debug, Clone, Copy, Default)]
enum Next {
    #[default]
    Unknown,
    At(usize),
    Nowhere,
}

impl Next {
    /// Returns its distance from `at`.
    fn from(&mut self, text: &str, at: usize, needle: &[u8]) -> Option<usize> {
        if matches!(self, Self::Unknown) || matches!(self, Self::At(found) if *found < at) {
            let rest = text.as_bytes().get(at..).unwrap_or_default();
            let found = memchr::memmem::find(rest, needle);
            #[cfg(test)]
            work::count(found.unwrap_or(rest.len()));
            *self = found.map_or(Self::Nowhere, |found| Self::At(at + found));
        }
        match self {
            Self::At(found) => Some(*found - at),
            Self::Unknown | Self::Nowhere => None,
        }
    }
}

impl<'t> Search<'t> {
    /// Advances past `bytes` more.
    fn pass(&mut self, bytes: usize) {
        let passed = self.text.get(self.at..self.at + bytes).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', passed.as_bytes()).count();
        self.at += bytes;
    }

    fn block(&mut self, start: usize) -> Option<LoadCommand<'t>> {
        let rest = self.text.get(self.at + start..)?;
        let fence = rest.bytes().take_while(|byte| *byte == b'`').count();
        if self.is_last_line || !rest.get(fence..)?.trim_start_matches([' ', '\t']).starts_with('!') {
            return None;
        }
        let Some((opener, inside)) = rest.split_once('\n') else {
            self.is_last_line = true;
            return None;
        };
        let closer = "`".repeat(fence);
        let mut end = 0;
        for line in inside.split_inclusive('\n') {
            if line.trim().starts_with(&closer) {
                break;
            }
            end += line.len();
        }
        self.pass(start + opener.len() + 1);
        let line = self.line;
        self.pass(end);
        Some(LoadCommand { text: inside.get(..end)?, line })
    }

    fn inline(&mut self, start: usize) -> Option<LoadCommand<'t>> {
        let inside = self.text.get(self.at + start + 2..)?;
        let end = inside.find(['`', '\n'])?;
        let text = inside.get(..end).filter(|text| !text.trim().is_empty())?;
        if inside.as_bytes().get(end) != Some(&b'`') {
            return None;
        }
        self.pass(start + 2 + end + 1);
        Some(LoadCommand { text, line: self.line })
    }
}

impl<'t> Iterator for Search<'t> {
    type Item = LoadCommand<'t>;

    fn next(&mut self) -> Option<LoadCommand<'t>> {
        loop {
            let inline = self.inline.from(self.text, self.at, b"!`");
            let block = self.block.from(self.text, self.at, b"```");
            let (start, found) = match (inline, block) {
                (None, None) => return None,
                (Some(inline), block) if block.is_none_or(|block| inline < block) => {
                    (inline, self.inline(inline))
                }
                (_, Some(block)) => (block, self.block(block)),
                (Some(_), None) => return None,
            };
            match found {
                Some(found) => return Some(found),
                // The backticks are ASCII, so the offset after them is a character boundary.
                None => {
                    let ticks = self.text.get(self.at + start + 1..).unwrap_or_default();
                    let ticks = ticks.bytes().take_while(|byte| *byte == b'`').count();
                    self.pass(start + 1 + ticks);
                }
            }
        }
    }
}

/// Counts the inspected bytes.
#[cfg(test)]
mod work {
    use std::cell::Cell;

    thread_local!(static BYTES: Cell<usize> = const { Cell::new(0) });

    pub(super) fn count(bytes: usize) {
        BYTES.with(|all| all.set(all.get() + bytes));
    }

    pub(super) fn take() -> usize {
        BYTES.with(Cell::take)
    }
}

#[cfg(test)]
mod tests {
    use super::{load_commands, work};

    #[test]
    fn a_text_is_passed_over_once_for_each_of_the_two() {
        for unit in ["!`a`\n", "!`a` ", "```a ", "```!a ", "!`", "``` !`\n", "```!\na\n```\n"] {
            let text = unit.repeat(20_000);
            work::take();
            let _ = load_commands(&text).count();
            let bytes = work::take();
            assert!(bytes <= 3 * text.len(), "{unit:?}: {bytes} of {}", text.len());
        }
    }

    #[test]
    fn commands_are_found_wherever_they_stand() {
        let rows: &[(&str, &[(&str, usize)])] = &[
            ("Status: !`git status`\n", &[("git status", 1)]),
            ("a\n- !`one` and !`two`\n", &[("one", 2), ("two", 2)]),
            ("a\n```!\nuname -a\nid\n```\nb !`x`", &[("uname -a\nid\n", 3), ("x", 6)]),
            ("```!bash\nid\n```\n", &[("id\n", 2)]),
            ("```` !\nid\n```\nls\n````\n", &[("id\n```\nls\n", 2)]),
            ("```!\nid", &[("id", 2)]),
            ("```sh\nid\n```\n", &[]),
            ("```text\n!`id`\n```\n", &[("id", 2)]),
            ("Hello! `code`, wow!\n", &[]),
            ("!`\n`", &[]),
            ("!``", &[]),
            ("!` `", &[]),
            ("é!`é`", &[("é", 1)]),
            ("``` ! x\nid\n```\n", &[("id\n", 2)]),
            ("``` \n! x\n```\n", &[]),
        ];
        for (text, wanted) in rows {
            let found: Vec<_> = load_commands(text).map(|command| (command.text, command.line)).collect();
            assert_eq!(found, *wanted, "{text:?}");
        }
    }
}
