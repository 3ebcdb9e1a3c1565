//! Requests of one connection that the client can cancel: queued and running commands.

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

#[cfg(not(target_os = "linux"))]
pub(super) use elsewhere::Cancellation;
#[cfg(target_os = "linux")]
pub(super) use stockade_guard::exec::run::Cancellation;

/// Other systems run no commands, so there is nothing to end.
#[cfg(not(target_os = "linux"))]
mod elsewhere {
    use std::sync::Arc;

    #[derive(Debug, Clone, Default)]
    pub(crate) struct Cancellation(Arc<()>);

    impl Cancellation {
        pub(crate) fn cancel(&self) {}

        pub(crate) fn is_same(&self, other: &Self) -> bool {
            Arc::ptr_eq(&self.0, &other.0)
        }
    }
}

/// Queued and running commands, each with the id of its request; a notification has no id.
#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<Vec<(Option<Value>, Cancellation)>>);

impl InFlight {
    /// Records a request, with its id as JSON.
    pub(super) fn begin(&self, id: Option<&str>) -> Cancellation {
        let cancellation = Cancellation::default();
        let id = id.and_then(|id| serde_json::from_str(id).ok());
        self.lock().push((id, cancellation.clone()));
        cancellation
    }

    /// Removes an answered request.
    pub(super) fn end(&self, cancellation: &Cancellation) {
        self.lock().retain(|(_, other)| !other.is_same(cancellation));
    }

    /// Cancels the requests with an id. Returns whether there was one.
    pub(super) fn cancel(&self, id: &Value) -> bool {
        let all = self.lock();
        let matching = all.iter().filter(|(other, _)| other.as_ref() == Some(id));
        matching.map(|(_, cancellation)| cancellation.cancel()).count() > 0
    }

    /// Cancels all commands, because the client is gone.
    pub(super) fn cancel_all(&self) {
        self.lock().iter().for_each(|(_, cancellation)| cancellation.cancel());
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Option<Value>, Cancellation)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_request_is_ended_by_its_id_and_by_no_other() {
        let all = InFlight::default();
        let (number, text, none) = (all.begin(Some("1")), all.begin(Some("\"1\"")), all.begin(None));
        assert!(!all.cancel(&json!(2)) && !all.cancel(&Value::Null));
        assert!(all.cancel(&json!("1")));
        let state = || [&number, &text, &none].map(Cancellation::is_cancelled);
        assert_eq!(state(), [false, true, false]);
        all.end(&text);
        assert!(!all.cancel(&json!("1")), "it is answered");
        all.cancel_all();
        assert_eq!(state(), [true; 3]);
    }
}
