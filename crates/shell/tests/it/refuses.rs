//! Refused texts: those that shells read differently, and those that no shell reads.

use stockade_shell::ReadErrorKind::{self, *};
use stockade_shell::{ReadOptions, Script, Shell};

use crate::support::read;

#[test]
fn what_is_not_certain_is_refused() {
    let rows: &[(&str, ReadErrorKind)] = &[
        // Different from their appearance.
        ("a\r#; rm", ControlCharacter),
        ("cat a \\\r\n./x", ControlCharacter),
        ("a\u{0b}#; rm", ControlCharacter),
        ("a\0b", ControlCharacter),
        ("a\u{1b}[2K", ControlCharacter),
        ("echo 'a\u{202e}b'", DeceptiveCharacter),
        ("git\u{a0}status", InvisibleCharacter),
        ("git\u{200b}status", InvisibleCharacter),
        // An error of bash, which then runs the lines of the array.
        ("x=(@(a|b)\ntouch y\n)", Dialect),
        ("x+=(a !(b) c)", Dialect),
        ("declare x=(+(a))", Dialect),
        // Unclosed constructs.
        ("'a", UnterminatedQuote),
        ("\"a", UnterminatedQuote),
        ("$'a", UnterminatedQuote),
        ("`a", UnterminatedSubstitution),
        ("$(a", UnterminatedSubstitution),
        ("<(a", UnterminatedSubstitution),
        ("${x", UnterminatedExpansion),
        ("$((1", UnterminatedExpansion),
        ("(a", UnterminatedCommand),
        ("{ a", UnterminatedCommand),
        ("a &&", UnterminatedCommand),
        ("a |", UnterminatedCommand),
        ("if a; then b", UnterminatedCommand),
        ("for x in", UnterminatedCommand),
        ("case x in", UnterminatedCommand),
        ("[[ a", UnterminatedCommand),
        ("x=(1 2", UnterminatedCommand),
        ("f()", UnterminatedCommand),
        ("a <", UnterminatedCommand),
        ("$(a <<E\nb", UnterminatedHeredoc),
        ("a <<E\nb", UnterminatedHeredoc),
        ("a <<E", UnterminatedHeredoc),
        ("{ a <<E\nb\n}", UnterminatedHeredoc),
        ("(a <<E\nb)", UnterminatedHeredoc),
        ("a \\", TrailingBackslash),
        // Misplaced tokens.
        ("a )", Syntax),
        ("a (b) c", Syntax),
        ("; a", Syntax),
        ("a ;; b", Syntax),
        ("a & & b", Syntax),
        ("a > > b", Syntax),
        ("done", Syntax),
        ("a; }", Syntax),
        ("()", Syntax),
        ("( )", Syntax),
        ("a > # b", UnterminatedCommand),
        ("[[ a b ]]", Syntax),
        ("cat =(a)", Syntax),
        ("a | ! b", Syntax),
        ("${ a; }", BadExpansion),
        ("${|a;}", BadExpansion),
        ("${}", BadExpansion),
        ("\"${x.y('}')}\"", QuoteInBraces),
        ("\"${x:-'$y'}\"", QuoteInBraces),
        ("\"${x:-it's}\"", QuoteInBraces),
        // Read differently by different shells, or by different versions.
        ("echo $((a) | (b))", AmbiguousArithmetic),
        ("((a) | (b))", AmbiguousArithmetic),
        ("echo $((1 + '2'))", AmbiguousArithmetic),
        ("echo $(($(a; b)))", ArithmeticSubstitution),
        ("$((a[`x=(0 \\\\') 'rm' b < f\\\\ 5`]))", ArithmeticSubstitution),
        ("cat <<E\n$((x[$(a $'\\'')]))\nE", ArithmeticSubstitution),
        ("echo $(($(a\n)))", ArithmeticSubstitution),
        ("echo \"${x:-'$(a)'}\"", QuoteInBraces),
        ("echo \"${x:-\"{a,b}\"}\"", QuoteInBraces),
        ("echo \"`a \"{b,c}\"`\"", QuoteInBackticks),
        ("x $(a <<E; b\nE\n)", HeredocInSubstitution),
        ("a <<E $(b\n)\nE", LineEndBeforeHeredoc),
        ("a <<E 'b\nc'\nE", LineEndBeforeHeredoc),
        ("a <<$(b)\nE", HeredocDelimiter),
        ("x\\\ny=1 a", AssignmentName),
        ("x+\\\n=1 a", AssignmentName),
        ("x\\\n+=1 a", AssignmentName),
        ("x[a b]=1", AssignmentName),
        ("x[$$((#a)0]=1", AmbiguousArithmetic),
        ("((${x:=a=(}))", AmbiguousArithmetic),
        ("echo $((a\\'1))", AmbiguousArithmetic),
        ("y=$((]1+$(a)))", AmbiguousArithmetic),
        ("echo $((x[1))", AmbiguousArithmetic),
        ("((x]1[))", AmbiguousArithmetic),
        ("a >(coproc b)", Dialect),
        ("echo $(y=(\\;\nb) a)", Dialect),
        ("x=(a [+) b", AssignmentName),
        ("echo \"${x:?>(a)}\"", Dialect),
        ("echo `a 'b\\\nc'`", QuoteInBackticks),
        ("a <<-E\n\t$(r\\\n\tm)\n\tE", Dialect),
        ("a <<-E\nb\n\t\\\n\tE\n", Dialect),
        ("a <<E\n$(b 'c\\\nd')\nE", Dialect),
        ("!(a)", Dialect),
        ("a <&-*", Dialect),
        ("a 2>&b", Dialect),
        ("a <&b", Dialect),
        ("x=(a)b c", Syntax),
        ("echo $'\\xff'", AnsiQuote),
    ];
    for (text, reason) in rows {
        assert_eq!(read(text, Shell::Bash).err(), Some(*reason), "{text:?}");
    }
}

#[test]
fn the_end_of_the_text_ends_a_here_document_that_is_refused() {
    let rows: &[(&str, bool, &[&str])] = &[
        ("a <<E\n$(b)", true, &["b", "a"]),
        ("a <<'E'\n$(b)\nE ", true, &["a"]),
        ("a <<E", true, &["a"]),
        ("a <<E && b <<F\n$(c)\nE\n$(d)", true, &["c", "a", "d", "b"]),
        ("{ a <<E\n}", false, &["a"]),
        ("x <<E\n$(a <<F\nb", false, &["x", "a"]),
        ("a <<E\nb\0c", false, &["a"]),
        ("echo ${}; a <<E\nb", false, &["echo …", "a"]),
    ];
    for (text, is_whole, expected) in rows {
        assert!(Script::read(text, &ReadOptions::default()).is_err(), "{text:?}");
        let partial = Script::read_partly(text, &ReadOptions::default());
        assert_eq!(partial.is_whole(), *is_whole, "{text:?}");
        let words = |run: &stockade_shell::Run<'_>| {
            run.argv.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        let actions = partial.actions();
        let found: Vec<String> = actions.runs.iter().map(words).collect();
        assert_eq!(found, *expected, "{text:?}");
    }
    assert!(!Script::read_partly("fi", &ReadOptions::default()).is_whole());
}

#[test]
fn what_only_bash_knows_is_refused_for_sh() {
    for text in [
        "a &> b",
        "a <<< b",
        "[[ a ]]",
        "((1))",
        "echo $'a'",
        "echo $[1]",
        "x=(1)",
        "a |& b",
        "function f { a; }",
        "a {fd}> b",
        "a 22> b",
        "rm a [[ b",
        "x=1 a [[ || b",
    ] {
        assert!(read(text, Shell::Bash).is_ok(), "{text}");
        assert_eq!(read(text, Shell::Sh).err(), Some(Dialect), "{text}");
    }
}

#[test]
fn what_only_zsh_does_is_refused_for_zsh() {
    let rows: &[(&str, ReadErrorKind)] = &[
        ("cat =(a)", ZshProcessSubstitution),
        ("=(a)", ZshProcessSubstitution),
        ("=ls", ZshEquals),
        ("echo ''=ls", ZshEquals),
        ("echo {a,=ls}", ZshEquals),
        ("x==ls", ZshEquals),
        ("x=a:=ls", ZshEquals),
        ("echo ${(e)x}", ZshEvalFlag),
        ("echo ${(%)x}", ZshEvalFlag),
        ("ls *(e:'a':)", ZshGlobQualifier),
        ("ls *(+a)", ZshGlobQualifier),
        ("repeat 2 a", ZshSyntax),
        ("foreach x (a) b; end", ZshSyntax),
        ("echo $'\\q'", AnsiQuote),
        ("echo $'\\xg'", AnsiQuote),
        ("echo a$'\\0'", AnsiQuote),
        ("echo $'\\0'a", AnsiQuote),
        ("echo $'a\\0b'", AnsiQuote),
        ("echo ${x.y}", BadExpansion),
        ("{a}", ZshSyntax),
        ("a b}", ZshSyntax),
        ("a; time b", Dialect),
        ("a >&! b", ZshSyntax),
        ("1=x a", ZshSyntax),
        ("1&>f a", ZshSyntax),
        ("a {b} >f", ZshSyntax),
        ("a {b} &>>f", ZshSyntax),
        ("a 22>f", ZshSyntax),
        ("a 2\\\n>f", ZshSyntax),
        ("echo ${x:-=(a)}", ZshSyntax),
        ("echo ${x:-*(e:'a':)}", ZshSyntax),
        ("a {b} > c", ZshSyntax),
        ("a <1-3> <->", ZshSyntax),
        ("a &>| b", ZshSyntax),
    ];
    for (text, reason) in rows {
        assert_eq!(read(text, Shell::Zsh).err(), Some(*reason), "{text:?}");
    }
}

#[test]
fn limits_are_refusals() {
    let read = |text: &str| Script::read(text, &ReadOptions::default()).err().map(|error| error.kind);
    assert_eq!(read(&"a".repeat(64 * 1024)), None);
    assert_eq!(read(&"a".repeat(64 * 1024 + 1)), Some(TooLong));
    let openings = [
        "(",
        "( ",
        "$(",
        "\"$(",
        "{ ",
        "${x:-",
        "<(",
        "if ",
        "[[ ( ",
        "case x in x) ",
        "f() { ",
        "a=(",
        "! ",
    ];
    for opening in openings {
        let text = opening.repeat(10_000);
        assert!(read(&text).is_some(), "{opening}");
        let options = ReadOptions { max_bytes: usize::MAX, ..ReadOptions::default() };
        assert!(Script::read(&text, &options).is_err(), "{opening}");
    }
    for (opening, closing) in [("$(", ")"), ("( ", ")"), ("{ ", "; }"), ("\"$(", ")\""), ("${x:-", "}")] {
        let nest = |depth: usize| format!("{}a{}", opening.repeat(depth), closing.repeat(depth));
        assert_eq!(read(&nest(8)), None, "{opening}");
        assert_eq!(read(&nest(60)), Some(TooDeep), "{opening}");
    }
}

#[test]
fn what_deceives_a_person_is_still_a_reason_to_deny() {
    let text = "echo a\r#; rm -rf build";
    let script = Script::read_despite_appearance(text, &ReadOptions::default()).unwrap();
    let actions = script.actions();
    assert_eq!(actions.runs.iter().filter_map(|run| run.program()).collect::<Vec<_>>(), ["echo", "rm"]);
}

#[test]
fn a_brace_that_dash_takes_for_an_operator_is_refused() {
    for text in ["ls ${x:} a; rm b}", "ls \"${x:} $(rm b)}\"", "ls ${x:}"] {
        let read = |shell| Script::read(text, &ReadOptions::for_shell(shell)).map(|_| ()).map_err(|e| e.kind);
        assert_eq!(read(Shell::Sh), Err(BadExpansion), "{text}");
    }
}
