//! Decides what may run.

pub(crate) mod validator;
