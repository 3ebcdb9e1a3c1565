//! Instructions of the classic packet filter, in which the kernel takes a filter of system calls.

use std::collections::BTreeMap;

/// An instruction of classic BPF: the kernel's `struct sock_filter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Instruction {
    pub(super) code: u16,
    pub(super) on_true: u8,
    pub(super) on_false: u8,
    pub(super) value: u32,
}

impl Instruction {
    /// Returns the bytes of its memory representation.
    pub(crate) fn bytes(self) -> [u8; 8] {
        let ([a, b], [e, f, g, h]) = (self.code.to_ne_bytes(), self.value.to_ne_bytes());
        [a, b, self.on_true, self.on_false, e, f, g, h]
    }
}

// Classes of instructions, from linux/bpf_common.h and linux/seccomp.h.
pub(super) const LOAD: u16 = 0x20;
pub(super) const AND: u16 = 0x54;
pub(super) const JUMP: u16 = 0x05;
pub(super) const JUMP_EQUAL: u16 = 0x15;
pub(super) const JUMP_AT_LEAST: u16 = 0x35;
pub(super) const JUMP_ANY_BIT: u16 = 0x45;
pub(super) const RETURN: u16 = 0x06;
pub(super) const KILL: u32 = 0x8000_0000;
pub(super) const ERRNO: u32 = 0x0005_0000;
pub(super) const ALLOW: u32 = 0x7fff_0000;
/// SECCOMP_RET_USER_NOTIF: the call waits for the observer.
pub(super) const SHOW: u32 = 0x7fc0_0000;

/// Offsets of the number, the architecture and the arguments in `struct seccomp_data`.
pub(super) const NUMBER: u32 = 0;
pub(super) const ARCHITECTURE: u32 = 4;
pub(super) const ARGUMENTS: u32 = 16;
/// Call numbers from here on belong to the x32 ABI of x86-64.
pub(super) const X32: u32 = 0x4000_0000;
pub(super) const ENOSYS: u32 = 38;

/// A placeholder for a jump past the end of a row, until the length of the row is known.
pub(super) const END: u8 = u8::MAX;

pub(super) const fn load(offset: u32) -> Instruction {
    Instruction { code: LOAD, on_true: 0, on_false: 0, value: offset }
}

pub(super) const fn jump(code: u16, value: u32, on_true: u8, on_false: u8) -> Instruction {
    Instruction { code, on_true, on_false, value }
}

pub(super) const fn give(verdict: u32) -> Instruction {
    Instruction { code: RETURN, on_true: 0, on_false: 0, value: verdict }
}

/// The code for each call number with rows.
pub(super) type Blocks = BTreeMap<u32, Vec<Instruction>>;
