//! Events of the cost ledger.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::arguments::{Arguments, Needs, count, number};
use super::{Machine, ScriptError};
use stockade_limits::costs::{CostLedger, CostRecord, CostTotal};
use stockade_limits::{MicroUsd, Usage};

const OPS: &[&str] = &[
    "record",
    "getAll",
    "getByAgent",
    "getByChannel",
    "getByExecution",
    "getBySession",
    "getByProvider",
    "prune",
];

pub(super) fn start(_config: &Value) -> Result<Box<dyn Machine>, ScriptError> {
    Ok(Box::new(CostLedger::default()))
}

impl Machine for CostLedger {
    fn ops(&self) -> &'static [&'static str] {
        OPS
    }

    fn step(&mut self, op: &str, args: &Arguments<'_>, now: Duration) -> Result<Value, Needs> {
        let name = args.text_or(0, "");
        match op {
            "record" => {
                CostLedger::record(self, record(args, now)?);
                Ok(Value::Null)
            }
            "getAll" => Ok(self.records().map(show).collect()),
            "getByAgent" => Ok(sum(self.total(|record| record.agent == name))),
            "getByChannel" => Ok(sum(self.total(|record| record.channel == name))),
            "getByExecution" => Ok(sum(self.total(|record| record.execution == name))),
            "getBySession" => Ok(sum(self.total(|record| record.session == name))),
            "getByProvider" => Ok(by_model(self)),
            _ => {
                const NEEDS: &str = "an age in milliseconds";
                let age = args.count(0, NEEDS)?.map_err(|_| Needs(NEEDS))?;
                Ok(self.drop_before(now.saturating_sub(Duration::from_millis(age))).into())
            }
        }
    }
}

fn record(args: &Arguments<'_>, at: Duration) -> Result<CostRecord, Needs> {
    const NEEDS: &str = "agent, channel, execution, and an object with `totalTokens` and `cost`";
    let usage = args.value(3, NEEDS)?.as_object().ok_or(Needs(NEEDS))?;
    let text = |key: &str| usage.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let part = |tokens: &str, cost: &str| part(usage, tokens, cost).ok_or(Needs(NEEDS));
    Ok(CostRecord {
        at,
        agent: args.text(0, NEEDS)?.to_owned(),
        channel: args.text(1, NEEDS)?.to_owned(),
        execution: args.text(2, NEEDS)?.to_owned(),
        session: text("sessionKey"),
        provider: text("provider"),
        model: text("model"),
        operation: text("operationType"),
        input: part("input", "input")?,
        output: part("output", "output")?,
        total: part("totalTokens", "total")?,
    })
}

/// Reads one part of a usage; numbers that are not amounts are refused.
fn part(usage: &Map<String, Value>, tokens: &str, cost: &str) -> Option<Usage> {
    let tokens = usage.get(tokens).map_or(Some(Ok(0)), count)?.ok()?;
    let cost = usage.get("cost").and_then(|costs| costs.get(cost)).map_or(Some(0.0), number)?;
    Some(Usage { tokens, cost: MicroUsd::from_dollars(cost).ok()? })
}

fn show(record: &CostRecord) -> Value {
    json!({
        "timestamp": u64::try_from(record.at.as_millis()).unwrap_or(u64::MAX),
        "agentId": record.agent,
        "channelId": record.channel,
        "executionId": record.execution,
        "sessionKey": record.session,
        "provider": record.provider,
        "model": record.model,
        "operationType": record.operation,
        "tokens": {
            "input": record.input.tokens, "output": record.output.tokens, "total": record.total.tokens,
        },
        "cost": {
            "input": record.input.cost.dollars(),
            "output": record.output.cost.dollars(),
            "total": record.total.cost.dollars(),
        },
    })
}

fn sum(total: CostTotal) -> Value {
    json!({"totalTokens": total.usage.tokens, "totalCost": total.usage.cost.dollars()})
}

fn by_model(ledger: &CostLedger) -> Value {
    let totals = ledger.totals_by(|record| (record.provider.clone(), record.model.clone()));
    let rows = totals.into_iter().map(|((provider, model), total)| {
        json!({
            "provider": provider,
            "model": model,
            "totalTokens": total.usage.tokens,
            "totalCost": total.usage.cost.dollars(),
            "callCount": total.calls,
        })
    });
    rows.collect()
}
