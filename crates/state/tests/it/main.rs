//! The public interface, as a front end uses it.

#[cfg(test)]
mod rules;
