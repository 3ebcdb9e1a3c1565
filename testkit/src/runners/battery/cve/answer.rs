//! Answers of both entry points, parsed from their JSON.

use testkit::Json;

use super::case::{Must, Question, Strictness, Try};

/// Returns what is wrong with an answer.
pub(super) fn wrong(one: &Try, entry_point: &str, answer: Option<Strictness>) -> Option<String> {
    let Some(answer) = answer else {
        return Some(format!("{entry_point} gives no answer to {}", shown(one)));
    };
    let (holds, wanted) = match one.must {
        Must::BeAllowed => (answer == Strictness::Allow, "allow".to_owned()),
        Must::BeAtLeast(least) => (answer >= least, format!("at least {}", least.word())),
    };
    (!holds).then(|| format!("{entry_point} says {} of {}, and must say {wanted}", answer.word(), shown(one)))
}

/// Returns what is wrong with the display of a command: the program that runs is not visible, or a character moves or
/// hides it.
pub(super) fn hidden(one: &Try, output: &str) -> Option<String> {
    let Question::Shown(_) = one.question else { return None };
    let moves = output.chars().find(|&c| c != '\n' && (c.is_control() || is_invisible(c)));
    match moves {
        Some(c) => Some(format!("{c:?} is in the output for {}", shown(one))),
        None if !output.contains("./payload") => {
            Some(format!("what runs is not in the output for {}", shown(one)))
        }
        None => None,
    }
}

/// Characters that have no width, change the direction, or imitate a blank.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{ad}' | '\u{115f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202f}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// The answer of `stockade check`: one decision, or a list of results of which there is one.
pub(super) fn of_check(text: &str) -> Option<Strictness> {
    let answer = Json::parse(text)?;
    let path = answer.at("results").items().first();
    Strictness::of(path.unwrap_or(&answer).at("decision").text())
}

/// The answers of `stockade serve`, each with the number of its question.
pub(super) fn of_serve(text: &str) -> Vec<(usize, Option<Strictness>)> {
    let answers = text.lines().filter_map(Json::parse);
    answers
        .filter_map(|answer| {
            let Json::Number(id) = answer.at("id") else { return None };
            let result = answer.at("result");
            let words = [result.at("action").text(), result.at("decision").text()];
            Some((id.parse().ok()?, words.into_iter().find_map(Strictness::of)))
        })
        .collect()
}

/// Formats a question for display: invisible characters are escaped, and a long one is cut.
fn shown(one: &Try) -> String {
    /// The most characters of a command that are shown.
    const MAX_SHOWN: usize = 100;
    let asked = match one.question {
        Question::Command { text, shell, rules } => {
            let cut = if text.chars().count() > MAX_SHOWN { "…" } else { "" };
            let text: String = text.chars().take(MAX_SHOWN).collect();
            let rules = if rules.is_empty() { "" } else { ", with rules of a user's own" };
            format!("{text:?}{cut} for {shell}{rules}")
        }
        Question::Path { access, path, deny } => {
            let deny = if deny.is_empty() { String::new() } else { format!(", where {deny:?} is denied") };
            format!("{access} {path:?}{deny}")
        }
        Question::Shown(text) => format!("{text:?}, as it is shown"),
        Question::Run(arguments) => arguments.join(" "),
    };
    if one.folder.is_empty() { asked } else { format!("{asked}, in {}", one.folder) }
}

#[cfg(test)]
mod tests {
    use super::super::case::{command, read, shown as looks};
    use super::*;

    #[test]
    fn answers_are_read() {
        assert_eq!(of_check(r#"{"command":"ls","decision":"allow"}"#), Some(Strictness::Allow));
        assert_eq!(of_check(r#"{"results":[{"name":"x","decision":"deny"}]}"#), Some(Strictness::Deny));
        assert_eq!(of_check("error: no"), None);
        let lines = "{\"id\":1,\"result\":{\"action\":\"ask\"}}\n{\"id\":0,\"error\":{\"code\":-32603}}\n";
        assert_eq!(of_serve(lines), [(1, Some(Strictness::Ask)), (0, None)]);
    }

    #[test]
    fn questions_are_shown_as_they_are_asked() {
        let rules = "version = 1";
        assert_eq!(
            shown(&command("ls\t").by("zsh").with(rules).below("a")),
            "\"ls\\t\" for zsh, with rules of a user's own, in a"
        );
        assert_eq!(shown(&read("x").with("y/")), "read \"x\", where \"y/\" is denied");
    }

    #[test]
    fn what_hides_a_command_is_seen() {
        let is_hidden = |output| hidden(&looks("x"), output).is_some();
        assert!(!is_hidden("ask\n  | ls \\u{200b}; ./payload\n"));
        assert!(is_hidden("ls \u{200b}; ./payload") && is_hidden("ls \t./payload") && is_hidden("ls …"));
        assert_eq!(hidden(&command("x"), "\t"), None);
    }

    #[test]
    fn an_answer_may_be_stricter_and_never_milder() {
        let is_wrong = |one: Try, answer| wrong(&one, "check", Some(answer)).is_some();
        assert!(!is_wrong(command("x"), Strictness::Sandbox) && !is_wrong(command("x"), Strictness::Deny));
        assert!(
            is_wrong(command("x"), Strictness::Allow) && is_wrong(command("x").denied(), Strictness::Ask)
        );
        assert!(is_wrong(command("x").allowed(), Strictness::Sandbox));
        assert!(wrong(&command("x"), "check", None).is_some());
    }
}
