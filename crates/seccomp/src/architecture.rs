//! Architectures of processors, and their numbers of system calls.

use crate::{asking, table::Row};

/// An architecture that is supported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    /// 64-bit x86. Its 32-bit calls and the x32 variant are refused.
    X86_64,
    /// 64-bit ARM. Its 32-bit calls are refused.
    Aarch64,
}

impl Architecture {
    /// Returns the architecture that this program was built for, if it is supported.
    pub fn current() -> Option<Self> {
        match std::env::consts::ARCH {
            "x86_64" => Some(Self::X86_64),
            "aarch64" => Some(Self::Aarch64),
            _ => None,
        }
    }

    pub(crate) const fn audit_number(self) -> u32 {
        match self {
            Self::X86_64 => 0xc000_003e,
            Self::Aarch64 => 0xc000_00b7,
        }
    }

    pub(crate) const fn number_of(self, row: &asking::Row) -> Option<u32> {
        match self {
            Self::X86_64 => row.x86_64,
            Self::Aarch64 => row.aarch64,
        }
    }

    pub(crate) fn number(self, row: &Row) -> Option<u32> {
        match self {
            Self::X86_64 => row.x86_64,
            Self::Aarch64 => row.aarch64,
        }
    }
}
