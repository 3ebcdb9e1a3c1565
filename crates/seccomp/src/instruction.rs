//! Instructions of the classic packet filter, in which the kernel takes a filter of system calls.

use std::collections::BTreeMap;

/// An instruction of classic BPF: the kernel's `struct sock_filter`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Instruction {
    pub(crate) code: u16,
    pub(crate) on_true: u8,
    pub(crate) on_false: u8,
    pub(crate) value: u32,
}

impl Instruction {
    /// Returns the bytes of its memory representation.
    pub fn bytes(self) -> [u8; 8] {
        let ([a, b], [e, f, g, h]) = (self.code.to_ne_bytes(), self.value.to_ne_bytes());
        [a, b, self.on_true, self.on_false, e, f, g, h]
    }
}

// Classes of instructions, from linux/bpf_common.h and linux/seccomp.h.
pub(crate) const LOAD: u16 = 0x20;
pub(crate) const AND: u16 = 0x54;
pub(crate) const JUMP: u16 = 0x05;
pub(crate) const JUMP_EQUAL: u16 = 0x15;
pub(crate) const JUMP_AT_LEAST: u16 = 0x35;
pub(crate) const JUMP_ANY_BIT: u16 = 0x45;
pub(crate) const RETURN: u16 = 0x06;
pub(crate) const KILL: u32 = 0x8000_0000;
pub(crate) const ERRNO: u32 = 0x0005_0000;
pub(crate) const ALLOW: u32 = 0x7fff_0000;
/// SECCOMP_RET_USER_NOTIF: the call waits for the observer.
pub(crate) const SHOW: u32 = 0x7fc0_0000;

/// Offsets of the number, the architecture and the arguments in `struct seccomp_data`.
pub(crate) const NUMBER: u32 = 0;
pub(crate) const ARCHITECTURE: u32 = 4;
pub(crate) const ARGUMENTS: u32 = 16;
/// Call numbers from here on belong to the x32 ABI of x86-64.
pub(crate) const X32: u32 = 0x4000_0000;
pub(crate) const ENOSYS: u32 = 38;

/// A placeholder for a jump past the end of a row, until the length of the row is known.
pub(crate) const END: u8 = u8::MAX;

pub(crate) const fn load(offset: u32) -> Instruction {
    Instruction { code: LOAD, on_true: 0, on_false: 0, value: offset }
}

pub(crate) const fn jump(code: u16, value: u32, on_true: u8, on_false: u8) -> Instruction {
    Instruction { code, on_true, on_false, value }
}

pub(crate) const fn give(verdict: u32) -> Instruction {
    Instruction { code: RETURN, on_true: 0, on_false: 0, value: verdict }
}

/// The code for each call number with rows.
pub(crate) type Blocks = BTreeMap<u32, Vec<Instruction>>;
