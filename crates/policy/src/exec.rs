//! Decides what may run.

pub(crate) mod hazards;
pub(crate) mod validator;
