//! What the commands found out, before it is shown: commands fill these types, and [`render`](crate::render) turns them
//! into text and JSON. They name neither, so that no way leads back.

pub(crate) mod agent_limits;
pub(crate) mod answer;
pub(crate) mod checked_package;
pub(crate) mod fail_on;
pub(crate) mod record_facts;
pub(crate) mod record_tally;
pub(crate) mod timeline;
