//! Sets of the variants of an enumeration, each of which is a bit.

/// Makes a set that can be written into a table: `bit_set!(Regions(u8) of Region)`.
macro_rules! bit_set {
    ($set:ident($bits:ty) of $item:ident) => {
        impl $set {
            /// The set of just these.
            #[must_use]
            pub const fn of(items: &[$item]) -> Self {
                let mut bits = 0;
                let mut rest = items;
                while let [first, others @ ..] = rest {
                    bits |= *first as $bits;
                    rest = others;
                }
                Self(bits)
            }

            /// Whether this one is in the set.
            #[must_use]
            pub const fn contains(self, item: $item) -> bool {
                self.0 & item as $bits != 0
            }
        }
    };
}
