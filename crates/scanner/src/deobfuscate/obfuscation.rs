//! Kinds of obfuscation.

/// A kind of obfuscation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obfuscation {
    /// Look-alike, compatibility and invisible characters.
    Letters,
    /// HTML comments within a line.
    Comments,
    /// Shell quoting without effect.
    Quoting,
    /// Marks of quotations and emphasis.
    Markup,
}

/// A set of kinds of obfuscation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Obfuscations(u8);

impl Obfuscations {
    pub(crate) const ALL: Self = Self(0b1111);

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn insert(&mut self, obfuscation: Obfuscation) {
        self.0 |= 1 << obfuscation as u8;
    }

    pub(crate) const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Removes a kind, and returns whether it was in the set.
    pub(super) fn take(&mut self, obfuscation: Obfuscation) -> bool {
        let before = self.0;
        self.0 &= !(1 << obfuscation as u8);
        self.0 != before
    }
}
