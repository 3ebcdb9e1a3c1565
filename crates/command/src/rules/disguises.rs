//! Finds gaps in rules that deny: tries other forms of the commands that they deny.
//!
//! Each form is decided by all rules together. Forms that are not denied are reported with the rule that decided.

use stockade_shell::{ReadOptions, quote};
use stockade_text::Escaped;

use super::aliases::options::{names_of, of_programs};
use super::aliases::{Sameness, other_spellings};
use super::effect::{Effect, Layer};
use super::layer::RuleLayer;
use super::lint_finding::Lint;
use super::rule::{CommandPattern, CommandRule, Example, RegexScope};
use super::token::alternatives;
use crate::context::CommandContext;
use crate::decision::CommandDecision;
use crate::decision::policy::{CommandDefaults, CommandPolicy};

/// Maximum number of forms that are tried for a file, and that are listed for one reason.
const MAX_TRIED: usize = 20_000;
const MAX_SHOWN: usize = 3;

/// Wrappers that can run any command. `#` is the command, `@` its quoted text, `%` its name, and `&` the words after the name.
const DISGUISES: &[&str] = &[
    "# more",
    "# --more -x",
    "/bin/#",
    "/tmp/x/#",
    "./#",
    "\\#",
    "'%' &",
    "\"%\" &",
    "$'%' &",
    "% --an-option=x &",
    "% -x &",
    "env #",
    "env A=1 #",
    "A=1 #",
    "command #",
    "exec #",
    "sudo #",
    "sudo -u me #",
    "nice #",
    "nohup # &",
    "timeout 5 #",
    "time #",
    "busybox #",
    "xargs # < names",
    "find . -exec # ';'",
    "sh -c @",
    "bash -lc @",
    "eval @",
    "echo @ | sh",
    "sh <<< @",
    "echo $(#)",
    "echo \"`#`\"",
    "cat <(#)",
    "x=$(#)",
    "cd x && #",
    "true; #",
    "( # )",
    "{ #; }",
    "if true; then #; fi",
    "for i in 1 2; do #; done",
    "f() { #; }; f",
    "! #",
    "# &",
    "# > out 2>&1",
    "trap @ EXIT",
    "alias a=@; a",
];

/// Programs that run a command from a text argument. A file rarely denies them, but should not allow them either.
const INTERPRETERS: &[&str] = &[
    "python3 -c 'import os; os.system(\"#\")'",
    "perl -e 'system(\"#\")'",
    "ruby -e 'system(\"#\")'",
    "node -e 'require(\"child_process\").execSync(\"#\")'",
    "php -r 'system(\"#\");'",
    "awk 'BEGIN { system(\"#\") }'",
    "pwsh -c '#'",
];

/// Returns the forms that are not denied, for each rule that denies.
pub(super) fn missed(rules: &[CommandRule]) -> Vec<Lint> {
    let layer = RuleLayer { layer: Layer::User, rules: rules.to_vec(), overrides: Vec::new() };
    let Ok(policy) = CommandPolicy::assemble(vec![layer], CommandDefaults::default()) else {
        return Vec::new();
    };
    let (mut lints, mut left) = (Vec::new(), MAX_TRIED);
    for rule in rules.iter().filter(|rule| rule.enabled && rule.effect == Effect::Deny) {
        let mut trial = Trial { policy: &policy, rule, found: Vec::new(), left };
        trial.all();
        left = trial.left;
        lints.extend(trial.lints());
        if left == 0 {
            let message = format!(
                "the remaining rules were not tested with other forms; the maximum is {MAX_TRIED} forms"
            );
            lints.push(Lint { rule: rule.id.clone(), message });
            break;
        }
    }
    lints
}

struct Trial<'p> {
    policy: &'p CommandPolicy,
    rule: &'p CommandRule,
    /// The fixes, each with the forms that it would deny.
    found: Vec<(String, Vec<String>)>,
    left: usize,
}

impl Trial<'_> {
    fn all(&mut self) {
        for words in seeds(self.rule) {
            let command = joined(&words);
            // A rule that applies only in some directories, or that another rule overrides, is not tested.
            if !self.is_denied(&command) {
                continue;
            }
            let name = words.first().cloned().unwrap_or_default();
            let rest = joined(words.get(1..).unwrap_or_default());
            for disguise in DISGUISES {
                let text = disguise.replace('&', if disguise.contains('%') { &rest } else { "&" });
                let text = text.replace('%', &name).replace('@', &quote(&command)).replace('#', &command);
                self.one(&text);
            }
            self.spellings(&words);
            for disguise in INTERPRETERS {
                self.interpreter(&disguise.replace('#', &command.replace(['"', '\''], "")));
            }
        }
    }

    /// Tries other names of the program, its subcommands and its options.
    fn spellings(&mut self, words: &[String]) {
        let pattern: Vec<Vec<String>> = words.iter().map(|word| vec![super::token::escape(word)]).collect();
        for spelled in other_spellings(&pattern, Sameness::Same) {
            let most = spelled.words.iter().map(Vec::len).max().unwrap_or(0);
            for at in 0..most {
                let word = |word: &Vec<String>| word.get(at).or_else(|| word.first()).cloned();
                let own: Vec<String> = spelled.words.iter().filter_map(word).collect();
                self.one(&joined(&own));
            }
        }
        let Some((name, rest)) = words.split_first() else { return };
        let known = of_programs(&[name], rest.first().map(String::as_str));
        for (at, option) in rest.iter().enumerate().filter(|(_, word)| word.starts_with('-')) {
            for other in names_of(&known, option).into_iter().skip(1) {
                let mut own = words.to_vec();
                own.splice(at + 1..at + 2, [other]);
                self.one(&joined(&own));
            }
        }
    }

    fn is_denied(&self, text: &str) -> bool {
        self.decide(text).effect == Effect::Deny
    }

    fn decide<'t>(&self, text: &'t str) -> CommandDecision<'t, '_> {
        let context = CommandContext::new(Some("/workspace".into()), Some("/workspace".into()));
        self.policy.decide(text, &ReadOptions::default(), &context)
    }

    /// Tries a form, and adds it if it is not denied.
    fn one(&mut self, text: &str) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return;
        }
        let decision = self.decide(text);
        if decision.effect < Effect::Deny {
            let (fix, effect) = (self.fix(&decision), decision.effect);
            self.keep(fix, format!("`{}` ({effect})", Escaped(text)));
        }
    }

    fn interpreter(&mut self, text: &str) {
        let decision = self.decide(text);
        if decision.effect == Effect::Allow {
            let fix = format!("{} lets a program run any other: let it stay in a sandbox", whose(&decision));
            self.keep(fix, format!("`{}`", Escaped(text)));
        }
    }

    fn keep(&mut self, fix: String, shown: String) {
        match self.found.iter_mut().find(|(known, _)| *known == fix) {
            Some((_, texts)) => texts.push(shown),
            None => self.found.push((fix, vec![shown])),
        }
    }

    /// Returns the narrowest change that denies it.
    fn fix(&self, decision: &CommandDecision<'_, '_>) -> String {
        let first = |words: &[Vec<String>]| {
            let plain = |word: &Vec<String>| word.first().cloned().unwrap_or_default();
            words.iter().map(plain).collect::<Vec<_>>()
        };
        match &self.rule.pattern {
            CommandPattern::Exact(words) => {
                format!(
                    "it is about exactly these words: write `prefix = {:?}`, which takes more",
                    first(words)
                )
            }
            CommandPattern::Regex { .. } => {
                "an expression sees one way to write it: name the words with `prefix`, which sees all"
                    .to_owned()
            }
            CommandPattern::Prefix(_) => match decision.decisive().find_map(|part| part.cause.rule()) {
                Some((rule, Layer::User)) if rule.id != self.rule.id => {
                    format!(
                        "rule `{}` decides there: give this one a higher `priority`, or narrow that one",
                        rule.id
                    )
                }
                _ => "deny what runs it there, too".to_owned(),
            },
        }
    }

    fn lints(self) -> Vec<Lint> {
        let id = &self.rule.id;
        let of = |(fix, texts): (String, Vec<String>)| {
            let more = match texts.len().saturating_sub(MAX_SHOWN) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let shown = texts.into_iter().take(MAX_SHOWN).collect::<Vec<_>>().join(", ");
            Lint { rule: id.clone(), message: format!("it does not deny {shown}{more}: {fix}") }
        };
        self.found.into_iter().map(of).collect()
    }
}

fn whose(decision: &CommandDecision<'_, '_>) -> String {
    let rule = decision.decisive().find_map(|part| part.cause.rule());
    rule.map_or_else(|| "it".to_owned(), |(rule, _)| format!("rule `{}`", rule.id))
}

/// Returns the commands of a rule: its words, or the examples of its expression.
fn seeds(rule: &CommandRule) -> Vec<Vec<String>> {
    /// Only the first examples are used.
    const MAX_SEEDS: usize = 4;
    let words = match &rule.pattern {
        CommandPattern::Prefix(words) | CommandPattern::Exact(words) => words,
        CommandPattern::Regex { over: RegexScope::Redirect, .. } => return Vec::new(),
        CommandPattern::Regex { .. } => {
            let words = |example: &Example| match example {
                Example::Text(text) => text.split_whitespace().map(str::to_owned).collect(),
                Example::Argv(words) => words.clone(),
            };
            return rule.matches.iter().take(MAX_SEEDS).map(words).collect();
        }
    };
    let plain = |word: &Vec<String>| {
        let first = word.first().map(|word| alternatives(word)).and_then(|all| all.into_iter().next());
        first.unwrap_or_default().replace(['*', '?'], "x").replace('\\', "")
    };
    let required = rule.guards.require.iter().map(|word| word.replace(['*', '?'], "x"));
    vec![words.iter().map(plain).chain(required).collect()]
}

fn joined(words: &[String]) -> String {
    words.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
}
