//! Skills from outside: heads, commands, arguments and frames.

mod auto_traits;
mod heads;
mod properties;
mod seeds;
