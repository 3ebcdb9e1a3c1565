//! Decides what may run.

pub(crate) mod audit;
pub(crate) mod decision;
pub(crate) mod hazards;
pub(crate) mod router;
pub(crate) mod rules;
#[cfg(feature = "rule-files")]
pub(crate) mod store;
pub(crate) mod validator;
mod variables;
