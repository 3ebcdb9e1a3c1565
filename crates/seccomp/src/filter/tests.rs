use std::collections::BTreeMap;

use super::*;
use crate::instruction::{LOAD, RETURN};

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
    run(&filter(architecture, &[]), architecture.audit_number(), architecture.number(row).unwrap(), arguments)
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
        for (opened, row) in [(Opened::Attaching, &ATTACHING[0]), (Opened::MemoryFiles, &MEMORY_FILES[0])] {
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
fn set_group_id_directories_are_observed_and_set_user_id_is_always_denied() {
    for architecture in [Architecture::X86_64, Architecture::Aarch64] {
        let open = filter_but(architecture, &[], &[Opened::GroupFolders]);
        let shown =
            observe(architecture, Notified { asks: false, modes: false, carried: CarriedOut::Shared });
        for (row, place) in MODES_OF_GROUPS.iter().zip([1, 1, 2, 2]) {
            let Some(number) = architecture.number(row) else { continue };
            let verdict = |program: &[Instruction], mode: u64| {
                let mut arguments = [0; 4];
                arguments[place] = mode;
                run(program, architecture.audit_number(), number, &arguments)
            };
            for (mode, of_owner, is_shown) in
                [(0o755, false, false), (0o2755, false, true), (0o4755, true, false), (0o6755, true, true)]
            {
                let name = row.name;
                assert_eq!(verdict(&open, mode), if of_owner { EPERM } else { ALLOW }, "{name} {mode:o}");
                assert_eq!(verdict(&shown, mode), if is_shown { SHOW } else { ALLOW }, "{name} {mode:o}");
                let closed = if mode & 0o6000 == 0 { ALLOW } else { EPERM };
                assert_eq!(verdict(&filter(architecture, &[]), mode), closed, "{name} {mode:o}");
            }
        }
    }
}

/// Locks are shown when they are taken, and nothing else of those calls.
#[test]
fn locks_are_shown_and_what_gives_them_back_is_not() {
    for (architecture, flock, fcntl) in [(Architecture::X86_64, 73, 72), (Architecture::Aarch64, 32, 25)] {
        let shown =
            observe(architecture, Notified { asks: false, modes: false, carried: CarriedOut::Shared });
        let rows = [
            (flock, 1, true),
            (flock, 2, true),
            (flock, 6, true),
            (flock, 8, false),
            (flock, 12, false),
            (fcntl, 6, true),
            (fcntl, 7, true),
            (fcntl, 37, true),
            (fcntl, 38, true),
            (fcntl, 1, false),
            (fcntl, 3, false),
            (fcntl, 5, false),
            (fcntl, 8, false),
            (fcntl, 36, false),
            (fcntl, 39, false),
            (fcntl, 1031, false),
        ];
        for (number, how, is_shown) in rows {
            let verdict = run(&shown, architecture.audit_number(), number, &[3, how]);
            assert_eq!(verdict, if is_shown { SHOW } else { ALLOW }, "{number} {how}");
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
    let rows = ROWS.iter().chain(ATTACHING).chain(MEMORY_FILES).chain(MODES_OF_GROUPS);
    let mut rows = rows.filter(|row| architecture.number(row) == Some(number));
    rows.find(|row| row.when.iter().all(holds)).map_or(ALLOW, |row| ERRNO | row.errno)
}

#[test]
fn the_search_decides_as_the_table_does() {
    let words =
        [0, 1, 2, 3, 8, 15, 16, 17, 40, 0o100, 0o4755, 0x5412, 0x1000_0000, 0x0040_0000, 1 << 32, u64::MAX];
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
    for (architecture, execve, clone) in [(Architecture::X86_64, 59, 56), (Architecture::Aarch64, 221, 220)] {
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

/// Whatever is closed to every command is closed to one that is alone, by the same verdict.
#[test]
fn the_no_spawn_filter_includes_the_standard_filter() {
    for architecture in [Architecture::X86_64, Architecture::Aarch64] {
        let (alone, closed) = (no_spawn_alone(architecture, [1; 3]), filter(architecture, &[]));
        let numbers = ROWS.iter().chain(ATTACHING).filter_map(|row| architecture.number(row));
        for number in numbers {
            for first in [0, 16, 0x1000_0000, 0x0001_0000] {
                let said = [&alone, &closed]
                    .map(|program| run(program, architecture.audit_number(), number, &[first]));
                assert!(said[0] == said[1] || said[1] == ALLOW, "{number} {first}: {said:?}");
            }
        }
        let row = ROWS.iter().find(|row| row.name == "keyctl").unwrap();
        let keyctl = architecture.number(row).unwrap();
        assert_eq!(run(&alone, architecture.audit_number(), keyctl, &[0]), EPERM);
    }
}

#[test]
fn asking_calls_are_notified_and_not_refused() {
    for (architecture, openat, sendto) in [(Architecture::X86_64, 257, 44), (Architecture::Aarch64, 56, 206)]
    {
        let program =
            observe(architecture, Notified { asks: true, modes: false, carried: CarriedOut::Nothing });
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
fn calls_that_create_names_are_notified_and_reads_are_not() {
    const UMASK: (u32, u32) = (95, 166);
    for (architecture, openat, mkdirat, unlinkat, umask) in
        [(Architecture::X86_64, 257, 258, 263, UMASK.0), (Architecture::Aarch64, 56, 34, 35, UMASK.1)]
    {
        let verdict = |asks, number, flags: u64| {
            let program = observe(architecture, Notified { asks, modes: false, carried: CarriedOut::Names });
            run(&program, architecture.audit_number(), number, &[0, 0, flags])
        };
        for flags in [0o1, 0o2, 0o100, 0o1000, 0o102, 1 << 32 | 0o1] {
            assert_eq!(verdict(false, openat, flags), SHOW, "{flags:o}");
        }
        for flags in [0, 0o2_000_000, 0o200_000, 1 << 32] {
            assert_eq!(verdict(false, openat, flags), ALLOW, "{flags:o}");
            assert_eq!(verdict(true, openat, flags), SHOW, "{flags:o}");
        }
        assert_eq!((verdict(false, mkdirat, 0), verdict(false, umask, 0)), (SHOW, SHOW));
        assert_eq!(verdict(false, unlinkat, 0), ALLOW);
    }
}

#[test]
fn no_number_belongs_to_two_calls() {
    for architecture in [Architecture::X86_64, Architecture::Aarch64] {
        let mut seen = BTreeMap::new();
        for row in ROWS.iter().chain(ATTACHING).chain(MEMORY_FILES).chain(QUEUES).chain(BOUND_TO_PROCESSORS) {
            let Some(number) = architecture.number(row) else { continue };
            assert_eq!(*seen.entry(number).or_insert(row.name), row.name, "{number}");
        }
    }
}
