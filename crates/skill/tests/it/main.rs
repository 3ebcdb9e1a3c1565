//! Integration tests: front matter, commands, arguments and frames of untrusted skills.

mod auto_traits;
mod heads;
mod properties;
mod seeds;
