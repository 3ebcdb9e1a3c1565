//! Which fuzz target feeds each parser of untrusted bytes.

use super::problem::Problem;
use super::tree::Tree;

/// A parser of foreign bytes.
struct Parser {
    /// Whose bytes it reads.
    reads: &'static str,
    /// The file or folder that it is.
    path: &'static str,
    /// The targets that feed it: the folder of their crate, and their names.
    targets: &'static [(&'static str, &'static str)],
}

/// Every parser of foreign bytes.
const PARSERS: &[Parser] = &[
    Parser {
        reads: "texts of skills, with every rule",
        path: "crates/scanner/src/scanner.rs",
        targets: &[("scanner", "finds_all"), ("scanner", "reports_hold")],
    },
    Parser {
        reads: "texts of skills, for their facts",
        path: "crates/scanner/src/facts_of.rs",
        targets: &[("scanner", "facts_hold")],
    },
    Parser {
        reads: "files of scanner rules",
        path: "crates/scanner/src/rule_file.rs",
        targets: &[("scanner", "finds_all_of_a_users_rule")],
    },
    Parser {
        reads: "texts to clean",
        path: "crates/sanitize/src/pipeline.rs",
        targets: &[("sanitize", "sanitizes"), ("sanitize", "steps_hold_alone")],
    },
    Parser {
        reads: "messages hidden in tag characters",
        path: "crates/sanitize/src/invisible/hidden_text.rs",
        targets: &[("sanitize", "reads_hidden_messages")],
    },
    Parser {
        reads: "commands of shells",
        path: "crates/shell/src/parser.rs",
        targets: &[
            ("shell", "canonical_text_runs_the_same"),
            ("shell", "quoting_changes_nothing"),
            ("shell", "reading_is_bounded"),
            ("shell", "suffix_hides_nothing"),
        ],
    },
    Parser {
        reads: "files of rules for commands",
        path: "crates/command/src/rules/file.rs",
        targets: &[("command", "rule_files_reload")],
    },
    Parser {
        reads: "messages of the Model Context Protocol",
        path: "crates/mcp/src/message.rs",
        targets: &[("mcp", "mcp_messages")],
    },
    Parser {
        reads: "settings beside skills",
        path: "crates/skill/src/settings.rs",
        targets: &[("skill", "skill_head")],
    },
    Parser {
        reads: "expressions and programs of JavaScript",
        path: "crates/eval/src/parser.rs",
        targets: &[("eval", "source")],
    },
    Parser {
        reads: "tokens of JavaScript",
        path: "crates/eval/src/lexer.rs",
        targets: &[("eval", "source")],
    },
    Parser {
        reads: "regular expressions of JavaScript",
        path: "crates/eval/src/regex/parse.rs",
        targets: &[("eval", "regex")],
    },
    Parser {
        reads: "JSON within expressions",
        path: "crates/eval/src/builtins/json/parse.rs",
        targets: &[("eval", "json")],
    },
    Parser {
        reads: "texts with expressions in braces",
        path: "crates/eval/src/interpolate.rs",
        targets: &[("eval", "template")],
    },
    Parser {
        reads: "scripts of limits",
        path: "crates/limits-replay/src/script.rs",
        targets: &[("limits-replay", "limit_script")],
    },
    Parser {
        reads: "traces of calls",
        path: "crates/limits-replay/src/simulate.rs",
        targets: &[("limits-replay", "limit_trace")],
    },
    Parser {
        reads: "pages, JSON and text that tools bring back",
        path: "crates/output/src/extract.rs",
        targets: &[("output", "extraction"), ("output", "hidden_text")],
    },
    Parser {
        reads: "texts with credentials",
        path: "crates/credentials/src/redact.rs",
        targets: &[("credentials", "redaction")],
    },
    Parser {
        reads: "records of the audit trail",
        path: "crates/audit/src/record.rs",
        targets: &[("audit", "audit_record")],
    },
    Parser {
        reads: "checkpoints and receipts of the audit trail",
        path: "crates/audit/src/checkpoint.rs",
        targets: &[("audit", "audit_note")],
    },
    Parser {
        reads: "audit trails that an attacker may have changed",
        path: "crates/audit/src/verify.rs",
        targets: &[("audit", "audit_verify")],
    },
    Parser {
        reads: "files of any encoding, and of none",
        path: "crates/files/src/text_readings.rs",
        targets: &[("files", "text_readings")],
    },
    Parser {
        reads: "pictures, fonts and sounds",
        path: "crates/files/src/media.rs",
        targets: &[("files", "text_readings")],
    },
    Parser {
        reads: "settings of repositories",
        path: "crates/git/src/settings.rs",
        targets: &[("git", "git_settings")],
    },
    Parser {
        reads: "indexes of repositories",
        path: "crates/git/src/index.rs",
        targets: &[("git", "git_index")],
    },
    Parser {
        reads: "configuration files",
        path: "crates/config/src/config.rs",
        targets: &[("config", "configuration")],
    },
    Parser {
        reads: "documents of TOML, YAML and JSON with positions",
        path: "crates/text/src/document.rs",
        targets: &[("text", "document_json"), ("text", "document_toml"), ("text", "document_yaml")],
    },
    Parser {
        reads: "documents that are edited in place",
        path: "crates/text/src/edit.rs",
        targets: &[("text", "edits")],
    },
    Parser {
        reads: "what a jailed command asks its egress proxy",
        path: "crates/egress/src/proxy_request.rs",
        targets: &[("egress", "proxy_request")],
    },
    Parser {
        reads: "the requests of a jailed command, one behind the other, that are looked into",
        path: "crates/egress/src/request_stream.rs",
        targets: &[("egress", "request_stream")],
    },
    Parser {
        reads: "responses of hosts that get a secret, in pieces",
        path: "crates/egress/src/secrets/scrub.rs",
        targets: &[("egress", "scrubber")],
    },
    Parser {
        reads: "to whom a jailed command wants to talk over TLS",
        path: "crates/egress/src/client_hello.rs",
        targets: &[("egress", "client_hello")],
    },
    Parser {
        reads: "which names a jailed command looks up",
        path: "crates/egress/src/name_query.rs",
        targets: &[("egress", "name_query")],
    },
    Parser {
        reads: "names of hosts",
        path: "crates/egress/src/target.rs",
        targets: &[("egress", "net_target")],
    },
    Parser {
        reads: "names of hosts in Punycode",
        path: "crates/egress/src/punycode.rs",
        targets: &[("egress", "net_target")],
    },
    Parser {
        reads: "lists of hosts",
        path: "crates/egress/src/host_list.rs",
        targets: &[("egress", "host_list")],
    },
    Parser {
        reads: "manifests of packages for containers",
        path: "crates/package/src/manifest.rs",
        targets: &[("package", "container")],
    },
    Parser {
        reads: "heads of skills",
        path: "crates/skill/src/head.rs",
        targets: &[("skill", "skill_head"), ("admission", "skill")],
    },
    Parser {
        reads: "requests of the server",
        path: "crates/serve/src/requests.rs",
        targets: &[("serve", "requests")],
    },
];

/// Returns the parsers that nothing feeds.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    PARSERS.iter().flat_map(|parser| faults(tree, parser)).collect()
}

/// A parser that is not where its row says. A tree made up for a test has few of the crates.
fn moved(tree: &Tree, reads: &str, path: &str) -> Option<Problem> {
    let message = format!("the parser of {reads} is no longer {path}; say where it is");
    let is_lost = has_crate(tree, path) && !tree.has(path);
    is_lost.then(|| Problem::new("xtask/src/tidy/parsers.rs", 1, message))
}

fn has_crate(tree: &Tree, path: &str) -> bool {
    let folder = path.split('/').take(2).collect::<Vec<_>>().join("/");
    tree.has(&format!("{folder}/Cargo.toml"))
}

fn faults(tree: &Tree, parser: &Parser) -> Vec<Problem> {
    if !has_crate(tree, parser.path) {
        return Vec::new();
    }
    if let Some(problem) = moved(tree, parser.reads, parser.path) {
        return vec![problem];
    }
    if parser.targets.is_empty() {
        return vec![Problem::new(parser.path, 1, format!("no fuzz target feeds it {}", parser.reads))];
    }
    let lost = parser
        .targets
        .iter()
        .filter(|(krate, target)| !tree.has(&format!("crates/{krate}/fuzz/fuzz_targets/{target}.rs")));
    lost.map(|(krate, target)| {
        let message = format!("{krate} has no fuzz target `{target}`, which would feed it {}", parser.reads);
        Problem::new(parser.path, 1, message)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    const LIMITS: [(&str, &str); 5] = [
        ("crates/limits-replay/Cargo.toml", ""),
        ("crates/limits-replay/src/script.rs", ""),
        ("crates/limits-replay/src/simulate.rs", ""),
        ("crates/limits-replay/fuzz/fuzz_targets/limit_script.rs", ""),
        ("crates/limits-replay/fuzz/fuzz_targets/limit_trace.rs", ""),
    ];

    #[test]
    fn every_parser_is_there_and_fed() {
        assert_eq!(said(check, &LIMITS), [""; 0]);
    }

    #[test]
    fn a_parser_that_moved_or_is_not_fed_is_named() {
        for (gone, part) in [
            (
                "src/script.rs",
                "the parser of scripts of limits is no longer crates/limits-replay/src/script.rs",
            ),
            (
                "limit_trace.rs",
                "crates/limits-replay/src/simulate.rs:1: limits-replay has no fuzz target `limit_trace`",
            ),
        ] {
            let rest: Vec<_> = LIMITS.into_iter().filter(|(path, _)| !path.ends_with(gone)).collect();
            let said = said(check, &rest);
            assert!(matches!(said.as_slice(), [one] if one.contains(part)), "{gone}: {said:?}");
        }
    }

    #[test]
    fn every_row_names_a_target() {
        let bare = PARSERS.iter().filter(|parser| parser.targets.is_empty()).map(|parser| parser.path);
        assert_eq!(bare.collect::<Vec<_>>(), [""; 0]);
    }
}
