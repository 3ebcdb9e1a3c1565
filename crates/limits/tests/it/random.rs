//! The properties on random input.

use proptest::collection::vec;
use proptest::prelude::{any, proptest};

use crate::properties;

proptest! {
    #[test]
    fn budgets_hold(data in vec(any::<u8>(), 0..300)) {
        properties::budget(&data);
    }

    #[test]
    fn breakers_hold(data in vec(any::<u8>(), 0..200)) {
        properties::breaker(&data);
    }
}
