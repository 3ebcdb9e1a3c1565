//! Rule files for commands: what they may hold, and how they are refused.

use allocation_counter::measure;
use stockade_command::rules::{
    CommandPattern, CommandRuleFile, CommandRuleFormat, CustomRules, Example, Guards, Redirects, free_id,
    lint_rules,
};
use stockade_command::{CommandContext, CommandDefaults, CommandPolicy, CommandRule, Effect, Layer};
use stockade_shell::{ReadOptions, Shell};

const WHOLE: &str = r#"version = 1

[defaults]
unmatched = "deny"
unanalysable = "deny"
shell = "zsh"

[[rule]]
id = "git-read"
prefix = ["git", ["status", "diff"]]
decision = "allow"
reason = "reads"
priority = 3
deny = ["--output"]
require = ["-s"]
operands = 2
env = ["LANG"]
redirects = "workspace"
cwd = ["workspace"]
not_cwd = ["/tmp"]
match = ["git status -s", ["git", "diff", "-s"]]
not_match = ["git push", "git status -s --outp=x"]

[[rule]]
id = "scripts"
glob = "npm run {build,test}*"
decision = "sandbox"

[[rule]]
id = "prod"
regex = "prod"
over = "raw"
decision = "ask"
enabled = false

[[override]]
floor = "rm-root"
because = "this machine is thrown away"

[[test]]
command = "git status -s && npm run build"
expect = "sandbox"
"#;

#[test]
fn a_file_holds_all_that_a_rule_can_say() {
    let file = CommandRuleFile::parse(WHOLE, CommandRuleFormat::Toml, Layer::Admin).unwrap();
    assert_eq!(file.shell(), Shell::Zsh);
    assert_eq!(file.defaults().map(|defaults| defaults.unmatched), Some(Effect::Deny));
    let [git, scripts, prod] = file.rules() else { panic!("{:?}", file.rules()) };
    assert_eq!(git.guards.redirects, Redirects::Workspace);
    assert_eq!((git.guards.operands, git.priority, git.matches.len()), (Some(2), 3, 2));
    assert!(matches!(&scripts.pattern, CommandPattern::Exact(words) if words.len() == 3));
    assert!(!prod.enabled);
    assert_eq!(file.layer(Layer::Admin).overrides.len(), 1);
}

#[test]
fn the_three_formats_say_the_same() {
    let toml = "version = 1\n[[rule]]\nid = \"a\"\nprefix = [\"x\"]\ndecision = \"ask\"\noperands = 1\nenabled = true\n";
    let yaml = "version: 1\nrule:\n  - id: a\n    prefix: [x]\n    decision: ask\n    operands: 1\n    enabled: true\n";
    let json = r#"{"version": 1, "rule": [{"id": "a", "prefix": ["x"], "decision": "ask", "operands": 1, "enabled": true}]}"#;
    let read = |text, format| CommandRuleFile::parse(text, format, Layer::User).unwrap().rules().to_vec();
    let rules = read(toml, CommandRuleFormat::Toml);
    assert_eq!(rules, read(yaml, CommandRuleFormat::Yaml));
    assert_eq!(rules, read(json, CommandRuleFormat::Json));
    assert_eq!(CommandRuleFormat::of_name("a/b.YML"), Some(CommandRuleFormat::Yaml));
    assert_eq!(CommandRuleFormat::of_name("rules"), None);
}

#[test]
fn a_file_is_refused_where_it_is_wrong() {
    let rule = "version = 1\n[[rule]]\nid = \"a\"\nprefix = [\"x\", \"y\"]\ndecision = \"ask\"\n";
    let rows: &[(&str, &str)] = &[
        ("", "line 1, column 1: the file has no `version`: write `version = 1`"),
        (
            "version = 2\nnews = 1",
            "line 1, column 11: the file has version 2, and this program supports up to 1: update stockade",
        ),
        (
            "version = 1\nrules = []",
            "line 2, column 1: unknown key `rules` in the file: did you mean `rule`?",
        ),
        (
            "version = 1\n[[rule]]\nid = \"a\"",
            "line 2, column 1: a rule has no `decision`: write allow, sandbox, ask or deny",
        ),
        (
            &format!("{rule}desicion = 1"),
            "line 6, column 1: unknown key `desicion` in a rule: did you mean `decision`?",
        ),
        (&rule.replace("ask", "alow"), "line 5, column 12: `alow` is no decision: did you mean `allow`?"),
        (
            &format!("{rule}glob = \"x\""),
            "line 6, column 1: `prefix` and `glob` cannot both be given: write a rule for each",
        ),
        (
            &format!("{rule}over = \"raw\""),
            "line 6, column 1: `prefix` and `over` cannot both be given: `over` says where a `regex` looks",
        ),
        (&format!("{rule}operands = \"1\""), "line 6, column 12: `operands` must be a number, not a text"),
        (
            &format!("{rule}match = [\"x z\"]"),
            "line 6, column 10: rule `a`: `x z` should match, but word 2 is `z`",
        ),
        (
            &format!("{rule}match = [\"x y\"]\nnot_match = [\n\"ls\",\n\"sudo x y\"]"),
            "line 9, column 1: rule `a`: `sudo x y` should not match, but its part `x y` does",
        ),
        (
            &format!("{rule}match = [\"x 'y\"]"),
            "line 6, column 10: rule `a`: `x 'y` should match, but it cannot be read: a quote is not closed (bytes \
             2 to 3)",
        ),
        (
            &format!("{rule}[[rule]]\nid = \"a\"\nprefix = [\"z\"]\ndecision = \"ask\""),
            "line 7, column 6: rule `a`: another rule has this id; use a unique one, because decisions report it",
        ),
        (
            &format!("{rule}[[test]]\ncommand = \"x y\"\nexpect = \"allow\""),
            "line 7, column 11: `x y` should be allow, but is ask: user rule `a`",
        ),
        (
            "version = 1\n[[rule]]\nid = \"a\"\nprefix = [\"bash\"]\ndecision = \"allow\"",
            "line 4, column 10: rule `a`: it allows `bash`, which runs other programs from its arguments: list the \
             arguments it may have, or write `i_know = true`",
        ),
        (
            "version = 1\n[defaults]\nunanalysable = \"allow\"",
            "line 3, column 16: `unanalysable` cannot be `allow`, because such commands cannot be checked; use \
             sandbox, ask or deny",
        ),
        (
            &rule.replace("\"y\"", &format!("\"{{{}}}\"", ",".repeat(64))),
            "line 4, column 16: rule `a`: too many alternatives in the braces of a word: the maximum is 64",
        ),
        (
            "version = 1\n[[override]]\nfloor = \"x\"\nbecause = \"y\"",
            "line 1, column 1: rule `x`: only the admin layer can disable a built-in hazard",
        ),
    ];
    for (text, expected) in rows {
        let error = CommandRuleFile::parse(text, CommandRuleFormat::Toml, Layer::User).unwrap_err();
        assert_eq!(error.to_string(), *expected, "{text}");
    }
    for (text, format) in [
        ("{", CommandRuleFormat::Json),
        ("a: [", CommandRuleFormat::Yaml),
        ("version = ", CommandRuleFormat::Toml),
    ] {
        assert!(CommandRuleFile::parse(text, format, Layer::User).is_err(), "{text}");
    }
}

#[test]
fn expressions_are_bounded_together() {
    let file = |count: usize, expression: &str| {
        let rule =
            |number| format!("[[rule]]\nid = \"r{number}\"\nregex = '{expression}'\ndecision = \"deny\"\n");
        std::iter::once("version = 1\n".to_owned()).chain((0..count).map(rule)).collect::<String>()
    };
    let parse = |text: &str| CommandRuleFile::parse(text, CommandRuleFormat::Toml, Layer::User);
    // As many as a layer may have, of those that people write.
    assert!(parse(&file(10_000, "rm .*-rf")).is_ok());
    // Ten thousand of these would take three quarters of an hour to compile.
    let error = parse(&file(10_000, r"x(\w{1,50}){3}")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "line 32, column 9: rule `r7`: with it, the expressions of the rules take more than 64 MiB: repeat no large class so \
         often, as `\\w{1,40}` does, or use `prefix`"
    );
}

#[test]
fn reading_a_file_is_linear() {
    let lines: &[&dyn Fn(usize) -> String] = &[
        &|n| {
            format!("[[rule]]\nid = \"r{n}\"\nprefix = [\"x{n}\"]\ndecision = \"ask\"\nmatch = [\"x{n}\"]\n")
        },
        &|n| format!("[[rule]]\nid = \"r{n}\"\nregex = \"x{n}\"\ndecision = \"deny\"\n"),
        &|n| format!("[[test]]\ncommand = \"rm -rf /{n}\"\nexpect = \"sandbox\"\n"),
        &|n| format!("[[override]]\nfloor = \"x{n}\"\nbecause = \"x\"\n"),
    ];
    for line in lines {
        let cost = |count: usize| {
            let text: String =
                std::iter::once("version = 1\n".to_owned()).chain((0..count).map(line)).collect();
            let parse =
                || drop(CommandRuleFile::parse(&text, CommandRuleFormat::Toml, Layer::Admin).unwrap());
            parse();
            measure(parse).count_total
        };
        let (short, long) = (cost(100), cost(400));
        assert!(long <= short * 5, "{}: {short} allocations, then {long} for four times the text", line(0));
    }
}

#[test]
fn custom_rules_survive_being_written() {
    for format in [CommandRuleFormat::Toml, CommandRuleFormat::Yaml, CommandRuleFormat::Json] {
        survive_being_written(format);
    }
}

fn survive_being_written(format: CommandRuleFormat) {
    let parse = |document: &str| CustomRules::parse_for(document, format, Layer::User);
    let mut custom = CustomRules::in_format(format, Layer::User);
    let mut rule = CommandRule::prefix("git-push", &["git", "push"], Effect::Allow);
    rule.reason = "said \"yes\"\n\u{1b}[2J \\ ü".to_owned();
    rule.priority = -3;
    rule.guards = Guards {
        deny: vec!["--force".to_owned()],
        operands: Some(2),
        redirects: Redirects::Any,
        ..Guards::default()
    };
    rule.matches = vec![
        Example::Text("git push 'a b'".to_owned()),
        Example::Argv(vec!["git".to_owned(), "push".to_owned()]),
    ];
    custom.add(&rule).unwrap();
    assert!(custom.add(&rule).is_err(), "an id was taken twice");
    assert!(
        custom.add(&CommandRule::prefix("bash", &["bash"], Effect::Allow)).is_err(),
        "everything was allowed"
    );
    custom
        .add(&CommandRule::new(
            "x",
            CommandPattern::Exact(vec![vec!["a\\*{b".to_owned(), "c".to_owned()]]),
            Effect::Ask,
        ))
        .unwrap();
    let document = custom.document().to_owned();
    assert!(document.bytes().all(|byte| byte == b'\n' || !byte.is_ascii_control()), "{document}");
    assert_eq!(parse(&document).unwrap(), custom);
    assert!(custom.remove("git-push").unwrap().is_some() && custom.remove("git-push").unwrap().is_none());
    assert_eq!(parse(custom.document()).unwrap().rules().len(), 1);
    let (half, _) = document.split_at_checked(document.len() / 2).unwrap();
    for damaged in ["", "version = 9", half, "version = 1\n\0"] {
        assert!(parse(damaged).is_err(), "{format:?} {damaged:?}");
    }
}

#[test]
fn what_people_wrote_beside_rules_stays_and_their_tests_hold() {
    let text = "# Ours.\nversion = 1\n\n[[rule]] # why\nid = 'push'\nprefix = [\"git\", \"push\"]\ndecision = \"deny\"\n\n\
                [[test]]\ncommand = \"git push\"\nexpect = \"deny\"\n";
    let mut custom = CustomRules::parse(text).unwrap();
    custom.add(&CommandRule::from_words("ask make").unwrap()).unwrap();
    let rule = "\n[[rule]]\nid = \"ask-make\"\nprefix = [\"make\"]\ndecision = \"ask\"\n";
    assert_eq!(custom.document().replace(rule, ""), text);
    assert_eq!(free_id("ask-make", |id| custom.rules().iter().any(|rule| rule.id == id)), "ask-make-2");
    // What makes a test of the file fail is not done.
    let before = custom.clone();
    assert!(custom.remove("push").is_err());
    let mut rule = CommandRule::from_words("allow git push").unwrap();
    rule.priority = 9;
    assert!(custom.add(&rule).is_err());
    assert_eq!(custom, before);
    custom.remove("ask-make").unwrap();
    assert_eq!(custom.document(), text);
}

#[test]
fn exactly_anything_is_as_broad_as_anything() {
    for line in [
        "allow *",
        "allow * x",
        "allow bash *",
        "allow git *",
        "allow python3 * *",
        "allow {ls,sh} *",
        "allow sudo **",
    ] {
        let error =
            CustomRules::default().add(&CommandRule::from_words(line).unwrap()).unwrap_err().to_string();
        assert!(error.contains("program"), "{line}: {error}");
    }
    for line in ["allow ls *", "allow make", "allow npm run *", "allow git log *", "deny *", "ask bash"] {
        CustomRules::default().add(&CommandRule::from_words(line).unwrap()).unwrap();
    }
}

#[test]
fn lint_says_what_is_probably_not_meant() {
    let text = r#"version = 1
[[rule]]
id = "good"
prefix = ["git", "fetch"]
decision = "ask"
reason = "talks to a server"
match = ["git fetch"]
[[rule]]
id = "wide"
prefix = ["rg"]
decision = "allow"
[[rule]]
id = "shadow"
prefix = ["git", "fetch"]
decision = "allow"
priority = -1
reason = "x"
match = ["git fetch"]
not_match = ["ls"]
[[rule]]
id = "slip"
prefix = ["pythn3"]
decision = "ask"
reason = "x"
match = ["pythn3"]
"#;
    let file = CommandRuleFile::parse(text, CommandRuleFormat::Toml, Layer::User).unwrap();
    let lints: Vec<String> =
        lint_rules(file.rules()).into_iter().map(|lint| format!("{}: {}", lint.rule, lint.message)).collect();
    assert!(lints.iter().all(|lint| !lint.starts_with("good")), "{lints:#?}");
    for expected in [
        "wide: it has no `match`",
        "wide: it allows, and has no `not_match`",
        "wide: it has no `reason`",
        "shadow: it never decides: `good` matches the same commands and has a higher priority",
        "slip: unknown program `pythn3`: did you mean `python3`?",
    ] {
        assert!(lints.iter().any(|lint| lint.starts_with(expected)), "{expected}: {lints:#?}");
    }
}

fn lints_of(rules: &str) -> Vec<String> {
    let file = CommandRuleFile::parse(&format!("version = 1\n{rules}"), CommandRuleFormat::Toml, Layer::User);
    let lints = lint_rules(file.unwrap().rules());
    lints.into_iter().map(|lint| format!("{}: {}", lint.rule, lint.message)).collect()
}

/// What denies is tried in disguise, and what it misses is said with what mends it.
#[test]
fn lint_says_what_a_denial_misses() {
    let rule = |id: &str, what: &str, decision: &str, example: &str| {
        format!(
            "[[rule]]\nid = \"{id}\"\n{what}\ndecision = \"{decision}\"\nreason = \"x\"\nmatch = \
             ['{example}']\nnot_match = ['zz']\n"
        )
    };
    let misses = |rules: &[String]| {
        lints_of(&rules.concat()).into_iter().filter(|one| one.contains("does not deny")).collect::<Vec<_>>()
    };
    for (prefix, example) in [
        ("prefix = [\"rm\"]", "rm x"),
        ("prefix = [\"rm\", \"-rf\"]", "rm -rf x"),
        ("prefix = [\"npm\", \"install\"]", "npm install x"),
        ("prefix = [\"docker\", \"rm\"]", "docker rm x"),
        ("prefix = [\"git\", \"push\", \"--force\"]", "git push --force"),
        ("glob = \"git push *\"", "git push x"),
    ] {
        let found = misses(&[rule("r", prefix, "deny", example)]);
        assert!(found.is_empty(), "{prefix}: {found:#?}");
    }
    let found = misses(&[rule("r", "glob = \"git push\"", "deny", "git push")]).concat();
    assert!(
        found.contains("`git push more` (ask)") && found.contains("prefix = [\"git\", \"push\"]"),
        "{found}"
    );
    let found = misses(&[rule("r", "regex = '^terraform apply'", "deny", "terraform apply")]).concat();
    assert!(
        found.contains("`/bin/terraform apply`") && found.contains("name the words with `prefix`"),
        "{found}"
    );
    let beside = |program: &str| {
        let allowed = format!("prefix = [\"{program}\"]\ni_know = true");
        let example = format!("{program} x");
        misses(&[
            rule("no", "prefix = [\"tool\"]", "deny", "tool x"),
            rule("runs", &allowed, "allow", &example),
        ])
    };
    for program in ["python3", "pwsh"] {
        assert!(beside(program).is_empty(), "code of {program} is never allowed unseen");
    }
    let found = misses(&[
        rule("no", "prefix = [\"tool\"]", "deny", "tool x"),
        rule("yes", "prefix = [\"tool\", \"more\"]", "allow", "tool more"),
    ])
    .concat();
    assert!(found.contains("`tool more` (allow)") && found.contains("rule `yes` decides there"), "{found}");
}

#[test]
fn a_star_at_the_end_of_a_glob_takes_the_rest_where_it_refuses() {
    let policy = |decision: &str| {
        let text =
            format!("version = 1\n[[rule]]\nid = \"r\"\nglob = \"tool *\"\ndecision = \"{decision}\"\n");
        let file = CommandRuleFile::parse(&text, CommandRuleFormat::Toml, Layer::User).unwrap();
        CommandPolicy::compile(vec![file.layer(Layer::User)], CommandDefaults::default()).unwrap()
    };
    let decide = |decision: &str, text: &str| {
        policy(decision).decide(text, &ReadOptions::default(), &CommandContext::default()).effect
    };
    for text in ["tool", "tool a", "tool -rf a b"] {
        assert_eq!(decide("deny", text), Effect::Deny, "{text}");
    }
    assert_eq!(decide("allow", "tool a"), Effect::Allow);
    assert_eq!(decide("allow", "tool a b"), Effect::Sandbox);
}
