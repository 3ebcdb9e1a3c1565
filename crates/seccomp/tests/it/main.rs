//! Tests of the public interface: properties of every filter.

use stockade_seccomp::{
    Architecture, CarriedOut, Closed, Instruction, Notified, Opened, filter, filter_but, no_spawn,
    no_spawn_alone, observe,
};

const ARCHITECTURES: [Architecture; 2] = [Architecture::X86_64, Architecture::Aarch64];

const RETURN: u16 = 0x06;
const ALLOW: u32 = 0x7fff_0000;
const NOTIFY: u32 = 0x7fc0_0000;

/// The most instructions that the kernel accepts (BPF_MAXINSNS).
const MAX_INSTRUCTIONS: usize = 4096;

/// Returns the verdicts of a program.
fn verdicts(program: &[Instruction]) -> Vec<u32> {
    let parts = program.iter().map(|instruction| instruction.bytes());
    let returns = parts.filter(|[a, b, ..]| u16::from_ne_bytes([*a, *b]) == RETURN);
    returns.map(|[_, _, _, _, e, f, g, h]| u32::from_ne_bytes([e, f, g, h])).collect()
}

fn all_notified() -> Vec<Notified> {
    let mut all = Vec::new();
    for (asks, modes) in [(false, false), (false, true), (true, false), (true, true)] {
        for carried in [CarriedOut::Nothing, CarriedOut::Shared, CarriedOut::Names] {
            all.push(Notified { asks, modes, carried });
        }
    }
    all
}

/// The observing filter denies nothing, so an ended observer is the only way in which it can stop a command.
#[test]
fn an_observing_filter_allows_or_notifies() {
    for architecture in ARCHITECTURES {
        for notified in all_notified() {
            let found = verdicts(&observe(architecture, notified));
            assert!(found.iter().all(|verdict| [ALLOW, NOTIFY].contains(verdict)), "{notified:?} {found:x?}");
            let is_any = notified.asks || notified.modes || notified.carried != CarriedOut::Nothing;
            assert_eq!(found.contains(&NOTIFY), is_any, "{notified:?}");
        }
    }
}

#[test]
fn a_denying_filter_notifies_no_supervisor() {
    for architecture in ARCHITECTURES {
        for program in [
            filter(architecture, &[]),
            no_spawn(architecture, [1, 2, 3]),
            no_spawn_alone(architecture, [1; 3]),
        ] {
            assert!(!verdicts(&program).contains(&NOTIFY));
        }
    }
}

/// What is closed adds denials, and what is opened removes some.
#[test]
fn closing_adds_and_opening_removes() {
    let closed = [
        Closed::Processors,
        Closed::Sockets,
        Closed::UnixSockets,
        Closed::Datagrams,
        Closed::Queues,
        Closed::Attributes,
    ];
    let opened = [Opened::Attaching, Opened::MemoryFiles, Opened::GroupFolders];
    let denials =
        |program: &[Instruction]| verdicts(program).iter().filter(|verdict| **verdict != ALLOW).count();
    for architecture in ARCHITECTURES {
        let plain = filter(architecture, &[]);
        assert_eq!(plain, filter_but(architecture, &[], &[]));
        for one in closed {
            assert!(denials(&filter(architecture, &[one])) > denials(&plain), "{one:?}");
        }
        for one in opened {
            assert!(denials(&filter_but(architecture, &[], &[one])) < denials(&plain), "{one:?}");
        }
        assert!(filter(architecture, &closed).len() < MAX_INSTRUCTIONS);
    }
}
