//! What users rely on to share limits between threads.

use stockade_limits::{
    Breaker, BreakerPermit, Budget, CostLedger, Extractor, Reservation, Retries, SourceProfiles, Steps,
    TurnBudget,
};

fn is_send_sync_debug<T: Send + Sync + std::fmt::Debug>() {}

#[test]
fn every_limit_can_be_shared_and_shown() {
    is_send_sync_debug::<Budget>();
    is_send_sync_debug::<Reservation>();
    is_send_sync_debug::<Breaker>();
    is_send_sync_debug::<BreakerPermit>();
    is_send_sync_debug::<Steps>();
    is_send_sync_debug::<Retries>();
    is_send_sync_debug::<TurnBudget>();
    is_send_sync_debug::<CostLedger>();
    is_send_sync_debug::<SourceProfiles>();
    is_send_sync_debug::<Extractor>();
}
