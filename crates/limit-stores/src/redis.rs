//! Limits on a Redis server.

mod look;
mod mark;

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use redis::{Client, Connection, RedisError, Script};
use stockade_limits::store::{AgentLimits, LimitAnswer, LimitOperation, LimitStore, Question, StoreError};

use mark::Mark;

/// Decides on one operation. The server runs this in one step.
const DECIDE: &str = include_str!("redis/decide.lua");

/// Shows all that is stored of an agent, or resets it.
const LOOK: &str = include_str!("redis/look.lua");

/// The keys of an agent, in the order in which the script names them.
const KEYS: [&str; 8] = ["core", "holds", "due", "reserved", "executions", "idle", "hour", "day"];

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
    /// A file in which the marks of servers are remembered, so that one that was emptied is refused by later programs too.
    pub marks: Option<PathBuf>,
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
/// The server decides and keeps each change in one step and tells the time, so it does not matter how many machines ask or what
/// their clocks say. A change is one round trip, whatever others do at the same time. A connection that is lost refuses; the next
/// call tries to connect anew. States never expire. Amounts above 2<sup>53</sup> are counted as 2<sup>53</sup>, so no cap is
/// higher than that.
///
/// What the server forgets was never used, so one that may forget is refused at every connection, unless
/// [`Forgetting::Accepted`] says otherwise. Two of its settings matter:
///
/// - `maxmemory-policy`: with `noeviction` or `volatile-…` the server keeps these keys and refuses new ones when memory is
///   short, which refuses calls. With `allkeys-…` it would drop them.
/// - `appendonly yes` keeps what was used across a restart, up to the last second; `appendfsync always` keeps all of it.
///   Snapshots alone may lack minutes. A replica that takes over may lack the last moments too, which cannot be checked.
///
/// A server that was emptied (`FLUSHALL`), or replaced by another one, is refused by each client that used it before: it has another
/// mark, or none. [`RedisOptions::marks`] names a file that remembers the mark between runs.
pub struct RedisStore {
    client: Client,
    options: RedisOptions,
    connection: Mutex<Option<Connection>>,
    decide: Script,
    look: Script,
    mark: Mark,
    clock: Option<Box<dyn Fn() -> Duration + Send + Sync>>,
}

impl Default for RedisOptions {
    fn default() -> Self {
        Self {
            url: "redis://127.0.0.1".to_owned(),
            prefix: "stockade:limits:".to_owned(),
            timeout: Duration::from_secs(2),
            forgetting: Forgetting::Refused,
            marks: None,
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
        let mark = Mark::default();
        let connection = connect(&client, &options, &mark)?;
        Ok(Self {
            mark,
            client,
            options,
            connection: Mutex::new(Some(connection)),
            decide: Script::new(DECIDE),
            look: Script::new(LOOK),
            clock: None,
        })
    }

    /// Returns the store with another clock than that of the server, for tests and simulations.
    #[must_use]
    pub fn with_clock(self, clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self { clock: Some(Box::new(clock)), ..self }
    }

    /// Asks the server. After any error the connection is not used again, since a late answer could be taken for the next.
    fn ask(&self, agent: &str, question: &Question<'_>) -> Result<String, StoreError> {
        const DOING: &str = "changing limits on the server";
        self.with_connection(DOING, |connection| {
            let mut invocation = self.decide.prepare_invoke();
            for key in self.keys(agent) {
                invocation.key(key);
            }
            invocation.key(mark::key(&self.options));
            invocation.arg(question.arguments()).arg(self.mark.expected());
            invocation.invoke(connection).map_err(|error| unavailable(DOING, error))
        })
    }

    /// Asks something by the connection, or by a new one where it was lost.
    fn with_connection<T>(
        &self,
        doing: &'static str,
        ask: impl FnOnce(&mut Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut slot = self.connection.lock().map_err(|_| StoreError::Unavailable {
            doing,
            source: "a thread panicked while it asked the server".into(),
        })?;
        let mut connection = match slot.take() {
            Some(connection) => connection,
            None => connect(&self.client, &self.options, &self.mark)?,
        };
        let answer = ask(&mut connection)?;
        *slot = Some(connection);
        Ok(answer)
    }

    /// Returns the keys of an agent, as scripts name them.
    fn keys(&self, agent: &str) -> Vec<String> {
        let key = |part| format!("{}rows:{part}:{agent}", self.options.prefix);
        KEYS.into_iter().map(key).chain([self.old_key(agent)]).collect()
    }

    /// Returns the key under which earlier versions kept the whole state of an agent.
    fn old_key(&self, agent: &str) -> String {
        format!("{}{agent}", self.options.prefix)
    }
}

impl LimitStore for RedisStore {
    fn apply(
        &self,
        agent: &str,
        limits: &AgentLimits,
        operation: &LimitOperation<'_>,
    ) -> Result<LimitAnswer, StoreError> {
        let now = self.clock.as_ref().map(|clock| clock());
        let answer = self.ask(agent, &Question { limits, operation, now })?;
        LimitAnswer::parse(&answer).ok_or_else(|| match answer.as_str() {
            "emptied" => mark::emptied(&self.options),
            "old" => unreadable(agent, old(&self.old_key(agent))),
            _ => unreadable(agent, format!("unexpected answer `{}`", answer.escape_debug())),
        })
    }
}

fn unreadable(agent: &str, why: String) -> StoreError {
    StoreError::Unreadable { agent: agent.to_owned(), source: why.into() }
}

fn old(key: &str) -> String {
    format!(
        "an earlier version keeps its limits in the key `{key}`; stop all programs of that version, then delete the key to begin \
         with nothing used"
    )
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

fn connect(client: &Client, options: &RedisOptions, mark: &Mark) -> Result<Connection, StoreError> {
    const DOING: &str = "connecting to the server";
    let connect = || -> Result<Connection, RedisError> {
        let connection = client.get_connection_with_timeout(options.timeout)?;
        connection.set_read_timeout(Some(options.timeout))?;
        connection.set_write_timeout(Some(options.timeout))?;
        Ok(connection)
    };
    let mut connection = connect().map_err(|error| unavailable(DOING, error))?;
    keeps_across_restarts(&mut connection, options.forgetting)?;
    if options.forgetting == Forgetting::Refused {
        keeps_under_pressure(&mut connection)?;
    }
    mark.check(&mut connection, options)?;
    Ok(connection)
}

/// Refuses a server that may have forgotten limits after a restart, and one that has not loaded them yet.
fn keeps_across_restarts(connection: &mut Connection, forgetting: Forgetting) -> Result<(), StoreError> {
    const DOING: &str = "asking the server whether it keeps what it is given across a restart";
    let told: String = match redis::cmd("INFO").arg("persistence").query(connection) {
        Ok(told) => told,
        Err(_) if forgetting == Forgetting::Accepted => return Ok(()),
        Err(error) => return Err(unavailable(DOING, error)),
    };
    let tells = |expected: &str| told.lines().any(|line| line.trim_end() == expected);
    // Until it is done, it also claims to keep nothing.
    if tells("loading:1") {
        let why = "it is still loading what it kept; try again in a moment";
        return Err(StoreError::Unavailable { doing: DOING, source: why.into() });
    }
    if forgetting == Forgetting::Accepted || tells("aof_enabled:1") {
        return Ok(());
    }
    let why = "it does not confirm this, and recorded usage could be lost; set `appendonly yes`, or accept the risk (`limits.mayForget`, Forgetting::Accepted)";
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
