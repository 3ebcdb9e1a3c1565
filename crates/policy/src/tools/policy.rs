//! Which tools an agent may use: profile, then allow, then deny, then what every active skill leaves of it.

use std::collections::{BTreeSet, HashMap};

use stockade_text::nearest;
use thiserror::Error;

use super::names::{Entry, Pattern};

use super::groups::Group;
use super::profiles::{Profile, ToolSet};
use super::resolve::{AllowedTool, ArgumentLimit, FilteredTool, Removal, Resolution, ToolFix, ToolVerdict};
use super::skill::{self, ArgumentScope, SkillTool, SkillTools};

/// An operator's tool policy, as it is written in a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize),
    serde(default, deny_unknown_fields, rename_all = "camelCase")
)]
pub struct ToolPolicyConfig {
    /// The baseline: the name of a [`Profile`].
    pub profile: String,
    /// What is added: names, `group:…`, wildcards such as `mcp__github__*`.
    pub allow: Vec<String>,
    /// What is removed, in the same notation. Deny always wins.
    pub deny: Vec<String>,
}

impl Default for ToolPolicyConfig {
    fn default() -> Self {
        Self { profile: Profile::Coding.name().to_owned(), allow: Vec::new(), deny: Vec::new() }
    }
}

/// The tools there are, so that a slip in a policy can be told from a tool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Deserialize),
    serde(default, deny_unknown_fields, rename_all = "camelCase")
)]
pub struct ToolCatalog {
    /// The tools that are present. Names in the built-in profiles and groups are known without being listed.
    pub tools: Vec<String>,
    /// MCP servers whose tools are not listed yet. A pattern for one of them is no slip.
    pub mcp_servers: Vec<String>,
}

/// A compiled tool policy. Deciding on a known tool is one table look-up.
#[derive(Debug, Clone)]
pub struct ToolPolicy {
    profile: String,
    baseline: ToolSet,
    allow: Vec<Entry>,
    deny: Vec<Entry>,
    skills: Vec<ActiveSkill>,
    known: HashMap<String, Ruling>,
}

/// A slip in a tool policy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ToolProblem {
    /// A profile that does not exist. It grants nothing.
    #[error("unknown profile `{name}`{}", profile_hint(nearest.as_deref()))]
    UnknownProfile {
        /// What was written.
        name: String,
        /// The profile that was probably meant.
        nearest: Option<String>,
    },
    /// A group that does not exist.
    #[error("unknown group `{entry}` in {list}{}", hint(nearest.as_deref()))]
    UnknownGroup {
        /// Where.
        list: ToolList,
        /// What was written.
        entry: String,
        /// The group that was probably meant.
        nearest: Option<String>,
    },
    /// A tool that does not exist.
    #[error("unknown tool `{entry}` in {list}{}", hint(nearest.as_deref()))]
    UnknownTool {
        /// Where.
        list: ToolList,
        /// What was written.
        entry: String,
        /// The tool that was probably meant.
        nearest: Option<String>,
    },
    /// No known tool fits the pattern.
    #[error("pattern `{entry}` in {list} matches no known tool{}", hint(nearest.as_deref()))]
    MatchesNothing {
        /// Where.
        list: ToolList,
        /// What was written.
        entry: String,
        /// The tool that was probably meant.
        nearest: Option<String>,
    },
}

/// Which list of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolList {
    /// The list of what is added.
    Allow,
    /// The list of what is removed.
    Deny,
    /// The `allowed-tools` of a skill.
    Skill,
}

/// A tool policy with slips in it: a name that means nothing protects nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("tool policy: {}", join(problems))]
#[non_exhaustive]
pub struct ToolPolicyError {
    /// Every slip, in the order of the configuration.
    pub problems: Vec<ToolProblem>,
}

/// What was decided on a tool, by index into the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ruling {
    Allowed,
    Limited,
    NotInProfile,
    Denied(usize),
    NotInSkill(usize),
}

/// A skill that is active, and its list.
#[derive(Debug, Clone)]
struct ActiveSkill {
    name: String,
    tools: Vec<SkillTool>,
}

impl ToolPolicy {
    /// Compiles a policy, refusing every name, group and pattern that means nothing.
    ///
    /// # Errors
    /// When the policy has slips: all of them are in the error, each with the nearest known name.
    pub fn compile(config: &ToolPolicyConfig, catalog: &ToolCatalog) -> Result<Self, ToolPolicyError> {
        let (policy, problems) = Self::compile_leniently(config, catalog);
        if problems.is_empty() { Ok(policy) } else { Err(ToolPolicyError { problems }) }
    }

    /// Compiles a policy for a caller that does not know all tools of the agent, such as those of the program that runs it. A name
    /// in the allow list that resembles no known one is taken as one of theirs, which grants nothing else. In the deny list it is
    /// a slip: the tool that was meant may have another name here, and would stay allowed.
    ///
    /// # Errors
    /// As [`ToolPolicy::compile`].
    pub fn compile_with_foreign_tools(
        config: &ToolPolicyConfig,
        catalog: &ToolCatalog,
    ) -> Result<Self, ToolPolicyError> {
        let (policy, mut problems) = Self::compile_leniently(config, catalog);
        let is_foreign = |problem: &ToolProblem| {
            matches!(problem, ToolProblem::UnknownTool { list: ToolList::Allow, nearest: None, .. })
        };
        problems.retain(|problem| !is_foreign(problem));
        if problems.is_empty() { Ok(policy) } else { Err(ToolPolicyError { problems }) }
    }

    /// Compiles a policy in spite of its slips, for tools that explain policies. An unknown profile grants nothing;
    /// an unknown group in a deny list denies everything; any other entry that names nothing has no effect, which for a deny list
    /// means that **something may be missing from it**. Use [`ToolPolicy::compile`] to enforce.
    #[must_use]
    pub fn compile_leniently(config: &ToolPolicyConfig, catalog: &ToolCatalog) -> (Self, Vec<ToolProblem>) {
        let mut problems = Vec::new();
        let profile = Profile::from_name(&config.profile);
        if profile.is_none() {
            let nearest = nearest(&config.profile, Profile::all().map(Profile::name)).map(str::to_owned);
            problems.push(ToolProblem::UnknownProfile { name: config.profile.clone(), nearest });
        }
        let names = known_names(catalog);
        let mut read = |list, entries: &[String]| -> Vec<Entry> {
            let entries: Vec<_> = entries.iter().map(|entry| Entry::parse(entry)).collect();
            problems.extend(entries.iter().filter_map(|entry| problem(entry, list, &names, catalog)));
            entries
        };
        let allow = read(ToolList::Allow, &config.allow);
        let deny = read(ToolList::Deny, &config.deny);
        let mut policy = Self {
            profile: config.profile.clone(),
            baseline: profile.map_or(ToolSet::Only(&[]), Profile::tools),
            allow,
            deny,
            skills: Vec::new(),
            known: HashMap::new(),
        };
        policy.known = policy.judge_all(names.iter().map(|name| (*name).to_owned()));
        (policy, problems)
    }

    /// Returns the policy while a skill is active as well. A skill can only narrow: several active skills leave what
    /// all of them list, and one that lists nothing at all changes nothing.
    #[must_use]
    pub fn with_skill(&self, name: &str, tools: &SkillTools) -> Self {
        let mut narrowed = self.clone();
        if let Some(tools) = tools.listed() {
            narrowed.skills.push(ActiveSkill { name: name.to_owned(), tools: tools.to_vec() });
            narrowed.known = narrowed.judge_all(self.known.keys().cloned());
        }
        narrowed
    }

    /// Returns the entries of a skill's list that name no tool: the skill meant one, and gets none for it.
    #[must_use]
    pub fn skill_problems(&self, tools: &SkillTools, catalog: &ToolCatalog) -> Vec<ToolProblem> {
        let mut names = known_names(catalog);
        names.extend(skill::foreign_names());
        let entries = tools.listed().unwrap_or_default().iter().map(SkillTool::entry);
        entries.filter_map(|entry| problem(entry, ToolList::Skill, &names, catalog)).collect()
    }

    /// Decides on one tool.
    pub fn decide(&self, tool: &str) -> ToolVerdict<'_> {
        match self.ruling(tool) {
            Ruling::Allowed => ToolVerdict::Allowed,
            Ruling::Limited => ToolVerdict::AllowedFor(self.limits(tool)),
            Ruling::NotInProfile => ToolVerdict::Removed(Removal::NotInProfile { profile: &self.profile }),
            Ruling::Denied(index) => {
                let entry = self.deny.get(index).map_or("", Entry::text);
                ToolVerdict::Removed(Removal::ExplicitDeny { entry })
            }
            Ruling::NotInSkill(index) => {
                let skill = self.skills.get(index).map_or("", |skill| skill.name.as_str());
                ToolVerdict::Removed(Removal::NotInSkill { skill })
            }
        }
    }

    /// Whether a tool may be used at all. A skill may still limit its arguments: see [`ToolPolicy::decide`].
    #[must_use]
    pub fn allows(&self, tool: &str) -> bool {
        matches!(self.ruling(tool), Ruling::Allowed | Ruling::Limited)
    }

    /// Decides on a list of tools. Order and repetitions are kept.
    pub fn resolve<'t>(&self, tools: impl IntoIterator<Item = &'t str>) -> Resolution<'_, 't> {
        let mut resolution = Resolution::default();
        for tool in tools {
            match self.decide(tool) {
                ToolVerdict::Allowed => resolution.allowed.push(AllowedTool { tool, limits: Vec::new() }),
                ToolVerdict::AllowedFor(limits) => resolution.allowed.push(AllowedTool { tool, limits }),
                ToolVerdict::Removed(reason) => resolution.filtered.push(FilteredTool { tool, reason }),
            }
        }
        resolution
    }

    /// Returns the changes that together would allow a tool, each as narrow as it can be; none when it is allowed.
    #[must_use]
    pub fn fixes(&self, tool: &str) -> Vec<ToolFix> {
        let mut fixes: Vec<_> = self
            .deny
            .iter()
            .filter(|entry| entry.matches(tool) || entry.is_unknown_group())
            .map(|entry| self.narrow_deny(entry, tool))
            .collect();
        if !self.granted(tool) {
            fixes.push(ToolFix::AddToAllow { tool: tool.to_owned() });
        }
        let silent = self.skills.iter().filter(|skill| skill.scopes(tool).next().is_none());
        fixes.extend(
            silent.map(|skill| ToolFix::AddToSkill { skill: skill.name.clone(), tool: tool.to_owned() }),
        );
        fixes
    }

    fn narrow_deny(&self, entry: &Entry, tool: &str) -> ToolFix {
        let mut keep: Vec<_> =
            self.known.keys().filter(|name| *name != tool && entry.matches(name)).cloned().collect();
        keep.sort_unstable();
        ToolFix::NarrowDeny { entry: entry.text().to_owned(), keep }
    }

    fn judge_all(&self, names: impl Iterator<Item = String>) -> HashMap<String, Ruling> {
        let judged = names.map(|name| {
            let ruling = self.judge(&name);
            (name, ruling)
        });
        judged.collect()
    }

    fn ruling(&self, tool: &str) -> Ruling {
        self.known.get(tool).copied().unwrap_or_else(|| self.judge(tool))
    }

    /// The order of the documentation: profile and allow list, deny list, skills. Of several deny entries the last
    /// one is named, because that is the one the documents name.
    fn judge(&self, tool: &str) -> Ruling {
        // What an unknown group was meant to hold back cannot be told from the rest.
        let denies = |entry: &Entry| entry.matches(tool) || entry.is_unknown_group();
        if let Some(index) = self.deny.iter().rposition(denies) {
            return Ruling::Denied(index);
        }
        if !self.granted(tool) {
            return Ruling::NotInProfile;
        }
        let mut ruling = Ruling::Allowed;
        for (index, skill) in self.skills.iter().enumerate() {
            match skill.admits(tool) {
                Admits::Nothing => return Ruling::NotInSkill(index),
                Admits::Some => ruling = Ruling::Limited,
                Admits::Everything => {}
            }
        }
        ruling
    }

    fn granted(&self, tool: &str) -> bool {
        self.baseline.contains(tool) || self.allow.iter().any(|entry| entry.matches(tool))
    }

    fn limits(&self, tool: &str) -> Vec<ArgumentLimit<'_>> {
        self.skills
            .iter()
            .filter(|skill| matches!(skill.admits(tool), Admits::Some))
            .map(|skill| ArgumentLimit { skill: &skill.name, any_of: skill.scopes(tool).collect() })
            .collect()
    }
}

/// How much of a tool a skill's list leaves.
enum Admits {
    Nothing,
    Some,
    Everything,
}

impl ActiveSkill {
    fn scopes(&self, tool: &str) -> impl Iterator<Item = &ArgumentScope> {
        self.tools.iter().filter(move |entry| entry.names(tool)).map(SkillTool::arguments)
    }

    fn admits(&self, tool: &str) -> Admits {
        self.scopes(tool).fold(Admits::Nothing, |so_far, scope| match (so_far, scope) {
            (Admits::Everything, _) | (_, ArgumentScope::Any) => Admits::Everything,
            (Admits::Nothing | Admits::Some, _) => Admits::Some,
        })
    }
}

impl std::fmt::Display for ToolList {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Allow => "the allow list",
            Self::Deny => "the deny list",
            Self::Skill => "the skill's allowed-tools",
        })
    }
}

/// Every name that is no slip: what is present, and what the built-in tables speak of.
fn known_names(catalog: &ToolCatalog) -> BTreeSet<&str> {
    let profiles = Profile::all().filter_map(|profile| match profile.tools() {
        ToolSet::All => None,
        ToolSet::Only(names) => Some(names),
    });
    let groups = Group::all().map(|group| group.tools);
    let built_in = profiles.chain(groups).flatten().copied();
    catalog.tools.iter().map(String::as_str).chain(built_in).collect()
}

/// What is wrong with an entry, if anything is.
fn problem(
    entry: &Entry,
    list: ToolList,
    names: &BTreeSet<&str>,
    catalog: &ToolCatalog,
) -> Option<ToolProblem> {
    let of_server = catalog.mcp_servers.iter().any(|server| entry.concerns_server(server));
    if of_server || entry.is_sweeping() {
        return None;
    }
    let text = entry.text().to_owned();
    match entry.pattern() {
        Pattern::Group(_) => None,
        Pattern::Name if entry.is_unknown_group() => {
            let nearest = nearest(&text, Group::all().map(|group| group.name)).map(str::to_owned);
            Some(ToolProblem::UnknownGroup { list, entry: text, nearest })
        }
        Pattern::Name if names.contains(text.as_str()) => None,
        Pattern::Name => {
            let nearest = nearest(&text, names.iter().copied()).map(str::to_owned);
            Some(ToolProblem::UnknownTool { list, entry: text, nearest })
        }
        Pattern::Wildcard | Pattern::Server if names.iter().any(|name| entry.matches(name)) => None,
        Pattern::Wildcard | Pattern::Server => {
            let nearest = nearest(&text.replace('*', ""), names.iter().copied()).map(str::to_owned);
            Some(ToolProblem::MatchesNothing { list, entry: text, nearest })
        }
    }
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

fn profile_hint(nearest: Option<&str>) -> String {
    let all = || Profile::all().map(|profile| format!("`{}`", profile.name())).collect::<Vec<_>>().join(", ");
    nearest.map_or_else(|| format!("; there are {}", all()), |name| hint(Some(name)))
}

fn join(problems: &[ToolProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
