//! Early ends of an evaluation, and their conversion to errors.

use super::Machine;
use super::heap::BYTES_OF_FIELD;
use crate::text::Text;
use crate::value::{Content, ErrorObject, Fields, Object, ObjectId, Value};
use crate::{ErrorKind, EvalError};

/// The outcome of running a part of a program.
pub(crate) type Run<T = Value> = Result<T, Stop>;

/// Why a part of a program has no value.
#[derive(Debug)]
pub(crate) enum Stop {
    /// Something was thrown, and may be caught.
    Throw(Value),
    /// A limit was hit, or a forbidden feature was used: it cannot be caught.
    Refuse(Box<EvalError>),
}

impl From<EvalError> for Stop {
    fn from(error: EvalError) -> Self {
        Self::Refuse(Box::new(error))
    }
}

impl Machine<'_> {
    /// A `TypeError`.
    #[cold]
    pub(crate) fn type_error(&mut self, message: impl Into<String>) -> Stop {
        self.error("TypeError", Some(ErrorKind::Type), message.into(), None)
    }

    /// Makes a `TypeError` with a fix.
    #[cold]
    pub(crate) fn type_error_fix(&mut self, message: impl Into<String>, fix: &str) -> Stop {
        self.error("TypeError", Some(ErrorKind::Type), message.into(), Some(fix.to_owned()))
    }

    /// A `RangeError`.
    #[cold]
    pub(crate) fn range_error(&mut self, message: impl Into<String>) -> Stop {
        self.error("RangeError", Some(ErrorKind::Thrown), message.into(), None)
    }

    /// An error of another class, as a built-in function throws it.
    #[cold]
    pub(crate) fn other_error(&mut self, class: &'static str, message: impl Into<String>) -> Stop {
        self.error(class, Some(ErrorKind::Thrown), message.into(), None)
    }

    /// Makes a `SyntaxError`, as for a regular expression made from text.
    #[cold]
    pub(super) fn syntax_error(&mut self, error: EvalError) -> Stop {
        self.error("SyntaxError", Some(ErrorKind::Syntax), error.message, error.fix)
    }

    #[cold]
    pub(super) fn reference_error(&mut self, message: String, fix: Option<String>) -> Stop {
        self.error("ReferenceError", Some(ErrorKind::Reference), message, fix)
    }

    /// Makes the error for a feature that is missing on purpose.
    #[cold]
    pub(crate) fn forbidden(&self, message: impl Into<String>, fix: Option<&str>) -> Stop {
        let error = EvalError::new(ErrorKind::Forbidden, message).at(self.at);
        match fix {
            Some(fix) => error.fix(fix).into(),
            None => error.into(),
        }
    }

    fn error(
        &mut self,
        class: &'static str,
        origin: Option<ErrorKind>,
        message: String,
        fix: Option<String>,
    ) -> Stop {
        match self.new_error(class, origin, message, fix) {
            Ok(id) => Stop::Throw(Value::Object(id)),
            Err(stop) => stop,
        }
    }

    pub(crate) fn new_error(
        &mut self,
        class: &'static str,
        origin: Option<ErrorKind>,
        message: String,
        fix: Option<String>,
    ) -> Run<ObjectId> {
        self.bytes(BYTES_OF_FIELD + message.len())?;
        let mut fields = Fields::new();
        fields.insert("message".into(), Value::text(message));
        self.add(Content::Error(ErrorObject { class, origin, fix, fields }))
    }

    /// Converts an early end to an error with plain data.
    pub(super) fn explain(&mut self, stop: Stop) -> EvalError {
        let thrown = match stop {
            Stop::Refuse(error) => return error.at(self.at),
            Stop::Throw(thrown) => thrown,
        };
        let mut error = EvalError::new(ErrorKind::Thrown, "").at(self.at);
        if let Value::Object(id) = thrown
            && let Some(Object { content: Content::Error(object), .. }) = self.object(id)
        {
            error.kind = object.origin.unwrap_or(ErrorKind::Thrown);
            error.fix.clone_from(&object.fix);
            let has_own_class =
                matches!(error.kind, ErrorKind::Type | ErrorKind::Reference | ErrorKind::Syntax);
            error.message = match (has_own_class, object.fields.get("message")) {
                (true, Some(Value::Text(message))) => shown(message.as_str()).to_owned(),
                _ => object.headline(),
            };
        } else {
            // A program may throw any value; showing it must not run code, nor take long.
            error.message = match &thrown {
                Value::Text(text) => format!("thrown: {}", shown(text.as_str())),
                other => self
                    .plain_data(other)
                    .map_or_else(|_| "thrown".to_owned(), |data| format!("thrown: {data}")),
            };
        }
        if error.kind == ErrorKind::Thrown {
            error.thrown = self.plain_data(&thrown).ok();
        }
        error.message = shortened(Text::new(error.message).well_formed().to_string());
        error
    }
}

impl ErrorObject {
    /// Returns the maximum size of `headline`.
    pub(crate) fn headline_bytes(&self) -> usize {
        let len = |name: &str| match self.fields.get(name) {
            Some(Value::Text(text)) => text.as_str().len(),
            _ => 0,
        };
        self.class.len() + 2 + len("name") + len("message")
    }

    /// `Name: message`.
    pub(crate) fn headline(&self) -> String {
        let text = |name: &str| match self.fields.get(name) {
            Some(Value::Text(text)) => Some(text.as_str()),
            _ => None,
        };
        let name = text("name").unwrap_or(self.class);
        match text("message").unwrap_or_default() {
            "" => name.to_owned(),
            message => format!("{name}: {message}"),
        }
    }
}

/// The most characters of a message.
pub(super) const MAX_SHOWN: usize = 500;

/// Returns the visible part of a text in a message, and one character more: longer texts are never copied whole.
fn shown(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_SHOWN + 1).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text)
}

/// Truncates a message: a program may have put a long text into it.
fn shortened(message: String) -> String {
    match message.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", message.get(..end).unwrap_or_default()),
        None => message,
    }
}
