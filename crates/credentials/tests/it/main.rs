//! Integration tests: what is redacted and what is kept, and properties of any text.

#[cfg(test)]
mod generated;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod redacted;
#[cfg(test)]
mod seeds;
