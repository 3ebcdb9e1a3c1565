//! Limits of an evaluation, and the meter that counts its costs.

use std::fmt;

use crate::{ErrorKind, EvalError};

/// Limits of an evaluation. Exceeding one is an error that no `catch` in the expression sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvalLimits {
    /// Bytes of source. Regular expressions have at most 64 KiB in any case.
    pub max_source: usize,
    /// Maximum nesting of calls and expressions. It is lowered where that would take more than
    /// [`EvalLimits::MAX_STACK`]: deeper nesting is an error, and never overflows the stack.
    pub max_depth: usize,
    /// Steps: each operator, name, call and statement is one; built-in functions count the items that they process,
    /// and regular expressions what they read.
    pub max_steps: u64,
    /// Bytes of all values ever made, including those no longer needed, and of regular expressions while they are
    /// parsed and compiled. At most three times as much, and 1 MiB, is in use at once; the parsed source (up to 200
    /// times its length) and the result are not included.
    pub max_bytes: usize,
    /// Bytes of the result.
    pub max_output: usize,
}

impl EvalLimits {
    /// The greatest depth that can be asked for.
    pub const MAX_DEPTH: usize = 1_000;
    /// Maximum stack use of an evaluation in bytes, at any depth: half of an ordinary thread's.
    pub const MAX_STACK: usize = 1 << 20;
    /// How deeply data may nest, in and out: as deeply as readers of JSON follow.
    pub const MAX_DATA_DEPTH: usize = 127;
}

impl Default for EvalLimits {
    fn default() -> Self {
        Self {
            max_source: 64 << 10,
            max_depth: Self::MAX_DEPTH,
            max_steps: 2_000_000,
            max_bytes: 32 << 20,
            max_output: 1 << 20,
        }
    }
}

/// Everything that an evaluation needs besides its source and its variables.
#[derive(Clone, Copy, Default)]
pub struct EvalOptions<'a> {
    /// Limits of the evaluation.
    pub limits: EvalLimits,
    /// Result of `Date.now()`, in milliseconds since 1970. Without it, the time is refused.
    pub now_ms: Option<f64>,
    /// Seed of `Math.random()`. Without it, randomness is refused.
    pub seed: Option<u64>,
    /// Returns true once the time is up. Called now and then, so that a caller with a clock can limit time as well as
    /// steps.
    pub deadline: Option<&'a dyn Fn() -> bool>,
}

impl fmt::Debug for EvalOptions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EvalOptions")
            .field("limits", &self.limits)
            .field("now_ms", &self.now_ms)
            .field("seed", &self.seed)
            .field("deadline", &self.deadline.map(|_| ".."))
            .finish()
    }
}

/// Counts the costs of one evaluation.
#[derive(Debug)]
pub(crate) struct Meter<'a> {
    options: EvalOptions<'a>,
    steps: u64,
    bytes: usize,
    depth: usize,
    stack: Stack,
    ask_at: u64,
}

/// Stack position at the start of an evaluation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stack(usize);

impl Stack {
    /// Returns the current stack position: the address of a local variable. It is never dereferenced.
    #[inline(never)]
    pub(crate) fn here() -> Self {
        let local = 0_u8;
        Self(std::ptr::from_ref(std::hint::black_box(&local)).addr())
    }

    /// Whether the stack use since then is within the limit.
    pub(crate) fn has_room(self) -> bool {
        Self::here().0.abs_diff(self.0) < EvalLimits::MAX_STACK
    }
}

/// Steps between two checks of the deadline.
pub(crate) const STEPS_BETWEEN_LOOKS: u32 = 4096;

impl<'a> Meter<'a> {
    pub(crate) fn new(options: EvalOptions<'a>) -> Self {
        let ask_at = u64::from(STEPS_BETWEEN_LOOKS).min(options.limits.max_steps.saturating_add(1));
        Self { options, steps: 0, bytes: 0, depth: 0, stack: Stack::here(), ask_at }
    }

    pub(crate) fn options(&self) -> &EvalOptions<'a> {
        &self.options
    }

    /// Counts work.
    pub(crate) fn steps(&mut self, steps: usize) -> Result<(), EvalError> {
        self.steps = self.steps.saturating_add(steps as u64);
        if self.steps < self.ask_at { Ok(()) } else { self.look() }
    }

    pub(crate) fn steps_left(&self) -> usize {
        usize::try_from(self.options.limits.max_steps.saturating_sub(self.steps)).unwrap_or(usize::MAX)
    }

    /// How many bytes are left.
    pub(crate) fn bytes_left(&self) -> usize {
        self.options.limits.max_bytes.saturating_sub(self.bytes)
    }

    /// Checks the deadline now, before work of bounded length that cannot be interrupted.
    pub(crate) fn ask(&mut self) -> Result<(), EvalError> {
        self.look()
    }

    /// Refuses work that would be over the limit, before it is begun; it is counted when it is done.
    pub(crate) fn affords(&self, steps: usize) -> Result<(), EvalError> {
        let limit = self.options.limits.max_steps;
        if self.steps.saturating_add(steps as u64) <= limit { Ok(()) } else { Err(too_many_steps(limit)) }
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self) -> Result<(), EvalError> {
        let limit = self.options.limits.max_steps;
        if self.steps > limit {
            return Err(too_many_steps(limit));
        }
        if self.options.deadline.is_some_and(|is_over| is_over()) {
            return Err(past_deadline());
        }
        self.ask_at = self.steps.saturating_add(STEPS_BETWEEN_LOOKS.into()).min(limit.saturating_add(1));
        Ok(())
    }

    /// Charges bytes before they are allocated.
    pub(crate) fn bytes(&mut self, bytes: usize) -> Result<(), EvalError> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes <= self.options.limits.max_bytes { Ok(()) } else { Err(self.too_many_bytes()) }
    }

    #[cold]
    fn too_many_bytes(&self) -> EvalError {
        let limit = self.options.limits.max_bytes;
        EvalError::new(ErrorKind::Memory, format!("the values take more than {limit} bytes, the limit"))
            .fix("make fewer or smaller values, or raise the limit of bytes")
    }

    /// Descends one level. Every call must be paired with [`Meter::ascend`], also after an error.
    pub(crate) fn descend(&mut self) -> Result<(), EvalError> {
        self.depth += 1;
        let limit = self.options.limits.max_depth.min(EvalLimits::MAX_DEPTH);
        if self.depth <= limit && self.stack.has_room() {
            Ok(())
        } else {
            Err(too_deep(self.depth.min(limit)))
        }
    }

    pub(crate) fn spent(&self) -> (u64, usize) {
        (self.steps, self.bytes)
    }

    pub(crate) fn ascend(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}

#[cold]
pub(crate) fn past_deadline() -> EvalError {
    EvalError::new(ErrorKind::Timeout, "stopped at the deadline")
}

#[cold]
fn too_many_steps(limit: u64) -> EvalError {
    EvalError::new(ErrorKind::Timeout, format!("stopped after {limit} steps, the limit"))
        .fix("make the loops shorter, or raise the limit of steps")
}

/// Returns the error for excessive nesting.
#[cold]
pub(crate) fn too_deep(limit: usize) -> EvalError {
    EvalError::new(ErrorKind::Depth, format!("nested more than {limit} levels deep"))
        .fix("use a loop in place of the recursion, or name a part of the expression first")
}
