//! Stops calling a service that keeps failing, and tries again with one call.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::clock::Clock;

/// When the breaker opens and how it closes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", default, deny_unknown_fields))]
pub struct BreakerSettings {
    /// How many failures in a row open it.
    pub failure_threshold: NonZeroU32,
    /// How long it stays open before one call may try.
    #[cfg_attr(feature = "serde", serde(rename = "resetTimeoutMs", with = "crate::millis"))]
    pub cooldown: Duration,
    /// How long that call may take before it counts as failed.
    #[cfg_attr(feature = "serde", serde(rename = "halfOpenTimeoutMs", with = "crate::millis"))]
    pub probe_timeout: Duration,
}

/// What the breaker is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
pub enum BreakerPhase {
    /// Calls are let through.
    Closed,
    /// Calls are refused until the cooldown is over.
    Open,
    /// The cooldown is over: one call at a time may try.
    HalfOpen,
}

/// A circuit breaker: closed, open after some failures in a row, half-open after a cooldown.
///
/// ```
/// use std::time::Duration;
/// use stockade_limits::breaker::{Breaker, BreakerAdmission, BreakerSettings, CallOutcome};
///
/// let mut breaker = Breaker::new(BreakerSettings::default());
/// let now = Duration::from_secs(1);
/// for _ in 0..5 {
///     let BreakerAdmission::Admitted(permit) = breaker.admit(now) else { panic!() };
///     breaker.report(permit, CallOutcome::Failure, now);
/// }
/// assert!(matches!(breaker.admit(now), BreakerAdmission::Refused { .. }));
///
/// let later = now + Duration::from_secs(60);
/// let BreakerAdmission::Admitted(probe) = breaker.admit(later) else { panic!() };
/// assert!(matches!(breaker.admit(later), BreakerAdmission::Refused { .. }), "only one call may try");
/// breaker.report(probe, CallOutcome::Success, later);
/// assert!(matches!(breaker.admit(later), BreakerAdmission::Admitted(_)));
/// ```
#[derive(Clone, Debug)]
pub struct Breaker {
    settings: BreakerSettings,
    state: BreakerState,
}

/// Everything a [`Breaker`] remembers, for keeping it across restarts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct BreakerState {
    clock: Clock,
    phase: Phase,
    /// How often the breaker has opened; tells a call that began before from one that began after.
    generation: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
enum Phase {
    Closed {
        failures: u32,
    },
    Open {
        #[cfg_attr(feature = "serde", serde(with = "crate::millis"))]
        since: Duration,
    },
    /// The cooldown is over, and no probe is under way.
    HalfOpen,
    Probing {
        #[cfg_attr(feature = "serde", serde(with = "crate::millis"))]
        since: Duration,
    },
}

/// The answer to [`Breaker::admit`].
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub enum BreakerAdmission {
    /// The call may be made; report how it went.
    Admitted(BreakerPermit),
    /// The call must not be made.
    Refused {
        /// When it is worth asking again. With a probe in flight: when that probe will have timed out.
        retry_at: Duration,
    },
}

/// Leave to make one call. It cannot be copied, so its outcome is reported once.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a call whose outcome is never reported is taken as failed if it was the probe"]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BreakerPermit {
    generation: u64,
    role: Role,
}

impl BreakerPermit {
    /// Returns the permit that a store gave which decides by itself.
    pub(crate) const fn of_store(generation: u64, role: Role) -> Self {
        Self { generation, role }
    }

    /// Returns how often the breaker had opened when it admitted the call.
    pub(crate) const fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns whether this is the one call that tries whether the service works again.
    #[must_use]
    pub fn is_probe(&self) -> bool {
        self.role == Role::Probe
    }

    /// Returns the same permit, for the store that takes note of its outcome.
    pub(crate) fn again(&self) -> Self {
        Self { generation: self.generation, role: self.role }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Role {
    Ordinary,
    Probe,
}

/// How a call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOutcome {
    /// The service answered as it should.
    Success,
    /// The service failed, or did not answer.
    Failure,
}

impl BreakerSettings {
    /// Returns the settings by which a service is left alone sooner and for longer, of each pair.
    #[must_use]
    pub fn narrowed_by(self, other: Self) -> Self {
        Self {
            failure_threshold: self.failure_threshold.min(other.failure_threshold),
            cooldown: self.cooldown.max(other.cooldown),
            probe_timeout: self.probe_timeout.min(other.probe_timeout),
        }
    }
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self {
            failure_threshold: NonZeroU32::MIN.saturating_add(4),
            cooldown: Duration::from_secs(60),
            probe_timeout: Duration::from_secs(30),
        }
    }
}

impl Default for Phase {
    fn default() -> Self {
        Self::Closed { failures: 0 }
    }
}

impl Breaker {
    /// Returns a closed breaker.
    #[must_use]
    pub fn new(settings: BreakerSettings) -> Self {
        Self::resume(settings, BreakerState::default())
    }

    /// Returns a breaker that goes on where another stopped.
    #[must_use]
    pub fn resume(settings: BreakerSettings, state: BreakerState) -> Self {
        Self { settings, state }
    }

    /// Returns what the breaker remembers.
    #[must_use]
    pub fn state(&self) -> &BreakerState {
        &self.state
    }

    /// Returns what the breaker remembers, and ends it.
    #[must_use]
    pub fn into_state(self) -> BreakerState {
        self.state
    }

    /// Lets a call through, or refuses it. While half-open, exactly one call is let through at a time.
    pub fn admit(&mut self, now: Duration) -> BreakerAdmission {
        let now = self.tick(now);
        let role = match self.state.phase {
            Phase::Closed { .. } => Role::Ordinary,
            Phase::HalfOpen => {
                self.state.phase = Phase::Probing { since: now };
                Role::Probe
            }
            Phase::Open { since } => {
                return BreakerAdmission::Refused { retry_at: since.saturating_add(self.settings.cooldown) };
            }
            Phase::Probing { since } => {
                return BreakerAdmission::Refused {
                    retry_at: since.saturating_add(self.settings.probe_timeout),
                };
            }
        };
        BreakerAdmission::Admitted(BreakerPermit { generation: self.state.generation, role })
    }

    /// Takes note of how an admitted call went.
    ///
    /// A call that was admitted before the breaker last opened says nothing about the service now, so it neither closes
    /// the breaker nor prolongs its cooldown. Only the probe decides while half-open.
    #[expect(clippy::needless_pass_by_value, reason = "takes the permit away, so that it is reported once")]
    pub fn report(&mut self, permit: BreakerPermit, outcome: CallOutcome, now: Duration) {
        let now = self.tick(now);
        if permit.generation != self.state.generation {
            return;
        }
        match (self.state.phase, permit.role, outcome) {
            (Phase::Closed { .. }, Role::Ordinary, _) => self.count(outcome, now),
            (Phase::Probing { .. }, Role::Probe, CallOutcome::Success) => self.close(),
            (Phase::Probing { .. }, Role::Probe, CallOutcome::Failure) => self.open(now),
            _ => {}
        }
    }

    /// Gives back the permit of a call that was never made, so that another may try.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "takes the permit away, so that it is not used after all"
    )]
    pub fn withdraw(&mut self, permit: BreakerPermit, now: Duration) {
        self.tick(now);
        let is_probing = matches!(self.state.phase, Phase::Probing { .. });
        if permit.generation == self.state.generation && permit.is_probe() && is_probing {
            self.state.phase = Phase::HalfOpen;
        }
    }

    /// Takes note of the outcome of a call of which only that is known.
    ///
    /// Such a failure may have happened just now, so it restarts the cooldown of an open breaker; such a success may
    /// be old, so it closes a breaker only while half-open and only when no probe is under way.
    pub fn observe(&mut self, outcome: CallOutcome, now: Duration) {
        let now = self.state.clock.advance(now);
        match (self.state.phase, outcome) {
            (Phase::Closed { .. }, _) => self.count(outcome, now),
            (Phase::HalfOpen, CallOutcome::Success) => self.close(),
            (Phase::Open { .. } | Phase::HalfOpen | Phase::Probing { .. }, CallOutcome::Failure) => {
                self.open(now);
            }
            (Phase::Open { .. } | Phase::Probing { .. }, CallOutcome::Success) => {}
        }
    }

    /// Returns what the breaker is doing at `now`.
    pub fn phase(&mut self, now: Duration) -> BreakerPhase {
        self.tick(now);
        match self.state.phase {
            Phase::Closed { .. } => BreakerPhase::Closed,
            Phase::Open { .. } => BreakerPhase::Open,
            Phase::HalfOpen | Phase::Probing { .. } => BreakerPhase::HalfOpen,
        }
    }

    /// Returns how many failures in a row a closed breaker has seen.
    #[must_use]
    pub fn failures(&self) -> u32 {
        match self.state.phase {
            Phase::Closed { failures } => failures,
            Phase::Open { .. } | Phase::HalfOpen | Phase::Probing { .. } => {
                self.settings.failure_threshold.get()
            }
        }
    }

    /// Closes the breaker by hand. Calls still under way from before are not counted.
    pub fn reset(&mut self) {
        self.state.generation = self.state.generation.wrapping_add(1);
        self.close();
    }

    /// Moves on to `now`: a probe that took too long has failed, and a cooldown that is over makes room for a probe.
    fn tick(&mut self, now: Duration) -> Duration {
        let now = self.state.clock.advance(now);
        if let Phase::Probing { since } = self.state.phase
            && now > since.saturating_add(self.settings.probe_timeout)
        {
            self.open(since.saturating_add(self.settings.probe_timeout));
        }
        if let Phase::Open { since } = self.state.phase
            && now >= since.saturating_add(self.settings.cooldown)
        {
            self.state.phase = Phase::HalfOpen;
        }
        now
    }

    fn count(&mut self, outcome: CallOutcome, now: Duration) {
        let failures = match outcome {
            CallOutcome::Success => 0,
            CallOutcome::Failure => self.failures().saturating_add(1),
        };
        self.state.phase = Phase::Closed { failures };
        if failures >= self.settings.failure_threshold.get() {
            self.open(now);
        }
    }

    fn open(&mut self, since: Duration) {
        self.state.generation = self.state.generation.wrapping_add(1);
        self.state.phase = Phase::Open { since };
    }

    fn close(&mut self) {
        self.state.phase = Phase::Closed { failures: 0 };
    }
}
