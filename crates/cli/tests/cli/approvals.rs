//! `stockade allow`, `deny` and `undo`: what they change, and what the hook answers then.
#![expect(clippy::disallowed_methods, reason = "lays out a home and reads its configuration")]

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use serde_json::json;

use crate::hook::{Answer, Home, claude};
use crate::support::STOCKADE;

/// What a command printed, and whether it succeeded.
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) code: Option<i32>,
}

pub(crate) fn run(home: &Home, args: &[&str]) -> Said {
    let Output { stdout, stderr, status } = home.run(STOCKADE, args, b"");
    let text = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    Said { text, code: status.code() }
}

pub(crate) fn done(home: &Home, args: &[&str]) -> String {
    let said = run(home, args);
    assert_eq!(said.code, Some(0), "{args:?}: {}", said.text);
    said.text
}

pub(crate) fn config(home: &Home) -> String {
    fs::read_to_string(home.path().join(".config/stockade/config.toml")).unwrap_or_default()
}

fn fetch(home: &Home, host: &str) -> Answer {
    claude(home, "WebFetch", &json!({"url": format!("https://{host}/a"), "prompt": "p"}))
}

fn bash(home: &Home, command: &str) -> Answer {
    claude(home, "Bash", &json!({"command": command}))
}

/// A host is allowed to one agent, denied in the same extent, and both are taken back, down to the bytes of the file.
#[test]
fn a_host_is_allowed_to_one_agent_and_taken_back() {
    let home = Home::new();
    home.configure("# mine\n[agents.claude] # first\nmaxSteps = 900\n");
    let before = config(&home);
    assert!(
        matches!(fetch(&home, "docs.example"), Answer::Ask(why) if why.contains("stockade allow claude docs.example"))
    );
    let tried = done(&home, &["allow", "--dry-run", "claude", "docs.example"]);
    assert!(tried.starts_with("would add docs.example to `agents.claude.allowedNetHosts`"), "{tried}");
    assert_eq!(config(&home), before);
    let added = done(&home, &["allow", "claude", "https://docs.example/x"]);
    assert!(added.contains("added docs.example:443") && added.contains("agent claude alone"), "{added}");
    assert_eq!(fetch(&home, "docs.example"), Answer::Silent);
    assert!(matches!(fetch(&home, "other.example"), Answer::Ask(_)));
    let codex = run(&home, &["check", "net", "docs.example:443", "--agent", "codex"]);
    assert_eq!(codex.code, Some(1), "another agent: {}", codex.text);
    let twice = done(&home, &["allow", "claude", "docs.example:443"]);
    assert!(twice.starts_with("nothing to change"), "{twice}");
    // A denial replaces it, and each is one step back.
    let extent =
        |text: &str| text.lines().find(|line| line.contains("extent")).unwrap_or_default().to_owned();
    let denied = done(&home, &["deny", "claude", "docs.example:443"]);
    assert_eq!(extent(&denied), extent(&added), "the extent is the same");
    assert!(matches!(fetch(&home, "docs.example"), Answer::Deny(_)));
    let listed = done(&home, &["undo", "--list"]);
    assert_eq!(listed, "deny claude: host docs.example:443\nallow claude: host docs.example:443\n");
    done(&home, &["undo"]);
    assert_eq!(fetch(&home, "docs.example"), Answer::Silent);
    done(&home, &["undo", "--dry-run"]);
    assert_eq!(fetch(&home, "docs.example"), Answer::Silent);
    done(&home, &["undo"]);
    assert_eq!(config(&home), before);
    assert_eq!(run(&home, &["undo"]).code, Some(1));
    // An entry may have been removed by hand.
    done(&home, &["allow", "claude", "docs.example"]);
    home.configure(&before);
    let gone = done(&home, &["undo"]);
    assert!(gone.contains("nothing changes"), "{gone}");
}

/// Every kind of thing is denied in the extent in which it is allowed, and the later of both decides.
#[test]
fn what_is_allowed_and_denied_is_the_same() {
    let home = Home::new();
    let project = home.project();
    fs::create_dir_all(project.join("notes/deep")).unwrap();
    fs::write(project.join("notes/deep/a.txt"), "x").unwrap();
    let read = |path: &str| {
        let path = project.join(path).display().to_string();
        claude(&home, "Read", &json!({"file_path": path}))
    };
    done(&home, &["deny", "--path", "claude", "notes"]);
    assert!(matches!(read("notes/deep/a.txt"), Answer::Deny(_)));
    home.configure(&format!("{}reads = \"deny\"\n", config(&home)));
    done(&home, &["allow", "claude", "./notes"]);
    assert_eq!(read("notes/deep/a.txt"), Answer::Silent);
    done(&home, &["undo"]);
    assert!(matches!(read("notes/deep/a.txt"), Answer::Deny(_)));

    assert!(matches!(bash(&home, "git push origin main"), Answer::Ask(_)));
    done(&home, &["deny", "claude", "git", "push", "origin", "main"]);
    assert!(matches!(bash(&home, "git push origin main"), Answer::Deny(_)));
    assert!(matches!(bash(&home, "git push origin other"), Answer::Ask(_)), "exactly these words");
    let allowed = done(&home, &["allow", "claude", "git push origin main"]);
    assert!(allowed.contains("removed deny-git-push-origin"), "{allowed}");
    assert!(!matches!(bash(&home, "git push origin main"), Answer::Ask(_) | Answer::Deny(_)));
    assert!(matches!(bash(&home, "git push origin other"), Answer::Ask(_)), "exactly these words");
    let again = done(&home, &["allow", "claude", "git push origin main"]);
    assert!(again.starts_with("nothing to change"), "{again}");
    done(&home, &["undo"]);
    assert!(matches!(bash(&home, "git push origin main"), Answer::Deny(_)));
    done(&home, &["undo"]);
    assert!(matches!(bash(&home, "git push origin main"), Answer::Ask(_)));

    done(&home, &["deny", "claude", "WebSearch"]);
    assert!(matches!(claude(&home, "WebSearch", &json!({"query": "x"})), Answer::Deny(_)));
    done(&home, &["allow", "claude", "WebSearch"]);
    assert_eq!(claude(&home, "WebSearch", &json!({"query": "x"})), Answer::Silent);
}

/// A directory outside of the workspace is shown to commands, and so to the tools that read.
#[test]
fn a_path_outside_is_shown_and_a_secret_is_refused_at_once() {
    let home = Home::new();
    let data = home.path().join("data");
    fs::create_dir_all(&data).unwrap();
    fs::create_dir_all(home.path().join(".ssh")).unwrap();
    fs::write(home.path().join(".ssh/id_rsa"), "k").unwrap();
    fs::write(home.project().join(".env"), "A=b").unwrap();
    let sees = |home: &Home| {
        let file = data.display().to_string();
        run(home, &["exec", "--agent", "claude", "--", "test", "-e", &file]).code
    };
    assert_ne!(sees(&home), Some(0));
    let allowed = done(&home, &["allow", "claude", "~/data"]);
    assert!(allowed.contains("readOnlyAllowPaths"), "{allowed}");
    assert_eq!(sees(&home), Some(0));
    done(&home, &["deny", "claude", "~/data"]);
    assert_ne!(sees(&home), Some(0));
    let before = config(&home);
    for (args, wanted) in [
        (&["allow", "--path", "claude", "~/.ssh/id_rsa"][..], "never shared"),
        (&["allow", "--path", "claude", ".env"], "stays refused"),
        (&["allow", "--write", "claude", "~/data"], "agents write only in theirs"),
        (&["allow", "claude", "169.254.169.254"], "a cloud metadata service"),
        (&["allow", "claude", "rm", "-rf", "/"], "delete-everything"),
        (&["deny", "claude", "ls && date"], "several programs"),
        (&["allow", "claude", "WebFetch"], "decided by the host"),
        (&["allow", "--host", "claude", "*.com"], "top-level domain"),
        (&["allow", "--path", "claude", "no/such"], "No such file"),
        (&["allow", "--tool", "claude", "no tool"], "is not the name of a tool"),
        (&["allow", "cluade", "WebSearch"], "did you mean `claude`"),
        (&["allow", "a b", "WebSearch"], "an agent's id"),
    ] {
        let said = run(&home, args);
        assert_eq!((said.code, said.text.contains(wanted)), (Some(2), true), "{args:?}: {}", said.text);
        assert_eq!(config(&home), before, "{args:?}");
    }
    assert_eq!(done(&home, &["undo", "--list"]).lines().count(), 2, "what failed is not in the journal");
}

/// An approval for one agent changes no other, whether or not the configuration names agents.
#[test]
fn an_approval_changes_no_other_agent() {
    let home = Home::new();
    let other = |home: &Home| run(home, &["check", "tool", "read", "--agent", "other"]).code;
    assert_eq!(other(&home), Some(0));
    let said = done(&home, &["allow", "bot", "web_search"]);
    assert!(said.contains("security.unnamedAgents"), "{said}");
    assert_eq!(other(&home), Some(0), "no agent was named before, so none is unknown now");
    done(&home, &["undo"]);
    assert_eq!(config(&home).trim(), "");
    home.configure("[agents.bot]\n");
    let unknown = run(&home, &["allow", "bto", "web_search"]);
    assert_eq!((unknown.code, unknown.text.contains("`bot`")), (Some(2), true), "{}", unknown.text);
}

/// With broken settings, or a journal that cannot be used, nothing is written.
#[test]
fn nothing_is_half_written() {
    let home = Home::new();
    let journal: PathBuf = home.path().join(".local/state/stockade/approvals.json");
    done(&home, &["allow", "claude", "docs.example"]);
    assert!(journal.is_file());
    for broken in ["[agents.claude\n", "[agents.claude]\nmaxStep = 1\n"] {
        home.configure(broken);
        for args in [
            &["allow", "claude", "a.example"][..],
            &["deny", "claude", "make"],
            &["allow", "claude", "make", "x"],
            &["undo"],
        ] {
            let said = run(&home, args);
            assert_eq!(
                (said.code, said.text.contains("config.toml")),
                (Some(2), true),
                "{args:?}: {}",
                said.text
            );
            assert_eq!(config(&home), broken, "{args:?}");
        }
    }
    home.configure("[agents.claude]\n");
    for damaged in ["{", "{\"version\": 9, \"approvals\": []}", "{\"version\": 1, \"approvals\": [{}]}"] {
        fs::write(&journal, damaged).unwrap();
        for args in [
            &["allow", "claude", "a.example"][..],
            &["allow", "claude", "git", "push"],
            &["undo"],
            &["undo", "--list"],
        ] {
            let said = run(&home, args);
            assert_eq!(
                (said.code, said.text.contains("is damaged")),
                (Some(3), true),
                "{args:?}: {}",
                said.text
            );
            assert_eq!(config(&home), "[agents.claude]\n", "{args:?}");
        }
    }
}

/// The last question is answered from any terminal, and without one only after `--yes`.
#[test]
fn the_last_question_is_answered() {
    let home = Home::new();
    let nothing = run(&home, &["allow", "--last"]);
    assert_ne!(nothing.code, Some(0), "{}", nothing.text);
    fs::create_dir_all(home.project().join(".github/workflows")).unwrap();
    let ask = |home: &Home| bash(home, "git push origin main");
    assert!(matches!(ask(&home), Answer::Ask(_)));
    let shown = done(&home, &["allow", "--last", "--dry-run"]);
    assert!(
        shown.contains("ask git push origin main of agent claude") && shown.contains("would add"),
        "{shown}"
    );
    let asked = run(&home, &["allow", "--last"]);
    assert_eq!((asked.code, asked.text.contains("--yes")), (Some(2), true), "{}", asked.text);
    assert!(matches!(ask(&home), Answer::Ask(_)), "nothing was changed");
    assert_eq!(run(&home, &["allow", "--last", "codex", "--yes"]).code, Some(2), "another agent");
    assert_eq!(run(&home, &["allow", "--last", "claude", "ls"]).code, Some(2), "the record names the thing");
    assert_eq!(run(&home, &["allow", "--yes", "claude", "ls"]).code, Some(2));
    // `why` answers for the agent that was asked about, not for the default one.
    let why = run(&home, &["why", "git push origin main"]);
    assert!(why.text.contains("by agent claude"), "{}", why.text);
    done(&home, &["allow", "--last", "--yes", "claude"]);
    assert!(!matches!(ask(&home), Answer::Ask(_)));
    // Every kind of thing is answered: a host, a tool, a path.
    let write = |home: &Home| {
        let path = home.project().join(".github/workflows/ci.yml").display().to_string();
        claude(home, "Write", &json!({"file_path": path, "content": "x"}))
    };
    let brand_new = |home: &Home| claude(home, "BrandNew", &json!({"x": 1}));
    let page = |home: &Home| fetch(home, "docs.example");
    let things: [&dyn Fn(&Home) -> Answer; 3] = [&write, &brand_new, &page];
    for thing in things {
        assert!(matches!(thing(&home), Answer::Ask(_)));
        let said = done(&home, &["allow", "--last", "--yes"]);
        assert_eq!(thing(&home), Answer::Silent, "{said}");
    }
    // A denial by a fixed rule has no answer, and an answer is taken back as any other.
    bash(&home, "rm -rf /");
    let fixed = run(&home, &["allow", "--last", "--yes"]);
    assert_eq!((fixed.code, fixed.text.contains("delete-everything")), (Some(2), true), "{}", fixed.text);
    done(&home, &["undo"]);
    assert!(matches!(page(&home), Answer::Ask(_)));
    done(&home, &["deny", "--last", "--yes"]);
    assert!(matches!(page(&home), Answer::Deny(_)));
}

/// Rules are also taken as the permissions of Claude Code spell them.
#[test]
fn rules_of_claude_code_are_understood() {
    let home = Home::new();
    done(&home, &["policy", "add", "deny Bash(make deploy:*)", "--agent", "claude"]);
    assert!(matches!(bash(&home, "make deploy now"), Answer::Deny(_)));
    assert!(!matches!(bash(&home, "make test"), Answer::Deny(_)));
    let added = done(&home, &["policy", "add", "allow Bash(npm run test:*)", "--agent", "claude"]);
    assert!(added.contains("allow npm run test **"), "{added}");
    let before = config(&home);
    for wrong in ["allow Bash()", "sandbox Bash(ls)", "allow Read(x)", "allow WebFetch(domain:docs.rs)"] {
        let said = run(&home, &["policy", "add", wrong, "--agent", "claude"]);
        assert_eq!((said.code, config(&home) == before), (Some(2), true), "{wrong}: {}", said.text);
    }
    let listed = done(&home, &["policy", "list", "--agent", "claude"]);
    assert!(listed.contains("npm run test **") && listed.contains("make deploy **"), "{listed}");
}

/// A nap begins only at a terminal that controls the process, is on record, and leaves denials and the sandbox as they are.
#[test]
fn a_nap_begins_only_at_a_terminal_and_ends_by_itself() {
    let home = Home::new();
    let ask = |home: &Home| bash(home, "git push origin main");
    assert!(matches!(ask(&home), Answer::Ask(_)));
    let refused = run(&home, &["nap", "10m"]);
    assert_eq!(
        (refused.code, refused.text.contains("only at a terminal")),
        (Some(2), true),
        "{}",
        refused.text
    );
    for wrong in [&["nap"][..], &["nap", "9h"], &["nap", "0s"], &["nap", "soon"], &["nap", "10m", "--end"]] {
        assert_eq!(run(&home, wrong).code, Some(2), "{wrong:?}");
    }
    assert_eq!(run(&home, &["nap", "--end"]).code, Some(1));
    // `script` gives it a terminal of its own.
    let at_terminal = |line: &str| home.run("/usr/bin/script", &["-qec", line, "/dev/null"], b"");
    if !std::path::Path::new("/usr/bin/script").exists() {
        eprintln!("skipped: the program `script` is missing");
        return;
    }
    let begun = at_terminal(&format!("{STOCKADE} nap 2s"));
    assert!(begun.status.success(), "{begun:?}");
    assert_eq!(ask(&home), Answer::Silent);
    assert!(matches!(bash(&home, "rm -rf /"), Answer::Deny(_)));
    assert!(matches!(bash(&home, "cargo build"), Answer::Rewrite(_)));
    assert!(run(&home, &["status"]).text.starts_with("nap: no questions are asked for another "));
    let recorded = run(&home, &["audit", "query", "--format", "json"]).text;
    assert!(recorded.contains("nap-begun") && recorded.contains("\"answer\":\"nap\""), "{recorded}");
    std::thread::sleep(std::time::Duration::from_millis(2100));
    assert!(matches!(ask(&home), Answer::Ask(_)), "it ends by itself");
    // It can be ended, and a file of another form begins none.
    assert!(at_terminal(&format!("{STOCKADE} nap 1h")).status.success());
    done(&home, &["nap", "--end"]);
    assert!(matches!(ask(&home), Answer::Ask(_)));
    for text in ["{", "{\"version\":1,\"beginsMs\":0,\"endsMs\":99999999999999}"] {
        fs::write(home.path().join(".local/state/stockade/nap.json"), text).unwrap();
        assert!(matches!(ask(&home), Answer::Ask(_)), "{text}");
    }
}

/// An approval for a time ends by itself, holds in one directory for exactly this text, and is taken back as any other.
#[test]
fn a_command_is_allowed_for_a_time() {
    let home = Home::new();
    let ask = |home: &Home| bash(home, "git push origin main");
    let asks = |home: &Home| matches!(ask(home), Answer::Ask(_));
    assert!(asks(&home));
    let tried = done(&home, &["allow", "--dry-run", "--for", "1h", "claude", "git push origin main"]);
    assert!(tried.contains("would add a saved answer"), "{tried}");
    assert!(asks(&home), "a dry run changes nothing");
    let added = done(&home, &["allow", "--for", "1h", "claude", "git push origin main"]);
    assert!(added.contains("in this directory") && config(&home).is_empty(), "{added}");
    assert!(!asks(&home));
    assert!(matches!(bash(&home, "git push origin other"), Answer::Ask(_)), "exactly this text");
    assert!(matches!(bash(&home, "cd sub && git push origin main"), Answer::Ask(_)));
    let other = home.run(STOCKADE, &["exec", "--agent", "codex", "--", "git", "push", "origin", "main"], b"");
    assert!(!other.status.success(), "another agent");
    done(&home, &["undo"]);
    assert!(asks(&home));
    done(&home, &["allow", "--for", "1s", "claude", "git push origin main"]);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    assert!(asks(&home), "it ends by itself");
    let gone = done(&home, &["undo"]);
    assert!(gone.contains("nothing changes"), "{gone}");
    assert!(asks(&home));
    done(&home, &["allow", "--last", "--yes", "--for", "1h"]);
    assert!(!asks(&home));
    for (args, wanted) in [
        (&["allow", "--for", "721h", "claude", "git push"][..], "at most 720h"),
        (&["allow", "--for", "soon", "claude", "git push"], "soon"),
        (&["allow", "--for", "1h", "claude", "rm", "-rf", "/"], "a denial stays"),
        (&["allow", "--for", "1h", "cluade", "git push"], "did you mean"),
    ] {
        let said = run(&home, args);
        assert_eq!((said.code, said.text.contains(wanted)), (Some(2), true), "{args:?}: {}", said.text);
    }
    home.configure("[agents.claude.commands]\nkeptAnswerDays = 0\n");
    let unsaved = run(&home, &["allow", "--for", "1h", "claude", "git push"]);
    assert_eq!((unsaved.code, unsaved.text.contains("keptAnswerDays")), (Some(2), true), "{}", unsaved.text);
}
