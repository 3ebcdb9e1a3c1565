//! How bash, sh and zsh read a text: quotes, expansions, here-documents, compound commands.

use stockade_shell::{Shell, WordCount};

use crate::support::{read, runs, runs_in};

#[test]
fn a_file_that_is_the_standard_input_by_another_name_is_read() {
    for file in [
        "/dev/stdin",
        "/dev//stdin",
        "/dev/./fd/0",
        "/proc/self/fd/0",
        "/proc/self/../7/fd/0",
        "/dev$x/stdin",
        "$x",
    ] {
        for program in [".", "source", "bash"] {
            let text = format!("{program} {file} <<E\nrm n\nE\n");
            assert!(runs(&text).iter().any(|run| run == "rm n"), "{text}");
        }
    }
    assert!(!runs("bash ./x <<E\nrm n\nE\n").iter().any(|run| run == "rm n"));
}

#[test]
fn every_command_of_a_text_is_listed() {
    let rows: &[(&str, &[&str])] = &[
        // Lists and pipelines.
        ("a;b\nc&d&&e||f", &["a", "b", "c", "d", "e", "f"]),
        ("a | b |& c", &["a", "b", "c"]),
        ("! a; time -p b; time -v", &["a", "b", "-v"]),
        ("time -p>f a; time -p -->f b; time -p\\\n c; time -p(d)", &["a", "b", "c", "d"]),
        ("time -p-- a; time -p'' b; timeout 5${x:- r m} c", &["-p-- a", "-p b", "timeout 5… c", "…", "c"]),
        ("a | time b", &["a", "b", "time b"]),
        ("a # b\nc", &["a", "c"]),
        // A reserved word straight after the end of a compound command.
        ("if (a) then b; fi; for i in 1; do (c) done", &["a", "b", "c"]),
        ("{ while a; do b; done }; f() { (c) }; if [[ x ]] then d; fi", &["a", "b", "c", "d"]),
        ("for i in 1; do if a; then b; fi done; if a | (b) then c; fi", &["a", "b", "a", "b", "c"]),
        ("case x in x) { a; } esac", &["a"]),
        ("a#b; #c $(d)\ne", &["a#b", "e"]),
        ("", &[]),
        // Quotes.
        ("r\"\"m 'a b' \"c d\" e\\ f", &["rm a b c d e f"]),
        ("$'\\162\\155' $'it\\'s' $\"x\"", &["rm it's x"]),
        ("echo '$(a)' \"\\$(b)\" \\$\\(c\\)", &["echo $(a) $(b) $(c)"]),
        ("echo $'\\'' $(a) ''", &["a", "echo ' … "]),
        ("read -d $'\\0' x; a$'\\0'b $'c\\x00d'e", &["read -d  x", "ab ce"]),
        ("r\\\nm x\\\ny", &["rm xy"]),
        ("a {f\\\n}>x b 1\\\n2>x c", &["a b c"]),
        ("echo $\\\n(a)", &["a", "echo …"]),
        ("echo \"$\\\n(a)\"", &["a", "echo …"]),
        // Substitutions.
        ("echo $(a $(b `c`))", &["c", "b …", "a …", "echo …"]),
        ("echo \"`a \\`b\\``\"", &["b", "a …", "echo …"]),
        ("a <(b) >(c) x<(d)", &["b", "c", "d", "a … … x…"]),
        ("echo ${x:-$(a)} \"${x:-\"$(b)\"}\" ${x/y/`c`}", &["a", "b", "c", "echo … … …"]),
        ("echo ${x:-'$(a)'}", &["echo …"]),
        ("echo $((1+$(a))) $[`b`]", &["a", "b", "echo … …"]),
        ("((x = $(a)))", &["a"]),
        ("(( $(a \"b > c\" | d) ))", &["a b > c", "d"]),
        ("x=$(a) y=(`b` <(c)) z[$(d)]=1 e", &["a", "b", "c", "d", "e"]),
        ("echo \"${x:-\\$(a)}\" '`b`'", &["echo … `b`"]),
        ("echo \"${x:-'a b'}${x#'c'}$(d)\"", &["d", "echo …"]),
        // Errors that bash reports as bad substitutions.
        ("echo \"${x.y$(a)}\" ${x[\"k\"].m(`b`):.2f} ${x y}", &["a", "b", "echo … … …"]),
        // Here-documents.
        ("a <<E\n$(b) 'c' `d`\nE\ne", &["b", "d", "a", "e"]),
        ("a <<'E'\n$(b)\nE\nc", &["a", "c"]),
        ("a <<-E\n\t$(b)\n\tE\nc", &["b", "a", "c"]),
        ("a <<'E' <<F && b\n$(x)\nE\n$(c)\nF", &["c", "a", "b"]),
        ("a <<E\nE \n$(b)\nE", &["b", "a"]),
        ("a <<E\\\nOF\n$(b)\nEOF", &["b", "a"]),
        ("a <<E\nE\\\n\nb\nE", &["a", "b", "E"]),
        ("a <<< \"$(b)\"", &["b", "a"]),
        // Compound commands.
        ("if a; then b; elif c; then d; else e; fi", &["a", "b", "c", "d", "e"]),
        ("while a; do b; done; until c\ndo d; done", &["a", "b", "c", "d"]),
        ("for x in $(a) b; do c; done; for x do d; done", &["a", "c", "d"]),
        ("for ((i=$(a);;)); do b; done", &["a", "b"]),
        ("case $(a) in (x|$(b)) c;; y) d;& *) e;;& esac", &["a", "b", "c", "d", "e"]),
        ("(a; (b)); { c; }; ( (d) )", &["a", "b", "c", "d"]),
        ("[[ -n $(a) && ( x =~ ^(b|c d)$ || `e` == @(f|g) ) ]]", &["a", "e"]),
        ("coproc a; coproc N { b; }", &["a", "b"]),
        ("f() { a; }; function g { b; }; function h() (c)", &["a", "b", "c"]),
        // Words.
        ("r{m,} {1..3} a{b,{c,d}}e {x} {} {,}", &["rm r 1 2 3 abe ace ade {x} {}"]),
        ("a {'b,c',d} {a\\,b} x{", &["a b,c d {a,b} x{"]),
        ("a {b}c,d}", &["a …"]),
        ("a {b,c${x:-d{}}", &["a …"]),
        ("a {b,c}${x}", &["a b… c…"]),
        ("a <<E\nb\\\nc\nE\nx=(\\; b)", &["a"]),
        ("ls * a[0] [ ~/x", &["ls … a… [ ~/x"]),
        // Patterns in parentheses, where `shopt -s extglob` enables them. Elsewhere nothing on their line runs.
        ("ls !(*.md) x@(a|$(b)|'c d')y", &["b", "ls … … x…"]),
        ("case x in @(a|b)) c;; +([0-9])) d;; esac; for x in ?(y z); do e; done", &["c", "d", "e"]),
        ("a@() { b; }", &["b"]),
        ("$x; \"$x\"; a$x", &["…", "…", "a…"]),
    ];
    for (text, expected) in rows {
        let found: Vec<String> = runs(text).iter().map(|line| line.trim_end().to_owned()).collect();
        let expected: Vec<&str> = expected.iter().map(|line| line.trim_end()).collect();
        let (mut found_sorted, mut expected_sorted) = (found.clone(), expected.clone());
        found_sorted.sort();
        expected_sorted.sort_unstable();
        assert_eq!(found_sorted, expected_sorted, "{text:?}");
    }
}

#[test]
fn a_call_of_a_function_of_the_same_text_is_its_body() {
    assert_eq!(runs("f() { a; }; f"), ["a"]);
    // Defined in a subshell, after a condition, or undone: the name may be a program.
    for text in [
        "(f() { a; }); f",
        "x && f() { a; }; f",
        "f() { a; }; unset -f f; f",
        "f; f() { a; }",
        "f() { a; } | b; f",
    ] {
        assert!(runs(text).contains(&"f".to_owned()), "{text}");
    }
    // `command` and wrappers do not see functions.
    assert!(runs("git() { a; }; command git push").contains(&"git push".to_owned()));
    // Special builtins come before functions in a POSIX shell.
    assert!(runs("eval() { :; }; eval 'a'").contains(&"a".to_owned()));
}

#[test]
fn unknown_words_say_how_many_they_are() {
    let rows = [
        ("a $x", WordCount::Any),
        ("a \"$x\"", WordCount::One),
        ("a \"$@\"", WordCount::Any),
        ("a *.rs", WordCount::Any),
        ("a <(b)", WordCount::One),
        ("a $(b)", WordCount::Any),
        ("a \"$(b)\"", WordCount::One),
    ];
    for (text, expected) in rows {
        let script = read(text, Shell::Bash).unwrap();
        let actions = script.actions();
        let last = actions.runs.last().unwrap();
        let stockade_shell::Arg::Unknown { count, .. } = &last.argv[1] else { panic!("{text} is known") };
        assert_eq!(*count, expected, "{text}");
    }
}

#[test]
fn redirections_name_their_files() {
    let rows: &[(&str, &[&str])] = &[
        ("a >b 2>>c <d", &["> b", ">> c", "< d"]),
        ("a &>b &>>c >|d <>e", &["&> b", "&>> c", ">| d", "<> e"]),
        ("a >& b", &["&> b"]),
        ("a 2>&1 >&- <&3", &[]),
        ("{ a; } >b; (c) <d; if e; then f; fi >g", &["> b", "< d", "> g"]),
        ("a > $x", &["> …"]),
        ("exec 3<>/dev/tcp/host/80", &["<> /dev/tcp/host/80"]),
        ("a {fd}>b", &["> b"]),
        ("a <<E >b\nE", &["> b"]),
        ("echo $(<a)", &["< a"]),
    ];
    for (text, expected) in rows {
        let script = read(text, Shell::Bash).unwrap();
        let actions = script.actions();
        let files = actions.redirects.iter().filter(|redirect| redirect.opens_file());
        let found: Vec<String> = files.map(|r| format!("{} {}", r.operator.as_str(), r.target)).collect();
        assert_eq!(found, *expected, "{text}");
    }
}

#[test]
fn assignments_are_listed_with_their_scope() {
    let text = "A=1 env B=2 c; D=$x; export E=5; declare -i F=6";
    let script = read(text, Shell::Bash).unwrap();
    let actions = script.actions();
    let found: Vec<String> =
        actions.assignments.iter().map(|a| format!("{}={} {:?}", a.name, a.value, a.scope)).collect();
    assert_eq!(found, ["A=1 Command", "B=2 Command", "D=… Shell", "E=5 Shell", "F=6 Shell"]);
}

#[test]
fn zsh_is_read_as_zsh() {
    let rows: &[(&str, &[&str])] = &[
        ("{ a } always { b }", &["a", "b"]),
        ("() { a }", &["a"]),
        ("for x (a b) c $x", &["c …"]),
        ("if [[ 1 -eq 1 ]] a", &["a"]),
        ("if (( 1 )) { a } ", &["a"]),
        ("a >! b; c &| d", &["a", "c", "d"]),
        ("ls *(.) **/*(om[1])", &["ls … … … …"]),
        ("echo ${(j:,:)x}", &["echo …"]),
        ("> f", &["…"]),
        ("nocorrect < f", &["…", "nocorrect"]),
        ("a {,}", &["a  "]),
        ("noglob a; - b", &["a", "b", "noglob a", "- b"]),
        ("ls a(|b)", &["ls a… a…"]),
        ("a {1.\\.3}", &["a …"]),
        ("nocorrect x=1 a", &["a", "nocorrect a"]),
        ("x=1 nocorrect nocorrect < f y=(1 2) a", &["a", "nocorrect a", "nocorrect nocorrect a"]),
        ("nocorrect r''m=1 a", &["rm=1 a", "nocorrect rm=1 a"]),
        ("nocorrect x=1; nocorrect < f", &["…", "nocorrect", "nocorrect"]),
    ];
    for (text, expected) in rows {
        let mut found = runs_in(text, Shell::Zsh);
        found.sort();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected, "{text}");
    }
}

/// zsh treats dots as a sequence when they are quoted, when empty quotes are between them, and when they come from a
/// value.
#[test]
fn sequences_are_not_certain_for_zsh_however_they_are_spelled() {
    for braces in [
        "{1'..'2}",
        "{1.''.2}",
        r#"{1".""."2}"#,
        r#"{1'.'"."2}"#,
        r"{1\.'.'2}",
        r#"{1"$dots"3}"#,
        "{1.$nothing.3}",
        "{1$(x)3}",
    ] {
        let runs = runs_in(&format!("rm {braces}"), Shell::Zsh);
        assert!(runs.contains(&"rm …".to_owned()), "{braces}: {runs:?}");
    }
    assert_eq!(runs_in("rm {a''b} x{'.'}", Shell::Zsh), ["rm {ab} x{.}"]);
}

/// dash leaves braces as they are, and bash does with those that contain no choice: only these are certain for `sh`.
#[test]
fn braces_are_certain_for_sh_when_no_shell_expands_them() {
    assert_eq!(runs_in("find . -exec a {} +", Shell::Sh), ["a {}", "find . -exec a {} +"]);
    let sooner = [
        // The text before the plus may expand to the marker alone.
        ("find . -exec a {}$x +", &["a {}…", "a {}… +"][..]),
        ("find . -exec a {}$x + -exec b \\;", &["a {}…", "a {}… + -exec b", "b"]),
        // And any value may be the semicolon.
        ("find . -exec a $x -exec b \\; -exec c \\;", &["a", "a … -exec b", "b", "c"]),
        ("find . -exec a $x b \\;", &["a … b"]),
        ("find . -exec a y$x -exec b \\;", &["a y… -exec b"]),
        // Or the action.
        ("find . $x-exec a {} +", &["a {}"]),
        ("find . -ex$(true)ec$x a \\;", &["true", "a"]),
        ("find . $x a {} \\; -exec b \\;", &["a {}", "b"]),
        ("find . -exec b \\; $x a \\;", &["b", "a"]),
        ("find $x y -name $z", &[]),
    ];
    for (text, programs) in sooner {
        let mut runs = runs_in(text, Shell::Bash);
        runs.retain(|run| !run.starts_with("find"));
        assert_eq!(runs, programs, "{text}");
    }
    assert_eq!(runs_in("a {b} {c,d}", Shell::Sh), ["a {b} …"]);
}

#[test]
fn spans_point_to_what_was_read() {
    let text = "a; sudo -u x 'r'm -rf \"$y\" >f";
    let script = read(text, Shell::Bash).unwrap();
    let actions = script.actions();
    for run in &actions.runs {
        let expected = if run.program() == Some("a") { "a" } else { "sudo -u x 'r'm -rf \"$y\" >f" };
        assert_eq!(run.span.of(text), expected);
    }
    assert_eq!(actions.redirects[0].span.of(text), ">f");
    let error =
        stockade_shell::Script::read("ls; echo 'a", &stockade_shell::ReadOptions::default()).unwrap_err();
    assert_eq!((error.span.start, error.to_string().as_str()), (9, "a quote is not closed (bytes 9 to 10)"));
}
