//! The properties on random bytes.

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any, proptest};

use crate::properties;

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_pipeline_keeps_its_promises(data in vec(any::<u8>(), 0..40)) {
        properties::sanitizes(&data);
    }

    #[test]
    fn the_steps_keep_theirs(data in vec(any::<u8>(), 0..40)) {
        properties::steps_hold_alone(&data);
    }

    #[test]
    fn any_characters_do(choice in any::<u8>(), text in vec(any::<char>(), 0..40)) {
        let text: String = text.into_iter().collect();
        properties::sanitizes(&[&[choice | 1], text.as_bytes()].concat());
    }

    #[test]
    fn hidden_messages_are_read(data in vec(any::<u8>(), 0..40)) {
        properties::reads_hidden_messages(&data);
    }
}
