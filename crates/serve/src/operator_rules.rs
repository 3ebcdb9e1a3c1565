//! Command rules that the server was started with, and those that requests added.
//!
//! They precede the rules of a request, which can only be stricter. Requests can also only make these rules stricter, because the
//! client may be the supervised program. They are compiled once, and again when their file changes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stockade_files::FileVersions;
use stockade_guard::command::rules::{CommandRuleFile, CommandRuleFormat, CustomRules};
use stockade_guard::command::{CommandDefaults, CommandPolicy, CommandRule, Effect, Layer, RuleLayer};
use stockade_guard::{AgentCommands, RuleStore};

use super::fault::{self, Fault};
use stockade_state::saved_rules::{ChangedRules, SavedRuleChange, SavedRules, SavedRulesError, changed};

/// The layer of these rules: the operator of the server precedes its clients.
const LAYER: Layer = Layer::Admin;

/// Rules of a server.
#[derive(Debug)]
pub(super) struct OperatorRules {
    /// The file of the rules; without one they end with the server.
    kept: Option<SavedRules>,
    /// Whether requests may add rules that allow, and remove rules that do not.
    may_widen: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Rules without a file.
    own: Option<CustomRules>,
    loaded: Option<(FileVersions, Arc<Loaded>)>,
    count: u64,
}

/// The compiled rules at one time.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) rules: Vec<CommandRule>,
    pub(super) layers: Vec<RuleLayer>,
    pub(super) defaults: Option<CommandDefaults>,
    pub(super) policy: Arc<AgentCommands>,
    /// The version, which changes with the rules.
    pub(super) number: u64,
    document: String,
}

impl OperatorRules {
    pub(super) fn new(kept: Option<SavedRules>, may_widen: bool) -> Self {
        // Rules of the operator precede those of clients, whatever layer the file belongs to.
        let kept = kept.map(|kept| SavedRules::File { layer: LAYER, path: kept.path().to_path_buf() });
        Self { kept, may_widen, state: Mutex::default() }
    }

    /// Returns the current rules.
    pub(super) fn now(&self) -> Result<Arc<Loaded>, Fault> {
        let mut state = self.lock();
        if let Some((versions, loaded)) = &state.loaded
            && versions.are_unchanged()
        {
            return Ok(Arc::clone(loaded));
        }
        // The version is taken before reading, so that a change in between causes another read.
        let versions = FileVersions::of(self.kept.iter().map(|kept| kept.path().to_owned()));
        let document = match (&self.kept, &state.own) {
            (Some(kept), _) => {
                RuleStore::of(kept.path(), LAYER).load().map_err(|error| unusable(&error.into()))?
            }
            (None, own) => own.clone().unwrap_or_else(|| CustomRules::new(LAYER)),
        };
        state.count += 1;
        let loaded = Arc::new(Loaded::of(&document, state.count)?);
        state.loaded = Some((versions, Arc::clone(&loaded)));
        Ok(loaded)
    }

    /// Changes the rules, if requests may make this change.
    pub(super) fn change(&self, change: &SavedRuleChange, writes: bool) -> Result<ChangedRules, Fault> {
        let now = self.now()?;
        self.may(change, &now.rules)?;
        match &self.kept {
            Some(kept) => kept.apply(change, writes).map_err(|error| unusable(&error)),
            None => {
                let mut state = self.lock();
                let mut rules = state.own.clone().unwrap_or_else(|| CustomRules::new(LAYER));
                let done = changed(&mut rules, change).map_err(|problem| Fault::of(&problem))?;
                if writes {
                    state.own = Some(rules);
                    state.loaded = None;
                }
                Ok(done)
            }
        }
    }

    /// Whether any request may add a rule, because it cannot make a decision milder.
    pub(super) const fn may_add(&self, effect: Effect) -> bool {
        self.may_widen || matches!(effect, Effect::Deny)
    }

    /// Whether any request may remove a rule, because no decision becomes milder without it.
    const fn may_remove(&self, effect: Effect) -> bool {
        self.may_widen || matches!(effect, Effect::Allow)
    }

    /// Refuses what could make a decision milder.
    pub(super) fn may(&self, change: &SavedRuleChange, there: &[CommandRule]) -> Result<(), Fault> {
        let refused = |what: String| {
            let message = format!("{what}: start the server with `--requests-may-widen` to permit it");
            Err(Fault::new(fault::REFUSED, message))
        };
        match change {
            SavedRuleChange::Add(rules) => match rules.iter().find(|rule| !self.may_add(rule.effect)) {
                Some(rule) => refused(format!(
                    "requests may only add rules that deny; the effect of `{}` is {}",
                    rule.id, rule.effect
                )),
                None => Ok(()),
            },
            SavedRuleChange::Remove(ids) => {
                let named = there.iter().filter(|rule| ids.contains(&rule.id));
                match named.into_iter().find(|rule| !self.may_remove(rule.effect)) {
                    Some(rule) => refused(format!(
                        "requests may only remove rules that allow; the effect of `{}` is {}",
                        rule.id, rule.effect
                    )),
                    None => Ok(()),
                }
            }
        }
    }

    /// Returns the file of the rules, for display.
    pub(super) fn place(&self) -> String {
        match &self.kept {
            Some(kept) => kept.path().display().to_string(),
            None => "the memory of the server".to_owned(),
        }
    }

    /// Ignores poisoning: the value is changed in one step or not at all, so it is consistent after a panic.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the rules as a rule file in TOML, which a request can contain.
fn in_toml(custom: &CustomRules) -> Result<String, Fault> {
    if custom.format() == CommandRuleFormat::Toml {
        return Ok(custom.document().to_owned());
    }
    let mut toml = CustomRules::new(LAYER);
    toml.add_all(custom.rules()).map_err(|problem| Fault::internal(&problem))?;
    Ok(toml.document().to_owned())
}

impl Loaded {
    fn of(custom: &CustomRules, number: u64) -> Result<Self, Fault> {
        let file = CommandRuleFile::parse(custom.document(), custom.format(), LAYER)
            .map_err(|error| Fault::internal(&error))?;
        let layers = if file.rules().is_empty() { Vec::new() } else { vec![file.layer(LAYER)] };
        let defaults = file.defaults();
        let policy = CommandPolicy::compile(layers.clone(), defaults.unwrap_or_default())
            .map_err(|error| Fault::internal(&error))?;
        let policy = Arc::new(AgentCommands::from(policy));
        let (rules, document) = (file.rules().to_vec(), in_toml(custom)?);
        Ok(Self { rules, layers, defaults, policy, number, document })
    }

    /// Whether there are rules besides the built-in ones.
    pub(super) fn decide(&self) -> bool {
        !self.layers.is_empty() || self.defaults.is_some()
    }

    /// Returns the rules in the format of a rule file.
    pub(super) fn document(&self) -> &str {
        &self.document
    }
}

/// Returns the fault for unreadable rules: nothing may be decided without them.
pub(super) fn unusable(error: &SavedRulesError) -> Fault {
    Fault::internal(error)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "damages a file of rules")]
mod tests {
    use super::*;

    fn add(rules: &OperatorRules, line: &str) -> Result<ChangedRules, Fault> {
        rules.change(&SavedRuleChange::Add(vec![CommandRule::from_words(line).unwrap()]), true)
    }

    #[test]
    fn requests_only_narrow() {
        let rules = OperatorRules::new(None, false);
        for line in ["allow x", "sandbox x", "ask x"] {
            assert_eq!(add(&rules, line).unwrap_err().code, fault::REFUSED, "{line}");
        }
        add(&rules, "deny x").unwrap();
        let remove = SavedRuleChange::Remove(vec!["deny-x".to_owned()]);
        assert_eq!(rules.change(&remove, true).unwrap_err().code, fault::REFUSED);
        assert_eq!(rules.now().unwrap().rules.len(), 1);
        let open = OperatorRules::new(None, true);
        add(&open, "allow x").unwrap();
        add(&open, "deny x").unwrap();
        open.change(&remove, true).unwrap();
        assert_eq!(open.now().unwrap().rules.len(), 1);
    }

    #[test]
    fn rules_are_compiled_when_they_change_and_not_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules.toml");
        let kept = SavedRules::File { layer: LAYER, path: path.clone() };
        let rules = OperatorRules::new(Some(kept), false);
        let first = rules.now().unwrap();
        assert!(Arc::ptr_eq(&first, &rules.now().unwrap()));
        add(&rules, "deny x").unwrap();
        let second = rules.now().unwrap();
        assert!(second.number > first.number && second.rules.len() == 1);
        // Changes by other programs are noticed, and a damaged file is an error.
        let store = RuleStore::of(&path, LAYER);
        store.change(|custom| custom.add(&CommandRule::from_words("ask y").unwrap())).unwrap();
        assert_eq!(rules.now().unwrap().rules.len(), 2);
        std::fs::write(&path, "version = 9").unwrap();
        assert!(rules.now().is_err());
    }
}
