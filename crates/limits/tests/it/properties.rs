//! What must hold for any bytes. Fuzz targets and ordinary tests both run these.

use std::collections::BTreeMap;
use std::time::Duration;

use stockade_limits::{
    Admission, Breaker, BreakerPhase, BreakerSettings, Budget, BudgetLimits, Cap, Extractor, Hidden, Outcome,
    ProfileOverride, Reserved, Strategy, Usage, resolve_source,
};

/// A result in any form: bounded, never split within a character, the same in whatever pieces it comes; JSON parses, a tail
/// is an end, a head is a beginning.
pub(crate) fn extraction(data: &[u8]) {
    let Some((&first, data)) = data.split_first() else { return };
    let strategies = [Strategy::Raw, Strategy::Tail, Strategy::Structured, Strategy::Readability];
    let strategy = strategies[usize::from(first & 3)];
    let hidden = if first & 4 == 0 { Hidden::Keep } else { Hidden::Strip };
    let content_type = [None, Some("text/html"), Some("application/json"), Some("text/plain; charset=utf-8")];
    let content_type = content_type[usize::from(first >> 3 & 3)];
    let max_chars = 100 + u64::from(first >> 5) * 40;
    let wish = ProfileOverride {
        strategy: Some(strategy),
        hidden: Some(hidden),
        max_chars: Some(max_chars),
        max_response_bytes: None,
    };
    let profile = resolve_source("bash", &wish);
    let run = |step: usize| {
        let mut extractor = Extractor::new(profile, content_type);
        for piece in data.chunks(step) {
            extractor.push(piece);
        }
        extractor.finish()
    };
    let whole = run(usize::MAX);
    assert_eq!(whole, run(7), "the pieces made a difference");
    assert!(whole.text.chars().count() <= profile.max_chars());
    assert_eq!(whole.original_bytes, data.len() as u64);
    let Ok(source) = std::str::from_utf8(data) else { return };
    if source.starts_with('\u{feff}') || hidden == Hidden::Strip || strategy == Strategy::Readability {
        return;
    }
    let declares = source.to_ascii_lowercase().contains("charset");
    if declares {
        return;
    }
    match strategy {
        Strategy::Raw => assert!(source.starts_with(&whole.text)),
        Strategy::Tail => assert!(source.ends_with(&whole.text)),
        _ => structured(source, &whole.text, whole.truncated),
    }
    // Space behind what is structured is no part of it.
    let is_whole = strategy == Strategy::Structured && is_only_space_missing(source, &whole.text);
    assert_eq!(whole.truncated, whole.text.len() < source.len() && !is_whole);
}

fn structured(source: &str, kept: &str, truncated: bool) {
    if !truncated {
        return;
    }
    if serde_json::from_str::<serde::de::IgnoredAny>(source).is_ok() && !is_bare_number(source) {
        serde_json::from_str::<serde::de::IgnoredAny>(kept).unwrap_or_else(|error| panic!("{error}: {kept}"));
    }
}

/// A number of a hundred digits has no border to cut at.
fn is_bare_number(source: &str) -> bool {
    source.trim_start().starts_with(|c: char| c == '-' || c.is_ascii_digit())
}

fn is_only_space_missing(source: &str, kept: &str) -> bool {
    source.strip_prefix(kept).is_some_and(|rest| rest.trim_matches([' ', '\t', '\r', '\n']).is_empty())
}

/// Pages: whatever is written inside an element that hides, in whatever broken markup, does not come out.
pub(crate) fn hidden_text(data: &[u8]) {
    let markup = String::from_utf8_lossy(data);
    // What may follow could only end the element by its own end tag, or hide more.
    let markup = markup.to_ascii_lowercase();
    if markup.contains("</div") || markup.contains("seen") {
        return;
    }
    let page = format!("<p>seen</p><div hidden>{markup}SECRET</div>");
    let profile = resolve_source("web_fetch", &ProfileOverride::default());
    let text = stockade_limits::extract(page.as_bytes(), &profile, Some("text/html")).text;
    assert!(!text.contains("SECRET"), "{page:?}: {text:?}");
}

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
                Admission::Admitted(permit) => {
                    assert_ne!(phase, BreakerPhase::Open);
                    assert!(latest >= open_until, "a call during the cooldown");
                    if permit.is_probe() {
                        assert!(latest >= probe_until, "two probes at a time");
                        probe_until = latest + BreakerSettings::default().probe_timeout;
                    }
                    permits.insert(next, permit);
                    next += 1;
                }
                Admission::Refused { .. } => assert_ne!(phase, BreakerPhase::Closed),
            },
            1 | 2 => {
                let outcome = if kind % 4 == 1 { Outcome::Success } else { Outcome::Failure };
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
