//! Properties of every text. The fuzz targets and the tests in `replay.rs` run the same functions.

use spelling::quoted;
use stockade_shell::{Arg, InvocationKind, ReadOptions, Run, Script, Shell, Span};

#[path = "spelling.rs"]
mod spelling;

const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Sh, Shell::Zsh];

/// The number of parsing steps is linear in the text, and every span lies in it.
pub(crate) fn reading_is_bounded(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for shell in SHELLS {
        match Script::read(&text, &ReadOptions::for_shell(shell)) {
            Err(error) => assert_inside(error.span, &text),
            Ok(script) => {
                assert!(
                    script.steps() <= 4 * text.len() + 4,
                    "{} steps for {} bytes",
                    script.steps(),
                    text.len()
                );
                let actions = script.actions();
                let spans = actions.runs.iter().map(|run| run.span);
                let spans = spans.chain(actions.redirects.iter().map(|redirect| redirect.span));
                let spans = spans.chain(actions.assignments.iter().map(|assignment| assignment.span));
                let spans = spans.chain(actions.substitutions.iter().map(|substitution| substitution.span));
                spans
                    .chain(actions.hazards.iter().map(|hazard| hazard.span))
                    .for_each(|span| assert_inside(span, &text));
            }
        }
    }
}

/// However a word is quoted, it is the same word.
pub(crate) fn quoting_changes_nothing(data: &[u8]) {
    let Some((seed, rest)) = data.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let words: Vec<&str> = text.split(' ').filter(|word| is_quotable(word)).take(8).collect();
    if words.is_empty() {
        return;
    }
    let spelled: Vec<String> =
        words.iter().enumerate().map(|(index, word)| quoted(word, usize::from(*seed) + index)).collect();
    let line = spelled.join(" ");
    for shell in [Shell::Bash, Shell::Zsh] {
        let Ok(script) = Script::read(&line, &ReadOptions::for_shell(shell)) else {
            panic!("refused {line:?}")
        };
        let actions = script.actions();
        let found = actions.runs.iter().find(|run| run.invocation == InvocationKind::AsWritten);
        let found: Option<Vec<&str>> = found.and_then(|run| run.argv.iter().map(Arg::known).collect());
        assert_eq!(found, Some(words.clone()), "{line:?}");
    }
}

/// Text after a complete command hides nothing of it.
pub(crate) fn suffix_hides_nothing(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (first, second) = text.split_once('\u{1}').unwrap_or((&text, "id"));
    let both = format!("{first}\n{second}");
    for shell in SHELLS {
        let options = ReadOptions::for_shell(shell);
        let (Ok(alone), Ok(together)) = (Script::read(first, &options), Script::read(&both, &options)) else {
            continue;
        };
        let (alone, together) = (alone.actions(), together.actions());
        for run in alone.runs.iter().filter(|run| run.invocation != InvocationKind::Function) {
            assert!(
                together.runs.iter().any(|other| same(run, other)),
                "{:?} is hidden in {both:?}",
                run.argv
            );
        }
    }
}

/// The canonical spelling runs the same programs, is its own canonical spelling, and needs no expansion.
pub(crate) fn canonical_text_runs_the_same(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for shell in SHELLS {
        let options = ReadOptions::for_shell(shell);
        let Ok(script) = Script::read(&text, &options) else { continue };
        let Some(rendered) = script.rendered() else { continue };
        let again = Script::read(&rendered, &options).unwrap_or_else(|error| panic!("{rendered:?}: {error}"));
        assert_eq!(again.rendered().as_deref(), Some(rendered.as_str()), "from {text:?}");
        let (before, after) = (script.actions(), again.actions());
        let argvs = |runs: &[Run<'_>]| -> Vec<Vec<String>> {
            runs.iter().map(|run| run.argv.iter().map(ToString::to_string).collect()).collect()
        };
        assert_eq!(argvs(&before.runs), argvs(&after.runs), "{text:?} became {rendered:?}");
    }
}

fn assert_inside(span: Span, text: &str) {
    assert!(span.start <= span.end && text.get(span.start..span.end).is_some(), "{span:?} in {text:?}");
}

fn same(left: &Run<'_>, right: &Run<'_>) -> bool {
    left.argv == right.argv && left.call_chain == right.call_chain
}

/// Words of printable ASCII: other characters are refused by rule.
fn is_quotable(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_graphic())
}
