//! The same commands in one canonical spelling.
//!
//! Running the canonical text instead of the original one closes the gap between judgement and execution: every word
//! is in quotes that all shells read alike, and no expansion remains. It is the same idea as Python's `shlex.quote`
//! and bash's `${x@Q}`, for a whole list of commands instead of one word, and with single quotes only, which POSIX,
//! bash and zsh read alike in every mode.

use std::fmt::Write;

use crate::actions::Arg;
use crate::braces::{arguments, single};
use crate::expansion::is_name;
use crate::grammar::is_reserved;
use crate::options::Shell;
use crate::tree::{
    Assigned, AssignedValue, Command, Item, Join, Kind, List, Marks, Piece, Pipeline, Prefix,
    RedirectOperator, Redirected, Simple, Word,
};

/// Returns the canonical text, when every word is certain.
pub(crate) fn list(list: &List<'_>, shell: Shell) -> Option<String> {
    let mut text = String::new();
    for (index, Item { pipeline, then }) in list.items.iter().enumerate() {
        text.push_str(&self::pipeline(pipeline, shell)?);
        let is_last = index + 1 == list.items.len();
        text.push_str(match then {
            Join::Sequence if is_last => "",
            Join::Sequence => "; ",
            Join::Background if is_last => " &",
            Join::Background => " & ",
            Join::And => " && ",
            Join::Or => " || ",
        });
    }
    Some(text)
}

/// Returns the arguments of a single simple command that needs no shell at all.
pub(crate) fn argv(simple: &Simple<'_>, shell: Shell) -> Option<Vec<String>> {
    if !simple.assignments.is_empty() || !simple.redirects.is_empty() {
        return None;
    }
    let mut argv = Vec::new();
    for word in &simple.words {
        if word.marks.has(Marks::TILDE) {
            return None;
        }
        argv.extend(known(word, shell)?);
    }
    // `{,}` expands to no words at all.
    (!argv.is_empty()).then_some(argv)
}

fn pipeline(pipeline: &Pipeline<'_>, shell: Shell) -> Option<String> {
    let mut text = String::new();
    for prefix in &pipeline.prefixes {
        text.push_str(match prefix {
            Prefix::Not => "! ",
            Prefix::Time => return None,
        });
    }
    let commands: Option<Vec<String>> =
        pipeline.commands.iter().map(|command| self::command(command, shell)).collect();
    text.push_str(&commands?.join(if pipeline.errors_too { return None } else { " | " }));
    Some(text)
}

fn command(command: &Command<'_>, shell: Shell) -> Option<String> {
    let compound = match command {
        Command::Simple(simple) => return self::simple(simple, shell),
        Command::Compound(compound) => compound,
    };
    let mut text = match &compound.kind {
        // `( (` keeps a nested subshell from being read as arithmetic.
        Kind::Subshell(list) => format!("( {} )", self::list(list, shell)?),
        Kind::Group(list) => {
            let inside = self::list(list, shell)?;
            let end = if inside.ends_with('&') { "" } else { ";" };
            format!("{{ {inside}{end} }}")
        }
        _ => return None,
    };
    redirects(&compound.redirects, shell, &mut text)?;
    Some(text)
}

fn simple(simple: &Simple<'_>, shell: Shell) -> Option<String> {
    let mut words = Vec::new();
    for assigned in &simple.assignments {
        words.push(assignment(assigned)?);
    }
    let before = words.len();
    for word in &simple.words {
        match tilde(word)? {
            Some(text) => words.push(text),
            None => words.extend(known(word, shell)?.iter().map(|text| quote(text))),
        }
    }
    if let Some(name) = words.get_mut(before) {
        keep_a_name(name);
    }
    let mut text = words.join(" ");
    redirects(&simple.redirects, shell, &mut text)?;
    let text = text.trim_start();
    // An empty command cannot be written.
    (!text.is_empty()).then(|| text.to_owned())
}

/// In the place of a command a bare word could be a reserved word or an assignment; in quotes it is neither.
fn keep_a_name(name: &mut String) {
    if (is_reserved(name) || name.contains('=')) && !name.starts_with(['\'', '~']) {
        *name = format!("'{name}'");
    }
}

fn assignment(assigned: &Assigned<'_>) -> Option<String> {
    let AssignedValue::Word(word) = &assigned.value else { return None };
    let is_plain = assigned.subscript.is_empty() && !assigned.appends && is_name(&assigned.name);
    if !is_plain || word.marks.has(Marks::TILDE) {
        return None;
    }
    let value = single(word.pieces());
    Some(format!("{}={}", assigned.name, quote(value.known()?)))
}

fn redirects(redirects: &[Redirected<'_>], shell: Shell, text: &mut String) -> Option<()> {
    for redirected in redirects {
        if redirected.heredoc.is_some() {
            return None;
        }
        let target = match (redirected.operator, tilde(&redirected.target)?) {
            (_, Some(target)) => target,
            (RedirectOperator::HereString, None) => quote(single(redirected.target.pieces()).known()?),
            (_, None) => match known(&redirected.target, shell)?.as_slice() {
                [target] => quote(target),
                _ => return None,
            },
        };
        let descriptor = redirected.descriptor.as_deref().unwrap_or_default();
        let copies = matches!(
            redirected.operator,
            RedirectOperator::DuplicateInput | RedirectOperator::DuplicateOutput
        );
        let space = if copies { "" } else { " " };
        write!(text, " {descriptor}{}{space}{target}", redirected.operator.as_str()).ok()?;
    }
    Some(())
}

/// Returns the words that a word becomes, when they are certain.
fn known(word: &Word<'_>, shell: Shell) -> Option<Vec<String>> {
    let mut found = Vec::new();
    arguments(word, shell, &mut found);
    found.iter().map(|arg: &Arg<'_>| arg.known().map(str::to_owned)).collect()
}

/// Returns the spelling of a word that begins with a home directory: `~/` is kept outside the quotes. Refuses every
/// other unquoted tilde, and returns `None` for a word without one.
#[expect(clippy::option_option, reason = "not to be rendered, no tilde, or its spelling")]
fn tilde(word: &Word<'_>) -> Option<Option<String>> {
    if !word.marks.has(Marks::TILDE) {
        return Some(None);
    }
    let arg = single(word.pieces());
    let text = arg.known()?;
    if word.bare().is_some_and(|bare| bare == "~") {
        return Some(Some("~".to_owned()));
    }
    // A quoted slash (`~'/x'`) leaves the tilde as it is.
    let Some(Piece::Bare(start)) = word.pieces().first() else { return None };
    if !start.starts_with("~/") {
        return None;
    }
    let rest = text.strip_prefix("~/")?;
    let is_plain = !rest.contains('~') && !word.marks.has(Marks::GLOB) && !word.marks.has(Marks::BRACE);
    is_plain.then(|| Some(if rest.is_empty() { "~/".to_owned() } else { format!("~/{}", quote(rest)) }))
}

/// Returns `text` so that every shell reads it as exactly this word.
#[must_use]
pub fn quote(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_@%+=:,./-".contains(&byte);
    if !text.is_empty() && !text.starts_with('=') && text.bytes().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Returns a program and its arguments as a line that every shell reads as exactly these words.
///
/// ```
/// assert_eq!(stockade_shell::quote_argv(["git", "commit", "-m", "it's"]), r"git commit -m 'it'\''s'");
/// assert_eq!(stockade_shell::quote_argv(["X=1", "if"]), "'X=1' if");
/// ```
#[must_use]
pub fn quote_argv<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let mut words: Vec<String> = words.into_iter().map(quote).collect();
    if let Some(name) = words.first_mut() {
        keep_a_name(name);
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::quote_argv;
    use crate::{ReadOptions, Script};

    #[test]
    fn a_line_of_quoted_words_is_read_as_these_words() {
        let rows: [&[&str]; 7] = [
            &["git", "status"],
            &["X=1", "rm", "x"],
            &["if", "then", "fi"],
            &["echo", "", "it's", "$(id)", "~", "a\nb", "{a,b}", "*", "=ls", "!x"],
            &["[[", "a", "]]"],
            &["!", "ls"],
            &["./a b", "&&", ";"],
        ];
        for words in rows {
            let line = quote_argv(words.iter().copied());
            let argv = Script::read(&line, &ReadOptions::default()).unwrap().argv();
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            assert_eq!(argv, Some(words), "{line}");
        }
    }

    #[test]
    fn the_canonical_spelling_keeps_the_meaning() {
        let rows = [
            ("git   status", Some("git status")),
            ("r\\m \"-rf\" $'a b'", Some("rm -rf 'a b'")),
            ("a&&b||c;d&", Some("a && b || c; d &")),
            ("echo it\\'s | cat >out 2>&1", Some(r"echo 'it'\''s' | cat > out 2>&1")),
            ("'if' x", Some("'if' x")),
            ("'a=b' x", Some("'a=b' x")),
            ("X=1 make", Some("X=1 make")),
            ("cp {a,b} ~/c", Some("cp a b ~/c")),
            ("echo '~' \"\"", Some("echo '~' ''")),
            ("ls ~/\"a b\"", Some("ls ~/'a b'")),
            ("ls ~/'a b'", Some("ls ~/'a b'")),
            ("ls ~", Some("ls ~")),
            ("ls ~\"\"", None),
            ("ls ~'/x'", None),
            ("~/x=1 y", Some("~/x=1 y")),
            ("~/'a b='", Some("~/'a b='")),
            ("echo $'\\e[m'", None),
            ("((1))", None),
            ("(ls; (pwd)) >f", Some("( ls; ( pwd ) ) > f")),
            ("{ ls & }", Some("{ ls & }")),
            ("! grep -q x f", Some("! grep -q x f")),
            ("ls # list", Some("ls")),
            ("echo $x", None),
            ("ls *", None),
            ("dd if=~/x", None),
            ("cat <<E\nE", None),
            ("ls; {,}", None),
            ("X=1 {,}", Some("X=1")),
        ];
        for (text, expected) in rows {
            let script = Script::read(text, &ReadOptions::default()).unwrap();
            assert_eq!(script.rendered().as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn one_plain_command_needs_no_shell() {
        let argv = |text| Script::read(text, &ReadOptions::default()).unwrap().argv();
        assert_eq!(argv("git 'log' -3"), Some(vec!["git".to_owned(), "log".to_owned(), "-3".to_owned()]));
        assert_eq!(argv("ls ~"), None);
        assert_eq!(argv("ls >f"), None);
        assert_eq!(argv("ls; ls"), None);
        assert_eq!(argv("X=1 ls"), None);
        assert_eq!(argv("{,}"), None);
    }
}
