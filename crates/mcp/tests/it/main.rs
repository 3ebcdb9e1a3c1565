//! What is true of every message, with the seeds of the fuzz target and with random bytes.

#[cfg(test)]
mod properties;
#[cfg(test)]
mod seeds;
