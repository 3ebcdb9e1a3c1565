//! How many times an execution may use a tool.

/// The number of steps of an execution, and how many were taken.
///
/// A step is counted when it begins. Counting it when it ends would let calls that run side by side pass the limit
/// together.
///
/// ```
/// use stockade_limits::steps::{Step, Steps};
///
/// let mut steps = Steps::new(2);
/// assert_eq!(steps.begin(), Step::Taken { step: 1, left: 1 });
/// assert_eq!(steps.begin(), Step::Taken { step: 2, left: 0 });
/// assert_eq!(steps.begin(), Step::Complete { limit: 2 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct Steps {
    limit: u32,
    taken: u32,
}

/// The answer to [`Steps::begin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Step {
    /// The tool may be used.
    Taken {
        /// The number of this step, from one.
        step: u32,
        /// How many may follow.
        left: u32,
    },
    /// The execution is over: it ends with what it has, which is not a failure.
    Complete {
        /// How many steps there were.
        limit: u32,
    },
}

impl Default for Steps {
    fn default() -> Self {
        Self::new(Self::DEFAULT_LIMIT)
    }
}

impl Steps {
    /// The limit where none is set.
    pub const DEFAULT_LIMIT: u32 = 50;

    /// Returns a counter that allows that many steps; zero allows none.
    #[must_use]
    pub const fn new(limit: u32) -> Self {
        Self { limit, taken: 0 }
    }

    /// Counts a step if one is left.
    pub fn begin(&mut self) -> Step {
        if self.is_complete() {
            return Step::Complete { limit: self.limit };
        }
        let step = self.record();
        Step::Taken { step, left: self.limit.saturating_sub(step) }
    }

    /// Counts a step that was taken without asking, and returns the count.
    pub fn record(&mut self) -> u32 {
        self.taken = self.taken.saturating_add(1);
        self.taken
    }

    /// Returns how many steps were taken.
    #[must_use]
    pub const fn taken(&self) -> u32 {
        self.taken
    }

    /// Returns how many steps are allowed.
    #[must_use]
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// Returns whether the limit is reached.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.taken >= self.limit
    }

    /// Starts to count anew.
    pub fn reset(&mut self) {
        self.taken = 0;
    }
}
