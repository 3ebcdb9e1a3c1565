//! Observation of a connection while its bodies are relayed.

use std::sync::Arc;

use super::super::exchange::Exchange;
use super::super::refusals::Refused;
use super::super::relay::Over;
use super::rewrite::RewriteRefusal;

/// An observer of one inspected connection, which records and limits its requests.
pub(super) trait Watch: Send + Sync {
    /// Records activity.
    fn beat(&self);

    /// Records that a limit ended a body of this request or its response.
    fn ended_by(&self, over: Over, exchange: &Exchange) -> Arc<Refused>;

    /// Records that the rewriter cut a body short.
    fn cut_by(&self, refused: RewriteRefusal, exchange: &Exchange) -> Arc<Refused>;

    /// Ends both connections.
    fn cut(&self);
}
