//! What must hold for any bytes. Fuzz targets and ordinary tests both run these.

use std::collections::BTreeMap;
use std::time::Duration;

use stockade_limits::breaker::{Breaker, BreakerAdmission, BreakerPhase, BreakerSettings, CallOutcome};
use stockade_limits::budget::{Budget, BudgetLimits, Reserved};
use stockade_limits::{Cap, Usage};

/// Budgets: with any interleaving of calls, what is settled within its reservation never passes a cap, and time that jumps
/// about frees nothing early.
pub(crate) fn budget(data: &[u8]) {
    const CAP: u64 = 100;
    let mut limits = BudgetLimits::default();
    limits.per_execution.tokens = Cap::AtMost(60);
    limits.per_hour.tokens = Cap::AtMost(CAP);
    limits.per_day.tokens = Cap::AtMost(150);
    let mut budget = Budget::new(limits);
    let mut open = Vec::new();
    let mut settled: Vec<(Duration, u64)> = Vec::new();
    let (mut now, mut latest) = (Duration::ZERO, Duration::ZERO);
    for event in data.chunks_exact(3) {
        let [kind, amount, time] = [event[0], event[1], event[2]];
        now = match kind >> 6 {
            0 => now.saturating_sub(Duration::from_secs(u64::from(time) * 60)),
            _ => now.saturating_add(Duration::from_secs(u64::from(time))),
        };
        latest = latest.max(now);
        let execution = ["a", "b", "c"][usize::from(kind >> 2) % 3];
        match kind % 4 {
            0 | 1 => {
                if let Reserved::Granted(reservation) =
                    budget.reserve(execution, Usage::tokens(amount.into()), now)
                {
                    open.push((reservation, latest + limits.lease));
                }
            }
            2 => {
                if let Some((reservation, lease_end)) = open.pop() {
                    let actual = reservation.usage().tokens * u64::from(time) / 255;
                    let _settled = budget.settle(reservation, Usage::tokens(actual), now);
                    // A call that outlived its lease counted as made when the lease ended.
                    settled.push((latest.min(lease_end), actual));
                }
            }
            _ => budget = Budget::resume(limits, budget.into_state()),
        }
        for balance in budget.balances(execution, now) {
            let cap = limits.of(balance.scope).tokens;
            let used = balance.used.tokens + balance.reserved.tokens;
            assert!(matches!(cap, Cap::AtMost(cap) if used <= cap), "{balance:?} of {cap:?}");
        }
        let hour = Duration::from_secs(3_600);
        let recent: u64 =
            settled.iter().filter(|(at, _)| *at + hour >= latest).map(|(_, tokens)| tokens).sum();
        assert!(recent <= CAP, "{recent} tokens within an hour");
    }
}

/// Breakers: never more than one probe at a time, and none while open, also when the clock is set back.
pub(crate) fn breaker(data: &[u8]) {
    let mut breaker = Breaker::new(BreakerSettings::default());
    let mut permits = BTreeMap::new();
    let (mut now, mut latest, mut next) = (Duration::ZERO, Duration::ZERO, 0_u32);
    let (mut probe_until, mut open_until) = (Duration::ZERO, Duration::ZERO);
    for event in data.chunks_exact(2) {
        let [kind, time] = [event[0], event[1]];
        now = match kind >> 6 {
            0 => now.saturating_sub(Duration::from_secs(u64::from(time))),
            _ => now.saturating_add(Duration::from_secs(u64::from(time) / 4)),
        };
        latest = latest.max(now);
        // Told at every step, the breaker knows the latest time as well.
        let phase = breaker.phase(now);
        match kind % 4 {
            0 => match breaker.admit(now) {
                BreakerAdmission::Admitted(permit) => {
                    assert_ne!(phase, BreakerPhase::Open);
                    assert!(latest >= open_until, "a call during the cooldown");
                    if permit.is_probe() {
                        assert!(latest >= probe_until, "two probes at a time");
                        probe_until = latest + BreakerSettings::default().probe_timeout;
                    }
                    permits.insert(next, permit);
                    next += 1;
                }
                BreakerAdmission::Refused { .. } => assert_ne!(phase, BreakerPhase::Closed),
            },
            1 | 2 => {
                let outcome = if kind % 4 == 1 { CallOutcome::Success } else { CallOutcome::Failure };
                let chosen = permits.keys().nth(usize::from(kind >> 2) % permits.len().max(1)).copied();
                if let Some(permit) = chosen.and_then(|key| permits.remove(&key)) {
                    if permit.is_probe() {
                        probe_until = Duration::ZERO;
                    }
                    breaker.report(permit, outcome, now);
                    if phase != BreakerPhase::Open && breaker.phase(now) == BreakerPhase::Open {
                        open_until = latest + BreakerSettings::default().cooldown;
                    }
                }
            }
            _ => breaker = Breaker::resume(BreakerSettings::default(), breaker.into_state()),
        }
    }
}
