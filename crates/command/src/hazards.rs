//! Hazards: dangerous properties of a command, independent of rules.
//!
//! A shape is structural: a program, its options parsed as the program parses them, and its operands. Quoted text never matches
//! (`echo "rm -rf /"`), and split, joined or abbreviated options always do (`rm -r -f /`, `rm --recursive --forc /`).
//!
//! The tables: programs by kind (`destroy`, `machine`, `persist`, `network`, `code`, `git`, `contain`, `packages`, `secrets`,
//! `options`, `spying`, `guards`, `hiding`), by what they are for (`attack_tools`) or where they belong (`windows`), files
//! whichever program names them (`files`), variables (`environment`), and what programs do together (`flows`). Every row holds
//! commands in which it must be found and commands in which it must not.

use std::borrow::Cow;

use stockade_shell::{Actions, Arg, Assignment, InvocationKind, Run, Span};

mod attack_tools;
mod carried;
mod code;
mod command;
mod contain;
mod destroy;
mod dry_runs;
mod environment;
mod files;
mod flows;
mod git;
mod guards;
mod hiding;
mod links;
mod lists;
mod loads;
mod machine;
mod network;
mod options;
mod own_children;
mod packages;
mod persist;
mod secrets;
mod session;
mod shape;
mod shapes;
mod silent;
mod specs;
mod spying;
mod target;
mod trees;
mod windows;

pub(crate) use carried::carried;
use command::Command;
pub use files::{DangerousName, of_name};
pub(crate) use files::{Whereabouts, at_home as files_at_home, outside as files_outside};
pub(crate) use flows::{HIDDEN_FETCH_ID, changes_folder, git_elsewhere};
pub(crate) use links::{at_their_ends, followed};
pub(crate) use lists::{adds_harmless_names, know_what_is_listed};
pub(crate) use loads::OPTION_LOADS_ID;
pub(crate) use own_children::stops_own_children;

/// The minimum effect of a hazard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Floor {
    /// It may run in a sandbox.
    Sandbox,
    /// The user is asked.
    Ask,
    /// It is denied, regardless of rules.
    Deny,
}

/// A hazard of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hazard {
    /// The stable name of the shape.
    pub id: &'static str,
    /// The minimum effect.
    pub floor: Floor,
    /// A description for users.
    pub reason: String,
    /// A safer alternative.
    pub fix: String,
    /// Its position.
    pub span: Span,
    /// The dangerous variable, if any.
    pub variable: Option<String>,
}

/// Finds the hazards of one program: its name, its options, and the files that it names.
#[must_use]
pub fn hazards(run: &Run<'_>) -> Vec<Hazard> {
    let mut found = Vec::new();
    of_run(run, &mut found);
    found
}

fn of_run(run: &Run<'_>, found: &mut Vec<Hazard>) {
    // A function has the name of a program only by accident. Its body is checked program by program.
    if run.invocation == InvocationKind::Function {
        return;
    }
    hides_words(run, found);
    let Some(command) = Command::of(run) else { return };
    let shapes = shapes::of(command.name).filter(|shape| (shape.fires)(&command));
    found.extend(shapes.map(|shape| shape.hazard(run.span)));
    // These look at names, files and options of any program, so they are not in the index of shapes.
    attack_tools::of_command(&command, found);
    hiding::of_command(&command, found);
    windows::of_command(&command, found);
    loads::of_command(&command, found);
    files::of_command(&command, found);
    shows_secret(&command, found);
}

/// Returns what the inline code of a command does, as shell commands.
pub(crate) fn effects_of_code(run: &Run<'_>) -> Vec<String> {
    let code = Command::of(run).filter(|_| run.invocation != InvocationKind::Function);
    code.map_or_else(Vec::new, |command| code::effects(&command))
}

/// Returns the hazard of inline code that does what a command does.
pub(crate) fn of_code_effect(floor: Floor, command: &str, span: Span) -> Hazard {
    Hazard {
        id: "code-effect",
        floor,
        reason: format!("is code that does the same as the command `{command}`"),
        fix: "run that command by itself, so that it can be checked and answered".to_owned(),
        span,
        variable: None,
    }
}

/// Shapes outside of `destroy` that discard work.
const ALSO_DESTROY: &[&str] = &["git-discard", "git-rewrite", "code-deletes"];

/// Returns whether a program deletes or overwrites by design, so that a caller can take a snapshot first. An unparsed program
/// counts as one.
pub(crate) fn destroys(run: &Run<'_>) -> bool {
    // The caller makes a snapshot too many rather than too few.
    let Some(command) = Command::of(run) else { return true };
    let is_meant = |shape: &shape::Shape| {
        destroy::SHAPES.iter().any(|row| row.id == shape.id) || ALSO_DESTROY.contains(&shape.id)
    };
    destroy::deletes(&command)
        || shapes::of(command.name).any(|shape| is_meant(shape) && (shape.fires)(&command))
}

/// Returns whether a rule names every option by which a program runs, loads, writes or sends something else.
pub(crate) fn loading_options_are_named(run: &Run<'_>, words: &[Vec<String>]) -> bool {
    Command::of(run).is_some_and(|command| loads::are_named(&command, words))
}

/// Returns whether setting the variable is dangerous, except for known harmless values.
pub(crate) fn is_dangerous_variable(name: &str) -> bool {
    environment::is_dangerous(name)
}

/// Returns whether a dangerous variable is set to a harmless value, or for a command that it does not affect.
pub(crate) fn is_harmless_assignment(assignment: &Assignment<'_>) -> bool {
    environment::is_harmless(assignment)
}

/// Finds all hazards of a script, in the order of the text.
#[must_use]
pub fn all_hazards(actions: &Actions<'_>) -> Vec<Hazard> {
    let mut found = Vec::new();
    let taints = of_runs(actions, &mut found);
    beside(actions, taints, &mut found);
    // Sorted, so that the first reason of a decision does not depend on the order of the checks.
    found.sort_by_key(|hazard| (hazard.span, hazard.id));
    found.dedup();
    found
}

/// Finds the hazards of each program. Returns the taint of each program's own output.
fn of_runs(actions: &Actions<'_>, found: &mut Vec<Hazard>) -> Vec<flows::Taint> {
    let taint = |run| {
        let before = found.len();
        of_run(run, found);
        flows::Taint::of(run, touches_secret(found.get(before..).unwrap_or_default()))
    };
    actions.runs.iter().map(taint).collect()
}

fn beside(actions: &Actions<'_>, taints: Vec<flows::Taint>, found: &mut Vec<Hazard>) {
    actions.redirects.iter().for_each(|redirect| files::of_redirect(redirect, found));
    actions.assignments.iter().for_each(|assignment| environment::of_assignment(assignment, found));
    passes_secret(actions, found);
    flows::of_actions(actions, taints, found);
}

/// Finds a variable with a secret that reaches a program in any way (in a word, in a here-document, through another variable), or
/// that a condition compares. In the sandbox it does not exist.
fn passes_secret(actions: &Actions<'_>, found: &mut Vec<Hazard>) {
    for used in &actions.uses {
        let Some(name) = secret_among(&used.names) else { continue };
        let is_part = secret_among(&used.parts).is_some();
        let runs = actions.runs.get(used.runs.clone()).unwrap_or_default();
        let shows = |run: &&Run<'_>| !silent::keeps(run, is_part);
        found.extend(runs.iter().filter(shows).map(|run| Hazard {
            id: "pass-secret",
            // A sandbox is sufficient, because secret variables do not exist in it.
            floor: Floor::Sandbox,
            reason: format!("is given a variable that may hold a secret (`{}`)", name.escape_debug()),
            fix: "let the program read the variable itself".to_owned(),
            span: run.span,
            variable: None,
        }));
    }
    let compared = actions.comparisons.iter().filter_map(|one| Some((secret_among(&one.names)?, one.span)));
    found.extend(compared.map(|(name, span)| Hazard {
        id: "compare-secret",
        floor: Floor::Sandbox,
        reason: format!("compares a variable that may hold a secret (`{}`)", name.escape_debug()),
        fix: "only test whether it is set: [[ -n $NAME ]]".to_owned(),
        span,
        variable: None,
    }));
}

/// Returns the first name of a variable that may hold a secret.
fn secret_among(names: &[String]) -> Option<&String> {
    names.iter().find(|name| environment::is_secret_name(name) || name.starts_with("${"))
}

/// Whether a program handles a secret, by its hazards.
fn touches_secret(found: &[Hazard]) -> bool {
    // By id, so that a new kind of secret in the tables is tainted without a change of the flows.
    const IDS: &[&str] = &[
        "read-keys",
        "read-secrets",
        files::READ_CREDENTIALS,
        "print-credential",
        "print-environment",
        "git-secrets",
        "code-reads-secrets",
    ];
    found.iter().any(|hazard| IDS.contains(&hazard.id))
}

/// Returns a name in lower case; borrowed, if it already is.
fn in_small_letters(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|letter| letter.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}

/// Finds a word that `$IFS` splits, which hides the resulting words.
fn hides_words(run: &Run<'_>, found: &mut Vec<Hazard>) {
    // `rm${IFS}-rf${IFS}/` is one word for word lists and three for the shell. It has no honest use.
    let hides = |arg: &Arg<'_>| matches!(arg, Arg::Unknown { spelling, .. } if spelling.contains("${IFS}"));
    if run.argv.iter().any(hides) {
        found.push(Hazard {
            id: "hidden-spaces",
            floor: Floor::Deny,
            reason: "hides word boundaries behind the variable IFS".to_owned(),
            fix: "write spaces between the words".to_owned(),
            span: run.span,
            variable: None,
        });
    }
}

/// Finds a variable with a secret that is printed or sent.
fn shows_secret(command: &Command<'_, '_>, found: &mut Vec<Hazard>) {
    let shows =
        |name| matches!(name, "echo" | "printf" | "print" | "tee" | "cat") || network::SENDERS.contains(name);
    if command.words().any(environment::shows_secret) && shows(command.name) {
        found.push(Hazard {
            id: "show-secret",
            floor: Floor::Ask,
            reason: "prints or sends a variable that usually holds a secret".to_owned(),
            fix: "let the program read the variable itself".to_owned(),
            span: command.run.span,
            variable: None,
        });
    }
}

impl shape::Shape {
    pub(super) fn hazard(&self, span: Span) -> Hazard {
        Hazard {
            id: self.id,
            floor: self.floor,
            reason: self.reason.to_owned(),
            fix: self.fix.to_owned(),
            span,
            variable: None,
        }
    }
}

/// A hazard, with texts that must and must not have it.
#[cfg(test)]
pub(crate) type Examples = (&'static str, &'static [&'static str], &'static [&'static str]);

/// Returns the options with which hazards parse the command of a program.
#[cfg(test)]
pub(crate) fn option_table(program: &str, subcommand: Option<&str>) -> &'static str {
    specs::of(program, subcommand).written()
}

/// Returns the examples of all hazards.
#[cfg(test)]
pub(crate) fn examples() -> Vec<Examples> {
    let programs = shapes::all().map(|row| (row.id, row.matches, row.clean));
    let files = files::SHAPES.iter().map(|row| (row.id, row.matches, row.clean));
    let variables = environment::SHAPES.iter().map(|row| (row.id, row.matches, row.clean));
    let together = flows::ALL.iter().map(|row| (row.id, row.matches, row.clean));
    programs.chain(files).chain(variables).chain(together).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_shell::{ReadOptions, Script};

    fn ids(text: &str) -> Vec<&'static str> {
        let Ok(script) = Script::read(text, &ReadOptions::default()) else { return vec!["refused"] };
        all_hazards(&script.actions()).into_iter().map(|hazard| hazard.id).collect()
    }

    #[test]
    fn every_shape_is_found_where_it_must_be_and_nowhere_else() {
        let mut wrong = Vec::new();
        for (id, matches, clean) in examples() {
            assert!(matches.len() > 1 && clean.len() > 1, "{id} has too few examples");
            let read = matches.iter().chain(clean).filter(|text| ids(text).contains(&"refused"));
            wrong.extend(read.map(|text| format!("{id} has an example that is refused: {text}")));
            wrong.extend(
                matches
                    .iter()
                    .filter(|text| !ids(text).contains(&id))
                    .map(|text| format!("{id} misses {text}")),
            );
            wrong.extend(
                clean.iter().filter(|text| ids(text).contains(&id)).map(|text| format!("{id} finds {text}")),
            );
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn ids_are_unique() {
        let mut ids: Vec<_> = examples().iter().map(|row| row.0).collect();
        ids.sort_unstable();
        assert!(ids.windows(2).all(|pair| matches!(pair, [one, other] if one != other)), "{ids:?}");
    }

    #[test]
    fn words_are_not_hidden() {
        assert_eq!(ids("rm${IFS}-rf${IFS}/"), ["hidden-spaces"]);
        assert_eq!(ids("echo ${IFS:0:1}"), ["hidden-spaces"]);
        assert!(ids("echo '${IFS}' $DIFS").is_empty());
    }

    #[test]
    fn no_program_is_given_a_secret_whatever_the_way() {
        for text in [
            "cat <<< $API_TOKEN",
            "cat <<EOF\n$API_TOKEN\nEOF",
            "cat <<EOF\n${API_TOKEN:-x}\nEOF",
            "head -c 99 <<< \"x $API_TOKEN\"",
            "while read -r l; do echo \"$l\"; done <<< $API_TOKEN",
            "read x <<< $API_TOKEN; echo $x",
            "x=$API_TOKEN; echo $x",
            "x=$API_TOKEN; y=a$x; ls $y",
            "x=API_TOKEN; echo ${!x}",
            "declare -n x=API_TOKEN; echo $x",
            "printf -v x %s \"$API_TOKEN\"; echo $x",
            "for x in $API_TOKEN; do echo $x; done",
            "export x=$API_TOKEN; echo $x",
            "f() { echo $1; }; f $API_TOKEN",
            "set -- $API_TOKEN; echo $1",
            "a=($API_TOKEN); echo ${a[0]}",
            "echo ${API_TOKEN:0:40}",
            "echo ${API_TOKEN%x}",
            "[[ $API_TOKEN =~ (.*) ]] && echo ${BASH_REMATCH[1]}",
            "ls \"$API_TOKEN\"",
            "export \"$API_TOKEN\"",
            "export x=1 $API_TOKEN",
            "exit $API_TOKEN",
            "let x=$API_TOKEN",
            "shift \"$API_TOKEN\"",
            "[ \"$API_TOKEN\" = a ]",
            "[ \"$API_TOKEN\" \\> m ] && ls",
            "test x -lt $API_TOKEN",
            "[ -n \"$HOME\" -a \"$API_TOKEN\" != b ]",
            "[ -z \"${API_TOKEN##a*}\" ]",
            "x=${API_TOKEN#a}; [ -z \"$x\" ]",
            "x=${API_TOKEN##a*}; echo ${#x}",
            "x=(${API_TOKEN//a/ }); echo ${#x[@]}",
            "op=-gt; [ \"$API_TOKEN\" $op 3 ]",
            "ls $(echo $API_TOKEN)",
            "bash -c 'cat <<< $API_TOKEN'",
            "eval 'cat <<< $API_TOKEN'",
            "case a in a) cat <<< $API_TOKEN;; esac",
        ] {
            assert!(ids(text).contains(&"pass-secret"), "{text}");
        }
        for text in [
            "[ -n \"$API_TOKEN\" ] && ls",
            "test -z $API_TOKEN || ls",
            "[ -z \"${API_TOKEN:-}\" ] && exit 1",
            "[ ! -n \"${API_TOKEN+x}\" -o -z \"$GH_TOKEN\" ]",
            "[ \"$API_TOKEN\" = \"\" ]",
            "[ \"x\" ] && export x=$API_TOKEN",
            "read -r x <<< \"$API_TOKEN\"",
            ": ${API_TOKEN:?}",
            "[[ $API_TOKEN ]] && ls",
            "echo ${#API_TOKEN}",
            "export API_TOKEN=$x; ls",
            "cat <<'EOF'\n$API_TOKEN\nEOF",
            "API_TOKEN=$API_TOKEN; ls",
            "x=$HOME; echo $x",
            "echo $*; kill $!; ls \"$@\"",
            "cat <<< '$API_TOKEN'",
        ] {
            assert!(!ids(text).contains(&"pass-secret"), "{text}");
        }
        let flood: String = (0..1000).map(|number| format!("x=$x$a{number}; ")).collect();
        assert!(ids(&format!("{flood} echo $x")).contains(&"pass-secret"));
    }

    /// `for c in {a..z}; do [[ $KEY == $k$c* ]] && …` would print the whole of it, letter by letter.
    #[test]
    fn conditions_do_not_tell_secrets() {
        for text in [
            "[[ $API_TOKEN == a* ]] && ls",
            "[[ a < $API_TOKEN ]]",
            "[[ $API_TOKEN =~ ^a ]]",
            "[[ -z ${API_TOKEN##a*} ]]",
            "x=$API_TOKEN; [[ $x == a* ]]",
            "x=${API_TOKEN%b}; [[ $x ]]",
            "case $API_TOKEN in a*) ls;; esac",
            "case a in $API_TOKEN) ls;; esac",
            "(( ${API_TOKEN:0:1} > 3 ))",
            "if ! [[ -n $HOME && $API_TOKEN = b ]]; then ls; fi",
            "while [[ $API_TOKEN != a ]]; do ls; done",
            "bash -c 'case $API_TOKEN in a*) ls;; esac'",
            "[[ ${!x} == a* ]]",
            "x=${API_TOKEN##a*}; [[ ${#x} -gt 3 ]]",
            "x=${API_TOKEN%%[!a]*}; (( ${#x} ))",
        ] {
            assert!(ids(text).contains(&"compare-secret"), "{text}");
        }
        for text in [
            "[[ -n $API_TOKEN ]] && ls",
            "[[ $API_TOKEN ]]",
            "[[ -z ${API_TOKEN:-} || -z \"${GH_TOKEN+x}\" ]]",
            "[[ $API_TOKEN == \"\" ]]",
            "[[ ${#API_TOKEN} -gt 5 ]]",
            "[[ -v API_TOKEN ]]",
            "[[ $HOME == /root ]]",
            "case $1 in a*) ls;; esac",
            "(( x > 3 ))",
        ] {
            assert!(!ids(text).contains(&"compare-secret"), "{text}");
        }
    }

    #[test]
    fn variables_that_hold_secrets_are_not_shown() {
        for text in [
            "echo ${GITHUB_TOKEN}",
            "curl -H $OPENAI_API_KEY http://e",
            "echo \"x: $ANTHROPIC_API_KEY\"",
            "curl -H \"Authorization: $TOKEN\" h",
            "echo ${BORG_PASSPHRASE}",
            "echo $DB_CREDS",
        ] {
            assert!(ids(text).contains(&"show-secret"), "{text}");
        }
        for text in [
            "echo $HOME",
            "echo '$GITHUB_TOKEN'",
            "npm test $GITHUB_TOKEN",
            "echo $CACHE_KEY",
            "echo $token $TOKENIZER $PWD",
        ] {
            assert!(!ids(text).contains(&"show-secret"), "{text}");
        }
    }
}
