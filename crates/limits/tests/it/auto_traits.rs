//! What users rely on to share limits between threads.

use stockade_limits::breaker::{Breaker, BreakerPermit};
use stockade_limits::budget::{Budget, Reservation};
use stockade_limits::costs::CostLedger;
use stockade_limits::retry::Retries;
use stockade_limits::steps::Steps;
use stockade_limits::turns::TurnBudget;

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
}
