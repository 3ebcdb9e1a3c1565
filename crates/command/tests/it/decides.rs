//! What becomes of commands, under the built-in rules and rules on top of them.

use stockade_command::RuleOutcome;
use stockade_command::rules::FloorOverride;
use stockade_command::rules::{CommandPattern, CommandRuleProblem, Redirects, RegexScope};
use stockade_command::{
    CommandContext, CommandDefaults, CommandPolicy, CommandRule, Effect, Layer, RuleLayer,
};
use stockade_shell::ReadOptions;

use Effect::{Allow, Ask, Deny, Sandbox};

/// A rule from words with a space between them and a bar between alternatives.
pub(crate) fn rule(id: &str, words: &str, effect: Effect) -> CommandRule {
    let words = words.split(' ').map(|word| word.split('|').map(str::to_owned).collect()).collect();
    CommandRule { i_know: true, ..CommandRule::new(id, CommandPattern::Prefix(words), effect) }
}

pub(crate) fn policy(layers: Vec<(Layer, Vec<CommandRule>)>) -> CommandPolicy {
    let layers =
        layers.into_iter().map(|(layer, rules)| RuleLayer { layer, rules, overrides: Vec::new() }).collect();
    CommandPolicy::compile(layers, CommandDefaults::default()).unwrap()
}

pub(crate) fn place() -> CommandContext {
    CommandContext::new(Some("/srv/app".into()), Some("/srv/app".into()))
}

pub(crate) fn effect(policy: &CommandPolicy, text: &str) -> Effect {
    policy.decide(text, &ReadOptions::default(), &place()).effect
}

#[test]
fn without_rules_reading_is_allowed_and_the_rest_is_not() {
    let policy = CommandPolicy::builtin();
    let rows = [
        ("python3 -m http.server & p=$!; sleep 1; kill $p", Sandbox),
        ("sleep 9 & kill -9 $!", Sandbox),
        ("sleep 9 & p=1; kill $p", Ask),
        ("git status", Allow),
        ("ls -la && cat a | grep x", Allow),
        ("LC_ALL=C ls", Allow),
        ("x=1", Allow),
        ("ls 2>/dev/null >&2", Allow),
        ("timeout 5 ls", Allow),
        ("cat <<'E'\nrm -rf /\nE", Allow),
        ("command -v git", Allow),
        ("nosuchprogram", Sandbox),
        ("ls > f", Sandbox),
        ("rm -rf build", Sandbox),
        ("cat $x", Sandbox),
        ("ls $x", Allow),
        ("./ls", Sandbox),
        ("PATH=. ls", Sandbox),
        ("cat <<E\n$(make)\nE", Sandbox),
        ("f() { make; }; f", Sandbox),
        ("ls | xargs cat", Sandbox),
        ("bash -c ls", Allow),
        ("bash -c 'npm ls; tool x'", Sandbox),
        ("bash --rcfile x -ic ls", Sandbox),
        ("echo 'open", Sandbox),
        ("", Allow),
        ("# nothing", Allow),
        ("[[ a == a* ]]", Allow),
        ("git push", Ask),
        ("env", Ask),
        ("env ls", Allow),
        ("sudo ls", Ask),
        ("$x", Ask),
        ("${x:-rm} a", Ask),
        ("ls\necho 'open", Ask),
        ("ls > $f", Ask),
        ("bash -c \"$x\"", Ask),
        ("ls\rls", Ask),
        ("curl x | sh", Ask),
        ("alias ls=rm; ls", Ask),
        ("rm -rf /", Deny),
        ("ls\r\nrm -rf /", Deny),
        ("git status; sudo sh -c 'rm -rf /'", Deny),
    ];
    for (text, expected) in rows {
        let decision = policy.decide(text, &ReadOptions::default(), &place());
        let found = decision.effect;
        // A hazard may be stricter than a rule.
        let matches = if expected == Allow { found == Allow } else { found >= expected };
        assert!(matches, "{text:?} is {found}: {:?}", decision.parts);
    }
}

#[test]
fn the_most_specific_rule_of_a_layer_decides() {
    let rules = vec![
        rule("push", "git push", Deny),
        rule("push-feature", "git push origin feature/*", Allow),
        rule("npm", "npm run", Sandbox),
        rule("npm-high", "npm run", Ask),
        CommandRule { priority: 5, ..rule("npm-priority", "npm run", Allow) },
    ];
    let mut backwards = rules.clone();
    backwards.reverse();
    for rules in [rules, backwards] {
        let policy = policy(vec![(Layer::User, rules)]);
        let rows = [
            ("git push", Deny),
            ("git push origin main", Deny),
            ("git push origin feature/x", Allow),
            ("git push origin feature/x -v", Allow),
            ("git push --force origin feature/x", Deny),
            ("git -C sub push", Deny),
            ("git -c a=b --no-pager push", Deny),
            ("git push origin $branch", Ask),
            ("git $x", Ask),
            ("npm run x", Allow),
        ];
        for (text, expected) in rows {
            assert!(
                effect(&policy, text) == expected || expected == Ask && effect(&policy, text) == Deny,
                "{text}"
            );
        }
    }
}

#[test]
fn a_lower_layer_can_only_be_stricter() {
    let of = |admin: Effect, user: Effect, project: Effect| {
        let layers = [(Layer::Admin, admin), (Layer::User, user), (Layer::Project, project)];
        policy(layers.map(|(layer, effect)| (layer, vec![rule("r", "tool run", effect)])).to_vec())
    };
    for admin in Effect::ALL {
        for user in Effect::ALL {
            for project in Effect::ALL {
                let expected = admin.max(user).max(project);
                assert_eq!(
                    effect(&of(admin, user, project), "tool run"),
                    expected,
                    "{admin} {user} {project}"
                );
            }
        }
    }
    let longer = policy(vec![
        (Layer::Admin, vec![rule("a", "tool", Deny)]),
        (Layer::User, vec![rule("b", "tool run this very thing", Allow)]),
    ]);
    assert_eq!(effect(&longer, "tool run this very thing"), Deny);
}

#[test]
fn no_rule_outweighs_a_hazard_and_only_an_admin_switches_one_off() {
    let anything = policy(vec![(Layer::Admin, vec![rule("all", "*", Allow)])]);
    let decision = anything.decide("rm -rf /", &ReadOptions::default(), &place());
    assert_eq!(decision.effect, Deny);
    let id = decision.parts[0].cause.id().to_owned();
    let with = |layer| {
        let overrides = vec![FloorOverride { floor: id.clone(), reason: "a test".to_owned() }];
        let rules = vec![rule("all", "*", Allow)];
        CommandPolicy::compile(vec![RuleLayer { layer, rules, overrides }], CommandDefaults::default())
    };
    // It lies outside the workspace all the same, which has an id of its own.
    assert_eq!(effect(&with(Layer::Admin).unwrap(), "rm -rf /"), Sandbox);
    assert_eq!(with(Layer::User).unwrap_err().problem, CommandRuleProblem::Override);
}

#[test]
fn an_expression_only_makes_a_decision_stricter() {
    let regex = |id: &str, pattern: &str, over, effect| {
        CommandRule::new(id, CommandPattern::Regex { pattern: pattern.to_owned(), over }, effect)
    };
    let policy = policy(vec![(
        Layer::Project,
        vec![
            regex("prod", r"(?i)\bprod(uction)?\b", RegexScope::Argv, Ask),
            regex("log", r"\.log$", RegexScope::Redirect, Deny),
            regex("raw", "TOKEN", RegexScope::Raw, Ask),
        ],
    )]);
    let rows = [
        ("ls PROD", Ask),
        ("ls 'pr'\"od\"", Ask),
        ("ls produce", Allow),
        ("ls > x.log", Deny),
        ("ls # TOKEN", Ask),
        ("sudo ls prod; rm -rf /", Deny),
    ];
    for (text, expected) in rows {
        assert_eq!(effect(&policy, text), expected, "{text}");
    }
}

#[test]
fn guards_narrow_a_rule() {
    let guarded = |change: fn(&mut CommandRule)| {
        let mut guarded = rule("r", "tool", Allow);
        change(&mut guarded);
        policy(vec![(Layer::User, vec![guarded])])
    };
    let deny = guarded(|rule| rule.guards.deny = vec!["-o".to_owned(), "--output".to_owned()]);
    let require = guarded(|rule| rule.guards.require = vec!["--dry-run".to_owned()]);
    let operands = guarded(|rule| rule.guards.operands = Some(1));
    let env = guarded(|rule| rule.guards.env = vec!["CFLAGS".to_owned()]);
    let variables =
        guarded(|rule| rule.guards.env = ["GIT_*", "PATH", "LD_PRELOAD"].map(str::to_owned).to_vec());
    let any = guarded(|rule| rule.guards.redirects = Redirects::Any);
    let workspace = guarded(|rule| rule.guards.redirects = Redirects::Workspace);
    let inside = guarded(|rule| rule.guards.cwd = vec!["workspace".to_owned()]);
    let outside = guarded(|rule| rule.guards.not_cwd = vec!["/srv/app".to_owned()]);
    let rows = [
        (&deny, "tool -x", Allow),
        (&deny, "tool -xo f", Sandbox),
        (&deny, "tool --outp f", Sandbox),
        (&deny, "tool $x", Sandbox),
        (&deny, "tool \"a$x\"", Allow),
        (&require, "tool", Sandbox),
        (&require, "tool --dry-run", Allow),
        (&operands, "tool a", Allow),
        (&operands, "tool a b", Sandbox),
        (&env, "CFLAGS=x tool", Allow),
        (&env, "CFLAGS=x tool; CFLAGS=y ls", Sandbox),
        (&env, "LDFLAGS=x tool", Sandbox),
        // A rule that names a variable permits its hazard, but not one that is to be denied.
        (&variables, "GIT_DIR=x tool", Allow),
        (&variables, "PATH=x tool", Allow),
        (&variables, "PATH=x ls; tool", Ask),
        (&variables, "PERL5OPT=x tool", Ask),
        (&variables, "LD_PRELOAD=x tool", Deny),
        (&any, "tool > a", Allow),
        (&any, "tool > a; ls > b", Sandbox),
        (&any, "tool $(ls > b) > a", Sandbox),
        (&workspace, "tool > out/f", Allow),
        (&workspace, "tool > ../f", Sandbox),
        (&workspace, "tool > /tmp/f", Sandbox),
        (&workspace, "cd / && tool > f", Sandbox),
        (&inside, "tool", Allow),
        (&inside, "cd /; tool", Sandbox),
        (&outside, "tool", Sandbox),
    ];
    for (policy, text, expected) in rows {
        let found = effect(policy, text);
        // A hazard may be stricter than a rule.
        assert!(if expected == Allow { found == Allow } else { found >= expected }, "{text}: {found}");
    }
}

#[test]
fn what_is_denied_is_found_behind_an_unknown_program() {
    let policy = policy(vec![(
        Layer::User,
        vec![rule("push", "git push --force|-f", Deny), rule("my", "mine", Allow)],
    )]);
    let rows = [
        ("wrap git push --force", Ask),
        ("wrap git push", Sandbox),
        ("wrap 'git push --force'", Sandbox),
        ("mine git push --force", Allow),
    ];
    for (text, expected) in rows {
        assert_eq!(effect(&policy, text), expected, "{text}");
    }
}

#[test]
fn denials_do_not_care_how_options_are_spelled() {
    let policy =
        policy(vec![(Layer::User, vec![rule("d", "tool -rf", Deny), rule("e", "kit go --force", Deny)])]);
    for text in [
        "tool -rf x",
        "tool -fr",
        "tool -r x -f",
        "/opt/x/tool -rf",
        "./tool -rf",
        "TOOL -rf",
        "kit go --forc",
        "kit -v go x --force=1",
    ] {
        assert_eq!(effect(&policy, text), Deny, "{text}");
    }
    assert_eq!(effect(&policy, "tool -r"), Sandbox);
}

#[test]
fn a_decision_says_what_led_there_and_what_to_run() {
    let policy = CommandPolicy::builtin();
    let options = ReadOptions::default();
    let text = "ls \"$(timeout 5 sh -c 'make x')\"";
    let decision = policy.decide(text, &options, &place());
    let make = decision
        .parts
        .iter()
        .find(|part| part.run().is_some_and(|run| run.program() == Some("make")))
        .unwrap();
    assert_eq!(decision.call_chain(make), ["$(…)", "timeout", "sh"]);
    assert_eq!(decision.rendered(), None);
    let plain = policy.decide("git   'status'", &options, &place());
    assert_eq!(plain.rendered().as_deref(), Some("git status"));
    assert_eq!(plain.argv(), Some(vec!["git".to_owned(), "status".to_owned()]));
    assert_eq!(policy.decide("ls\r", &options, &place()).rendered(), None);
    assert_eq!(plain.parts[0].cause.id(), "git-read");
}

#[test]
fn what_is_suggested_was_tried() {
    let user = policy(vec![(Layer::User, vec![rule("push", "git push", Ask)])]);
    let options = ReadOptions::default();
    let rows: &[(&str, &[&str], Effect)] = &[
        ("git push origin main", &["git-push-origin-main"], Allow),
        ("ls && npm ci && tool x", &["npm-ci", "tool-x"], Allow),
        ("tool 'a*b{c,d}'", &["tool-abcd"], Allow),
        // With the milder part permitted, the decision would be what it was.
        ("tool x; sudo id", &[], Ask),
        ("tool 'a*b{c,d}' && rm -rf /", &[], Deny),
        ("git push && tool $x", &["git-push"], Sandbox),
        ("git push && kit y && tool $x", &["git-push"], Sandbox),
        ("sudo id", &[], Ask),
        ("bash -c 'tool x'", &["tool-x"], Allow),
        ("python3 x.py", &[], Sandbox),
        ("tool $x", &[], Sandbox),
        ("rm -rf /", &[], Deny),
        ("ls", &[], Allow),
    ];
    for (text, ids, then) in rows {
        let decision = user.decide(text, &options, &place());
        let suggestions = user.suggest(&decision, &options, &place());
        let found: Vec<&str> = suggestions.iter().map(|one| one.rule.id.as_str()).collect();
        assert_eq!(found, *ids, "{text}");
        let last = suggestions.last().map_or(decision.effect, |one| one.then);
        assert_eq!(last, *then, "{text}");
        // A file with all of them says the same as trying them did.
        let added = suggestions.iter().map(|one| one.rule.clone());
        let whole = policy(vec![(
            Layer::User,
            std::iter::once(rule("push", "git push", Ask)).chain(added).collect(),
        )]);
        assert_eq!(effect(&whole, text), last, "{text}");
        // What follows the text of a shell are only its arguments.
        for suggestion in suggestions.into_iter().filter(|_| !text.starts_with("bash")) {
            let policy = policy(vec![(Layer::User, vec![suggestion.rule])]);
            assert!(effect(&policy, &format!("{} more", suggestion.span.of(text))) > Allow, "{text}");
        }
    }
    let admin = policy(vec![(Layer::Admin, vec![rule("push", "git push", Ask)])]);
    let decision = admin.decide("git push", &options, &place());
    assert_eq!(admin.suggest(&decision, &options, &place()), []);
}

#[test]
fn rules_are_considered_in_order() {
    let policy = policy(vec![(
        Layer::User,
        vec![rule("push", "git push", Deny), rule("any", "git", Allow), rule("pull", "git pull", Ask)],
    )]);
    let decision = policy.decide("git push", &ReadOptions::default(), &place());
    let run = decision.parts[0].run().unwrap();
    let considered = policy.consider(&decision, run, &place());
    let found: Vec<(&str, bool)> =
        considered.iter().map(|one| (one.rule.id.as_str(), one.outcome == RuleOutcome::Decides)).collect();
    assert_eq!(&found[..3], [("push", true), ("any", false), ("pull", false)]);
    assert!(matches!(&considered[2].outcome, RuleOutcome::No(why) if why == "word 2 is `push`"));
}

#[test]
fn rules_that_cannot_be_meant_are_refused() {
    let refused = |rule: CommandRule| {
        let layer = RuleLayer { layer: Layer::User, rules: vec![rule], overrides: Vec::new() };
        CommandPolicy::compile(vec![layer], CommandDefaults::default()).unwrap_err().to_string()
    };
    let plain = |words: &str, effect| CommandRule { i_know: false, ..rule("r", words, effect) };
    for name in [
        "bash",
        "sh",
        "python3",
        "node",
        "sudo",
        "env",
        "git",
        "xargs",
        "find",
        "/bin/sh",
        "python3 *",
        "b*sh",
    ] {
        assert!(refused(plain(name, Allow)).contains("i_know"), "{name}");
    }
    let regex = |pattern: &str, effect| {
        CommandRule::new(
            "r",
            CommandPattern::Regex { pattern: pattern.to_owned(), over: RegexScope::Argv },
            effect,
        )
    };
    assert!(refused(regex("x", Allow)).contains("stricter"));
    assert!(refused(regex("(", Ask)).contains("expression"));
    assert!(refused(rule("r", "git st\natus", Ask)).contains("word 2"));
    assert!(refused(rule("r\n", "git x", Ask)).contains("id"));
    assert!(refused(CommandRule::prefix("r", &[] as &[&str], Ask)).contains("every command"));
    let example = |text: &str| vec![stockade_command::rules::Example::Text(text.to_owned())];
    let silent = CommandRule { matches: example("git pull"), ..rule("r", "git push", Ask) };
    assert_eq!(refused(silent), "rule `r`: `git pull` should match, but word 2 is `pull`");
    let fires = CommandRule { not_matches: example("ls; git push x"), ..rule("r", "git push", Ask) };
    assert_eq!(refused(fires), "rule `r`: `ls; git push x` should not match, but its part `git push x` does");
}

#[test]
fn an_option_that_loads_counts_unless_the_rule_names_it() {
    let plain = policy(vec![(Layer::User, vec![rule("log", "git log", Allow), rule("tee", "tee", Allow)])]);
    for (text, expected) in [
        ("git log -3", Allow),
        ("git log --output=x", Sandbox),
        ("git log --outp x", Sandbox),
        ("tee build/x", Allow),
        ("tee /data/other/x", Sandbox),
        ("tee ../x", Sandbox),
        ("tee /tmp/x", Allow),
    ] {
        assert_eq!(effect(&plain, text), expected, "{text}");
    }
    let named = policy(vec![(Layer::User, vec![rule("log", "git log --output=x", Allow)])]);
    assert_eq!(effect(&named, "git log --output=x"), Allow);
    // Naming one option permits no other.
    assert_eq!(effect(&named, "git log --output=x --output=y"), Sandbox);
    let launcher = policy(vec![(Layer::User, vec![rule("choom", "choom -n", Allow)])]);
    assert_eq!(effect(&launcher, "choom -n 0 id"), Sandbox);
}

#[test]
fn what_was_seen_of_an_unreadable_text_counts() {
    let policy = policy(vec![(Layer::User, vec![rule("r", "rm", Deny)])]);
    for text in [
        "rm x ; echo \"${x:-'$a'}\"",
        "echo \"${x:-'$a'}\"; rm x",
        "echo \"${x:-'a;$b'}\"; rm x",
        "echo \"${x:-'a;$b'}\"; rm x; echo \"y'z\"",
        "rm \"${x:-'$a'}\"",
        "a | rm x )",
        "if rm x; then",
        "bash -c 'rm x; fi'",
        "eval 'echo ${}; rm x'",
        "echo $(rm x; \"",
        "y=\"${x:-'$a'}\" rm x",
        "f() { rm x",
        "echo \"$(rm x) ${x:-'$a'}\"",
        "for i in $(rm x); do ${}; done",
        "case $(rm x) in ${}) ;; esac",
        "a=($(rm x) ${})",
        "echo $(( $(rm x; a) ))",
        "[[ $(rm x) == ${} ]]",
        "test -v 'a[$(rm x; echo ${})]'",
        "{ a; } > $(rm x) < ${}",
    ] {
        let decision = policy.decide(text, &ReadOptions::default(), &place());
        assert_eq!(decision.effect, Deny, "{text}: {:?}", decision.parts);
        let is_read = stockade_shell::Script::read(text, &ReadOptions::default()).is_ok();
        assert_eq!(decision.rendered().is_some(), is_read, "{text}");
    }
}

#[test]
fn files_are_judged_where_a_cd_has_led() {
    let policy = policy(Vec::new());
    for text in [
        "cd /etc && cat shadow",
        "cd ~/.ssh && cat id_rsa",
        "cd ~/.ssh && echo x >> authorized_keys",
        "cd ~/.ssh; > authorized_keys",
        "cd /proc/self && cat environ",
        "pushd ~/.aws; cat credentials",
        "cd ~ && cd .aws && cat credentials",
    ] {
        assert_eq!(effect(&policy, text), Deny, "{text}");
    }
    for text in ["cd docs && cat shadow", "(cd /etc; ls); cat shadow", "cd src && cat main.rs"] {
        assert_eq!(effect(&policy, text), Allow, "{text}");
    }
}
