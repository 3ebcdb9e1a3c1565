//! Nothing becomes milder by adding: every dangerous example beside everything that cannot be read.

use std::sync::LazyLock;

use super::policy::{CommandDefaults, CommandPolicy};
use crate::context::CommandContext;
use crate::hazards::examples;
use crate::rules::effect::{Effect, Layer};
use crate::rules::layer::RuleLayer;
use crate::rules::rule::{CommandPattern, CommandRule};
use stockade_shell::{ReadErrorKind, ReadOptions, Script, Shell, quote};

/// Texts that are not read, with the reason. Most are valid: some shells read them otherwise than others do.
const OBSTACLES: &[(&str, Shell, ReadErrorKind)] = &[
    ("echo \"$(( $(echo 1; echo 2) ))\"", Shell::Bash, ReadErrorKind::ArithmeticSubstitution),
    ("((a) ; b)", Shell::Bash, ReadErrorKind::AmbiguousArithmetic),
    ("echo \"`echo \"a {b}\"`\"", Shell::Bash, ReadErrorKind::QuoteInBackticks),
    ("echo ${}", Shell::Bash, ReadErrorKind::BadExpansion),
    ("echo \"${x:-'$a'}\"", Shell::Bash, ReadErrorKind::QuoteInBraces),
    ("echo $'\\xff'", Shell::Bash, ReadErrorKind::AnsiQuote),
    ("cat <<$x\na\n$x", Shell::Bash, ReadErrorKind::HeredocDelimiter),
    ("echo \"$(cat <<x; id\na\nx\n)\"", Shell::Bash, ReadErrorKind::HeredocInSubstitution),
    ("cat <<x 'a\nb'\nx", Shell::Bash, ReadErrorKind::LineEndBeforeHeredoc),
    ("a[b c]=1", Shell::Bash, ReadErrorKind::AssignmentName),
    ("fi", Shell::Bash, ReadErrorKind::Syntax),
    ("a b )", Shell::Bash, ReadErrorKind::Syntax),
    ("a\u{202e}b", Shell::Bash, ReadErrorKind::DeceptiveCharacter),
    ("a\u{a0}b", Shell::Bash, ReadErrorKind::InvisibleCharacter),
    ("a\r", Shell::Bash, ReadErrorKind::ControlCharacter),
    ("! (a) !(b)", Shell::Sh, ReadErrorKind::Syntax),
    ("[[ a ]]", Shell::Sh, ReadErrorKind::Dialect),
    ("a=(b c)", Shell::Sh, ReadErrorKind::Dialect),
    ("cat =(a)", Shell::Zsh, ReadErrorKind::ZshProcessSubstitution),
    ("cat =ls", Shell::Zsh, ReadErrorKind::ZshEquals),
    ("echo ${(e)x}", Shell::Zsh, ReadErrorKind::ZshEvalFlag),
    ("ls *(e:a:)", Shell::Zsh, ReadErrorKind::ZshGlobQualifier),
    ("repeat 3 a", Shell::Zsh, ReadErrorKind::ZshSyntax),
];

/// Beginnings whose end never comes, which can only stand behind a command.
const OPEN: &[(&str, ReadErrorKind)] = &[
    ("echo \"a", ReadErrorKind::UnterminatedQuote),
    ("echo 'a", ReadErrorKind::UnterminatedQuote),
    ("echo $(a", ReadErrorKind::UnterminatedSubstitution),
    ("echo `a", ReadErrorKind::UnterminatedSubstitution),
    ("echo ${a", ReadErrorKind::UnterminatedExpansion),
    ("cat <<x\na", ReadErrorKind::UnterminatedHeredoc),
    ("if a", ReadErrorKind::UnterminatedCommand),
    ("( a", ReadErrorKind::UnterminatedCommand),
    ("while a; do b", ReadErrorKind::UnterminatedCommand),
    ("case x in y) a", ReadErrorKind::UnterminatedCommand),
    ("a \\", ReadErrorKind::TrailingBackslash),
];

/// More than any limit admits.
fn floods() -> Vec<(String, ReadErrorKind)> {
    vec![
        (format!("# {}\n", "a".repeat(66_000)), ReadErrorKind::TooLong),
        (format!("cat > notes <<'x'\n{}\nx\n", "a b\n".repeat(20_000)), ReadErrorKind::TooLong),
        (":;".repeat(4_200), ReadErrorKind::TooManyCommands),
        (format!("echo{};", " a".repeat(10_500)), ReadErrorKind::TooManyWords),
        (format!("{}:;{}", "{ ".repeat(60), "};".repeat(60)), ReadErrorKind::TooDeep),
        ("echo ${};".repeat(40), ReadErrorKind::BadExpansion),
    ]
}

static POLICY: LazyLock<CommandPolicy> = LazyLock::new(|| {
    let words = ["git".to_owned(), "push".to_owned()].map(|word| vec![word]).to_vec();
    let deny = CommandRule::new("no-push".to_owned(), CommandPattern::Prefix(words), Effect::Deny);
    let user = RuleLayer { layer: Layer::User, rules: vec![deny], overrides: Vec::new() };
    CommandPolicy::compile(vec![user], CommandDefaults::default()).unwrap()
});

fn effect(text: &str, shell: Shell) -> Effect {
    let place = CommandContext::new(Some("/srv/app".into()), Some("/srv/app".into()));
    POLICY.decide(text, &ReadOptions::for_shell(shell), &place).effect
}

/// Every example of a hazard, and what a user denies.
fn dangerous() -> impl Iterator<Item = &'static str> {
    let hazards = examples().into_iter().flat_map(|(_, matches, _)| matches.iter().copied());
    hazards.chain(["git push", "git push origin main"])
}

/// Notes that a text with an obstacle is judged more mildly than the same text with something harmless in its place.
fn collect_milder(milder: &mut Vec<String>, harmless: &str, with: &str, shell: Shell) {
    let (before, after) = (effect(harmless, shell), effect(with, shell));
    if after < before {
        let shown: String = with.chars().take(120).collect();
        milder.push(format!("{before} becomes {after} in {shell:?}: {shown}"));
    }
}

#[test]
fn every_obstacle_is_one() {
    for (text, shell, kind) in OBSTACLES {
        let error = Script::read(text, &ReadOptions::for_shell(*shell)).map(|_| "read").unwrap_err();
        assert_eq!(error.kind, *kind, "{text}");
    }
    for (text, kind) in OPEN {
        assert_eq!(Script::read(text, &ReadOptions::default()).unwrap_err().kind, *kind, "{text}");
    }
    for (text, kind) in floods() {
        assert_eq!(Script::read(&text, &ReadOptions::default()).unwrap_err().kind, kind, "{text:.40}");
    }
}

#[test]
fn every_reason_not_to_read_is_tried() {
    let tried: Vec<ReadErrorKind> = OBSTACLES
        .iter()
        .map(|row| row.2)
        .chain(OPEN.iter().map(|row| row.1))
        .chain(floods().into_iter().map(|row| row.1))
        .collect();
    let missing: Vec<_> = ReadErrorKind::ALL.iter().filter(|kind| !tried.contains(kind)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Joins a command and an obstacle in one of the ways in which they can follow each other. Each pair is tried in one of
/// them, and each way with every obstacle: all of them would take minutes.
fn joined(text: &str, obstacle: &str, way: usize) -> String {
    match way % 6 {
        // What follows the last line of a here-document makes it another line.
        0 if !text.contains('\n') => format!("{text}; {obstacle}"),
        0 | 1 => format!("{text}\n{obstacle}"),
        2 => format!("{obstacle}\n{text}"),
        3 => format!("{obstacle} && {text}"),
        4 => format!("{{ {obstacle}; }}\n{text}"),
        _ => format!("if {text}\nthen {obstacle}\nfi"),
    }
}

#[test]
fn nothing_unread_makes_a_danger_milder() {
    let mut milder = Vec::new();
    for (number, text) in dangerous().enumerate() {
        for (index, (obstacle, shell, _)) in OBSTACLES.iter().enumerate() {
            let [harmless, with] = [":", *obstacle].map(|other| joined(text, other, number + index));
            collect_milder(&mut milder, &harmless, &with, *shell);
        }
        let (open, _) = OPEN[number % OPEN.len()];
        collect_milder(&mut milder, text, &format!("{text}\n{open}"), Shell::Bash);
    }
    assert!(milder.is_empty(), "{} are milder: {:#?}", milder.len(), &milder[..milder.len().min(40)]);
}

#[test]
fn nothing_unread_within_a_text_makes_a_danger_milder() {
    let mut milder = Vec::new();
    for (number, text) in dangerous().enumerate() {
        let (obstacle, shell, _) = &OBSTACLES[number % OBSTACLES.len()];
        let name = match shell {
            Shell::Bash => "bash",
            Shell::Sh => "sh",
            Shell::Zsh => "zsh",
        };
        let [whole, nested] =
            [":", *obstacle].map(|other| format!("{name} -c {}", quote(&format!("{text}\n{other}"))));
        collect_milder(&mut milder, &whole, &nested, *shell);
    }
    assert!(milder.is_empty(), "{} are milder: {:#?}", milder.len(), &milder[..milder.len().min(40)]);
}

#[test]
fn no_flood_makes_a_danger_milder() {
    let mut milder = Vec::new();
    for (flood, _) in floods() {
        // One example of each hazard: reading a flood takes milliseconds.
        for text in examples().into_iter().filter_map(|(_, matches, _)| matches.first().copied()) {
            collect_milder(&mut milder, text, &format!("{text}\n{flood}"), Shell::Bash);
            collect_milder(&mut milder, text, &format!("{flood}\n{text}"), Shell::Bash);
        }
    }
    assert!(milder.is_empty(), "{} are milder: {:#?}", milder.len(), &milder[..milder.len().min(40)]);
}
