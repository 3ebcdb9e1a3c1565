//! What users rely on to share profiles and extractors between threads.

use stockade_output::{Extractor, SourceProfiles};

fn is_send_sync_debug<T: Send + Sync + std::fmt::Debug>() {}

#[test]
fn profiles_and_extractors_can_be_shared_and_shown() {
    is_send_sync_debug::<SourceProfiles>();
    is_send_sync_debug::<Extractor>();
}
