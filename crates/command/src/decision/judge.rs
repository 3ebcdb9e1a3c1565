//! Judges a text: one verdict for each of its parts.

use std::cell::OnceCell;

use super::CommandDecision;
use super::part::{Action, Cause, Part};
use super::policy::{CommandPolicy, Substitutions};
use crate::context::{CommandContext, PartContext};
use crate::hazards::{self, Floor, Hazard, Whereabouts};
use crate::rules::builtin;
use crate::rules::effect::{Effect, Layer};
use crate::rules::matcher::Compiled;
use crate::rules::program::{base, trusted};
use crate::rules::rule::{CommandPattern, Redirects, RegexScope};
use crate::validator::{ValidatorOptions, validate};
use crate::variables;
use stockade_shell::{
    Actions, Assignment, AssignmentScope, HazardKind, InvocationKind, PartialScript, ReadError,
    ReadErrorKind, ReadOptions, Redirect, Run, Script, Span, VariableChange,
};

/// Decides on a text.
pub(super) fn decide<'t, 'p>(
    policy: &'p CommandPolicy,
    text: &'t str,
    options: &ReadOptions,
    context: &CommandContext,
) -> CommandDecision<'t, 'p> {
    decide_within(policy, text, options, context, 0)
}

/// Decides on a text, which may be an effect of code within code within a text.
fn decide_within<'t, 'p>(
    policy: &'p CommandPolicy,
    text: &'t str,
    options: &ReadOptions,
    context: &CommandContext,
    depth: usize,
) -> CommandDecision<'t, 'p> {
    let (parts, granted, spoken) = (Vec::new(), Vec::new(), OnceCell::new());
    let mut judge = Judge { text, policy, options, context, depth, parts, granted, spoken };
    let (script, mut actions) = match Script::read(text, options) {
        Ok(script) => {
            let actions = script.actions();
            (Some(script), actions)
        }
        // The parsed part may still be a reason to deny. A canonical form to run does not exist.
        Err(error) => {
            let partial = Script::read_partly(text, options);
            judge.refused(text, error, &partial);
            (None, partial.actions())
        }
    };
    judge.raw(text);
    judge.validated(text, options);
    let mut hazards = hazards::all_hazards(&actions);
    hazards::know_what_is_listed(&actions, text, &mut hazards);
    let mut git_folders = Vec::new();
    hazards::git_elsewhere(&actions, context, &mut hazards, &mut git_folders);
    hazards::files_outside(&actions, context, &mut hazards);
    hazards::files_at_home(&actions, context, &mut hazards);
    let followed = hazards::followed(&actions, context, &mut hazards);
    if let Some(others) = &followed.actions {
        hazards::at_their_ends(others, context, &mut hazards);
    }
    judge.actions(&mut actions, followed.actions.as_ref());
    judge.hazards(hazards);
    if judge.parts.is_empty() {
        judge.whole(Span::new(0, text.len()), Effect::Allow, Cause::Nothing);
    }
    CommandDecision::new(text, judge.parts, script, Some(actions)).asking_of(git_folders, followed.paths)
}

struct Judge<'t, 'p, 'a> {
    text: &'t str,
    policy: &'p CommandPolicy,
    options: &'a ReadOptions,
    context: &'a CommandContext,
    /// How many codes are around the text.
    depth: usize,
    parts: Vec<Part<'t, 'p>>,
    /// Variables that may be set, by position.
    granted: Vec<(Span, String)>,
    /// The rule that denies words of the whole text, computed on first use.
    spoken: OnceCell<Option<&'p Compiled>>,
}

/// Maximum size of assignments that a computed name is searched in.
const MAX_ASSIGNED: usize = 4096;

/// Maximum number of commands with computed names that are judged individually.
const MAX_COMPUTED: usize = 64;

/// Maximum depth of code within code whose effects are judged.
const MAX_CODE_DEPTH: usize = 2;

/// Maximum number of characters of an effect in a reason.
const MAX_SHOWN_CODE: usize = 120;

/// What a rule permits besides running the command.
struct Grant<'p> {
    span: Span,
    env: &'p [String],
    redirects: Redirects,
    /// Whether it is not a built-in rule.
    is_of_user: bool,
}

impl<'t, 'p> Judge<'t, 'p, '_> {
    fn whole(&mut self, span: Span, effect: Effect, cause: Cause<'p>) {
        self.parts.push(Part { action: Action::Whole, span, effect, cause, adds_harmless_names: false });
    }

    fn refused(&mut self, text: &str, error: ReadError, partial: &PartialScript<'_>) {
        let effect = match error.kind {
            // The unparsed rest can contain any command, and legitimate commands never reach this limit.
            _ if partial.is_cut() => Effect::Deny,
            // Every shell ends the here-document at the end of the text, and everything else was parsed.
            ReadErrorKind::UnterminatedHeredoc if partial.is_whole() => {
                self.policy.defaults.unanalysable.min(Effect::Sandbox)
            }
            // The shell rejects an incomplete single line before running anything of it.
            ReadErrorKind::UnterminatedQuote | ReadErrorKind::TrailingBackslash if !text.contains('\n') => {
                self.policy.defaults.unanalysable.min(Effect::Sandbox)
            }
            _ => self.unanalysable(),
        };
        self.whole(error.span, effect, Cause::NotRead(error.kind));
        // A form of another shell is still a command. An unclosed quote is not: the shell runs nothing of that line.
        let is_open = error.kind.is_open_quote() || error.kind == ReadErrorKind::TrailingBackslash;
        let is_form = !is_open || text.contains('\n');
        let policy = self.policy;
        let spoken = || *self.spoken.get_or_init(|| policy.set.spoken_of(&[self.text]));
        if let Some(rule) = is_form.then(spoken).flatten() {
            self.whole(error.span, Effect::Deny, Cause::MayMatch { rule: &rule.rule, layer: rule.layer });
        }
    }

    /// The effect on something that may do more than the text shows.
    fn uncertain(&self, kind: HazardKind) -> Effect {
        match kind {
            // Only crafted data runs anything, and nothing that a sandbox does not contain.
            HazardKind::EvaluatedData | HazardKind::TranslatedText => Effect::Sandbox,
            // As for the text itself, the unparsed part may be denied.
            HazardKind::TooDeep => Effect::Deny,
            _ => self.unanalysable(),
        }
    }

    fn unanalysable(&self) -> Effect {
        self.policy.defaults.unanalysable.max(Effect::Sandbox)
    }

    /// Searches the whole text for expressions of rules.
    fn raw(&mut self, text: &str) {
        let policy = self.policy;
        for rule in policy.set.find(RegexScope::Raw, text) {
            self.whole(Span::new(0, text.len()), rule.rule.effect, by_rule(rule));
        }
    }

    /// Runs the validator, if no substitution is permitted.
    fn validated(&mut self, text: &str, options: &ReadOptions) {
        if self.policy.defaults.substitutions != Substitutions::None {
            return;
        }
        let options = ValidatorOptions { read: options.clone(), ..ValidatorOptions::default() };
        if let Some(rejection) = validate(text, &options).rejection() {
            self.whole(rejection.span, Effect::Deny, Cause::Rejected(rejection.kind));
        }
    }

    /// Applies hazards. A hazard of a single program belongs to its part; any other is a part of its own.
    fn hazards(&mut self, found: Vec<Hazard>) {
        if found.is_empty() {
            return;
        }
        // Sorted once, so that each hazard finds its parts by binary search.
        self.parts.sort_by_key(|part| part.span);
        let mut alone = Vec::new();
        for hazard in found {
            if self.policy.is_overridden(hazard.id) || self.is_granted(&hazard) {
                continue;
            }
            let (effect, span) = (effect(hazard.floor), hazard.span);
            let first = self.parts.partition_point(|part| part.span < span);
            let same = self.parts.iter_mut().skip(first).take_while(|part| part.span == span);
            let runs: Vec<&mut Part<'t, 'p>> = same.filter(|part| part.run().is_some()).collect();
            if runs.is_empty() {
                alone.push(Part {
                    action: Action::Whole,
                    span,
                    effect,
                    cause: Cause::Hazard(hazard),
                    adds_harmless_names: false,
                });
                continue;
            }
            for part in runs.into_iter().filter(|part| !names_option(part, &hazard)) {
                part.raise(effect, Cause::Hazard(hazard.clone()));
            }
        }
        // Appended last: a separate part must not be attributed to another hazard.
        self.parts.append(&mut alone);
    }

    /// Whether a rule names the dangerous variable. No rule lifts a denial.
    fn is_granted(&self, hazard: &Hazard) -> bool {
        let Some(variable) = hazard.variable.as_deref().filter(|_| hazard.floor < Floor::Deny) else {
            return false;
        };
        self.granted.iter().any(|(span, name)| *span == hazard.span && name == variable)
    }

    fn actions(&mut self, actions: &mut Actions<'t>, followed: Option<&Actions<'t>>) {
        let adds = hazards::adds_harmless_names(actions, self.text);
        let places = Whereabouts::of(actions, self.context);
        let runs = std::mem::take(&mut actions.runs);
        // After a `cd`, relative paths can resolve anywhere, so rules about directories no longer permit.
        let moves = runs.iter().any(hazards::changes_folder);
        let context = PartContext {
            context: self.context,
            moves,
            adds_harmless_names: false,
            stops_own_children: false,
        };
        let needs_grants = !actions.assignments.is_empty() || !actions.redirects.is_empty();
        let mut grants = Vec::new();
        let runs_programs = runs.iter().any(runs_program);
        let assigned = self.assigned(&actions.assignments);
        let mut computed = 0;
        self.parts.reserve(runs.len());
        for (place, (run, adds_harmless_names)) in runs.into_iter().zip(adds).enumerate() {
            // The body of a function is judged where it is defined.
            if run.invocation == InvocationKind::Function {
                continue;
            }
            let inner = self.parts.last().and_then(Part::run);
            let follows = inner.is_some_and(|inner| runs_through(inner, &run));
            let (span, is_written) = (run.span, run.invocation == InvocationKind::AsWritten);
            let stops_own_children = hazards::stops_own_children(&run, &actions.assignments, self.text);
            let context = PartContext { adds_harmless_names, stops_own_children, ..context };
            let mut part = self.run(run, &context, follows);
            self.effects_of_code(&mut part);
            let end = followed.and_then(|followed| followed.runs.get(place));
            self.reads_outside(end, place, &places, &mut part);
            if part.run().is_some_and(|run| run.program().is_none()) {
                computed += 1;
                // Above the limit, each is judged with the words of the whole text.
                let text = if computed > MAX_COMPUTED { None } else { self.text.get(span.start..span.end) };
                self.named_in(text, &assigned, &mut part);
            }
            if needs_grants && is_written {
                grants.push(grant(&part, span));
            }
            self.parts.push(part);
        }
        // `owner` searches them by start position.
        grants.sort_by_key(|grant| grant.span);
        for (place, redirect) in actions.redirects.iter().enumerate().filter(|(_, one)| one.writes()) {
            let end = followed.and_then(|followed| followed.redirects.get(place)).unwrap_or(redirect);
            self.write(redirect, end, owner(&grants, redirect.span), &context);
        }
        for (place, redirect) in actions.redirects.iter().enumerate() {
            let end = followed.and_then(|followed| followed.redirects.get(place)).unwrap_or(redirect);
            self.read((place, redirect, end), owner(&grants, redirect.span), &places);
            self.expressions_on_file(redirect);
        }
        for assignment in &actions.assignments {
            self.assignment(assignment, &grants, runs_programs);
        }
        for hazard in &actions.hazards {
            self.whole(hazard.span, self.uncertain(hazard.kind), Cause::Uncertain(hazard.kind));
        }
    }

    fn run(&self, run: Run<'t>, context: &PartContext<'_>, follows: bool) -> Part<'t, 'p> {
        let policy = self.policy;
        let said = policy.set.ask(&run, context);
        // A program with a rule is known, and the rule covers what the program does with its words.
        let carried = if said.winner.is_none() { policy.set.carried(&run) } else { None };
        let words = policy.set.expressions.look_at(RegexScope::Argv).then(|| words(&run));
        let (effect, cause) = match said.winner {
            _ if run.program().is_none() => (self.computed(), Cause::ComputedName),
            // A wrapper that only runs the following command has no effect itself.
            Some(rule)
                if follows && rule.layer == Layer::BuiltIn && builtin::steps_aside(&rule.rule.id, &run) =>
            {
                (Effect::Allow, Cause::StepsAside)
            }
            // In a sandbox, which has processes of its own, no other is in reach.
            Some(rule) if context.stops_own_children && rule.layer == Layer::BuiltIn => {
                (rule.rule.effect.min(Effect::Sandbox), Cause::StopsOwnChildren)
            }
            Some(rule) => (rule.rule.effect, by_rule(rule)),
            None => (policy.defaults.unmatched, Cause::Unmatched),
        };
        let span = run.span;
        let adds_harmless_names = context.adds_harmless_names;
        let mut part = Part { action: Action::Run(run), span, effect, cause, adds_harmless_names };
        if let Some(rule) = said.winner {
            self.carried(rule, said.builtin, context.context, &mut part);
        }
        if let Some(rule) = said.maybe {
            part.raise(said.maybe_effect(), Cause::MayMatch { rule: &rule.rule, layer: rule.layer });
        }
        if let Some(rule) = carried {
            part.raise(Effect::Ask, Cause::Carries { rule: &rule.rule, layer: rule.layer });
        }
        for rule in words.iter().flat_map(|words| policy.set.find(RegexScope::Argv, words)) {
            part.raise(rule.rule.effect, by_rule(rule));
        }
        part
    }

    /// Raises the effect of inline code to that of commands which do the same. It is never lowered: the rest of the code is unknown.
    fn effects_of_code(&self, part: &mut Part<'t, 'p>) {
        if self.depth >= MAX_CODE_DEPTH {
            return;
        }
        let commands = part.run().map(hazards::effects_of_code).unwrap_or_default();
        for command in commands {
            let decision = decide_within(self.policy, &command, self.options, self.context, self.depth + 1);
            let floor = match decision.effect {
                Effect::Allow | Effect::Sandbox => continue,
                // The sandbox of the code has no network beyond the hosts that the user lists.
                Effect::Ask if only_connects(&decision) => continue,
                Effect::Ask => Floor::Ask,
                Effect::Deny => Floor::Deny,
            };
            let hazard = hazards::of_code_effect(floor, &decision.shown(MAX_SHOWN_CODE), part.span);
            if !self.policy.is_overridden(hazard.id) {
                part.raise(decision.effect, Cause::Hazard(hazard));
            }
        }
    }

    /// Raises the effect of a command that a built-in rule allows, if it reads outside the workspace. `end` is the command with the
    /// places to which its words lead.
    fn reads_outside(
        &self,
        end: Option<&Run<'_>>,
        index: usize,
        places: &Whereabouts<'_>,
        part: &mut Part<'t, 'p>,
    ) {
        let is_builtin = matches!(&part.cause, Cause::Rule { layer: Layer::BuiltIn, .. });
        if !is_builtin || part.effect != Effect::Allow {
            return;
        }
        let mut runs = part.run().into_iter().chain(end);
        let found = runs.find_map(|run| places.read_outside(run, index));
        if let Some(hazard) = found.filter(|hazard| !self.policy.is_overridden(hazard.id)) {
            part.raise(Effect::Sandbox, Cause::Hazard(hazard));
        }
    }

    /// Applies the hazard of a redirection that reads outside the workspace, unless a rule of the user allows its command.
    fn read(
        &mut self,
        (place, redirect, end): (usize, &Redirect<'t>, &Redirect<'_>),
        grant: Option<&Grant<'p>>,
        places: &Whereabouts<'_>,
    ) {
        if grant.is_some_and(|grant| grant.is_of_user) {
            return;
        }
        let outside = |one: &Redirect<'_>| places.redirect_outside(one, place);
        let found = outside(redirect).or_else(|| outside(end));
        if let Some(hazard) = found.filter(|hazard| !self.policy.is_overridden(hazard.id)) {
            self.whole(redirect.span, Effect::Sandbox, Cause::Hazard(hazard));
        }
    }

    /// Raises the effect of a command that a rule of the user allows, if its words name a program or a file outside the workspace, and
    /// neither the rule includes them nor the built-in rules allow the command.
    fn carried(
        &self,
        rule: &Compiled,
        builtin: Option<Effect>,
        context: &CommandContext,
        part: &mut Part<'t, 'p>,
    ) {
        let is_known = rule.layer == Layer::BuiltIn || builtin == Some(Effect::Allow);
        if is_known || rule.rule.effect != Effect::Allow {
            return;
        }
        let found = part
            .run()
            .and_then(|run| hazards::carried(run, |word| rule.includes(word), builtin.is_some(), context));
        if let Some(hazard) = found.filter(|hazard| !self.policy.is_overridden(hazard.id)) {
            // A sandbox does not help what needs more than the workspace, such as another machine.
            let effect = builtin.unwrap_or(Effect::Sandbox).clamp(Effect::Sandbox, Effect::Ask);
            part.raise(effect, Cause::Hazard(hazard));
        }
    }

    /// Returns the texts of assignments, from which a name may be computed.
    fn assigned(&self, assignments: &[Assignment<'_>]) -> Vec<&'t str> {
        let text = self.text;
        let mut length = 0;
        let texts = assignments.iter().filter_map(|one| text.get(one.span.start..one.span.end));
        let within = texts.take_while(|text| {
            length += text.len();
            length <= MAX_ASSIGNED
        });
        within.collect()
    }

    /// Denies a program with a computed name if the source text contains the name of a denied program. `text` contains the
    /// command.
    fn named_in(&self, text: Option<&str>, assigned: &[&str], part: &mut Part<'t, 'p>) {
        let policy = self.policy;
        let rule = match text {
            Some(text) => policy.set.spoken_of(&[&[text], assigned].concat()),
            None => *self.spoken.get_or_init(|| policy.set.spoken_of(&[self.text])),
        };
        if let Some(rule) = rule {
            part.raise(Effect::Deny, Cause::MayMatch { rule: &rule.rule, layer: rule.layer });
        }
    }

    /// Returns the effect on a program whose name is computed at run time: it may be any denied program.
    fn computed(&self) -> Effect {
        // Without a denial the name cannot hide anything; a sandbox is then sufficient.
        let least = if self.policy.set.has_denials() { Effect::Ask } else { Effect::Sandbox };
        self.unanalysable().max(least)
    }

    fn expressions_on_file(&mut self, redirect: &Redirect<'t>) {
        let policy = self.policy;
        if !policy.set.expressions.look_at(RegexScope::Redirect) {
            return;
        }
        for rule in policy.set.find(RegexScope::Redirect, &redirect.target.to_string()) {
            let (action, span) = (Action::Write(redirect.clone()), redirect.span);
            self.parts.push(Part {
                action,
                span,
                effect: rule.rule.effect,
                cause: by_rule(rule),
                adds_harmless_names: false,
            });
        }
    }

    /// Judges a redirection that writes, with its target where links lead.
    fn write(
        &mut self,
        redirect: &Redirect<'t>,
        end: &Redirect<'t>,
        grant: Option<&Grant<'p>>,
        context: &PartContext<'_>,
    ) {
        let permitted = grant.map_or(Redirects::Null, |grant| grant.redirects);
        let is_permitted = match redirect.target.known() {
            Some("/dev/null" | "/dev/stdout" | "/dev/stderr") => true,
            Some(file) => match permitted {
                Redirects::Null => false,
                Redirects::Workspace => {
                    context.holds(file) && end.target.known().is_some_and(|end| context.holds(end))
                }
                Redirects::Any => true,
            },
            None => false,
        };
        if is_permitted {
            return;
        }
        let effect = if redirect.target.known().is_some() { Effect::Sandbox } else { self.unanalysable() };
        let action = Action::Write(redirect.clone());
        self.parts.push(Part {
            action,
            span: redirect.span,
            effect,
            cause: Cause::WritesFile,
            adds_harmless_names: false,
        });
    }

    fn assignment(&mut self, assignment: &Assignment<'t>, grants: &[Grant<'p>], runs_programs: bool) {
        let is_set = assignment.change == VariableChange::Set;
        let is_obeyed = is_set && variables::matter(&assignment.name);
        // Exported variables may outlive the text, because some harnesses keep their shell.
        let is_seen = runs_programs || assignment.scope == AssignmentScope::Shell;
        let is_unknown = is_seen && assignment.exported && !variables::is_known(&assignment.name);
        if !(is_obeyed || is_unknown) || hazards::is_harmless_assignment(assignment) {
            return;
        }
        let granted = |grant: &Grant<'_>| variables::listed(grant.env, &assignment.name);
        let is_permitted = match assignment.scope {
            AssignmentScope::Command | AssignmentScope::Reading => {
                owner(grants, assignment.span).is_some_and(granted)
            }
            // It persists, so every command that runs must permit it.
            AssignmentScope::Shell => !grants.is_empty() && grants.iter().all(granted),
        };
        if is_permitted {
            self.granted.push((assignment.span, assignment.name.to_string()));
        } else {
            let action = Action::Set(assignment.clone());
            let cause = Cause::SetsVariable;
            self.parts.push(Part {
                action,
                span: assignment.span,
                effect: Effect::Sandbox,
                cause,
                adds_harmless_names: false,
            });
        }
    }
}

/// Whether a decision is a question only because a program connects to another machine.
fn only_connects(decision: &CommandDecision<'_, '_>) -> bool {
    decision.decisive().all(|part| {
        matches!(&part.cause, Cause::Rule { rule, layer: Layer::BuiltIn } if rule.id == builtin::NETWORK)
    })
}

/// Builtins that start nothing and read no variable of programs.
const STARTING_NOTHING: &[&str] = &[
    ".", ":", "[", "alias", "break", "cd", "continue", "declare", "dirs", "echo", "exit", "export", "false",
    "getopts", "jobs", "kill", "let", "local", "printf", "pwd", "read", "readonly", "return", "set", "shift",
    "shopt", "source", "test", "times", "trap", "true", "type", "typeset", "ulimit", "umask", "unset",
    "wait",
];

/// Whether a command starts a program, which gets the environment.
fn runs_program(run: &Run<'_>) -> bool {
    run.invocation != InvocationKind::Function
        && run.program().is_none_or(|name| !STARTING_NOTHING.contains(&name))
}

/// Whether the rule that permits a program names the dangerous options.
fn names_option(part: &Part<'_, '_>, hazard: &Hazard) -> bool {
    let Cause::Rule { rule, layer } = &part.cause else { return false };
    let (CommandPattern::Prefix(words) | CommandPattern::Exact(words)) = &rule.pattern else { return false };
    hazard.id == hazards::OPTION_LOADS_ID
        && *layer != Layer::BuiltIn
        && part.run().is_some_and(|run| hazards::loading_options_are_named(run, words))
}

fn by_rule(rule: &Compiled) -> Cause<'_> {
    Cause::Rule { rule: &rule.rule, layer: rule.layer }
}

fn words(run: &Run<'_>) -> String {
    run.argv.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn grant<'p>(part: &Part<'_, 'p>, span: Span) -> Grant<'p> {
    match &part.cause {
        Cause::Rule { rule, layer } => Grant {
            span,
            env: &rule.guards.env,
            redirects: rule.guards.redirects,
            is_of_user: *layer > Layer::BuiltIn,
        },
        _ => Grant { span, env: &[], redirects: Redirects::Null, is_of_user: false },
    }
}

/// Returns the innermost command that contains a span.
fn owner<'g, 'p>(grants: &'g [Grant<'p>], span: Span) -> Option<&'g Grant<'p>> {
    /// Maximum number of commands that start in a command before the span.
    const LOOKED_AT: usize = 64;
    let after = grants.partition_point(|grant| grant.span.start <= span.start);
    let before = grants.get(..after)?;
    before.iter().rev().take(LOOKED_AT).find(|grant| span.end <= grant.span.end)
}

/// Returns whether `inner` is run by `outer`.
fn runs_through(inner: &Run<'_>, outer: &Run<'_>) -> bool {
    let Some(name) = outer.program() else { return false };
    let through = inner.call_chain.get(outer.call_chain.len());
    through.is_some_and(|program| *program == base(name))
        && inner.call_chain.starts_with(&outer.call_chain)
        && trusted(name) == base(name)
}

const fn effect(floor: Floor) -> Effect {
    match floor {
        Floor::Sandbox => Effect::Sandbox,
        Floor::Ask => Effect::Ask,
        Floor::Deny => Effect::Deny,
    }
}
