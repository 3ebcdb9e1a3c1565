//! Custom rules: valid files, and errors of invalid ones.

use stockade_scanner::{ExceptionBuf, Regions, RuleFile, RuleFormat, RuleProblem, Scanner, Severity};

const TOML: &str = r#"
[[rule]]
id = "ACME_TOKEN"
severity = "critical"
summary = "Token of the Acme service"
remedy = "Take the token out and revoke it."
patterns = ['\bacme_[0-9a-f]{16}\b']
unless = [{ before = 'example: $' }]
matches = ["acme_0123456789abcdef"]
clean = ["acme_example", "example: acme_0123456789abcdef"]
"#;

const YAML: &str = r#"
rule:
  - id: ACME_TOKEN
    severity: CRITICAL
    summary: Token of the Acme service
    remedy: Take the token out and revoke it.
    shapes:
      - pattern: '\bacme_[0-9a-f]{16}\b'
        unless:
          - before: 'example: $'
    matches: [acme_0123456789abcdef]
    clean:
      - acme_example
      - "example: acme_0123456789abcdef"
"#;

const JSON: &str = "{\n\t\"rule\": [{\n\t\t\"id\": \"ACME_TOKEN\",\n\t\t\"category\": \"custom\",\n\t\t\"severity\": \"CRITICAL\",\n\t\t\
    \"summary\": \"Token of the Acme service\",\n\t\t\"remedy\": \"Take the token out and revoke it.\",\n\t\t\
    \"patterns\": [\"\\\\bacme_[0-9a-f]{16}\\\\b\"],\n\t\t\"unless\": [{\"before\": \"example: $\"}],\n\t\t\
    \"matches\": [\"acme_0123456789abcdef\"],\n\t\t\"clean\": [\"acme_example\", \"example: acme_0123456789abcdef\"]\n\t}]\n}\n";

#[test]
fn the_three_formats_say_the_same() {
    let [toml, yaml, json] = [(TOML, RuleFormat::Toml), (YAML, RuleFormat::Yaml), (JSON, RuleFormat::Json)]
        .map(|(text, format)| {
            RuleFile::parse(text, format).unwrap_or_else(|error| panic!("{format:?}: {error}"))
        });
    assert_eq!(toml.rules(), yaml.rules());
    assert_eq!(toml.rules(), json.rules());
    let [rule] = toml.rules() else { panic!("one rule") };
    assert_eq!((rule.severity, rule.category.name()), (Severity::Critical, "custom"));
    assert_eq!(rule.patterns[0].regions, Regions::ANY);
    assert_eq!(rule.patterns[0].exceptions, [ExceptionBuf::Before("example: $".to_owned())]);
}

#[test]
fn a_users_rule_fires_beside_the_builtin_ones() {
    let file = RuleFile::parse(TOML, RuleFormat::Toml).unwrap();
    for scanner in [Scanner::with_rules(file.rules()), Scanner::with_rule_files([&file])] {
        let scanner = scanner.unwrap();
        let report = scanner.scan("use acme_0123456789abcdef and printenv | sort");
        let fired: Vec<&str> = report.findings.iter().map(|finding| finding.rule_id).collect();
        assert_eq!(fired, ["ACME_TOKEN", "ENV_PRINTENV", "ENV_MASS_DUMP"]);
        assert_eq!(scanner.own_rules(), file.rules());
    }
}

#[test]
fn formats_are_known_by_their_ending() {
    for (name, format) in [
        ("rules.toml", Some(RuleFormat::Toml)),
        ("a.b.YML", Some(RuleFormat::Yaml)),
        ("x.yaml", Some(RuleFormat::Yaml)),
        ("x.json", Some(RuleFormat::Json)),
        ("x.txt", None),
        ("toml", None),
    ] {
        assert_eq!(RuleFormat::of_name(name), format, "{name}");
    }
}

/// Each change of the valid file, with the position and the start of the error.
#[test]
fn a_bad_toml_file_is_refused_where_it_is_bad() {
    let cases = [
        ("id = \"ACME_TOKEN\"", "id = ", "line 3, column 6: the file is not valid TOML"),
        (
            "severity",
            "serverity",
            "line 4, column 1: unknown key `serverity` in a rule: did you mean `severity`?",
        ),
        ("[[rule]]", "[[rules]]", "line 2, column 3: unknown key `rules` in the file: did you mean `rule`?"),
        (
            "\"critical\"",
            "\"critcal\"",
            "line 4, column 12: `critcal` is no severity: did you mean `CRITICAL`?",
        ),
        ("\"critical\"", "3", "line 4, column 12: `severity` must be a text, not a number: put it in quotes"),
        ("severity = \"critical\"", "", "line 2, column 1: a rule has no `severity`: WARN shows"),
        ("[\"acme_0", "\"acme_0", "line 9, column 34: the file is not valid TOML"),
        (
            "{ before",
            "{ befor",
            "line 8, column 13: unknown key `befor` in a condition: did you mean `before`?",
        ),
        ("ACME_TOKEN", "acme", "line 3, column 6: rule `acme` cannot be used: the id must be"),
        (
            "ACME_TOKEN",
            "EXEC_EVAL",
            "line 3, column 6: rule `EXEC_EVAL` cannot be used: another rule has the same id",
        ),
        (
            "Token of the Acme service",
            "",
            "line 5, column 11: rule `ACME_TOKEN` cannot be used: the summary is empty",
        ),
        (
            "{16}\\b",
            "{16}(",
            "line 7, column 13: rule `ACME_TOKEN` cannot be used: pattern 1 is invalid: the pattern is not a regular expression: unclosed group",
        ),
        (
            "'\\bacme",
            "'{shel}\\bacme",
            "line 7, column 13: rule `ACME_TOKEN` cannot be used: pattern 1 is invalid: unknown fragment `{shel}`",
        ),
        (
            "[0-9a-f]{16}\\b",
            "|x*",
            "line 7, column 13: rule `ACME_TOKEN` cannot be used: pattern 1 matches the empty string",
        ),
        (
            "acme_[0-9a-f]{16}\\b",
            "acme_[^z]*z|b",
            "line 7, column 13: rule `ACME_TOKEN` cannot be used: pattern 1 has an unbounded match",
        ),
        (
            "'example: $'",
            "'example: ('",
            "line 8, column 1: rule `ACME_TOKEN` cannot be used: the `unless` of pattern 1 is invalid",
        ),
        (
            "[\"acme_0123456789abcdef\"]",
            "[]",
            "line 2, column 1: rule `ACME_TOKEN` cannot be used: it has no example",
        ),
        (
            "[\"acme_0123456789abcdef\"]",
            "[\"acme\"]",
            "line 9, column 12: rule `ACME_TOKEN` cannot be used: it must match example 1 of `matches` and does not: \"acme\"",
        ),
        (
            "[\"acme_example\"",
            "[\"acme_0000000000000000\"",
            "line 10, column 10: rule `ACME_TOKEN` cannot be used: it must not match example 1 of `clean`, and matches \"acme_0000000000000000\"",
        ),
        (
            "unless =",
            "regions = [\"prosa\"]\nunless =",
            "line 8, column 12: `prosa` is no region: did you mean `prose`?",
        ),
    ];
    for (good, bad, message) in cases {
        let text = TOML.replacen(good, bad, 1);
        assert_ne!(text, TOML, "{good}");
        let error =
            RuleFile::parse(&text, RuleFormat::Toml).map(|file| file.rules().len()).unwrap_err().to_string();
        assert!(error.starts_with(message), "{bad}:\n got {error}\nwant {message}");
    }
}

#[test]
fn yaml_and_json_know_their_places_too() {
    let yaml = [
        (
            "severity: CRITICAL",
            "severity: 3",
            "line 4, column 15: `severity` must be a text, not a number: put it in quotes",
        ),
        (
            "    summary",
            "    sumary",
            "line 5, column 5: unknown key `sumary` in a rule: did you mean `summary`?",
        ),
        ("{16}\\b", "{16}(", "line 8, column 18: rule `ACME_TOKEN` cannot be used: pattern 1 is invalid"),
        (
            "      - acme_example",
            "      - acme_0000000000000000",
            "line 13, column 9: rule `ACME_TOKEN` cannot be used: it must not match",
        ),
        ("    remedy: ", "    remedy: [", "line 7, column 11: the file is not valid YAML"),
    ];
    let json = [
        ("\"CRITICAL\"", "\"BAD\"", "line 5, column 15: `BAD` is no severity: choose one of WARN, CRITICAL"),
        ("}]\n}", "},]\n}", "line 12, column 4: the file is not valid JSON: expected value"),
        ("\"id\"", "\"idd\"", "line 3, column 3: unknown key `idd` in a rule: did you mean `id`?"),
    ];
    let cases = yaml
        .iter()
        .map(|case| (YAML, RuleFormat::Yaml, case))
        .chain(json.iter().map(|case| (JSON, RuleFormat::Json, case)));
    for (text, format, (good, bad, message)) in cases {
        let error = RuleFile::parse(&text.replacen(good, bad, 1), format)
            .map(|file| file.rules().len())
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(message), "{bad}:\n got {error}\nwant {message}");
    }
}

#[test]
fn hostile_files_are_refused_quickly() {
    let deep = "[".repeat(100_000);
    let bomb = format!(
        "a: &a [x]\n{}rule: *z",
        ('b'..='z')
            .map(|name| {
                let before = char::from(u8::try_from(u32::from(name)).unwrap() - 1);
                format!("{name}: &{name} [{}]\n", format!("*{before},").repeat(20))
            })
            .collect::<String>()
    );
    let large = format!("# {}", "x".repeat(1 << 20));
    for format in [RuleFormat::Toml, RuleFormat::Yaml, RuleFormat::Json] {
        for text in
            ["", "rule = 1", "rule: x", "[]", "null", "\0", deep.as_str(), bomb.as_str(), large.as_str()]
        {
            assert!(RuleFile::parse(text, format).is_err(), "{format:?} {:?}", text.get(..20));
        }
    }
}

#[test]
fn an_error_of_the_scanner_is_found_in_the_file() {
    let [first, second] = [TOML, TOML].map(|text| RuleFile::parse(text, RuleFormat::Toml).unwrap());
    let error = Scanner::with_rules(first.rules().iter().chain(second.rules())).unwrap_err();
    assert_eq!(Scanner::with_rule_files([&first, &second]).unwrap_err(), error);
    let place = second.locate(&error).unwrap();
    assert_eq!((place.line, place.column), (3, 6));
    assert!(place.to_string().contains("another rule has the same id"));
}

/// A file is checked once, but what its patterns need counts beside those of other files.
#[test]
fn memory_of_all_files_is_bounded() {
    let heavy = |file: usize| {
        let rule = |number: usize| {
            format!(
                "[[rule]]\nid = \"HEAVY_{file}_{number}\"\nseverity = \"WARN\"\nsummary = \"s\"\nremedy = \"r\"\n\
                 patterns = [\"needle\"]\nmatches = [\"needle\"]\n\
                 unless = [{{ match = '[ab]{{8000}}' }}, {{ before = '[ab]{{8000}}' }}, {{ after = '[ab]{{8000}}' }}]\n"
            )
        };
        RuleFile::parse(&(0..8).map(rule).collect::<String>(), RuleFormat::Toml).unwrap()
    };
    let files: Vec<RuleFile> = (0..8).map(heavy).collect();
    assert!(Scanner::with_rule_files(&files[..1]).is_ok());
    let error = Scanner::with_rule_files(&files).unwrap_err();
    assert!(matches!(error.problem, RuleProblem::TooHeavy { .. }), "{error}");
}
