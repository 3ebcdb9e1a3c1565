//! Validation of rules before they are used.

use std::collections::HashSet;
use std::fmt;

use stockade_text::Escaped;

use super::effect::{Effect, Layer};
use super::expressions;
use super::matcher::{Compiled, Match, Mismatch};
use super::program::base;
use super::rule::{CommandPattern, CommandRule, Example};
use super::token::{MAX_BRACE_ALTERNATIVES, Token, alternatives};
use crate::context::{CommandContext, PartContext};
use crate::rules::layer::RuleLayer;
use stockade_shell::{Arg, ReadOptions, Run, Script};

/// Maximum number of words of a pattern, alternatives of a word, and bytes of an alternative.
const MAX_WORDS: usize = 32;
const MAX_ALTERNATIVES: usize = 200;
const MAX_WORD_BYTES: usize = 200;
/// Maximum number of rules of a layer, and examples of a rule.
const MAX_RULES: usize = 10_000;
const MAX_EXAMPLES: usize = 200;
/// Maximum memory of all compiled expressions. It also limits the compile time, which grows with the memory.
const MAX_EXPRESSION_BYTES: usize = 64 << 20;

/// A rule was rejected as invalid; names the rule and the problem.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", whose(rule))]
#[non_exhaustive]
pub struct CommandRuleError {
    /// The id of the rule; empty if the problem concerns no single rule.
    pub rule: String,
    /// The problem.
    #[source]
    pub problem: CommandRuleProblem,
}

fn whose(rule: &str) -> String {
    if rule.is_empty() { String::new() } else { format!("rule `{}`: ", Escaped(rule)) }
}

/// A problem with a rule. Each message includes the fix.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandRuleProblem {
    /// The id is empty, or has characters other than letters, digits and `-_.:/`.
    #[error("an id has at most 100 letters, digits and -_.:/")]
    Id,
    /// Another rule of the layer has the id.
    #[error("another rule has this id; use a unique one, because decisions report it")]
    DuplicateId,
    /// The pattern has no words.
    #[error("it would match every command: start it with a program")]
    Empty,
    /// A limit is exceeded.
    #[error("{what}: the maximum is {most}")]
    TooMany {
        /// What exceeds the limit.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// A word cannot occur in any command.
    #[error("word {position} is empty or has a control character: no command matches it")]
    Word {
        /// The position of the word, from 1.
        position: usize,
    },
    /// The braces of a word have too many alternatives.
    #[error("too many alternatives in the braces of a word: the maximum is {MAX_BRACE_ALTERNATIVES}")]
    Alternatives {
        /// The position of the word, from 1.
        position: usize,
    },
    /// It allows a program that runs other programs from its arguments.
    #[error(
        "it allows `{}`, which runs other programs from its arguments: list the arguments it may have, or write \
         `i_know = true`",
        Escaped(program)
    )]
    TooBroad {
        /// The program.
        program: String,
    },
    /// It allows every program.
    #[error("it allows every program: list programs, or write `i_know = true`")]
    AnyProgram,
    /// An expression is invalid.
    #[error("invalid expression: {message}")]
    Expression {
        /// The problem.
        message: String,
    },
    /// The expressions of this rule and the previous ones exceed the memory limit.
    #[error(
        "with it, the expressions of the rules take more than {} MiB: repeat no large class so often, as \
         `\\w{{1,40}}` does, or use `prefix`",
        MAX_EXPRESSION_BYTES >> 20
    )]
    TooHeavy,
    /// A rule with an expression allows commands.
    #[error(
        "a rule with `regex` can only make decisions stricter, because the same command can be written in many \
         ways: use `prefix` or `glob`"
    )]
    ExpressionAllows,
    /// A directory of a condition is not absolute.
    #[error("`{}` is neither an absolute directory nor `workspace`", Escaped(folder))]
    Folder {
        /// The directory.
        folder: String,
    },
    /// A command that should match does not.
    #[error("`{}` should match, but {instead}", Escaped(command))]
    Silent {
        /// The position of the example, from 1.
        number: usize,
        /// The command.
        command: String,
        /// The actual result.
        instead: String,
    },
    /// A command that should not match does.
    #[error("`{}` should not match, but its part `{}` does", Escaped(command), Escaped(part))]
    Fires {
        /// The position of the example, from 1.
        number: usize,
        /// The command.
        command: String,
        /// The part that matches.
        part: String,
    },
    /// A layer other than the admin's disables a hazard.
    #[error("only the admin layer can disable a built-in hazard")]
    Override,
    /// All rules together exceed the memory limit.
    #[error("the rules cannot be used together: {message}")]
    Together {
        /// The reason.
        message: String,
    },
}

impl CommandRuleError {
    pub(crate) fn together(message: String) -> Self {
        Self { rule: String::new(), problem: CommandRuleProblem::Together { message } }
    }
}

type Result<T = ()> = std::result::Result<T, CommandRuleProblem>;

/// Checks all layers.
pub(crate) fn layers(layers: &[RuleLayer]) -> std::result::Result<(), CommandRuleError> {
    let mut taken: HashSet<(Layer, &str)> = HashSet::new();
    let mut weight: usize = 0;
    for one in layers {
        if one.layer != Layer::Admin
            && let Some(first) = one.overrides.first()
        {
            return Err(CommandRuleError {
                rule: first.floor.clone(),
                problem: CommandRuleProblem::Override,
            });
        }
        if one.rules.len() > MAX_RULES {
            return Err(CommandRuleError::together(format!("a layer has more than {MAX_RULES} rules")));
        }
        for rule in &one.rules {
            let fail = |problem| CommandRuleError { rule: rule.id.clone(), problem };
            if !taken.insert((one.layer, &rule.id)) {
                return Err(fail(CommandRuleProblem::DuplicateId));
            }
            weight = weight.saturating_add(self::rule(rule).map_err(fail)?);
            if weight > MAX_EXPRESSION_BYTES {
                return Err(fail(CommandRuleProblem::TooHeavy));
            }
        }
    }
    Ok(())
}

/// Checks a rule and its examples. Returns the memory of its compiled expression in bytes.
pub(crate) fn rule(rule: &CommandRule) -> Result<usize> {
    let weight = shape(rule)?;
    broad(rule)?;
    examples(rule)?;
    Ok(weight)
}

/// Checks a built-in rule, which may also allow every argument of a program.
#[cfg(test)]
pub(crate) fn builtin(rule: &CommandRule) -> Result {
    shape(rule)?;
    examples(rule)
}

/// Checks the parts of a rule, and returns the memory of its compiled expression in bytes.
fn shape(rule: &CommandRule) -> Result<usize> {
    let is_plain = |character: char| character.is_alphanumeric() || "-_.:/".contains(character);
    if rule.id.is_empty() || rule.id.len() > 100 || !rule.id.chars().all(is_plain) {
        return Err(CommandRuleProblem::Id);
    }
    let weight = match &rule.pattern {
        CommandPattern::Prefix(words) | CommandPattern::Exact(words) => {
            self::words(words)?;
            0
        }
        CommandPattern::Regex { pattern, .. } => {
            if rule.effect == Effect::Allow {
                return Err(CommandRuleProblem::ExpressionAllows);
            }
            if pattern.is_empty() || pattern.len() > 4096 {
                return Err(CommandRuleProblem::Expression { message: "it has 1 to 4096 bytes".to_owned() });
            }
            let built = expressions::build(&[pattern]);
            built
                .map_err(|message| CommandRuleProblem::Expression { message: in_one_line(&message) })?
                .memory_usage()
        }
    };
    for folder in rule.guards.cwd.iter().chain(&rule.guards.not_cwd) {
        if folder != "workspace" && !folder.starts_with('/') {
            return Err(CommandRuleProblem::Folder { folder: folder.clone() });
        }
    }
    let guards = rule.guards.require.iter().chain(&rule.guards.deny).chain(&rule.guards.env);
    if guards.clone().count() > MAX_ALTERNATIVES || guards.clone().any(|word| word.len() > MAX_WORD_BYTES) {
        return Err(CommandRuleProblem::TooMany { what: "options and variables", most: MAX_ALTERNATIVES });
    }
    if guards.clone().any(String::is_empty) {
        return Err(CommandRuleProblem::Word { position: 0 });
    }
    if rule.matches.len() + rule.not_matches.len() > MAX_EXAMPLES {
        return Err(CommandRuleProblem::TooMany { what: "examples", most: MAX_EXAMPLES });
    }
    Ok(weight)
}

fn words(words: &[Vec<String>]) -> Result {
    if words.is_empty() || words.len() > MAX_WORDS {
        let too_many = CommandRuleProblem::TooMany { what: "words of a pattern", most: MAX_WORDS };
        return Err(if words.is_empty() { CommandRuleProblem::Empty } else { too_many });
    }
    for (position, word) in (1..).zip(words) {
        if word.len() > MAX_ALTERNATIVES || word.iter().any(|text| text.len() > MAX_WORD_BYTES) {
            return Err(CommandRuleProblem::TooMany {
                what: "alternatives of a word",
                most: MAX_ALTERNATIVES,
            });
        }
        let is_bad = |text: &String| text.trim().is_empty() || text.chars().any(char::is_control);
        if word.is_empty() || word.iter().any(is_bad) {
            return Err(CommandRuleProblem::Word { position });
        }
        if word.iter().any(|text| alternatives(text).len() > MAX_BRACE_ALTERNATIVES) {
            return Err(CommandRuleProblem::Alternatives { position });
        }
    }
    Ok(())
}

/// Programs that run other programs from their arguments. A rule that allows one with any arguments would allow every program.
pub(crate) const LAUNCHERS: &[&str] = &[
    "sh",
    "bash",
    "rbash",
    "zsh",
    "fish",
    "dash",
    "ash",
    "ksh",
    "mksh",
    "csh",
    "tcsh",
    "nu",
    "pwsh",
    "busybox",
    "toybox",
    "python",
    "python2",
    "python3",
    "node",
    "nodejs",
    "deno",
    "bun",
    "bunx",
    "npx",
    "ruby",
    "irb",
    "perl",
    "php",
    "lua",
    "tclsh",
    "expect",
    "awk",
    "gawk",
    "mawk",
    "osascript",
    "java",
    "julia",
    "ghci",
    "ocaml",
    "sbcl",
    "sudo",
    "su",
    "doas",
    "pkexec",
    "runuser",
    "gosu",
    "env",
    "xargs",
    "parallel",
    "eval",
    "exec",
    "command",
    "builtin",
    "source",
    ".",
    "trap",
    "time",
    "timeout",
    "nice",
    "ionice",
    "nohup",
    "setsid",
    "stdbuf",
    "watch",
    "script",
    "flock",
    "strace",
    "ltrace",
    "gdb",
    "valgrind",
    "chroot",
    "unshare",
    "nsenter",
    "ssh",
    "tmux",
    "screen",
    "docker",
    "podman",
    "kubectl",
    "git",
    "make",
    "find",
    "vim",
    "vi",
    "nvim",
    "emacs",
    "ed",
    "less",
    "man",
    "ip",
    "nix",
    "uv",
    "poetry",
    "npm",
    "yarn",
    "pnpm",
    "cargo",
    "go",
];

/// Programs that a rule may only allow with a second word.
fn broad(rule: &CommandRule) -> Result {
    let (words, is_exact) = match &rule.pattern {
        CommandPattern::Prefix(words) => (words, false),
        CommandPattern::Exact(words) => (words, true),
        CommandPattern::Regex { .. } => return Ok(()),
    };
    let [first, rest @ ..] = words.as_slice() else { return Ok(()) };
    if rule.effect != Effect::Allow || rule.i_know {
        return Ok(());
    }
    let names: Vec<Token> =
        first.iter().flat_map(|name| alternatives(name)).map(|name| Token::read(&name)).collect();
    if names.iter().any(|name| name.literal().is_none())
        && names.iter().any(|name| LAUNCHERS.iter().any(|one| name.fits(one)))
    {
        return Err(CommandRuleProblem::AnyProgram);
    }
    // A program without arguments is an ordinary command.
    let open = !(is_exact && rest.is_empty())
        && rest.iter().all(|word| {
            word.iter().flat_map(|text| alternatives(text)).any(|text| Token::read(&text).is_anything())
        });
    let launcher = names.iter().filter_map(Token::literal).find(|name| LAUNCHERS.contains(&base(name)));
    match launcher {
        Some(program) if open => Err(CommandRuleProblem::TooBroad { program: program.to_owned() }),
        _ => Ok(()),
    }
}

fn examples(rule: &CommandRule) -> Result {
    let compiled = Compiled::all(CommandRule { enabled: true, ..rule.clone() }, Layer::User);
    for (number, example) in (1..).zip(&rule.matches) {
        if let Err(instead) = tried(&compiled, example) {
            return Err(CommandRuleProblem::Silent { number, command: text(example), instead });
        }
    }
    for (number, example) in (1..).zip(&rule.not_matches) {
        if let Ok(part) = tried(&compiled, example) {
            return Err(CommandRuleProblem::Fires { number, command: text(example), part });
        }
    }
    Ok(())
}

/// Returns the part that the rule matches, or the actual result.
fn tried(spellings: &[Compiled], example: &Example) -> std::result::Result<String, String> {
    let text = text(example);
    let Some(rule) = spellings.first() else { return Err("it has no words".to_owned()) };
    if let CommandPattern::Regex { pattern, .. } = &rule.rule.pattern {
        let found = expressions::build(&[pattern]).map(|regex| regex.is_match(&text));
        return if found == Ok(true) { Ok(text) } else { Err("the expression does not match".to_owned()) };
    }
    let script = Script::read(&text, &ReadOptions::default())
        .map_err(|error| format!("it cannot be read: {error}"))?;
    let actions = script.actions();
    let folder = || Some("/workspace".into());
    let context = CommandContext::new(folder(), folder());
    let context = PartContext {
        context: &context,
        moves: false,
        adds_harmless_names: false,
        stops_own_children: false,
    };
    let mut nearest = None;
    for (run, rule) in actions.runs.iter().flat_map(|run| spellings.iter().map(move |rule| (run, rule))) {
        match rule.matches(run, &context) {
            Match::Yes => return Ok(describe(run)),
            Match::Maybe(reason) | Match::No(reason) => {
                let is_nearer = !matches!(reason, Mismatch::Program(_));
                if nearest.is_none() || is_nearer {
                    nearest = Some(reason.to_string());
                }
            }
        }
    }
    Err(nearest.unwrap_or_else(|| "it runs nothing".to_owned()))
}

fn describe(run: &Run<'_>) -> String {
    run.argv.iter().map(Arg::to_string).collect::<Vec<_>>().join(" ")
}

fn text(example: &Example) -> String {
    match example {
        Example::Text(text) => text.clone(),
        Example::Argv(words) => stockade_shell::quote_argv(words.iter().map(String::as_str)),
    }
}

impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(self))
    }
}

/// Returns the message of a parser error in one line. The parser also prints the expression, which must not reach a terminal
/// unescaped because it comes from a rule file.
fn in_one_line(message: &str) -> String {
    let last = message.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or(message);
    last.trim().trim_start_matches("error: ").escape_debug().to_string()
}
