//! What a text can be obfuscated by.

/// A kind of obfuscation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obfuscation {
    /// Characters that look like others, or like nothing.
    Letters,
    /// Comments within a line.
    Comments,
    /// Quoting that changes nothing.
    Quoting,
}

/// Some kinds of obfuscation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Obfuscations(u8);

impl Obfuscations {
    pub(crate) const ALL: Self = Self(0b111);

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn insert(&mut self, obfuscation: Obfuscation) {
        self.0 |= 1 << obfuscation as u8;
    }

    pub(crate) const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Takes a kind out, and returns whether it was there.
    pub(super) fn take(&mut self, obfuscation: Obfuscation) -> bool {
        let before = self.0;
        self.0 &= !(1 << obfuscation as u8);
        self.0 != before
    }
}
