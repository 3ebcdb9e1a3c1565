//! What an evaluation may spend, and the meter that counts it.

use std::fmt;

use crate::{ErrorKind, EvalError};

/// What an evaluation may spend. Whatever is over a limit is refused, and no `catch` in the expression sees that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EvalLimits {
    /// Bytes of source. Regular expressions have at most 64 KiB, whatever this is.
    pub max_source: usize,
    /// How deeply calls and expressions may nest. Where that would take more than [`EvalLimits::MAX_STACK`], it is less: what
    /// nests too deeply is refused, and never overflows the stack.
    pub max_depth: usize,
    /// Steps: each operator, name, call and statement is one, and built-in functions count what they go through, as does
    /// whatever reads regular expressions.
    pub max_steps: u64,
    /// Bytes of all values that are made, those that are no longer needed too, and of regular expressions as they are read and
    /// compiled. The values take at most three times as much, and 1 MiB, at once; the parsed source
    /// (up to 200 times its length) and the result are not part of it.
    pub max_bytes: usize,
    /// Bytes of the result.
    pub max_output: usize,
}

impl EvalLimits {
    /// The greatest depth that can be asked for.
    pub const MAX_DEPTH: usize = 1_000;
    /// The most stack that an evaluation takes, in bytes, whatever the depth: half of an ordinary thread's.
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
    /// What it may spend.
    pub limits: EvalLimits,
    /// What `Date.now()` answers, in milliseconds since 1970. Without it, the time is refused.
    pub now_ms: Option<f64>,
    /// Where `Math.random()` begins. Without it, chance is refused.
    pub seed: Option<u64>,
    /// Says that time is up. Asked once in a while, so that whoever has a clock can bound time as well as steps.
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

/// Counts what one evaluation has spent.
#[derive(Debug)]
pub(crate) struct Meter<'a> {
    options: EvalOptions<'a>,
    steps: u64,
    bytes: usize,
    depth: usize,
    stack: Stack,
    ask_at: u64,
}

/// Where the stack stood when an evaluation began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stack(usize);

impl Stack {
    /// Where the stack stands: the address of something that lies on it. Nothing is read or written there.
    #[inline(never)]
    pub(crate) fn here() -> Self {
        let local = 0_u8;
        Self(std::ptr::from_ref(std::hint::black_box(&local)).addr())
    }

    /// Whether little has been taken since.
    pub(crate) fn has_room(self) -> bool {
        Self::here().0.abs_diff(self.0) < EvalLimits::MAX_STACK
    }
}

/// How many steps pass between two looks at the deadline.
const STEPS_BETWEEN_LOOKS: u64 = 4096;

impl<'a> Meter<'a> {
    pub(crate) fn new(options: EvalOptions<'a>) -> Self {
        let ask_at = STEPS_BETWEEN_LOOKS.min(options.limits.max_steps.saturating_add(1));
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

    /// Asks the deadline now, before work whose length is bounded but which cannot be interrupted.
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
            return Err(EvalError::new(ErrorKind::Timeout, "stopped at the deadline"));
        }
        self.ask_at = self.steps.saturating_add(STEPS_BETWEEN_LOOKS).min(limit.saturating_add(1));
        Ok(())
    }

    /// Counts bytes, before they are taken.
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

    /// Goes one level deeper. Whoever calls this calls [`Meter::ascend`] as well, whatever happens.
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
fn too_many_steps(limit: u64) -> EvalError {
    EvalError::new(ErrorKind::Timeout, format!("stopped after {limit} steps, the limit"))
        .fix("make the loops shorter, or raise the limit of steps")
}

/// The refusal of what nests too deeply.
#[cold]
pub(crate) fn too_deep(limit: usize) -> EvalError {
    EvalError::new(ErrorKind::Depth, format!("nested more than {limit} levels deep"))
        .fix("use a loop in place of the recursion, or name a part of the expression first")
}
