//! Compiles the table of system calls to a seccomp filter.
//!
//! The filter is pure data, so it can be built, printed and tested on any machine. The kernel caches which calls are always
//! allowed whatever their arguments, so the length of the table does not slow those down.

use crate::architecture::Architecture;
use crate::asking::{self, Asks};
use crate::instruction::{
    ALLOW, AND, ARCHITECTURE, ARGUMENTS, Blocks, END, ENOSYS, ERRNO, Instruction, JUMP, JUMP_ANY_BIT,
    JUMP_AT_LEAST, JUMP_EQUAL, KILL, NUMBER, SHOW, X32, give, jump, load,
};
use crate::table::{
    ATTACHING, BOUND_TO_PROCESSORS, DATAGRAMS, MEMORY_FILES, MODES_OF_GROUPS, QUEUES, ROWS, Row, SOCKETS,
    SPAWN, Test, UNIX_SOCKETS,
};
use crate::{modes, names};

/// Additional groups of denied calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Closed {
    /// Changing the CPU affinity.
    Processors,
    /// Sockets of every kind.
    Sockets,
    /// Sockets of the Unix family.
    UnixSockets,
    /// Unix datagram sockets, which name a destination per message.
    Datagrams,
    /// Message queues and shared memory of other programs.
    Queues,
    /// Changing owners and attributes of files.
    Attributes,
}

impl Closed {
    const fn rows(self) -> &'static [Row] {
        match self {
            Self::Processors => BOUND_TO_PROCESSORS,
            Self::Sockets => SOCKETS,
            Self::UnixSockets => UNIX_SOCKETS,
            Self::Datagrams => DATAGRAMS,
            Self::Queues => QUEUES,
            Self::Attributes => modes::MODES,
        }
    }
}

/// Groups of calls that a sandbox may permit if it prevents their harm by other means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opened {
    /// Tracing the command's own processes.
    Attaching,
    /// memfd_create(2), where such files count as memory and cannot be executed.
    MemoryFiles,
    /// Setting the set-group-ID bit, which the supervisor performs for directories only.
    GroupFolders,
}

impl Opened {
    const ALL: [Self; 3] = [Self::Attaching, Self::MemoryFiles, Self::GroupFolders];

    const fn rows(self) -> &'static [Row] {
        match self {
            Self::Attaching => ATTACHING,
            Self::MemoryFiles => MEMORY_FILES,
            Self::GroupFolders => MODES_OF_GROUPS,
        }
    }
}

/// Returns the filter for an architecture.
pub fn filter(architecture: Architecture, more: &[Closed]) -> Vec<Instruction> {
    filter_but(architecture, more, &[])
}

/// Returns the filter with some groups permitted.
pub fn filter_but(architecture: Architecture, more: &[Closed], opened: &[Opened]) -> Vec<Instruction> {
    let shut = Opened::ALL.iter().filter(|one| !opened.contains(one)).flat_map(|one| one.rows());
    let rows = ROWS.iter().chain(shut).chain(more.iter().flat_map(|closed| closed.rows()));
    let mut program = head(architecture);
    // The x32 ABI has its own numbers for all calls, so the table would not match them.
    program.extend([jump(JUMP_AT_LEAST, X32, 0, 1), give(ERRNO | ENOSYS)]);
    program.extend(search(&blocks(architecture, rows)));
    program
}

/// Returns the code that checks the architecture and loads the call number.
fn head(architecture: Architecture) -> Vec<Instruction> {
    // A 64-bit process can also make calls of another architecture (`int 0x80`), whose numbers have other meanings.
    let known = jump(JUMP_EQUAL, architecture.audit_number(), 1, 0);
    vec![load(ARCHITECTURE), known, give(KILL), load(NUMBER)]
}

fn blocks<'r>(architecture: Architecture, rows: impl Iterator<Item = &'r Row>) -> Blocks {
    let mut blocks = Blocks::new();
    for row in rows {
        if let Some(number) = architecture.number(row) {
            blocks.entry(number).or_default().extend(compile(row));
        }
    }
    blocks
}

/// Returns a binary search for the block of a call number: on installation, the kernel evaluates the filter for every number to
/// fill its cache. Each block ends in a verdict, so control never continues behind it.
fn search(blocks: &Blocks) -> Vec<Instruction> {
    let blocks: Vec<(u32, &[Instruction])> =
        blocks.iter().map(|(number, code)| (*number, code.as_slice())).collect();
    halve(&blocks)
}

fn halve(blocks: &[(u32, &[Instruction])]) -> Vec<Instruction> {
    let (low, high) = blocks.split_at(blocks.len() / 2);
    match (low, high) {
        (_, []) => vec![give(ALLOW)],
        ([], [(number, code), ..]) => {
            let length = u8::try_from(code.len()).unwrap_or(END);
            let mut leaf = vec![jump(JUMP_EQUAL, *number, 0, length)];
            leaf.extend_from_slice(code);
            leaf.push(give(ALLOW));
            leaf
        }
        (_, [(first, _), ..]) => {
            // A conditional jump reaches 255 instructions, so the distance is in the unconditional one after it.
            let below = halve(low);
            let over = u32::try_from(below.len()).unwrap_or(u32::MAX);
            let mut code = vec![jump(JUMP_AT_LEAST, *first, 0, 1), jump(JUMP, over, 0, 0)];
            code.extend(below);
            code.extend(halve(high));
            code
        }
    }
}

/// Returns the filter that permits new threads, and one execve(2): the one with `secret` in the three arguments that execve
/// ignores. The executed program does not know the secret, so it cannot repeat the call.
pub fn no_spawn(architecture: Architecture, secret: [u64; 3]) -> Vec<Instruction> {
    one_start(architecture, secret, SPAWN.iter())
}

fn one_start<'r>(
    architecture: Architecture,
    secret: [u64; 3],
    rows: impl Iterator<Item = &'r Row>,
) -> Vec<Instruction> {
    const EPERM: u32 = 1;
    let execve = match architecture {
        Architecture::X86_64 => 59,
        Architecture::Aarch64 => 221,
    };
    // Two instructions for each half of a word, and the verdict.
    let halves = (3u32..).zip(secret).flat_map(|(argument, word)| {
        let low = ARGUMENTS + 8 * argument;
        [(low, word as u32), (low + 4, (word >> 32) as u32)]
    });
    let known =
        halves.flat_map(|(offset, half)| [load(offset), jump(JUMP_EQUAL, half, 1, 0), give(ERRNO | EPERM)]);
    let mut blocks = blocks(architecture, rows);
    blocks.insert(execve, known.collect());
    let mut program = head(architecture);
    program.extend(search(&blocks));
    program
}

/// Returns the same for processes without another filter of this crate, such as in a container: it also denies the x32 ABI, and
/// everything that is denied to every command. The engines' own filters permit some of that: both permit access to other
/// processes, and Podman's also user namespaces and keys.
pub fn no_spawn_alone(architecture: Architecture, secret: [u64; 3]) -> Vec<Instruction> {
    let mut program = one_start(architecture, secret, SPAWN.iter().chain(ATTACHING).chain(ROWS));
    let behind_head = head(architecture).len();
    program.splice(behind_head..behind_head, [jump(JUMP_AT_LEAST, X32, 0, 1), give(ERRNO | ENOSYS)]);
    program
}

/// The calls that the observer is notified of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notified {
    /// Calls that name a path or an address.
    pub asks: bool,
    /// Calls that change modes or times of files.
    pub modes: bool,
    /// Calls that the supervisor performs.
    pub carried: CarriedOut,
}

/// The calls that the supervisor performs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CarriedOut {
    /// None, except for modes and times.
    Nothing,
    /// Calls on objects that are shared with other programs: locks, and named sockets.
    Shared,
    /// These, and calls that create, rename or open files for writing.
    Names,
}

/// Returns the filter that notifies the observer of calls.
///
/// It denies nothing. The kernel applies the strictest verdict of all filters, and any denial is stricter than a notification.
/// So every notified call is permitted by the other filter, and the observer cannot permit a denied one.
pub fn observe(architecture: Architecture, shown: Notified) -> Vec<Instruction> {
    let asks = if shown.asks { asking::ROWS } else { &[] };
    let rows = asks.iter().filter_map(|row| Some((architecture.number_of(row)?, row)));
    let code = |row: &asking::Row| match row.asks {
        Asks::Address(asking::ADDRESS_OF_SENDTO, ..) => {
            // Without an address, sendto(2) is send(2) on a connected socket, whose connection was observed already.
            let place = ARGUMENTS + 8 * u32::from(asking::ADDRESS_OF_SENDTO);
            vec![load(place), jump(JUMP_EQUAL, 0, 1, 0), give(SHOW)]
        }
        _ => vec![give(SHOW)],
    };
    // Calls of other architectures are not observed: the denying filter kills the process.
    let mut blocks: Blocks = rows.map(|(number, row)| (number, code(row))).collect();
    if shown.modes {
        blocks.extend(modes::numbers(architecture).map(|number| (number, vec![give(SHOW)])));
    }
    let of_names = (shown.carried == CarriedOut::Names).then(|| names::blocks(architecture));
    let shared = (shown.carried != CarriedOut::Nothing).then(|| names::shared_blocks(architecture));
    // A block that notifies unconditionally is kept.
    for (number, code) in of_names.into_iter().chain(shared).flatten() {
        blocks.entry(number).or_insert(code);
    }
    let known = jump(JUMP_EQUAL, architecture.audit_number(), 1, 0);
    let mut program = vec![load(ARCHITECTURE), known, give(ALLOW), load(NUMBER)];
    program.extend(search(&blocks));
    program
}

/// Returns which arguments of a notified call name a path or an address.
pub fn asked_by(architecture: Architecture, number: u32) -> Option<Asks> {
    asking::ROWS.iter().find(|row| architecture.number_of(row) == Some(number)).map(|row| row.asks)
}

/// Compiles a row: if all its tests are true, the call fails; otherwise the next row decides.
fn compile(row: &Row) -> Vec<Instruction> {
    let mut code = Vec::new();
    for (argument, test) in row.when {
        // Only the low half: the kernel ignores the upper half of these arguments, so a filter that compares all 64 bits can
        // be bypassed by setting bits there (CVE-2019-10063).
        let low = ARGUMENTS + 8 * u32::from(*argument);
        if let Test::Above(most) = test {
            // Here both halves count: any bit in the upper half exceeds every limit.
            code.extend([load(low + 4), jump(JUMP_ANY_BIT, u32::MAX, 2, 0)]);
            code.extend([load(low), jump(JUMP_AT_LEAST, most.saturating_add(1), 0, END)]);
            continue;
        }
        code.push(load(low));
        code.extend(compile_test(test));
    }
    code.push(give(ERRNO | row.errno));
    let length = code.len();
    // `END` is the end of the block, whose distance is only known now.
    for (at, instruction) in code.iter_mut().enumerate() {
        let rest = u8::try_from(length - at - 1).unwrap_or(END);
        for target in [&mut instruction.on_true, &mut instruction.on_false] {
            if *target == END {
                *target = rest;
            }
        }
    }
    code
}

fn compile_test(test: &Test) -> Vec<Instruction> {
    let one_of = |values: &[u32]| -> Vec<Instruction> {
        let last = values.len().saturating_sub(1);
        let jumps = values.iter().enumerate().map(|(at, value)| {
            let past = u8::try_from(last - at).unwrap_or(END);
            jump(JUMP_EQUAL, *value, past, if at == last { END } else { 0 })
        });
        jumps.collect()
    };
    match test {
        Test::AnyBit(mask) => vec![jump(JUMP_ANY_BIT, *mask, 0, END)],
        Test::NoBit(mask) => vec![jump(JUMP_ANY_BIT, *mask, END, 0)],
        // Handled by the caller, because both halves count.
        Test::Above(_) => Vec::new(),
        Test::OneOf(values) => one_of(values),
        Test::NoneOf(values) => values.iter().map(|value| jump(JUMP_EQUAL, *value, END, 0)).collect(),
        Test::MaskedOneOf(mask, values) => {
            let mut code = vec![Instruction { code: AND, on_true: 0, on_false: 0, value: *mask }];
            code.extend(one_of(values));
            code
        }
    }
}

#[cfg(test)]
mod tests;
