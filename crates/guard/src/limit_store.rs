//! The store that a configuration names.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use stockade_limits::store::{
    AgentLimits, AgentState, LimitAnswer, LimitOperation, LimitStore, ManagedStore, StoreError,
};

use stockade_config::LimitStoreConfig;
use stockade_limit_stores::SqliteStore;
#[cfg(feature = "redis")]
use stockade_limit_stores::{Forgetting, RedisOptions, RedisStore};

/// Opens the store that a configuration names: a Redis server, or else the file of this user.
///
/// # Errors
/// When it cannot be reached or opened, or may forget what was used. Never falls back to another store, in which nothing was
/// used yet.
pub fn open_limit_store(config: &LimitStoreConfig) -> Result<Arc<dyn ManagedStore>, StoreError> {
    match &config.server {
        None => Ok(Arc::new(SqliteStore::open_default()?)),
        Some(url) => connect(url, config.may_forget),
    }
}

/// A store that is opened when it is first asked.
#[derive(Debug)]
pub struct LazyLimitStore {
    config: LimitStoreConfig,
    open: Mutex<Option<Arc<dyn LimitStore>>>,
}

impl LazyLimitStore {
    /// Returns the store that a configuration names. Nothing is opened yet.
    #[must_use]
    pub fn new(config: &LimitStoreConfig) -> Self {
        Self { config: config.clone(), open: Mutex::default() }
    }
}

impl LimitStore for LazyLimitStore {
    fn apply(
        &self,
        agent: &str,
        limits: &AgentLimits,
        operation: &LimitOperation<'_>,
    ) -> Result<LimitAnswer, StoreError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // Nothing was used yet, and to make a file for that takes longer than a decision.
        let may_be_new = open.is_none() && self.config.server.is_none() && operation.only_asks();
        if may_be_new && SqliteStore::is_default_missing()? {
            let AgentState { mut budget, mut breaker } = AgentState::default();
            return Ok(operation.run(limits, &mut budget, &mut breaker, Duration::ZERO));
        }
        let store: Arc<dyn LimitStore> = match open.take() {
            Some(store) => store,
            None => open_limit_store(&self.config)?,
        };
        open.insert(store).apply(agent, limits, operation)
    }
}

#[cfg(feature = "redis")]
fn connect(url: &str, may_forget: bool) -> Result<Arc<dyn ManagedStore>, StoreError> {
    let forgetting = if may_forget { Forgetting::Accepted } else { Forgetting::Refused };
    // Beside the file of limits, where this user's are.
    let marks = SqliteStore::default_path().map(|file| file.with_file_name("limit-servers"));
    let marks = marks.filter(|file| {
        file.parent().is_some_and(|folder| stockade_audit::private::create_private_folder(folder).is_ok())
    });
    let options = RedisOptions { url: url.to_owned(), forgetting, marks, ..RedisOptions::default() };
    Ok(Arc::new(RedisStore::connect(options)?))
}

#[cfg(not(feature = "redis"))]
fn connect(_: &str, _: bool) -> Result<Arc<dyn ManagedStore>, StoreError> {
    Err(StoreError::Unavailable {
        doing: "connecting to `limits.server`",
        source: "this program was built without Redis; remove the key to store limits in a file".into(),
    })
}
