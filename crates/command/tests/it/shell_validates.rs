//! The validator: what it rejects, and what it must let pass.

use stockade_command::validator::RejectionKind::{self, *};
use stockade_command::validator::{ValidatorChecks, ValidatorOptions, validate};
use stockade_shell::{ReadOptions, Shell};

fn rejected(text: &str, shell: Shell) -> Option<RejectionKind> {
    let options = ValidatorOptions { read: ReadOptions::for_shell(shell), ..ValidatorOptions::default() };
    validate(text, &options).rejection().map(|rejection| rejection.kind)
}

#[test]
fn hidden_commands_are_rejected() {
    let rows: &[(&str, RejectionKind)] = &[
        ("echo $(id)", CommandSubstitution),
        ("echo \"a $(id)\"", CommandSubstitution),
        ("x=$(id)", CommandSubstitution),
        ("echo $'\\'' $(id)", CommandSubstitution),
        ("cat <<E\n'$(id)'\nE", CommandSubstitution),
        ("echo ${x:-$(id)} $((1))", CommandSubstitution),
        ("echo $\\\n(id)", CommandSubstitution),
        ("echo $((ls) | (id))", CommandSubstitution),
        ("bash -c 'echo $(id)'", CommandSubstitution),
        ("echo a\r#$(id)", CommandSubstitution),
        ("echo `id`", Backtick),
        ("echo \"`id`\"", Backtick),
        ("cat <(id)", ProcessSubstitution),
        ("tee >(id)", ProcessSubstitution),
        ("cat <\\\n(id)", ProcessSubstitution),
        ("eval 'id'", EvaluatedText),
        ("trap 'id' EXIT", EvaluatedText),
        ("test -v 'a[$(id)]'", EvaluatedText),
        ("[[ 'a[$(id)]' -eq 0 ]]", EvaluatedText),
        ("mapfile -C 'id #' -c1 a", EvaluatedText),
        ("x='$(id)'; echo ${x@P}", PromptTransform),
        ("set -o history -o histexpand\nls # ; id\nls !!:s/#//", ChangedShell),
        ("set -ek; git diff X=1", ChangedShell),
        ("ls\0", ControlCharacter),
        ("ls\rid", ControlCharacter),
        ("echo $(id", Unterminated),
        ("echo 'a", Unterminated),
    ];
    for (text, kind) in rows {
        assert_eq!(rejected(text, Shell::Bash), Some(*kind), "{text:?}");
    }
}

#[test]
fn zsh_has_more_ways() {
    let rows: &[(&str, RejectionKind)] = &[
        ("cat =(id)", ZshProcessSubstitution),
        ("=ls -la", ZshEquals),
        ("echo ''=ls", ZshEquals),
        ("echo ${(e)x}", ZshEvalFlag),
        ("print -P \"$x\"", ZshEvalFlag),
        ("ls *(e:'id':)", ZshGlobExec),
    ];
    for (text, kind) in rows {
        assert_eq!(rejected(text, Shell::Zsh), Some(*kind), "{text:?}");
    }
    assert_eq!(rejected("test x =y", Shell::Bash), None);
}

#[test]
fn data_passes() {
    let texts = [
        "echo '$(id)' '`id`' '<(id)'",
        "echo \"<(id)\" \"\\$(id)\" \"\\`id\\`\"",
        "echo $HOME ${x:-y} ${#x} ${x//a/b}",
        "echo $((1+2)) $((x>y))",
        "((x=(1+2)))",
        "a=(1 2) b+=(c)",
        "cat <<'E'\n$(id) `id`\nE",
        "ls # $(id) it's",
        "[ a = b ] && [[ a == b ]] && test a == b",
        "dd if=a of=b; ls --color=never; curl http://x/?a=b",
        "awk '{print $(NF)}' f",
        "perl -e 'print `id`'",
        "f() { ls; }; f",
        "case a=b in (a=*|b) ls;; esac",
        "find . \\( -name a \\)",
    ];
    for shell in [Shell::Bash, Shell::Zsh] {
        for text in texts {
            assert_eq!(rejected(text, shell), None, "{shell:?}: {text}");
        }
    }
}

#[test]
fn the_documented_checks_are_a_choice() {
    let options = ValidatorOptions { checks: ValidatorChecks::Substitutions, ..ValidatorOptions::default() };
    assert!(validate("eval 'id'", &options).accepted().is_some());
    assert!(validate("eval \"$(id)\"", &options).rejection().is_some());
}

#[test]
fn a_validated_command_hands_out_its_text() {
    let validated = validate("ls -la", &ValidatorOptions::default()).accepted().unwrap();
    assert_eq!((validated.text(), validated.script().rendered().as_deref()), ("ls -la", Some("ls -la")));
}

#[test]
fn a_rejection_says_where() {
    let validation = validate("echo a $(id) b", &ValidatorOptions::default());
    let rejection = validation.rejection().unwrap();
    assert_eq!(rejection.span.of("echo a $(id) b"), "$(id)");
    assert_eq!(rejection.to_string(), "command substitution $(…) runs another command (bytes 7 to 12)");
}
