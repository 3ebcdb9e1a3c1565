//! Evaluates expressions of JavaScript over plain data, with bounds, and without a way to anything else.
//!
//! - [`eval`]: an expression, or statements to their completion value. [`eval_async`]: the same with `await`.
//! - [`condition`]: whether an expression holds; whatever fails does not.
//! - [`interpolate()`]: `{{expression}}` in a text.
//!
//! [`Data`] goes in and comes out. There is no host behind it: no prototypes, no constructors to climb, no code from text,
//! no getters, no files, no network, no clock and no chance but what [`EvalOptions`] give. [`EvalLimits`] bound steps, bytes, depth
//! and the result, and what hits one is refused whatever the expression catches.
//!
//! It does **not** keep secret what it was given: an expression may return any of its variables. It is an interpreter for
//! short expressions and knows most of the language that they use; classes, generators, getters, labels and BigInt do not
//! exist. What JavaScript has and this has not is refused, and nothing catches that. Time is UTC, and the only locale is `en`.
//!
//! ```
//! use stockade_eval::{Data, ErrorKind, EvalOptions, eval};
//!
//! let vars = [("order", Data::from([("items", Data::from(vec![3, 4])), ("vip", Data::from(true))]))];
//! let total = "order.items.reduce((sum, price) => sum + price, 0) * (order.vip ? 0.9 : 1)";
//! assert_eq!(eval(total, &vars, &EvalOptions::default())?, Data::from(6.3));
//!
//! let escape = "order.constructor.constructor('return process')().exit()";
//! assert_eq!(eval(escape, &vars, &EvalOptions::default()).unwrap_err().kind, ErrorKind::Forbidden);
//! # Ok::<(), stockade_eval::EvalError>(())
//! ```
//!
//! Features: `serde` reads and writes [`Data`] in any format.
#![forbid(unsafe_code)]

mod ast;
mod builtins;
mod convert;
mod data;
mod entries;
mod error;
mod evaluate;
mod interpolate;
mod lexer;
mod limits;
mod machine;
mod parser;
mod regex;
#[cfg(feature = "serde")]
mod serde;
mod text;
mod value;

pub use data::Data;
pub use error::{ErrorKind, EvalError, SourceSpan};
pub use evaluate::{condition, eval, eval_async, try_condition};
pub use interpolate::interpolate;
pub use limits::{EvalLimits, EvalOptions};

/// The README's example is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
