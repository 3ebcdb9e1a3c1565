//! Operations and answers as text, for stores that decide by a script.

mod question;
mod reply;

pub use self::question::Question;
