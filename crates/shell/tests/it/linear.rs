//! Work is linear in any text.

use stockade_shell::{HazardKind, ReadErrorKind, ReadOptions, Script};

use crate::repeated::REPEATED;

#[test]
fn twice_the_text_takes_twice_the_steps() {
    for (start, repeated, end) in REPEATED {
        let steps = |count: usize| {
            let text = format!("{start}{}{end}", repeated.repeat(count));
            let script = Script::read(&text, &unlimited()).ok()?;
            let actions = script.actions();
            let listed = actions.runs.iter().map(|run| run.argv.len()).sum::<usize>();
            Some((script.steps(), listed, text.len()))
        };
        let (Some(small), Some(large)) = (steps(1_000), steps(2_000)) else { continue };
        assert!(large.0 * 10 <= small.0 * 22 + 100, "{repeated:?}: {} then {} steps", small.0, large.0);
        assert!(large.1 * 10 <= small.1 * 22 + 100, "{repeated:?}: {} then {} words", small.1, large.1);
        assert!(large.1 <= 4 * large.2 + 1024, "{repeated:?} lists {} words", large.1);
    }
}

fn unlimited() -> ReadOptions {
    ReadOptions {
        max_bytes: usize::MAX,
        max_commands: usize::MAX,
        max_words: usize::MAX,
        ..ReadOptions::default()
    }
}

#[test]
fn no_text_has_more_commands_than_the_limit() {
    let options = ReadOptions { max_commands: 10, ..ReadOptions::default() };
    for (start, repeated, end) in [
        ("", "a;", ""),
        ("", "a|", "a"),
        ("a ", "$(b) ", ""),
        ("a ", "`b`", ""),
        ("", "{ a; };", ""),
        ("a ", "> f ", ""),
        ("", "> f\n", ""),
    ] {
        let reason = |count: usize| {
            let text = format!("{start}{}{end}", repeated.repeat(count));
            Script::read(&text, &options).err().map(|error| error.kind)
        };
        assert_eq!(reason(5), None, "{repeated}");
        assert_eq!(reason(11), Some(ReadErrorKind::TooManyCommands), "{repeated}");
    }
}

#[test]
fn no_text_has_more_words_than_the_limit() {
    let options = ReadOptions { max_words: 10, ..ReadOptions::default() };
    for (repeated, words) in
        [("a ", 1), ("'' ", 1), ("env ", 1), ("a;", 1), ("> f ", 1), ("$x ", 2), ("$(b c) ", 4)]
    {
        let kind =
            |count: usize| Script::read(&repeated.repeat(count), &options).err().map(|error| error.kind);
        assert_eq!(kind(10 / words), None, "{repeated}");
        assert_eq!(kind(10 / words + 1), Some(ReadErrorKind::TooManyWords), "{repeated}");
    }
}

#[test]
fn nested_texts_are_no_longer_together_than_one_may_be() {
    let options = ReadOptions { max_bytes: 100, ..ReadOptions::default() };
    let is_refused = |length: usize| {
        let text = format!("eval 'eval {}'", "a".repeat(length));
        let actions = Script::read(&text, &options).unwrap().actions();
        actions.hazards.iter().any(|hazard| hazard.kind == HazardKind::TooDeep)
    };
    assert!(!is_refused(40) && is_refused(60));
}

#[test]
fn braces_do_not_multiply_without_end() {
    let text = format!("a {}", "{b,c}".repeat(40));
    let script = Script::read(&text, &ReadOptions::default()).unwrap();
    let actions = script.actions();
    assert_eq!(actions.runs[0].argv.len(), 2);
    assert!(!actions.runs[0].is_known());
}

#[test]
fn nested_texts_share_one_budget() {
    // Every level is parsed once more; the whole stays within the limit of the options.
    let mut text = "a".repeat(20_000);
    for _ in 0..7 {
        text = format!("eval '{}'", text.replace('\'', r"'\''"));
    }
    let options = ReadOptions {
        max_bytes: text.len(),
        max_commands: text.len(),
        max_texts: 3,
        ..ReadOptions::default()
    };
    let script = Script::read(&text, &options).unwrap();
    assert!(script.actions().runs.len() <= 4);
}

#[test]
fn reading_on_behind_errors_takes_steps_in_proportion() {
    // Each beginning is an error, so the text behind it is parsed again, and some of it more than once.
    let errors =
        ["", ") ", "echo ${x!} ", "echo \"${x!} ", "echo \"${x:-'a'}\" ", "fi; ", "((a) ", "cat <<$x\n"];
    for (start, repeated, end) in REPEATED {
        for error in errors {
            for broken in [error.to_owned() + start, error.repeat(20) + start] {
                let steps = |count: usize| {
                    let text = format!("{broken}{}{end}", repeated.repeat(count));
                    let script = Script::read_partly(&text, &unlimited());
                    (script.steps(), text.len())
                };
                let (small, large) = (steps(200), steps(400));
                assert!(
                    large.0 * 10 <= small.0 * 22 + 400,
                    "{broken:?} {repeated:?}: {} then {} steps",
                    small.0,
                    large.0
                );
                assert!(large.0 <= 40 * large.1 + 1024, "{broken:?} {repeated:?}: {} steps", large.0);
            }
        }
    }
}
