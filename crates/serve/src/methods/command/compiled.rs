//! A cache of compiled rules of requests: a harness sends the same rules with every command, and compiling two hundred takes a
//! thousand times as long as deciding.

use std::sync::{Arc, Mutex, PoisonError};

use stockade_guard::command::CommandPolicy;

use super::rules::OwnRules;
use crate::fault::Fault;
use crate::operator_rules::Loaded;

/// Maximum number of cached rule sets: one for each harness that a server may have.
const MAX_SETS: usize = 8;

/// Maximum size of the text of a cached rule set. Larger ones are compiled for each request.
const MAX_SET_BYTES: usize = 1 << 18;

/// The last used rule sets, compiled; the most recent one is last.
#[derive(Debug, Default)]
pub(crate) struct CompiledRules(Mutex<Vec<(RuleSets, Arc<CommandPolicy>)>>);

/// The rules of a request, and the version of the server's rules.
#[derive(Debug, PartialEq)]
struct RuleSets {
    own: OwnRules,
    operator: u64,
}

impl CompiledRules {
    /// Returns the policy of rules. Rules of requests are compared as a whole, so that no two sets are confused; those of the
    /// server by their version.
    pub(super) fn get(&self, rules: OwnRules, operator: &Loaded) -> Result<Arc<CommandPolicy>, Fault> {
        let set = RuleSets { own: rules, operator: operator.number };
        if let Some(policy) = self.recall(&set) {
            return Ok(policy);
        }
        // Compiled without the lock, so that slow compilation does not block other requests.
        let policy = Arc::new(set.own.compile(operator)?);
        if set.own.text_bytes() <= MAX_SET_BYTES {
            self.keep(set, &policy);
        }
        Ok(policy)
    }

    fn recall(&self, rules: &RuleSets) -> Option<Arc<CommandPolicy>> {
        let mut sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let index = sets.iter().rposition(|(known, _)| known == rules)?;
        sets.get_mut(index..)?.rotate_left(1);
        sets.last().map(|(_, policy)| Arc::clone(policy))
    }

    fn keep(&self, rules: RuleSets, policy: &Arc<CommandPolicy>) {
        let mut sets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if sets.len() >= MAX_SETS {
            sets.remove(0);
        }
        sets.push((rules, Arc::clone(policy)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator_rules::OperatorRules;

    fn rules(toml: &str) -> OwnRules {
        OwnRules { rules: Vec::new(), toml: Some(toml.to_owned()), default_action: None }
    }

    fn numbered(number: usize) -> OwnRules {
        rules(&format!("version = 1\n[[rule]]\nid = \"r{number}\"\nprefix = [\"x\"]\ndecision = \"ask\""))
    }

    #[test]
    fn the_sets_that_were_used_last_are_compiled_once() {
        let compiled = CompiledRules::default();
        let server = OperatorRules::new(None, false).now().unwrap();
        let first = compiled.get(numbered(0), &server).unwrap();
        for number in 1..MAX_SETS {
            compiled.get(numbered(number), &server).unwrap();
        }
        assert!(
            Arc::ptr_eq(&first, &compiled.get(numbered(0), &server).unwrap()),
            "a set was compiled twice"
        );
        compiled.get(numbered(MAX_SETS), &server).unwrap();
        assert!(
            Arc::ptr_eq(&first, &compiled.get(numbered(0), &server).unwrap()),
            "the set used last was forgotten"
        );
        assert_eq!(compiled.0.lock().unwrap().len(), MAX_SETS);
        assert!(
            compiled.recall(&RuleSets { own: numbered(1), operator: server.number }).is_none(),
            "the oldest set was kept"
        );
    }

    #[test]
    fn what_is_wrong_or_large_is_not_kept() {
        let compiled = CompiledRules::default();
        let server = OperatorRules::new(None, false).now().unwrap();
        assert!(compiled.get(rules("version = 2"), &server).is_err());
        compiled.get(rules(&format!("version = 1\n#{}", "x".repeat(MAX_SET_BYTES))), &server).unwrap();
        assert!(compiled.0.lock().unwrap().is_empty());
    }
}
