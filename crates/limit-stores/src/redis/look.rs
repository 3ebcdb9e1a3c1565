//! What an operator asks of the server: whose limits are on it, how they stand, and how an agent begins anew.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use redis::Value;
use serde_json::json;
use stockade_limits::MicroUsd;
use stockade_limits::Usage;
use stockade_limits::budget::{ExecutionRow, HoldRow, WindowRow};
use stockade_limits::store::{AgentLook, AgentState, LimitReset, ManagedStore, StoreError};

use super::{RedisStore, old, unavailable, unreadable};
use crate::whole::{Whole, WholeBudget};

const LISTING: &str = "listing the agents on the server";
const LOOKING: &str = "reading limits on the server";

/// How many keys the server looks at in one step.
const KEYS_AT_ONCE: u32 = 1_000;

/// The most agents that are listed.
const MAX_AGENTS: usize = 100_000;

impl ManagedStore for RedisStore {
    fn agents(&self) -> Result<Vec<String>, StoreError> {
        let start = format!("{}rows:core:", self.options.prefix);
        let pattern = format!("{}*", literal(&start));
        self.with_connection(LISTING, |connection| {
            let mut agents = BTreeSet::new();
            let mut cursor = 0_u64;
            loop {
                let mut scan = redis::cmd("SCAN");
                scan.arg(cursor).arg("MATCH").arg(&pattern).arg("COUNT").arg(KEYS_AT_ONCE);
                let (next, keys): (u64, Vec<String>) =
                    scan.query(connection).map_err(|error| unavailable(LISTING, error))?;
                agents.extend(keys.iter().filter_map(|key| key.strip_prefix(&start)).map(str::to_owned));
                if next == 0 || agents.len() >= MAX_AGENTS {
                    return Ok(agents.into_iter().collect());
                }
                cursor = next;
            }
        })
    }

    fn look(&self, agent: &str) -> Result<AgentLook, StoreError> {
        self.ask_all(agent, "")
    }

    fn reset(&self, agent: &str, what: LimitReset) -> Result<(), StoreError> {
        let part = match what {
            LimitReset::All => "all",
            LimitReset::Budget => "budget",
            LimitReset::Breaker => "breaker",
        };
        self.ask_all(agent, part).map(drop)
    }
}

impl RedisStore {
    fn ask_all(&self, agent: &str, reset: &str) -> Result<AgentLook, StoreError> {
        let answer: Value = self.with_connection(LOOKING, |connection| {
            let mut invocation = self.look.prepare_invoke();
            for key in self.keys(agent) {
                invocation.key(key);
            }
            invocation.arg(reset);
            invocation.invoke(connection).map_err(|error| unavailable(LOOKING, error))
        })?;
        if let Some(word) = text(&answer) {
            return Err(match word {
                "old" => unreadable(agent, old(&self.old_key(agent))),
                word => unreadable(agent, format!("unexpected answer `{}`", word.escape_debug())),
            });
        }
        read(agent, &answer).unwrap_or_else(|| Err(unreadable(agent, "unexpected answer".to_owned())))
    }
}

/// Reads the answer of the script. Nothing where it is not one.
fn read(agent: &str, answer: &Value) -> Option<Result<AgentLook, StoreError>> {
    let [now, rest @ ..] = list(answer)? else { return None };
    let now = millis(now)?;
    let [core, holds, executions, hour, day] = rest else {
        return rest.is_empty().then(|| Ok(AgentLook { state: AgentState::default(), now }));
    };
    let core = numbers(core)?;
    let field = |name: &str| core.get(FIELDS.iter().position(|field| *field == name)?).copied();
    let holds: Option<BTreeMap<u64, HoldRow>> = list(holds)?.iter().map(hold).collect();
    let executions: Option<BTreeMap<String, ExecutionRow>> =
        list(executions)?.iter().map(execution).collect();
    let window = |parts: &Value, newest: &str| -> Option<Vec<WindowRow>> {
        let older: Option<Vec<WindowRow>> =
            list(parts)?.iter().map(|part| numbers(part).and_then(|part| row(&part))).collect();
        let newest: Option<Vec<i64>> =
            ["First", "Last", "Tokens", "Cost"].iter().map(|end| field(&format!("{newest}{end}"))).collect();
        // Tokens of -1: there is no newest part.
        Some(older?.into_iter().chain(row(&newest?)).collect())
    };
    let budget = WholeBudget {
        clock: count(field("clock")?)?,
        hour: window(hour, "hourNewest")?,
        day: window(day, "dayNewest")?,
        executions: executions?,
        holds: holds?,
        next_hold: count(field("nextHold")?)?,
    };
    let since = field("since")?;
    let phase = match field("phase")? {
        0 => json!({"closed": {"failures": field("failures")?}}),
        1 => json!({"open": {"since": since}}),
        2 => json!("halfOpen"),
        3 => json!({"probing": {"since": since}}),
        _ => return None,
    };
    let breaker =
        json!({"clock": field("breakerClock")?, "phase": phase, "generation": field("generation")?});
    let breaker = match serde_json::from_value(breaker) {
        Ok(breaker) => breaker,
        Err(error) => return Some(Err(unreadable(agent, error.to_string()))),
    };
    Some(Whole { budget, breaker }.state(agent).map(|state| AgentLook { state, now }))
}

/// The numbers of the core, in their order; see `FIELDS` of `decide.lua`.
const FIELDS: [&str; 27] = [
    "layout",
    "clock",
    "nextHold",
    "holds",
    "reservedTokens",
    "reservedCost",
    "hourTokens",
    "hourCost",
    "dayTokens",
    "dayCost",
    "phase",
    "since",
    "failures",
    "generation",
    "breakerClock",
    "nextDue",
    "nextIdle",
    "hourOldest",
    "dayOldest",
    "hourNewestFirst",
    "hourNewestLast",
    "hourNewestTokens",
    "hourNewestCost",
    "dayNewestFirst",
    "dayNewestLast",
    "dayNewestTokens",
    "dayNewestCost",
];

fn hold(answer: &Value) -> Option<(u64, HoldRow)> {
    let [id, tokens, cost, execution, until] = list(answer)? else { return None };
    let usage = usage(number(tokens)?, number(cost)?)?;
    let row = HoldRow { execution: text(execution)?.to_owned(), usage, until: millis(until)? };
    Some((count(number(id)?)?, row))
}

fn execution(answer: &Value) -> Option<(String, ExecutionRow)> {
    let [name, numbers_of_it] = list(answer)? else { return None };
    let [tokens, cost, calls, warned, steps, touched] = numbers(numbers_of_it)?[..] else { return None };
    let row = ExecutionRow {
        usage: usage(tokens, cost)?,
        calls: u32::try_from(calls).unwrap_or(u32::MAX),
        warned: warned == 1,
        steps: u32::try_from(steps).unwrap_or(u32::MAX),
        touched: count(touched).map(Duration::from_millis)?,
    };
    Some((text(name)?.to_owned(), row))
}

/// Reads first, last, tokens and cost of a part of a window.
fn row(part: &[i64]) -> Option<WindowRow> {
    let [first, last, tokens, cost] = *part else { return None };
    let at = |time| count(time).map(Duration::from_millis);
    Some(WindowRow { first: at(first)?, last: at(last)?, usage: usage(tokens, cost)? })
}

fn usage(tokens: i64, cost: i64) -> Option<Usage> {
    Some(Usage { tokens: count(tokens)?, cost: MicroUsd::new(count(cost)?) })
}

fn list(answer: &Value) -> Option<&[Value]> {
    match answer {
        Value::Array(values) => Some(values),
        _ => None,
    }
}

fn text(answer: &Value) -> Option<&str> {
    match answer {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        _ => None,
    }
}

fn number(answer: &Value) -> Option<i64> {
    text(answer)?.parse().ok()
}

fn numbers(answer: &Value) -> Option<Vec<i64>> {
    list(answer)?.iter().map(number).collect()
}

fn count(number: i64) -> Option<u64> {
    u64::try_from(number).ok()
}

fn millis(answer: &Value) -> Option<Duration> {
    count(number(answer)?).map(Duration::from_millis)
}

/// Escapes what has a meaning in a pattern of keys.
fn literal(text: &str) -> String {
    let is_special = |character: char| "*?[]\\^".contains(character);
    text.chars()
        .flat_map(|character| is_special(character).then_some('\\').into_iter().chain([character]))
        .collect()
}
