//! The configuration: all layers merged, each value with its origin.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use figment::value::{Dict, Map, Value};
use figment::{Figment, Metadata, Profile, Provider, Source};
use serde_json::Value as Json;
use stockade_files::FileVersions;
use stockade_text::Timestamp;

use crate::agent::{AgentConfig, AuditConfig, LimitStoreConfig};
use crate::error::{ConfigError, ConfigNotice, Problem};
use crate::keys::{self, ConfigKey, KEYS};
use crate::kind::Kind;
use crate::known::{Known, UnknownAgent};
use crate::layer::{ConfigLayer, ConfigOrigin, Leaf};
use crate::rules::{self, ConfigRule, Rules};
use crate::scanner;
use crate::scoped;
use crate::settings::Settings;
use crate::sources::ConfigSources;
use crate::wide::Wide;

/// The id that matches every agent.
pub(crate) const ALL: &str = "*";

/// A configuration, merged from all layers.
#[derive(Debug, Clone)]
pub struct Config {
    figment: Figment,
    /// What the layers of figment come to. Figment merges them anew for each question.
    values: Value,
    pub(crate) agents: BTreeMap<String, AgentConfig>,
    known: Known,
    rules: Rules,
    limit_store: LimitStoreConfig,
    audit: AuditConfig,
    /// Ids of scanner rules that any layer configures.
    pub(crate) changed_rules: Vec<String>,
    pub(crate) notices: Vec<ConfigNotice>,
    /// The value of each list after each layer that changed it, the weakest layer first.
    lists: Vec<Leaf>,
    /// When the first table with an end that applies now ends.
    ends: Option<Timestamp>,
    /// The rule files that layers name.
    rule_files: Vec<PathBuf>,
}

/// A value of a configuration.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ConfigValue {
    /// The path of its key, with the agent's id.
    pub path: String,
    /// The key.
    pub key: &'static str,
    /// The effective value.
    pub value: Json,
    /// The layer and place that set it.
    pub origin: ConfigOrigin,
}

impl Config {
    /// Reads and merges every layer.
    ///
    /// # Errors
    /// When a file, variable or option is invalid. The error lists every problem.
    pub fn load(sources: &ConfigSources) -> Result<Self, ConfigError> {
        let mut problems = Vec::new();
        let said = sources.read(&mut problems);
        let known = Known::of(&said);
        let (mut layers, mut ends) = (Vec::new(), None);
        for one in said {
            let tables = if sources.omits_scoped { Vec::new() } else { one.scoped };
            let (added, first) =
                scoped::in_force(tables, sources.project.as_deref(), sources.session.as_deref());
            layers.push(one.leaves);
            layers.extend(added);
            ends = [ends, first].into_iter().flatten().min();
        }
        let mut agents: BTreeSet<String> = [ALL.to_owned()].into();
        agents.extend(sources.agents.iter().filter(|id| keys::is_agent(id)).cloned());
        agents.extend(layers.iter().flatten().filter_map(|leaf| agent_of(&leaf.path)));
        agents.extend(known.names().map(str::to_owned));
        let rule_files = rules::files(layers.iter().flatten());
        let rules = Rules::take(&mut layers);
        rules.check(&mut problems);
        scanner::check(layers.iter().flatten(), &mut problems);
        if !problems.is_empty() {
            return Err(failed(problems));
        }

        let mut notices: Vec<ConfigNotice> = rules.notices().collect();
        let by_others = Wide::of(&layers);
        let mut figment = Figment::from(Defaults(&agents));
        let mut lists = Vec::new();
        for leaf in layers.iter().flat_map(|leaves| spread(leaves, &agents)) {
            let Some(holds) = holding(&figment, leaf, &mut notices) else { continue };
            lists.extend(Some(&holds).filter(|leaf| leaf.value.is_array()).cloned());
            figment = figment.merge(holds);
        }
        let mut config = Self::of_figment(figment, known, rules, notices).map_err(|error| {
            let fix = "this is a bug in stockade: please report it";
            failed(vec![Problem::of_place("configuration", error.to_string(), fix)])
        })?;
        config.lists = lists;
        config.ends = ends;
        config.rule_files = rule_files;
        config.limit_own_hosts();
        config.hold_back_secrets(&by_others);
        config.withhold_secrets(&by_others);
        let (idle, told) = config.idle();
        if !idle.is_empty() {
            return Err(failed(idle));
        }
        config.notices.extend(told);
        Ok(config)
    }

    /// The same, with the versions of all files that it was read from, by which a later change is noticed.
    ///
    /// # Errors
    /// When a file, variable or option is invalid. The error lists every problem.
    pub fn load_with_versions(sources: &ConfigSources) -> Result<(Self, FileVersions), ConfigError> {
        // Versions are taken before reading, so that a change in between causes another read.
        let files = sources.files();
        let config = Self::load(sources)?;
        if config.rule_files.is_empty() {
            return Ok((config, files));
        }
        // Only reading tells which rule files there are.
        let files = files.with(config.rule_files);
        Ok((Self::load(sources)?, files))
    }

    // The error of figment is large, and only ever passed on once.
    #[expect(clippy::result_large_err, reason = "figment's own error, turned into ours by the only caller")]
    fn of_figment(
        figment: Figment,
        known: Known,
        rules: Rules,
        notices: Vec<ConfigNotice>,
    ) -> Result<Self, figment::Error> {
        let written: Settings = figment.extract()?;
        let values = figment.find_value("")?;
        let known = written.known(known);
        let changed_rules = written.changed_rules();
        let (agents, limit_store, audit) = written.read();
        Ok(Self {
            figment,
            values,
            agents,
            known,
            rules,
            limit_store,
            audit,
            changed_rules,
            notices,
            lists: Vec::new(),
            ends: None,
            rule_files: Vec::new(),
        })
    }

    /// Returns the settings of an agent. If no layer names any agent, every id is accepted and gets the settings of `*`, as `*`
    /// and
    /// [`KNOWN_AGENTS`](crate::KNOWN_AGENTS) always do.
    ///
    /// # Errors
    /// When other agents are named but not this one: its id may be mistyped, and the settings of the intended agent would be
    /// ignored.
    pub fn agent(&self, id: &str) -> Result<AgentConfig, UnknownAgent> {
        self.known.check(id)?;
        let named = self.agents.get(id).or_else(|| self.agents.get(ALL));
        // `*` always has settings.
        let steps = self.get(&format!("agents.{id}.maxSteps"));
        let steps_are_set = steps.is_none_or(|steps| steps.origin.layer != ConfigLayer::Default);
        Ok(AgentConfig {
            rules: self.rules.layers_of(id),
            steps_are_set,
            ..named.cloned().unwrap_or_default()
        })
    }

    /// Returns the rules for commands that apply to an agent, with their origins.
    pub fn rules(&self, id: &str) -> impl Iterator<Item = &ConfigRule> {
        self.rules.of(id)
    }

    /// Returns when this configuration ends: when the first table ends that applies for a time.
    #[must_use]
    pub const fn ends(&self) -> Option<Timestamp> {
        self.ends
    }

    /// Returns where budgets, circuit breakers and steps are stored.
    #[must_use]
    pub const fn limit_store(&self) -> &LimitStoreConfig {
        &self.limit_store
    }

    /// Returns the settings of the audit trail.
    #[must_use]
    pub const fn audit(&self) -> &AuditConfig {
        &self.audit
    }

    /// Returns values that are not effective as they are written, with the reason.
    #[must_use]
    pub fn notices(&self) -> &[ConfigNotice] {
        &self.notices
    }

    /// Returns the value of a key. An agent that no layer names has the values of `*`.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<ConfigValue> {
        let key = ConfigKey::of(path)?;
        if let Some(rules) = self.rules_of(key, path) {
            let value = rules.iter().map(|one| one.value.clone()).collect();
            let origin = rules.last().map_or(BUILT_IN, |one| one.origin.clone());
            return Some(ConfigValue { path: path.to_owned(), key: key.path, value, origin });
        }
        let found = self.values.find_ref(&self.known_path(path));
        // Keys of a tool or a rule need not be set by any layer.
        if found.is_none() && key.is_of_one() {
            let value = scanner::own_severity(path).or_else(|| serde_json::from_str(key.default).ok())?;
            return Some(ConfigValue { path: path.to_owned(), key: key.path, value, origin: BUILT_IN });
        }
        let value = found?;
        let origin = self.figment.get_metadata(value.tag()).map_or(BUILT_IN, origin_of);
        let shown = serde_json::to_value(value).ok()?;
        let value = if matches!(key.kind, Kind::OptionalAddress) { without_password(shown) } else { shown };
        Some(ConfigValue { path: path.to_owned(), key: key.path, value, origin })
    }

    /// Returns the origin of a list entry: the layer that added it, where the lists of several layers are combined.
    #[must_use]
    pub fn origin_of_entry(&self, path: &str, entry: &str) -> Option<ConfigOrigin> {
        let path = self.known_path(path);
        let has = |leaf: &Leaf| leaf.value.as_array().is_some_and(|list| list.iter().any(|one| one == entry));
        let mut origin = None;
        for leaf in self.lists.iter().rev().filter(|leaf| leaf.path == path) {
            if !has(leaf) {
                break;
            }
            origin = Some(leaf.origin.clone());
            // The layer that replaces a list sets all of its entries.
            if !leaf.only_narrows && !leaf.adds {
                break;
            }
        }
        origin
    }

    /// Returns the path, with `*` in place of an agent that no layer names.
    fn known_path(&self, path: &str) -> String {
        match agent_of(path).filter(|id| !self.agents.contains_key(id)) {
            Some(id) => path.replacen(&format!("agents.{id}."), "agents.*.", 1),
            None => path.to_owned(),
        }
    }

    /// Returns the paths of a key for every named agent, and for every tool and rule that a layer configures.
    fn paths_of(&self, key: &ConfigKey) -> Vec<String> {
        if key.path.contains("<rule>") {
            return self.changed_rules.iter().map(|rule| key.path.replace("<rule>", rule)).collect();
        }
        if !key.path.contains("<id>") {
            return vec![key.path.to_owned()];
        }
        let of_agent = |(id, agent): (&String, &AgentConfig)| -> Vec<String> {
            let path = key.path.replace("<id>", id);
            match path.contains("<tool>") {
                true => agent.source_profiles.keys().map(|tool| path.replace("<tool>", tool)).collect(),
                false => vec![path],
            }
        };
        self.agents.iter().flat_map(of_agent).collect()
    }

    /// Returns every value of every named agent and of `*`. Each rule for commands is a value of its own.
    #[must_use]
    pub fn values(&self) -> Vec<ConfigValue> {
        let mut paths: Vec<String> = KEYS.iter().flat_map(|key| self.paths_of(key)).collect();
        // Keep the values of one agent together.
        paths.sort_by_key(|path| agent_of(path).map_or((1, String::new()), |id| (0, id)));
        paths.iter().flat_map(|path| self.parts(path)).collect()
    }

    /// Returns the value of a key, or one value per rule, since each rule has an origin of its own.
    fn parts(&self, path: &str) -> Vec<ConfigValue> {
        let Some(whole) = self.get(path) else { return Vec::new() };
        let rules = self.rules_at(path).unwrap_or_default();
        if rules.is_empty() {
            return vec![whole];
        }
        let part = |(number, one): (usize, &ConfigRule)| ConfigValue {
            path: format!("{path}[{number}]"),
            value: one.value.clone(),
            origin: one.origin.clone(),
            ..whole
        };
        rules.into_iter().enumerate().map(part).collect()
    }

    /// Returns the rules at a path, if it is a path of rules.
    fn rules_at(&self, path: &str) -> Option<Vec<&ConfigRule>> {
        self.rules_of(ConfigKey::of(path)?, path)
    }

    fn rules_of(&self, key: &ConfigKey, path: &str) -> Option<Vec<&ConfigRule>> {
        if !matches!(key.kind, Kind::Rules) {
            return None;
        }
        Some(self.rules.of(&agent_of(path)?).collect())
    }

    /// Returns every key.
    #[must_use]
    pub fn keys() -> &'static [ConfigKey] {
        KEYS
    }

    /// Returns the key of a path that contains an agent's id or `<id>`.
    #[must_use]
    pub fn key(path: &str) -> Option<&'static ConfigKey> {
        ConfigKey::of(path)
    }

    /// Returns the key whose path is nearest to a mistyped one, or whose last part occurs in it.
    #[must_use]
    pub fn nearest_key(path: &str) -> Option<&'static str> {
        let paths = || KEYS.iter().map(|key| key.path);
        let ends = |key: &&str| key.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case(path));
        let holds = |key: &&str| key.split('.').any(|word| word.eq_ignore_ascii_case(path));
        stockade_text::nearest(path, paths()).or_else(|| paths().find(ends)).or_else(|| paths().find(holds))
    }
}

const BUILT_IN: ConfigOrigin = ConfigOrigin { layer: ConfigLayer::Default, place: None };

pub(crate) fn failed(problems: Vec<Problem>) -> ConfigError {
    ConfigError { problems: problems.into_iter().map(Into::into).collect() }
}

/// Removes the password from an address.
fn without_password(address: Json) -> Json {
    let Some(text) = address.as_str() else { return address };
    match (text.split_once("://"), text.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => Json::String(format!("{scheme}://…@{host}")),
        _ => match text.split_once('?') {
            Some((start, _)) => Json::String(format!("{start}?…")),
            None => address,
        },
    }
}

/// Returns the agent in a path.
pub(crate) fn agent_of(path: &str) -> Option<String> {
    Some(path.strip_prefix("agents.")?.split('.').next()?.to_owned())
}

/// The built-in defaults of these agents. They have one origin, so they are one provider: merging key by key copies all keys
/// before it each time.
struct Defaults<'a>(&'a BTreeSet<String>);

impl Provider for Defaults<'_> {
    fn metadata(&self) -> Metadata {
        Metadata::named(ConfigLayer::Default.name())
    }

    fn data(&self) -> figment::error::Result<Map<Profile, Dict>> {
        let mut all = Dict::new();
        // Built-in rules are not values, and keys of a tool or a rule have no default of their own.
        for key in KEYS.iter().filter(|key| !matches!(key.kind, Kind::Rules) && !key.is_of_one()) {
            // A test checks that every default is valid.
            let value: Json = serde_json::from_str(key.default).unwrap_or_default();
            insert(&mut all, &key.path.replace("<id>", ALL), Value::serialize(value)?);
        }
        if let Some(Value::Dict(_, agents)) = all.get_mut("agents")
            && let Some(of_all) = agents.get(ALL).cloned()
        {
            agents.extend(self.0.iter().map(|id| (id.clone(), of_all.clone())));
        }
        Ok(Profile::Default.collect(all))
    }
}

/// Sets the value at a path.
fn insert(mut dict: &mut Dict, path: &str, value: Value) {
    let mut names = path.split('.');
    let last = names.next_back().unwrap_or_default();
    for name in names {
        let below = dict.entry(name.to_owned()).or_insert_with(|| Dict::new().into());
        let Value::Dict(_, below) = below else { return };
        dict = below;
    }
    dict.insert(last.to_owned(), value);
}

/// Copies values for all agents to each agent, unless the same layer sets a value for that agent.
fn spread(leaves: &[Leaf], agents: &BTreeSet<String>) -> Vec<Leaf> {
    let named: BTreeSet<&str> = leaves.iter().map(|leaf| leaf.path.as_str()).collect();
    let mut all = Vec::new();
    for leaf in leaves {
        let Some(rest) = leaf.path.strip_prefix("agents.*.") else {
            all.push(leaf.clone());
            continue;
        };
        for id in agents {
            let path = format!("agents.{id}.{rest}");
            if id == ALL || leaf.adds || !named.contains(path.as_str()) {
                all.push(Leaf { path, ..leaf.clone() });
            }
        }
    }
    all
}

/// Returns the value that a layer contributes: narrowed, if it comes from a project or can only narrow.
fn holding(figment: &Figment, mut leaf: Leaf, notices: &mut Vec<ConfigNotice>) -> Option<Leaf> {
    if !leaf.only_narrows && !leaf.adds {
        return Some(leaf);
    }
    let base = figment.find_value(&leaf.path).ok().and_then(|value| serde_json::to_value(&value).ok());
    let own = || scanner::own_severity(&leaf.path);
    let base = base.filter(|base| !base.is_null()).or_else(own).unwrap_or_default();
    if leaf.adds {
        let Json::Array(mut entries) = base else { return Some(leaf) };
        let own = leaf.value.as_array().cloned().unwrap_or_default();
        entries.extend(own.into_iter().filter(|entry| !entries.contains(entry)).collect::<Vec<_>>());
        return Some(Leaf { value: Json::Array(entries), ..leaf });
    }
    let narrowed = leaf.key.narrows.combine(leaf.key.kind, &base, &leaf.value);
    let of_project = leaf.origin.layer == ConfigLayer::Project;
    if of_project && narrowed != leaf.value && leaf.path.split('.').nth(1) != Some(ALL) {
        notices.push(ConfigNotice {
            key: leaf.path.clone(),
            place: leaf.origin.place.clone().unwrap_or_default(),
            message: format!("is {narrowed} instead of {}: a project {}", leaf.value, leaf.key.project()),
        });
    }
    if narrowed == base {
        return None;
    }
    leaf.value = narrowed;
    Some(leaf)
}

fn origin_of(metadata: &Metadata) -> ConfigOrigin {
    use ConfigLayer::{Default, Environment, Flag, Managed, Project, System, User};
    let layers = [Default, System, User, Project, Environment, Flag, Managed];
    let layer = layers.into_iter().find(|layer| layer.name() == metadata.name).unwrap_or(Default);
    let place = match &metadata.source {
        Some(Source::Custom(place)) => Some(place.clone()),
        _ => None,
    };
    ConfigOrigin { layer, place }
}

/// Makes each value a provider of its own, so that figment reports the origin of each, down to the line.
impl Provider for Leaf {
    fn metadata(&self) -> Metadata {
        let metadata = Metadata::named(self.origin.layer.name());
        match &self.origin.place {
            Some(place) => metadata.source(place.as_str()),
            None => metadata,
        }
    }

    fn data(&self) -> figment::error::Result<Map<Profile, Dict>> {
        let mut all = Dict::new();
        insert(&mut all, &self.path, Value::serialize(&self.value)?);
        Ok(Profile::Default.collect(all))
    }
}
