//! Compiles the table of system calls to the program that the kernel runs before each of them.
//!
//! The program is pure data, so it is built, printed and tested on any machine. The kernel remembers which calls it allows
//! whatever their arguments, so the length of the table costs those nothing.

mod asking;
mod modes;
mod table;

use std::collections::BTreeMap;

pub(crate) use asking::{Asks, PathArguments, Way};
pub(crate) use modes::{ChangedFile, ModeChange, NewValue, mode_change};
use table::{
    ATTACHING, BOUND_TO_PROCESSORS, MEMORY_FILES, QUEUES, ROWS, Row, SOCKETS, SPAWN, Test, UNIX_SOCKETS,
};

/// One instruction, as the kernel wants it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Instruction {
    code: u16,
    on_true: u8,
    on_false: u8,
    value: u32,
}

impl Instruction {
    /// Returns it as it lies in memory.
    pub(crate) fn bytes(self) -> [u8; 8] {
        let ([a, b], [e, f, g, h]) = (self.code.to_ne_bytes(), self.value.to_ne_bytes());
        [a, b, self.on_true, self.on_false, e, f, g, h]
    }
}

/// An architecture that there is a table for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    /// 64-bit x86. Its 32-bit calls and the x32 variant are refused.
    X86_64,
    /// 64-bit ARM. Its 32-bit calls are refused.
    Aarch64,
}

impl Architecture {
    /// The architecture that this program was built for, if there is a table for it.
    pub fn current() -> Option<Self> {
        match std::env::consts::ARCH {
            "x86_64" => Some(Self::X86_64),
            "aarch64" => Some(Self::Aarch64),
            _ => None,
        }
    }

    const fn audit_number(self) -> u32 {
        match self {
            Self::X86_64 => 0xc000_003e,
            Self::Aarch64 => 0xc000_00b7,
        }
    }

    const fn number_of(self, row: &asking::Row) -> Option<u32> {
        match self {
            Self::X86_64 => row.x86_64,
            Self::Aarch64 => row.aarch64,
        }
    }

    fn number(self, row: &Row) -> Option<u32> {
        match self {
            Self::X86_64 => row.x86_64,
            Self::Aarch64 => row.aarch64,
        }
    }
}

// Classes of instructions, from linux/bpf_common.h and linux/seccomp.h.
const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP: u16 = 0x05;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_AT_LEAST: u16 = 0x35;
const JUMP_ANY_BIT: u16 = 0x45;
const RETURN: u16 = 0x06;
const KILL: u32 = 0x8000_0000;
const ERRNO: u32 = 0x0005_0000;
const ALLOW: u32 = 0x7fff_0000;
/// The call waits until whoever looks on has seen it.
const SHOW: u32 = 0x7fc0_0000;

/// Where the number, the architecture and the arguments lie in what the kernel shows to the program.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;
/// Numbers from here on are the x32 variant of x86-64.
const X32: u32 = 0x4000_0000;
const ENOSYS: u32 = 38;

/// Stands for "past the end of this row" until the length of the row is known.
const END: u8 = u8::MAX;

/// What is closed beside what always is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Closed {
    /// The choice of processors.
    Processors,
    /// Sockets of every kind, and so all networks.
    Sockets,
    /// Sockets that belong to this machine.
    UnixSockets,
    /// Queues and shared memory of others.
    Queues,
    /// Owners and attributes of files.
    Attributes,
}

impl Closed {
    const fn rows(self) -> &'static [Row] {
        match self {
            Self::Processors => BOUND_TO_PROCESSORS,
            Self::Sockets => SOCKETS,
            Self::UnixSockets => UNIX_SOCKETS,
            Self::Queues => QUEUES,
            Self::Attributes => modes::MODES,
        }
    }
}

/// What a sandbox may open that keeps its harm away by other means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opened {
    /// To trace processes of the command's own.
    Attaching,
    /// Files in memory, which are counted then and never run.
    MemoryFiles,
}

impl Opened {
    const ALL: [Self; 2] = [Self::Attaching, Self::MemoryFiles];

    const fn rows(self) -> &'static [Row] {
        match self {
            Self::Attaching => ATTACHING,
            Self::MemoryFiles => MEMORY_FILES,
        }
    }
}

/// Returns the program for an architecture.
pub fn filter(architecture: Architecture, more: &[Closed]) -> Vec<Instruction> {
    filter_but(architecture, more, &[])
}

/// Returns the same program with what is opened.
pub(crate) fn filter_but(architecture: Architecture, more: &[Closed], opened: &[Opened]) -> Vec<Instruction> {
    let shut = Opened::ALL.iter().filter(|one| !opened.contains(one)).flat_map(|one| one.rows());
    let rows = ROWS.iter().chain(shut).chain(more.iter().flat_map(|closed| closed.rows()));
    let mut program = head(architecture);
    program.extend([jump(JUMP_AT_LEAST, X32, 0, 1), give(ERRNO | ENOSYS)]);
    program.extend(search(&blocks(architecture, rows)));
    program
}

/// Looks at the architecture, and loads the number.
fn head(architecture: Architecture) -> Vec<Instruction> {
    let known = jump(JUMP_EQUAL, architecture.audit_number(), 1, 0);
    vec![load(ARCHITECTURE), known, give(KILL), load(NUMBER)]
}

/// What is done for the calls that have rows, by their numbers.
type Blocks = BTreeMap<u32, Vec<Instruction>>;

fn blocks<'r>(architecture: Architecture, rows: impl Iterator<Item = &'r Row>) -> Blocks {
    let mut blocks = Blocks::new();
    for row in rows {
        if let Some(number) = architecture.number(row) {
            blocks.entry(number).or_default().extend(compile(row));
        }
    }
    blocks
}

/// Finds the block of a number by halves: when the program is installed, the kernel tries it with every number there is.
/// Each block ends in a verdict, so nothing behind it is reached from it.
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
            let below = halve(low);
            let over = u32::try_from(below.len()).unwrap_or(u32::MAX);
            let mut code = vec![jump(JUMP_AT_LEAST, *first, 0, 1), jump(JUMP, over, 0, 0)];
            code.extend(below);
            code.extend(halve(high));
            code
        }
    }
}

/// Returns the program after which threads may start, and one program more: the one whose start hands over `secret` in the
/// three arguments that `execve` has no use for. Whatever runs then has never seen it.
pub(crate) fn no_spawn(architecture: Architecture, secret: [u64; 3]) -> Vec<Instruction> {
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
    let mut blocks = blocks(architecture, SPAWN.iter());
    blocks.insert(execve, known.collect());
    let mut program = head(architecture);
    program.extend(search(&blocks));
    program
}

/// Which calls are shown to whoever looks on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Those that ask for a path or an address.
    pub(crate) asks: bool,
    /// Those that change modes or times of files.
    pub(crate) modes: bool,
}

/// Returns the program that shows each call which asks for a path or an address to whoever looks on.
///
/// It refuses nothing. The kernel takes the strictest verdict of all programs, and any refusal is stricter than this one: so
/// a call that is shown is one that the filter has let pass, and whoever looks on can let it go on and no more.
pub(crate) fn observe(architecture: Architecture, shown: Shown) -> Vec<Instruction> {
    let asks = if shown.asks { asking::ROWS } else { &[] };
    let rows = asks.iter().filter_map(|row| Some((architecture.number_of(row)?, row)));
    let code = |row: &asking::Row| match row.asks {
        Asks::Address(asking::ADDRESS_OF_SENDTO, ..) => {
            let place = ARGUMENTS + 8 * u32::from(asking::ADDRESS_OF_SENDTO);
            vec![load(place), jump(JUMP_EQUAL, 0, 1, 0), give(SHOW)]
        }
        _ => vec![give(SHOW)],
    };
    let mut blocks: Blocks = rows.map(|(number, row)| (number, code(row))).collect();
    if shown.modes {
        blocks.extend(modes::numbers(architecture).map(|number| (number, vec![give(SHOW)])));
    }
    let known = jump(JUMP_EQUAL, architecture.audit_number(), 1, 0);
    let mut program = vec![load(ARCHITECTURE), known, give(ALLOW), load(NUMBER)];
    program.extend(search(&blocks));
    program
}

/// What a call asks for that was shown.
pub(crate) fn asked_by(architecture: Architecture, number: u32) -> Option<Asks> {
    asking::ROWS.iter().find(|row| architecture.number_of(row) == Some(number)).map(|row| row.asks)
}

/// One row: if all tests hold, the call fails; if not, what comes next decides.
fn compile(row: &Row) -> Vec<Instruction> {
    let mut code = Vec::new();
    for (argument, test) in row.when {
        // The low half: the kernel looks at no more of these arguments, and a filter that looks at all 64 bits lets a
        // request pass that has odd bits in the upper half (CVE-2019-10063).
        let low = ARGUMENTS + 8 * u32::from(*argument);
        if let Test::Above(most) = test {
            code.extend([load(low + 4), jump(JUMP_ANY_BIT, u32::MAX, 2, 0)]);
            code.extend([load(low), jump(JUMP_AT_LEAST, most.saturating_add(1), 0, END)]);
            continue;
        }
        code.push(load(low));
        code.extend(compile_test(test));
    }
    code.push(give(ERRNO | row.errno));
    let length = code.len();
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
        // Both halves count, see above.
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

const fn load(offset: u32) -> Instruction {
    Instruction { code: LOAD, on_true: 0, on_false: 0, value: offset }
}

const fn jump(code: u16, value: u32, on_true: u8, on_false: u8) -> Instruction {
    Instruction { code, on_true, on_false, value }
}

const fn give(verdict: u32) -> Instruction {
    Instruction { code: RETURN, on_true: 0, on_false: 0, value: verdict }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel would do with the program.
    fn run(program: &[Instruction], architecture: u32, number: u32, arguments: &[u64]) -> u32 {
        let argument = |offset: u32| {
            let whole = arguments.get(((offset - ARGUMENTS) / 8) as usize).copied().unwrap_or(0);
            (whole >> (8 * (offset % 8))) as u32
        };
        let (mut at, mut register) = (0, 0);
        loop {
            let Instruction { code, on_true, on_false, value } = program[at];
            at += 1;
            let jump = |holds: bool| usize::from(if holds { on_true } else { on_false });
            match code {
                LOAD if value == NUMBER => register = number,
                LOAD if value == ARCHITECTURE => register = architecture,
                LOAD => register = argument(value),
                AND => register &= value,
                JUMP => at += value as usize,
                JUMP_EQUAL => at += jump(register == value),
                JUMP_AT_LEAST => at += jump(register >= value),
                JUMP_ANY_BIT => at += jump(register & value != 0),
                RETURN => return value,
                _ => panic!("unknown instruction {code:#x}"),
            }
        }
    }

    fn verdict(architecture: Architecture, name: &str, arguments: &[u64]) -> u32 {
        let row = ROWS.iter().chain(ATTACHING).chain(MEMORY_FILES).find(|row| row.name == name).unwrap();
        run(
            &filter(architecture, &[]),
            architecture.audit_number(),
            architecture.number(row).unwrap(),
            arguments,
        )
    }

    const EPERM: u32 = ERRNO | 1;

    #[test]
    fn calls_and_arguments_that_fail_and_that_do_not() {
        let high = 1 << 32;
        let cases: &[(&str, &[u64], u32)] = &[
            ("bpf", &[], EPERM),
            ("mount", &[], EPERM),
            ("keyctl", &[], EPERM),
            ("io_uring_setup", &[], ERRNO | ENOSYS),
            ("io_setup", &[1], ERRNO | ENOSYS),
            ("fcntl", &[3, 1031, 1 << 20], EPERM),
            ("fcntl", &[3, 1031, 64 << 10], ALLOW),
            ("fcntl", &[3, 4, 1 << 20], ALLOW),
            ("setsockopt", &[3, 1, 7], ERRNO),
            ("setsockopt", &[3, 1, 33], ERRNO),
            ("setsockopt", &[3, 1, 2], ALLOW),
            ("setsockopt", &[3, 6, 7], ALLOW),
            ("renameat2", &[0, 0, 0, 0, 1], ALLOW),
            ("renameat2", &[0, 0, 0, 0, 4], EPERM),
            ("clone3", &[], ERRNO | ENOSYS),
            ("ioctl", &[0, 0x5412], EPERM),
            ("ioctl", &[0, 0x5412 | high], EPERM),
            ("ioctl", &[0, 0x541c], EPERM),
            ("ioctl", &[0, 0x5413], ALLOW),
            ("clone", &[0x1000_0000], EPERM),
            ("clone", &[0x003d_0f00], ALLOW),
            ("clone", &[17], ALLOW),
            ("unshare", &[0x80], EPERM),
            ("unshare", &[0x200], ALLOW),
            ("socket", &[1, 1], ALLOW),
            ("socket", &[2, 1], ALLOW),
            ("socket", &[10, 0x80002], ALLOW),
            ("socket", &[16, 3, 0], ALLOW),
            ("socket", &[16, 3, 15], ERRNO | 97),
            ("socket", &[2, 3], EPERM),
            ("socket", &[17, 3], ERRNO | 97),
            ("socket", &[40, 1], ERRNO | 97),
            ("socket", &[38, 5], ERRNO | 97),
            ("socketpair", &[1, 1], ALLOW),
            ("socketpair", &[30, 1], ERRNO | 97),
            ("fchmod", &[3, 0o755], ALLOW),
            ("fchmod", &[3, 0o4755], EPERM),
            ("fchmodat", &[3, 0, 0o2755], EPERM),
            ("openat", &[3, 0, 0o100, 0o644], ALLOW),
            ("openat", &[3, 0, 0o100, 0o4755], EPERM),
            ("openat", &[3, 0, 0, 0o4755], ALLOW),
            ("mknodat", &[3, 0, 0o010_644], ALLOW),
            ("mknodat", &[3, 0, 0o020_644], EPERM),
            ("mknodat", &[3, 0, 0o060_644], EPERM),
            ("mknodat", &[3, 0, 0o104_755], EPERM),
            ("ptrace", &[0], ALLOW),
            ("ptrace", &[16], EPERM),
            ("ptrace", &[0x4206], EPERM),
            ("personality", &[0xffff_ffff], ALLOW),
            ("personality", &[0x0044_0000], EPERM),
            ("memfd_create", &[0, 8], ERRNO | ENOSYS),
            ("shmget", &[0, 4096], ALLOW),
            ("shmget", &[0, 256 << 10], ALLOW),
            ("shmget", &[0, (256 << 10) + 1], EPERM),
            ("shmget", &[0, high], EPERM),
            ("ioctl", &[0, 0x5423], EPERM),
        ];
        for architecture in [Architecture::X86_64, Architecture::Aarch64] {
            for (name, arguments, expected) in cases {
                let found = verdict(architecture, name, arguments);
                assert_eq!(found, *expected, "{architecture:?} {name} {arguments:x?}: {found:#x}");
            }
        }
    }

    #[test]
    fn what_is_opened_is_the_one_difference() {
        for architecture in [Architecture::X86_64, Architecture::Aarch64] {
            let closed = filter(architecture, &[]);
            for (opened, row) in [(Opened::Attaching, &ATTACHING[0]), (Opened::MemoryFiles, &MEMORY_FILES[0])]
            {
                let open = filter_but(architecture, &[], &[opened]);
                let differs = |number: &u32| {
                    let verdict = |program| run(program, architecture.audit_number(), *number, &[16; 6]);
                    verdict(&closed) != verdict(&open)
                };
                let numbers: Vec<u32> = (0..600).filter(differs).collect();
                assert_eq!(numbers, [architecture.number(row).unwrap()], "{opened:?}");
            }
        }
    }

    #[test]
    fn other_tables_of_calls_are_closed() {
        for architecture in [Architecture::X86_64, Architecture::Aarch64] {
            let program = filter(architecture, &[Closed::Processors, Closed::Queues, Closed::UnixSockets]);
            assert!(filter(architecture, &[Closed::Sockets]).len() < program.len());
            let pin = architecture.number(&BOUND_TO_PROCESSORS[0]).unwrap();
            assert_eq!(run(&program, architecture.audit_number(), pin, &[]), EPERM);
            assert_eq!(run(&filter(architecture, &[]), architecture.audit_number(), pin, &[]), ALLOW);
            assert_eq!(run(&program, 0x4000_0003, 20, &[]), KILL);
            assert_eq!(run(&program, architecture.audit_number(), X32 | 39, &[]), ERRNO | ENOSYS);
            // `uname` here and `read` there.
            assert_eq!(run(&program, architecture.audit_number(), 63, &[]), ALLOW);
            assert!(program.len() < 4096, "the kernel takes no longer program");
        }
    }

    /// What the table says about a call, read row by row.
    fn expected(architecture: Architecture, number: u32, arguments: &[u64]) -> u32 {
        let holds = |(place, test): &(u8, Test)| {
            let whole = arguments.get(usize::from(*place)).copied().unwrap_or(0);
            let low = whole as u32;
            match test {
                Test::AnyBit(mask) => low & mask != 0,
                Test::NoBit(mask) => low & mask == 0,
                Test::Above(most) => whole > u64::from(*most),
                Test::OneOf(values) => values.contains(&low),
                Test::NoneOf(values) => !values.contains(&low),
                Test::MaskedOneOf(mask, values) => values.contains(&(low & mask)),
            }
        };
        let rows = ROWS.iter().chain(ATTACHING).chain(MEMORY_FILES);
        let mut rows = rows.filter(|row| architecture.number(row) == Some(number));
        rows.find(|row| row.when.iter().all(holds)).map_or(ALLOW, |row| ERRNO | row.errno)
    }

    #[test]
    fn the_search_decides_as_the_table_does() {
        let words = [
            0,
            1,
            2,
            3,
            8,
            15,
            16,
            17,
            40,
            0o100,
            0o4755,
            0x5412,
            0x1000_0000,
            0x0040_0000,
            1 << 32,
            u64::MAX,
        ];
        for architecture in [Architecture::X86_64, Architecture::Aarch64] {
            let program = filter(architecture, &[]);
            for number in 0..600 {
                for first in words {
                    for second in words {
                        for rest in [0, 0o4755] {
                            let arguments = [first, second, second, rest];
                            let found = run(&program, architecture.audit_number(), number, &arguments);
                            assert_eq!(
                                found,
                                expected(architecture, number, &arguments),
                                "{number} {arguments:x?}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn threads_start_and_one_program() {
        let secret = [0x1111_2222_3333_4444, 0x5555_6666_7777_8888, 0x9999_aaaa_bbbb_cccc];
        for (architecture, execve, clone) in
            [(Architecture::X86_64, 59, 56), (Architecture::Aarch64, 221, 220)]
        {
            let program = no_spawn(architecture, secret);
            let verdict =
                |number, arguments: &[u64]| run(&program, architecture.audit_number(), number, arguments);
            assert_eq!(verdict(execve, &[1, 2, 3, secret[0], secret[1], secret[2]]), ALLOW);
            for odd in 0..3 {
                for bit in [0, 31, 32, 63] {
                    let mut wrong = secret;
                    wrong[odd] ^= 1 << bit;
                    assert_eq!(verdict(execve, &[1, 2, 3, wrong[0], wrong[1], wrong[2]]), EPERM);
                }
            }
            assert_eq!(verdict(execve, &[1, 2, 3]), EPERM);
            assert_eq!((verdict(clone, &[0x003d_0f00]), verdict(clone, &[17])), (ALLOW, EPERM));
            assert_eq!(verdict(435, &[]), ERRNO | ENOSYS);
            assert_eq!(verdict(0, &[]), ALLOW);
            assert_eq!(run(&program, 0x4000_0003, 11, &[]), KILL);
        }
    }

    #[test]
    fn what_asks_is_shown_and_nothing_is_refused() {
        for (architecture, openat, sendto) in
            [(Architecture::X86_64, 257, 44), (Architecture::Aarch64, 56, 206)]
        {
            let program = observe(architecture, Shown { asks: true, modes: false });
            let verdict =
                |number, arguments: &[u64]| run(&program, architecture.audit_number(), number, arguments);
            for number in (0..600).chain([X32 | openat, u32::MAX]) {
                let expected = if asked_by(architecture, number).is_some() { SHOW } else { ALLOW };
                assert_eq!(verdict(number, &[1; 6]), expected, "{number}");
            }
            assert_eq!((verdict(openat, &[]), verdict(sendto, &[1; 4])), (SHOW, ALLOW));
            // Calls of another table are refused by the filter, and not shown.
            assert_eq!(run(&program, 0x4000_0003, openat, &[]), ALLOW);
            // The kernel compares verdicts as numbers with a sign, and takes the lowest.
            let [kill, errno, show, allow] = [KILL, ERRNO, SHOW, ALLOW].map(u32::cast_signed);
            assert!(kill < errno && errno < show && show < allow, "a refusal is stricter");
        }
    }

    #[test]
    fn no_number_stands_for_two_calls() {
        for architecture in [Architecture::X86_64, Architecture::Aarch64] {
            let mut seen = BTreeMap::new();
            for row in
                ROWS.iter().chain(ATTACHING).chain(MEMORY_FILES).chain(QUEUES).chain(BOUND_TO_PROCESSORS)
            {
                let Some(number) = architecture.number(row) else { continue };
                assert_eq!(*seen.entry(number).or_insert(row.name), row.name, "{number}");
            }
        }
    }
}
