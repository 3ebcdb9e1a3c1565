//! Limits on a Redis server.
#![expect(clippy::disallowed_methods, reason = "talks to the server on which limits are kept")]

use std::sync::Mutex;
use std::time::Duration;

use redis::{Client, Connection, RedisError, Script, ScriptInvocation};
use stockade_limits::store::{
    AgentLimits, AgentState, Change, LimitAnswer, LimitOperation, LimitStore, StateStore, StoreError,
    SwapResult, VersionedState, VersionedStore, apply_by_update, compare_and_swap_loop,
};

/// Reads version and state of an agent, and the clock of the server, which all its users share.
const LOAD: &str = "
local stored = redis.call('HMGET', KEYS[1], 'version', 'state')
return {stored[1] or '0', stored[2] or '', redis.call('TIME')}
";

/// Stores a state unless it was changed since it was read. The server runs this in one step.
const SWAP: &str = "
local version = redis.call('HGET', KEYS[1], 'version') or '0'
if version ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'state', ARGV[3])
return 1
";

/// How to reach the server.
#[derive(Clone)]
pub struct RedisOptions {
    /// Where it is, as `redis://[user:password@]host[:port][/database]` or `unix:///path`.
    pub url: String,
    /// What the names of all keys begin with.
    pub prefix: String,
    /// How long to wait for each answer. A server that takes longer refuses the call.
    pub timeout: Duration,
    /// What to do with a server that may forget what agents used.
    pub forgetting: Forgetting,
}

/// What to do with a server that drops keys when memory is short or when it is started anew, and with them what agents used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Forgetting {
    /// It is not used, nor one that does not say.
    #[default]
    Refused,
    /// It is used. Limits then hold only as long as its memory does.
    Accepted,
}

/// Keeps limits on a Redis server, for machines that share them.
///
/// The server compares and keeps each change in one step and tells the time, so it does not matter how many machines ask
/// or what their clocks say. A connection that is lost refuses; the next call tries to connect anew. States never expire.
///
/// What the server forgets was never used, so one that may forget is refused at every connection, unless
/// [`Forgetting::Accepted`] says otherwise. Two of its settings matter:
///
/// - `maxmemory-policy`: with `noeviction` or `volatile-…` the server keeps these keys and refuses new ones when memory is
///   short, which refuses calls. With `allkeys-…` it would drop them.
/// - `appendonly yes` keeps what was used across a restart, up to the last second; `appendfsync always` keeps all of it.
///   Snapshots alone may lack minutes. A replica that takes over may lack the last moments too, which cannot be checked.
pub struct RedisStore {
    client: Client,
    options: RedisOptions,
    connection: Mutex<Option<Connection>>,
    load: Script,
    swap: Script,
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self {
            url: "redis://127.0.0.1".to_owned(),
            prefix: "stockade:limits:".to_owned(),
            timeout: Duration::from_secs(2),
            forgetting: Forgetting::Refused,
        }
    }
}

impl RedisStore {
    /// Connects to the server.
    ///
    /// # Errors
    /// When the address cannot be read, the server cannot be reached, or it may drop keys.
    pub fn connect(options: RedisOptions) -> Result<Self, StoreError> {
        let client =
            Client::open(options.url.as_str()).map_err(|error| unavailable("reading the address", error))?;
        let connection = connect(&client, &options)?;
        Ok(Self {
            client,
            options,
            connection: Mutex::new(Some(connection)),
            load: Script::new(LOAD),
            swap: Script::new(SWAP),
        })
    }

    /// Asks the server. After any error the connection is not used again, since a late answer could be taken for the next.
    fn ask<T: redis::FromRedisValue>(
        &self,
        doing: &'static str,
        question: &ScriptInvocation<'_>,
    ) -> Result<T, StoreError> {
        let mut slot = self.connection.lock().map_err(|_| StoreError::Unavailable {
            doing,
            source: "a thread panicked while it asked the server".into(),
        })?;
        let mut connection = match slot.take() {
            Some(connection) => connection,
            None => connect(&self.client, &self.options)?,
        };
        let answer = question.invoke(&mut connection).map_err(|error| unavailable(doing, error))?;
        *slot = Some(connection);
        Ok(answer)
    }

    fn key(&self, agent: &str) -> String {
        format!("{}{agent}", self.options.prefix)
    }
}

impl VersionedStore for RedisStore {
    fn load(&self, agent: &str) -> Result<VersionedState, StoreError> {
        let (version, state, (seconds, micros)): (u64, String, (u64, u64)) =
            self.ask("reading limits from the server", self.load.prepare_invoke().key(self.key(agent)))?;
        let state = crate::state::read(agent, Some(state.as_str()).filter(|state| !state.is_empty()))?;
        let now = Duration::from_secs(seconds).saturating_add(Duration::from_micros(micros));
        Ok(VersionedState { version, state, now })
    }

    fn compare_and_swap(
        &self,
        agent: &str,
        expected: u64,
        state: &AgentState,
    ) -> Result<SwapResult, StoreError> {
        let state = crate::state::write(state)?;
        let mut question = self.swap.prepare_invoke();
        question.key(self.key(agent)).arg(expected).arg(expected.wrapping_add(1)).arg(state);
        let kept: bool = self.ask("keeping limits on the server", &question)?;
        Ok(if kept { SwapResult::Kept } else { SwapResult::Stale })
    }

    /// Waits up to a millisecond, a different time for each client that it collided with.
    fn back_off(&self, attempt: u32) {
        let spread = std::process::id().wrapping_mul(0x9e37_79b9).rotate_left(attempt % 32) % 1_000;
        std::thread::sleep(Duration::from_micros(u64::from(spread)));
    }
}

impl LimitStore for RedisStore {
    fn apply(
        &self,
        agent: &str,
        limits: &AgentLimits,
        operation: &LimitOperation<'_>,
    ) -> Result<LimitAnswer, StoreError> {
        apply_by_update(self, agent, limits, operation)
    }
}

impl StateStore for RedisStore {
    fn update(&self, agent: &str, change: &mut Change<'_>) -> Result<(), StoreError> {
        compare_and_swap_loop(self, agent, change)
    }
}

/// Shows everything but the address, which may hold a password.
impl std::fmt::Debug for RedisOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("RedisOptions");
        shown.field("prefix", &self.prefix).field("timeout", &self.timeout);
        shown.field("forgetting", &self.forgetting).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedisStore").field("options", &self.options).finish_non_exhaustive()
    }
}

fn connect(client: &Client, options: &RedisOptions) -> Result<Connection, StoreError> {
    const DOING: &str = "connecting to the server";
    let connect = || -> Result<Connection, RedisError> {
        let connection = client.get_connection_with_timeout(options.timeout)?;
        connection.set_read_timeout(Some(options.timeout))?;
        connection.set_write_timeout(Some(options.timeout))?;
        Ok(connection)
    };
    let mut connection = connect().map_err(|error| unavailable(DOING, error))?;
    if options.forgetting == Forgetting::Refused {
        keeps_under_pressure(&mut connection)?;
        keeps_across_restarts(&mut connection)?;
    }
    Ok(connection)
}

/// Refuses a server that may have forgotten limits after a restart.
fn keeps_across_restarts(connection: &mut Connection) -> Result<(), StoreError> {
    const DOING: &str = "asking the server whether it keeps what it is given across a restart";
    let said: String =
        redis::cmd("INFO").arg("persistence").query(connection).map_err(|error| unavailable(DOING, error))?;
    if said.lines().any(|line| line.trim_end() == "aof_enabled:1") {
        return Ok(());
    }
    let why = "it does not say that it does, and what was used would be free again; set `appendonly yes`, or accept \
               this (`limits.mayForget`, Forgetting::Accepted)";
    Err(StoreError::Unavailable { doing: DOING, source: why.into() })
}

/// Refuses a server that may drop limits.
fn keeps_under_pressure(connection: &mut Connection) -> Result<(), StoreError> {
    const DOING: &str = "asking the server whether it drops keys when memory is short";
    let memory: String =
        redis::cmd("INFO").arg("memory").query(connection).map_err(|error| unavailable(DOING, error))?;
    let refuse = |why: String| StoreError::Unavailable { doing: DOING, source: why.into() };
    let field = |name: &str| memory.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    match (field("maxmemory"), field("maxmemory_policy")) {
        // Keys of limits never expire, so a policy for those that do leaves them alone.
        (Some("0"), _) => Ok(()),
        (_, Some(policy)) if policy == "noeviction" || policy.starts_with("volatile-") => Ok(()),
        (_, Some(policy)) => Err(refuse(format!(
            "its maxmemory-policy `{}` may drop limits, and with them what was used; set it to `noeviction`, or accept \
             this (`limits.mayForget`, Forgetting::Accepted)",
            policy.escape_debug()
        ))),
        (_, None) => Err(refuse(
            "it does not say, so it might; accept this (`limits.mayForget`, Forgetting::Accepted) if it keeps all keys".to_owned(),
        )),
    }
}

fn unavailable(doing: &'static str, source: RedisError) -> StoreError {
    StoreError::Unavailable { doing, source: source.into() }
}
