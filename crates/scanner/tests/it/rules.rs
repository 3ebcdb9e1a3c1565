//! Guarantees of the built-in rules.
#![expect(clippy::disallowed_methods, reason = "sees which file a rule lies in")]

use std::path::Path;

use stockade_scanner::{ExceptionBuf, RuleProblem, Scanner, Severity};

#[test]
fn every_builtin_rule_passes_the_checks_of_a_users_own() {
    let errors: Vec<String> = Scanner::builtin()
        .rules()
        .iter()
        .filter_map(|rule| Scanner::only([rule]).err())
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn every_rule_has_examples_of_both_kinds() {
    for rule in Scanner::builtin().rules() {
        assert!(rule.matches.len() >= 3 && rule.clean.len() >= 3, "{}", rule.id);
        assert!(rule.patterns.iter().all(|pattern| !pattern.note.is_empty()), "{}", rule.id);
    }
}

#[test]
fn the_eighteen_documented_rules_are_there() {
    let (critical, warn) = (Severity::Critical, Severity::Warn);
    let documented = [
        ("EXEC_SUBSHELL", "exec_injection", critical),
        ("EXEC_BACKTICK", "exec_injection", critical),
        ("EXEC_EVAL", "exec_injection", critical),
        ("EXEC_PIPE_BASH", "exec_injection", critical),
        ("ENV_PRINTENV", "env_harvesting", warn),
        ("ENV_PROC_ENVIRON", "env_harvesting", warn),
        ("ENV_MASS_DUMP", "env_harvesting", warn),
        ("CRYPTO_STRATUM", "crypto_mining", critical),
        ("CRYPTO_MINER_BINARY", "crypto_mining", critical),
        ("CRYPTO_POOL_DOMAIN", "crypto_mining", warn),
        ("NET_CURL_PIPE", "network_exfiltration", warn),
        ("NET_WGET_EXEC", "network_exfiltration", warn),
        ("NET_REVERSE_SHELL", "network_exfiltration", critical),
        ("OBF_BASE64_LONG", "obfuscated_encoding", warn),
        ("OBF_HEX_LONG", "obfuscated_encoding", warn),
        ("OBF_BASE64_DECODE_PIPE", "obfuscated_encoding", critical),
        ("XML_SKILL_CLOSE", "xml_breakout", critical),
        ("XML_SYSTEM_TAG", "xml_breakout", critical),
    ];
    for (id, category, severity) in documented {
        let rule = Scanner::builtin().rules().iter().find(|rule| rule.id == id);
        let found = rule.map(|rule| (rule.category.name(), rule.severity));
        assert_eq!(found, Some((category, severity)), "{id}");
    }
}

/// Nothing else keeps them apart: rules are files, and two branches may each add one.
#[test]
fn every_rule_has_an_id_of_its_own_and_lies_where_it_says() {
    let rules = Scanner::builtin().rules();
    for (index, rule) in rules.iter().enumerate() {
        assert!(rules[..index].iter().all(|earlier| earlier.id != rule.id), "{} is there twice", rule.id);
        let file = format!("src/rules/{}/{}.rs", rule.category, rule.id.to_lowercase());
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
        assert!(path.is_file(), "the rule {} belongs in {file}", rule.id);
    }
}

/// One table, the crate `names`, lists the files that start programs, instruct agents or hold secrets. A rule about
/// them takes them from there: two such lists have never stayed the same.
#[test]
fn no_rule_has_a_list_of_names_of_its_own() {
    let is_word = |part: &&str| part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let paths = stockade_names::names().flat_map(|name| name.paths.iter().chain(name.matches));
    let parts = paths.flat_map(|path| path.split('/'));
    let mut known: Vec<String> =
        parts.filter(|part| !part.contains('*') && !is_word(part)).map(str::to_lowercase).collect();
    known.sort();
    known.dedup();
    let is_known = |name: &str| known.iter().any(|it| it == name);
    assert!([".bashrc", ".ssh", "claude.md"].into_iter().all(is_known), "{known:?}");
    // A name as an expression spells it. A part of a longer word (`process.env`, `.pipe`) does not count.
    let speaks_of = |regex: &str, name: &str| {
        let classes = ["\\b", "\\s", "\\w", "\\W", "\\d", "\\n"];
        let plain = classes.iter().fold(regex.to_owned(), |text, class| text.replace(class, " "));
        let text = plain.replace('\\', "").to_lowercase();
        text.match_indices(name).any(|(at, _)| {
            let is_of_word = |c: char| c.is_ascii_alphanumeric();
            !text[..at].ends_with(is_of_word) && !text[at + name.len()..].starts_with(is_of_word)
        })
    };
    assert!(speaks_of(r"~/\.bashrc\b", ".bashrc") && !speaks_of(r"process\.env\b", ".env"));
    assert!(!speaks_of(r"\.pipe\(", ".pi"));
    for rule in Scanner::builtin().rules() {
        for pattern in &rule.patterns {
            let name = known.iter().find(|name| speaks_of(&pattern.regex, name));
            assert_eq!(name, None, "{}: {}", rule.id, pattern.regex);
        }
    }
}

#[test]
fn rules_are_refused_when_their_patterns_take_too_much_together() {
    // Conditions are compiled twice: alone, for errors of a single one, and with their like.
    let heavy = || "[ab]{8000}".to_owned();
    let rule = |patterns: usize| {
        let mut rule = Scanner::builtin().rules().first().unwrap().clone();
        rule.id = "HEAVY".to_owned();
        (rule.matches, rule.clean) = (vec!["needle".to_owned()], Vec::new());
        rule.patterns.truncate(1);
        for pattern in &mut rule.patterns {
            pattern.regex = "needle".to_owned();
            pattern.exceptions = [ExceptionBuf::Match, ExceptionBuf::Before, ExceptionBuf::After]
                .map(|kind| kind(heavy()))
                .into();
        }
        rule.patterns = rule.patterns.iter().cycle().take(patterns).cloned().collect();
        rule
    };
    assert!(Scanner::only([rule(2)]).is_ok());
    let error = Scanner::only([rule(64)]).unwrap_err();
    assert!(matches!(error.problem, RuleProblem::TooHeavy { .. }), "{error}");
}
