//! Tools shared by tests, benches and the tasks of this repository. They are never published.
//!
//! Examples named `conformance` use `vectors`, and benches use `bench`. The tasks (`xtask`) and the runners (the program `testkit`)
//! use [`Workspace`], [`Program`], [`Table`], [`Json`] and [`Stop`].

#![forbid(unsafe_code)]
#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "runs programs and reports to a person")]

#[cfg(feature = "bench")]
pub mod bench;
mod json;
mod nearest;
mod program;
mod stop;
mod table;
#[cfg(feature = "vectors")]
pub mod vectors;
mod workspace;

pub use json::{Json, quoted};
pub use nearest::nearest;
pub use program::{Echo, Output, Program};
pub use stop::{SKIPPED, Stop, no_more};
pub use table::Table;
pub use workspace::{Crate, FeatureSet, Workspace};
