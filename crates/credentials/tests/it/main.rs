//! Integration tests: what is redacted and what is kept.

#[cfg(test)]
mod redacted;
