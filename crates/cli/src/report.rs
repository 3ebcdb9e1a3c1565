//! Results of commands, which [`render`](crate::render) formats. These types depend on neither, to avoid import cycles.

pub(crate) mod agent_limits;
pub(crate) mod answer;
pub(crate) mod checked_package;
pub(crate) mod fail_on;
pub(crate) mod record_facts;
pub(crate) mod record_tally;
pub(crate) mod timeline;
