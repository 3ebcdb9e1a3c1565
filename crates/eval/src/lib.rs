//! Evaluates JavaScript expressions over plain data, with limits and without access to the host.
//!
//! - [`eval`]: an expression, or statements to their completion value. [`eval_async`]: the same with `await`.
//! - [`condition`]: whether an expression is true; an error counts as false.
//! - [`interpolate()`]: `{{expression}}` in a text.
//!
//! Input and output are [`Data`]. There is no host behind it: no prototypes, no constructors, no code from text, no
//! getters, no files, no network; the clock and randomness come from [`EvalOptions`] alone. [`EvalLimits`] limit
//! steps, bytes, depth and the size of the result; an expression cannot catch a limit.
//!
//! It does **not** keep its variables secret: an expression may return any of them. It is an interpreter for short
//! expressions with most of the language that they use; classes, generators, getters, labels and BigInt do not exist.
//! A missing JavaScript feature is refused with an error that cannot be caught. Time is UTC, and the only locale is
//! `en`.
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
