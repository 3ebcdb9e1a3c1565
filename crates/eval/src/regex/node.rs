//! The shape of a regular expression after it was read.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::classes::Case;

/// A part of a regular expression.
#[derive(Debug, Clone)]
pub(super) enum Node {
    Empty,
    /// One character of these.
    Set(ClassUnicode),
    /// `^`, which with the flag m also matches after a line end.
    Start,
    /// `$`, which with the flag m also matches before a line end.
    End,
    /// `\b` if true, `\B` if false.
    Boundary(bool),
    /// A capturing group, by its number.
    Group(usize, Box<Node>),
    All(Vec<Node>),
    Any(Vec<Node>),
    Repeat(Box<Repeat>),
    /// A back reference to a group.
    Back(usize),
    Look(Box<Look>),
}

/// A part that matches several times, one time after the other.
#[derive(Debug, Clone)]
pub(super) struct Repeat {
    pub(super) node: Node,
    pub(super) least: u32,
    /// `None` is unbounded.
    pub(super) most: Option<u32>,
    pub(super) is_greedy: bool,
    /// The groups inside, by number: each round clears them.
    pub(super) groups: std::ops::Range<usize>,
}

/// A look ahead or behind.
#[derive(Debug, Clone)]
pub(super) struct Look {
    pub(super) node: Node,
    pub(super) is_ahead: bool,
    pub(super) is_negative: bool,
}

impl Node {
    /// Whether it can match the empty text.
    fn can_be_empty(&self) -> bool {
        match self {
            Self::Set(_) => false,
            Self::Empty | Self::Start | Self::End | Self::Boundary(_) | Self::Look(_) | Self::Back(_) => true,
            Self::Group(_, node) => node.can_be_empty(),
            Self::All(nodes) => nodes.iter().all(Self::can_be_empty),
            Self::Any(nodes) => nodes.iter().any(Self::can_be_empty),
            Self::Repeat(repeat) => repeat.least == 0 || repeat.node.can_be_empty(),
        }
    }

    /// Returns its number of steps in the backtracking matcher.
    pub(super) fn steps(&self) -> usize {
        match self {
            Self::Empty => 0,
            Self::Set(_) | Self::Start | Self::End | Self::Boundary(_) | Self::Back(_) => 1,
            Self::Group(_, node) => 2 + node.steps(),
            Self::All(nodes) => nodes.iter().map(Self::steps).sum(),
            Self::Any(nodes) => nodes.iter().map(|node| 2 + node.steps()).sum(),
            Self::Repeat(repeat) => 5 + repeat.node.steps(),
            Self::Look(look) => 2 + look.node.steps(),
        }
    }

    /// The groups that have found something whenever this matches.
    fn sure_groups(&self) -> Vec<usize> {
        match self {
            Self::Group(number, node) => {
                let mut groups = node.sure_groups();
                groups.push(*number);
                groups
            }
            Self::All(nodes) => nodes.iter().flat_map(Self::sure_groups).collect(),
            Self::Repeat(repeat) if repeat.least > 0 => repeat.node.sure_groups(),
            _ => Vec::new(),
        }
    }

    /// Whether an engine without backtracking finds the same: no lookaround, no repetition of something that may be
    /// empty, and each round of a repetition sets all groups inside.
    pub(super) fn is_plain(&self, is_multi_line: bool, case: Case) -> bool {
        match self {
            Self::Look(_) | Self::Back(_) => false,
            // The engine knows one end of lines, and JavaScript four.
            Self::Start | Self::End => !is_multi_line,
            Self::Boundary(_) => case != Case::Folded,
            Self::Empty | Self::Set(_) => true,
            Self::Group(_, node) => node.is_plain(is_multi_line, case),
            Self::All(nodes) | Self::Any(nodes) => {
                nodes.iter().all(|node| node.is_plain(is_multi_line, case))
            }
            Self::Repeat(repeat) => {
                let is_once = repeat.most == Some(1);
                !repeat.node.can_be_empty()
                    && repeat.node.is_plain(is_multi_line, case)
                    && (is_once || repeat.groups.is_empty() || {
                        let mut sure = repeat.node.sure_groups();
                        sure.sort_unstable();
                        repeat.groups.clone().all(|group| sure.binary_search(&group).is_ok())
                    })
            }
        }
    }
}

/// Characters from one to another, by their numbers. Halves of characters have numbers of their own.
pub(super) fn range(from: u32, to: u32) -> ClassUnicode {
    let mut class = ClassUnicode::empty();
    for (low, high) in [(0, 0xd7ff), (0xd800, 0xdfff), (0xe000, 0x10_ffff)] {
        let (low, high) = (from.max(low), to.min(high));
        if low <= high {
            let (low, high) = (crate::text::char_of(low), crate::text::char_of(high));
            class.push(ClassUnicodeRange::new(low, high));
        }
    }
    class
}
