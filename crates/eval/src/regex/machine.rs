//! Backtracking matcher for lookaround, back references and other features that a plain engine lacks. It tries
//! alternatives in the order of ECMA-262 and counts each step, so that expensive searches are refused.

use regex_syntax::hir::ClassUnicode;

use super::classes::{self, Case};
use super::node::{Look, Node, Repeat};
use super::{Groups, SearchLimits};
use crate::limits::STEPS_BETWEEN_LOOKS;

/// One step of a compiled expression.
#[derive(Debug)]
enum Step {
    Set(ClassUnicode),
    Start,
    End,
    Boundary(bool),
    /// Records the position as one end of a group.
    Keep(usize),
    /// Clears the matches of groups.
    Forget(std::ops::Range<usize>),
    Back(usize),
    Go(usize),
    /// Tries the first alternative, and the second if that fails.
    Try(usize, usize),
    /// Starts counting the rounds of a loop.
    Count(usize),
    /// Enters the loop again, or continues behind it.
    Round {
        counter: usize,
        least: u32,
        most: Option<u32>,
        is_greedy: bool,
        behind: usize,
    },
    /// Records the start of a round.
    Begin(usize),
    /// Ends a round: one that was not asked for must not be empty.
    EndRound {
        counter: usize,
        least: u32,
        round: usize,
    },
    /// Matches the steps up to `Done` from here, ahead or behind.
    Look {
        is_negative: bool,
        behind: usize,
    },
    Done,
}

/// Steps of an expression that may backtrack.
#[derive(Debug)]
pub(super) struct Machine {
    steps: Vec<Step>,
    /// Direction of each step.
    backwards: Vec<bool>,
    groups: usize,
    counters: usize,
    is_multi_line: bool,
    case: Case,
}

/// Why a search was aborted.
#[derive(Debug)]
pub(super) enum Stopped {
    /// It took more steps than allowed.
    Steps,
    /// It had more ways open than allowed.
    Ways(usize),
    /// The time is up.
    Deadline,
}

/// The most ways that may be open at once.
const MAX_OPEN: usize = 1 << 20;

/// How many places of groups or counters are written in the time of one step.
const KEPT_OF_A_STEP: usize = 8;

impl Machine {
    /// Returns the memory of an expression's steps, without its classes, which are moved.
    pub(super) fn bytes_of(node: &Node) -> usize {
        (node.steps() + 1).saturating_mul(size_of::<Step>() + size_of::<bool>())
    }

    pub(super) fn new(node: Node, groups: usize, is_multi_line: bool, case: Case) -> Self {
        let room = node.steps() + 1;
        let (steps, backwards) = (Vec::with_capacity(room), Vec::with_capacity(room));
        let mut machine = Self { steps, backwards, groups, counters: 0, is_multi_line, case };
        machine.compile(node, false);
        machine.push(Step::Done, false);
        machine
    }

    /// How many steps it has.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns the number of positions and counters of a search.
    fn kept(&self) -> usize {
        self.groups * 2 + self.counters * 2
    }

    fn push(&mut self, step: Step, backwards: bool) -> usize {
        self.steps.push(step);
        self.backwards.push(backwards);
        self.steps.len() - 1
    }

    fn put(&mut self, at: usize, step: Step) {
        if let Some(place) = self.steps.get_mut(at) {
            *place = step;
        }
    }

    fn compile(&mut self, node: Node, backwards: bool) {
        match node {
            Node::Empty => {}
            Node::Set(class) => drop(self.push(Step::Set(class), backwards)),
            Node::Start => drop(self.push(Step::Start, backwards)),
            Node::End => drop(self.push(Step::End, backwards)),
            Node::Boundary(holds) => drop(self.push(Step::Boundary(holds), backwards)),
            Node::Back(group) => drop(self.push(Step::Back(group), backwards)),
            Node::Group(number, inner) => {
                let (first, last) = if backwards { (1, 0) } else { (0, 1) };
                self.push(Step::Keep(number * 2 + first), backwards);
                self.compile(*inner, backwards);
                self.push(Step::Keep(number * 2 + last), backwards);
            }
            Node::All(nodes) if backwards => {
                nodes.into_iter().rev().for_each(|node| self.compile(node, backwards));
            }
            Node::All(nodes) => nodes.into_iter().for_each(|node| self.compile(node, backwards)),
            Node::Any(nodes) => self.choice(nodes, backwards),
            Node::Repeat(repeat) => self.repeat(*repeat, backwards),
            Node::Look(look) => self.look(*look, backwards),
        }
    }

    fn choice(&mut self, nodes: Vec<Node>, backwards: bool) {
        let (mut ends, count) = (Vec::new(), nodes.len());
        for (at, node) in nodes.into_iter().enumerate() {
            if at + 1 == count {
                self.compile(node, backwards);
                break;
            }
            let fork = self.push(Step::Done, backwards);
            self.compile(node, backwards);
            ends.push(self.push(Step::Done, backwards));
            self.put(fork, Step::Try(fork + 1, self.steps.len()));
        }
        let end = self.steps.len();
        ends.into_iter().for_each(|at| self.put(at, Step::Go(end)));
    }

    fn repeat(&mut self, repeat: Repeat, backwards: bool) {
        let Repeat { node, least, most, is_greedy, groups } = repeat;
        let counter = self.counters;
        self.counters += 1;
        self.push(Step::Count(counter), backwards);
        let round = self.push(Step::Done, backwards);
        self.push(Step::Begin(counter), backwards);
        if !groups.is_empty() {
            self.push(Step::Forget(groups), backwards);
        }
        self.compile(node, backwards);
        self.push(Step::EndRound { counter, least, round }, backwards);
        let behind = self.steps.len();
        self.put(round, Step::Round { counter, least, most, is_greedy, behind });
    }

    fn look(&mut self, look: Look, backwards: bool) {
        let start = self.push(Step::Done, backwards);
        self.compile(look.node, !look.is_ahead);
        self.push(Step::Done, !look.is_ahead);
        let behind = self.steps.len();
        self.put(start, Step::Look { is_negative: look.is_negative, behind });
    }

    /// The first match at or after a byte, and how many steps it took.
    pub(super) fn find(
        &self,
        text: &str,
        start: usize,
        is_sticky: bool,
        limits: SearchLimits<'_>,
    ) -> Result<(Option<Groups>, usize), Stopped> {
        let SearchLimits { max_steps, max_bytes, deadline } = limits;
        let mut run = Run {
            machine: self,
            text,
            // The state of groups and loops is allocated for each search.
            left: max_steps.checked_sub(self.kept() / KEPT_OF_A_STEP).ok_or(Stopped::Steps)?,
            max_open: MAX_OPEN.min(max_bytes / size_of::<Open>()),
            places: vec![None; self.groups * 2],
            counts: vec![0; self.counters],
            begins: vec![0; self.counters],
            open: Vec::new(),
            deadline,
            looked: 0,
        };
        let mut at = start;
        loop {
            if let Some(end) = run.run(0, at)? {
                let mut groups: Groups = run
                    .places
                    .chunks(2)
                    .map(|ends| Some((*ends.first()?)?).zip(ends.get(1).copied()?))
                    .collect();
                if let Some(whole) = groups.first_mut() {
                    *whole = Some((at, end));
                }
                return Ok((Some(groups), max_steps - run.left));
            }
            let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()).filter(|_| !is_sticky) else {
                return Ok((None, max_steps - run.left));
            };
            at += c.len_utf8();
        }
    }
}

/// An open alternative, or an old value to restore.
#[derive(Debug, Clone, Copy)]
enum Open {
    Way { step: usize, at: usize },
    Place(usize, Option<usize>),
    Count(usize, u32),
    Begin(usize, usize),
}

/// One search: its matches so far, and its open alternatives.
struct Run<'m> {
    machine: &'m Machine,
    text: &'m str,
    left: usize,
    max_open: usize,
    places: Vec<Option<usize>>,
    counts: Vec<u32>,
    begins: Vec<usize>,
    open: Vec<Open>,
    deadline: Option<&'m dyn Fn() -> bool>,
    /// Steps since the deadline was checked.
    looked: u32,
}

impl Run<'_> {
    /// Runs from a step at a position, and returns the end of a match. On success its captures are kept, otherwise
    /// undone.
    fn run(&mut self, step: usize, at: usize) -> Result<Option<usize>, Stopped> {
        let base = self.open.len();
        let (mut step, mut at) = (step, at);
        loop {
            self.left = self.left.checked_sub(1).ok_or(Stopped::Steps)?;
            self.looked += 1;
            if self.looked == STEPS_BETWEEN_LOOKS {
                self.look()?;
            }
            if self.open.len() > self.max_open {
                return Err(Stopped::Ways(self.max_open));
            }
            let next = match self.machine.steps.get(step) {
                None | Some(Step::Done) => {
                    self.close_ways(base);
                    return Ok(Some(at));
                }
                Some(found) => self.take(found, step, at)?,
            };
            match next.or_else(|| self.go_back(base)) {
                Some(next) => (step, at) = next,
                None => return Ok(None),
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self) -> Result<(), Stopped> {
        self.looked = 0;
        if self.deadline.is_some_and(|is_over| is_over()) { Err(Stopped::Deadline) } else { Ok(()) }
    }

    /// Drops the open alternatives, but keeps the old values to restore.
    fn close_ways(&mut self, base: usize) {
        let kept: Vec<Open> =
            self.open.drain(base..).filter(|open| !matches!(open, Open::Way { .. })).collect();
        self.open.extend(kept);
    }

    /// The last way that is still open; on the way there, all changes are undone.
    fn go_back(&mut self, base: usize) -> Option<(usize, usize)> {
        while self.open.len() > base {
            match self.open.pop()? {
                Open::Way { step, at } => return Some((step, at)),
                Open::Place(place, old) => {
                    self.places.get_mut(place).into_iter().for_each(|place| *place = old);
                }
                Open::Count(counter, old) => {
                    self.counts.get_mut(counter).into_iter().for_each(|count| *count = old);
                }
                Open::Begin(counter, old) => {
                    self.begins.get_mut(counter).into_iter().for_each(|begin| *begin = old);
                }
            }
        }
        None
    }

    /// Executes a step; `None` if it fails.
    fn take(&mut self, found: &Step, step: usize, at: usize) -> Result<Option<(usize, usize)>, Stopped> {
        let backwards = self.machine.backwards.get(step).copied().unwrap_or(false);
        let holds = |holds: bool| holds.then_some((step + 1, at));
        Ok(match found {
            Step::Set(class) => self
                .next(at, backwards)
                .filter(|(c, _)| classes::has(class, *c))
                .map(|(_, at)| (step + 1, at)),
            Step::Start => holds(self.is_edge(at, true)),
            Step::End => holds(self.is_edge(at, false)),
            Step::Boundary(wanted) => {
                let is_word = |found: Option<(char, usize)>| {
                    found.is_some_and(|(c, _)| classes::has(&classes::word(self.machine.case), c))
                };
                holds((is_word(self.next(at, true)) != is_word(self.next(at, false))) == *wanted)
            }
            Step::Keep(place) => {
                self.keep(*place, Some(at));
                Some((step + 1, at))
            }
            Step::Forget(groups) => {
                self.left = self.left.checked_sub(groups.len() / KEPT_OF_A_STEP).ok_or(Stopped::Steps)?;
                groups
                    .clone()
                    .flat_map(|group| [group * 2, group * 2 + 1])
                    .for_each(|place| self.keep(place, None));
                Some((step + 1, at))
            }
            Step::Back(group) => self.back(*group, at, backwards)?.map(|at| (step + 1, at)),
            Step::Go(to) => Some((*to, at)),
            Step::Try(first, second) => {
                self.open.push(Open::Way { step: *second, at });
                Some((*first, at))
            }
            Step::Count(counter) => {
                self.count(*counter, 0);
                Some((step + 1, at))
            }
            Step::Round { counter, least, most, is_greedy, behind } => {
                let count = self.counts.get(*counter).copied().unwrap_or(0);
                let (into, on) = ((step + 1, at), (*behind, at));
                if count < *least {
                    Some(into)
                } else if most.is_some_and(|most| count >= most) {
                    Some(on)
                } else {
                    let (first, second) = if *is_greedy { (into, on) } else { (on, into) };
                    self.open.push(Open::Way { step: second.0, at });
                    Some(first)
                }
            }
            Step::Begin(counter) => {
                if let Some(begin) = self.begins.get_mut(*counter) {
                    self.open.push(Open::Begin(*counter, *begin));
                    *begin = at;
                }
                Some((step + 1, at))
            }
            Step::EndRound { counter, least, round } => {
                let count = self.counts.get(*counter).copied().unwrap_or(0);
                let is_empty = self.begins.get(*counter) == Some(&at);
                if is_empty && count >= *least {
                    None
                } else {
                    self.count(*counter, count.saturating_add(1));
                    Some((*round, at))
                }
            }
            Step::Look { is_negative, behind } => {
                let base = self.open.len();
                let matches = self.run(step + 1, at)?.is_some();
                if matches && *is_negative {
                    // None of its captures are kept.
                    while self.go_back(base).is_some() {}
                }
                (matches != *is_negative).then_some((*behind, at))
            }
            Step::Done => None,
        })
    }

    fn keep(&mut self, place: usize, at: Option<usize>) {
        if let Some(kept) = self.places.get_mut(place) {
            self.open.push(Open::Place(place, *kept));
            *kept = at;
        }
    }

    fn count(&mut self, counter: usize, new: u32) {
        if let Some(count) = self.counts.get_mut(counter) {
            self.open.push(Open::Count(counter, *count));
            *count = new;
        }
    }

    /// The character after or before a place, and the place beyond it.
    fn next(&self, at: usize, backwards: bool) -> Option<(char, usize)> {
        if backwards {
            let c = self.text.get(..at)?.chars().next_back()?;
            Some((c, at - c.len_utf8()))
        } else {
            let c = self.text.get(at..)?.chars().next()?;
            Some((c, at + c.len_utf8()))
        }
    }

    fn is_edge(&self, at: usize, is_start: bool) -> bool {
        match self.next(at, is_start) {
            None => true,
            Some((c, _)) => self.machine.is_multi_line && matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}'),
        }
    }

    /// Matches the text of a group again; a group without a match succeeds at once.
    fn back(&mut self, group: usize, at: usize, backwards: bool) -> Result<Option<usize>, Stopped> {
        let place = |place: usize| self.places.get(place).copied().flatten();
        let (Some(start), Some(end)) = (place(group * 2), place(group * 2 + 1)) else { return Ok(Some(at)) };
        let text = self.text.get(start..end).unwrap_or_default();
        let wanted: Vec<char> = if backwards { text.chars().rev().collect() } else { text.chars().collect() };
        self.left = self.left.checked_sub(wanted.len()).ok_or(Stopped::Steps)?;
        let mut at = at;
        for wanted in wanted {
            match self.next(at, backwards) {
                Some((c, beyond)) if classes::are_same(c, wanted, self.machine.case) => at = beyond,
                _ => return Ok(None),
            }
        }
        Ok(Some(at))
    }
}
