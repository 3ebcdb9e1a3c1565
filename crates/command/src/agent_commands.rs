//! What may become of the commands of an agent, by the rules of everybody who has a say.

use stockade_shell::{ReadOptions, Run};

use super::context::CommandContext;
use super::decision::CommandDecision;
use super::decision::explain::ConsideredRule;
use super::decision::policy::{CommandDefaults, CommandPolicy};
use super::decision::suggest::Suggestion;
use super::rules::check::CommandRuleError;
use super::rules::effect::Layer;
use super::rules::layer::RuleLayer;

/// The rules for commands of an agent. Those of its project only make decisions stricter.
///
/// A policy asks the rules of a project before the built-in ones, on the assumption that its operator has reviewed them. Rules
/// that come with a repository are not reviewed: so the policy is asked without them as well, and the stricter answer applies.
///
/// ```
/// use stockade_command::AgentCommands;
/// use stockade_command::{CommandDefaults, CommandRule, Effect, Layer, RuleLayer};
///
/// let rules = vec![
///     CommandRule::prefix("push-away", &["git", "push"], Effect::Allow),
///     CommandRule::prefix("no-status", &["git", "status"], Effect::Deny),
/// ];
/// let project = RuleLayer { layer: Layer::Project, rules, overrides: Vec::new() };
/// let commands = AgentCommands::compile(vec![project], CommandDefaults::default())?;
/// let effect = |text| commands.decide(text, &Default::default(), &Default::default()).effect;
/// assert_eq!((effect("git push"), effect("git status")), (Effect::Ask, Effect::Deny));
/// # Ok::<(), stockade_command::CommandRuleError>(())
/// ```
#[derive(Debug, Clone)]
pub struct AgentCommands {
    without_project: CommandPolicy,
    /// Nothing where the project says nothing.
    with_project: Option<CommandPolicy>,
}

impl AgentCommands {
    /// Compiles rules on top of the built-in ones. Every rule is checked, and its examples are run.
    ///
    /// # Errors
    /// The first rule that cannot be used, and what is wrong with it.
    pub fn compile(layers: Vec<RuleLayer>, defaults: CommandDefaults) -> Result<Self, CommandRuleError> {
        let is_project = |layer: &RuleLayer| layer.layer == Layer::Project;
        let others = layers.iter().filter(|layer| !is_project(layer)).cloned().collect();
        let with_project =
            layers.iter().any(is_project).then(|| CommandPolicy::compile(layers, defaults)).transpose()?;
        Ok(Self { without_project: CommandPolicy::compile(others, defaults)?, with_project })
    }

    /// Decides what may become of a text that `options.shell` would run.
    pub fn decide<'t>(
        &self,
        text: &'t str,
        options: &ReadOptions,
        place: &CommandContext,
    ) -> CommandDecision<'t, '_> {
        self.ask(text, options, place).1
    }

    /// Returns rules of the user's own that would make the decision milder, each as narrow as can be and tried.
    #[must_use]
    pub fn suggest(
        &self,
        decision: &CommandDecision<'_, '_>,
        options: &ReadOptions,
        place: &CommandContext,
    ) -> Vec<Suggestion> {
        self.decider(decision.text, options, place).suggest(decision, options, place)
    }

    /// Returns the rules that are about the program of a command, as [`CommandPolicy::consider`] does.
    #[must_use]
    pub fn consider<'p>(
        &'p self,
        decision: &CommandDecision<'_, 'p>,
        run: &Run<'_>,
        options: &ReadOptions,
        place: &CommandContext,
    ) -> Vec<ConsideredRule<'p>> {
        self.decider(decision.text, options, place).consider(decision, run, place)
    }

    /// Returns the policy with the rules of every layer, to list them.
    #[must_use]
    pub fn all_rules(&self) -> &CommandPolicy {
        self.with_project.as_ref().unwrap_or(&self.without_project)
    }

    /// Returns who decides on a text.
    fn decider(&self, text: &str, options: &ReadOptions, place: &CommandContext) -> &CommandPolicy {
        match self.with_project {
            Some(_) => self.ask(text, options, place).0,
            None => &self.without_project,
        }
    }

    /// Returns the stricter decision, and who made it.
    fn ask<'t>(
        &self,
        text: &'t str,
        options: &ReadOptions,
        place: &CommandContext,
    ) -> (&CommandPolicy, CommandDecision<'t, '_>) {
        let without = self.without_project.decide(text, options, place);
        let with = self.with_project.as_ref().map(|policy| (policy, policy.decide(text, options, place)));
        match with {
            Some(with) if with.1.effect > without.effect => with,
            _ => (&self.without_project, without),
        }
    }
}

/// A policy whose rules the operator has reviewed.
impl From<CommandPolicy> for AgentCommands {
    fn from(policy: CommandPolicy) -> Self {
        Self { without_project: policy, with_project: None }
    }
}
